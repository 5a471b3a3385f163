//! Latches: how the end of a task reaches the worker that waits for it.
//!
//! A [`Latch`] is one word in the header of a half (or in a scope). The states of the word, and the
//! threads that may change it:
//!
//! - `New`: not stolen, or the thief has not recorded the theft yet. A thief changes it to `Kept`,
//!   `Taken` or `Queued`, and the runner to `Open`.
//! - `Kept(worker)`: that worker has the task but has not started it. It stole the task in one
//!   batch with younger tasks, or keeps the task in its alternative queue
//!   ([`crate::sources::alt_queue`]). The next taker changes it to `Kept`, `Taken` or `Queued`, and
//!   the runner to `Open`.
//! - `Queued`: the task waits in the pool's queue and has not started. The next taker changes it to
//!   `Taken`, and the runner to `Open`.
//! - `Taken(worker, gen)`: a thief runs the task. With `gen`, the joiner may rob that worker while
//!   the worker's generation is `gen`. The runner changes it to `Open`.
//! - `Open`: the task has finished and its result is written. Final.
//!
//! In the first four states, the word also contains the joiner's number and whether the joiner
//! sleeps; only the joiner changes these bits.
//!
//! `open` is a single swap, which is the last access to the frame that contains the latch; the old
//! word names the worker to wake. A waiter that is not a worker of the runner's pool uses an
//! `Event` instead (worker/event.rs). The waiting itself is in worker/wait.rs.

use std::fmt;
use std::ptr::NonNull;
use tidegate_deque::split::Gen;
use tidegate_sync::atomic::{AtomicU64, Ordering};

/// The layout of a latch word. The low end contains the state, whether the joiner sleeps, and the
/// joiner's number; the high end contains the taker.
const STATE_BITS: u32 = 3;
const SLEEPS: u64 = 1 << STATE_BITS;
const WORKER_BITS: u32 = 15;
const JOINER_AT: u32 = STATE_BITS + 1;
const TAKER_AT: u32 = u64::BITS - Thief::BITS;
const SLEEPER: u64 = (1 << TAKER_AT) - (1 << STATE_BITS);

const NEW: u64 = 0;
const KEPT: u64 = 1;
const QUEUED: u64 = 2;
const TAKEN: u64 = 3;
const OPEN: u64 = 4;

/// The largest number of workers that a latch can distinguish.
pub(crate) const MAX_WORKERS: usize = 1 << WORKER_BITS;

/// The worker that has taken a task, and the generation during which that worker may be robbed of
/// the task's descendants. Without a generation, the worker may not be robbed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Thief {
    pub(crate) worker: usize,
    pub(crate) generation: Option<Gen>,
    /// Whether the task runs on top of a wait. If so, the generation belongs to an older task, and
    /// outlives this task.
    pub(crate) on_top: bool,
}

/// A thief is packed, from the low end, as the worker's number, two flags and the generation.
impl Thief {
    const BITS: u32 = WORKER_BITS + 2 + Gen::BITS;

    /// Creates a thief whose generation is unknown, so it cannot be robbed.
    pub(crate) fn unnamed(worker: usize) -> Self {
        Self {
            worker,
            generation: None,
            on_top: false,
        }
    }

    /// Returns the worker to rob after `hop` hops, and its generation.
    ///
    /// A task that runs on top of a wait may be followed by another task under the same generation.
    /// At the first hop, the robber's own latch shows that this has not happened; at later hops,
    /// nothing shows it. So a thief whose task runs on top of a wait can be robbed only at the
    /// first hop.
    pub(crate) fn robbable(self, hop: usize) -> Option<(usize, Gen)> {
        let generation = self.generation.filter(|_| hop == 0 || !self.on_top);
        generation.map(|generation| (self.worker, generation))
    }

    pub(crate) fn pack(self) -> u64 {
        let generation = self.generation.map_or(0, |g| 1 | u64::from(g.bits()) << 2);
        let flags = generation | u64::from(self.on_top) << 1;
        flags << WORKER_BITS | self.worker as u64
    }

