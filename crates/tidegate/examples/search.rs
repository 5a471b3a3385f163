//! Finds one way to place N queens: `cargo run -p tidegate --example search -- N`
//!
//! The page `docs/guide/search.md` explains it.

use std::env;
use std::sync::OnceLock;

/// The column of the queen in each row.
type Queens = Vec<usize>;

struct Search {
    size: usize,
    /// The first solution that any worker has found.
    found: OnceLock<Queens>,
}

fn main() {
    let size = env::args()
        .nth(1)
        .map_or(10, |n| n.parse().expect("a number"));
    let search = Search {
        size,
        found: OnceLock::new(),
    };
    search.place(&[]);
    match search.found.into_inner() {
        Some(queens) => {
            println!("{queens:?}");
            assert!((0..size).all(|row| is_free(&queens[..row], queens[row])));
        }
        None => println!("there is no solution"),
    }
}

impl Search {
    /// Tries every column of the next row. Returns whether there is a solution.
    fn place(&self, queens: &[usize]) -> bool {
        if queens.len() == self.size {
            // Another worker may have been faster: its solution stays.
            let _ = self.found.set(queens.to_vec());
            return true;
        }
        tidegate::any(0..self.size, |column| {
            let is_over = self.found.get().is_some(); // the early exit of all branches
            is_over || is_free(queens, column) && self.place(&[queens, &[column]].concat())
        })
    }
}

/// Whether no queen attacks this column of the next row.
fn is_free(queens: &[usize], column: usize) -> bool {
    let mut rows = queens.iter().rev().zip(1..);
    rows.all(|(&other, distance)| other != column && other.abs_diff(column) != distance)
}
