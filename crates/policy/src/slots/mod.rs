//! Who may run: the ledger of a pool's slots.
//!
//! A slot is the right to run on one processor. The ledger knows for each thread of the pool whether it runs, with or
//! without a slot, or why it does not, and decides to whom a slot goes. It wakes nobody: each verb returns what the
//! caller must do. The runtime keeps it under one lock.
//!
//! Order at every hand-over: a thread that is *owed* a slot (it has frames and is ready; it may hold a lock that all others
//! wait for), then, if there is work to find, a waiter that may rob exactly that work, then an idle thread, then a new
//! thread, then a waiter that may run any work from the pool's queues. If a slot is free and work lies in a queue but no thread
//! can run it because all of them wait, the latest waiter is *rescued*: it runs that work on top of its frame.
//!
//! A thread whose grace is over runs without a slot, and is *in debt*: the next slot that is free and that nobody is owed is its own.
//!
//! Who holds a slot stands somewhere ([`CpuSlots`]), if it was said where there are CPU slots.
//!
//! Invariant: while somebody is owed a slot or in debt, none is free.

mod answers;
mod queries;
mod status;
mod verbs;

pub use answers::{Fit, Opened, Wake};
pub use status::{Status, TRANSITIONS, Verb, diagram};

use crate::cpu_slots::CpuSlots;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The ledger; see the module.
#[derive(Clone, Debug)]
pub struct Ledger {
    slots: usize,
    held: usize,
    /// How many threads run without a slot.
    overcommitted: usize,
    /// How many threads are [`Blocked`](Status::Blocked).
    blocked: usize,
    /// The limit on threads that are not in a blocking call.
    max_threads: usize,
    /// How many threads in blocking calls do not count towards `max_threads`.
    max_blocking: usize,
    /// How many threads are about to leave because they are surplus.
    retiring: usize,
    /// The system has refused a thread: none is started any more.
    refused: bool,
    /// There are all threads that there will ever be.
    complete: bool,
    threads: Vec<Status>,
    idle: Vec<usize>,
    waiting: Vec<usize>,
    owed: VecDeque<usize>,
    debtors: Vec<usize>,
    cpu_slots: CpuSlots,
}

impl Ledger {
    /// A ledger of `slots` slots for at most `max_threads` threads.
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
            owed: VecDeque::new(),
            debtors: Vec::new(),
            cpu_slots: CpuSlots::default(),
        }
    }

    /// Up to `threads` threads in blocking calls do not count towards the limit on threads.
    #[must_use]
    pub fn with_blocking(self, threads: usize) -> Self {
        Self {
            max_blocking: threads,
            ..self
        }
    }

    /// The same; who holds a slot stands on one of `cpu_slots`.
    #[must_use]
    pub fn with_cpu_slots(self, cpu_slots: CpuSlots) -> Self {
        Self { cpu_slots, ..self }
    }

    /// The only place where a status changes.
    fn mark(&mut self, t: usize, verb: Verb, status: Status) {
        let step = (self.threads[t], verb, status);
        debug_assert!(TRANSITIONS.contains(&step), "illegal: {step:?}");
        for (count, counted) in [
            (&mut self.overcommitted, Status::Overcommitted),
            (&mut self.blocked, Status::Blocked),
        ] {
            *count -= usize::from(self.threads[t] == counted);
            *count += usize::from(status == counted);
        }
        self.threads[t] = status;
    }
}
