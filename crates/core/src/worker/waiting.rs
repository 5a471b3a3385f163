//! The state of a waiting worker that other threads read.

use super::wait::Awaited;
use crate::cells::Hint;
use crate::job::Task;
use crate::latch::Thief;
use crate::scope::ScopeCore;
use tidegate_sync::atomic::{AtomicU64, Ordering};

/// State that only the worker itself writes. Other threads read it to decide whether a wake-up
/// would help.
#[derive(Default)]
pub(crate) struct Waiting {
    /// The thief that this worker waits for, packed; 0 while it waits for none. Workers that wait
    /// for this worker follow this link.
    thief: AtomicU64,
    /// The scope that this worker waits for; null while it waits for none. Other threads only
    /// compare this pointer.
    pub(crate) scope: Hint<*const ScopeCore>,
    /// Whether the worker may run tasks while it waits.
    pub(crate) may_help: Hint<bool>,
    /// Whether the worker, while it waits, may run any task of the pool's queues.
    pub(crate) may_run_queued: Hint<bool>,
    /// Whether the worker waits for memory, or for its turn to get memory.
    pub(crate) for_memory: Hint<bool>,
}

impl Waiting {
    pub(crate) fn thief(&self) -> Option<Thief> {
        // Acquire pairs with the Release in `set_thief`.
        match self.thief.load(Ordering::Acquire) {
            0 => None,
            word => Some(Thief::unpack(word)),
        }
    }

    pub(crate) fn set_thief(&self, thief: Option<Thief>) {
        // Release pairs with the Acquire in `thief`. A packed thief with a generation is never 0.
        self.thief
            .store(thief.map_or(0, |t| t.pack()), Ordering::Release);
    }

    pub(crate) fn set_awaited(&self, awaited: Awaited<'_>, may_run_queued: bool) {
        let scope = awaited.scope().map_or(std::ptr::null(), std::ptr::from_ref);
        self.scope.set(scope);
        self.may_help.set(awaited.may_help());
        self.may_run_queued.set(may_run_queued);
        self.for_memory.set(matches!(awaited, Awaited::Memory(_)));
    }

    pub(crate) fn is_for_a_scope(&self) -> bool {
        !self.scope.get().is_null()
    }

    /// Whether the task belongs to the scope that this worker waits for.
    pub(crate) fn is_for(&self, task: &Task) -> bool {
        let scope = self.scope.get();
        task.scope().is_some_and(|own| std::ptr::eq(scope, own))
    }
}
