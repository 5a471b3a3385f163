//! The experiment on this machine.

use tidegate::machine::Machine;
use tidegate_workloads::Size;

use super::claims::{ALIKE, Row, SEVEN, SLIGHTLY, WORSE};
use super::medians::{On, View};
use crate::engine::ratios::{greatest, least};
use crate::engine::{Refuted, Session, Verdict};
use crate::reproduce::grid::{Grid, Load, Plan, Trial};
use crate::reproduce::page::{Finding, Page, Setting};
use crate::reproduce::simulated::Work;
use tidegate_command::failure::Failure;

/// The smallest number of processors on which backoffs made a difference to bipartition (section
/// 4.3).
const MANY: usize = 20;

/// Returns all programs of the thesis except UTS-7. Two of the programs have a different graph in
/// each run.
fn works(size: Size) -> Vec<Work> {
    let other = ["bipartition", "sssp"].map(|program| Work {
        reseeded: true,
        ..Work::new(program, program, size, &[])
    });
    super::works(size).into_iter().chain(other).collect()
}

fn load(processors: usize, instances: usize) -> Load {
    Load {
        processors,
        instances,
    }
}

/// The cells that run on this machine.
pub struct Here {
    processors: usize,
    trial: Trial,
}

/// The grid, and the names of its loads with one and with four instances.
struct Results {
    grid: Grid,
    alone: String,
    four: String,
}

impl View<'_, Results> {
    fn here(&self) -> On<'_> {
        self.on(&self.results.grid)
    }
}

fn plan(size: Size, processors: usize) -> Plan {
    Plan {
        rules: super::rules(),
        works: works(size),
        loads: [1, 2, 4]
            .map(|instances| load(processors, instances))
            .into(),
    }
}

impl Here {
    pub fn new(session: &Session) -> Result<Self, Failure> {
        let processors = Machine::read().usable().len();
        let plan = plan(session.size().into(), processors);
        let trial = plan.real("here", super::runs(session))?;
        trial.expect(session);
        Ok(Self { processors, trial })
    }

    /// Runs the cells and adds the results to the page.
    pub fn add(self, session: &Session, page: &mut Page) -> Result<(), Failure> {
        let Self { processors, trial } = self;
        let grid = trial.measure(session)?.in_units_of(&SEVEN);
        let results = Results::new(grid, processors);
        page.made.extend([
            Setting::new("processors here", processors),
            Setting::new(
                "not run here",
                "UTS-7; and bipartition as often as in the thesis, which made 100 runs of it",
            ),
        ]);
        let size = session.size().into();
        page.findings.extend(findings(&results, processors, size));
        page.sections.extend([
            super::overall("Here: aggregated", &[("this machine", &results.grid)]),
            super::by_program("here", &results.grid),
            super::sleeps("here, one instance", &results.grid, &results.alone),
        ]);
        Ok(())
    }
}

impl Results {
    fn new(grid: Grid, processors: usize) -> Self {
        Self {
            grid,
            alone: load(processors, 1).name(),
            four: load(processors, 4).name(),
        }
    }
}

fn findings(results: &Results, processors: usize, size: Size) -> Vec<Finding> {
    let few = processors < MANY;
    let anywhere = WASTE.iter().map(|row| (row, false));
    let on_many = BIPARTITION.iter().map(|row| (row, few));
    let rows = anywhere.chain(on_many).chain([(&SSSP, true)]);
    rows.map(|(row, cannot)| {
        let finding = row.finding(results, size);
        finding.unless(cannot, Verdict::CannotTell)
    })
    .collect()
}

fn by_linear(view: &View<'_, Results>, rule: &str) -> f64 {
    let time = |rule| view.here().aggregated(rule, &[&view.results.four], &SEVEN);
    time(rule) / time("linear")
}

const PROGRAM: &str = "bipartition";

fn alone(view: &View<'_, Results>, rule: &str) -> f64 {
    view.here().time(rule, PROGRAM, &[&view.results.alone])
}

/// Claims about wasted processor time. With four instances, idle thieves release processors that
/// the other instances can use.
const WASTE: &[Row<Results>] = &[
    Row::above(
        "here-original",
        "Four instances here take significantly longer with the original backoff than with \
         the linear one",
        "4.5",
        WORSE,
        |view| by_linear(view, "pheet-original"),
    )
    .because(
        "Its sleeps grow to 0.1 ms only, so its thieves take processors from the other \
         instances more often. On few processors there is little to take.",
    ),
    Row::above(
        "here-none",
        "Four instances here take significantly longer without a backoff than with the \
         linear one",
        "4.5",
        WORSE,
        |view| by_linear(view, "none"),
    )
    .because(
        "A thief that never rests keeps its processor for a whole slice of time while workers \
         of other instances wait for it.",
    ),
];

