//! The kernels of the Java Grande benchmarks, in parts that a parallel version can put together.
//!
//! From J. M. Bull, L. A. Smith, M. D. Westhead, D. S. Henty and R. A. Davey, A benchmark suite for
//! high performance Java, Concurrency: Practice and Experience 12, 2000, and L. A. Smith, J. M. Bull
//! and J. Obdrzalek, A parallel Java Grande benchmark suite, SC 2001. Thomas Weibel's thesis measures
//! these seven; each is a module. Problem, constants and sizes are the benchmark's, so that its
//! reference figures hold; the code is ours.
//!
//! A kernel is a type with its data ([`Kernel`]) and plain functions for its parts. Parts take the
//! slices that they read and write and nothing else, so that tasks can run them on borrowed, disjoint
//! pieces of the kernel's public fields; where several tasks read what one has written, a lock per
//! row or column around the *borrow* of it is enough. Which parts must wait for which is said in the
//! kernel's module. [`Kernel::serial`] is the parts in program order.
//!
//! What it does not do: run anything in parallel, or take the time.

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

/// How large a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Quick enough for a test without optimisation; ours, so no figure is published.
    Test,
    /// The benchmark's smaller size.
    A,
    /// The benchmark's larger one.
    B,
    /// The benchmark's largest one, of [`Crypt`], [`Series`] and [`Sor`] only. It has one of
    /// [`LuFact`], too, with 2,000 unknowns; but its generator repeats row 0 as row 1,024, so that
    /// those equations have no single solution, and no result can be checked.
    C,
}

impl Size {
    /// The value for this size, of those for each size from [`Size::Test`] on.
    ///
    /// # Panics
    /// The kernel has no such size.
    fn choose<T, const N: usize>(self, values: [T; N]) -> T {
        let value = values.into_iter().nth(self as usize);
        value.unwrap_or_else(|| panic!("this kernel has no size {self:?}"))
    }
}

/// A benchmark's data, its serial version, and what must come out.
pub trait Kernel: Sized {
    /// The benchmark's name.
    const NAME: &'static str;

    /// What a run comes to.
    type Figure: fmt::Debug;

    /// The data as they are before a run.
    fn new(size: Size) -> Self;

    /// Brings the data back to what `new` made, for another run.
    fn reset(&mut self);

    /// All parts in program order.
    fn serial(&mut self) -> Self::Figure;

    /// What a run came to, whoever put its parts together.
    fn figure(&self) -> Self::Figure;

    /// Whether `figure` is that of the reference: the published one, or the serial version's where
    /// none is published.
    fn check(&self, figure: &Self::Figure) -> Result<(), Mismatch>;
}

/// A figure that is not that of the reference.
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
    /// An error unless `found` differs from `value` by no more than `tolerance`.
    fn unless_near(what: &'static str, found: f64, value: f64, tolerance: f64) -> Result<(), Self> {
        let expected = Expected::Near { value, tolerance };
        Self::unless((found - value).abs() <= tolerance, what, found, expected)
    }

    /// An error unless `found` is no more than `bound`.
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
                write!(
                    f,
                    "{what} is {found}, expected is {value} within {tolerance}"
                )
            }
            Expected::AtMost(bound) => write!(f, "{what} is {found}, allowed is at most {bound}"),
        }
    }
}

impl std::error::Error for Mismatch {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_says_what_was_found_and_what_is_allowed() {
        let near = |found| Mismatch::unless_near("sum", found, 2.0, 0.5);
        assert_eq!(near(2.5), Ok(()));
        let told = near(2.75).unwrap_err().to_string();
        assert_eq!(told, "sum is 2.75, expected is 2 within 0.5");
        let told = Mismatch::unless_at_most("error", 7.0, 6.0).unwrap_err();
        assert_eq!(told.to_string(), "error is 7, allowed is at most 6");
    }

    #[test]
    fn what_is_no_number_is_a_mismatch() {
        assert!(Mismatch::unless_near("sum", f64::NAN, 2.0, 0.5).is_err());
        assert!(Mismatch::unless_at_most("error", f64::NAN, 6.0).is_err());
    }
}
