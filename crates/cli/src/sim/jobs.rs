//! `tidegate sim jobs`: prints every job's allotment after every event in a file.
//!
//! The whole file is checked first, so that nothing is printed on standard output if a late event
//! is invalid. Messages number events from 0.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};
use tidegate_policy::tunables::{Allowed, SIM_PROCESSORS};
use tidegate_sim::AllotState;

use crate::arguments::JobsArguments;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::input;
use tidegate_cli_support::output;
use tidegate_cli_support::standard::shown_input;

/// Returns the maximum desire of a job: the number of processors of the largest machine that can be
/// simulated.
fn most_desired() -> u64 {
    match SIM_PROCESSORS.allowed {
        Allowed::Between(_, most) => most as u64,
        Allowed::OneOf(_) => u64::MAX,
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Arrive(u64, usize),
    Desire(u64, usize),
    Leave(u64),
}

pub fn run(arguments: &JobsArguments, processors: usize) -> Result<(), Failure> {
    let list = read(&arguments.file)?;
    let at = |number: usize, what: String| {
        Failure::Usage(format!(
            "{}: event {number}: {what}",
            shown_input(&arguments.file)
        ))
    };
    let mut here = BTreeSet::new();
    let mut events = Vec::with_capacity(list.len());
    for (number, value) in list.iter().enumerate() {
        let event = parse(value).and_then(|event| event.check(&mut here));
        events.push(event.map_err(|what| at(number, what))?);
    }
    let mut machine = AllotState::new(arguments.allot, processors);
    let steps = list.iter().zip(events);
    output::to_stdout(|out| {
        if arguments.format.json {
            print_json(steps, &mut machine, out)
        } else {
            print_lines(steps, &mut machine, out)
        }
    })
}

/// Prints one step per line. A single JSON value for all steps might be too large.
fn print_json<'a>(
    steps: impl Iterator<Item = (&'a Value, Event)>,
    machine: &mut AllotState,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "{{\"events\": [")?;
    for (number, (told, event)) in steps.enumerate() {
        event.play(machine);
        let shares = machine.shares().iter();
        let allotments: Map<String, Value> = shares
            .map(|share| (share.job.to_string(), share.allotment.into()))
            .collect();
        let comma = if number == 0 { "" } else { "," };
        let step = json!({ "event": told, "allotments": allotments });
        write!(out, "{comma}\n  {step}")?;
    }
    writeln!(out, "\n]}}")
}

fn print_lines<'a>(
    steps: impl Iterator<Item = (&'a Value, Event)>,
    machine: &mut AllotState,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (told, event) in steps {
        event.play(machine);
        let shares = machine.shares().iter();
        let words = shares.map(|share| format!("{}: {}", share.job, share.allotment));
        let told = told.to_string();
        writeln!(out, "{told:<24}{}", words.collect::<Vec<_>>().join(", "))?;
    }
    Ok(())
}

/// Reads the list of events without checking the events.
fn read(file: &Path) -> Result<Vec<Value>, Failure> {
    let bytes = input::bytes(file)?;
    let malformed = |what: &dyn Display| {
        Failure::Usage(format!(
            "{}: {what}: expected a JSON list of events, such as [[\"arrive\", 1, 4], [\"leave\", 1]]",
            shown_input(file)
        ))
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Array(events)) => Ok(events),
        Ok(_) => Err(malformed(&"not a list")),
        Err(error) => Err(malformed(&error)),
    }
}

fn parse(value: &Value) -> Result<Event, String> {
    let words = value.as_array().map_or(&[][..], Vec::as_slice);
    match (
        words.first().and_then(Value::as_str),
        &words[words.len().min(1)..],
    ) {
        (Some("arrive"), [job, desire]) => Ok(Event::Arrive(id(job)?, desired(desire)?)),
        (Some("desire"), [job, desire]) => Ok(Event::Desire(id(job)?, desired(desire)?)),
        (Some("leave"), [job]) => Ok(Event::Leave(id(job)?)),
        _ => Err(format!(
            "{} is not an event: expected [\"arrive\", JOB, DESIRE], [\"desire\", JOB, DESIRE] or [\"leave\", JOB]",
            brief(value)
        )),
    }
}

fn id(value: &Value) -> Result<u64, String> {
    let most = u64::MAX;
    value.as_u64().ok_or_else(|| {
        let value = brief(value);
        format!("invalid job {value}: expected an integer from 0 to {most}")
    })
}

fn desired(value: &Value) -> Result<usize, String> {
    let most = most_desired();
    let desire = value.as_u64().filter(|desire| *desire <= most);
    desire.map(|desire| desire as usize).ok_or_else(|| {
        let value = brief(value);
        format!("invalid desire {value}: expected an integer from 0 to {most}")
    })
}

/// Formats a value as JSON in one line, and shortens the line.
fn brief(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}

impl Event {
    /// Checks that an arriving job is absent, and that the job of any other event is present.
    fn check(self, here: &mut BTreeSet<u64>) -> Result<Self, String> {
        match self {
            Self::Arrive(job, _) if !here.insert(job) => {
                Err(format!("job {job} has already arrived: expected a new job"))
            }
            Self::Desire(job, _) if !here.contains(&job) => Err(not_here(job)),
            Self::Leave(job) if !here.remove(&job) => Err(not_here(job)),
            _ => Ok(self),
        }
    }

    fn play(self, machine: &mut AllotState) {
        match self {
            Self::Arrive(job, desire) => machine.arrive(job, desire),
            Self::Desire(job, desire) => machine.desire(job, desire),
            Self::Leave(job) => machine.leave(job),
        }
    }
}

fn not_here(job: u64) -> String {
    format!("unknown job {job}: expected a job that has arrived and not left")
}
