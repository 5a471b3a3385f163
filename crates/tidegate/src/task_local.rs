//! Values that follow tasks.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use tidegate_core::door::{Carried, Key, TaskContext, carry, current, peek};

/// A value for the current task and everything that the task forks, spawns or awaits.
///
/// A thread-local value belongs to a worker, which runs tasks of many origins. A task-local value
/// belongs to the call of [`scope`](Self::scope) that set it: each task that is created during the
/// call sees the value, whichever worker runs the task, and even after the call has returned.
///
/// While no value is set, forks cost what they cost without this type. While one is set, each fork
/// costs some 20 ns more, and a loop has this cost once per block of items.
///
/// Rayon's functions on Tidegate do not carry the value reliably: a stolen half of `rayon::join`
/// runs without it.
///
/// ```
/// use tidegate::TaskLocal;
///
/// static REQUEST: TaskLocal<u64> = TaskLocal::new();
///
/// REQUEST.scope(7, || {
///     let (a, b) = tidegate::join(|| REQUEST.get(), || REQUEST.get());
///     assert_eq!((a, b), (Some(7), Some(7)));
/// });
/// assert_eq!(REQUEST.get(), None);
/// ```
///
/// # What the compiler rejects
/// A constant, because each use of a constant may have another address:
/// ```compile_fail,E0716
/// const REQUEST: tidegate::TaskLocal<u64> = tidegate::TaskLocal::new();
/// REQUEST.scope(7, || ());
/// ```
/// ```compile_fail,E0492
/// const REQUEST: &tidegate::TaskLocal<u64> = &tidegate::TaskLocal::new();
/// ```
pub struct TaskLocal<T: 'static> {
    key: Key,
    value: PhantomData<fn() -> T>,
}

impl<T: Send + Sync + 'static> TaskLocal<T> {
    /// Creates a task-local value, which has no value outside of [`scope`](Self::scope). It must be
    /// a `static`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            key: Key::unique(),
            value: PhantomData,
        }
    }

    /// Runs `f` with this value. A value that was set outside is hidden during the call.
    ///
    /// The value is dropped when the call has returned and the last task that sees it has ended.
    pub fn scope<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        carry::run_in(&TaskContext::with(self.key.address(), Arc::new(value)), f)
    }

    /// Calls `f` with the value, or with `None` if none is set.
    ///
    /// ```
    /// use tidegate::TaskLocal;
    ///
    /// static NAME: TaskLocal<String> = TaskLocal::new();
    ///
    /// let length = || NAME.with(|name| name.map(String::len));
    /// assert_eq!(NAME.scope("ebb".to_owned(), length), Some(3));
    /// assert_eq!(length(), None);
    /// ```
    pub fn with<R>(&'static self, f: impl FnOnce(Option<&T>) -> R) -> R {
        let context = current();
        f(context.as_ref().and_then(|context| self.value_in(context)))
    }

    /// Returns the context of a task that has this value.
    pub(crate) fn added_to(&'static self, carried: Carried, value: T) -> Carried {
        carried.with(self.key.address(), Arc::new(value))
    }

    /// Calls `f`, which neither runs user code nor sets a value, with the value, if one is set.
    /// Does not change the context's reference count, which all workers share.
    pub(crate) fn peek<R>(&'static self, f: impl FnOnce(&T) -> R) -> Option<R> {
        peek(|context| self.value_in(context).map(f))?
    }

    fn value_in<'a>(&'static self, context: &'a TaskContext) -> Option<&'a T> {
        let value = context.find(self.key.address())?;
        Some(value.downcast_ref().expect("set by `scope`"))
    }

    /// Returns a copy of the value, or `None` if none is set.
    pub fn get(&'static self) -> Option<T>
    where
        T: Clone,
    {
        self.with(|value| value.cloned())
    }
}

impl<T: Send + Sync + 'static> Default for TaskLocal<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for TaskLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocal").finish_non_exhaustive()
    }
}
