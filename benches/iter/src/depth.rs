//! Nests scopes, and measures how much stack each scope takes.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use rayon::ThreadPoolBuilder;
use serde_json::{Value, json};

use crate::pools;
use crate::trouble::Trouble;

/// Nests this many scopes on a new pool, and measures how much stack each takes.
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
    // Stacks grow towards lower addresses on every platform that rayon supports.
    let bytes = top.address.saturating_sub(bottom.address) as f64 / levels as f64;
    let one_thread = !descent.moved.into_inner();
    Ok(json!({ "levels": levels, "bytes_per_level": one_thread.then_some(bytes) }))
}

#[derive(Default)]
struct Descent {
    /// Whether any level ran on a different thread than the first level.
    moved: AtomicBool,
    /// The position on the stack at which the last level ran.
    bottom: Mutex<Option<Foothold>>,
}

/// A position on a thread's stack.
struct Foothold {
    thread: ThreadId,
    address: usize,
}

impl Foothold {
    /// Returns a position in or near the caller's stack frame.
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
        // There is nothing to measure on a runtime on which another thread may run a task while the
        // first thread waits for it.
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
