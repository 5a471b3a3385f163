//! Which data the cache of each place holds, by name.
//!
//! A cache holds whole items of data and evicts the least recently touched items. A write removes
//! the copies in other places. An item larger than the cache passes through the cache and leaves it
//! empty.
//!
//! Sets, lines and levels are not modelled. A worker that touches data just after another worker of
//! its place finds all of the data in the cache, even if a real cache would still be loading.

use std::collections::{BTreeMap, HashMap};

use crate::dag::Touch;

/// The number of a job, and the job's name for the data.
type Name = (usize, u64);

#[derive(Clone, Default)]
struct Cache {
    /// For each item, the number of its last touch, and its size.
    held: HashMap<Name, (u64, u64)>,
    /// Names, keyed by the number of the item's last touch.
    by_touch: BTreeMap<u64, Name>,
    touches: u64,
    bytes: u64,
}

impl Cache {
    /// Removes an item, and returns how many of its bytes the cache held.
    fn take(&mut self, name: Name) -> u64 {
        let Some((touch, bytes)) = self.held.remove(&name) else {
            return 0;
        };
        self.by_touch.remove(&touch);
        self.bytes -= bytes;
        bytes
    }

    /// Inserts an item that the cache doesn't hold, and evicts the least recently touched items
    /// until everything fits.
    fn put(&mut self, name: Name, bytes: u64, capacity: u64) {
        self.touches += 1;
        self.held.insert(name, (self.touches, bytes));
        self.by_touch.insert(self.touches, name);
        self.bytes += bytes;
        while self.bytes > capacity {
            let oldest = self.by_touch.first_key_value().map(|(_, name)| *name);
            self.take(oldest.expect("what fills the cache is in it"));
        }
    }
}

pub(crate) struct Caches {
    /// The size of each cache in bytes. If this is 0, no touch ever misses.
    capacity: u64,
    places: Vec<Cache>,
}

impl Caches {
    pub(crate) fn new(capacity: u64, places: usize) -> Self {
        Self {
            capacity,
            places: vec![Cache::default(); places],
        }
    }

    /// Touches data at `place`, and returns how many bytes were missing in that place's cache.
    pub(crate) fn touch(&mut self, place: usize, job: usize, touch: Touch) -> u64 {
        if self.capacity == 0 {
            return 0;
        }
        let name = (job, touch.name);
        if touch.writes {
            for (other, cache) in self.places.iter_mut().enumerate() {
                if other != place {
                    cache.take(name);
                }
            }
        }
        let cache = &mut self.places[place];
        let there = cache.take(name);
        cache.put(name, touch.bytes, self.capacity);
        touch.bytes.saturating_sub(there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn read(name: u64, bytes: u64) -> Touch {
        Touch {
            name,
            bytes,
            writes: false,
        }
    }

    #[test]
    fn least_recently_used_data_is_evicted() {
        let mut caches = Caches::new(10, 1);
        assert_eq!([1, 2].map(|name| caches.touch(0, 0, read(name, 4))), [4, 4]);
        assert_eq!(caches.touch(0, 0, read(1, 4)), 0);
        assert_eq!(caches.touch(0, 0, read(3, 4)), 4);
        assert_eq!(
            [1, 3, 2].map(|name| caches.touch(0, 0, read(name, 4))),
            [0, 0, 4]
        );
    }

    #[test]
    fn only_writers_invalidate_other_places() {
        let mut caches = Caches::new(10, 2);
        let write = Touch {
            writes: true,
            ..read(1, 4)
        };
        assert_eq!(caches.touch(0, 0, read(1, 4)), 4);
        assert_eq!(caches.touch(1, 0, read(1, 4)), 4);
        assert_eq!(caches.touch(0, 0, read(1, 4)), 0);
        assert_eq!(caches.touch(1, 0, write), 0);
        assert_eq!(caches.touch(0, 0, read(1, 4)), 4);
        assert_eq!(caches.touch(1, 0, read(1, 4)), 0);
    }

    /// Two jobs may use the same name for different data.
    #[test]
    fn oversized_data_is_never_cached() {
        let mut caches = Caches::new(10, 1);
        assert_eq!([(), ()].map(|()| caches.touch(0, 0, read(1, 11))), [11, 11]);
        assert_eq!(caches.touch(0, 0, read(2, 4)), 4);
        assert_eq!(caches.touch(0, 1, read(2, 4)), 4);
        assert_eq!(caches.touch(0, 0, read(2, 6)), 2);
        let mut none = Caches::new(0, 1);
        assert_eq!(none.touch(0, 0, read(1, 4)), 0);
    }
}
