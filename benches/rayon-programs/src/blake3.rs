//! Hashes the same data repeatedly with blake3: `blake3 MEBIBYTES REPETITIONS`.

use blake3::Hasher;

mod common;

fn main() {
    let [size, repetitions] = common::arguments("blake3 MEBIBYTES REPETITIONS");
    let mut data = vec![0; size << 20];
    fastrand::Rng::with_seed(1).fill(&mut data);
    let mut hasher = Hasher::new();
    for _ in 0..repetitions {
        hasher.update_rayon(&data);
    }
    common::print_checksum(*hasher.finalize().as_bytes());
}
