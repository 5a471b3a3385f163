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

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Cache, CacheKind, Node, Topology};
use crate::cpus::CpuList;
use crate::files::{Files, text};

/// No CPU has more caches than this. Reading usually stops earlier, at the first missing directory.
const CACHES_PER_CPU_MAX: usize = 32;

impl Topology {
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
            let existing = all.take_while(|dir| files.is_dir(dir));
            caches.extend(existing.filter_map(|dir| cache(files, &dir, cpu, &cpus)));
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

/// Reads the file that lists the CPUs sharing something with `cpu`. Returns `None` if the list
/// lacks `cpu`.
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

/// Parses a size such as `32K`; the kernel writes all sizes in units of 1024 bytes.
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
