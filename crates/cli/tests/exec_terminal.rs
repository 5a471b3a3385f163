//! Tests `tidegate exec` on a pseudo terminal, under an interactive shell.
#![cfg(target_os = "linux")]

#[path = "support/jobs.rs"]
mod jobs;
mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use jobs::{Home, PATIENCE, Running, eventually};
use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The shell's prompt.
const PROMPT: &str = "shell> ";

/// An interactive shell with job control, which has a terminal of its own.
struct Shell {
    child: Running,
    _home: Home,
    keys: File,
    output: Receiver<Vec<u8>>,
    /// What the shell and its programs have printed, and no test has waited for yet.
    seen: String,
}

impl Shell {
    fn start() -> Self {
        let mut shell = Self::of("sh", &["-i"]);
        shell.wait_for(PROMPT);
        // Without echo, the output contains only what programs print.
        shell.press("stty -echo\n");
        shell.wait_for(PROMPT);
        shell
    }

    /// Starts a program that leads a session, as a shell does.
    fn of(program: &str, arguments: &[&str]) -> Self {
        let home = Home::new();
        let pair = openpty(None, None).expect("a pseudo terminal");
        // Use copies, because they are closed on exec.
        let keys = File::from(pair.master.try_clone().expect("one more of it"));
        let terminal = || Stdio::from(pair.slave.try_clone().expect("one more of it"));
        // Gives the program a session, whose terminal is its standard input.
        let mut command = Command::new("setsid");
        command.args(["--ctty", program]).args(arguments);
        command
            .env("TIDEGATE_TABLE", home.table())
            .env("PS1", PROMPT)
            .env_remove("ENV");
        command.env("TIDEGATE", env!("CARGO_BIN_EXE_tidegate"));
        command
            .stdin(terminal())
            .stdout(terminal())
            .stderr(terminal());
        let child = command.spawn().expect("setsid is part of util-linux");
        let mut reader = keys.try_clone().expect("one more of it");
        let (sender, output) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child: Running(child),
            _home: home,
            keys,
            output,
            seen: String::new(),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it reads");
    }

    /// Waits until `text` is printed. Returns what was printed up to its end.
    fn wait_for(&mut self, text: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            let left = PATIENCE.saturating_sub(start.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("{text:?} is missing in {:?}", self.seen),
            }
        }
    }

    /// Lets the shell print the exit code of the last command.
    fn wait_for_code(&mut self, code: u8) {
        self.wait_for(PROMPT);
        self.press("echo \"code <$?>\"\n");
        self.wait_for(&format!("code <{code}>"));
        self.wait_for(PROMPT);
    }
}

fn is_without_bash() -> bool {
    let is_missing = Command::new("bash").arg("--version").output().is_err();
    if is_missing {
        eprintln!("skipped: there is no bash");
    }
    is_missing
}

fn state(pid: &str) -> Option<char> {
    stat(pid)?.first()?.chars().next()
}

/// Returns what the kernel says about a process, without its number and name.
fn stat(pid: &str) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

/// Returns whether `signal` waits in a process that blocks it or is stopped.
fn is_pending(pid: &str, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let mut lines = status.lines();
    let set = lines.find_map(|line| line.strip_prefix("ShdPnd:\t"));
    let set = u64::from_str_radix(set.expect("a set"), 16).expect("a number");
    set & 1 << (signal as i32 - 1) != 0
}

fn send(pid: &str, signal: Signal) {
    let pid = Pid::from_raw(pid.parse().expect("a number"));
    kill(pid, signal).expect("it runs");
}

/// Returns a part of a script that waits until the file exists.
fn until(file: &Path) -> String {
    format!("until [ -e {} ]; do sleep 0.01; done", file.display())
}

/// Waits until the command's parent is in another session, because the shell between them has ended.
fn wait_for_orphan(command: &str) {
    eventually(|| {
        let session = |pid: &str| stat(pid).map(|fields| fields[SESSION].clone());
        let parent = &stat(command).expect("it runs")[PARENT];
        session(parent).is_none_or(|parent| Some(parent) != session(command))
    });
}

const PARENT: usize = 1;
const SESSION: usize = 3;

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_Z: &str = "\x1a";

#[test]
fn program_reads_from_the_terminal() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sed -u 's/.*/<&>/'\n");
    shell.press("word\n");
    shell.wait_for("<word>");
    shell.press(CTRL_D);
    shell.wait_for_code(0);
}

