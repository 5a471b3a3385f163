//! A worker: one thread of a pool, and its deque.
//!
//! [`Worker`] is what the others see of a thread; [`WorkerThread`] is the thread's own view of itself, a plain reference that
//! never leaves it. A thread is a worker from [`Membership::enter`] until that guard is dropped; a thread of the pool for
//! its whole life, a guest (a thread of nobody that takes part in a call of its own) for the length of the call.

mod join;
mod local;
mod thread;

pub(crate) use thread::{Admission, Membership, Runner, WorkerThread, leave_in_child};

pub use local::WorkerLocal;

use crate::alt_queue::{self, AltQueue};
use crate::job::{Blocks, Header, Task};
use crate::latch::Thief;
use crate::place::Binding;
use crate::pool::PoolInner;
use crate::queue;
use crate::scope::ScopeCore;
use crate::stats::Tally;
use crate::trace::Notes;
use crate::wait::Awaited;
use crate::wake_affinity::WakeAffinity;
use std::ptr::{NonNull, null};
use tidegate_deque::Split;
use tidegate_policy::Nanos;
use tidegate_sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use tidegate_sync::clock::ThreadClock;
use tidegate_sync::park::Parker;
use tidegate_sync::{Line, clock};

/// One worker as all see it.
pub(crate) struct Worker {
    pub(crate) deque: Split<Header>,
    /// Where the tasks lie, if not in the deque.
    pub(crate) alt_queue: Option<AltQueue>,
    pub(crate) index: usize,
    /// How many threads the pool has if it is a closed one, see [`crate::closed`]; else 0.
    pub(crate) closed_threads: usize,
    pub(crate) parker: Parker,
    pub(crate) tally: Line<Tally>,
    /// What its thread asks the rules.
    pub(crate) notes: Notes,
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
    pub(crate) inbox: queue::Queue,
    /// Stolen in one batch with the task that runs, and not begun: for this worker when it has nothing else, or for anybody.
    pub(crate) stolen_batch: queue::Queue,
    /// Detached tasks that this worker has spawned and that begin in that order: each has a stand-in elsewhere.
    pub(crate) in_order: queue::Queue,
    /// A thread of nobody that takes part for the length of a call.
    guest: AtomicBool,
    /// Its exit handler has returned, or it has none to call.
    exited: AtomicBool,
    /// It leaves the pool, which has too many threads; written under the ledger's lock.
    retiring: AtomicBool,
    /// No thread is this worker, and it has no tasks.
    gone: AtomicBool,
    /// How often this worker was woken, and when last; 0 once it has noticed.
    wakes: AtomicU64,
    woken_at: AtomicU64,
    /// Woken to run what lies in the pool's queues, see `Wake::Rescue`; written under the ledger's lock.
    rescue: AtomicBool,
    /// Where it stands, and the group for which it runs a task elsewhere; one more than the number, or 0. Hints to others.
    cpu_slot: AtomicUsize,
    last_cpu_slot: AtomicUsize,
    home: AtomicUsize,
    /// Its thread is the user's and stands nowhere.
    unpinned: AtomicBool,
    pub(crate) binding: Binding,
    /// The joiner of a half that this worker has stolen would rather have run it itself.
    unprofitable_steal: AtomicBool,
    /// It could go on, but had to leave its slot to others.
    preempted: AtomicBool,
    /// Until when it may run without a slot unasked; 0 if it was not let run without one since it had one.
    unasked_until: AtomicU64,
    /// What it has computed, for the share controller.
    pub(crate) computed: ThreadClock,
    /// Whether this worker, if it waits, may run something meanwhile, and whether whatever lies in the pool's queues.
    may_help: AtomicBool,
    may_run_queued: AtomicBool,
    /// Whether what this worker waits for is memory, or its turn to have some.
    awaits_memory: AtomicBool,
    pub(crate) wake_affinity: WakeAffinity,
    /// The pool, while a thread is this worker.
    shared: AtomicPtr<PoolInner>,
    own: Line<Own>,
}

/// What only the owner's thread looks at; atomics, because a worker is shared, with plain loads and stores.
struct Own {
    covers: AtomicPtr<ScopeCore>,
    /// Where in the deque the innermost context began that runs here.
    floor: AtomicU64,
    /// The slot went along with a latch: this thread must stop before it runs anything else.
    must_stop: AtomicBool,
    /// When this worker has last answered a flag.
    exposed_at: AtomicU64,
    /// How many times in a row this thread was preempted, and when last.
    preemptions: AtomicUsize,
    preempted_at: AtomicU64,
    /// Inside of `blocking`: this thread has no slot, and all that it pushes is public.
    blocking: AtomicBool,
    /// A spawn runs another task on its stack.
    inlining: AtomicBool,
    blocks: Blocks,
    /// The worker of another pool that this thread was before it became this one, or null.
    before: AtomicPtr<Worker>,
}

