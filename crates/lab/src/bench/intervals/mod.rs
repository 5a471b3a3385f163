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
use tidegate_command::output::{Progress, Table, print_json, show_ratio, show_seconds, to_stdout};

/// With so many workers everything is measured.
const WORKERS: [usize; 2] = [1, 2];

/// Measures costs, then programs.
pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    compare::check_rayon()?;
    let repeat = arguments.repeat;
    let pools = each(|workers| programs::pool(workers, Queue::default()))?;
    let progress = Progress::start(u64::from(repeat) * (1 + programs::all().count() as u64));
    let costs = {
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
        costs.iter().map(Cost::to_json).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
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
        return print_json(&costs.into_iter().chain(rows).collect());
    }
    print(&costs, &rows)
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

fn print(costs: &[Value], programs: &[Value]) -> Result<(), Failure> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let number = |value: &Value, show: fn(f64) -> String| {
        value.as_f64().map_or_else(|| "-".to_owned(), show)
    };
    let nanos = |value: f64| format!("{value:.1} ns");
    let mut of_costs = Table::new(["empty tasks", "runtime", "workers", "each", "an edge"]);
    for row in costs {
        of_costs.row([
            text(&row["case"]),
            text(&row["runtime"]),
            row["workers"].to_string(),
            number(&row["ns_per_interval"], nanos),
            number(&row["ns_per_edge"], nanos),
        ]);
    }
    let mut of_programs = Table::new(["program", "workers", "time", "serial", "of serial"]);
    for row in programs {
        of_programs.row([
            text(&row["case"]),
            row["workers"].to_string(),
            number(&row["seconds"], show_seconds),
            number(&row["serial_seconds"], show_seconds),
            number(&row["ratio_to_serial"], show_ratio),
        ]);
    }
    to_stdout(|out| writeln!(out, "{of_costs}\n\n{of_programs}"))
}
