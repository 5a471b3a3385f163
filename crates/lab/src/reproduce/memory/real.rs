//! The experiment on this machine, with as many workers as processors, and with four workers, the
//! source's minimum. For comparison, it also runs on simulated machines that have as many
//! processors as the pools have workers.

use tidegate::machine::Machine;

use super::batch::{Batch, Subject};
use super::findings::largest;
use super::tables::{Results, ratio};
use super::{HYBRID, MEMFIB, MODIFIED_FIB, NARLIKAR, NESTED, STEALING, plan};
use crate::arguments::Size;
use crate::engine::{Claim, Refuted, Session, Verdict};
use crate::reproduce::page::{Finding, Page, Section, Setting};
use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value, show_ratio};

/// The smallest number of processors in the source.
const FOUR: usize = 4;

/// The source's two programs, and memfib, which is similar. `bench memory` measures the other
/// programs on this machine.
const PROGRAMS: [&str; 3] = [MODIFIED_FIB, NESTED, MEMFIB];

pub struct Trials {
    processors: usize,
    here: Batch,
    /// `None` if simulated machines are left out.
    simulated: Option<Batch>,
}

impl Trials {
    pub fn new(subjects: &[Subject], runs: u64, sim: bool) -> Result<Self, Failure> {
        let processors = Machine::read().usable().len();
        let mut workers = vec![processors, FOUR];
        workers.dedup();
        let is_run = |subject: &&Subject| PROGRAMS.contains(&subject.work.name);
        let subjects: Vec<&Subject> = subjects.iter().filter(is_run).collect();
        let plan = |subject: &Subject| plan(subject, &workers);
        Ok(Self {
            processors,
            here: Batch::real("here", runs, subjects.iter().copied(), plan)?,
            simulated: sim.then(|| Batch::simulated("as here", runs, subjects, plan)),
        })
    }

    pub fn expect(&self, session: &Session) {
        for batch in std::iter::once(&self.here).chain(&self.simulated) {
            batch.expect(session);
        }
    }

    /// Runs the cells and adds the results to the page.
    pub fn add(self, page: &mut Page, session: &Session) -> Result<(), Failure> {
        let simulated = self.simulated.map(|batch| batch.measure(session));
        let here = self.here.measure(session)?;
        page.made
            .push(Setting::new("processors here", self.processors));
        page.findings
            .extend(findings(&here, self.processors, session.size()));
        if let Some(simulated) = simulated {
            page.sections.push(beside(&here, &simulated?));
        }
        let sections = here.iter().map(|results| results.section("Here"));
        page.sections.extend(sections);
        Ok(())
    }
}

fn findings(here: &[Results], processors: usize, size: Size) -> Vec<Finding> {
    let fib = &here[0];
    let load = fib.grid.load(&FOUR.to_string());
    let alike = |scheduler: &str, subject: &str| {
        // The range allows for one block more or fewer than four.
        Claim::new(
            format!("here: {scheduler} on 4"),
            format!(
                "On 4 processors {subject} needs as much memory as work stealing (here 4 workers on \
                 {processors} processors)"
            ),
            "slide \"Peak Memory Usage\"",
            0.75..=1.25,
            Refuted::Outside(0.75, 1.25),
        )
        .published(1.0)
        .finding(fib.peak_ratio(scheduler, load), show_ratio)
        .unless(size == Size::Tiny, Verdict::TooSmall)
        .because(NOT_FOUR)
    };
    let bound = Claim::new(
        "here: bound of work stealing",
        "No peak of work stealing exceeds p S1",
        "slide \"Overview\"",
        0.0..=1.0,
        Refuted::Outside(0.0, 1.0),
    );
    vec![
        alike(HYBRID, "the hybrid"),
        alike(NARLIKAR, "Narlikar's scheduler"),
        bound.finding(largest(here, STEALING), show_ratio),
    ]
}

const NOT_FOUR: &str = "Declared bytes do not depend on the clock, but on fewer processors than workers a worker may \
     hold a block while it waits for a processor. The table \"Here and simulated\" has both.";

/// Compares the schedulers with work stealing, on this machine and on simulated processors.
fn beside(here: &[Results], simulated: &[Results]) -> Section {
    let columns = [
        "program",
        "workers",
        "scheduler",
        "peak here",
        "peak simulated",
        "time here",
        "time simulated",
    ];
    let mut table = Table::new(columns).titled("Peak and time / work stealing");
    for (here, simulated) in here.iter().zip(simulated) {
        for (load, on) in here.grid.plan().loads.iter().enumerate() {
            for scheduler in here.schedulers().skip(1) {
                let peaks = [here, simulated].map(|at| ratio(at.peak_ratio(scheduler, load)));
                let times = [here, simulated].map(|at| ratio(at.time_ratio(scheduler, load)));
                let names = [here.name().into(), on.processors.into(), scheduler.into()];
                let cells: [Value; 3] = names;
                table.row(cells.into_iter().chain(peaks).chain(times));
            }
        }
    }
    Section {
        title: "Here and simulated".to_owned(),
        text: DIFFERENCES.to_owned(),
        charts: vec![],
        tables: vec![table],
    }
}

/// Explains why real and simulated figures differ.
const DIFFERENCES: &str = "The runtime's hybrid is not the simulated one. After a task has fallen asleep, a simulated \
     processor runs the youngest task of its own deque; in the runtime the sleeper keeps its \
     thread, and its slot goes to another thread, which steals the oldest task. A simulated \
     processor waits until its rounds are over; a thread of the runtime that is about to park wakes \
     any sleeper at once. And where there are more workers than processors, a worker may hold a \
     block while it waits for a processor. Which of these makes how much of a difference has not \
     been measured. A fib all of whose calls hold a block once needed 0.45 times the memory of work \
     stealing here and 1.00 times simulated: in the simulator any idle processor woke the sleepers \
     of others then. Now each waits for its own, and the simulated machine holds one block at a \
     time, on 4 processors 0.25 times as much in 4.05 times the time: every call sleeps before it \
     makes others, so there is nothing to steal.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::grid::Grid;
    use crate::reproduce::memory::works;
    use crate::reproduce::observed::Observed;

    /// Returns the verdicts if work stealing holds `held` blocks on four workers, and the other
    /// schedulers hold three.
    fn verdicts(held: f64) -> Vec<Verdict> {
        let subject = Subject::new(works(tidegate_workloads::Size::Tiny).remove(0)).unwrap();
        let plan = plan(&subject, &[2, FOUR]);
        let s1 = subject.extent.peak_bytes as f64;
        let observed = plan.cells().map(|(rule, ..)| {
            let blocks = if rule.name == STEALING { held } else { 3.0 };
            vec![Observed {
                peak: blocks * s1,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        let grid = Grid::new(plan, observed);
        let extent = subject.extent;
        let findings = findings(&[Results { grid, extent }], 2, Size::Small);
        findings.iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn another_number_of_blocks_contradicts() {
        use Verdict::{Agrees, Contradicts};
        // With two workers, work stealing holds at most two blocks.
        assert_eq!(verdicts(2.0), [Contradicts, Contradicts, Agrees]);
        assert_eq!(verdicts(3.0), [Agrees, Agrees, Contradicts]);
        assert_eq!(verdicts(5.0), [Contradicts; 3]);
    }
}
