//! Tests `tidegate exec`: exit codes, streams, signals, and the table.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::jobs::{Home, Running, eventually};
use crate::support::terminal::{is_missing, is_pending, send, state};
use crate::support::{complaint, text};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getpgid};
use tempfile::TempDir;
use tidegate_testkit::{soak, watched};

/// Returns `exec` with `options`, which are separated by spaces, and a shell that runs `script`.
pub fn shell(home: &Home, options: &str, script: &str) -> assert_cmd::Command {
    let mut command = home.tidegate(&format!("exec {options} -- sh -c"));
    command.arg(script);
    command
}

/// Returns a program that prints the status that programs inherit from this process.
fn usual_status() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new("cat");
    command.arg("/proc/self/status");
    command
}

/// Returns the names and masks of the blocked, ignored and caught signals in the status that
/// `command` prints.
fn signal_masks(command: &mut assert_cmd::Command) -> Vec<(String, u64)> {
    let text = text(command);
    let lines = text.lines().filter_map(|line| line.split_once(":\t"));
    let signals = lines.filter(|(name, _)| ["SigBlk", "SigIgn", "SigCgt"].contains(name));
    let mask = |mask| u64::from_str_radix(mask, 16).expect("a mask");
    signals
        .map(|(name, text)| (name.to_owned(), mask(text)))
        .collect()
}

/// Returns the signals that the programs started here do not ignore.
fn heeded(signals: impl IntoIterator<Item = Signal>) -> impl Iterator<Item = Signal> {
    // Under `nohup` and in the background of a script, some signals are ignored. Programs inherit
    // that: such a signal does not end them, and a shell cannot trap it.
    let masks = signal_masks(&mut usual_status());
    let ignored = masks.iter().find(|(name, _)| name == "SigIgn");
    let ignored = ignored.expect("a mask").1;
    let signals = signals.into_iter();
    signals.filter(move |signal| ignored & 1 << (*signal as i32 - 1) == 0)
}

mod codes {
    use super::*;

    #[test]
    fn program_passes_its_code_on() {
        let home = Home::new();
        for code in [0, 1, 2, 7, 77, 126, 127, 128, 255] {
            let mut command = shell(&home, "", &format!("exit {code}"));
            command.assert().code(code).stdout("").stderr("");
        }
    }

    /// The parent sees the signal; a shell shows it as 128 + n.
    #[test]
    fn signal_ends_the_command_as_well() {
        let home = Home::new();
        // These cannot end the command, or do not end a process.
        let others = "SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGCHLD SIGCONT SIGURG SIGWINCH \
                      SIGSTKFLT SIGIO SIGPWR";
        let signals = Signal::iterator().filter(|signal| !others.contains(signal.as_str()));
        for signal in heeded(signals) {
            let script = format!("kill -{} $$", signal as i32);
            // A core of the program is to be possible, and not left behind.
            let cored = "ulimit -S -c $(ulimit -H -c); exec \"$0\" exec -- sh -c \"$1\"";
            let folder = tempfile::tempdir().expect("a folder");
            let mut command = Command::new("sh");
            command
                .args(["-c", cored, env!("CARGO_BIN_EXE_tidegate"), &script])
                .current_dir(&folder)
                .env("TIDEGATE_TABLE", home.table());
            let output = command.output().expect("it starts");
            assert_eq!(output.status.signal(), Some(signal as i32), "{signal}");
            assert!(!output.status.core_dumped(), "{signal}");
            assert!(output.stderr.is_empty(), "{signal}");
        }
    }

    /// `nix` has no names for real-time signals.
    #[test]
    fn real_time_signal_adds_128() {
        let home = Home::new();
        let script = "kill -40 $$";
        shell(&home, "", script).assert().code(168).stderr("");
    }

    /// The kernel would discard the code.
    #[test]
    fn ignored_sigchld_does_not_matter() {
        let home = Home::new();
        let mut command = Command::new("sh");
        command.env("TIDEGATE_TABLE", home.table());
        command.args(["-c", "trap '' CHLD; exec \"$0\" exec -- sh -c 'exit 7'"]);
        command.arg(env!("CARGO_BIN_EXE_tidegate"));
        assert_eq!(command.status().expect("it starts").code(), Some(7));
    }

