//! Reads the topology from `/sys`.
//!
//! The files are `/sys/devices/system/cpu/cpuN/topology/*`, `/sys/devices/system/cpu/cpuN/cache/*`
//! and `/sys/devices/system/node/*` (see ABI/testing/sysfs-devices-system-cpu and -node of the
//! Linux documentation). Anything that cannot be read or understood is left out without a note,
//! because it only affects victim orders and places, never the number of workers. The list of the
//! CPUs that share something with a CPU is ignored unless it contains that CPU. Offline CPUs are
//! skipped, and are removed from every list.
//!
//! The sets need not be nested; [`Topology::levels`] takes care of that.

use std::path::{Path, PathBuf};

use super::{Cache, CacheKind, Node, Topology, insert};
use crate::cpus::CpuList;
use crate::files::{Files, text};

/// No CPU has more caches than this. Reading usually stops earlier, at the first missing directory.
const CACHES_PER_CPU_MAX: usize = 32;

impl Topology {
    pub(crate) fn read(files: &dyn Files, cpus: CpuList) -> Self {
        let mut topology = Self::flat(cpus);
        let cpus = &topology.cpus;
        for &cpu in cpus.as_slice() {
            let dir = PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}"));
            let add = |groups: &mut Vec<CpuList>, names: [&str; 2]| {
                let listed = |name| sharers(files, &dir.join("topology").join(name), cpu, cpus);
                if let Some(group) = listed(names[0]).or_else(|| listed(names[1])) {
                    insert(groups, group);
                }
            };
            let cores = ["core_cpus_list", "thread_siblings_list"];
            add(&mut topology.cores, cores);
            let packages = ["package_cpus_list", "core_siblings_list"];
            add(&mut topology.packages, packages);
            for index in 0..CACHES_PER_CPU_MAX {
                let dir = dir.join(format!("cache/index{index}"));
                if !files.is_dir(&dir) {
                    break;
                }
                if let Some(cache) = cache(files, &dir, cpu, cpus) {
                    insert(&mut topology.caches, cache);
                }
            }
        }
        topology.nodes = nodes(files, cpus);
        topology
    }
}

/// Reads the file that lists the CPUs sharing something with `cpu`. Returns `None` if the list
/// lacks `cpu`.
fn sharers(files: &dyn Files, file: &Path, cpu: usize, cpus: &CpuList) -> Option<CpuList> {
    let listed = list(files, file).filter(|listed| listed.contains(cpu))?;
    Some(listed.intersection(cpus))
}

fn list(files: &dyn Files, file: &Path) -> Option<CpuList> {
    text(files, file).ok()?.parse().ok()
}

fn cache(files: &dyn Files, dir: &Path, cpu: usize, cpus: &CpuList) -> Option<Cache> {
    let read = |name| text(files, &dir.join(name)).ok();
    let kind = match read("type")?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    Some(Cache {
        level: read("level")?.parse::<usize>().ok()?.try_into().ok()?,
        kind,
        bytes: read("size").and_then(|size| bytes(&size)),
        cpus: sharers(files, &dir.join("shared_cpu_list"), cpu, cpus)?,
    })
}

/// Parses a size such as `32K`; the kernel writes all sizes in units of 1024 bytes.
fn bytes(size: &str) -> Option<u64> {
    size.strip_suffix('K')?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

fn nodes(files: &dyn Files, cpus: &CpuList) -> Vec<Node> {
    let dir = Path::new("/sys/devices/system/node");
    let mut nodes = Vec::new();
    let online = list(files, &dir.join("online")).unwrap_or_default();
    for &id in online.as_slice() {
        if let Some(listed) = list(files, &dir.join(format!("node{id}/cpulist"))) {
            let cpus = listed.intersection(cpus);
            nodes.push(Node { id, cpus });
        }
    }
    nodes
}