impl Worker {
    pub(crate) fn new(
        index: usize,
        closed_threads: usize,
        alt_queue: Option<AltQueue>,
        notes: Notes,
    ) -> Self {
        Self {
            deque: Split::new(),
            alt_queue,
            index,
            closed_threads,
            parker: Parker::new(),
            tally: Line(Tally::default()),
            notes,
            waits_for: AtomicU64::new(0),
            base_scope: AtomicPtr::default(),
            awaits_scope: AtomicPtr::default(),
            last_victim: AtomicUsize::new(0),
            busy: AtomicBool::new(false),
            inbox: queue::Queue::default(),
            stolen_batch: queue::Queue::default(),
            in_order: queue::Queue::default(),
            guest: AtomicBool::new(false),
            exited: AtomicBool::new(false),
            retiring: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            wakes: AtomicU64::new(0),
            woken_at: AtomicU64::new(0),
            rescue: AtomicBool::new(false),
            cpu_slot: AtomicUsize::new(0),
            last_cpu_slot: AtomicUsize::new(0),
            home: AtomicUsize::new(0),
            unpinned: AtomicBool::new(false),
            binding: Binding::default(),
            unprofitable_steal: AtomicBool::new(false),
            preempted: AtomicBool::new(false),
            unasked_until: AtomicU64::new(0),
            computed: ThreadClock::default(),
            may_help: AtomicBool::new(false),
            may_run_queued: AtomicBool::new(false),
            awaits_memory: AtomicBool::new(false),
            wake_affinity: WakeAffinity::default(),
            shared: AtomicPtr::default(),
            own: Line(Own {
                covers: AtomicPtr::default(),
                floor: AtomicU64::new(0),
                must_stop: AtomicBool::new(false),
                exposed_at: AtomicU64::new(0),
                preemptions: AtomicUsize::new(0),
                preempted_at: AtomicU64::new(0),
                blocking: AtomicBool::new(false),
                inlining: AtomicBool::new(false),
                blocks: Blocks::default(),
                before: AtomicPtr::default(),
            }),
        }
    }

    /// The queue in place of the deque, if it is this worker's own.
    pub(crate) fn own_queue(&self) -> Option<&alt_queue::Own> {
        self.alt_queue.as_ref()?.own()
    }

    /// Whether tasks wait there for a thief.
    pub(crate) fn offers(&self) -> bool {
        self.own_queue().is_some_and(alt_queue::Own::offers)
    }

    /// Whether tasks wait in the deque, public or not.
    pub(crate) fn has_work(&self) -> bool {
        self.deque.waiting() > 0
    }

