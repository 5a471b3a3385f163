//! Tests quotas of real cgroups: those that the user sets, and those that `tidegate exec` sets.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::jobs::{Home, Running, eventually};
use crate::support::users::two_processors;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tidegate_testkit::Cgroup;

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

/// Returns the command with these arguments, which are separated by spaces, in the cgroup.
fn below(group: &Cgroup, home: &Home, arguments: &str) -> Command {
    let mut command = group.command(TIDEGATE);
    command.args(arguments.split_whitespace());
    command.env("TIDEGATE_TABLE", home.table());
    command.env_remove("TIDEGATE_WORKERS");
    command
}

#[test]
fn pools_and_programs_count_their_quota() {
    let (Some(_), Some(group)) = (two_processors(), Cgroup::new("count")) else {
        return;
    };
    let home = Home::new();
    let name = group
        .folder()
        .file_name()
        .expect("a name")
        .to_string_lossy();
    let why = format!("cgroup quota 1.0 cpus from /{name}");
    for (allowed, has_quota) in [(Some(1), true), (None, false)] {
        group.allow(allowed);
        let processors = if has_quota { 1 } else { 2 };
        for (arguments, text) in [
            ("machine", format!("a pool gets {processors} worker")),
            ("run fib 15 --repeat 1", format!(" {processors} worker")),
            (
                "exec --how count -- true",
                format!("up to {processors} processor"),
            ),
        ] {
            let mut command = below(&group, &home, arguments);
            command.env("TIDEGATE_EXPLAIN", "1");
            command.env_remove("OMP_NUM_THREADS");
            let output = command.output().expect("it starts");
            let told = [output.stdout, output.stderr].concat();
            let told = String::from_utf8(told).expect("text");
            assert!(output.status.success() && told.contains(&text), "{told}");
            assert_eq!(told.contains(&why), has_quota, "{arguments}: {told}");
        }
    }
}

/// Starts a program that spins in two processes, below a command that confines it by a quota of
/// its own. Returns both, the program's processes, and the program's cgroup.
fn spinning(group: &Cgroup, home: &Home) -> (Running, [i32; 2], PathBuf) {
    let spins = "while :; do :; done";
    let mut command = below(group, home, "exec --how quota -- sh -c");
    command.arg(format!("({spins}) & echo $! $$; {spins}"));
    let child = command.stdout(Stdio::piped()).spawn();
    let mut command = Running(child.expect("it starts"));
    let mut line = String::new();
    let output = command.0.stdout.take().expect("a pipe");
    BufReader::new(output).read_line(&mut line).expect("text");
    let pids = line
        .split_whitespace()
        .map(|pid| pid.parse().expect("a number"));
    let pids: Vec<i32> = pids.collect();
    let name = format!("tidegate-exec-{}", command.0.id());
    let leaf = group.folder().join(name);
    (command, pids.try_into().expect("two numbers"), leaf)
}

fn read(folder: &Path, file: &str) -> String {
    let text = fs::read_to_string(folder.join(file));
    text.unwrap_or_default().trim().to_owned()
}

#[test]
fn program_starts_within_its_cgroup() {
    let Some(group) = Cgroup::of_version_2("start") else {
        return;
    };
    let arguments = "exec --how quota -- grep -c :.*/tidegate-exec-[0-9]*$ /proc/self/cgroup";
    let output = below(&group, &Home::new(), arguments).output();
    assert_eq!(output.expect("it starts").stdout, b"1\n");
}

#[test]
fn quota_of_a_program_is_set_lifted_and_removed() {
    let Some(_) = two_processors() else { return };
    for is_killed in [false, true] {
        let Some(group) = Cgroup::of_version_2("exec") else {
            return;
        };
        let home = Home::new();
        let (mut command, pids, leaf) = spinning(&group, &home);
        let quota = || read(&leaf, "cpu.max");
        let cpus = |folder| read(folder, "cpuset.cpus.effective");
        let is_lifted = || quota().starts_with("max ") && cpus(&leaf) == cpus(group.folder());
        let rival = home.job("");
        eventually(|| quota() == "20000 20000");
        // The kernel counts the periods in which it stopped the program.
        eventually(|| !read(&leaf, "cpu.stat").contains("nr_throttled 0"));
        let inside = read(&leaf, "cgroup.procs");
        let is_inside = |pid: &i32| inside.lines().any(|line| line == pid.to_string());
        let are_all = pids.iter().all(is_inside) && inside.lines().count() == pids.len();
        assert!(are_all, "{pids:?}: {inside}");
        drop(rival);
        eventually(is_lifted);
        let _rival = home.job("");
        eventually(|| quota() == "20000 20000");
        if is_killed {
            command.kill();
            eventually(is_lifted);
            continue;
        }
        for pid in pids {
            kill(Pid::from_raw(pid), Signal::SIGKILL).expect("it runs");
        }
        command.0.wait().expect("a child");
        let left = fs::read_dir(group.folder()).expect("a folder").flatten();
        let left: Vec<_> = left.filter(|entry| entry.path().is_dir()).collect();
        assert!(left.is_empty(), "{left:?}");
        assert_eq!(read(group.folder(), "cgroup.subtree_control"), "");
    }
}
