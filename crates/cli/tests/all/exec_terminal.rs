//! Tests `tidegate exec` on a pseudo terminal, under an interactive shell.
#![cfg(target_os = "linux")]

use std::fs;

use crate::support::jobs::eventually;
use crate::support::terminal::{
    CTRL_C, CTRL_D, CTRL_Z, PROMPT, Shell, foreground, is_pending, is_without_bash,
    job_of_the_program, send, state, until,
};
use nix::sys::signal::Signal;

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
fn ctrl_c_ends_program_and_script() {
    let waits = "sh -c \"echo ready; exec sleep 1000\"; echo wrong";
    let reads = "read x </dev/tty; echo \\\"<\\$x>\\\"; exec sleep 1000";
    let cat = "$TIDEGATE exec -- sh -c 'echo ready; exec cat'";
    let traps =
        "$TIDEGATE exec -- sh -c 'trap \"exit 7\" INT; echo ready; while :; do read x; done'";
    let script = format!("sh -c '$TIDEGATE exec -- {waits}'");
    // `bash` ends a loop only if SIGINT has ended the command, not if the command exits.
    let loops = format!("bash -c 'for i in 1 2; do $TIDEGATE exec -- {waits}; done; exit 7'");
    // The key reaches only the program that has the terminal.
    let reads = format!("bash -c '$TIDEGATE exec -- sh -c \"{reads}\"; echo wrong; exit 7'");
    for (line, typed, shown, code) in [
        (cat, "", "ready", 130),
        (traps, "", "ready", 7),
        (&script, "", "ready", 130),
        (&loops, "", "ready", 130),
        (&reads, "word\n", "<word>", 130),
    ] {
        if line.starts_with("bash") && is_without_bash() {
            continue;
        }
        let mut shell = Shell::start();
        shell.press(&format!("{line}\n"));
        shell.press(typed);
        shell.wait_for(shown);
        shell.press(CTRL_C);
        shell.wait_for_code(code);
    }
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
    eventually(|| {
        shell.press("jobs\n");
        shell.wait_for(PROMPT).contains("Stopped")
    });
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
    let Some(mut shell) = Shell::start_for_bash() else {
        return;
    };
    let program = "read x </dev/tty; echo \\\"<\\$PPID>\\\"; exec sleep 1000";
    shell.press(&format!(
        "bash -c '$TIDEGATE exec -- sh -c \"{program}\"; echo next; exit 7'\n"
    ));
    shell.press("word\n");
    let [command] = shell.words();
    send(&command, Signal::SIGINT);
    shell.wait_for("next");
    shell.wait_for_code(7);
}

/// The program ends by the first of two signals only after the second one.
#[test]
fn earlier_signal_from_elsewhere_does_not_end_the_script() {
    let Some(mut shell) = Shell::start_for_bash() else {
        return;
    };
    let command = survivor(&mut shell, "kill -INT \\$\\$");
    send(&command, Signal::SIGINT);
    shell.wait_for("got");
    send(&command, Signal::SIGWINCH);
    shell.wait_for("next");
    shell.wait_for_code(7);
}

/// The program needs the terminal and has been stopped, but its command receives SIGINT before it
/// learns of that.
#[test]
fn signal_just_before_the_loan_does_not_end_the_script() {
    let Some(mut shell) = Shell::start_for_bash() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let [program, go] = ["program", "go"].map(|name| folder.path().join(name));
    let wait = until(&go);
    let text = format!("echo \"<$PPID $$>\"\n{wait}\nread x </dev/tty\nexec sleep 60\n");
    fs::write(&program, text).expect("a file");
    let program = program.display();
    shell.press(&format!(
        "bash -c '$TIDEGATE exec -- sh {program}; echo next; exit 7'\n"
    ));
    let [command, program] = &shell.words();
    send(command, Signal::SIGSTOP);
    fs::write(&go, "").expect("a file");
    eventually(|| state(program) == Some('T'));
    // The command receives the signals in the order of their numbers, so SIGINT before SIGCHLD.
    send(command, Signal::SIGINT);
    send(command, Signal::SIGCONT);
    shell.wait_for("next");
    shell.wait_for_code(7);
}

