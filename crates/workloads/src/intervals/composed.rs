//! Turns the Java Grande kernels into programs.
//!
//! A run, serial or parallel, is correct if its figure matches the kernel's reference within the
//! benchmark's tolerance.

use std::io;
use std::marker::PhantomData;

use crate::grande::{Kernel, Size};
use crate::parameter::{
    Kind::{Choice, Integer},
    Words, named, positional,
};
use crate::program::{Program, Reference, answer, parameters, result};
use crate::runtime::Runtime;

/// A kernel with a parallel version that is made of intervals.
pub trait Composed: Kernel<Figure: Send> + Send + 'static {
    /// A one-line description for lists of programs.
    const SUMMARY: &'static str;

    /// The problem sizes that the kernel supports.
    const PROBLEMS: &'static [&'static str] = &["test", "A", "B"];

    /// The default of `pieces` for each size.
    const PIECES: [&'static str; 3] = ["7", "64", "64"];

    /// Runs the kernel, with each phase divided into at most `pieces` pieces.
    fn run<R: Runtime>(&mut self, fork: &mut R::Fork<'_>, pieces: usize);
}

/// The program that runs the kernel `K`.
#[derive(Clone, Copy, Debug)]
pub struct Grande<K> {
    /// The problem size.
    pub size: Size,
    /// The maximum number of pieces per phase.
    pub pieces: usize,
    kernel: PhantomData<fn() -> K>,
}

impl Words for Size {
    const ALL: &'static [Self] = &[Self::Test, Self::A, Self::B, Self::C];
    const NAMES: &'static [&'static str] = &["test", "A", "B", "C"];
}

/// The value of the field `figure` if the figure matches the reference.
const REACHED: &str = "that of the reference";

impl<K: Composed> Program for Grande<K> {
    const NAME: &'static str = K::NAME;
    const SUMMARY: &'static str = K::SUMMARY;
    parameters! {
        size = positional("problem", Choice(K::PROBLEMS),
            ["test", "A", K::PROBLEMS[K::PROBLEMS.len() - 1]], "the benchmark's problem size");
        pieces = named("pieces", Integer(1, 1_000_000), K::PIECES,
            "maximum number of intervals per phase");
        ..kernel = PhantomData;
    }
    result! { self, kernel, figure =>
        figure "the reference result, or the deviation from it" =
            kernel.check(figure).map_or_else(|wrong| wrong.to_string(), |()| REACHED.into());
    }
    const INTERVALS: bool = true;

    type Input = K;
    type Output = K::Figure;

    fn prepare(&self) -> io::Result<K> {
        Ok(K::new(self.size))
    }

    fn reset(&self, kernel: &mut K) {
        kernel.reset();
    }

    fn serial(&self, kernel: &mut K) -> K::Figure {
        kernel.serial()
    }

    fn parallel<R: Runtime>(&self, kernel: &mut K, fork: &mut R::Fork<'_>) -> K::Figure {
        kernel.run::<R>(fork, self.pieces);
        // The serial version also computes the figure in its timed part.
        kernel.figure()
    }

    fn published(&self) -> Option<Reference> {
        Some(Reference {
            answer: answer([("figure", REACHED.into())]),
            source: "the benchmark's reference figure",
        })
    }
}
