//! Which versions are compared, and whether a rival is what its name says.
//!
//! rayon keeps its runtime in a package of its own, in whose place Tidegate can be put. A rayon on Tidegate would make
//! every comparison one of Tidegate with itself.

use super::race::{SERIAL, TWICE_SERIAL};
use crate::failure::Failure;

/// What the build script says of this repository's own rayon-core.
const OURS: &str = "this repository";

/// The version of a runtime, where it has one.
pub fn of(runtime: &str) -> Option<String> {
    let version = match runtime {
        "tidegate" => env!("CARGO_PKG_VERSION"),
        "rayon" => concat!(
            env!("VERSION_OF_RAYON"),
            " on rayon-core ",
            env!("VERSION_OF_RAYON_CORE"),
            " from ",
            env!("SOURCE_OF_RAYON_CORE")
        ),
        "chili" => env!("VERSION_OF_CHILI"),
        "std" | SERIAL | TWICE_SERIAL => env!("COMPILER"),
        _ => return None,
    };
    Some(version.into())
}

/// Refuses rayon as a rival if it runs on Tidegate.
pub fn check_rayon() -> Result<(), Failure> {
    not_ours(env!("SOURCE_OF_RAYON_CORE"))
}

fn not_ours(source: &str) -> Result<(), Failure> {
    if source != OURS {
        return Ok(());
    }
    Err(Failure::Impossible(format!(
        "this command was built with the rayon-core from {source}, so its rayon is Tidegate and no rival: build it \
         without [patch.crates-io] rayon-core, or name others by --with"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rayon_is_a_rival_only_on_its_own_runtime() {
        assert!(not_ours("the registry").is_ok());
        let told = not_ours(OURS).unwrap_err().to_string();
        assert!(told.contains("patch.crates-io"), "{told}");
    }

    #[test]
    fn rayon_is_told_with_version_and_source_of_its_runtime() {
        let version = of("rayon").unwrap();
        assert!(version.contains(" on rayon-core 1."), "{version}");
        assert!(version.ends_with(" from the registry"), "{version}");
    }
}
