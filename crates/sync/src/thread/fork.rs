//! Detects that this process was made by `fork`.
//!
//! A child made by `fork` has a copy of its parent's memory, but only one of its threads. A handler
//! that runs in the child before `fork` returns increments a counter. Code that depends on the
//! process's threads stores the counter's value (in a [`Process`]) and compares it later, which
//! takes one load.
//!
//! [`PerProcess`] is a value that each process creates for itself. It shares no lock with the
//! parent: if another thread held the lock during the fork, it would stay locked in the child
//! forever; see [`crate::lock`].
//!
//! Two kinds of children are not detected: those made without the C library (by a bare `clone`),
//! and those made by `vfork`, which share their parent's memory and must not run any of this code.
//! Forks also go undetected if the system has no memory to register the handler. Systems without
//! `pthread_atfork` have no forks.

use crate::stderr::print_line;
use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

/// The number of forks between this process and the ancestor that first watched for forks.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// Identifies a process, as distinct from its ancestors and from its descendants made by `fork`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Process {
    forks: u32,
}

impl Process {
    /// Returns the calling process, or its parent if forks were not yet watched when the process
    /// was forked (see [`watch_forks`]).
    #[inline]
    #[must_use]
    pub fn this() -> Self {
        // Relaxed: the count changes only in a child that still has a single thread. Starting other
        // threads orders the change before anything they do.
        let forks = FORKS.load(Ordering::Relaxed);
        Self { forks }
    }

    /// Returns a number that differs from the numbers of all ancestors and all children of this
    /// process.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.forks
    }
}

/// Aborts a child made by `fork` because it needs something that only its parent has. Prints `why`
/// first.
#[cold]
pub fn abort_child(why: fmt::Arguments<'_>) -> ! {
    print_line(format_args!("{why}; end such a child by exec or exit"));
    std::process::abort();
}

/// Starts counting forks, and registers `in_child`, which is called in each child before its `fork`
/// returns.
///
/// Calling this again is cheap. `in_child` must not take locks or allocate. It may be called more
/// than once for one fork.
pub fn watch_forks(in_child: extern "C" fn()) {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    watch();
    once(&WATCHED, in_child);
}

pub(super) fn watch() {
    static COUNTED: AtomicBool = AtomicBool::new(false);
    once(&COUNTED, count_one);
}

/// Registers `handler` to be called in each child, unless `done` shows that it already is.
pub(super) fn once(done: &AtomicBool, handler: extern "C" fn()) {
    // Acquire pairs with the Release below: the handler is registered. If two threads both find it
    // missing, both register it, and each fork calls it twice, which does no harm.
    if !done.load(Ordering::Acquire) {
        imp::register(handler);
        // Release pairs with the Acquire above.
        done.store(true, Ordering::Release);
    }
}

extern "C" fn count_one() {
    // Relaxed: see `Process::this`.
    FORKS.fetch_add(1, Ordering::Relaxed);
}

#[cfg(all(unix, not(any(loom, miri))))]
mod imp {
    pub(super) fn register(in_child: extern "C" fn()) {
        // SAFETY: the handler is a function of this program, and exists as long as the program
        // runs.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}

#[cfg(not(all(unix, not(any(loom, miri)))))]
mod imp {
    pub(super) fn register(_: extern "C" fn()) {}
}

/// A value that each process creates for itself at its first use; a child does not see its parent's
/// value.
///
/// In the child, the parent's value stays in memory and is never dropped: it may contain locks that
/// no thread will release, and refer to threads that do not exist in the child.
#[derive(Debug)]
pub struct PerProcess<T> {
    /// Null, or a pointer from `Box::into_raw`. Only a process made by a later fork replaces it,
    /// with a box of its own. A box is freed only with `&mut self`, and only in the process that
    /// made it.
    made: AtomicPtr<Made<T>>,
    /// Makes this type `Send` and `Sync` under the same conditions as `OnceLock`.
    owns: PhantomData<OnceLock<T>>,
}

#[derive(Debug)]
struct Made<T> {
    process: Process,
    value: OnceLock<T>,
}

impl<T> PerProcess<T> {
    /// Creates a `PerProcess` without a value.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            made: AtomicPtr::new(std::ptr::null_mut()),
            owns: PhantomData,
        }
    }

