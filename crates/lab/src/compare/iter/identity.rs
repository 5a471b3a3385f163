//! A program's greeting, which states its runtime and the chains that it can measure.

use serde::Deserialize;

use tidegate_cli_support::failure::Failure;

#[derive(Deserialize)]
pub struct Identity {
    program: String,
    rayon: String,
    orx: String,
    rayon_core: String,
    source: String,
    /// The version of Tidegate's rayon-core, if it is linked.
    tidegate: Option<String>,
    compiler: String,
    pub chains: Vec<Chain>,
}

/// A library of parallel iterators or loops, which each program runs on a different runtime.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Library {
    Rayon,
    Orx,
    /// Tidegate's own loops, and the same work with rayon's iterators.
    Native,
}

/// A chain that a program can measure.
#[derive(Deserialize, Clone)]
pub struct Chain {
    pub name: String,
    pub library: Library,
    /// The numbers of items on which the chain is measured.
    pub sizes: Vec<u64>,
    /// Where the chain is called from: `inside`, `outside` or `install`.
    pub places: Vec<String>,
}

impl Identity {
    /// Fails if the program has the wrong rayon-core. `tidegate` states whether it should have
    /// Tidegate's.
    pub fn check(&self, tidegate: bool) -> Result<(), Failure> {
        if self.tidegate.is_some() == tidegate {
            return Ok(());
        }
        let (found, promised) = if tidegate {
            ("is not Tidegate", "crates/rayon-core of this repository")
        } else {
            ("is Tidegate", "the published one")
        };
        Err(Failure::Impossible(format!(
            "{} is linked with rayon-core {} from {}, which {found}: expected {promised}; look for a \
             [patch.crates-io] that replaces it, in its manifest and in cargo's configuration",
            self.program, self.rayon_core, self.source
        )))
    }

    /// Returns the versions of the runtime, of the library of iterators, and of the compiler.
    pub fn version(&self, library: Library) -> String {
        let (rayon, orx, compiler) = (&self.rayon, &self.orx, &self.compiler);
        let tidegate = env!("CARGO_PKG_VERSION");
        let rayon_core = format!("rayon-core {} from {}", self.rayon_core, self.source);
        match (library, self.tidegate.is_some()) {
            (Library::Rayon, true) => {
                format!("{tidegate} as {rayon_core} below rayon {rayon}, {compiler}")
            }
            (Library::Rayon, false) => format!("{rayon} on {rayon_core}, {compiler}"),
            (Library::Native, true) => format!("{tidegate}, {compiler}"),
            (Library::Native, false) => self.version(Library::Rayon),
            (Library::Orx, true) => {
                format!("{tidegate} as tidegate-orx below orx-parallel {orx}, {compiler}")
            }
            (Library::Orx, false) => format!("{orx} on its own pool, {compiler}"),
        }
    }
}
