//! The two programs of `benches/iter`: one on stock runtimes, one on Tidegate.

use std::cell::RefCell;
use std::path::PathBuf;

use tidegate_workloads::{Rayon, Runtime, Tidegate};

use super::identity::{Chain, Library};
use super::program::Program;
use crate::cargo;
use tidegate_cli_support::failure::Failure;

const SOURCES: &str = "benches/iter";

/// The name of orx-parallel's own pool in rows.
const ORX: &str = "orx";

pub struct Built {
    stock: PathBuf,
    tidegate: PathBuf,
}

impl Built {
    pub fn new() -> Result<Self, Failure> {
        let build = |side| -> Result<PathBuf, Failure> {
            let manifest = cargo::checkout(SOURCES)?.join(side).join("Cargo.toml");
            let programs = cargo::build(&manifest, &["build"], None)?;
            Ok(programs.into_iter().next_back().expect("at least one"))
        };
        Ok(Self {
            stock: build("stock")?,
            tidegate: build("tidegate")?,
        })
    }

    /// Starts both programs with pools of this many workers. Rejects a program with the wrong
    /// rayon-core.
    pub fn start(&self, workers: usize) -> Result<Sides, Failure> {
        let start = |path, tidegate| -> Result<RefCell<Program>, Failure> {
            let program = Program::start(path, workers)?;
            program.identity.check(tidegate)?;
            Ok(program.into())
        };
        Ok(Sides {
            workers,
            stock: start(&self.stock, false)?,
            tidegate: start(&self.tidegate, true)?,
        })
    }
}

pub struct Sides {
    pub workers: usize,
    stock: RefCell<Program>,
    tidegate: RefCell<Program>,
}

impl Sides {
    /// Returns Tidegate's program and the stock one, each with the name of the runtime on which
    /// this library runs.
    pub fn both(&self, library: Library) -> [(&'static str, &RefCell<Program>); 2] {
        let stock = match library {
            Library::Rayon | Library::Native => Rayon::NAME,
            Library::Orx => ORX,
        };
        [(Tidegate::NAME, &self.tidegate), (stock, &self.stock)]
    }

    pub fn chains(&self) -> Vec<Chain> {
        self.stock.borrow().identity.chains.clone()
    }
}
