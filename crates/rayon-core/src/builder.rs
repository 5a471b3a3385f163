//! Configures and builds pools.

use crate::environment::{self, Threads};
use crate::error::{Kind, ThreadPoolBuildError};
use crate::global::make_global;
use crate::pool::ThreadPool;
use crate::thread::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{fmt, io, mem, process, thread};
use tidegate_core::door::closed::{
    self, Closed, ClosedPool, Refused, UnhandledPanic, UnstartedThread,
};

type PanicHandler = Box<dyn Fn(Box<dyn Any + Send>) + Send + Sync>;
type ThreadHandler = Box<dyn Fn(usize) + Send + Sync>;
type ThreadNames = Box<dyn FnMut(usize) -> String>;

/// Configures a pool, or the global pool.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .thread_name(|index| format!("cook {index}"))
///     .build()?;
/// let name = pool.install(|| std::thread::current().name().map(str::to_owned));
/// assert!(name.is_some_and(|name| name.starts_with("cook ")));
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    panic_handler: Option<PanicHandler>,
    thread_name: Option<ThreadNames>,
    stack_size: Option<usize>,
    start_handler: Option<ThreadHandler>,
    exit_handler: Option<ThreadHandler>,
    breadth_first: bool,
    spawn_handler: S,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            num_threads: 0,
            use_current_thread: false,
            panic_handler: None,
            thread_name: None,
            stack_size: None,
            start_handler: None,
            exit_handler: None,
            breadth_first: false,
            spawn_handler: DefaultSpawn,
        }
    }
}

impl ThreadPoolBuilder {
    /// Creates a builder with the default configuration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a pool even if environment variables are invalid or some threads cannot be started:
    /// prints a message and continues without those variables or threads.
    pub(crate) fn build_forgiving(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_with(true)
    }

    /// Builds a pool, passes it to `with_pool`, and drops it afterwards.
    ///
    /// Each thread runs `wrapper`, which must call [`ThreadBuilder::run`]. Before that, it may, for
    /// instance, set thread-local variables that borrow from the caller's frame.
    ///
    /// ```
    /// let words = vec!["borrowed", "by", "all"];
    /// let count = rayon_core::ThreadPoolBuilder::new().num_threads(2).build_scoped(
    ///     |thread| {
    ///         assert_eq!(words.len(), 3);
    ///         thread.run();
    ///     },
    ///     |pool| pool.install(|| words.len()),
    /// )?;
    /// assert_eq!(count, 3);
    /// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
    /// ```
    ///
    /// # Errors
    /// Like [`build`](Self::build).
    ///
    /// # Panics
    /// If `with_pool` panics, this panics with the same payload after the threads have ended.
    /// Otherwise, if a `wrapper` panics, this panics with the payload of that `wrapper`.
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|scope| {
            let wrapper = &wrapper;
            let start = |thread: ThreadBuilder| {
                let builder = thread::Builder::new()
                    .name(thread.name_or_number())
                    .stack_size(thread.thread.stack_size());
                builder.spawn_scoped(scope, move || wrapper(thread))?;
                Ok(())
            };
            let pool = self.spawn_handler(start).build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Builds the pool and starts its threads.
    ///
    /// # Errors
    /// Fails if
    ///
    /// - a thread cannot be started;
    /// - [`use_current_thread`](Self::use_current_thread) is set and the current thread belongs to
    ///   another pool;
    /// - the stack is too large;
    /// - one of Tidegate's environment variables has an invalid value.
    ///
    /// On failure, threads that have already started end.
    ///
    /// # Panics
    /// If a user-supplied function that names or starts threads panics.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_with(false)
    }

