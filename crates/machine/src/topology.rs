//! What the CPUs of this machine share: cores, caches, NUMA nodes, packages.
//!
//! A machine that tells nothing (see [`sysfs`] for where it is asked) is a flat one: some CPUs that share nothing but the
//! machine. Machines that one does not have are written as [`text`].
//!
//! [`Topology::levels`] turns these sets into nested groups, finest first, from which the order of victims and the places
//! are made. Which of node and cache is the larger is not the same everywhere (a cache that spans several nodes under
//! sub-NUMA clustering, several caches in a node on chiplets), so the levels are ordered by the size of their groups and
//! not by their kind, and a group that would cut through a finer one is dropped.
//!
//! It does not measure distances, bind threads or choose CPUs, and it does not follow CPUs that come and go: read it
//! again. Dies and clusters have no level of their own; where they matter they share a cache.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tidegate_policy::PlaceTree;

use super::cpus::CpuList;

pub use text::TopologyError;

mod sysfs;
#[cfg(test)]
mod tests;
mod text;

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache and the CPUs that share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Cache {
    /// 1 is the nearest to the CPU.
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size in bytes, where the system tells.
    pub bytes: Option<u64>,
    /// The CPUs that share it.
    pub cpus: CpuList,
}

impl Cache {
    /// What it is called, such as `L1d`, `L1i` or `L2`.
    #[must_use]
    pub fn name(&self) -> String {
        let holds = match self.kind {
            CacheKind::Data => "d",
            CacheKind::Instruction => "i",
            CacheKind::Unified => "",
        };
        format!("L{}{holds}", self.level)
    }
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node {
    /// The system's number for it.
    pub id: usize,
    /// Its CPUs; none where it is memory alone.
    pub cpus: CpuList,
}

/// What the CPUs of a group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelKind {
    /// A core, whose hardware threads (SMT siblings) they are.
    Core,
    /// The cache of this level.
    Cache(u8),
    /// A NUMA node.
    Node,
    /// A package, also called socket.
    Package,
    /// The machine and nothing nearer.
    Machine,
}

impl fmt::Display for LevelKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core => out.write_str("core"),
            Self::Cache(level) => write!(out, "L{level}"),
            Self::Node => out.write_str("node"),
            Self::Package => out.write_str("package"),
            Self::Machine => out.write_str("machine"),
        }
    }
}

/// A partition of some CPUs into groups that share something.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Level {
    /// What the groups share.
    pub kind: LevelKind,
    /// The groups, ordered by their first CPU. A CPU without such a thing stands with those of the next finer level.
    pub groups: Vec<CpuList>,
}

/// What the CPUs that are online share.
///
/// Its [`Display`](fmt::Display) form has one statement on a line, and can be parsed again; [`FromStr`](std::str::FromStr)
/// says what may stand there.
///
/// # Examples
/// ```
/// use tidegate_machine::Topology;
///
/// let topology: Topology = "
///     cpus 0-7
///     core 0-1 2-3 4-5 6-7   # each with two hardware threads
///     L3 0-3 4-7 size=16M
/// "
/// .parse()?;
/// assert_eq!(topology.places(&[0, 1, 2, 4]).distance(0, 3), 3);
/// assert_eq!(topology.to_string().parse(), Ok(topology));
/// # Ok::<(), tidegate_machine::TopologyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    cpus: CpuList,
    cores: Vec<CpuList>,
    caches: Vec<Cache>,
    nodes: Vec<Node>,
    packages: Vec<CpuList>,
}

impl Topology {
    /// A machine of these CPUs about which nothing else is known.
    #[must_use]
    pub fn flat(cpus: CpuList) -> Self {
        Self {
            cpus,
            ..Self::default()
        }
    }

    /// All CPUs.
    #[must_use]
    pub fn cpus(&self) -> &CpuList {
        &self.cpus
    }

    /// The hardware threads of each core; empty where the system does not tell.
    #[must_use]
    pub fn cores(&self) -> &[CpuList] {
        &self.cores
    }

    /// Every cache, by level, kind and size; empty where the system does not tell.
    #[must_use]
    pub fn caches(&self) -> &[Cache] {
        &self.caches
    }

    /// The NUMA nodes by number; empty where the system does not tell.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The CPUs of each package; empty where the system does not tell.
    #[must_use]
    pub fn packages(&self) -> &[CpuList] {
        &self.packages
    }

