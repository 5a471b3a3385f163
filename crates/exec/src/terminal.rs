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
    /// The group of the command.
    own: Pid,
    /// Whether to lend the terminal whenever the command is in the foreground.
    is_needed: bool,
    /// The group to which the terminal is lent. It may have given it to a job of its own.
    borrower: Option<Pid>,
    /// The signals that the program got from the command while the terminal was lent. Other
    /// processes have sent them, because the keys reach only the borrower.
    sent: SigSet,
}

impl Terminal {
    /// Opens the controlling terminal.
    pub fn open() -> Self {
        let own = getpgrp();
        let is_alone = own == getpid();
        Self {
            tty: OpenOptions::new()
                .read(true)
                .write(true)
                .open("/dev/tty")
                .ok(),
            own,
            is_needed: is_alone && io::stdin().is_terminal() && io::stdout().is_terminal(),
            borrower: None,
            sent: SigSet::empty(),
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
        // SIGTTOU is blocked, so the second call works from the background, too.
        let is_lent = match tcgetpgrp(tty) {
            Ok(front) if front == self.own => tcsetpgrp(tty, group).is_ok(),
            Ok(front) => front == group,
            Err(_) => false,
        };
        if is_lent && self.borrower.is_none() {
            self.borrower = Some(group);
            self.sent.extend(&pending_keys(group));
        }
        is_lent
    }

    /// Forwards a signal that the command has received to the program's `group`.
    pub fn pass_on(&mut self, group: Pid, signal: Signal) {
        if self.borrower.is_some() {
            self.sent.add(signal);
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
        self.take_back();
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

    /// Takes the terminal back after the program has ended by `signal`, if any. The keys reach only
    /// the group that has the terminal, but the other processes of the command's group, such as a
    /// script, must end as well. What the command has forwarded was meant only for the program. A
    /// request that is pending is answered, because no other process would do it later.
    pub fn end(&mut self, signal: Option<i32>, signals: &Signals) {
        let is_key = |key: &Signal| Some(*key as i32) == signal && !self.sent.contains(*key);
        let key = KEYS.into_iter().find(is_key);
        if let (true, Some(key)) = (self.take_back(), key) {
            forward(self.own, key);
        }
        if signals.take_request() {
            self.answer();
        }
    }

    /// Continues the group, one of whose processes has requested the terminal, if the group has the
    /// terminal. Returns whether it does.
    fn answer(&self) -> bool {
        let tty = self.tty.as_ref();
        let is_met = tty.is_some_and(|tty| tcgetpgrp(tty) == Ok(self.own));
        if is_met {
            forward(self.own, Signal::SIGCONT);
        }
        is_met
    }

    /// Takes the terminal back if the program has it, and not if a shell has taken it meanwhile.
    /// Returns whether the program had it.
    fn take_back(&mut self) -> bool {
        let (Some(group), Some(tty)) = (self.borrower, &self.tty) else {
            return false;
        };
        let is_back = tcgetpgrp(tty) == Ok(group) && tcsetpgrp(tty, self.own).is_ok();
        if is_back {
            self.borrower = None;
        }
        is_back
    }

    /// Decides what to do after `signal` has stopped the program: lends it the terminal and
    /// continues it if it was stopped for want of the terminal, and otherwise stops the command's
    /// group as well, so that the shell sees a stopped job.
    pub fn stopped(&mut self, group: Pid, signal: Signal, signals: &Signals) {
        let wants = matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU);
        if wants && self.lend(group) {
            forward(group, Signal::SIGCONT);
            return;
        }
        // Without a terminal, no shell would continue the command. A SIGSTOP comes from another
        // process and not from the terminal; but the user of the terminal must get it back.
        let is_from_elsewhere = signal == Signal::SIGSTOP && self.borrower.is_none();
        if self.tty.is_none() || is_from_elsewhere {
            return;
        }
        self.take_back();
        // If a job of the program has the terminal, the shell takes it from that.
        self.borrower = None;
        let may_run = if wants {
            self.request(group, signal, signals)
        } else {
            signals.stop_own_group(Signal::SIGTSTP, AT_ONCE);
            true
        };
        // No shell can continue the command, and the program would only be stopped again. So the
        // command, its parent, leaves the session: then the kernel does not stop the program, but
        // reports an error to it. The leader of a group cannot leave, and the program stays stopped.
        if may_run || setsid().is_ok() {
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
