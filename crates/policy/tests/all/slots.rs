//! Tests the ledger of slots: which thread gets a slot, and what must hold after every verb.

use tidegate_policy::slots::{Fit, Ledger, Opened, Status, Wake};
use tidegate_policy::{CpuSlots, Rng};

fn running(slots: usize, threads: usize) -> Ledger {
    let mut ledger = Ledger::new(slots, 8);
    for t in 0..threads {
        assert_eq!(ledger.admit(), Some(t));
        assert!(ledger.ready(t));
    }
    ledger
}

#[test]
fn owed_thread_gets_slot_before_overcommitted() {
    let mut ledger = running(2, 2);
    let (debtor, owed) = (2, 3);
    for t in [debtor, owed] {
        assert_eq!(ledger.admit(), Some(t));
        assert!(!ledger.ready(t), "both slots are held");
    }
    assert!(ledger.overcommit(debtor));
    assert_eq!((ledger.owed(), ledger.active()), (1, 3));
    assert_eq!(
        ledger.stop(0, Status::Idle),
        Some(owed),
        "it is to be woken"
    );
    assert!(ledger.owes(), "one still runs without a slot");
    assert_eq!(ledger.stop(1, Status::Idle), None, "it runs already");
    assert_eq!(ledger.status(debtor), Status::Running);
    assert!(!ledger.owes() && !ledger.has_free());
}

/// Only the slots that no owed or overcommitted thread needs become free.
#[test]
fn new_slots_serve_owed_threads_first() {
    let mut ledger = running(1, 1);
    for t in 1..4 {
        assert_eq!(ledger.admit(), Some(t));
        assert!(!ledger.ready(t));
    }
    assert!(ledger.overcommit(2));
    assert_eq!(ledger.set_slots(5), [1, 3]);
    assert_eq!((ledger.held(), ledger.active()), (4, 4));
    assert!(!ledger.owes() && ledger.has_free());
}

/// A thread that runs its part of a broadcast without a slot is not given one, even if a slot is
/// free.
#[test]
fn slotless_broadcast_part_gets_none() {
    let mut ledger = running(2, 2);
    assert_eq!(ledger.stop(1, Status::Idle), None);
    assert_eq!(ledger.set_slots(1), []);
    assert!(ledger.rise(1));
    assert!(!ledger.owes());
    assert_eq!(ledger.stop(0, Status::Idle), None);
    assert!(ledger.has_free());
    assert_eq!(ledger.stop(1, Status::Idle), None);
    assert!(!ledger.is_active());
}

/// An unpinned thread has left, and a new thread gets its number.
#[test]
fn reused_unpinned_number_gets_cpu_slot() {
    let mut ledger =
        Ledger::new(2, 4).with_cpu_slots(CpuSlots::new(&[vec![0], vec![1], vec![0, 1]]));
    let guest = ledger.admit().unwrap();
    ledger.set_unpinned(guest, true);
    assert!(ledger.ready(guest));
    assert_eq!(ledger.cpu_slots().at(guest), None);
    assert_eq!(ledger.stop(guest, Status::Gone), None);
    assert_eq!(ledger.wake_in(1), Wake::Start(guest));
    assert_eq!(ledger.cpu_slots().at(guest), Some(1));
}

/// Calls the verbs in random orders that the runtime could produce.
#[test]
fn slots_belong_to_running_threads() {
    let seeds = if cfg!(miri) { 5 } else { 2_000 };
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let cpu_slots = CpuSlots::new(&[vec![0], vec![1, 2], vec![0, 1, 2]]);
        let mut ledger = Ledger::new(1 + rng.below(3) as usize, 8).with_cpu_slots(cpu_slots);
        let mut threads = 0;
        for _ in 0..200 {
            let t = rng.below(threads.max(1) as u64) as usize;
            match rng.below(10) {
                0 => threads = threads.max(ledger.admit().map_or(threads, |t| t + 1)),
                1 => drop(ledger.set_slots(1 + rng.below(3) as usize)),
                draw @ (2 | 3) => {
                    let group = rng.below(3) as usize;
                    let wake = match draw {
                        2 => ledger.wake_for_work(|_| Fit::Queued, |_| true),
                        _ => ledger.wake_in(group),
                    };
                    if let Wake::Start(t) = wake {
                        threads = threads.max(t + 1);
                    }
                    if let (3, Wake::Start(t) | Wake::Thread(t)) = (draw, wake) {
                        assert!(ledger.cpu_slots().was_in(t, group), "seed {seed}");
                    }
                }
                _ if threads == 0 => {}
                8 => step(&mut ledger, t, &mut rng),
                9 => {
                    let _ = ledger.move_to(t, rng.below(3) as usize);
                }
                4 => {
                    let _ = ledger.overcommit(t);
                }
                5 => {
                    let _ = ledger.repay(t);
                }
                6 => {
                    let giver = rng.below(threads as u64) as usize;
                    let given = ledger.opened(t, Some(giver).filter(|giver| *giver != t));
                    assert!(given != Opened::Given || ledger.status(t) == Status::Running);
                }
                _ => {
                    let _ = ledger.rise(t);
                }
            }
            let holders = (0..threads).filter(|t| ledger.status(*t) == Status::Running);
            assert_eq!(holders.count(), ledger.held(), "seed {seed}");
            assert_eq!(ledger.running().count(), ledger.active(), "seed {seed}");
            assert!(!(ledger.owes() && ledger.has_free()), "seed {seed}");
            check_cpu_slots(&ledger, threads, seed);
        }
    }
}

