//! How a pool ends.
//!
//! The pool's handle, every spawned closure that has not ended and every future *hold* the pool.
//! When the last hold is removed, the pool drains: its threads run the remaining tasks. When all of
//! its threads are idle, each runs its exit handler. A handler may spawn tasks and futures, so the
//! threads go back to work afterwards. They leave together when all handlers have returned, no work
//! is left, and nothing holds the pool. So all threads are available as long as any task may still
//! appear. The protocol is in `docs/waiting.md`, "The end of a pool".

use super::PoolInner;
use crate::controller_handle::ControllerHandle;
use crate::sleep::blocking;
use crate::sleep::look::{self, Reach};
use crate::worker::{Worker, WorkerThread};
use std::sync::Arc;
use std::time::Duration;
use tidegate_policy::Nanos;
use tidegate_policy::slots::{Ledger, Status};
use tidegate_sync::atomic::Ordering;
use tidegate_sync::clock;
use tidegate_sync::simulation::Observer;

/// The progress of a pool's end. Stages only advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Something holds the pool.
    Open,
    /// The pool is no longer held; its threads run the remaining tasks.
    Draining,
    /// No tasks remained; the threads call their exit handlers, and run the tasks that the handlers
    /// spawn.
    Exiting,
    /// The threads leave the pool.
    Over,
}

impl Stage {
    const ALL: [Self; 4] = [Self::Open, Self::Draining, Self::Exiting, Self::Over];

    /// Returns the stage that follows once all threads are idle.
    fn next(self) -> Option<Self> {
        match self {
            Self::Draining => Some(Self::Exiting),
            Self::Exiting => Some(Self::Over),
            Self::Open | Self::Over => None,
        }
    }
}

impl PoolInner {
    fn stage(&self) -> Stage {
        // Acquire pairs with the Release in `set_stage`.
        Stage::ALL[self.stage.load(Ordering::Acquire) as usize]
    }

    /// The caller must hold the ledger's lock.
    fn set_stage(&self, stage: Stage, ledger: &Ledger) {
        // Release pairs with the Acquire in `stage`.
        self.stage.store(stage as u32, Ordering::Release);
        if stage == Stage::Over {
            // The threads leave without another look at their inbox, so later broadcasts must
            // exclude them.
            let members = ledger.members().filter_map(|(t, _)| self.worker_if(t));
            members.for_each(|worker| worker.membership.is_guest.set(true));
            self.controller.iter().for_each(ControllerHandle::pool_ends);
            self.over.unpark();
        }
        self.workers().for_each(|worker| {
            worker.sleeper.parker.unpark();
        });
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.stage() > Stage::Open
    }

    /// Whether the pool's threads are leaving. From then on, no thread is woken or started.
    pub(crate) fn is_over(&self) -> bool {
        self.stage() == Stage::Over
    }

    /// Waits until the pool is over, but at most for `limit`. Returns whether the pool is over.
    /// Only the owner of the pool's handle calls this, so at most one thread waits.
    pub(super) fn wait_until_over(&self, limit: Nanos) -> bool {
        let until = clock::now().saturating_add(limit);
        // If the caller is a worker of another pool, this pool may need that pool's tasks to end.
        self.simulation.iter().for_each(Observer::kick);
        blocking::run(|| {
            while !self.is_over() {
                let left = until.saturating_sub(clock::now());
                if left == 0 {
                    return false;
                }
                self.over.park_timeout(Duration::from_nanos(left));
            }
            true
        })
    }

    /// Adds a hold on the pool. The caller must have a hold itself, or be a guest of the pool.
    pub fn hold(&self) {
        // Relaxed: the caller's own hold keeps the count above 0. While a guest holds an ending
        // pool, it only runs what is left.
        self.holds.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes a hold on the pool. When the last hold is removed, the pool ends.
    pub fn let_go(&self) {
        // AcqRel: everything that was done under a hold happens before the end.
        if self.is_inherited() || self.holds.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let ledger = self.sleep.lock();
        if self.stage() == Stage::Open {
            self.set_stage(Stage::Draining, &ledger);
        }
        // While a pool ends, its tasks and futures may hold it for a time, so the last hold may be
        // removed repeatedly.
        self.advance_end(&ledger);
    }

    /// Advances the pool's end as far as possible. Each stage requires all threads of the pool to
    /// be idle, so this is called after a thread has become idle or has left.
    pub(crate) fn advance_end(&self, ledger: &Ledger) {
        let may_enter = |next: &Stage| self.may_enter(*next, ledger);
        while let Some(next) = self.stage().next().filter(may_enter) {
            self.set_stage(next, ledger);
        }
    }

    fn may_enter(&self, next: Stage, ledger: &Ledger) -> bool {
        // A future that an exit handler has spawned holds the pool while no task of it is visible.
        // Acquire pairs with `let_go`: the thread that removes the last hold looks here, too, under
        // the ledger's lock.
        if next == Stage::Over && self.holds.load(Ordering::Acquire) > 0 {
            return false;
        }
        let is_done = |(t, status)| {
            let has_exited = |w: &Worker| next == Stage::Exiting || w.membership.has_exited.get();
            let is_free = |w: &Worker| w.inbox.len() == 0 && has_exited(w);
            status == Status::Idle && self.worker_if(t).is_some_and(is_free)
        };
        ledger.members().all(is_done) && !look::any(self, Reach::All, ledger)
    }
}

/// A hold on the pool, for a thread that submits a task whose predecessor may end first and remove
/// its own hold.
pub struct Hold(Arc<PoolInner>);

impl Hold {
    /// The pool must be held, or the caller be its guest.
    pub fn of(pool: &Arc<PoolInner>) -> Self {
        pool.hold();
        Self(pool.clone())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

/// Whether this idle thread of an ending pool must call its exit handler or leave.
pub(crate) fn is_dismissed(worker: WorkerThread<'_>) -> bool {
    match worker.pool().stage() {
        Stage::Open | Stage::Draining => false,
        Stage::Exiting => !worker.membership.has_exited.get(),
        Stage::Over => true,
    }
}
