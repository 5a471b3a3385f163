//! Costs of the runtime: forks, steals, failed steal attempts and reservations.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tidegate::{
    Pool, join, memory,
    policy::{Choose, IdlePolicy, MemoryPolicy, StealAmount},
};

use crate::bench::programs;
use tidegate_cli_support::failure::Failure;

fn pool(workers: usize) -> Result<Pool, Failure> {
    let builder = Pool::builder().workers(workers).memory(MemoryPolicy::None);
    // If there is a second worker, it steals one task at a time and never rests.
    programs::pool(builder.idle(IdlePolicy::None).steal(StealAmount::One))
}

/// Returns the cost of a fork and its join on one worker, minus the cost of the plain calls.
pub fn fork_and_join(n: u32) -> Result<f64, Failure> {
    let time = |fib: fn(u32) -> u64| {
        let start = Instant::now();
        let forks = fib(black_box(n)) - 1;
        (start.elapsed().as_nanos() as f64, forks)
    };
    let (serial, forks) = time(fib);
    let (parallel, _) = pool(1)?.install(|| time(forked));
    Ok((parallel - serial) / forks as f64)
}

/// Returns the time between two steals by a thief whose victim is running and has plenty of empty
/// tasks.
pub fn steal(tasks: usize) -> Result<f64, Failure> {
    let done = AtomicUsize::new(0);
    Ok(pool(2)?.install(|| {
        tidegate::scope(|scope| {
            for _ in 0..tasks {
                // Relaxed: the counter publishes no other data.
                scope.spawn(|_| _ = done.fetch_add(1, Ordering::Relaxed));
            }
            let start = Instant::now();
            let first = done.load(Ordering::Relaxed);
            while done.load(Ordering::Relaxed) < tasks {
                join(|| (), || ());
            }
            let stolen = (tasks - first).max(1);
            start.elapsed().as_nanos() as f64 / stolen as f64
        })
    }))
}

/// Returns the time between two steal attempts, measured for `time` while the thief's only victim
/// has no work.
pub fn look(time: Duration) -> Result<f64, Failure> {
    let pool = pool(2)?;
    Ok(pool.install(|| {
        let looks = || pool.stats().counters.attempts;
        let (start, before) = (Instant::now(), looks());
        while start.elapsed() < time {
            join(|| (), || ());
        }
        start.elapsed().as_nanos() as f64 / (looks() - before).max(1) as f64
    }))
}

/// Returns the cost of making and releasing a reservation.
pub fn reserve(count: u32) -> Result<f64, Failure> {
    pool(1)?.install(|| {
        let start = Instant::now();
        for _ in 0..count {
            let reservation = memory::reserve(black_box(64));
            drop(reservation.map_err(|error| Failure::Impossible(error.to_string()))?);
        }
        Ok(start.elapsed().as_nanos() as f64 / f64::from(count))
    })
}
/// Returns the (n + 1)th Fibonacci number, which is one more than the number of forks in
/// `forked(n)`.
fn fib(n: u32) -> u64 {
    if n < 2 {
        return 1;
    }
    fib(n - 1) + fib(n - 2)
}

fn forked(n: u32) -> u64 {
    if n < 2 {
        return 1;
    }
    let (a, b) = join(|| forked(n - 1), || forked(n - 2));
    a + b
}
