//! Per-worker data.
//!
//! A [`WorkerLocal`] is an array of values whose index is the number of the calling thread
//! ([`with_number`]): no two live threads have the same number. So a value belongs to one thread at
//! a time, and soundness depends only on that. It does not matter whether the thread belongs to a
//! pool, or to which pool: neither worker numbers, which pass from guest to guest, nor the thread's
//! position in a pool are used.
//!
//! The array grows without moving its values ([`SegmentedArray`]). A look-up takes two loads after
//! reading the thread's own number. It takes no lock and writes nothing that another thread reads.
//! Each thread gets the lowest free number, so there are never more values than threads that were
//! alive at the same time.
//!
//! A value is not dropped when its thread ends, and the array does not know about tasks. After a
//! task has waited, it may find the value changed by another task that its worker has run
//! meanwhile.

use std::cell::OnceCell;
use std::fmt;
use tidegate_sync::Line;
use tidegate_sync::segmented::SegmentedArray;
use tidegate_sync::thread::with_number;

/// A value for each worker, created when the worker first uses it.
///
/// Use it for sums, statistics and buffers that workers must not share. Each worker uses its own
/// value, and the owner of the `WorkerLocal` collects the values afterwards with
/// [`iter_mut`](Self::iter_mut) or [`into_values`](Self::into_values).
///
/// A value belongs to a thread. A thread outside all pools has a value as well. If such a thread
/// becomes a worker during a call (see [`join`](crate::join)), it uses the same value inside and
/// outside the call. New threads first reuse the values of threads that have ended. So there are
/// never more values than threads that were alive at the same time, in any number of pools. In a
/// child made by `fork`, the threads of the parent count as live.
///
/// A task may see the value in an intermediate state that another task has left. While a task waits
/// inside [`with`](Self::with), for instance in a join, its worker may run tasks that the task has
/// forked. If they also call `with`, they get the same value. That is safe, but a `RefCell` borrow
/// that is held across such a join panics in them.
///
/// A call costs one thread-local access and two loads, which is a few nanoseconds. No two values
/// share a cache line.
///
/// ```
/// use std::cell::Cell;
/// use tidegate::WorkerLocal;
///
/// let mut count = WorkerLocal::new(|| Cell::new(0));
/// tidegate::for_each(0..1_000, |_| count.with(|own| own.set(own.get() + 1)));
/// assert_eq!(count.iter_mut().map(|own| own.get()).sum::<u32>(), 1_000);
/// ```
///
/// # The type
/// The second parameter is the type of the closure that creates the values. In the type of a field
/// or a function you can leave it out if the closure captures nothing, as with
/// [`LazyLock`](std::sync::LazyLock):
///
/// ```
/// use std::cell::Cell;
/// use tidegate::WorkerLocal;
///
/// struct Counters {
///     visits: WorkerLocal<Cell<u64>>,
/// }
///
/// let counters = Counters { visits: WorkerLocal::new(|| Cell::new(0)) };
/// counters.visits.with(|own| own.set(own.get() + 1));
/// ```
pub struct WorkerLocal<T, F = fn() -> T> {
    init: F,
    values: SegmentedArray<Line<Owned<T>>>,
}

/// A value that one thread at a time uses; empty until it is created.
struct Owned<T>(OnceCell<T>);

impl<T> Default for Owned<T> {
    fn default() -> Self {
        Self(OnceCell::new())
    }
}

// SAFETY: only `with` accesses a shared `Owned`, on the thread whose number is the index of the
// value, while the thread keeps that number. If two threads have had the same number, the first
// returned the number before the second took it (Release and Acquire, in `sync`). So these uses are
// a sequence of hand-overs of the value, for which `T: Send` is enough.
unsafe impl<T: Send> Sync for Owned<T> {}

impl<T: Send, F: Fn() -> T + Send + Sync> WorkerLocal<T, F> {
    /// Creates an empty `WorkerLocal`; `init` creates the value of each worker. `init` and the
    /// values may borrow.
    ///
    /// `init` runs on that worker. If `init` itself uses this `WorkerLocal`, or lets other tasks
    /// run that do, the value created by that inner call is kept and the outer value is dropped.
    ///
    /// ```
    /// use std::cell::RefCell;
    /// use tidegate::WorkerLocal;
    ///
    /// let words = ["ebb", "flow"];
    /// let counts = WorkerLocal::new(|| RefCell::new(vec![0; words.len()]));
    /// tidegate::for_each(0..words.len(), |n| counts.with(|own| own.borrow_mut()[n] += 1));
    /// let counts = counts.into_values().map(RefCell::into_inner);
    /// let total: usize = counts.flatten().sum();
    /// assert_eq!(total, 2);
    /// ```
    #[must_use]
    pub fn new(init: F) -> Self {
        let values = SegmentedArray::new();
        Self { init, values }
    }

