//! Tasks outside all scopes: closures and futures, and what happens to their handles.

use crate::oracle::CAUGHT;
use crate::program::Task;
use crate::support::book::Tracked;
use crate::world::World;
use fastrand::Rng;
use std::any::Any;
use std::future::{Future as _, poll_fn};
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;
use tidegate::CancelToken;
use tidegate::policy::Priority;

/// A task outside all scopes.
#[derive(Debug)]
pub struct Handle {
    pub kind: Kind,
    pub end: End,
    pub task: Arc<Task>,
}

#[derive(Debug)]
pub enum Kind {
    Closure,
    Class(Priority),
    /// A closure with its own token, which is cancelled if the running task is aborted.
    Token,
    Future(Future),
}

/// A future that is pending for some time, and then runs the task.
#[derive(Debug)]
pub struct Future {
    /// Who wakes the future, each time that it is pending.
    wakes: Vec<By>,
    /// Who drops the future's last waker, if it never runs the task.
    lost: Option<By>,
    /// Whether the future spawns the task and awaits it.
    awaits: bool,
}

#[derive(Clone, Copy, Debug)]
enum By {
    Poll,
    Task,
    Thread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The handle is joined at the end of the list of steps, after one call of the function.
    Joined(Option<Look>),
    Detached,
    /// The task is aborted, at once or at the end of the list of steps.
    Aborted {
        at_once: bool,
    },
}

/// A function that returns the result of a task if the task has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Poll,
    TryResult,
    JoinTimeout,
}

/// The value of a task, and a value that must be dropped once.
pub type Valued = (u64, Tracked);

impl Kind {
    pub fn random(rng: &mut Rng) -> Self {
        match rng.u32(..10) {
            0 => Self::Class(Priority::Background),
            1 => Self::Class(Priority::Urgent),
            2..4 => Self::Token,
            4..7 => Self::Future(Future::random(rng)),
            _ => Self::Closure,
        }
    }
}

impl Future {
    fn random(rng: &mut Rng) -> Self {
        let by = |rng: &mut Rng| [By::Poll, By::Task, By::Thread][rng.usize(..3)];
        Self {
            wakes: (0..rng.usize(..4)).map(|_| by(rng)).collect(),
            lost: (rng.u32(..6) == 0).then(|| by(rng)),
            awaits: rng.bool(),
        }
    }
}

impl End {
    pub fn random(rng: &mut Rng) -> Self {
        match rng.u32(..12) {
            0 => Self::Joined(Some(Look::Poll)),
            1 => Self::Joined(Some(Look::TryResult)),
            2 => Self::Joined(Some(Look::JoinTimeout)),
            3..5 => Self::Detached,
            5..7 => Self::Aborted {
                at_once: rng.bool(),
            },
            _ => Self::Joined(None),
        }
    }
}

impl Handle {
    pub fn is_joined(&self) -> bool {
        matches!(self.end, End::Joined(_))
    }

    /// Whether the task is a future whose last waker is dropped.
    pub fn is_lost(&self) -> bool {
        matches!(&self.kind, Kind::Future(future) if future.lost.is_some())
    }

    pub fn spawn(&self, world: &World) -> tidegate::Handle<Valued> {
        let (mut world, task) = (world.clone(), Arc::clone(&self.task));
        if !self.is_joined() {
            world.pools = None;
        }
        let token = world.ledger.token(task.number);
        let captured = world.store.book.value();
        let run = move || {
            let value = token.run(|| task.call(&world, &[]));
            drop(captured);
            (value, world.store.book.value())
        };
        match &self.kind {
            Kind::Closure => tidegate::spawn(run),
            Kind::Class(class) => tidegate::task().priority(*class).spawn(run),
            Kind::Token => tidegate::task().token(&CancelToken::new()).spawn(run),
            Kind::Future(future) => future.spawn(run),
        }
    }

    /// Joins the task in the way that its end describes.
    pub fn join(&self, world: &World, handle: tidegate::Handle<Valued>) -> u64 {
        if !self.is_lost() {
            return self.result(handle);
        }
        let joined = catch_unwind(AssertUnwindSafe(|| self.result(handle)));
        if !joined.is_err_and(|payload| is_lost(&*payload)) {
            let mistake = format!("the lost future {} did not panic", self.task.number);
            world.ledger.mistake(mistake);
        }
        CAUGHT
    }

    fn result(&self, mut handle: tidegate::Handle<Valued>) -> u64 {
        let looked = match self.end {
            End::Joined(Some(Look::Poll)) => {
                let context = &mut Context::from_waker(Waker::noop());
                match Pin::new(&mut handle).poll(context) {
                    Poll::Ready(result) => Ok(result),
                    Poll::Pending => Err(handle),
                }
            }
            End::Joined(Some(Look::TryResult)) => handle.result_if_ready(),
            End::Joined(Some(Look::JoinTimeout)) => handle.join_timeout(Duration::from_micros(20)),
            _ => Err(handle),
        };
        looked.unwrap_or_else(tidegate::Handle::join).0
    }
}

impl Future {
    fn spawn(&self, run: impl FnOnce() -> Valued + Send + 'static) -> tidegate::Handle<Valued> {
        let (wakes, lost, awaits) = (self.wakes.clone(), self.lost, self.awaits);
        tidegate::spawn_future(async move {
            for by in wakes {
                pend(by, Waker::wake).await;
            }
            if let Some(by) = lost {
                pend(by, drop).await;
            }
            if awaits {
                tidegate::spawn(run).await
            } else {
                run()
            }
        })
    }
}

/// Whether this is the panic of a future whose last waker was dropped.
pub fn is_lost(payload: &(dyn Any + Send)) -> bool {
    let text = payload.downcast_ref::<&str>();
    text.is_some_and(|text| text.contains("its last waker was dropped"))
}

/// Is pending at least once, and lets `by` use the waker.
async fn pend(by: By, uses: fn(Waker)) {
    let mut is_first = true;
    poll_fn(|context| {
        if !take(&mut is_first) {
            return Poll::Ready(());
        }
        let waker = context.waker().clone();
        match by {
            By::Poll => uses(waker),
            By::Task => drop(tidegate::spawn(move || uses(waker))),
            By::Thread => drop(thread::spawn(move || uses(waker))),
        }
        Poll::Pending
    })
    .await;
}
