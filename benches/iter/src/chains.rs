//! A table of chains, each with a serial and a parallel version.
//!
//! Both versions call the same closures on the same items, and differ only in the parallel
//! iterator. Every parallel call must give the serial version's result. A chain that collects or
//! sorts allocates and drops its result within the measured time, as a user's loop would.
//!
//! A chain of orx-parallel, `orx_NAME`, does the same work as rayon's chain `NAME`. A chain
//! `native_NAME` is a loop of Tidegate if that is linked, and a chain of rayon otherwise.

use rayon::prelude::*;
use serde::Serialize;

use crate::input::Input;
use crate::native::{self, Counts};
use crate::orx;
use crate::request::Place;
use Output::{Nothing, Number, Numbers, Smalls, Words};

#[derive(Serialize)]
pub struct Chain {
    pub name: &'static str,
    /// The library of the chain's iterators.
    pub library: Library,
    /// The numbers of items on which the chain is measured, in increasing order.
    pub sizes: &'static [usize],
    /// Where the chain is called from when it is measured.
    pub places: &'static [Place],
    #[serde(skip)]
    pub serial: Work,
    #[serde(skip)]
    pub parallel: Work,
}

/// A library of parallel iterators.
#[derive(Serialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Library {
    /// rayon, on the linked rayon-core.
    Rayon,
    /// orx-parallel, on the pool of [`orx`].
    Orx,
    /// The linked runtime's own: [`native`].
    Native,
}

/// A chain's code. It is called through a pointer, so that the compiler cannot move parts of it out
/// of the timed loop.
pub type Work = fn(&Input) -> Output;

