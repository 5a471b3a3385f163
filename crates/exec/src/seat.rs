//! The program's row of the table.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use tidegate_machine::Machine;
use tidegate_policy::share::SharePolicy;
use tidegate_share::confinement::{VARIABLE, restore_abandoned};
use tidegate_share::{CpuMask, Location, Name, Refusal, Report, Seat};

use crate::{How, Options, say};

/// A seat in the table, and the number of threads that the program should start.
pub struct Place {
    pub seat: Seat,
    /// Where the table is.
    pub location: Location,
    /// The machine as it was before the program started.
    pub machine: Machine,
    /// The most processors that the program may ever have.
    pub threads: usize,
    /// One line for `TIDEGATE_EXPLAIN=1`.
    pub reason: String,
}

impl Place {
    /// Takes a seat for the program. If that is not possible, says so, and the program runs as it
    /// would without the command.
    pub fn take(options: &Options) -> Option<Self> {
        if options.share == SharePolicy::Off {
            if options.explain {
                say(why_off());
            }
            return None;
        }
        let place = check_proc().and_then(|()| {
            let place = Self::try_take(options);
            place.map_err(|refusal| refusal.to_string())
        });
        place
            .inspect_err(|reason| say(&format!("the program runs without sharing: {reason}")))
            .ok()
    }

    fn try_take(options: &Options) -> Result<Self, Refusal> {
        let machine = Machine::read();
        let report = report(options, &machine);
        let most = report.limit;
        let location = Location::find()?;
        let mut seat = Seat::take(&location, &Name::new(&name(options)))?;
        restore_abandoned(&location);
        let threads = match options.how {
            How::Count => share(&mut seat, report)?.max(options.min).min(most),
            How::Auto | How::Quota | How::Affinity => most,
        };
        seat.publish(&report)?;
        let mut given = options
            .max
            .map_or(String::new(), |max| format!(", --max {max}"));
        if options.min > most {
            given += &format!(", --min {} lowered to {most}", options.min);
        }
        let noun = if threads == 1 {
            "processor"
        } else {
            "processors"
        };
        let reason = format!("up to {threads} {noun}: {}{given}", machine.reason());
        Ok(Self {
            seat,
            location,
            machine,
            threads,
            reason,
        })
    }
}

/// Returns an error if the command could not observe the program, and so could not learn what it
/// desires.
fn check_proc() -> Result<(), String> {
    let path = "/proc/self/stat";
    let own = fs::read(path);
    own.map(drop)
        .map_err(|error| format!("cannot read {path}: {error}"))
}

/// Returns what the program's row says before it desires anything. Its limit is the most processors
/// that the program may ever have.
pub fn report(options: &Options, machine: &Machine) -> Report {
    let cpus = machine.usable();
    let most = machine.default_workers();
    let mut report = Report::new(CpuMask::from_cpus(cpus.as_slice().iter().copied()));
    report.limit = options.max.map_or(most, |max| max.clamp(1, most));
    report.weight = options.weight;
    report
}

/// Returns how many processors a job would get now that desires all that `report` allows.
fn share(seat: &mut Seat, report: Report) -> Result<usize, Refusal> {
    let desire = report.limit;
    seat.publish(&Report { desire, ..report })?;
    Ok(seat.shares()?.allotment)
}

/// Returns why sharing is switched off: by the user, or by another command, of whose program this
/// command is a part.
fn why_off() -> &'static str {
    match std::env::var_os(VARIABLE) {
        Some(_) => "runs inside another tidegate exec, which stands for this program",
        None => "TIDEGATE_SHARE=off: the program does not share the processors",
    }
}

fn name(options: &Options) -> String {
    let program = options.command.first().map(OsString::as_os_str);
    let file = program.map(|program| Path::new(program).file_name().unwrap_or(program));
    let of_program = || file.unwrap_or_default().to_string_lossy().into_owned();
    options.name.clone().unwrap_or_else(of_program)
}
