use super::statements::CPUS_MAX;
use super::*;
use crate::topology::CacheKind;

const TWO_PACKAGES: &str = "\
cpus 0-7
core 0-1 2-3 4-5 6-7
L1d 0-1 2-3 4-5 6-7 size=32K
L1i 0-1 2-3 4-5 6-7 size=48K
L2 0-1 2-3 4-5 6-7 size=1M
L3 0-3 4-7 size=16M
node 0:0-3 1:4-7
package 0-3 4-7
";

fn read(text: &str) -> Topology {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn cpus(list: &str) -> CpuList {
    list.parse().unwrap()
}

fn error(text: &str) -> String {
    text.parse::<Topology>().unwrap_err().to_string()
}

#[test]
fn round_trips_every_statement() {
    let topology = read(TWO_PACKAGES);
    assert_eq!(topology.cpus(), &cpus("0-7"));
    assert_eq!(topology.cores(), ["0-1", "2-3", "4-5", "6-7"].map(cpus));
    assert_eq!(topology.packages(), ["0-3", "4-7"].map(cpus));
    let nodes = topology.nodes().iter().map(|node| (node.id, &node.cpus));
    assert!(nodes.eq([(0, &cpus("0-3")), (1, &cpus("4-7"))]));
    let fields = |cache: &Cache| (cache.level, cache.kind, cache.bytes, cache.cpus.to_string());
    assert_eq!(topology.caches().len(), 14);
    let data = (1, CacheKind::Data, Some(32 << 10), "0-1".to_owned());
    let instruction = (1, CacheKind::Instruction, Some(48 << 10), "6-7".to_owned());
    let unified = (3, CacheKind::Unified, Some(16 << 20), "4-7".to_owned());
    assert_eq!(fields(&topology.caches()[0]), data);
    assert_eq!(fields(&topology.caches()[7]), instruction);
    assert_eq!(fields(&topology.caches()[13]), unified);
    assert_eq!(topology.to_string(), TWO_PACKAGES);
}

#[test]
fn ignores_comments_blanks_and_order() {
    let text = "# a machine\r\n\n  cpus\t0-3,4-7 # all\n#core 0-7\nL3 4-7 0-3 size=16384K\npackage 4-7 0-3\r\n\
                L2 0-1 4-5 size=1048576\nL2 6-7 2-3 size=1M\nnode 1:4-7 0:0-3\n\
                L1d 0-1 2-3 4-5 6-7 size=32K\nL1i 0-1 2-3 4-5 6-7 size=48K\ncore 6,7 2-3 4-5 0-1";
    assert_eq!(read(text), read(TWO_PACKAGES));
}

#[test]
fn parses_cpus_alone_as_flat() {
    assert_eq!(read("cpus 2,5-6"), Topology::flat(cpus("2,5-6")));
}

#[test]
fn numbers_nodes_in_order() {
    let topology = read("cpus 0-5\nnode 4-5 0-1 2-3");
    assert_eq!(topology, read("cpus 0-5\nnode 0:4-5 1:0-1 2:2-3"));
}

#[test]
fn keeps_memory_nodes_and_cache_sizes() {
    let text = "cpus 0-3\nL2 3\nL2 0 1 size=0\nL2 2 size=1537\nL255 0-3 size=1G\nnode 3:0-3 7:\n";
    assert_eq!(read(text).to_string(), text);
}

/// Invalid texts, each with a part of the expected message.
#[rustfmt::skip]
const INVALID: &[(&str, &str)] = &[
    ("", "line 1: nothing says which CPUs there are: expected a line"),
    ("\n# cpus 0-1\n", "line 2: nothing says"),
    ("cpus", "line 1: \"cpus\" has 0 lists: expected one such as"),
    ("cpus 0-1 2-3", "line 1: \"cpus\" has 2 lists"),
    ("cpus 3-0", "line 1: \"3-0\" is no list of CPUs: expected lists such as"),
    ("cpus 0-99999999", "with numbers below 65536"),
    ("cpus 0-8192", "line 1: these are 8193 CPUs: expected up to 8192"),
    ("core 0\ncpus 0", "line 1: \"core\" comes before the CPUs: expected a line"),
    ("cpus 0\n\ncpus 1", "line 3: \"cpus\" comes a second time"),
    ("cpus 0\ncores 0", "line 2: \"cores\" is no statement: expected cpus, core, node"),
    ("cpus 0\ncore", "line 2: \"core\" has no groups of CPUs"),
    ("cpus 0\ncore 0,", "line 2: \"0,\" is no list of CPUs"),
    ("cpus 0-1\ncore 0\ncore 1", "line 3: \"core\" comes a second time"),
    ("cpus 0-1\npackage 0-1,7", "line 2: \"package\" has CPU 7, which does not exist"),
    ("cpus 0-2\ncore 0-1 1-2", "line 2: CPU 1 is in two groups of \"core\""),
    ("cpus 0-2\nL2 0\nL2 0-1", "line 3: CPU 0 is in two groups of \"L2\""),
    ("cpus 0\nL0 0", "line 2: \"L0\" is no cache: expected L1 to L255"),
    ("cpus 0\nL256 0", "line 2: \"L256\" is no cache"),
    ("cpus 0\nL+1 0", "line 2: \"L+1\" is no cache"),
    ("cpus 0\nL02 0", "line 2: \"L02\" is no cache"),
    ("cpus 0\nL1x 0", "line 2: \"L1x\" is no cache"),
    ("cpus 0\nL2 0 size=", "line 2: \"\" is no size: expected whole numbers"),
    ("cpus 0\nL2 0 size=1.5M", "line 2: \"1.5M\" is no size"),
    ("cpus 0\nL2 0 size=-1", "line 2: \"-1\" is no size"),
    ("cpus 0\nL2 0 size=17179869184G", "line 2: \"17179869184G\" is no size"),
    ("cpus 0\nL2 size=1M 0", "line 2: \"size=1M\" is no list of CPUs"),
    ("cpus 0\nL2 size=1M", "line 2: \"L2\" has no groups"),
    ("cpus 0\ncore 0 size=1M", "line 2: \"size=1M\" is no list of CPUs"),
    ("cpus 0-1\nnode 0:0 1", "line 2: some nodes have a number and others have none"),
    ("cpus 0-1\nnode 0:0 0:1", "line 2: there are two nodes with the number 0"),
    ("cpus 0-1\nnode x:0", "line 2: \"x\" is no number of a node"),
    ("cpus 0-1\nnode 0:0-1 1:1", "line 2: CPU 1 is in two groups of \"node\""),
];

#[test]
fn reports_line_and_allowed_values() {
    for (text, words) in INVALID {
        let message = error(text);
        assert!(message.contains(words), "{text:?}: {message}");
        assert!(message.contains(": expected "), "{message}");
    }
}

#[test]
fn keeps_messages_short_and_printable() {
    let long = "\u{e9}".repeat(100_000);
    for text in [
        "cpus 0\n\u{1b}[2J 0".to_owned(),
        "cpus 0\ncore \u{7}".to_owned(),
        "cpus 0\nL\0 0".to_owned(),
        "cpus 0\nL2 0 size=\u{9b}".to_owned(),
        "cpus 0\nnode \u{1b}:0".to_owned(),
        format!("cpus {long}"),
        format!("cpus 0\n{long}"),
        format!("cpus 0\nnode {long}:0"),
        format!("cpus 0\nL2 0 size={long}"),
    ] {
        let message = error(&text);
        assert!(!message.contains(char::is_control), "{message:?}");
        assert!(message.chars().count() < 200, "{message}");
    }
}

/// Without bounds on the parser's work, this test would take very long or run out of memory.
#[test]
fn bounds_the_work_of_repetitions() {
    let bomb = vec!["0-65535"; 100_000].join(",");
    assert!(error(&format!("cpus {bomb}")).contains("is no list of CPUs"));
    let (cpus, bomb) = (CPUS_MAX - 1, format!("0-{0},0-{0},0-{0}", CPUS_MAX - 1));
    assert_eq!(read(&format!("cpus {bomb}")).cpus().len(), CPUS_MAX);
    let statements: String = (1..=20).map(|it| format!("L{it} {bomb}\n")).collect();
    assert_eq!(
        read(&format!("cpus 0-{cpus}\n{statements}")).caches().len(),
        20
    );
}

/// Creates random disjoint groups of some of the CPUs.
fn random_groups(random: &mut fastrand::Rng, among: &CpuList) -> Vec<CpuList> {
    let mut groups = vec![Vec::new(); random.usize(1..6)];
    for &cpu in among.as_slice() {
        if random.u8(..8) > 0 {
            random.choice(&mut groups).unwrap().push(cpu);
        }
    }
    groups.retain(|group| !group.is_empty());
    groups.sort_unstable();
    groups.into_iter().map(CpuList::from_iter).collect()
}

fn random_topology(random: &mut fastrand::Rng) -> Topology {
    let first = random.usize(..3);
    let cpus = (0..40).filter(|_| random.bool());
    let cpus = CpuList::from_iter(std::iter::once(first).chain(cpus));
    let mut caches = Vec::new();
    for kind in [CacheKind::Data, CacheKind::Instruction, CacheKind::Unified] {
        let level = random.u8(1..);
        let sizes = [
            None,
            Some(random.u64(..1 << 40)),
            Some(random.u64(..99) << 20),
        ];
        let groups = random_groups(random, &cpus).into_iter();
        caches.extend(groups.map(|cpus| Cache {
            level,
            kind,
            bytes: *random.choice(&sizes).unwrap(),
            cpus,
        }));
    }
    caches.sort_unstable();
    let mut ids: Vec<usize> = (0..12).collect();
    random.shuffle(&mut ids);
    let alone = random.bool().then(CpuList::default);
    let mut nodes: Vec<Node> = random_groups(random, &cpus)
        .into_iter()
        .chain(alone)
        .zip(ids)
        .map(|(cpus, id)| Node { id, cpus })
        .collect();
    nodes.sort_unstable_by_key(|node| node.id);
    Topology {
        cores: random_groups(random, &cpus),
        packages: random_groups(random, &cpus),
        cpus,
        caches,
        nodes,
    }
}

#[test]
fn round_trips_random_topologies() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..2000 {
        let topology = random_topology(&mut random);
        assert_eq!(read(&topology.to_string()), topology, "{topology}");
    }
}

/// The texts are random sequences of words of the format. None may cause a panic, and those that
/// parse must survive a round trip.
#[test]
fn round_trips_random_texts() {
    #[rustfmt::skip]
    const WORDS: [&str; 16] = [
        "core ", "node ", "package ", "L1d ", "L2 ", "0-3 ", "4-7 ", "0:1 ", "1: ", "size=1K",
        "\n", "#", "\ncore 0-3 4 5\n", "\nL2 0-3 size=7", "\nnode 0:", "-",
    ];
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut parsed = 0;
    for _ in 0..20_000 {
        let mut text = String::from("cpus 0-7\n");
        for _ in 0..random.usize(..12) {
            text += random.choice(WORDS).unwrap();
        }
        if let Ok(topology) = text.parse::<Topology>() {
            parsed += usize::from(topology != Topology::flat(cpus("0-7")));
            assert_eq!(read(&topology.to_string()), topology, "{text:?}");
        }
    }
    assert!(parsed > 100, "{parsed}");
}
