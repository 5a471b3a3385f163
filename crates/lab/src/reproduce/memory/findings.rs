//! Claims about the simulated schedulers.

use super::tables::Results;
use super::{BUDGET, HYBRID, MEMFIB, NARLIKAR, NESTED, STEALING, k, modified_fib};
use crate::arguments::Size;
use crate::engine::{Claim, Interval, Refuted, Verdict};
use crate::reproduce::page::Finding;
use tidegate_command::output::show_ratio;
use tidegate_policy::MemoryPolicy;

/// Indices of the columns for 4 and 16 processors in the source's table.
const FOUR: usize = 0;
const SIXTEEN: usize = 3;

pub fn findings(results: &[Results], size: Size) -> Vec<Finding> {
    let of = |name| {
        let mut results = results.iter();
        let found = results.find(|results| results.name() == name);
        found.expect("a program of this experiment")
    };
    let too_small = |finding: Finding| finding.unless(size == Size::Tiny, Verdict::TooSmall);
    let programs = nested(of(NESTED)).into_iter().chain([held(of(MEMFIB))]);
    let mut all = modified_fib::findings(&results[0], size);
    all.extend(programs.map(too_small));
    all.extend(within_bounds(results));
    all
}

/// Judges claims about the source's example of two loops, for which the source has no measurements.
fn nested(results: &Results) -> [Finding; 3] {
    let growth = |scheduler| {
        let peaks = [SIXTEEN, FOUR].map(|load| results.peak(scheduler, load));
        let [many, few] = peaks;
        [many, few]
    };
    let [stealing, narlikar] = [STEALING, NARLIKAR].map(growth);
    let by_stealing = Interval::of(
        &[&stealing[0], &stealing[1], &narlikar[0], &narlikar[1]],
        |medians| medians[0] / medians[1] / (medians[2] / medians[3]),
    );
    [
        // In theory, each processor has one array, so the growth is 4.0. The range allows for a few
        // arrays fewer.
        Claim::new(
            "nested: growth of work stealing",
            "In the example of two loops the memory of work stealing grows with the processors: \
             4 times from 4 to 16",
            "slides \"Schedule 1\" and \"Schedule 2\"",
            3.2..=4.0,
            Refuted::AtMost(1.1),
        )
        .finding(stealing[0].over(&stealing[1]), show_ratio),
        // In theory, the ratio of the two growths is 4.0 for large n. The range begins at about
        // half of that, because at the end of an inner loop some processors already begin the next
        // array.
        Claim::new(
            "nested: growth by Narlikar",
            "In the example of two loops the memory of Narlikar's scheduler does not grow, so that \
             from 4 to 16 processors work stealing's grows 4 times as much",
            "slides \"Schedule 1\" and \"Schedule 2\"",
            2.1..=4.4,
            Refuted::AtMost(1.1),
        )
        .finding(by_stealing, show_ratio)
        .because(FEW_LEFT),
        Claim::new(
            "nested: Narlikar on 16",
            "In the example of two loops inner loops first need at most half of the memory of \
             outer loops first, on 16 processors",
            "slides \"Schedule 1\" and \"Schedule 2\"",
            0.0..=0.5,
            Refuted::AtLeast(0.95),
        )
        .finding(results.peak_ratio(NARLIKAR, SIXTEEN), show_ratio)
        .because(FEW_LEFT),
    ]
}

const FEW_LEFT: &str = "Where the tasks of an inner loop run out, the processors that find none begin the next array \
     in any order; so several arrays are open at a time, and more with more processors.";

/// Judges our expectation for calls that hold their blocks during their recursion.
fn held(results: &Results) -> Finding {
    Claim::new(
        "memfib: hybrid on 16",
        "Where calls hold their blocks over their recursion, the hybrid needs more memory than \
         work stealing on 16 processors",
        "ours, expected",
        1.05..=f64::INFINITY,
        Refuted::AtMost(1.0),
    )
    .finding(results.peak_ratio(HYBRID, SIXTEEN), show_ratio)
    .because(
        "A task that sleeps keeps the blocks of its path, while its processor begins another path.",
    )
}

/// Checks that peaks stay within the theoretical bounds and within the budget.
fn within_bounds(results: &[Results]) -> [Finding; 3] {
    let claim = |scheduler: &str, what: &str, source: &str| {
        Claim::new(
            format!("bound of {scheduler}"),
            what,
            source,
            0.0..=1.0,
            Refuted::Outside(0.0, 1.0),
        )
        .finding(largest(results, scheduler), show_ratio)
    };
    [
        claim(
            STEALING,
            "No peak of work stealing exceeds p S1",
            "slide \"Overview\"",
        ),
        claim(
            NARLIKAR,
            "No peak of Narlikar's scheduler exceeds S1 + p K Tinf",
            "slide \"Overview\"",
        )
        .because("The bound is O(S1 + p K Tinf); the constant here is 1, Tinf counts actions."),
        claim(BUDGET, "No peak exceeds its budget", "ours, expected"),
    ]
}

/// Returns the largest ratio of a peak to its bound, over all programs, processors and runs.
pub fn largest(results: &[Results], scheduler: &str) -> Interval {
    let of = |results: &Results| {
        let rule = results.grid.rule(scheduler);
        let loads = 0..results.grid.plan().loads.len();
        let ratio = |load| {
            let sample = |observed: &crate::reproduce::observed::Observed| {
                observed.peak / bound(results, rule, load)
            };
            results.grid.sample((rule, 0, load), sample).max()
        };
        loads.map(ratio).fold(f64::NAN, f64::max)
    };
    Interval::exact(results.iter().map(of).fold(f64::NAN, f64::max))
}

/// Returns the largest peak that theory or the budget allows under a rule.
fn bound(results: &Results, rule: usize, load: usize) -> f64 {
    let plan = results.grid.plan();
    let processors = plan.loads[load].processors as f64;
    let s1 = results.extent.peak_bytes;
    match plan.rules[rule].memory {
        Some(MemoryPolicy::Budget(budget)) => budget.bytes as f64,
        Some(MemoryPolicy::DepthFirst(_)) => {
            s1 as f64 + processors * k(s1) as f64 * results.extent.depth as f64
        }
        _ => processors * s1 as f64,
    }
}

#[cfg(test)]
mod tests;
