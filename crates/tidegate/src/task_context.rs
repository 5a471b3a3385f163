//! The context that follows tasks: a list of task-local values.
//!
//! docs/context.md describes how a context reaches the tasks that are forked under it, and why code
//! without a context runs the same instructions as if contexts did not exist.

mod local;

pub use local::TaskLocal;

use crate::pool::PoolInner;
use crate::worker::{Shift, WorkerThread};
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use tidegate_policy::Priority;
use tidegate_sync::worker_local;

worker_local!(static CURRENT: RefCell<Option<TaskContext>> = RefCell::new(None));

/// A list of entries, innermost first. Tasks share the tails of their lists.
#[derive(Clone)]
pub(crate) struct TaskContext(Arc<Entry>);

/// The value of a [`TaskLocal`]; `local` is the address that identifies it.
struct Entry {
    local: usize,
    value: Arc<dyn Any + Send + Sync>,
    outer: Option<TaskContext>,
}

impl TaskContext {
    /// Returns the calling thread's context with this value.
    fn with(local: usize, value: Arc<dyn Any + Send + Sync>) -> Self {
        Self::above(current(), local, value)
    }

    /// Returns `outer` with this value, which replaces an earlier value of the same local. So a
    /// context has at most one entry for each local, no matter how deeply tasks are nested.
    fn above(outer: Option<Self>, local: usize, value: Arc<dyn Any + Send + Sync>) -> Self {
        let outer = outer.and_then(|outer| outer.without(local));
        Self(Arc::new(Entry {
            local,
            value,
            outer,
        }))
    }

    fn without(self, local: usize) -> Option<Self> {
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

    /// Runs `f` in this context. Meanwhile, the thread's worker is hidden, so that every function
    /// that forks takes its cold path, which carries the context.
    fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let _hidden = WorkerThread::hide();
        let _back = Back(replace(Some(self.clone())));
        f()
    }

    fn priority(&self) -> Option<Priority> {
        self.find(PRIORITY.address())?.downcast_ref().copied()
    }

    fn with_priority(self, class: Priority) -> Self {
        Self::above(Some(self), PRIORITY.address(), Arc::new(class))
    }

