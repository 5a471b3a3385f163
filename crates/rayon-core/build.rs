//! Sets `DEP_RAYON_CORE_TIDEGATE` for the build scripts of crates that directly depend on this
//! crate, so that they can detect this runtime.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=TIDEGATE={}", env!("CARGO_PKG_VERSION"));
}
