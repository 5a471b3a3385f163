//! Queues in place of the split deque.
//!
//! A worker with another queue keeps the fast path of its deque shut: each push comes through the cold exit, which steals the new task from the worker's
//! own deque, like any thief, and puts it into that queue. To the rest of the runtime it is then a stolen task that lies unstarted somewhere. A
//! joiner that finds its half stolen looks for it there first.
//!
//! So the deque, positions and latches work as ever, the pool needs no type parameter, and a join pays for another queue only if it has one. What comes out
//! of the queue is settled by a claim ([`tidegate_deque::claim`]): it may be one that promises no more than at least once.

use crate::job::{Header, Task};
use crate::latch::State;
use crate::space;
use crate::wait::Awaited;
use crate::worker::{Worker, WorkerThread, steal_one};
use tidegate_deque::claim::{self, Cell};
use tidegate_deque::split::capacity;
use tidegate_deque::{
    Blocks, ChaseLev, Cursor, Duplicating, Dynamic, IdempotentDeque, IdempotentFifo,
    IdempotentLifo, Lazy, Miss, Multiplicity,
};
use tidegate_policy::Queue;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::lock::Mutex;

/// Where a worker keeps its tasks, if not in its deque.
pub(crate) enum AltQueue {
    /// In a queue of its own.
    Own(Own),
    /// In the pool's.
    Shared,
    /// In the plan of a pool that keeps their order, see [`crate::space`].
    Planned,
}

/// A queue of one worker.
pub(crate) struct Own {
    /// Never contended: only the worker's own thread is the owner.
    owner: Mutex<Box<dyn Owner>>,
    thieves: Box<dyn Thieves>,
    /// How many tasks were put and have not come out, a little late.
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

    /// For the worker's own thread.
    fn put(&self, task: Task) -> Result<(), Task> {
        // Relaxed, here and below: nothing hangs on it but a bound on memory. Before the put: it never falls below 0.
        self.len.fetch_add(1, Ordering::Relaxed);
        let put = self.owner.lock().put(task);
        put.inspect_err(|_| self.count_out())
    }

    /// For the worker's own thread.
    fn take(&self) -> Option<Task> {
        let task = self.owner.lock().take();
        task.inspect(|_| self.count_out())
    }

    /// For everybody.
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

    /// Whether a thief would seem to get something.
    pub(crate) fn offers(&self) -> bool {
        self.thieves.offers()
    }
}

impl AltQueue {
    /// That of a worker of a pool with this queue.
    pub(crate) fn of(queue: Queue) -> Option<Self> {
        Some(Self::Own(match queue {
            Queue::Split => return None,
            Queue::Shared => return Some(Self::Shared),
            Queue::Lazy => Own::new::<Lazy<_>>(),
            Queue::ChaseLev => Own::new::<ChaseLev<_>>(),
            Queue::Dynamic => Own::new::<Dynamic<_>>(),
            Queue::Blocks => Own::new::<Blocks<_>>(),
            Queue::IdempotentDeque => Own::new::<IdempotentDeque<_>>(),
            Queue::IdempotentFifo => Own::new::<IdempotentFifo<_>>(),
            Queue::IdempotentLifo => Own::new::<IdempotentLifo<_>>(),
            Queue::Duplicating => Own::new::<Duplicating<_>>(),
            Queue::Multiplicity => Own::new::<Multiplicity<_>>(),
        }))
    }

    /// The worker's own queue, if it has one.
    pub(crate) fn own(&self) -> Option<&Own> {
        match self {
            Self::Own(own) => Some(own),
            Self::Shared | Self::Planned => None,
        }
    }

    /// Whether a spawned task had better go to the queue of its scope: so many wait already, `kept` ones among them, or it would come to that
    /// queue anyway.
    pub(crate) fn is_full(&self, kept: usize) -> bool {
        match self {
            Self::Own(own) => own.len() + kept >= capacity() as usize,
            Self::Shared => true,
            Self::Planned => false,
        }
    }
}

