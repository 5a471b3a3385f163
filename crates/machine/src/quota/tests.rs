use super::*;
use crate::made_up::MadeUp;

const ROOT: &str = "1 0 0:1 / / rw - ext4 /dev/vda rw\n";
const V2: &str = "2 1 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const V1: &str = "3 1 0:3 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

fn machine(mountinfo: &str, cgroup: &str) -> MadeUp {
    MadeUp::new()
        .with("/proc/self/mountinfo", format!("{ROOT}{mountinfo}"))
        .with("/proc/self/cgroup", cgroup)
}

/// Adds the two files of a version 1 cgroup.
fn with_v1(files: MadeUp, dir: &str, quota: &str, period: &str) -> MadeUp {
    files
        .with(&format!("{dir}/cpu.cfs_quota_us"), quota)
        .with(&format!("{dir}/cpu.cfs_period_us"), period)
}

/// Returns each quota, as `cpus path`, and the notes.
fn read_all(files: &MadeUp) -> (Vec<String>, Vec<String>) {
    let mut notes = Vec::new();
    let quotas = read(files, &mut notes);
    let in_words = |quota: &Quota| format!("{} {}", quota.cpus, quota.from.display());
    (quotas.iter().map(in_words).collect(), notes)
}

/// Like [`read_all`], but expects no notes.
fn read_clear(files: &MadeUp) -> Vec<String> {
    let (quotas, notes) = read_all(files);
    assert_eq!(notes, [""; 0]);
    quotas
}

