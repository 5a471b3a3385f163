//! The terminal while it is the screen's, and how it gets back what it was.
//!
//! | way out | who restores |
//! |---|---|
//! | the loop ends, by key or error | the drop of [`Terminal`] |
//! | a panic | ratatui's hook, before the message |
//! | SIGTERM, SIGHUP, SIGINT | [`Signals`]: the loop ends, and after the drop the process dies of the signal |
//! | another one of them, as the loop does not come back | nobody: the process dies of it at once |
//! | the terminal is gone | nobody: a thread of [`Signals`] ends the process, as the loop may not come back from reading |

use std::io;
use std::ops::{Deref, DerefMut};

use ratatui::DefaultTerminal;
use ratatui::crossterm::terminal;

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
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Where the terminal is gone there is nothing to restore, and nobody to tell.
        let _ = ratatui::try_restore();
        let _ = self.0.show_cursor();
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
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    /// Time between two looks whether the terminal is still there, in milliseconds.
    const LOOK: u16 = 1000;

    /// How long the loop may take to end after a signal. It takes a fraction of that, if it ends at all.
    const GRACE: Duration = Duration::from_secs(1);

    /// Signals that end the process, noted instead.
    pub struct Signals(Arc<AtomicUsize>);

    impl Signals {
        /// Notes them from here on.
        pub fn note() -> io::Result<Self> {
            let noted = Arc::new(AtomicUsize::new(0));
            let again = Arc::new(AtomicBool::new(false));
            for signal in [SIGTERM, SIGHUP, SIGINT] {
                // In this order: the first one finds the flag down.
                flag::register_conditional_default(signal, Arc::clone(&again))?;
                flag::register(signal, Arc::clone(&again))?;
                flag::register_usize(signal, Arc::clone(&noted), signal as usize)?;
            }
            let seen = Arc::clone(&noted);
            thread::Builder::new()
                .name("tidegate-hangup".into())
                .spawn(move || end_where_the_loop_cannot(&seen))?;
            Ok(Self(noted))
        }

        /// Whether one has come.
        pub fn is_noted(&self) -> bool {
            self.0.load(Ordering::Relaxed) != 0
        }

        /// Does what the one that has come would have done.
        pub fn obey(&self) {
            match self.0.load(Ordering::Relaxed) {
                0 => {}
                signal => die_of(signal as i32),
            }
        }
    }

    /// When the terminal has gone away, crossterm reads from it again and again, without end and with all of a processor.
    fn end_where_the_loop_cannot(noted: &AtomicUsize) {
        while noted.load(Ordering::Relaxed) == 0 && !has_hung_up() {}
        thread::sleep(GRACE);
        match noted.load(Ordering::Relaxed) {
            0 => die_of(SIGHUP),
            signal => die_of(signal as i32),
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

    fn die_of(signal: i32) {
        // It ends the process; where it cannot, there is nothing more to try.
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

        pub fn is_noted(&self) -> bool {
            false
        }

        pub fn obey(&self) {}
    }
}
