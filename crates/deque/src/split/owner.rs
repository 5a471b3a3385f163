//! The owner's side of the protocol.

use super::{Gen, Public, Split};
use crate::queue::Full;
use crate::ring::CAPACITY;
use std::marker::PhantomData;
use std::ptr::NonNull;
use tidegate_sync::atomic::Ordering;
use tidegate_sync::thread::abort_child;
use tidegate_sync::{barrier, spin_loop, thread};

/// How often the owner checks for late readers before it yields its processor.
const SPINS: u32 = 100;

/// The value of `guard` in a closed deque. No position is as high.
const CLOSED: u64 = u64::MAX;

/// The owner's side of a deque. See [`Split::owner`].
pub struct Owner<'a, T> {
    deque: &'a Split<T>,
    /// Prevents the owner from moving to another thread.
    not_send: PhantomData<*mut ()>,
}

impl<T> Clone for Owner<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Owner<'_, T> {}

/// The result of a push that must go through the cold exit, with the task's position. Either
/// another thread has raised a signal, or the owner has used up the positions whose slots are known
/// to be free.
#[derive(Debug, PartialEq, Eq)]
pub struct Cold(pub u64);

impl<'a, T> Owner<'a, T> {
    #[inline(always)]
    pub(super) fn of(deque: &'a Split<T>) -> Self {
        Self {
            deque,
            not_send: PhantomData,
        }
    }

    /// Returns the position of the next push.
    #[inline(always)]
    #[must_use]
    pub fn bottom(self) -> u64 {
        // Relaxed: the owner reads its own stores.
        self.deque.owner.bot.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn set_bottom(self, bottom: u64) {
        // Release pairs with the exposing thief's Acquire: the thief sees the slots below.
        self.deque.owner.bot.store(bottom, Ordering::Release);
    }

    /// Pushes a task at the young end and returns its position.
    ///
    /// # Errors
    /// [`Cold`]: the task was pushed, but the caller must call [`answer`](Self::answer) and then
    /// [`confirm`](Self::confirm).
    #[inline(always)]
    pub fn push(self, task: NonNull<T>) -> Result<u64, Cold> {
        let bottom = self.bottom();
        self.deque.polled.ring.put(bottom, task);
        self.set_bottom(bottom + 1);
        // Pairs with the heavy barrier of a thread that raises a signal and then reads `bot`: that
        // thread sees this push, or we see its signal. If the limit were loaded before the store,
        // both could miss each other.
        barrier::light();
        // Relaxed: ordered by the pair of barriers.
        if bottom >= self.deque.polled.limit.load(Ordering::Relaxed) {
            return Err(Cold(bottom));
        }
        Ok(bottom)
    }

    /// Whether a signal was raised or the limit is near. Costs one load, so that a worker can poll
    /// without a push.
    #[inline(always)]
    #[must_use]
    pub fn is_signalled(self) -> bool {
        // Relaxed: as in `push`.
        self.bottom() >= self.deque.polled.limit.load(Ordering::Relaxed)
    }

    /// Clears and returns the raised signals, and opens the fast path again.
    #[must_use]
    pub fn answer(self) -> u32 {
        self.check_open();
        let limit = self.proven_limit();
        // AcqRel, and before the swap of `signal`: pairs with the swap in `raise`. If our swap
        // overwrites a raiser's 0, it has read that 0, so the swap of `signal` sees the raiser's
        // bits.
        self.deque.polled.limit.swap(limit, Ordering::AcqRel);
        // AcqRel pairs with `raise`.
        self.deque.polled.signal.swap(0, Ordering::AcqRel)
    }

    /// Keeps the fast path closed: each push then returns [`Cold`].
    pub fn shut(self) {
        // AcqRel, as in `answer`.
        self.deque.polled.limit.swap(0, Ordering::AcqRel);
    }

    /// Closes the deque in a child made by `fork`, whose parent has the tasks and the thieves: each
    /// push, each pop of a task and each answer to a signal then aborts the child. All signals are
    /// raised. Neither locks nor allocates.
    pub fn close(self) {
        // Relaxed: the child has no other thread yet.
        self.deque.polled.guard.store(CLOSED, Ordering::Relaxed);
        self.deque.raise(u32::MAX);
    }

    fn check_open(self) {
        // Relaxed: see `close`.
        if self.deque.polled.guard.load(Ordering::Relaxed) == CLOSED {
            abort_child(format_args!(
                "a child made by fork() needs the tasks of a pool of its parent"
            ));
        }
    }

    /// Completes a push that returned [`Cold`] and returns its position, unless the ring is full.
    ///
    /// # Errors
    /// [`Full`]: the ring is full, and the task was removed again.
    #[cold]
    pub fn confirm(self, position: u64) -> Result<u64, Full> {
        if position < self.proven_limit() {
            return Ok(position);
        }
        if self.pop_at(position) {
            return Err(Full);
        }
        // Thieves have emptied a full ring. The next push reuses the slot of `proven`, which its
        // thief may not have read yet.
        self.set_proven(self.wait_for_readers());
        Ok(position)
    }

    /// Returns the end of the positions that may be filled without another check: one ring's length
    /// above the last `top` for which thieves had read every stolen position, minus one, because a
    /// push stores before it reads the limit.
    fn proven_limit(self) -> u64 {
        if let Some(top) = self.top_if_all_read() {
            self.set_proven(top);
        }
        self.proven() + CAPACITY - 1
    }

    fn proven(self) -> u64 {
        // Relaxed: the owner's own word.
        self.deque.owner.proven.load(Ordering::Relaxed)
    }

    fn set_proven(self, position: u64) {
        // Relaxed: the owner's own word.
        self.deque.owner.proven.store(position, Ordering::Relaxed);
    }

    /// Waits until thieves have read every position that they have stolen. Returns `top` at that
    /// moment.
    ///
    /// The owner waits only for thieves between their compare-and-swap and their last load of a
    /// slot.
    fn wait_for_readers(self) -> u64 {
        let mut spins = 0;
        loop {
            if let Some(top) = self.top_if_all_read() {
                return top;
            }
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                // The thief may be waiting for this processor.
                thread::yield_now();
            }
        }
    }

