//! How close workers are to each other for the purpose of stealing: a tree whose leaves are the
//! workers.
//!
//! Workers that share a small cache form a group, groups that share a larger cache form a larger
//! group, and the root holds all of them. The distance between two workers is the number of levels
//! up to the smallest group that holds both, so a larger distance never means cheaper
//! communication. Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section 2.2, builds a
//! binary tree. Here, the size of a group follows the hardware, and on a machine without structure
//! every worker is at distance 1 from every other.
//!
//! This module does not read the topology of caches and cores: the caller passes in the groups.

use crate::error::ParseError;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// A tree over the workers `0..n`.
///
/// ```
/// use tidegate_policy::PlaceTree;
///
/// // Four workers in two pairs that share a cache.
/// let tree = PlaceTree::from_groups(4, &[vec![vec![0, 1], vec![2, 3]]])?;
/// assert_eq!([tree.distance(0, 0), tree.distance(0, 1), tree.distance(0, 2)], [0, 1, 2]);
/// # Ok::<(), tidegate_policy::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceTree {
    workers: usize,
    /// For each level, from the smallest groups to the largest, the group number of each worker.
    levels: Vec<Vec<usize>>,
}

impl PlaceTree {
    /// Builds the tree of a machine without structure: all workers are at distance 1 from each
    /// other.
    #[must_use]
    pub fn flat(workers: usize) -> Self {
        Self {
            workers,
            levels: vec![],
        }
    }

    /// Builds a tree from levels of groups, starting with the smallest groups. The group of all
    /// workers may be omitted. A worker that a level does not list forms its own group on that
    /// level. A level adds no distance if each of its groups is a single worker, if one group holds
    /// all workers, or if it equals the previous level.
    ///
    /// # Errors
    /// Returns an error if a worker is outside `0..workers` or in two groups of a level, or if two
    /// workers are in the same group on one level but not on a later one.
    pub fn from_groups(workers: usize, levels: &[Vec<Vec<usize>>]) -> Result<Self, ParseError> {
        let mut kept: Vec<Vec<usize>> = vec![];
        for (level, groups) in levels.iter().enumerate() {
            let numbers = number_groups(workers, level, groups)?;
            if let Some(finer) = kept.last() {
                check_nested(level, finer, &numbers)?;
            }
            let alone = numbers
                .iter()
                .enumerate()
                .all(|(worker, &group)| worker == group);
            let together = numbers.iter().all(|&group| group == 0);
            if !alone && !together && kept.last().is_none_or(|finer| *finer != numbers) {
                kept.push(numbers);
            } else if together {
                break;
            }
        }
        Ok(Self {
            workers,
            levels: kept,
        })
    }

    /// Returns, for each distance except the largest, the group number of each worker.
    #[must_use]
    pub fn levels(&self) -> &[Vec<usize>] {
        &self.levels
    }

    /// Returns the place of each worker, and the number of places. A place is a smallest group;
    /// places are numbered from 0, in the order of their first workers.
    ///
    /// ```
    /// # use tidegate_policy::PlaceTree;
    /// let tree = PlaceTree::from_groups(4, &[vec![vec![0, 2], vec![1, 3]]])?;
    /// assert_eq!(tree.places(), (vec![0, 1, 0, 1], 2));
    /// assert_eq!(PlaceTree::flat(2).places(), (vec![0, 0], 1));
    /// # Ok::<(), tidegate_policy::ParseError>(())
    /// ```
    #[must_use]
    pub fn places(&self) -> (Vec<usize>, usize) {
        let Some(groups) = self.levels.first() else {
            return (vec![0; self.workers], 1);
        };
        // The number of a group is the number of its first worker.
        let mut numbers = vec![0; self.workers];
        let mut count = 0;
        for (worker, &group) in groups.iter().enumerate() {
            if group == worker {
                numbers[worker] = count;
                count += 1;
            }
        }
        let places = groups.iter().map(|&group| numbers[group]).collect();
        (places, count)
    }

    /// Returns the number of workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Returns the distance between two workers: 0 for the same worker, 1 for the nearest, at most
    /// [`height`](Self::height). A worker that is not in the tree is at the largest distance.
    #[must_use]
    pub fn distance(&self, a: usize, b: usize) -> u32 {
        if a == b {
            return 0;
        }
        let together =
            |level: &[usize]| matches!((level.get(a), level.get(b)), (Some(x), Some(y)) if x == y);
        let apart = self
            .levels
            .iter()
            .take_while(|level| !together(level))
            .count();
        apart as u32 + 1
    }

