//! What CPUs share: cores, caches, NUMA nodes and packages.
//!
//! A topology is read from the system ([`sysfs`]) or from a description ([`text`]). If the system
//! reports nothing, the topology is flat: all CPUs are in one group.
//!
//! [`Topology::levels`] turns these sets into nested groups, finest first, from which victim orders
//! and places are built. A cache can span several nodes (sub-NUMA clustering), and a node can have
//! several caches (chiplets). So levels are ordered by the size of their groups, not by their kind,
//! and a group that overlaps a finer one is dropped.
//!
//! This module does not measure distances, bind threads or choose CPUs, and a topology does not
//! change when CPUs come and go. Dies and clusters are not levels: if they matter, their CPUs share
//! a cache.

use std::fmt;

use tidegate_policy::PlaceTree;

use crate::cpus::CpuList;

pub use text::TopologyError;

mod sysfs;
#[cfg(test)]
mod tests;
mod text;

/// What a cache holds.
///
/// # Examples
/// ```
/// use tidegate_machine::{CacheKind, Topology};
///
/// let topology: Topology = "cpus 0-1\nL1i 0 1".parse()?;
/// assert_eq!(topology.caches()[0].kind, CacheKind::Instruction);
/// # Ok::<(), tidegate_machine::TopologyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Data and instructions.
    Unified,
}

/// One cache and the CPUs that share it.
///
/// # Examples
/// ```
/// use tidegate_machine::Topology;
///
/// let topology: Topology = "cpus 0-3\nL3 0-3 size=16M".parse()?;
/// let cache = &topology.caches()[0];
/// assert_eq!((cache.level, cache.bytes), (3, Some(16 << 20)));
/// # Ok::<(), tidegate_machine::TopologyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Cache {
    /// The level: 1 for the cache nearest to the CPU.
    pub level: u8,
    /// Whether the cache holds data, instructions or both.
    pub kind: CacheKind,
    /// The size in bytes, if known.
    pub bytes: Option<u64>,
    /// The CPUs that share the cache.
    pub cpus: CpuList,
}

impl Cache {
    /// Returns the cache's short name, such as `L1d`, `L1i` or `L2`.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Topology;
    ///
    /// let topology: Topology = "cpus 0-1\nL1d 0 1".parse()?;
    /// assert_eq!(topology.caches()[0].name(), "L1d");
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> String {
        let holds = match self.kind {
            CacheKind::Data => "d",
            CacheKind::Instruction => "i",
            CacheKind::Unified => "",
        };
        format!("L{}{holds}", self.level)
    }

    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (self.level, self.kind, self.bytes) == (other.level, other.kind, other.bytes)
    }
}

/// One NUMA node.
///
/// # Examples
/// ```
/// use tidegate_machine::Topology;
///
/// let topology: Topology = "cpus 0-3\nnode 0-1 2-3".parse()?;
/// assert_eq!(topology.nodes()[1].cpus.to_string(), "2-3");
/// # Ok::<(), tidegate_machine::TopologyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node {
    /// The system's number for the node.
    pub id: usize,
    /// The node's CPUs; empty if the node has only memory.
    pub cpus: CpuList,
}

/// What the CPUs of a group share.
///
/// # Examples
/// ```
/// use tidegate_machine::LevelKind;
///
/// assert_eq!(LevelKind::Cache(3).to_string(), "L3");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelKind {
    /// A core; its CPUs are hardware threads (SMT siblings).
    Core,
    /// A cache of this level.
    Cache(u8),
    /// A NUMA node.
    Node,
    /// A package, also called a socket.
    Package,
    /// Nothing but the machine.
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

/// A partition of CPUs into groups that share something.
///
/// # Examples
/// ```
/// use tidegate_machine::{LevelKind, Topology};
///
/// let topology: Topology = "cpus 0-3\nL3 0-1 2-3".parse()?;
/// let levels = topology.levels(topology.cpus());
/// assert_eq!((levels[0].kind, levels[0].groups.len()), (LevelKind::Cache(3), 2));
/// # Ok::<(), tidegate_machine::TopologyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Level {
    /// What the groups share.
    pub kind: LevelKind,
    /// The groups, ordered by their first CPU. CPUs that share nothing of this kind keep their
    /// group from the next finer level.
    pub groups: Vec<CpuList>,
}

