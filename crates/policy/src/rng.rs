//! A pseudorandom generator for decisions that need random draws.
//!
//! This is splitmix64. A draw takes one addition and two multiply-xorshift rounds, any seed is
//! good, and the state is one word, so each worker can own a generator. From Steele, Lea and Flood,
//! "Fast splittable pseudorandom number generators", 2014, section 4, with the constants of its
//! reference code.
//!
//! The decisions don't own a generator. The caller passes in draws, so that a test can choose them
//! and the simulator can replay the draws of a run.
//!
//! Its draws only have to spread thieves over the victims and vary the lengths of sleeps, so it is
//! **not** cryptographically secure. It does not seed itself: workers that start from equal seeds
//! draw equal numbers.

/// A small pseudorandom generator.
///
/// ```
/// use tidegate_policy::Rng;
///
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert_eq!(a.draw(), b.draw());
/// assert!(a.below(3) < 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Creates a generator whose draws depend only on `seed`. Seeds that differ in one bit give
    /// unrelated draws.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next draw, uniform over all `u64`.
    pub const fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns the next draw, uniform in `0..n`; 0 if `n` is 0.
    pub const fn below(&mut self, n: u64) -> u64 {
        below(self.draw(), n)
    }
}

/// Maps a uniform draw to a number in `0..n` (0 if `n` is 0) without a division.
pub(crate) const fn below(draw: u64, n: u64) -> u64 {
    ((draw as u128 * n as u128) >> 64) as u64
}

/// Maps a uniform draw to a number in `[0, 1)`.
pub(crate) fn unit(draw: u64) -> f64 {
    const STEPS: f64 = (1_u64 << 53) as f64;
    (draw >> 11) as f64 / STEPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_match_published_splitmix64() {
        let mut rng = Rng::new(1_234_567);
        let drawn = [rng.draw(), rng.draw(), rng.draw()];
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn bounded_draws_cover_exactly_their_range() {
        let mut rng = Rng::new(1);
        let mut seen = [0; 7];
        for _ in 0..7_000 {
            seen[rng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 800), "{seen:?}");
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn unit_draws_stay_below_one() {
        assert!(unit(u64::MAX) < 1.0);
        assert_eq!(unit(0), 0.0);
    }
}
