//! Takes over the terminal for the screen, and restores it.
//!
//! | event | restored by |
//! |---|---|
//! | the loop ends, by key or error | the drop of [`Terminal`] |
//! | a panic | ratatui's hook, before it prints the message |
//! | SIGTERM, SIGHUP, SIGINT | [`Signals`]: the loop ends, then the signal ends the process |
//! | SIGTSTP, also from Ctrl-Z | the loop, before it stops; it retakes the terminal after SIGCONT |
//! | SIGSTOP | the shell; the loop retakes the terminal after SIGCONT |
//! | a second ending signal while the loop hangs | nothing: the process ends immediately |
//! | the terminal is gone | nothing: a thread ends the process, because the loop may hang |

use std::io::{self, stdout};
use std::ops::{Deref, DerefMut};

use ratatui::DefaultTerminal;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{self, EnterAlternateScreen, disable_raw_mode, enable_raw_mode};

/// The terminal, switched to its alternate screen and without echo.
pub struct Terminal(DefaultTerminal);

impl Terminal {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// If the terminal cannot be taken over, or has no size, like some pseudo terminals without a
    /// viewer.
    pub fn open() -> io::Result<Self> {
        let (columns, lines) = terminal::size()?;
        if columns == 0 || lines == 0 {
            let what = "it has no size; tell it one, as in `stty rows 24 columns 80`";
            return Err(io::Error::other(what));
        }
        ratatui::try_init().map(Self).inspect_err(|_| {
            // Some of the steps may have succeeded, so undo them.
            let _ = ratatui::try_restore();
        })
    }

    pub fn give_back(&mut self) {
        // An error means that the terminal is gone, so there is nothing to restore.
        let _ = ratatui::try_restore();
        let _ = self.0.show_cursor();
    }

    /// Takes over the terminal again, whatever its state, and makes the next update draw the whole
    /// screen.
    ///
    /// # Errors
    /// If the terminal cannot be taken over.
    pub fn take_again(&mut self) -> io::Result<()> {
        // If raw mode were not disabled first, enabling it might have no effect.
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

    /// The time between two checks that the terminal still exists, in milliseconds.
    const LOOK: u16 = 1000;

    /// How long the loop may take to end after a signal. It takes a fraction of this unless it
    /// hangs.
    const GRACE: Duration = Duration::from_secs(1);

    /// Catches signals that end, stop or continue the process.
    pub struct Signals {
        ends: Arc<AtomicUsize>,
        stops: Arc<AtomicBool>,
        goes_on: Arc<AtomicBool>,
    }

    impl Signals {
        /// Starts catching signals.
        pub fn note() -> io::Result<Self> {
            let ends = Arc::new(AtomicUsize::new(0));
            let again = Arc::new(AtomicBool::new(false));
            for signal in [SIGTERM, SIGHUP, SIGINT] {
                // The order matters: a first signal must not find the flag set, so that only a
                // second signal ends the process immediately.
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

        /// Returns whether a caught signal has requested the end of the process.
        pub fn is_end_noted(&self) -> bool {
            self.ends.load(Ordering::Relaxed) != 0
        }

        /// Ends the process in the way in which the caught signal would have ended it.
        pub fn end(&self) {
            match self.ends.load(Ordering::Relaxed) {
                0 => {}
                signal => obey(signal as i32),
            }
        }

        /// Sends a stop signal to all processes of the shell job, including this one, because a
        /// terminal in raw mode does not do so on Ctrl-Z.
        pub fn ask_to_stop(&self) {
            // No shell could continue a session leader.
            if getsid(None) != Ok(getpid()) {
                let whole_job = Pid::from_raw(0);
                // Sending a signal to the caller's own process group cannot fail.
                let _ = kill(whole_job, Signal::SIGTSTP);
            }
        }

        /// Returns whether a signal has requested a stop since the last call.
        pub fn is_stop_noted(&self) -> bool {
            self.stops.swap(false, Ordering::Relaxed)
        }

        /// Stops the process until it is continued.
        pub fn stop(&self) {
            obey(SIGTSTP);
            // Set the flag here, because another thread may receive SIGCONT slightly later.
            self.goes_on.store(true, Ordering::Relaxed);
        }

        /// Returns whether the process has been continued since the last call.
        pub fn goes_on(&self) -> bool {
            self.goes_on.swap(false, Ordering::Relaxed)
        }
    }

    /// Ends the process if the terminal is gone, because crossterm would then read from it forever.
    /// Also ends the process if the main loop has not done so within [`GRACE`] of a signal.
    fn end_where_the_loop_cannot(noted: &AtomicUsize) {
        while noted.load(Ordering::Relaxed) == 0 && !has_hung_up() {}
        thread::sleep(GRACE);
        match noted.load(Ordering::Relaxed) {
            0 => obey(SIGHUP),
            signal => obey(signal as i32),
        }
    }

    /// Waits for the terminal to disappear, for at most [`LOOK`].
    fn has_hung_up() -> bool {
        let stdin = io::stdin();
        // With no events requested, the kernel reports only errors and hang-ups.
        let mut asked = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
        match poll(&mut asked, PollTimeout::from(LOOK)) {
            Ok(1..) => asked[0].any().unwrap_or(true),
            _ => false,
        }
    }

    /// Performs the signal's default action.
    fn obey(signal: i32) {
        // If this fails, there is nothing else to try.
        let _ = low_level::emulate_default_handler(signal);
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;

    /// A placeholder for systems without these signals.
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
