//! Tests `tidegate exec` when several processes of its group need the terminal.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::jobs::eventually;
use crate::support::terminal::{
    CTRL_C, Held, PROMPT, Shell, is_pending, job_of_the_program, send, state, until,
    wait_for_orphan,
};
use nix::sys::signal::Signal;

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

/// The command learns of the program's end before it sees the request. The last process of the
/// pipeline ignores the request, so that the shell does not see a stopped job.
#[test]
fn request_at_the_end_is_answered() {
    let folder = tempfile::tempdir().expect("a folder");
    let [program, pager, end, go] =
        ["program", "pager", "end", "go"].map(|name| folder.path().join(name));
    let text = format!("read x </dev/tty\necho \"$PPID $$\"\n{}\n", until(&end));
    fs::write(&program, text).expect("a file");
    let wait = until(&go);
    let text = format!("read x\necho \"<$x $$>\"\n{wait}\nread y </dev/tty\necho \"<$y>\"\n");
    fs::write(&pager, text).expect("a file");
    let [program, pager] = [program, pager].map(|path| path.display().to_string());
    let rest = "(trap '' TTIN; exec cat)";
    let mut shell = Shell::start();
    shell.press(&format!(
        "$TIDEGATE exec -- sh {program} | sh {pager} | {rest}\n"
    ));
    shell.press("one\n");
    let [command, program, pager] = &shell.words();
    let held = Held::new(command);
    fs::write(&end, "").expect("a file");
    eventually(|| state(program) == Some('Z'));
    fs::write(&go, "").expect("a file");
    eventually(|| state(pager) == Some('T') && is_pending(command, Signal::SIGTTIN));
    drop(held);
    shell.press("word\n");
    shell.wait_for("<word>");
}

/// Two commands in a group that no shell could continue. The first one has lent the terminal to its
/// program; the program of the second one reads from it as soon as the file `go` exists. Its command
/// waits for the terminal for ten requests, one second; on a machine on which the first command does
/// not run for that long, these tests fail.
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
        let [first] = shell.words();
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
    let [command, program] = &shell.words();
    eventually(|| [command, program].map(|pid| state(pid)) == [Some('T'); 2]);
    shell.press("fg\n");
    eventually(|| [command, program].map(|pid| state(pid)) == [Some('S'); 2]);
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
    let [command] = shell.words();
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
    let (mut shell, [command, _], go) = job_of_the_program(folder.path());
    send(&command, Signal::SIGTTIN);
    eventually(|| !is_pending(&command, Signal::SIGTTIN));
    go();
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
    let [command] = shell.words();
    wait_for_orphan(&command);
    fs::write(&go, "").expect("a file");
    shell.wait_for("code <1>");
    fs::write(&end, "").expect("a file");
    shell.wait_for("done");
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
    let [command] = shell.words();
    wait_for_orphan(&command);
    fs::write(&go, "").expect("a file");
    shell.wait_for("code <1>");
}