    #[test]
    fn missing_program_exits_127() {
        let home = Home::new();
        for program in ["no-such-program", "/no/such"] {
            let told = complaint(&mut home.tidegate(&format!("exec -- {program}")), 127);
            let expected = format!("tidegate exec: cannot run \"{program}\": No such file");
            assert!(told.starts_with(&expected), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }

    #[test]
    fn unexecutable_program_exits_126() {
        let home = Home::new();
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("text");
        for content in ["#!/bin/sh\n", "true\n"] {
            fs::write(&file, content).expect("a file");
            fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("a file");
            let told = complaint(home.tidegate("exec --").arg(&file), 126);
            let what = "Permission denied";
            assert!(told.contains(what) && told.lines().count() == 1, "{told}");
        }
    }

    /// `nice`, `env` and shells do so as well, and a file of the path that may not be executed does
    /// not hide another one.
    #[test]
    fn shell_runs_scripts_without_interpreter() {
        let home = Home::new();
        let folders = [0o600, 0o700].map(|mode| {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("no-interpreter");
            fs::write(&file, "printf '%s|' \"$0\" \"$@\"; exit 7\n").expect("a file");
            fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("a file");
            folder
        });
        let file = folders[1].path().join("no-interpreter");
        let path = std::env::join_paths(folders.iter().map(TempDir::path)).expect("a path");
        for name in [Path::new("no-interpreter"), &file] {
            let mut command = home.tidegate("exec --");
            command.arg(name).args(["a b", ""]).env("PATH", &path);
            let expected = format!("{}|a b||", file.display());
            command.assert().code(7).stdout(expected).stderr("");
        }
    }
}

mod streams {
    use super::*;

    #[test]
    fn bytes_pass_unchanged() {
        let home = Home::new();
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let mut command = home.tidegate("exec -- cat");
        let output = command.write_stdin(&*bytes).output().expect("it starts");
        assert!(output.status.success() && output.stderr.is_empty());
        assert!(output.stdout == bytes);
    }

    /// The arguments after `--` are the program's, even if they look like options.
    #[test]
    fn arguments_pass_unchanged() {
        let home = Home::new();
        let mut command = home.tidegate("exec -- printf %s|");
        command.args(["--help", "", "a b", "--"]);
        let told = command.assert().success().stderr("");
        told.stdout("--help||a b|--|");
    }

    /// Like `nice` and `timeout`, the command needs no `--`.
    #[test]
    fn options_end_where_the_program_begins() {
        let home = Home::new();
        let mut command = home.tidegate("exec --max 1 printf %s| --max");
        command.args(["--help", "--", "-x"]);
        let told = command.assert().success().stderr("");
        told.stdout("--max|--help|--|-x|");
    }

    /// The standard library ignores SIGPIPE, and the program must not inherit that.
    #[test]
    fn program_starts_with_usual_signals() {
        let home = Home::new();
        let mut below = home.tidegate("exec -- cat /proc/self/status");
        let plain = signal_masks(&mut usual_status());
        assert_eq!(signal_masks(&mut below), plain);
    }
}

/// A program that runs until a test ends it.
pub struct Started {
    pub command: Running,
    /// Kept here, because waiting for a child closes the child's.
    pub input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    pub home: Home,
}

impl Started {
    /// Starts `script`, and waits until it has printed its first line.
    pub fn new(script: &str) -> (Self, String) {
        Self::with("", "auto", script)
    }

    /// Like `new`, with these options of `exec`, and with this value of `TIDEGATE_SHARE`.
    pub fn with(options: &str, share: &str, script: &str) -> (Self, String) {
        let home = Home::new();
        let mut command = home.program(&format!("exec {options} -- sh -c"));
        command
            .env("TIDEGATE_SHARE", share)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // So that a signal to the group does not reach the tests.
        command.process_group(0);
        let mut child = command.spawn().expect("it starts");
        let mut started = Self {
            input: child.stdin.take(),
            lines: BufReader::new(child.stdout.take().expect("a pipe")),
            command: Running(child),
            home,
        };
        let line = started.line();
        (started, line)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("text");
        line.trim_end().to_owned()
    }

    pub fn pid(&self) -> u32 {
        self.command.0.id()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid() as i32);
        kill(pid, signal).expect("it runs");
    }

    /// Returns the command's children apart from `program`, which is one.
    fn others(&self, program: &str) -> Vec<String> {
        let command = self.pid();
        let children = format!("/proc/{command}/task/{command}/children");
        let children = fs::read_to_string(children).expect("it runs");
        let others = children.split_whitespace().filter(|pid| *pid != program);
        others.map(str::to_owned).collect()
    }

    pub fn code(&mut self) -> Option<i32> {
        self.command.0.wait().expect("a child").code()
    }
}

fn group(pid: &str) -> Pid {
    let pid = Pid::from_raw(pid.parse().expect("a number"));
    getpgid(Some(pid)).expect("it runs")
}

fn has_ended(pid: &str) -> bool {
    matches!(state(pid), None | Some('Z'))
}

mod signals {
    use super::*;