    pub(crate) fn unpack(bits: u64) -> Self {
        let flags = bits >> WORKER_BITS;
        let gen_bits = (flags >> 2) as u32;
        Self {
            worker: bits as usize & (MAX_WORKERS - 1),
            generation: (flags & 1 == 1).then(|| Gen::from_bits(gen_bits)),
            on_top: flags & 2 == 2,
        }
    }
}

const _: () = assert!(JOINER_AT + WORKER_BITS <= TAKER_AT);

/// The decoded state of a latch word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    New,
    Kept(usize),
    Queued,
    Taken(Thief),
    Open,
}

fn decode(word: u64) -> State {
    let taker = Thief::unpack(word >> TAKER_AT);
    match word & (SLEEPS - 1) {
        NEW => State::New,
        KEPT => State::Kept(taker.worker),
        QUEUED => State::Queued,
        TAKEN => State::Taken(taker),
        _ => State::Open,
    }
}

/// Returns the joiner if it sleeps.
fn sleeper(word: u64) -> Option<usize> {
    let joiner = (word >> JOINER_AT) as usize & (MAX_WORKERS - 1);
    (word & SLEEPS != 0).then_some(joiner)
}

/// A latch; the module describes the states of its word.
pub(crate) struct Latch(AtomicU64);

impl Latch {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(NEW))
    }

    pub(crate) fn state(&self) -> State {
        // Acquire pairs with the swap in `open`: the result is visible.
        decode(self.0.load(Ordering::Acquire))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state() == State::Open
    }

    /// Records that `thief` runs the task. Returns the joiner if it sleeps, because it may now rob
    /// this thief.
    pub(crate) fn set_thief(&self, thief: Thief) -> Option<usize> {
        self.set_taker(TAKEN | thief.pack() << TAKER_AT)
    }

    /// Records that `worker` keeps the task for later. Returns the joiner if it sleeps, because it
    /// may now take the task back.
    pub(crate) fn set_keeper(&self, worker: usize) -> Option<usize> {
        self.set_taker(KEPT | Thief::unnamed(worker).pack() << TAKER_AT)
    }

    /// Records that the task waits in the pool's queue. Returns the joiner if it sleeps, because it
    /// may now take the task from there.
    pub(crate) fn set_queued(&self) -> Option<usize> {
        self.set_taker(QUEUED)
    }

    fn set_taker(&self, taker: u64) -> Option<usize> {
        self.change(|word| taker | word & SLEEPER).and_then(sleeper)
    }

    /// Records that the joiner is about to sleep. Returns `false` if the latch is open.
    #[must_use]
    pub(crate) fn fall_asleep(&self, joiner: usize) -> bool {
        self.change(|word| word & !SLEEPER | SLEEPS | (joiner as u64) << JOINER_AT)
            .is_some()
    }

    /// Records that the joiner has stopped sleeping, although the latch may still be closed.
    pub(crate) fn get_up(&self) {
        let _ = self.change(|word| word & !SLEEPER);
    }

    /// Changes the word unless the latch is open. Returns the replaced word.
    fn change(&self, next: impl Fn(u64) -> u64) -> Option<u64> {
        // AcqRel on success: a joiner that reads `Open` here acquires the result, and what a thief
        // wrote before `set_thief` is visible to the joiner. Acquire on failure for the same
        // reason.
        self.0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                (decode(word) != State::Open).then(|| next(word))
            })
            .ok()
    }

    /// Opens the latch. Returns the joiner if it sleeps: the caller must wake it.
    ///
    /// # Safety
    /// 1. `this` is live until it is opened.
    /// 2. Everything that the waiter reads after it has seen the latch open is already written.
    #[must_use]
    pub(crate) unsafe fn open(this: NonNull<Self>) -> Option<usize> {
        // SAFETY: live up to and including the swap (1); nothing after it touches the latch.
        let word = unsafe { &this.as_ref().0 };
        // AcqRel: releases the result to the joiner's Acquire; acquires only the joiner's number.
        sleeper(word.swap(OPEN, Ordering::AcqRel))
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state().fmt(f)
    }
}
