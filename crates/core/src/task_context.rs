//! The context that follows tasks: a list of task-local values. [`crate::worker::carry`] passes it
//! from a task to the tasks that it forks.
//!
//! docs/context.md describes how a context reaches the tasks that are forked under it, and why code
//! without a context runs the same instructions as if contexts did not exist.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use tidegate_sync::worker_local;

worker_local!(static CURRENT: RefCell<Option<TaskContext>> = RefCell::new(None));

/// A list of entries, innermost first. Tasks share the tails of their lists.
#[derive(Clone)]
pub struct TaskContext(Arc<Entry>);

/// Identifies a task-local value by its address, so it must be a `static`.
pub struct Key {
    /// Gives each static an address of its own. Atomic, so that the compiler neither accepts a
    /// constant in place of the static nor merges two of them. It is never read.
    #[allow(
        clippy::disallowed_types,
        reason = "only its address matters, and loom's atomics have no constant constructor"
    )]
    _address: std::sync::atomic::AtomicU8,
}

impl Key {
    /// Creates a key. Its address identifies it.
    pub const fn unique() -> Self {
        Self {
            #[allow(clippy::disallowed_types, reason = "as in the struct")]
            _address: std::sync::atomic::AtomicU8::new(0),
        }
    }

    /// Returns what identifies the key in a context.
    pub fn address(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// A task-local value; `local` is the address of its [`Key`].
struct Entry {
    local: usize,
    value: Arc<dyn Any + Send + Sync>,
    outer: Option<TaskContext>,
}

impl TaskContext {
    /// Returns the calling thread's context with this value.
    pub fn with(local: usize, value: Arc<dyn Any + Send + Sync>) -> Self {
        Self::above(current(), local, value)
    }

    /// Returns `outer` with this value, which replaces an earlier value of the same local. So a
    /// context has at most one entry for each local, no matter how deeply tasks are nested.
    pub(crate) fn above(
        outer: Option<Self>,
        local: usize,
        value: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let outer = outer.and_then(|outer| outer.without(local));
        Self(Arc::new(Entry {
            local,
            value,
            outer,
        }))
    }

    pub(crate) fn without(self, local: usize) -> Option<Self> {
        let Self(entry) = &self;
        if entry.local == local {
            return entry.outer.clone();
        }
        if self.find(local).is_none() {
            return Some(self);
        }
        let outer = entry.outer.clone().and_then(|outer| outer.without(local));
        Some(Self(Arc::new(Entry {
            local: entry.local,
            value: entry.value.clone(),
            outer,
        })))
    }

    /// Returns the value whose key has this address, if the context has one.
    pub fn find(&self, local: usize) -> Option<&(dyn Any + Send + Sync)> {
        let mut next = Some(self);
        while let Some(Self(entry)) = next {
            if entry.local == local {
                return Some(&*entry.value);
            }
            next = entry.outer.as_ref();
        }
        None
    }
}

/// Returns the calling thread's context. Returns `None` if it has none, or if its thread-local
/// values have been destroyed.
pub fn current() -> Option<TaskContext> {
    CURRENT.try_with(|current| current.borrow().clone()).ok()?
}

/// Calls `f` with the calling thread's context, if it has one. `f` must not set a context.
pub fn peek<R>(f: impl FnOnce(&TaskContext) -> R) -> Option<R> {
    CURRENT
        .try_with(|current| current.borrow().as_ref().map(f))
        .ok()?
}

/// Whether the calling thread has a context.
pub(crate) fn is_set() -> bool {
    peek(|_| ()).is_some()
}

#[inline]
pub(crate) fn replace(context: Option<TaskContext>) -> Option<TaskContext> {
    let replace = |current: &RefCell<_>| current.replace(context);
    CURRENT.try_with(replace).ok()?
}

/// Restores a thread's context when it is dropped.
pub(crate) struct Back(pub(crate) Option<TaskContext>);

impl Drop for Back {
    fn drop(&mut self) {
        drop(replace(self.0.take()));
    }
}
