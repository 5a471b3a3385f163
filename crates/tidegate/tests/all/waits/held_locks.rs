//! Locks held across joins and scopes while neighbouring tasks want the same lock.
//!
//! If a waiter ran such a neighbour on top of its frame, the neighbour would request a lock that
//! the waiter itself holds, and hang. Each test forces its schedule: the holder continues only when
//! a thief has started one of the tasks that it could run by mistake.

use crate::support::{AMOUNTS, Tally, built, fib, fill, watched};
use std::sync::Mutex;
use tidegate::Pool;
use tidegate::policy::Choose;

/// Returns pools with two workers: for each steal amount, one pool with spare threads and one
/// without.
fn pools() -> impl Iterator<Item = Pool> {
    AMOUNTS.into_iter().flat_map(|amount| {
        let builder = || Pool::builder().workers(2).steal(amount);
        [built(builder()), built(builder().max_threads(2))]
    })
}

/// What happens while the lock is held: nothing, or a reduction of the number of workers to one.
#[derive(Clone, Copy, PartialEq)]
enum Meanwhile {
    Nothing,
    Fewer,
}

impl Meanwhile {
    const ALL: [Self; 2] = [Self::Nothing, Self::Fewer];

    fn happen(self, pool: &Pool) {
        if self == Self::Fewer {
            pool.set_workers(1).unwrap();
            // At these forks, a worker gives up its slot as requested, while the lock is held.
            assert_eq!(fib(6), 8);
        }
    }
}

/// Holds a mutex across a join. Tasks that were spawned *before* the join and take the same mutex
/// wait in the same deque.
fn lock_held_above_older_neighbours(pool: &Pool, neighbours: usize, meanwhile: Meanwhile) {
    let (lock, started) = (Mutex::new(0), Tally::new());
    pool.scope(|s| {
        for _ in 0..neighbours {
            s.spawn(|_| {
                started.come();
                *lock.lock().unwrap() += 1;
            });
        }
        let mut held = lock.lock().unwrap();
        tidegate::join(
            || {
                // Wait until a thief has taken a task: a neighbour or the second half.
                started.wait_for(1);
                meanwhile.happen(pool);
            },
            || started.come(),
        );
        *held += 1;
    });
    assert_eq!(lock.into_inner().unwrap(), neighbours + 1);
}

/// The joiner holds the lock, so it must not run tasks that take the lock on top of its frame.
#[test]
fn joiner_skips_older_lock_users() {
    watched(|| {
        for pool in pools() {
            for neighbours in [1, 3, 4, 9] {
                for meanwhile in Meanwhile::ALL {
                    lock_held_above_older_neighbours(&pool, neighbours, meanwhile);
                    pool.set_workers(2).unwrap();
                }
            }
        }
    });
}

/// Holds a mutex across a join whose first half spawns tasks that take the mutex. So these tasks
/// lie *above* the second half.
///
/// The second half ends only when a neighbour has started, and the first half ends only when a
/// thief has taken a task. So the lock's holder waits for a stolen half while it could run
/// neighbours by mistake.
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

/// The first half's tasks take a lock that is held across the join.
#[test]
fn joiner_skips_first_half_spawns() {
    watched(|| {
        for amount in AMOUNTS {
            // The second half waits for a neighbour that another thread must run, so the pool needs
            // spare threads.
            let pool = built(Pool::builder().workers(2).steal(amount));
            for neighbours in [2, 3, 8] {
                lock_held_below_younger_neighbours(&pool, neighbours);
            }
        }
    });
}

/// Holds a mutex across a join whose second half spawns tasks that take the mutex. So these tasks
/// lie in the *thief's* deque, where the holder robs.
fn lock_held_while_robbing(pool: &Pool, neighbours: usize, meanwhile: Meanwhile) {
    let (lock, came, forked) = (Mutex::new(0), Tally::new(), Tally::new());
    pool.scope(|s| {
        let mut held = lock.lock().unwrap();
        tidegate::join(
            || {
                fill(3, &|| {
                    came.wait_for(1);
                    meanwhile.happen(pool);
                });
            },
            || {
                for _ in 0..neighbours {
                    s.spawn(|_| *lock.lock().unwrap() += 1);
                }
                came.come();
                // The thief runs one part and the waiting holder runs the other part, so the holder
                // must skip the neighbours when it robs.
                let part = || {
                    forked.come();
                    assert_eq!(fib(10), 55);
                };
                tidegate::join(part, part);
            },
        );
        *held += 1;
    });
    assert_eq!(forked.get(), 2);
    assert_eq!(lock.into_inner().unwrap(), neighbours + 1);
}

/// The second half's tasks take a lock that is held across the join.
#[test]
fn joiner_skips_second_half_spawns() {
    watched(|| {
        for pool in pools() {
            for neighbours in [1, 2, 3, 8] {
                for meanwhile in Meanwhile::ALL {
                    lock_held_while_robbing(&pool, neighbours, meanwhile);
                    pool.set_workers(2).unwrap();
                }
            }
        }
    });
}

#[test]
fn lock_holder_may_spawn_lock_users() {
    watched(|| {
        for workers in [1, 2] {
            for amount in AMOUNTS {
                let pool = built(Pool::builder().workers(workers).steal(amount));
                // The last number exceeds a ring, but is too small for a spawn to run tasks inline.
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

/// Tasks outside the scope take the lock.
#[test]
fn lock_may_be_held_across_scope() {
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
