//! Receives the command's signals, which are meant for the program.
//!
//! The signals are blocked, and the main thread waits for them. A handler would also catch signals
//! that the command's parent has made it ignore (`nohup`), and the program would then start without
//! ignoring them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::libc::signalfd_siginfo;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, poll};

/// The signals that the command receives: SIGCHLD, and all that do not report an error of the
/// command itself, except real-time signals. SIGKILL and SIGSTOP cannot be received.
#[rustfmt::skip]
const RECEIVED: [Signal; 20] = [
    Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGUSR1, Signal::SIGUSR2,
    Signal::SIGALRM, Signal::SIGTERM, Signal::SIGSTKFLT, Signal::SIGCHLD, Signal::SIGCONT,
    Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU, Signal::SIGURG, Signal::SIGXCPU,
    Signal::SIGVTALRM, Signal::SIGPROF, Signal::SIGWINCH, Signal::SIGIO, Signal::SIGPWR,
];

/// A signal that the command has received.
pub struct Received {
    pub signal: Signal,
    /// The process that has sent it; `None` if the kernel has.
    pub sender: Option<Pid>,
}

impl Received {
    fn from(info: &signalfd_siginfo) -> Option<Self> {
        let signal = Signal::try_from(info.ssi_signo as i32).ok()?;
        // Codes of the kernel are positive.
        let sender = (info.ssi_code <= 0).then(|| Pid::from_raw(info.ssi_pid as i32));
        Some(Self { signal, sender })
    }
}

/// The signals that this process receives by waiting for them.
pub struct Signals {
    descriptor: SignalFd,
    /// The signals that were blocked before; the program starts with these.
    pub before: SigSet,
}

impl Signals {
    /// Blocks the signals in this thread, and in those that it creates later.
    ///
    /// # Errors
    /// Returns an error if the process can have no further file descriptor.
    pub fn block() -> nix::Result<Self> {
        let received: SigSet = RECEIVED.into_iter().collect();
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        let descriptor = SignalFd::with_flags(&received, flags)?;
        // If the command has inherited that SIGCHLD is ignored, the kernel would discard the
        // program's exit code. Any handler prevents this; it never runs, as the signal is blocked.
        let _ =
            signal_hook::flag::register(Signal::SIGCHLD as i32, Arc::new(AtomicBool::new(false)));
        // These calls fail only for invalid arguments.
        let before = SigSet::thread_get_mask().unwrap_or_else(|_| SigSet::empty());
        let _ = received.thread_block();
        Ok(Self { descriptor, before })
    }

    /// Waits until there is a signal.
    pub fn wait(&self) {
        // An error, as after a stop, only makes the caller look in vain.
        let _ = poll(&mut [PollFd::new(&self.descriptor, PollFlags::IN)], None);
    }

    /// Receives a signal if there is one.
    pub fn take(&self) -> Option<Received> {
        let info = self.descriptor.read_signal().ok()??;
        Received::from(&info)
    }

    /// Lets the keys that end programs end this one as well, unless they were blocked before. A key
    /// that is pressed after the program's end reaches no other process that could end a script.
    pub fn release_keys(&self) {
        let mut keys: SigSet = [Signal::SIGINT, Signal::SIGQUIT].into_iter().collect();
        for key in self.before.iter() {
            keys.remove(key);
        }
        let _ = keys.thread_unblock();
    }
}

/// Stops the command until it is continued, if the signal is pending and a shell could continue the
/// command's group.
pub fn let_stop(signal: Signal) {
    let only = SigSet::from(signal);
    let _ = only.thread_unblock();
    let _ = only.thread_block();
}
