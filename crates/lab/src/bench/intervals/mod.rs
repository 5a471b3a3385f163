//! `bench intervals`: the cost of an interval and of an edge, and the run times of programs that
//! are made of intervals.
//!
//! The costs are measured with empty tasks ([`costs`]), and compared with those of unordered spawns
//! into scopes and of `dagrs`, the best-known maintained crate for task graphs ([`graphs`]). A build
//! without the feature `dagrs` refuses the bench.

mod costs;
#[cfg_attr(not(feature = "dagrs"), path = "no_graphs.rs")]
mod graphs;

use tidegate::Pool;
use tidegate_workloads::{Rayon, Runtime, Tidegate};

use super::programs;
use crate::bench::ProgramsArguments;
use crate::engine::Session;
use crate::engine::sheet::{Column, Field, Sheet};
use graphs::Graphs;
use tidegate_cli_support::arguments::Size;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::Value;
use tidegate_cli_support::{columns, compare};

/// The numbers of workers on which the costs are measured.
const WORKERS: [usize; 2] = [1, 2];

const NANOS: fn(f64) -> Value = |nanos| Value::Seconds(nanos / 1e9);

pub const COLUMNS: &[Column] = columns! {
    case "case" Value::Number,
        "a pattern of empty tasks, or a program; fields that do not apply to it are null";
    runtime "runtime" Value::Number, "";
    workers "workers" Value::Number, "";
    edges "" Value::Number, "mean number per empty task";
    ns_per_interval "each" NANOS, "for an empty task with its edges";
    ns_per_edge "an edge" NANOS, "the added time for each edge";
    seconds "time" Value::Seconds, "for a program";
    ratio_to_serial "of serial" Value::Ratio, "for a program";
    serial_seconds "serial" Value::Seconds, "for a program";
};

pub fn bench(arguments: &ProgramsArguments) -> Result<(), Failure> {
    compare::check_rayon()?;
    let ProgramsArguments { repeat, size, .. } = arguments;
    let session = Session::whole("bench-intervals", *size, &arguments.keep);
    let pools = each(|workers| {
        let pool = programs::pool(Pool::builder().workers(workers))?;
        Ok((workers.to_string(), Tidegate::new(pool)))
    })?;
    let mut sheet = Sheet::new(COLUMNS);
    add_costs(&mut sheet, &session, &pools, *size, *repeat)?;
    for times in programs::time(&session, (*size).into(), &pools, *repeat)? {
        for (seconds, workers) in times.pools.iter().zip(WORKERS) {
            sheet.row([
                Field::text(times.program),
                Field::text(Tidegate::NAME),
                Field::count(workers),
                Field::NONE,
                Field::NONE,
                Field::NONE,
                Field::Measured(seconds.interval()),
                Field::Measured(seconds.over(&times.serial)),
                Field::Measured(times.serial.interval()),
            ]);
        }
    }
    sheet.print(arguments.format, &session.notes())
}

fn add_costs(
    sheet: &mut Sheet,
    session: &Session,
    pools: &[(String, Tidegate)],
    size: Size,
    repeat: u32,
) -> Result<(), Failure> {
    let refused = |error: std::io::Error| Failure::Impossible(error.to_string());
    let rayons = each(|workers| Rayon::with_workers(workers).map_err(refused))?;
    let graphs = each(|workers| Graphs::with_workers(workers).map_err(refused))?;
    let batches = match size {
        Size::Tiny => 20,
        Size::Small | Size::Paper => 2_000,
    };
    let runtimes = pools.iter().zip(&rayons).zip(&graphs).zip(WORKERS);
    let mut costs: Vec<_> = runtimes
        .flat_map(|((((_, pool), rayon), graphs), workers)| {
            costs::all(pool, rayon, graphs, workers, batches)
        })
        .collect();
    costs::measure(session, &mut costs, repeat)?;
    for cost in costs {
        let edge = if cost.edge.is_empty() {
            Field::NONE
        } else {
            Field::Measured(cost.edge.interval())
        };
        sheet.row([
            Field::text(cost.case),
            Field::text(cost.runtime),
            Field::count(cost.workers),
            Field::number(cost.edges()),
            Field::Measured(cost.each.interval()),
            edge,
            Field::NONE,
            Field::NONE,
            Field::NONE,
        ]);
    }
    Ok(())
}

fn each<T>(start: impl Fn(usize) -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
    WORKERS.into_iter().map(start).collect()
}