    /// Builds the global pool. Without this call, the first use of the global pool builds it with
    /// the default configuration.
    ///
    /// # Errors
    /// Like [`build`](Self::build). Also fails if the global pool already exists.
    ///
    /// # Panics
    /// Like [`build`](Self::build).
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        make_global(|| self.build())
    }

    fn build_with(self, forgiving: bool) -> Result<ThreadPool, ThreadPoolBuildError> {
        let threads = self.threads();
        let mut builder = tidegate_core::Pool::builder().name("rayon");
        if let Some(threads) = &threads {
            builder = builder.workers(threads.number.min(closed::most_threads()));
        }
        let (least, most) = closed::stack_sizes();
        let by_variable = || environment::stack_size().map(|bytes| bytes.min(most));
        if let Some(bytes) = self.stack_size.or_else(by_variable) {
            builder = builder.stack_size(bytes.max(least));
        }
        if let Some(handler) = self.start_handler {
            builder = builder.on_start(handler);
        }
        if let Some(handler) = self.exit_handler {
            builder = builder.on_exit(handler);
        }
        let closed = Closed {
            on_panic: stray_handler(self.panic_handler),
            threads_by: threads.map_or("", |threads| threads.by),
            breadth_first: self.breadth_first,
            forgiving,
        };
        let (mut names, mut handler) = (self.thread_name, self.spawn_handler);
        let start = |thread: UnstartedThread| {
            let name = names.as_mut().map(|name| name(thread.index()));
            handler.spawn(ThreadBuilder {
                thread,
                name,
                stack_size: self.stack_size,
            })
        };
        match ClosedPool::build(builder, closed, self.use_current_thread, start) {
            Ok(pool) => Ok(ThreadPool::of(pool)),
            Err(Refused::Options(error)) => Err(Kind::Options(error).into()),
            Err(Refused::Caller) => Err(Kind::CurrentThreadAlreadyInPool.into()),
            Err(Refused::Thread(error)) => Err(Kind::Thread(error).into()),
        }
    }

    fn threads(&self) -> Option<Threads> {
        let given = Threads {
            number: self.num_threads,
            by: "ThreadPoolBuilder::num_threads",
        };
        let given = Some(given).filter(|threads| threads.number > 0);
        given.or_else(environment::threads)
    }
}

/// Returns the function that handles panics that no call can propagate. It passes the payload to
/// the user's handler, or aborts the process if there is no handler.
///
/// The payload of a second panic is dropped, because the first panic already reaches a caller.
fn stray_handler(
    handler: Option<PanicHandler>,
) -> Box<dyn Fn(Box<dyn Any + Send>, UnhandledPanic) + Send + Sync> {
    Box::new(move |payload, from| {
        let ended = catch_unwind(AssertUnwindSafe(|| match (&handler, from) {
            (_, UnhandledPanic::Second) => drop(payload),
            (Some(handler), UnhandledPanic::Task | UnhandledPanic::Handler(_)) => handler(payload),
            (None, UnhandledPanic::Task | UnhandledPanic::Handler(_)) => {
                abort("a task panicked, and there is no panic handler")
            }
        }));
        match ended {
            Ok(()) => {}
            // Dropping the second panic's payload has itself panicked.
            Err(payload) if from == UnhandledPanic::Second => mem::forget(payload),
            Err(_) => abort("the panic handler panicked"),
        }
    })
}

fn abort(why: &str) -> ! {
    eprintln!("tidegate: pool rayon: {why}; aborting");
    process::abort();
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets the function that starts the pool's threads. It must run each [`ThreadBuilder`] on a
    /// separate thread.
    ///
    /// # Panics
    /// [`build`](Self::build) panics if `spawn` does.
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            panic_handler: self.panic_handler,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            breadth_first: self.breadth_first,
            spawn_handler: CustomSpawn(spawn),
        }
    }

    /// Sets the function that computes a thread's name from its index. Default: `rayon-N`.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads. With 0, the default, the [environment variables](crate)
    /// determine the number. If none is set, the pool has as many threads as this process may run
    /// at the same time. If that changes later, so does the number of threads that run tasks at the
    /// same time, but not the number of threads.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the thread that calls [`build`](Self::build) thread 0 of the pool, permanently.
    ///
    /// That thread looks for work only when it waits in the pool or [yields](crate::yield_now). It
    /// does not call the start and exit handlers. The pool stays in memory until the process ends.
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Sets the handler for panics that no call can propagate: panics of detached tasks, start
    /// handlers and exit handlers.
    ///
    /// Without a handler, such a panic aborts the process. If the handler itself panics, the
    /// process is also aborted.
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Box::new(panic_handler));
        self
    }

    /// Sets the stack size of each thread, in bytes of address space.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Makes each thread run the tasks that it has spawned in the order in which it spawned them,
    /// instead of youngest first.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    /// Sets a handler that each thread calls with its index when it starts.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.start_handler = Some(Box::new(start_handler));
        self
    }

    /// Sets a handler that each thread calls with its index when it ends.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.exit_handler = Some(Box::new(exit_handler));
        self
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("stack_size", &self.stack_size)
            .field("breadth_first", &self.breadth_first)
            .finish_non_exhaustive()
    }
}
