//! SIGINT and SIGTERM ask `run` to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::Error;

/// The signal that has interrupted this process, if any.
#[derive(Default)]
pub struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// From now on, these signals do not end the process.
    pub fn listen() -> Result<Self, Error> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            flag::register_usize(signal, Arc::clone(&interrupt.0), signal as usize)
                .map_err(|error| Error::elsewhere(format!("signal {signal}: {error}")))?;
        }
        Ok(interrupt)
    }

    /// Returns the number of the signal that was caught last.
    pub fn caught(&self) -> Option<u8> {
        let signal = self.0.load(Ordering::Relaxed);
        u8::try_from(signal).ok().filter(|signal| *signal > 0)
    }
}