/// Checks that each holder of a slot has its own CPU slot, unless all are taken, and that other
/// threads have none.
fn check_cpu_slots(ledger: &Ledger, threads: usize, seed: u64) {
    let mut taken = [false; 3];
    for t in 0..threads {
        let at = ledger.cpu_slots().at(t);
        let holds = ledger.status(t) == Status::Running;
        assert!(holds || at.is_none(), "seed {seed}");
        if let Some(cpu_slot) = at {
            assert!(
                !std::mem::replace(&mut taken[cpu_slot], true),
                "seed {seed}"
            );
        }
    }
    let held = taken.iter().filter(|taken| **taken).count();
    assert_eq!(held, ledger.held().min(3), "seed {seed}");
    assert_eq!(ledger.cpu_slots().has_free_in(0), !taken[0], "seed {seed}");
}

/// Stops the thread for a random reason if it runs. Otherwise lets it continue.
fn step(ledger: &mut Ledger, t: usize, rng: &mut Rng) {
    match ledger.status(t) {
        Status::Running | Status::Overcommitted => {
            let reasons = [
                Status::Idle,
                Status::Waiting,
                Status::Owed,
                Status::Blocked,
                Status::Gone,
            ];
            let _ = ledger.stop(t, reasons[rng.below(5) as usize]);
        }
        Status::Gone => {}
        _ => {
            let _ = ledger.ready(t);
        }
    }
}

mod blocking {
    use super::*;

    /// Returns a ledger with one slot and room for `threads` threads plus two in blocking calls.
    /// Its `blocked` threads are all in blocking calls.
    fn blocked(threads: usize, blocked: usize) -> Ledger {
        let mut ledger = Ledger::new(1, threads).with_blocking(2);
        for t in 0..blocked {
            assert_eq!(ledger.admit(), Some(t));
            assert!(ledger.ready(t));
            assert_eq!(ledger.stop(t, Status::Blocked), None);
        }
        ledger
    }

    #[test]
    fn threads_within_limit_do_not_count() {
        let mut ledger = blocked(1, 2);
        assert_eq!(
            ledger.wake_for_work(|_| Fit::Never, |_| true),
            Wake::Start(2)
        );
        assert_eq!(ledger.blocked(), 2);
    }

    /// At the limit, the ledger reports that no more threads may start.
    #[test]
    fn work_waits_at_the_limit() {
        let mut ledger = blocked(1, 3);
        assert!(ledger.has_vacancy(), "publishers have to look");
        assert_eq!(
            ledger.wake_for_work(|_| Fit::Never, |_| true),
            Wake::Exhausted
        );
        assert!(ledger.ready(0));
        assert_eq!(ledger.stop(0, Status::Idle), None);
        assert_eq!(
            ledger.wake_for_work(|_| Fit::Never, |_| true),
            Wake::Thread(0)
        );
    }

    #[test]
    fn system_refusal_is_a_limit() {
        let mut ledger = blocked(8, 1);
        assert_eq!(
            ledger.wake_for_work(|_| Fit::Never, |_| true),
            Wake::Start(1)
        );
        assert_eq!(ledger.refuse(1), None);
        assert_eq!(
            ledger.wake_for_work(|_| Fit::Never, |_| true),
            Wake::Exhausted
        );
    }

    #[test]
    fn returned_excess_threads_are_surplus() {
        let mut ledger = blocked(1, 3);
        assert!(!ledger.has_surplus());
        assert!(ledger.ready(0));
        assert_eq!(ledger.stop(0, Status::Idle), None);
        assert!(!ledger.has_surplus(), "one runs beside two that block");
        assert!(ledger.ready(1));
        assert_eq!(ledger.stop(1, Status::Idle), None);
        assert!(ledger.has_surplus());
        assert_eq!(ledger.stop(1, Status::Gone), None);
        assert!(!ledger.has_surplus());
    }
}

/// Another worker has taken the task by the time the ledger checks for work.
#[test]
fn no_thread_starts_for_lost_work() {
    let mut ledger = Ledger::new(2, 4);
    let t = ledger.admit().unwrap();
    assert!(ledger.ready(t));
    let threads = ledger.thread_count();
    assert_eq!(ledger.wake_for_work(|_| Fit::Never, |_| false), Wake::Gone);
    assert_eq!(ledger.thread_count(), threads);
    assert!(matches!(
        ledger.wake_for_work(|_| Fit::Never, |_| true),
        Wake::Start(_)
    ));
}
