use super::*;
use crate::made_up::MadeUp;

fn cpus(list: &str) -> CpuList {
    list.parse().unwrap()
}

/// Adds the file `topology/name` for each CPU of each group.
fn with_groups(files: MadeUp, name: &str, groups: &[&str]) -> MadeUp {
    groups.iter().fold(files, |files, group| {
        cpus(group).as_slice().iter().fold(files, |files, cpu| {
            let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
            files.with(&file, format!("{group}\n"))
        })
    })
}

/// Adds one cache for each group. Each CPU of the group lists the cache under `index`.
fn with_caches(files: MadeUp, index: usize, level_kind_size: [&str; 3], groups: &[&str]) -> MadeUp {
    let [level, kind, size] = level_kind_size;
    groups.iter().fold(files, |files, group| {
        cpus(group).as_slice().iter().fold(files, |files, cpu| {
            let dir = format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
            files
                .with(&format!("{dir}/level"), format!("{level}\n"))
                .with(&format!("{dir}/type"), format!("{kind}\n"))
                .with(&format!("{dir}/size"), format!("{size}\n"))
                .with(&format!("{dir}/shared_cpu_list"), format!("{group}\n"))
        })
    })
}

fn with_nodes(files: MadeUp, nodes: &[&str]) -> MadeUp {
    let online: CpuList = (0..nodes.len()).collect();
    let files = files.with("/sys/devices/system/node/online", online.to_string());
    nodes.iter().enumerate().fold(files, |files, (id, cpus)| {
        files.with(&format!("/sys/devices/system/node/node{id}/cpulist"), cpus)
    })
}

/// Formats each level as `kind: groups`.
fn in_words(levels: &[Level]) -> Vec<String> {
    let groups = |level: &Level| {
        let groups: Vec<String> = level.groups.iter().map(CpuList::to_string).collect();
        format!("{}: {}", level.kind, groups.join(" "))
    };
    levels.iter().map(groups).collect()
}

fn all_levels(topology: &Topology) -> Vec<String> {
    in_words(&topology.levels(topology.cpus()))
}

/// A machine with two packages of two cores, each with two hardware threads. As usual, the first
/// threads of all cores have the lowest CPU numbers.
fn two_packages() -> MadeUp {
    let files = with_groups(
        MadeUp::new(),
        "core_cpus_list",
        &["0,4", "1,5", "2,6", "3,7"],
    );
    let files = with_groups(files, "package_cpus_list", &["0-1,4-5", "2-3,6-7"]);
    let files = with_caches(
        files,
        0,
        ["1", "Data", "32K"],
        &["0,4", "1,5", "2,6", "3,7"],
    );
    let files = with_caches(
        files,
        1,
        ["1", "Instruction", "64K"],
        &["0,4", "1,5", "2,6", "3,7"],
    );
    let files = with_caches(
        files,
        2,
        ["3", "Unified", "16384K"],
        &["0-1,4-5", "2-3,6-7"],
    );
    with_nodes(files, &["0-1,4-5", "2-3,6-7", ""])
}

#[test]
fn reads_everything_once() {
    let topology = Topology::read(&two_packages(), cpus("0-7"));
    assert_eq!(topology.cores(), ["0,4", "1,5", "2,6", "3,7"].map(cpus));
    assert_eq!(topology.packages(), ["0-1,4-5", "2-3,6-7"].map(cpus));
    let caches: Vec<_> = topology
        .caches()
        .iter()
        .map(|it| (it.level, it.kind, it.bytes))
        .collect();
    let data = (1, CacheKind::Data, Some(32 << 10));
    let instruction = (1, CacheKind::Instruction, Some(64 << 10));
    let last = (3, CacheKind::Unified, Some(16 << 20));
    assert_eq!(caches[..4], [data; 4]);
    assert_eq!(caches[4..8], [instruction; 4]);
    assert_eq!(caches[8..], [last; 2]);
    let nodes: Vec<_> = topology
        .nodes()
        .iter()
        .map(|node| (node.id, node.cpus.to_string()))
        .collect();
    assert_eq!(nodes[1], (1, "2-3,6-7".to_owned()));
    assert_eq!(nodes[2], (2, String::new()), "memory only");
}

#[test]
fn merges_equal_levels() {
    let topology = Topology::read(&two_packages(), cpus("0-7"));
    let levels = [
        "core: 0,4 1,5 2,6 3,7",
        "L3: 0-1,4-5 2-3,6-7",
        "machine: 0-7",
    ];
    assert_eq!(all_levels(&topology), levels);
}

#[test]
fn restricts_levels_to_given_cpus() {
    let topology = Topology::read(&two_packages(), cpus("0-7"));
    let levels = |list| in_words(&topology.levels(&cpus(list)));
    assert_eq!(levels("0,1,2"), ["L3: 0-1 2", "machine: 0-2"]);
    assert_eq!(levels("0,4"), ["core: 0,4"]);
    assert_eq!(levels("0,1,5"), ["core: 0 1,5", "L3: 0-1,5"]);
    assert_eq!(levels("5"), [""; 0]);
    assert_eq!(levels(""), [""; 0]);
    assert_eq!(
        levels("0,4,90"),
        ["core: 0,4 90", "machine: 0,4,90"],
        "an unknown CPU is a group of its own"
    );
}

#[test]
fn orders_nodes_before_larger_caches() {
    let files = with_caches(MadeUp::new(), 0, ["3", "Unified", "1K"], &["0-7"]);
    let topology = Topology::read(&with_nodes(files, &["0-3", "4-7"]), cpus("0-7"));
    assert_eq!(all_levels(&topology), ["node: 0-3 4-7", "L3: 0-7"]);
}

