//! `tidegate replay`: repeats the scheduling decisions of a recorded pool, and compares them with
//! the recorded ones.
//!
//! The input is a trace that `run --trace` wrote. This version's policies make each decision from
//! its recorded inputs alone; see [`tidegate::trace`]. With `--chrome`, the command also exports
//! the trace as a timeline, even if a decision differs.

mod chrome;

use std::io::{self, Write};

use serde_json::{Value, json};
use tidegate::trace::{Difference, Failed, Rules, Stream, Trace, replay};
use tidegate_policy::show_time;

use crate::arguments::ReplayArguments;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::input;
use tidegate_cli_support::output::{self, Progress, show_count, show_seconds};
use tidegate_cli_support::standard::shown_input;

pub fn run(arguments: &ReplayArguments) -> Result<(), Failure> {
    let file = shown_input(&arguments.file);
    let json = arguments.format.json;
    let aside = output::is_aside(&[("--chrome", arguments.chrome.as_ref())], json)?;
    if let Some(out) = &arguments.chrome {
        output::keep_apart(out, "the timeline", std::slice::from_ref(&arguments.file))?;
    }
    let bytes = input::bytes(&arguments.file)?;
    let not_so = |error: &dyn std::fmt::Display| Failure::Usage(format!("{file}: {error}"));
    let trace = Trace::from_bytes(&bytes).map_err(|error| not_so(&error))?;
    let progress = Progress::start(1);
    progress.say("replaying decisions");
    let streams = trace.streams.iter().map(Extent::of);
    let streams: Vec<Extent> = streams.collect::<Result<_, _>>().map_err(|e| not_so(&e))?;
    let difference = match replay(&trace) {
        Ok(_) => None,
        Err(Failed::Differs(difference)) => Some(*difference),
        Err(Failed::Damaged(damaged)) => return Err(not_so(&damaged)),
    };
    if let Some(out) = &arguments.chrome {
        chrome::write(&trace, out)?;
    }
    drop(progress);
    let report = Report {
        rules: &trace.rules,
        streams,
        difference,
    };
    if json {
        output::print_json(&report.to_json())?;
    } else {
        output::answer(aside, |out| report.write(out))?;
    }
    report.verdict()
}

/// A summary of a stream: the number of its decisions, and the time from the first to the last.
struct Extent {
    source: String,
    decisions: u64,
    seconds: f64,
    left_out: u64,
}

impl Extent {
    fn of(stream: &Stream) -> Result<Self, tidegate::trace::Damaged> {
        let (mut decisions, mut first, mut last) = (0, None, 0);
        for record in stream.records() {
            let at = record?.at;
            decisions += 1;
            last = at;
            first.get_or_insert(at);
        }
        Ok(Self {
            source: stream.source.to_string(),
            decisions,
            seconds: (last - first.unwrap_or(last)) as f64 / 1e9,
            left_out: stream.left_out,
        })
    }
}

struct Report<'a> {
    rules: &'a Rules,
    streams: Vec<Extent>,
    difference: Option<Difference>,
}

impl Report<'_> {
    /// Returns how many decisions were compared: all, or those before the first difference.
    fn decisions(&self) -> u64 {
        let Some(difference) = &self.difference else {
            return self.streams.iter().map(|stream| stream.decisions).sum();
        };
        let source = difference.source.to_string();
        let before = self.streams.iter();
        let before = before.take_while(|stream| stream.source != source);
        before.map(|stream| stream.decisions).sum::<u64>() + difference.step
    }

    fn verdict(&self) -> Result<(), Failure> {
        match &self.difference {
            None => Ok(()),
            Some(difference) => Err(Failure::Wrong(format!(
                "{difference}; the policies have changed since the trace was recorded: find the change, or record a new \
                 trace if it was intended"
            ))),
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Rules {
            idle: _,
            steal,
            victim,
            memory,
            share,
            desire,
            est_cycle,
            workers,
            pool,
        } = self.rules;
        let idle = self.rules.idle_text();
        let est_cycle = show_time(*est_cycle);
        let width = show_count(*workers, "worker");
        writeln!(out, "pool        {}, {width}", output::tame(pool))?;
        writeln!(
            out,
            "rules       idle={idle} steal={steal} victim={victim} memory={memory}"
        )?;
        writeln!(
            out,
            "            share={share} desire={desire} est-cycle={est_cycle}"
        )?;
        for stream in &self.streams {
            let asked = show_count(stream.decisions as usize, "decision");
            let time = show_seconds(stream.seconds);
            write!(out, "{:<20}{asked} in {time}", stream.source)?;
            match stream.left_out {
                0 => writeln!(out)?,
                more => writeln!(out, ", {more} more did not fit")?,
            }
        }
        let count = show_count(self.decisions() as usize, "decision");
        match self.difference {
            None => writeln!(out, "same        {count} match the trace"),
            Some(_) => writeln!(out, "DIFFERENT   after {count} that match the trace"),
        }
    }

    fn to_json(&self) -> Value {
        let streams = self.streams.iter().map(|stream| {
            json!({
                "source": stream.source,
                "decisions": stream.decisions,
                "seconds": stream.seconds,
                "left_out": stream.left_out,
            })
        });
        let difference = self.difference.as_ref().map(|difference| {
            json!({
                "source": difference.source.to_string(),
                "step": difference.step,
                "event": difference.record.event.text(),
                "at_ns": difference.record.at,
                "inputs": difference.record.inputs,
                "then": difference.then,
                "now": difference.now,
            })
        });
        json!({
            "pool": self.rules.pool,
            "rules": {
                "idle": self.rules.idle_text(),
                "steal": self.rules.steal.to_string(),
                "victim": self.rules.victim.to_string(),
                "memory": self.rules.memory.to_string(),
                "share": self.rules.share.to_string(),
                "desire": self.rules.desire.to_string(),
                "est_cycle": show_time(self.rules.est_cycle),
                "workers": self.rules.workers,
            },
            "streams": streams.collect::<Vec<_>>(),
            "decisions": self.decisions(),
            "same": self.difference.is_none(),
            "difference": difference,
        })
    }
}
