//! Medians and ranks of samples, with confidence intervals.
//!
//! The 95 % confidence intervals are computed by Efron's percentile bootstrap (1979). Each draw
//! resamples every sample with replacement, and computes the statistic from the medians of the new
//! samples. The interval contains the middle 95 % of the drawn values. The seed is constant, so the
//! same runs always give the same interval.

use tidegate_policy::Rng;

/// The number of bootstrap draws.
const DRAWS: usize = 2000;

/// The fraction of the drawn values below the interval, and also the fraction above it.
const TAIL: f64 = 0.025;

const SEED: u64 = 0x626f_6f74;

/// The figures of several runs, one per run, in increasing order; empty if there were no runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample(Vec<f64>);

/// A value and its 95 % confidence interval. All three fields are NaN if a sample was empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The statistic computed from the runs themselves.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Sample {
    /// Creates a sample from figures in any order.
    pub fn new(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        figures.sort_unstable_by(f64::total_cmp);
        Self(figures)
    }

    /// Returns whether there were no runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of runs.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the smallest figure, or NaN if there are no figures.
    pub fn min(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    /// Returns the largest figure, or NaN if there are no figures.
    pub fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    /// Returns the median, or NaN if there are no figures. For an even number of runs, it is the
    /// mean of the two middle figures.
    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        match &self.0[..] {
            [] => f64::NAN,
            odd if odd.len() % 2 == 1 => odd[middle],
            even => (even[middle - 1] + even[middle]) / 2.0,
        }
    }

    /// Returns the 99th percentile by nearest rank, or NaN if there are no figures. For fewer than
    /// 100 runs, it is the largest figure.
    pub fn p99(&self) -> f64 {
        let rank = (0.99 * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
    }

    /// Returns the median with its confidence interval.
    pub fn interval(&self) -> Interval {
        Interval::of(&[self], |medians| medians[0])
    }

    /// Returns the ratio of this sample's median to that of `other`.
    pub fn over(&self, other: &Self) -> Interval {
        Interval::of(&[self, other], |medians| medians[0] / medians[1])
    }

    fn redraw(&self, rng: &mut Rng) -> f64 {
        let draw = |_| self.0[rng.below(self.0.len() as u64) as usize];
        Self::new((0..self.0.len()).map(draw)).median()
    }
}

impl Interval {
    /// Computes a statistic from the medians of the samples, with its confidence interval. If every
    /// sample has only one run, both ends of the interval equal the value.
    pub fn of(samples: &[&Sample], statistic: impl Fn(&[f64]) -> f64) -> Self {
        if samples.iter().any(|sample| sample.0.is_empty()) {
            return Self::exact(f64::NAN);
        }
        let medians: Vec<f64> = samples.iter().map(|sample| sample.median()).collect();
        let value = statistic(&medians);
        if samples.iter().all(|sample| sample.0.len() == 1) {
            return Self::exact(value);
        }
        let mut rng = Rng::new(SEED);
        let mut drawn: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let redrawn = samples.iter().map(|sample| sample.redraw(&mut rng));
                statistic(&redrawn.collect::<Vec<f64>>())
            })
            .collect();
        drawn.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| drawn[((DRAWS as f64 * share).ceil() as usize).max(1) - 1];
        Self {
            value,
            low: at(TAIL).min(value),
            high: at(1.0 - TAIL).max(value),
        }
    }

    /// Creates an interval for a value that is known exactly.
    pub fn exact(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
        }
    }

    /// Returns whether the value was measured.
    pub fn is_measured(self) -> bool {
        !self.value.is_nan()
    }

    /// Returns the value and its interval, multiplied by `factor` to convert them to another unit.
    pub fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    /// Returns the value, followed by the ends of its interval if they differ, all formatted by
    /// `show`. Returns an empty string if the value was not measured.
    pub fn show(self, show: impl Fn(f64) -> String) -> String {
        if !self.is_measured() {
            return String::new();
        }
        let show = |end: f64| {
            if end.is_infinite() {
                "infinite".to_owned()
            } else {
                show(end)
            }
        };
        let [value, low, high] = [self.value, self.low, self.high].map(show);
        if low == value && high == value {
            value
        } else {
            format!("{value} ({low} to {high})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_ignore_run_order() {
        let sample = Sample::new((1..=200).rev().map(f64::from));
        assert_eq!((sample.min(), sample.max()), (1.0, 200.0));
        assert_eq!((sample.p99(), sample.count()), (198.0, 200));
    }

    #[test]
    fn median_may_average_two_runs() {
        assert_eq!(Sample::new([8.0, 1.0]).median(), 4.5);
        assert_eq!(Sample::new([8.0, 1.0, 2.0]).median(), 2.0);
        assert!(Sample::default().median().is_nan());
    }

    #[test]
    fn one_run_has_no_interval() {
        let interval = Sample::new([3.0]).interval();
        assert_eq!(interval, Interval::exact(3.0));
        assert_eq!(interval.show(|value| format!("{value:.1}")), "3.0");
    }

    #[test]
    fn missing_runs_are_nan() {
        let ratio = Sample::new([3.0, 4.0]).over(&Sample::default());
        assert!(!ratio.is_measured() && ratio.low.is_nan() && ratio.high.is_nan());
    }

    #[test]
    fn constant_runs_leave_no_doubt() {
        let ratio = Sample::new([8.0; 7]).over(&Sample::new([4.0; 6]));
        assert_eq!(ratio, Interval::exact(2.0));
    }

    #[test]
    fn same_runs_give_same_interval() {
        let sample = || Sample::new((100..140).map(f64::from));
        assert_eq!(sample().interval(), sample().interval());
    }

    #[test]
    fn narrows_with_more_runs() {
        // The median of n runs that are uniform with a range of 100 is asymptotically normal with a
        // standard deviation of 50 / sqrt(n).
        for runs in [25_u32, 100, 400] {
            let spread = (0..runs).map(|run| f64::from(100 + 100 * run / runs));
            let Interval { value, low, high } = Sample::new(spread).interval();
            assert!(low < value && value < high);
            let expected = 2.0 * 1.96 * 50.0 / f64::from(runs).sqrt();
            let found = (high - low) / expected;
            assert!((0.7..1.3).contains(&found), "{runs}: {found}");
        }
    }
}
