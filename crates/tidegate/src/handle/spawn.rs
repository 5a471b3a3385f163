//! Tasks that are spawned into a pool.

use super::Pool;
use crate::spawn::{self, Handle, QueueFull};
use std::borrow::Cow;
use std::panic::Location;
use tidegate_core::Origin;
use tidegate_core::door::{self, carry, origin};
use tidegate_policy::Priority;

impl Pool {
    /// Like [`spawn`](fn@crate::spawn), in this pool. Called from outside the pool, it waits while
    /// more tasks are queued than [`Builder::max_queued`](crate::Builder::max_queued) allows.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let handle = pool.spawn(|| 6 * 7);
    /// assert_eq!(handle.join(), 42);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[track_caller]
    pub fn spawn<T: Send + 'static>(&self, f: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        self.spawn_from(origin::at(Location::caller()), f)
    }

    /// Like [`spawn_named`](crate::spawn_named), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let handle = pool.spawn_named("resize", || 6 * 7);
    /// assert_eq!(handle.join(), 42);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[track_caller]
    pub fn spawn_named<T, F>(&self, name: impl Into<Cow<'static, str>>, f: F) -> Handle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_from(origin::named(name.into(), Location::caller()), f)
    }

    pub(crate) fn spawn_from<T, F>(&self, origin: Origin, f: F) -> Handle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let suspended = carry::carry_into(door::used(self));
        spawn::spawn_carried(door::used(self).clone(), origin, suspended.carried, f)
    }

    /// Like [`spawn_at_priority`](crate::spawn_at_priority), in this pool.
    ///
    /// ```
    /// use tidegate::{Pool, policy::Priority};
    ///
    /// let pool = Pool::builder().workers(2).build()?;
    /// let later = pool.spawn_at_priority(Priority::Background, || 6);
    /// // The urgent task waits for the other one, which becomes urgent, too.
    /// let product = pool.spawn_at_priority(Priority::Urgent, || later.join() * 7);
    /// assert_eq!(product.join(), 42);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[track_caller]
    pub fn spawn_at_priority<T, F>(&self, priority: Priority, f: F) -> Handle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn::priority::in_pool(
            door::used(self).clone(),
            priority,
            origin::at(Location::caller()),
            f,
        )
    }

    /// Like [`spawn`](Self::spawn), but returns an error if the queue has reached the bound that
    /// [`Builder::max_queued`](crate::Builder::max_queued) sets. Without a bound, every task is
    /// accepted.
    ///
    /// # Errors
    /// [`QueueFull`], which contains `f`. A task of the pool itself never gets this error.
    #[track_caller]
    pub fn try_spawn<T, F>(&self, f: F) -> Result<Handle<T>, QueueFull<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let suspended = carry::carry_into(door::used(self));
        let origin = origin::at(Location::caller());
        spawn::try_spawn(door::used(self).clone(), origin, f, suspended.carried)
    }

    /// Like [`spawn_future`](crate::spawn_future), in this pool.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).build()?;
    /// let six = pool.spawn(|| 6);
    /// assert_eq!(pool.spawn_future(async { six.await * 7 }).join(), 42);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    #[track_caller]
    pub fn spawn_future<F>(&self, future: F) -> Handle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        spawn::spawn_future_carried(door::used(self), origin::at(Location::caller()), future)
    }
}
