//! Times a program that may be too short for the clock.
//!
//! The program runs repeatedly until its runs have taken [`SAMPLE`] in total. Each run is timed
//! separately, so that the reset before it isn't included. The result is the mean.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tidegate_workloads::Program;

/// The minimum total time of the runs in a sample.
pub const SAMPLE: Duration = Duration::from_millis(5);

/// Returns the mean time of a run, in nanoseconds, and the output of the last run.
pub fn timed<P: Program>(
    program: &P,
    input: &mut P::Input,
    mut once: impl FnMut(&mut P::Input) -> P::Output,
) -> (f64, P::Output) {
    let mut total = Duration::ZERO;
    let mut runs = 0_u32;
    loop {
        program.reset(input);
        let start = Instant::now();
        let output = black_box(once(black_box(input)));
        total += start.elapsed();
        runs += 1;
        if total >= SAMPLE {
            return (total.as_nanos() as f64 / f64::from(runs), output);
        }
    }
}
