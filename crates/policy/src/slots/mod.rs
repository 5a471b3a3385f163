//! The ledger of a pool's slots, which decides which threads may run.
//!
//! A slot is the right to run on one processor. The ledger records, for each thread of the pool,
//! whether it runs, with or without a slot, or why it does not run, and decides which thread gets a
//! slot. It does not wake threads: each verb returns what the caller must do. The runtime guards
//! the ledger with a lock.
//!
//! At every hand-over, a slot goes to the first of these:
//!
//! 1. a thread that is *owed* a slot (it has frames and is ready; it may hold a lock that all other
//!    threads wait for),
//! 2. a thread that is *in debt*: its grace has ended, so it runs without a slot,
//! 3. if there is work to find, a waiter whose wait policy lets it run that work,
//! 4. an idle thread,
//! 5. a new thread,
//! 6. a waiter that may run any work from the pool's queues.
//!
//! If a slot is free and work lies in a queue, but no thread can run it because all of them wait,
//! the latest waiter is *rescued*: it runs that work on top of its frame.
//!
//! The holder of a slot also has a CPU slot ([`CpuSlots`]), if the ledger was given CPU slots.
//!
//! Invariant: while a thread is owed a slot or in debt, no slot is free.

mod answers;
mod queries;
mod status;
mod verbs;

pub use answers::{Fit, Opened, Wake};
pub use status::{Status, TRANSITIONS, Verb};

use crate::cpu_slots::CpuSlots;
use alloc::vec::Vec;

/// The ledger of a pool's slots; see the [module](self).
#[derive(Clone, Debug)]
pub struct Ledger {
    slots: usize,
    held: usize,
    overcommitted: usize,
    blocked: usize,
    /// The maximum number of threads, not counting up to `max_blocking` threads in blocking calls.
    max_threads: usize,
    /// The maximum number of threads in blocking calls that do not count towards `max_threads`.
    max_blocking: usize,
    /// The number of surplus threads that are about to leave.
    retiring: usize,
    /// Whether the system has refused to start a thread, so that no more are started.
    refused: bool,
    /// Whether all threads have been admitted, so that no more are started.
    complete: bool,
    threads: Vec<Status>,
    idle: Vec<usize>,
    waiting: Vec<usize>,
    /// The thread that has waited longest comes first.
    owed: Vec<usize>,
    debtors: Vec<usize>,
    cpu_slots: CpuSlots,
}

impl Ledger {
    /// Creates a ledger of `slots` slots for at most `max_threads` threads.
    #[must_use]
    pub fn new(slots: usize, max_threads: usize) -> Self {
        Self {
            slots,
            held: 0,
            overcommitted: 0,
            blocked: 0,
            max_threads: max_threads.max(slots),
            max_blocking: 0,
            retiring: 0,
            refused: false,
            complete: false,
            threads: Vec::new(),
            idle: Vec::new(),
            waiting: Vec::new(),
            owed: Vec::new(),
            debtors: Vec::new(),
            cpu_slots: CpuSlots::default(),
        }
    }

    /// Sets how many threads in blocking calls do not count towards `max_threads`.
    #[must_use]
    pub fn with_blocking(self, threads: usize) -> Self {
        Self {
            max_blocking: threads,
            ..self
        }
    }

    /// Sets the CPU slots: each holder of a slot also gets a CPU slot.
    #[must_use]
    pub fn with_cpu_slots(self, cpu_slots: CpuSlots) -> Self {
        Self { cpu_slots, ..self }
    }

    /// Changes a thread's status. No other function does.
    fn mark(&mut self, t: usize, verb: Verb, status: Status) {
        let step = (self.threads[t], verb, status);
        debug_assert!(TRANSITIONS.contains(&step), "illegal: {step:?}");
        let before = core::mem::replace(&mut self.threads[t], status);
        let change = |count: &mut usize, counted: Status| {
            *count -= usize::from(before == counted);
            *count += usize::from(status == counted);
        };
        change(&mut self.overcommitted, Status::Overcommitted);
        change(&mut self.blocked, Status::Blocked);
    }
}
