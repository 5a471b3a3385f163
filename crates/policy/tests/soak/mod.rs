//! Tests that are also soaks.

/// Prints and returns the size of a test that is also a soak. `slice` is its size without soaking.
pub fn soak(slice: u64, what: &str) -> u64 {
    let scale: u64 = std::env::var("TIDEGATE_SOAK_SCALE").map_or(1, |text| {
        text.parse().expect("TIDEGATE_SOAK_SCALE is a number")
    });
    println!("soak: {} {what}", slice * scale);
    slice * scale
}
