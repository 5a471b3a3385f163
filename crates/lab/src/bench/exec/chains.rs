//! The answer of the programs that compute chains of a linear congruential generator.
//!
//! Each step of a chain computes `FACTOR * value + 1` modulo 2^64. A chain of k steps is therefore
//! linear in its first value, and the sum of many chains has a closed form.

pub const FACTOR: u64 = 6_364_136_223_846_793_005;

/// Returns the sum of the chains that begin with `0..chains`, modulo 2^64.
pub fn sum(chains: u64, steps: u64) -> u64 {
    let step = |(factor, offset): (u64, u64), _| {
        let offset = offset.wrapping_mul(FACTOR).wrapping_add(1);
        (factor.wrapping_mul(FACTOR), offset)
    };
    let (factor, offset) = (0..steps).fold((1, 0), step);
    let firsts = u128::from(chains) * u128::from(chains.saturating_sub(1)) / 2;
    let firsts = factor.wrapping_mul(firsts as u64);
    firsts.wrapping_add(offset.wrapping_mul(chains))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_form_equals_the_loop() {
        let chain = |first: u64, steps| {
            (0..steps).fold(first, |value, _| value.wrapping_mul(FACTOR).wrapping_add(1))
        };
        for (chains, steps) in [(0, 3), (1, 0), (7, 1), (100, 23)] {
            let ends = (0..chains).map(|first| chain(first, steps));
            let looped = ends.fold(0, u64::wrapping_add);
            assert_eq!(sum(chains, steps), looped, "{chains} {steps}");
        }
    }
}