    /// Returns `top` if thieves have read every stolen position below it.
    fn top_if_all_read(self) -> Option<u64> {
        // Acquire pairs with the Release of a thief after its reads. `read` is loaded before P, so
        // every theft that it counts is visible in P, and equal numbers mean that thieves have read
        // all stolen positions.
        let read = self.deque.thieves.read.load(Ordering::Acquire);
        // Acquire adds nothing: the first load already orders the two loads. The thefts need no
        // edge, because the owner does not access stolen tasks.
        let now = Public(self.deque.public.load(Ordering::Acquire));
        // The owner counts thefts each time, so that between two counts, thieves never move `top`
        // by more than a ring's length.
        self.note_thefts(now, now);
        (read == self.stolen()).then(|| now.top_near(self.bottom()))
    }

    /// Returns the number of stolen tasks that the owner has counted.
    fn stolen(self) -> u64 {
        // Relaxed: the owner's own word.
        self.deque.owner.stolen.load(Ordering::Relaxed)
    }

    /// Replaces P with the word that `next` computes from it. `next` also returns the new `guard`,
    /// which is written before the compare-and-swap.
    fn update(self, mut next: impl FnMut(Public) -> (Public, u64)) -> Public {
        let public = &*self.deque.public;
        let mut now = public.load(Ordering::Acquire);
        loop {
            let old = Public(now);
            let (new, guard) = next(old);
            self.set_guard(guard);
            // AcqRel: releases the slots to thieves (pairs with the Acquire load in `steal`) and
            // acquires the thieves' steals.
            match public.compare_exchange_weak(now, new.0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    self.note_thefts(old, new);
                    return old;
                }
                Err(seen) => now = seen,
            }
        }
    }

    fn set_guard(self, guard: u64) {
        // Relaxed: ordered against a thief by the compare-and-swap on P that follows, see
        // docs/deque.md. A swap, so that neither this write nor a late thief's `fetch_max` silently
        // overwrites the other.
        self.deque.polled.guard.swap(guard, Ordering::Relaxed);
    }

    /// Counts the thefts between the last count and `old`. The owner replaces `old` with `new`.
    fn note_thefts(self, old: Public, new: Public) {
        let words = &*self.deque.owner;
        // Relaxed, all: the owner's own words.
        let left = words.left_top.load(Ordering::Relaxed);
        let stolen = self.stolen() + old.top_above(left);
        words.stolen.store(stolen, Ordering::Relaxed);
        // Relaxed: as above.
        let left = new.top_near(self.bottom());
        words.left_top.store(left, Ordering::Relaxed);
    }

    /// Takes the task at `position`, which must be the youngest. Returns whether the owner got it.
    ///
    /// If the task was stolen, its position stays occupied until [`settle`](Self::settle).
    #[inline(always)]
    #[must_use]
    pub fn pop_at(self, position: u64) -> bool {
        self.pop_private(position) || self.pop_cold(position)
    }

    /// Like [`pop_at`](Self::pop_at), but if the task may be public, returns `false`. Then the
    /// caller must call [`pop_cold`](Self::pop_cold) before it does anything else with the deque.
    #[inline(always)]
    #[must_use]
    pub fn pop_private(self, position: u64) -> bool {
        debug_assert_eq!(self.bottom(), position + 1);
        self.set_bottom(position);
        // Pairs with the heavy barrier in `Split::force_expose`.
        barrier::light();
        // Relaxed: ordered by the pair of barriers.
        position >= self.deque.polled.guard.load(Ordering::Relaxed)
    }

    /// Completes a [`pop_private`](Self::pop_private) that returned `false`, like
    /// [`pop_at`](Self::pop_at).
    #[cold]
    #[must_use]
    pub fn pop_cold(self, position: u64) -> bool {
        debug_assert_eq!(self.bottom(), position);
        self.check_open();
        let mut mine = true;
        self.update(|now| {
            let split = now.split_near(position);
            let top = now.top_near(position);
            mine = position >= top;
            let takes_back = mine && position < split;
            let split = if takes_back && barrier::available() != Some(true) {
                // Without the barrier, no thief could expose tasks by force, so the tasks below
                // `position` stay public.
                position
            } else if takes_back {
                top + (position - top) / 2
            } else {
                split
            };
            (now.with_split(split), split)
        });
        if !mine {
            self.set_bottom(position + 1);
        }
        mine
    }

    /// Takes the youngest task at or above `base`. Returns `None` if there is no task, or if the
    /// youngest was stolen.
    #[inline]
    #[must_use]
    pub fn pop(self, base: u64) -> Option<NonNull<T>> {
        let bottom = self.bottom();
        if bottom <= base {
            return None;
        }
        let task = self.deque.polled.ring.get(bottom - 1);
        self.pop_at(bottom - 1).then_some(task)
    }

    /// Frees the position of a stolen task that has finished. That task must be the youngest.
    pub fn settle(self, position: u64) {
        debug_assert_eq!(self.bottom(), position + 1);
        self.empty_at(position);
    }

    /// Lowers the bottom to `base` after all tasks above `base` have been taken or stolen.
    ///
    /// Waits for thieves that have won a task above `base` but not read it yet.
    pub fn lower(self, base: u64) {
        self.wait_for_readers();
        debug_assert!(self.is_empty());
        // In several steps, because a thief that sees the new bottom with the old border must be
        // able to tell which position is higher.
        while self.bottom() > base {
            self.empty_at(base.max(self.bottom().saturating_sub(CAPACITY / 2)));
        }
    }

    /// Empties the deque at `position`. Stores `bot` before it moves the border: in the other
    /// order, a thief could mistake the gap for private tasks.
    fn empty_at(self, position: u64) {
        self.set_bottom(position);
        self.update(|now| (now.emptied_at(position), position));
        if self.proven() > position {
            // With the old limit, new pushes could overwrite filled slots. The next push recomputes
            // the limit.
            self.set_proven(position);
            self.shut();
        }
    }

    /// Makes the older half of the private tasks public, rounded up. Returns the number of public
    /// tasks.
    pub fn expose_half(self) -> u64 {
        self.expose(|private| private.div_ceil(2))
    }

    /// Makes all private tasks public. Returns the number of public tasks.
    pub fn expose_all(self) -> u64 {
        self.expose(|private| private)
    }

    fn expose(self, part: impl Fn(u64) -> u64) -> u64 {
        let bottom = self.bottom();
        let mut public = 0;
        self.update(|now| {
            let split = now.split_near(bottom);
            let split = split + part(bottom - split);
            let new = now.with_split(split);
            public = new.len();
            (new, split)
        });
        public
    }

    /// Starts a new generation, for a new task at the base of this worker's stack. Returns the
    /// generation, which this deque has not used before.
    pub fn next_generation(self) -> Gen {
        let given = &self.deque.owner.generations;
        // Relaxed, both: only the owner accesses this word.
        let next = given.load(Ordering::Relaxed) + 1;
        given.store(next, Ordering::Relaxed);
        let generation = Gen::from_bits(next as u32);
        self.set_generation(generation);
        generation
    }

    /// Restores an earlier generation, when its task is at the base of the stack again.
    pub fn set_generation(self, generation: Gen) {
        let bottom = self.bottom();
        self.update(|now| (now.with_generation(generation), now.split_near(bottom)));
    }

    /// Returns the generation of the task at the base of this worker's stack.
    #[must_use]
    pub fn generation(self) -> Gen {
        // Relaxed: only the owner changes it.
        Public(self.deque.public.load(Ordering::Relaxed)).generation()
    }

    /// Whether no task is left at or above `base`: all were taken or stolen.
    #[must_use]
    pub fn is_empty(self) -> bool {
        let bottom = self.bottom();
        // Relaxed: if the owner sees a theft too late, a pop fails.
        Public(self.deque.public.load(Ordering::Relaxed)).top_near(bottom) >= bottom
    }
}
