//! The two programs, one per rayon-core.

use std::cell::RefCell;

use tidegate_workloads::{Rayon, Runtime, Tidegate};

use super::cargo;
use super::program::Program;
use crate::failure::Failure;

/// The two programs.
pub struct Sides {
    /// rayon on its own runtime.
    pub stock: RefCell<Program>,
    /// rayon on Tidegate.
    pub tidegate: RefCell<Program>,
}

impl Sides {
    /// Builds and starts both, and refuses what is not what its side promises.
    pub fn start() -> Result<Self, Failure> {
        Ok(Self {
            stock: side("stock", false)?,
            tidegate: side("tidegate", true)?,
        })
    }

    /// The program on the runtime called `name`, if it is one of the two.
    pub fn on(&self, name: &str) -> Option<&RefCell<Program>> {
        match name {
            Rayon::NAME => Some(&self.stock),
            Tidegate::NAME => Some(&self.tidegate),
            _ => None,
        }
    }
}

/// Builds and starts the program in the folder `name`, which is to be on Tidegate or not.
fn side(name: &str, tidegate: bool) -> Result<RefCell<Program>, Failure> {
    let program = Program::start(&cargo::build(name)?)?;
    program.identity.check(tidegate)?;
    Ok(program.into())
}