    /// Whether a task of the scope lies at the base of this worker's stack.
    pub(crate) fn runs_task_of(&self, scope: &ScopeCore) -> bool {
        // Acquire pairs with the Release in `WorkerThread::enter_base`.
        std::ptr::eq(self.base_scope.load(Ordering::Acquire), scope)
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

    pub(crate) fn cpu_slot(&self) -> Option<usize> {
        self.cpu_slot.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Where it stands, or has stood last.
    pub(crate) fn last_cpu_slot(&self) -> Option<usize> {
        self.last_cpu_slot.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(crate) fn set_cpu_slot(&self, cpu_slot: Option<usize>) {
        let word = cpu_slot.map_or(0, |cpu_slot| cpu_slot + 1);
        self.cpu_slot.store(word, Ordering::Relaxed);
        if word > 0 {
            self.last_cpu_slot.store(word, Ordering::Relaxed);
        }
    }

    pub(crate) fn unpinned(&self) -> bool {
        self.unpinned.load(Ordering::Relaxed)
    }

    pub(crate) fn set_unpinned(&self, unpinned: bool) {
        self.unpinned.store(unpinned, Ordering::Relaxed);
    }

    pub(crate) fn home(&self) -> Option<usize> {
        self.home.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(crate) fn note_home(&self, home: Option<usize>) {
        let word = home.map_or(0, |home| home + 1);
        self.home.store(word, Ordering::Relaxed);
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

    pub(crate) fn has_exited(&self) -> bool {
        self.exited.load(Ordering::Relaxed)
    }

    pub(crate) fn set_exited(&self, exited: bool) {
        self.exited.store(exited, Ordering::Relaxed);
    }

    pub(crate) fn is_retiring(&self) -> bool {
        self.retiring.load(Ordering::Relaxed)
    }

    pub(crate) fn set_retiring(&self, retiring: bool) {
        self.retiring.store(retiring, Ordering::Relaxed);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    pub(crate) fn set_gone(&self, gone: bool) {
        self.gone.store(gone, Ordering::Relaxed);
    }

    pub(crate) fn set_rescue(&self) {
        self.rescue.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_rescue(&self) -> bool {
        self.rescue.load(Ordering::Relaxed)
    }

    pub(crate) fn take_rescue(&self) -> bool {
        self.is_rescue() && self.rescue.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn set_unprofitable_steal(&self) {
        self.unprofitable_steal.store(true, Ordering::Relaxed);
    }

    pub(crate) fn take_unprofitable_steal(&self) -> bool {
        self.unprofitable_steal.load(Ordering::Relaxed)
            && self.unprofitable_steal.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn is_preempted(&self) -> bool {
        self.preempted.load(Ordering::Relaxed)
    }

    /// Returns what it was.
    pub(crate) fn set_preempted(&self, preempted: bool) -> bool {
        self.preempted.swap(preempted, Ordering::Relaxed)
    }

    /// A thread that slept runs what needs no slot: it is never asked to stop, and takes none.
    pub(crate) fn set_needs_no_slot(&self) {
        self.set_unasked_until(Some(Nanos::MAX));
    }

    pub(crate) fn needs_no_slot(&self) -> bool {
        self.unasked_until() == Some(Nanos::MAX)
    }

    /// Until when this worker runs without a slot unasked, if it was let run without one; for ever, while it needs none.
    pub(crate) fn unasked_until(&self) -> Option<Nanos> {
        Some(self.unasked_until.load(Ordering::Relaxed)).filter(|until| *until > 0)
    }

    pub(crate) fn set_unasked_until(&self, until: Option<Nanos>) {
        self.unasked_until
            .store(until.unwrap_or(0), Ordering::Relaxed);
    }

    pub(crate) fn set_awaited(&self, awaited: Awaited<'_>) {
        let scope = awaited.scope().map_or(null(), std::ptr::from_ref);
        self.awaits_scope.store(scope.cast_mut(), Ordering::Relaxed);
        self.may_help.store(awaited.may_help(), Ordering::Relaxed);
        let queued = self.runs_queued(awaited);
        self.may_run_queued.store(queued, Ordering::Relaxed);
        let memory = matches!(awaited, Awaited::Memory(_));
        self.awaits_memory.store(memory, Ordering::Relaxed);
    }

    /// Whether the pool is a closed one.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed_threads > 0
    }

    /// Whether this worker, while it waits for that, may run whatever lies in the pool's queues.
    pub(crate) fn runs_queued(&self, awaited: Awaited<'_>) -> bool {
        self.is_closed() && matches!(awaited, Awaited::Outside(_))
    }

    pub(crate) fn awaits_memory(&self) -> bool {
        self.awaits_memory.load(Ordering::Relaxed)
    }

    pub(crate) fn may_run_queued(&self) -> bool {
        self.may_run_queued.load(Ordering::Relaxed)
    }

    pub(crate) fn may_help(&self) -> bool {
        self.may_help.load(Ordering::Relaxed)
    }

    pub(crate) fn awaits_a_scope(&self) -> bool {
        !self.awaits_scope.load(Ordering::Relaxed).is_null()
    }

    /// Whether this worker waits for the scope that the task is one of.
    pub(crate) fn awaits_task(&self, task: &Task) -> bool {
        let scope = self.awaits_scope.load(Ordering::Relaxed);
        task.scope().is_some_and(|own| std::ptr::eq(scope, own))
    }

    /// Whether this worker waits for the scope whose task lies at the base of `other`.
    pub(crate) fn awaits_scope_of(&self, other: &Self) -> bool {
        let scope = self.awaits_scope.load(Ordering::Relaxed);
        !scope.is_null() && scope == other.base_scope.load(Ordering::Relaxed)
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

/// Takes the oldest task out of another's deque.
pub(crate) fn steal_one(
    victim: &Worker,
    only: Option<tidegate_deque::split::Gen>,
) -> (tidegate_deque::Steal, Option<Task>) {
    let mut oldest = None;
    let got = steal_from(
        victim,
        |_| 1,
        only,
        |task| {
            task.count();
            oldest = Some(task);
        },
    );
    (got, oldest)
}
