//! The chains, as a table: each parallel one beside the serial one of the same closures.
//!
//! Both columns call the same functions on the same items and differ in nothing but the word `par`, so that the time
//! between them is what the parallel machinery costs, lost chances of the compiler included. A chain that collects has
//! its allocations in the time, in both columns.
//!
//! How often a chain is called for one sample follows from the table, too: often enough for a few milliseconds on the
//! published rayon-core, while the calls from outside wait for a thread to wake up each.

use std::ops::Range;

use rayon::prelude::*;

use crate::trouble::Trouble;
use Output::{InPlace, List, Number};

/// One chain.
pub struct Chain {
    /// Its name.
    pub name: &'static str,
    /// Whether it splits its work already at the smallest of its sizes.
    pub forks: bool,
    /// Whether it changes its items, so that each call needs fresh ones.
    pub spoils: bool,
    /// On how many items it is measured.
    pub sizes: &'static [Size],
    /// The chain without rayon.
    pub serial: Work,
    /// The chain.
    pub parallel: Work,
}

/// A number of items, and how often the chain is called on them for one sample.
pub struct Size {
    /// How many items.
    pub items: usize,
    /// Calls from inside of a pool.
    pub inside: usize,
    /// Calls from outside.
    pub outside: usize,
}

/// A chain's code. That it is called by a pointer keeps the compiler from moving parts of it out of the timed loop.
pub type Work = fn(&mut [u64]) -> Output;

/// What comes out of a chain.
pub enum Output {
    /// One number.
    Number(u64),
    /// A new list.
    List(Vec<u64>),
    /// The items in another order.
    InPlace,
}

/// Every chain.
pub static CHAINS: [Chain; 7] = [
    Chain {
        name: "map-sum",
        forks: true,
        spoils: false,
        sizes: &sizes([(1000, 200), (50, 50), (1, 1)]),
        serial: |items| Number(items.iter().map(weigh).sum()),
        parallel: |items| Number(items.par_iter().map(weigh).sum()),
    },
    Chain {
        name: "filter-collect",
        forks: true,
        spoils: false,
        sizes: &sizes([(500, 100), (20, 20), (1, 1)]),
        serial: |items| List(items.iter().copied().filter(is_kept).collect()),
        parallel: |items| List(items.par_iter().copied().filter(is_kept).collect()),
    },
    Chain {
        name: "par_sort_unstable",
        forks: false,
        spoils: true,
        sizes: &sizes([(200, 200), (2, 2), (1, 1)]),
        serial: |items| {
            items.sort_unstable();
            InPlace
        },
        parallel: |items| {
            items.par_sort_unstable();
            InPlace
        },
    },
    Chain {
        name: "par_chunks",
        forks: true,
        spoils: false,
        sizes: &sizes([(1000, 200), (50, 50), (1, 1)]),
        serial: |items| Number(items.chunks(CHUNK).map(weigh_all).sum()),
        parallel: |items| Number(items.par_chunks(CHUNK).map(weigh_all).sum()),
    },
    Chain {
        name: "flat_map",
        forks: true,
        spoils: false,
        sizes: &sizes([(200, 100), (2, 2), (1, 1)]),
        serial: |items| Number(items.iter().flat_map(few).sum()),
        parallel: |items| Number(items.par_iter().flat_map(few).sum()),
    },
    Chain {
        name: "fold-reduce",
        forks: true,
        spoils: false,
        sizes: &sizes([(1000, 200), (50, 50), (1, 1)]),
        serial: |items| Number(items.iter().fold(Extent::none(), Extent::with).digest()),
        parallel: |items| {
            let parts = items.par_iter().fold(Extent::none, Extent::with);
            Number(parts.reduce(Extent::none, Extent::and).digest())
        },
    },
    Chain {
        name: "par_bridge",
        forks: false,
        spoils: false,
        sizes: &sizes([(100, 100), (3, 3), (1, 1)]),
        serial: |items| Number(items.iter().map(weigh).sum()),
        parallel: |items| Number(items.iter().par_bridge().map(weigh).sum()),
    },
];

/// The sizes that chains have in common, each with its calls from inside and outside.
const fn sizes([small, medium, large]: [(usize, usize); 3]) -> [Size; 3] {
    [
        size(1_000, small),
        size(100_000, medium),
        size(10_000_000, large),
    ]
}

const fn size(items: usize, (inside, outside): (usize, usize)) -> Size {
    Size {
        items,
        inside,
        outside,
    }
}

/// The chain called `name`.
pub fn named(name: &str) -> Result<&'static Chain, Trouble> {
    CHAINS
        .iter()
        .find(|chain| chain.name == name)
        .ok_or_else(|| {
            let names: Vec<_> = CHAINS.iter().map(|chain| chain.name).collect();
            Trouble::Refused(format!("{name:?} is none of: {}", names.join(", ")))
        })
}

/// Items of a chunk.
const CHUNK: usize = 64;

/// A number of few bits, so that sums of them do not overflow.
fn weigh(item: &u64) -> u64 {
    item.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

fn weigh_all(chunk: &[u64]) -> u64 {
    chunk.iter().map(weigh).sum()
}

/// Keeps about half of the items, in no order that a processor could foresee.
fn is_kept(item: &u64) -> bool {
    item % 2 == 0
}

/// Up to seven numbers.
fn few(item: &u64) -> Range<u64> {
    0..item % 8
}

/// Least, greatest and sum of some numbers.
struct Extent {
    least: u64,
    most: u64,
    sum: u64,
}

impl Extent {
    fn none() -> Self {
        Self {
            least: u64::MAX,
            most: 0,
            sum: 0,
        }
    }

    fn with(self, item: &u64) -> Self {
        Self {
            least: self.least.min(*item),
            most: self.most.max(*item),
            sum: self.sum.wrapping_add(*item),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            sum: self.sum.wrapping_add(other.sum),
        }
    }

    fn digest(self) -> u64 {
        self.least.rotate_left(1) ^ self.most.rotate_left(2) ^ self.sum
    }
}

impl Output {
    /// A number that says which output this is; `items` are those that the chain left behind.
    pub fn digest(&self, items: &[u64]) -> u64 {
        match self {
            Number(number) => *number,
            List(list) => digest(list),
            InPlace => digest(items),
        }
    }
}

/// Depends on every item and its place.
fn digest(list: &[u64]) -> u64 {
    let mix = |sum: u64, item: &u64| sum.wrapping_mul(0x100_0000_01b3).wrapping_add(*item);
    list.iter().fold(list.len() as u64, mix)
}
