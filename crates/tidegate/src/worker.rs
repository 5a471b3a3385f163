//! A worker: one thread of a pool, its deque, and the fork-join fast path.
//!
//! [`Worker`] is what the others see of a thread; [`Current`] is the thread's own view of itself, a plain reference that
//! never leaves it. A thread is a worker from [`Membership::enter`] until that guard is dropped; a thread of the pool for
//! its whole life, a guest (a thread of nobody that takes part in a call of its own) for the length of the call.
//!
//! **Safety argument of the join.** The half lies in the joiner's frame. Its pointer is in the deque from the push until it is popped
//! or stolen. `join` leaves the frame, by return or by panic, only after it has popped the pointer itself or seen the
//! latch open; both end every use of the pointer by others. See docs/waiting.md for the waiting.

mod local;

pub use local::WorkerLocal;

use crate::blocks::Blocks;
use crate::job::{Half, Header, Task};
use crate::latch::Thief;
use crate::pool::{Shared, signal};
use crate::queue::Queue;
use crate::scope::ScopeCore;
use crate::stats::Tally;
use crate::unwind;
use crate::wait::Awaited;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{NonNull, null};
use std::sync::Arc;
use tidegate_deque::Split;
use tidegate_deque::split::{Cold, Owner};
use tidegate_sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use tidegate_sync::park::Parker;
use tidegate_sync::{Line, barrier, clock, worker_local};

/// One worker as all see it.
pub(crate) struct Worker {
    pub(crate) deque: Split<Header>,
    pub(crate) index: usize,
    pub(crate) parker: Parker,
    pub(crate) tally: Line<Tally>,
    /// The thief that this worker waits for, packed; 0 while it waits for none. Followed by those who wait for this one.
    pub(crate) waits_for: AtomicU64,
    /// The scope whose task lies at the base of this worker's stack, for its waiter to compare.
    pub(crate) base_scope: AtomicPtr<ScopeCore>,
    /// The scope that this worker waits for, for others to compare; null while it waits for none.
    awaits_scope: AtomicPtr<ScopeCore>,
    /// The worker that this one stole from last, plus one.
    last_victim: AtomicUsize,
    /// Whether a task runs at the base of this worker's stack and does not wait.
    busy: AtomicBool,
    /// Parts of broadcasts for this thread alone.
    pub(crate) mail: Queue,
    /// A thread of nobody that takes part for the length of a call.
    guest: AtomicBool,
    /// How often this worker was woken, and when last; 0 once it has noticed.
    wakes: AtomicU64,
    woken_at: AtomicU64,
    /// Woken to run whatever there is, see `Wake::Rescue`; written under the ledger's lock.
    rescue: AtomicBool,
    /// Whether this worker, if it waits, may run something meanwhile.
    may_help: AtomicBool,
    /// The pool, while a thread is this worker.
    shared: AtomicPtr<Shared>,
    own: Line<Own>,
}

/// What only the owner's thread looks at; atomics, because a worker is shared, with plain loads and stores.
struct Own {
    covers: AtomicPtr<ScopeCore>,
    /// The slot went along with a latch: this thread must stop before it runs anything else.
    must_stop: AtomicBool,
    /// Inside of `blocking`: this thread has no slot, and all that it pushes is public.
    blocking: AtomicBool,
    /// A spawn runs another task on its stack.
    inlining: AtomicBool,
    blocks: Blocks,
}

impl Worker {
    pub(crate) fn new(index: usize) -> Self {
        Self {
            deque: Split::new(),
            index,
            parker: Parker::new(),
            tally: Line(Tally::default()),
            waits_for: AtomicU64::new(0),
            base_scope: AtomicPtr::default(),
            awaits_scope: AtomicPtr::default(),
            last_victim: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            mail: Queue::default(),
            guest: AtomicBool::new(false),
            wakes: AtomicU64::new(0),
            woken_at: AtomicU64::new(0),
            rescue: AtomicBool::new(false),
            may_help: AtomicBool::new(false),
            shared: AtomicPtr::default(),
            own: Line(Own {
                covers: AtomicPtr::default(),
                must_stop: AtomicBool::new(false),
                blocking: AtomicBool::new(false),
                inlining: AtomicBool::new(false),
                blocks: Blocks::default(),
            }),
        }
    }

    /// Whether tasks wait in the deque, public or not.
    pub(crate) fn has_work(&self) -> bool {
        self.deque.waiting() > 0
    }

    /// Whom this worker waits for.
    pub(crate) fn waits_for(&self) -> Option<Thief> {
        // Acquire pairs with `set_waits_for`.
        match self.waits_for.load(Ordering::Acquire) {
            0 => None,
            word => Some(Thief::unpack(word)),
        }
    }