    /// Returns the largest distance between two workers.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.levels.len() as u32 + 1
    }
}

/// Numbers each group by its lowest-numbered worker, so that equal groupings get equal numbers.
fn number_groups(
    workers: usize,
    level: usize,
    groups: &[Vec<usize>],
) -> Result<Vec<usize>, ParseError> {
    let refuse = |worker: usize, what: &str, expected: &str| {
        Err(ParseError::new(
            "places",
            &format!("worker {worker} of level {level} {what}"),
            expected,
        ))
    };
    let mut numbers: Vec<Option<usize>> = vec![None; workers];
    for group in groups {
        let Some(&first) = group.iter().min() else {
            continue;
        };
        for &worker in group {
            match numbers.get_mut(worker) {
                None => {
                    return refuse(
                        worker,
                        "does not exist",
                        &format!("workers below {workers}"),
                    );
                }
                Some(Some(_)) => {
                    return refuse(worker, "is named twice", "each worker once in a level");
                }
                Some(number) => *number = Some(first),
            }
        }
    }
    Ok(numbers
        .iter()
        .enumerate()
        .map(|(worker, number)| number.unwrap_or(worker))
        .collect())
}

/// Checks that workers in the same group of `finer` are also in the same group of `coarser`.
fn check_nested(level: usize, finer: &[usize], coarser: &[usize]) -> Result<(), ParseError> {
    match (0..finer.len()).find(|&worker| coarser[worker] != coarser[finer[worker]]) {
        Some(worker) => {
            let what = format!(
                "level {level} separates worker {worker} from worker {}",
                finer[worker]
            );
            Err(ParseError::new(
                "places",
                &what,
                "groups made of whole groups of the previous level",
            ))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn flat_machine_has_distance_one() {
        let tree = PlaceTree::flat(3);
        assert_eq!(
            [
                tree.distance(0, 1),
                tree.distance(0, 2),
                tree.distance(1, 1)
            ],
            [1, 1, 0]
        );
        assert_eq!(tree.height(), 1);
    }

    #[test]
    fn distance_counts_levels_to_common_group() {
        let pairs: Vec<Vec<usize>> = (0..4).map(|i| vec![2 * i, 2 * i + 1]).collect();
        let halves = vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
        let tree = PlaceTree::from_groups(8, &[pairs, halves]).unwrap();
        assert_eq!([1, 2, 4, 7].map(|b| tree.distance(0, b)), [1, 2, 3, 3]);
        assert_eq!(tree.height(), 3);
    }

    #[test]
    fn indistinct_levels_add_no_distance() {
        let alone = vec![vec![0], vec![1], vec![2], vec![3]];
        let pairs = vec![vec![0, 1], vec![3, 2]];
        let all = vec![vec![3, 2, 1, 0]];
        let tree =
            PlaceTree::from_groups(4, &[alone, pairs.clone(), pairs, all.clone(), all]).unwrap();
        assert_eq!(
            [tree.distance(0, 1), tree.distance(0, 2), tree.height()],
            [1, 2, 2]
        );
    }

    #[test]
    fn ungrouped_worker_is_farthest() {
        let tree = PlaceTree::from_groups(3, &[vec![vec![0, 1]]]).unwrap();
        assert_eq!(
            [
                tree.distance(0, 2),
                tree.distance(0, 99),
                tree.distance(98, 99)
            ],
            [2, 2, 2]
        );
    }

    /// On one level, groups must not overlap. A group must not be split between groups of a later
    /// level, or contain unknown workers.
    #[test]
    fn malformed_groups_are_rejected() {
        let refused =
            |levels: &[Vec<Vec<usize>>]| PlaceTree::from_groups(4, levels).unwrap_err().to_string();
        assert!(refused(&[vec![vec![0, 4]]]).contains("worker 4 of level 0 does not exist"));
        assert!(refused(&[vec![vec![0, 1], vec![1, 2]]]).contains("named twice"));
        assert!(
            refused(&[vec![vec![0, 1]], vec![vec![1, 2]]])
                .contains("level 1 separates worker 1 from worker 0")
        );
    }
}
