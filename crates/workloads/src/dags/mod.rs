//! The programs as dags, for the simulator.
//!
//! A dag has the same tasks, forks and spawns as the program's parallel body with the same
//! parameters, and the same parts run in series and in parallel. The time that a task takes by
//! itself is a constant of the program: the time per node, step or item of the serial version on
//! the machine of `docs/performance.md` in November 2026 (`tidegate run PROGRAM --serial`, best of
//! three). Small constants are rounded to whole nanoseconds.
//!
//! A dag differs from the body in two ways. In a dag, a spawn runs the child first, as in Cilk; in
//! the runtime, the scope continues and the child is queued. In a dag, joins always halve a
//! parallel loop down to single parts; the runtime splits a loop only when thieves request work.
//!
//! A dag doesn't compute the answer, unless the data determines its execution, as in `uts` and
//! `quicksort`.

mod blockmatmul;
mod cachestress;
mod calls;
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
mod slowed;
mod sortmany;
mod sparselu;
mod treesum;
mod uts;
mod wavefront;

pub use calls::{Calls, CallsDag};
pub use recipe::RecipeDag;
pub use slowed::Slowed;

use crate::program::{Answer, Program};
use tidegate_sim::{AnyDag, Dag};

/// A program that can be simulated.
pub trait Simulated: Program {
    /// The dag that [`dag`](Self::dag) returns.
    type Dag: Dag;

    /// Returns the dag of the program with its current parameters.
    fn dag(&self) -> Self::Dag;
}

/// A program that can be simulated, as a trait object, so that code that uses it is compiled only
/// once.
pub trait AnySimulated: Send + Sync {
    /// Returns the program's name on the command line.
    fn name(&self) -> &'static str;

    /// Returns the parameters that affect a run, with their values.
    fn parameters(&self) -> Answer;

    /// Returns the program's dag, with work that takes `factor` times as long. Some dags change
    /// data while they unfold, so each serves only one job.
    fn slowed(&self, factor: f64) -> Box<dyn AnyDag>;
}

impl<P: Simulated> AnySimulated for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn parameters(&self) -> Answer {
        Program::parameters(self)
    }

    fn slowed(&self, factor: f64) -> Box<dyn AnyDag> {
        let dag = self.dag();
        Box::new(Slowed { dag, factor })
    }
}
