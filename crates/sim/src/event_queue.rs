//! The event queue: at most one pending event for each actor, earliest first.
//!
//! A heap with four children per node, which records each actor's position so that an event can be
//! moved or removed. It is half as deep as a binary heap, and four entries fill a cache line. The
//! machine reads the first entry, handles that event and sets the same actor's next event. This
//! takes one sift, whereas a removal and an insertion would take two.
//!
//! Of two events at the same time, the one that was set first is handled first.

use tidegate_policy::Nanos;

const CHILDREN: usize = 4;
/// The position of an actor that has no event.
const NOWHERE: u32 = u32::MAX;

/// The number of bits of an entry that hold the actor.
const ACTOR: u32 = 23;
/// The number of bits that hold the stamp, which orders events at the same time.
const STAMP: u32 = 64 - ACTOR;
/// The number of actors that fit in `ACTOR` bits; the settings limit workers to fewer.
const MOST_ACTORS: usize = 1 << ACTOR;

/// Time, stamp and actor, from the highest bits to the lowest, so that entries can be compared as
/// numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    fn new(time: Nanos, stamp: u64, actor: usize) -> Self {
        Self(u128::from(time) << 64 | u128::from(stamp << ACTOR | actor as u64))
    }

    const fn time(self) -> Nanos {
        (self.0 >> 64) as Nanos
    }

    const fn actor(self) -> usize {
        self.0 as usize & (MOST_ACTORS - 1)
    }
}

pub(crate) struct EventQueue {
    heap: Vec<Entry>,
    /// Each actor's position in the heap, or `NOWHERE`.
    places: Vec<u32>,
    stamp: u64,
}

impl EventQueue {
    pub(crate) fn new(actors: usize) -> Self {
        assert!(actors <= MOST_ACTORS, "the settings allow fewer");
        Self {
            heap: Vec::with_capacity(actors),
            places: vec![NOWHERE; actors],
            stamp: 0,
        }
    }

    /// Returns the time and the actor of the next event.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Nanos, usize)> {
        self.heap.first().map(|entry| (entry.time(), entry.actor()))
    }

    /// Whether this actor has an event.
    pub(crate) fn awaits(&self, actor: usize) -> bool {
        self.places[actor] != NOWHERE
    }

    /// Sets this actor's event, replacing any earlier one.
    #[inline]
    pub(crate) fn set(&mut self, actor: usize, time: Nanos) {
        if self.stamp + 1 == 1 << STAMP {
            self.renumber();
        }
        self.stamp += 1;
        let entry = Entry::new(time, self.stamp, actor);
        match self.places[actor] {
            NOWHERE => {
                self.heap.push(entry);
                self.rise(self.heap.len() - 1, entry);
            }
            place => self.put(place as usize, entry),
        }
    }

    /// Removes this actor's event and returns its time.
    pub(crate) fn clear(&mut self, actor: usize) -> Option<Nanos> {
        let place = self.places[actor];
        if place == NOWHERE {
            return None;
        }
        let place = place as usize;
        self.places[actor] = NOWHERE;
        let time = self.heap[place].time();
        let last = self.heap.pop()?;
        if place < self.heap.len() {
            self.put(place, last);
        }
        Some(time)
    }

    /// Replaces the entry at `place`, and restores the order of the heap.
    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        if place > 0 && entry < self.heap[(place - 1) / CHILDREN] {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let above = (place - 1) / CHILDREN;
            if entry >= self.heap[above] {
                break;
            }
            self.set_place(place, self.heap[above]);
            place = above;
        }
        self.set_place(place, entry);
    }

    #[inline]
    fn sink(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = place * CHILDREN + 1;
            let end = (first + CHILDREN).min(self.heap.len());
            if first >= end {
                break;
            }
            let (mut least, mut at) = (self.heap[first], first);
            for (child, &other) in (first + 1..end).zip(&self.heap[first + 1..end]) {
                // Written to compile without a branch, which would be mispredicted half of the
                // time.
                (least, at) = if other < least {
                    (other, child)
                } else {
                    (least, at)
                };
            }
            if least >= entry {
                break;
            }
            self.set_place(place, least);
            place = at;
        }
        self.set_place(place, entry);
    }

    /// Renumbers the stamps. This sorts the entries; a sorted list is a valid heap.
    #[cold]
    fn renumber(&mut self) {
        self.heap.sort_unstable();
        for (place, entry) in self.heap.iter_mut().enumerate() {
            *entry = Entry::new(entry.time(), place as u64, entry.actor());
            self.places[entry.actor()] = place as u32;
        }
        self.stamp = self.heap.len() as u64;
    }

    #[inline]
    fn set_place(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.actor()] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_policy::Rng;

    fn pop(event_queue: &mut EventQueue) -> Option<(Nanos, usize)> {
        let first = event_queue.first()?;
        event_queue.clear(first.1);
        Some(first)
    }

    /// Setting an actor's event discards the time that was set before.
    #[test]
    fn actors_follow_their_last_times() {
        let mut rng = Rng::new(3);
        let mut event_queue = EventQueue::new(100);
        let mut last = [None; 100];
        for _ in 0..1_000 {
            let actor = rng.below(100) as usize;
            if rng.below(4) == 0 {
                assert_eq!(event_queue.clear(actor), last[actor].take());
            } else {
                let time = rng.below(50);
                event_queue.set(actor, time);
                last[actor] = Some(time);
            }
        }
        let mut expected: Vec<_> = last.iter().flatten().copied().collect();
        expected.sort_unstable();
        let came: Vec<_> = std::iter::from_fn(|| pop(&mut event_queue)).collect();
        assert!(came.iter().all(|&(time, actor)| last[actor] == Some(time)));
        let times: Vec<_> = came.into_iter().map(|(time, _)| time).collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn stamp_overflow_keeps_the_order() {
        let mut event_queue = EventQueue::new(9);
        event_queue.stamp = (1 << STAMP) - 5;
        for actor in [4, 8, 1, 0, 7, 2, 3] {
            event_queue.set(actor, 5 + (actor as Nanos % 2));
        }
        assert!(event_queue.stamp < 20);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut event_queue))
            .map(|(_, actor)| actor)
            .collect();
        assert_eq!(order, [4, 8, 0, 2, 1, 7, 3]);
    }

    #[test]
    fn simultaneous_events_keep_insertion_order() {
        let mut event_queue = EventQueue::new(9);
        for actor in [4, 8, 1, 0, 7] {
            event_queue.set(actor, 5);
        }
        event_queue.set(8, 5);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut event_queue))
            .map(|(_, actor)| actor)
            .collect();
        assert_eq!(order, [4, 1, 0, 7, 8]);
    }
}
