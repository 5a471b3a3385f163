//! Evaluates a program serially, to determine what it must return and how often each task may run.

use crate::oracle::{CAUGHT, Expected, Fate, Outcome, Panic, Sum, mix};
use crate::program::{Program, Step, Task};
use std::collections::BTreeSet;

/// Returns what may happen when the program runs, and what its callers must return.
pub fn evaluate(program: &Program) -> (Expected, Vec<u64>) {
    let mut serial = Serial(Expected::new(program.sizes));
    let values = program.callers.iter().map(|caller| {
        let outcome = serial.task(&caller.task, &mut []);
        outcome.expect("a caller never panics")
    });
    let values = values.collect();
    let Serial(mut expected) = serial;
    // A second panic is dropped after a first one, so any payload may go unreported.
    expected.unreported.extend(0..program.sizes.payloads);
    (expected, values)
}

/// Evaluates the steps serially. Unlike in Tidegate's own `join`, the second half also runs if the
/// first half panics. So a task runs unless its spawner panics before spawning it.
struct Serial(Expected);

fn panics(panic: &Panic) -> Outcome {
    Err(BTreeSet::from([panic.payload]))
}

impl Serial {
    fn task(&mut self, task: &Task, scopes: &mut [Sum]) -> Outcome {
        self.0.fates[task.number] = Fate::Once;
        self.steps(&task.steps, scopes)
    }

    fn steps(&mut self, steps: &[Step], scopes: &mut [Sum]) -> Outcome {
        let mut value = 0;
        for step in steps {
            value = mix(value, self.step(step, scopes)?);
        }
        Ok(value)
    }

    fn step(&mut self, step: &Step, scopes: &mut [Sum]) -> Outcome {
        match step {
            Step::Spin(_) | Step::YieldNow | Step::YieldLocal | Step::Broadcast(None) => Ok(0),
            Step::Broadcast(Some(panic)) | Step::Panic(panic) => panics(panic),
            Step::Join { halves, .. } => {
                let [a, b] = &**halves;
                let (a, b) = (self.task(a, scopes), self.task(b, scopes));
                Ok(mix(a?, b?))
            }
            Step::Scope { steps, .. } => {
                let inside = |inside: &mut [Sum]| self.steps(steps, inside);
                Sum::scope(scopes, inside)
            }
            Step::Spawn { outward, task } => {
                let scope = Sum::outward(scopes, *outward);
                let outcome = self.task(task, scope);
                scope[0].add(outcome);
                Ok(0)
            }
            Step::SpawnBroadcast { outward, panic } => {
                if let Some(panic) = panic {
                    Sum::outward(scopes, *outward)[0].add(panics(panic));
                }
                Ok(0)
            }
            Step::Detached { task, .. } => {
                let _ = self.task(task, &mut []);
                Ok(0)
            }
            Step::Install { task, .. } | Step::OwnPool { task, .. } => self.task(task, scopes),
            Step::Catch(number, steps) => {
                let outcome = self.steps(steps, &mut []);
                Ok(outcome.unwrap_or_else(|payloads| {
                    self.0.catches[*number] = payloads;
                    CAUGHT
                }))
            }
        }
    }
}
