//! A book of values, each of which must be dropped exactly once.

use std::sync::{Arc, Mutex};

/// Counts how often each [`Tracked`] value is dropped.
#[derive(Clone, Default)]
pub struct Book(Arc<Mutex<Vec<usize>>>);

/// A value whose drops a book counts. It is not `Clone`, so it can only be moved.
pub struct Tracked {
    book: Book,
    number: usize,
}

impl Book {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn value(&self) -> Tracked {
        let mut drops = self.0.lock().unwrap();
        drops.push(0);
        Tracked {
            book: self.clone(),
            number: drops.len() - 1,
        }
    }

    /// Returns how many values have been created.
    pub fn made(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub fn live(&self) -> usize {
        self.0.lock().unwrap().iter().filter(|n| **n == 0).count()
    }

    /// Checks that each value has been dropped exactly once.
    #[track_caller]
    pub fn check(&self) {
        let drops = self.0.lock().unwrap();
        for (number, count) in drops.iter().enumerate() {
            assert_eq!(*count, 1, "drops of value {number} of {}", drops.len());
        }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.book.0.lock().unwrap()[self.number] += 1;
    }
}
