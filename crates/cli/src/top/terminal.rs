//! The terminal while it is the screen's, and how it gets back what it was.
//!
//! | way out | who restores |
//! |---|---|
//! | the loop ends, by key or error | the drop of [`Terminal`] |
//! | a panic | ratatui's hook, before the message |
//! | SIGTERM, SIGHUP, SIGINT | [`Signals`]: the loop ends, and after the drop the process dies of the signal |
//! | SIGTSTP, which Ctrl-Z sends to the whole job as elsewhere | the loop, before the process stops; it takes the terminal again after SIGCONT |
//! | SIGSTOP | nobody: a shell has its own ways, and after SIGCONT the loop takes the terminal again |
//! | another one of those that end, as the loop does not come back | nobody: the process dies of it at once |
//! | the terminal is gone | nobody: a thread of [`Signals`] ends the process, as the loop may not come back from reading |

use std::io::{self, stdout};
use std::ops::{Deref, DerefMut};

use ratatui::DefaultTerminal;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{self, EnterAlternateScreen, disable_raw_mode, enable_raw_mode};

/// The terminal, on its second screen and without echo.
pub struct Terminal(DefaultTerminal);

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// If it has no size, as some pseudo terminals that nobody looks at, or cannot be taken.
    pub fn open() -> io::Result<Self> {
        let (columns, lines) = terminal::size()?;
        if columns == 0 || lines == 0 {
            let what = "it has no size; tell it one, as in `stty rows 24 columns 80`";
            return Err(io::Error::other(what));
        }
        ratatui::try_init().map(Self).inspect_err(|_| {
            // Of several steps the first ones may have been taken.
            let _ = ratatui::try_restore();
        })
    }

    /// Makes the terminal what it was.
    pub fn give_back(&mut self) {
        // Where the terminal is gone there is nothing to restore, and nobody to tell.
        let _ = ratatui::try_restore();
        let _ = self.0.show_cursor();
    }

    /// Takes the terminal again, whatever others have made of it, so that the next picture is drawn as a whole.
    ///
    /// # Errors
    /// If it cannot be taken.
    pub fn take_again(&mut self) -> io::Result<()> {
        // First the one: what was made raw once is not looked at by the other.
        disable_raw_mode()?;
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        self.0.clear()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Deref for Terminal {
    type Target = DefaultTerminal;

    fn deref(&self) -> &DefaultTerminal {
        &self.0
    }
}

impl DerefMut for Terminal {
    fn deref_mut(&mut self) -> &mut DefaultTerminal {
        &mut self.0
    }
}

pub use imp::Signals;

#[cfg(unix)]
mod imp {
    use std::io;
    use std::os::fd::AsFd;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::{Pid, getpid, getsid};
    use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGTSTP};
    use signal_hook::{flag, low_level};

    /// Time between two looks whether the terminal is still there, in milliseconds.
    const LOOK: u16 = 1000;

    /// How long the loop may take to end after a signal. It takes a fraction of that, if it ends at all.
    const GRACE: Duration = Duration::from_secs(1);

    /// Signals that end, stop or continue the process, noted instead.
    pub struct Signals {
        ends: Arc<AtomicUsize>,
        stops: Arc<AtomicBool>,
        goes_on: Arc<AtomicBool>,
    }

    impl Signals {
        /// Notes them from here on.
        pub fn note() -> io::Result<Self> {
            let ends = Arc::new(AtomicUsize::new(0));
            let again = Arc::new(AtomicBool::new(false));
            for signal in [SIGTERM, SIGHUP, SIGINT] {
                // In this order: the first one finds the flag down.
                flag::register_conditional_default(signal, Arc::clone(&again))?;
                flag::register(signal, Arc::clone(&again))?;
                flag::register_usize(signal, Arc::clone(&ends), signal as usize)?;
            }
            let noted = |signal| {
                let noted = Arc::new(AtomicBool::new(false));
                flag::register(signal, Arc::clone(&noted)).map(|_| noted)
            };
            let (stops, goes_on) = (noted(SIGTSTP)?, noted(SIGCONT)?);
            let seen = Arc::clone(&ends);
            thread::Builder::new()
                .name("tidegate-hangup".into())
                .spawn(move || end_where_the_loop_cannot(&seen))?;
            Ok(Self {
                ends,
                stops,
                goes_on,
            })
        }

        /// Whether one has come that ends.
        pub fn is_end_noted(&self) -> bool {
            self.ends.load(Ordering::Relaxed) != 0
        }

        /// Does what the one that ends would have done.
        pub fn end(&self) {
            match self.ends.load(Ordering::Relaxed) {
                0 => {}
                signal => obey(signal as i32),
            }
        }

        /// Asks all processes of the job to stop, this one included, as the terminal does at Ctrl-Z where it is not raw.
        pub fn ask_to_stop(&self) {
            // Who leads a session was started by nobody who could continue it.
            if getsid(None) != Ok(getpid()) {
                let whole_job = Pid::from_raw(0);
                // Nobody may refuse that to a process of its own job.
                let _ = kill(whole_job, Signal::SIGTSTP);
            }
        }

        /// Whether one has come that stops; once for each.
        pub fn is_stop_noted(&self) -> bool {
            self.stops.swap(false, Ordering::Relaxed)
        }

        /// Stops the process until it is continued.
        pub fn stop(&self) {
            obey(SIGTSTP);
            // Another thread may take the signal a moment later.
            self.goes_on.store(true, Ordering::Relaxed);
        }

        /// Whether the process has been continued; once for each time.
        pub fn goes_on(&self) -> bool {
            self.goes_on.swap(false, Ordering::Relaxed)
        }
    }

    /// When the terminal has gone away, crossterm reads from it again and again, without end and with all of a processor.
    fn end_where_the_loop_cannot(noted: &AtomicUsize) {
        while noted.load(Ordering::Relaxed) == 0 && !has_hung_up() {}
        thread::sleep(GRACE);
        match noted.load(Ordering::Relaxed) {
            0 => obey(SIGHUP),
            signal => obey(signal as i32),
        }
    }

    /// Waits a while for the terminal to go away.
    fn has_hung_up() -> bool {
        let stdin = io::stdin();
        // Asked for nothing, the kernel tells of that alone.
        let mut asked = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
        match poll(&mut asked, PollTimeout::from(LOOK)) {
            Ok(1..) => asked[0].any().unwrap_or(true),
            _ => false,
        }
    }

    /// Does what the signal does to who has not noted it.
    fn obey(signal: i32) {
        // Where that cannot be done, there is nothing more to try.
        let _ = low_level::emulate_default_handler(signal);
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;

    /// There are none.
    pub struct Signals;

    impl Signals {
        pub fn note() -> io::Result<Self> {
            Ok(Self)
        }

        pub fn is_end_noted(&self) -> bool {
            false
        }

        pub fn end(&self) {}

        pub fn ask_to_stop(&self) {}

        pub fn is_stop_noted(&self) -> bool {
            false
        }

        pub fn stop(&self) {}

        pub fn goes_on(&self) -> bool {
            false
        }
    }
}
