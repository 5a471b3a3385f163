//! Tests of [`claim`] on all queues.

use super::many;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use tidegate_deque::{Cursor, Queue, claim};

/// A value that counts in `places` how often it was dropped.
pub struct Value {
    places: Arc<[AtomicU32]>,
    index: usize,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.places[self.index].fetch_add(1, Ordering::Relaxed);
    }
}

fn places(count: usize) -> Arc<[AtomicU32]> {
    (0..count).map(|_| AtomicU32::new(0)).collect()
}

fn values(places: &Arc<[AtomicU32]>) -> impl Iterator<Item = Value> {
    (0..places.len()).map(|index| Value {
        places: places.clone(),
        index,
    })
}

fn times(place: &AtomicU32) -> u32 {
    place.load(Ordering::Relaxed)
}

/// An owner and two thieves compete for values, and drop each value that they get.
pub fn storm<Q: Queue<claim::Cell<Value>> + Default + 'static>() {
    let places = places(many(5_000));
    let (mut owner, thieves) = claim::queue::<Q, Value>();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            let (thieves, stop) = (thieves.clone(), &stop);
            scope.spawn(move || {
                let mut cursor = Cursor::default();
                loop {
                    let stopped = stop.load(Ordering::Acquire);
                    match thieves.steal(&mut cursor) {
                        Ok(value) => drop(value),
                        Err(_) if stopped => return,
                        Err(_) => thread::yield_now(),
                    }
                }
            });
        }
        for (index, mut value) in values(&places).enumerate() {
            while let Err(back) = owner.put(value) {
                value = back;
                drop(owner.take());
            }
            if index % 3 == 0 {
                drop(owner.take());
            }
        }
        while owner.take().is_some() {}
        stop.store(true, Ordering::Release);
    });
    assert!(places.iter().all(|place| times(place) == 1));
}

/// The owner takes some values and leaves the others in the queue.
pub fn left_over<Q: Queue<claim::Cell<Value>> + Default + 'static>() {
    // Under Miri, the smallest queue has room for 6 values.
    let places = places(if cfg!(miri) { 6 } else { 1_000 });
    let (mut owner, thieves) = claim::queue::<Q, Value>();
    for value in values(&places) {
        assert!(owner.put(value).is_ok());
    }
    let mut cursor = Cursor::default();
    for _ in 0..places.len() / 4 {
        drop(owner.take());
        drop(thieves.steal(&mut cursor));
    }
    assert!(places.iter().any(|place| times(place) == 0));
    drop((owner, thieves));
    assert!(places.iter().all(|place| times(place) == 1));
}
