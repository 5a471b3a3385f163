//! Tests `tidegate exec` on a pseudo terminal, under an interactive shell.
#![cfg(target_os = "linux")]

use std::fs;

use crate::support::jobs::eventually;
use crate::support::terminal::{
    CTRL_C, CTRL_D, CTRL_Z, Held, PROMPT, Shell, is_missing, is_pending, send, state, until,
    wait_for_orphan,
};
use nix::sys::signal::Signal;

#[test]
fn ctrl_c_ends_program_and_script() {
    let waits = "sh -c \"echo ready; exec sleep 1000\"; echo wrong";
    let cat = "$TIDEGATE exec -- sh -c 'echo ready; exec cat'";
    let traps =
        "$TIDEGATE exec -- sh -c 'trap \"exit 7\" INT; echo ready; while :; do read x; done'";
    let script = format!("sh -c '$TIDEGATE exec -- {waits}'");
    // `bash` ends a loop only if SIGINT has ended the command, not if the command exits.
    let loops = format!("bash -c 'for i in 1 2; do $TIDEGATE exec -- {waits}; done; exit 7'");
    for (line, code) in [(cat, 130), (traps, 7), (&script, 130), (&loops, 130)] {
        if line.starts_with("bash") && is_missing("bash") {
            continue;
        }
        let mut shell = Shell::start();
        shell.press(&format!("{line}\n"));
        shell.wait_for("ready");
        shell.press(CTRL_C);
        shell.wait_for_code(code);
    }
}

/// The command still waits for its watcher.
#[test]
fn key_after_the_end_ends_the_loop() {
    if is_missing("bash") {
        return;
    }
    let mut shell = Shell::start();
    let command = "$TIDEGATE exec --kill-with-command --how count -- sh -c";
    let program = r#"echo \"<\$PPID \$\$>\"; read x"#;
    shell.press(&format!(
        "bash -c 'for i in 1 2; do {command} \"{program}\"; done; exit 7'\n"
    ));
    let [command, program] = &shell.words();
    let children = fs::read_to_string(format!("/proc/{command}/task/{command}/children"));
    let children = children.expect("it runs");
    let watcher = children.split_whitespace().find(|pid| pid != program);
    let held = Held::new(watcher.expect("a watcher"));
    shell.press("\n");
    eventually(|| state(program).is_none());
    shell.press(CTRL_C);
    eventually(|| is_pending(command, Signal::SIGINT));
    drop(held);
    shell.wait_for_code(130);
}

/// The kernel sends it to the program, so the command must not.
#[test]
fn key_reaches_the_program_once() {
    let traps = "trap 'echo key' INT; trap 'echo end; exit' WINCH";
    let script = format!("{traps}; echo \"<$PPID>\"; while :; do sleep 0.01; done");
    let arguments = ["exec", "--", "sh", "-c", &script];
    let mut program = Shell::of(env!("CARGO_BIN_EXE_tidegate"), &arguments);
    let [command] = program.words();
    // The program must have got the first signal before the command could send it another one.
    send(&command, Signal::SIGSTOP);
    program.press(CTRL_C);
    program.wait_for("key");
    // The command receives the signals in the order of their numbers.
    send(&command, Signal::SIGWINCH);
    send(&command, Signal::SIGCONT);
    let seen = program.wait_for("end");
    assert!(!seen.contains("key"), "{seen}");
}

/// Continues the job after Ctrl-Z. A key that follows may reach the shell, unless the program has
/// shown that it runs.
fn continue_job(shell: &mut Shell) {
    shell.wait_for("Stopped");
    shell.wait_for(PROMPT);
    shell.press("fg\n");
    // The shell prints the command line of the job that it continues.
    shell.wait_for("exec");
}

#[test]
fn ctrl_z_stops_and_fg_continues() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'echo ready; exec sed -u s/.*/[\\&]/'\n");
    shell.wait_for("ready");
    for word in ["one", "two", "three"] {
        shell.press(CTRL_Z);
        continue_job(&mut shell);
        shell.press(&format!("{word}\n"));
        shell.wait_for(&format!("[{word}]"));
    }
    shell.press(CTRL_D);
    shell.wait_for_code(0);
}

