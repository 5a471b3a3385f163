//! Random programs that use the whole public interface, on random pools.
//!
//! A program is a tree of joins, scopes that may be cut short ([`try_scope`]), spawns of every
//! kind, closures and futures with handles ([`handles`]), loops, maps, streams and sorts
//! ([`values`]), interval graphs ([`graph`]), reservations, task-local values, calls into other
//! pools, broadcasts and panics ([`program`]; [`maker`] generates them). Its pools have any queue,
//! any policy and up to four workers ([`setup`]). The [`oracle`] checks that
//!
//! * each task runs exactly once, unless a panic, an abort or a cancellation prevents it;
//! * each value equals that of a serial evaluation ([`serial`]);
//! * each call waits for the tasks that it must wait for, even if it panics;
//! * each task sees the task-local value of the code that made it;
//! * each value that the runtime holds is dropped once;
//! * each panic surfaces where the documentation says, and its payload is dropped once;
//! * the program ends.
//!
//! The seed alone determines a program, but not its schedule: a program that has failed once may
//! pass the next time.

mod graph;
mod handles;
mod maker;
mod oracle;
mod program;
mod run;
mod serial;
mod setup;
#[path = "../support/mod.rs"]
mod support;
mod try_scope;
mod values;
mod world;

use crate::oracle::{Ledger, attempt};
use crate::program::Program;
use crate::world::{Store, World};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use support::{Gate, Opens, until};
use tidegate::{Handle, Pool};

/// The number of programs in each slice.
const PROGRAMS: u64 = if cfg!(tidegate_tsan) { 20 } else { 100 };

/// Runs a program on new pools, and compares what has happened with what must happen.
fn run(program: &Program) -> Result<(), String> {
    let (expected, values) = serial::evaluate(program);
    let ledger = Arc::new(Ledger::new(program.sizes));
    let store = Arc::new(Store::new());
    let pools = program.setups.iter().map(|setup| setup.build(&ledger));
    let pools: Arc<[Pool]> = pools.collect();
    let world = World {
        ledger: Arc::clone(&ledger),
        store: Arc::clone(&store),
        pools: Some(Arc::clone(&pools)),
    };
    let returned = call_all(program, &world);
    drop(world);
    // If a panic has dropped a task's handle, the task may still use the pools.
    until(|| Arc::strong_count(&pools) == 1);
    if program.patient {
        until(|| ledger.live() == 0);
        store.kept.lock().unwrap().clear();
        let declared: u64 = pools.iter().map(|pool| pool.stats().memory.declared).sum();
        let forgotten = store.forgotten.load(Ordering::Relaxed);
        if declared != forgotten as u64 {
            ledger.mistake(format!(
                "{declared} bytes declared at the end, {forgotten} forgotten"
            ));
        }
    }
    drop(pools);
    let returned = returned
        .into_iter()
        .map(|value| value.unwrap_or_else(Handle::join));
    let returned: Vec<u64> = returned.collect();
    if returned != values {
        ledger.mistake(format!("returned {returned:x?}, expected {values:x?}"));
    }
    ledger.check(&expected)?;
    store.book.check();
    let store = Arc::into_inner(store).ok_or("a pool ended before one of its tasks")?;
    let (own, all) = (store.local.into_values(), store.visits.into_inner());
    let own: usize = own.map(|visits| visits.get()).sum();
    if own != all {
        return Err(format!(
            "{own} visits to workers' own values, expected {all}"
        ));
    }
    Ok(())
}

/// Runs the callers' tasks in the program's pools. Returns their values and handles.
fn call_all(program: &Program, world: &World) -> Vec<Result<u64, Handle<u64>>> {
    let over = Gate::new();
    thread::scope(|threads| {
        let _over = Opens(&over);
        if let Some(pools) = world.pools.as_ref().filter(|_| program.disturbed) {
            threads.spawn(|| disturb(&pools[0], &over));
        }
        let callers = program.callers.iter();
        let callers: Vec<_> = callers
            .map(|caller| threads.spawn(|| caller.call(world)))
            .collect();
        let values = callers.into_iter().map(|caller| caller.join().unwrap());
        values.collect()
    })
}

/// Until the program has ended, changes the number of workers and calls into the pool.
fn disturb(pool: &Pool, over: &Gate) {
    for round in 0.. {
        if over.is_open() {
            return;
        }
        // This fails if the pool may not have that many threads.
        let _ = pool.set_workers(1 + round % 5);
        let _ = pool.stats();
        pool.broadcast(|_| ());
        pool.join(|| (), || ());
        pool.scope(|scope| scope.spawn(|_| ()));
        thread::sleep(Duration::from_micros(50));
    }
}

mod programs {
    use super::*;

    #[test]
    fn run_every_task_once() {
        for seed in support::seeds(PROGRAMS, "random programs on random pools") {
            attempt(seed, Program::random(seed), run);
        }
    }
}
