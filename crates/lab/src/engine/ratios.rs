//! Statistics over several ratios.

/// Returns the smallest value, or NaN if any value is NaN.
pub fn least(values: &[f64]) -> f64 {
    end(values, f64::INFINITY, |one, other| one < other)
}

/// Returns the largest value, or NaN if any value is NaN.
pub fn greatest(values: &[f64]) -> f64 {
    end(values, f64::NEG_INFINITY, |one, other| one > other)
}

fn end(values: &[f64], start: f64, is_further: fn(f64, f64) -> bool) -> f64 {
    values.iter().fold(start, |one, other| {
        let is_kept = one.is_nan() || is_further(one, *other);
        if is_kept { one } else { *other }
    })
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
    fn ratios_have_ends_and_a_mean() {
        assert_eq!(farthest(&[1.5, 0.5, 1.1]), 0.5);
        assert_eq!(farthest(&[1.5, 0.8, 1.1]), 1.5);
        assert_eq!(geometric_mean(&[2.0, 0.5]), 1.0);
        assert!(geometric_mean(&[]).is_nan());
        let ends = |values: &[f64]| [least(values), greatest(values)];
        assert_eq!(ends(&[2.0, 1.0, 3.0]), [1.0, 3.0]);
        for values in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            assert!(ends(&values).iter().all(|end| end.is_nan()));
        }
    }
}
