//! SIGINT and SIGTERM ask `run` to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::Error;

/// The signal that has interrupted this process, if any. A second one ends the process at once.
#[derive(Clone, Default)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// Whether the next signal ends the process.
    ends: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on, the first of these signals does not end the process.
    pub fn listen() -> Result<Self, Error> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            let failed = |error| Error::elsewhere(format!("signal {signal}: {error}"));
            // Actions run in the order of these lines.
            let (code, ends) = (128 + signal, || Arc::clone(&interrupt.ends));
            flag::register_conditional_shutdown(signal, code, ends()).map_err(failed)?;
            flag::register(signal, ends()).map_err(failed)?;
            flag::register_usize(signal, Arc::clone(&interrupt.signal), signal as usize)
                .map_err(failed)?;
        }
        Ok(interrupt)
    }

    /// From now on, every signal ends the process.
    pub fn stop_listening(&self) {
        // Relaxed: the handler reads nothing else.
        self.ends.store(true, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub fn catch(&self, signal: usize) {
        self.signal.store(signal, Ordering::Relaxed);
    }

    /// Returns the number of the signal that was caught last.
    pub fn caught(&self) -> Option<u8> {
        // Relaxed: the number is all that the handler writes.
        let signal = self.signal.load(Ordering::Relaxed);
        u8::try_from(signal).ok().filter(|signal| *signal > 0)
    }
}
