//! Series: the first coefficients of the Fourier series of (x + 1)^x on the interval from 0 to 2.
//!
//! Each coefficient is an integral computed by the trapezoidal rule. The coefficients are
//! independent, so [`Series::coefficients`] may be divided among tasks in any way. The kernel tests
//! the speed of `powf`, `sin` and `cos`.
//!
//! The benchmark's trapezoidal rule omits the last inner point. Ours does the same, because the
//! published figures depend on it. So each figure lacks that point's contribution, about 0.3 %.
//!
//! The kernel doesn't reuse the function's values from one coefficient to the next, because
//! computing them is what the benchmark measures.

use std::f64::consts::PI;

use super::{Kernel, Mismatch, Size};

/// The interval of integration is from `FROM` to `TO`.
const FROM: f64 = 0.0;
const TO: f64 = 2.0;
/// The number of steps into which the interval is divided.
const STEPS: u32 = 1000;

/// The first four pairs of coefficients, as published.
const REFERENCE: [[f64; 2]; 4] = [
    [2.872_952_496_483_799_6, 0.0],
    [1.116_104_667_614_788_8, -1.881_969_189_339_802_5],
    [0.344_290_603_981_687_04, -1.164_564_262_332_095_8],
    [0.152_388_987_025_192_88, -0.814_346_111_304_429_8],
];
/// The maximum deviation from the published coefficients that the benchmark allows.
const TOLERANCE: f64 = 1e-12;
/// The maximum number of coefficients that the check recomputes.
const AGAIN: usize = 16;

/// The state of the kernel Series.
#[derive(Clone, Debug)]
pub struct Series {
    /// The coefficients of cosine and sine, by frequency. The first pair holds the function's mean
    /// value and 0.
    pub coefficients: Vec<[f64; 2]>,
}

/// Computes consecutive coefficients, starting with the one at index `first`.
pub fn coefficients(first: usize, coefficients: &mut [[f64; 2]]) {
    for (number, pair) in (first..).zip(coefficients) {
        *pair = coefficient(number);
    }
}

fn coefficient(number: usize) -> [f64; 2] {
    let function = |x: f64| (x + 1.0).powf(x);
    if number == 0 {
        return [integral(function) / 2.0, 0.0];
    }
    let frequency = PI * number as f64;
    [
        integral(|x| function(x) * (frequency * x).cos()),
        integral(|x| function(x) * (frequency * x).sin()),
    ]
}

/// Integrates by the trapezoidal rule, but leaves out the last inner point; see the module's
/// documentation.
fn integral(function: impl Fn(f64) -> f64) -> f64 {
    let step = (TO - FROM) / f64::from(STEPS);
    let mut sum = function(FROM) / 2.0;
    let mut x = FROM;
    for _ in 1..STEPS - 1 {
        x += step;
        sum += function(x);
    }
    (sum + function(TO) / 2.0) * step
}

impl Kernel for Series {
    const NAME: &'static str = "series";

    type Figure = [[f64; 2]; 4];

    fn new(size: Size) -> Self {
        let count = size.choose([100, 10_000, 100_000, 1_000_000]);
        Self {
            coefficients: vec![[0.0; 2]; count],
        }
    }

    fn reset(&mut self) {
        self.coefficients.fill([0.0; 2]);
    }

    fn serial(&mut self) -> Self::Figure {
        coefficients(0, &mut self.coefficients);
        self.figure()
    }

    fn figure(&self) -> Self::Figure {
        std::array::from_fn(|number| self.coefficients[number])
    }

    fn check(&self, figure: &Self::Figure) -> Result<(), Mismatch> {
        let pairs = figure.iter().flatten().zip(REFERENCE.iter().flatten());
        for (&found, &value) in pairs {
            Mismatch::unless_near("coefficient", found, value, TOLERANCE)?;
        }
        // Only the first four coefficients are published. No other coefficient may be missing, and
        // some of them, including the last, are recomputed.
        let count = self.coefficients.len();
        for number in (0..count).rev().step_by(count.div_ceil(AGAIN)) {
            for (&found, value) in self.coefficients[number].iter().zip(coefficient(number)) {
                Mismatch::unless_near("coefficient", found, value, TOLERANCE)?;
            }
        }
        let missing = self.coefficients.iter().filter(|pair| **pair == [0.0; 2]);
        Mismatch::unless_near("missing coefficients", missing.count() as f64, 0.0, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_integrals_miss_one_point() {
        let step = (TO - FROM) / f64::from(STEPS);
        let near = |found: f64, exact: f64, left_out: f64| {
            let wanted = exact - left_out * step;
            assert!((found - wanted).abs() < 1e-4, "{found} {wanted}");
        };
        let last = TO - step;
        near(integral(|_| 1.0), 2.0, 1.0);
        near(integral(|x| x), 2.0, last);
        for number in 1..10 {
            let frequency = PI * f64::from(number);
            let (cosine, sine) = ((frequency * last).cos(), (frequency * last).sin());
            near(integral(|x| x * (frequency * x).cos()), 0.0, last * cosine);
            let exact = -2.0 / frequency;
            near(integral(|x| x * (frequency * x).sin()), exact, last * sine);
        }
    }

    #[test]
    fn unpublished_coefficients_are_checked_too() {
        let mut kernel = Series::new(Size::Test);
        let figure = kernel.serial();
        assert_eq!(kernel.check(&figure), Ok(()));
        for number in [4, 50, 99] {
            let right = std::mem::take(&mut kernel.coefficients[number]);
            assert!(kernel.check(&figure).is_err(), "{number}");
            kernel.coefficients[number] = right;
        }
        kernel.coefficients[99][1] += 1e-9;
        assert!(kernel.check(&figure).is_err());
    }

    #[test]
    fn coefficient_does_not_depend_on_range() {
        let mut all = [[0.0; 2]; 8];
        coefficients(0, &mut all);
        let mut some = [[0.0; 2]; 3];
        coefficients(4, &mut some);
        assert_eq!(all[4..7], some);
    }
}
