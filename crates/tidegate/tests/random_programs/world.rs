//! What the tasks of a program share.

use crate::oracle::Ledger;
use crate::program::{Lease, LeaseEnd, Spot};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tidegate::{PlaceId, Pool, WorkerLocal, space};

/// What all tasks of a program have in common.
#[derive(Clone)]
pub struct World {
    pub ledger: Arc<Ledger>,
    pub store: Arc<Store>,
    /// None in detached tasks: dropping a pool waits for them, so they must not keep it alive.
    pub pools: Option<Arc<[Pool]>>,
}

/// What outlives the tasks.
pub struct Store {
    pub kept: Mutex<Vec<space::Lease>>,
    /// The number of bytes in forgotten leases.
    pub forgotten: AtomicUsize,
    /// The number of visits of each worker, and of all of them.
    pub local: WorkerLocal<Cell<usize>>,
    pub visits: AtomicUsize,
}

impl Store {
    pub fn new() -> Self {
        // The worker may run other tasks that ask for the value while it is being made.
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

    /// Leases memory. A lease that stays goes to the end of `held`.
    pub fn lease(&self, wanted: &Lease, held: &mut Vec<space::Lease>) {
        let Ok(mut lease) = space::lease(wanted.bytes) else {
            // There is no room: make some.
            drop(held.pop());
            return;
        };
        // A budget may refuse it; then the lease stays as it was.
        let grow = |lease: &mut space::Lease| _ = lease.grow(wanted.grows_by);
        match wanted.end {
            LeaseEnd::Stays => {
                grow(&mut lease);
                held.push(lease);
            }
            LeaseEnd::Forgotten => {
                grow(&mut lease);
                let forgotten = &self.forgotten;
                forgotten.fetch_add(lease.bytes(), Ordering::Relaxed);
                std::mem::forget(lease);
            }
            LeaseEnd::Kept => self.kept.lock().unwrap().push(lease),
            LeaseEnd::OnForeignThread => {
                thread::scope(|other| _ = other.spawn(move || drop(lease)))
            }
            LeaseEnd::InHalf => {
                let half = move || {
                    grow(&mut lease);
                    drop(lease);
                };
                tidegate::join(|| (), half);
            }
            LeaseEnd::InTask => tidegate::scope(|scope| scope.spawn(move |_| drop(lease))),
        }
    }
}

impl Spot {
    pub fn of(self, places: &[PlaceId]) -> PlaceId {
        let place = places[self.place % places.len()];
        if self.strict { place.strict() } else { place }
    }
}
