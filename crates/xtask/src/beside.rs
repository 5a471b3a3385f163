//! The packages beside the workspace: they belong to the repository, and cargo does not build them with it.
//!
//! A build of them takes `rayon-core` from elsewhere than the workspace does, and one resolution has room for one. So each
//! has a lock file of its own, and every check that goes through the members must also go through this table. A
//! manifest that is neither here nor a member's is a breach of the house.

use crate::command::Cmd;
use crate::workspace::{Package, Workspace, list, metadata};

/// One package beside the workspace.
pub struct Beside {
    /// Its folder, from the root.
    pub folder: &'static str,
    /// Whether programs of others are built with it, so that its documentation and its oldest Rust matter to them.
    pub library: bool,
    /// The arguments that it is run with, if it is a program to be seen running.
    pub run: Option<&'static str>,
    /// Whether only `rayon-programs` builds it. Its dependencies are programs to compare and no part of the project, so
    /// `ci` looks at its format and at nothing that needs them.
    pub measured: bool,
}

/// Every package beside the workspace.
pub const BESIDE: &[Beside] = &[
    Beside {
        folder: "crates/rayon-core",
        library: true,
        run: None,
        measured: false,
    },
    Beside {
        folder: "examples/rayon-app",
        library: false,
        run: Some("docs"),
        measured: false,
    },
    Beside {
        folder: "benches/iter/stock",
        library: false,
        run: None,
        measured: false,
    },
    Beside {
        folder: "benches/iter/tidegate",
        library: false,
        run: None,
        measured: false,
    },
    // Without a fuzzer, which nightly alone has, it is a program like any other.
    Beside {
        folder: "fuzz",
        library: false,
        run: None,
        measured: false,
    },
    measured("benches/rayon-programs/arrays"),
    measured("benches/rayon-programs/fft"),
    measured("benches/rayon-programs/forust"),
    measured("benches/rayon-programs/tokenizers"),
];

/// The row of a driver of `rayon-programs`.
const fn measured(folder: &'static str) -> Beside {
    Beside {
        folder,
        library: false,
        run: None,
        measured: true,
    }
}

impl Beside {
    /// Its manifest, from the root.
    pub fn manifest(&self) -> String {
        format!("{}/Cargo.toml", self.folder)
    }

    /// `cargo SUBCOMMAND` for this package, as its lock file says.
    pub fn cargo(&self, workspace: &Workspace, subcommand: &str) -> Cmd {
        let log = format!("{subcommand} of {}", self.folder);
        Cmd::cargo(workspace, &log, subcommand)
            .args(["--locked", "--manifest-path", &self.manifest()])
            // One for all of them: most of what they are built from is the same.
            .env("CARGO_TARGET_DIR", workspace.scratch("beside"))
    }

    /// What cargo says about it.
    pub fn package(&self, workspace: &Workspace) -> Result<Package, String> {
        let folder = workspace.root.join(self.folder);
        if !folder.join("Cargo.toml").is_file() {
            return Err(format!(
                "there is no {}: write it, or take its row out of the table of packages beside the workspace",
                self.manifest()
            ));
        }
        let found = metadata(&folder, &["--no-deps", "--locked"])?;
        match list(&found, "packages")?.as_slice() {
            [package] => Package::read(package, &workspace.root),
            more => Err(format!(
                "{} stands for {} packages where one belongs",
                self.manifest(),
                more.len()
            )),
        }
    }
}

/// What cargo says about all of them.
pub fn packages(workspace: &Workspace) -> Result<Vec<Package>, String> {
    let packages = BESIDE.iter().map(|beside| beside.package(workspace));
    packages.collect()
}

/// Those whose builds and dependencies are checked like those of members.
pub fn checked() -> impl Iterator<Item = &'static Beside> + Clone {
    BESIDE.iter().filter(|beside| !beside.measured)
}

/// Those that programs of others are built with.
pub fn libraries() -> impl Iterator<Item = &'static Beside> {
    BESIDE.iter().filter(|beside| beside.library)
}
