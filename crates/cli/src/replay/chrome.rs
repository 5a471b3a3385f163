//! Exports a trace in the JSON format of Chrome's trace viewer, which Perfetto can also read.
//!
//! The timeline shows a row with each worker's phases, a mark for each steal, and a graph of the
//! desire. Times are relative to the first decision. "Trace Event Format" (Duca and Sinclair)
//! describes the format.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use tidegate::trace::{Event, Record, Source, Stream, Trace, phase};

use tidegate_command::failure::Failure;
use tidegate_command::output::write_file;

pub fn write(trace: &Trace, path: &Path) -> Result<(), Failure> {
    write_file(path, "a timeline", |out| {
        let mut events = Events {
            out,
            begins: begins(trace),
            first: true,
        };
        events.all(trace)
    })
}

/// Returns the time of the first decision.
fn begins(trace: &Trace) -> u64 {
    let firsts = trace.streams.iter().filter_map(|stream| {
        let first = stream.records().next()?;
        Some(first.ok()?.at)
    });
    firsts.min().unwrap_or(0)
}

/// Writes one event at a time, because a single JSON value for a long trace would be too large.
struct Events<'a> {
    out: &'a mut dyn Write,
    begins: u64,
    first: bool,
}

impl Events<'_> {
    fn all(&mut self, trace: &Trace) -> io::Result<()> {
        write!(
            self.out,
            "{{\"displayTimeUnit\": \"ns\", \"traceEvents\": ["
        )?;
        self.put(&json!({
            "ph": "M", "name": "process_name", "pid": 1, "args": {"name": trace.rules.pool},
        }))?;
        for stream in &trace.streams {
            match stream.source {
                Source::Worker(index) => self.worker(stream, index)?,
                Source::ShareController => self.share_controller(stream)?,
                Source::Plan => {}
            }
        }
        writeln!(self.out, "\n]}}")
    }

    fn put(&mut self, event: &Value) -> io::Result<()> {
        let comma = if self.first { "" } else { "," };
        self.first = false;
        write!(self.out, "{comma}\n  {event}")
    }

    /// Converts a time to microseconds since the first decision.
    fn time(&self, at: u64) -> f64 {
        (at - self.begins) as f64 / 1e3
    }

    fn worker(&mut self, stream: &Stream, index: usize) -> io::Result<()> {
        self.put(&json!({
            "ph": "M", "name": "thread_name", "pid": 1, "tid": index, "args": {"name": format!("worker {index}")},
        }))?;
        let (mut since, mut last): (Option<(u64, &str)>, _) = (None, 0);
        for Record { at, event, inputs } in stream.records().map_while(Result::ok) {
            last = at;
            match (event, &inputs[..]) {
                (Event::Phase, &[number]) => {
                    self.end_phase(since, at, index)?;
                    since = phase(number).map(|name| (at, name));
                }
                (Event::Stole, &[victim, tasks]) => self.put(&json!({
                    "ph": "i", "s": "t", "name": "stole", "cat": "steal", "pid": 1, "tid": index,
                    "ts": self.time(at), "args": {"from": victim, "tasks": tasks},
                }))?,
                _ => {}
            }
        }
        self.end_phase(since, last, index)
    }

    /// Writes the worker's phase that began at `since` and ends at `until`, if there is one.
    fn end_phase(
        &mut self,
        since: Option<(u64, &str)>,
        until: u64,
        index: usize,
    ) -> io::Result<()> {
        let Some((from, name)) = since else {
            return Ok(());
        };
        self.put(&json!({
            "ph": "X", "name": name, "cat": "phase", "pid": 1, "tid": index,
            "ts": self.time(from), "dur": (until - from) as f64 / 1e3,
        }))
    }

    fn share_controller(&mut self, stream: &Stream) -> io::Result<()> {
        let records = stream.records().map_while(Result::ok);
        for (record, decided) in records.zip(stream.decisions()) {
            let name = match record.event {
                Event::Desire => "desired",
                Event::Lend => "lent",
                _ => continue,
            };
            self.put(&json!({
                "ph": "C", "name": name, "pid": 1, "ts": self.time(record.at), "args": {name: decided},
            }))?;
        }
        Ok(())
    }
}
