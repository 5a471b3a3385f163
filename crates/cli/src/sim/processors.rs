//! The processors of the simulated machine, and the distances between them.

use std::path::Path;

use tidegate::machine::Topology;
use tidegate_policy::PlaceTree;
use tidegate_policy::tunables::SIM_PROCESSORS;

use crate::arguments::SimulatedMachine;
use crate::topology;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::show_count;

pub struct Processors<'a> {
    pub count: usize,
    topology: Option<(&'a Path, Topology)>,
}

impl<'a> Processors<'a> {
    /// Combines `--processors` and `--topology`. Fails if they contradict each other.
    pub fn of(machine: &'a SimulatedMachine) -> Result<Self, Failure> {
        let count = machine.processors;
        let Some(file) = machine.topology.as_deref() else {
            let count = count.unwrap_or(SIM_PROCESSORS.default);
            return Ok(Self {
                count,
                topology: None,
            });
        };
        let topology = topology::read(file)?;
        let cpus = topology.cpus().len();
        match count.filter(|&count| count != cpus) {
            None => Ok(Self {
                count: cpus,
                topology: Some((file, topology)),
            }),
            Some(count) => Err(Failure::Usage(format!(
                "--processors is {count}, but --topology {} has {}: omit one of them, or make the numbers equal",
                file.display(),
                show_count(cpus, "CPU")
            ))),
        }
    }

    /// Returns the tree of distances between workers. Each processor has one worker.
    pub fn places(&self) -> PlaceTree {
        match &self.topology {
            None => PlaceTree::flat(self.count),
            Some((_, topology)) => topology.places(topology.cpus().as_slice()),
        }
    }

    /// Returns the path of the topology file; `None` without `--topology`.
    pub fn file(&self) -> Option<String> {
        let (file, _) = self.topology.as_ref()?;
        Some(file.display().to_string())
    }
}
