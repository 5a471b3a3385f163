//! Tasks with a name, a class or a token of their own.

use super::packet::Queueing;
use super::{Handle, QueueFull, future};
use crate::cancel::token::CancelToken;
use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use tidegate_core::Origin;
use tidegate_core::door::carry::{self, Suspended};
use tidegate_core::door::{self, PoolInner, WorkerThread, origin, wait};
use tidegate_policy::Priority;

/// Says how to spawn one task; created by [`task`] and [`Pool::task`](crate::Pool::task).
///
/// `named`, `priority` and `token` set one property each, in any order; the other methods spawn.
/// Whatever is not set is as for [`spawn`](fn@crate::spawn): the task has no name, and inherits the
/// class and the token of the task that spawns it. It always inherits the values of each
/// [`TaskLocal`](crate::TaskLocal). If a method is called twice, the last call counts.
///
/// ```
/// use tidegate::{CancelToken, Pool, Priority, check_cancelled};
///
/// let pool = Pool::builder().workers(2).build()?;
/// let requests = CancelToken::new();
/// let request = pool
///     .task()
///     .named("resize")
///     .priority(Priority::Urgent)
///     .token(&requests)
///     .spawn(check_cancelled);
/// assert_eq!(request.join(), Ok(()));
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[derive(Debug)]
#[must_use = "a builder spawns nothing until `spawn`, `spawn_if_room` or `spawn_future` is called"]
pub struct TaskBuilder<'a> {
    pool: Target<'a>,
    name: Option<Cow<'static, str>>,
    class: Option<Priority>,
    token: Option<CancelToken>,
}

#[derive(Debug)]
pub(crate) enum Target<'a> {
    Pool(&'a tidegate_core::Pool),
    /// The pool of the code that spawns the task, or else the global pool, for this free function.
    Here(&'static str),
}

/// Returns a builder for a task of the calling task's pool, or of the global pool if the caller is
/// outside all pools when it spawns the task.
///
/// ```
/// let handle = tidegate::task().named("resize").spawn(|| 6 * 7);
/// assert_eq!(handle.join(), 42);
/// ```
pub fn task() -> TaskBuilder<'static> {
    TaskBuilder::new(Target::Here("task"))
}

impl<'a> TaskBuilder<'a> {
    pub(crate) const fn new(pool: Target<'a>) -> Self {
        Self {
            pool,
            name: None,
            class: None,
            token: None,
        }
    }

