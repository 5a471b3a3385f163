//! Queues of values that are safe to use with any [`Queue`], even if a task comes out more than
//! once.
//!
//! Each value is in a cell, which outlives the queue's last use of it. The queue holds pointers to
//! cells. A thread that gets a cell must win it before it touches the value, and only one thread
//! can win. If a cell comes out a second time, it is either empty or holds a newer value of the
//! same queue, and then the thread wins that value. No value is lost: when the newer value's own
//! pointer comes out, its cell is empty. The idea of claiming comes from Weibel's idempotent
//! intervals (2010, section 10.2.1).
//!
//! ```
//! use tidegate_deque::{Cursor, Multiplicity, claim};
//!
//! let (mut owner, thieves) = claim::queue::<Multiplicity<_>, String>();
//! owner.put("one".into()).unwrap();
//! let stolen = std::thread::spawn(move || thieves.steal(&mut Cursor::default()).ok());
//! let taken = owner.take();
//! assert!(taken.is_some() != stolen.join().unwrap().is_some());
//! ```

use crate::queue::{Cursor, Miss, Queue};
use crate::store::{Id, Store};
use std::ptr::NonNull;
use tidegate_sync::atomic::{AtomicU32, Ordering};
use tidegate_sync::{Arc, UnsafeCell};

/// The cell holds no value.
const EMPTY: u32 = 0;
/// The cell holds a value that any thread may win.
const READY: u32 = 1;
/// A thread has won the value and is taking it out.
const WON: u32 = 2;

/// A cell for one value.
pub struct Cell<T> {
    state: AtomicU32,
    /// The cell's number in the store.
    id: AtomicU32,
    /// Only the owner may access it while the cell is empty, and only the winner while the cell is
    /// won. While the cell is ready, no thread may access it.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: only one thread at a time accesses the value (see `value`). The value moves between
// threads, which requires `T: Send`.
unsafe impl<T: Send> Sync for Cell<T> {}

impl<T> Default for Cell<T> {
    fn default() -> Self {
        Self {
            state: AtomicU32::new(EMPTY),
            id: AtomicU32::new(0),
            value: UnsafeCell::new(None),
        }
    }
}

struct Inner<T> {
    queue: Box<dyn Queue<Cell<T>>>,
    cells: Store<Cell<T>>,
}

/// The owner's end; each queue has exactly one.
pub struct Owner<T>(Arc<Inner<T>>);

/// The thieves' end. Each thief has its own clone.
pub struct Thieves<T>(Arc<Inner<T>>);

impl<T> Clone for Thieves<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Creates an empty queue.
#[must_use]
pub fn queue<Q: Queue<Cell<T>> + Default + 'static, T: Send>() -> (Owner<T>, Thieves<T>) {
    through(Box::new(Q::default()))
}

fn through<T>(queue: Box<dyn Queue<Cell<T>>>) -> (Owner<T>, Thieves<T>) {
    let cells = Store::default();
    let inner = Arc::new(Inner { queue, cells });
    (Owner(inner.clone()), Thieves(inner))
}

impl<T: Send> Owner<T> {
    /// Puts a value in.
    ///
    /// # Errors
    /// Returns the value if the queue is full.
    pub fn put(&mut self, value: T) -> Result<(), T> {
        let Inner { queue, cells } = &*self.0;
        let Some(id) = cells.get() else {
            return Err(value);
        };
        let cell = cells.at(id);
        cell.fill(id, value);
        match queue.put(NonNull::from(cell)) {
            Ok(()) => Ok(()),
            // If another thread wins the cell through an older pointer to it, that thread has the
            // value, so the put has succeeded.
            Err(_) => cell.win().map_or(Ok(()), |value| {
                cells.keep(id);
                Err(value)
            }),
        }
    }

    /// Takes a value out. Returns `None` if the owner finds no value that it can win.
    pub fn take(&mut self) -> Option<T> {
        loop {
            let cell = self.0.queue.take()?;
            if let Some(value) = self.0.win(cell) {
                return Some(value);
            }
        }
    }
}

impl<T: Send> Thieves<T> {
    /// Tries once to take a value out. `cursor` holds what this thief remembers of this queue.
    ///
    /// # Errors
    /// Returns the reason if the thief got no value.
    pub fn steal(&self, cursor: &mut Cursor) -> Result<T, Miss> {
        let cell = self.0.queue.steal(cursor)?;
        self.0.win(cell).ok_or(Miss::Lost)
    }

    /// Like [`Queue::offers`], but another thread may already have won the value of the cell that
    /// the queue offers.
    #[must_use]
    pub fn offers(&self) -> bool {
        self.0.queue.offers()
    }
}

impl<T> Inner<T> {
    /// Tries to win a cell that came out of the queue. Returns its value if the caller has won.
    fn win(&self, cell: NonNull<Cell<T>>) -> Option<T> {
        // SAFETY: the cell came out of the queue, and only `put` puts cells in. The cells belong to
        // the store, which lives as long as `self`. The cell was created before the put, which
        // happens before this (`Queue`). All references to cells are shared references.
        let cell = unsafe { cell.as_ref() };
        let value = cell.win()?;
        // Relaxed: the id was written before the cell became ready, and the win has acquired that.
        self.cells.give_back(cell.id.load(Ordering::Relaxed) as Id);
        Some(value)
    }
}

impl<T> Cell<T> {
    fn fill(&self, id: Id, value: T) {
        // Relaxed: the store of `state` below releases the id.
        self.id.store(id, Ordering::Relaxed);
        // SAFETY: the cell is empty and not in the store's list, so no thread wins it before the
        // store of `state` below.
        let before = self
            .value
            .with_mut(|place| unsafe { place.replace(Some(value)) });
        debug_assert!(before.is_none());
        // Release pairs with the Acquire in `win`.
        self.state.store(READY, Ordering::Release);
    }

    fn win(&self) -> Option<T> {
        // Acquire pairs with the Release in `fill`.
        let won = self
            .state
            .compare_exchange(READY, WON, Ordering::Acquire, Ordering::Relaxed);
        won.ok()?;
        // SAFETY: only one thread can have changed the state from ready to won, and no other thread
        // gets here until it is empty, below.
        let value = self.value.with_mut(|place| unsafe { place.replace(None) });
        // Relaxed: giving the cell back to the store releases this. A thread that tries to win the
        // cell too early fails.
        self.state.store(EMPTY, Ordering::Relaxed);
        value
    }
}
