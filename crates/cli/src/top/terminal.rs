//! The terminal while it is the screen's, and how it gets back what it was.
//!
//! | way out | who restores |
//! |---|---|
//! | the loop ends, by key or error | the drop of [`Terminal`] |
//! | a panic | ratatui's hook, before the message |
//! | SIGTERM, SIGHUP, SIGINT | [`Signals`]: the loop ends, and after the drop the process dies of the signal |

use std::io;
use std::ops::{Deref, DerefMut};

use ratatui::DefaultTerminal;

/// The terminal, on its second screen and without echo.
pub struct Terminal(DefaultTerminal);

impl Terminal {
    /// Takes the terminal.
    pub fn open() -> io::Result<Self> {
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
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    /// Signals that end the process, noted instead.
    pub struct Signals(Arc<AtomicUsize>);

    impl Signals {
        /// Notes them from here on.
        pub fn note() -> io::Result<Self> {
            let noted = Arc::new(AtomicUsize::new(0));
            for signal in [SIGTERM, SIGHUP, SIGINT] {
                flag::register_usize(signal, Arc::clone(&noted), signal as usize)?;
            }
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
                signal => {
                    // It ends the process; where it cannot, the process ends by itself right after.
                    let _ = low_level::emulate_default_handler(signal as i32);
                }
            }
        }
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
