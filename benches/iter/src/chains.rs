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

const fn loop_of(name: &'static str, serial: Work, parallel: Work) -> Chain {
    Chain {
        name,
        library: Library::Native,
        sizes: SIZES,
        places: PLACES,
        serial,
        parallel,
    }
}

pub static CHAINS: [Chain; 26] = [
    Chain {
        name: "map_sum",
        library: Library::Rayon,
        sizes: SIZES,
        places: PLACES,
        serial: |input| Number(input.numbers().iter().map(weigh).sum()),
        parallel: |input| Number(input.numbers().par_iter().map(weigh).sum()),
    },
    Chain {
        name: "orx_map_sum",
        library: Library::Orx,
        sizes: SIZES,
        places: OUTSIDE,
        serial: |input| Number(input.numbers().iter().map(weigh).sum()),
        parallel: orx::map_sum,
    },
    Chain {
        name: "collect",
        library: Library::Rayon,
        sizes: SIZES,
        places: PLACES,
        serial: |input| Numbers(input.numbers().iter().map(weigh).collect()),
        parallel: |input| Numbers(input.numbers().par_iter().map(weigh).collect()),
    },
    Chain {
        name: "orx_collect",
        library: Library::Orx,
        sizes: SIZES,
        places: OUTSIDE,
        serial: |input| Numbers(input.numbers().iter().map(weigh).collect()),
        parallel: orx::collect,
    },
    Chain {
        name: "chunks",
        library: Library::Rayon,
        sizes: SIZES,
        places: PLACES,
        serial: |input| Number(input.numbers().chunks(CHUNK).map(weigh_all).sum()),
        parallel: |input| Number(input.numbers().par_chunks(CHUNK).map(weigh_all).sum()),
    },
    Chain {
        name: "filter_collect",
        library: Library::Rayon,
        sizes: SIZES,
        places: PLACES,
        serial: |input| Numbers(input.numbers().iter().copied().filter(is_kept).collect()),
        parallel: |input| {
            Numbers(
                input
                    .numbers()
                    .par_iter()
                    .copied()
                    .filter(is_kept)
                    .collect(),
            )
        },
    },
    Chain {
        name: "orx_filter_collect",
        library: Library::Orx,
        sizes: SIZES,
        places: OUTSIDE,
        serial: |input| Numbers(input.numbers().iter().copied().filter(is_kept).collect()),
        parallel: orx::filter_collect,
    },
    Chain {
        name: "sort_unstable",
        library: Library::Rayon,
        sizes: SIZES,
        places: PLACES,
        serial: |input| Smalls(changed(input.smalls(), <[_]>::sort_unstable)),
        parallel: |input| Smalls(changed(input.smalls(), <[_]>::par_sort_unstable)),
    },
    Chain {
        name: "sort_strings",
        library: Library::Rayon,
        sizes: SIZES_OF_WORDS,
        places: PLACES,
        serial: |input| Words(changed(input.words(), <[_]>::sort)),
        parallel: |input| Words(changed(input.words(), <[_]>::par_sort)),
    },
    Chain {
        name: "flat_map",
        library: Library::Rayon,
        sizes: SIZES,
        places: PLACES,
        serial: |input| Number(input.numbers().iter().flat_map(few).sum()),
        parallel: |input| Number(input.numbers().par_iter().flat_map(few).sum()),
    },
    Chain {
        name: "orx_flat_map",
        library: Library::Orx,
        sizes: SIZES,
        places: OUTSIDE,
        serial: |input| Number(input.numbers().iter().flat_map(few).sum()),
        parallel: orx::flat_map,
    },
    Chain {
        name: "fold_reduce",
        library: Library::Rayon,
        sizes: SIZES,
        places: PLACES,
        serial: |input| {
            let all = input.numbers().iter().fold(Extent::NONE, Extent::with);
            Number(all.digest())
        },
        parallel: |input| {
            let parts = input
                .numbers()
                .par_iter()
                .fold(|| Extent::NONE, Extent::with);
            Number(parts.reduce(|| Extent::NONE, Extent::and).digest())
        },
    },
    Chain {
        name: "par_bridge",
        library: Library::Rayon,
        sizes: SIZES,
        places: PLACES,
        serial: |input| Number(input.numbers().iter().map(weigh).sum()),
        parallel: |input| Number(input.numbers().iter().par_bridge().map(weigh).sum()),
    },
    Chain {
        name: "orx_par_bridge",
        library: Library::Orx,
        sizes: SIZES,
        places: OUTSIDE,
        serial: |input| Number(input.numbers().iter().map(weigh).sum()),
        parallel: orx::iter_into_par,
    },
    loop_of(
        "native_for_each",
        |input| Numbers(input.numbers().iter().map(weigh).collect()),
        native::for_each,
    ),
    loop_of(
        "native_map",
        |input| Numbers(input.numbers().iter().map(weigh).collect()),
        native::map,
    ),
    loop_of(
        "native_map_reduce",
        |input| Number(input.numbers().iter().map(weigh).sum()),
        native::map_reduce,
    ),
    loop_of(
        "native_sum",
        |input| Number(input.numbers().iter().map(weigh).sum()),
        native::sum,
    ),
    loop_of(
        "native_filter",
        |input| Numbers(input.numbers().iter().copied().filter(is_kept).collect()),
        native::filter,
    ),
    loop_of(
        "native_fold",
        |input| {
            let all = input.numbers().iter().fold(Extent::NONE, Extent::with);
            Number(all.digest())
        },
        native::fold,
    ),
    loop_of(
        "native_count",
        |input| native::digest(&input.numbers().iter().fold(Counts::new(), native::count)),
        native::counts,
    ),
    loop_of(
        "native_sort",
        |input| Smalls(changed(input.smalls(), <[_]>::sort_unstable)),
        native::sort,
    ),
    Chain {
        sizes: SIZES_OF_WORDS,
        ..loop_of(
            "native_sort_strings",
            |input| Words(changed(input.words(), <[_]>::sort)),
            native::sort_strings,
        )
    },
    loop_of(
        "native_chunks",
        |input| Number(input.numbers().chunks(CHUNK).map(weigh_all).sum()),
        native::chunks,
    ),
    loop_of(
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
