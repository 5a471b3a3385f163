//! Wavefront: the best local alignment of two sequences, in blocks of the table.
//!
//! The algorithm is from Temple Smith and Michael Waterman, Identification of common molecular
//! subsequences, Journal of Molecular Biology 147, 1981; here, each letter of a gap costs the same.
//! Cell (i, j) of the table needs the cell above, the cell to the left and the cell diagonally
//! between these two. So a block waits for the blocks above and to the left, and the blocks that
//! can run at the same time form a diagonal that grows and shrinks.
//!
//! Only the last row and the last column of a block are kept, for the next blocks.
//!
//! The program doesn't record the path that leads to the best score.

use std::io;
use std::sync::RwLock;
use std::sync::atomic::{AtomicI32, Ordering};

use super::rows::unfold;
use super::{BATCH, after_above_and_left, write};
use crate::parameter::{Kind::Integer, named, positional, seed};
use crate::program::{Program, parameters, result};
use crate::runtime::Runtime;
use crate::steps::{checksum, random};

const MATCH: i32 = 2;
const MISMATCH: i32 = -1;
const GAP: i32 = -1;
/// One in `CHANGED` letters differs between the sequences.
const CHANGED: u64 = 4;

/// The program `wavefront`, which aligns two sequences.
#[derive(Clone, Copy, Debug)]
pub struct Wavefront {
    /// Letters per sequence.
    pub n: usize,
    /// Letters per side of a block.
    pub block: usize,
    /// The seed for the sequences.
    pub seed: u64,
}

/// The two sequences to align.
pub type Pair = [Vec<u8>; 2];

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The best score of any alignment.
    score: i32,
    /// A checksum that depends on the whole last row of the table.
    checksum: u64,
}

/// Fills a block of the table and returns the best score in it. `above` is the row above the block;
/// it is overwritten with the block's last row. `left` is the column to the left of the block,
/// preceded by the cell above that column; it is overwritten with the block's last column.
fn fill(down: &[u8], across: &[u8], above: &mut [i32], left: &mut [i32]) -> i32 {
    let mut best = 0;
    let corner = above.last().copied().unwrap_or(left[0]);
    let mut diagonal = left[0];
    for (letter, left) in down.iter().zip(&mut left[1..]) {
        let (mut between, mut beside) = (diagonal, *left);
        diagonal = *left;
        for (other, cell) in across.iter().zip(&mut *above) {
            let same = if letter == other { MATCH } else { MISMATCH };
            let score = (between + same).max((*cell).max(beside) + GAP).max(0);
            (between, beside) = (*cell, score);
            *cell = score;
            best = best.max(score);
        }
        *left = beside;
    }
    left[0] = corner;
    best
}

impl Wavefront {
    fn outcome<'a>(score: i32, rows: impl Iterator<Item = &'a [i32]>) -> Outcome {
        let checksum = checksum(rows.flatten().map(|&cell| cell as u64));
        Outcome { score, checksum }
    }
}

impl Program for Wavefront {
    const NAME: &'static str = "wavefront";
    const SUMMARY: &'static str = "sequence alignment, block by block along the diagonals";
    parameters! {
        n = positional("n", Integer(1, 1 << 28), ["300", "8192", "32768"],
            "length of each sequence");
        block = named("block", Integer(1, 1 << 28), ["32", "128", "128"],
            "side length of a block; each block is an interval");
        seed = seed("seed of the sequences");
    }
    result! { self, _, output =>
        score "best local alignment score" = output.score;
        checksum "hash of the last row of the score table" = output.checksum;
    }
    const INTERVALS: bool = true;

    type Input = Pair;
    type Output = Outcome;

    fn prepare(&self) -> io::Result<Pair> {
        let letter = |number: u64| b"ACGT"[(random(self.seed, number) % 4) as usize];
        let one: Vec<u8> = (0..self.n as u64).map(letter).collect();
        let mut other = one.clone();
        for (number, changed) in (self.n as u64..).zip(&mut other) {
            if random(self.seed, number) >> 32 < (1 << 32) / CHANGED {
                *changed = letter(number);
            }
        }
        // One sequence is rotated, so that the best path doesn't follow the diagonal.
        other.rotate_left(self.n / 3);
        Ok([one, other])
    }

    fn serial(&self, [down, across]: &mut Pair) -> Outcome {
        let (mut row, mut column) = (vec![0; self.n], vec![0; self.n + 1]);
        let score = fill(down, across, &mut row, &mut column);
        Self::outcome(score, [&row[..]].into_iter())
    }

    fn parallel<R: Runtime>(&self, [down, across]: &mut Pair, fork: &mut R::Fork<'_>) -> Outcome {
        let block = self.block;
        let rows: Vec<_> = across
            .chunks(block)
            .map(|part| vec![0; part.len()])
            .collect();
        let rows: Vec<_> = rows.into_iter().map(RwLock::new).collect();
        let columns = down.chunks(block).map(|part| vec![0; part.len() + 1]);
        let columns: Vec<_> = columns.map(RwLock::new).collect();
        let best = AtomicI32::new(0);
        let (above, beside, best_yet) = (&rows[..], &columns[..], &best);
        let (down, across) = (&down[..], &across[..]);
        let part = move |of: &'_ [u8], number: usize| {
            let start = number * block;
            start..of.len().min(start + block)
        };
        R::intervals(fork, |body| {
            unfold::<R, _>(body, beside.len() as u64, BATCH, move |body, i, row| {
                let i = i as usize;
                for j in 0..above.len() {
                    let next = body.interval(move |_| {
                        let (down, across) = (&down[part(down, i)], &across[part(across, j)]);
                        let score =
                            fill(down, across, &mut write(&above[j]), &mut write(&beside[i]));
                        // Relaxed: the best score is read after all intervals have ended.
                        best_yet.fetch_max(score, Ordering::Relaxed);
                    });
                    let next = R::named(next, || format!("block {i}, {j}"));
                    after_above_and_left(row, j, next);
                }
            });
        });
        let rows: Vec<Vec<i32>> = rows
            .into_iter()
            .map(|row| row.into_inner().expect("no interval has failed"))
            .collect();
        Self::outcome(best.into_inner(), rows.iter().map(Vec::as_slice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the whole table directly from the recurrence.
    fn table(down: &[u8], across: &[u8]) -> Vec<Vec<i32>> {
        let mut table = vec![vec![0; across.len() + 1]; down.len() + 1];
        for i in 1..=down.len() {
            for j in 1..=across.len() {
                let same = down[i - 1] == across[j - 1];
                let through = table[i - 1][j - 1] + if same { MATCH } else { MISMATCH };
                let gap = table[i - 1][j].max(table[i][j - 1]) + GAP;
                table[i][j] = through.max(gap).max(0);
            }
        }
        table
    }

    #[test]
    fn score_and_last_row_match_table() {
        for n in [1, 2, 3, 40, 61] {
            let program = Wavefront {
                n,
                block: 7,
                seed: n as u64,
            };
            let mut pair = program.prepare().unwrap();
            let table = table(&pair[0], &pair[1]);
            let score = table.iter().flatten().copied().max().unwrap();
            let wanted = Wavefront::outcome(score, [&table[n][1..]].into_iter());
            assert_eq!(program.serial(&mut pair), wanted, "{n}");
        }
    }

    #[test]
    fn known_pair_has_its_known_score() {
        // The best alignment pairs GTTGAC with GTT-AC: five matches and a gap.
        let table = table(b"TGTTGACGG", b"GGTTACTA");
        let score = table.iter().flatten().copied().max();
        assert_eq!(score, Some(5 * MATCH + GAP));
    }
}
