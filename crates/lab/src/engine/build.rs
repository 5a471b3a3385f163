//! Identifies the running build of this program.

use std::hash::DefaultHasher;
use std::hash::Hasher;
use std::sync::OnceLock;
use std::{env, fs};

use tidegate_command::failure::Failure;

/// Returns the version and a hash of this executable. The hash changes whenever linked code
/// changes.
pub fn name() -> Result<&'static str, Failure> {
    static NAME: OnceLock<String> = OnceLock::new();
    if let Some(name) = NAME.get() {
        return Ok(name);
    }
    let executable = env::current_exe()
        .and_then(fs::read)
        .map_err(|error| Failure::Impossible(format!("this executable cannot be read: {error}")))?;
    Ok(NAME.get_or_init(|| format!("{} {:016x}", env!("CARGO_PKG_VERSION"), hash(&executable))))
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_executable_is_another_build() {
        assert_ne!(hash(b"one"), hash(b"two"));
    }
}
