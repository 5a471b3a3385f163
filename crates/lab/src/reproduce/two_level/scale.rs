//! An experiment that the thesis plans (chapter 9): how jobs start, and which cycle is best, on
//! machines of other sizes.

use std::sync::Arc;

use tidegate_sim::Width;
use tidegate_workloads::Size;

use super::Part;
use super::case::{Case, Observed};
use super::cycle::{self, CYCLES};
use super::job::{CYCLE, Job, work};
use crate::engine::ratios::greatest;
use crate::engine::{Claim, Interval, Refuted, Sample};
use crate::reproduce::page::{Chart, Finding, Section};
use crate::reproduce::two_level::show;
use tidegate_command::output::{Table, Value};

/// The machines' numbers of processors, each with parameters of loopy: sixteen subtasks per
/// processor. The subtasks are forked in halves, because a loop that spawns them one by one starts
/// a thousand workers one by one.
const MACHINES: [(usize, &[(&str, &str)]); 6] = [
    (4, &[("n", "64"), ("form", "join")]),
    (16, &[("n", "256"), ("form", "join")]),
    (64, &[("n", "1024"), ("form", "join")]),
    (256, &[("n", "4096"), ("form", "join")]),
    (1_024, &[("n", "16384"), ("form", "join")]),
    (4_096, &[("n", "65536"), ("form", "join")]),
];

/// How long a job of the start experiment takes on all processors, in seconds: 200 cycles of 5 ms.
const SHORT: f64 = 1.0;
/// How long a job of the best-cycle experiment takes on all processors, in seconds; loopy(64) takes
/// this long in the thesis.
const LONG: f64 = 18.15;

/// Returns the minimum loss, in cycles, of a job that begins with one of P processors and doubles
/// its allotment at the end of each cycle.
fn floor(processors: usize) -> f64 {
    let processors = processors as f64;
    processors.log2() - (processors - 1.0) / processors
}

/// The programs on a machine of one size.
struct Machine {
    processors: usize,
    loopy: Arc<Job>,
    knary: Arc<Job>,
    long: Arc<Job>,
}

pub struct Scale {
    machines: Vec<Machine>,
}

