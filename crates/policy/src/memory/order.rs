//! An order-maintenance list: it inserts an item next to another one, and determines which of two
//! items comes first.
//!
//! Both operations take amortised constant time, no matter how long the list is. The idea is from
//! Dietz and Sleator, "Two algorithms for maintaining order in a list", STOC 1987, in the simpler
//! form of Bender, Cole, Demaine, Farach-Colton and Zito, "Two simplified algorithms for
//! maintaining order in a list", ESA 2002. Items lie in buckets of a few dozen. Each item has a
//! label within its bucket, and each bucket has a label, too. If there is no label left between two
//! neighbours, the labels of the bucket are spread evenly. A full bucket is split. If there is no
//! label left for a bucket, the labels are spread in the bucket's smallest neighbourhood that is
//! not too dense. The bounds and thresholds are derived from this idea, not taken from the papers.
//!
//! The list cannot return the position of an item. It removes empty buckets but does not merge
//! nearly empty ones.

use alloc::vec::Vec;

/// The capacity of a bucket. It exceeds the base-2 logarithm of any possible number of items.
const FULL: u32 = 64;
/// Marks the end of a chain.
const NONE: u32 = u32::MAX;
/// All labels of buckets are smaller than this.
const LABELS: u64 = 1 << 62;
/// When a neighbourhood doubles in size, the number of buckets that it may hold grows by this
/// factor (numerator and denominator). The factor is 8/5, not 2, so a neighbourhood of twice the
/// size must be less dense, by a factor of 4/5.
const DENSER: (u128, u128) = (8, 5);

/// Identifies an item of a list until it is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Item(u32);

impl Item {
    /// Returns the item's number, which is less than the maximum length of the list so far. The
    /// number is reused after the item has been removed.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bucket: u32,
    label: u64,
    before: u32,
    after: u32,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    label: u64,
    before: u32,
    after: u32,
    /// The first item of the bucket. A bucket's items are consecutive in the chain of all items.
    first: u32,
    last: u32,
    count: u32,
}

/// An order-maintenance list; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Order {
    nodes: Vec<Node>,
    buckets: Vec<Bucket>,
    free_nodes: Vec<u32>,
    free_buckets: Vec<u32>,
    /// The first and the last item, if the list is not empty.
    ends: Option<(u32, u32)>,
}

impl Order {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts a new item after all others.
    ///
    /// # Panics
    /// If there are 2^32 - 1 items already.
    pub fn push_last(&mut self) -> Item {
        match self.ends {
            None => {
                let bucket = self.new_bucket(LABELS / 2, NONE, NONE);
                let node = self.new_node(bucket, 0, NONE, NONE);
                self.ends = Some((node, node));
                Item(node)
            }
            Some((_, last)) => self.insert_after(Item(last)),
        }
    }

    /// Inserts a new item right before `item`.
    ///
    /// # Panics
    /// If there are 2^32 - 1 items already.
    pub fn insert_before(&mut self, item: Item) -> Item {
        let Node { before, bucket, .. } = self.nodes[item.0 as usize];
        self.insert(before, item.0, bucket)
    }

    /// Inserts a new item right after `item`.
    ///
    /// # Panics
    /// If there are 2^32 - 1 items already.
    pub fn insert_after(&mut self, item: Item) -> Item {
        let Node { after, bucket, .. } = self.nodes[item.0 as usize];
        self.insert(item.0, after, bucket)
    }

    /// Returns the first item, or `None` if the list is empty.
    #[must_use]
    pub fn first(&self) -> Option<Item> {
        self.ends.map(|(first, _)| Item(first))
    }

    /// Returns the item after `item`, or `None` if `item` is the last item.
    #[must_use]
    pub fn next(&self, item: Item) -> Option<Item> {
        let after = self.nodes[item.0 as usize].after;
        (after != NONE).then_some(Item(after))
    }

    /// Returns a key that sorts items by position, valid until the list changes.
    #[must_use]
    pub fn rank(&self, item: Item) -> (u64, u64) {
        let node = &self.nodes[item.0 as usize];
        (self.buckets[node.bucket as usize].label, node.label)
    }

