//! Statistics of several ratios.

use crate::engine::{Interval, Sample};

/// A statistic of the ratios of two medians each.
pub fn of_ratios(pairs: &[[Sample; 2]], statistic: impl Fn(&[f64]) -> f64) -> Interval {
    let samples: Vec<&Sample> = pairs.iter().flatten().collect();
    Interval::of(&samples, |medians| {
        let ratios = medians.chunks(2).map(|pair| pair[0] / pair[1]);
        statistic(&ratios.collect::<Vec<f64>>())
    })
}

pub fn least(ratios: &[f64]) -> f64 {
    ratios.iter().copied().fold(f64::INFINITY, f64::min)
}

pub fn greatest(ratios: &[f64]) -> f64 {
    ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The ratio that is farthest from 1, in whichever direction.
pub fn farthest(ratios: &[f64]) -> f64 {
    let far = |a: &&f64, b: &&f64| a.ln().abs().total_cmp(&b.ln().abs());
    ratios.iter().max_by(far).copied().unwrap_or(f64::NAN)
}

pub fn geometric_mean(ratios: &[f64]) -> f64 {
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (logs / ratios.len() as f64).exp()
}

/// How findings show a ratio.
pub fn show(ratio: f64) -> String {
    match ratio {
        ratio if ratio.abs() < 20.0 => format!("{ratio:.3}x"),
        _ => format!("{ratio:.0}x"),
    }
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
    fn a_missing_sample_leaves_no_ratio() {
        let pairs = [
            [Sample::new([3.0]), Sample::new([2.0])],
            [Sample::default(), Sample::new([2.0])],
        ];
        assert!(!of_ratios(&pairs, greatest).is_measured());
        assert_eq!(of_ratios(&pairs[..1], greatest), Interval::exact(1.5));
    }
}
