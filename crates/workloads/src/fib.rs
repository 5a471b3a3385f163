//! Fibonacci numbers by double recursion without a cutoff, so the program only forks.
//!
//! `fib(n)` makes 2 F(n+1) - 1 calls and F(n+1) - 1 forks, so it measures only the cost of a fork.
//! The serial version is the plain recursion and leaves the compiler free to optimize: if an
//! inlining hint or a black box made it slower, every runtime would look better than it is.
//!
//! The two closures of a fork capture `n` either by value (`move`) or by reference, because users
//! write both. The difference shows what a fork forces the compiler to keep in memory.
//!
//! The program doesn't test imbalance (both halves are trees of the same kind), memory, or long
//! leaves.

use crate::parameter::{
    Kind::{Choice, Integer},
    Words, named, positional,
};
use crate::program::{Program, Reference, parameters, result, without_input};
use crate::runtime::Runtime;

/// The largest n for which F(n) fits the result type.
const MOST: u64 = 93;

/// The program `fib`, which computes a Fibonacci number by recursion.
#[derive(Clone, Copy, Debug)]
pub struct Fib {
    /// The index of the number, 0 to 93.
    pub n: u32,
    /// How the closures of a fork capture `n`.
    pub closures: Closures,
}

/// How a closure captures a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closures {
    /// By value: `move || fib(n - 1)`.
    Move,
    /// By reference: `|| fib(n - 1)`.
    Reference,
}

impl Words for Closures {
    const ALL: &'static [Self] = &[Self::Move, Self::Reference];
    const NAMES: &'static [&'static str] = &["move", "reference"];
}

impl Fib {
    /// Creates the program with closures that capture by value.
    #[must_use]
    pub fn new(n: u32) -> Self {
        Self {
            n,
            closures: Closures::Move,
        }
    }
}

/// The serial version: computes F(n) by plain recursion.
pub fn serial(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    serial(n - 1) + serial(n - 2)
}

/// Runs the parallel body with closures that capture by reference; each call above the leaves
/// forks.
pub fn parallel_by_reference<R: Runtime>(fork: &mut R::Fork<'_>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = R::join(
        fork,
        |fork| parallel_by_reference::<R>(fork, n - 1),
        |fork| parallel_by_reference::<R>(fork, n - 2),
    );
    a + b
}

/// Runs the parallel body with closures that capture by value; each call above the leaves forks.
pub fn parallel<R: Runtime>(fork: &mut R::Fork<'_>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = R::join(
        fork,
        move |fork| parallel::<R>(fork, n - 1),
        move |fork| parallel::<R>(fork, n - 2),
    );
    a + b
}

/// Computes the Fibonacci number iteratively.
fn by_addition(n: u32) -> u64 {
    let (mut this, mut next) = (0_u64, 1_u64);
    for _ in 0..n {
        (this, next) = (next, this.wrapping_add(next));
    }
    this
}

impl Program for Fib {
    const NAME: &'static str = "fib";
    const SUMMARY: &'static str = "naive recursive Fibonacci, without a sequential cutoff";
    parameters! {
        n = positional("n", Integer(0, MOST), ["20", "38", "42"],
            "the index of the Fibonacci number");
        closures = named("closures", Choice(Closures::NAMES), ["move"; 3],
            "whether closures capture n by value or by reference (no difference when simulated)");
    }
    result! { self, (), output =>
        value "the n-th Fibonacci number" = *output;
    }

    without_input! {}
    type Output = u64;

    fn serial(&self, (): &mut ()) -> u64 {
        serial(self.n)
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        match self.closures {
            Closures::Move => parallel::<R>(fork, self.n),
            Closures::Reference => parallel_by_reference::<R>(fork, self.n),
        }
    }

    fn published(&self) -> Option<Reference> {
        Some(Reference {
            answer: self.answer(&(), &by_addition(self.n)),
            source: "repeated addition",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_algorithms_give_published_numbers() {
        assert_eq!(serial(10), 55);
        assert_eq!(by_addition(40), 102_334_155);
        assert_eq!(by_addition(93), 12_200_160_415_121_876_738);
        for n in 0..20 {
            assert_eq!(serial(n), by_addition(n));
        }
    }
}
