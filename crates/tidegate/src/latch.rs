//! Latches: how the end of one task is told to the one who waits for it.
//!
//! A [`Latch`] is one word in a task's header (or in a scope). States of the word and who may change it:
//!
//! | state | meaning | changed by |
//! |---|---|---|
//! | `New` | not stolen, or the thief has not said so yet | thief -> Taken, joiner -> Asleep, runner -> Open |
//! | `Kept(worker)` | it lies unstarted in that thief's deque, stolen in one batch with younger tasks | a second thief -> Taken, joiner -> Asleep, runner -> Open |
//! | `Taken(worker, gen)` | a thief runs it; with `gen` the joiner may rob that worker while its generation lasts | joiner -> Asleep, runner -> Open |
//! | `Asleep(joiner)` | the joiner gave its slot up | joiner -> what it was, runner -> Open |
//! | `Open` | finished; the result is written | nobody |
//! | `Scoped`, `Detached` | the header of a spawned task, which nobody joins by latch | nobody |
//!
//! `open` is one swap and the last touch of the frame that the latch lies in: whom to wake is in the old word.
//! An [`Event`] serves waiters that are not workers of the runner's pool. The waiting itself is in [`crate::wait`].

use crate::pool::Shared;
use crate::worker::Current;
use std::cell::OnceCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use tidegate_deque::split::Gen;
use tidegate_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tidegate_sync::park::Parker;
use tidegate_sync::{thread, worker_local};

const KIND_BITS: u32 = 3;
const WORKER_BITS: u32 = 16;
const NEW: u64 = 0;
const TAKEN: u64 = 1;
const ASLEEP: u64 = 2;
const OPEN: u64 = 3;
const SCOPED: u64 = 4;
const DETACHED: u64 = 5;
const KEPT: u64 = 6;

/// The highest number of workers that a latch can name.
pub(crate) const MAX_WORKERS: usize = 1 << WORKER_BITS;

/// Who has a task, and the generation under which its descendants may be robbed there; without one they may not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Thief {
    pub(crate) worker: usize,
    pub(crate) generation: Option<Gen>,
    /// The task runs on top of a wait: the generation names something older, and outlives the task.
    pub(crate) on_top: bool,
}

/// A thief packed above the kind bits: worker, then two flags, then the generation.
impl Thief {
    /// One of whom nothing but the number is known.
    pub(crate) fn unnamed(worker: usize) -> Self {
        Self {
            worker,
            generation: None,
            on_top: false,
        }
    }

    pub(crate) fn pack(self) -> u64 {
        let generation = self.generation.map_or(0, |g| 1 | u64::from(g.bits()) << 2);
        let flags = generation | u64::from(self.on_top) << 1;
        (flags << WORKER_BITS | self.worker as u64) << KIND_BITS
    }

    pub(crate) fn unpack(word: u64) -> Self {
        let worker = (word >> KIND_BITS) as usize & (MAX_WORKERS - 1);
        let flags = word >> (KIND_BITS + WORKER_BITS);
        let gen_bits = (flags >> 2) as u32;
        Self {
            worker,
            generation: (flags & 1 == 1).then(|| Gen::from_bits(gen_bits)),
            on_top: flags & 2 == 2,
        }
    }
}

const _: () = assert!(KIND_BITS + WORKER_BITS + 2 + Gen::BITS <= 64);

/// What a latch says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    New,
    Kept(usize),
    Taken(Thief),
    Asleep(usize),
    Open,
    Spawned,
}

fn decode(word: u64) -> State {
    match word & ((1 << KIND_BITS) - 1) {
        NEW => State::New,
        KEPT => State::Kept(Thief::unpack(word).worker),
        TAKEN => State::Taken(Thief::unpack(word)),
        ASLEEP => State::Asleep(Thief::unpack(word).worker),
        OPEN => State::Open,
        _ => State::Spawned,
    }
}

/// The latch word; see the module.
pub(crate) struct Latch(AtomicU64);

impl Latch {
    #[inline(always)]
    pub(crate) fn for_half() -> Self {
        Self(AtomicU64::new(NEW))
    }

    pub(crate) fn for_scoped() -> Self {
        Self(AtomicU64::new(SCOPED))
    }

    pub(crate) fn detached() -> Self {
        Self(AtomicU64::new(DETACHED))
    }

    pub(crate) fn is_scoped(&self) -> bool {
        // Relaxed: never changes in a task of this kind.
        self.0.load(Ordering::Relaxed) == SCOPED
    }

    pub(crate) fn is_half(&self) -> bool {
        // Relaxed: a half never turns into a spawned task or back.
        decode(self.0.load(Ordering::Relaxed)) != State::Spawned
    }

    pub(crate) fn state(&self) -> State {
        // Acquire pairs with `open`: the result is visible.
        decode(self.0.load(Ordering::Acquire))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state() == State::Open
    }

    /// A thief says that it runs the task, unless the joiner sleeps already and does not care.
    pub(crate) fn set_thief(&self, thief: Thief) {
        self.set_taker(TAKEN | thief.pack());
    }

    /// A thief says that it keeps the task in its deque for later.
    pub(crate) fn set_keeper(&self, worker: usize) {
        self.set_taker(KEPT | Thief::unnamed(worker).pack());
    }

