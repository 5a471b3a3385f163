//! Which processors each job of the table gets.

use std::collections::BTreeMap;

/// A row of the table: a job, the processors on which it may run, and its allotment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The processors on which the job may run, in the machine's order and each once.
    pub mask: &'a [usize],
    /// How many of them it is entitled to.
    pub allotment: usize,
}

/// Returns the processors of each row, in the machine's order: as many as its allotment, but at
/// most those of its mask. `rows` are in the order of the jobs' arrival. A row with an allotment of
/// 0 gets none, and so moves no other.
///
/// The rows choose in turn, those with the fewest processors in their masks first, and among equals
/// the one that arrived first. So a job keeps its processors when one changes that chooses later.
/// Each row takes the processors that the fewest rows before it have taken. If several choices are
/// as good, it takes consecutive ones (the last and the first of its mask count as consecutive),
/// and then the first.
///
/// If each two masks are disjoint or nested (equal, or one within the other), no two rows share a
/// processor while the allotments fit: only rows whose masks lie within that of a later one have
/// taken processors from it. If masks overlap in part, two rows may share a processor although the
/// allotments fit.
///
/// A job that does not confine its threads, such as a pool of Tidegate, counts like any other: its
/// threads find the processors that the confined jobs leave to them.
///
/// ```
/// use tidegate_exec::outside::{Row, assign};
///
/// let mask = [0, 2, 1, 3]; // the machine's order: 0 and 2 share a cache
/// let rows = [1, 2, 1, 2].map(|allotment| Row { mask: &mask, allotment });
/// let expected: [&[usize]; 4] = [&[0], &[2, 1], &[3], &[0, 2]];
/// assert_eq!(assign(&rows), expected);
///
/// let rows = [&mask[..], &[0, 1]].map(|mask| Row { mask, allotment: 2 });
/// assert_eq!(assign(&rows), [[2, 3], [0, 1]]);
/// ```
#[must_use]
pub fn assign(rows: &[Row<'_>]) -> Vec<Vec<usize>> {
    let mut takers = BTreeMap::new();
    let mut take = |row: &Row<'_>| {
        let counts: Vec<usize> = row
            .mask
            .iter()
            .map(|cpu| takers.get(cpu).copied().unwrap_or(0))
            .collect();
        let chosen: Vec<usize> = choose(&counts, row.allotment)
            .into_iter()
            .map(|place| row.mask[place])
            .collect();
        for cpu in &chosen {
            *takers.entry(*cpu).or_insert(0) += 1;
        }
        chosen
    };
    let mut turns: Vec<usize> = (0..rows.len()).collect();
    // The sort keeps the order of arrival among equals.
    turns.sort_by_key(|index| rows[*index].mask.len());
    let mut assigned = vec![Vec::new(); rows.len()];
    for index in turns {
        assigned[index] = take(&rows[index]);
    }
    assigned
}

/// Returns `size` processors for the row `own`, in the machine's order, but at most those of its
/// mask: first those that [`assign`] gives it, and then those that the fewest other rows have. So a
/// row that takes more than its allotment takes the processors of others only if no more are free.
///
/// ```
/// use tidegate_exec::outside::{Row, assign_more};
///
/// let rows = [1, 1].map(|allotment| Row { mask: &[0, 1, 2, 3], allotment });
/// assert_eq!(assign_more(&rows, 0, 3), [0, 2, 3]);
/// assert_eq!(assign_more(&rows, 1, 1), [1]);
/// ```
#[must_use]
pub fn assign_more(rows: &[Row<'_>], own: usize, size: usize) -> Vec<usize> {
    let mut others = assign(rows);
    let base = others.swap_remove(own);
    let takers = |cpu: &usize| others.iter().filter(|taken| taken.contains(cpu)).count();
    let mask = rows[own].mask;
    let mut places: Vec<usize> = (0..mask.len()).collect();
    places.sort_by_key(|place| (!base.contains(&mask[*place]), takers(&mask[*place])));
    places.truncate(size);
    places.sort_unstable();
    places.into_iter().map(|place| mask[place]).collect()
}

/// Returns the places of the `size` smallest counts, in ascending order.
fn choose(counts: &[usize], size: usize) -> Vec<usize> {
    let size = size.min(counts.len());
    let mut scattered: Vec<usize> = (0..counts.len()).collect();
    scattered.sort_by_key(|place| counts[*place]);
    scattered.truncate(size);
    let sum: usize = scattered.iter().map(|place| counts[*place]).sum();
    let mut chosen = consecutive(counts, size, sum).unwrap_or(scattered);
    chosen.sort_unstable();
    chosen
}

/// Returns the first `size` consecutive places whose counts add up to `sum`, if there are any.
fn consecutive(counts: &[usize], size: usize, sum: usize) -> Option<Vec<usize>> {
    let places = |start: usize| (start..start + size).map(|place| place % counts.len());
    let fits = |start: &usize| places(*start).map(|place| counts[place]).sum::<usize>() == sum;
    (0..counts.len())
        .find(fits)
        .map(|start| places(start).collect())
}
