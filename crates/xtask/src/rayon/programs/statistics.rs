//! Medians, and how far the ratio of two can be trusted.

/// How many times the rounds are drawn again.
const RESAMPLES: usize = 10_000;

/// Where the draws begin, so that the same samples always give the same interval.
const SEED: u64 = 0x7469_6465_6761_7465;

/// Fewer rounds say nothing about their spread.
pub const ROUNDS_FOR_INTERVAL: usize = 5;

/// A ratio whose whole interval is below this counts as slower.
pub const BELOW: f64 = 0.97;

/// The ratio of two medians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median of the first samples by that of the second.
    pub value: f64,
    /// Its 95 % interval, given enough rounds.
    pub interval: Option<(f64, f64)>,
}

impl Ratio {
    /// The ratio of the medians of two series with a sample each in every round.
    ///
    /// The bootstrap draws whole rounds, because what disturbs a round disturbs both of its samples.
    pub fn new(first: &[f64], second: &[f64]) -> Ratio {
        let rounds = first.len();
        let interval = (rounds >= ROUNDS_FOR_INTERVAL).then(|| {
            let mut draws = Draws(SEED);
            let resample = |_| {
                let drawn: Vec<usize> = (0..rounds).map(|_| draws.below(rounds)).collect();
                let of = |samples: &[f64]| median(drawn.iter().map(|round| samples[*round]));
                of(first) / of(second)
            };
            let mut ratios: Vec<f64> = (0..RESAMPLES).map(resample).collect();
            ratios.sort_by(f64::total_cmp);
            let at = |share: f64| ratios[((RESAMPLES - 1) as f64 * share).round() as usize];
            (at(0.025), at(0.975))
        });
        Ratio {
            value: median(first.iter().copied()) / median(second.iter().copied()),
            interval,
        }
    }

    /// Whether the second series is larger beyond doubt.
    pub fn below(&self) -> bool {
        self.interval.is_some_and(|(_, high)| high < BELOW)
    }
}

/// The middle sample, or the mean of the two in the middle. Not a number if there is none.
pub fn median(samples: impl IntoIterator<Item = f64>) -> f64 {
    let mut samples: Vec<f64> = samples.into_iter().collect();
    samples.sort_by(f64::total_cmp);
    match samples.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => samples[odd / 2],
        even => (samples[even / 2 - 1] + samples[even / 2]) / 2.0,
    }
}

/// Pseudo-random numbers: SplitMix64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
    }

    mod interval {
        use super::*;

        #[test]
        fn is_the_same_for_the_same_samples() {
            let (first, second) = ([1.0, 1.2, 0.9, 1.1, 1.0], [1.1, 1.0, 1.3, 1.2, 0.8]);
            let ratio = Ratio::new(&first, &second);
            assert_eq!(ratio, Ratio::new(&first, &second));
            let (low, high) = ratio.interval.unwrap();
            assert!(low < ratio.value && ratio.value < high, "{ratio:?}");
        }

        #[test]
        fn is_a_point_without_spread() {
            let ratio = Ratio::new(&[1.0; 7], &[2.0; 7]);
            assert_eq!(ratio.interval, Some((0.5, 0.5)));
            assert!(ratio.below());
        }

        #[test]
        fn covers_what_every_round_could_have_been() {
            let ratio = Ratio::new(&[1.0; 6], &[0.5, 0.5, 0.5, 2.0, 2.0, 2.0]);
            assert_eq!(ratio.interval, Some((0.5, 2.0)));
            assert!(!ratio.below());
        }

        #[test]
        fn draws_both_samples_of_a_round() {
            let disturbed = [1.0, 9.0, 2.0, 7.0, 30.0];
            let twice = disturbed.map(|sample| 2.0 * sample);
            let ratio = Ratio::new(&disturbed, &twice);
            assert_eq!(ratio.interval, Some((0.5, 0.5)));
        }

        #[test]
        fn needs_enough_rounds() {
            let ratio = Ratio::new(&[1.0; 4], &[2.0; 4]);
            assert_eq!((ratio.value, ratio.interval), (0.5, None));
            assert!(!ratio.below());
        }
    }
}
