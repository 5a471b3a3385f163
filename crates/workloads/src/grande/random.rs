//! The random number generator for the benchmark's data: `java.util.Random`, whose documentation
//! specifies the algorithm.
//!
//! It is a 48-bit linear congruential generator (Donald Knuth, The Art of Computer Programming,
//! volume 2, section 3.2.1) that returns the high bits. Gaussian numbers are drawn by the polar
//! method of G. E. P. Box, M. E. Muller and G. Marsaglia (section 3.4.1).
//!
//! Methods that no kernel uses are left out.

const MULTIPLIER: u64 = 0x5_deec_e66d;
const BITS: u32 = 48;
const MASK: u64 = (1 << BITS) - 1;

pub(super) struct Random {
    state: u64,
    /// The polar method produces two numbers at a time. This is the second number until it is used.
    spare: Option<f64>,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: (seed ^ MULTIPLIER) & MASK,
            spare: None,
        }
    }

    /// Returns the next `count` random bits, at most 32.
    fn bits(&mut self, count: u32) -> u32 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(0xb) & MASK;
        (self.state >> (BITS - count)) as u32
    }

    pub(super) fn word(&mut self) -> u32 {
        self.bits(32)
    }

    /// Returns a random number in [0, 1).
    pub(super) fn unit(&mut self) -> f64 {
        let high = u64::from(self.bits(26));
        let low = u64::from(self.bits(27));
        ((high << 27) + low) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number from the standard normal distribution.
    pub(super) fn gaussian(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (a, b, square) = in_disc(|| self.unit());
        let factor = (-2.0 * square.ln() / square).sqrt();
        self.spare = Some(b * factor);
        a * factor
    }
}

/// Draws a point in the unit disc, other than the centre. `unit` must return random numbers in [0,
/// 1). Returns the point and the square of its distance from the centre.
pub(super) fn in_disc(mut unit: impl FnMut() -> f64) -> (f64, f64, f64) {
    loop {
        let a = 2.0 * unit() - 1.0;
        let b = 2.0 * unit() - 1.0;
        let square = a * a + b * b;
        if square < 1.0 && square != 0.0 {
            return (a, b, square);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generator_reproduces_javas_numbers() {
        let mut random = Random::new(42);
        assert_eq!(random.word() as i32, -1_170_105_035);
        assert_eq!(random.word() as i32, 234_785_527);
        assert_eq!(Random::new(42).unit(), 0.727_563_680_032_868_1);
        // The tolerance allows for differences between Java's logarithm and that of the platform.
        let gaussian = Random::new(42).gaussian();
        assert!(
            (gaussian - 1.141_905_315_473_054_7).abs() < 1e-15,
            "{gaussian}"
        );
    }

    #[test]
    fn gaussian_numbers_are_standard_normal() {
        let mut random = Random::new(1);
        let numbers: Vec<_> = (0..100_000).map(|_| random.gaussian()).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let square = numbers.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((square - 1.0).abs() < 0.02, "{square}");
    }
}
