//! Tests with an owner and thieves.

use super::{Cursor, Owner, Promise, Queue, Task, Tasks, many};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Steals until `stop` is set, and then until the queue is empty. Returns how many tasks it stole.
fn rob<Q: Queue<Task>>(queue: &Q, tasks: &Tasks, stop: &AtomicBool) -> usize {
    let (mut cursor, mut stolen) = (Cursor::default(), 0);
    loop {
        let stopped = stop.load(Ordering::Acquire);
        match queue.steal(&mut cursor) {
            Ok(task) => {
                tasks.out(task);
                stolen += 1;
            }
            Err(_) if stopped => return stolen,
            Err(_) => thread::yield_now(),
        }
        if stopped && stolen > 100 * tasks.0.len() {
            // Further steals would only copy a task that the owner has left behind.
            return stolen;
        }
    }
}

/// The owner puts `burst` tasks and takes half that number, again and again, while thieves steal.
pub fn storm<Q: Queue<Task> + Default>(promise: Promise, thieves: usize, burst: usize) {
    let tasks = Tasks::new(many(20_000));
    let (queue, stop, start) = (
        Q::default(),
        AtomicBool::new(false),
        Barrier::new(thieves + 1),
    );
    thread::scope(|scope| {
        for _ in 0..thieves {
            scope.spawn(|| {
                start.wait();
                rob(&queue, &tasks, &stop)
            });
        }
        let owner = Owner(&queue);
        start.wait();
        let take = || owner.take().inspect(|task| tasks.out(*task)).is_some();
        for (index, put) in (0..tasks.0.len()).enumerate() {
            while !owner.put(tasks.at(put)) {
                take();
            }
            if (index + 1) % burst == 0 {
                (0..burst.div_ceil(2)).for_each(|_| {
                    take();
                });
            }
        }
        while take() {}
        stop.store(true, Ordering::Release);
    });
    tasks.check(promise);
}

/// The owner puts many tasks and rarely takes any. A thief must still get its share.
pub fn starvation<Q: Queue<Task> + Default>() {
    let wanted = many(500);
    let tasks = Tasks::new(64);
    let (queue, stolen) = (Q::default(), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut cursor = Cursor::default();
            while stolen.load(Ordering::Relaxed) < wanted {
                match queue.steal(&mut cursor) {
                    Ok(_) => _ = stolen.fetch_add(1, Ordering::Relaxed),
                    Err(_) => thread::yield_now(),
                }
            }
        });
        let owner = Owner(&queue);
        for index in (0..tasks.0.len()).cycle() {
            if stolen.load(Ordering::Relaxed) >= wanted {
                break;
            }
            if index % 16 == 0 || !owner.put(tasks.at(index)) {
                owner.take();
                thread::yield_now();
            }
        }
    });
}
