//! `tidegate-lab bench`: benchmarks of the runtime on this machine.
//!
//! They measure how jobs share the machine, and other programs under `tidegate exec`; what queues,
//! places, intervals, streams and memory policies gain or cost within a job; how fast programs
//! written for rayon are; and what single operations cost. The simulator uses these costs.
//!
//! Benches with several jobs run each job in its own process ([`job`]), which this process starts
//! and controls ([`crew`]). The jobs share a private table, so they and unrelated jobs on the
//! machine do not disturb each other.

mod arguments;
pub mod calibrate;
mod counters;
pub mod crew;
#[cfg(target_os = "linux")]
pub mod exec;
pub mod handover;
pub mod intervals;
mod job;
pub mod memory;
pub mod places;
pub mod programs;
pub mod queues;
pub mod rayon_programs;
pub mod streams;
pub mod subject;

pub use arguments::{
    Bench, BenchArguments, ExecArguments, HandoverArguments, ProgramsArguments, QueuesArguments,
    RayonProgramsArguments,
};
use tidegate_cli_support::failure::Failure;

pub fn bench(arguments: &BenchArguments) -> Result<(), Failure> {
    match &arguments.bench {
        Bench::Handover(arguments) => handover::bench(arguments),
        Bench::Queues(arguments) => queues::bench(arguments),
        Bench::Places(arguments) => places::bench(arguments),
        Bench::Intervals(arguments) => intervals::bench(arguments),
        Bench::Memory(arguments) => memory::bench(arguments),
        Bench::Streams(arguments) => streams::bench(arguments),
        Bench::Calibrate(arguments) => calibrate::bench(arguments),
        Bench::RayonPrograms(arguments) => rayon_programs::bench(arguments),
        #[cfg(target_os = "linux")]
        Bench::Exec(arguments) => exec::bench(arguments),
        #[cfg(target_os = "linux")]
        Bench::RayonUts { size, repeat } => exec::rayon::serve(*size, *repeat),
        #[cfg(not(target_os = "linux"))]
        Bench::Exec(_) | Bench::RayonUts { .. } => Err(Failure::Impossible(
            "`tidegate exec` works only on Linux".to_owned(),
        )),
        Bench::Job => job::serve(),
        Bench::Measure => rayon_programs::measure::serve(),
    }
}
