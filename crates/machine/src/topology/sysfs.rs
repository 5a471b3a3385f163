//! The topology as `/sys` tells it.
//!
//! Read as text from `/sys/devices/system/cpu/cpuN/topology`, `/sys/devices/system/cpu/cpuN/cache` and
//! `/sys/devices/system/node` (Linux documentation, ABI/testing/sysfs-devices-system-cpu and -node). What cannot be read
//! or understood is left out without a word: nothing but the order of victims depends on it. A list of sharers counts
//! only if it names the CPU that it belongs to. CPUs that are offline are not asked and are taken out of every list.
//!
//! It does not make the sets fit into each other; [`Topology::levels`] does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Cache, CacheKind, Node, Topology};
use crate::cpus::{CpuList, Files, text};

/// No processor lists more caches for one CPU; where the list ends is found by reading.
const CACHES_PER_CPU_MAX: usize = 32;

impl Topology {
    /// What sysfs says about these CPUs.
    pub(crate) fn read(files: &dyn Files, cpus: CpuList) -> Self {
        let mut cores = BTreeSet::new();
        let mut packages = BTreeSet::new();
        let mut caches = BTreeSet::new();
        for &cpu in cpus.as_slice() {
            let dir = PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}"));
            let shared = |names: [&str; 2]| {
                let mut files_of_it = names.iter().map(|name| dir.join("topology").join(name));
                files_of_it.find_map(|file| sharers(files, &file, cpu, &cpus))
            };
            cores.extend(shared(["core_cpus_list", "thread_siblings_list"]));
            packages.extend(shared(["package_cpus_list", "core_siblings_list"]));
            let all = (0..CACHES_PER_CPU_MAX).map(|index| dir.join(format!("cache/index{index}")));
            let there = all.take_while(|dir| files.is_dir(dir));
            caches.extend(there.filter_map(|dir| cache(files, &dir, cpu, &cpus)));
        }
        Self {
            cores: cores.into_iter().collect(),
            caches: caches.into_iter().collect(),
            nodes: nodes(files, &cpus),
            packages: packages.into_iter().collect(),
            cpus,
        }
    }
}

/// The CPUs with which `cpu` shares something, from a file that lists them.
fn sharers(files: &dyn Files, file: &Path, cpu: usize, cpus: &CpuList) -> Option<CpuList> {
    let listed: CpuList = text(files, file).ok()?.parse().ok()?;
    listed.contains(cpu).then(|| listed.intersection(cpus))
}

fn cache(files: &dyn Files, dir: &Path, cpu: usize, cpus: &CpuList) -> Option<Cache> {
    let kind = match text(files, &dir.join("type")).ok()?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    Some(Cache {
        level: text(files, &dir.join("level")).ok()?.parse().ok()?,
        kind,
        bytes: text(files, &dir.join("size"))
            .ok()
            .and_then(|size| bytes(&size)),
        cpus: sharers(files, &dir.join("shared_cpu_list"), cpu, cpus)?,
    })
}

/// `32K` as a number; the kernel writes all sizes in units of 1024 bytes.
fn bytes(size: &str) -> Option<u64> {
    size.strip_suffix('K')?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

fn nodes(files: &dyn Files, cpus: &CpuList) -> Vec<Node> {
    let dir = Path::new("/sys/devices/system/node");
    let ids = text(files, &dir.join("online")).unwrap_or_default();
    let ids: CpuList = ids.parse().unwrap_or_default();
    let node = |&id: &usize| {
        let listed = text(files, &dir.join(format!("node{id}/cpulist"))).ok()?;
        let cpus = listed.parse::<CpuList>().ok()?.intersection(cpus);
        Some(Node { id, cpus })
    };
    ids.as_slice().iter().filter_map(node).collect()
}
