//! What the drivers share: their command line and their checksum.

use std::{array, env};

/// Returns the numbers on the command line.
pub fn arguments<const N: usize>(usage: &str) -> [usize; N] {
    let mut numbers = env::args().skip(1).map(|text| text.parse().ok());
    array::from_fn(|_| {
        let number = numbers.next().flatten();
        number.unwrap_or_else(|| panic!("usage: {usage}"))
    })
}

pub fn print_checksum(numbers: impl IntoIterator<Item: Into<u64>>) {
    let fold = |hash: u64, number: u64| (hash ^ number).wrapping_mul(0x0100_0000_01b3);
    let checksum = numbers.into_iter().map(Into::into).fold(0, fold);
    println!("checksum {checksum:016x}");
}
