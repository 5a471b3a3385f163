//! A worker: one thread of a pool, and its deque.
//!
//! [`Worker`] is the part of a worker that all threads see. [`WorkerThread`] is the thread's own
//! view of itself, a plain reference that never leaves the thread. A thread is a worker from
//! [`Membership::enter`] until that guard is dropped: a thread of the pool for its whole life, and
//! a guest (a thread from outside all pools) for the duration of its call.

mod alt;
mod binding;
pub mod carry;
mod custom_backoff;
mod detached;
mod event;
pub(crate) mod find;
mod flags;
pub(crate) mod give;
mod half;
pub(crate) mod inbox;
mod installed;
mod join;
mod local;
pub(crate) mod memory;
mod placed;
mod position;
mod rob;
pub(crate) mod run;
mod search;
pub(crate) mod stand;
mod steal;
mod task_span;
mod thread;
pub mod wait;
mod waiting;
pub(crate) mod watch;

pub use detached::{RunShared, Shared};
pub use event::Event;
pub(crate) use installed::Installed;
pub(crate) use rob::HOPS;
pub(crate) use search::Search;
pub(crate) use steal::{steal_oldest, steal_one, steal_own};
pub use task_span::TaskSpan;
pub use thread::WorkerThread;
pub(crate) use thread::{Admission, Membership, Shift, leave_in_child};

pub use local::WorkerLocal;

use crate::cells::{Hint, OwnerCell};
use crate::job::{Blocks, Header};
use crate::pool::PoolInner;
use crate::scope::ScopeCore;
use crate::sleep::Sleeper;
use crate::sources::Queue;
use crate::sources::alt_queue::{self, AltQueue};
use crate::stats::Tally;
use crate::trace::Notes;
use position::Position;
use std::panic::Location;
use tidegate_deque::Split;
use tidegate_policy::StealAmount;
use tidegate_sync::Line;
use tidegate_sync::atomic::{AtomicPtr, Ordering};
use tidegate_sync::clock::ThreadClock;
use waiting::Waiting;

/// One worker as all threads see it. Each field is managed by the module that defines its type.
pub struct Worker {
    pub index: usize,
    pub(crate) deque: Split<Header>,
    /// Where the worker keeps its tasks, if not in the deque.
    pub(crate) alt_queue: Option<AltQueue>,
    pub(crate) tally: Line<Tally>,
    pub(crate) notes: Notes,
    /// This thread's parts of broadcasts.
    pub(crate) inbox: Queue,
    /// Tasks that were stolen in one batch with the running task and have not begun. Any worker may
    /// take them.
    pub(crate) stolen_batch: Queue,
    /// Detached tasks of this worker that begin in the order in which they were spawned. Each has a
    /// stand-in in another queue.
    pub(crate) in_order: Queue,
    /// The scope of the task at the base of this worker's stack. The scope's waiter compares this
    /// pointer with its own scope.
    pub(crate) base_scope: AtomicPtr<ScopeCore>,
    pub(crate) victim: Victim,
    pub(crate) sleeper: Sleeper,
    pub(crate) waiting: Waiting,
    pub(crate) membership: MemberFlags,
    pub(crate) position: Position,
    /// Where the spawned task that this worker runs was created; null if it runs none. Only the
    /// worker's own thread writes this.
    pub(crate) spawned_at: Hint<*const Location<'static>>,
    /// The processor time of this worker's tasks, for the share controller and `Stall`.
    pub(crate) computed: ThreadClock,
    /// The worker's pool. Valid only while a thread acts as this worker.
    pool: OwnerCell<*const PoolInner>,
    own: Line<Own>,
}

/// The state of a worker that thieves read, and the marks that they leave.
#[derive(Default)]
pub(crate) struct Victim {
    /// The worker from which this worker last stole.
    pub(crate) last_victim: Hint<Option<usize>>,
    /// Whether a task runs at the base of this worker's stack and does not wait. Only the worker's
    /// own thread writes this.
    pub(crate) is_busy: Hint<bool>,
    /// Whether the worker waits and runs no task on top, or is in a blocking call. Only the
    /// worker's own thread writes this.
    pub(crate) rests: Hint<bool>,
    /// Whether a joiner spent longer waiting for a half that this worker stole than running the
    /// half itself would have taken.
    pub(crate) unprofitable_steal: Hint<bool>,
}

#[derive(Default)]
pub(crate) struct MemberFlags {
    /// Whether the thread comes from outside, and is a worker only for the duration of a call.
    pub(crate) is_guest: Hint<bool>,
    /// Whether the exit handler has returned, or there is no handler to call.
    pub(crate) has_exited: Hint<bool>,
    /// Whether the worker is leaving the pool because the pool has too many threads. Written under
    /// the ledger's lock.
    pub(crate) is_retiring: Hint<bool>,
    /// Whether the thread is inside `blocking`. It then has no slot, and all tasks that it pushes
    /// are public. Only the worker's own thread writes this.
    pub(crate) is_blocking: Hint<bool>,
    /// Whether no thread acts as this worker. In that case it has no tasks.
    pub(crate) is_gone: Hint<bool>,
}

