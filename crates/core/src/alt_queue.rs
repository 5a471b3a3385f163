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
use tidegate_deque::claim::{self, Cell};
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
    owner: Mutex<Box<dyn Owner>>,
    thieves: Box<dyn Thieves>,
    /// The number of tasks in the queue; may be slightly out of date.
    len: AtomicUsize,
}

trait Owner: Send {
    fn put(&mut self, task: Task) -> Result<(), Task>;
    fn take(&mut self) -> Option<Task>;
}

trait Thieves: Send + Sync {
    fn steal(&self, cursor: &mut Cursor) -> Result<Task, Miss>;
    fn offers(&self) -> bool;
}

impl<Q: tidegate_deque::Queue<Cell<Task>>> Owner for claim::Owner<Q, Task> {
    fn put(&mut self, task: Task) -> Result<(), Task> {
        Self::put(self, task)
    }

    fn take(&mut self) -> Option<Task> {
        Self::take(self)
    }
}

impl<Q: tidegate_deque::Queue<Cell<Task>>> Thieves for claim::Thieves<Q, Task> {
    fn steal(&self, cursor: &mut Cursor) -> Result<Task, Miss> {
        Self::steal(self, cursor)
    }

    fn offers(&self) -> bool {
        Self::offers(self)
    }
}

impl Own {
    fn new<Q: tidegate_deque::Queue<Cell<Task>> + Default + 'static>() -> Self {
        let (owner, thieves) = claim::queue::<Q, Task>();
        Self {
            owner: Mutex::new(Box::new(owner)),
            thieves: Box::new(thieves),
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
        Some(Self::Own(match queue {
            QueueKind::Split => return None,
            QueueKind::Shared => return Some(Self::Shared),
            QueueKind::Lazy => Own::new::<Lazy<_>>(),
            QueueKind::ChaseLev => Own::new::<ChaseLev<_>>(),
            QueueKind::Dynamic => Own::new::<Dynamic<_>>(),
            QueueKind::Blocks => Own::new::<Blocks<_>>(),
            QueueKind::IdempotentDeque => Own::new::<IdempotentDeque<_>>(),
            QueueKind::IdempotentFifo => Own::new::<IdempotentFifo<_>>(),
            QueueKind::IdempotentLifo => Own::new::<IdempotentLifo<_>>(),
            QueueKind::Duplicating => Own::new::<Duplicating<_>>(),
            QueueKind::Multiplicity => Own::new::<Multiplicity<_>>(),
        }))
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
        if self.0.len() <= victim {
            self.0.resize(victim + 1, Cursor::default());
        }
        &mut self.0[victim]
    }
}