/// Programs such as `wget` write to a file instead if they are not in the foreground.
#[test]
fn lone_program_starts_in_the_foreground() {
    let mut shell = Shell::start();
    // Fields 5 and 8 are the process group and the group in the terminal's foreground.
    let look = "read -r s </proc/$$/stat; set -- $s; [ $5 != $8 ]";
    shell.press(&format!(
        "$TIDEGATE exec -- sh -c 'while {look}; do :; done; exit 7'\n"
    ));
    shell.wait_for_code(7);
}

#[test]
fn ctrl_c_reaches_the_program() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'echo ready; exec cat'\n");
    shell.wait_for("ready");
    shell.press(CTRL_C);
    shell.wait_for_code(130);
    shell.press(
        "$TIDEGATE exec -- sh -c 'trap \"exit 7\" INT; echo ready; while :; do read x; done'\n",
    );
    shell.wait_for("ready");
    shell.press(CTRL_C);
    shell.wait_for_code(7);
}

#[test]
fn ctrl_z_stops_and_fg_continues() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'echo ready; exec sed -u s/.*/[\\&]/'\n");
    shell.wait_for("ready");
    for word in ["one", "two", "three"] {
        // The program has the terminal for certain only once it has read a line.
        shell.press(&format!("{word}\n"));
        shell.wait_for(&format!("[{word}]"));
        shell.press(CTRL_Z);
        shell.wait_for("Stopped");
        shell.wait_for(PROMPT);
        shell.press("fg\n");
        // The shell prints the command line of the job that it continues.
        shell.wait_for("exec");
    }
    shell.press(CTRL_D);
    shell.wait_for_code(0);
}

/// A job in the background stops when it reads; it gets the terminal when the shell brings it to
/// the foreground.
#[test]
fn background_job_stops_when_it_reads() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'sed -u s/.*/[\\&]/; exit 7' &\n");
    shell.wait_for(PROMPT);
    let mut jobs = String::new();
    while !jobs.contains("Stopped") {
        shell.press("jobs\n");
        jobs = shell.wait_for(PROMPT);
    }
    shell.press("fg\n");
    shell.wait_for("exec");
    shell.press("word\n");
    shell.wait_for("[word]");
    shell.press(CTRL_D);
    shell.wait_for_code(7);
}

/// A pager at the end of the pipeline needs the terminal, and Ctrl-C must reach both programs.
#[test]
fn pipeline_keeps_the_terminal() {
    let mut shell = Shell::start();
    let pager = "read x; echo $x; read y </dev/tty; echo got $y; read z";
    shell.press("$TIDEGATE exec -- sh -c 'echo ready; exec sleep 1000' | ");
    shell.press(&format!("sh -c '{pager}'\n"));
    shell.wait_for("ready");
    shell.press("word\n");
    shell.wait_for("got word");
    shell.press(CTRL_C);
    shell.wait_for(PROMPT);
}

/// The program gets the terminal first, and the pager needs it afterwards.
#[test]
fn pager_gets_the_terminal_back() {
    let mut shell = Shell::start();
    let program = "read x </dev/tty; echo ready; exec sleep 1000";
    let pager = "read x; read y </dev/tty; echo got $y; read z";
    shell.press(&format!(
        "$TIDEGATE exec -- sh -c '{program}' | sh -c '{pager}'\n"
    ));
    shell.press("one\n");
    shell.press("word\n");
    shell.wait_for("got word");
    shell.press(CTRL_C);
    shell.wait_for(PROMPT);
}

/// In a script, Ctrl-C must end the script as well.
#[test]
fn ctrl_c_ends_the_script() {
    let mut shell = Shell::start();
    shell.press("sh -c '$TIDEGATE exec -- sh -c \"echo ready; exec sleep 1000\"; echo wrong'\n");
    shell.wait_for("ready");
    shell.press(CTRL_C);
    shell.wait_for_code(130);
}

/// `bash` ends a loop only if SIGINT has ended the command, not if the command exits.
#[test]
fn ctrl_c_ends_a_loop_in_bash() {
    if is_without_bash() {
        return;
    }
    let mut shell = Shell::start();
    let body = "$TIDEGATE exec -- sh -c \"echo ready; exec sleep 1000\"; echo wrong";
    shell.press(&format!(
        "bash -c 'for i in 1 2; do {body}; done; exit 7'\n"
    ));
    shell.wait_for("ready");
    shell.press(CTRL_C);
    shell.wait_for_code(130);
}