/// State that only the worker's own thread uses.
#[derive(Default)]
struct Own {
    covers: OwnerCell<*const ScopeCore>,
    /// The position in the deque at which the innermost context of this worker began.
    floor: OwnerCell<u64>,
    /// Whether the generation was taken for a base that is neither a half nor of a scope that may
    /// be robbed.
    base_is_unnamed: OwnerCell<bool>,
    /// Whether this thread must stop before it runs anything else, for example because its slot
    /// went to the waiter of a latch that it opened.
    must_stop: OwnerCell<bool>,
    /// When this worker last published tasks because of a signal.
    exposed_at: OwnerCell<u64>,
    /// How many times in a row this thread was preempted.
    preemptions: OwnerCell<usize>,
    /// When this thread was last preempted.
    preempted_at: OwnerCell<u64>,
    /// The number of this worker's searches.
    searches: OwnerCell<u64>,
    /// Whether a spawn is running another task on this thread's stack.
    inlining: OwnerCell<bool>,
    /// Whether a dispatch chose the task that this worker begins next.
    dispatched_next: OwnerCell<bool>,
    /// Whether a dispatch chose the task that this worker has just begun.
    dispatched: OwnerCell<bool>,
    blocks: Blocks,
    /// The worker, in another pool, that this thread was before it became this one; or null.
    before: OwnerCell<*const Worker>,
}

impl Worker {
    /// Returns the rule by which thieves take this worker's tasks; `usual` is the pool's.
    pub(crate) fn amount(&self, usual: StealAmount) -> StealAmount {
        if self.victim.rests.get() {
            usual.from_resting()
        } else {
            usual
        }
    }

    /// Returns where the spawned task that this worker runs was created. `None` if it runs none.
    #[inline]
    pub(crate) fn spawned_at(&self) -> Option<&'static Location<'static>> {
        // SAFETY: the pointer is null or that of a static location.
        unsafe { self.spawned_at.get().as_ref() }
    }

    pub(crate) fn new(index: usize, alt_queue: Option<AltQueue>, notes: Notes) -> Self {
        Self {
            index,
            deque: Split::new(),
            alt_queue,
            tally: Line(Tally::default()),
            notes,
            inbox: Queue::default(),
            stolen_batch: Queue::default(),
            in_order: Queue::default(),
            base_scope: AtomicPtr::default(),
            victim: Victim::default(),
            sleeper: Sleeper::default(),
            waiting: Waiting::default(),
            membership: MemberFlags::default(),
            position: Position::default(),
            spawned_at: Hint::default(),
            computed: ThreadClock::default(),
            pool: OwnerCell::default(),
            own: Line(Own::default()),
        }
    }

    /// The worker's alternative queue, if it belongs to this worker alone.
    pub(crate) fn own_queue(&self) -> Option<&alt_queue::Own> {
        self.alt_queue.as_ref()?.own()
    }

    /// Whether a thief is likely to get a task from the worker's own alternative queue.
    pub(crate) fn offers(&self) -> bool {
        self.own_queue().is_some_and(alt_queue::Own::offers)
    }

    /// Whether the deque holds tasks, public or private.
    pub(crate) fn has_work(&self) -> bool {
        self.deque.waiting() > 0
    }

    /// Whether the task at the base of this worker's stack belongs to the scope.
    pub(crate) fn runs_task_of(&self, scope: &ScopeCore) -> bool {
        // Acquire pairs with the Release in `run::enter_base`.
        std::ptr::eq(self.base_scope.load(Ordering::Acquire), scope)
    }

    /// Whether this worker waits for the scope of the task at the base of the stack of `other`.
    pub(crate) fn awaits_scope_of(&self, other: &Self) -> bool {
        // Relaxed: a hint, like `waiting.scope`.
        let base = other.base_scope.load(Ordering::Relaxed);
        !base.is_null() && std::ptr::eq(self.waiting.scope.get(), base)
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::WorkerThread;
    use tidegate_policy::{SharePolicy, StealAmount};

    /// A guest that runs is not at rest, although nothing runs at the base of its stack.
    #[test]
    fn only_resting_workers_give_single_tasks() {
        let builder = crate::Pool::builder().workers(2).share(SharePolicy::Off);
        let pool = builder.build().expect("a pool");
        // Until its threads have started, this thread gets no slot as a guest.
        while !pool.inner().ledger().has_free() {
            std::thread::yield_now();
        }
        let amount = || {
            let current = WorkerThread::get().expect("in the pool");
            current.worker().amount(StealAmount::Fixed(2))
        };
        let running = [pool.join(amount, || ()).0, pool.install(amount)];
        assert_eq!(running, [StealAmount::Fixed(2); 2]);
        let blocked = pool.install(|| [crate::blocking(amount), amount()]);
        assert_eq!(blocked, [StealAmount::One, StealAmount::Fixed(2)]);
    }
}
