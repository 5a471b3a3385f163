//! Queues of values that are safe to use whatever comes out of the queue below, and how often.
//!
//! A value lies in a cell that outlives the queue's last look at it. The queue passes the cell on; whoever gets it must win it before he touches the
//! value, and only one can. A cell that comes out a second time is either empty by then or holds another value of the same queue, and then that
//! one is won: nothing is lost, because its own way out finds the cell empty in turn. The idea of claiming is that of Weibel's idempotent intervals
//! (2010, section 10.2.1).
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

/// Holds no value.
const EMPTY: u32 = 0;
/// Holds one for whoever wins it.
const READY: u32 = 1;
/// Somebody has won it.
const WON: u32 = 2;

/// Where a value lies; what the queue below holds.
pub struct Cell<T> {
    state: AtomicU32,
    /// Its number in the store.
    id: AtomicU32,
    /// The owner's while the cell is empty, the winner's while it is won, else nobody's.
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is reached by one thread at a time, see `value`, and goes from one to another, for which `T: Send` is needed.
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

struct Inner<Q, T> {
    queue: Q,
    cells: Store<Cell<T>>,
}

/// The owner's end. There is one for each queue.
pub struct Owner<Q, T>(Arc<Inner<Q, T>>);

/// The thieves' end.
pub struct Thieves<Q, T>(Arc<Inner<Q, T>>);

impl<Q, T> Clone for Thieves<Q, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// An empty queue.
#[must_use]
pub fn queue<Q: Queue<Cell<T>> + Default, T: Send>() -> (Owner<Q, T>, Thieves<Q, T>) {
    let inner = Arc::new(Inner {
        queue: Q::default(),
        cells: Store::default(),
    });
    (Owner(inner.clone()), Thieves(inner))
}

impl<Q: Queue<Cell<T>>, T: Send> Owner<Q, T> {
    /// Puts a value in.
    ///
    /// # Errors
    /// There is no room; this is the value.
    pub fn put(&mut self, value: T) -> Result<(), T> {
        let Inner { queue, cells } = &*self.0;
        let Some(id) = cells.get() else {
            return Err(value);
        };
        let cell = cells.at(id);
        cell.fill(id, value);
        match queue.put(NonNull::from(cell)) {
            Ok(()) => Ok(()),
            // Whoever has won it by an older way out has done what the put was for.
            Err(_) => cell.win().map_or(Ok(()), |value| {
                cells.keep(id);
                Err(value)
            }),
        }
    }

    /// Takes a value out.
    pub fn take(&mut self) -> Option<T> {
        loop {
            let cell = self.0.queue.take()?;
            if let Some(value) = self.0.win(cell) {
                return Some(value);
            }
        }
    }
}

impl<Q: Queue<Cell<T>>, T: Send> Thieves<Q, T> {
    /// Tries once to take a value out; `cursor` is what this thief remembers of this queue.
    ///
    /// # Errors
    /// Why there was none.
    pub fn steal(&self, cursor: &mut Cursor) -> Result<T, Miss> {
        let cell = self.0.queue.steal(cursor)?;
        self.0.win(cell).ok_or(Miss::Lost)
    }

    /// As [`Queue::offers`]; what is offered may turn out to have been won by another.
    #[must_use]
    pub fn offers(&self) -> bool {
        self.0.queue.offers()
    }
}

impl<Q, T> Inner<Q, T> {
    /// The value of a cell that came out of the queue, if it is the caller's.
    fn win(&self, cell: NonNull<Cell<T>>) -> Option<T> {
        // SAFETY: it came out of the queue, into which `put` alone puts cells, those of the store, which lasts as long as `self`; the
        // cell was made before the put, which happens before this (`Queue`); and nobody has a reference to a cell that is not shared.
        let cell = unsafe { cell.as_ref() };
        let value = cell.win()?;
        // Relaxed: written before the cell was ready.
        self.cells.give_back(cell.id.load(Ordering::Relaxed) as Id);
        Some(value)
    }
}

impl<T> Cell<T> {
    fn fill(&self, id: Id, value: T) {
        // Relaxed: released below.
        self.id.store(id, Ordering::Relaxed);
        // SAFETY: the cell is empty and out of the store, so nobody wins it before the store below.
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
        // SAFETY: only one can have changed the state from ready to won, and until it is empty, below, nobody else comes here.
        let value = self.value.with_mut(|place| unsafe { place.replace(None) });
        // Relaxed: the way back into the store releases what was done here; an exchange that comes too early fails.
        self.state.store(EMPTY, Ordering::Relaxed);
        value
    }
}