/// Ctrl-C reaches only the program that has the terminal, and must end the script all the same.
#[test]
fn ctrl_c_ends_a_script_whose_program_has_read() {
    if is_without_bash() {
        return;
    }
    let mut shell = Shell::start();
    let program = "read x </dev/tty; echo \\\"<\\$x>\\\"; exec sleep 1000";
    shell.press(&format!(
        "bash -c '$TIDEGATE exec -- sh -c \"{program}\"; echo wrong; exit 7'\n"
    ));
    shell.press("word\n");
    shell.wait_for("<word>");
    shell.press(CTRL_C);
    shell.wait_for_code(130);
}

/// Ctrl-C has reached both programs before the first one asks for the terminal. Afterwards, it
/// reaches only that one, and must end the other one all the same.
#[test]
fn second_ctrl_c_ends_the_pipeline() {
    let mut shell = Shell::start();
    let ask = "trap - INT; read x </dev/tty; echo lent >/dev/tty; exec sleep 1000";
    let spin = "while :; do sleep 0.01; done";
    shell.press(&format!(
        "$TIDEGATE exec -- sh -c 'trap \"{ask}\" INT; echo ready; {spin}' | "
    ));
    let pager = format!("read x; trap \"echo key\" INT; echo $x; {spin}");
    shell.press(&format!("sh -c '{pager}'\n"));
    shell.wait_for("ready");
    shell.press(CTRL_C);
    shell.wait_for("key");
    shell.press("word\n");
    shell.wait_for("lent");
    shell.press(CTRL_C);
    shell.wait_for("key");
}

/// A signal from another process is not a key, and ends only the program.
#[test]
fn signal_from_elsewhere_does_not_end_the_script() {
    if is_without_bash() {
        return;
    }
    let mut shell = Shell::start();
    let program = "read x </dev/tty; echo \\\"<\\$PPID>\\\"; exec sleep 1000";
    shell.press(&format!(
        "bash -c '$TIDEGATE exec -- sh -c \"{program}\"; echo next; exit 7'\n"
    ));
    shell.press("word\n");
    shell.wait_for("<");
    let command = shell.wait_for(">").replace('>', "");
    send(&command, Signal::SIGINT);
    shell.wait_for("next");
    shell.wait_for_code(7);
}

/// The program ends by the first of two signals only after the second one.
#[test]
fn earlier_signal_from_elsewhere_does_not_end_the_script() {
    if is_without_bash() {
        return;
    }
    let mut shell = Shell::start();
    let traps = "trap \\\"echo got\\\" INT; trap \\\"trap - INT; kill -INT \\$\\$\\\" TERM";
    let program =
        format!("{traps}; read x </dev/tty; echo \\\"<\\$PPID>\\\"; while :; do sleep 0.01; done");
    shell.press(&format!(
        "bash -c '$TIDEGATE exec -- sh -c \"{program}\"; echo next; exit 7'\n"
    ));
    shell.press("word\n");
    shell.wait_for("<");
    let command = shell.wait_for(">").replace('>', "");
    send(&command, Signal::SIGINT);
    shell.wait_for("got");
    send(&command, Signal::SIGTERM);
    shell.wait_for("next");
    shell.wait_for_code(7);
}

/// The program needs the terminal and has been stopped, but its command receives SIGINT before it
/// learns of that.
#[test]
fn signal_just_before_the_loan_does_not_end_the_script() {
    if is_without_bash() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let [program, go] = ["program", "go"].map(|name| folder.path().join(name));
    let wait = until(&go);
    let text = format!("echo \"<$PPID $$>\"\n{wait}\nread x </dev/tty\nexec sleep 60\n");
    fs::write(&program, text).expect("a file");
    let mut shell = Shell::start();
    let program = program.display();
    shell.press(&format!(
        "bash -c '$TIDEGATE exec -- sh {program}; echo next; exit 7'\n"
    ));
    shell.wait_for("<");
    let pids = shell.wait_for(">").replace('>', "");
    let (command, program) = pids.split_once(' ').expect("two numbers");
    send(command, Signal::SIGSTOP);
    fs::write(&go, "").expect("a file");
    eventually(|| state(program) == Some('T'));
    // The command receives the signals in the order of their numbers, so SIGINT before SIGCHLD.
    send(command, Signal::SIGINT);
    send(command, Signal::SIGCONT);
    shell.wait_for("next");
    shell.wait_for_code(7);
}

