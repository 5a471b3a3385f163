//! The block-based queue. The owner and the thieves work on different blocks. So the owner needs
//! only plain loads and stores for a task, and synchronizes with the thieves once per block. See
//! `docs/queues.md`.

use crate::own::Own;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::ptr::NonNull;
use tidegate_sync::Line;
use tidegate_sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// Slots per block.
const LENGTH: u64 = if cfg!(any(loom, miri)) { 2 } else { 64 };
const BLOCKS: u64 = if cfg!(any(loom, miri)) { 4 } else { 64 };

/// A block-based queue, based on Wang and others, "BWoS: formally verified block-based work
/// stealing for parallel processing", OSDI 2023.
pub struct Blocks<T> {
    owner: Line<Young>,
    /// The oldest block in which a thief may find a task, as an [`Oldest`].
    oldest: Line<AtomicU64>,
    /// Set by a thief that found no task, so that the owner grants some.
    wanted: Line<AtomicBool>,
    blocks: Box<[Line<Block<T>>]>,
}

struct Young {
    /// The number of the block that the owner works on. Numbers go up and down; the low bits select
    /// the block in the ring.
    block: Own,
    /// The first slot of the owner's tasks in its block.
    start: Own,
    /// The slot after the owner's last task in its block.
    fill: Own,
}

struct Block<T> {
    slots: Box<[AtomicPtr<T>]>,
    /// The slots that are granted to thieves, as a [`Grant`].
    granted: AtomicU64,
    /// The total number of slots that thieves have read.
    read: AtomicU64,
    /// The total number of tasks that thieves had won before the current grant.
    won: Own,
    /// The first slot of the current grant.
    begin: Own,
}

/// The slots `next..end`, packed into a word. Thieves advance `next`.
#[derive(Clone, Copy)]
struct Grant(u64);

impl Grant {
    fn new(next: u64, end: u64) -> Self {
        Self(next << 32 | end)
    }

    fn next(self) -> u64 {
        self.0 >> 32
    }

    fn end(self) -> u64 {
        self.0 & 0xffff_ffff
    }

    fn is_empty(self) -> bool {
        self.next() == self.end()
    }
}

/// The number of the oldest block, packed into a word with a tag that differs after each grant.
#[derive(Clone, Copy)]
struct Oldest(u64);

impl Oldest {
    const TAG: u32 = 24;
    /// Block numbers stay below this limit.
    const BLOCKS: u64 = 1 << (u64::BITS - Self::TAG);

    fn block(self) -> u64 {
        self.0 >> Self::TAG
    }

    /// Returns the word with the next tag. The word's block is the older of `block` and the current
    /// block.
    fn granted(self, block: u64) -> Self {
        let tag = self.0.wrapping_add(1) & ((1 << Self::TAG) - 1);
        Self(self.block().min(block) << Self::TAG | tag)
    }

    fn passed(self) -> Self {
        Self(self.0 + (1 << Self::TAG))
    }
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self {
            owner: Line(Young {
                block: Own::default(),
                start: Own::default(),
                fill: Own::default(),
            }),
            oldest: Line(AtomicU64::new(0)),
            wanted: Line(AtomicBool::new(false)),
            blocks: (0..BLOCKS).map(|_| Line(Block::empty())).collect(),
        }
    }
}

impl<T> Blocks<T> {
    fn block(&self, number: u64) -> &Block<T> {
        &self.blocks[(number % BLOCKS) as usize]
    }

