//! Cache stress: arrays as large as a last-level cache, which many tasks read over and over.
//!
//! Consecutive tasks use different arrays. With `best`, all tasks that read an array run in one
//! place, so each task finds the array in the cache because an earlier task has read it. With
//! `worst`, every place reads all arrays. From Weibel 2010, sections 3 and 5.3.1, where two
//! processors with an 8 MB cache each read two arrays of 8 MB.
//!
//! The serial version and the parallel body share the pass over an array, which adds and multiplies
//! the array's elements. The elements are odd, so that no product becomes zero.
//!
//! The program doesn't write to the arrays.

use std::hint::black_box;
use std::io;

use super::{Hints, Locality};
use crate::parameter::{Kind::Integer, ParameterError, named, positional};
use crate::program::{Answer, Field, Program, Reference, answer, field, parameters};
use crate::runtime::Runtime;
use crate::steps::random;

/// The program `cachestress`, whose tasks read large arrays repeatedly.
#[derive(Clone, Copy, Debug)]
pub struct Cachestress {
    /// Number of 32-bit integers per array.
    pub n: usize,
    /// How many different arrays the tasks read.
    pub arrays: usize,
    /// Number of tasks, for all arrays together.
    pub tasks: usize,
    /// How often each task reads its array.
    pub passes: u32,
    /// The seed for the arrays.
    pub seed: u64,
    /// Where a task runs relative to earlier tasks that read the same array.
    pub locality: Locality,
}

/// The sum and product of the elements that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    sum: u32,
    product: u32,
}

impl Read {
    const NOTHING: Self = Self { sum: 0, product: 1 };

    fn and(self, other: Self) -> Self {
        Self {
            sum: self.sum.wrapping_add(other.sum),
            product: self.product.wrapping_mul(other.product),
        }
    }

    fn of(element: u32) -> Self {
        Self {
            sum: element,
            product: element,
        }
    }

    fn times(self, times: u32) -> Self {
        Self {
            sum: self.sum.wrapping_mul(times),
            product: self.product.wrapping_pow(times),
        }
    }
}

impl Cachestress {
    fn array(&self, number: usize) -> impl Iterator<Item = u32> {
        let (first, seed) = ((number * self.n) as u64, self.seed);
        (first..first + self.n as u64).map(move |i| random(seed, i) as u32 | 1)
    }

    /// Runs all passes of a task over its array.
    fn task(&self, array: &[u32]) -> Read {
        // Without the black box, the compiler could merge all passes into one.
        let pass = |read: Read, _| {
            black_box(array)
                .iter()
                .copied()
                .map(Read::of)
                .fold(read, Read::and)
        };
        (0..self.passes).fold(Read::NOTHING, pass)
    }

    /// Returns the index of a task's array, and how many tasks before it use the same array.
    pub(crate) fn turn(&self, task: usize) -> (usize, usize) {
        (task % self.arrays, task / self.arrays)
    }
}

impl Program for Cachestress {
    const NAME: &'static str = "cachestress";
    const SUMMARY: &'static str = "tasks that repeatedly read cache-sized arrays";
    parameters! {
        n = positional("n", Integer(0, 1 << 28), ["5000", "2097144", "2097144"],
            "4-byte integers per array");
        arrays = named("arrays", Integer(1, 1 << 10), ["2"; 3],
            "number of arrays, ideally one per place");
        tasks = named("tasks", Integer(1, 1 << 20), ["16", "64", "64"],
            "number of tasks that take turns reading them");
        passes = named("passes", Integer(1, 1 << 20), ["3", "10", "100"],
            "times that a task reads its array");
        locality = Locality::PARAMETER;
        seed = Locality::SEED;
    }
    const RESULT: &'static [Field] = &[
        field("sum", "sum of all values read, modulo 2^32"),
        field("product", "product of all values read, modulo 2^32"),
    ];
    const SPAWNS: bool = true;

    type Input = Vec<Vec<u32>>;
    type Output = Vec<Read>;

    fn prepare(&self) -> io::Result<Self::Input> {
        Ok((0..self.arrays).map(|i| self.array(i).collect()).collect())
    }

    fn serial(&self, arrays: &mut Self::Input) -> Self::Output {
        let tasks = 0..self.tasks;
        tasks
            .map(|task| self.task(&arrays[self.turn(task).0]))
            .collect()
    }

    fn parallel<R: Runtime>(&self, arrays: &mut Self::Input, _: &mut R::Fork<'_>) -> Self::Output {
        let hints = Hints::new::<R>(self.locality, self.seed);
        let arrays = &*arrays;
        let mut reads = vec![Read::NOTHING; self.tasks];
        R::scope(|scope| {
            for (task, read) in reads.iter_mut().enumerate() {
                let (array, turn) = self.turn(task);
                let place = hints.place((array, self.arrays), turn, task);
                let body = move |_: &_| *read = self.task(&arrays[array]);
                Hints::spawn::<R>(scope, place, body);
            }
        });
        reads
    }

    fn fits<R: Runtime>(&self, runtime: &R) -> Result<(), ParameterError> {
        self.locality.fits(runtime)
    }

    fn answer(&self, _: &Self::Input, reads: &Self::Output) -> Answer {
        let all = reads.iter().copied().fold(Read::NOTHING, Read::and);
        answer([("sum", all.sum.into()), ("product", all.product.into())])
    }

    fn published(&self) -> Option<Reference> {
        let once = |array| {
            self.array(array)
                .map(Read::of)
                .fold(Read::NOTHING, Read::and)
        };
        let tasks = |array| (array..self.tasks).step_by(self.arrays).count() as u32;
        let all = |array| once(array).times(self.passes).times(tasks(array));
        let arrays = 0..self.arrays;
        let reads = arrays.map(all).collect();
        Some(Reference {
            answer: self.answer(&Vec::new(), &reads),
            source: "one pass over each array, as often as it is read",
        })
    }
}
