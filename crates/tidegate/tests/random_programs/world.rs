//! The state that a program's tasks share.

use crate::oracle::Ledger;
use crate::program::{Reservation, ReservationEnd, Spot};
use crate::support::book::{Book, Tracked};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tidegate::{PlaceId, Pool, TaskLocal, WorkerLocal, memory};

static CONTEXT: TaskLocal<(usize, Tracked)> = TaskLocal::new();

/// Returns the value that the running task sees.
pub fn context() -> Option<usize> {
    CONTEXT.with(|value| value.map(|(number, _)| *number))
}

/// The data that all of a program's tasks share.
#[derive(Clone)]
pub struct World {
    pub ledger: Arc<Ledger>,
    pub store: Arc<Store>,
    /// `None` in detached tasks: dropping a pool waits for its detached tasks, so they must not
    /// keep the pool alive.
    pub pools: Option<Arc<[Pool]>>,
}

/// The shared data that outlives the tasks.
pub struct Store {
    pub kept: Mutex<Vec<memory::Reservation>>,
    /// The total size of all forgotten reservations, in bytes.
    pub forgotten: AtomicUsize,
    /// The values that the program makes and the runtime must drop.
    pub book: Book,
    /// How often each worker's value was visited.
    pub local: WorkerLocal<Cell<usize>>,
    /// How often all workers' values were visited together.
    pub visits: AtomicUsize,
}

impl Store {
    pub fn new() -> Self {
        // While a worker creates its value, it may run other tasks that use the value.
        let init = || {
            tidegate::join(|| (), || ());
            Cell::new(0)
        };
        Self {
            kept: Mutex::default(),
            book: Book::new(),
            forgotten: AtomicUsize::new(0),
            local: WorkerLocal::new(init),
            visits: AtomicUsize::new(0),
        }
    }

    /// Calls `f` with this value of the task-local variable.
    pub fn in_context<R>(&self, number: usize, f: impl FnOnce() -> R) -> R {
        CONTEXT.scope((number, self.book.value()), f)
    }

    /// Makes a reservation. If it is to last until the end of the steps, adds it to `held`.
    pub fn reserve(&self, wanted: &Reservation, held: &mut Vec<memory::Reservation>) {
        let Ok(mut reservation) = memory::reserve(wanted.bytes) else {
            // The budget has too little memory left, so release a reservation.
            drop(held.pop());
            return;
        };
        // A budget may reject the growth. The reservation then keeps its size.
        let grow = |reservation: &mut memory::Reservation| _ = reservation.grow(wanted.grows_by);
        match wanted.end {
            ReservationEnd::Stays => {
                grow(&mut reservation);
                held.push(reservation);
            }
            ReservationEnd::Forgotten => {
                grow(&mut reservation);
                let forgotten = &self.forgotten;
                forgotten.fetch_add(reservation.bytes(), Ordering::Relaxed);
                std::mem::forget(reservation);
            }
            ReservationEnd::Kept => self.kept.lock().unwrap().push(reservation),
            ReservationEnd::OnForeignThread => {
                thread::scope(|other| _ = other.spawn(move || drop(reservation)))
            }
            ReservationEnd::InHalf => {
                let half = move || {
                    grow(&mut reservation);
                    drop(reservation);
                };
                tidegate::join(|| (), half);
            }
            ReservationEnd::InTask => {
                tidegate::scope(|scope| scope.spawn(move |_| drop(reservation)))
            }
        }
    }
}

impl Spot {
    pub fn of(self, places: &[PlaceId]) -> PlaceId {
        let place = places[self.place % places.len()];
        if self.strict { place.strict() } else { place }
    }
}
