//! What happens next: at most one moment for each actor, the earliest first.
//!
//! A heap with four children to a node (half as deep as one with two, and four entries are as long as a cache line) that
//! knows where each actor stands, so a moment can be moved or taken back. The machine looks at the first entry, does what is due,
//! and gives the same actor its next moment: one sift, where taking out and putting in would be two.
//!
//! Of two actors due at the same time the one comes first that was set first.

use tidegate_policy::Nanos;

/// Children of a node.
const CHILDREN: usize = 4;
/// The place of an actor that nothing awaits.
const NOWHERE: u32 = u32::MAX;

/// Bits of an entry that tell the actor.
const ACTOR: u32 = 23;
/// Bits that count the settings, for those due at the same time.
const STAMP: u32 = 64 - ACTOR;
/// The most actors; workers are fewer.
const MOST_ACTORS: usize = 1 << ACTOR;

/// From the highest bits to the lowest: the time, the stamp, the actor. Entries are in order as numbers are.
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

/// The moments of all actors.
pub(crate) struct Agenda {
    heap: Vec<Entry>,
    /// Where in the heap each actor stands.
    places: Vec<u32>,
    stamp: u64,
}

impl Agenda {
    pub(crate) fn new(actors: usize) -> Self {
        assert!(actors <= MOST_ACTORS, "the settings allow fewer");
        Self {
            heap: Vec::with_capacity(actors),
            places: vec![NOWHERE; actors],
            stamp: 0,
        }
    }

    /// Who is next, and when.
    #[inline]
    pub(crate) fn first(&self) -> Option<(Nanos, usize)> {
        self.heap.first().map(|entry| (entry.time(), entry.actor()))
    }

    /// Whether something awaits this actor.
    pub(crate) fn awaits(&self, actor: usize) -> bool {
        self.places[actor] != NOWHERE
    }

    /// This actor's moment is `time`, and no other that it had.
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

    /// Nothing awaits this actor any more; hands out the moment that it had.
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

    /// Puts `entry` in the place of another.
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
                // Without a branch, which would be guessed wrong half of the time.
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

    /// Counts the settings anew: of a sorted list every part is in order, so it is a heap.
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

    /// Takes the first actor out.
    fn pop(agenda: &mut Agenda) -> Option<(Nanos, usize)> {
        let first = agenda.first()?;
        agenda.clear(first.1);
        Some(first)
    }

    #[test]
    fn actors_come_in_the_order_of_their_last_times_whatever_was_set_before() {
        let mut rng = Rng::new(3);
        let mut agenda = Agenda::new(100);
        let mut last = [None; 100];
        for _ in 0..1_000 {
            let actor = rng.below(100) as usize;
            if rng.below(4) == 0 {
                assert_eq!(agenda.clear(actor), last[actor].take());
            } else {
                let time = rng.below(50);
                agenda.set(actor, time);
                last[actor] = Some(time);
            }
        }
        let mut expected: Vec<_> = last.iter().flatten().copied().collect();
        expected.sort_unstable();
        let came: Vec<_> = std::iter::from_fn(|| pop(&mut agenda)).collect();
        assert!(came.iter().all(|&(time, actor)| last[actor] == Some(time)));
        let times: Vec<_> = came.into_iter().map(|(time, _)| time).collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn when_the_count_of_settings_is_used_up_the_order_stays() {
        let mut agenda = Agenda::new(9);
        agenda.stamp = (1 << STAMP) - 5;
        for actor in [4, 8, 1, 0, 7, 2, 3] {
            agenda.set(actor, 5 + (actor as Nanos % 2));
        }
        assert!(agenda.stamp < 20);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut agenda))
            .map(|(_, actor)| actor)
            .collect();
        assert_eq!(order, [4, 8, 0, 2, 1, 7, 3]);
    }

    #[test]
    fn of_those_due_at_the_same_time_the_one_set_first_comes_first() {
        let mut agenda = Agenda::new(9);
        for actor in [4, 8, 1, 0, 7] {
            agenda.set(actor, 5);
        }
        agenda.set(8, 5);
        let order: Vec<_> = std::iter::from_fn(|| pop(&mut agenda))
            .map(|(_, actor)| actor)
            .collect();
        assert_eq!(order, [4, 1, 0, 7, 8]);
    }
}
