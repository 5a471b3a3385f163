//! `tidegate machine`: describes this machine or one from a topology file, and explains the default
//! number of workers.

mod tree;

use serde_json::{Value, json};
use tidegate::machine::{Cache, CpuList, Grant, Machine, Quota};

use crate::arguments::MachineArguments;
use crate::topology;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::options;
use tidegate_cli_support::output;
use tree::Tree;

pub fn print(arguments: &MachineArguments) -> Result<(), Failure> {
    let machine = match &arguments.topology {
        Some(file) => Machine::made_up(topology::read(file)?),
        None => Machine::read(),
    };
    let json = arguments.format.json;
    if arguments.tree {
        let tree = Tree::of(&machine);
        return if json {
            output::print_json(&tree.to_json())
        } else {
            output::to_stdout(|out| tree.draw(out))
        };
    }
    // The environment variables apply to this machine, but not to a machine from a file.
    let (workers, why) = match arguments.topology {
        Some(_) => (machine.default_workers(), machine.reason()),
        None => options::number_of_workers(None)?,
    };
    if json {
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
        "grants": machine.grants().iter().map(grant).collect::<Vec<_>>(),
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

fn grant(grant: &Grant) -> Value {
    json!({ "variable": grant.variable, "cpus": grant.cpus })
}

fn cache(cache: &Cache) -> Value {
    json!({
        "level": cache.level,
        "kind": format!("{:?}", cache.kind).to_lowercase(),
        "bytes": cache.bytes,
        "cpus": cpus(&cache.cpus),
    })
}