/// Two commands in a group that no shell could continue. The first one has lent the terminal to its
/// program; the program of the second one reads from it as soon as the file `go` exists.
struct Neighbours {
    shell: Shell,
    first: String,
    go: PathBuf,
    _folder: tempfile::TempDir,
}

impl Neighbours {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let go = folder.path().join("go");
        let first = "read x </dev/tty; echo \"<$PPID>\"; exec sleep 60";
        let wait = until(&go);
        let second = "read x </dev/tty; echo \"code $? <$x>\"";
        let command = "$TIDEGATE exec -- sh -c";
        let script = format!("{command} '{first}' & {wait}; {command} '{second}'; echo done; wait");
        let mut shell = Shell::of("sh", &["-c", &script]);
        shell.press("one\n");
        shell.wait_for("<");
        let first = shell.wait_for(">").replace('>', "");
        Self {
            shell,
            first,
            go,
            _folder: folder,
        }
    }

    fn let_second_read(&self) {
        fs::write(&self.go, "").expect("a file");
    }

    /// Waits until the second program has read a line, and its command has taken the terminal back,
    /// so that the end of the shell ends the first command as well.
    fn end(mut self) {
        self.shell.press("two\n");
        self.shell.wait_for("code 0 <two>");
        self.shell.wait_for("done");
    }
}

#[test]
fn neighbours_without_a_shell_take_turns() {
    let neighbours = Neighbours::start();
    neighbours.let_second_read();
    neighbours.end();
}

/// The first command never sees the first request: SIGCONT discards it.
#[test]
fn lost_request_for_the_terminal_is_repeated() {
    let neighbours = Neighbours::start();
    let first = &neighbours.first;
    send(first, Signal::SIGSTOP);
    eventually(|| state(first) == Some('T'));
    neighbours.let_second_read();
    eventually(|| is_pending(first, Signal::SIGTTIN));
    send(first, Signal::SIGCONT);
    neighbours.end();
}

/// The pager stops the whole job in the background, as if the program were in its group.
#[test]
fn request_in_the_background_stops_the_program() {
    let mut shell = Shell::start();
    let program = "echo \"$PPID $$\"; exec sleep 60";
    let pager = "read x; echo \"<$x>\"; read y </dev/tty; echo \"<$y>\"; read z";
    shell.press(&format!(
        "$TIDEGATE exec -- sh -c '{program}' | sh -c '{pager}' &\n"
    ));
    shell.wait_for("<");
    let pids = shell.wait_for(">").replace('>', "");
    let (command, program) = pids.split_once(' ').expect("two numbers");
    eventually(|| [command, program].map(state) == [Some('T'); 2]);
    shell.press("fg\n");
    eventually(|| [command, program].map(state) == [Some('S'); 2]);
    shell.press("word\n");
    shell.wait_for("<word>");
    shell.press(CTRL_C);
    shell.wait_for(PROMPT);
}

/// The group already has the terminal that one of its processes needs.
#[test]
fn request_that_is_met_does_not_reach_the_program() {
    let mut shell = Shell::start();
    let traps = "trap \"echo request\" TTIN; trap \"echo end; exit\" WINCH";
    let program = format!("{traps}; echo \"<$PPID>\"; while :; do sleep 0.01; done");
    shell.press(&format!("$TIDEGATE exec -- sh -c '{program}' | cat\n"));
    shell.wait_for("<");
    let command = shell.wait_for(">").replace('>', "");
    // The command receives the signals in the order of their numbers.
    send(&command, Signal::SIGTTIN);
    send(&command, Signal::SIGWINCH);
    let seen = shell.wait_for("end");
    assert!(!seen.contains("request"), "{seen}");
}

/// The program has given the terminal to a job of its own when another process needs it.
#[test]
fn loan_outlives_a_request_that_cannot_be_met() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, go] = ["program", "go"].map(|name| folder.path().join(name));
    let job = format!("echo \"<$1>\"; {}", until(&go));
    let text = format!("read x </dev/tty\ntrap '' TTIN\nset -m\nsh -c '{job}' sh $PPID\n");
    fs::write(&program, text).expect("a file");
    let program = program.display();
    let script = format!("$TIDEGATE exec -- sh {program}; read x; echo \"code $? <$x>\"");
    let mut shell = Shell::of("sh", &["-c", &script]);
    shell.press("one\n");
    shell.wait_for("<");
    let command = shell.wait_for(">").replace('>', "");
    send(&command, Signal::SIGTTIN);
    eventually(|| !is_pending(&command, Signal::SIGTTIN));
    fs::write(&go, "").expect("a file");
    shell.press("two\n");
    shell.wait_for("code 0 <two>");
}

