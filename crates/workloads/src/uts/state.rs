//! The 20-byte state of a node: the SHA-1 of its parent's state and its own number.

use serde::{Deserialize, Serialize};
use sha1::block_api::compress;

/// The initial hash value of SHA-1 (FIPS 180-4, section 5.3.1).
const START: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// The state of a node, as the five big-endian words of a SHA-1 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State([u32; 5]);

impl State {
    /// Returns the state of the root.
    pub fn root(seed: u32) -> Self {
        Self(digest([0, 0, 0, 0, seed]))
    }

    /// Returns the state of the child at the index `number`.
    #[inline]
    pub fn child(&self, number: u32) -> Self {
        let [a, b, c, d, e] = self.0;
        Self(digest([a, b, c, d, e, number]))
    }

    /// Returns the node's random number, which has 31 bits.
    #[inline]
    pub fn rand(&self) -> u32 {
        self.0[4] & 0x7fff_ffff
    }
}

/// Returns the SHA-1 of a message of `N` words. Together with its padding, the message must fit
/// into one block.
#[inline]
fn digest<const N: usize>(message: [u32; N]) -> [u32; 5] {
    const { assert!(N <= 13) };
    let mut block = [0; 64];
    for (bytes, word) in block.chunks_exact_mut(4).zip(message) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    block[N * 4] = 0x80;
    block[60..].copy_from_slice(&(N as u32 * 32).to_be_bytes());
    let mut state = START;
    compress(&mut state, &[block]);
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(state: State) -> String {
        state.0.iter().map(|word| format!("{word:08x}")).collect()
    }

    #[test]
    fn states_match_the_original_benchmark() {
        let root = State::root(42);
        assert_eq!(hex(root), "a11dabbcec7aab309c890ab3dbc256eaeb582782");
        let child = root.child(0);
        assert_eq!(hex(child), "7407806c9e18f6e1d4d944809de9c0c94b892757");
        assert_eq!(child.rand(), 1_267_279_703);
    }
}
