//! Measures the cost of a fork on each runtime with `fib`, `treesum` and `uts`, and prints a table
//! for each program.
//!
//! The runtimes take turns at each repetition, and the tables show medians. Run it with
//! `RUST_MIN_STACK=67108864 cargo run --release --example micro -p tidegate-workloads --features
//! rayon,chili`; the environment variable gives chili's threads the stack that `uts` needs.

use std::hint::black_box;
use std::time::Instant;

use tidegate_workloads::fib::Fib;
use tidegate_workloads::treesum::Treesum;
use tidegate_workloads::uts::Uts;
use tidegate_workloads::{Chili, Program, Rayon, Runtime, Serial, Tidegate};

const REPETITIONS: usize = 15;

/// A closure that runs a program and returns the time in seconds.
type Run<'a, P> = Box<dyn FnMut(&mut <P as Program>::Input) -> f64 + 'a>;

fn main() -> std::io::Result<()> {
    compare("fib(32), per fork", &Fib::new(32), 1, 3_524_577)?;
    compare(
        "treesum 1023, per node",
        &Treesum { nodes: 1023 },
        2000,
        1023,
    )?;
    let large = (1 << 20) - 1;
    compare(
        "treesum 2^20-1, per node",
        &Treesum { nodes: large },
        1,
        large as u64,
    )?;
    if let Some(uts) = Uts::named("T3") {
        compare("uts T3, per node", &uts, 1, 4_112_897)?;
    }
    Ok(())
}

/// Prints the median time per unit of each runtime in nanoseconds, and compares it with the serial
/// version's time: the difference and the ratio.
fn compare<P: Program>(title: &str, program: &P, times: u32, units: u64) -> std::io::Result<()> {
    let serial: Run<'_, P> =
        Box::new(move |input| clock(times, || drop(black_box(program.serial(black_box(input))))));
    let mut runs = vec![("serial version".into(), serial)];
    runs.push(run_on::<P, Serial>(program, times, 1)?);
    for workers in [1, 2] {
        runs.push(run_on::<P, Tidegate>(program, times, workers)?);
        runs.push(run_on::<P, Rayon>(program, times, workers)?);
        runs.push(run_on::<P, Chili>(program, times, workers)?);
    }
    let mut input = program.prepare()?;
    let mut seconds = vec![Vec::new(); runs.len()];
    for _ in 0..REPETITIONS {
        for (seconds, (_, run)) in seconds.iter_mut().zip(&mut runs) {
            seconds.push(run(&mut input));
        }
    }
    println!("{title}");
    let medians: Vec<f64> = seconds.iter_mut().map(|s| median(s)).collect();
    for ((name, _), median) in runs.iter().zip(&medians) {
        let per_unit = |seconds: f64| seconds / f64::from(times) / units as f64 * 1e9;
        println!(
            "  {name:<16} {:>8.2} ns, {:>6.2} beyond serial, {:.2}x",
            per_unit(*median),
            per_unit(median - medians[0]),
            median / medians[0]
        );
    }
    Ok(())
}

fn run_on<'a, P: Program, R: Runtime + 'a>(
    program: &'a P,
    times: u32,
    workers: usize,
) -> std::io::Result<(String, Run<'a, P>)> {
    let runtime = R::with_workers(workers)?;
    let run = move |input: &mut P::Input| {
        runtime.install(|fork| {
            clock(times, || {
                drop(black_box(program.parallel::<R>(black_box(input), fork)))
            })
        })
    };
    Ok((format!("{} {workers}", R::NAME), Box::new(run)))
}

fn clock(times: u32, mut body: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        body();
    }
    start.elapsed().as_secs_f64()
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
