//! Tests `tidegate top` on a pseudo terminal and without a terminal.
//!
//! Unit tests cover the drawing. These tests cover the main loop and the restoring of the terminal.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use crate::support::assert_contains;
use crate::support::jobs::{Home, PATIENCE, Running, eventually};
use crate::support::terminal::output_of;
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::Pid;

/// `top` on a terminal with 80 columns and 24 lines.
struct Screen {
    child: Child,
    keys: File,
    /// The program's end of the terminal, from which tests read the terminal's state.
    terminal: OwnedFd,
    output: Receiver<Vec<u8>>,
    /// The screen that a user would see.
    seen: vt100::Parser,
}

/// Starts the program on a pseudo terminal. Returns both ends of the terminal: the test writes keys
/// to the first, and the second belongs to the program.
fn start(home: &Home) -> (Child, File, OwnedFd) {
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    start_with(Some(&size), home)
}

fn start_with(size: Option<&Winsize>, home: &Home) -> (Child, File, OwnedFd) {
    let pair = openpty(size, None).expect("a pseudo terminal");
    // Use copies, because they are closed on exec. If the program inherited the test's end, it
    // would never see that end close.
    let copy = |side: OwnedFd| side.try_clone().expect("one more of it");
    let (keys, screen) = (copy(pair.master), copy(pair.slave));
    let end = || screen.try_clone().expect("one more of it");
    let mut command = home.program("top --every 100ms");
    // Like a shell, give the program its own process group, so that stopping it does not stop the
    // test.
    command.process_group(0);
    let child = command.stdin(end()).stdout(end()).stderr(end()).spawn();
    (child.expect("it starts"), keys.into(), screen)
}

impl Screen {
    fn open(home: &Home) -> Self {
        let (child, keys, terminal) = start(home);
        Self {
            child,
            output: output_of(&keys),
            keys,
            terminal,
            seen: vt100::Parser::new(24, 80, 0),
        }
    }

    fn wait_for(&mut self, text: &str) {
        self.wait_until(|seen| seen.contents().contains(text));
    }

    fn wait_until(&mut self, holds: impl Fn(&vt100::Screen) -> bool) {
        let start = Instant::now();
        while !holds(self.seen.screen()) {
            let left = PATIENCE.saturating_sub(start.elapsed());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen.process(&bytes),
                Err(_) => panic!("this is all:\n{}", self.seen.screen().contents()),
            }
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).expect("it reads");
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id() as i32);
        kill(pid, signal).expect("it runs");
    }

    fn is_stopped(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        stat.expect("it runs").contains(") T ")
    }

    /// Continues the stopped program, and waits until it has taken over the terminal and redrawn
    /// the screen.
    fn go_on(&mut self) {
        self.signal(Signal::SIGCONT);
        self.wait_until(|seen| seen.alternate_screen() && seen.hide_cursor());
        self.wait_for("quit");
        assert!(self.is_raw());
    }

    fn quit(mut self) {
        self.press(b"q");
        assert!(self.end().success());
    }

    fn state(&self) -> Termios {
        tcgetattr(&self.terminal).expect("a terminal")
    }

    fn is_raw(&self) -> bool {
        let state = self.state();
        let kept = LocalFlags::ECHO | LocalFlags::ICANON;
        !state.local_flags.intersects(kept)
    }

    /// Waits until the program has restored the terminal and exited.
    fn end(mut self) -> ExitStatus {
        self.wait_until(|seen| !seen.alternate_screen() && !seen.hide_cursor());
        let status = self.child.wait().expect("it ends");
        assert!(!self.is_raw());
        status
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn quit_keys_restore_the_terminal() {
    let home = Home::new();
    let _job = home.job("");
    for quit in [&b"q"[..], b"\x1b", b"\x03"] {
        let mut screen = Screen::open(&home);
        screen.wait_for("fib");
        screen.wait_until(|seen| seen.alternate_screen() && seen.hide_cursor());
        assert!(screen.is_raw());
        screen.press(b"r");
        screen.wait_for("▲");
        screen.press(quit);
        assert!(screen.end().success());
    }
}

/// The process must still end by the signal that it caught.
#[test]
fn signals_restore_the_terminal() {
    let home = Home::new();
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        let mut screen = Screen::open(&home);
        screen.wait_for("quit");
        screen.signal(signal);
        assert_eq!(screen.end().signal(), Some(signal as i32));
    }
}

#[test]
fn suspending_restores_terminal_and_redraws() {
    let home = Home::new();
    let mut screen = Screen::open(&home);
    screen.wait_for("quit");
    for by_key in [true, false] {
        if by_key {
            screen.press(b"\x1a");
        } else {
            screen.signal(Signal::SIGTSTP);
        }
        eventually(|| screen.is_stopped());
        screen.wait_until(|seen| !seen.alternate_screen() && !seen.hide_cursor());
        assert!(!screen.is_raw());
        screen.go_on();
    }
    screen.quit();
}

/// Other programs have used the terminal while `top` was stopped.
#[test]
fn resuming_takes_the_terminal_back() {
    let home = Home::new();
    let mut screen = Screen::open(&home);
    screen.wait_for("quit");
    screen.signal(Signal::SIGSTOP);
    eventually(|| screen.is_stopped());
    // Change the terminal's state, as a shell would.
    let mut state = screen.state();
    state.local_flags |= LocalFlags::ECHO | LocalFlags::ICANON;
    tcsetattr(&screen.terminal, SetArg::TCSANOW, &state).expect("a terminal");
    screen.seen.process(b"\x1b[?1049l\x1b[?25h\x1b[2J$ ");
    screen.go_on();
    screen.quit();
}

/// The table appears, disappears and becomes damaged while `top` runs.
#[test]
fn table_changes_are_shown() {
    let home = Home::new();
    let mut screen = Screen::open(&home);
    screen.wait_for("no jobs yet");
    let mut job = home.job("");
    screen.wait_for("fib");
    job.kill();
    fs::remove_file(home.table()).unwrap();
    screen.wait_for("no jobs yet");
    fs::create_dir(home.table()).unwrap();
    screen.wait_for("is a folder");
    fs::remove_dir(home.table()).unwrap();
    screen.wait_for("no jobs yet");
    let _job = home.job("");
    screen.wait_for("fib");
    screen.quit();
}

#[test]
fn closed_terminal_ends_top() {
    let (child, mut keys, _terminal) = start(&Home::new());
    let mut running = Running(child);
    // Wait until the program has drawn something.
    keys.read_exact(&mut [0; 64]).expect("it writes");
    drop(keys);
    eventually(|| running.0.try_wait().expect("a child").is_some());
}

#[test]
fn terminal_without_size_is_reported() {
    let (child, mut keys, screen) = start_with(None, &Home::new());
    drop(screen);
    let mut told = String::new();
    // This read fails once the last process has closed the other end of the terminal.
    let _ = keys.read_to_string(&mut told);
    assert_contains(&told, &["it has no size", "stty"]);
    assert_eq!(Running(child).0.wait().expect("a child").code(), Some(3));
}
