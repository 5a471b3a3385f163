//! The speed-up of one sample relative to another.

use super::Sample;

/// The smallest number of runs for which a 95 % interval of the median exists: all `n` runs lie on
/// the same side of the median with probability 2 / 2^n.
pub const LEAST: usize = 6;

/// A sample counts as slower if the whole interval of its speed-up lies below this.
pub const SLOWER: f64 = 0.97;

/// The ratio of two medians, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speedup {
    pub value: f64,
    /// The ends of the ratio's 95 % interval; `None` if there are too few runs.
    pub interval: Option<[f64; 2]>,
}

impl Speedup {
    /// Computes the median of `others` divided by the median of `times`.
    pub fn over(times: &Sample, others: &Sample) -> Self {
        let ratio = others.over(times);
        let enough = times.count().min(others.count()) >= LEAST;
        Self {
            value: ratio.value,
            interval: enough.then_some([ratio.low, ratio.high]),
        }
    }

    pub fn is_slower(&self) -> bool {
        self.interval.is_some_and(|[_, high]| high < SLOWER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(times: impl IntoIterator<Item = u32>) -> Sample {
        Sample::new(times.into_iter().map(f64::from))
    }

    #[test]
    fn constant_samples_leave_no_doubt() {
        let speedup = Speedup::over(&sample([4; 6]), &sample([8; 7]));
        assert_eq!((speedup.value, speedup.interval), (2.0, Some([2.0, 2.0])));
        assert!(!speedup.is_slower());
        assert!(Speedup::over(&sample([8; 7]), &sample([4; 6])).is_slower());
    }

    #[test]
    fn few_samples_give_no_interval() {
        let speedup = Speedup::over(&sample([8; 5]), &sample([4; 7]));
        assert_eq!((speedup.value, speedup.interval), (0.5, None));
        assert!(!speedup.is_slower());
    }

    #[test]
    fn slower_needs_the_whole_interval() {
        let is_slower = |high| {
            let (value, interval) = (0.9, Some([0.8, high]));
            Speedup { value, interval }.is_slower()
        };
        assert!(is_slower(0.969));
        assert!(!is_slower(0.97));
    }

    #[test]
    fn interval_contains_the_ratio_and_narrows() {
        // The median of n samples that are spread uniformly over a range of 100 around 150 is
        // asymptotically normal with a standard deviation of 50 / sqrt(n).
        let width = |samples: u32| {
            let spread = (0..samples).map(|sample| 100 + 100 * sample / samples);
            let speedup = Speedup::over(&sample([150; 6]), &sample(spread));
            let [low, high] = speedup.interval.unwrap();
            assert!(low < speedup.value && speedup.value < high);
            high - low
        };
        for samples in [25, 100, 400] {
            let expected = 2.0 * 1.96 * 50.0 / f64::from(samples).sqrt() / 150.0;
            let found = width(samples) / expected;
            assert!((0.8..1.2).contains(&found), "{samples}: {found}");
        }
    }
}
