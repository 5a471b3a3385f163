//! How sure the ratio of two medians is.
//!
//! The bootstrap of Efron (1979) by percentiles: samples are drawn from each side, with replacement and as many as it has,
//! and the ratio of their medians is taken; the interval holds the middle 95 % of many such ratios. The seed is
//! constant, so the same samples always give the same interval.

use tidegate_policy::Rng;

use tidegate_command::statistics::Summary;

/// How often the samples are redrawn.
const DRAWS: u32 = 2000;

/// The share of ratios below the interval, and above it.
const TAIL: f64 = 0.025;

const SEED: u64 = 0x626f_6f74;

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
        let mut rng = Rng::new(SEED);
        let redrawn = (0..DRAWS).map(|_| redraw(a, &mut rng) / redraw(b, &mut rng));
        let enough = a.count().min(b.count()) >= LEAST;
        let ratios = enough.then(|| Summary::of(redrawn)).flatten();
        Self {
            value: a.median() / b.median(),
            interval: ratios.map(|ratios| [TAIL, 1.0 - TAIL].map(|share| ratios.at_least(share))),
        }
    }
}

/// The median of as many samples, drawn with replacement.
fn redraw(samples: &Summary, rng: &mut Rng) -> f64 {
    let samples = samples.in_order();
    let draw = |_| samples[rng.below(samples.len() as u64) as usize];
    Summary::of((0..samples.len()).map(draw)).map_or(f64::NAN, |drawn| drawn.median())
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
