//! Histograms of durations. Each bucket is twice as wide as the one before.

use super::{Count, seconds};
use std::fmt;
use tidegate_policy::Nanos;

const BUCKETS: usize = 28;

/// The first bucket's bound is 2 to this power, in nanoseconds.
const FIRST: u32 = 7;

/// Returns the first bucket whose bound is at least `nanos`.
fn bucket(nanos: Nanos) -> usize {
    let doublings = Nanos::BITS - nanos.saturating_sub(1).leading_zeros();
    (doublings.saturating_sub(FIRST) as usize).min(BUCKETS - 1)
}

const fn bound(bucket: usize) -> Nanos {
    1 << (FIRST as usize + bucket)
}

/// A histogram with a single writer, the worker that owns it.
#[derive(Default, Debug)]
pub(crate) struct Durations {
    counts: [Count; BUCKETS],
    nanos: Count,
}

impl Durations {
    /// Counts a duration. Only the owner may call this.
    pub(crate) fn record(&self, nanos: Nanos) {
        self.counts[bucket(nanos)].add(1);
        self.nanos.add(nanos);
    }

    #[inline]
    pub(super) fn read(&self) -> Histogram {
        Histogram {
            counts: std::array::from_fn(|bucket| self.counts[bucket].get()),
            sum: seconds(self.nanos.get()),
        }
    }
}

/// A histogram of durations.
///
/// Printed with `{}`, it shows the number of durations and upper bounds of the median and the 99th
/// percentile.
///
/// ```
/// use tidegate::{Histogram, Pool};
///
/// let pool = Pool::builder().workers(2).build()?;
/// pool.spawn(|| ()).join();
/// let wait = pool.stats().queue_wait;
/// let short = Histogram::BOUNDS.iter().zip(wait.counts).filter(|(bound, _)| **bound < 0.001);
/// let short: u64 = short.map(|(_, count)| count).sum();
/// assert!(short <= wait.count());
/// println!("{short} of {} tasks waited less than 1 ms", wait.count());
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Histogram {
    /// The number of durations in each bucket. A bucket counts the durations that are at most its
    /// bound in [`BOUNDS`](Self::BOUNDS) and above the bound of the bucket before. The last bucket
    /// has no bound.
    pub counts: [u64; Self::BOUNDS.len() + 1],
    /// The sum of all durations, in seconds.
    pub sum: f64,
}

impl Histogram {
    /// The inclusive upper bounds of all buckets except the last one, in seconds, from 128 ns to
    /// 8.6 s. Each bound is twice the bound before.
    pub const BOUNDS: [f64; BUCKETS - 1] = {
        let mut bounds = [0.0; BUCKETS - 1];
        let mut bucket = 0;
        while bucket < bounds.len() {
            bounds[bucket] = bound(bucket) as f64 / 1e9;
            bucket += 1;
        }
        bounds
    };

    /// Returns the number of durations.
    #[must_use]
    #[inline]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the bucket that contains this percentile (nearest rank).
    #[inline]
    fn percentile(&self, percent: u64) -> usize {
        let rank = (self.count() * percent).div_ceil(100);
        let mut below = 0;
        let reaches = |count: &u64| {
            below += count;
            below >= rank
        };
        self.counts.iter().position(reaches).unwrap_or(BUCKETS - 1)
    }

    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        for (bucket, count) in other.counts.iter().enumerate() {
            self.counts[bucket] += count;
        }
        self.sum += other.sum;
    }
}

#[inline]
fn show(nanos: Nanos) -> String {
    let (scale, unit) = match nanos {
        0..1_000 => (1.0, "ns"),
        1_000..1_000_000 => (1e3, "us"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.1} {unit}", nanos as f64 / scale)
}

impl fmt::Display for Histogram {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = |percent| match self.percentile(percent) {
            last if last == BUCKETS - 1 => format!("above {}", show(bound(last - 1))),
            bucket => format!("up to {}", show(bound(bucket))),
        };
        let count = self.count();
        write!(f, "{count} measured")?;
        if count > 0 {
            write!(f, ", median {}, 99 % {}", limit(50), limit(99))?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn of(durations: &[(Nanos, usize)]) -> Histogram {
        let cells = Durations::default();
        for &(nanos, times) in durations {
            (0..times).for_each(|_| cells.record(nanos));
        }
        cells.read()
    }

    #[test]
    fn bounds_belong_to_their_buckets() {
        for number in 0..BUCKETS - 1 {
            let nanos = bound(number);
            assert_eq!((bucket(nanos), bucket(nanos + 1)), (number, number + 1));
        }
        assert_eq!((bucket(0), bucket(Nanos::MAX)), (0, BUCKETS - 1));
    }

    #[test]
    fn count_and_sum_up() {
        let mut sum = of(&[(100, 2), (300, 1)]);
        sum.add(&of(&[(256, 1), (20_000_000_000, 1)]));
        assert_eq!(sum.count(), 5);
        assert_eq!((sum.counts[0], sum.counts[1], sum.counts[2]), (2, 1, 1));
        assert_eq!(sum.counts[BUCKETS - 1], 1);
        assert!((sum.sum - 20.000_000_756).abs() < 1e-9, "{}", sum.sum);
    }

    #[test]
    fn print_percentiles() {
        assert_eq!(of(&[]).to_string(), "0 measured");
        let mostly_short = of(&[(100, 98), (1_000, 2)]);
        let text = "100 measured, median up to 128.0 ns, 99 % up to 1.0 us";
        assert_eq!(mostly_short.to_string(), text);
        let endless = of(&[(1 << 40, 1)]);
        assert!(endless.to_string().contains("median above 8.6 s"));
    }
}
