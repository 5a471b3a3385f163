//! Random programs that use rayon's interface.
//!
//! A program ([`program`]) is a tree of joins, scopes, spawns, broadcasts, yields, panics and calls
//! into other pools. It runs on up to three pools, on the global pool, on pools that its tasks
//! build, and on pools whose first thread is the caller. The oracle of Tidegate's own random
//! programs checks that each task runs once, that each value equals that of a serial evaluation
//! ([`serial`]), that each call waits for its tasks, that each panic surfaces where it should, and
//! that the program ends.

#[path = "../../../tidegate/tests/random_programs/oracle/mod.rs"]
mod oracle;
mod pools;
mod program;
mod run;
mod serial;

use crate::oracle::{Ledger, attempt};
use crate::pools::STACK;
use crate::program::{Caller, Entry, Program};
use crate::run::{World, call};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Runs a program on new pools, and compares the results and events with the expected ones.
fn run(program: &Program) -> Result<(), String> {
    let (expected, values) = serial::evaluate(program);
    let ledger = Arc::new(Ledger::new(program.sizes));
    let pools = program.pools.iter();
    let pools = pools.map(|threads| Arc::new(pools::pool(*threads, &ledger)));
    let world = World {
        ledger: Arc::clone(&ledger),
        pools: pools.collect(),
    };
    let returned: Vec<u64> = thread::scope(|threads| {
        let callers = program.callers.iter().map(|caller| {
            let thread = thread::Builder::new().stack_size(STACK);
            let call = || enter(caller, &world);
            thread.spawn_scoped(threads, call).expect("another thread")
        });
        let callers: Vec<_> = callers.collect();
        let values = callers.into_iter().map(|caller| caller.join().unwrap());
        values.collect()
    });
    if returned != values {
        ledger.mistake(format!("returned {returned:x?}, expected {values:x?}"));
    }
    // Wait for detached tasks, because dropping a pool does not.
    while ledger.live() > 0 {
        thread::yield_now();
    }
    ledger.check(&expected)
}

/// Runs a caller's task in the caller's pool and returns its value.
fn enter(caller: &Caller, world: &World) -> u64 {
    let Caller { entry, task } = caller;
    let pool = &world.pools[0];
    match entry {
        Entry::Install => pool.install(call(world, task, &[])),
        Entry::InPlace => in_scope(|value| {
            let call = call(world, task, &[]);
            pool.in_place_scope(|scope| scope.spawn(|_| value.store(call(), Ordering::Relaxed)));
        }),
        Entry::Global => in_scope(|value| {
            let call = call(world, task, &[]);
            rayon_core::scope(|scope| scope.spawn(|_| value.store(call(), Ordering::Relaxed)));
        }),
        Entry::Member(threads) => {
            let own = Arc::new(pools::joined_pool(*threads, &world.ledger));
            let pools = world.pools.iter().chain([&own]).cloned();
            let world = World {
                ledger: Arc::clone(&world.ledger),
                pools: pools.collect(),
            };
            let value = own.install(call(&world, task, &[]));
            // Keep this thread available: broadcasts in this pool also run on it.
            while world.ledger.live() > 0 {
                rayon_core::yield_now();
                thread::yield_now();
            }
            value
        }
    }
}

fn in_scope(scope: impl FnOnce(&AtomicU64)) -> u64 {
    let value = AtomicU64::new(0);
    scope(&value);
    value.into_inner()
}

mod programs {
    use super::*;

    #[test]
    fn run_every_task_of_rayon_once() {
        pools::build_global();
        for seed in tidegate_testkit::seeds(400, "random programs on rayon's interface") {
            attempt(seed, Program::random(seed), run);
        }
    }
}
