//! `tidegate machine`: what this machine is, and why a pool has so many workers here.

use serde_json::{Value, json};
use tidegate::machine::{Cache, CpuList, Machine, Quota};

use crate::arguments::Format;
use crate::failure::Failure;
use crate::options;
use crate::output;

/// Carries the subcommand out.
pub fn print(format: Format) -> Result<(), Failure> {
    let machine = Machine::read();
    let (workers, why) = options::number_of_workers(None)?;
    if format.json {
        return output::print_json(&to_json(&machine, workers, &why));
    }
    output::to_stdout(|out| {
        let workers = output::show_count(workers, "worker");
        writeln!(out, "a pool gets {workers}: {why}")?;
        write!(out, "{machine}")
    })
}

fn to_json(machine: &Machine, workers: usize, why: &str) -> Value {
    let topology = machine.topology();
    json!({
        "workers": workers,
        "why": why,
        "default_workers": machine.default_workers(),
        "reason": machine.reason(),
        "online": cpus(topology.cpus()),
        "affinity": machine.affinity().map(cpus),
        "usable": cpus(&machine.usable()),
        "quotas": machine.quotas().iter().map(quota).collect::<Vec<_>>(),
        "cores": groups(topology.cores()),
        "caches": topology.caches().iter().map(cache).collect::<Vec<_>>(),
        "nodes": topology.nodes().iter()
            .map(|node| json!({ "id": node.id, "cpus": cpus(&node.cpus) }))
            .collect::<Vec<_>>(),
        "packages": groups(topology.packages()),
        "notes": machine.notes(),
    })
}

fn cpus(list: &CpuList) -> Value {
    list.as_slice().into()
}

fn groups(lists: &[CpuList]) -> Value {
    lists.iter().map(cpus).collect()
}

fn quota(quota: &Quota) -> Value {
    json!({
        "cpus": quota.cpus,
        "from": quota.from.to_string_lossy(),
        "file": quota.file.to_string_lossy(),
    })
}

fn cache(cache: &Cache) -> Value {
    json!({
        "level": cache.level,
        "kind": format!("{:?}", cache.kind).to_lowercase(),
        "bytes": cache.bytes,
        "cpus": cpus(&cache.cpus),
    })
}
