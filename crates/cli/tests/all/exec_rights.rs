//! Tests `tidegate exec` where `/proc` or the cgroups are restricted, and as an ordinary user.
#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::complaint;
use crate::support::jobs::{Home, PATIENCE, eventually};
use crate::support::users::{self, User, two_processors};
use nix::unistd::geteuid;

/// Returns `program` in a mount namespace of its own, in which the shell has run `mounts` before,
/// or `None`, with a message, if that is not permitted.
fn mounted(mounts: &str, program: &Command) -> Option<assert_cmd::Command> {
    let unshare = |words: Vec<&OsStr>| {
        let mut command = assert_cmd::Command::new("unshare");
        if !geteuid().is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--mount", "sh", "-c"]);
        command.arg(format!("{mounts} && exec \"$0\" \"$@\""));
        command.args(words);
        command
    };
    let tried = unshare(vec!["true".as_ref()]).output();
    let reason = match tried {
        Ok(output) if output.status.success() => {
            let words = [program.get_program()].into_iter();
            let mut command = unshare(words.chain(program.get_args()).collect());
            for (name, value) in program.get_envs() {
                command.env(name, value.expect("no variable is removed"));
            }
            command.current_dir("/").timeout(PATIENCE);
            return Some(command);
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    eprintln!("skipped: cannot run `{mounts}` in a mount namespace: {reason}");
    None
}

/// Returns `exec` with `options`, which are separated by spaces, and a shell that runs `script`.
fn shell(home: &Home, options: &str, script: &str) -> Command {
    let mut command = home.program(&format!("exec {options} -- sh -c"));
    command.arg(script);
    command
}

/// Runs a command whose program must exit with code 7. Returns the lines of its standard error.
fn seven(command: &mut assert_cmd::Command) -> Vec<String> {
    complaint(command, 7).lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_one_line(lines: &[String], start: &str) {
    assert!(
        matches!(lines, [line] if line.starts_with(&format!("tidegate exec: {start}"))),
        "{lines:?}"
    );
}

/// A script that exits with 7 as soon as the shell that runs it is confined to one processor.
const CONFINED: &str = "for i in $(seq 6000); do \
    grep -q '^Cpus_allowed_list:.[0-9]*$' /proc/$$/status && exit 7; sleep 0.01; done";

mod proc {
    use super::*;

    const UNREADABLE: &str = "the program runs without sharing: cannot read /proc/self/stat: ";

    /// There may be a table already, or not.
    #[test]
    fn missing_proc_costs_one_line() {
        for options in ["", "--how count", "--how quota", "--max 1 --jobserver=2"] {
            let home = Home::new();
            // If the program is followed, this is long enough for a look at it.
            let program = shell(&home, options, "sleep 0.1; exit 7");
            let Some(mut command) = mounted("mount -t tmpfs none /proc", &program) else {
                return;
            };
            assert_one_line(&seven(&mut command), UNREADABLE);
            home.tidegate("exec -- true").assert().success();
            assert!(home.table().exists());
            assert_one_line(&seven(&mut command), UNREADABLE);
        }
    }

    #[test]
    fn unreadable_proc_costs_one_line() {
        let Some(user) = User::ordinary() else { return };
        user.program("exec -- true").output().expect("it starts");
        let mut program = user.program("exec --max 1 -- sh -c");
        program.arg("sleep 0.1; exit 7");
        let mounts = "mount -t tmpfs -o mode=0 none /proc";
        let Some(mut command) = mounted(mounts, &program) else {
            return;
        };
        assert_one_line(&seven(&mut command), UNREADABLE);
    }

    /// `/proc/sys` identifies the start of the machine in the record. Without that, no process
    /// could restore the program if the command died.
    #[test]
    fn missing_parts_cost_one_line() {
        let home = Home::new();
        let program = shell(&home, "--max 1", "sleep 0.1; exit 7");
        let mounts = "mount -t proc -o subset=pid none /proc";
        let Some(mut command) = mounted(mounts, &program) else {
            return;
        };
        assert_one_line(&seven(&mut command), "the program will not be confined: ");
        let left = fs::read_dir(home.table().parent().expect("a folder"));
        assert_eq!(left.expect("a folder").count(), 1, "only the table is left");
    }

    /// The command can neither follow the program any more nor restore it. It must not say that the
    /// program is not confined.
    #[test]
    fn vanished_proc_leaves_the_program_confined() {
        // With one processor, the maximum confines nothing.
        let Some(_) = two_processors() else { return };
        let home = Home::new();
        let told = home.table().with_file_name("told");
        let until = CONFINED.replace("exit 7", "break");
        let vanish = "mount -t tmpfs none /proc";
        // The shell must not outlive the test if it waits in vain.
        let until_told = format!("[ -s '{}' ] && break; sleep 0.01", told.display());
        let wait = format!("for i in $(seq 6000); do {until_told}; done");
        let script = format!("{until}; {vanish}; {wait}; exit 7");
        let program = shell(&home, "--max 1 --how affinity", &script);
        let Some(mut command) = mounted(&format!("exec 2>'{}'", told.display()), &program) else {
            return;
        };
        assert_eq!(seven(&mut command), [""; 0]);
        let lines = fs::read_to_string(told).expect("a file");
        let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
        assert_one_line(&lines, "the program will not be confined any more: ");
        let is_left = lines[0].contains("some threads may stay confined: ");
        assert!(is_left, "{lines:?}");
    }

    /// The processes of the program can be read.
    #[test]
    fn processes_of_others_need_not_be_seen() {
        let Some(user) = User::ordinary() else { return };
        let mut program = user.program("exec --max 1 -- sh -c");
        program.arg(CONFINED);
        let mounts = "mount -t proc -o hidepid=2 none /proc";
        let Some(mut command) = mounted(mounts, &program) else {
            return;
        };
        assert_eq!(seven(&mut command), [""; 0]);
    }

    /// The kernel hides a process from its own user if the user may not read its file. It counts as
    /// ended.
    #[test]
    fn hidden_processes_are_left_alone() {
        let Some(user) = User::ordinary() else { return };
        let hidden = user.copy("sh", 0o711);
        let mounts = "mount -t proc -o hidepid=2 none /proc";
        let mut first = user.program("exec --max 1 --");
        first.arg(&hidden).args(["-c", "sleep 0.1; exit 7"]);
        let mut second = user.program("exec --max 1 -- sh -c");
        let child = format!("{} -c 'sleep 5; :' >/dev/null 2>&1 &", hidden.display());
        second.arg(format!("{child} {CONFINED}"));
        // The hidden process is the program's first one, or a child of that.
        for program in [first, second] {
            let Some(mut command) = mounted(mounts, &program) else {
                return;
            };
            assert_eq!(seven(&mut command), [""; 0]);
        }
    }
}

mod cgroup {
    use super::*;

    /// Returns where the hierarchy of version 2 is mounted, and this process's cgroup below that.
    fn hierarchy() -> Option<(PathBuf, PathBuf)> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
        let fields: Vec<&str> = mount.split(' ').collect();
        let below = Path::new(group).strip_prefix(fields[3]).ok()?;
        Some((fields[4].into(), below.into()))
    }

    /// The cgroup has all controllers, but no child can be made in it.
    #[test]
    fn read_only_cgroup_costs_one_line() {
        let Some((mount, below)) = hierarchy() else {
            eprintln!("skipped: no hierarchy of version 2 is mounted");
            return;
        };
        let groups = tempfile::tempdir().expect("a folder");
        let group = groups.path().join(below);
        fs::create_dir_all(&group).expect("a folder");
        for (file, text) in [
            ("cgroup.controllers", "cpuset cpu\n"),
            ("cgroup.subtree_control", "cpuset cpu\n"),
            ("cgroup.procs", ""),
        ] {
            fs::write(group.join(file), text).expect("a file");
        }
        let (groups, mount) = (groups.path().display(), mount.display());
        let mounts =
            format!("mount --bind '{groups}' '{mount}' && mount -o remount,bind,ro '{mount}'");
        let home = Home::new();
        let run = |options: &str, explain: &str, script: &str| {
            let mut program = shell(&home, options, script);
            program.env("TIDEGATE_EXPLAIN", explain);
            mounted(&mounts, &program).map(|mut command| seven(&mut command))
        };
        let Some(lines) = run("--how quota", "0", "exit 7") else {
            return;
        };
        let cannot = "cannot create ";
        let none = format!("the program will not be confined: {cannot}");
        assert_one_line(&lines, &none);
        assert_eq!(run("--max 1", "0", CONFINED).expect("as before"), [""; 0]);
        let instead = format!("confined by affinity, because it gets no quota: {cannot}");
        for (options, why) in [("--how quota", &none), ("--how auto", &instead)] {
            let lines = run(options, "1", "exit 7").expect("as before");
            let found = lines.iter().filter(|line| line.contains(why));
            assert_eq!((found.count(), lines.len()), (1, 3), "{lines:?}");
        }
    }
}

mod user {
    use super::*;
    use crate::support::users::{Spinning, mask};
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use std::os::unix::process::ExitStatusExt;

    /// An ordinary user has all rights that the command needs.
    #[test]
    fn needs_no_rights() {
        let Some(user) = User::ordinary() else { return };
        let mut command = user.program("exec -- sh -c");
        command.arg("id -u; kill -TERM $$");
        let output = command.output().expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        let signal = Signal::SIGTERM as i32;
        assert_eq!((output.status.signal(), &*told), (Some(signal), ""));
        assert_eq!(output.stdout, b"65534\n");
        assert!(user.table().exists());
    }

    /// The limit would not hold for root. The outer command has reached it.
    #[test]
    fn full_process_limit_is_named() {
        let Some(user) = User::ordinary() else { return };
        let mut command = user.program("exec -- prlimit --nproc=1");
        command.arg(user.tidegate()).args(["exec", "--", "true"]);
        let output = command.output().expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        let expected = "tidegate exec: cannot run \"true\": too many processes of this user";
        assert!(told.starts_with(expected), "{told}");
        assert_eq!((output.status.code(), told.lines().count()), (Some(126), 1));
    }

    #[test]
    fn rivals_part_and_survivor_gets_all_back() {
        let Some(user) = User::ordinary() else { return };
        let Some(two) = two_processors() else { return };
        let [mut one, mut other] = [0, 1].map(|_| Spinning::start(&user, "", ""));
        eventually(|| {
            let masks = [&one, &other].map(|program| mask(program.pid));
            let mut both = masks.concat();
            both.sort_unstable();
            both == two && masks.iter().all(|mask| mask.len() == 1)
        });
        assert_eq!(one.end(), "");
        eventually(|| mask(other.pid) == two);
        assert_eq!(other.end(), "");
    }

    /// A child that becomes another user before or after it is confined. The command may not change
    /// its processors, and goes on with the others.
    #[test]
    fn process_of_another_user_is_left_alone() {
        let Some(user) = User::ordinary() else { return };
        let Some(two) = two_processors() else { return };
        let setpriv = user.copy("setpriv", 0o4755);
        if !user.becomes_root_by(&setpriv) {
            eprintln!("skipped: the folder's file system ignores the setuid bit");
            return;
        }
        let sleep = format!("{} --reuid=0 sleep 60", setpriv.display());
        let start = format!("{sleep} >/dev/null 2>&1 & echo $!;");
        let mut early = Spinning::start(&user, "", &start);
        let spared = early.number();
        eventually(|| users::is_of_root(spared));
        let go = user.own().join("go");
        let wait = format!("until [ -e {} ]; do :; done; {start}", go.display());
        // The maximum confines it at every moment, whatever the other program desires.
        let mut late = Spinning::start(&user, "--max 1", &wait);
        eventually(|| mask(early.pid).len() == 1 && mask(late.pid).len() == 1);
        fs::write(&go, "").expect("a file");
        let caught = late.number();
        eventually(|| users::is_of_root(caught));
        assert_eq!(mask(spared), two);
        let told = late.end();
        let what = format!("thread {caught} belongs to another user");
        assert!(told.contains(&what) && told.lines().count() == 1, "{told}");
        assert_eq!(mask(caught).len(), 1);
        eventually(|| mask(early.pid) == two);
        assert_eq!(early.end(), "");
        for pid in [spared, caught] {
            kill(Pid::from_raw(pid), Signal::SIGKILL).expect("it sleeps");
        }
    }
}
