//! The handle of a pool.

mod core;
mod loops;
mod spawn;
mod stream;

use crate::Builder;
use crate::interval::{self, Failure};
use std::fmt;
use std::ops::Deref;
use std::time::Duration;
use tidegate_core::{ShutdownTimeout, door};

/// A pool of workers; created by [`Pool::builder`].
///
/// It dereferences to the pool of the core, [`tidegate_core::Pool`], for crates that stand on the
/// core alone.
///
/// Dropping a pool runs the tasks that were spawned into it and joins its threads. If a task drops
/// its own pool, or a thread-local value of one of the pool's threads does, the drop returns
/// immediately and the threads end later. Any other drop waits for them; in a task of another pool,
/// it waits as in [`blocking`](fn@crate::blocking). So a thread must not drop a pool while a task
/// of that pool waits for the thread: if a task of pool A calls `b.install(|| drop(a))`, the
/// closure runs on a thread of pool B and waits for the threads of A, one of which waits for the
/// closure.
///
/// A child made by `fork` starts new threads for the pool when it first uses the pool.
///
/// The most common functions of this crate are also methods of the pool. All others, such as
/// [`sort_unstable`](crate::sort_unstable), [`with_deadline`](crate::with_deadline) and those whose
/// names begin with `try_`, run in the pool if they are called inside [`install`](Self::install).
///
/// ```
/// let pool = tidegate::Pool::builder().workers(2).build()?;
/// let (a, b) = pool.join(|| 2, || 1);
/// let mut numbers = [a, b];
/// pool.install(|| tidegate::sort_unstable(&mut numbers));
/// assert_eq!(numbers, [1, 2]);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
pub struct Pool(tidegate_core::Pool);

impl From<tidegate_core::Pool> for Pool {
    fn from(pool: tidegate_core::Pool) -> Self {
        Self(pool)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Deref for Pool {
    type Target = tidegate_core::Pool;

    fn deref(&self) -> &tidegate_core::Pool {
        &self.0
    }
}

impl Pool {
    /// Returns a builder, which sets the options of a new pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).name("render").build()?;
    /// assert_eq!(pool.workers(), 2);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Like [`interval::run`], in this pool. Inside the body of another interval, the limits
    /// described there apply.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let mut greeting = String::new();
    /// pool.run_intervals(|s| {
    ///     let name = s.interval(|_| "tide");
    ///     name.then(s, |_, name| greeting = format!("hello, {name}")).unwrap();
    /// })?;
    /// assert_eq!(greeting, "hello, tide");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Like [`interval::run`].
    pub fn run_intervals<'env, R, F>(&self, f: F) -> Result<R, Failure>
    where
        F: for<'scope> FnOnce(&interval::Scope<'scope, 'env>) -> R + Send,
        R: Send,
    {
        door::inside(self, |current, carried| {
            interval::inline(current, None, |scope: &interval::Scope<'_, 'env>| {
                carried.run(|| f(scope))
            })
        })
    }

    /// Runs the tasks that were spawned into the pool and joins its threads, as dropping the pool
    /// does.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// static RAN: AtomicBool = AtomicBool::new(false);
    /// let pool = tidegate::Pool::builder().workers(1).build()?;
    /// drop(pool.spawn(|| RAN.store(true, Ordering::Relaxed)));
    /// pool.shutdown();
    /// assert!(RAN.load(Ordering::Relaxed));
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    pub fn shutdown(self) {}

    /// Like [`shutdown`](Self::shutdown), but waits at most `limit`.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    ///
    /// let pool = tidegate::Pool::builder().workers(1).name("mail").build()?;
    /// let (go_on, may_go_on) = channel::<()>();
    /// let (ended, has_ended) = channel();
    /// pool.spawn(move || {
    ///     may_go_on.recv().unwrap();
    ///     ended.send(()).unwrap();
    /// });
    /// let error = pool.shutdown_timeout(Duration::from_millis(10)).unwrap_err();
    /// assert!(error.to_string().starts_with("pool mail has not ended within 10ms"));
    /// go_on.send(())?;
    /// has_ended.recv()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ShutdownTimeout`] if the pool has not ended by then. Its threads finish the remaining
    /// tasks and then end by themselves. If a task of the pool calls this function, or the
    /// destructor of a thread-local value of one of its threads, it gets the error immediately,
    /// because the pool cannot end before its caller does. The limit does not cover such
    /// destructors.
    pub fn shutdown_timeout(self, limit: Duration) -> Result<(), ShutdownTimeout> {
        self.0.shutdown_timeout(limit)
    }
}