#[test]
fn orders_levels_independently_of_cpus() {
    let files = with_caches(MadeUp::new(), 0, ["3", "Unified", "1K"], &["0-3", "4-7"]);
    let files = with_nodes(files, &["0-1", "2-3", "4-5", "6-7"]);
    let levels = Topology::read(&files, cpus("0-7")).levels(&cpus("0-1,4,6"));
    assert_eq!(
        in_words(&levels),
        ["node: 0-1 4 6", "L3: 0-1 4,6", "machine: 0-1,4,6"]
    );
}

#[test]
fn orders_caches_before_larger_nodes() {
    let files = with_caches(
        MadeUp::new(),
        0,
        ["3", "Unified", "1K"],
        &["0-1", "2-3", "4-5", "6-7"],
    );
    let topology = Topology::read(&with_nodes(files, &["0-3", "4-7"]), cpus("0-7"));
    let levels = ["L3: 0-1 2-3 4-5 6-7", "node: 0-3 4-7", "machine: 0-7"];
    assert_eq!(all_levels(&topology), levels);
}

#[test]
fn keeps_finer_groups_without_a_cache() {
    let files = with_groups(
        MadeUp::new(),
        "thread_siblings_list",
        &["0-1", "2", "3", "4", "5"],
    );
    let files = with_caches(files, 0, ["2", "Unified", "2048K"], &["0-1", "2-3", "4-5"]);
    let files = with_caches(files, 1, ["3", "Unified", "24576K"], &["0-3"]);
    let levels = [
        "core: 0-1 2 3 4 5",
        "L2: 0-1 2-3 4-5",
        "L3: 0-3 4-5",
        "machine: 0-5",
    ];
    assert_eq!(all_levels(&Topology::read(&files, cpus("0-5"))), levels);
}

#[test]
fn orders_groups_by_first_cpu() {
    let files = with_caches(MadeUp::new(), 0, ["2", "Unified", "1K"], &["2-3"]);
    let levels = all_levels(&Topology::read(&files, cpus("0-3")));
    assert_eq!(levels, ["L2: 0 1 2-3", "machine: 0-3"]);
}

#[test]
fn drops_overlapping_groups() {
    let files = with_caches(
        MadeUp::new(),
        0,
        ["2", "Unified", "1K"],
        &["0-1", "2-3", "4-5"],
    );
    let topology = Topology::read(&with_nodes(files, &["0-2", "3-5"]), cpus("0-5"));
    assert_eq!(all_levels(&topology), ["L2: 0-1 2-3 4-5", "machine: 0-5"]);
}

#[test]
fn ignores_instruction_caches() {
    let files = with_caches(
        MadeUp::new(),
        0,
        ["1", "Instruction", "1K"],
        &["0-1", "2-3"],
    );
    assert_eq!(
        all_levels(&Topology::read(&files, cpus("0-3"))),
        ["machine: 0-3"]
    );
}

#[test]
fn is_flat_without_files() {
    let topology = Topology::read(&MadeUp::new(), cpus("0-2"));
    assert_eq!(topology, Topology::flat(cpus("0-2")));
    assert_eq!(all_levels(&topology), ["machine: 0-2"]);
}

#[test]
fn leaves_out_malformed_files() {
    let cpu = "/sys/devices/system/cpu/cpu0";
    let files = two_packages()
        .with(&format!("{cpu}/topology/core_cpus_list"), "0-\u{1b}\n")
        .with(&format!("{cpu}/topology/package_cpus_list"), "1-2\n")
        .with(&format!("{cpu}/cache/index0/level"), "300")
        .with(&format!("{cpu}/cache/index1/type"), "Wax")
        .with(&format!("{cpu}/cache/index2/size"), "99999999999999999999K")
        .with("/sys/devices/system/node/online", "0-9");
    let topology = Topology::read(&files, cpus("0-3"));
    assert_eq!(
        topology.cores(),
        ["1", "2", "3"].map(cpus),
        "only online CPUs"
    );
    assert_eq!(
        topology.packages(),
        ["0-1", "2-3"].map(cpus),
        "a list without its own CPU is ignored"
    );
    let of_cpu_0: Vec<_> = topology
        .caches()
        .iter()
        .filter(|cache| cache.cpus.contains(0))
        .collect();
    let sizes: Vec<_> = of_cpu_0
        .iter()
        .map(|cache| (cache.level, cache.bytes))
        .collect();
    assert_eq!(
        sizes,
        [(3, None), (3, Some(16 << 20))],
        "as reported by its neighbours"
    );
    assert_eq!(topology.nodes().len(), 3);
}

#[test]
fn is_flat_when_files_are_denied() {
    let files = two_packages().denying("/sys");
    assert_eq!(
        Topology::read(&files, cpus("0-7")),
        Topology::flat(cpus("0-7"))
    );
}

#[test]
fn measures_distances_between_workers() {
    let topology = Topology::read(&two_packages(), cpus("0-7"));
    let places = topology.places(&[0, 4, 1, 7]);
    assert_eq!(
        [1, 2, 3].map(|worker| places.distance(0, worker)),
        [1, 2, 3]
    );
    let crowded = topology.places(&[0, 2, 0, 2]);
    assert_eq!(
        [1, 2, 3].map(|worker| crowded.distance(0, worker)),
        [2, 1, 2]
    );
    assert_eq!(topology.places(&[]).workers(), 0);
}