    /// Calls `f` with the calling thread's value.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use tidegate::WorkerLocal;
    ///
    /// let calls = WorkerLocal::new(|| Cell::new(0));
    /// calls.with(|own| own.set(own.get() + 1));
    /// assert_eq!(calls.with(Cell::get), 1);
    /// ```
    ///
    /// # Panics
    /// If `f` or `init` panics.
    pub fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        with_number(|number| {
            let Owned(value) = &**self.values.get_or_grow(number);
            match value.get() {
                Some(own) => f(own),
                None => f(self.first(value)),
            }
        })
    }

    /// Creates the calling thread's value.
    #[cold]
    fn first<'a>(&self, value: &'a OnceCell<T>) -> &'a T {
        // The value is created before the cell is set: `init` is user code and may call this
        // function again.
        let own = (self.init)();
        drop(value.set(own));
        // Not `get_or_init`: Miri treats its result as an exclusive borrow, but a nested call
        // shares the value.
        value.get().expect("set here or by `init`")
    }

    /// Iterates over the values of all threads that have used this `WorkerLocal`, in an unspecified
    /// order.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use tidegate::WorkerLocal;
    ///
    /// let mut sums = WorkerLocal::new(|| Cell::new(0));
    /// tidegate::for_each(0..100, |n| sums.with(|own| own.set(own.get() + n)));
    /// assert_eq!(sums.iter_mut().map(|own| own.take()).sum::<u32>(), 4950);
    /// assert_eq!(sums.iter_mut().map(|own| own.get()).sum::<u32>(), 0);
    /// ```
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let lines = self.values.iter_mut();
        lines.filter_map(|Line(Owned(value))| value.get_mut())
    }

    /// Consumes the `WorkerLocal` and returns the values, in an unspecified order.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use tidegate::WorkerLocal;
    ///
    /// let sums = WorkerLocal::new(|| Cell::new(0));
    /// tidegate::for_each(0..100, |n| sums.with(|own| own.set(own.get() + n)));
    /// assert_eq!(sums.into_values().map(Cell::into_inner).sum::<u32>(), 4950);
    /// ```
    pub fn into_values(self) -> impl Iterator<Item = T> {
        let lines = self.values.into_elements();
        lines.filter_map(|Line(Owned(value))| value.into_inner())
    }
}

impl<T: Send + Default> Default for WorkerLocal<T> {
    /// Creates an empty `WorkerLocal`; each value starts as `T::default()`.
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T, F> fmt::Debug for WorkerLocal<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values are not printed, because they belong to other threads.
        f.debug_struct("WorkerLocal").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    #[test]
    fn each_thread_sees_only_its_value() {
        let local = WorkerLocal::new(|| Cell::new(0));
        local.with(|own| own.set(7));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| local.with(Cell::get));
            assert_eq!(other.join().unwrap(), 0);
        });
        assert_eq!(local.with(Cell::get), 7);
        let mut values: Vec<i32> = local.into_values().map(Cell::into_inner).collect();
        values.sort_unstable();
        assert_eq!(values, [0, 7]);
    }

    #[test]
    fn nested_call_shares_its_callers_value() {
        let local = WorkerLocal::new(|| RefCell::new(vec![1]));
        local.with(|outer| {
            outer.borrow_mut().push(2);
            local.with(|inner| inner.borrow_mut().push(3));
            assert_eq!(*outer.borrow(), [1, 2, 3]);
        });
    }

    #[test]
    fn recursive_init_keeps_first_value() {
        use std::sync::{Arc, Weak};
        type Local = WorkerLocal<Cell<i32>, Box<dyn Fn() -> Cell<i32> + Send + Sync>>;
        let made = Cell::new(0);
        let local = Arc::new_cyclic(|me: &Weak<Local>| {
            let me = me.clone();
            let depth = std::sync::atomic::AtomicI32::new(0);
            WorkerLocal::new(Box::new(move || {
                let depth = depth.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if depth == 0 {
                    me.upgrade()
                        .unwrap()
                        .with(|inner| inner.set(inner.get() + 10));
                }
                Cell::new(depth)
            }) as Box<_>)
        });
        local.with(|own| made.set(own.get()));
        assert_eq!(
            made.get(),
            11,
            "the inner value is number 1, and 10 was added"
        );
    }

    #[test]
    fn init_panic_allows_a_retry() {
        let tries = std::sync::atomic::AtomicI32::new(0);
        let local = WorkerLocal::new(move || {
            let tries = tries.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            assert!(tries > 0, "the first try fails");
            Cell::new(tries)
        });
        let first =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| local.with(Cell::get)));
        assert!(first.is_err());
        assert_eq!(local.with(Cell::get), 1);
    }

    #[test]
    fn values_of_ended_threads_are_reused() {
        const THREADS: usize = if cfg!(miri) { 8 } else { 100 };
        let mut local = WorkerLocal::new(|| Cell::new(0));
        for _ in 0..THREADS {
            std::thread::scope(|scope| {
                scope.spawn(|| local.with(|own| own.set(own.get() + 1)));
            });
        }
        assert_eq!(
            local.iter_mut().map(|own| own.get()).sum::<usize>(),
            THREADS
        );
        assert!(local.into_values().count() < THREADS);
    }

    #[test]
    fn values_are_dropped_with_it() {
        let marker = std::sync::Arc::new(());
        let local = {
            let marker = marker.clone();
            WorkerLocal::new(move || marker.clone())
        };
        local.with(|_| ());
        std::thread::scope(|scope| {
            scope.spawn(|| local.with(|_| ()));
        });
        drop(local);
        assert_eq!(std::sync::Arc::strong_count(&marker), 1);
    }
}