    /// Grants the tasks in the owner's block to thieves, and moves the owner to the next block.
    #[cold]
    fn grant(&self) -> Result<(), Full> {
        let young = &*self.owner;
        let (number, start, fill) = (young.block.get(), young.start.get(), young.fill.get());
        if !self.block(number + 1).is_free() || number + 1 == Oldest::BLOCKS {
            return Err(Full);
        }
        self.block(number).grant(start, fill);
        // Relaxed: the exchange below checks the value.
        let mut seen = self.oldest.load(Ordering::Relaxed);
        loop {
            let new = Oldest(seen).granted(number).0;
            // Release pairs with the Acquire in `steal`: a thief that sees this value sees the
            // grant.
            let exchanged =
                self.oldest
                    .compare_exchange_weak(seen, new, Ordering::Release, Ordering::Relaxed);
            match exchanged {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        young.block.publish(number + 1);
        young.start.set(0);
        young.fill.set(0);
        Ok(())
    }

    /// Moves the owner back to the previous block and takes back the tasks that thieves have left
    /// there. Returns whether the owner has moved.
    #[cold]
    fn take_over(&self) -> bool {
        let young = &*self.owner;
        let Some(number) = young.block.get().checked_sub(1) else {
            return false;
        };
        // Acquire pairs with the thieves' exchanges: the thieves have seen every block below this
        // one empty.
        let passed = Oldest(self.oldest.load(Ordering::Acquire)).block();
        if number < passed {
            return false;
        }
        let left = self.block(number).take_over();
        young.block.publish(number);
        young.start.set(left.next());
        young.fill.set(left.end());
        true
    }
}

impl<T> Block<T> {
    fn empty() -> Self {
        let null = |_| AtomicPtr::new(std::ptr::null_mut());
        Self {
            slots: (0..LENGTH).map(null).collect(),
            granted: AtomicU64::new(0),
            read: AtomicU64::new(0),
            won: Own::default(),
            begin: Own::default(),
        }
    }

    /// Whether the block holds no task and no thief is still reading a slot. Only for the owner.
    fn is_free(&self) -> bool {
        // Acquire pairs with the Release in `steal`: the slots have been read. `read` is loaded
        // before `granted`, so for each counted read, the grant shows the win.
        let read = self.read.load(Ordering::Acquire);
        // Relaxed: once the grant is empty, only the owner changes it.
        let granted = Grant(self.granted.load(Ordering::Relaxed));
        granted.is_empty() && read == self.won.get() + (granted.next() - self.begin.get())
    }

    fn grant(&self, start: u64, fill: u64) {
        // Relaxed: as in `is_free`.
        let settled = Grant(self.granted.load(Ordering::Relaxed));
        debug_assert!(settled.is_empty());
        self.won
            .set(self.won.get() + settled.next() - self.begin.get());
        self.begin.set(start);
        // Release pairs with the Acquire in `steal`: a thief that sees the grant sees the tasks in
        // the slots.
        self.granted
            .store(Grant::new(start, fill).0, Ordering::Release);
    }

    /// Takes back the tasks that thieves have not won.
    fn take_over(&self) -> Grant {
        // Relaxed: the exchange below checks the value.
        let mut seen = self.granted.load(Ordering::Relaxed);
        loop {
            let (next, end) = (Grant(seen).next(), Grant(seen).end());
            // Closes the grant at the slot that thieves have reached. Acquire: the thieves' wins
            // happen before our puts.
            let closed = Grant::new(next, next).0;
            let exchanged = self.granted.compare_exchange_weak(
                seen,
                closed,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return Grant::new(next, end),
                Err(now) => seen = now,
            }
        }
    }
}

impl<T> Sealed for Blocks<T> {}

impl<T> Queue<T> for Blocks<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let young = &*self.owner;
        if young.fill.get() == LENGTH {
            self.grant()?;
        }
        let fill = young.fill.get();
        let slot = &self.block(young.block.get()).slots[fill as usize];
        // Relaxed: the grant releases the slot.
        slot.store(task.as_ptr(), Ordering::Relaxed);
        young.fill.set(fill + 1);
        self.answer();
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let young = &*self.owner;
        while young.fill.get() == young.start.get() {
            if !self.take_over() {
                return None;
            }
        }
        let fill = young.fill.get() - 1;
        let slot = &self.block(young.block.get()).slots[fill as usize];
        // Relaxed: the owner's own store.
        let task = NonNull::new(slot.load(Ordering::Relaxed));
        young.fill.set(fill);
        self.answer();
        task
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        loop {
            // Acquire pairs with the Release of a grant and with other thieves' exchanges: a block
            // that another thief has found empty really was empty.
            let oldest = Oldest(self.oldest.load(Ordering::Acquire));
            if oldest.block() >= self.owner.block.acquire() {
                // Relaxed: a hint.
                self.wanted.store(true, Ordering::Relaxed);
                return Err(Miss::Empty);
            }
            let block = self.block(oldest.block());
            // Acquire pairs with the Release in `grant`.
            let seen = Grant(block.granted.load(Ordering::Acquire));
            if seen.is_empty() {
                // AcqRel: passes on to other thieves that the block is empty. If the owner has
                // granted it again meanwhile, the tag differs and the exchange fails.
                let _ = self.oldest.compare_exchange(
                    oldest.0,
                    oldest.passed().0,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
                continue;
            }
            let won = Grant::new(seen.next() + 1, seen.end());
            // AcqRel: the slot is read after the exchange, and earlier wins happen before ours.
            let exchanged =
                block
                    .granted
                    .compare_exchange(seen.0, won.0, Ordering::AcqRel, Ordering::Relaxed);
            if exchanged.is_err() {
                return Err(Miss::Lost);
            }
            // Relaxed: the load of the grant has acquired the slot.
            let task = block.slots[seen.next() as usize].load(Ordering::Relaxed);
            // Release pairs with the Acquire in `is_free`: the owner may fill the slot again.
            block.read.fetch_add(1, Ordering::Release);
            return NonNull::new(task).ok_or(Miss::Empty);
        }
    }

    fn offers(&self) -> bool {
        // Relaxed, both: a hint.
        let oldest = Oldest(self.oldest.load(Ordering::Relaxed)).block();
        let granted = |number| Grant(self.block(number).granted.load(Ordering::Relaxed));
        (oldest..self.owner.block.get()).any(|number| !granted(number).is_empty())
    }
}

impl<T> Blocks<T> {
    /// Grants the owner's tasks if a thief has found no task.
    fn answer(&self) {
        // Relaxed: a hint.
        if self.wanted.load(Ordering::Relaxed) && self.owner.fill.get() > self.owner.start.get() {
            // Cleared before the grant: a thief that finds nothing after the grant sets it again.
            self.wanted.store(false, Ordering::Relaxed);
            if self.grant().is_err() {
                // No block is free: the owner keeps its tasks and tries again at its next step.
                self.wanted.store(true, Ordering::Relaxed);
            }
        }
    }
}
