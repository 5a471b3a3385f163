//! The speed-up of one sample relative to another.

use super::{Interval, Sample};

/// The smallest number of runs for which a 95 % interval of the median exists: all `n` runs lie on
/// the same side of the median with probability 2 / 2^n.
pub const LEAST: usize = 6;

/// A sample counts as slower if the whole interval of its speed-up lies below this.
pub const SLOWER: f64 = 0.97;

/// Returns the median of `others` divided by the median of `times`. If either sample has fewer than
/// [`LEAST`] runs, the ends of the interval are NaN.
pub fn speedup(times: &Sample, others: &Sample) -> Interval {
    let ratio = others.over(times);
    if times.count().min(others.count()) >= LEAST {
        return ratio;
    }
    Interval {
        low: f64::NAN,
        high: f64::NAN,
        ..ratio
    }
}

pub fn is_slower(speedup: &Interval) -> bool {
    speedup.high < SLOWER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slower_needs_a_whole_interval() {
        for (times, others, value, is) in [
            (vec![4.0; 6], vec![8.0; 7], 2.0, false),
            (vec![8.0; 7], vec![4.0; 6], 0.5, true),
            (vec![8.0; 5], vec![4.0; 7], 0.5, false),
            (vec![1.0; 6], vec![0.969; 6], 0.969, true),
            (vec![1.0; 6], vec![SLOWER; 6], SLOWER, false),
        ] {
            let least = times.len().min(others.len());
            let speedup = speedup(&Sample::new(times), &Sample::new(others));
            assert_eq!((speedup.value, is_slower(&speedup)), (value, is));
            assert_eq!(speedup.low.is_nan(), least < LEAST, "{value}");
        }
    }
}
