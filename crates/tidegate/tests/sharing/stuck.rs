//! Programs that end if their pool has the machine to itself must also end if other jobs leave the
//! pool only one slot. Examples are halves that wait for each other, tasks that meet, and locks.
//!
//! Each test runs itself in a separate process, with a separate table in which another job claims
//! nearly all processors.

use crate::support::{Gate, Opens, Tally, pool, until, watched};
use std::sync::{Barrier, Mutex};
use std::time::Duration;
use tidegate::Pool;
use tidegate_share::{CpuMask, Location, Name, Observer, Report, Seat};
use tidegate_testkit::{child, eventually, is_child, succeeds};

/// The number of workers in the pools of these tests.
const WANTED: usize = 4;

/// The name of the other job, which leaves these pools one slot.
const GLUTTON: &str = "glutton";

/// Runs the test `name`, which calls this function, in a separate process that has its own table.
/// Returns whether this is that process.
fn is_alone(name: &str) -> bool {
    if !is_child() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("table");
        succeeds(&child(name, &[("TIDEGATE_TABLE", table.to_str().unwrap())]));
    }
    is_child()
}

/// Runs `act` while another job claims nearly all processors. When `act` starts, its pool has only
/// one slot.
fn beside_a_glutton(act: impl FnOnce(&Pool) + Send + 'static) {
    beside([CpuMask::MOST], act);
}

/// Like [`beside_a_glutton`], but the other job desires each of `desires` in turn, for a few cycles
/// each.
fn beside<const N: usize>(desires: [usize; N], act: impl FnOnce(&Pool) + Send + 'static) {
    watched(move || beside_unwatched(&desires, act));
}

fn beside_unwatched(desires: &[usize], act: impl FnOnce(&Pool)) {
    let location = Location::find().unwrap();
    let mut seat = Seat::take(&location, &Name::new(GLUTTON)).unwrap();
    let cpus = tidegate::machine::Machine::read().usable();
    let mask = CpuMask::from_cpus(cpus.as_slice().iter().copied());
    let report = Report {
        desire: CpuMask::MOST,
        limit: CpuMask::MOST,
        weight: 10_000,
        ..Report::new(mask)
    };
    let (stop, pool) = (Gate::new(), pool(WANTED));
    std::thread::scope(|scope| {
        let _stops = Opens(&stop);
        scope.spawn(|| {
            let turns = desires.iter().flat_map(|desire| [*desire; 4]).cycle();
            for desire in turns.take_while(|_| !stop.is_open()) {
                seat.publish(&Report { desire, ..report }).unwrap();
                seat.shares().unwrap();
                seat.wait_change(Duration::from_millis(5)).unwrap();
            }
        });
        let mut observer = Observer::open(&location).unwrap().unwrap();
        let mut has_one = || {
            let jobs = observer.jobs().unwrap();
            jobs.iter()
                .any(|job| job.name.to_string() != GLUTTON && job.allotment == 1)
        };
        eventually("the pool has one slot", || {
            pool.install(|| crate::support::fib(15));
            has_one()
        });
        act(&pool);
    });
}

#[test]
fn interdependent_halves_end_with_one_slot() {
    if !is_alone("stuck::interdependent_halves_end_with_one_slot") {
        return;
    }
    beside_a_glutton(|pool| {
        for _ in 0..5 {
            let (here, there) = (Gate::new(), Gate::new());
            pool.join(
                || {
                    here.open();
                    there.wait();
                },
                || {
                    here.wait();
                    there.open();
                },
            );
        }
    });
}

#[test]
fn barrier_tasks_meet_with_one_slot() {
    if !is_alone("stuck::barrier_tasks_meet_with_one_slot") {
        return;
    }
    beside_a_glutton(|pool| {
        for _ in 0..3 {
            let (barrier, leaders) = (Barrier::new(WANTED), Tally::new());
            pool.scope(|scope| {
                for _ in 0..WANTED {
                    scope.spawn(|_| {
                        if barrier.wait().is_leader() {
                            leaders.come();
                        }
                    });
                }
            });
            assert_eq!(leaders.get(), 1);
        }
    });
}

/// All other threads wait for the lock.
#[test]
fn preempted_lock_holder_finishes() {
    if !is_alone("stuck::preempted_lock_holder_finishes") {
        return;
    }
    // The pool's number of slots rises and falls. The lock's holder is asked to give up its slot
    // while the other threads wait for the lock and cannot react.
    beside([0, CpuMask::MOST], |pool| {
        let (lock, mut rounds) = (Mutex::new(0), 0);
        // Each time the counter grows, a thread has continued without a slot because the threads
        // with slots were waiting.
        while pool.stats().counters.overcommitted == 0 || rounds < 3 {
            pool.scope(|scope| {
                for _ in 0..100 {
                    scope.spawn(|_| {
                        let mut sum = lock.lock().unwrap();
                        // At each fork, the task may give up its slot while it holds the lock.
                        *sum += crate::support::fib(14);
                    });
                }
            });
            rounds += 1;
        }
        assert_eq!(*lock.lock().unwrap(), rounds * 100 * 377);
    });
}

#[test]
fn awaited_preempted_thread_continues() {
    if !is_alone("stuck::awaited_preempted_thread_continues") {
        return;
    }
    beside_a_glutton(|pool| {
        let (waits, done) = (Tally::new(), Gate::new());
        pool.scope(|scope| {
            for _ in 1..WANTED {
                scope.spawn(|_| {
                    waits.come();
                    done.wait();
                });
            }
            // The other threads have slots that the pool was lent because no thread made progress.
            // This thread makes progress, so it is asked to give up its slot.
            until(|| waits.get() == WANTED - 1);
            crate::support::fib(20);
            done.open();
        });
    });
}

#[test]
fn polling_half_ends_with_one_slot() {
    if !is_alone("stuck::polling_half_ends_with_one_slot") {
        return;
    }
    beside_a_glutton(|pool| {
        let (here, there) = (Gate::new(), Gate::new());
        pool.join(
            || {
                here.open();
                while !there.is_open() {
                    tidegate::yield_point();
                }
            },
            || {
                here.wait();
                there.open();
            },
        );
    });
}

#[test]
fn awaited_preempted_thread_ends() {
    if !is_alone("stuck::awaited_preempted_thread_ends") {
        return;
    }
    beside_a_glutton(|pool| {
        for poll in [true, false] {
            let (begun, done) = (Gate::new(), Gate::new());
            let (begun, done) = (&begun, &done);
            pool.scope(|scope| {
                scope.spawn(move |_| {
                    begun.wait();
                    // This forks, so the thread gives up its slot whenever it is asked to.
                    assert_eq!(crate::support::fib(22), 17_711);
                    done.open();
                });
                scope.spawn(move |_| {
                    begun.open();
                    while poll && !done.is_open() {
                        tidegate::yield_point();
                    }
                    while !done.is_open() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                });
            });
        }
    });
}
