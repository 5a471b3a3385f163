//! Statistics over several ratios.

use super::{Interval, Sample};

/// Computes a statistic over ratios, with its interval. Each pair contributes the ratio of its two
/// medians.
pub fn of_ratios(pairs: &[[Sample; 2]], statistic: impl Fn(&[f64]) -> f64) -> Interval {
    let samples: Vec<&Sample> = pairs.iter().flatten().collect();
    Interval::of(&samples, |medians| {
        let ratios = medians.chunks(2).map(|pair| pair[0] / pair[1]);
        statistic(&ratios.collect::<Vec<f64>>())
    })
}

/// Keeps the pairs in which both samples have runs.
pub fn measured(pairs: impl IntoIterator<Item = [Sample; 2]>) -> Vec<[Sample; 2]> {
    let is_whole = |pair: &[Sample; 2]| pair.iter().all(|sample| !sample.is_empty());
    pairs.into_iter().filter(is_whole).collect()
}

/// Returns the smallest value, or NaN if any value is NaN.
pub fn least(values: &[f64]) -> f64 {
    let less = |one: f64, other: f64| {
        if one.is_nan() || one < other {
            one
        } else {
            other
        }
    };
    values.iter().copied().fold(f64::INFINITY, less)
}

/// Returns the largest value, or NaN if any value is NaN.
pub fn greatest(values: &[f64]) -> f64 {
    let more = |one: f64, other: f64| {
        if one.is_nan() || one > other {
            one
        } else {
            other
        }
    };
    values.iter().copied().fold(f64::NEG_INFINITY, more)
}

/// Returns the ratio that is farthest from 1 in either direction, on a logarithmic scale.
pub fn farthest(ratios: &[f64]) -> f64 {
    let far = |a: &&f64, b: &&f64| a.ln().abs().total_cmp(&b.ln().abs());
    ratios.iter().max_by(far).copied().unwrap_or(f64::NAN)
}

pub fn geometric_mean(ratios: &[f64]) -> f64 {
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (logs / ratios.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn farthest_takes_either_direction() {
        assert_eq!(farthest(&[1.5, 0.5, 1.1]), 0.5);
        assert_eq!(farthest(&[1.5, 0.8, 1.1]), 1.5);
    }

    #[test]
    fn ends_of_unknown_values_are_unknown() {
        assert_eq!(
            [least(&[2.0, 1.0, 3.0]), greatest(&[2.0, 3.0, 1.0])],
            [1.0, 3.0]
        );
        for values in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            assert!(least(&values).is_nan() && greatest(&values).is_nan());
        }
    }

    #[test]
    fn a_missing_sample_leaves_no_ratio() {
        let pairs = [
            [Sample::new([3.0]), Sample::new([2.0])],
            [Sample::default(), Sample::new([2.0])],
        ];
        assert!(!of_ratios(&pairs, greatest).is_measured());
        assert_eq!(of_ratios(&pairs[..1], greatest), Interval::exact(1.5));
    }
    #[test]
    fn doubled_and_halved_times_cancel_out() {
        let pair = |one, other| [Sample::new([one]), Sample::new([other])];
        let left_out = [Sample::default(), Sample::new([1.0])];
        let pairs = measured([pair(2.0, 1.0), pair(3.0, 6.0), left_out]);
        assert_eq!(of_ratios(&pairs, geometric_mean), Interval::exact(1.0));
        assert!(!of_ratios(&[], geometric_mean).is_measured());
    }
}