/// Runs a program in a script on a shell's terminal. It survives SIGINT, which it reports by `got`,
/// and reads a line, after which it prints the number of its command. At SIGWINCH, it does `then`.
fn survivor(shell: &mut Shell, then: &str) -> String {
    let traps = format!("trap \\\"echo got\\\" INT; trap \\\"trap - INT; {then}\\\" WINCH");
    let program =
        format!("{traps}; read x </dev/tty; echo \\\"<\\$PPID>\\\"; while :; do sleep 0.01; done");
    shell.press(&format!(
        "bash -c '$TIDEGATE exec -- sh -c \"{program}\"; echo next; exit 7'\n"
    ));
    shell.press("word\n");
    let [command] = shell.words();
    command
}

/// Another process needs the terminal while the program cleans up after Ctrl-C.
#[test]
fn ctrl_c_before_a_request_ends_the_script() {
    let Some(mut shell) = Shell::start_for_bash() else {
        return;
    };
    let command = survivor(&mut shell, "kill -INT \\$\\$");
    shell.press(CTRL_C);
    shell.wait_for("got");
    // The command receives the signals in this order.
    send(&command, Signal::SIGTTIN);
    send(&command, Signal::SIGWINCH);
    shell.wait_for_code(130);
}

/// The command has forwarded a signal while the program had the terminal for the first time.
#[test]
fn ctrl_c_in_a_later_loan_ends_the_script() {
    let Some(mut shell) = Shell::start_for_bash() else {
        return;
    };
    let command = survivor(&mut shell, "read x </dev/tty; echo again");
    send(&command, Signal::SIGINT);
    shell.wait_for("got");
    // The command takes the terminal back before it forwards the second signal.
    send(&command, Signal::SIGTTIN);
    send(&command, Signal::SIGWINCH);
    shell.press("word\n");
    shell.wait_for("again");
    shell.press(CTRL_C);
    shell.wait_for_code(130);
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

/// No shell could continue the group, so the stop has no effect. The group has got the signal of a
/// key already: if the commands repeated it, they would stop each other's programs for ever.
#[test]
fn stop_is_not_repeated_to_the_group() {
    let folder = tempfile::tempdir().expect("a folder");
    // It starts no other process: one that stops before its `exec` keeps the shell from stopping.
    let program = folder.path().join("program");
    let text = "trap 'echo continued; exit' CONT\necho \"<$PPID>\"\nwhile :; do :; done\n";
    fs::write(&program, text).expect("a file");
    let program = program.display();
    // The shell runs its trap before the command that follows.
    let script = format!("trap 'echo repeated' TSTP; $TIDEGATE exec -- sh {program}; echo end");
    let mut shell = Shell::of("sh", &["-c", &script]);
    let [command] = shell.words();
    send(&command, Signal::SIGTSTP);
    shell.wait_for("continued");
    let seen = shell.wait_for("end");
    assert!(!seen.contains("repeated"), "{seen}");
}

/// The shell continues the script before the command learns that its program has stopped.
#[test]
fn continuation_outruns_the_stop() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    let text = "trap 'exit 7' CONT\necho \"<$PPID $$>\"\nwhile :; do :; done\n";
    fs::write(&program, text).expect("a file");
    let mut shell = Shell::start();
    let program = program.display();
    shell.press(&format!(
        "sh -c '$TIDEGATE exec -- sh {program}; exit $?'\n"
    ));
    let [command, program] = &shell.words();
    send(command, Signal::SIGSTOP);
    eventually(|| state(command) == Some('T'));
    send(program, Signal::SIGTSTP);
    eventually(|| state(program) == Some('T'));
    // The command receives the signals in the order of their numbers, so SIGCHLD before SIGCONT.
    send(command, Signal::SIGCONT);
    shell.wait_for_code(7);
}

/// The program is stopped while a job of its own has the terminal.
#[test]
fn script_gets_the_terminal_back_after_a_stop() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut shell, [command, program], go) = job_of_the_program(folder.path());
    send(&program, Signal::SIGSTOP);
    eventually(|| state(&program) == Some('T') && !is_pending(&command, Signal::SIGCHLD));
    send(&program, Signal::SIGCONT);
    go();
    shell.press("two\n");
    shell.wait_for("code 0 <two>");
}

/// The shell has taken the terminal because the command was stopped, while the program ran on.
#[test]
fn shell_keeps_the_terminal_that_it_took() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'echo \"<$PPID $$>\"; exec sleep 1000'\n");
    let [command, program] = &shell.words();
    // A command that is stopped while it hands the terminal over takes it from the shell later.
    eventually(|| foreground(program).as_ref() == Some(program));
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
    let [pid] = shell.words();
    eventually(|| state(&pid) == Some('T'));
    shell.child.kill();
    eventually(|| state(&pid).is_none());
}
