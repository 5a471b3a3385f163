//! Passes the versions of rayon, rayon-core, Tidegate and the compiler to the program, in
//! environment variables.

use std::path::Path;

#[path = "../../crates/command/build/lock.rs"]
mod lock;

use lock::Lock;

fn main() {
    println!("cargo::rerun-if-changed=../build.rs");
    println!("cargo::rerun-if-changed=../../../crates/command/build");
    let lock = Lock::read(Path::new("Cargo.lock"));
    for (variable, value) in [
        ("VERSION_OF_RAYON", lock.version("rayon")),
        ("VERSION_OF_RAYON_CORE", lock.version("rayon-core")),
        ("SOURCE_OF_RAYON_CORE", lock.source_of_rayon_core()),
        ("TIDEGATE_LINKED", &lock::tidegate().unwrap_or_default()),
        ("COMPILER", &lock::compiler()),
    ] {
        println!("cargo::rustc-env={variable}={value}");
    }
}
