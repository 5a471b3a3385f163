//! The machines of the thesis, as far as it describes them (section 3.1). They have the binary tree
//! of processors that the scheduling framework of the thesis, Pheet, uses.

use std::fmt::Write;
use std::ops::Range;

use tidegate::machine::Topology;
use tidegate_policy::{Nanos, StealAmount, VictimPolicy};
use tidegate_sim::{Costs, Settings};

/// A machine, and its number of processors.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub name: &'static str,
    what: &'static str,
    all: usize,
    /// What a call of the system costs running threads (`sim.call`).
    pub call: Nanos,
}

/// Eight packages of ten cores. With this cost of a call, LU alone takes 3 times as long with the original
/// backoff as without any (section 4.3).
pub const MARS: Machine = Machine {
    name: "Mars",
    what: "8 Intel Xeon E7-8850 of 10 cores",
    all: 80,
    call: 140,
};

/// Four packages, each with two nodes of six cores.
pub const SATURN: Machine = Machine {
    name: "Saturn",
    what: "4 AMD Opteron 6168 of 2 nodes of 6 cores",
    all: 48,
    call: 0,
};

pub const MACHINES: [Machine; 2] = [MARS, SATURN];

impl Machine {
    pub fn told(&self) -> String {
        format!("{}, {}", self.name, self.what)
    }

    /// Returns the machine's name with the costs that differ from the defaults.
    pub fn place(&self) -> String {
        format!("{}/forfeit=0ns call={}ns", self.name, self.call)
    }

    /// Describes a simulated machine with the first `processors` processors of this one, and with
    /// the thieves of the thesis: they take one task at a time, look once at each level of a binary
    /// tree, and stay on their processor (section 2.2). Its kernel, 3.14 or 3.16, lets them yield
    /// without charge.
    pub fn settings(&self, processors: usize) -> Settings {
        let topology: Topology = binary(self.all)
            .parse()
            .expect("a topology of this program");
        let cpus = &topology.cpus().as_slice()[..processors];
        Settings {
            steal: StealAmount::One,
            victim: VictimPolicy::Hierarchical,
            places: topology.places(cpus),
            pinned: true,
            costs: Costs {
                forfeit: 0,
                call: self.call,
                ..Costs::default()
            },
            ..Settings::new(processors)
        }
    }
}

/// Describes a binary tree of the processors, in which each level is an imaginary cache. Repeated
/// halving yields the packages and nodes of both machines, so processors that are near each other
/// are also near in the tree.
fn binary(processors: usize) -> String {
    let mut levels = vec![];
    let whole = 0..processors;
    let mut groups = halves(std::slice::from_ref(&whole));
    while groups.iter().any(|group| group.len() > 1) {
        levels.push(groups.clone());
        groups = halves(&groups);
    }
    let mut text = format!("cpus 0-{}\n", processors - 1);
    for (level, groups) in levels.iter().rev().enumerate() {
        write!(text, "L{}", level + 1).expect("a string takes all");
        for group in groups {
            write!(text, " {}-{}", group.start, group.end - 1).expect("a string takes all");
        }
        text.push('\n');
    }
    text
}

/// Splits each group into halves, the larger half first. Drops groups of one processor.
fn halves(groups: &[Range<usize>]) -> Vec<Range<usize>> {
    let split = |group: &Range<usize>| {
        let middle = group.start + group.len().div_ceil(2);
        [group.start..middle, middle..group.end]
    };
    let split = groups
        .iter()
        .filter(|group| group.len() > 1)
        .flat_map(split);
    split.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_has_a_level_for_each_look() {
        for (machine, processors, levels) in
            [(MARS, 80, 7), (MARS, 10, 4), (MARS, 2, 1), (SATURN, 48, 6)]
        {
            let places = machine.settings(processors).places;
            assert_eq!(
                places.height(),
                levels,
                "{} with {processors}",
                machine.name
            );
        }
    }

    #[test]
    fn tree_contains_packages_and_nodes() {
        let places = MARS.settings(80).places;
        let distances = [1, 2, 4, 9, 10, 20, 40].map(|other| places.distance(0, other));
        assert_eq!(distances, [1, 2, 3, 4, 5, 6, 7]);
        let places = SATURN.settings(48).places;
        let distances = [5, 6, 11, 12].map(|other| places.distance(0, other));
        assert_eq!(distances, [3, 4, 4, 5]);
    }
}