const FEW: &str = "The thesis sees a difference from 20 processors on.";

const BIPARTITION: &[Row<Results>] = &[
    Row::above(
        "bipartition-none",
        "Bipartition alone takes almost 2 times as long without a backoff as with the linear \
         one",
        "4.3, fig. 4.1a; 6.1, fig. 6.1",
        // The published factor is 2. The range extends by a factor of sqrt(2) in each direction.
        1.41..=2.83,
        |view| alone(view, "none") / alone(view, "linear"),
    )
    .published(2.0)
    .because(FEW),
    Row::above(
        "bipartition-quanta",
        "Bipartition alone takes longer with either quanta than with the linear and the \
         original backoff",
        "6.1, fig. 6.1; 5.6, fig. 5.9a",
        SLIGHTLY,
        |view| {
            let times = |rule| alone(view, rule);
            let quanta = least(&["quanta", "long-quanta"].map(times));
            quanta / greatest(&["linear", "pheet-original"].map(times))
        },
    )
    .because(FEW),
    Row::new(
        "bipartition-load",
        "Four bipartitions at once take as long as one alone, with the linear backoff",
        "4.3, fig. 4.4a",
        ALIKE,
        Refuted::AtLeast(1.25),
        |view| {
            let four = view.here().time("linear", PROGRAM, &[&view.results.four]);
            four / alone(view, "linear")
        },
    )
    .because("Four instances take as long as one only where one leaves processors to the others."),
];

const SSSP: Row<Results> = Row::new(
    "sssp-none",
    "Shortest paths alone take significantly longer without a backoff than with the linear \
     one on Mars, and less time on Saturn",
    "6.5, figs 6.9, 6.10",
    0.50..=2.0,
    Refuted::Outside(0.50, 2.0),
    |view| {
        let time = |rule| view.here().time(rule, "sssp", &[&view.results.alone]);
        time("none") / time("linear")
    },
)
.because("The two machines of the thesis contradict each other, so no third one can decide.");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::observed::Observed;

    /// Returns the verdicts if programs take `seconds` under the rule `slow` and one second under
    /// all others. If `slow` is "load", bipartition takes one second for each instance.
    fn verdicts(processors: usize, slow: &str, seconds: f64) -> Vec<(String, Verdict)> {
        let plan = plan(Size::Tiny, processors);
        let observed = plan.cells().map(|(rule, work, load)| {
            let mut seconds = if rule.name.contains(slow) {
                seconds
            } else {
                1.0
            };
            if work.name == "bipartition" && slow == "load" {
                seconds *= load.instances as f64;
            }
            vec![Observed {
                seconds,
                ..Observed::default()
            }]
        });
        let observed = observed.collect();
        let results = Results::new(Grid::new(plan, observed), processors);
        let findings = findings(&results, processors, Size::Paper).into_iter();
        findings
            .map(|finding| (finding.id, finding.verdict))
            .collect()
    }

    #[test]
    fn each_finding_can_agree_and_contradict() {
        for (id, slow, agreeing, contradicting) in [
            ("here-original", "pheet-original", 1.5, 0.9),
            ("here-none", "none", 1.5, 0.9),
            ("bipartition-none", "none", 2.0, 0.9),
            ("bipartition-quanta", "quanta", 1.1, 0.9),
        ] {
            for (seconds, verdict) in [
                (agreeing, Verdict::Agrees),
                (contradicting, Verdict::Contradicts),
            ] {
                let all = verdicts(32, slow, seconds);
                assert!(all.contains(&(id.to_owned(), verdict)), "{id} {all:?}");
            }
        }
        let load = |slow| {
            let all = verdicts(32, slow, 1.0).into_iter();
            let mut of = all.filter(|(id, _)| id == "bipartition-load");
            of.next().unwrap().1
        };
        assert_eq!(
            [load("none"), load("load")],
            [Verdict::Agrees, Verdict::Contradicts]
        );
    }

    #[test]
    fn few_processors_cannot_decide_bipartition() {
        for (id, verdict) in verdicts(2, "none", 2.0) {
            let cannot = verdict == Verdict::CannotTell;
            assert_eq!(cannot, !id.starts_with("here"), "{id}");
        }
    }
}
