//! EQUI: equal parts for all jobs with work, no matter how many processors they desire. From
//! Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section 2.4.
//!
//! The remainder of the division goes to the first jobs, one processor each.

use super::spread;

pub(super) fn equi(desires: impl Iterator<Item = usize>, processors: usize, out: &mut Vec<usize>) {
    out.clear();
    out.extend(desires.map(|desire| desire.min(1)));
    let sharing: Vec<&mut usize> = out.iter_mut().filter(|allotment| **allotment > 0).collect();
    if sharing.len() < processors {
        spread(processors, sharing.into_iter());
    }
}
