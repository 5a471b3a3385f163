//! Runs several programs, each under its own rules, because a rule's parameters depend on the
//! program.

use tidegate_sim::{Settings, WorkSpan};
use tidegate_workloads::{Simulated, SimulatedVisitor, visit_simulated};

use super::k;
use super::tables::Results;
use crate::engine::Session;
use crate::reproduce::grid::{Plan, Trial};
use crate::reproduce::simulated::Work;
use tidegate_command::failure::Failure;

/// A program, and the work, span and peak of its serial run.
pub struct Subject {
    pub work: Work,
    pub extent: WorkSpan,
}

impl Subject {
    pub fn new(work: Work) -> Result<Self, Failure> {
        struct Walked;

        impl SimulatedVisitor for Walked {
            type Out = WorkSpan;

            fn visit<P: Simulated>(self, program: P) -> WorkSpan {
                let dag = program.dag();
                let s1 = WorkSpan::of(&dag).peak_bytes;
                WorkSpan::with_k(&dag, k(s1))
            }
        }
        let extent = visit_simulated(work.program, work.size, &work.given(), Walked)?;
        Ok(Self { work, extent })
    }
}

/// The trial of each program, and the work, span and peak of its serial run.
pub struct Batch(Vec<(Trial, WorkSpan)>);

impl Batch {
    pub fn simulated<'a>(
        place: &str,
        runs: u64,
        subjects: impl IntoIterator<Item = &'a Subject>,
        plan: impl Fn(&Subject) -> Plan,
    ) -> Self {
        let trial = |subject| plan(subject).simulated(place, runs, Settings::new);
        Self(
            subjects
                .into_iter()
                .map(|subject| (trial(subject), subject.extent))
                .collect(),
        )
    }

    pub fn real<'a>(
        place: &str,
        runs: u64,
        subjects: impl IntoIterator<Item = &'a Subject>,
        plan: impl Fn(&Subject) -> Plan,
    ) -> Result<Self, Failure> {
        let trial = |subject: &Subject| Ok((plan(subject).real(place, runs)?, subject.extent));
        subjects
            .into_iter()
            .map(trial)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub fn expect(&self, session: &Session) {
        self.0.iter().for_each(|(trial, _)| trial.expect(session));
    }

    pub fn measure(self, session: &Session) -> Result<Vec<Results>, Failure> {
        let measure = |(trial, extent): (Trial, WorkSpan)| {
            let grid = trial.measure(session)?;
            Ok(Results { grid, extent })
        };
        self.0.into_iter().map(measure).collect()
    }
}
