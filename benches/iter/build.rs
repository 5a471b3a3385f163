//! Passes the versions of rayon, rayon-core, orx-parallel, Tidegate and the compiler to the
//! program, in environment variables. If the linked rayon-core is Tidegate's, the program is
//! compiled with `cfg(tidegate)`.

use std::path::Path;

#[path = "../../crates/cli-support/build/lock.rs"]
mod lock;

use lock::Lock;

fn main() {
    println!("cargo::rerun-if-changed=../build.rs");
    println!("cargo::rerun-if-changed=../../../crates/cli-support/build");
    println!("cargo::rustc-check-cfg=cfg(tidegate)");
    if lock::tidegate().is_some() {
        println!("cargo::rustc-cfg=tidegate");
    }
    let lock = Lock::read(Path::new("Cargo.lock"));
    for (variable, value) in [
        ("VERSION_OF_RAYON", lock.version("rayon")),
        ("VERSION_OF_ORX", lock.version("orx-parallel")),
        ("VERSION_OF_RAYON_CORE", lock.version("rayon-core")),
        ("SOURCE_OF_RAYON_CORE", lock.source_of_rayon_core()),
        ("TIDEGATE_LINKED", &lock::tidegate().unwrap_or_default()),
        ("COMPILER", &lock::compiler()),
    ] {
        println!("cargo::rustc-env={variable}={value}");
    }
}
