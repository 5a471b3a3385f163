//! The kernels of the Java Grande benchmarks, in parts that a parallel version can assemble.
//!
//! From J. M. Bull, L. A. Smith, M. D. Westhead, D. S. Henty and R. A. Davey, A benchmark suite for
//! high performance Java, Concurrency: Practice and Experience 12, 2000, and L. A. Smith, J. M.
//! Bull and J. Obdrzalek, A parallel Java Grande benchmark suite, SC 2001. Thomas Weibel's thesis
//! measures these seven kernels; each has a module here. Problems, constants and sizes are those of
//! the benchmark, so its reference figures apply; the code is our own.
//!
//! A kernel is a type with its data ([`Kernel`]) and plain functions for its parts. A part takes
//! only the slices that it reads and writes, so tasks can run parts on borrowed, disjoint pieces of
//! the kernel's public fields. If several tasks read what one task has written, it is enough to put
//! the borrow of each row or column into a lock. Each kernel's module describes the order that the
//! parts require. [`Kernel::serial`] runs the parts in program order.
//!
//! This module runs nothing in parallel and doesn't measure time.

use std::fmt;

pub mod crypt;
pub mod lufact;
pub mod moldyn;
pub mod montecarlo;
mod random;
pub mod raytracer;
pub mod series;
pub mod sor;

pub use crypt::Crypt;
pub use lufact::LuFact;
pub use moldyn::MolDyn;
pub use montecarlo::MonteCarlo;
pub use raytracer::RayTracer;
pub use series::Series;
pub use sor::Sor;

/// The problem size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Fast enough for a test without optimization. The benchmark doesn't have this size, so there
    /// are no published figures for it.
    Test,
    /// The benchmark's smaller size.
    A,
    /// The benchmark's middle size; for a kernel without size C, the largest.
    B,
    /// The benchmark's largest size, only for [`Crypt`], [`Series`] and [`Sor`]. The benchmark also
    /// has this size for [`LuFact`], with 2,000 unknowns. But its generator repeats row 0 as row
    /// 1,024, so the equations have no unique solution and no result can be checked.
    C,
}

impl Size {
    /// Selects the value for this size from `values`, which start with [`Size::Test`].
    ///
    /// # Panics
    /// If the kernel has no such size.
    fn choose<T, const N: usize>(self, values: [T; N]) -> T {
        let value = values.into_iter().nth(self as usize);
        value.unwrap_or_else(|| panic!("this kernel has no size {self:?}"))
    }
}

/// A kernel of the benchmark, with its data, its serial version and its expected result.
pub trait Kernel: Sized {
    /// The kernel's name, which is also the name of its program.
    const NAME: &'static str;

    /// The result of a run, which [`check`](Self::check) compares with the reference.
    type Figure: fmt::Debug;

    /// Creates the kernel's data in its initial state.
    fn new(size: Size) -> Self;

    /// Restores the data to its initial state for another run.
    fn reset(&mut self);

    /// Runs all parts in program order.
    fn serial(&mut self) -> Self::Figure;

    /// Returns the result of a finished run, whether serial or parallel.
    fn figure(&self) -> Self::Figure;

    /// Checks that `figure` matches the reference. The reference is the published figure or, if
    /// there is none, that of the serial version.
    fn check(&self, figure: &Self::Figure) -> Result<(), Mismatch>;
}

/// The error for a figure that doesn't match the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    what: &'static str,
    found: f64,
    expected: Expected,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    Near { value: f64, tolerance: f64 },
    AtMost(f64),
}

impl Mismatch {
    /// Returns an error if `found` differs from `value` by more than `tolerance`.
    fn unless_near(what: &'static str, found: f64, value: f64, tolerance: f64) -> Result<(), Self> {
        let expected = Expected::Near { value, tolerance };
        Self::unless((found - value).abs() <= tolerance, what, found, expected)
    }

    /// Returns an error if `found` is greater than `bound`.
    fn unless_at_most(what: &'static str, found: f64, bound: f64) -> Result<(), Self> {
        Self::unless(found <= bound, what, found, Expected::AtMost(bound))
    }

    fn unless(right: bool, what: &'static str, found: f64, expected: Expected) -> Result<(), Self> {
        if right {
            return Ok(());
        }
        Err(Self {
            what,
            found,
            expected,
        })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, found, .. } = self;
        match self.expected {
            Expected::Near { value, tolerance } => {
                write!(f, "{what} is {found}, expected {value} within {tolerance}")
            }
            Expected::AtMost(bound) => write!(f, "{what} is {found}, expected at most {bound}"),
        }
    }
}

impl std::error::Error for Mismatch {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mismatch_prints_actual_and_expected_values() {
        let near = |found| Mismatch::unless_near("sum", found, 2.0, 0.5);
        assert_eq!(near(2.5), Ok(()));
        let told = near(2.75).unwrap_err().to_string();
        assert_eq!(told, "sum is 2.75, expected 2 within 0.5");
        let told = Mismatch::unless_at_most("error", 7.0, 6.0).unwrap_err();
        assert_eq!(told.to_string(), "error is 7, expected at most 6");
    }

    #[test]
    fn nan_is_always_a_mismatch() {
        assert!(Mismatch::unless_near("sum", f64::NAN, 2.0, 0.5).is_err());
        assert!(Mismatch::unless_at_most("error", f64::NAN, 6.0).is_err());
    }
}
