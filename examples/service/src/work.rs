//! What the requests compute.

use rayon::prelude::*;

/// The number of pixels in a row, and of rows in a tile.
pub const SIDE: usize = 384;

/// A short request: sorts 65,536 numbers and returns their hash.
pub fn digest(seed: u64) -> String {
    let mut state = seed;
    let mut numbers: Vec<u64> = (0..65_536).map(|_| next(&mut state)).collect();
    numbers.sort_unstable();
    let bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
    blake3::hash(&bytes).to_string()
}

/// A long request, the work of some fifty short ones: renders a tile and returns its hash.
pub fn tile(seed: u64) -> String {
    let rows = (0..SIDE).into_par_iter();
    let picture: Vec<_> = rows.flat_map_iter(|y| render(seed, y, 1)).collect();
    hash(&picture)
}

/// Hashes parts of the picture in parallel, on rayon, as libraries do.
pub fn hash(picture: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update_rayon(picture).finalize().to_string()
}

/// Renders rows of the Mandelbrot set, from `first` on.
pub fn render(seed: u64, first: usize, rows: usize) -> Vec<u8> {
    let pixels = first * SIDE..(first + rows) * SIDE;
    let render = |i| {
        let (x, y) = ((i % SIDE) as f64 / 4e4, (i / SIDE) as f64 / 4e4);
        let (cx, cy) = (x - 0.75, y + 0.1 - seed as f64 / 1e5);
        let (mut a, mut b, mut steps) = (0.0, 0.0, 0);
        while a * a + b * b < 4.0 && steps < 255 {
            (a, b, steps) = (a * a - b * b + cx, 2.0 * a * b + cy, steps + 1);
        }
        steps
    };
    pixels.map(render).collect()
}

/// Returns a pseudorandom number (SplitMix64).
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
