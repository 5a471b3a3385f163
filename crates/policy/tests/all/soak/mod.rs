//! The size of tests that can also run as soak tests.

/// Returns and prints the size of a test that can also run as a soak test. `slice` is its size in a
/// normal run.
pub fn soak(slice: u64, what: &str) -> u64 {
    let scale: u64 = std::env::var("TIDEGATE_SOAK_SCALE").map_or(1, |text| {
        text.parse().expect("TIDEGATE_SOAK_SCALE is a number")
    });
    println!("soak: {} {what}", slice * scale);
    slice * scale
}
