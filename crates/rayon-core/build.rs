//! Tells the build scripts of direct dependents which runtime they got: `DEP_RAYON_CORE_TIDEGATE` is set for them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=TIDEGATE={}", env!("CARGO_PKG_VERSION"));
}