    /// Removes an item. The caller must not use it any more: a new item may get the same number.
    pub fn remove(&mut self, item: Item) {
        let Node {
            bucket,
            before,
            after,
            ..
        } = self.nodes[item.0 as usize];
        self.link(before, after);
        self.ends = match self.ends {
            Some((first, last)) if first == last => None,
            Some((first, last)) if first == item.0 => Some((after, last)),
            Some((first, last)) if last == item.0 => Some((first, before)),
            ends => ends,
        };
        let place = &mut self.buckets[bucket as usize];
        place.count -= 1;
        if place.first == item.0 {
            place.first = after;
        }
        if place.last == item.0 {
            place.last = before;
        }
        if place.count == 0 {
            let Bucket { before, after, .. } = *place;
            self.link_buckets(before, after);
            self.free_buckets.push(bucket);
        }
        self.free_nodes.push(item.0);
    }

    /// Inserts an item between two neighbours, at least one of which is in `bucket`.
    fn insert(&mut self, before: u32, after: u32, bucket: u32) -> Item {
        if self.buckets[bucket as usize].count == FULL {
            let beside = if self.is_in(before, bucket) {
                before
            } else {
                after
            };
            self.divide(bucket);
            // `divide` may have moved the neighbour to the new bucket.
            let bucket = self.nodes[beside as usize].bucket;
            return self.insert(before, after, bucket);
        }
        let Some(label) = self.label_between(before, after, bucket) else {
            self.spread_items(bucket);
            return self.insert(before, after, bucket);
        };
        let node = self.new_node(bucket, label, before, after);
        self.link(before, node);
        self.link(node, after);
        let place = &mut self.buckets[bucket as usize];
        place.count += 1;
        if place.first == after {
            place.first = node;
        }
        if place.last == before {
            place.last = node;
        }
        self.ends = self.ends.map(|(first, last)| match (before, after) {
            (NONE, _) => (node, last),
            (_, NONE) => (first, node),
            _ => (first, last),
        });
        Item(node)
    }

    fn is_in(&self, node: u32, bucket: u32) -> bool {
        node != NONE && self.nodes[node as usize].bucket == bucket
    }

    /// Returns a label in `bucket` between those of two neighbours, one of which may be in another
    /// bucket. `None` if no label is left.
    fn label_between(&self, before: u32, after: u32, bucket: u32) -> Option<u64> {
        let label = |node: u32| {
            self.is_in(node, bucket)
                .then(|| self.nodes[node as usize].label)
        };
        let low = label(before).map_or(Some(0), |label| label.checked_add(1))?;
        let high = label(after).unwrap_or(u64::MAX);
        (low < high).then(|| low + (high - low) / 2)
    }

    /// Spreads the labels of the bucket's items evenly.
    fn spread_items(&mut self, bucket: u32) {
        let Bucket { first, count, .. } = self.buckets[bucket as usize];
        let step = u64::MAX / (u64::from(count) + 1);
        let mut node = first;
        for number in 1..=u64::from(count) {
            let item = &mut self.nodes[node as usize];
            item.label = number * step;
            node = item.after;
        }
    }

    /// Moves the second half of a bucket's items into a new bucket right after it.
    fn divide(&mut self, bucket: u32) {
        let Bucket {
            first,
            last,
            count,
            after,
            ..
        } = self.buckets[bucket as usize];
        let label = self.bucket_label_behind(bucket);
        let new = self.new_bucket(label, bucket, after);
        self.link_buckets(bucket, new);
        self.link_buckets(new, after);
        let half = count / 2;
        let middle = (1..half).fold(first, |node, _| self.nodes[node as usize].after);
        let mut node = self.nodes[middle as usize].after;
        self.buckets[new as usize].first = node;
        for _ in half..count {
            let item = &mut self.nodes[node as usize];
            item.bucket = new;
            node = item.after;
        }
        self.buckets[new as usize].last = last;
        self.buckets[new as usize].count = count - half;
        let old = &mut self.buckets[bucket as usize];
        old.last = middle;
        old.count = half;
        self.spread_items(bucket);
        self.spread_items(new);
    }

