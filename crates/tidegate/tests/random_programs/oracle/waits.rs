//! Checks that a call neither returns nor panics before the tasks that it must wait for have ended.

use super::ledger::Ledger;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

impl Ledger {
    /// Returns a guard for a call. When it is dropped, even by a panic, it checks that `tasks` have
    /// ended.
    pub fn waits_for<'a>(&'a self, tasks: impl IntoIterator<Item = usize> + 'a) -> impl Drop + 'a {
        let mut tasks: Vec<usize> = tasks.into_iter().collect();
        AtEnd(move || {
            tasks.retain(|task| !self.is_over(*task));
            if !tasks.is_empty() {
                self.mistake(format!("a call has not waited for tasks {tasks:?}"));
            }
        })
    }

    /// Like [`waits_for`](Self::waits_for), but for all tasks of a scope.
    pub fn waits_for_all<'a>(&'a self, returned: &'a Returned) -> impl Drop + 'a {
        AtEnd(move || {
            let live = returned.live.load(Ordering::Relaxed);
            if live > 0 {
                self.mistake(format!("a scope has not waited for {live} of its tasks"));
            }
        })
    }
}

/// Calls a closure when it is dropped.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// The sum of the values that a scope's tasks have returned so far, and the number of tasks that
/// have not ended.
#[derive(Default)]
pub struct Returned {
    value: AtomicU64,
    live: AtomicUsize,
}

impl Returned {
    /// Counts another task. The returned value must go into the task's closure.
    pub fn spawned(self: &Arc<Self>) -> Spawned {
        self.live.fetch_add(1, Ordering::Relaxed);
        Spawned(Arc::clone(self))
    }

    pub fn value(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }
}

pub struct Spawned(Arc<Returned>);

impl Spawned {
    /// Runs the task and adds its value to the sum.
    pub fn run(self, task: impl FnOnce(&Arc<Returned>) -> u64) {
        let value = task(&self.0);
        self.0.value.fetch_add(value, Ordering::Relaxed);
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::Relaxed);
    }
}
