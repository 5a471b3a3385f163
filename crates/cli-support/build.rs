//! Passes the versions of the compared runtimes, which it takes from the lock file and the
//! compiler, to the program.

use std::path::Path;

#[path = "build/lock.rs"]
mod lock;

use lock::Lock;

fn main() {
    let lock = Lock::read(Path::new("../../Cargo.lock"));
    for (variable, package) in [
        ("CHILI", "chili"),
        ("RAYON", "rayon"),
        ("RAYON_CORE", "rayon-core"),
    ] {
        let version = lock.version(package);
        println!("cargo::rustc-env=VERSION_OF_{variable}={version}");
    }
    let source = lock.source_of_rayon_core();
    println!("cargo::rustc-env=SOURCE_OF_RAYON_CORE={source}");
    println!("cargo::rustc-env=COMPILER={}", lock::compiler());
    println!("cargo::rerun-if-changed=build");
}