    #[test]
    fn trapped_signals_reach_the_program() {
        let names = [
            "TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "WINCH", "CONT", "URG", "VTALRM",
            "PROF", "IO", "PWR", "XCPU",
        ];
        let signals = names.map(|name| format!("SIG{name}").parse().expect("a signal"));
        for signal in heeded(signals) {
            let name = &signal.as_str()["SIG".len()..];
            // The shell runs a trap only after the program for which it waits has ended, so it
            // reads with a builtin.
            let script = format!("trap 'exit 7' {name}; echo ready; while :; do read line; done");
            let (mut started, _) = Started::new(&script);
            started.signal(signal);
            assert_eq!(started.code(), Some(7), "{name}");
        }
    }

    #[test]
    fn very_many_signals_leave_the_last_one() {
        let script = "trap : USR1; trap 'exit 7' TERM; echo ready; while :; do read line; done";
        let (mut started, _) = Started::new(script);
        (0..2000).for_each(|_| started.signal(Signal::SIGUSR1));
        started.signal(Signal::SIGTERM);
        assert_eq!(started.code(), Some(7));
    }

    /// Either the command ends before it starts the program, or it relays the signal.
    #[test]
    fn no_moment_of_the_start_loses_one() {
        watched(|| {
            let home = Home::new();
            for number in 0..soak(8, "moments of the start") {
                let mut command = home.program("exec -- sleep 1000");
                let child = command.stdout(Stdio::piped()).spawn().expect("it starts");
                thread::sleep(Duration::from_micros(number * 977 % 60_000));
                kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).expect("a child");
                // This waits for the end of all processes that have the pipe.
                let output = child.wait_with_output().expect("a child");
                assert_eq!(output.status.signal(), Some(15), "{number}: {output:?}");
            }
            assert!(home.jobs().is_empty());
        });
    }

    /// Like `kill` of a program that runs without the command.
    #[test]
    fn signal_reaches_only_the_first_process() {
        let script = "trap 'exit 5' TERM; sh -c 'echo $$; exec sleep 1000' & wait";
        let (mut started, child) = Started::new(script);
        started.signal(Signal::SIGTERM);
        assert_eq!(started.code(), Some(5));
        assert!(!has_ended(&child));
        send(&child, Signal::SIGKILL);
    }

    /// A trap that signals its own group would otherwise never end.
    #[test]
    fn signal_from_the_program_does_not_return() {
        let traps = "trap 'echo returned' USR1; trap 'echo end; exit' WINCH";
        let script = format!("{traps}; kill -USR1 $PPID; echo; while :; do read line; done");
        let (mut started, _) = Started::new(&script);
        // The command receives the signals in the order of their numbers.
        started.signal(Signal::SIGWINCH);
        assert_eq!(started.line(), "end");
    }

    /// `exec` keeps the timers of a process.
    #[test]
    fn timer_of_the_caller_ends_the_program() {
        if is_missing("perl") {
            return;
        }
        let home = Home::new();
        let mut command = Command::new("perl");
        command.args(["-e", "alarm 1; exec @ARGV"]);
        command.args([env!("CARGO_BIN_EXE_tidegate"), "exec", "--", "sleep", "60"]);
        command.env("TIDEGATE_TABLE", home.table());
        let status = command.status().expect("it starts");
        assert_eq!(status.signal(), Some(Signal::SIGALRM as i32));
    }

    /// A shell has stopped a child before it becomes the command. The program starts late, because
    /// its folder is the last of a long path.
    #[test]
    fn stopped_child_of_the_caller_stops_no_program() {
        let script = "sleep 1000 >/dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do :; done; \
                      kill -STOP $!; echo $!; \
                      PATH=$1:$PATH; exec \"$0\" exec -- sh -c 'exit 7'";
        let home = Home::new();
        let mut shell = assert_cmd::Command::new("sh");
        shell.args([
            "-c",
            script,
            env!("CARGO_BIN_EXE_tidegate"),
            &"x:".repeat(60_000),
        ]);
        shell
            .env("TIDEGATE_TABLE", home.table())
            .timeout(Duration::from_secs(60));
        let output = shell.output().expect("it starts");
        let child = String::from_utf8(output.stdout).expect("text");
        assert_eq!(state(child.trim()), Some('T'));
        send(child.trim(), Signal::SIGKILL);
        assert_eq!(output.status.code(), Some(7));
    }

    #[test]
    fn default_action_ends_the_program() {
        let (mut started, _) = Started::new("echo ready; exec cat");
        started.signal(Signal::SIGTERM);
        let status = started.command.0.wait().expect("a child");
        assert_eq!(status.signal(), Some(Signal::SIGTERM as i32));
    }

