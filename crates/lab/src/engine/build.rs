//! Identifies the running build of this program.

use tidegate_cli_support::failure::Failure;
use tidegate_fan::build;

/// Returns the version and the build of this program, which changes whenever linked code changes.
pub fn name() -> Result<String, Failure> {
    Ok(format!("{} {}", env!("CARGO_PKG_VERSION"), build()?))
}
