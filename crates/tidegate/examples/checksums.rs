//! Prints a checksum of each block of a file: `cargo run -p tidegate --example checksums -- FILE`
//!
//! The page `docs/guide/stream.md` explains it.

use std::fs::File;
use std::io::{self, Read};
use std::{env, iter};

const BLOCK: u64 = 64 * 1024;

fn main() -> io::Result<()> {
    let own_source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs");
    let name = env::args().nth(1).unwrap_or(own_source.to_string());
    let mut file = File::open(name)?;

    let blocks = iter::from_fn(|| read_block(&mut file).transpose());
    let checksums = tidegate::stream(blocks)
        .map(|block| block.map(|block| checksum(&block)))
        .ordered();
    for (number, checksum) in checksums.enumerate() {
        println!("{number:6} {:016x}", checksum?);
    }
    Ok(())
}

/// Reads the next block, if there is one.
fn read_block(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let mut block = Vec::new();
    file.take(BLOCK).read_to_end(&mut block)?;
    Ok((!block.is_empty()).then_some(block))
}

/// Fowler, Noll and Vo's hash, variant 1a with 64 bits.
fn checksum(block: &[u8]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    block.iter().fold(0xcbf2_9ce4_8422_2325, add)
}
