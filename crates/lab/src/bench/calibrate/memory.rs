//! The cost of reading uncached data.

use std::hint::black_box;
use std::time::Instant;

use tidegate_cli_support::arguments::Size;
use tidegate_cli_support::failure::Failure;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// A size in bytes that fits into any core's cache.
const NEAR: usize = 32 * KIB;
/// A size in bytes that fits into no cache.
const FAR: usize = 512 * MIB;

/// Returns how many nanoseconds longer it takes one thread to read a KiB sequentially from memory
/// than from a cache.
pub fn miss(size: Size) -> Result<f64, Failure> {
    let far = match size {
        Size::Tiny => MIB,
        Size::Small | Size::Paper => FAR,
    };
    let mut data: Vec<u64> = Vec::new();
    data.try_reserve_exact(far / size_of::<u64>())
        .map_err(|error| {
            Failure::Impossible(format!("cannot allocate 512 MiB to read from: {error}"))
        })?;
    // Write to the memory, because all untouched pages would be mapped to the same page of zeros.
    data.extend(0..data.capacity() as u64);
    let near = &data[..NEAR / size_of::<u64>()];
    Ok(kib(&data, 1) - kib(near, far / NEAR))
}

/// Returns how many nanoseconds it takes to read a KiB of `data`, after a warm-up pass.
fn kib(data: &[u64], passes: usize) -> f64 {
    let sum = |data: &[u64]| black_box(data).iter().fold(0, |sum, one| sum ^ one);
    black_box(sum(data));
    let start = Instant::now();
    for _ in 0..passes {
        black_box(sum(data));
    }
    let kibs = size_of_val(data) / KIB * passes;
    start.elapsed().as_nanos() as f64 / kibs as f64
}
