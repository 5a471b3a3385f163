//! Assigns a pool's CPU slots to the machine's CPUs, and forms groups of CPU slots.
//!
//! There is one CPU slot for each worker that the pool is created with. The first CPU slots lie on
//! the first hardware thread of each core, the next ones on the second hardware thread of each
//! core, and so on. After the last CPU, the assignment starts again with the first. So no core is
//! idle while another core has two workers. [`PlaceBy`] determines the smallest groups, the leaves.
//! Above them are the machine's larger structures, and finally the group of all workers.
//!
//! A layout is created with its pool and never changes. If CPUs are added or removed, only pools
//! created later reflect the change.

use tidegate_machine::{CpuList, Level, LevelKind, Topology};
use tidegate_policy::{CpuSlots, PlaceBy, PlaceTree};
use tidegate_sync::serial;

#[derive(Debug)]
pub(crate) struct Layout {
    /// Distinguishes the places of this pool from those of other pools.
    pub(crate) serial: u64,
    /// The CPU of each CPU slot. Empty if the machine's topology was not read.
    cpus: Vec<usize>,
    /// The index of the smallest group that contains each CPU slot.
    leaf: Vec<usize>,
    /// The CPU slots of each group: those that share a part of the machine. Leaves first, and the
    /// group of all CPU slots last. A group comes before each group that contains it.
    groups: Vec<Vec<usize>>,
    parents: Vec<Option<usize>>,
    leaves: usize,
    tree: PlaceTree,
}

impl Layout {
    /// Assigns the CPU slots of a pool to the usable CPUs of a machine.
    pub(crate) fn on(topology: &Topology, usable: &CpuList, workers: usize, by: PlaceBy) -> Self {
        let order = spread(topology, usable);
        let cpus: Vec<usize> = (0..workers).map(|slot| order[slot % order.len()]).collect();
        let tree = topology.places(&cpus);
        if let PlaceBy::Each(size) = by {
            return Self::of_numbers(cpus, size, tree);
        }
        let among = CpuList::from_iter(cpus.clone());
        let leaves = partition(topology, by, &among);
        let mut levels = vec![stands_of(&cpus, &leaves)];
        for Level { groups, .. } in topology.levels(&among) {
            let holds = |group: &CpuList| groups.iter().any(|larger| group.is_subset(larger));
            if leaves.iter().all(holds) {
                levels.push(stands_of(&cpus, &groups));
            }
        }
        Self::of(workers, cpus, levels, tree)
    }

    /// Forms places of `size` CPU slots with consecutive numbers.
    fn of_numbers(cpus: Vec<usize>, size: usize, machine: PlaceTree) -> Self {
        let cpu_slots: Vec<usize> = (0..cpus.len()).collect();
        let groups: Vec<Vec<usize>> = cpu_slots.chunks(size).map(Vec::from).collect();
        // If the machine has no structure, use the places as its structure.
        let by_number = || PlaceTree::from_groups(cpus.len(), std::slice::from_ref(&groups));
        let tree = Some(machine).filter(|machine| machine.height() > 1);
        let tree = tree.map_or_else(by_number, Ok);
        let tree = tree.unwrap_or_else(|_| PlaceTree::flat(cpus.len()));
        Self::of(cpu_slots.len(), cpus, vec![groups], tree)
    }

    /// Returns a layout for a machine whose topology is unknown.
    pub(crate) fn nowhere(workers: usize) -> Self {
        Self::of(workers, vec![], vec![], PlaceTree::flat(workers))
    }

    /// Builds the groups from nested levels, finest first. A group with the same CPU slots as an
    /// earlier group is dropped.
    fn of(
        workers: usize,
        cpus: Vec<usize>,
        mut levels: Vec<Vec<Vec<usize>>>,
        tree: PlaceTree,
    ) -> Self {
        levels.push(vec![(0..workers).collect()]);
        let mut groups: Vec<Vec<usize>> = vec![];
        let mut parents: Vec<Option<usize>> = vec![];
        let mut leaves = 0;
        for (height, level) in levels.into_iter().enumerate() {
            let below = groups.len();
            for cpu_slots in level {
                if groups.contains(&cpu_slots) {
                    continue;
                }
                for group in 0..below {
                    let inside = |slot: &usize| cpu_slots.contains(slot);
                    if parents[group].is_none() && groups[group].iter().all(inside) {
                        parents[group] = Some(groups.len());
                    }
                }
                groups.push(cpu_slots);
                parents.push(None);
            }
            if height == 0 {
                leaves = groups.len();
            }
        }
        let mut leaf = vec![0; workers];
        for (number, group) in groups[..leaves].iter().enumerate() {
            for cpu_slot in group {
                leaf[*cpu_slot] = number;
            }
        }
        Self {
            serial: serial::next(),
            cpus,
            leaf,
            groups,
            parents,
            leaves,
            tree,
        }
    }

