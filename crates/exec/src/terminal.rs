//! Shares the controlling terminal between the command's process group and the program's.
//!
//! The program runs in a process group of its own, and a terminal serves only one group at a time.
//! It would stop the program (SIGTTIN, SIGTTOU) when it reads from the terminal or changes its
//! settings. So the command lends the terminal:
//!
//! * when the program starts, if the command leads its group and uses the terminal for input and
//!   output, so that it was started alone by an interactive shell;
//! * otherwise when the program has been stopped because it needs the terminal. In a pipeline or a
//!   script, Ctrl-C must reach the other processes of the command's group, and a pager at the
//!   pipeline's end needs the terminal itself. The command forwards Ctrl-C to the program. When
//!   such a pager needs the terminal, the command takes it back.
//!
//! All of this is done only while the shell keeps the command in the foreground.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, getpgrp, getpid, setsid, tcgetpgrp, tcsetpgrp};
use procfs::process::Process;
use rustix::event::Timespec;

use crate::signals::{AT_ONCE, Signals, forward};

/// The signals of the keys that end programs.
const KEYS: [Signal; 2] = [Signal::SIGINT, Signal::SIGQUIT];

/// How often the terminal is requested before the command concludes that no other command of its
/// group can give it back.
const REQUESTS: u32 = 10;
/// How long to wait for another command to answer a request.
const PATIENCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// The controlling terminal, if there is one.
pub struct Terminal {
    tty: Option<File>,
    /// Whether to lend the terminal whenever the command is in the foreground.
    is_needed: bool,
    /// The signals that the command has forwarded since it last lent the terminal, and those of
    /// keys that were pending in the program then. `None` if it has never lent the terminal.
    sent: Option<SigSet>,
}

impl Terminal {
    /// Opens the controlling terminal.
    pub fn open() -> Self {
        let is_alone = getpgrp() == getpid();
        Self {
            tty: OpenOptions::new()
                .read(true)
                .write(true)
                .open("/dev/tty")
                .ok(),
            is_needed: is_alone && io::stdin().is_terminal() && io::stdout().is_terminal(),
            sent: None,
        }
    }

    /// Lends the terminal to the program's `group` if it is needed, after the group has started.
    pub fn offer(&mut self, group: Pid) {
        if self.is_needed {
            self.lend(group);
        }
    }

    /// Lends the terminal to `group`, unless the command is in the background. Returns whether the
    /// group has the terminal.
    fn lend(&mut self, group: Pid) -> bool {
        self.is_needed = true;
        let Some(tty) = &self.tty else { return false };
        // Until the last call, the keys reach the command.
        let pending = pending_keys(group);
        // Nothing stands between the two calls: a shell may take the terminal there.
        let front = tcgetpgrp(tty);
        if front != Ok(getpgrp()) {
            return front == Ok(group);
        }
        let is_lent = tcsetpgrp(tty, group).is_ok();
        if is_lent {
            self.sent = Some(pending);
        }
        is_lent
    }

    /// Forwards a signal that the command has received to the program's `group`.
    pub fn pass_on(&mut self, group: Pid, signal: Signal) {
        if let Some(sent) = &mut self.sent {
            sent.add(signal);
        }
        forward(group, signal);
    }

    /// Continues the program, with the terminal if it is needed, after the command was continued.
    pub fn resume(&mut self, group: Pid) {
        self.offer(group);
        forward(group, Signal::SIGCONT);
    }

    /// Continues the program after it got SIGHUP from the terminal or its shell. If it is stopped,
    /// no other process does: the kernel continues only groups that no process supervises any more.
    pub fn hang_up(&self, group: Pid) {
        if self.tty.is_some() {
            forward(group, Signal::SIGCONT);
        }
    }

    /// Does what SIGTTIN or SIGTTOU requests, which has stopped the command's group, except the
    /// commands in it: another process of the group needs the terminal. If the group cannot get it,
    /// the signal stops the command and the program, too, as if the program were in the group.
    pub fn requested(&mut self, group: Pid, signal: Signal, signals: &Signals) {
        self.take_back(group);
        if self.tty.is_none() {
            // No shell would continue the command.
            forward(group, signal);
        } else if self.answer() {
            self.is_needed = false;
        } else {
            // Another command of the group may be about to give the terminal back.
            if !signals.take_continuation(PATIENCE) {
                forward(group, signal);
                signals.stop_self(signal);
            }
            self.resume(group);
        }
    }

