//! The experiment on this machine.

use tidegate::machine::Machine;

use super::findings::{alike, fails_with_two, two_workers};
use super::programs::{self, SPARSELU};
use super::results::{Results, seconds};
use super::{BOTTOMMOST, DYNAMIC, RUNS, overhead, sections};
use crate::arguments::Size;
use crate::engine::{Session, Verdict};
use crate::reproduce::grid;
use crate::reproduce::page::{Finding, Page, Section, Setting};
use crate::reproduce::real::Processes;
use tidegate_command::failure::Failure;
use tidegate_command::output::show_ratio;

/// The number of workers. According to the source, its strategies differ only on more than two
/// processors.
const WORKERS: usize = 2;

/// The part of the experiment that runs on this machine.
pub struct Trial {
    plans: Vec<grid::Trial>,
    overhead: overhead::Trial,
}

impl Trial {
    pub fn new(session: &Session) -> Result<Self, Failure> {
        let (size, runs) = (session.size().into(), session.runs(RUNS));
        let plans = programs::real(size).into_iter();
        Ok(Self {
            plans: plans
                .map(|plan| plan.real("here", runs))
                .collect::<Result<_, _>>()?,
            overhead: overhead::Trial::new(size, runs, &Processes::new()?),
        })
    }

    pub fn expect(&self, session: &Session) {
        self.plans.iter().for_each(|trial| trial.expect(session));
        self.overhead.expect(session);
    }

    /// Runs the cells and adds the findings and sections to the page.
    pub fn add(self, page: &mut Page, session: &Session) -> Result<(), Failure> {
        let grids = self.plans.into_iter().map(|trial| trial.measure(session));
        let results = Results(grids.collect::<Result<_, _>>()?);
        let times = self.overhead.measure(session)?;
        let processors = Machine::read().usable().len();
        page.made.push(Setting::new("processors here", processors));
        let sparselu = alike(
            "sparselu-half-here",
            "On SparseLU with two workers, stealing half takes as long as stealing the oldest task.",
            "figure 20, section 4.3.3",
        )
        .finding(
            results.ratio(SPARSELU, [DYNAMIC, BOTTOMMOST], WORKERS, seconds),
            show_ratio,
        )
        .because("A stack holds one task besides the running one, so half is that one.");
        let mut parallel = vec![two_workers("uts-a-two-workers-here", &results), sparselu];
        parallel.extend(fails_with_two("sparselu-two-here", &results, WORKERS, 0.75));
        let alone = |finding: Finding| finding.unless(processors < WORKERS, Verdict::CannotTell);
        let mut findings: Vec<Finding> = parallel.into_iter().map(alone).collect();
        findings.push(times.finding());
        let is_tiny = session.size() == Size::Tiny;
        let too_small = |finding: Finding| finding.unless(is_tiny, Verdict::TooSmall);
        page.findings.extend(findings.into_iter().map(too_small));
        page.sections.push(Section {
            title: "Here: two workers".to_owned(),
            text: "The same programs and strategies on this machine with two workers, one thief \
                   for each victim. A thief of this runtime takes only tasks that its victim has \
                   made public, which can be fewer than the strategy says."
                .to_owned(),
            charts: vec![],
            tables: vec![sections::breakdown(&[&results.0[0], &results.0[1]])],
        });
        page.sections.push(times.section());
        Ok(())
    }
}
