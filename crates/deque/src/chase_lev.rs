//! The dynamic circular deque. `top` only grows, and a compare-and-swap on `top` decides which
//! thread wins a stolen task, or the last task of the deque. See `docs/queues.md`.

use crate::array::Arrays;
use crate::own::Own;
use crate::queue::{Cursor, Full, Miss, Queue, Sealed};
use std::ptr::NonNull;
use tidegate_sync::atomic::{AtomicU64, Ordering, fence};
use tidegate_sync::{Line, barrier};

/// The deque of Chase and Lev, "Dynamic circular work-stealing deque", SPAA 2005. The orderings are
/// those of Lê, Pop, Cohen and Zappa Nardelli, "Correct and efficient work-stealing for weak memory
/// models", PPoPP 2013.
pub struct ChaseLev<T> {
    top: Line<AtomicU64>,
    bottom: Line<Own>,
    arrays: Arrays<T>,
}

impl<T> Default for ChaseLev<T> {
    fn default() -> Self {
        Self {
            // Starts at 1 because the `bottom` of an empty deque goes below `top` for a moment.
            top: Line(AtomicU64::new(1)),
            bottom: Line(Own::new(1)),
            arrays: Arrays::new(),
        }
    }
}

impl<T> ChaseLev<T> {
    /// Tries to win the task at `top`. Returns whether the caller has won it.
    fn wins(&self, top: u64) -> bool {
        // SeqCst, as in the paper. Release: our read of the slot happens before its reuse, because
        // the owner acquires `top` before it reuses the slot. Relaxed on failure: nothing is read
        // after it.
        self.top
            .compare_exchange(top, top + 1, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    }

    /// Gives back memory that only the peak needed. The owner calls this when it finds the deque
    /// empty.
    #[cold]
    fn shrink(&self) {
        // Acquire: together with the load of `top` that found the deque empty, it pairs with the
        // Release in `wins`. So every thief has read its slot.
        fence(Ordering::Acquire);
        self.arrays.shrink();
    }
}

impl<T> Sealed for ChaseLev<T> {}

impl<T> Queue<T> for ChaseLev<T> {
    fn put(&self, task: NonNull<T>) -> Result<(), Full> {
        let bottom = self.bottom.get();
        // Acquire pairs with the Release in `wins`: thieves have read the slots below `top`.
        let top = self.top.load(Ordering::Acquire);
        let mut array = self.arrays.own();
        if bottom - top >= array.room() {
            array = self.arrays.grow(top, bottom).ok_or(Full)?;
        }
        array.set(bottom, task);
        self.bottom.publish(bottom + 1);
        Ok(())
    }

    fn take(&self) -> Option<NonNull<T>> {
        let bottom = self.bottom.get() - 1;
        let array = self.arrays.own();
        // Release, like every store of `bottom`: a thief that reads this value has acquired the
        // puts below it.
        self.bottom.publish(bottom);
        // Pairs with the fence in `steal`: the thief sees this `bottom`, or we see its `top`.
        barrier::full();
        // Relaxed: ordered by the fence.
        let top = self.top.load(Ordering::Relaxed);
        if top > bottom {
            self.bottom.publish(bottom + 1);
            self.shrink();
            return None;
        }
        let task = array.get(bottom);
        if top < bottom {
            return Some(task);
        }
        let won = self.wins(top);
        self.bottom.publish(bottom + 1);
        won.then_some(task)
    }

    fn steal(&self, _: &mut Cursor) -> Result<NonNull<T>, Miss> {
        // Acquire: the thefts that moved `top` to this position happen before ours.
        let top = self.top.load(Ordering::Acquire);
        // Pairs with the fence in `take`.
        barrier::full();
        if top >= self.bottom.acquire() {
            return Err(Miss::Empty);
        }
        let task = self.arrays.load().peek(top);
        task.if_won(self.wins(top))
    }

    fn offers(&self) -> bool {
        // Relaxed: a hint.
        self.bottom.get() > self.top.load(Ordering::Relaxed)
    }
}
