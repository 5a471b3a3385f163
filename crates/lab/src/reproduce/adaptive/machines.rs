//! The machines of the thesis, as far as it tells (Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section 3.1).

use tidegate::machine::Topology;
use tidegate_policy::{Amount, Victim};
use tidegate_sim::Settings;

use crate::reproduce::grid::Load;

/// A machine and how many processors of it are used.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub name: &'static str,
    what: &'static str,
    topology: &'static str,
    few: &'static [usize],
    pub all: usize,
}

/// Eight packages of ten cores.
pub const MARS: Machine = Machine {
    name: "Mars",
    what: "8 Intel Xeon E7-8850 of 10 cores",
    topology: "cpus 0-79\n\
               L3 0-9 10-19 20-29 30-39 40-49 50-59 60-69 70-79\n\
               package 0-9 10-19 20-29 30-39 40-49 50-59 60-69 70-79\n",
    few: &[1, 5, 10, 20, 40],
    all: 80,
};

/// Four packages of two nodes of six cores.
pub const SATURN: Machine = Machine {
    name: "Saturn",
    what: "4 AMD Opteron 6168 of 2 nodes of 6 cores",
    topology: "cpus 0-47\n\
               L3 0-5 6-11 12-17 18-23 24-29 30-35 36-41 42-47\n\
               node 0-5 6-11 12-17 18-23 24-29 30-35 36-41 42-47\n\
               package 0-11 12-23 24-35 36-47\n",
    few: &[1, 6, 12, 24],
    all: 48,
};

impl Machine {
    /// Its name and what it is.
    pub fn told(&self) -> String {
        format!("{}, {}", self.name, self.what)
    }

    /// All of it, for one, two and four programs.
    pub fn full(&self) -> Vec<Load> {
        let load = |instances| Load {
            processors: self.all,
            instances,
        };
        [1, 2, 4].map(load).into()
    }

    /// Parts of it for one program, then all of it for several.
    pub fn loads(&self) -> Vec<Load> {
        let alone = |&processors: &usize| Load {
            processors,
            instances: 1,
        };
        self.few.iter().map(alone).chain(self.full()).collect()
    }

    /// The simulated machine of its first processors, with the thesis' thieves: one task at a time, from near victims first.
    pub fn settings(&self, processors: usize) -> Settings {
        let topology: Topology = self.topology.parse().expect("a topology of this program");
        let cpus = &topology.cpus().as_slice()[..processors];
        Settings {
            steal: Amount::One,
            victim: Victim::Hierarchical,
            places: topology.places(cpus),
            ..Settings::new(processors)
        }
    }
}
