//! Tests `tidegate machine`: topology files and `--tree`.

use std::path::Path;

use crate::support::{assert_contains, complaint, json, keys, text, tidegate, with_topology};
use serde_json::{Value, json};
use tidegate::machine::{Machine, Topology};

const ALL: [&str; 4] = ["chiplets", "flat", "sub_numa", "two_packages"];

/// Returns the command with a topology file that has this content. Dropping the folder deletes the
/// file.
fn with_content(arguments: &str, content: &[u8]) -> (tempfile::TempDir, assert_cmd::Command) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made up.txt");
    std::fs::write(&file, content).unwrap();
    let mut command = tidegate(arguments);
    command.arg("--topology").arg(file);
    (folder, command)
}

#[test]
fn machine_file_prints_like_this_machine() {
    let mut command = with_topology("machine --json", "two_packages");
    let found = json(command.env("TIDEGATE_WORKERS", "3"));
    let here = json(&mut tidegate("machine --json"));
    assert_eq!(keys(&found), keys(&here));
    assert_eq!(
        found["workers"], 8,
        "the environment is that of this machine"
    );
    assert_eq!(found["why"], "8 of 8 cpus: affinity unknown");
    assert_eq!(found["affinity"], Value::Null);
    assert_eq!(found["cores"][1], json!([1, 5]));
    assert_eq!(found["caches"].as_array().unwrap().len(), 14);
    assert_eq!(found["nodes"][1], json!({"id": 1, "cpus": [2, 3, 6, 7]}));
}

#[test]
fn overlapping_group_is_a_separate_leaf() {
    let content = b"cpus 0-8\nL2 0-1 2-3 4-5\nnode 0-2 3-5\npackage 0-5 6-7";
    let (_folder, mut command) = with_content("machine --tree", content);
    let expected = "\
machine  9 cpus: 0-8
├─ package 0  0-5
│  ├─ L2  0-1
│  ├─ node 0  0-2  overlaps
│  ├─ L2  2-3
│  ├─ node 1  3-5  overlaps
│  └─ L2  4-5
└─ package 1  6-7
";
    assert_eq!(text(&mut command), expected);
}

/// Collects a line for each object of the tree, parents before children.
fn flatten(tree: &Value, depth: usize, found: &mut Vec<String>) {
    assert_eq!(keys(tree), ["kind", "id", "size_bytes", "cpus", "children"]);
    let cpus: Vec<usize> = serde_json::from_value(tree["cpus"].clone()).unwrap();
    let [kind, id, bytes] = ["kind", "id", "size_bytes"].map(|field| tree[field].to_string());
    found.push(format!("{depth} {kind} {id} {bytes} {}", cpus.len()));
    for child in tree["children"].as_array().unwrap() {
        flatten(child, depth + 1, found);
    }
}

#[test]
fn json_tree_is_complete() {
    let mut found = Vec::new();
    let tree = json(&mut with_topology("machine --tree --json", "two_packages"));
    flatten(&tree, 0, &mut found);
    let first = [
        r#"0 "machine" null null 8"#,
        r#"1 "package" 0 null 4"#,
        r#"2 "node" 0 null 4"#,
        r#"3 "L3" null 16777216 4"#,
        r#"4 "L2" null 1048576 2"#,
        r#"5 "L1d" null 32768 2"#,
        r#"6 "L1i" null 65536 2"#,
        r#"7 "core" null null 2"#,
    ];
    assert_eq!(found[..8], first);
    for file in ALL {
        let mut found = Vec::new();
        flatten(
            &json(&mut with_topology("machine --tree --json", file)),
            0,
            &mut found,
        );
        let report = json(&mut with_topology("machine --json", file));
        let known = ["cores", "caches", "nodes", "packages"].map(|field| {
            let things = report[field].as_array().unwrap();
            let with_cpus = |thing: &&Value| thing["cpus"] != json!([]);
            things.iter().filter(with_cpus).count()
        });
        assert_eq!(found.len(), 1 + known.iter().sum::<usize>(), "{file}");
    }
}

#[test]
fn this_machine_has_a_tree() {
    let tree = json(&mut tidegate("machine --tree --json"));
    let usable = Machine::read().usable();
    assert_eq!(tree["cpus"], Value::from(usable.as_slice()));
    let drawn = text(&mut tidegate("machine --tree"));
    assert!(drawn.starts_with("machine  "), "{drawn}");
    assert!(drawn.contains(&usable.to_string()), "{drawn}");
}

#[test]
fn topology_files_round_trip() {
    for name in ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/topologies");
        let content = std::fs::read_to_string(folder.join(name).with_extension("txt")).unwrap();
        let topology: Topology = content.parse().unwrap();
        let written = topology.to_string();
        assert_eq!(written.parse(), Ok(topology), "{written}");
    }
}

#[test]
fn malformed_topology_is_rejected() {
    let long = vec![b'#'; (1 << 20) + 1];
    let exactly = [b"cpus 0-3\n".to_vec(), vec![b'#'; (1 << 20) - 9]].concat();
    for (content, words) in [
        (
            &b""[..],
            "line 1: nothing says which CPUs there are: expected",
        ),
        (b"cpus 0-1\ncores 0-1", "line 2: \"cores\" is no statement"),
        (b"cpus 0\n\x1b[2J", "line 2: \"\\u{1b}[2J\" is no statement"),
        (
            b"cpus 0 # caf\xe9",
            "is not text from byte 12 on: expected UTF-8",
        ),
        (&long, "is too long: expected at most 1048576 bytes"),
    ] {
        for line in [
            "machine",
            "machine --tree --json",
            "sim fib 10",
            "sim jobs -",
        ] {
            let (_folder, mut command) = with_content(line, content);
            let told = complaint(&mut command, 2);
            assert!(told.starts_with("tidegate: "), "{told}");
            assert_contains(&told, &["made up.txt", words]);
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
    let (_folder, mut command) = with_content("machine --json", &exactly);
    assert_eq!(json(&mut command)["workers"], 4);
}

#[test]
fn unreadable_topology_file_is_reported() {
    for line in [
        "machine --topology no/such/file",
        "sim fib 10 --topology no/such/file",
    ] {
        let told = complaint(&mut tidegate(line), 3);
        assert!(
            told.starts_with("tidegate: no/such/file cannot be read: "),
            "{told}"
        );
    }
    let mut command = tidegate("machine --topology");
    complaint(command.arg(env!("CARGO_MANIFEST_DIR")), 3);
}
