//! A bench's job: one program on one runtime, in its own process.
//!
//! The bench and the job exchange lines of JSON through the job's standard input and output. The
//! bench sends a request that specifies what to run. The job starts its threads, prepares the
//! program's input and reports that it is ready. The bench then starts the run, and the job reports
//! the result. The process keeps its resources until the bench closes the job's standard input.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use tidegate::Stats;
use tidegate::memory::stats;
use tidegate_workloads::{Counted, Given, On, Rayon, Runtime, Serial, Size, Trial, find};

use super::crew::{Done, Memory, Told};
use crate::ALLOCATOR;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::trial;
use tidegate_cli_support::usage::{Usage, peak_rss_bytes};

/// The line with which a bench says what to run.
#[derive(Deserialize)]
struct Request {
    program: String,
    parameters: BTreeMap<String, String>,
    runtime: String,
    workers: usize,
    #[serde(default)]
    counts_memory: bool,
}

pub fn serve() -> Result<(), Failure> {
    let line = next_line()?;
    let request = Request::deserialize(&line)
        .map_err(|_| Failure::Usage(format!("`bench job` does not understand {line}")))?;
    let given = Given {
        named: request
            .parameters
            .iter()
            .map(|(name, value)| (name.clone(), value.into()))
            .collect(),
        ..Given::default()
    };
    let program = find(&request.program, Size::Tiny, &given)?;
    let counted = || {
        let memory = Memory {
            declared: Counted::take_peak(),
            ..Memory::default()
        };
        (memory, Told::default())
    };
    match request.runtime.as_str() {
        Rayon::NAME => run(program, &request, |rayon| On::Rayon(rayon), |_| counted()),
        Serial::NAME => run::<Serial>(program, &request, |_| On::Thread, |_| counted()),
        _ => run(
            program,
            &request,
            |pool| On::Tidegate(pool),
            |pool| told(&pool.pool().stats()),
        ),
    }?;
    // Wait until the bench closes the pipe.
    let _ = io::stdin().lock().read_line(&mut String::new());
    Ok(())
}

fn next_line() -> Result<Value, Failure> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    let told = |why: String| Failure::Usage(format!("`bench job` is for other benches: {why}"));
    read.map_err(|error| told(error.to_string()))?;
    serde_json::from_str(&line).map_err(|error| told(error.to_string()))
}

fn say(value: &Value) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let said = writeln!(out, "{value}").and_then(|()| out.flush());
    said.map_err(|error| {
        Failure::Impossible(format!("this job cannot write to standard output: {error}"))
    })
}

fn told(stats: &Stats) -> (Memory, Told) {
    let memory = Memory {
        declared: stats.memory.peak,
        steals: stats.counters.steals,
        sleeps: stats.memory.sleeps,
        ..Memory::default()
    };
    let told = Told {
        steals: stats.counters.steals,
        sleeps: stats.counters.sleeps,
        asleep_seconds: stats.counters.asleep_seconds,
        busy_seconds: stats.breakdown.busy,
        stealing_seconds: stats.breakdown.stealing,
    };
    (memory, told)
}

/// Prepares the program, waits for the bench's start signal, runs the program and reports the
/// result.
fn run<R: Runtime>(
    mut trial: Box<dyn Trial>,
    request: &Request,
    on: fn(&R) -> On<'_>,
    tell: impl Fn(&R) -> (Memory, Told),
) -> Result<(), Failure> {
    if request.counts_memory {
        ALLOCATOR.start();
    }
    let refused = |error: io::Error| Failure::Impossible(format!("{}: {error}", R::NAME));
    let runtime = R::with_workers(request.workers).map_err(refused)?;
    trial.fits(on(&runtime))?;
    trial::prepare(&mut *trial)?;
    runtime.install(|fork| R::join(fork, |_| (), |_| ()));
    say(&json!({"ready": true}))?;
    next_line()?;
    let (_, before) = tell(&runtime);
    let start = Instant::now();
    let (used, _) = Usage::of(|| trial.run(on(&runtime)));
    let seconds = start.elapsed().as_secs_f64();
    let (memory, told) = tell(&runtime);
    let memory = request.counts_memory.then(|| Memory {
        resident: peak_rss_bytes(),
        undeclared: stats().undeclared_peak,
        ..memory
    });
    trial.keep();
    say(&json!(Done {
        seconds,
        cpu_seconds: used.cpu_seconds(),
        context_switches: used.switches,
        told: told.since(before),
        memory,
        answer: json!(trial.answer()),
    }))
}
