//! The cost of tasks on one worker, compared with plain calls (section 4.3.1, figures 7 and 8).

use std::time::Duration;

use tidegate_workloads::{Runtime, Serial, Size};

use super::BOTTOMMOST;
use super::programs::{load, rule};
use crate::engine::{Cell, Claim, Interval, Refuted, Sample, Session};
use crate::reproduce::page::{Finding, Section};
use crate::reproduce::real::{Processes, spec};
use crate::reproduce::simulated::Work;
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value, show_ratio};

/// Runs each program on one worker with tasks, and serially with plain calls.
pub struct Trial {
    cells: Vec<Cell<'static, f64>>,
    runs: u64,
}

/// The times of fib and of UTS A, each with tasks and with calls.
pub struct Times([[Sample; 2]; 2]);

fn works(size: Size) -> [Work; 2] {
    let (fib, uts): (&str, &str) = match size {
        Size::Tiny => ("n=16", "tree=tiny-binomial form=spawn"),
        Size::Small | Size::Paper => ("n=30", "tree=T3 form=spawn"),
    };
    [
        Work::new("fib 30", "fib", size, fib),
        Work::new("UTS A", "uts", size, uts),
    ]
}

impl Trial {
    pub fn new(size: Size, runs: u64, processes: &Processes) -> Self {
        let cell = |work: &Work, is_serial: bool| {
            let runtime = if is_serial { "calls" } else { "tasks" };
            let name = format!("here/one worker/{}/{}/{runtime}", work.name, work.in_full());
            let (work, processes) = (work.clone(), processes.clone());
            Cell::new(name, move |run| {
                let mut spec = spec(&work, &rule(BOTTOMMOST), load(1), run)?;
                if is_serial {
                    spec.runtime = Serial::NAME.to_owned();
                }
                Ok(processes.run(&[(spec, Duration::ZERO)])?[0].seconds)
            })
        };
        let cells = works(size).map(|work| [false, true].map(|is_serial| cell(&work, is_serial)));
        Self {
            cells: cells.into_iter().flatten().collect(),
            runs,
        }
    }

    pub fn expect(&self, session: &Session) {
        session.expect(&self.cells, self.runs);
    }

    pub fn measure(self, session: &Session) -> Result<Times, Failure> {
        let taken = session.in_turns(&self.cells, self.runs)?;
        let mut samples = taken.into_iter().map(Sample::new);
        let mut next = || samples.next().unwrap_or_default();
        Ok(Times([[next(), next()], [next(), next()]]))
    }
}

impl Times {
    pub fn finding(&self) -> Finding {
        let samples: Vec<&Sample> = self.0.iter().flatten().collect();
        let ratio = Interval::of(&samples, |medians| {
            (medians[0] / medians[1]) / (medians[2] / medians[3])
        });
        Claim::new(
            "one-worker-overhead",
            "On one worker, tasks in place of calls slow fib down by a larger factor than UTS.",
            "section 4.3.1, figures 7 and 8",
            1.2..=f64::INFINITY,
            Refuted::AtMost(1.02),
        )
        .finding(ratio, show_ratio)
        .because(
            "A task of fib adds two numbers and one of UTS computes a digest, so what a task costs \
             weighs more for fib. The figures have no readable numbers.",
        )
    }

    pub fn section(&self) -> Section {
        let mut table = Table::new(["program", "calls", "tasks", "tasks by calls"]);
        for (name, [tasks, calls]) in ["fib 30", "UTS A"].into_iter().zip(&self.0) {
            let known = |figure: f64, unit: fn(f64) -> Value| Value::known(Some(figure), unit);
            table.row([
                Value::from(name),
                known(calls.median(), Value::Seconds),
                known(tasks.median(), Value::Seconds),
                known(tasks.over(calls).value, Value::Ratio),
            ]);
        }
        Section {
            title: "Here: one worker (figures 7 and 8)".to_owned(),
            text:
                "The same program on this machine with tasks on one worker, and with plain calls \
                   in place of tasks."
                    .to_owned(),
            charts: vec![],
            tables: vec![table.titled("Time")],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Verdict;

    #[test]
    fn only_a_dearer_fib_agrees() {
        for (fib, verdict) in [
            (3.0, Verdict::Agrees),
            (1.1, Verdict::Weaker),
            (1.0, Verdict::Contradicts),
        ] {
            let sample = |seconds| Sample::new([seconds]);
            let times = Times([[sample(fib), sample(1.0)], [sample(1.0), sample(1.0)]]);
            assert_eq!(times.finding().verdict, verdict, "{fib}");
        }
    }
}
