//! A user's backoff on a worker. If it panics, the worker loses the backoff and continues.

use crate::options::IdleRule;
use crate::pool::PoolInner;
use crate::worker::WorkerThread;
use std::sync::Arc;
use tidegate_policy::idle::{BackoffFactory, CustomBackoff};
use tidegate_policy::{IdleState, Rest};

/// Creates the idle state with which a worker begins to search.
pub(super) fn idle_state(worker: WorkerThread<'_>) -> IdleState {
    match &worker.pool().options.idle {
        IdleRule::BuiltIn(idle) => IdleState::new(idle).expect("checked when the pool was built"),
        IdleRule::Custom(factory) => {
            IdleState::custom(Box::new(CatchingBackoff::new(worker, factory)))
        }
    }
}

/// Calls a user's backoff until it panics. From then on the worker parks whenever it finds no work.
struct CatchingBackoff {
    pool: Arc<PoolInner>,
    /// `None` after a panic.
    own: Option<Box<dyn CustomBackoff>>,
}

impl CatchingBackoff {
    fn new(worker: WorkerThread<'_>, factory: &BackoffFactory) -> Self {
        let pool = worker.pool().as_arc();
        let mut own = None;
        pool.call_handler("backoff", || own = Some(factory.make(worker.index)));
        Self { pool, own }
    }

    fn call<R>(&mut self, f: impl FnOnce(&mut dyn CustomBackoff) -> R) -> Option<R> {
        let own = self.own.as_mut()?;
        let mut result = None;
        self.pool
            .call_handler("backoff", || result = Some(f(&mut **own)));
        if result.is_none() {
            self.drop_own();
        }
        result
    }

    fn drop_own(&mut self) {
        if let Some(own) = self.own.take() {
            self.pool.call_handler("backoff", || drop(own));
        }
    }
}

impl CustomBackoff for CatchingBackoff {
    fn backoff(&mut self, draw: u64) -> Rest {
        self.call(|own| own.backoff(draw)).unwrap_or(Rest::Park)
    }

    fn reset(&mut self) {
        self.call(|own| own.reset());
    }
}

impl Drop for CatchingBackoff {
    fn drop(&mut self) {
        self.drop_own();
    }
}
