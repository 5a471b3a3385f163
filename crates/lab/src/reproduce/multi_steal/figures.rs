//! The figures of the experiments with programs.

use crate::engine::Sample;
use crate::reproduce::measured::{Figure, View};
use crate::reproduce::observed::Observed;
use crate::reproduce::plan::seconds;

type V<'a> = View<'a, Observed>;

const CELL: &str = "{on}/{work}/{rule}/{processors}";
const BASE: &str = "{on}/{work}/{base}/{processors}";

#[rustfmt::skip]
pub const FIGURES: &[Figure<Observed>] = &[
    ("time", |v| seconds(v, CELL)),
    ("time by base", |v| seconds(v, CELL) / seconds(v, BASE)),
    ("busy", |v| v.median(CELL, busy)),
    ("steal", |v| v.median(CELL, steal)),
    ("idle", |v| v.median(CELL, idle)),
    ("steals", |v| v.median(CELL, |run| run.steals)),
    ("not busy", |v| v.median(CELL, not_busy)),
    ("busy in %", |v| v.median(CELL, busy) * 100.0),
    ("steal in %", |v| v.median(CELL, steal) * 100.0),
    ("idle in %", |v| v.median(CELL, idle) * 100.0),
    ("published busy", |v| v.number("busy")),
    ("published steal", |v| v.number("steal")),
    ("published idle", |v| v.number("idle")),
    ("steal by base", |v| v.median(CELL, steal) / v.median(BASE, steal)),
    ("not busy by base", |v| v.median(CELL, not_busy) / v.median(BASE, not_busy)),
    ("busy time by base", |v| v.median(CELL, |run| run.busy) / v.median(BASE, |run| run.busy)),
    ("speed-up", |v| speedup(v, "{work}")),
    ("speed-up by other", |v| speedup(v, "{work}") / speedup(v, "{other}")),
    ("million nodes a second", |v| {
        v.read(|| {
            let (cell, nodes) = (v.fill(CELL), v.number("nodes"));
            let runs = v.measured.runs(&cell).iter();
            let rates = runs.map(|run| nodes / run.seconds / 1e6);
            (cell, Sample::new(rates))
        })
    }),
    ("uts-b-gap", |v| {
        let ratio = |work: &str| {
            let time = |rule: &str| seconds(v, &format!("source/{work}/{rule}/24"));
            time("dynamic") / time("bottommost")
        };
        ratio("UTS B") / ratio("UTS A")
    }),
    ("uts-a-steal-growth", |v| {
        let share = |cell| v.median(cell, steal);
        share("source/UTS A/bottommost/24") / share("source/UTS A/bottommost/2")
    }),
    // The largest ratio of a share of busy time to that with half as many tasks a steal.
    ("fib-sweep-busy", |v| {
        let shares = v.each("sweep", |v| v.median(CELL, busy));
        let steps = shares.windows(2).map(|pair| pair[1] / pair[0]);
        steps.fold(f64::NAN, f64::max)
    }),
    ("time by one worker", |v| seconds(v, CELL) / seconds(v, "{on}/{work}/bottommost/1")),
];

/// Figures of the programs on one worker, in seconds.
pub const OVERHEAD: &[Figure<f64>] = &[
    ("calls", |v| v.median("{work}/calls", |seconds| *seconds)),
    ("tasks", |v| v.median("{work}/tasks", |seconds| *seconds)),
    ("tasks by calls", |v| by_calls(v, "{work}")),
    ("one-worker-overhead", |v| {
        by_calls(v, "fib 30") / by_calls(v, "UTS A")
    }),
];

fn by_calls(v: View<'_, f64>, work: &str) -> f64 {
    let time = |runtime| v.median(&format!("{work}/{runtime}"), |seconds| *seconds);
    time("tasks") / time("calls")
}

/// The time on one processor by the time under a rule.
fn speedup(v: V<'_>, work: &str) -> f64 {
    let alone = seconds(v, &format!("{{on}}/{work}/bottommost/1"));
    alone / seconds(v, &format!("{{on}}/{work}/{{rule}}/{{processors}}"))
}

/// The fraction of the workers' time spent running tasks. The source has five classes of time, of
/// which this runtime has three.
fn busy(run: &Observed) -> f64 {
    run.busy / all(run)
}

/// The fraction of the workers' time spent searching for tasks and taking them.
fn steal(run: &Observed) -> f64 {
    run.stealing / all(run)
}

fn idle(run: &Observed) -> f64 {
    run.asleep / all(run)
}

fn not_busy(run: &Observed) -> f64 {
    steal(run) + idle(run)
}

fn all(run: &Observed) -> f64 {
    run.busy + run.stealing + run.asleep
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::measured::made_up;
    use crate::reproduce::paper::Paper;

    /// The smallest fall counts: here, the share does not fall from 4 to 8 tasks.
    #[test]
    fn sweep_has_its_smallest_fall() {
        let lists = Paper::read(super::super::PAPER).lists;
        let shares = [(2, 0.8), (4, 0.4), (8, 0.4), (16, 0.1)];
        let cells = shares.map(|(tasks, busy)| {
            let run = Observed {
                busy,
                asleep: 1.0 - busy,
                ..Observed::default()
            };
            (format!("source/fib/fixed {tasks}/24"), run)
        });
        let given = [("work", "fib")];
        assert_eq!(
            made_up(FIGURES, "fib-sweep-busy", &given, &lists, cells),
            1.0
        );
    }

    #[test]
    fn gap_is_below_one_if_half_saves_more_on_b() {
        let times = [
            ("UTS A/dynamic", 0.8),
            ("UTS A/bottommost", 1.0),
            ("UTS B/dynamic", 0.4),
            ("UTS B/bottommost", 1.0),
        ];
        let cells = times.map(|(cell, seconds)| {
            let name = format!("source/{cell}/24");
            (name, Observed::lasting(seconds))
        });
        let gap = made_up(FIGURES, "uts-b-gap", &[], &Default::default(), cells);
        assert_eq!(gap, 0.5);
    }
}