    pub(crate) fn cpu_slots(&self) -> CpuSlots {
        CpuSlots::new(&self.groups)
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the number of groups that contain no other group. These groups come first.
    pub(crate) fn leaves(&self) -> usize {
        self.leaves
    }

    pub(crate) fn parent(&self, group: usize) -> Option<usize> {
        self.parents[group]
    }

    /// Returns the groups that contain a CPU slot, smallest first.
    pub(crate) fn around(&self, cpu_slot: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self.smallest(cpu_slot)), |group| self.parent(*group))
    }

    /// Returns the smallest group that contains a CPU slot; for `None`, the group of all CPU slots.
    pub(crate) fn smallest(&self, cpu_slot: Option<usize>) -> usize {
        cpu_slot.map_or(self.groups.len() - 1, |cpu_slot| self.leaf[cpu_slot])
    }

    /// Whether a group contains a CPU slot. `None` is only in the group of all CPU slots.
    pub(crate) fn is_around(&self, cpu_slot: Option<usize>, group: usize) -> bool {
        self.around(cpu_slot).any(|around| around == group)
    }

    /// Returns the groups that do not contain a CPU slot, nearest first.
    pub(crate) fn beyond(&self, cpu_slot: Option<usize>) -> Vec<usize> {
        let distance = |group: usize| {
            let there = self.groups[group].first().copied();
            self.distance(cpu_slot, there)
        };
        let mut others = vec![];
        for group in 0..self.groups() {
            if !self.is_around(cpu_slot, group) {
                let after = distance(group);
                let at = others.partition_point(|other| distance(*other) <= after);
                others.insert(at, group);
            }
        }
        others
    }

    pub(crate) fn workers_in(&self, group: usize) -> usize {
        self.groups[group].len()
    }

    pub(crate) fn cpu(&self, cpu_slot: usize) -> Option<usize> {
        self.cpus.get(cpu_slot).copied()
    }

    pub(crate) fn cpus_of(&self, group: usize) -> CpuList {
        CpuList::from_iter(self.groups[group].iter().filter_map(|slot| self.cpu(*slot)))
    }

    /// Returns the distance between two CPU slots. A worker without a CPU slot is near every other
    /// worker.
    pub(crate) fn distance(&self, a: Option<usize>, b: Option<usize>) -> u32 {
        match (a, b) {
            (Some(a), Some(b)) if self.tree.height() > 1 => self.tree.distance(a, b).max(1),
            _ => 1,
        }
    }
}

/// Returns the CPU slots on the CPUs of each group.
fn stands_of(cpus: &[usize], groups: &[CpuList]) -> Vec<Vec<usize>> {
    let slots = |group: &CpuList| {
        let is_inside = |slot: &usize| group.contains(cpus[*slot]);
        (0..cpus.len()).filter(is_inside).collect()
    };
    groups.iter().map(slots).collect()
}

/// Returns the usable CPUs in the order in which CPU slots are assigned to them: the first of each
/// core, then the second of each core, and so on.
fn spread(topology: &Topology, usable: &CpuList) -> Vec<usize> {
    let mut turns = vec![vec![]; usable.len()];
    for cpu in usable.as_slice() {
        let core = topology.cores().iter().find(|core| core.contains(*cpu));
        let turn = core.map_or(0, |core| {
            let of_core = core.intersection(usable);
            of_core.as_slice().partition_point(|other| other < cpu)
        });
        turns[turn].push(*cpu);
    }
    turns.concat()
}

/// Returns the CPUs of each of the smallest places. Returns a single group if the machine's
/// structure is unknown.
fn partition(topology: &Topology, by: PlaceBy, among: &CpuList) -> Vec<CpuList> {
    let kind = match by {
        PlaceBy::Core => LevelKind::Core,
        PlaceBy::Node => LevelKind::Node,
        PlaceBy::Package => LevelKind::Package,
        PlaceBy::Machine | PlaceBy::Each(_) => LevelKind::Machine,
        PlaceBy::Cache => {
            let last = topology.caches().iter().map(|cache| cache.level).max();
            last.map_or(LevelKind::Machine, LevelKind::Cache)
        }
    };
    topology.groups_of(kind, among)
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests;