    /// Returns the value of the `TaskLocal` at this address, if the context has one.
    fn find(&self, local: usize) -> Option<&(dyn Any + Send + Sync)> {
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
pub(crate) fn current() -> Option<TaskContext> {
    CURRENT.try_with(|current| current.borrow().clone()).ok()?
}

/// Calls `f` with the calling thread's context, if it has one. `f` must not set a context.
fn peek<R>(f: impl FnOnce(&TaskContext) -> R) -> Option<R> {
    CURRENT
        .try_with(|current| current.borrow().as_ref().map(f))
        .ok()?
}

/// Whether the calling thread has a context.
pub(crate) fn is_set() -> bool {
    peek(|_| ()).is_some()
}

fn replace(context: Option<TaskContext>) -> Option<TaskContext> {
    let replace = |current: &RefCell<_>| current.replace(context);
    CURRENT.try_with(replace).ok()?
}

/// Restores a thread's context when it is dropped.
struct Back(Option<TaskContext>);

impl Drop for Back {
    fn drop(&mut self) {
        drop(replace(self.0.take()));
    }
}

/// The class of a task, unless it is the class of the task's pool. docs/priorities.md describes how
/// tasks inherit it.
static PRIORITY: TaskLocal<Priority> = TaskLocal::new();

/// Returns the class of the calling task, unless it is the class of the task's pool.
pub(crate) fn priority() -> Option<Priority> {
    peek(TaskContext::priority)?
}

/// Returns the class of the calling task, or `None` outside all pools.
pub(crate) fn class() -> Option<Priority> {
    priority().or_else(class_of_pool)
}

/// Returns the class of the calling thread's pool.
fn class_of_pool() -> Option<Priority> {
    WorkerThread::get().map(|current| current.shared().options.priority)
}

/// Runs a closure that was spawned elsewhere on behalf of a task of this class, which waits for it.
/// The closure gets that class, unless its own, or that of another such task, is more urgent.
pub(crate) fn run_raised<R>(class: Priority, f: impl FnOnce() -> R) -> R {
    PRIORITY.scope(priority().map_or(class, |other| other.max(class)), f)
}

/// The context of a caller of this crate's functions; see [`carry`].
#[derive(Clone)]
pub(crate) struct Carried(Option<TaskContext>);

impl Carried {
    /// Whether the caller has no context.
    pub(crate) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the caller's class, unless it is the class of the caller's pool.
    #[inline]
    pub(crate) fn priority(&self) -> Option<Priority> {
        self.0.as_ref()?.priority()
    }

    /// Returns the caller's class, or `None` if the caller is outside all pools.
    pub(crate) fn class(&self) -> Option<Priority> {
        self.priority().or_else(class_of_pool)
    }

    /// Returns the caller's context for a task with its own class. `None` stands for the class of
    /// the task's pool.
    pub(crate) fn at_priority(self, class: Option<Priority>) -> Self {
        Self(match class {
            Some(class) => Some(TaskContext::above(
                self.0,
                PRIORITY.address(),
                Arc::new(class),
            )),
            None => self
                .0
                .and_then(|context| context.without(PRIORITY.address())),
        })
    }

    /// Runs one of the caller's closures in the caller's context.
    pub(crate) fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        let Some(context) = &self.0 else {
            return f();
        };
        // The runtime's own code has no context, so this is the class that `run_raised` has set.
        let waiter = priority().filter(|class| context.priority().is_none_or(|own| own < *class));
        let raised = waiter.map(|class| context.clone().with_priority(class));
        raised.as_ref().unwrap_or(context).run(|| {
            #[cfg(feature = "tracing")]
            let _entered = context.span().map(tracing::Span::enter);
            f()
        })
    }

    /// Like [`run`](Self::run), for a closure of this class that may run in any pool.
    pub(crate) fn run_at<R>(&self, class: Option<Priority>, f: impl FnOnce() -> R) -> R {
        let here = WorkerThread::get().and_then(|here| here.shared().classes.other(class));
        match here == self.priority() {
            true => self.run(f),
            false => self.clone().at_priority(here).run(f),
        }
    }
}

/// A thread whose context is suspended. Dropping this restores the context.
///
/// A closure for another thread names the field `carried` and so captures only that.
pub(crate) struct Suspended {
    pub(crate) carried: Carried,
    _back: Option<Back>,
    _shift: Option<Shift>,
}

impl Suspended {
    fn of_nothing() -> Self {
        Self {
            carried: Carried(None),
            _back: None,
            _shift: None,
        }
    }
}

/// Suspends the calling thread's context, if it has one. Until the result is dropped, the thread
/// runs the runtime's code and perhaps unrelated tasks. The caller's own closures go through
/// [`Carried::run`], wherever they run.
pub(crate) fn carry() -> Suspended {
    let Some(context) = replace(None) else {
        return Suspended::of_nothing();
    };
    let _shift = WorkerThread::unhide();
    let _back = Some(Back(Some(context.clone())));
    #[cfg(feature = "tracing")]
    let context = context.in_current_span();
    Suspended {
        carried: Carried(Some(context)),
        _back,
        _shift,
    }
}

/// Like [`carry`], but costs a single load if the calling thread's worker is visible. Such a thread
/// has no context.
#[inline(always)]
pub(crate) fn carry_unless_visible() -> Suspended {
    match WorkerThread::visible() {
        Some(_) => Suspended::of_nothing(),
        None => carry(),
    }
}

/// Like [`carry_unless_visible`], for a call into `pool`. If the caller is a task of another pool
/// and has the class of that pool, it has that class in `pool`, too.
pub(crate) fn carry_into(pool: &PoolInner) -> Suspended {
    let mut suspended = carry_unless_visible();
    let elsewhere = WorkerThread::get().filter(|here| !std::ptr::eq(here.shared(), pool));
    if elsewhere.is_some() && suspended.carried.priority().is_none() {
        if let Some(class) = pool.classes.other(class_of_pool()) {
            suspended.carried = suspended.carried.at_priority(Some(class));
        }
    }
    suspended
}

/// Runs `f` so that everything it forks, spawns or awaits runs in the `tracing` span that is
/// current at the fork.
///
/// Each task enters the span while it runs. A task that enters another span passes that span on to
/// the tasks that it forks. Outside of such a call, spans do not follow tasks, and forks cost
/// nothing more. The span of a task that waits stays entered on its thread: an unrelated task that
/// the thread runs meanwhile logs inside that span, unless it has a span of its own.
///
/// ```
/// use tracing::{Span, info_span};
///
/// let _entered = info_span!("request").entered();
/// tidegate::carry_span(|| {
///     let here = Span::current().id();
///     let (a, b) = tidegate::join(|| Span::current().id(), || Span::current().id());
///     assert_eq!([a, b], [here.clone(), here]);
/// });
/// ```
#[cfg(feature = "tracing")]
pub fn carry_span<R>(f: impl FnOnce() -> R) -> R {
    SPAN.scope(tracing::Span::current(), f)
}

/// The span in which tasks run; see [`carry_span`].
#[cfg(feature = "tracing")]
static SPAN: TaskLocal<tracing::Span> = TaskLocal::new();

#[cfg(feature = "tracing")]
impl TaskContext {
    /// If the context carries a span, replaces it by the current span, because the task may have
    /// entered another one.
    fn in_current_span(self) -> Self {
        match self.span() {
            Some(_) => {
                let span = Arc::new(tracing::Span::current());
                Self::above(Some(self), SPAN.address(), span)
            }
            None => self,
        }
    }

    fn span(&self) -> Option<&tracing::Span> {
        self.find(SPAN.address())?.downcast_ref()
    }
}
