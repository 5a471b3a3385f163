//! Identifies the running build of this program.

use std::sync::OnceLock;
use std::{env, fs};

use sha2::{Digest, Sha256};
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

/// Returns the first bytes of the SHA-256, which takes little time even without optimization.
fn hash(bytes: &[u8]) -> u64 {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    u64::from_be_bytes(*digest.first_chunk().expect("32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_executable_is_another_build() {
        assert_ne!(hash(b"one"), hash(b"two"));
    }
}
