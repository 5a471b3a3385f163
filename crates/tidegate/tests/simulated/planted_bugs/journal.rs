//! An update that a stale one overwrites: a writer appends to a journal under its lock, and
//! publishes the new length after it has released the lock.
//!
//! The length is too small at the end if another writer appends and publishes in between. Ordinary
//! runs miss this: the gap takes about 5 ns, and the writers append 0.1 ms apart.

use super::read;
use std::sync::atomic::{AtomicUsize, Ordering};
use tidegate::sync::Mutex;

const WRITERS: usize = 3;

#[derive(Default)]
pub struct Journal {
    entries: Mutex<Vec<usize>>,
    /// The number of entries, for readers that do not want to wait for the lock.
    published: AtomicUsize,
}

impl Journal {
    pub fn append(&self, entry: usize) {
        let mut entries = self.entries.lock().unwrap();
        entries.push(entry);
        let length = entries.len();
        drop(entries);
        self.published.store(length, Ordering::Release);
    }

    /// Like `append`, but publishes the length under the lock.
    pub fn append_locked(&self, entry: usize) {
        let mut entries = self.entries.lock().unwrap();
        entries.push(entry);
        self.published.store(entries.len(), Ordering::Release);
    }
}

/// Each writer reads some files, one more than the writer before, and appends an entry.
pub fn write(append: fn(&Journal, usize)) {
    let journal = Journal::default();
    tidegate::scope(|scope| {
        for writer in 0..WRITERS {
            let journal = &journal;
            scope.spawn(move |_| {
                (0..=2 * writer).for_each(|_| read());
                append(journal, writer);
            });
        }
    });
    let published = journal.published.into_inner();
    assert_eq!(published, WRITERS, "the length is stale");
}
