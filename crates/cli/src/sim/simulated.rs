//! A simulated program.

use std::sync::OnceLock;

use serde_json::{Map, Value};
use tidegate_sim::{AnyDag, WorkSpan};
use tidegate_workloads::{AnySimulated, Given, ParameterError, Size, find_simulated};

use crate::arguments::{OtherProgram, SimulationFlags};
use tidegate_cli_support::arguments::Chosen;
use tidegate_cli_support::failure::Failure;

pub struct SimulatedProgram {
    pub program: Box<dyn AnySimulated>,
    /// The program and its parameters, spelled as on the command line.
    pub label: String,
    extent: OnceLock<WorkSpan>,
}

impl SimulatedProgram {
    /// Returns the subcommand's program and the programs of `--job`.
    pub fn all(chosen: &Chosen, flags: &SimulationFlags) -> Result<Vec<Self>, Failure> {
        let size = flags.size.into();
        let label = chosen.label();
        let first = Self::new(chosen.name, size, &chosen.given, label)?;
        let other = |OtherProgram { text, chosen, size }: &OtherProgram| {
            let size = size.unwrap_or(flags.size).into();
            Self::new(chosen.name, size, &chosen.given, text.clone())
                .map_err(|error| Failure::Usage(format!("--job {text:?}: {error}")))
        };
        let others = flags.job.iter().map(other);
        std::iter::once(Ok(first)).chain(others).collect()
    }

    fn new(name: &str, size: Size, given: &Given, label: String) -> Result<Self, ParameterError> {
        Ok(Self {
            program: find_simulated(name, size, given)?,
            label,
            extent: OnceLock::new(),
        })
    }

    /// Returns the program's name and parameters as JSON fields.
    pub fn to_json(&self) -> Map<String, Value> {
        Map::from_iter([
            ("workload".to_owned(), self.program.name().into()),
            ("parameters".to_owned(), self.program.parameters().into()),
        ])
    }

    pub fn dag(&self) -> Box<dyn AnyDag> {
        self.program.slowed(1.0)
    }

    /// Returns the program's work and span. Each `k` bytes of a reservation count as one action.
    /// All calls of a simulation pass the same `k`, so the result is computed only once.
    pub fn extent(&self, k: u64) -> &WorkSpan {
        self.extent
            .get_or_init(|| WorkSpan::with_k(&*self.dag(), k))
    }
}

/// Returns all programs' labels in one line.
pub fn labels(programs: &[SimulatedProgram]) -> String {
    let labels: Vec<_> = programs.iter().map(|one| &one.label[..]).collect();
    labels.join(" + ")
}
