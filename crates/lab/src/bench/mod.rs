//! `tidegate-lab bench`: how jobs divide this machine, what queues, places, intervals and orders for memory are worth in one,
//! how fast programs made for rayon are, and what the costs of the simulated machine are here.
//!
//! Each job of several is a process of its own ([`job`]), started and told what to do by this one ([`crew`]). All of them use a table of their own,
//! so that jobs of other programs neither disturb nor are disturbed.

mod calibrate;
mod counters;
pub mod crew;
mod intervals;
mod job;
pub mod memory;
mod places;
mod programs;
mod queues;
mod rayon_programs;
mod share;
pub mod subject;
mod two_level;

use crate::arguments::{Bench, BenchArguments};
use tidegate_command::failure::Failure;

/// Measures what was asked for.
pub fn bench(arguments: &BenchArguments) -> Result<(), Failure> {
    match &arguments.bench {
        Bench::TwoLevel(arguments) => two_level::bench(arguments),
        Bench::Share(arguments) => share::bench(arguments),
        Bench::Queues(arguments) => queues::bench(arguments),
        Bench::Places(arguments) => places::bench(arguments),
        Bench::Intervals(arguments) => intervals::bench(arguments),
        Bench::Memory(arguments) => memory::bench(arguments),
        Bench::Calibrate(arguments) => calibrate::bench(arguments),
        Bench::RayonPrograms(arguments) => rayon_programs::bench(arguments),
        Bench::Job => job::serve(),
        Bench::Measure => rayon_programs::measure::serve(),
    }
}
