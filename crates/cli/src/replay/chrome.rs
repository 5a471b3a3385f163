//! Exports a trace in the JSON format of Chrome's trace viewer, which Perfetto can also read.
//!
//! The timeline shows a row with each worker's phases, a mark for each steal, and graphs of what
//! the share controller saw and decided. While a worker is busy with a spawned task or an interval,
//! its row shows the task's name, or the line that spawned it. Times are relative to the first
//! decision. "Trace Event Format" (Duca and Sinclair) describes the format.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};
use tidegate::trace::{CycleEnd, Event, Record, Source, Stream, TaskOrigin, Trace, phase};

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::write_file;

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

/// The phase in which a worker runs tasks.
const BUSY: &str = "busy";

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
                Source::Worker(index) => self.worker(&trace.origins, stream, index)?,
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

    fn worker(&mut self, origins: &[TaskOrigin], stream: &Stream, index: usize) -> io::Result<()> {
        self.put(&json!({
            "ph": "M", "name": "thread_name", "pid": 1, "tid": index, "args": {"name": format!("worker {index}")},
        }))?;
        let (mut since, mut last): (Option<(u64, &str)>, _) = (None, 0);
        let mut tasks: Vec<Option<&TaskOrigin>> = Vec::new();
        for Record { at, event, inputs } in stream.records().map_while(Result::ok) {
            last = at;
            let is_busy = since.is_some_and(|(_, phase)| phase == BUSY);
            let changes_task = matches!(event, Event::TaskBegins | Event::TaskEnds);
            if event == Event::Phase || changes_task && is_busy {
                self.end_span(since, tasks.last().copied().flatten(), at, index)?;
                since = since.map(|(_, name)| (at, name));
            }
            match (event, &inputs[..]) {
                (Event::Phase, &[number]) => since = phase(number).map(|name| (at, name)),
                (Event::TaskBegins, &[number]) => {
                    let position = (number as usize).checked_sub(1);
                    tasks.push(position.and_then(|position| origins.get(position)));
                }
                (Event::TaskEnds, _) => drop(tasks.pop()),
                // Another thread has become this worker.
                (Event::Begin, _) => tasks.clear(),
                (Event::Stole, &[victim, count]) => self.put(&json!({
                    "ph": "i", "s": "t", "name": "stole", "cat": "steal", "pid": 1, "tid": index,
                    "ts": self.time(at), "args": {"from": victim, "tasks": count},
                }))?,
                _ => {}
            }
        }
        self.end_span(since, tasks.last().copied().flatten(), last, index)
    }

    /// Writes the span from `since` until `until`, if the worker was in a phase: what the worker
    /// was busy with, or the phase.
    fn end_span(
        &mut self,
        since: Option<(u64, &str)>,
        task: Option<&TaskOrigin>,
        until: u64,
        index: usize,
    ) -> io::Result<()> {
        let Some((from, phase)) = since else {
            return Ok(());
        };
        let mut span = json!({
            "ph": "X", "name": phase, "cat": "phase", "pid": 1, "tid": index,
            "ts": self.time(from), "dur": (until - from) as f64 / 1e3,
        });
        if let Some(task) = task.filter(|_| phase == BUSY) {
            span["name"] = task.label().into();
            span["cat"] = "task".into();
            span["args"] = json!({"created at": task.at});
        }
        self.put(&span)
    }

    fn share_controller(&mut self, stream: &Stream) -> io::Result<()> {
        let records = stream.records().map_while(Result::ok);
        for (record, decided) in records.zip(stream.decisions()) {
            match record.event {
                Event::Desire => self.graph(record.at, "desired", json!({"desired": decided}))?,
                Event::Lend | Event::ForgetLoans => {
                    self.graph(record.at, "lent", json!({"lent": decided}))?
                }
                _ => {}
            }
            if let Some(end) = CycleEnd::of(&record) {
                let allotment = json!({"allotment": end.allotment});
                self.graph(record.at, "allotment", allotment)?;
                let waiting = json!({"in deques": end.in_deques, "elsewhere": end.elsewhere});
                self.graph(record.at, "waiting tasks", waiting)?;
            }
        }
        Ok(())
    }

    /// Writes the values of a graph at one time. The viewer stacks several values.
    fn graph(&mut self, at: u64, name: &str, values: Value) -> io::Result<()> {
        self.put(&json!({
            "ph": "C", "name": name, "pid": 1, "ts": self.time(at), "args": values,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use tidegate_policy::SharePolicy;
    use tidegate_policy::desire::{DesirePolicy, DesireState, Seen};
    use tidegate_policy::trace::{ShareController, StreamRecorder, Wait};

    #[test]
    fn share_controller_has_graphs() {
        let recorder = RefCell::new(StreamRecorder::new(1 << 10, || 0));
        let desire = DesireState::new(&DesirePolicy::default()).unwrap();
        let mut controller = ShareController::new(&recorder, desire, 1_000_000, SharePolicy::Auto);
        let seen = Seen {
            allotment: 2,
            deques: &[3, 4],
            queued: 5,
            ..Seen::default()
        };
        let desired = controller.next_desire(&recorder, &seen);
        let lent = controller.lend(&recorder, Wait::default());
        controller.forget_loans(&recorder);
        let mut out = Vec::new();
        let stream = recorder.borrow().stream(Source::ShareController);
        let mut events = Events {
            out: &mut out,
            begins: 0,
            first: true,
        };
        events.share_controller(&stream).unwrap();
        let written = format!("[{}]", String::from_utf8(out).unwrap());
        let graph = |name: &str, args: Value| json!({"ph": "C", "name": name, "pid": 1, "ts": 0.0, "args": args});
        let expected = json!([
            graph("desired", json!({"desired": desired})),
            graph("allotment", json!({"allotment": 2})),
            graph("waiting tasks", json!({"in deques": 7, "elsewhere": 5})),
            graph("lent", json!({"lent": lent})),
            graph("lent", json!({"lent": 0})),
        ]);
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), expected);
    }

    /// A worker runs a task that waits, and meanwhile a half of a join.
    #[test]
    fn busy_spans_show_their_tasks() {
        thread_local!(static NOW: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });
        let mut recorder = StreamRecorder::new(1 << 10, || NOW.replace(NOW.get() + 1_000));
        let (busy, waiting) = (1, 5);
        assert_eq!([phase(busy), phase(waiting)], [Some(BUSY), Some("waiting")]);
        recorder.record(Event::Phase, &[busy]);
        recorder.record(Event::TaskBegins, &[1]);
        recorder.record(Event::Phase, &[waiting]);
        recorder.record(Event::TaskBegins, &[0]);
        recorder.record(Event::Phase, &[busy]);
        recorder.record(Event::TaskBegins, &[2]);
        recorder.record(Event::TaskEnds, &[]);
        recorder.record(Event::Phase, &[waiting]);
        recorder.record(Event::TaskEnds, &[]);
        recorder.record(Event::Phase, &[busy]);
        recorder.record(Event::TaskEnds, &[]);
        recorder.record(Event::Stole, &[3, 1]);
        let origin = |name: &str, at: &str| TaskOrigin {
            name: name.into(),
            at: at.into(),
        };
        let origins = [
            origin("net", "src/net.rs:12:5"),
            origin("", "src/main.rs:3:9"),
        ];
        let mut out = Vec::new();
        let mut events = Events {
            out: &mut out,
            begins: 0,
            first: true,
        };
        events
            .worker(&origins, &recorder.stream(Source::Worker(0)), 0)
            .unwrap();
        let shown = String::from_utf8(out).unwrap().replace("\n  ", "\n");
        insta::assert_snapshot!(shown.trim_start(), @r#"
        {"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"worker 0"}},
        {"ph":"X","name":"busy","cat":"phase","pid":1,"tid":0,"ts":0.0,"dur":1.0},
        {"ph":"X","name":"net","cat":"task","pid":1,"tid":0,"ts":1.0,"dur":1.0,"args":{"created at":"src/net.rs:12:5"}},
        {"ph":"X","name":"waiting","cat":"phase","pid":1,"tid":0,"ts":2.0,"dur":2.0},
        {"ph":"X","name":"busy","cat":"phase","pid":1,"tid":0,"ts":4.0,"dur":1.0},
        {"ph":"X","name":"src/main.rs:3:9","cat":"task","pid":1,"tid":0,"ts":5.0,"dur":1.0,"args":{"created at":"src/main.rs:3:9"}},
        {"ph":"X","name":"busy","cat":"phase","pid":1,"tid":0,"ts":6.0,"dur":1.0},
        {"ph":"X","name":"waiting","cat":"phase","pid":1,"tid":0,"ts":7.0,"dur":2.0},
        {"ph":"X","name":"net","cat":"task","pid":1,"tid":0,"ts":9.0,"dur":1.0,"args":{"created at":"src/net.rs:12:5"}},
        {"ph":"i","s":"t","name":"stole","cat":"steal","pid":1,"tid":0,"ts":11.0,"args":{"from":3,"tasks":1}},
        {"ph":"X","name":"busy","cat":"phase","pid":1,"tid":0,"ts":10.0,"dur":1.0}
        "#);
    }
}
