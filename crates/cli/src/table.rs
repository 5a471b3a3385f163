//! `tidegate table`: inspects and cleans up the file through which jobs share the machine.
//!
//! `check` prints the file's path and why it was chosen, the live jobs, and the jobs that died
//! without leaving. It frees the rows of dead jobs, and gives the threads of programs back the
//! processors that a killed `tidegate exec` took from them, as any other job would eventually do.
//! But it does not change an untrusted file. If there is no file, it reports whether a job could
//! create one.

use std::io;

use serde_json::{Value, json};
use tidegate_share::confinement::{self, Records};
use tidegate_share::{Job, Location, Observer, Soundness};

use crate::roster::{self, JobStatus};
use tidegate_cli_support::arguments::Format;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output;

pub fn check(format: Format) -> Result<(), Failure> {
    let location = roster::find()?;
    // The records are restored even if the table beside them is damaged.
    let records = confinement::check(&location);
    let found = Observer::check(&location).map_err(|refusal| roster::refused(&refusal))?;
    let records = records.map_err(|refusal| roster::refused(&refusal))?;
    if format.json {
        return output::print_json(&to_json(&location, found.as_ref(), &records));
    }
    output::to_stdout(|out| {
        match &found {
            None => writeln!(
                out,
                "no table at {}: the first job creates it",
                roster::place(&location)
            )?,
            Some(found) => write(&location, found, out)?,
        }
        write_records(&records, out)
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
        let why = "a child of the job holds the row; no job uses it, and it is freed when the child exits";
        writeln!(out, "\norphaned: {why}")?;
    }
    Ok(())
}

/// Writes nothing if there are no records.
fn write_records(records: &Records, out: &mut dyn io::Write) -> io::Result<()> {
    let ignored: Vec<String> = records.ignored.iter().map(ToString::to_string).collect();
    let groups = [
        ("confined", &records.owned),
        ("restored", &records.restored),
        ("left alone", &ignored),
    ];
    for (label, lines) in groups.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        writeln!(out, "{label:<12}{}", lines.len())?;
        for line in lines {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

fn group(out: &mut dyn io::Write, label: &str, jobs: &[Job]) -> io::Result<()> {
    writeln!(out, "{label:<12}{}", jobs.len())?;
    let now = roster::now();
    for job in jobs.iter().map(JobStatus::from) {
        writeln!(
            out,
            "  {} {}, since {}",
            job.pid,
            job.name,
            job.age_text(now)
        )?;
    }
    Ok(())
}

fn to_json(location: &Location, found: Option<&Soundness>, records: &Records) -> Value {
    let nothing = Soundness::default();
    let soundness = found.unwrap_or(&nothing);
    let list = |jobs: &[Job]| {
        let rows = jobs.iter().map(|job| JobStatus::from(job).to_json());
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
        "records": {
            "confined": records.owned,
            "restored": records.restored,
            "left_alone": records.ignored.iter().map(ToString::to_string).collect::<Vec<_>>(),
        },
    })
}
