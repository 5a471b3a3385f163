//! Decompresses blocks in memory, one task per block, like a pipeline stage that decompresses its
//! input.
//!
//! Most blocks grow only a little (`USUAL`); a randomly drawn fraction of them grows very much
//! (`BURST`). A task holds its block's output from before decompression until the end of the
//! checksum. So if several workers process burst blocks at the same time, they need many times the
//! usual memory, and soon afterwards almost none.
//!
//! A compressed block is a sequence of commands in our own format, after the idea of Jacob Ziv and
//! Abraham Lempel (A Universal Algorithm for Sequential Data Compression, 1977):
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | number of literal bytes that follow |
//! | that many | the literal bytes |
//! | 2, little-endian | number of bytes to copy from earlier output, after the literal bytes |
//! | 2, little-endian | how far back the copied bytes begin; they may overlap the copy itself |
//!
//! The blocks are generated command by command, in memory, before the run; each block's output
//! length is known.
//!
//! The program doesn't compress, doesn't check commands (its own are valid), and doesn't divide the
//! work within a block.

use std::array;
use std::io;

use super::{Way, block, each};
use crate::parameter::{Kind::Integer, named, positional, seed};
use crate::program::{Form, Program, parameters, result, with_form};
use crate::runtime::{Runtime, Serial};
use crate::steps::{checksum, random};

/// The ratio of output length to input length of a usual block.
const USUAL: usize = 2;

/// The ratio of output length to input length of a burst block.
const BURST: usize = 100;

/// The maximum number of literal bytes in a command.
const PLAIN: usize = 32;

/// The size of a command in bytes, without its literal bytes.
const COMMAND: usize = 5;

/// How far back, in bytes, a copy may begin.
const WINDOW: usize = 1 << 12;

/// The program `decompress`, which decompresses generated blocks.
#[derive(Clone, Copy, Debug)]
pub struct Decompress {
    /// How many blocks to decompress.
    pub blocks: usize,
    /// The maximum size of a compressed block in bytes.
    pub length: usize,
    /// One in `burst` blocks is a burst block.
    pub burst: u64,
    /// The seed for the blocks.
    pub seed: u64,
    /// How the parallel body creates its tasks.
    pub form: Form,
}

/// The random choices for a command.
struct Drawn {
    drawn: u64,
    plain: usize,
    /// Number of bytes to copy after the literal bytes.
    repeated: usize,
}

impl Drawn {
    /// Draws the commands of a block of at most `length` bytes whose output is `factor` times as
    /// long.
    fn all(length: usize, factor: usize, seed: u64) -> impl Iterator<Item = Self> {
        let commands = (0..).map(move |draw| {
            let drawn = random(seed, draw);
            let plain = 1 + drawn as usize % PLAIN;
            Self {
                drawn,
                plain,
                repeated: factor * (plain + COMMAND) - plain,
            }
        });
        let mut left = length;
        commands.map_while(move |command| {
            left = left.checked_sub(command.plain + COMMAND)?;
            Some(command)
        })
    }
}

/// A compressed block.
#[derive(Debug, Default)]
pub struct Compressed {
    commands: Vec<u8>,
    /// Length of the output, in bytes.
    length: usize,
}

impl Compressed {
    /// Generates a block of at most `length` bytes whose output is `factor` times as long.
    fn random(length: usize, factor: usize, seed: u64) -> Self {
        let mut made = Self::default();
        for command in Drawn::all(length, factor, seed) {
            let known = (made.length + command.plain).min(WINDOW);
            let back = 1 + (command.drawn >> 32) as usize % known;
            let bytes: [u8; PLAIN] = array::from_fn(|i| random(command.drawn, i as u64) as u8);
            made.add(
                &bytes[..command.plain],
                command.repeated as u16,
                back as u16,
            );
        }
        made
    }

    fn add(&mut self, plain: &[u8], repeated: u16, back: u16) {
        self.length += plain.len() + usize::from(repeated);
        self.commands.push(plain.len() as u8);
        self.commands.extend(plain);
        self.commands.extend(repeated.to_le_bytes());
        self.commands.extend(back.to_le_bytes());
    }

