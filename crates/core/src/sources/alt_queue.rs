//! Alternative queues, which replace the split deque.
//!
//! A worker with an alternative queue keeps its deque's fast path closed, so each push takes the
//! slow path. The slow path steals the new task from the worker's own deque, as a thief would, and
//! puts it into the alternative queue. The rest of the runtime sees that task as stolen but not
//! started. A joiner whose half has been stolen looks for it in that queue first.
//!
//! So the deque, positions and latches work as usual, the pool needs no type parameter, and a join
//! pays for an alternative queue only if the worker has one. Some queues may return a task more
//! than once, so a claim ([`tidegate_deque::claim`]) decides which taker runs the task.

use crate::job::Task;
use tidegate_deque::claim;
use tidegate_deque::split::capacity;
use tidegate_deque::{
    Blocks, ChaseLev, Cursor, Duplicating, Dynamic, IdempotentDeque, IdempotentFifo,
    IdempotentLifo, Lazy, Miss, Multiplicity,
};
use tidegate_policy::QueueKind;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;

/// The queue in which a worker keeps its tasks, if not in its deque.
pub(crate) enum AltQueue {
    Own(Own),
    /// The queue shared by all workers of the pool.
    Shared,
    /// The pool's plan, which runs tasks in the order of the serial run; see [`crate::memory`].
    Planned,
}

/// A queue that belongs to a single worker.
pub(crate) struct Own {
    /// Never contended: only the worker's own thread uses the owner's end.
    owner: Mutex<claim::Owner<Task>>,
    thieves: claim::Thieves<Task>,
    /// The number of tasks in the queue; may be slightly out of date.
    len: AtomicUsize,
}

impl Own {
    fn new((owner, thieves): (claim::Owner<Task>, claim::Thieves<Task>)) -> Self {
        Self {
            owner: Mutex::new(owner),
            thieves,
            len: AtomicUsize::new(0),
        }
    }

    /// Only the worker's own thread may call this.
    pub(crate) fn put(&self, task: Task) -> Result<(), Task> {
        // Relaxed, here and below: the count only bounds memory. The task is counted before it is
        // put, so the count never falls below 0.
        self.len.fetch_add(1, Ordering::Relaxed);
        let put = self.owner.lock().put(task);
        put.inspect_err(|_| self.count_out())
    }

    /// Only the worker's own thread may call this.
    pub(crate) fn take(&self) -> Option<Task> {
        let task = self.owner.lock().take();
        task.inspect(|_| self.count_out())
    }

    /// Any thread may call this.
    pub(crate) fn steal(&self, cursor: &mut Cursor) -> Result<Task, Miss> {
        self.thieves.steal(cursor).inspect(|_| self.count_out())
    }

    fn count_out(&self) {
        // Relaxed: as in `put`.
        self.len.fetch_sub(1, Ordering::Relaxed);
    }

    fn len(&self) -> usize {
        // Relaxed: as in `put`.
        self.len.load(Ordering::Relaxed)
    }

    /// Whether a thief is likely to get a task.
    pub(crate) fn offers(&self) -> bool {
        self.thieves.offers()
    }
}

impl AltQueue {
    /// Returns a worker's alternative queue in a pool with this kind of queue. `None` for the split
    /// deque.
    pub(crate) fn of(queue: QueueKind) -> Option<Self> {
        let own = match queue {
            QueueKind::Split => return None,
            QueueKind::Shared => return Some(Self::Shared),
            QueueKind::Lazy => claim::queue::<Lazy<_>, _>(),
            QueueKind::ChaseLev => claim::queue::<ChaseLev<_>, _>(),
            QueueKind::Dynamic => claim::queue::<Dynamic<_>, _>(),
            QueueKind::Blocks => claim::queue::<Blocks<_>, _>(),
            QueueKind::IdempotentDeque => claim::queue::<IdempotentDeque<_>, _>(),
            QueueKind::IdempotentFifo => claim::queue::<IdempotentFifo<_>, _>(),
            QueueKind::IdempotentLifo => claim::queue::<IdempotentLifo<_>, _>(),
            QueueKind::Duplicating => claim::queue::<Duplicating<_>, _>(),
            QueueKind::Multiplicity => claim::queue::<Multiplicity<_>, _>(),
        };
        Some(Self::Own(Own::new(own)))
    }

    /// Returns the queue if it belongs to this worker alone.
    pub(crate) fn own(&self) -> Option<&Own> {
        match self {
            Self::Own(own) => Some(own),
            Self::Shared | Self::Planned => None,
        }
    }

    /// Whether a spawned task should go to its scope's queue instead. It should if this queue and a
    /// stolen batch of `kept` tasks have reached the capacity together, or if the pool's workers
    /// share one queue.
    pub(crate) fn is_full(&self, kept: usize) -> bool {
        match self {
            Self::Own(own) => own.len() + kept >= capacity() as usize,
            Self::Shared => true,
            Self::Planned => false,
        }
    }
}

/// A thief's cursors, one for each worker's queue.
#[derive(Default)]
pub(crate) struct Cursors(Vec<Cursor>);

impl Cursors {
    pub(crate) fn of(&mut self, victim: usize) -> &mut Cursor {
        while self.0.len() <= victim {
            self.0.push(Cursor::default());
        }
        &mut self.0[victim]
    }
}
