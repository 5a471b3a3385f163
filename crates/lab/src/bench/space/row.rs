//! From runs to rows.

use serde_json::{Value, json};
use tidegate_policy::Space;
use tidegate_workloads::Length;

use super::Policy;
use crate::bench::crew::{Done, Memory};
use tidegate_command::arguments::TableFormat;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value as Cell, print_json};
use tidegate_command::statistics::Summary;

/// What runs, and on what.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub program: &'static str,
    pub policy: Policy,
    pub workers: usize,
    /// What the serial run declares at most.
    pub s1: u64,
    pub k: u64,
    pub span: Length,
    pub space: Space,
}

impl Case {
    /// The most that it may declare, where that is known.
    fn bound(&self) -> Option<u64> {
        let workers = self.workers as u64;
        match self.policy {
            Policy::Rayon | Policy::None => Some(self.s1 * workers),
            Policy::Hybrid => None,
            Policy::DepthFirst | Policy::DfDeques => {
                Some(self.s1 + self.k * workers * self.span.actions)
            }
            Policy::Budget => self.budget(),
        }
    }

    fn budget(&self) -> Option<u64> {
        match self.space {
            Space::Budget(budget) => Some(budget.bytes as u64),
            _ => None,
        }
    }

    /// Whether exceeding the bound is an error: that of work stealing is for programs without scopes further out.
    fn is_bound(&self) -> bool {
        matches!(
            self.policy,
            Policy::DepthFirst | Policy::DfDeques | Policy::Budget
        )
    }

    fn k(&self) -> Option<u64> {
        match self.policy {
            Policy::DepthFirst | Policy::DfDeques => Some(self.k),
            Policy::Rayon | Policy::None | Policy::Hybrid | Policy::Budget => None,
        }
    }
}

/// A case and its runs.
pub struct Row {
    pub case: Case,
    runs: Vec<(f64, Memory)>,
    wrong: usize,
}

impl Row {
    pub fn new(case: Case) -> Self {
        Self {
            case,
            runs: Vec::new(),
            wrong: 0,
        }
    }

    /// A run, and whether its answer was right.
    pub fn add(&mut self, done: &Done, right: bool) {
        let memory = done.memory.unwrap_or_default();
        let most = self.case.bound().filter(|_| self.case.is_bound());
        let within = most.is_none_or(|most| memory.declared <= most);
        self.wrong += usize::from(!(right && within));
        self.runs.push((done.seconds, memory));
    }

    fn median(&self, of: impl Fn(&Memory) -> Option<u64>) -> Option<f64> {
        let seen: Option<Vec<f64>> = self
            .runs
            .iter()
            .map(|(_, memory)| of(memory).map(|value| value as f64))
            .collect();
        Some(Summary::of(seen?)?.median())
    }

    fn seconds(&self) -> f64 {
        let seconds = self.runs.iter().map(|(seconds, _)| *seconds);
        Summary::of(seconds).map_or(f64::NAN, |summary| summary.median())
    }

    fn peak(&self) -> Option<f64> {
        self.median(|memory| Some(memory.declared))
    }

    /// The row of work stealing beside which it stands.
    fn base<'a>(&self, rows: &'a [Self]) -> Option<&'a Self> {
        rows.iter().find(|row| {
            let same =
                (row.case.program, row.case.workers) == (self.case.program, self.case.workers);
            same && row.case.policy == Policy::None
        })
    }

    fn peak_ratio(&self, rows: &[Self]) -> Option<f64> {
        Some(self.peak()? / self.base(rows)?.peak()?)
    }

    fn time_ratio(&self, rows: &[Self]) -> Option<f64> {
        Some(self.seconds() / self.base(rows)?.seconds())
    }

    /// What only our own pools count.
    fn counted(&self, of: impl Fn(&Memory) -> u64) -> Option<f64> {
        self.median(|memory| (self.case.policy != Policy::Rayon).then(|| of(memory)))
    }

    fn to_json(&self, rows: &[Self]) -> Value {
        let case = &self.case;
        json!({
            "program": case.program,
            "policy": case.policy.name(),
            "workers": case.workers,
            "median_of": self.runs.len(),
            "peak_declared_bytes": self.peak(),
            "largest_declared_bytes": self.runs.iter().map(|(_, memory)| memory.declared).max(),
            "peak_rss_bytes": self.median(|memory| memory.resident),
            "undeclared_peak_bytes": self.counted(|memory| memory.undeclared),
            "seconds": self.seconds(),
            "steals": self.counted(|memory| memory.steals),
            "sleeps": self.counted(|memory| memory.sleeps),
            "s1_bytes": case.s1,
            "bound_bytes": case.bound(),
            "budget_bytes": case.budget(),
            "k_bytes": case.k(),
            "tinf_seconds": case.span.seconds,
            "tinf_actions": case.span.actions,
            "peak_ratio": self.peak_ratio(rows),
            "time_ratio": self.time_ratio(rows),
            "verified": self.wrong == 0,
        })
    }
}

/// Prints all rows; an error if one is wrong.
pub fn print(rows: &[Row], format: TableFormat) -> Result<(), Failure> {
    if format.json {
        print_json(&rows.iter().map(|row| row.to_json(rows)).collect())?;
    } else {
        table(rows).print(format)?;
    }
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| row.wrong > 0)
        .map(|row| {
            let Case {
                program,
                policy,
                workers,
                ..
            } = row.case;
            let (wrong, runs) = (row.wrong, row.runs.len());
            format!("{program}, {} on {workers}: {wrong} of {runs} runs gave another answer or exceeded their bound", policy.name())
        })
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Failure::Wrong(wrong.join("; "))),
    }
}

/// The most important columns first.
fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "program",
        "policy",
        "workers",
        "declared",
        "of none",
        "time",
        "time of none",
        "of s1",
        "bound",
        "memory",
        "steals",
        "sleeps",
    ]);
    let bytes = |bytes: Option<f64>| Cell::known(bytes, Cell::Bytes);
    let ratio = |ratio: Option<f64>| Cell::known(ratio, Cell::Ratio);
    let number = |number: Option<f64>| Cell::known(number, Cell::Number);
    for row in rows {
        let case = &row.case;
        table.row([
            case.program.into(),
            case.policy.name().into(),
            case.workers.into(),
            bytes(row.peak()),
            ratio(row.peak_ratio(rows)),
            Cell::Seconds(row.seconds()),
            ratio(row.time_ratio(rows)),
            ratio(row.peak().map(|peak| peak / case.s1 as f64)),
            bytes(case.bound().map(|bound| bound as f64)),
            bytes(row.median(|memory| memory.resident)),
            number(row.counted(|memory| memory.steals)),
            number(row.counted(|memory| memory.sleeps)),
        ]);
    }
    table
}
