//! How many processors the simulated machine has, and how far apart they are.

use std::path::Path;

use tidegate::machine::Topology;
use tidegate_policy::PlaceTree;
use tidegate_policy::tunables::SIM_PROCESSORS;

use crate::topology;
use tidegate_command::failure::Failure;

/// The processors of the simulated machine.
pub struct Processors<'a> {
    /// How many there are.
    pub count: usize,
    told: Option<(&'a Path, Topology)>,
}

impl<'a> Processors<'a> {
    /// What the two options say; neither may contradict the other.
    pub fn of(count: Option<usize>, file: Option<&'a Path>) -> Result<Self, Failure> {
        let Some(file) = file else {
            let count = count.unwrap_or(SIM_PROCESSORS.default);
            return Ok(Self { count, told: None });
        };
        let topology = topology::read(file)?;
        let cpus = topology.cpus().len();
        match count.filter(|&count| count != cpus) {
            None => Ok(Self {
                count: cpus,
                told: Some((file, topology)),
            }),
            Some(count) => Err(Failure::Usage(format!(
                "--processors {count} contradicts --topology {}, which has {cpus}; allowed: one of the two, or the \
                 same number",
                file.display()
            ))),
        }
    }

    /// How far the workers are from each other, of which each stands on a processor of its own.
    pub fn places(&self) -> PlaceTree {
        match &self.told {
            None => PlaceTree::flat(self.count),
            Some((_, topology)) => topology.places(topology.cpus().as_slice()),
        }
    }

    /// Which file says so.
    pub fn file(&self) -> Option<String> {
        let (file, _) = self.told.as_ref()?;
        Some(file.display().to_string())
    }
}