    /// Nested groups of the CPUs `among`, finest first.
    ///
    /// Each level is a partition of `among` and coarser than the one before: each of its groups is made of whole groups
    /// of that. The last level is one group of all. Levels that would repeat the one before are left out, as is the level
    /// of single CPUs, so there is none for fewer than two CPUs.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::{LevelKind, Topology};
    ///
    /// let topology = Topology::flat((0..4).collect());
    /// let levels = topology.levels(&"1-2".parse()?);
    /// assert_eq!(levels.len(), 1);
    /// assert_eq!(levels[0].kind, LevelKind::Machine);
    /// assert_eq!(levels[0].groups[0].as_slice(), [1, 2]);
    /// # Ok::<(), tidegate_machine::CpuListError>(())
    /// ```
    #[must_use]
    pub fn levels(&self, among: &CpuList) -> Vec<Level> {
        let mut kinds = self.sets();
        kinds.push((LevelKind::Machine, vec![among]));
        let mut finest = among.apart();
        let mut levels = Vec::new();
        for (kind, sets) in kinds {
            let groups = coarsened(&finest, sets.iter().map(|set| set.intersection(among)));
            if groups != finest {
                finest.clone_from(&groups);
                levels.push(Level { kind, groups });
            }
        }
        levels
    }

    /// The tree of places over workers of which number `i` stands on the CPU `stands[i]`.
    ///
    /// Workers on one CPU are nearest to each other.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Topology;
    ///
    /// let places = Topology::flat((0..4).collect()).places(&[3, 1]);
    /// assert_eq!((places.workers(), places.distance(0, 1)), (2, 1));
    /// ```
    #[must_use]
    pub fn places(&self, stands: &[usize]) -> PlaceTree {
        let mut workers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (worker, &cpu) in stands.iter().enumerate() {
            workers.entry(cpu).or_default().push(worker);
        }
        let workers_on = |group: &CpuList| -> Vec<usize> {
            let here = group.as_slice().iter().filter_map(|cpu| workers.get(cpu));
            here.flatten().copied().collect()
        };
        let cpus: CpuList = stands.iter().copied().collect();
        let levels = self.levels(&cpus);
        let partitions = levels.iter().map(|level| level.groups.clone());
        let groups: Vec<Vec<Vec<usize>>> = std::iter::once(cpus.apart())
            .chain(partitions)
            .map(|partition| partition.iter().map(workers_on).collect())
            .collect();
        // Levels are nested partitions, which is all that is asked of them.
        PlaceTree::from_groups(stands.len(), &groups)
            .unwrap_or_else(|_| PlaceTree::flat(stands.len()))
    }

    /// The groups of `among` that share such a thing; one group where the system tells of none.
    #[must_use]
    pub fn groups_of(&self, kind: LevelKind, among: &CpuList) -> Vec<CpuList> {
        let kinds = self.sets();
        let told = |(of, sets): &(LevelKind, Vec<&CpuList>)| *of == kind && !sets.is_empty();
        let Some(last) = kinds.iter().position(told) else {
            return vec![among.clone()];
        };
        kinds[..=last]
            .iter()
            .fold(among.apart(), |finer, (_, sets)| {
                coarsened(&finer, sets.iter().map(|set| set.intersection(among)))
            })
    }

    /// All sets of CPUs by what they share, the kinds with small sets first.
    fn sets(&self) -> Vec<(LevelKind, Vec<&CpuList>)> {
        let mut sets = vec![(LevelKind::Core, self.cores.iter().collect())];
        for caches in self.caches.chunk_by(|a, b| a.level == b.level) {
            let holds_data = |cache: &&Cache| cache.kind != CacheKind::Instruction;
            let cpus = caches.iter().filter(holds_data).map(|cache| &cache.cpus);
            sets.push((LevelKind::Cache(caches[0].level), cpus.collect()));
        }
        sets.push((
            LevelKind::Node,
            self.nodes.iter().map(|node| &node.cpus).collect(),
        ));
        sets.push((LevelKind::Package, self.packages.iter().collect()));
        // Stable: of equal partitions the first kind gives its name.
        sets.sort_by_key(|(_, sets): &(LevelKind, Vec<&CpuList>)| {
            sets.iter().map(|set| set.len()).max()
        });
        sets
    }
}

/// Joins the groups of a partition that lie in one of `sets`; a set that would cut through a group joins nothing.
fn coarsened(partition: &[CpuList], sets: impl Iterator<Item = CpuList>) -> Vec<CpuList> {
    let mut coarser = Vec::new();
    // The group of each CPU, unless that has been joined to others.
    let mut groups = BTreeMap::new();
    for (group, cpus) in partition.iter().enumerate() {
        groups.extend(cpus.as_slice().iter().map(|&cpu| (cpu, group)));
    }
    for set in sets.filter(|set| !set.is_empty()) {
        let inside = set.as_slice().iter().map(|cpu| groups.get(cpu));
        let Some(inside) = inside.collect::<Option<BTreeSet<_>>>() else {
            continue;
        };
        if inside.iter().map(|&&it| partition[it].len()).sum::<usize>() == set.len() {
            for cpu in set.as_slice() {
                groups.remove(cpu);
            }
            coarser.push(set);
        }
    }
    let rest: BTreeSet<usize> = groups.into_values().collect();
    coarser.extend(rest.into_iter().map(|group| partition[group].clone()));
    coarser.sort_unstable();
    coarser
}
