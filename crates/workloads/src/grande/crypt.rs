//! Crypt: encrypts and decrypts a text with IDEA, the International Data Encryption Algorithm.
//!
//! The algorithm is by Xuejia Lai and James Massey, A Proposal for a New Block Encryption Standard,
//! EUROCRYPT '90, as improved in 1991. Blocks are independent: the text may be divided into any
//! pieces of whole blocks, and a piece may be decrypted as soon as it has been encrypted. The
//! kernel tests integer arithmetic on bytes.
//!
//! As in the benchmark, words are stored low byte first, whereas Lai and Massey store the high byte
//! first. In the benchmark, a product with 0 is 0; our kernel follows the algorithm, so that
//! decryption restores every text.
//!
//! The kernel doesn't chain blocks, and it isn't secure.

use super::random::Random;
use super::{Kernel, Mismatch, Size};

/// Bytes per block. A piece of text must consist of whole blocks.
pub const BLOCK: usize = 8;
const ROUNDS: usize = 8;
/// The seed for the user's key.
const SEED: u64 = 136_506_717;

/// The four 16-bit words on which IDEA operates.
type Block = [u16; 4];

/// The state of the kernel Crypt.
#[derive(Clone, Debug)]
pub struct Crypt {
    /// The text to encrypt.
    pub plain: Vec<u8>,
    /// The encrypted text.
    pub cipher: Vec<u8>,
    /// The decrypted text.
    pub restored: Vec<u8>,
    /// The key that turns `plain` into `cipher`.
    pub encryption: Key,
    /// The key that turns `cipher` into `restored`.
    pub decryption: Key,
}

/// The subkeys that IDEA mixes into a block, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    rounds: [[u16; 6]; ROUNDS],
    last: [u16; 4],
}

impl Key {
    /// Expands the user's key: takes its words in order, over and over, and rotates the key by 25
    /// bits after each pass.
    pub fn encryption(user: [u16; 8]) -> Self {
        let mut bits = user
            .iter()
            .fold(0, |bits, &word| bits << 16 | u128::from(word));
        let mut left = 0;
        let mut next = || {
            if left == 0 {
                left = u128::BITS;
            }
            left -= 16;
            let word = (bits >> left) as u16;
            if left == 0 {
                bits = bits.rotate_left(25);
            }
            word
        };
        let rounds = std::array::from_fn(|_| std::array::from_fn(|_| next()));
        let last = std::array::from_fn(|_| next());
        Self { rounds, last }
    }

    /// Returns the decryption key for this encryption key, and vice versa.
    pub fn inverted(&self) -> Self {
        let invert =
            |[a, b, c, d]: Block| [inverse(a), b.wrapping_neg(), c.wrapping_neg(), inverse(d)];
        // The four key words that are combined with a block before the core of round r or, if r is
        // the number of rounds, after the last round.
        let mixed = |r: usize| match self.rounds.get(r) {
            Some(&[a, b, c, d, ..]) => [a, b, c, d],
            None => self.last,
        };
        let rounds = std::array::from_fn(|round| {
            let r = ROUNDS - round;
            let [a, b, c, d] = invert(mixed(r));
            // Rounds swap the middle words of a block, so the middle words of the key must be
            // swapped, too. The first and the last four key words are not affected.
            let (b, c) = if round == 0 { (b, c) } else { (c, b) };
            let [.., e, f] = self.rounds[r - 1];
            [a, b, c, d, e, f]
        });
        let last = invert(mixed(0));
        Self { rounds, last }
    }

    fn apply(&self, block: Block) -> Block {
        let [mut a, mut b, mut c, mut d] = block;
        for round in &self.rounds {
            a = product(a, round[0]);
            b = b.wrapping_add(round[1]);
            c = c.wrapping_add(round[2]);
            d = product(d, round[3]);
            let low = product(a ^ c, round[4]);
            let high = product(low.wrapping_add(b ^ d), round[5]);
            let low = low.wrapping_add(high);
            (a, b, c, d) = (a ^ high, c ^ high, b ^ low, d ^ low);
        }
        let last = &self.last;
        [
            product(a, last[0]),
            c.wrapping_add(last[1]),
            b.wrapping_add(last[2]),
            product(d, last[3]),
        ]
    }
}

