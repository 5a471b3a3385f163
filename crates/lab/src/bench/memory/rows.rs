//! Turns the runs of `bench memory` into rows.

use tidegate_policy::MemoryPolicy;

use super::Case;
use super::policy::{LOOKS_HERE, Policy, k};
use crate::bench::crew::{Done, Memory};
use crate::engine::Sample;
use crate::engine::sheet::{Column, Field, Sheet};
use tidegate_cli_support::arguments::TableFormat;
use tidegate_cli_support::columns;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::Value;

pub const COLUMNS: &[Column] = columns! {
    program "program" Value::Number, "";
    policy "policy" Value::Number, "or rayon";
    workers "workers" Value::Number, "";
    median_of "" Value::Number, "repetitions";
    peak_declared_bytes "declared" Value::Bytes, "";
    largest_declared_bytes "" Value::Bytes, "";
    peak_ratio "of none" Value::Ratio,
        "to work stealing, the policy `none`, with the same number of workers";
    seconds "time" Value::Seconds, "";
    time_ratio "time of none" Value::Ratio, "like peak_ratio";
    s1_bytes "s1" Value::Bytes, "";
    bound_bytes "bound" Value::Bytes,
        "s1 times workers for work stealing; s1 plus k times workers times actions for \
         `depth-first` and `dfdeques`; the budget; null if no bound is known";
    budget_bytes "" Value::Bytes, "";
    k_bytes "" Value::Bytes, "";
    peak_rss_bytes "memory" Value::Bytes, "of the process";
    undeclared_peak_bytes "" Value::Bytes, "allocated beyond what was declared; null on rayon";
    steals "steals" Value::Number, "null on rayon";
    sleeps "sleeps" Value::Number, "for memory; null on rayon";
    tinf_seconds "" Value::Seconds, "the span";
    tinf_actions "" Value::Number, "";
    verified "verified" Value::Number,
        "whether every answer equals the serial one, and no run of a policy with a bound exceeded \
         it";
};

type Row<'a> = (Case<'a>, Vec<Done>);

impl Case<'_> {
    fn k(&self) -> Option<u64> {
        match self.policy? {
            Policy::DepthFirst | Policy::DfDeques => Some(k(self.baseline.s1, LOOKS_HERE)),
            Policy::None | Policy::Hybrid | Policy::Budget => None,
        }
    }

    fn budget(&self) -> Option<u64> {
        match self.memory() {
            MemoryPolicy::Budget(budget) => Some(budget.bytes as u64),
            _ => None,
        }
    }

    /// Returns the theoretical limit on the bytes that the case declares at the same time; `None`
    /// if no limit is known.
    fn bound(&self) -> Option<u64> {
        let (s1, workers) = (self.baseline.s1, self.workers as u64);
        match self.policy {
            None | Some(Policy::None) => Some(s1 * workers),
            Some(Policy::Hybrid) => None,
            Some(Policy::DepthFirst | Policy::DfDeques) => {
                Some(s1 + self.k()? * workers * self.baseline.span.actions)
            }
            Some(Policy::Budget) => self.budget(),
        }
    }

    /// Whether the answer is correct and the declared peak is within the bound. The bound of work
    /// stealing is not checked, because it does not hold for programs that spawn into outer scopes.
    fn is_right(&self, done: &Done) -> bool {
        let is_bound = !matches!(self.policy, None | Some(Policy::None));
        let most = self.bound().filter(|_| is_bound);
        let within = most.is_none_or(|most| memory(done).declared <= most);
        within && done.answer == self.baseline.serial.answer
    }

    /// Whether this is the work-stealing case that `other` is compared with.
    fn is_base_of(&self, other: &Self) -> bool {
        let of = |case: &Self| (case.baseline.program, case.workers);
        self.policy == Some(Policy::None) && of(self) == of(other)
    }
}

fn memory(done: &Done) -> Memory {
    done.memory.unwrap_or_default()
}

/// Returns one figure of every run. The sample is empty if any run lacks the figure.
fn sample(runs: &[Done], of: impl Fn(&Memory) -> Option<u64>) -> Sample {
    let figures: Option<Vec<f64>> = runs
        .iter()
        .map(|done| of(&memory(done)).map(|figure| figure as f64))
        .collect();
    Sample::new(figures.unwrap_or_default())
}

fn seconds(runs: &[Done]) -> Sample {
    Sample::new(runs.iter().map(|done| done.seconds))
}

fn peak(runs: &[Done]) -> Sample {
    sample(runs, |memory| Some(memory.declared))
}

/// Prints all rows. Fails if any row has a wrong answer or exceeds its bound.
pub(super) fn print(
    rows: &[Row<'_>],
    format: TableFormat,
    notes: &[String],
) -> Result<(), Failure> {
    let mut sheet = Sheet::new(COLUMNS);
    rows.iter().for_each(|row| sheet.row(fields(row, rows)));
    sheet.print(format, notes)?;
    let complaint = |(case, runs): &Row<'_>| {
        let wrong = runs.iter().filter(|done| !case.is_right(done)).count();
        (wrong > 0).then(|| {
            let (program, policy, workers) = (case.baseline.program, case.policy(), case.workers);
            format!(
                "{program}, {policy} on {workers}: {wrong} of {} runs gave another answer or exceeded \
                 their bound",
                runs.len()
            )
        })
    };
    let complaints: Vec<String> = rows.iter().filter_map(complaint).collect();
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(Failure::Wrong(complaints.join("; ")))
    }
}

fn fields((case, runs): &Row<'_>, rows: &[Row<'_>]) -> [Field; COLUMNS.len()] {
    let base = rows.iter().find(|(base, _)| base.is_base_of(case));
    let base = base.map_or(&[][..], |(_, runs)| runs);
    // Only Tidegate's pools count these figures.
    let counted = |of: fn(&Memory) -> u64| {
        let figures = sample(runs, |memory| case.policy.map(|_| of(memory)));
        Field::Measured(figures.interval())
    };
    let bytes = |bytes: Option<u64>| Field::Number(bytes.map(|bytes| bytes as f64));
    let span = case.baseline.span;
    [
        Field::text(case.baseline.program),
        Field::text(case.policy()),
        Field::count(case.workers),
        Field::count(runs.len()),
        Field::Measured(peak(runs).interval()),
        Field::Number(Some(peak(runs).max())),
        Field::Measured(peak(runs).over(&peak(base))),
        Field::Measured(seconds(runs).interval()),
        Field::Measured(seconds(runs).over(&seconds(base))),
        bytes(Some(case.baseline.s1)),
        bytes(case.bound()),
        bytes(case.budget()),
        bytes(case.k()),
        Field::Measured(sample(runs, |memory| memory.resident).interval()),
        counted(|memory| memory.undeclared),
        counted(|memory| memory.steals),
        counted(|memory| memory.sleeps),
        Field::number(span.seconds),
        bytes(Some(span.actions)),
        Field::Flag(runs.iter().all(|done| case.is_right(done))),
    ]
}
