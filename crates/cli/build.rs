//! Tells the program which versions it compares: those of the lock file and of the compiler.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The lock file, from this package's folder.
const LOCK: &str = "../../Cargo.lock";

fn main() {
    println!("cargo::rerun-if-changed={LOCK}");
    let lock = fs::read_to_string(Path::new(LOCK)).unwrap_or_default();
    for package in ["chili", "rayon"] {
        let version = locked(&lock, package).unwrap_or("of an unknown version");
        println!("cargo::rustc-env=VERSION_OF_{package}={version}");
    }
    let compiler = compiler().unwrap_or_else(|| "rustc of an unknown version".into());
    println!("cargo::rustc-env=COMPILER={compiler}");
}

/// The version of `package` in a lock file.
fn locked<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name).skip(1);
    lines
        .next()?
        .strip_prefix("version = \"")?
        .strip_suffix('"')
}

/// Name and version of the compiler, as in `rustc 1.95.0`.
fn compiler() -> Option<String> {
    let output = Command::new(env::var_os("RUSTC")?)
        .arg("--version")
        .output()
        .ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let mut words = line.split_whitespace();
    Some(format!("{} {}", words.next()?, words.next()?))
}
