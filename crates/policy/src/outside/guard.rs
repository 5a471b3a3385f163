//! Whether a program collapses because it is confined.

use super::tunables::{EXEC_GUARD_INVOLUNTARY, EXEC_GUARD_VOLUNTARY, EXEC_GUARD_WINDOW};
use crate::Nanos;
use crate::text::S;
use alloc::collections::VecDeque;

/// What a look at a program's threads shows of their switches. Counts are totals since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// The time of the look.
    pub at: Nanos,
    /// The number of threads.
    pub threads: usize,
    /// The number of threads that run or are runnable.
    pub runnable: usize,
    /// How often a thread gave its processor up, to wait for something.
    pub voluntary: u64,
    /// How often the kernel took the processor away from a thread.
    pub involuntary: u64,
    /// Whether the program is confined to fewer processors than it has threads.
    pub confined: bool,
}

impl Turns {
    fn is_suspicious(&self) -> bool {
        self.confined && self.threads >= 2 && self.runnable >= self.threads
    }
}

/// Looks for the signs of a program that collapses because it is confined.
///
/// A thread that waits for another one by spinning keeps the other from its processor until the
/// kernel preempts it. An OpenMP program that decides at its start how long to spin, and loses a
/// processor later, takes 14 to 20 times as long. The signs: for [`EXEC_GUARD_WINDOW`], all threads
/// are runnable at every look, the kernel often preempts them ([`EXEC_GUARD_INVOLUNTARY`]), and
/// they hardly ever wait ([`EXEC_GUARD_VOLUNTARY`]). In most other programs some thread sleeps at
/// times: the one that started the others waits for them.
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
/// use tidegate_policy::outside::{Guard, Turns};
///
/// let mut guard = Guard::default();
/// let turns = |ms: u64| Turns {
///     at: ms * 1_000_000,
///     threads: 2,
///     runnable: 2,
///     voluntary: 2 * ms * 3 / 1000,
///     involuntary: 2 * ms * 130 / 1000,
///     confined: true,
/// };
/// assert!((0..1000).step_by(20).all(|ms| !guard.next(&turns(ms))));
/// assert!(guard.next(&turns(1000)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The looks of the window, the oldest first. All are suspicious and show as many threads.
    window: VecDeque<Turns>,
}

impl Guard {
    /// Returns whether the program has collapsed, according to this look and the earlier ones.
    pub fn next(&mut self, turns: &Turns) -> bool {
        if !turns.is_suspicious() {
            self.window.clear();
            return false;
        }
        if self
            .window
            .back()
            .is_some_and(|last| last.threads != turns.threads)
        {
            self.window.clear();
        }
        self.window.push_back(*turns);
        // Keep one look that is at least as old as the window.
        while self
            .window
            .get(1)
            .is_some_and(|second| is_window(second, turns))
        {
            self.window.pop_front();
        }
        let first = &self.window[0];
        is_window(first, turns) && shows_collapse(first, turns)
    }
}

fn is_window(first: &Turns, last: &Turns) -> bool {
    last.at.saturating_sub(first.at) >= EXEC_GUARD_WINDOW.default
}

fn shows_collapse(first: &Turns, last: &Turns) -> bool {
    let length = last.at.saturating_sub(first.at);
    let thread_time = u128::from(length).saturating_mul(last.threads as u128);
    let limit = |rate: usize| thread_time.saturating_mul(rate as u128);
    let count = |from: u64, to: u64| u128::from(to.saturating_sub(from)) * u128::from(S);
    count(first.involuntary, last.involuntary) > limit(EXEC_GUARD_INVOLUNTARY.default)
        && count(first.voluntary, last.voluntary) < limit(EXEC_GUARD_VOLUNTARY.default)
}
