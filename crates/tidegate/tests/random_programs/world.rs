//! The state that the tasks of a program share.

use crate::oracle::Ledger;
use crate::program::{Reservation, ReservationEnd, Spot};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tidegate::{PlaceId, Pool, WorkerLocal, memory};

/// The data that all tasks of a program have in common.
#[derive(Clone)]
pub struct World {
    pub ledger: Arc<Ledger>,
    pub store: Arc<Store>,
    /// `None` in detached tasks: dropping a pool waits for them, so they must not keep it alive.
    pub pools: Option<Arc<[Pool]>>,
}

/// The data that outlives the tasks.
pub struct Store {
    pub kept: Mutex<Vec<memory::Reservation>>,
    /// The number of bytes in forgotten reservations.
    pub forgotten: AtomicUsize,
    /// The number of visits of each worker, and of all of them.
    pub local: WorkerLocal<Cell<usize>>,
    pub visits: AtomicUsize,
}

impl Store {
    pub fn new() -> Self {
        // While the value is being made, the worker may run other tasks that use it.
        let init = || {
            tidegate::join(|| (), || ());
            Cell::new(0)
        };
        Self {
            kept: Mutex::default(),
            forgotten: AtomicUsize::new(0),
            local: WorkerLocal::new(init),
            visits: AtomicUsize::new(0),
        }
    }

    /// Reserves memory. A reservation that stays is added to the end of `held`.
    pub fn reserve(&self, wanted: &Reservation, held: &mut Vec<memory::Reservation>) {
        let Ok(mut reservation) = memory::reserve(wanted.bytes) else {
            // There is no room: make some.
            drop(held.pop());
            return;
        };
        // A budget may refuse this; then the reservation stays as it was.
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
