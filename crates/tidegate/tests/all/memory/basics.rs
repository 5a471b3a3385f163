//! Declared memory: budgets that hold, task orders that do not deadlock, and reservations in
//! unusual places.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tidegate::memory::{self, ReservationError};
use tidegate::{
    Pool,
    policy::{MemoryPolicy, SharePolicy},
};

fn pool(workers: usize, memory: &str) -> Pool {
    let memory: MemoryPolicy = memory.parse().unwrap();
    let builder = Pool::builder().workers(workers).share(SharePolicy::Off);
    builder.memory(memory).build().unwrap()
}

const POLICIES: [&str; 5] = [
    "none",
    "hybrid:alpha=1KiB,beta=1KiB",
    "depth-first:k=2KiB",
    "dfdeques:k=2KiB",
    "budget:bytes=12KiB,serial=11KiB",
];

/// Computes a Fibonacci number. Each call holds 1 KiB until it returns.
fn memfib(n: u64) -> u64 {
    let _reservation = memory::reserve(1 << 10).unwrap();
    if n < 2 {
        return n;
    }
    let (a, b) = tidegate::join(|| memfib(n - 1), || memfib(n - 2));
    a + b
}

#[test]
fn join_program_works_under_every_policy() {
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let pool = pool(workers, policy);
            assert_eq!(pool.install(|| memfib(11)), 89, "{policy}");
            let memory = pool.stats().memory;
            assert_eq!(memory.declared, 0, "{policy}");
            assert!(memory.peak >= 11 << 10, "{policy}: {}", memory.peak);
            if policy.starts_with("budget") {
                assert!(memory.peak <= 12 << 10);
            }
        }
    }
}

#[test]
fn scope_program_works_under_every_policy() {
    fn tree(depth: u32, leaves: &AtomicU64) {
        let _reservation = memory::reserve(1 << 10).unwrap();
        if depth == 0 {
            leaves.fetch_add(1, Ordering::Relaxed);
            return;
        }
        tidegate::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|_| tree(depth - 1, leaves));
            }
        });
    }
    for policy in POLICIES {
        for workers in [1, 2, 4] {
            let pool = pool(workers, policy);
            let leaves = AtomicU64::new(0);
            pool.install(|| tree(5, &leaves));
            assert_eq!(leaves.into_inner(), 243, "{policy}");
            assert_eq!(pool.stats().memory.declared, 0);
        }
    }
}

#[test]
fn guest_may_reserve_and_fork() {
    for policy in POLICIES {
        let pool = pool(2, policy);
        let (a, b) = pool.join(|| memfib(8), || memfib(9));
        assert_eq!((a, b), (21, 34), "{policy}");
        assert_eq!(pool.stats().memory.declared, 0);
    }
}

#[test]
fn reservation_outside_pools_is_rejected() {
    assert_eq!(memory::reserve(1).unwrap_err(), ReservationError::NoPool);
    let text = ReservationError::NoPool.to_string();
    assert!(text.contains("task of a pool"), "{text}");
}

#[test]
fn empty_reservation_charges_nothing() {
    for policy in POLICIES {
        let pool = pool(2, policy);
        pool.install(|| {
            let reservation = memory::reserve(0).unwrap();
            assert_eq!(reservation.bytes(), 0);
        });
        assert_eq!(pool.stats().memory.peak, 0, "{policy}");
    }
}

#[test]
fn impossibly_large_reservation_is_rejected() {
    for policy in POLICIES {
        let pool = pool(2, policy);
        let error = pool.install(|| memory::reserve(usize::MAX).unwrap_err());
        assert_eq!(error, ReservationError::TooLarge { bytes: usize::MAX });
        let error = pool.install(|| {
            let mut reservation = memory::reserve(1).unwrap();
            reservation.grow(usize::MAX).unwrap_err()
        });
        assert_eq!(error, ReservationError::TooLarge { bytes: usize::MAX });
        assert_eq!(pool.stats().memory.declared, 0);
    }
}

#[test]
fn request_that_never_fits_is_rejected() {
    let pool = pool(2, "budget:bytes=10KiB,serial=4KiB");
    let error = pool.install(|| {
        let _held = memory::reserve(6 << 10).unwrap();
        memory::reserve(5 << 10).unwrap_err()
    });
    let ReservationError::Refused {
        bytes,
        budget,
        serial,
        declared,
        holders,
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!(
        (*bytes, *budget, *serial, *declared),
        (5 << 10, 10 << 10, 4 << 10, 6 << 10)
    );
    assert_eq!(holders.len(), 1);
    assert!(holders[0].at.file().ends_with("basics.rs"));
    let text = error.to_string();
    for part in ["5KiB", "6KiB", "10KiB", "4KiB", "basics.rs"] {
        assert!(text.contains(part), "{text}");
    }
    // The rejected request has no side effect.
    assert_eq!(pool.install(|| memfib(3)), 2);
    assert_eq!(pool.stats().memory.declared, 0);
}

#[test]
fn task_panic_ends_its_reservation() {
    for policy in POLICIES {
        let pool = pool(2, policy);
        for _ in 0..20 {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pool.join(
                    || {
                        let _reservation = memory::reserve(4 << 10).unwrap();
                        panic!("on purpose");
                    },
                    || memfib(5),
                )
            }));
            assert!(caught.is_err());
        }
        assert_eq!(pool.stats().memory.declared, 0, "{policy}");
        assert_eq!(pool.install(|| memfib(10)), 55);
    }
}