    pub(crate) fn set_waits_for(&self, thief: Option<Thief>) {
        // Release pairs with `waits_for`. The pack of a thief with a generation is never 0.
        self.waits_for
            .store(thief.map_or(0, |t| t.pack()), Ordering::Release);
    }
}

/// Marks that others read as hints; they carry no data, so Relaxed suffices throughout.
impl Worker {
    pub(crate) fn last_victim(&self) -> Option<usize> {
        self.last_victim.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(crate) fn set_last_victim(&self, victim: usize) {
        self.last_victim.store(victim + 1, Ordering::Relaxed);
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Returns what it was.
    pub(crate) fn set_busy(&self, busy: bool) -> bool {
        self.busy.swap(busy, Ordering::Relaxed)
    }

    /// Wakes the thread that is this worker.
    pub(crate) fn wake(&self) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
        self.woken_at.store(clock::now(), Ordering::Relaxed);
        self.parker.unpark();
    }

    pub(crate) fn wakes(&self) -> u64 {
        self.wakes.load(Ordering::Relaxed)
    }

    /// When the thread was woken, if it was since this was last asked.
    pub(crate) fn take_woken_at(&self) -> Option<u64> {
        Some(self.woken_at.swap(0, Ordering::Relaxed)).filter(|at| *at > 0)
    }

    pub(crate) fn is_guest(&self) -> bool {
        self.guest.load(Ordering::Relaxed)
    }

    pub(crate) fn set_guest(&self, guest: bool) {
        self.guest.store(guest, Ordering::Relaxed);
    }

    pub(crate) fn set_rescue(&self) {
        self.rescue.store(true, Ordering::Relaxed);
    }

    pub(crate) fn take_rescue(&self) -> bool {
        self.rescue.load(Ordering::Relaxed) && self.rescue.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn set_awaited(&self, awaited: Awaited<'_>) {
        let scope = awaited.scope().map_or(null(), std::ptr::from_ref);
        self.awaits_scope.store(scope.cast_mut(), Ordering::Relaxed);
        self.may_help.store(awaited.may_help(), Ordering::Relaxed);
    }

    pub(crate) fn may_help(&self) -> bool {
        self.may_help.load(Ordering::Relaxed)
    }

    /// Whether this worker waits for the scope whose task lies at the base of `other`.
    pub(crate) fn awaits_scope_of(&self, other: &Self) -> bool {
        let scope = self.awaits_scope.load(Ordering::Relaxed);
        !scope.is_null() && scope == other.base_scope.load(Ordering::Relaxed)
    }
}

worker_local!(static CURRENT: Cell<*const Worker> = Cell::new(null()));

/// The calling thread as a worker of its pool.
#[derive(Clone, Copy)]
pub(crate) struct Current<'a> {
    worker: &'a Worker,
    not_send: PhantomData<*mut ()>,
}

impl<'a> std::ops::Deref for Current<'a> {
    type Target = Worker;

    #[inline(always)]
    fn deref(&self) -> &Worker {
        self.worker
    }
}

impl<'a> Current<'a> {
    /// The worker that the calling thread is, if it is one.
    #[inline(always)]
    pub(crate) fn get() -> Option<Self> {
        let worker = CURRENT.with(Cell::get);
        // SAFETY: set by `Membership::enter`, which keeps the pool and so the worker alive until it sets the pointer
        // back; the value stays on this thread (`not_send`) and in frames below that guard.
        let worker = unsafe { worker.as_ref() }?;
        Some(Self {
            worker,
            not_send: PhantomData,
        })
    }

    /// The same for code that only workers run.
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Self::get().expect("tasks run on workers, and a thread is none in a child that it forked")
    }