    /// The command starts `make` to learn its version.
    #[test]
    fn waiting_make_does_not_block_them() {
        let home = Home::new();
        let folder = tempfile::tempdir().expect("a folder");
        let make = folder.path().join("make");
        let script = "#!/bin/sh\n>\"$0.begun\"\nwhile [ -e \"$0\" ]; do sleep 0.05; done\n";
        fs::write(&make, script).expect("a file");
        fs::set_permissions(&make, PermissionsExt::from_mode(0o700)).expect("a file");
        let path = std::env::var("PATH").expect("text");
        let mut command = home.program("exec --jobserver=2 -- true");
        command.env("PATH", format!("{}:{path}", folder.path().display()));
        let mut command = Running(command.spawn().expect("it starts"));
        eventually(|| folder.path().join("make.begun").exists());
        kill(Pid::from_raw(command.0.id() as i32), Signal::SIGTERM).expect("it runs");
        eventually(|| matches!(state(&command.0.id().to_string()), Some('Z')));
        let status = command.0.wait().expect("a child");
        assert_eq!(status.signal(), Some(Signal::SIGTERM as i32));
    }

    #[test]
    fn stop_and_continue_reach_the_program() {
        let (mut started, pid) = Started::new("echo $$; exec cat");
        let command = started.pid().to_string();
        started.signal(Signal::SIGTSTP);
        eventually(|| state(&pid) == Some('T'));
        if File::open("/dev/tty").is_ok() {
            eventually(|| state(&command) == Some('T'));
        } else {
            eventually(|| !is_pending(&command, Signal::SIGCHLD));
            started.signal(Signal::SIGWINCH);
            eventually(|| !is_pending(&command, Signal::SIGWINCH));
        }
        started.signal(Signal::SIGCONT);
        eventually(|| state(&pid) != Some('T'));
        let mut input = started.input.take().expect("a pipe");
        input.write_all(b"on\n").expect("it reads");
        assert_eq!(started.line(), "on");
        drop(input);
        assert_eq!(started.code(), Some(0));
    }
}

/// The program is looked for in very many folders, so the signal stops it before its exec.
#[test]
fn stop_before_the_exec_does_not_hold_the_start() {
    let mut command = Home::new().program("exec --how count -- cat");
    command.env("PATH", "/n:".repeat(40_000) + "/usr/bin:/bin");
    command.process_group(0).stdin(Stdio::piped());
    let mut child = Running(command.spawn().expect("it starts"));
    let group = Pid::from_raw(child.0.id() as i32);
    let read = |file: String| fs::read_to_string(format!("/proc/{file}")).expect("it runs");
    let children = || read(format!("{group}/task/{group}/children"));
    eventually(|| !children().is_empty());
    let program = children().trim().to_owned();
    killpg(group, Signal::SIGTSTP).expect("they run");
    eventually(|| read(format!("{program}/comm")) == "cat\n" && state(&program) == Some('T'));
    killpg(group, Signal::SIGCONT).expect("they run");
    assert_eq!(child.0.wait().expect("a child").code(), Some(0));
}

mod processes {
    use super::*;

    /// Each script prints the same whether `$X` is empty or runs the command.
    #[test]
    fn programs_behave_as_without_the_command() {
        let scripts = [
            "X=\"$X $X $X $X $X $X $X $X\"; $X sh -c 'echo nested; exit 5'",
            "echo in >in; $X sh -c 'read x <&5; echo $x; echo out >&7' 5<in 7>&1",
            "$X ls /proc/self/fd | grep -vx 3",
            "$X printf %s \"$(printf '\\1\\377\\n\\t x')\" | od -c",
            "a=$(head -c 120000 /dev/zero | tr '\\0' x); set -- $a $a $a $a $a $a $a $a $a $a $a $a $a $a; \
             $X sh -c 'echo $# ${#14}' sh \"$@\"",
            "yes | head -c 5000000 | $X cat | cksum",
            "{ $X yes; echo $? >code; } | head -n 1; until [ -s code ]; do sleep 0.01; done; cat code",
            "mkdir gone; cd gone; rmdir ../gone; $X sh -c 'echo here'",
            "$X sh -c '(setsid sh -c \"until [ -e go ]; do sleep 0.01; done; echo daemon\" &); exit 3'; \
             echo $?; >go",
            "$X sh -c 'for i in $(seq 200); do (: &); done; echo made'",
            "ulimit -n 40; umask 027; $X sh -c 'ulimit -n; umask'",
            // As under `nohup`.
            "trap '' HUP; $X sh -c 'kill -HUP $$; echo alive'",
        ];
        for script in scripts {
            let outputs = ["", concat!(env!("CARGO_BIN_EXE_tidegate"), " exec --")].map(|x| {
                let (home, folder) = (Home::new(), tempfile::tempdir().expect("a folder"));
                let mut command = Command::new("sh");
                command.args(["-c", script]).current_dir(&folder);
                command.env("X", x).env("TIDEGATE_TABLE", home.table());
                command.output().expect("it starts")
            });
            assert_eq!(outputs[0], outputs[1], "{script}");
            assert!(!outputs[0].stdout.is_empty(), "{script}");
        }
    }