    fn set_taker(&self, word: u64) {
        let _ = self.change(|state| match state {
            State::New | State::Kept(_) | State::Taken(_) => Some(word),
            State::Asleep(_) | State::Open | State::Spawned => None,
        });
    }

    /// The joiner is about to sleep: what the latch said, unless it is open already.
    pub(crate) fn fall_asleep(&self, joiner: usize) -> Option<Shut> {
        let word = ASLEEP | Thief::unnamed(joiner).pack();
        self.change(|state| (state != State::Open).then_some(word))
            .map(Shut)
    }

    /// The joiner has stopped sleeping although the latch may be shut: it says again what it said before.
    pub(crate) fn get_up(&self, before: Shut) {
        let _ = self.change(|state| matches!(state, State::Asleep(_)).then_some(before.0));
    }

    /// Returns the word that was replaced.
    fn change(&self, next: impl Fn(State) -> Option<u64>) -> Option<u64> {
        // AcqRel on success: a joiner that reads `Open` here acquires the result, and what a thief wrote before
        // `set_thief` is visible to the joiner; Acquire on failure for the same reason.
        self.0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                next(decode(word))
            })
            .ok()
    }

    /// Opens the latch and wakes the joiner if it sleeps.
    ///
    /// # Safety
    /// 1. `this` is live until it is opened. 2. The joiner, if asleep, is a worker of `current`'s pool.
    pub(crate) unsafe fn open(this: NonNull<Self>, current: Current<'_>) {
        // SAFETY: live up to and including the swap (1); nothing behind it touches the latch.
        let word = unsafe { &this.as_ref().0 };
        // AcqRel: releases the result to the joiner's Acquire; acquires nothing but the joiner's number.
        let before = word.swap(OPEN, Ordering::AcqRel);
        if cfg!(tidegate_fault = "latch-touched-after-swap") {
            // Long enough for the joiner to leave its frame.
            thread::sleep(20_000_000);
            // Relaxed: a fault.
            word.load(Ordering::Relaxed);
        }
        if let State::Asleep(joiner) = decode(before) {
            current.latch_opened(joiner);
        }
    }
}

/// What a latch said when its joiner fell asleep.
#[derive(Clone, Copy)]
pub(crate) struct Shut(u64);

impl Shut {
    pub(crate) fn state(self) -> State {
        decode(self.0)
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().fmt(f)
    }
}

/// Who waits for an [`Event`].
enum Waiter {
    /// A thread of no pool.
    Thread(Arc<Parker>),
    /// A worker, of the runner's pool or of another.
    Worker(Arc<Shared>, usize),
}

worker_local!(
    /// For a thread of no pool that waits for one; made when it first does.
    static PARKER: OnceCell<Arc<Parker>> = OnceCell::new()
);

/// The calling thread's parker; a fresh one while the thread's own values are being destroyed.
fn parker() -> Arc<Parker> {
    let own = PARKER.try_with(|cell| cell.get_or_init(Arc::default).clone());
    own.unwrap_or_default()
}

/// A latch for a waiter outside the runner's pool, or for one that waits for a task by handle.
pub(crate) struct Event {
    open: AtomicBool,
    waiter: Arc<Waiter>,
}

impl Event {
    /// An event that the calling thread will wait for.
    pub(crate) fn for_this_thread() -> Self {
        let waiter = match Current::get() {
            Some(current) => Waiter::Worker(current.shared().as_arc(), current.index),
            None => Waiter::Thread(parker()),
        };
        Self {
            open: AtomicBool::new(false),
            waiter: Arc::new(waiter),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        // Acquire pairs with `open`.
        self.open.load(Ordering::Acquire)
    }

    /// Waits on the thread for which the event was made, which was of no pool.
    pub(crate) fn park_thread(&self) {
        let Waiter::Thread(parker) = &*self.waiter else {
            unreachable!("made on a thread of no pool");
        };
        while !self.is_open() {
            parker.park();
        }
    }

    /// Opens an event that whoever opens it keeps alive.
    pub(crate) fn open_kept(self: &Arc<Self>) {
        // SAFETY: 1. the caller's reference counts.
        unsafe { Self::open(NonNull::from(&**self)) };
    }

    /// Opens the event and wakes the waiter.
    ///
    /// # Safety
    /// 1. `this` is live until it is opened.
    pub(crate) unsafe fn open(this: NonNull<Self>) {
        // Kept alive beyond the store, which is the last touch of the frame that the event lies in.
        // SAFETY: live (1).
        let waiter = unsafe { this.as_ref() }.waiter.clone();
        // No reference to the whole event lasts beyond the store.
        // SAFETY: live (1).
        let open = unsafe { &this.as_ref().open };
        // Release pairs with `is_open`.
        open.store(true, Ordering::Release);
        match (&*waiter, Current::get()) {
            (Waiter::Thread(parker), _) => {
                parker.unpark();
            }
            (Waiter::Worker(pool, worker), Some(current))
                if std::ptr::eq(current.shared(), &**pool) =>
            {
                current.latch_opened(*worker);
            }
            (Waiter::Worker(pool, worker), _) => {
                pool.latch_opened(*worker, None);
            }
        }
    }
}
