//! The programs as dags, for the simulator.
//!
//! A dag has the tasks, forks and spawns of the program's parallel body with the same parameters, and the same order of series
//! and parallel parts; the time that a task takes by itself is a constant of the program. The constants are what the serial
//! version took per node, step or item on the machine of `docs/performance.md` in November 2026, rounded to whole numbers of nanoseconds where
//! they are small: `tidegate run PROGRAM --serial`, best of three.
//!
//! Two things differ from the body. A spawn runs the child first, as in Cilk, where a scope of the runtime goes on and lets the
//! child wait; and a parallel loop is halved by joins, where the runtime splits it as thieves ask for work.
//!
//! What a dag does not do: compute the answer, except where its course depends on the data, as in `uts` and `quicksort`.

mod blockmatmul;
mod cachestress;
mod cholesky;
mod decompress;
mod fft;
mod fib;
mod knary;
mod layers;
mod loops;
mod loopy;
mod lu;
mod memfib;
mod mergesort;
mod nested;
mod phases;
mod prefixsum;
mod product;
mod quicksort;
mod recipe;
mod seriesparallel;
mod sortmany;
mod sparselu;
mod treesum;
mod uts;
mod wavefront;

pub use blockmatmul::BlockmatmulDag;
pub use cachestress::CachestressDag;
pub use cholesky::CholeskyDag;
pub use fft::FftDag;
pub use fib::FibDag;
pub use knary::KnaryDag;
pub use layers::LayersDag;
pub use loops::LoopsDag;
pub use loopy::LoopyDag;
pub use lu::LuDag;
pub use memfib::MemfibDag;
pub use mergesort::MergesortDag;
pub use phases::PhasesDag;
pub use prefixsum::PrefixsumDag;
pub use quicksort::QuicksortDag;
pub use recipe::RecipeDag;
pub use seriesparallel::SeriesparallelDag;
pub use sparselu::SparseluDag;
pub use treesum::TreesumDag;
pub use uts::UtsDag;
pub use wavefront::WavefrontDag;

use crate::program::Program;
use tidegate_sim::Dag;

/// A program that can be simulated.
pub trait Simulated: Program {
    /// Its tasks.
    type Dag: Dag;

    /// The dag of the program with these parameters.
    fn dag(&self) -> Self::Dag;
}