pub enum Output {
    Nothing,
    Number(u64),
    Numbers(Vec<u64>),
    /// A sorted copy of the 32-bit numbers.
    Smalls(Vec<u32>),
    /// A sorted copy of the words.
    Words(Vec<&'static str>),
}

const SIZES: &[usize] = &[1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Ten million words and their text would take half a gigabyte in each process, so that size is
/// left out.
const SIZES_OF_WORDS: &[usize] = &[1_000, 10_000, 100_000, 1_000_000];

const PLACES: &[Place] = &[Place::Inside, Place::Outside];

/// A thread of orx-parallel's own pool blocks while it waits for a computation that it has started.
const OUTSIDE: &[Place] = &[Place::Outside];

const fn chain(name: &'static str, library: Library, serial: Work, parallel: Work) -> Chain {
    let places = match library {
        Library::Orx => OUTSIDE,
        Library::Rayon | Library::Native => PLACES,
    };
    let sizes = SIZES;
    Chain {
        name,
        library,
        sizes,
        places,
        serial,
        parallel,
    }
}

const fn rayon(name: &'static str, serial: Work, parallel: Work) -> Chain {
    chain(name, Library::Rayon, serial, parallel)
}

const fn orx(name: &'static str, serial: Work, parallel: Work) -> Chain {
    chain(name, Library::Orx, serial, parallel)
}

const fn native(name: &'static str, serial: Work, parallel: Work) -> Chain {
    chain(name, Library::Native, serial, parallel)
}

const fn of_words(chain: Chain) -> Chain {
    Chain {
        sizes: SIZES_OF_WORDS,
        ..chain
    }
}

const MAP_SUM: Work = |input| Number(input.numbers().iter().map(weigh).sum());
const COLLECT: Work = |input| Numbers(input.numbers().iter().map(weigh).collect());
const CHUNKS: Work = |input| Number(input.numbers().chunks(CHUNK).map(weigh_all).sum());
const FILTER: Work = |input| Numbers(input.numbers().iter().copied().filter(is_kept).collect());
const SORT: Work = |input| Smalls(changed(input.smalls(), <[_]>::sort_unstable));
const SORT_STRINGS: Work = |input| Words(changed(input.words(), <[_]>::sort));
const FLAT_MAP: Work = |input| Number(input.numbers().iter().flat_map(few).sum());
const FOLD: Work = |input| {
    let all = input.numbers().iter().fold(Extent::NONE, Extent::with);
    Number(all.digest())
};

pub static CHAINS: [Chain; 26] = [
    rayon("map_sum", MAP_SUM, |input| {
        Number(input.numbers().par_iter().map(weigh).sum())
    }),
    orx("orx_map_sum", MAP_SUM, orx::map_sum),
    rayon("collect", COLLECT, |input| {
        Numbers(input.numbers().par_iter().map(weigh).collect())
    }),
    orx("orx_collect", COLLECT, orx::collect),
    rayon("chunks", CHUNKS, |input| {
        Number(input.numbers().par_chunks(CHUNK).map(weigh_all).sum())
    }),
    rayon("filter_collect", FILTER, |input| {
        let kept = input.numbers().par_iter().copied().filter(is_kept);
        Numbers(kept.collect())
    }),
    orx("orx_filter_collect", FILTER, orx::filter_collect),
    rayon("sort_unstable", SORT, |input| {
        Smalls(changed(input.smalls(), <[_]>::par_sort_unstable))
    }),
    of_words(rayon("sort_strings", SORT_STRINGS, |input| {
        Words(changed(input.words(), <[_]>::par_sort))
    })),
    rayon("flat_map", FLAT_MAP, |input| {
        Number(input.numbers().par_iter().flat_map(few).sum())
    }),
    orx("orx_flat_map", FLAT_MAP, orx::flat_map),
    rayon("fold_reduce", FOLD, |input| {
        let none = || Extent::NONE;
        let parts = input.numbers().par_iter().fold(none, Extent::with);
        Number(parts.reduce(none, Extent::and).digest())
    }),
    rayon("par_bridge", MAP_SUM, |input| {
        Number(input.numbers().iter().par_bridge().map(weigh).sum())
    }),
    orx("orx_par_bridge", MAP_SUM, orx::iter_into_par),
    native("native_for_each", COLLECT, native::for_each),
    native("native_map", COLLECT, native::map),
    native("native_map_reduce", MAP_SUM, native::map_reduce),
    native("native_sum", MAP_SUM, native::sum),
    native("native_filter", FILTER, native::filter),
    native("native_fold", FOLD, native::fold),
    native(
        "native_count",
        |input| native::digest(&input.numbers().iter().fold(Counts::new(), native::count)),
        native::counts,
    ),
    native("native_sort", SORT, native::sort),
    of_words(native(
        "native_sort_strings",
        SORT_STRINGS,
        native::sort_strings,
    )),
    native("native_chunks", CHUNKS, native::chunks),
    native(
        "native_neighbours",
        |input| Number(input.numbers().windows(2).map(native::weigh_pair).sum()),
        native::neighbours,
    ),
    // This chain measures the cost of a call into a pool.
    Chain {
        name: "install",
        library: Library::Rayon,
        sizes: &[0],
        places: &[Place::Install],
        serial: |_| Nothing,
        parallel: |_| Nothing,
    },
];

pub const CHUNK: usize = 64;

/// Returns a number of at most 24 bits, so that sums of such numbers do not overflow.
pub fn weigh(item: &u64) -> u64 {
    item.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

pub fn weigh_all(chunk: &[u64]) -> u64 {
    chunk.iter().map(weigh).sum()
}

/// Keeps about half of the items, in a pattern that a branch predictor cannot learn.
pub fn is_kept(item: &u64) -> bool {
    item.is_multiple_of(2)
}

/// Returns a range of up to seven numbers.
pub fn few(item: &u64) -> std::ops::Range<u64> {
    0..item % 8
}

/// Returns a copy of `items` to which `change` has been applied.
pub fn changed<T: Copy>(items: &[T], change: impl FnOnce(&mut [T])) -> Vec<T> {
    let mut copy = items.to_vec();
    change(&mut copy);
    copy
}

pub struct Extent {
    least: u64,
    most: u64,
    sum: u64,
}

impl Extent {
    pub const NONE: Self = Self {
        least: u64::MAX,
        most: 0,
        sum: 0,
    };

    pub fn with(self, item: &u64) -> Self {
        Self {
            least: self.least.min(*item),
            most: self.most.max(*item),
            sum: self.sum.wrapping_add(*item),
        }
    }

    pub fn and(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            sum: self.sum.wrapping_add(other.sum),
        }
    }

    pub fn digest(self) -> u64 {
        self.least.rotate_left(1) ^ self.most.rotate_left(2) ^ self.sum
    }
}

impl Output {
    /// Returns a hash of all items of the result in their order.
    pub fn digest(&self) -> u64 {
        match self {
            Nothing => 0,
            Number(number) => *number,
            Numbers(list) => digest(list.iter().copied()),
            Smalls(list) => digest(list.iter().copied().map(u64::from)),
            Words(list) => digest(list.iter().map(|word| digest(word.bytes().map(u64::from)))),
        }
    }
}

fn digest(list: impl Iterator<Item = u64>) -> u64 {
    let mix = |sum: u64, item| sum.wrapping_mul(0x100_0000_01b3).wrapping_add(item);
    list.fold(1, mix)
}
