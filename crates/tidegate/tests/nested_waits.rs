//! Waits inside waits: locks held across joins, pools that call each other, broadcasts that meet.
//!
//! Each schedule is forced: a closure goes on only when the others are where the test wants them.

mod support;

use std::sync::{Barrier, Mutex};
use support::{AMOUNTS, Gate, Tally, bare_pool, built, fib, pool, watched};
use tidegate::{Amount, Pool, Wait};

/// Holds a mutex across a join while tasks spawned *before* it, which take the same mutex, wait in the same deque.
fn lock_held_above_older_neighbours(pool: &Pool, neighbours: usize) {
    let (lock, started) = (Mutex::new(0), Tally::new());
    pool.scope(|s| {
        for _ in 0..neighbours {
            s.spawn(|_| {
                started.come();
                *lock.lock().unwrap() += 1;
            });
        }
        let mut held = lock.lock().unwrap();
        // The first half ends when a thief has taken something: a neighbour or the second half.
        tidegate::join(|| started.wait_for(1), || started.come());
        *held += 1;
    });
    assert_eq!(lock.into_inner().unwrap(), neighbours + 1);
}

#[test]
fn a_lock_held_across_a_join_does_not_meet_older_neighbours_that_take_it() {
    watched(|| {
        for amount in AMOUNTS {
            let pool = built(Pool::builder().workers(2).steal(amount));
            for neighbours in [3, 4, 9] {
                lock_held_above_older_neighbours(&pool, neighbours);
            }
        }
    });
}

/// Holds a mutex across a join whose first half spawns tasks that take it: they lie *above* the second half.
///
/// The second half ends only after a neighbour has begun, and the first only after a thief has come. So the holder of
/// the lock waits for a stolen half while neighbours are there to be run by mistake.
fn lock_held_below_younger_neighbours(pool: &Pool, neighbours: usize) {
    let (lock, begun, came) = (Mutex::new(0), Tally::new(), Tally::new());
    pool.scope(|s| {
        let mut held = lock.lock().unwrap();
        tidegate::join(
            || {
                for _ in 0..neighbours {
                    s.spawn(|_| {
                        begun.come();
                        came.come();
                        *lock.lock().unwrap() += 1;
                    });
                }
                came.wait_for(1);
            },
            || {
                came.come();
                begun.wait_for(1);
            },
        );
        *held += 1;
    });
    assert_eq!(lock.into_inner().unwrap(), neighbours + 1);
}

#[test]
fn a_lock_held_across_a_join_does_not_meet_spawns_of_its_first_half_that_take_it() {
    watched(|| {
        let pool = pool(2);
        for neighbours in [1, 2, 3, 8] {
            lock_held_below_younger_neighbours(&pool, neighbours);
        }
    });
}

#[test]
fn the_number_of_workers_may_fall_while_a_lock_is_held_across_a_join() {
    watched(|| {
        for amount in AMOUNTS {
            let pool = built(Pool::builder().workers(2).steal(amount));
            for _ in 0..10 {
                let (lock, started) = (Mutex::new(0), Tally::new());
                pool.scope(|s| {
                    for _ in 0..4 {
                        s.spawn(|_| {
                            started.come();
                            *lock.lock().unwrap() += 1;
                        });
                    }
                    let mut held = lock.lock().unwrap();
                    tidegate::join(
                        || {
                            started.wait_for(1);
                            pool.set_workers(1).unwrap();
                            // Meets the request for the slot while the lock is held.
                            assert_eq!(fib(10), 55);
                        },
                        || started.come(),
                    );
                    *held += 1;
                });
                assert_eq!(lock.into_inner().unwrap(), 5);
                pool.set_workers(2).unwrap();
            }
        }
    });
}

#[test]
fn tasks_that_take_a_lock_may_be_spawned_while_it_is_held() {
    watched(|| {
        for workers in [1, 2] {
            for amount in AMOUNTS {
                let pool = built(Pool::builder().workers(workers).steal(amount));
                // The last is more than a ring, and less than what makes a spawn run tasks on the spot.
                for tasks in [1, 2, 1_000, 140_000] {
                    let lock = Mutex::new(0);
                    pool.scope(|s| {
                        let guard = lock.lock().unwrap();
                        for _ in 0..tasks {
                            s.spawn(|_| *lock.lock().unwrap() += 1);
                        }
                        drop(guard);
                    });
                    assert_eq!(lock.into_inner().unwrap(), tasks);
                }
            }
        }
    });
}

#[test]
fn a_lock_may_be_held_across_a_scope_whose_neighbours_take_it() {
    watched(|| {
        for amount in AMOUNTS {
            let pool = built(Pool::builder().workers(2).steal(amount));
            for _ in 0..20 {
                let (lock, begun) = (Mutex::new(0), Tally::new());
                pool.scope(|outer| {
                    for _ in 0..4 {
                        outer.spawn(|_| {
                            begun.come();
                            *lock.lock().unwrap() += 1;
                        });
                    }
                    let mut held = lock.lock().unwrap();
                    tidegate::scope(|inner| {
                        for _ in 0..4 {
                            inner.spawn(|_| begun.come());
                        }
                        begun.wait_for(1);
                    });
                    *held += 1;
                });
                assert_eq!(lock.into_inner().unwrap(), 5);
            }
        }
    });
}

