//! Numbered items that are reused. They are freed only with the queue, so a late thread still reads
//! valid memory, even if the contents no longer matter.

#![allow(
    clippy::disallowed_types,
    reason = "only the owner fills these cells, so no thread waits for another to fill one"
)]

use crate::own::Own;
use std::sync::OnceLock;
use tidegate_sync::atomic::{AtomicU64, Ordering};

/// The number of batches in which items are created. Each batch is twice as large as the one
/// before.
const BATCHES: usize = 26;

/// The number of an item; never 0.
pub(crate) type Id = u32;

const NONE: u64 = 0;

pub(crate) struct Store<V> {
    batches: [OnceLock<Box<[Entry<V>]>>; BATCHES],
    /// The number of items that have been created.
    made: Own,
    /// The owner's list of items that are not in use.
    spare: Own,
    /// The list of items that other threads have given back. They add one item at a time, and the
    /// owner takes the whole list.
    returned: AtomicU64,
}

struct Entry<V> {
    value: V,
    /// The item after this one in its list.
    after: Own,
}

impl<V> Default for Store<V> {
    fn default() -> Self {
        Self {
            batches: [const { OnceLock::new() }; BATCHES],
            made: Own::default(),
            spare: Own::new(NONE),
            returned: AtomicU64::new(NONE),
        }
    }
}

/// Returns an item's batch, and its index in the batch: item 1 is alone in batch 0, items 2 and 3
/// are in batch 1, and so on.
fn place(id: Id) -> (usize, usize) {
    let batch = id.ilog2();
    (batch as usize, (id - (1 << batch)) as usize)
}

impl<V: Default> Store<V> {
    /// Returns an unused item, or `None` if there are too many items. Only for the owner.
    pub(crate) fn get(&self) -> Option<Id> {
        if self.spare.get() == NONE {
            // Acquire pairs with the Release in `give_back`: no thread uses the item any more.
            self.spare.set(self.returned.swap(NONE, Ordering::Acquire));
        }
        if self.spare.get() == NONE {
            return self.make();
        }
        let id = self.spare.get() as Id;
        self.spare.set(self.entry(id).after.get());
        Some(id)
    }

    fn make(&self) -> Option<Id> {
        let id = self.made.get() as Id + 1;
        let (batch, _) = place(id);
        let entry = |_| Entry {
            value: V::default(),
            after: Own::default(),
        };
        let fresh = || (0..1_usize << batch).map(entry).collect();
        self.batches.get(batch)?.get_or_init(fresh);
        self.made.set(id.into());
        Some(id)
    }
}

impl<V> Store<V> {
    fn entry(&self, id: Id) -> &Entry<V> {
        let (batch, index) = place(id);
        let batch = self.batches[batch].get();
        &batch.unwrap_or_else(|| unreachable!("number {id} was never made"))[index]
    }

    pub(crate) fn at(&self, id: Id) -> &V {
        &self.entry(id).value
    }

    /// Adds an item that is no longer in use to the owner's list. Only for the owner.
    pub(crate) fn keep(&self, id: Id) {
        self.entry(id).after.set(self.spare.get());
        self.spare.set(id.into());
    }

    /// Gives back an item that is no longer in use. Any thread may call this, but each item must be
    /// given back only once.
    pub(crate) fn give_back(&self, id: Id) {
        // Relaxed: the exchange below checks the value.
        let mut first = self.returned.load(Ordering::Relaxed);
        loop {
            self.entry(id).after.set(first);
            // Release pairs with the Acquire in `get`. Another thread's exchange on top of this one
            // continues the release sequence.
            let exchanged = self.returned.compare_exchange_weak(
                first,
                id.into(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            match exchanged {
                Ok(_) => return,
                Err(seen) => first = seen,
            }
        }
    }
}
