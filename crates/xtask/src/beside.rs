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
#[rustfmt::skip]
pub const BESIDE: &[Beside] = &[
    Beside { folder: "crates/rayon-core", library: true, run: None, measured: false },
    Beside { folder: "examples/rayon-app", library: false, run: Some("docs"), measured: false },
    Beside { folder: "benches/iter/stock", library: false, run: None, measured: false },
    Beside { folder: "benches/iter/tidegate", library: false, run: None, measured: false },
    // Without a fuzzer, which only nightly has, it is a program like any other.
    Beside { folder: "fuzz", library: false, run: None, measured: false },
    Beside { folder: "benches/rayon-programs/arrays", library: false, run: None, measured: true },
    Beside { folder: "benches/rayon-programs/fft", library: false, run: None, measured: true },
    Beside { folder: "benches/rayon-programs/forust", library: false, run: None, measured: true },
    Beside { folder: "benches/rayon-programs/tokenizers", library: false, run: None, measured: true },
];

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