#[test]
fn a_into_b_into_a_finishes_with_one_thread_each() {
    watched(|| {
        let (a, b) = (bare_pool(1), bare_pool(1));
        for _ in 0..200 {
            assert_eq!(a.install(|| b.install(|| a.install(|| fib(5)))), 5);
            assert_eq!(
                a.install(|| b.install(|| a.install(|| b.install(|| a.install(|| fib(5)))))),
                5
            );
        }
    });
}

#[test]
fn a_into_b_meets_b_into_a_with_one_thread_each() {
    watched(|| {
        let (a, b) = (bare_pool(1), bare_pool(1));
        for _ in 0..200 {
            let both_run = Barrier::new(2);
            let cross = |from: &Pool, to: &Pool| {
                from.install(|| {
                    both_run.wait();
                    to.install(|| from.install(|| fib(5)))
                })
            };
            std::thread::scope(|s| {
                let there = s.spawn(|| cross(&a, &b));
                assert_eq!(cross(&b, &a), 5);
                assert_eq!(there.join().unwrap(), 5);
            });
        }
    });
}

#[test]
fn a_ring_of_pools_with_one_thread_each_finishes() {
    watched(|| {
        let pools: Vec<_> = (0..4).map(|_| bare_pool(1)).collect();
        fn round(pools: &[Pool], hops: usize) -> usize {
            if hops == 0 {
                return 0;
            }
            pools[hops % pools.len()].install(|| 1 + round(pools, hops - 1))
        }
        for _ in 0..20 {
            assert_eq!(round(&pools, 40), 40);
        }
    });
}

#[test]
fn two_broadcasts_from_outside_meet_at_their_barriers() {
    watched(|| {
        for workers in [1, 2, 3] {
            let pool = bare_pool(workers);
            for _ in 0..200 {
                std::thread::scope(|s| {
                    for _ in 0..2 {
                        s.spawn(|| {
                            let meeting = Barrier::new(workers);
                            let numbers = pool.broadcast(|number| {
                                meeting.wait();
                                number
                            });
                            assert_eq!(numbers, (0..workers).collect::<Vec<_>>());
                        });
                    }
                });
            }
        }
    });
}

#[test]
fn two_broadcasts_from_inside_meet_at_their_barriers() {
    watched(|| {
        let pool = bare_pool(2);
        for _ in 0..500 {
            let both = Barrier::new(2);
            let round = || {
                let meeting = Barrier::new(2);
                both.wait();
                pool.broadcast(|_| meeting.wait()).len()
            };
            assert_eq!(pool.join(round, round), (2, 2));
        }
    });
}

#[test]
fn a_broadcast_reaches_threads_that_wait_in_joins() {
    watched(|| {
        let pool = bare_pool(2);
        for _ in 0..200 {
            let (stolen, meeting) = (Gate::new(), Barrier::new(2));
            pool.join(
                || stolen.wait(),
                || {
                    stolen.open();
                    // The other thread waits for this half, or soon will.
                    pool.broadcast(|_| meeting.wait());
                },
            );
        }
    });
}

#[test]
fn halves_that_wait_for_each_other_run_at_the_same_time() {
    watched(|| {
        for amount in [Amount::One, Amount::Half] {
            for wait in [Wait::Descendants, Wait::HelpAny] {
                let pool = built(Pool::builder().workers(2).steal(amount).wait(wait));
                for _ in 0..200 {
                    let came = Tally::new();
                    let meet = || {
                        came.come();
                        came.wait_for(2);
                    };
                    pool.join(meet, meet);
                    pool.install(|| {
                        let came = Tally::new();
                        let meet = || {
                            came.come();
                            came.wait_for(2);
                        };
                        tidegate::join(meet, meet);
                    });
                }
            }
        }
    });
}

#[test]
fn halves_that_wait_for_each_other_without_yielding_run_at_the_same_time() {
    watched(|| {
        let pool = pool(2);
        for _ in 0..50 {
            let came = Tally::new();
            let meet = || {
                came.come();
                while came.get() < 2 {
                    std::hint::spin_loop();
                }
            };
            pool.install(|| tidegate::join(meet, meet));
        }
    });
}

#[test]
fn a_worker_that_waits_takes_part_in_what_it_waits_for() {
    watched(|| {
        let pool = bare_pool(2);
        for _ in 0..200 {
            let (stolen, meeting) = (Gate::new(), Barrier::new(2));
            // The second half forks again after the first has ended: only the waiter is left to meet it.
            pool.join(
                || stolen.wait(),
                || {
                    stolen.open();
                    tidegate::join(|| meeting.wait(), || meeting.wait());
                },
            );
        }
    });
}
