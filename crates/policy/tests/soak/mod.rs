//! The size of tests that also serve as soak tests.

/// Prints and returns the size of a test that also serves as a soak test. `slice` is the size in a
/// normal run.
pub fn soak(slice: u64, what: &str) -> u64 {
    let scale: u64 = std::env::var("TIDEGATE_SOAK_SCALE").map_or(1, |text| {
        text.parse().expect("TIDEGATE_SOAK_SCALE is a number")
    });
    println!("soak: {} {what}", slice * scale);
    slice * scale
}
