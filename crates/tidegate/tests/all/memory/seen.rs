//! A budget as observed from outside the pool, and by the tasks that hold reservations.

use crate::support::{Gate, Opens, until, watched};
use std::sync::atomic::{AtomicU64, Ordering};
use tidegate::memory::{self, Reservation};
use tidegate::{Pool, policy::SharePolicy};

/// What was observed while a program ran.
#[derive(Default)]
struct Seen {
    over: Gate,
    /// How many leaves the program has reached.
    leaves: AtomicU64,
    /// How often the outside thread has looked.
    looks: AtomicU64,
    /// The largest amount of declared memory that the outside thread has seen.
    most_declared: AtomicU64,
    /// The amount of memory that the program's tasks now hold, by their own count.
    held: AtomicU64,
    /// The largest value of `held` so far.
    most_held: AtomicU64,
}

/// A reservation that is counted only after it was granted, and until just before it is released.
struct Held<'a>(Reservation, &'a Seen);

impl Seen {
    fn reserve(&self, bytes: u64) -> Held<'_> {
        let reservation = memory::reserve(bytes as usize).unwrap();
        let held = self.held.fetch_add(bytes, Ordering::AcqRel) + bytes;
        self.most_held.fetch_max(held, Ordering::AcqRel);
        Held(reservation, self)
    }

    fn look(&self, pool: &Pool) {
        while !self.over.is_open() {
            let declared = pool.stats().memory.declared;
            self.most_declared.fetch_max(declared, Ordering::AcqRel);
            self.looks.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Called when a task reaches a leaf. The first leaf and every tenth after it wait for a look
    /// from outside that starts after this call.
    fn leaf(&self) {
        if self.leaves.fetch_add(1, Ordering::AcqRel) % 10 == 0 {
            let looks = || self.looks.load(Ordering::Acquire);
            let before = looks();
            until(|| looks() >= before + 2);
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let Self(reservation, seen) = self;
        let bytes = reservation.bytes() as u64;
        seen.held.fetch_sub(bytes, Ordering::AcqRel);
    }
}

/// Nests joins and scopes. Leaves hold one byte, their parents hold two bytes, and so on.
fn nested(depth: u64, seen: &Seen) -> u64 {
    let _held = seen.reserve(depth + 1);
    if depth == 0 {
        seen.leaf();
        return 1;
    }
    let spawn = || {
        let leaves = AtomicU64::new(0);
        tidegate::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|_| {
                    leaves.fetch_add(nested(depth - 1, seen), Ordering::Relaxed);
                });
            }
        });
        leaves.into_inner()
    };
    let (one, two) = tidegate::join(|| nested(depth - 1, seen), spawn);
    one + two
}

/// Neither declared nor held memory ever exceeds the budget.
#[test]
fn observers_never_see_budget_exceeded() {
    const DEPTH: u64 = if cfg!(miri) { 2 } else { 5 };
    let serial = (1..=DEPTH + 1).sum::<u64>();
    let budget = serial + serial / 10;
    for workers in [2, 4] {
        watched(move || {
            let memory = format!("budget:bytes={budget},serial={serial}");
            let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
            let pool = builder.memory(memory.parse().unwrap()).build().unwrap();
            let seen = Seen::default();
            std::thread::scope(|scope| {
                scope.spawn(|| seen.look(&pool));
                let _ends = Opens(&seen.over);
                let leaves = pool.install(|| nested(DEPTH, &seen));
                assert_eq!(leaves, 3_u64.pow(DEPTH as u32));
            });
            let declared = seen.most_declared.into_inner();
            // During each look, the tasks on the path to a leaf hold their memory.
            assert!((serial..=budget).contains(&declared), "{declared}");
            let held = seen.most_held.into_inner();
            assert!((serial..=budget).contains(&held), "{held}");
            assert_eq!(seen.held.into_inner(), 0);
        });
    }
}
