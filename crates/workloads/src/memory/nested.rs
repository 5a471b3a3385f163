//! Two nested loops of tasks: each task of the outer loop holds an array for its inner tasks.
//!
//! From the example in the slides "Narlikar and hybrid schedulers for Cilk": for each `i` up to n,
//! a task `F(i)` has an array of n elements and spawns a task `G(i, j)` for each element. A run
//! that starts all tasks of the outer loop before any of them ends holds n arrays at a time, so its
//! memory is of order n^2. A run that finishes one inner loop before it starts the next holds one
//! array per worker. The slides don't specify `G`; here it fills its element with numbers, and `F`
//! adds up the last number of each element.
//!
//! With `form join`, for runtimes without scopes, joins halve both ranges.
//!
//! The program doesn't test imbalance or memory that is held while no task uses it.

use super::{Way, block, each};
use crate::parameter::{Kind::Integer, ParameterError, named, positional};
use crate::program::{Form, Program, parameters, result, with_form, without_input};
use crate::runtime::{Runtime, Serial};
use crate::steps::{random, steps};

const WORD: usize = size_of::<u64>();

/// The program `nested`, which runs two nested loops of tasks.
#[derive(Clone, Copy, Debug)]
pub struct Nested {
    /// Number of tasks in each of the two loops.
    pub n: usize,
    /// Bytes per element, a multiple of the word size.
    pub width: usize,
    /// Number of steps that compute one word of an element.
    pub steps: u64,
    /// How the parallel body creates its tasks.
    pub form: Form,
}

impl Nested {
    fn all<R: Runtime>(&self, way: Way<'_, '_, R>) -> u64 {
        let mut sums = block::<R, u64>(0, self.n);
        each(way, &mut sums.values, 1, &|way, i, sum| {
            sum[0] = self.outer(way, i);
        });
        total(sums.values.iter())
    }

    fn outer<R: Runtime>(&self, way: Way<'_, '_, R>, i: usize) -> u64 {
        let words = self.width / WORD;
        let mut array = block::<R, u64>(0, self.n * words);
        each(way, &mut array.values, words, &|_, j, element| {
            self.inner(i, j, element);
        });
        total(array.values.iter().skip(words - 1).step_by(words))
    }

    fn inner(&self, i: usize, j: usize, element: &mut [u64]) {
        let mut state = random(i as u64, j as u64);
        for word in element {
            state = steps(state, self.steps);
            *word = state;
        }
    }
}

fn total<'a>(words: impl Iterator<Item = &'a u64>) -> u64 {
    words.fold(0, |sum, word| sum.wrapping_add(*word))
}

impl Program for Nested {
    const NAME: &'static str = "nested";
    const SUMMARY: &'static str = "two nested loops of tasks, one array per outer task";
    parameters! {
        n = positional("n", Integer(1, 1 << 20), ["8", "256", "1024"],
            "tasks per loop and elements per array");
        width = named("width", Integer(WORD as u64, 1 << 30), ["1024", "65536", "32768"],
            "bytes per element, a multiple of 8");
        steps = named("steps", Integer(0, 1_000_000_000_000), ["1"; 3],
            "steps of work per 8 bytes of an element");
        form = Form::parameter("spawn");
    }
    result! { self, (), output =>
        sum "sum of the last words of all elements, modulo 2^64" = *output;
    }

    without_input! {}
    type Output = u64;
    with_form! {}

    fn check(&self) -> Result<(), ParameterError> {
        if self.width % WORD == 0 {
            return Ok(());
        }
        let expected = format!("a multiple of {WORD}");
        Err(ParameterError::invalid(self.width, "width", expected))
    }

    fn serial(&self, (): &mut ()) -> u64 {
        self.all::<Serial>(Way::Call)
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        self.all(Way::<R>::new(self.form, fork))
    }
}
