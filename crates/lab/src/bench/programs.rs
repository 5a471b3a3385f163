//! Times the programs made of intervals, serially and on several pools, with interleaved runs.

use tidegate::policy::SharePolicy;
use tidegate::{Builder, Pool};
use tidegate_workloads::registry::ENTRIES;
use tidegate_workloads::{Given, Size, Tidegate};

use super::subject::Subject;
use crate::engine::{Cell, Sample, Session};
use tidegate_cli_support::failure::Failure;

pub struct Times {
    pub program: &'static str,
    pub serial: Sample,
    /// Run times on each pool, in the order of the pools.
    pub pools: Vec<Sample>,
}

/// Creates a pool that does not share the machine with other jobs.
pub fn pool(builder: Builder) -> Result<Pool, Failure> {
    let pool = builder.share(SharePolicy::Off).build();
    pool.map_err(|error| Failure::Impossible(error.to_string()))
}

/// Times all programs, serially and on each of these named pools, with interleaved runs.
pub fn time(
    session: &Session,
    size: Size,
    pools: &[(String, Tidegate)],
    repeat: u32,
) -> Result<Vec<Times>, Failure> {
    let programs = ENTRIES.iter().filter(|entry| entry.intervals);
    let subjects: Vec<(&'static str, Subject)> = programs
        .map(|entry| (entry.name, Subject::new(entry.name, size, Given::default())))
        .collect();
    let mut cells = Vec::new();
    for (name, subject) in &subjects {
        cells.push(Cell::new(format!("{name}/serial"), |_| subject.time(None)));
        cells.extend(pools.iter().map(|(on, pool)| {
            Cell::new(format!("{name}/{on}"), move |_| subject.time(Some(pool)))
        }));
    }
    let runs = repeat.into();
    session.expect(&cells, runs);
    session.begin()?;
    let mut seconds = session.in_turns(&cells, runs)?.into_iter().map(Sample::new);
    let times = |(program, _): &(&'static str, Subject)| Times {
        program,
        serial: seconds.next().expect("no cell is left out"),
        pools: seconds.by_ref().take(pools.len()).collect(),
    };
    Ok(subjects.iter().map(times).collect())
}
