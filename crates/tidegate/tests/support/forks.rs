//! Forks, and checks how the children end.
//!
//! A child that hangs is killed after a while; apart from that, no result depends on time. Children
//! end by `_exit`, so that no part of the test harness runs twice.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Once, mpsc};
use std::time::{Duration, Instant};
use tidegate_testkit::{PATIENCE, child, is_child, succeeds};

/// How a child ended.
#[derive(Debug, PartialEq)]
pub enum End {
    /// The child exited with this code.
    Exit(i32),
    /// This signal ended the child.
    Signal(i32),
}

pub const WELL: End = End::Exit(0);
pub const BADLY: i32 = 1;
pub const PANICKED: i32 = 2;

/// Keeps panics in children from printing anything. The default hook takes locks, which another
/// thread may have held during the fork: a thread that prints the backtrace of its panic holds them
/// for long.
fn silence_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let (parent, print) = (std::process::id(), take_hook());
        set_hook(Box::new(move |panic| {
            if std::process::id() == parent {
                print(panic);
            }
        }));
    });
}

/// Forks. Returns `None` in the child, and the child's pid in the parent.
///
/// Each thread of the standard library takes a lock of that library when it starts and when it
/// ends. If another thread of the parent holds this lock during the fork, no thread can start in
/// the child. Such a child is of no use to a test, so this function forks another one.
///
/// The C library gives the stacks of the parent's other threads to the first threads that start in
/// the child. So the child must not use what lies on such a stack.
pub fn fork() -> Option<libc::pid_t> {
    silence_children();
    loop {
        let (mut ours, mut theirs) = UnixStream::pair().expect("two sockets");
        let child = fork_once();
        if child == 0 {
            let starts = catch_unwind(grandchild_can_start_threads).unwrap_or(false);
            theirs
                .write_all(&[starts.into()])
                .expect("the parent reads this");
            if starts {
                return None;
            }
            exit(BADLY);
        }
        drop(theirs);
        let mut starts = [0];
        ours.set_read_timeout(Some(2 * PATIENCE)).expect("not zero");
        // This fails if the child has ended or hangs.
        let _ = ours.read_exact(&mut starts);
        if starts == [1] {
            return Some(child);
        }
        end_of(child);
    }
}

fn fork_once() -> libc::pid_t {
    // SAFETY: the child continues in Rust code that allocates and starts threads, which the C
    // library permits after a fork from a process with threads. The child takes no lock of the test
    // harness that another thread could have held.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork: {}", std::io::Error::last_os_error());
    child
}

/// Whether threads can start in a child of this process, and so in this process, too.
fn grandchild_can_start_threads() -> bool {
    let grandchild = fork_once();
    if grandchild == 0 {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(()));
        let started = receiver.recv_timeout(Duration::from_secs(1));
        exit(if started.is_ok() { 0 } else { BADLY });
    }
    end_of(grandchild) == WELL
}

pub fn exit(code: i32) -> ! {
    // SAFETY: ends the process immediately, no matter what the parent's threads were doing.
    unsafe { libc::_exit(code) }
}

/// Ends the child. Its exit code is [`WELL`] if `check` holds.
pub fn finish(check: impl FnOnce() -> bool) -> ! {
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(true) => exit(0),
        Ok(false) => exit(BADLY),
        Err(_) => exit(PANICKED),
    }
}

/// Waits for a child. Returns how it ended.
pub fn end_of(child: libc::pid_t) -> End {
    let begin = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: `status` is live and writable.
        let ended = unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) };
        assert!(ended >= 0, "waitpid: {}", std::io::Error::last_os_error());
        if ended == child && libc::WIFSIGNALED(status) {
            return End::Signal(libc::WTERMSIG(status));
        }
        if ended == child {
            return End::Exit(libc::WEXITSTATUS(status));
        }
        if begin.elapsed() > PATIENCE {
            // SAFETY: this is our own child, and it has not been waited for yet.
            unsafe { libc::kill(child, libc::SIGKILL) };
            panic!("the child hangs");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Forks a child that calls `check`. Waits for the child and returns how it ended.
pub fn in_child(check: impl FnOnce() -> bool) -> End {
    match fork() {
        None => finish(check),
        Some(child) => end_of(child),
    }
}

/// Part of the message that a child prints before it aborts because it needs the pool's threads, or
/// a lock that one of them held.
pub const NEEDED: &str = "end such a child by exec or exit";

/// Runs the calling test in a separate process. The process must succeed, and its child must print
/// why it was aborted. In that process, returns `false`.
pub fn is_told_alone(test: &str) -> bool {
    if !is_child() {
        let told = succeeds(&child(test, &[]));
        assert!(told.contains(NEEDED), "{told}");
    }
    !is_child()
}
