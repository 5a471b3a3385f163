//! A simulated program whose type is erased, so that the code that uses it is compiled only once.

use std::sync::OnceLock;

use serde_json::{Map, Value};
use tidegate_sim::{AnyDag, WorkSpan};
use tidegate_workloads::{Answer, Program, Simulated, SimulatedVisitor, visit_simulated};

use crate::arguments::{OtherProgram, SimulationFlags};
use tidegate_cli_support::arguments::Chosen;
use tidegate_cli_support::failure::Failure;

pub struct Subject {
    pub name: &'static str,
    /// The program and its parameters, spelled as on the command line.
    pub label: String,
    pub parameters: Answer,
    dag: Box<dyn Fn() -> Box<dyn AnyDag> + Sync>,
    extent: OnceLock<WorkSpan>,
}

/// Returns the subcommand's program and the programs of `--job`.
pub fn subjects(chosen: &Chosen, flags: &SimulationFlags) -> Result<Vec<Subject>, Failure> {
    let size = flags.size.into();
    let label = chosen.label();
    let first = visit_simulated(chosen.name, size, &chosen.given, Typed(label))?;
    let other = |OtherProgram { text, chosen, size }: &OtherProgram| {
        let size = size.unwrap_or(flags.size).into();
        visit_simulated(chosen.name, size, &chosen.given, Typed(text.clone()))
            .map_err(|error| Failure::Usage(format!("--job {text:?}: {error}")))
    };
    let others = flags.job.iter().map(other);
    std::iter::once(Ok(first)).chain(others).collect()
}

/// Erases a program's type. The field is the program's label.
struct Typed(String);

impl SimulatedVisitor for Typed {
    type Out = Subject;

    fn visit<P: Simulated>(self, program: P) -> Subject {
        Subject {
            name: P::NAME,
            label: self.0,
            parameters: Program::parameters(&program),
            dag: Box::new(move || Box::new(program.dag())),
            extent: OnceLock::new(),
        }
    }
}

impl Subject {
    /// Returns the program's name and parameters as JSON fields.
    pub fn to_json(&self) -> Map<String, Value> {
        Map::from_iter([
            ("workload".to_owned(), self.name.into()),
            ("parameters".to_owned(), self.parameters.clone().into()),
        ])
    }

    pub fn dag(&self) -> Box<dyn AnyDag> {
        (self.dag)()
    }

    /// Returns the program's work and span. Each `k` bytes of a reservation count as one action.
    /// All calls of a simulation pass the same `k`, so the result is computed only once.
    pub fn extent(&self, k: u64) -> &WorkSpan {
        self.extent
            .get_or_init(|| WorkSpan::with_k(&*self.dag(), k))
    }
}

/// Returns all programs' labels in one line.
pub fn labels(subjects: &[Subject]) -> String {
    let labels: Vec<_> = subjects.iter().map(|subject| &subject.label[..]).collect();
    labels.join(" + ")
}