/// A command leads a group that no shell could continue. The program of another one needs the
/// terminal, which must not stop the program of the first one.
#[test]
fn orphan_that_needs_no_terminal_runs_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let [script, first, second, go, end] =
        ["script", "first", "second", "go", "end"].map(|name| folder.path().join(name));
    let text = format!("{}\necho done >/dev/tty\n", until(&end));
    fs::write(&first, text).expect("a file");
    let read = "read x </dev/tty\necho \"code <$?>\"\n";
    let text = format!("echo \"<$PPID>\"\n{}\n{read}", until(&go));
    fs::write(&second, text).expect("a file");
    let exec = |program: &Path| format!("$TIDEGATE exec -- sh {}", program.display());
    let text = format!("set -m\n{} | {} &\n", exec(&first), exec(&second));
    fs::write(&script, text).expect("a file");
    let mut shell = Shell::start();
    shell.press(&format!("sh {}\n", script.display()));
    shell.wait_for("<");
    let command = shell.wait_for(">").replace('>', "");
    wait_for_orphan(&command);
    fs::write(&go, "").expect("a file");
    shell.wait_for("code <1>");
    fs::write(&end, "").expect("a file");
    shell.wait_for("done");
}

/// A program in a script gets the terminal when it reads, and the script gets it back.
#[test]
fn script_gets_the_terminal_back() {
    let mut shell = Shell::start();
    shell.press("sh -c '$TIDEGATE exec -- head -n 1; read x; echo \"<$x>\"'\n");
    shell.press("one\n");
    shell.wait_for("one");
    shell.press("two\n");
    shell.wait_for("<two>");
    shell.wait_for_code(0);
}

/// No shell could continue the command, as in a container; so Ctrl-Z has no effect.
#[test]
fn session_leader_does_not_stop() {
    let script = "echo ready; exec sed -u 's/.*/[&]/'";
    let arguments = ["exec", "--", "sh", "-c", script];
    let mut program = Shell::of(env!("CARGO_BIN_EXE_tidegate"), &arguments);
    program.wait_for("ready");
    program.press(CTRL_Z);
    program.press("word\n");
    program.wait_for("[word]");
}

/// No shell could continue the command, so the kernel refuses the terminal to the program, as it
/// would without the command.
#[test]
fn terminal_is_refused_to_an_orphan() {
    let mut shell = Shell::start();
    let folder = tempfile::tempdir().expect("a folder");
    let go = folder.path().join("go");
    let wait = until(&go);
    let program = format!("echo \"<$PPID>\"; {wait}; read x </dev/tty; echo \"code <$?>\"");
    shell.press(&format!("($TIDEGATE exec -- sh -c '{program}' &)\n"));
    shell.wait_for("<");
    let command = shell.wait_for(">").replace('>', "");
    wait_for_orphan(&command);
    fs::write(&go, "").expect("a file");
    shell.wait_for("code <1>");
}

/// The shell has taken the terminal because the command was stopped, while the program ran on.
#[test]
fn shell_keeps_the_terminal_that_it_took() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'echo \"<$PPID $$>\"; exec sleep 1000'\n");
    shell.wait_for("<");
    let pids = shell.wait_for(">").replace('>', "");
    let (command, program) = pids.split_once(' ').expect("two numbers");
    send(command, Signal::SIGSTOP);
    shell.wait_for("Stopped");
    shell.wait_for(PROMPT);
    send(program, Signal::SIGKILL);
    eventually(|| state(program) == Some('Z'));
    shell.press("bg\n");
    eventually(|| matches!(state(command), None | Some('Z')));
    for word in ["one", "two", "three"] {
        shell.press(&format!("echo \"<{word}>\"\n"));
        shell.wait_for(&format!("<{word}>"));
    }
}

/// As the kernel does for a stopped job whose shell has died. Otherwise, the program would stay
/// stopped for good.
#[test]
fn hangup_continues_a_stopped_program() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'echo \"<$$>\"; kill -STOP $$; read x' | cat\n");
    shell.wait_for("<");
    let pid = shell.wait_for(">").replace('>', "");
    eventually(|| state(&pid) == Some('T'));
    shell.child.kill();
    eventually(|| state(&pid).is_none());
}
