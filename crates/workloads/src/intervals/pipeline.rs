//! Pipeline: items pass through stages. Item i in stage s runs after the same item in stage s - 1
//! and after item i - 1 in stage s.
//!
//! Each stage mixes the item into the stage's state and the state into the item, so the result
//! reveals a violation of either order. The number of items in progress never exceeds the window,
//! however many items there are: earlier items create later ones, and finished items are not kept.
//!
//! The program doesn't test stages of unequal length.

use std::sync::atomic::{AtomicU64, Ordering};

use super::after_above_and_left;
use super::rows::unfold;
use crate::parameter::{Kind::Integer, named, positional};
use crate::program::{Program, parameters, result, without_input};
use crate::runtime::Runtime;
use crate::steps::{random, steps};

const SEED: u64 = 1;

/// The program `pipeline`, which passes items through stages.
#[derive(Clone, Copy, Debug)]
pub struct Pipeline {
    /// How many items pass through the pipeline.
    pub items: u64,
    /// How many stages each item passes through.
    pub stages: usize,
    /// The maximum number of items in progress at a time.
    pub window: u64,
    /// Steps of work per item and stage.
    pub work: u64,
}

/// A stage's state, on its own cache line.
#[derive(Default)]
#[repr(align(128))]
struct Stage(AtomicU64);

/// Passes an item through a stage. Returns the new values of the item and of the stage's state.
fn pass(item: u64, state: u64, work: u64) -> (u64, u64) {
    // The item must not be 0, because the steps would leave 0 unchanged.
    let item = steps((item ^ state.rotate_left(23)) | 1, work);
    (item, random(state, item))
}

impl Pipeline {
    /// Runs the parallel body. Each interval holds a value returned by `ticket` until it has run,
    /// so that the caller can count unfinished intervals.
    pub fn run<R: Runtime, T: Send>(
        &self,
        fork: &mut R::Fork<'_>,
        ticket: &(impl Fn() -> T + Sync),
    ) -> u64 {
        let states: Vec<_> = (0..self.stages).map(|_| Stage::default()).collect();
        let batch = self.window / 2;
        let items: Vec<_> = (0..2 * batch).map(|_| AtomicU64::new(0)).collect();
        let (states, items, work) = (&states[..], &items[..], self.work);
        let one = move |number: u64, stage: usize| {
            // Relaxed throughout: the order of the intervals ensures that the writers of these
            // values have run before their reader.
            let (item, state) = (&items[(number % (2 * batch)) as usize], &states[stage].0);
            let before = match stage {
                0 => random(SEED, number),
                _ => item.load(Ordering::Relaxed),
            };
            let (after, next) = pass(before, state.load(Ordering::Relaxed), work);
            item.store(after, Ordering::Relaxed);
            state.store(next, Ordering::Relaxed);
        };
        R::intervals(fork, |body| {
            unfold::<R, _>(body, self.items, batch, move |body, item, row| {
                for stage in 0..states.len() {
                    let held = ticket();
                    let next = body.interval(move |_| {
                        one(item, stage);
                        drop(held);
                    });
                    let next = R::named(next, || format!("item {item}, stage {stage}"));
                    after_above_and_left(row, stage, next);
                }
            });
        });
        sum(states.iter().map(|state| state.0.load(Ordering::Relaxed)))
    }
}

/// Returns a checksum that depends on all states and their order.
fn sum(states: impl Iterator<Item = u64>) -> u64 {
    states.fold(0, random)
}

impl Program for Pipeline {
    const NAME: &'static str = "pipeline";
    const SUMMARY: &'static str = "pipeline of stages with a bounded number of items in flight";
    parameters! {
        items = positional("items", Integer(0, 1_000_000_000_000), ["300", "100000", "1250000"],
            "number of items");
        stages = positional("stages", Integer(1, 10_000), ["5", "8", "8"],
            "number of stages; each item is one interval per stage");
        window = named("window", Integer(2, 1_000_000), ["16", "64", "64"],
            "maximum number of items in flight");
        work = named("work", Integer(0, 1_000_000_000), ["10", "500", "500"],
            "steps of work per item and stage");
    }
    result! { self, (), output =>
        checksum "hash of all items, in order, in all stages" = *output;
    }
    const INTERVALS: bool = true;

    without_input! {}
    type Output = u64;

    fn serial(&self, (): &mut ()) -> u64 {
        let mut states = vec![0; self.stages];
        for number in 0..self.items {
            let mut item = random(SEED, number);
            for state in &mut states {
                (item, *state) = pass(item, *state, self.work);
            }
        }
        sum(states.into_iter())
    }

    fn parallel<R: Runtime>(&self, (): &mut (), fork: &mut R::Fork<'_>) -> u64 {
        self.run::<R, ()>(fork, &|| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_detects_overtaking_in_stage() {
        let through = |items: [u64; 2]| {
            let mut state = 0;
            for mut item in items {
                (item, state) = pass(item, state, 3);
                assert_ne!(item, 0);
            }
            sum([state].into_iter())
        };
        assert_ne!(through([1, 2]), through([2, 1]));
        assert_ne!(sum([1, 2].into_iter()), sum([2, 1].into_iter()));
    }
}
