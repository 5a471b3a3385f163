//! Whether a program collapses because it is confined.

use std::collections::VecDeque;
use tidegate_policy::Nanos;
use tidegate_policy::tunables::{EXEC_GUARD_INVOLUNTARY, EXEC_GUARD_VOLUNTARY, EXEC_GUARD_WINDOW};

/// What a look at a process of a program shows of the switches of its threads. Counts are totals
/// since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// The time of the look.
    pub at: Nanos,
    /// The number of threads of the process.
    pub threads: usize,
    /// The number of threads of the process that run or are runnable.
    pub runnable: usize,
    /// The number of threads of the whole program that run or are runnable.
    pub program_runnable: usize,
    /// The number of processors to which the program is confined, if it is.
    pub processors: Option<usize>,
    /// How often a thread gave its processor up, to wait for something.
    pub voluntary: u64,
    /// How often the kernel took the processor away from a thread.
    pub involuntary: u64,
}

impl Turns {
    /// Whether the confinement makes all threads of the process, at least two, compete for
    /// processors. If not, the guard does not use the counts of switches.
    #[must_use]
    pub fn compete(&self) -> bool {
        let are_short = |processors| processors < self.program_runnable;
        self.threads >= 2 && self.runnable >= self.threads && self.processors.is_some_and(are_short)
    }
}

/// Looks for the signs of a program that collapses because it is confined.
///
/// A thread that waits for another one by spinning keeps the other from its processor until the
/// kernel preempts it. An OpenMP program that decides at its start how long to spin, and loses a
/// processor later, takes 14 to 20 times as long. The signs: for [`EXEC_GUARD_WINDOW`], all threads
/// of the process are runnable at every look, the program has fewer processors than runnable
/// threads, the kernel often preempts the threads of the process ([`EXEC_GUARD_INVOLUNTARY`]), and
/// they hardly ever wait ([`EXEC_GUARD_VOLUNTARY`]). In most other programs some thread sleeps at
/// times: the one that started the others waits for them.
///
/// Only the time between two looks counts at both of which the program is confined. So pauses, in
/// which no other job desires processors, neither hide a collapse nor change the rates.
///
/// A program whose threads all compute, and never wait for each other, shows the same signs. The
/// guard cannot tell it apart, and reports it as well: it loses nothing by being widened. So a
/// report is a reason to stop confining the program, but none to take its fair share away.
///
/// Not every collapse is seen: not that of processes with one thread each that wait for each other
/// by spinning (as some implementations of MPI do), and not that of a process in which one further
/// thread sleeps. A program that computes on all threads but one, like most with a pool of threads,
/// could not be told from the latter.
///
/// A thread of another process that sleeps, such as the shell that started the program, hides the
/// signs. So there should be one guard for each process.
///
/// ```
/// use tidegate_exec::outside::{Guard, Turns};
///
/// let mut guard = Guard::default();
/// let turns = |ms: u64| Turns {
///     at: ms * 1_000_000,
///     threads: 2,
///     runnable: 2,
///     program_runnable: 2,
///     processors: Some(1),
///     voluntary: 2 * ms * 3 / 1000,
///     involuntary: 2 * ms * 130 / 1000,
/// };
/// assert!((0..1000).step_by(20).all(|ms| !guard.next(&turns(ms))));
/// assert!(guard.next(&turns(1000)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The number of threads at all looks of the window.
    threads: usize,
    /// The last look, if the program was confined then.
    last: Option<Turns>,
    /// The looks of the window, the oldest first. The threads competed at all of them.
    window: VecDeque<Counts>,
}

/// The time for which a program was confined, and the switches of a process in that time.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    time: Nanos,
    voluntary: u64,
    involuntary: u64,
}

impl Guard {
    /// Returns whether the process has collapsed, according to this look and the earlier ones.
    pub fn next(&mut self, turns: &Turns) -> bool {
        if turns.processors.is_none() {
            self.last = None;
            return false;
        }
        if !turns.compete() {
            *self = Self::default();
            return false;
        }
        if self.threads != turns.threads {
            *self = Self::default();
        }
        let now = self.count(turns);
        // The first look after a pause adds nothing.
        if self.window.back().is_none_or(|last| last.time < now.time) {
            self.window.push_back(now);
        }
        // Keep one look that is at least as old as the window.
        while self
            .window
            .get(1)
            .is_some_and(|second| is_window(second, &now))
        {
            self.window.pop_front();
        }
        let first = &self.window[0];
        is_window(first, &now) && shows_collapse(first, &now, self.threads)
    }

    /// Adds what has happened since the last look, if the program was confined then.
    fn count(&mut self, turns: &Turns) -> Counts {
        self.threads = turns.threads;
        let last = self.last.replace(*turns).unwrap_or(*turns);
        let before = self.window.back().copied().unwrap_or_default();
        let add = |sum: u64, from: u64, to: u64| sum.saturating_add(to.saturating_sub(from));
        Counts {
            time: add(before.time, last.at, turns.at),
            voluntary: add(before.voluntary, last.voluntary, turns.voluntary),
            involuntary: add(before.involuntary, last.involuntary, turns.involuntary),
        }
    }
}

fn is_window(first: &Counts, last: &Counts) -> bool {
    last.time.saturating_sub(first.time) >= EXEC_GUARD_WINDOW.default
}

fn shows_collapse(first: &Counts, last: &Counts, threads: usize) -> bool {
    let length = last.time.saturating_sub(first.time);
    let thread_time = u128::from(length).saturating_mul(threads as u128);
    let limit = |rate: usize| thread_time.saturating_mul(rate as u128);
    let count = |from: u64, to: u64| u128::from(to.saturating_sub(from)) * 1_000_000_000;
    count(first.involuntary, last.involuntary) > limit(EXEC_GUARD_INVOLUNTARY.default)
        && count(first.voluntary, last.voluntary) < limit(EXEC_GUARD_VOLUNTARY.default)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each confined look follows one at which the program was not confined.
    #[test]
    fn pauses_do_not_lengthen_the_window() {
        let mut guard = Guard::default();
        for at in 0..1000 {
            guard.next(&Turns {
                at,
                threads: 2,
                runnable: 2,
                program_runnable: 2,
                processors: (at % 2 == 0).then_some(1),
                ..Turns::default()
            });
        }
        assert_eq!(guard.window.len(), 1);
    }
}
