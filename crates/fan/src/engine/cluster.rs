//! What the engines that run pieces on other machines have in common.

use crate::Error;
use crate::engine::Launch;
use crate::engine::call::Commands;
use crate::engine::words::Words;

/// A cluster, as its commands see it.
pub struct Cluster {
    pub commands: Commands,
    /// The command line of a piece.
    pub words: Words,
    /// The processors of a piece.
    pub cpus: usize,
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
