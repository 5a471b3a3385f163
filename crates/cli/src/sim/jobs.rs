//! `tidegate sim jobs`: what every job is entitled to, after every event of a file.
//!
//! The file is read and checked as a whole before anything is shared out, so a mistake at its end leaves standard output
//! empty. A message names the event by its place, counted from 0.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};
use tidegate_policy::AllotState;
use tidegate_policy::tunables::{Allowed, SIM_PROCESSORS};

use crate::arguments::JobsArguments;
use tidegate_command::failure::Failure;
use tidegate_command::input;
use tidegate_command::output;
use tidegate_command::standard::shown_input;

/// The most that a job may desire: the largest machine there is.
fn most_desired() -> u64 {
    match SIM_PROCESSORS.allowed {
        Allowed::Between(_, most) => most as u64,
        Allowed::OneOf(_) => u64::MAX,
    }
}

/// What a job does.
#[derive(Clone, Copy, Debug)]
enum Event {
    Arrive(u64, usize),
    Desire(u64, usize),
    Leave(u64),
}

/// Carries the subcommand out.
pub fn share_out(arguments: &JobsArguments, processors: usize) -> Result<(), Failure> {
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
    output::to_stdout(|out| match arguments.format.json {
        true => print_json(steps, &mut machine, out),
        false => print_lines(steps, &mut machine, out),
    })
}

/// One step to a line: with many jobs the whole is too large to be held at once.
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

/// The events of the file, not checked yet.
fn read(file: &Path) -> Result<Vec<Value>, Failure> {
    let bytes = input::bytes(file)?;
    let malformed = |what: &dyn Display| {
        Failure::Usage(format!(
            "{}: {what}; allowed is a JSON list of events, such as [[\"arrive\", 1, 4], [\"leave\", 1]]",
            shown_input(file)
        ))
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Array(events)) => Ok(events),
        Ok(_) => Err(malformed(&"this is no list")),
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
            "{} is no event; allowed are [\"arrive\", JOB, DESIRE], [\"desire\", JOB, DESIRE] and [\"leave\", JOB]",
            brief(value)
        )),
    }
}

fn id(value: &Value) -> Result<u64, String> {
    let most = u64::MAX;
    value.as_u64().ok_or_else(|| {
        let value = brief(value);
        format!("the job is {value}; allowed is a whole number from 0 to {most}")
    })
}

fn desired(value: &Value) -> Result<usize, String> {
    let most = most_desired();
    let desire = value.as_u64().filter(|desire| *desire <= most);
    desire.map(|desire| desire as usize).ok_or_else(|| {
        let value = brief(value);
        format!("the desire is {value}; allowed is a whole number from 0 to {most}")
    })
}

/// A value as JSON in one line that is not too long.
fn brief(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}

impl Event {
    /// Refuses what a job that is here, or is not, cannot do.
    fn check(self, here: &mut BTreeSet<u64>) -> Result<Self, String> {
        match self {
            Self::Arrive(job, _) if !here.insert(job) => Err(format!(
                "job {job} arrives and is here already; allowed is a job that is not"
            )),
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
    format!("job {job} is not here; allowed is a job that has arrived and not left")
}