#[test]
fn reads_every_v2_ancestor() {
    let files = machine(V2, "0::/a/b/c\n")
        .with("/sys/fs/cgroup/a/cpu.max", "150000 100000\n")
        .with("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
        .with("/sys/fs/cgroup/a/b/c/cpu.max", "400000 50000\n")
        .with("/sys/fs/cgroup/other/cpu.max", "1000 100000\n");
    assert_eq!(read_clear(&files), ["8 /a/b/c", "1.5 /a"]);
    let quotas = read(&files, &mut Vec::new());
    assert_eq!(quotas[1].file, Path::new("/sys/fs/cgroup/a/cpu.max"));
}

#[test]
fn reads_every_v1_ancestor() {
    let files = machine(
        V1,
        "5:memory:/m\n4:cpu,cpuacct:/a/b\n1:name=cpu:/c\n0::/d\n",
    );
    let dir = "/sys/fs/cgroup/cpu,cpuacct";
    let files = with_v1(files, dir, "-1\n", "100000\n");
    let files = with_v1(files, &format!("{dir}/a"), "25000\n", "50000\n");
    let files = with_v1(files, &format!("{dir}/a/b"), "300000\n", "100000\n");
    assert_eq!(read_clear(&files), ["3 /a/b", "0.5 /a"]);
}

#[test]
fn reads_both_hybrid_hierarchies() {
    let unified = "2 1 0:2 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let files = machine(&format!("{V1}{unified}"), "2:cpu,cpuacct:/x\n0::/x\n")
        .with_dir("/sys/fs/cgroup/unified/x");
    let files = with_v1(files, "/sys/fs/cgroup/cpu,cpuacct/x", "200000", "100000");
    assert_eq!(read_clear(&files), ["2 /x"]);
    let files = files.with("/sys/fs/cgroup/unified/x/cpu.max", "100000 100000");
    assert_eq!(read_clear(&files), ["2 /x", "1 /x"]);
}

#[test]
fn ignores_weights_and_shares() {
    let unified = "2 1 0:2 / /unified rw - cgroup2 cgroup2 rw\n";
    let files = machine(&format!("{V1}{unified}"), "2:cpu,cpuacct:/x\n0::/x\n")
        .with("/sys/fs/cgroup/cpu,cpuacct/x/cpu.shares", "2\n")
        .with("/unified/x/cpu.weight", "1\n")
        .with("/unified/x/cpu.max.burst", "1\n");
    assert_eq!(read_clear(&files), [""; 0]);
}

#[test]
fn follows_a_container_mount() {
    let bind = "2 1 0:2 /docker/1a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    let files = machine(bind, "0::/docker/1a/job\n")
        .with("/sys/fs/cgroup/cpu.max", "200000 100000")
        .with("/sys/fs/cgroup/job/cpu.max", "300000 100000");
    assert_eq!(read_clear(&files), ["3 /docker/1a/job", "2 /docker/1a"]);
}

#[test]
fn reads_the_namespace_root() {
    let files = machine(V2, "0::/\n").with("/sys/fs/cgroup/cpu.max", "50000 100000");
    assert_eq!(read_clear(&files), ["0.5 /"]);
}

#[test]
fn reads_each_cgroup_once() {
    let bind = "4 1 0:2 /a/b /mnt rw - cgroup2 cgroup2 rw\n";
    let files = machine(&format!("{bind}{V2}"), "0::/a/b\n")
        .with("/mnt/cpu.max", "300000 100000")
        .with("/sys/fs/cgroup/a/cpu.max", "200000 100000")
        .with("/sys/fs/cgroup/a/b/cpu.max", "300000 100000");
    assert_eq!(read_clear(&files), ["3 /a/b", "2 /a"]);
}

#[test]
fn falls_back_to_another_mount() {
    let bind = "4 1 0:2 /a/b /mnt rw - cgroup2 cgroup2 rw\n";
    for mountinfo in [format!("{V2}{bind}"), format!("{bind}{V2}")] {
        let files = machine(&mountinfo, "0::/a/b\n")
            .with("/mnt/cpu.max", "300000 100000")
            .with("/sys/fs/cgroup/a/b/cpu.max", "300000 100000")
            .denying("/sys/fs/cgroup/a/b");
        assert_eq!(read_clear(&files), ["3 /a/b"]);
    }
}

#[test]
fn ignores_a_hidden_mount() {
    let fake = "4 1 0:4 / /sys rw - tmpfs tmpfs rw\n";
    let files =
        machine(&format!("{V2}{fake}"), "0::/a\n").with("/sys/fs/cgroup/a/cpu.max", "1000 100000");
    let (quotas, notes) = read_all(&files);
    assert_eq!(quotas, [""; 0]);
    assert_eq!(notes, ["no mount shows the cgroup /a"]);
}

#[test]
fn ignores_a_partly_hidden_hierarchy() {
    let fake = "4 2 0:4 / /sys/fs/cgroup/a/b rw - tmpfs tmpfs rw\n";
    let files = machine(&format!("{V2}{fake}"), "0::/a/b\n")
        .with("/sys/fs/cgroup/a/cpu.max", "700000 100000")
        .with("/sys/fs/cgroup/a/b/cpu.max", "1000 100000");
    let (quotas, notes) = read_all(&files);
    assert_eq!(quotas, ["7 /a"]);
    assert_eq!(
        notes,
        ["no mount shows the cgroup /a/b, only some above it"]
    );
}

#[test]
fn reads_mounts_from_outside_the_namespace() {
    let outer = "2 1 0:2 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    let files = machine(outer, "0::/\n").with("/sys/fs/cgroup/cpu.max", "600000 100000");
    let (quotas, notes) = read_all(&files);
    assert_eq!(quotas, ["6 /../.."]);
    assert_eq!(notes, ["no mount shows the cgroup /, only some above it"]);
}

#[test]
fn finds_processes_outside_the_namespace() {
    let outer = "2 1 0:2 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    let files =
        machine(outer, "0::/../sibling\n").with("/sys/fs/cgroup/sibling/cpu.max", "600000 100000");
    assert_eq!(read_clear(&files), ["6 /../sibling"]);
}

#[test]
fn reports_a_cgroup_outside_the_mount() {
    for (root, group) in [
        ("/docker/1a", "/docker/1ab"),
        ("/", "/../x"),
        ("/../y", "/x"),
        ("/", "/a/../b"),
        ("/..", "/a/../b"),
        ("/", "x"),
    ] {
        let bind = format!("2 1 0:2 {root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        let files = machine(&bind, &format!("0::{group}\n"))
            .with("/sys/fs/cgroup/cpu.max", "100000 100000");
        let (quotas, notes) = read_all(&files);
        assert_eq!(quotas, [""; 0], "{root} {group}");
        assert_eq!(notes, [format!("no mount shows the cgroup {group}")]);
    }
}

#[test]
fn keeps_ancestors_of_missing_cgroups() {
    let files = machine(V2, "0::/gone/too\n").with("/sys/fs/cgroup/cpu.max", "200000 100000");
    let (quotas, notes) = read_all(&files);
    assert_eq!(quotas, ["2 /"]);
    assert_eq!(
        notes,
        ["no mount shows the cgroup /gone/too, only some above it"]
    );
}

#[test]
fn follows_escaped_paths_and_colons() {
    let spaced = "2 1 0:2 /my\\040root /mnt/with\\040a\\134space rw - cgroup2 cgroup2 rw\n";
    let files = machine(spaced, "0::/my root/a:b\n")
        .with("/mnt/with a\\space/a:b/cpu.max", "150000 100000");
    assert_eq!(read_clear(&files), ["1.5 /my root/a:b"]);
}

#[test]
fn reports_malformed_v2_files() {
    for content in [
        "",
        "max",
        "100000",
        "-1 100000",
        "0 100000",
        "1 0",
        "1 2 3",
        "nan 1",
        "1e5 1",
        "99999999999999999999 1",
        "\u{7}\u{1b}[2J 1",
    ] {
        let files = machine(V2, "0::/a/b\n")
            .with("/sys/fs/cgroup/a/b/cpu.max", content)
            .with("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
        let (quotas, notes) = read_all(&files);
        assert_eq!(quotas, ["2 /a"], "{content:?}");
        assert_eq!(notes.len(), 1, "{content:?}");
        assert!(
            notes[0].starts_with("/sys/fs/cgroup/a/b/cpu.max holds \""),
            "{}",
            notes[0]
        );
        assert!(!notes[0].contains(char::is_control), "{:?}", notes[0]);
    }
}

#[test]
fn reports_malformed_v1_files() {
    for (quota, period) in [
        ("", "1"),
        ("0", "1"),
        ("-2", "1"),
        ("1", "0"),
        ("1", ""),
        ("one", "1"),
    ] {
        let files = machine(V1, "2:cpu:/\n");
        let files = with_v1(files, "/sys/fs/cgroup/cpu,cpuacct", quota, period);
        let (quotas, notes) = read_all(&files);
        assert_eq!(quotas, [""; 0], "{quota:?} {period:?}");
        assert!(notes[0].contains("cpu.cfs_quota_us holds \""), "{notes:?}");
    }
    let files =
        machine(V1, "2:cpu:/\n").with("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "1000");
    let note = "cannot read /sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us: entity not found";
    assert_eq!(read_all(&files).1, [note]);
}

#[test]
fn reports_a_denied_file() {
    let files = machine(V2, "0::/a/b\n")
        .with("/sys/fs/cgroup/a/b/cpu.max", "200000 100000")
        .with("/sys/fs/cgroup/a/cpu.max", "100000 100000")
        .denying("/sys/fs/cgroup/a/cpu.max");
    let (quotas, notes) = read_all(&files);
    assert_eq!(quotas, ["2 /a/b"]);
    assert_eq!(
        notes,
        ["cannot read /sys/fs/cgroup/a/cpu.max: permission denied"]
    );
}

#[test]
fn reports_unreadable_proc_files() {
    let (quotas, notes) = read_all(&MadeUp::new().with("/proc/self/cgroup", "0::/\n"));
    assert_eq!(quotas, [""; 0]);
    assert_eq!(
        notes,
        ["cannot read /proc/self/mountinfo: entity not found"]
    );
    let (_, notes) = read_all(&machine(V2, "0::/\n").denying("/proc"));
    assert_eq!(notes.len(), 2, "{notes:?}");
}

#[test]
fn accepts_processes_without_cgroups() {
    assert_eq!(read_clear(&machine(V2, "")), [""; 0]);
    assert_eq!(
        read_clear(&machine(V2, "garbage\n3:memory:/\n\n::\n")),
        [""; 0]
    );
}

#[test]
fn reports_an_unmounted_hierarchy() {
    let (_, notes) = read_all(&machine("", "0::/a\n"));
    assert_eq!(notes, ["no mount shows the cgroup /a"]);
    let (_, notes) = read_all(&machine(V2, "0::/\n2:cpu:/a\n").with_dir("/sys/fs/cgroup"));
    assert_eq!(notes, ["no mount shows the cgroup /a"]);
    let v1_alone = with_v1(
        machine(V1, "2:cpu:/\n0::/\n"),
        "/sys/fs/cgroup/cpu,cpuacct",
        "-1",
        "1",
    );
    assert_eq!(read_clear(&v1_alone), [""; 0]);
}

#[cfg(unix)]
#[test]
fn follows_names_that_are_not_text() {
    let files = machine(V2, "").with("/proc/self/cgroup", b"0::/a\xff\x01\n");
    let dir = files.root().join("sys/fs/cgroup").join(path(b"a\xff\x01"));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("cpu.max"), "100000 100000").unwrap();
    let mut notes = Vec::new();
    let quotas = read(&files, &mut notes);
    assert_eq!(quotas[0].from, path(b"/a\xff\x01"));
    assert_eq!(notes, [""; 0]);
}