    fn decompress(&self, output: &mut [u8]) {
        let (mut commands, mut at) = (&self.commands[..], 0);
        while let Some((&plain, rest)) = commands.split_first() {
            let (plain, rest) = rest.split_at(plain.into());
            output[at..][..plain.len()].copy_from_slice(plain);
            at += plain.len();
            let (numbers, rest) = rest.split_at(COMMAND - 1);
            let number = |i| usize::from(u16::from_le_bytes([numbers[i], numbers[i + 1]]));
            let (end, from) = (at + number(0), at - number(2));
            while at < end {
                // This copies only bytes that already exist. If the copied bytes overlap the copy
                // itself, each iteration makes more bytes available to the next.
                let some = (at - from).min(end - at);
                output.copy_within(from..from + some, at);
                at += some;
            }
            commands = rest;
        }
    }
}

impl Decompress {
    fn all<R: Runtime>(&self, way: Way<'_, '_, R>, input: &[Compressed]) -> u64 {
        let mut sums = block::<R, u64>(0, input.len());
        each(way, &mut sums.values, 1, &|_, number, sum| {
            sum[0] = one::<R>(&input[number]);
        });
        checksum(sums.values.iter().copied())
    }

    fn compressed(&self, number: usize) -> Compressed {
        let (factor, seed) = self.drawn(number);
        Compressed::random(self.length, factor, seed)
    }

    /// Returns the length of this block's output, in bytes.
    pub(crate) fn output_length(&self, number: usize) -> usize {
        let (factor, seed) = self.drawn(number);
        let commands = Drawn::all(self.length, factor, seed);
        commands
            .map(|command| command.plain + command.repeated)
            .sum()
    }

    /// Draws a block's expansion factor and the seed for its commands.
    fn drawn(&self, number: usize) -> (usize, u64) {
        let drawn = random(self.seed, number as u64);
        let factor = match drawn % self.burst {
            0 => BURST,
            _ => USUAL,
        };
        (factor, !drawn)
    }
}

/// Decompresses a block and returns the checksum of its output.
fn one<R: Runtime>(input: &Compressed) -> u64 {
    let mut output = block::<R, u8>(0, input.length);
    input.decompress(&mut output.values);
    // One is added so that zeros affect the checksum.
    checksum(output.values.iter().map(|byte| u64::from(*byte) + 1))
}

impl Program for Decompress {
    const NAME: &'static str = "decompress";
    const SUMMARY: &'static str = "decompresses blocks, a few of which become very large";
    parameters! {
        blocks = positional("blocks", Integer(1, 1 << 30), ["16", "1024", "4096"],
            "number of blocks");
        length = named("length", Integer(0, 1 << 30), ["256", "65536", "131072"],
            "maximum bytes of a compressed block");
        burst = named("burst", Integer(1, 1 << 30), ["4", "16", "16"],
            "one in this many blocks becomes very large");
        seed = seed("seed of the blocks");
        form = Form::parameter("spawn");
    }
    result! { self, _, output =>
        checksum "hash of all decompressed blocks" = *output;
    }

    type Input = Vec<Compressed>;
    type Output = u64;
    with_form! {}

    fn prepare(&self) -> io::Result<Vec<Compressed>> {
        Ok((0..self.blocks).map(|i| self.compressed(i)).collect())
    }

    fn serial(&self, input: &mut Vec<Compressed>) -> u64 {
        self.all::<Serial>(Way::Call, input)
    }

    fn parallel<R: Runtime>(&self, input: &mut Vec<Compressed>, fork: &mut R::Fork<'_>) -> u64 {
        self.all(Way::<R>::new(self.form, fork), input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decompressed(input: &Compressed) -> Vec<u8> {
        let mut output = vec![0; input.length];
        input.decompress(&mut output);
        output
    }

    /// A command may copy bytes that it has just written.
    #[test]
    fn repeats_may_overlap_their_output() {
        let mut input = Compressed::default();
        assert_eq!(decompressed(&input), b"");
        input.add(b"abc", 7, 2);
        input.add(b"x", 0, 1);
        input.add(b"", 3, 11);
        assert_eq!(decompressed(&input), b"abcbcbcbcbxabc");
    }

    #[test]
    fn blocks_expand_by_their_factor() {
        for factor in [USUAL, BURST] {
            let input = Compressed::random(1000, factor, 7);
            let length = input.commands.len();
            assert!((960..=1000).contains(&length), "{length}");
            assert_eq!(decompressed(&input).len(), factor * length);
        }
        assert_eq!(Compressed::random(5, BURST, 7).length, 0);
    }
}