#[test]
fn any_thread_may_drop_reservation() {
    for policy in POLICIES {
        let pool = pool(2, policy);
        let reservation = pool.install(|| memory::reserve(4 << 10).unwrap());
        assert_eq!(pool.stats().memory.declared, 4 << 10, "{policy}");
        std::thread::spawn(move || drop(reservation))
            .join()
            .unwrap();
        assert_eq!(pool.stats().memory.declared, 0, "{policy}");
        assert_eq!(pool.install(|| memfib(10)), 55);
    }
}

#[test]
fn a_reservation_outlives_its_pool() {
    for policy in POLICIES {
        let pool = pool(2, policy);
        let reservation = pool.install(|| memory::reserve(4 << 10).unwrap());
        drop(pool);
        drop(reservation);
    }
}

/// A request that does not fit in addition to the forgotten reservation is rejected.
#[test]
fn forgotten_reservation_stays_charged() {
    let pool = pool(2, "budget:bytes=12KiB,serial=11KiB");
    pool.install(|| std::mem::forget(memory::reserve(4 << 10).unwrap()));
    assert_eq!(pool.stats().memory.declared, 4 << 10);
    let error = pool.install(|| {
        let _held = memory::reserve(8 << 10).unwrap();
        memory::reserve(1 << 10).unwrap_err()
    });
    assert!(error.to_string().contains("4KiB by"), "{error}");
}

#[test]
fn growing_reservation_keeps_its_bytes() {
    for policy in POLICIES {
        let pool = pool(2, policy);
        pool.install(|| {
            let mut reservation = memory::reserve(1 << 10).unwrap();
            reservation.grow(2 << 10).unwrap();
            assert_eq!(reservation.bytes(), 3 << 10);
        });
        let memory = pool.stats().memory;
        assert_eq!((memory.declared, memory.peak), (0, 3 << 10), "{policy}");
    }
}

#[test]
fn a_vector_comes_with_its_reservation() {
    let pool = pool(1, "none");
    pool.install(|| {
        let mut values = memory::vec::<u64>(100).unwrap();
        values.extend(0..100);
        assert_eq!(values.len(), 100);
        let (values, reservation) = values.into_parts();
        assert!(values.capacity() >= 100);
        assert_eq!(reservation.bytes(), 800);
    });
}

#[test]
fn very_many_tasks_ask_at_once() {
    let tasks = crate::support::soak(
        10_000,
        "tasks that ask for memory at once, under each policy",
    );
    for policy in POLICIES {
        let pool = pool(2, policy);
        let ran = AtomicUsize::new(0);
        pool.scope(|scope| {
            for _ in 0..tasks {
                scope.spawn(|_| {
                    let _reservation = memory::reserve(1 << 10).unwrap();
                    ran.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(ran.into_inner(), tasks, "{policy}");
        let memory = pool.stats().memory;
        assert_eq!(memory.declared, 0);
        if policy.starts_with("budget") {
            assert!(memory.peak <= 12 << 10);
        }
    }
}

#[test]
fn budget_may_shrink_while_in_use() {
    let pool = pool(2, "budget:bytes=64KiB,serial=12KiB");
    std::thread::scope(|scope| {
        let work = scope.spawn(|| pool.install(|| memfib(12)));
        for kib in (12..64).rev() {
            pool.set_budget(kib << 10).unwrap();
        }
        assert_eq!(work.join().unwrap(), 144);
    });
    let error = pool.set_budget(11 << 10).unwrap_err().to_string();
    assert_eq!(
        error,
        "Pool::set_budget: 11KiB is less than what the serial run needs: expected from 12KiB on"
    );
    let error = pool_without_budget().set_budget(1).unwrap_err().to_string();
    assert!(error.contains("no budget"), "{error}");
}

fn pool_without_budget() -> Pool {
    pool(1, "none")
}

#[test]
fn foreign_task_cannot_grow_reservation() {
    let (own, other) = (pool(1, "none"), pool(1, "none"));
    let mut reservation = own.install(|| memory::reserve(1).unwrap());
    let error = other.install(|| reservation.grow(1).unwrap_err());
    assert_eq!(error, ReservationError::OtherPool);
    assert_eq!(reservation.grow(1).unwrap_err(), ReservationError::NoPool);
    own.install(|| reservation.grow(1).unwrap());
    assert_eq!(reservation.bytes(), 2);
}

#[test]
fn serial_peak_runs_spawned_tasks_as_calls() {
    let program = || {
        tidegate::scope(|s| {
            let mut kept = vec![];
            for _ in 0..3 {
                s.spawn(|_| drop(memory::reserve(4 << 10).unwrap()));
                kept.push(memory::reserve(1 << 10).unwrap());
            }
            kept.len()
        })
    };
    // The third task runs as a call while two reservations are held.
    assert_eq!(memory::serial_peak(program).unwrap(), (3, 6 << 10));
    let blocks = |_| {
        let held = memory::reserve(1 << 10).unwrap();
        tidegate::blocking(std::thread::yield_now);
        drop(held);
    };
    let program = || tidegate::for_each(0..100_u32, blocks);
    assert_eq!(memory::serial_peak(program).unwrap(), ((), 1 << 10));
}
