//! `tidegate jobs`: lists the jobs that currently share the machine.
//!
//! The command reads the table only once, so it can't report whether a job is stalled. It neither
//! joins the table nor creates one.

use clap::Args;
use serde_json::{Value, json};
use tidegate_share::{Location, Observer};

use crate::roster::{self, JobStatus};
use tidegate_cli_support::arguments::TableFormat;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::{self, describe};

#[derive(Args, Clone, Copy, Debug)]
#[command(after_help = help())]
pub struct ListArguments {
    #[command(flatten)]
    pub format: TableFormat,
}

fn help() -> String {
    format!("{ABOUT}{}\n{CODES}", describe(JobStatus::FIELDS))
}

const ABOUT: &str = "\
`desire` is the number of processors that a job could use. `allotment` is the number that it is entitled to. \
`in use` is the number of its running workers, whether or not each has a processor at the moment. `efficiency` is the \
fraction of their time that goes into work. `weight` is the job's weight relative to others. Of a program that \
`tidegate exec` runs, `in use` is the number of processors that it keeps busy, and the efficiency is unknown.

Every active job is entitled to at least one processor. Allotments can therefore exceed the number of processors: \
permanently if there are more active jobs than processors, and briefly after desires change. The allotment of a job \
with a desire of 0 is not reserved; it is what the job would start with.

This is a single snapshot. Only `tidegate top` shows whether a job is stalled.

JSON: table (the path), why (how it was chosen), exists (whether there is a table), jobs: a list of
";

const CODES: &str =
    "Exit codes: 0 success, even without a table; 2 invalid usage, 3 the table cannot be used.";

pub fn print(format: TableFormat) -> Result<(), Failure> {
    let location = roster::find()?;
    let jobs = look(&location)?;
    if format.json {
        return output::print_json(&to_json(&location, jobs.as_deref()));
    }
    if format.csv {
        return roster::table(jobs.as_deref().unwrap_or_default()).print(format);
    }
    let place = roster::place(&location);
    output::to_stdout(|out| match jobs.as_deref() {
        None => writeln!(out, "no jobs: there is no table at {place}"),
        Some([]) => writeln!(out, "no jobs in the table at {place}"),
        Some(jobs) => {
            let count = output::show_count(jobs.len(), "job");
            writeln!(out, "{count} in the table at {place}")?;
            writeln!(out, "{}", roster::table(jobs).text(format.wide))
        }
    })
}

/// Returns the jobs in the table, or `None` if there is no table.
fn look(location: &Location) -> Result<Option<Vec<JobStatus>>, Failure> {
    let jobs = Observer::open(location)
        .and_then(|observer| observer.map(|mut observer| observer.jobs()).transpose())
        .map_err(|refusal| roster::refused(&refusal))?;
    Ok(jobs.map(|jobs| jobs.iter().map(JobStatus::from).collect()))
}

fn to_json(location: &Location, jobs: Option<&[JobStatus]>) -> Value {
    json!({
        "table": location.path().to_string_lossy(),
        "why": location.why(),
        "exists": jobs.is_some(),
        "jobs": jobs.unwrap_or_default().iter().map(JobStatus::to_json).collect::<Vec<_>>(),
    })
}
