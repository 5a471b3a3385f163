//! Means of ratios over programs.

use crate::engine::{Interval, Sample};

/// The geometric mean of the ratios of pairs, of which those that were left out do not count.
pub fn of_ratios(pairs: impl IntoIterator<Item = [Sample; 2]>) -> Interval {
    let measured: Vec<[Sample; 2]> = pairs
        .into_iter()
        .filter(|pair| pair.iter().all(|sample| !sample.is_empty()))
        .collect();
    if measured.is_empty() {
        return Interval::exact(f64::NAN);
    }
    let samples: Vec<&Sample> = measured.iter().flatten().collect();
    Interval::of(&samples, |medians| {
        let logs = medians.chunks(2).map(|pair| (pair[0] / pair[1]).ln());
        (logs.sum::<f64>() / measured.len() as f64).exp()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_and_halved_times_cancel_out() {
        let pair = |one, other| [Sample::new([one]), Sample::new([other])];
        let left_out = [Sample::default(), Sample::new([1.0])];
        let mean = of_ratios([pair(2.0, 1.0), pair(3.0, 6.0), left_out]);
        assert_eq!(mean, Interval::exact(1.0));
        assert!(!of_ratios([]).is_measured());
    }
}
