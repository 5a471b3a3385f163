//! Helpers shared by the programs: serial work that the compiler can't shorten, random numbers and
//! checksums.

use tidegate_sim::Nanos;

/// An odd number close to 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the state after `count` steps of xorshift from `seed` (George Marsaglia, Xorshift RNGs,
/// Journal of Statistical Software 8, 2003). Each step depends on the previous one.
pub(crate) fn steps(seed: u64, count: u64) -> u64 {
    let mut state = seed;
    for _ in 0..count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

/// Returns the time that `count` steps take: 5 ns for 3 steps, as measured.
pub(crate) fn time(count: u64) -> Nanos {
    let nanos = u128::from(count) * 5 / 3;
    nanos.try_into().unwrap_or(Nanos::MAX)
}

/// Returns a checksum that depends on every word and its position.
pub(crate) fn checksum(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0_u64, |sum, word| {
        sum.wrapping_mul(GOLDEN).wrapping_add(word)
    })
}

/// Returns the output of SplitMix64 at index `number` for the seed `seed` (Guy Steele, Doug Lea and
/// Christine Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
pub(crate) fn random(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(GOLDEN));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the element at index `number` of a sequence of random numbers that are uniformly
/// distributed between -1 (inclusive) and 1 (exclusive).
pub(crate) fn uniform(seed: u64, number: u64) -> f64 {
    (random(seed, number) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_are_those_of_splitmix64() {
        assert_eq!(random(1_234_567, 0), 6_457_827_717_110_365_317);
        assert_eq!(random(1_234_567, 1), 3_203_168_211_198_807_973);
    }

    #[test]
    fn checksum_depends_on_order_and_length() {
        let of = |words: &[u64]| checksum(words.iter().copied());
        assert_eq!(of(&[7]), 7);
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[1]), of(&[1, 0]));
    }

    #[test]
    fn steps_follow_each_other() {
        assert_eq!(steps(7, 0), 7);
        assert_eq!(steps(steps(7, 3), 4), steps(7, 7));
    }

    #[test]
    fn uniform_numbers_are_symmetric_around_zero() {
        let numbers: Vec<_> = (0..100_000).map(|i| uniform(1, i)).collect();
        assert!(numbers.iter().all(|number| (-1.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|number| number * number).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((variance - 1.0 / 3.0).abs() < 0.01, "{variance}");
    }
}
