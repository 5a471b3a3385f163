//! How a task's context reaches the tasks that it forks, and what the context means for a task's
//! class. docs/context.md and docs/priorities.md describe this.

use super::{Shift, WorkerThread};
use crate::pool::PoolInner;
use crate::task_context::{Back, Key, TaskContext, peek, replace};
use std::any::Any;
use std::sync::Arc;
use tidegate_policy::Priority;

/// The class of a task, unless it is the class of the task's pool. docs/priorities.md describes how
/// tasks inherit it.
static PRIORITY: Key = Key::unique();

/// Returns the class of the calling task, unless it is the class of the task's pool.
pub(crate) fn priority() -> Option<Priority> {
    peek(priority_in)?
}

fn priority_in(context: &TaskContext) -> Option<Priority> {
    context.find(PRIORITY.address())?.downcast_ref().copied()
}

/// Runs `f` in this context. Meanwhile, the thread's worker is hidden, so that every function that
/// forks takes its cold path, which carries the context.
pub fn run_in<R>(context: &TaskContext, f: impl FnOnce() -> R) -> R {
    let _inside = enter(context.clone());
    f()
}

/// Puts the calling thread into this context until the result is dropped.
fn enter(context: TaskContext) -> (Back, Option<Shift>) {
    let hidden = WorkerThread::hide();
    (Back(replace(Some(context))), hidden)
}

/// Returns the class of the calling task, or `None` outside all pools.
pub fn class() -> Option<Priority> {
    priority().or_else(class_of_pool)
}

/// Returns the class of the calling thread's pool.
fn class_of_pool() -> Option<Priority> {
    WorkerThread::get().map(|current| current.pool().options.priority)
}

/// Runs a closure that was spawned elsewhere on behalf of a task of this class, if any, which waits
/// for it. The closure gets that class, unless its own, or that of another such task, is more
/// urgent.
#[inline]
pub fn run_raised<R>(class: Option<Priority>, f: impl FnOnce() -> R) -> R {
    let Some(class) = class else {
        return f();
    };
    let class = priority().map_or(class, |other| other.max(class));
    run_in(&TaskContext::with(PRIORITY.address(), Arc::new(class)), f)
}

/// Returns this context with the class that `run_raised` has set, if that is more urgent than its
/// own. The runtime's own code has no other class.
fn raised(context: &TaskContext) -> TaskContext {
    let waiter = priority().filter(|class| priority_in(context).is_none_or(|own| own < *class));
    let context = context.clone();
    match waiter {
        Some(class) => TaskContext::above(Some(context), PRIORITY.address(), Arc::new(class)),
        None => context,
    }
}

/// The context of a caller of this crate's functions; see [`carry`].
#[derive(Clone)]
pub struct Carried(Option<TaskContext>);

impl Carried {
    /// Whether the caller has no context.
    pub fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the caller's class, unless it is the class of the caller's pool.
    #[inline]
    pub fn priority(&self) -> Option<Priority> {
        priority_in(self.0.as_ref()?)
    }

    /// Returns the caller's class, or `None` if the caller is outside all pools.
    pub fn class(&self) -> Option<Priority> {
        self.priority().or_else(class_of_pool)
    }

    /// Returns the caller's context for a task with its own class. `None` stands for the class of
    /// the task's pool.
    pub fn at_priority(self, class: Option<Priority>) -> Self {
        match class {
            Some(class) => self.with(PRIORITY.address(), Arc::new(class)),
            None => Self(
                self.0
                    .and_then(|context| context.without(PRIORITY.address())),
            ),
        }
    }

    /// Returns the caller's context for a task with this value; `local` is the address of its
    /// [`Key`].
    pub fn with(self, local: usize, value: Arc<dyn Any + Send + Sync>) -> Self {
        Self(Some(TaskContext::above(self.0, local, value)))
    }

    /// Runs one of the caller's closures in the caller's context.
    #[inline]
    pub fn run<R>(&self, f: impl FnOnce() -> R) -> R {
        match &self.0 {
            Some(context) => Self::run_in(context, f),
            None => f(),
        }
    }

    #[inline(never)]
    fn run_in<R>(context: &TaskContext, f: impl FnOnce() -> R) -> R {
        let _inside = enter(raised(context));
        #[cfg(feature = "tracing")]
        let _entered = span(context).map(tracing::Span::enter);
        f()
    }

    /// Like [`run`](Self::run), for a closure of this class that may run in any pool.
    pub fn run_at<R>(&self, class: Option<Priority>, f: impl FnOnce() -> R) -> R {
        let here = WorkerThread::get().and_then(|here| here.pool().sources.classes.other(class));
        if here == self.priority() {
            self.run(f)
        } else {
            self.clone().at_priority(here).run(f)
        }
    }
}

/// A thread whose context is suspended. Dropping this restores the context.
///
/// A closure for another thread names the field `carried` and so captures only that.
pub struct Suspended {
    /// The caller's context.
    pub carried: Carried,
    _back: Option<Back>,
    _shift: Option<Shift>,
}

impl Suspended {
    #[inline]
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
pub fn carry() -> Suspended {
    let Some(context) = replace(None) else {
        return Suspended::of_nothing();
    };
    let _shift = WorkerThread::unhide();
    let _back = Some(Back(Some(context.clone())));
    #[cfg(feature = "tracing")]
    let context = in_current_span(context);
    Suspended {
        carried: Carried(Some(context)),
        _back,
        _shift,
    }
}

/// Like [`carry`], but costs a single load if the calling thread's worker is visible. Such a thread
/// has no context.
#[inline(always)]
pub fn carry_unless_visible() -> Suspended {
    match WorkerThread::visible() {
        Some(_) => Suspended::of_nothing(),
        None => carry(),
    }
}

/// Like [`carry_unless_visible`], for a call into `pool`. If the caller is a task of another pool
/// and has the class of that pool, it has that class in `pool`, too.
#[inline]
pub fn carry_into(pool: &PoolInner) -> Suspended {
    match WorkerThread::visible() {
        Some(here) if std::ptr::eq(here.pool(), pool) => Suspended::of_nothing(),
        _ => carry_from_elsewhere(pool),
    }
}

#[inline(never)]
fn carry_from_elsewhere(pool: &PoolInner) -> Suspended {
    let mut suspended = carry();
    let elsewhere = WorkerThread::get().filter(|here| !std::ptr::eq(here.pool(), pool));
    if elsewhere.is_some() && suspended.carried.priority().is_none() {
        if let Some(class) = pool.sources.classes.other(class_of_pool()) {
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
    let span = Arc::new(tracing::Span::current());
    run_in(&TaskContext::with(SPAN.address(), span), f)
}

/// The span in which tasks run; see [`carry_span`].
#[cfg(feature = "tracing")]
static SPAN: Key = Key::unique();

/// If the context carries a span, replaces it by the current span, because the task may have
/// entered another one.
#[cfg(feature = "tracing")]
fn in_current_span(context: TaskContext) -> TaskContext {
    if span(&context).is_none() {
        return context;
    }
    let span = Arc::new(tracing::Span::current());
    TaskContext::above(Some(context), SPAN.address(), span)
}

#[cfg(feature = "tracing")]
fn span(context: &TaskContext) -> Option<&tracing::Span> {
    context.find(SPAN.address())?.downcast_ref()
}
