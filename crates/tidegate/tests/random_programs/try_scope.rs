//! Scopes that an error, a cancellation or a panic of one task cuts short.

use crate::oracle::CAUGHT;
use crate::program::Task;
use crate::world::World;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use tidegate::Cancelled;

#[derive(Debug)]
pub struct TryScope {
    /// The number of the catch that records a panic of a task.
    pub catch: usize,
    pub tasks: Vec<Task>,
    pub stop: Option<Stop>,
}

/// The task with this position stops the others at its end.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    Error(usize),
    Cancel(usize),
}

pub fn run(world: &World, inside: &TryScope) -> u64 {
    let _waits = (world.ledger).waits_for(inside.tasks.iter().map(|task| task.number));
    let sum = AtomicU64::new(0);
    let scope = || {
        tidegate::try_scope(|scope| {
            for (position, task) in inside.tasks.iter().enumerate() {
                let (token, sum) = (world.ledger.token(task.number), &sum);
                scope.spawn(move |scope| {
                    let value = token.run(|| task.call(world, &[]));
                    sum.fetch_add(value, Ordering::Relaxed);
                    match inside.stop {
                        Some(Stop::Error(last)) if last == position => return Err(Cancelled),
                        Some(Stop::Cancel(last)) if last == position => scope.cancel(),
                        _ => {}
                    }
                    Ok(())
                });
            }
            Ok(())
        })
    };
    match catch_unwind(AssertUnwindSafe(scope)) {
        // If all tasks have begun before, nothing is cut short.
        Ok(Ok(())) if matches!(inside.stop, Some(Stop::Cancel(_))) => CAUGHT,
        Ok(Ok(())) => sum.into_inner(),
        Ok(Err(_)) => CAUGHT,
        Err(payload) => {
            world.ledger.caught(inside.catch, payload);
            CAUGHT
        }
    }
}
