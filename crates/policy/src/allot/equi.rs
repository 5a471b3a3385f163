//! EQUI: equal parts for all jobs with work, no matter how much they desire. As described by
//! Haselsteiner, "Adaptive Work-Stealing Techniques", 2015, section 2.4.
//!
//! The first jobs get one processor of the remainder each.

use super::spread;
use alloc::vec::Vec;

/// Writes the allotments for these desires to `out`.
pub(super) fn equi(desires: impl Iterator<Item = usize>, processors: usize, out: &mut Vec<usize>) {
    out.clear();
    out.extend(desires.map(|desire| desire.min(1)));
    let sharing: Vec<&mut usize> = out.iter_mut().filter(|allotment| **allotment > 0).collect();
    if sharing.len() < processors {
        spread(processors, sharing.into_iter());
    }
}
