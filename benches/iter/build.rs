//! Passes the versions of the packages that the program is built from, and which rayon-core is
//! linked, to the program.

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