/// The kernel sends keys to the command's group only.
#[test]
fn keys_reach_a_program_in_a_group_of_its_own() {
    if is_missing("timeout") {
        return;
    }
    let mut shell = Shell::start();
    let script = "trap \"echo go$((1+1))\" CONT; echo ready; while :; do sleep 0.01; done";
    shell.press(&format!(
        "$TIDEGATE exec -- timeout 1000 sh -c '{script}'\n"
    ));
    shell.wait_for("ready");
    shell.press(CTRL_Z);
    continue_job(&mut shell);
    shell.wait_for("go2");
    shell.press(CTRL_C);
    shell.wait_for_code(130);
}

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

/// Stops a pager that shows `first`, continues it, and quits it.
fn stop_and_quit_pager(mut shell: Shell) {
    shell.wait_for("first");
    shell.press(CTRL_Z);
    continue_job(&mut shell);
    shell.wait_for("first");
    shell.press("q");
    shell.wait_for_code(0);
}

/// A pager changes the settings of the terminal, which stops it if it is in the background.
#[test]
fn pager_shows_a_file() {
    if is_missing("less") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "first\n").expect("a file");
    let mut shell = Shell::start();
    shell.press(&format!("cd {}\n", folder.path().display()));
    shell.press("LESS= $TIDEGATE exec -- less file\n");
    stop_and_quit_pager(shell);
}

/// The pager ends the program by SIGPIPE.
#[test]
fn pager_shows_the_programs_output() {
    if is_missing("less") {
        return;
    }
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- yes first | LESS= less\n");
    stop_and_quit_pager(shell);
}

/// An editor stops its whole group by itself.
#[test]
fn editor_saves_after_a_stop() {
    if is_missing("vim") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "one\n").expect("a file");
    let mut shell = Shell::start();
    shell.press(&format!("cd {}\n", folder.path().display()));
    shell.press("$TIDEGATE exec -- vim -u NONE -N file\n");
    shell.wait_for("one");
    shell.press("Atwo\x1b");
    shell.press(CTRL_Z);
    continue_job(&mut shell);
    shell.wait_for("onetwo");
    shell.press(":wq\n");
    shell.wait_for_code(0);
    assert_eq!(fs::read_to_string(&file).expect("a file"), "onetwo\n");
}

/// The shell continues the script as soon as that has stopped, perhaps before the command stops.
#[test]
fn script_in_between_stops_and_reads() {
    let mut shell = Shell::start();
    let program = r#"echo \"<\$\$>\"; exec sed -u 3q"#;
    shell.press(&format!(
        "sh -c '$TIDEGATE exec -- sh -c \"{program}\"; read x; echo \"<$x>\"; exit 7'\n"
    ));
    let [program] = shell.words();
    for word in ["one", "two", "three"] {
        shell.press(CTRL_Z);
        // A program that has not stopped yet could read what is meant for the shell.
        eventually(|| state(&program) == Some('T'));
        continue_job(&mut shell);
        shell.press(&format!("{word}\n"));
        shell.wait_for(word);
    }
    shell.press("four\n");
    shell.wait_for("<four>");
    shell.wait_for_code(7);
}

/// It makes a group of its own, to which it gives the terminal.
#[test]
fn interactive_shell_runs_below_the_command() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -i\n");
    shell.wait_for(PROMPT);
    shell.press("cat\n");
    shell.press("word\n");
    shell.wait_for("word");
    shell.press(CTRL_C);
    shell.wait_for_code(130);
    shell.press("exit 7\n");
    shell.wait_for_code(7);
}

/// Otherwise, the program would stay stopped for good.
#[test]
fn hangup_continues_a_stopped_program() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'echo \"<$PPID $$>\"; kill -STOP $$; read x' | cat\n");
    let pids: [String; 2] = shell.words();
    eventually(|| pids.iter().all(|pid| state(pid) == Some('T')));
    shell.child.kill();
    eventually(|| pids.iter().all(|pid| state(pid).is_none()));
}

/// The program has stopped again before the command receives SIGCONT. If the command relayed it, the
/// program's children would stay stopped.
#[test]
fn late_continuation_is_not_relayed() {
    let mut shell = Shell::start();
    shell.press("$TIDEGATE exec -- sh -c 'echo \"<$PPID $$>\"; exec sleep 1000'\n");
    let [command, program] = &shell.words();
    let has_stopped = |pid| state(pid) == Some('T');
    send(program, Signal::SIGSTOP);
    eventually(|| has_stopped(program) && has_stopped(command));
    send(program, Signal::SIGCONT);
    send(program, Signal::SIGSTOP);
    eventually(|| has_stopped(program));
    send(command, Signal::SIGCONT);
    eventually(|| has_stopped(command) || !has_stopped(program));
    assert!(has_stopped(program));
}

