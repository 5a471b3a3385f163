//! `tidegate share`: the table through which jobs share the machine, as a file that may be in disorder.
//!
//! `check` says which file it is and why that one, who lives, who has died without leaving, and frees the rows of the dead,
//! as any job would do in passing. A file that is not to be trusted it leaves as it is. Where there is none it says whether a job can make it.

use std::io;

use serde_json::{Value, json};
use tidegate_share::{Job, Location, Observer, Soundness};

use crate::roster::{self, Row};
use tidegate_command::arguments::Format;
use tidegate_command::failure::Failure;
use tidegate_command::output;

/// Carries `share check` out.
pub fn check(format: Format) -> Result<(), Failure> {
    let location = roster::find()?;
    let found = Observer::check(&location).map_err(|refusal| roster::refused(&refusal))?;
    if format.json {
        return output::print_json(&to_json(&location, found.as_ref()));
    }
    output::to_stdout(|out| match &found {
        None => writeln!(
            out,
            "no table at {}: the first job makes it",
            roster::place(&location)
        ),
        Some(found) => write(&location, found, out),
    })
}

fn write(location: &Location, found: &Soundness, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "table       {}", roster::place(location))?;
    writeln!(out, "sound       yes")?;
    let taken = found.alive.len() + found.orphaned.len();
    writeln!(out, "rows        {}, {taken} taken", found.rows)?;
    group(out, "alive", &found.alive)?;
    group(out, "dead", &found.dead)?;
    group(out, "orphaned", &found.orphaned)?;
    writeln!(out, "freed       {}", found.repaired)?;
    if !found.orphaned.is_empty() {
        let why = "a child of the job holds the row; it counts for nobody and is free when the child ends";
        writeln!(out, "\norphaned: {why}")?;
    }
    Ok(())
}

/// How many jobs, and which.
fn group(out: &mut dyn io::Write, label: &str, jobs: &[Job]) -> io::Result<()> {
    writeln!(out, "{label:<12}{}", jobs.len())?;
    let now = roster::now();
    for row in jobs.iter().map(Row::from) {
        writeln!(
            out,
            "  {} {}, since {}",
            row.pid,
            row.name,
            row.age_text(now)
        )?;
    }
    Ok(())
}

fn to_json(location: &Location, found: Option<&Soundness>) -> Value {
    let nothing = Soundness::default();
    let soundness = found.unwrap_or(&nothing);
    let list = |jobs: &[Job]| {
        let rows = jobs.iter().map(|job| Row::from(job).to_json());
        rows.collect::<Vec<_>>()
    };
    json!({
        "table": location.path().to_string_lossy(),
        "why": location.why(),
        "exists": found.is_some(),
        "rows": soundness.rows,
        "alive": list(&soundness.alive),
        "dead": list(&soundness.dead),
        "orphaned": list(&soundness.orphaned),
        "freed": soundness.repaired,
    })
}