    /// The pool that this worker belongs to.
    #[inline]
    pub(crate) fn shared(self) -> &'a Shared {
        // Relaxed: written by this very thread.
        let shared = self.worker.shared.load(Ordering::Relaxed);
        // SAFETY: set by `Membership::enter`, which holds an Arc of it for as long as a `Current` can exist.
        unsafe { &*shared }
    }

    #[inline(always)]
    pub(crate) fn worker(self) -> &'a Worker {
        self.worker
    }

    /// The owner's side of this worker's deque.
    #[inline(always)]
    pub(crate) fn deque(self) -> Owner<'a, Header> {
        // SAFETY: only the thread that is this worker has a `Current`, and membership passes from thread to thread
        // under the pool's ledger lock.
        unsafe { self.worker.deque.owner() }
    }

    /// The scope whose tasks in this deque need no count of their own, see [`mod@crate::scope`].
    #[inline]
    pub(crate) fn covers(self) -> *const ScopeCore {
        // Relaxed: only this thread uses it.
        self.worker.own.covers.load(Ordering::Relaxed)
    }

    /// Sets [`covers`](Self::covers); returns what it was.
    #[inline]
    pub(crate) fn set_covers(self, scope: *const ScopeCore) -> *const ScopeCore {
        let before = self.covers();
        // Relaxed: only this thread uses it.
        self.worker
            .own
            .covers
            .store(scope.cast_mut(), Ordering::Relaxed);
        before
    }

    pub(crate) fn must_stop(self) -> bool {
        // Relaxed: only this thread uses it.
        self.worker.own.must_stop.load(Ordering::Relaxed)
    }

    pub(crate) fn set_must_stop(self, must: bool) {
        // Relaxed: only this thread uses it.
        self.worker.own.must_stop.store(must, Ordering::Relaxed);
    }

    pub(crate) fn is_blocking(self) -> bool {
        // Relaxed: only this thread uses it.
        self.worker.own.blocking.load(Ordering::Relaxed)
    }

    pub(crate) fn set_blocking(self, blocking: bool) {
        // Relaxed: only this thread uses it.
        self.worker.own.blocking.store(blocking, Ordering::Relaxed);
    }

    /// The memory that this worker keeps for tasks.
    #[inline]
    pub(crate) fn blocks(self) -> &'a Blocks {
        &self.worker.own.blocks
    }

    /// Returns what it was.
    pub(crate) fn set_inlining(self, inlining: bool) -> bool {
        // Relaxed: only this thread uses it.
        self.worker.own.inlining.swap(inlining, Ordering::Relaxed)
    }

    /// Takes a task from the own deque, at or above `base`.
    #[inline]
    pub(crate) fn pop(self, base: u64) -> Option<Task> {
        // SAFETY: what is in a deque is a live task (pushed by `push_task` or `join`), and a pop hands it to one.
        self.deque()
            .pop(base)
            .map(|header| unsafe { Task::from_raw(header) })
    }

    /// Pushes a task; gives it back if the ring is full.
    #[inline]
    pub(crate) fn push_task(self, task: Task) -> Result<(), Task> {
        match self.deque().push(task.as_raw()) {
            Ok(_) => Ok(()),
            Err(Cold(position)) => match self.push_cold(position) {
                FULL => Err(task),
                _ => Ok(()),
            },
        }
    }

    /// Runs `a`, and `b` here or on a thief; see [`crate::join`].
    #[inline(always)]
    pub(crate) fn join<A, B, RA, RB>(self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA,
        B: FnOnce() -> RB + Send,
        RB: Send,
    {
        let half = Half::new(b);
        let position = match self.deque().push(half.as_raw()) {
            Ok(position) => position,
            Err(Cold(position)) => self.push_cold(position),
        };
        let abandon = Abandon {
            current: self,
            half: &half,
            position,
        };
        let ra = a();
        std::mem::forget(abandon);
        if self.take_back(position) {
            // SAFETY: 1. taken back just now; 2. the thief's side does not run.
            let b = unsafe { half.take_closure() };
            let rb = b();
            (ra, rb)
        } else {
            let rb = self.join_stolen(&half, position);
            (ra, rb)
        }
    }

    /// Whether the half pushed at `position` is still ours.
    #[inline(always)]
    fn take_back(self, position: u64) -> bool {
        let deque = self.deque();
        if deque.bottom() == position.wrapping_add(1) {
            deque.pop_at(position)
        } else {
            self.take_back_uneven(position)
        }
    }

    /// The half was never pushed, or tasks spawned inside the first half lie above it.
    #[cold]
    fn take_back_uneven(self, position: u64) -> bool {
        position == FULL || {
            self.clear_above(position + 1);
            self.deque().pop_at(position)
        }
    }

    /// The cold exit of a push: answers the signals. The position, or [`FULL`].
    #[cold]
    #[inline(never)]
    fn push_cold(self, position: u64) -> u64 {
        let deque = self.deque();
        let signals = deque.answer();
        let position = deque.confirm(position).unwrap_or(FULL);
        self.act_on(signals);
        position
    }

    /// Answers signals outside a push.
    #[inline]
    pub(crate) fn poll(self) {
        if self.is_called() {
            let signals = self.deque().answer();
            self.act_on(signals);
        }
    }

    /// Whether there is a signal to answer now. Hunger is answered by work only: it waits for the next push.
    #[inline]
    pub(crate) fn is_called(self) -> bool {
        self.deque().is_signalled()
            && (self.worker.deque.raised() != signal::HUNGRY || !self.deque().is_empty())
    }

    /// Does what others have asked for by signals.
    pub(crate) fn act_on(self, signals: u32) {
        if self.shared().is_inherited() {
            return;
        }
        let deque = self.deque();
        if signals & (signal::FLAG | signal::HUNGRY) != 0 {
            let public = deque.expose_half();
            if signals & signal::HUNGRY != 0 {
                if public > 0 {
                    self.shared().work_visible(Some(self.worker));
                } else {
                    self.worker.deque.raise(signal::HUNGRY);
                }
            }
        }
        if signals & signal::GIVE_UP != 0 && !self.is_blocking() {
            self.give_up();
        }
        if self.is_blocking() {
            deque.expose_all();
            deque.shut();
            self.shared().work_visible(Some(self.worker));
        } else if barrier::available() == Some(false) {
            // Nobody can expose our work by force: all of it is public, always.
            deque.expose_all();
            deque.shut();
        }
    }

    #[cold]
    fn join_stolen<B, RB>(self, half: &Half<B, RB>, position: u64) -> RB
    where
        B: FnOnce() -> RB + Send,
        RB: Send,
    {
        self.wait_for_half(half.header());
        self.deque().settle(position);
        // SAFETY: 1. waited for; 2. once.
        match unsafe { half.take_result() } {
            Ok(result) => result,
            Err(payload) => unwind::resume(payload),
        }
    }
}

