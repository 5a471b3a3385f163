//! LUFact: in each step, an interval for the pivot, then intervals for pieces of the later columns.
//!
//! The pivot of a step waits for the piece that contained its column in the previous step. A piece
//! waits for its step's pivot and for the same piece in the previous step. So the next pivot
//! doesn't wait for the rest of a step.

use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidegate::interval::{Interval, Scope};

use super::rows::unfold;
use super::{BATCH, Composed, follow, piece, put, read, write};
use crate::grande::LuFact;
use crate::grande::lufact::{eliminate, pivot, solve};
use crate::runtime::Runtime;

impl Composed for LuFact {
    const SUMMARY: &'static str = "Java Grande: Gaussian elimination, by columns";

    // There are few pieces, because eliminating a single column takes too little time for an
    // interval.
    const PIECES: [&'static str; 3] = ["7", "16", "32"];

    fn run<R: Runtime>(&mut self, fork: &mut R::Fork<'_>, pieces: usize) {
        let columns: Vec<_> = self.columns.iter_mut().map(RwLock::new).collect();
        let pivots: Vec<_> = columns.iter().map(|_| AtomicUsize::new(0)).collect();
        let factors = Factors {
            columns: &columns,
            pivots: &pivots,
            piece: piece(columns.len(), pieces),
        };
        R::intervals(fork, |body| {
            let steps = factors.columns.len() as u64;
            unfold::<R, _>(body, steps, BATCH, move |body, step, row| {
                factors.step::<R>(body, step as usize, row);
            });
        });
        self.pivots = pivots.into_iter().map(AtomicUsize::into_inner).collect();
        solve(&self.columns, &self.pivots, &mut self.right);
    }
}

/// The data shared by all steps.
#[derive(Clone, Copy)]
struct Factors<'a> {
    columns: &'a [RwLock<&'a mut Vec<f64>>],
    pivots: &'a [AtomicUsize],
    /// Columns per piece.
    piece: usize,
}

impl<'a> Factors<'a> {
    /// Creates the intervals of step k. For each piece, `row` holds the interval to wait for: the
    /// same piece in the previous step or, if all columns of that piece are finished, its last
    /// pivot.
    fn step<'scope, R: Runtime>(
        self,
        body: &Scope<'scope, '_>,
        k: usize,
        row: &mut Vec<Interval<'scope>>,
    ) where
        'a: 'scope,
    {
        let own = k / self.piece;
        let first = body.interval(move |_| self.pivot(k));
        let first = R::named(first, || format!("pivot {k}"));
        if let Some(before) = row.get(own) {
            follow(before, &first);
        }
        let first = first.schedule();
        put(row, own, first.clone());
        for number in (k + 1) / self.piece..self.columns.len().div_ceil(self.piece) {
            let columns =
                (number * self.piece).max(k + 1)..self.columns.len().min((number + 1) * self.piece);
            let next = body.interval(move |_| {
                let multipliers = read(&self.columns[k]);
                // Relaxed: the pivot's interval ran before this one.
                let pivot = self.pivots[k].load(Ordering::Relaxed);
                for column in &self.columns[columns] {
                    eliminate(k, pivot, &multipliers, &mut write(column));
                }
            });
            let next = R::named(next, || format!("step {k}, piece {number}"));
            if number > own {
                follow(&first, &next);
            }
            if let Some(before) = row.get(number) {
                follow(before, &next);
            }
            put(row, number, next.schedule());
        }
    }

    fn pivot(self, k: usize) {
        // Relaxed: all readers run after this interval.
        self.pivots[k].store(pivot(k, &mut write(&self.columns[k])), Ordering::Relaxed);
    }
}
