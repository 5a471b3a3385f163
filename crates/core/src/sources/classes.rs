//! The queues of tasks that have another class than their pool.
//!
//! A pool has a class ([`Builder::priority`](crate::Builder::priority)), and so have its tasks,
//! unless they were given another: these wait here, first in, first out in each class. All other
//! tasks are where they would be without classes. docs/priorities.md has the protocol.

use crate::job::Task;
use crate::options::Options;
use std::collections::VecDeque;
use tidegate_policy::Priority;
use tidegate_policy::priority::Aging;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;

pub struct ClassQueues {
    /// The class of the pool. Its queue here stays empty.
    own: Priority,
    /// See [`Builder::priority_aging`](crate::Builder::priority_aging).
    within: usize,
    state: Mutex<State>,
    /// The number of tasks, and the number of those that are more urgent than the pool's own.
    len: AtomicUsize,
    above: AtomicUsize,
}

#[derive(Default)]
struct State {
    queues: [VecDeque<Task>; Priority::COUNT],
    aging: Aging,
}

impl ClassQueues {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            own: options.priority,
            within: options.priority_aging,
            state: Mutex::default(),
            len: AtomicUsize::new(0),
            above: AtomicUsize::new(0),
        }
    }

    /// Returns `class` unless it is the pool's own class, whose tasks have other queues.
    #[inline]
    pub fn other(&self, class: Option<Priority>) -> Option<Priority> {
        class.filter(|class| *class != self.own)
    }

    /// Returns `class` if it is more urgent than the pool's own.
    pub fn above(&self, class: Option<Priority>) -> Option<Priority> {
        class.filter(|class| *class > self.own)
    }

    /// Adds a task whose class is not the pool's own.
    pub(crate) fn push(&self, class: Priority, task: Task) {
        debug_assert_ne!(class, self.own);
        let mut state = self.state.lock();
        state.queues[class as usize].push_back(task);
        self.store_lengths(&state);
    }

    /// Takes the task that a worker begins next. `own` looks for a task of the pool's own class,
    /// perhaps not in every place where there may be one.
    pub(crate) fn next(&self, own: impl FnOnce() -> Option<Task>) -> Option<Task> {
        let has_turn = self.len() > 0;
        let task = self.dispatch().or_else(own);
        if task.is_none() && has_turn {
            self.give_turn_back(None);
        }
        task.or_else(|| self.take_any())
    }

    /// Decides which class the calling worker's next dispatch serves, and takes a task of that
    /// class. Returns `None` if it serves the pool's own class, which may turn out to have no task.
    pub(crate) fn dispatch(&self) -> Option<Task> {
        self.take_by(|state| {
            let State { queues, aging } = state;
            let has_tasks = |class| class == self.own || !queues[class as usize].is_empty();
            aging.dispatch(self.within, has_tasks)
        })
    }

    /// Takes a task that is more urgent than the pool's own, for a worker whose dispatch has not
    /// yet begun a task.
    pub(crate) fn take_above(&self) -> Option<Task> {
        // Acquire: as in `Queue::len`.
        if self.above.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.take_by(|state| state.most_urgent().filter(|class| *class > self.own))
    }

    /// Takes the most urgent task, for a worker that has found no task of the pool's own class.
    pub(crate) fn take_any(&self) -> Option<Task> {
        self.take_by(|state| state.most_urgent())
    }

    fn take_by(&self, choose: impl FnOnce(&mut State) -> Option<Priority>) -> Option<Task> {
        if self.len() == 0 {
            return None;
        }
        let mut state = self.state.lock();
        let class = choose(&mut state)?;
        let task = state.queues[class as usize].pop_front()?;
        state.aging.began(class);
        self.store_lengths(&state);
        Some(task)
    }

    /// Called when a dispatch has served this class (`None`: the pool's own), but has begun none of
    /// its tasks. If no more urgent task waits, the pool's own class needed no turn to be served.
    #[cold]
    pub fn give_turn_back(&self, class: Option<Priority>) {
        let others = match class {
            Some(_) => &self.len,
            None => &self.above,
        };
        // Acquire: as in `Queue::len`.
        if others.load(Ordering::Acquire) == 0 {
            return;
        }
        let class = class.unwrap_or(self.own);
        self.state.lock().aging.give_back(class, self.within);
    }

    fn store_lengths(&self, state: &State) {
        let (mut above, mut all) = (0, 0);
        for class in Priority::BY_URGENCY {
            let len = state.queues[class as usize].len();
            above += if class > self.own { len } else { 0 };
            all += len;
        }
        // Release, both: as in `Queue::push`.
        self.above.store(above, Ordering::Release);
        self.len.store(all, Ordering::Release);
    }

    /// Returns the number of tasks.
    pub fn len(&self) -> usize {
        // Acquire: as in `Queue::len`.
        self.len.load(Ordering::Acquire)
    }
}

impl State {
    fn most_urgent(&self) -> Option<Priority> {
        let mut classes = Priority::BY_URGENCY.into_iter();
        classes.find(|class| !self.queues[*class as usize].is_empty())
    }
}