    /// Names the task, for reports of panics and for traces.
    ///
    /// Without a name, or if it is empty, these show the line that spawned the task. See
    /// [`Origin`].
    ///
    /// ```
    /// let handle = tidegate::task().named("resize").spawn(|| 6 * 7);
    /// assert_eq!(handle.join(), 42);
    /// ```
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Gives the task a class. The tasks that it spawns are of the same class.
    ///
    /// A worker that has ended a task continues with a task of the most urgent class that has any,
    /// however many tasks of other classes are queued. But no class starves: each that has tasks
    /// begins one within [`Builder::priority_aging`](crate::Builder::priority_aging) dispatches.
    ///
    /// A class orders whole tasks. A task that runs is not interrupted, and what it forks (joins,
    /// scopes, loops) is part of it. If a task waits for a less urgent one, by [`Handle::join`],
    /// [`Handle::join_timeout`] or by awaiting the handle, the task that it waits for gets its
    /// class. So a background task that a thread outside the pool awaits, such as one of tokio's, runs
    /// with the pool's class. To let other tasks overtake it, make those urgent.
    ///
    /// Forks inside a task with a class other than its pool's cost some 20 ns more, as with a
    /// [`TaskLocal`](crate::TaskLocal) value.
    ///
    /// To order the tasks of one scope by number, use
    /// [`Scope::spawn_in_order`](crate::Scope::spawn_in_order). To divide the processors between
    /// pools or programs, use [`Builder::weight`](crate::Builder::weight).
    ///
    /// ```
    /// use tidegate::{Pool, Priority};
    ///
    /// let pool = Pool::builder().workers(2).build()?;
    /// let later = pool.task().priority(Priority::Background).spawn(|| 6);
    /// // The urgent task waits for the other one, which becomes urgent, too.
    /// let urgent = pool.task().priority(Priority::Urgent);
    /// let product = urgent.spawn(|| later.join() * 7);
    /// assert_eq!(product.join(), 42);
    /// # Ok::<(), tidegate::BuildError>(())
    /// ```
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.class = Some(priority);
        self
    }

    /// Runs the task under a [`child`](CancelToken::child) of this token. The handle keeps the
    /// child, for [`Handle::abort`].
    ///
    /// The task begins even if the token is cancelled before. It stops where it checks its token.
    /// What the task spawns sees the child, too. So aborting the task while it runs also cancels
    /// the tasks that it has spawned, unless it spawned them under [`shield`](crate::shield). If
    /// the task has ended, they continue.
    ///
    /// Each check walks to the root of the tree of tokens. So if each task spawns its successor,
    /// use a token from outside instead of the task's own ([`current`](CancelToken::current)).
    ///
    /// ```
    /// use tidegate::{CancelToken, Cancelled, check_cancelled};
    ///
    /// let requests = CancelToken::new();
    /// let request = tidegate::task().token(&requests).spawn(|| -> Result<(), Cancelled> {
    ///     loop {
    ///         check_cancelled()?;
    ///     }
    /// });
    /// requests.cancel();
    /// assert_eq!(request.join(), Err(Cancelled));
    /// ```
    pub fn token(mut self, token: &CancelToken) -> Self {
        self.token = Some(token.child());
        self
    }

    /// Spawns a closure like [`spawn`](fn@crate::spawn) or [`Pool::spawn`](crate::Pool::spawn), and
    /// returns a handle to its result. Called from outside the pool, it waits while more tasks are
    /// queued than [`Builder::max_queued`](crate::Builder::max_queued) allows.
    ///
    /// ```
    /// let handle = tidegate::task().spawn(|| 6 * 7); // like tidegate::spawn
    /// assert_eq!(handle.join(), 42);
    /// ```
    ///
    /// # Panics
    /// Only if the task is for the global pool, and that may not exist (`TIDEGATE_GLOBAL`). A panic
    /// of the task is resumed by [`Handle::join`], or passed to
    /// [`Builder::on_panic`](crate::Builder::on_panic) if the handle was dropped.
    #[inline]
    #[track_caller]
    pub fn spawn<T, F>(self, f: F) -> Handle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let spawned = self.submit(Location::caller(), true, f);
        spawned.unwrap_or_else(|_| unreachable!("the call waits for room"))
    }

    /// Like [`spawn`](Self::spawn), but returns an error instead of waiting. Without a bound, every
    /// task is accepted.
    ///
    /// ```
    /// let pool = tidegate::Pool::builder().workers(2).max_queued(8).build()?;
    /// let accepted = pool.task().named("resize").spawn_if_room(|| 6 * 7)?;
    /// assert_eq!(accepted.join(), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`QueueFull`], which contains `f`, if the queue has reached the bound that
    /// [`Builder::max_queued`](crate::Builder::max_queued) sets. A task of the pool itself never
    /// gets this error.
    ///
    /// # Panics
    /// Like [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_if_room<T, F>(self, f: F) -> Result<Handle<T>, QueueFull<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.submit(Location::caller(), false, f)
    }

    /// Spawns a future like [`spawn_future`](crate::spawn_future). Each poll has the class and the
    /// token of the task. The future is dropped if its handle [aborts](Handle::abort) it; then the
    /// token is cancelled as well, for what the future has spawned.
    ///
    /// ```
    /// let six = tidegate::spawn(|| 6);
    /// let product = tidegate::task().named("product").spawn_future(async { six.await * 7 });
    /// assert_eq!(product.join(), 42);
    /// ```
    ///
    /// # Panics
    /// Like [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_future<F>(self, future: F) -> Handle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (pool, origin, suspended, token) = self.prepare(Location::caller());
        let carried = suspended.carried;
        let (packet, future) = if carried.is_nothing() {
            future::spawn(&pool, None, origin, future)
        } else {
            let class = carried.priority();
            let mut future = Box::pin(future);
            let polled = poll_fn(move |waker| carried.run(|| future.as_mut().poll(waker)));
            future::spawn(&pool, class, origin, polled)
        };
        super::answer_signals();
        Handle::new(packet, Some(future), token)
    }

    /// Spawns a closure. If the caller is outside a pool that bounds its queue, and the queue has
    /// reached the bound, `waits` says whether the call waits or returns the closure.
    #[inline(always)]
    fn submit<T, F>(
        self,
        at: &'static Location<'static>,
        waits: bool,
        f: F,
    ) -> Result<Handle<T>, QueueFull<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (pool, origin, suspended, token) = self.prepare(at);
        // A task of the pool has no bound: the queue might not drain while the task waits.
        let bound = pool.spawn_bound.as_ref();
        let bound = bound.filter(|_| WorkerThread::in_pool(&pool).is_none());
        let excess = match bound {
            Some(bound) if waits => bound.enter(),
            Some(bound) if !bound.try_enter() => return Err(QueueFull::new(f, bound.limit())),
            _ => None,
        };
        let carried = suspended.carried;
        let queued = Queueing {
            class: pool.sources.classes.other(carried.priority()),
            is_counted: bound.is_some(),
        };
        let packet = super::push(pool, origin, queued, move || carried.run(f));
        if let Some(event) = excess {
            wait::for_event(&event, &packet.pool);
        }
        Ok(Handle::new(packet, None, token))
    }

    /// Returns the task's pool, origin, context and own token. Until the result is dropped, the
    /// caller's context is suspended.
    #[inline(always)]
    fn prepare(
        self,
        at: &'static Location<'static>,
    ) -> (Arc<PoolInner>, Origin, Suspended, Option<CancelToken>) {
        let origin = origin::of(self.name, at);
        let token = self.token;
        let pool = match self.pool {
            Target::Pool(pool) => door::used(pool).clone(),
            Target::Here(caller) => door::pool_here(caller),
        };
        let mut suspended = carry::carry_into(&pool);
        if let Some(class) = self.class {
            let class = pool.sources.classes.other(Some(class));
            suspended.carried = suspended.carried.at_priority(class);
        }
        if let Some(token) = &token {
            suspended.carried = token.added_to(suspended.carried);
        }
        (pool, origin, suspended, token)
    }
}
