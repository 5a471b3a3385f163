//! The ratio of two medians. How sure it is, the engine tells ([`Sample::over`]).

use tidegate_command::statistics::Summary;

use crate::engine::Sample;

/// With fewer samples no interval holds the median with 95 %: all of `n` lie on one side of it with a chance of 2 / 2^n.
const LEAST: usize = 6;

/// The ratio of two medians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub value: f64,
    /// The ends of its 95 % interval, if there are enough samples.
    pub interval: Option<[f64; 2]>,
}

impl Ratio {
    /// How many times the median of `a` is that of `b`.
    pub fn of_medians(a: &Summary, b: &Summary) -> Self {
        let [one, other] = [a, b].map(|all| Sample::new(all.in_order().iter().copied()));
        let ratio = one.over(&other);
        let enough = a.count().min(b.count()) >= LEAST;
        Self {
            value: ratio.value,
            interval: enough.then_some([ratio.low, ratio.high]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(samples: impl IntoIterator<Item = u32>) -> Summary {
        Summary::of(samples.into_iter().map(f64::from)).unwrap()
    }

    #[test]
    fn same_samples_give_same_interval() {
        let ratio = || Ratio::of_medians(&summary(100..140), &summary(60..99));
        assert_eq!(ratio(), ratio());
    }

    #[test]
    fn constant_samples_leave_no_doubt() {
        let ratio = Ratio::of_medians(&summary([8; 7]), &summary([4; 6]));
        assert_eq!((ratio.value, ratio.interval), (2.0, Some([2.0, 2.0])));
    }

    #[test]
    fn few_samples_give_no_interval() {
        let ratio = Ratio::of_medians(&summary([8; 7]), &summary([4; 5]));
        assert_eq!((ratio.value, ratio.interval), (2.0, None));
    }

    #[test]
    fn interval_contains_the_ratio_and_narrows() {
        // The median of n samples, uniform with a range of 100 around 150, is normal with a deviation of 50 / sqrt(n).
        let width = |samples: u32| {
            let spread = (0..samples).map(|sample| 100 + 100 * sample / samples);
            let ratio = Ratio::of_medians(&summary(spread), &summary([150; 6]));
            let [low, high] = ratio.interval.unwrap();
            assert!(low < ratio.value && ratio.value < high);
            high - low
        };
        for samples in [25, 100, 400] {
            let expected = 2.0 * 1.96 * 50.0 / f64::from(samples).sqrt() / 150.0;
            let found = width(samples) / expected;
            assert!((0.8..1.2).contains(&found), "{samples}: {found}");
        }
    }
}
