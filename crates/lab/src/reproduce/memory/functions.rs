//! Compares the sleep functions for the hybrid that the slide "Future Work on Hybrid Scheduler"
//! suggests with the published one.

use super::sweep::{FUNCTIONS, name};
use super::tables::{Results, ratio};
use super::{HYBRID, STEALING};
use crate::arguments::Size;
use crate::bench::memory::policy::LOOKS_OF_SLIDES;
use crate::engine::ratios::{greatest, of_ratios};
use crate::engine::{Claim, Interval, Refuted, Sample, Verdict};
use crate::reproduce::observed::Observed;
use crate::reproduce::page::Finding;
use tidegate_command::output::{Table, Value, show_ratio};

/// Creates a table of the peak and time under each function, relative to work stealing. The
/// schedulers' parameters are S1/64.
pub fn table(swept: &[Results]) -> Table {
    let columns = ["program", "sleep function", "peak", "time", "peak x time"];
    let mut table = Table::new(columns).titled("Sleep functions / work stealing");
    for results in swept {
        for (line, function) in FUNCTIONS {
            let rule = name(line, LOOKS_OF_SLIDES);
            let figures = [
                results.peak_ratio(&rule, 0),
                results.time_ratio(&rule, 0),
                peak_times_time(results, &rule).over(&peak_times_time(results, STEALING)),
            ];
            let names = [Value::from(results.name()), function.to_string().into()];
            table.row(names.into_iter().chain(figures.map(ratio)));
        }
    }
    table
}

/// Tests whether any function beats the published one on every program: whether its product of
/// memory and time is smaller.
pub fn findings(swept: &[Results], size: Size) -> impl Iterator<Item = Finding> {
    let others = FUNCTIONS.into_iter().skip(1);
    others.map(move |(line, function)| {
        Claim::new(
            format!("sleep function {function}"),
            format!(
                "With the sleep function {function}, some program needs more peak memory x time \
                 on 16 processors than with the published function"
            ),
            "ours, expected; slide \"How long to Sleep?\"",
            1.1..=f64::INFINITY,
            Refuted::AtMost(1.0),
        )
        .finding(most_beside_published(swept, line), show_ratio)
        .because(LENGTH_MATTERS_LITTLE)
        .unless(size == Size::Tiny, Verdict::TooSmall)
    })
}

const LENGTH_MATTERS_LITTLE: &str = "The figure is that of the program with the largest ratio; at 1.00 or less the function would \
     be at least as good as the published one everywhere. The same tasks sleep under all three \
     functions, and how long they sleep matters little: a round is one attempt to steal, and even \
     the longest sleep under square, 144 rounds for a request of S1, is short compared with a task. \
     Alpha, which decides how many tasks sleep, matters more; the functions part at S1/1024, \
     where square has sleeps of thousands of rounds.";

/// Compares the product of memory and time under a function with the product under the published
/// function. Returns the largest ratio over all programs.
fn most_beside_published(swept: &[Results], line: &str) -> Interval {
    let pair =
        |results| [line, HYBRID].map(|line| peak_times_time(results, &name(line, LOOKS_OF_SLIDES)));
    of_ratios(&swept.iter().map(pair).collect::<Vec<_>>(), greatest)
}

fn peak_times_time(results: &Results, rule: &str) -> Sample {
    let rule = results.grid.rule(rule);
    let product = |observed: &Observed| observed.peak * observed.seconds;
    results.grid.sample((rule, 0, 0), product)
}

#[cfg(test)]
mod tests;
