//! `bench intervals`: what an interval and an edge cost, and what programs made of them take.
//!
//! Costs are those of empty tasks ([`costs`]), beside spawns into scopes, which order nothing, and beside `dagrs`, of the crates for graphs of tasks
//! that are looked after the best known ([`graphs`]).

mod costs;
mod graphs;

use serde_json::{Value, json};
use tidegate::Queue;
use tidegate_workloads::{Rayon, Runtime, Tidegate};

use super::programs;
use crate::arguments::{ProgramsArguments, Size};
use costs::Cost;
use graphs::Graphs;
use tidegate_command::compare;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, Table, Value as Cell, print_json};

/// With so many workers everything is measured.
const WORKERS: [usize; 2] = [1, 2];

/// Measures costs, then programs.
pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    compare::check_rayon()?;
    let repeat = arguments.repeat;
    let pools = each(|workers| programs::pool(workers, Queue::default()))?;
    let progress = Progress::start(u64::from(repeat) * (1 + programs::all().count() as u64));
    let mut rows: Vec<Value> = {
        let refused = |error: std::io::Error| Failure::Impossible(error.to_string());
        let rayons = each(|workers| Rayon::with_workers(workers).map_err(refused))?;
        let graphs = each(|workers| Graphs::with_workers(workers).map_err(refused))?;
        let batches = match arguments.size {
            Size::Tiny => 20,
            Size::Small | Size::Paper => 2_000,
        };
        let runtimes = pools.iter().zip(&rayons).zip(&graphs).zip(WORKERS);
        let mut costs: Vec<_> = runtimes
            .flat_map(|(((pool, rayon), graphs), workers)| {
                costs::all(pool, rayon, graphs, workers, batches)
            })
            .collect();
        for _ in 0..repeat {
            progress.say("empty intervals");
            costs::measure(&mut costs);
            progress.step();
        }
        costs.iter().map(Cost::to_json).collect()
    };
    for entry in programs::all() {
        let size = arguments.size.into();
        let times = programs::time(entry.name, size, &pools, repeat, &progress)?;
        let serial = times.serial.median();
        for (seconds, workers) in times.pools.iter().zip(WORKERS) {
            rows.push(of_program(entry.name, workers, seconds.median(), serial));
        }
    }
    drop(progress);
    if arguments.format.json {
        return print_json(&rows.into());
    }
    table(&rows).print(arguments.format)
}

fn each<T>(start: impl Fn(usize) -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
    WORKERS.into_iter().map(start).collect()
}

/// The row of a program; all rows have the same fields.
fn of_program(name: &str, workers: usize, seconds: f64, serial: f64) -> Value {
    json!({
        "case": name,
        "runtime": Tidegate::NAME,
        "workers": workers,
        "edges": null,
        "ns_per_interval": null,
        "ns_per_edge": null,
        "seconds": seconds,
        "serial_seconds": serial,
        "ratio_to_serial": seconds / serial,
    })
}

/// The most important columns first.
fn table(rows: &[Value]) -> Table {
    let mut table = Table::new([
        "case",
        "runtime",
        "workers",
        "each",
        "an edge",
        "time",
        "of serial",
        "serial",
    ]);
    for row in rows {
        let text = |field| Cell::from(row[field].as_str().unwrap_or_default());
        let nanos = |field| {
            let nanos = row[field].as_f64();
            Cell::known(nanos.map(|nanos| nanos / 1e9), Cell::Seconds)
        };
        table.row([
            text("case"),
            text("runtime"),
            Cell::known(row["workers"].as_f64(), Cell::Number),
            nanos("ns_per_interval"),
            nanos("ns_per_edge"),
            Cell::known(row["seconds"].as_f64(), Cell::Seconds),
            Cell::known(row["ratio_to_serial"].as_f64(), Cell::Ratio),
            Cell::known(row["serial_seconds"].as_f64(), Cell::Seconds),
        ]);
    }
    table
}
