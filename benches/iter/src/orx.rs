//! Chains of orx-parallel's iterators. They run on Tidegate if it is linked, and otherwise on
//! orx-parallel's own pool, which never has more threads than there are CPUs that the process may
//! use.

use std::sync::LazyLock;

use orx_parallel::{IterIntoParIter, Par, ParRunner, Parallelizable, Runner};

use crate::chains::Output::{self, Number, Numbers};
use crate::chains::{few, is_kept, weigh};
use crate::input::Input;
use crate::pools::workers;

#[cfg(not(tidegate))]
fn runner() -> impl ParRunner {
    use orx_parallel::{BasicPool, Pool};

    static POOL: LazyLock<BasicPool> = LazyLock::new(|| Pool::basic(workers()));
    Runner::adaptive_with_pool(&*POOL)
}

/// Like rayon's pools, this one does not share the machine.
#[cfg(tidegate)]
fn runner() -> impl ParRunner {
    use tidegate::{Pool, policy::SharePolicy};
    use tidegate_orx::TidegatePool;

    static POOL: LazyLock<Pool> = LazyLock::new(|| {
        let builder = Pool::builder().workers(workers()).share(SharePolicy::Off);
        builder.build().expect("a pool of threads")
    });
    Runner::adaptive_with_pool(TidegatePool::new(&POOL))
}

pub fn map_sum(input: &Input) -> Output {
    Number(input.numbers().par().runner(runner()).map(weigh).sum())
}

pub fn collect(input: &Input) -> Output {
    Numbers(input.numbers().par().runner(runner()).map(weigh).collect())
}

pub fn filter_collect(input: &Input) -> Output {
    let numbers = input.numbers().par().runner(runner());
    Numbers(numbers.copied().filter(is_kept).collect())
}

pub fn flat_map(input: &Input) -> Output {
    Number(input.numbers().par().runner(runner()).flat_map(few).sum())
}

pub fn iter_into_par(input: &Input) -> Output {
    let numbers = input.numbers().iter().iter_into_par().runner(runner());
    Number(numbers.map(weigh).sum())
}
