//! Looks for a shorter failing run.

use super::failure::Kind;
use super::search::Run;
use std::time::{Duration, Instant};
use tidegate_policy::schedule::Deviation;
use tidegate_sync::simulation::Reason;

/// How long the search for a shorter run may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Removes deviations from the schedule of a failed run for as long as the remaining ones fail in
/// the same way. First removes many at a time, then single ones: the "ddmin" of Zeller and
/// Hildebrandt, "Simplifying and isolating failure-inducing input", 2002, section 3, without its
/// first step.
pub(super) fn shrink(failed: Run, repeat: impl Fn(Vec<Deviation>) -> Run) -> Run {
    let kind = |run: &Run| run.failure.as_ref().map(|(kind, _)| *kind);
    let (wanted, mut best) = (kind(&failed), failed);
    if wanted == Some(Kind::Stopped(Reason::Stuck)) {
        // Each repetition would take as long.
        return best;
    }
    let until = Instant::now() + LIMIT;
    let mut size = best.deviations.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < best.deviations.len() && Instant::now() < until {
            let end = (at + size).min(best.deviations.len());
            let mut fewer = best.deviations.clone();
            fewer.drain(at..end);
            let run = repeat(fewer);
            if kind(&run) == wanted && run.deviations.len() < best.deviations.len() {
                best = run;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    best
}