/// Returns the product modulo 2^16 + 1, where 0 represents 2^16.
fn product(a: u16, b: u16) -> u16 {
    if a == 0 || b == 0 {
        return 1_u16.wrapping_sub(a).wrapping_sub(b);
    }
    let product = u32::from(a) * u32::from(b);
    let (low, high) = (product as u16, (product >> 16) as u16);
    // 2^16 is congruent to -1.
    low.wrapping_sub(high).wrapping_add(u16::from(low < high))
}

/// Returns the multiplicative inverse of `a`, which is `a` to the power of 2^16 - 1 because 2^16 +
/// 1 is prime.
fn inverse(a: u16) -> u16 {
    let squares = std::iter::successors(Some(a), |&a| Some(product(a, a)));
    squares.take(16).fold(1, product)
}

/// Encrypts or decrypts whole blocks with `key`.
///
/// # Panics
/// If the two slices differ in length.
pub fn crypt(key: &Key, from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "a text and its place have one length");
    for (from, to) in from.chunks_exact(BLOCK).zip(to.chunks_exact_mut(BLOCK)) {
        let block = std::array::from_fn(|i| u16::from_le_bytes([from[2 * i], from[2 * i + 1]]));
        for (word, bytes) in key.apply(block).into_iter().zip(to.chunks_exact_mut(2)) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
}

impl Kernel for Crypt {
    const NAME: &'static str = "crypt";

    /// The number of decrypted bytes that differ from the original text.
    type Figure = usize;

    fn new(size: Size) -> Self {
        let bytes = size.choose([8000, 3_000_000, 20_000_000, 50_000_000]);
        let mut random = Random::new(SEED);
        let user = std::array::from_fn(|_| random.word() as u16);
        let encryption = Key::encryption(user);
        Self {
            plain: (0..bytes).map(|i: usize| i as u8).collect(),
            cipher: vec![0; bytes],
            restored: vec![0; bytes],
            decryption: encryption.inverted(),
            encryption,
        }
    }

    fn reset(&mut self) {
        self.cipher.fill(0);
        self.restored.fill(0);
    }

    fn serial(&mut self) -> usize {
        crypt(&self.encryption, &self.plain, &mut self.cipher);
        crypt(&self.decryption, &self.cipher, &mut self.restored);
        self.figure()
    }

    fn figure(&self) -> usize {
        let pairs = self.plain.iter().zip(&self.restored);
        pairs.filter(|(plain, restored)| plain != restored).count()
    }

    fn check(&self, figure: &usize) -> Result<(), Mismatch> {
        Mismatch::unless_at_most("bytes changed", *figure as f64, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_test_vector_is_reproduced() {
        let key = Key::encryption([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(key.rounds[1], [7, 8, 0x0400, 0x0600, 0x0800, 0x0a00]);
        let cipher = key.apply([0, 1, 2, 3]);
        assert_eq!(cipher, [0x11fb, 0xed2b, 0x0198, 0x6de5]);
        assert_eq!(key.inverted().apply(cipher), [0, 1, 2, 3]);
    }

    /// The keys and blocks include words of 0, which stand for 65536.
    #[test]
    fn inverted_key_undoes_encryption() {
        let keys = [[0; 8], [u16::MAX; 8], [9, 0, 1, 0, 0x8000, 3, 0, 1]];
        for key in keys.map(Key::encryption) {
            let inverted = key.inverted();
            assert_eq!(inverted.inverted(), key);
            for block in [[0; 4], [1, 0, u16::MAX, 2], [u16::MAX; 4]] {
                assert_eq!(inverted.apply(key.apply(block)), block);
            }
        }
    }

    /// The test also checks that every number from 1 to 65536 has an inverse.
    #[test]
    fn products_are_modulo_65537() {
        let value = |a: u16| if a == 0 { 1 << 16 } else { u64::from(a) };
        for a in [0, 1, 2, 3, 255, 256, 32768, 32769, 65534, 65535] {
            for b in (0..=u16::MAX).step_by(17) {
                let wanted = value(a) * value(b) % 65537;
                assert_eq!(value(product(a, b)), wanted, "{a} {b}");
            }
            assert_eq!(product(a, inverse(a)), 1, "{a}");
        }
    }
}
