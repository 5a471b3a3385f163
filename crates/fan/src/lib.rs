//! Splits a program into pieces, lets an engine run them on many machines, and merges their
//! results.
//!
//! A program implements [`Split`] and calls [`main`], which gives it five verbs: `plan`, `piece`,
//! `merge`, `run` and `status`. `run` does everything; the others are what engines and scripts call.
//! Pieces must be idempotent: an engine may run a piece twice, even at the same time. The result of
//! each item is published once, so it counts once.
//!
//! The engine is a program that you have: HyperQueue, Slurm or Kubernetes. Without one, pieces are
//! processes of this machine. All of them share a folder. `examples/primes.rs` is a whole program.

#![forbid(unsafe_code)]

mod budget;
mod build;
mod engine;
mod error;
mod estimate;
mod files;
mod folder;
mod interrupt;
mod merge;
mod name;
mod parent;
mod phrases;
mod piece;
mod plan;
mod publish;
mod request;
mod result;
mod run;
mod status;
#[cfg(test)]
mod testing;
mod timeline;
mod verbs;
mod whole;

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use budget::Budget;
pub use build::build;
pub use error::{Error, Retry};
pub use verbs::{Verb, carry_out, main};
#[doc(hidden)]
pub use whole::whole;

/// Compiles the program of the guide, and runs the example of the README file.
#[cfg(doctest)]
mod shown {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/guide/many-machines.md")]
    mod many_machines {}
}

/// A program that can be split into pieces. Its fields are what a user asks it for: options of the
/// verbs `plan` and `run`, which become a part of the plan. Its doc comment is the help.
///
/// These names are reserved, because they are options of `run`: `pieces`, `engine`, `image`, `claim`,
/// `call-limit`, `dir`, `fresh`, `accept-build`, `dry-run`, `retries`, `budget`, `cpus`, `json`. A
/// program with a field of such a name ends with an error.
///
/// Everything is written as JSON, which has no NaN, and no map whose keys are not strings. It must be
/// written in the same way each time, so that planning again gives the same plan: no map of random
/// order.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tidegate_fan::{Budget, Done, Error, Split, Weighted};
///
/// /// Adds the lengths of words, each of which is an item.
/// #[derive(clap::Args, Serialize, Deserialize)]
/// struct Letters {
///     words: Vec<String>,
/// }
///
/// impl Split for Letters {
///     const NAME: &'static str = "letters";
///     const VERSION: &'static str = "1";
///     type Item = String;
///     type Out = usize;
///     type Report = usize;
///
///     fn plan(&self, _pieces: usize) -> Result<Vec<Weighted<String>>, Error> {
///         let items = self.words.iter().cloned();
///         Ok(items.map(|item| Weighted { item, weight: 1 }).collect())
///     }
///
///     fn run(&self, item: String, _: &Budget) -> Result<Done<String, usize>, Error> {
///         Ok(Done::whole(item.len()))
///     }
///
///     fn merge(&self, outs: Vec<usize>) -> Result<usize, Error> {
///         Ok(outs.iter().sum())
///     }
/// }
///
/// let letters = Letters { words: vec!["one".to_owned(), "three".to_owned()] };
/// let items = letters.plan(2)?.into_iter().map(|weighted| weighted.item);
/// let done = items.map(|item| letters.run(item, &Budget::unlimited()));
/// let outs = done.map(|done| Ok(done?.out)).collect::<Result<_, Error>>()?;
/// assert_eq!(letters.merge(outs)?, 8);
/// # Ok::<(), Error>(())
/// ```
pub trait Split: clap::Args + Serialize + DeserializeOwned {
    /// The name of the program, which has only letters, digits, hyphens, underscores and dots.
    /// Folders are named after it.
    const NAME: &'static str;
    /// The version of the program. A plan of another version is refused, like one of another build.
    const VERSION: &'static str;
    /// What a piece needs to know beside the arguments.
    type Item: Serialize + DeserializeOwned;
    /// What a piece finds.
    type Out: Serialize + DeserializeOwned;
    /// What all pieces have found: `merge` and `run` print it, as text or as JSON.
    type Report: Serialize + fmt::Display;

    /// Splits the work into about `pieces` items, always in the same way.
    ///
    /// # Errors
    /// Returns an error if the arguments are invalid, or if what they name cannot be read.
    fn plan(&self, pieces: usize) -> Result<Vec<Weighted<Self::Item>>, Error>;

    /// Does the work of an item. Once the budget is spent, it may leave work to others.
    ///
    /// The result must depend only on the arguments, the item and, if work is left, on what is left.
    ///
    /// # Errors
    /// Returns an error that says whether another attempt can succeed.
    fn run(&self, item: Self::Item, budget: &Budget) -> Result<Done<Self::Item, Self::Out>, Error>;

    /// Merges the results, which are in the order of the plan. The results of what a piece left
    /// follow its own.
    ///
    /// # Errors
    /// Returns an error if the results contradict each other or what is known.
    fn merge(&self, outs: Vec<Self::Out>) -> Result<Self::Report, Error>;
}

/// An item, and how much work it is, in any unit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Weighted<I> {
    /// What a piece needs to know.
    pub item: I,
    /// The expected work, relative to that of other items: the progress and the time left depend on
    /// it.
    pub weight: u64,
}

/// What a piece has found, and what it has left to others.
#[derive(Debug, Serialize, Deserialize)]
pub struct Done<I, O> {
    /// What the piece has found.
    pub out: O,
    /// What remains to be done, as further items.
    pub rest: Vec<Weighted<I>>,
}

impl<I, O> Done<I, O> {
    /// Returns the result of a piece that has done all of its work.
    pub fn whole(out: O) -> Self {
        Self {
            out,
            rest: Vec::new(),
        }
    }
}
