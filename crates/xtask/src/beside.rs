//! The packages beside the workspace: they belong to the repository, and cargo does not build them with it.
//!
//! A build of them takes `rayon-core` from elsewhere than the workspace does, and one resolution has room for one. So each
//! has a lock file of its own, and every check that goes through the members must also go through this table.

use cargo_metadata::Package;

use crate::command::Cmd;
use crate::workspace::{Workspace, describe};

/// One package beside the workspace.
pub struct Beside {
    /// Its folder, from the root.
    pub folder: &'static str,
    /// Whether users' programs are built with it, so that its documentation and its oldest Rust matter to them.
    pub library: bool,
    /// The argument that it is run with, if it is a program to be seen running.
    pub run: Option<&'static str>,
    /// Whether only `rayon-programs` builds it. Its dependencies are programs to compare and no part of the project, so
    /// `ci` checks only its format.
    pub measured: bool,
}

/// Every package beside the workspace.
pub const BESIDE: &[Beside] = &[
    Beside {
        library: true,
        ..program("crates/rayon-core")
    },
    Beside {
        run: Some("docs"),
        ..program("examples/rayon-app")
    },
    program("benches/iter/stock"),
    program("benches/iter/tidegate"),
    // Without a fuzzer, which only nightly has, it is a program like any other.
    program("fuzz"),
    measured("benches/rayon-programs/arrays"),
    measured("benches/rayon-programs/fft"),
    measured("benches/rayon-programs/forust"),
    measured("benches/rayon-programs/tokenizers"),
];

const fn program(folder: &'static str) -> Beside {
    Beside {
        folder,
        library: false,
        run: None,
        measured: false,
    }
}

const fn measured(folder: &'static str) -> Beside {
    Beside {
        measured: true,
        ..program(folder)
    }
}

impl Beside {
    /// Its manifest, from the root.
    pub fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// `cargo SUBCOMMAND` for this package with its lock file.
    pub fn cargo(&self, workspace: &Workspace, subcommand: &str) -> Cmd {
        let log = format!("{subcommand} of {}", self.folder);
        Cmd::cargo(workspace, &log, subcommand)
            .args(["--locked", "--manifest-path", &self.manifest()])
            // One for all of them: most of what they are built from is the same.
            .env("CARGO_TARGET_DIR", workspace.scratch("beside"))
    }
}

/// What cargo says about all of them.
pub fn packages(workspace: &Workspace) -> Result<Vec<Package>, String> {
    let mut packages = Vec::new();
    for beside in BESIDE {
        let folder = workspace.root.join(beside.folder);
        packages.extend(describe(&folder, &["--no-deps", "--locked"])?.packages);
    }
    Ok(packages)
}

/// Those whose builds and dependencies are checked like those of members.
pub fn checked() -> impl Iterator<Item = &'static Beside> {
    BESIDE.iter().filter(|beside| !beside.measured)
}

/// Those that users' programs are built with.
pub fn libraries() -> impl Iterator<Item = &'static Beside> {
    BESIDE.iter().filter(|beside| beside.library)
}