/// The kernel sends SIGHUP only to the leader of the session.
#[test]
fn hangup_passes_from_the_leader_to_the_program() {
    let script = "echo \"<$$>\"; while :; do echo; sleep 0.01; done";
    let arguments = ["exec", "--", "sh", "-c", script];
    let mut shell = Shell::of(env!("CARGO_BIN_EXE_tidegate"), &arguments);
    let [program] = shell.words();
    let _command = shell.hang_up();
    eventually(|| state(&program).is_none());
}

/// No shell could continue the command, so the kernel refuses the terminal to the program. Another
/// process stops the program and continues it.
#[test]
fn orphan_does_not_stop() {
    let mut shell = Shell::start();
    let folder = tempfile::tempdir().expect("a folder");
    let go = folder.path().join("go");
    let wait = until(&go);
    let program = format!("echo \"<$PPID $$>\"; {wait}; read x </dev/tty; echo \"code <$?>\"");
    shell.press(&format!("($TIDEGATE exec -- sh -c '{program}' &)\n"));
    let [command, program] = shell.words();
    wait_for_orphan(&command);
    send(&program, Signal::SIGSTOP);
    eventually(|| state(&program) == Some('T') && !is_pending(&command, Signal::SIGCHLD));
    send(&program, Signal::SIGCONT);
    fs::write(&go, "").expect("a file");
    shell.wait_for("code <1>");
    eventually(|| state(&command).is_none());
}

/// A command line, what is pressed and then waited for, and the exit code of the line.
type Session = (&'static str, &'static [(&'static str, &'static str)], u8);

const WORD: &[(&str, &str)] = &[("word\n", "word"), (CTRL_D, "")];

const READY: &[(&str, &str)] = &[("", "ready"), ("word\n", "word"), (CTRL_D, "")];

const SESSIONS: [Session; 10] = [
    ("$TIDEGATE exec -- cat", WORD, 0),
    ("cat | $TIDEGATE exec -- cat", WORD, 0),
    ("$TIDEGATE exec -- cat | cat", WORD, 0),
    ("$TIDEGATE exec -- cat | $TIDEGATE exec -- cat", WORD, 0),
    (
        "$TIDEGATE exec -- $TIDEGATE exec -- sed -u s/.*/[\\&]/",
        &[
            ("one\n", "[one]"),
            (CTRL_Z, "Stopped"),
            ("fg\n", "exec"),
            ("two\n", "[two]"),
            (CTRL_C, ""),
        ],
        130,
    ),
    (
        "$TIDEGATE exec -- sh -c 'stty echo; stty -echo; echo ask; read x; echo got $x'",
        &[("", "ask"), ("secret\n", "got secret")],
        0,
    ),
    (
        "seq 9 | LESS= $TIDEGATE exec -- less",
        &[("", "9"), ("q", "")],
        0,
    ),
    (
        "script -qec '$TIDEGATE exec -- sh -c \"echo ready; cat\"' /dev/null",
        READY,
        0,
    ),
    (
        "$TIDEGATE exec -- script -qec 'echo ready; cat' /dev/null",
        READY,
        0,
    ),
    // A shell that starts processes by `vfork` cannot stop while one is stopped before its exec.
    (
        "$TIDEGATE exec -- sh -c \
         'trap \"echo go$((1+1)); exit\" USR1; echo ready; while :; do :; done'",
        &[
            ("", "ready"),
            (CTRL_Z, "Stopped"),
            ("bg\n", "exec"),
            ("kill -USR1 %1\n", "go2"),
            ("wait\n", ""),
        ],
        0,
    ),
];

#[test]
fn sessions_work_in_each_shell() {
    for words in [&["sh", "-i"][..], &["bash", "--norc", "--noediting", "-i"]] {
        if words[0] != "sh" && is_missing(words[0]) {
            continue;
        }
        let mut shell = Shell::interactive(words);
        for (line, steps, code) in SESSIONS {
            if ["less", "script"]
                .iter()
                .any(|it| line.contains(it) && is_missing(it))
            {
                continue;
            }
            println!("{}: {line}", words[0]);
            shell.press(&format!("{line}\n"));
            for (keys, text) in steps {
                shell.press(keys);
                shell.wait_for(text);
            }
            shell.wait_for_code(code);
        }
    }
}
