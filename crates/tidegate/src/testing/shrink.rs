//! Looks for a shorter failing run.

use super::failure::Kind;
use super::search::Run;
use std::time::{Duration, Instant};
use tidegate_policy::schedule::Deviation;
use tidegate_sync::simulation::Reason;

/// How long the search for a shorter run may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How many runs may stop early: the threads of each remain, parked.
const MOST_STOPPED: usize = 300;

/// What distinguishes one failure of a test from another.
#[derive(PartialEq, Eq)]
struct Signature(Option<(Kind, Vec<String>)>);

impl Signature {
    /// Takes the place of the panic, or what the threads wait for, whatever their names. The lines
    /// that name the holders of locks have no colon after a name, so they do not count.
    fn of(run: &Run) -> Self {
        Self(run.failure.as_ref().map(|(kind, message)| {
            let lines = message.lines();
            let mut lines: Vec<String> = match kind {
                Kind::Panic => lines.take(1).map(str::to_owned).collect(),
                Kind::Stopped(_) => {
                    let after_name =
                        |line: &str| line.split_once(": ").map(|(_, what)| what.to_owned());
                    lines.filter_map(after_name).collect()
                }
            };
            lines.sort();
            (*kind, lines)
        }))
    }
}

/// Removes deviations from the schedule of a failed run for as long as the remaining ones fail in
/// the same way. First removes many at a time, then single ones: the "ddmin" of Zeller and
/// Hildebrandt, "Simplifying and isolating failure-inducing input", 2002, section 3, without its
/// first step.
pub(super) fn shrink(failed: Run, repeat: impl Fn(Vec<Deviation>) -> Run) -> Run {
    let (wanted, mut best) = (Signature::of(&failed), failed);
    let kind = best.failure.as_ref().map(|(kind, _)| *kind);
    if let Some(Kind::Stopped(Reason::Stuck | Reason::Endless)) = kind {
        // Each repetition would take long, and every run is endless in which a thread that polls
        // runs on.
        return best;
    }
    let (until, mut stopped) = (Instant::now() + LIMIT, 0);
    let mut size = best.deviations.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < best.deviations.len() && Instant::now() < until && stopped < MOST_STOPPED {
            let end = (at + size).min(best.deviations.len());
            let mut fewer = best.deviations.clone();
            fewer.drain(at..end);
            let run = repeat(fewer);
            stopped += usize::from(matches!(run.failure, Some((Kind::Stopped(_), _))));
            if Signature::of(&run) == wanted && run.deviations.len() < best.deviations.len() {
                best = run;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    best
}
