//! Tests that can also run as soak tests. They run one slice of their work, or the number of slices
//! that `TIDEGATE_SOAK_SCALE` sets.

#![allow(dead_code, reason = "each test file uses its own part of this module")]

/// Returns the number of slices to run.
pub fn soak_scale() -> u32 {
    match std::env::var("TIDEGATE_SOAK_SCALE") {
        Ok(text) => text.parse().expect("TIDEGATE_SOAK_SCALE is a number"),
        Err(_) => 1,
    }
}

/// Returns and prints the total size of a soak test whose slices have size `slice`.
pub fn soak(slice: usize, unit: &str) -> usize {
    let size = slice * soak_scale() as usize;
    println!("soak: {size} {unit}");
    size
}

/// Returns the seeds of a soak test, starting with 0. If `TIDEGATE_SOAK_SEED` is set, returns only
/// that seed, repeatedly: a program that has failed once need not fail every time.
pub fn seeds(slice: usize, unit: &str) -> impl Iterator<Item = u64> {
    let only: Option<u64> = std::env::var("TIDEGATE_SOAK_SEED")
        .ok()
        .map(|text| text.parse().expect("TIDEGATE_SOAK_SEED is a number"));
    let size = soak(slice, unit) as u64;
    (0..size).map(move |seed| only.unwrap_or(seed))
}