    /// Returns this process's value. Creates it with `init` if it doesn't exist yet.
    #[inline]
    pub fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
        match self.get() {
            Some(value) => value,
            None => self.place().get_or_init(init),
        }
    }

    /// Returns this process's value, if it has been created.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // Acquire pairs with the Release in `place`.
        let made = self.made.load(Ordering::Acquire);
        // SAFETY: the pointer is null or points to a live box, which is freed only with
        // `&mut self`.
        let made = unsafe { made.as_ref() }?;
        (made.process == Process::this())
            .then(|| made.value.get())
            .flatten()
    }

    /// Returns the cell for this process's value, and creates it if necessary.
    #[cold]
    fn place(&self) -> &OnceLock<T> {
        // Watch forks first: otherwise, a child forked while `init` runs could mistake this
        // process's value for its own.
        watch();
        loop {
            // Acquire pairs with the Release below.
            let made = self.made.load(Ordering::Acquire);
            // SAFETY: as in `get`.
            match unsafe { made.as_ref() } {
                Some(current) if current.process == Process::this() => return &current.value,
                _ => {}
            }
            let fresh = Box::into_raw(Box::new(Made {
                process: Process::this(),
                value: OnceLock::new(),
            }));
            // Release pairs with the Acquire in `get` and above. Relaxed on failure: the next round
            // loads again.
            let (order, failed) = (Ordering::Release, Ordering::Relaxed);
            if self
                .made
                .compare_exchange(made, fresh, order, failed)
                .is_err()
            {
                // SAFETY: the pointer comes from `Box::into_raw` above, and no other thread has
                // seen it.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
    }

    /// Takes this process's value out and leaves none.
    pub fn take(&mut self) -> Option<T> {
        let made = *self.made.get_mut();
        // SAFETY: as in `get`.
        let process = unsafe { made.as_ref() }?.process;
        if process != Process::this() {
            return None;
        }
        *self.made.get_mut() = std::ptr::null_mut();
        // SAFETY: the pointer comes from `Box::into_raw` in `place`. The pointer is no longer
        // reachable, and because of `&mut self` nothing borrows from the box.
        unsafe { Box::from_raw(made) }.value.into_inner()
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn value_is_created_and_dropped_once() {
        let marker = Arc::new(());
        let each = PerProcess::new();
        let made = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    each.get_or_init(|| {
                        made.fetch_add(1, Ordering::Relaxed);
                        marker.clone()
                    });
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        assert_eq!(Arc::strong_count(&marker), 2);
        drop(each);
        assert_eq!(Arc::strong_count(&marker), 1);
    }

    #[test]
    fn taken_value_is_created_anew() {
        let mut each = PerProcess::new();
        assert_eq!(each.take(), None::<u32>);
        assert_eq!(*each.get_or_init(|| 1), 1);
        assert_eq!(each.take(), Some(1));
        assert_eq!(each.get(), None);
        assert_eq!(*each.get_or_init(|| 2), 2);
    }

    /// Tests that run code in children. Before it exits, a child only allocates, starts threads and
    /// takes locks of its own test. It never takes a lock of the test harness.
    // Not under ThreadSanitizer, which kills a child that starts threads.
    #[cfg(all(unix, not(any(miri, tidegate_tsan))))]
    mod in_a_child {
        use super::*;
        use crate::lock::Mutex;
        use std::sync::Barrier;

        extern "C" fn nothing() {}

        /// Forks a child that exits with 0 if `check` returns true. Returns its wait status. An
        /// alarm kills the child if it hangs.
        fn status_of(check: impl FnOnce() -> bool) -> libc::c_int {
            // SAFETY: see the module's comment. The C library makes the allocator usable in a
            // child.
            let child = unsafe { libc::fork() };
            if child == 0 {
                // SAFETY: alarm has no preconditions.
                unsafe { libc::alarm(30) };
                let failed = i32::from(!check());
                // SAFETY: this ends the child without running any of the parent's code.
                unsafe { libc::_exit(failed) }
            }
            let mut status = 0;
            // SAFETY: `status` is live and writable.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            status
        }

        /// Like `status_of`, but another thread holds `lock` during the fork.
        fn status_while_held(lock: &Mutex<u32>, check: impl FnOnce() -> bool) -> libc::c_int {
            let turn = Barrier::new(2);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let _held = lock.lock();
                    turn.wait();
                    turn.wait();
                });
                turn.wait();
                let status = status_of(check);
                turn.wait();
                status
            })
        }

        /// Lets four threads count to 4000 under the lock. Returns whether they succeed.
        fn count_to_4000(lock: &Mutex<u32>) -> bool {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..1000).for_each(|_| *lock.lock() += 1));
                }
            });
            *lock.lock() == 4000
        }

        fn watched(value: u32) -> Mutex<u32> {
            watch_forks(nothing);
            Mutex::new(value)
        }

        #[test]
        fn values_are_made_anew() {
            watch_forks(nothing);
            let mut each = PerProcess::new();
            let parent = Process::this();
            each.get_or_init(|| "parent");
            let status = status_of(|| {
                Process::this() != parent
                    && each.take().is_none()
                    && each.get().is_none()
                    && *each.get_or_init(|| "child") == "child"
                    && each.take() == Some("child")
            });
            assert_eq!(status, 0, "the child found its parent's value");
            assert_eq!(Process::this(), parent);
            assert_eq!(each.get(), Some(&"parent"));
        }

        /// Runs in a separate process, in which no other test has started to watch for forks.
        #[test]
        fn half_made_value_is_created_anew() {
            const TEST: &str = "thread::fork::tests::in_a_child::half_made_value_is_created_anew";
            if !tidegate_testkit::is_alone(TEST) {
                return;
            }
            let (each, turn) = (PerProcess::new(), Barrier::new(2));
            let make = || {
                turn.wait();
                turn.wait();
                "parent"
            };
            let status = std::thread::scope(|scope| {
                scope.spawn(|| each.get_or_init(make));
                turn.wait();
                let status = status_of(|| *each.get_or_init(|| "child") == "child");
                turn.wait();
                status
            });
            assert_eq!(status, 0);
        }

        #[test]
        fn a_held_lock_is_lost() {
            let lock = watched(0);
            let lost = || lock.try_lock().is_none();
            assert_eq!(status_while_held(&lock, || lost() && lost()), 0);
            assert!(lock.try_lock().is_some(), "and not in the parent");
        }

        #[test]
        fn waiting_for_a_lost_lock_aborts() {
            let lock = watched(0);
            let status = status_while_held(&lock, || *lock.lock() == 0);
            assert!(libc::WIFSIGNALED(status));
            assert_eq!(libc::WTERMSIG(status), libc::SIGABRT);
        }

        #[test]
        fn new_threads_share_a_free_lock() {
            let lock = watched(0);
            assert_eq!(status_of(|| count_to_4000(&lock)), 0);
            assert_eq!(*lock.lock(), 0);
        }

        #[test]
        fn lost_lock_stays_lost_in_grandchild() {
            let lock = watched(0);
            let lost = || lock.try_lock().is_none();
            assert_eq!(status_while_held(&lock, || status_of(lost) == 0), 0);
        }

        /// A lock that is free when the parent forks, but held when the child forks, is lost in the
        /// grandchild.
        #[test]
        fn lock_held_in_child_is_lost() {
            let lock = watched(0);
            let grandchild = || status_while_held(&lock, || lock.try_lock().is_none());
            assert_eq!(status_of(|| grandchild() == 0 && count_to_4000(&lock)), 0);
        }
    }
}
