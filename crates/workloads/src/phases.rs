//! Alternating serial and parallel phases, like programs that are only partly parallel.
//!
//! A serial phase computes and, if required, waits without using the CPU, like a program that reads
//! its next input. A parallel phase is a number of equal tasks, split by joins that halve the
//! range. Two jobs with one round each and opposite values of `first` are complementary: while one
//! is serial, the other is parallel (Siddhartha Sen, Dynamic Processor Allocation for Adaptively
//! Parallel Work-Stealing Jobs, MIT, 2004, section 7). With many rounds of short phases, the number
//! of processors that a job can use changes faster than any estimate can follow.
//!
//! The program doesn't test imbalance within a phase or the cost of a fork.

use std::time::Duration;

use crate::parameter::{
    Kind::{Choice, Integer},
    Words, named, positional,
};
use crate::program::{Program, parameters, result, without_input};
use crate::runtime::Runtime;
use crate::steps::{random, steps};

/// The maximum number of steps in a phase.
const MOST_STEPS: u64 = 1_000_000_000_000;

/// The program `phases`, which alternates between serial and parallel phases.
#[derive(Clone, Copy, Debug)]
pub struct Phases {
    /// Number of rounds; each has one serial and one parallel phase.
    pub rounds: u64,
    /// Steps per serial phase.
    pub serial: u64,
    /// How long each serial phase waits, in addition to its steps, in milliseconds.
    pub wait: u64,
    /// Total number of steps of all tasks in a parallel phase.
    pub parallel: u64,
    /// Tasks per parallel phase.
    pub tasks: u64,
    /// Which phase comes first.
    pub first: First,
}

/// Which phase comes first in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// The serial phase.
    Serial,
    /// The parallel phase.
    Parallel,
}

impl Words for First {
    const ALL: &'static [Self] = &[Self::Serial, Self::Parallel];
    const NAMES: &'static [&'static str] = &["serial", "parallel"];
}

impl Phases {
    /// Runs all rounds. Calls `serial` and `parallel` once per round, in the order that `first`
    /// requires.
    fn rounds(
        &self,
        mut serial: impl FnMut(u64) -> u64,
        mut parallel: impl FnMut(u64) -> u64,
    ) -> u64 {
        (0..self.rounds).fold(1, |state, round| {
            let seed = random(state, round);
            match self.first {
                First::Serial => parallel(serial(seed)),
                First::Parallel => serial(parallel(seed)),
            }
        })
    }

    fn task(&self, seed: u64, number: u64) -> u64 {
        steps(random(seed, number), self.parallel / self.tasks)
    }

    fn among<R: Runtime>(&self, fork: &mut R::Fork<'_>, seed: u64, start: u64, end: u64) -> u64 {
        if end - start == 1 {
            return self.task(seed, start);
        }
        let middle = start + (end - start) / 2;
        let (a, b) = R::join(
            fork,
            move |fork| self.among::<R>(fork, seed, start, middle),
            move |fork| self.among::<R>(fork, seed, middle, end),
        );
        a.wrapping_add(b)
    }
}

impl Program for Phases {
    const NAME: &'static str = "phases";
    const SUMMARY: &'static str = "alternating serial and parallel phases";
    parameters! {
        rounds = positional("rounds", Integer(1, 1_000_000_000), ["3", "50", "50"],
            "number of pairs of phases");
        serial = named("solo", Integer(0, MOST_STEPS), ["10000", "20000000", "20000000"],
            "steps per serial phase");
        wait = named("pause", Integer(0, 3_600_000), ["0"; 3],
            "milliseconds that each serial phase also sleeps");
        parallel = named("steps", Integer(0, MOST_STEPS), ["10000", "10000000", "10000000"],
            "steps per parallel phase, all tasks together");
        tasks = named("tasks", Integer(1, 1_000_000_000), ["8", "64", "64"],
            "tasks per parallel phase");
        first = named("first", Choice(First::NAMES), ["serial"; 3], "which phase comes first");
    }
    result! { self, (), output =>
        state "hash of the tasks' results, modulo 2^64" = *output;
    }

    without_input! {}
    type Output = u64;

    fn serial(&self, (): &mut ()) -> u64 {
        let wait = Duration::from_millis(self.wait);
        self.rounds(
            |seed| {
                std::thread::sleep(wait);
                steps(seed, self.serial)
            },
            |seed| {
                let ends = (0..self.tasks).map(|number| self.task(seed, number));
                ends.fold(0, u64::wrapping_add)
            },
        )
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        let wait = Duration::from_millis(self.wait);
        self.rounds(
            |seed| {
                R::wait(wait);
                steps(seed, self.serial)
            },
            |seed| self.among::<R>(fork, seed, 0, self.tasks),
        )
    }
}
