//! What a simulation has done and why it has stopped, as text.

use std::fmt;
use std::fmt::Write as _;
use std::panic::Location;
use tidegate_sync::simulation::{Event, Holder, Reason, Report};

/// Describes one step.
#[must_use]
pub fn line(names: &[String], event: &Event) -> String {
    let place = Place(event.at);
    let (thread, next) = (&names[event.thread], &names[event.next]);
    let mut line = format!("step {}: {thread} {}{place}", event.step, event.what);
    if next != thread {
        let _ = write!(line, "; {next} runs");
    }
    line
}

/// Describes why a simulation has stopped early, and what its threads were doing.
#[must_use]
pub fn outline(report: &Report) -> String {
    let reason = match report.reason {
        Reason::Deadlock => "deadlock: every thread waits for another one",
        Reason::Endless => "the run takes too many steps and may never end (`simulated-steps`)",
        Reason::Stuck => {
            "a thread waits for something that the simulation does not know, or computes for too long \
             (`simulation-patience`)"
        }
    };
    let mut text = reason.to_owned();
    for thread in report.threads.iter().filter(|t| !t.has_ended) {
        let now = if thread.runs { "runs; last: " } else { "" };
        let (name, what, place) = (&thread.name, thread.what, Place(thread.at));
        let _ = write!(text, "\n  {name}: {now}{what}{place}");
        for Holder { name, at } in &thread.holders {
            let place = Place(Some(at));
            let _ = write!(text, "\n    held by {name}, which took it{place}");
        }
    }
    text
}

/// Where the program has called the runtime; empty if that is in the runtime itself.
struct Place(Option<&'static Location<'static>>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(at) if !is_of_the_runtime(at.file()) => write!(f, " at {at}"),
            _ => Ok(()),
        }
    }
}

/// Whether a file belongs to this crate or to `tidegate`, which lies beside it.
fn is_of_the_runtime(file: &str) -> bool {
    let built_at = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
    let named = file!().trim_end_matches("simulated/report.rs");
    [built_at, named].iter().any(|core| {
        let tidegate = core.replace("/core/src/", "/tidegate/src/");
        let tidegate = tidegate.replace("/tidegate-core-", "/tidegate-");
        file.starts_with(core) || file.starts_with(&tidegate)
    })
}