    #[test]
    fn program_is_in_the_commands_group() {
        let (started, program) = Started::new("echo $$; exec cat");
        assert_eq!(group(&program), group(&started.pid().to_string()));
    }

    #[test]
    fn watcher_has_a_readable_name() {
        let script = "echo $$; exec cat";
        let (started, program) = Started::with("--kill-with-command", "auto", script);
        let others = started.others(&program);
        assert_eq!(others.len(), 1, "{others:?}");
        eventually(|| {
            let words = fs::read(format!("/proc/{}/cmdline", others[0])).expect("it runs");
            words == b"tidegate\0exec-watch\0"
        });
    }

    #[test]
    fn many_orphans_leave_no_zombie() {
        let script = "for i in $(seq 200); do (: &); done; echo $$; exec cat";
        let (started, program) = Started::new(script);
        eventually(|| started.others(&program).is_empty());
    }

    /// The kernel gives orphans to the command and not to the first process of the system.
    #[test]
    fn orphans_become_the_commands_children() {
        let script = "sh -c 'sleep 1000 & echo $!'; read line";
        let (mut started, orphan) = Started::new(script);
        let command = started.pid().to_string();
        eventually(|| {
            let status = fs::read_to_string(format!("/proc/{orphan}/status")).expect("it runs");
            status
                .lines()
                .any(|line| line == format!("PPid:\t{command}"))
        });
        // The command waits for them when they end.
        send(&orphan, Signal::SIGKILL);
        eventually(|| !Path::new("/proc").join(&orphan).exists());
        started.input = None;
        assert_eq!(started.code(), Some(1));
    }
}

/// What happens to the program if SIGKILL ends the command.
mod kills {
    use super::*;

    #[test]
    fn program_goes_on_by_default() {
        let (mut started, _) = Started::new("echo $$; exec cat");
        started.command.kill();
        let mut input = started.input.take().expect("a pipe");
        input.write_all(b"on\n").expect("it reads");
        assert_eq!(started.line(), "on");
    }

    /// Starts `script`, which prints the numbers of two processes, and a line for SIGWINCH. Kills the
    /// command after `prepare`, and waits until both processes have ended. They do so whether or not
    /// the program is confined or shares the machine.
    fn end_with_command(script: &str, prepare: impl Fn(&str)) {
        for (options, share) in [("", "auto"), ("--how count", "auto"), ("", "off")] {
            let options = format!("--kill-with-command {options}");
            let (mut started, pids) = Started::with(&options, share, script);
            let pids: Vec<&str> = pids.split(' ').collect();
            // The command only passes signals on once the watcher knows the program.
            started.signal(Signal::SIGWINCH);
            started.line();
            prepare(pids[0]);
            started.command.kill();
            eventually(|| pids.iter().all(|pid| has_ended(pid)));
        }
    }

    #[test]
    fn option_ends_the_whole_program() {
        let script = "trap echo WINCH; exec 3<&0; sh -c 'cat; :' <&3 & echo $$ $!; wait; wait";
        end_with_command(script, |_| ());
    }

    /// The kernel sends SIGHUP to such a program, whose first process may end before the watcher
    /// sees it, so that what is left is known only by its environment.
    #[test]
    fn option_ends_a_stopped_program() {
        let script = "trap echo WINCH; setsid sh -c 'echo '$$' $$; exec sleep 1000' & wait; wait";
        end_with_command(script, |program| {
            killpg(group(program), Signal::SIGSTOP).expect("it runs");
            eventually(|| state(program) == Some('T'));
        });
    }

    #[test]
    fn usual_end_leaves_other_processes() {
        let script = "sleep 1000 >/dev/null & echo $!; read line; exit 7";
        let (mut started, sleeper) = Started::with("--kill-with-command", "auto", script);
        started.input = None;
        assert_eq!(started.code(), Some(7));
        assert!(!has_ended(&sleeper));
        send(&sleeper, Signal::SIGKILL);
    }
}