impl Machine {
    fn new((processors, subtasks): (usize, &'static [(&'static str, &'static str)])) -> Self {
        let job = |name, program, given, seconds| {
            Job::of(work(name, program, given), processors, seconds)
        };
        let tree = &[("n", "8"), ("k", "6"), ("r", "0")];
        Self {
            processors,
            loopy: job("loopy(16 P)", "loopy", subtasks, SHORT),
            knary: job("knary(8,6,0)", "knary", tree, SHORT),
            long: job("long loopy(16 P)", "loopy", subtasks, LONG),
        }
    }

    fn case(&self, job: &Arc<Job>, cycle: u64, contender: (&'static str, Width)) -> Case {
        Case {
            processors: self.processors,
            cycle,
            ..Case::new("scale", job, contender)
        }
    }

    fn fixed(&self, job: &Arc<Job>) -> Case {
        self.case(job, CYCLE, ("Cilk", Width::Fixed(self.processors)))
    }

    fn wsap(&self, job: &Arc<Job>, cycle: u64) -> Case {
        self.case(job, cycle, ("WSAP", Width::Desired(super::wsap(0.5))))
    }

    fn cases(&self) -> impl Iterator<Item = Case> {
        let short = [&self.loopy, &self.knary]
            .into_iter()
            .flat_map(|job| [self.fixed(job), self.wsap(job, CYCLE)]);
        let long = CYCLES.into_iter().map(|cycle| self.wsap(&self.long, cycle));
        short.chain([self.fixed(&self.long)]).chain(long)
    }

    /// Returns the time that a job loses at its start, in cycles of 5 ms.
    fn lost(&self, observed: &Observed, job: &Arc<Job>) -> Interval {
        let cases = [self.wsap(job, CYCLE), self.fixed(job)];
        let times = cases.map(|case| observed.response(&case));
        Interval::of(&times.each_ref(), |medians| {
            (medians[0] - medians[1]) / (CYCLE as f64 / 1e3)
        })
    }

    fn samples(&self, observed: &Observed) -> Vec<Sample> {
        let wsap = |cycle| self.wsap(&self.long, CYCLES[cycle]);
        cycle::samples(observed, &self.fixed(&self.long), wsap)
    }
}

impl Scale {
    pub fn new(size: Size) -> Self {
        let machines = match size {
            Size::Tiny => 2,
            Size::Small => 5,
            Size::Paper => 6,
        };
        Self {
            machines: MACHINES[..machines]
                .iter()
                .copied()
                .map(Machine::new)
                .collect(),
        }
    }

    fn start(&self, observed: &Observed, machine: &Machine) -> Finding {
        let Machine {
            processors,
            loopy,
            knary,
            ..
        } = machine;
        let floor = floor(*processors);
        let cases = [loopy, knary].map(|job| [machine.wsap(job, CYCLE), machine.fixed(job)]);
        let samples = cases
            .as_flattened()
            .iter()
            .map(|case| observed.response(case));
        let samples: Vec<Sample> = samples.collect();
        let samples: Vec<&Sample> = samples.iter().collect();
        let lost = Interval::of(&samples, |medians| {
            let of_job = medians.chunks(2).map(|pair| pair[0] - pair[1]);
            greatest(&of_job.collect::<Vec<f64>>()) / (CYCLE as f64 / 1e3) / floor
        });
        Claim::new(
            format!("scale-start-{processors}"),
            format!(
                "Expected: on {processors} processors a job that starts with one loses {floor:.1} \
                 cycles until it has all (the larger of two programs by that)"
            ),
            "chapter 9, planned; equation 7.1",
            0.5..=2.0,
            Refuted::AtLeast(4.0),
        )
        .finding(lost, show)
        .because(
            "That is the least, compared with a machine that starts at once. Cilk's start takes time, too, \
             the more the more workers have to be woken, so it can be less. Where subtasks are \
             long, as in loopy, the last processors never make up for their late start. More than \
             one further cycle for each doubling would mean that waking takes longer than cycles.",
        )
    }

    fn best_cycle(&self, observed: &Observed) -> Finding {
        let of = |processors| {
            let mut machines = self.machines.iter();
            let machine = machines.find(|machine| machine.processors == processors);
            machine.map_or_else(
                || vec![Sample::default()],
                |machine| machine.samples(observed),
            )
        };
        let (large, middle) = (of(1_024), of(16));
        let samples: Vec<&Sample> = large.iter().chain(&middle).collect();
        let ratio = Interval::of(&samples, |medians| {
            let (large, middle) = medians.split_at(large.len());
            cycle::best(large) / cycle::best(middle)
        });
        Claim::new(
            "scale-best-cycle",
            "Expected: the best cycle hardly changes with the machine; that for 1,024 processors \
             is 0.5 to 8 times that for 16",
            "chapter 9, planned; 7.1.2",
            0.5..=8.0,
            Refuted::Outside(0.25, 16.0),
        )
        .finding(ratio, show)
        .because(
            "An estimate holds up one worker for a fixed time in each cycle, whatever the machine; \
             the start takes log2 P cycles, which favours short ones on large machines. The cost \
             is that of O2-best, for loopy with sixteen subtasks for each processor and 18.15 s.",
        )
    }
}

impl Part for Scale {
    fn cases(&self) -> Vec<Case> {
        self.machines.iter().flat_map(Machine::cases).collect()
    }

    fn findings(&self, observed: &Observed) -> Vec<Finding> {
        let larger = self
            .machines
            .iter()
            .filter(|machine| machine.processors > 16);
        let mut findings: Vec<Finding> = larger
            .map(|machine| self.start(observed, machine))
            .collect();
        findings.push(self.best_cycle(observed));
        findings
    }

    fn sections(&self, observed: &Observed) -> Vec<Section> {
        vec![Section {
            title: "Other sizes of the machine".to_owned(),
            text: "The thesis planned to measure how the start and the best cycle depend on the \
                   number of processors. Nothing is published, so the findings have what is to be \
                   expected. Lost is what a job takes beyond its time under Cilk; it is less than \
                   1 % of a job that takes a hundred times as long."
                .to_owned(),
            charts: vec![self.chart(observed)],
            tables: vec![self.starts(observed), self.cycles(observed)],
        }]
    }
}

impl Scale {
    fn chart(&self, observed: &Observed) -> Chart {
        let line = |machine: &Machine| {
            let samples = machine.samples(observed);
            let samples: Vec<&Sample> = samples.iter().collect();
            let name = format!("{} processors", machine.processors);
            cycle::line(&name, |cycle| {
                Interval::of(&samples, |medians| cycle::costs(medians)[cycle]).times(100.0)
            })
        };
        let lines = self.machines.iter().map(line).collect();
        cycle::chart("Overhead and start by the running time", "%", true, lines)
    }

    fn starts(&self, observed: &Observed) -> Table {
        let mut table = Table::new([
            "processors",
            "program",
            "cycles lost",
            "at least",
            "all at work",
            "under Cilk",
            "1 % lost by a job of",
        ])
        .titled("The start with a cycle of 5 ms");
        for machine in &self.machines {
            for job in [&machine.loopy, &machine.knary] {
                let lost = machine.lost(observed, job).value;
                let all = observed.all(&machine.wsap(job, CYCLE)).median();
                let known = |figure: f64, unit| Value::known(Some(figure), unit);
                table.row([
                    Value::Text(machine.processors.to_string()),
                    Value::from(job.name),
                    known((lost * 100.0).round() / 100.0, Value::Number),
                    Value::Text(format!("{:.2}", floor(machine.processors))),
                    known(all, Value::Seconds),
                    known(observed.all(&machine.fixed(job)).median(), Value::Seconds),
                    known(100.0 * lost * CYCLE as f64 / 1e3, Value::Seconds),
                ]);
            }
        }
        table
    }

    fn cycles(&self, observed: &Observed) -> Table {
        let cycles = CYCLES.iter().map(|cycle| format!("{cycle} ms"));
        let columns = std::iter::once("processors".to_owned()).chain(cycles);
        let mut table = Table::new(columns.chain(["best".to_owned()]))
            .titled("Overhead and start by the running time, a job of 18.15 s");
        for machine in &self.machines {
            let samples = machine.samples(observed);
            let medians: Vec<f64> = samples.iter().map(Sample::median).collect();
            let is_measured = medians.iter().all(|median| median.is_finite());
            let best = is_measured.then(|| cycle::best(&medians) / 1e3);
            let costs = cycle::costs(&medians).into_iter();
            let costs = costs.map(|cost| Value::known(Some(cost), Value::Share));
            let name = Value::Text(machine.processors.to_string());
            let cells = std::iter::once(name).chain(costs);
            table.row(cells.chain([Value::known(best, Value::Seconds)]));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Verdict;
    use crate::reproduce::two_level::case::Seen;

    /// Returns the verdicts if jobs lose `lost` times the minimum at the start, and `best` returns
    /// the best cycle for a number of processors.
    fn verdicts(lost: f64, best: fn(usize) -> f64) -> Vec<Verdict> {
        let part = Scale::new(Size::Small);
        let observed = Observed::made_up(&part.cases(), |case| {
            let start = match case.contender {
                "Cilk" => 0.0,
                _ => lost * floor(case.processors) * case.cycle as f64 / 1e3,
            };
            let away = (case.cycle as f64 / best(case.processors)).ln().abs();
            Seen {
                response: case.job.seconds
                    + if case.job.seconds == LONG {
                        away
                    } else {
                        start
                    },
                all: Some(0.01),
                ..Seen::default()
            }
        });
        let findings = part.findings(&observed).into_iter();
        findings.map(|finding| finding.verdict).collect()
    }

    #[test]
    fn a_start_near_the_least_agrees() {
        assert_eq!(verdicts(1.2, |_| 5.0), [Verdict::Agrees; 4]);
    }

    /// The jobs also lose five times the minimum at their start, which contradicts the claims about
    /// the start.
    #[test]
    fn growing_best_cycle_contradicts() {
        let growing = verdicts(5.0, |processors| if processors > 16 { 100.0 } else { 1.0 });
        assert_eq!(growing, [Verdict::Contradicts; 4]);
    }
}
