//! A bound on how many tasks spawned from outside the pool may wait for a worker.
//!
//! A caller that exceeds the bound waits after its push, not before it. docs/waiting.md, "A bound
//! for spawned tasks", explains why, and why no caller waits forever.

use crate::worker::Event;
use std::collections::VecDeque;
use std::sync::Arc;
use tidegate_sync::lock::Mutex;

/// A bound on the tasks that callers outside the pool have spawned and no worker has begun.
pub struct SpawnBound {
    limit: usize,
    state: Mutex<State>,
}

/// `waiting` has one entry for each task by which `queued` exceeds the limit.
#[derive(Default)]
struct State {
    queued: usize,
    waiting: VecDeque<Arc<Event>>,
}

impl SpawnBound {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
        }
    }

    /// Returns the number of tasks that may wait.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Counts a task that the caller is about to push. Returns the event for which the caller must
    /// wait after the push, if the task exceeds the bound.
    pub fn enter(&self) -> Option<Arc<Event>> {
        let mut state = self.state.lock();
        state.queued += 1;
        (state.queued > self.limit).then(|| {
            let event = Arc::new(Event::for_this_thread());
            state.waiting.push_back(event.clone());
            event
        })
    }

    /// Like `enter`, but counts nothing and returns `false` if the task would exceed the bound.
    pub fn try_enter(&self) -> bool {
        let mut state = self.state.lock();
        let has_room = state.queued < self.limit;
        state.queued += usize::from(has_room);
        has_room
    }

    /// Called when a worker begins a counted task. Lets the caller that has waited longest
    /// continue.
    pub fn leave(&self) {
        let longest = {
            let mut state = self.state.lock();
            state.queued -= 1;
            state.waiting.pop_front()
        };
        longest.inspect(Event::open_kept);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::SpawnBound;

    #[test]
    fn callers_beyond_the_limit_wait_in_order() {
        let bound = SpawnBound::new(1);
        assert!(bound.enter().is_none());
        assert!(!bound.try_enter());
        let [first, second] = [(); 2].map(|()| bound.enter().expect("exceeds the limit"));
        let open = || [first.is_open(), second.is_open()];
        assert_eq!(open(), [false, false]);
        bound.leave();
        assert_eq!(open(), [true, false]);
        bound.leave();
        assert_eq!(open(), [true, true]);
        assert!(!bound.try_enter(), "the second caller's task is queued");
        bound.leave();
        assert!(bound.try_enter());
    }
}
