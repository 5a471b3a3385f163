//! Nested scopes: whether a given number fits on the stack, and how much stack each scope takes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use rayon::ThreadPoolBuilder;
use serde_json::{Value, json};

use crate::pools;
use crate::trouble::Trouble;

/// Enters this many nested scopes on a new pool, and measures how much stack they take.
pub fn measure(levels: usize, workers: usize, stack: usize) -> Result<Value, Trouble> {
    let pool = pools::start(ThreadPoolBuilder::new().stack_size(stack), workers)?;
    let descent = Descent::default();
    let top = pool.install(|| {
        let top = Foothold::here();
        descent.down(levels, top.thread);
        top
    });
    let bottom = descent.bottom.into_inner().ok().flatten();
    let bottom = bottom.ok_or_else(|| Trouble::Wrong(format!("level {levels} was not reached")))?;
    // The stack grows towards lower addresses on every platform that rayon supports.
    let bytes = top.address.saturating_sub(bottom.address) as f64 / levels as f64;
    let one_thread = !descent.moved.into_inner();
    Ok(json!({ "levels": levels, "bytes_per_level": one_thread.then_some(bytes) }))
}

/// What the nested scopes record about themselves.
#[derive(Default)]
struct Descent {
    /// Whether a level ran on a different thread than the first level.
    moved: AtomicBool,
    /// The place on the stack where the last level ran.
    bottom: Mutex<Option<Foothold>>,
}

/// A place on a stack.
struct Foothold {
    thread: ThreadId,
    address: usize,
}

impl Foothold {
    /// Returns a location in its caller's frame, or close to it.
    #[inline(always)]
    fn here() -> Self {
        let local = 0_u8;
        Self {
            thread: thread::current().id(),
            address: std::hint::black_box(&raw const local).addr(),
        }
    }
}

impl Descent {
    fn down(&self, left: usize, first: ThreadId) {
        rayon::scope(|scope| {
            scope.spawn(move |_| {
                if thread::current().id() != first {
                    // Relaxed: the ends of the scopes order this store before the only load.
                    self.moved.store(true, Ordering::Relaxed);
                }
                match left {
                    1 => {
                        let bottom = Some(Foothold::here());
                        *self.bottom.lock().unwrap_or_else(|lock| lock.into_inner()) = bottom;
                    }
                    _ => self.down(left - 1, first),
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stack_per_level_is_constant() {
        let bytes = |levels| measure(levels, 1, 64 << 20).unwrap()["bytes_per_level"].as_f64();
        // Nothing can be measured on a runtime that lets another thread run the tasks while one
        // waits.
        if let (Some(few), Some(many)) = (bytes(100), bytes(1000)) {
            assert!(
                few > 16.0 && (0.9..1.1).contains(&(many / few)),
                "{few} {many}"
            );
        }
    }

    #[test]
    fn several_workers_reach_the_bottom_too() {
        assert_eq!(measure(1000, 2, 64 << 20).unwrap()["levels"], 1000);
    }
}
