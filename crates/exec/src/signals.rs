//! Receives the command's signals, which are meant for the program.
//!
//! The signals are blocked, and the main thread waits for them. A handler would also catch signals
//! that the command's parent has made it ignore (`nohup`), and the program would then start without
//! ignoring them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, getpgrp, getpid};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The signals that are passed on: all that do not report an error of the command itself, except
/// real-time signals. SIGKILL and SIGSTOP cannot be received.
const FORWARDED: [Signal; 19] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
    Signal::SIGTERM,
    Signal::SIGSTKFLT,
    Signal::SIGCONT,
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
    Signal::SIGURG,
    Signal::SIGXCPU,
    Signal::SIGVTALRM,
    Signal::SIGPROF,
    Signal::SIGWINCH,
    Signal::SIGIO,
    Signal::SIGPWR,
];

/// The patience of a caller that does not wait.
pub const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// The signals that this process receives by waiting for them.
pub struct Signals {
    received: SigSet,
    /// The signals that were blocked before; the program starts with these.
    pub before: SigSet,
}

impl Signals {
    /// Blocks the signals in this thread, and in those that it creates later.
    pub fn block() -> Self {
        let mut received: SigSet = FORWARDED.into_iter().collect();
        received.add(Signal::SIGCHLD);
        // If the command has inherited that SIGCHLD is ignored, the kernel would discard the
        // program's exit code. Any handler prevents this; it never runs, as the signal is blocked.
        let _ =
            signal_hook::flag::register(Signal::SIGCHLD as i32, Arc::new(AtomicBool::new(false)));
        // These calls fail only for invalid arguments.
        let before = SigSet::thread_get_mask().unwrap_or_else(|_| SigSet::empty());
        let _ = received.thread_block();
        Self { received, before }
    }

    /// Waits for the next signal.
    pub fn wait(&self) -> Signal {
        loop {
            if let Ok(signal) = self.received.wait() {
                return signal;
            }
        }
    }

    /// Stops the process group of the command, as the terminal would, until it is continued. If no
    /// shell could continue the group, the kernel ignores the stop, and this waits for `patience`
    /// instead. Returns whether the command was sent SIGCONT.
    pub fn stop_own_group(&self, signal: Signal, patience: Timespec) -> bool {
        let _ = killpg(getpgrp(), signal);
        self.let_stop(signal);
        self.take_continuation(patience)
    }

    /// Stops only this process, after `signal` has stopped the others of its group, until it is
    /// continued. The kernel ignores this if no shell could continue the group.
    pub fn stop_self(&self, signal: Signal) {
        let _ = kill(getpid(), signal);
        self.let_stop(signal);
        self.take_continuation(AT_ONCE);
    }

    /// This process stops while a signal that is pending is not blocked.
    fn let_stop(&self, signal: Signal) {
        let only = SigSet::from(signal);
        let _ = only.thread_unblock();
        let _ = only.thread_block();
    }

    /// Receives SIGCONT, for which this waits for `patience`. Returns false if it does not come.
    pub fn take_continuation(&self, patience: Timespec) -> bool {
        self.take(SigSet::from(Signal::SIGCONT), patience)
    }

    /// Receives a request of another process for the terminal. Returns false if there is none.
    pub fn take_request(&self) -> bool {
        self.take(
            [Signal::SIGTTIN, Signal::SIGTTOU].into_iter().collect(),
            AT_ONCE,
        )
    }

    fn take(&self, awaited: SigSet, patience: Timespec) -> bool {
        let Ok(pending) = SignalFd::with_flags(&awaited, SfdFlags::SFD_NONBLOCK) else {
            return false;
        };
        // If this fails, the signal may be pending all the same.
        let _ = poll(&mut [PollFd::new(&pending, PollFlags::IN)], Some(&patience));
        matches!(pending.read_signal(), Ok(Some(_)))
    }
}

/// Sends a signal to all processes of the program's group.
pub fn forward(group: Pid, signal: Signal) {
    // An error means that the group has ended, or runs as another user.
    let _ = killpg(group, signal);
}
