//! The containers in which tasks wait outside the workers' deques.
//!
//! docs/sources.md lists all containers, says who may take from each, and argues that no wake-up is
//! lost. This module knows neither pools nor workers: the worker's `find` takes from the sources,
//! and `sleep::look` looks into them.

pub(crate) mod alt_queue;
mod classes;
mod places;
mod queue;
mod scopes;

pub use classes::ClassQueues;
pub(crate) use places::{FreeGroups, Places};
pub(crate) use queue::Queue;
pub(crate) use scopes::ScopeQueues;

use crate::job::Task;
use crate::options::Options;
use tidegate_policy::Priority;

/// The sources that all workers of a pool share.
pub struct Sources {
    pub(crate) injector: Queue,
    /// The queues of the tasks that have another class than the pool.
    pub classes: ClassQueues,
    pub(crate) scopes: ScopeQueues,
    /// The queues of the tasks that were put at a place.
    pub(crate) places: Places,
}

impl Sources {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            injector: Queue::beside(options.queue),
            classes: ClassQueues::new(options),
            scopes: ScopeQueues::new(options.queue),
            places: Places::new(&options.layout),
        }
    }

    /// Puts a task into the queue of its class.
    pub(crate) fn inject(&self, class: Option<Priority>, task: Task) {
        match self.classes.other(class) {
            Some(class) => self.classes.push(class, task),
            None => self.injector.push(task),
        }
    }

    /// Whether a task waits in a queue that does not belong to a place.
    pub(crate) fn has_unplaced(&self) -> bool {
        self.injector.len() > 0 || self.classes.len() > 0 || self.scopes.any()
    }

    /// Whether the pool's queues contain tasks, all of them of the pool's own class.
    pub(crate) fn has_only_own_class(&self) -> bool {
        self.classes.len() == 0 && self.has_unplaced()
    }

    /// Returns the number of tasks.
    pub(crate) fn len(&self) -> usize {
        self.injector.len() + self.classes.len() + self.scopes.len() + self.places.len()
    }
}