/// The position of a task that did not fit.
pub(crate) const FULL: u64 = u64::MAX;

/// Ends a join whose first half panicked: the second is dropped unrun, or waited for if a thief has it.
struct Abandon<'a, B, RB>
where
    B: FnOnce() -> RB + Send,
    RB: Send,
{
    current: Current<'a>,
    half: &'a Half<B, RB>,
    position: u64,
}

impl<B, RB> Drop for Abandon<'_, B, RB>
where
    B: FnOnce() -> RB + Send,
    RB: Send,
{
    // Inlined, so that the fields stay in registers while all goes well.
    #[inline(always)]
    fn drop(&mut self) {
        self.current.abandon(self.half, self.position);
    }
}

impl Current<'_> {
    #[cold]
    #[inline(never)]
    fn abandon<B, RB>(self, half: &Half<B, RB>, position: u64)
    where
        B: FnOnce() -> RB + Send,
        RB: Send,
    {
        if self.take_back(position) {
            // SAFETY: 1. taken back just now; 2. the join is not going on.
            drop(unsafe { half.take_closure() });
            return;
        }
        self.wait_unwinding(half.header());
        self.deque().settle(position);
        // SAFETY: 1. waited for; 2. the join is not going on.
        if let Err(payload) = unsafe { half.take_result() } {
            self.shared().report_panic(payload);
        }
    }
}

/// Makes the calling thread a worker of nobody: a `fork` inside a task has made it the only one of a child.
pub(crate) extern "C" fn leave_in_child() {
    CURRENT.with(|current| current.set(null()));
}

/// The right to be one worker, given once by the ledger; whoever has it may touch what only that worker's thread touches.
pub(crate) struct Admission(usize);

impl Admission {
    /// For the ledger's keepers alone (`Shared::admit_guest`, `Shared::start_thread`): the ledger has just admitted worker
    /// `index`, and no thread is it.
    pub(crate) fn granted(index: usize) -> Self {
        Self(index)
    }
}

/// A thread's time as a worker. It may be one of another pool before and after.
pub(crate) struct Membership {
    shared: Arc<Shared>,
    index: usize,
    /// The worker that the thread was before, or null.
    before: *const Worker,
}

impl Membership {
    /// Makes the calling thread a worker of the pool.
    pub(crate) fn enter(shared: Arc<Shared>, admission: Admission) -> Self {
        let Admission(index) = admission;
        let worker = shared.worker_or_new(index);
        // Relaxed: read by this thread only.
        worker
            .shared
            .store(Arc::as_ptr(&shared).cast_mut(), Ordering::Relaxed);
        let before = CURRENT.with(|current| current.replace(worker));
        worker.tally.arrive();
        let membership = Self {
            shared,
            index,
            before,
        };
        if barrier::available() == Some(false) {
            // Nobody can expose our work by force: each push goes the cold way and publishes.
            membership.current().deque().shut();
        }
        membership
    }

    pub(crate) fn current(&self) -> Current<'_> {
        let worker = self.shared.worker(self.index);
        Current {
            worker,
            not_send: PhantomData,
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        // What was a worker before a fork is none in the child.
        let before = if self.shared.is_inherited() {
            null()
        } else {
            self.before
        };
        CURRENT.with(|current| current.set(before));
        self.shared.worker(self.index).tally.depart();
    }
}

/// Takes tasks out of others' deques.
pub(crate) fn steal_from(
    victim: &Worker,
    amount: impl FnOnce(u64) -> u64,
    only: Option<tidegate_deque::split::Gen>,
    mut sink: impl FnMut(Task),
) -> tidegate_deque::Steal {
    // SAFETY: what is in a deque is a live task, and the deque hands each to one taker.
    let sink = |header: NonNull<Header>| sink(unsafe { Task::from_raw(header) });
    victim.deque.steal(amount, only, sink)
}
