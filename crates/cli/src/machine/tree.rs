//! A tree of the resources that the usable CPUs share, drawn as text or converted to nested
//! objects.
//!
//! A branch is a set of CPUs, together with all resources that exactly these CPUs share, largest
//! kind first. A branch's parent is the smallest branch that contains its CPUs. Sets are added in
//! order of size. If a set partly overlaps a smaller set, it becomes a leaf next to that set, so
//! the tree shows all sets even if they are not nested.
//!
//! The tree shows all sets of a topology. `Topology::places` uses only the sets that distinguish
//! CPUs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde_json::{Value, json};
use tidegate::machine::{CpuList, Machine, Topology};

use super::cpus;
use tidegate_cli_support::output::{show_count, show_whole_bytes};

/// A resource that CPUs share.
struct Thing {
    kind: String,
    id: Option<usize>,
    bytes: Option<u64>,
}

/// A set of CPUs and the resources that they share.
struct Branch {
    cpus: CpuList,
    things: Vec<Thing>,
    /// Whether the branch overlaps some of its siblings.
    overlaps: bool,
    /// The indices of the child branches.
    children: Vec<usize>,
}

pub struct Tree {
    branches: Vec<Branch>,
    /// The index of the branch that stands for the whole machine.
    root: usize,
}

impl Tree {
    /// Builds a tree of the CPUs that workers may use.
    pub fn of(machine: &Machine) -> Self {
        let usable = machine.usable();
        let mut branches: Vec<Branch> = Vec::new();
        // Maps each CPU to the largest branch so far that contains it.
        let mut largest: BTreeMap<usize, usize> = BTreeMap::new();
        let mut across = Vec::new();
        let all = (usable.clone(), vec![Thing::new("machine", None, None)]);
        let sets = sets(machine.topology(), &usable);
        for (cpus, things) in sets.into_iter().chain([all]) {
            let met = cpus.as_slice().iter().filter_map(|cpu| largest.get(cpu));
            let met: Vec<usize> = met.copied().collect();
            let children: BTreeSet<usize> = met.iter().copied().collect();
            let held: usize = children.iter().map(|&it| branches[it].cpus.len()).sum();
            let branch = Branch {
                overlaps: held > met.len(),
                things,
                children: children.into_iter().collect(),
                cpus,
            };
            if branch.overlaps {
                across.push(branch);
                continue;
            }
            let number = branches.len();
            largest.extend(branch.cpus.as_slice().iter().map(|&cpu| (cpu, number)));
            branches.push(branch);
        }
        let root = branches.len() - 1;
        let mut tree = Self { branches, root };
        across.into_iter().for_each(|branch| tree.add_leaf(branch));
        tree.sort();
        tree
    }

    /// Adds an overlapping branch as a leaf below the smallest branch that contains all its CPUs.
    fn add_leaf(&mut self, mut leaf: Branch) {
        leaf.children.clear();
        let mut parent = self.root;
        let holds = |&&child: &&usize| {
            let child = &self.branches[child];
            !child.overlaps && leaf.cpus.is_subset(&child.cpus)
        };
        while let Some(&child) = self.branches[parent].children.iter().find(holds) {
            parent = child;
        }
        let number = self.branches.len();
        self.branches.push(leaf);
        self.branches[parent].children.push(number);
    }

    fn sort(&mut self) {
        for parent in 0..self.branches.len() {
            let mut children = std::mem::take(&mut self.branches[parent].children);
            children.sort_by(|&a, &b| self.branches[a].cpus.cmp(&self.branches[b].cpus));
            self.branches[parent].children = children;
        }
    }

    pub fn draw(&self, out: &mut dyn Write) -> io::Result<()> {
        let all = &self.branches[self.root].cpus;
        writeln!(out, "machine  {}: {all}", show_count(all.len(), "cpu"))?;
        self.draw_below(self.root, "", out)
    }

    fn draw_below(&self, parent: usize, margin: &str, out: &mut dyn Write) -> io::Result<()> {
        let children = &self.branches[parent].children;
        for (index, &child) in children.iter().enumerate() {
            let branch = &self.branches[child];
            let things: Vec<String> = branch.things.iter().map(Thing::shown).collect();
            let (corner, below) = if index + 1 == children.len() {
                ("└─", "   ")
            } else {
                ("├─", "│  ")
            };
            let overlaps = if branch.overlaps { "  overlaps" } else { "" };
            let (things, cpus) = (things.join(", "), &branch.cpus);
            writeln!(out, "{margin}{corner} {things}  {cpus}{overlaps}")?;
            self.draw_below(child, &format!("{margin}{below}"), out)?;
        }
        Ok(())
    }

    /// Converts the tree to nested JSON objects, one for each resource.
    pub fn to_json(&self) -> Value {
        self.json_of(self.root)
    }

    fn json_of(&self, number: usize) -> Value {
        let branch = &self.branches[number];
        let below = branch.children.iter().map(|&child| self.json_of(child));
        let mut children: Vec<Value> = below.collect();
        for Thing { kind, id, bytes } in branch.things.iter().rev() {
            children = vec![json!({
                "kind": kind,
                "id": id,
                "size_bytes": bytes,
                "cpus": cpus(&branch.cpus),
                "children": children,
            })];
        }
        // Each branch has at least one resource, so this is the object of the branch's outermost
        // resource.
        children.pop().unwrap_or_default()
    }
}

impl Thing {
    fn new(kind: &str, id: Option<usize>, bytes: Option<u64>) -> Self {
        let kind = kind.into();
        Self { kind, id, bytes }
    }

    /// Formats the resource, for instance as `node 0` or `L3 16 MiB`.
    fn shown(&self) -> String {
        let id = self.id.map(|id| id.to_string());
        let size = self.bytes.map(show_whole_bytes);
        let words = [Some(self.kind.clone()), id, size];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// Returns each set of CPUs that share any resources, smallest set first, with these resources,
/// largest kind first.
fn sets(topology: &Topology, usable: &CpuList) -> Vec<(CpuList, Vec<Thing>)> {
    let mut sets: BTreeMap<CpuList, Vec<Thing>> = BTreeMap::new();
    let mut add = |cpus: &CpuList, thing| {
        let cpus = cpus.intersection(usable);
        if !cpus.is_empty() {
            sets.entry(cpus).or_default().push(thing);
        }
    };
    for (id, package) in topology.packages().iter().enumerate() {
        add(package, Thing::new("package", Some(id), None));
    }
    for node in topology.nodes() {
        add(&node.cpus, Thing::new("node", Some(node.id), None));
    }
    let mut caches: Vec<_> = topology.caches().iter().collect();
    caches.sort_by_key(|cache| Reverse(cache.level));
    for cache in caches {
        add(&cache.cpus, Thing::new(&cache.name(), None, cache.bytes));
    }
    for core in topology.cores() {
        add(core, Thing::new("core", None, None));
    }
    let mut sets: Vec<_> = sets.into_iter().collect();
    sets.sort_by_key(|(cpus, _)| cpus.len());
    sets
}
