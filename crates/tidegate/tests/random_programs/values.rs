//! Steps that own values, each of which must be dropped once: maps, streams and sorts.

use crate::oracle::mix;
use crate::program::Task;
use crate::run::{Around, call};
use crate::world::World;
use fastrand::Rng;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The maximum length of a slice to sort. The longest slices are split several times.
const LONGEST: usize = 6000;

/// A stream of which only some results are taken.
#[derive(Debug)]
pub struct Stream {
    pub items: Vec<Arc<Task>>,
    pub window: usize,
    pub taken: usize,
    /// Whether the other half of a join drops the stream.
    pub dropped_in_half: bool,
    pub is_scoped: bool,
}

/// A sort in which one comparison runs a task.
#[derive(Debug)]
pub struct Sort {
    length: usize,
    seed: u64,
    /// The number of the comparison that runs the task.
    at: usize,
    /// Whether every third comparison returns the wrong order while the slice is not yet split.
    /// Later the standard library sorts the pieces, and panics if it notices a wrong order.
    lies: bool,
    pub task: Task,
}

impl Sort {
    pub fn random(rng: &mut Rng, task: Task) -> Self {
        let length = if rng.bool() {
            rng.usize(3..20)
        } else {
            rng.usize(LONGEST / 2..=LONGEST)
        };
        let is_long = length >= LONGEST / 2;
        // The sort makes more comparisons.
        let least = if is_long { 2 * length } else { length - 1 };
        Self {
            length,
            seed: rng.u64(..),
            at: rng.usize(..least),
            lies: is_long && rng.u32(..3) == 0,
            task,
        }
    }
}

pub fn par_map<'env>(world: &'env World, items: &'env [Task], scopes: &[Around<'_, 'env>]) -> u64 {
    let _waits = world.ledger.waits_for(items.iter().map(|item| item.number));
    let book = &world.store.book;
    let calls = items
        .iter()
        .map(|item| (call(world, item, scopes), book.value()));
    let calls: Vec<_> = calls.collect();
    let results = tidegate::par_map(calls, |(call, _captured)| (call(), book.value()));
    let values = results.into_iter().map(|(value, _)| value);
    values.fold(items.len() as u64, mix)
}

pub fn stream<'env>(world: &'env World, stream: &'env Stream) -> u64 {
    let source = stream.items.iter().map(|task| {
        let token = world.ledger.token(task.number);
        (token, task, world.store.book.value())
    });
    if stream.is_scoped {
        let _waits = world
            .ledger
            .waits_for(stream.items.iter().map(|task| task.number));
        return tidegate::scope(|scope| {
            let results = tidegate::stream(source).in_scope(scope);
            let results = results.window(stream.window);
            let results = results.map(|(token, task, _captured)| {
                let value = token.run(|| task.call(world, &[]));
                (value, world.store.book.value())
            });
            take(world, stream, results.ordered())
        });
    }
    // Items that no result is taken of outlive the call, so they cannot use the pools.
    let own = World {
        pools: None,
        ..world.clone()
    };
    let source = source.map(|(token, task, captured)| (token, Arc::clone(task), captured));
    let results = tidegate::stream(source).window(stream.window);
    let results = results.map(move |(token, task, _captured)| {
        let value = token.run(|| task.call(&own, &[]));
        (value, own.store.book.value())
    });
    take(world, stream, results.ordered())
}

/// Takes results and drops the others.
fn take<V>(
    world: &World,
    stream: &Stream,
    mut results: impl Iterator<Item = (u64, V)> + Send,
) -> u64 {
    let mut value = 0;
    for task in &stream.items[..stream.taken] {
        let (next, _) = results.next().expect("one result for each item");
        if !world.ledger.has_finished(task.number) {
            let mistake = format!("a stream has not waited for task {}", task.number);
            world.ledger.mistake(mistake);
        }
        value = mix(value, next);
    }
    if stream.dropped_in_half {
        tidegate::join(|| (), || drop(results));
    }
    value
}

pub fn sort<'env>(world: &'env World, sort: &'env Sort, scopes: &[Around<'_, 'env>]) -> u64 {
    let _waits = world.ledger.waits_for([sort.task.number]);
    let values = (0..sort.length).map(|key| (key, world.store.book.value()));
    let mut items: Vec<_> = values.collect();
    Rng::with_seed(sort.seed).shuffle(&mut items);
    let (comparisons, value) = (AtomicUsize::new(0), AtomicU64::new(0));
    let task = Mutex::new(Some(call(world, &sort.task, scopes)));
    let sorted = catch_unwind(AssertUnwindSafe(|| {
        tidegate::sort_unstable_by(&mut items, |(a, _), (b, _)| {
            let number = comparisons.fetch_add(1, Ordering::Relaxed);
            if number == sort.at {
                let task = task.lock().unwrap().take();
                value.store(task.expect("not taken")(), Ordering::Relaxed);
            }
            if sort.lies && number < sort.length && number % 3 == 0 {
                b.cmp(a)
            } else {
                a.cmp(b)
            }
        });
    }));
    let is_sorted = items.is_sorted_by_key(|(key, _)| *key);
    items.sort_unstable_by_key(|(key, _)| *key);
    let is_whole = items.iter().map(|(key, _)| *key).eq(0..sort.length);
    if !is_whole || sorted.is_ok() && !sort.lies && !is_sorted {
        let mistake = format!("a sort: whole {is_whole}, sorted {is_sorted}: {sort:?}");
        world.ledger.mistake(mistake);
    }
    match sorted {
        Ok(()) => value.into_inner(),
        Err(payload) => resume_unwind(payload),
    }
}
