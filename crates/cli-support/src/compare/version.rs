//! The versions of the compared runtimes, and a check that rayon does not run on Tidegate.
//!
//! rayon's runtime is a separate package, rayon-core, which Tidegate's rayon-core can replace. In a
//! build with the replacement, a comparison with rayon would compare Tidegate with itself.

use super::race::{SERIAL, TWICE_SERIAL};
use crate::failure::Failure;

/// The build script's name for the rayon-core in this repository.
const OURS: &str = "this repository";

/// Returns the version of a runtime, or `None` if it has no version.
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

/// Returns an error if rayon runs on Tidegate.
pub fn check_rayon() -> Result<(), Failure> {
    not_ours(env!("SOURCE_OF_RAYON_CORE"))
}

fn not_ours(source: &str) -> Result<(), Failure> {
    if source != OURS {
        return Ok(());
    }
    Err(Failure::Impossible(format!(
        "this command was built with the rayon-core from {source}, so its rayon runs on Tidegate: build it without \
         [patch.crates-io] rayon-core, or choose other runtimes with --with"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_rayon_on_tidegate() {
        assert!(not_ours("the registry").is_ok());
        let told = not_ours(OURS).unwrap_err().to_string();
        assert!(told.contains("patch.crates-io"), "{told}");
    }

    #[test]
    fn rayon_version_names_its_runtime() {
        let version = of("rayon").unwrap();
        assert!(version.contains(" on rayon-core 1."), "{version}");
        assert!(version.ends_with(" from the registry"), "{version}");
    }
}
