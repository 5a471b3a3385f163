//! What the engines that run pieces on other machines have in common.

use crate::Error;
use crate::engine::Launch;
use crate::engine::call::Commands;
use crate::engine::words::{Words, line};

/// What is said about a piece of which only the engine has told. One that ends by itself writes a
/// message into its item's log.
pub const SILENT: &str = "the piece has left no message, so it may have been killed";

/// A cluster, as its commands see it.
pub struct Cluster {
    pub commands: Commands,
    /// The command line of a piece.
    pub words: Words,
    /// The processors of a piece.
    pub cpus: usize,
}

/// Returns what to call to see more about pieces that wait.
pub fn more(command: &[&str]) -> String {
    format!(" (to see more: {})", line(command))
}

impl Cluster {
    /// Fails if the command line is no text. A piece finds its item in `variable`. Without a number
    /// of processors, it gets one.
    pub fn new(launch: &Launch, variable: &str, commands: Commands) -> Result<Self, Error> {
        let (words, cpus) = (Words::new(launch, variable)?, launch.cpus.unwrap_or(1));
        Ok(Self {
            commands,
            words,
            cpus,
        })
    }
}