/// The cores, caches, NUMA nodes and packages that the online CPUs of a machine share.
///
/// The [`Display`](fmt::Display) form has one statement per line and parses back to the same value;
/// [`FromStr`](#impl-FromStr-for-Topology) documents the format.
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
    /// Creates a topology in which the CPUs share nothing but the machine.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Topology;
    ///
    /// let topology = Topology::flat((0..4).collect());
    /// assert_eq!(topology.cpus().len(), 4);
    /// assert!(topology.caches().is_empty());
    /// ```
    #[must_use]
    pub fn flat(cpus: CpuList) -> Self {
        Self {
            cpus,
            ..Self::default()
        }
    }

    /// Returns all CPUs of the topology.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Topology;
    ///
    /// let topology: Topology = "cpus 0-3".parse()?;
    /// assert_eq!(topology.cpus().to_string(), "0-3");
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn cpus(&self) -> &CpuList {
        &self.cpus
    }

    /// Returns the hardware threads of each core; empty if unknown.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Topology;
    ///
    /// let topology: Topology = "cpus 0-3\ncore 0-1 2-3".parse()?;
    /// assert_eq!(topology.cores().len(), 2);
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn cores(&self) -> &[CpuList] {
        &self.cores
    }

    /// Returns every cache, ordered by level, kind and size; empty if unknown.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Topology;
    ///
    /// let topology: Topology = "cpus 0-3\nL3 0-1 2-3".parse()?;
    /// assert_eq!(topology.caches().len(), 2);
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn caches(&self) -> &[Cache] {
        &self.caches
    }

    /// Returns the NUMA nodes, ordered by number; empty if unknown.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Topology;
    ///
    /// let topology: Topology = "cpus 0-3\nnode 0-1 2-3".parse()?;
    /// assert_eq!(topology.nodes().len(), 2);
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn node_cpus(&self) -> impl ExactSizeIterator<Item = &CpuList> {
        self.nodes.iter().map(|node| &node.cpus)
    }

    /// Returns the CPUs of each package; empty if unknown.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::Topology;
    ///
    /// let topology: Topology = "cpus 0-3\npackage 0-1 2-3".parse()?;
    /// assert_eq!(topology.packages().len(), 2);
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn packages(&self) -> &[CpuList] {
        &self.packages
    }

    /// Returns nested groups of the CPUs `among`, finest first.
    ///
    /// Each level is a partition of `among`, and its groups are unions of groups of the previous
    /// level. The last level is one group of all CPUs. Levels that equal the previous one are left
    /// out, and so is the level of single CPUs. So the result is empty for fewer than two CPUs.
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
        kinds.push((among.len(), LevelKind::Machine, vec![among]));
        let mut finest = among.singletons();
        let mut levels = Vec::new();
        for &(_, kind, ref sets) in &kinds {
            let groups = coarsened(&finest, sets, among);
            if groups != finest {
                finest = groups.clone();
                levels.push(Level { kind, groups });
            }
        }
        levels
    }

    /// Returns the tree of places for workers, where worker `i` runs on the CPU `stands[i]`.
    ///
    /// Workers on the same CPU are nearest to each other.
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
        let cpus = CpuList::of(stands.to_vec());
        let mut workers = vec![Vec::new(); cpus.len()];
        for (worker, &cpu) in stands.iter().enumerate() {
            workers[cpus.rank(cpu)].push(worker);
        }
        let mut partitions = vec![workers];
        for level in &self.levels(&cpus) {
            let mut partition = Vec::new();
            for group in &level.groups {
                let mut here = Vec::new();
                for &cpu in group.as_slice() {
                    here.extend_from_slice(&partitions[0][cpus.rank(cpu)]);
                }
                partition.push(here);
            }
            partitions.push(partition);
        }
        // This never fails, because levels are nested partitions.
        PlaceTree::from_groups(stands.len(), &partitions)
            .unwrap_or_else(|_| PlaceTree::flat(stands.len()))
    }

    /// Splits the CPUs `among` into groups that share a core, a cache, a node or a package, as
    /// `kind` selects.
    ///
    /// Unlike [`levels`](Self::levels), this always returns at least one group: if nothing of that
    /// kind is known, all CPUs are in one group. CPUs that share nothing of that kind keep their
    /// group from the next finer kind.
    ///
    /// # Examples
    /// ```
    /// use tidegate_machine::{LevelKind, Topology};
    ///
    /// let topology: Topology = "cpus 0-3\nL3 0-1 2-3".parse()?;
    /// assert_eq!(topology.groups_of(LevelKind::Cache(3), topology.cpus()).len(), 2);
    /// assert_eq!(topology.groups_of(LevelKind::Package, topology.cpus()).len(), 1);
    /// # Ok::<(), tidegate_machine::TopologyError>(())
    /// ```
    #[must_use]
    pub fn groups_of(&self, kind: LevelKind, among: &CpuList) -> Vec<CpuList> {
        let mut groups = among.singletons();
        for (_, of, sets) in &self.sets() {
            groups = coarsened(&groups, sets, among);
            if *of == kind && !sets.is_empty() {
                return groups;
            }
        }
        vec![among.clone()]
    }

    /// Returns all sets of CPUs that share something, grouped by kind, each kind with the size of
    /// its largest set. Kinds with small sets come first.
    fn sets<'a>(&'a self) -> Vec<(usize, LevelKind, Vec<&'a CpuList>)> {
        let mut kinds: Vec<(usize, LevelKind, Vec<&CpuList>)> = Vec::new();
        let mut add = |kind, sets: &mut dyn Iterator<Item = &'a CpuList>| {
            let (mut size, mut list) = (0, Vec::new());
            for set in sets {
                size = set.len().max(size);
                list.push(set);
            }
            // If several kinds have equal partitions, the kind that was added first names the level.
            let place = kinds.partition_point(|&(other, ..)| other <= size);
            kinds.insert(place, (size, kind, list));
        };
        add(LevelKind::Core, &mut self.cores.iter());
        for caches in self.caches.chunk_by(|a, b| a.level == b.level) {
            let holds_data = |cache: &&Cache| cache.kind != CacheKind::Instruction;
            let mut cpus = caches.iter().filter(holds_data).map(|cache| &cache.cpus);
            add(LevelKind::Cache(caches[0].level), &mut cpus);
        }
        add(LevelKind::Node, &mut self.node_cpus());
        add(LevelKind::Package, &mut self.packages.iter());
        kinds
    }
}