    /// Takes the terminal back after the program has ended by `signal`, if any. A key that ended it
    /// may have reached only the program, but the other processes of the command's group, such as a
    /// script, must end as well. What the command has forwarded has reached the group, too, or was
    /// meant only for the program. A request that is pending is answered, because no other process
    /// would do it later.
    pub fn end(&self, group: Pid, signal: Option<i32>, signals: &Signals) {
        self.take_back(group);
        let is_sent = |key| self.sent.is_none_or(|sent| sent.contains(key));
        let is_key = |key: &Signal| Some(*key as i32) == signal && !is_sent(*key);
        if let Some(key) = KEYS.into_iter().find(is_key) {
            forward(getpgrp(), key);
        }
        if signals.take_request() {
            self.answer();
        }
    }

    /// Continues the group, one of whose processes has requested the terminal, if the group has the
    /// terminal. Returns whether it does.
    fn answer(&self) -> bool {
        let tty = self.tty.as_ref();
        let is_met = tty.is_some_and(|tty| tcgetpgrp(tty) == Ok(getpgrp()));
        if is_met {
            forward(getpgrp(), Signal::SIGCONT);
        }
        is_met
    }

    /// Takes the terminal back if the program's `group` has it, and not if a shell has taken it
    /// meanwhile. Returns whether the group had it.
    fn take_back(&self, group: Pid) -> bool {
        let tty = self.tty.as_ref();
        // SIGTTOU is blocked, so the second call works from the background.
        tty.is_some_and(|tty| tcgetpgrp(tty) == Ok(group) && tcsetpgrp(tty, getpgrp()).is_ok())
    }

    /// Decides what to do after `signal` has stopped the program: lends it the terminal if it was
    /// stopped for want of it, and otherwise stops as well, so that the shell sees a stopped job.
    pub fn stopped(&mut self, group: Pid, signal: Signal, signals: &Signals) {
        // Without a terminal, no shell would continue the command.
        if self.tty.is_none() {
            return;
        }
        if matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU) {
            return self.needed(group, signal, signals);
        }
        if self.take_back(group) {
            // The key has reached only the program.
            signals.stop_own_group(Signal::SIGTSTP, AT_ONCE);
        } else if signal == Signal::SIGSTOP {
            // Another process has sent it, which also continues the program.
            return;
        } else if !signals.take_continuation(AT_ONCE) {
            // If two commands sent the signal to their group again, they would never cease.
            signals.stop_self(Signal::SIGTSTP);
        }
        self.resume(group);
    }

    /// Continues the program, which `signal` has stopped because it needs the terminal. If no shell
    /// can continue the command and no other command returns the terminal, the program would only be
    /// stopped again. So the command, its parent, leaves the session: then the kernel does not stop
    /// the program, but reports an error to it. The leader of a group cannot leave, and the program
    /// stays stopped.
    fn needed(&mut self, group: Pid, signal: Signal, signals: &Signals) {
        if self.lend(group) || self.request(group, signal, signals) || setsid().is_ok() {
            self.resume(group);
        }
    }

    /// Requests the terminal from the other commands of this group, or from the shell by stopping.
    /// A request or its answer may be lost. Returns false if there is no answer.
    fn request(&mut self, group: Pid, signal: Signal, signals: &Signals) -> bool {
        (0..REQUESTS).any(|_| signals.stop_own_group(signal, PATIENCE) || self.lend(group))
    }
}

/// Returns which signals of keys wait in the first process of the stopped program. The command has
/// forwarded them before it learned of the stop.
fn pending_keys(program: Pid) -> SigSet {
    let status = Process::new(program.as_raw()).and_then(|process| process.status());
    // Without `/proc`, such a signal is taken for a key.
    let pending = status.map_or(0, |status| status.shdpnd);
    let is_pending = |key: &Signal| pending & 1 << (*key as i32 - 1) != 0;
    KEYS.into_iter().filter(is_pending).collect()
}
