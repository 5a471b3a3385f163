//! Compressed blocks, each of which becomes a task's memory: as a stage of a pipeline decompresses what comes in.
//!
//! Most blocks become a little longer (`USUAL`); one in so many, drawn, very much (`BURST`). A task holds its block's output from before decompressing to the end of the checksum, so
//! several workers that meet long blocks at once need many times the usual memory, and then for a while almost none.
//!
//! A compressed block is a row of commands of a scheme of our own, after the idea of Jacob Ziv and Abraham Lempel (A Universal Algorithm for Sequential Data Compression, 1977):
//!
//! | bytes | meaning |
//! |---|---|
//! | 1 | how many bytes follow that stand for themselves |
//! | so many | these |
//! | 2, the lower one first | how many bytes to repeat after them |
//! | 2, the lower one first | how far back they begin, which may be so near that they repeat themselves |
//!
//! The blocks are made up command by command, in memory, before the run; the length of the output is known with each block.
//!
//! What it does not do: compress, check commands (its own are right), or share work within a block.

use std::array;
use std::io;

use serde_json::Value;

use super::{Way, block, each};
use crate::parameter::{Kind, Parameter, ParameterError, Preset, Values};
use crate::program::{Answer, Field, Form, Program, answer};
use crate::runtime::{Runtime, Serial};
use crate::steps::{checksum, random};

/// How much longer a usual block becomes.
const USUAL: usize = 2;

/// How much longer one of a burst becomes.
const BURST: usize = 100;

/// The most bytes of a command that stand for themselves.
const PLAIN: usize = 32;

/// The bytes of a command beside those.
const COMMAND: usize = 5;

/// How far back repeated bytes begin at most.
const WINDOW: usize = 1 << 12;

/// The program `decompress`.
#[derive(Clone, Copy, Debug)]
pub struct Decompress {
    /// How many blocks.
    pub blocks: usize,
    /// The most bytes of a block before.
    pub length: usize,
    /// One in how many blocks is of a burst.
    pub burst: u64,
    /// From which the blocks are made.
    pub seed: u64,
    /// How the parallel body makes its tasks.
    pub form: Form,
}

/// A command of a block, as it is drawn.
struct Drawn {
    drawn: u64,
    /// How many bytes stand for themselves.
    plain: usize,
    /// How many are repeated after them.
    repeated: usize,
}

impl Drawn {
    /// The commands of a block of at most so many bytes with an output of so many times its length.
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
    /// The length of the output.
    length: usize,
}

impl Compressed {
    /// A block of at most so many bytes with an output of so many times its length.
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
                // No more than is there already; it grows as they repeat themselves.
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

    /// How long the output of this block is.
    pub(crate) fn output_length(&self, number: usize) -> usize {
        let (factor, seed) = self.drawn(number);
        let commands = Drawn::all(self.length, factor, seed);
        commands
            .map(|command| command.plain + command.repeated)
            .sum()
    }

    /// By how much this block becomes longer, and from which its commands are made.
    fn drawn(&self, number: usize) -> (usize, u64) {
        let drawn = random(self.seed, number as u64);
        let factor = match drawn % self.burst {
            0 => BURST,
            _ => USUAL,
        };
        (factor, !drawn)
    }
}

/// What a task does.
fn one<R: Runtime>(input: &Compressed) -> u64 {
    let mut output = block::<R, u8>(0, input.length);
    input.decompress(&mut output.values);
    // One more: zeros count, too.
    checksum(output.values.iter().map(|byte| u64::from(*byte) + 1))
}

impl Program for Decompress {
    const NAME: &'static str = "decompress";
    const SUMMARY: &'static str = "compressed blocks, some of which become very long";
    const PARAMETERS: &'static [Parameter] = &[
        Parameter {
            name: "blocks",
            positional: true,
            kind: Kind::Integer(1, 1 << 30),
            preset: Preset::Sizes(["16", "1024", "4096"]),
            meaning: "how many blocks",
        },
        Parameter {
            name: "length",
            positional: false,
            kind: Kind::Integer(0, 1 << 30),
            preset: Preset::Sizes(["256", "65536", "131072"]),
            meaning: "how many bytes a compressed block has at most",
        },
        Parameter {
            name: "burst",
            positional: false,
            kind: Kind::Integer(1, 1 << 30),
            preset: Preset::Sizes(["4", "16", "16"]),
            meaning: "one in how many blocks becomes very long",
        },
        Parameter {
            name: "seed",
            positional: false,
            kind: Kind::Integer(0, u64::MAX),
            preset: Preset::Sizes(["1"; 3]),
            meaning: "from which the blocks are made",
        },
        Form::parameter("spawn"),
    ];
    const RESULT: &'static [Field] = &[Field {
        name: "checksum",
        meaning: "a number that depends on every byte of every block and its place",
    }];

    type Input = Vec<Compressed>;
    type Output = u64;

    fn from_values(values: &Values) -> Result<Self, ParameterError> {
        Ok(Self {
            blocks: values.integer("blocks")? as usize,
            length: values.integer("length")? as usize,
            burst: values.integer("burst")?,
            seed: values.integer("seed")?,
            form: Form::from_values(values)?,
        })
    }

    fn parameters(&self) -> Answer {
        answer([
            ("blocks", self.blocks.into()),
            ("length", self.length.into()),
            ("burst", self.burst.into()),
            ("seed", self.seed.into()),
            ("form", self.form.name().into()),
        ])
    }

    fn prepare(&self) -> io::Result<Vec<Compressed>> {
        Ok((0..self.blocks).map(|i| self.compressed(i)).collect())
    }

    fn serial(&self, input: &mut Vec<Compressed>) -> u64 {
        self.all::<Serial>(Way::Call, input)
    }

    fn parallel<R: Runtime>(&self, input: &mut Vec<Compressed>, fork: &mut R::Fork<'_>) -> u64 {
        self.all(Way::<R>::new(self.form, fork), input)
    }

    fn applies_to<R: Runtime>(&self) -> bool {
        self.form.applies_to::<R>()
    }

    fn answer(&self, _: &Vec<Compressed>, output: &u64) -> Answer {
        answer([("checksum", Value::from(*output))])
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

    #[test]
    fn commands_write_and_repeat_even_what_they_are_writing() {
        let mut input = Compressed::default();
        assert_eq!(decompressed(&input), b"");
        input.add(b"abc", 7, 2);
        input.add(b"x", 0, 1);
        input.add(b"", 3, 11);
        assert_eq!(decompressed(&input), b"abcbcbcbcbxabc");
    }

    #[test]
    fn blocks_become_as_many_times_longer_as_they_are_to() {
        for factor in [USUAL, BURST] {
            let input = Compressed::random(1000, factor, 7);
            let length = input.commands.len();
            assert!((960..=1000).contains(&length), "{length}");
            assert_eq!(decompressed(&input).len(), factor * length);
        }
        assert_eq!(Compressed::random(5, BURST, 7).length, 0);
    }
}
