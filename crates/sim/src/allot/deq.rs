//! Dynamic equipartitioning, computed from scratch. A job that desires no more than an equal part
//! gets what it desires. The other jobs divide the remaining processors by the same rule, until
//! each of them desires more than an equal part; they then get equal parts. From Haselsteiner,
//! "Adaptive Work-Stealing Techniques", 2015, algorithm 2.1.
//!
//! The source does not say which jobs get the remainder of the division. Here, the first jobs get
//! one extra processor each.

use super::spread;

pub(super) fn deq(desires: impl Iterator<Item = usize>, processors: usize, out: &mut Vec<usize>) {
    out.clear();
    out.extend(desires);
    let mut sharing: Vec<&mut usize> = out.iter_mut().filter(|desire| **desire > 0).collect();
    if sharing.len() >= processors {
        sharing.into_iter().for_each(|desire| *desire = 1);
        return;
    }
    let mut left = processors;
    loop {
        let (before, part) = (sharing.len(), left / sharing.len().max(1));
        sharing.retain(|desire| {
            let content = **desire <= part;
            left -= if content { **desire } else { 0 };
            !content
        });
        if sharing.len() == before {
            spread(left, sharing.into_iter());
            return;
        }
    }
}
