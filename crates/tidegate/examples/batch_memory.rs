//! A batch of large items under a memory limit: `cargo run -p tidegate --example batch_memory`
//!
//! The page `docs/guide/batch-memory.md` explains it.

use std::error::Error;
use tidegate::memory::{self, Budget, ReservationError};
use tidegate::{Pool, policy::MemoryPolicy};

struct Image {
    width: usize,
    height: usize,
}

impl Image {
    fn pixels(&self) -> usize {
        self.width * self.height
    }

    /// Stands in for a decoder.
    fn decode(&self) -> impl Iterator<Item = u32> {
        (0..self.pixels()).map(|at| (at % self.width) as u32)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let images: Vec<Image> = (1..=24)
        .map(|n| Image {
            width: 32 * n,
            height: 256,
        })
        .collect();
    // Each task holds one image at a time, so the serial run needs as much memory as the largest
    // image.
    let serial = images.iter().map(Image::pixels).max().unwrap_or(1) * size_of::<u32>();
    let bytes = serial + serial / 2;
    let policy = MemoryPolicy::Budget(Budget { bytes, serial });
    let pool = Pool::builder().memory(policy).build()?;

    let sum = pool.install(|| tidegate::try_map_reduce(&images, brightness, |a, b| a + b))?;
    let mean = sum.unwrap_or(0) / images.len() as u64;

    let peak = pool.stats().memory.peak;
    println!("mean {mean}, at most {peak} of {bytes} bytes");
    assert!(peak <= bytes as u64);

    let image = Image {
        width: 1 << 20,
        height: 1 << 10,
    };
    let error = pool.install(|| brightness(&image)).expect_err("4 GiB");
    println!("refused: {error}");
    Ok(())
}

/// Returns the mean of all pixels.
fn brightness(image: &Image) -> Result<u64, ReservationError> {
    // Waits until the budget has room for this image.
    let mut pixels = memory::vec::<u32>(image.pixels())?;
    pixels.extend(image.decode());
    let sum: u64 = pixels.iter().map(|&pixel| u64::from(pixel)).sum();
    Ok(sum / pixels.len() as u64)
    // `pixels` is dropped here, which gives its memory back to the budget.
}
