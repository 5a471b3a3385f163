//! Tidegate's own loops if Tidegate is linked, and otherwise the same work with rayon's iterators.

use std::collections::HashMap;

use rayon::ThreadPool;

use crate::chains::Output::{self, Number, Numbers, Smalls, Words};
use crate::chains::{CHUNK, Extent, changed, is_kept, weigh, weigh_all};
use crate::input::Input;
use crate::trouble::Trouble;

/// How often each key occurs.
pub type Counts = HashMap<u64, u64>;

/// Returns one of a thousand keys.
fn key(item: &u64) -> u64 {
    item % 1000
}

pub fn count(mut counts: Counts, item: &u64) -> Counts {
    *counts.entry(key(item)).or_default() += 1;
    counts
}

fn merge(into: Counts, from: Counts) -> Counts {
    from.into_iter().fold(into, |mut counts, (key, count)| {
        *counts.entry(key).or_default() += count;
        counts
    })
}

/// Returns a number that does not depend on the order of the map.
pub fn digest(counts: &Counts) -> Output {
    let mix = |(key, count): (&u64, &u64)| (key + 1).wrapping_mul(count.wrapping_mul(*count));
    Number(counts.iter().map(mix).fold(0, u64::wrapping_add))
}

/// Weighs two neighbours.
pub fn weigh_pair(pair: &[u64]) -> u64 {
    weigh(&(pair[0] ^ pair[1]))
}

fn kept(item: &u64) -> Option<u64> {
    is_kept(item).then_some(*item)
}

fn replace(item: &mut u64) {
    *item = weigh(item);
}

#[cfg(tidegate)]
mod imp {
    use super::*;
    use crate::pools;
    use std::sync::LazyLock;
    use tidegate::Pool;

    /// Starts the pool that runs loops from outside a pool.
    pub fn start_global(workers: usize) -> Result<(), Trouble> {
        let built = tidegate::build_global(Pool::builder().workers(workers));
        built.map_err(|error| Trouble::Refused(error.to_string()))
    }

    /// Runs `f` on a worker of a native pool. rayon's pool is not used.
    pub fn install<R: Send>(_: &ThreadPool, f: impl FnOnce() -> R + Send) -> R {
        static POOL: LazyLock<Pool> = LazyLock::new(|| {
            let builder = Pool::builder().workers(pools::workers());
            builder.build().expect("a pool of threads")
        });
        POOL.install(f)
    }

    pub fn for_each(input: &Input) -> Output {
        Numbers(changed(input.numbers(), |items| {
            tidegate::for_each(items, replace)
        }))
    }

    pub fn map(input: &Input) -> Output {
        Numbers(tidegate::par_map(input.numbers(), weigh))
    }

    pub fn map_reduce(input: &Input) -> Output {
        Number(tidegate::map_reduce(input.numbers(), weigh, |a, b| a + b).unwrap_or(0))
    }

    pub fn sum(input: &Input) -> Output {
        Number(tidegate::sum(input.numbers(), weigh))
    }

    pub fn filter(input: &Input) -> Output {
        Numbers(tidegate::filter_map(input.numbers(), kept))
    }

    pub fn fold(input: &Input) -> Output {
        let none = || Extent::NONE;
        Number(tidegate::fold_reduce(input.numbers(), none, Extent::with, Extent::and).digest())
    }

    pub fn counts(input: &Input) -> Output {
        digest(&tidegate::fold_reduce(
            input.numbers(),
            Counts::new,
            count,
            merge,
        ))
    }

    pub fn sort(input: &Input) -> Output {
        Smalls(changed(input.smalls(), tidegate::sort_unstable))
    }

    pub fn sort_strings(input: &Input) -> Output {
        Words(changed(input.words(), tidegate::sort))
    }

    pub fn chunks(input: &Input) -> Output {
        Number(tidegate::sum(
            tidegate::chunks(input.numbers(), CHUNK),
            weigh_all,
        ))
    }

    pub fn neighbours(input: &Input) -> Output {
        Number(tidegate::sum(
            tidegate::windows(input.numbers(), 2),
            weigh_pair,
        ))
    }
}

#[cfg(not(tidegate))]
mod imp {
    use super::*;
    use rayon::prelude::*;

    /// rayon's own global pool runs the loops.
    pub fn start_global(_: usize) -> Result<(), Trouble> {
        Ok(())
    }

    pub fn install<R: Send>(pool: &ThreadPool, f: impl FnOnce() -> R + Send) -> R {
        pool.install(f)
    }

    pub fn for_each(input: &Input) -> Output {
        Numbers(changed(input.numbers(), |items| {
            items.par_iter_mut().for_each(replace)
        }))
    }

    pub fn map(input: &Input) -> Output {
        Numbers(input.numbers().par_iter().map(weigh).collect())
    }

    pub fn map_reduce(input: &Input) -> Output {
        Number(
            input
                .numbers()
                .par_iter()
                .map(weigh)
                .reduce(|| 0, |a, b| a + b),
        )
    }

    pub fn sum(input: &Input) -> Output {
        Number(input.numbers().par_iter().map(weigh).sum())
    }

    pub fn filter(input: &Input) -> Output {
        Numbers(input.numbers().par_iter().filter_map(kept).collect())
    }

    pub fn fold(input: &Input) -> Output {
        let none = || Extent::NONE;
        let parts = input.numbers().par_iter().fold(none, Extent::with);
        Number(parts.reduce(none, Extent::and).digest())
    }

    pub fn counts(input: &Input) -> Output {
        let parts = input.numbers().par_iter().fold(Counts::new, count);
        digest(&parts.reduce(Counts::new, merge))
    }

    pub fn sort(input: &Input) -> Output {
        Smalls(changed(input.smalls(), <[_]>::par_sort_unstable))
    }

    pub fn sort_strings(input: &Input) -> Output {
        Words(changed(input.words(), <[_]>::par_sort))
    }

    pub fn chunks(input: &Input) -> Output {
        Number(input.numbers().par_chunks(CHUNK).map(weigh_all).sum())
    }

    pub fn neighbours(input: &Input) -> Output {
        Number(input.numbers().par_windows(2).map(weigh_pair).sum())
    }
}

pub use imp::*;