/// Inserts an item into a sorted list without duplicates. Most lists here are read in order.
fn insert<T: Ord>(list: &mut Vec<T>, item: T) {
    if let Err(place) = list.binary_search(&item) {
        list.insert(place, item);
    }
}

/// Merges the groups of a partition of `among` that are inside the same set. A set that overlaps a
/// group without containing it is ignored, and so is a set that overlaps an earlier one.
fn coarsened(partition: &[CpuList], sets: &[&CpuList], among: &CpuList) -> Vec<CpuList> {
    // The number of each CPU's group, or `MERGED` if an earlier set has the CPU.
    const MERGED: usize = usize::MAX;
    let mut group_of = vec![MERGED; among.len()];
    for (group, cpus) in partition.iter().enumerate() {
        for &cpu in cpus.as_slice() {
            group_of[among.rank(cpu)] = group;
        }
    }
    let mut coarser = partition.to_vec();
    for set in sets {
        let set = set.intersection(among);
        let mut inside = Vec::new();
        for &cpu in set.as_slice() {
            inside.push(group_of[among.rank(cpu)]);
        }
        inside.sort_unstable();
        inside.dedup();
        let is_inside = |&group: &usize| group != MERGED && partition[group].is_subset(&set);
        if inside.iter().all(is_inside) {
            for &cpu in set.as_slice() {
                group_of[among.rank(cpu)] = MERGED;
            }
            for &group in &inside {
                coarser[group] = CpuList::default();
            }
            // The partition is ordered by the first CPUs, so this keeps that order.
            if let Some(&first) = inside.first() {
                coarser[first] = set;
            }
        }
    }
    coarser.retain(|group| !group.is_empty());
    coarser
}
