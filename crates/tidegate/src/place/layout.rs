//! How a pool's stands lie on the machine, and into which groups they fall.
//!
//! There is a stand for each worker that the pool is made with. The first ones lie on the first hardware thread of each core, further ones on
//! the second, and so on round: so a pool smaller than the machine leaves no core idle beside a crowded one. The smallest groups, the
//! leaves, are what [`PlaceBy`] says; above them stand whatever larger things the machine has, and all workers at last.
//!
//! It is made with the pool and never changes; a machine whose processors come and go is read again by the next pool.

use tidegate_machine::{CpuList, Level, LevelKind, Topology};
use tidegate_policy::{PlaceBy, PlaceTree, Stands};
use tidegate_sync::serial;

/// Where the stands of a pool lie.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Tells the places of this pool from those of others.
    pub(crate) serial: u64,
    /// Of each stand, if the machine was asked.
    cpus: Vec<usize>,
    /// The smallest group of each stand.
    leaf: Vec<usize>,
    /// The leaves first, the group of all stands last; one that lies in another comes before it.
    groups: Vec<Group>,
    leaves: usize,
    tree: PlaceTree,
}

/// Some stands that share something.
#[derive(Debug)]
struct Group {
    stands: Vec<usize>,
    parent: Option<usize>,
}

impl Layout {
    /// Stands on these CPUs of a machine.
    pub(crate) fn on(topology: &Topology, usable: &CpuList, workers: usize, by: PlaceBy) -> Self {
        let order = spread(topology, usable);
        let cpus: Vec<usize> = order.into_iter().cycle().take(workers).collect();
        let tree = topology.places(&cpus);
        let on = |group: &CpuList| stands_of(&cpus, |cpu| group.contains(cpu));
        let among: CpuList = cpus.iter().copied().collect();
        let mut levels: Vec<Vec<Vec<usize>>> = Vec::new();
        if let PlaceBy::Each(size) = by {
            return Self::of_numbers(cpus, size, tree);
        }
        let leaves = partition(topology, by, &among);
        levels.push(leaves.iter().map(on).collect());
        for Level { groups, .. } in topology.levels(&among) {
            let holds = |group: &CpuList| groups.iter().any(|larger| group.is_subset(larger));
            if leaves.iter().all(holds) {
                levels.push(groups.iter().map(on).collect());
            }
        }
        Self::of(workers, cpus, levels, tree)
    }

    /// So many stands in each place, by their numbers.
    fn of_numbers(cpus: Vec<usize>, size: usize, machine: PlaceTree) -> Self {
        let stands: Vec<usize> = (0..cpus.len()).collect();
        let groups: Vec<Vec<usize>> = stands.chunks(size).map(Vec::from).collect();
        // Where the machine has no structure of its own, that of the places is all there is.
        let by_number = || PlaceTree::from_groups(cpus.len(), std::slice::from_ref(&groups));
        let tree = Some(machine).filter(|machine| machine.height() > 1);
        let tree = tree.map_or_else(by_number, Ok);
        let tree = tree.unwrap_or_else(|_| PlaceTree::flat(cpus.len()));
        Self::of(stands.len(), cpus, vec![groups], tree)
    }

    /// A machine about which nothing is asked.
    pub(crate) fn nowhere(workers: usize) -> Self {
        Self::of(workers, vec![], vec![], PlaceTree::flat(workers))
    }

    /// From nested levels, the finest first. What a level repeats of the one before counts once.
    fn of(
        workers: usize,
        cpus: Vec<usize>,
        mut levels: Vec<Vec<Vec<usize>>>,
        tree: PlaceTree,
    ) -> Self {
        levels.push(vec![(0..workers).collect()]);
        let mut groups: Vec<Group> = Vec::new();
        let mut leaves = 0;
        for (height, level) in levels.into_iter().enumerate() {
            let below = groups.len();
            for stands in level {
                if groups.iter().any(|group| group.stands == stands) {
                    continue;
                }
                let number = groups.len();
                let inside = |group: &Group| group.stands.iter().all(|s| stands.contains(s));
                for group in &mut groups[..below] {
                    if group.parent.is_none() && inside(group) {
                        group.parent = Some(number);
                    }
                }
                groups.push(Group {
                    stands,
                    parent: None,
                });
            }
            if height == 0 {
                leaves = groups.len();
            }
        }
        let mut leaf = vec![0; workers];
        for (number, group) in groups[..leaves].iter().enumerate() {
            group.stands.iter().for_each(|stand| leaf[*stand] = number);
        }
        Self {
            serial: serial::next(),
            cpus,
            leaf,
            groups,
            leaves,
            tree,
        }
    }

    pub(crate) fn stands(&self) -> Stands {
        let groups: Vec<_> = self.groups.iter().map(|g| g.stands.clone()).collect();
        Stands::new(&groups)
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// How many of them, the first ones, hold no others.
    pub(crate) fn leaves(&self) -> usize {
        self.leaves
    }

    pub(crate) fn parent(&self, group: usize) -> Option<usize> {
        self.groups[group].parent
    }

    /// The groups in which a stand lies, the smallest first; without a stand the group of all.
    pub(crate) fn around(&self, stand: Option<usize>) -> impl Iterator<Item = usize> {
        let all = self.groups.len() - 1;
        let first = stand.map_or(all, |stand| self.leaf[stand]);
        std::iter::successors(Some(first), |group| self.parent(*group))
    }

    /// The groups in which a stand does not lie, the nearest first.
    pub(crate) fn beyond(&self, stand: Option<usize>) -> Vec<usize> {
        let around: Vec<usize> = self.around(stand).collect();
        let mut others: Vec<usize> = (0..self.groups())
            .filter(|group| !around.contains(group))
            .collect();
        let distance = |group: &usize| {
            let there = self.groups[*group].stands.first().copied();
            self.distance(stand, there)
        };
        others.sort_by_cached_key(distance);
        others
    }

    pub(crate) fn workers_in(&self, group: usize) -> usize {
        self.groups[group].stands.len()
    }

    pub(crate) fn cpu(&self, stand: usize) -> Option<usize> {
        self.cpus.get(stand).copied()
    }

    pub(crate) fn cpus_of(&self, group: usize) -> CpuList {
        let stands = self.groups[group].stands.iter();
        stands.filter_map(|stand| self.cpu(*stand)).collect()
    }

    /// How far apart two stand; who stands nowhere is near everybody.
    pub(crate) fn distance(&self, a: Option<usize>, b: Option<usize>) -> u32 {
        match (a, b) {
            (Some(a), Some(b)) if self.tree.height() > 1 => self.tree.distance(a, b).max(1),
            _ => 1,
        }
    }
}

fn stands_of(cpus: &[usize], lies_there: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..cpus.len())
        .filter(|stand| lies_there(cpus[*stand]))
        .collect()
}

/// The CPUs in the order in which stands are given out: of each core the first, then of each the second.
fn spread(topology: &Topology, usable: &CpuList) -> Vec<usize> {
    let rank = |cpu: usize| {
        let core = topology.cores().iter().find(|core| core.contains(cpu));
        let before = |core: &CpuList| {
            let same = core.as_slice().iter().filter(|other| **other < cpu);
            same.filter(|other| usable.contains(**other)).count()
        };
        core.map_or(0, before)
    };
    let mut order = usable.as_slice().to_vec();
    // Stable: within a rank by number.
    order.sort_by_cached_key(|cpu| rank(*cpu));
    order
}

/// The smallest groups of places; a single one if the machine's structure is unknown.
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
