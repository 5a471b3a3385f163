//! Looks programs up by name.
//!
//! Programs have different input and output types, so a caller that picks one by name at run time
//! gets a [`Trial`] or, for the simulator, an [`AnySimulated`].

use crate::bipartition::Bipartition;
use crate::dags::{AnySimulated, Simulated};
use crate::digest::Digest;
use crate::factors::cholesky::Cholesky;
use crate::factors::lu::Lu;
use crate::factors::sparselu::Sparselu;
use crate::fft::Fft;
use crate::fib::Fib;
use crate::intervals::layers::Layers;
use crate::intervals::pipeline::Pipeline;
use crate::intervals::stencil::Stencil;
use crate::intervals::wavefront::Wavefront;
use crate::intervals::{Crypt, Lufact, Moldyn, Montecarlo, Raytracer, Series, Sor};
use crate::knary::Knary;
use crate::locality::blockmatmul::Blockmatmul;
use crate::locality::cachestress::Cachestress;
use crate::locality::mergesort::Mergesort;
use crate::loops::Loops;
use crate::loopy::Loopy;
use crate::memory::decompress::Decompress;
use crate::memory::matmul::Matmul;
use crate::memory::memfib::Memfib;
use crate::memory::nested::Nested;
use crate::memory::sortmany::Sortmany;
use crate::memory::strassen::Strassen;
use crate::parameter::{Given, Parameter, ParameterError, Size, Values};
use crate::phases::Phases;
use crate::prefixsum::Prefixsum;
use crate::program::{Field, Program};
use crate::quicksort::Quicksort;
use crate::seriesparallel::Seriesparallel;
use crate::sssp::Sssp;
use crate::treesum::Treesum;
use crate::trial::{Trial, TrialOf};
use crate::uts::Uts;

/// Information about a program, to show to users.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The program's name on the command line.
    pub name: &'static str,
    /// A one-line description for lists of programs.
    pub summary: &'static str,
    /// The parameters. Positional ones are in their order on the command line.
    pub parameters: &'static [Parameter],
    /// The fields of the answer.
    pub result: &'static [Field],
    /// Whether the program requires a runtime with intervals.
    pub intervals: bool,
    /// Whether [`find_simulated`] finds the program. A program can't be simulated if its execution
    /// depends on more than its parameters.
    pub simulated: bool,
}

/// Expands one list of all programs into [`ENTRIES`] and both lookup functions.
macro_rules! programs {
    (simulated: $($dag:ident)*; others: $($other:ident)*) => {
        /// Information about all programs. Those that can be simulated come first.
        pub const ENTRIES: &[Entry] = &[$(simulated::<$dag>(),)* $(entry::<$other>(),)*];

        /// Returns the program called `name`, with the given parameters.
        ///
        /// # Errors
        /// If there is no such program, or if the parameters are invalid for it.
        pub fn find(name: &str, size: Size, given: &Given) -> Result<Box<dyn Trial>, ParameterError> {
            match name {
                $($dag::NAME => trial::<$dag>(size, given),)*
                $($other::NAME => trial::<$other>(size, given),)*
                _ => Err(unknown(name, ENTRIES.iter())),
            }
        }

        /// Returns the program called `name`, with the given parameters, for the simulator.
        ///
        /// # Errors
        /// If there is no such program, if it can't be simulated, or if the parameters are invalid
        /// for it.
        pub fn find_simulated(
            name: &str,
            size: Size,
            given: &Given,
        ) -> Result<Box<dyn AnySimulated>, ParameterError> {
            match name {
                $($dag::NAME => Ok(Box::new(read::<$dag>(size, given)?)),)*
                _ => Err(unknown(name, ENTRIES.iter().filter(|entry| entry.simulated))),
            }
        }
    };
}

programs! {
    simulated: Fib Treesum Uts Quicksort Loopy Knary Phases Loops Memfib
        Nested Matmul Strassen Sortmany Decompress
        Cholesky Lu Sparselu Fft Prefixsum Seriesparallel Wavefront Layers
        Cachestress Mergesort Blockmatmul;
    others: Digest Bipartition Sssp
        Crypt Lufact Moldyn Montecarlo Raytracer Series Sor Pipeline Stencil
}

/// The names of all programs in groups by kind, for help texts. New users should start with the
/// first group.
#[rustfmt::skip]
pub const GROUPS: &[(&str, &str)] = &[
    ("Real programs", "digest bipartition sssp"),
    ("Recursion", "fib treesum uts quicksort knary seriesparallel"),
    ("Loops", "loops loopy phases prefixsum"),
    ("Numerics", "lu cholesky sparselu fft"),
    ("Task graphs (intervals)", "wavefront stencil pipeline layers"),
    ("Java Grande benchmarks (intervals)", "crypt lufact moldyn montecarlo raytracer series sor"),
    ("Memory reservations", "memfib nested matmul strassen sortmany decompress"),
    ("Data locality", "cachestress mergesort blockmatmul"),
];

const fn entry<P: Program>() -> Entry {
    Entry {
        name: P::NAME,
        summary: P::SUMMARY,
        parameters: P::PARAMETERS,
        result: P::RESULT,
        intervals: P::INTERVALS,
        simulated: false,
    }
}

const fn simulated<P: Simulated>() -> Entry {
    Entry {
        simulated: true,
        ..entry::<P>()
    }
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a Entry>) -> ParameterError {
    let known: Vec<_> = known.map(|entry| entry.name).collect();
    ParameterError::new(format!(
        "unknown workload {name:?}: expected {}",
        known.join(", ")
    ))
}

fn trial<P: Program>(size: Size, given: &Given) -> Result<Box<dyn Trial>, ParameterError> {
    Ok(Box::new(TrialOf::<P>::new(read(size, given)?)))
}

fn read<P: Program>(size: Size, given: &Given) -> Result<P, ParameterError> {
    P::from_values(&Values::parse(P::PARAMETERS, size, given)?)
}