    /// Returns a label between those of `bucket` and the next bucket, after making room if
    /// necessary.
    fn bucket_label_behind(&mut self, bucket: u32) -> u64 {
        let between = |list: &Self| {
            let Bucket { label, after, .. } = list.buckets[bucket as usize];
            let high = match after {
                NONE => LABELS,
                after => list.buckets[after as usize].label,
            };
            (high - label > 1).then(|| label + (high - label) / 2)
        };
        loop {
            if let Some(label) = between(self) {
                return label;
            }
            self.spread_buckets(bucket);
        }
    }

    /// Finds the smallest neighbourhood of the bucket that is not too dense, and spreads the labels
    /// of the buckets in it evenly. A neighbourhood consists of all labels with the same leading
    /// bits.
    fn spread_buckets(&mut self, bucket: u32) {
        let label = self.buckets[bucket as usize].label;
        let (mut first, mut count) = (bucket, 1_u64);
        let mut last = bucket;
        // A neighbourhood of 2^bits labels holds at most `room` buckets.
        let (mut many, mut of) = (1_u128, 1_u128);
        for bits in 1..=LABELS.trailing_zeros() {
            let low = label >> bits << bits;
            let high = low + ((1 << bits) - 1);
            loop {
                let before = self.buckets[first as usize].before;
                if before == NONE || self.buckets[before as usize].label < low {
                    break;
                }
                (first, count) = (before, count + 1);
            }
            loop {
                let after = self.buckets[last as usize].after;
                if after == NONE || self.buckets[after as usize].label > high {
                    break;
                }
                (last, count) = (after, count + 1);
            }
            (many, of) = (many * DENSER.0, of * DENSER.1);
            if of > u128::from(u64::MAX) {
                (many, of) = (many >> 32, of >> 32);
            }
            let room = many / of;
            if u128::from(count) <= room && (1_u64 << bits) / (count + 1) > 1 {
                return self.spread_from(first, count, low, (1 << bits) / (count + 1));
            }
        }
        unreachable!("there are fewer than 2^32 buckets, and 2^62 labels");
    }

    fn spread_from(&mut self, first: u32, count: u64, low: u64, step: u64) {
        let mut bucket = first;
        for number in 1..=count {
            let place = &mut self.buckets[bucket as usize];
            place.label = low + number * step;
            bucket = place.after;
        }
    }

    fn new_node(&mut self, bucket: u32, label: u64, before: u32, after: u32) -> u32 {
        let node = Node {
            bucket,
            label,
            before,
            after,
        };
        put(&mut self.nodes, &mut self.free_nodes, node)
    }

    fn new_bucket(&mut self, label: u64, before: u32, after: u32) -> u32 {
        // The bucket's first item is the next item to be created.
        let first = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        let first = self.free_nodes.last().copied().unwrap_or(first);
        let bucket = Bucket {
            label,
            before,
            after,
            first,
            last: first,
            count: 1,
        };
        put(&mut self.buckets, &mut self.free_buckets, bucket)
    }

    fn link(&mut self, before: u32, after: u32) {
        if before != NONE {
            self.nodes[before as usize].after = after;
        }
        if after != NONE {
            self.nodes[after as usize].before = before;
        }
    }

    fn link_buckets(&mut self, before: u32, after: u32) {
        if before != NONE {
            self.buckets[before as usize].after = after;
        }
        if after != NONE {
            self.buckets[after as usize].before = before;
        }
    }
}

/// Stores a value in a free slot, or appends it. Returns the index.
fn put<T>(all: &mut Vec<T>, free: &mut Vec<u32>, value: T) -> u32 {
    if let Some(place) = free.pop() {
        all[place as usize] = value;
        return place;
    }
    let place = u32::try_from(all.len()).ok().filter(|place| *place != NONE);
    all.push(value);
    place.expect("fewer than 2^32 - 1 items")
}