impl WorkerThread<'_> {
    /// Moves what the deque holds into the queue in its place.
    pub(crate) fn move_out(self, alt: &AltQueue) {
        self.deque().expose_all();
        let (mut moved, mut gives_way) = (0, None);
        let tasks = std::iter::from_fn(|| steal_one(self.worker(), None).1).inspect(|_| moved += 1);
        match alt {
            AltQueue::Own(own) => tasks.for_each(|task| self.put(own, task)),
            AltQueue::Shared => tasks.for_each(|task| self.pass_on(task)),
            AltQueue::Planned => gives_way = space::fork(self, tasks),
        }
        self.deque().shut();
        if moved > 0 {
            self.shared().work_visible(Some(self.worker()));
        }
        if let Some(turn) = gives_way {
            self.wait(Awaited::Memory(&turn));
        }
    }

    fn put(self, own: &Own, task: Task) {
        let latch = &task.header().latch;
        if latch.is_half() {
            // Its joiner is this thread, or waits for it: nobody sleeps on it.
            let _ = latch.set_keeper(self.index);
        }
        if let Err(task) = own.put(task) {
            self.pass_on(task);
        }
    }

    /// Takes a task out of the queue in place of the deque.
    pub(crate) fn take_alt(self) -> Option<Task> {
        let own = self.own_queue()?;
        let task = own.take();
        if own.offers() {
            // A take may give thieves something that was only the owner's.
            self.shared().work_visible(Some(self.worker()));
        }
        task
    }

    /// The same if the next one is `wanted`; another is kept where everybody finds it.
    pub(crate) fn take_alt_if(self, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
        let task = self.take_alt()?;
        if wanted(&task) {
            return Some(task);
        }
        self.push_back_batch(task);
        None
    }

    /// Keeps a task among those that this worker has stolen and not begun, where all may have it but those who run what lies in the
    /// pool's queues on top of a wait: it may descend from the frames below.
    pub(crate) fn push_back_batch(self, task: Task) {
        self.keep_in_batch(task);
        self.shared().work_visible(Some(self.worker()));
    }

    /// Whether the half, which is not in the deque any more, lies where nobody has begun it; then it is the caller's again.
    pub(crate) fn take_back_alt(self, half: &Header) -> bool {
        match self.alt_queue {
            None => return false,
            Some(AltQueue::Planned) => return space::take_back(self, half),
            Some(AltQueue::Own(_) | AltQueue::Shared) => {}
        }
        match half.latch.state() {
            State::Kept(keeper) if keeper == self.index => {
                self.stolen_batch.take(half).is_some() || self.pop_until(half)
            }
            State::Queued => self.shared().injector.take(half).is_some(),
            _ => false,
        }
    }

    /// Takes tasks out of the own queue until this half comes. What comes before was spawned inside the first half; or is older, where the owner
    /// gets the oldest first.
    fn pop_until(self, half: &Header) -> bool {
        while let Some(task) = self.take_alt() {
            if std::ptr::eq(task.header(), half) {
                return true;
            }
            self.push_back_batch(task);
        }
        false
    }

    /// Whoever is about to stop in the middle of a task leaves what it owns where others find it: not every queue gives thieves everything.
    pub(crate) fn flush_to_stealable(self) {
        while let Some(task) = self.take_alt() {
            self.push_back_batch(task);
        }
    }

    /// The same for who has no frames and leaves.
    pub(crate) fn flush_to_injector(self) {
        while let Some(task) = self.take_alt() {
            self.pass_on(task);
        }
    }

    /// Moves the youngest own tasks that belong to nobody to the pool's queues.
    pub(crate) fn flush_detached(self) {
        while let Some(task) = self.take_alt_if(|task| task.header().latch.is_detached()) {
            self.pass_on(task);
        }
    }

    /// Tries to take a task out of the queue that `victim` has in place of its deque.
    pub(crate) fn steal_alt(self, victim: &Worker, cursors: &mut Cursors) -> Result<Task, Miss> {
        let own = victim.own_queue().ok_or(Miss::Empty)?;
        own.steal(cursors.of(victim.index))
    }
}

/// What a thief remembers of each worker's queue.
#[derive(Default)]
pub(crate) struct Cursors(Vec<Cursor>);

impl Cursors {
    fn of(&mut self, victim: usize) -> &mut Cursor {
        if self.0.len() <= victim {
            self.0.resize(victim + 1, Cursor::default());
        }
        &mut self.0[victim]
    }
}
