//! One loop that spawns many equal serial subtasks.
//!
//! From Siddhartha Sen, Dynamic Processor Allocation for Adaptively Parallel Work-Stealing Jobs
//! (MIT, 2004), section 4.2. Few tasks of such a loop are ready at any time, although its
//! parallelism is half its length. So it shows how fast a runtime gets all of its workers busy.
//!
//! With `form spawn`, the loop is a scope that spawns every subtask, as in the thesis. With `form
//! join`, for runtimes without scopes, joins halve the range; this makes a different graph.
//!
//! The program doesn't test imbalance or the cost of a fork.

use crate::parameter::{Kind::Integer, named, positional};
use crate::program::{Form, Program, parameters, result, with_form, without_input};
use crate::runtime::Runtime;
use crate::steps::{random, steps};

/// The program `loopy`, which runs a loop of equal subtasks.
#[derive(Clone, Copy, Debug)]
pub struct Loopy {
    /// Number of subtasks.
    pub n: usize,
    /// Steps per subtask.
    pub steps: u64,
    /// How the parallel body creates its tasks.
    pub form: Form,
}

impl Loopy {
    fn subtask(&self, number: usize) -> u64 {
        steps(random(0, number as u64), self.steps)
    }

    fn by_spawns<R: Runtime>(&self) -> u64 {
        let mut ends = vec![0; self.n];
        R::scope(|scope| {
            for (number, end) in ends.iter_mut().enumerate() {
                R::spawn(scope, move |_| *end = self.subtask(number));
            }
        });
        ends.into_iter().fold(0, u64::wrapping_add)
    }

    fn by_joins<R: Runtime>(&self, fork: &mut R::Fork<'_>, start: usize, end: usize) -> u64 {
        if end - start == 1 {
            return self.subtask(start);
        }
        let middle = start + (end - start) / 2;
        let (a, b) = R::join(
            fork,
            move |fork| self.by_joins::<R>(fork, start, middle),
            move |fork| self.by_joins::<R>(fork, middle, end),
        );
        a.wrapping_add(b)
    }
}

impl Program for Loopy {
    const NAME: &'static str = "loopy";
    const SUMMARY: &'static str = "one loop that spawns many equal serial tasks";
    parameters! {
        n = positional("n", Integer(1, 100_000_000), ["16", "64", "64"], "number of tasks");
        steps = named("steps", Integer(0, 1_000_000_000_000), ["1000", "1000000", "1000000"],
            "steps of work per task");
        form = Form::parameter("spawn");
    }
    result! { self, (), output =>
        sum "sum of the tasks' results, modulo 2^64" = *output;
    }

    without_input! {}
    type Output = u64;
    with_form! {}

    fn serial(&self, (): &mut ()) -> u64 {
        (0..self.n)
            .map(|number| self.subtask(number))
            .fold(0, u64::wrapping_add)
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        match self.form {
            Form::Spawn => self.by_spawns::<R>(),
            Form::Join => self.by_joins::<R>(fork, 0, self.n),
        }
    }
}
