//! What the source found, beside what the simulated processors say.

use super::tables::Results;
use super::{HYBRID, MEMFIB, MODIFIED_FIB, NARLIKAR, NESTED, STEALING};
use crate::reproduce::page::{Finding, Sheet};
use tidegate_command::output::show_ratio;

/// The source's peaks of modified fib on 4, 8, 12, 16 and 32 processors, in kilobytes.
const PUBLISHED: [(&str, [Option<f64>; 5]); 3] = [
    (
        STEALING,
        [
            Some(163_840.0),
            Some(327_680.0),
            Some(409_600.0),
            Some(491_520.0),
            Some(614_400.0),
        ],
    ),
    (
        HYBRID,
        [
            Some(163_840.0),
            Some(327_680.0),
            Some(327_680.0),
            Some(368_640.0),
            Some(368_640.0),
        ],
    ),
    (
        NARLIKAR,
        [
            Some(163_840.0),
            Some(163_840.0),
            Some(204_800.0),
            Some(204_800.0),
            None,
        ],
    ),
];

/// Where its table of times is from, and the last column that it has for all.
const SIXTEEN: usize = 3;

/// All of them.
pub fn findings(results: &[Results<'_>]) -> Vec<Finding> {
    let of = |name| {
        let mut results = results.iter();
        results
            .find(|results| results.name() == name)
            .expect("a program of this experiment")
    };
    let (fib, nested) = (of(MODIFIED_FIB), of(NESTED));
    vec![
        less_memory(fib, HYBRID, COMPUTING),
        less_memory(fib, NARLIKAR, COMPUTING),
        less_memory(
            nested,
            HYBRID,
            "Rounds of a worker that has nothing else pass within microseconds, so who sleeps for an array has it soon, and with it sixteen arrays are there; longer sleeps leave processors idle and come to the same.",
        ),
        less_memory(nested, NARLIKAR, FEW_LEFT),
        growth(fib),
        more_time(fib, HYBRID, 1.3),
        more_time(fib, NARLIKAR, 465.0),
        held(of(MEMFIB)),
        loops(nested),
    ]
}

/// Why modified fib has as many blocks as processors.
const COMPUTING: &str = "The source does not print its program. Here a call holds its block while it computes, so there are as many as processors in every order that keeps all of them busy; those of the source had fewer than processors under work stealing already.";

/// Why an order by places does not help a loop that is short.
const FEW_LEFT: &str = "Where an inner loop is not much longer than there are processors, some of them are left for the next array in any order.";

/// Less memory is below this part of it.
const LESS: f64 = 0.95;

fn published(scheduler: &str, load: usize) -> f64 {
    let row = PUBLISHED.iter().find(|(name, _)| *name == scheduler);
    let peak = row.and_then(|(_, peaks)| peaks[load]);
    peak.expect("a figure that was published")
}

/// A scheduler's peak by that of work stealing on sixteen processors.
fn by_stealing(results: &Results<'_>, scheduler: &str) -> f64 {
    let peak = |name| results.peak(results.grid.rule(name), SIXTEEN).value;
    peak(scheduler) / peak(STEALING)
}

fn less_memory(results: &Results<'_>, scheduler: &str, why: &str) -> Finding {
    let ratio = by_stealing(results, scheduler);
    let told = told(scheduler);
    Finding::new(
        format!(
            "{} on 16 processors: most memory of {scheduler} by that of work stealing",
            results.name()
        ),
        match results.name() {
            MODIFIED_FIB => told,
            _ => format!("{told} (of {MODIFIED_FIB})"),
        },
        show_ratio(ratio),
        ratio < LESS,
        why,
    )
}

/// The source's most memory of a scheduler by that of work stealing, on sixteen processors.
fn told(scheduler: &str) -> String {
    show_ratio(published(scheduler, SIXTEEN) / published(STEALING, SIXTEEN))
}

fn growth(results: &Results<'_>) -> Finding {
    let schedulers = [STEALING, HYBRID, NARLIKAR];
    let ours = schedulers.map(|name| {
        let rule = results.grid.rule(name);
        results.peak(rule, SIXTEEN).value / results.peak(rule, 0).value
    });
    let published = schedulers.map(|name| published(name, SIXTEEN) / published(name, 0));
    let show = |ratios: [f64; 3]| ratios.map(show_ratio).join(", ");
    Finding::new(
        format!(
            "{}, from 4 to 16 processors: growth of the memory of work stealing, hybrid, Narlikar",
            results.name()
        ),
        show(published),
        show(ours),
        ours[0] > ours[1] && ours[1] > ours[2],
        format!(
            "As for {MODIFIED_FIB} on 16 processors: there are as many blocks as processors in every order that keeps all of them busy."
        ),
    )
}

fn more_time(results: &Results<'_>, scheduler: &str, published: f64) -> Finding {
    let seconds = |name| results.seconds(results.grid.rule(name), SIXTEEN).value;
    let ratio = seconds(scheduler) / seconds(STEALING);
    Finding {
        what: format!("{} on 16 processors: time of {scheduler} by that of work stealing", results.name()),
        published: show_ratio(published),
        ours: show_ratio(ratio),
        agrees: ratio > 1.0,
        // Also where both are slower: by how much is another matter.
        why: "The simulated machine asks one plan for the leftmost tasks and has no queue that all processors wait for, and no caches that a preempted task loses: what made the source's implementation slow.".to_owned(),
    }
}

fn held(results: &Results<'_>) -> Finding {
    let [hybrid, narlikar] = [HYBRID, NARLIKAR].map(|name| by_stealing(results, name));
    Finding::new(
        "memfib, whose calls hold their blocks over their recursion, on 16 processors: most memory of hybrid and Narlikar by that of work stealing",
        format!(
            "{} (of {MODIFIED_FIB})",
            [HYBRID, NARLIKAR].map(told).join(", ")
        ),
        [hybrid, narlikar].map(show_ratio).join(", "),
        hybrid < LESS && narlikar < LESS,
        "A task of the hybrid that sleeps keeps the blocks of its path, while its worker begins another path. An order that comes from the tasks' places bounds the paths, which saves something only where processors are fewer than paths; sleeping does not.",
    )
}

/// How many times as much the memory of work stealing grows where the orders of growth differ.
const APART: f64 = 1.5;

fn loops(results: &Results<'_>) -> Finding {
    let growth = |name| {
        let rule = results.grid.rule(name);
        results.peak(rule, SIXTEEN).value / results.peak(rule, 0).value
    };
    let [stealing, narlikar] = [STEALING, NARLIKAR].map(growth);
    Finding::new(
        "nested, from 4 to 16 processors: growth of the memory of work stealing and Narlikar",
        format!(
            "in the order of p n against n + p K Tinf (here: {} as much at least)",
            show_ratio(APART)
        ),
        [stealing, narlikar].map(show_ratio).join(", "),
        stealing > APART * narlikar,
        FEW_LEFT,
    )
}

/// The source's peaks beside ours, both by that of work stealing on the fewest processors.
pub fn peaks(results: &Results<'_>) -> Sheet {
    let unit = results.peak(0, 0).value;
    let row = |(load, on): (usize, &crate::reproduce::grid::Load)| {
        let mut row = vec![on.name()];
        for (scheduler, peaks) in PUBLISHED {
            let told = peaks[load].map(|peak| show_ratio(peak / published(STEALING, 0)));
            let rule = results.grid.rule(scheduler);
            row.push(told.unwrap_or_else(|| "-".to_owned()));
            row.push(show_ratio(results.peak(rule, load).value / unit));
        }
        row
    };
    let mut columns = vec!["processors".to_owned()];
    for (scheduler, _) in PUBLISHED {
        columns.extend([
            format!("{scheduler}, published"),
            format!("{scheduler}, here"),
        ]);
    }
    Sheet {
        title: format!(
            "{}: most memory by that of work stealing on 4 processors",
            results.name()
        ),
        columns,
        rows: results
            .grid
            .plan()
            .loads
            .iter()
            .enumerate()
            .map(row)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::PROCESSORS;
    use super::super::{plan, works};
    use super::*;
    use crate::reproduce::grid::Grid;
    use crate::reproduce::observed::Observed;
    use tidegate_workloads::Size;

    /// How many findings agree where a scheduler has such a peak and time on so many processors.
    fn agreeing(told: fn(&str, &str, f64) -> (f64, f64)) -> usize {
        let grids = works(Size::Tiny).into_iter().map(|work| {
            let name = work.name;
            let plan = plan(work, 100, &PROCESSORS);
            let observed = plan.cells().map(|(rule, _, load)| {
                let (peak, seconds) = told(name, &rule.name, load.processors as f64);
                vec![Observed {
                    seconds,
                    peak,
                    ..Observed::default()
                }]
            });
            let observed = observed.collect();
            Grid::new(plan, observed)
        });
        let grids: Vec<Grid> = grids.collect();
        let results = grids.iter().map(|grid| Results { grid, s1: 100 });
        let found = findings(&results.collect::<Vec<_>>());
        assert_eq!(found.len(), 9);
        found.iter().filter(|finding| finding.agrees).count()
    }

    #[test]
    fn each_finding_agrees_with_what_was_published_and_none_with_the_contrary() {
        let published = agreeing(|_, scheduler, processors| match scheduler {
            STEALING => (processors, 1.0),
            HYBRID => (2.0 + processors / 2.0, 1.3),
            _ => (4.0, 465.0),
        });
        assert_eq!(published, 9);
        let contrary = agreeing(|_, scheduler, processors| match scheduler {
            STEALING => (4.0, 1.0),
            HYBRID => (processors, 0.9),
            _ => (4.0 + 2.0 * processors, 0.9),
        });
        assert_eq!(contrary, 0);
    }
}
