//! Sets of processors.

use std::fmt;

/// The number of words in a set.
pub(crate) const WORDS: usize = 16;

/// The processors that a job may run on, by number from 0 to 1,023.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CpuMask(pub(crate) [u64; WORDS]);

impl CpuMask {
    /// The maximum number of processors in a set.
    pub const MOST: usize = 64 * WORDS;
    pub(crate) const EMPTY: Self = Self([0; WORDS]);

    /// Creates a set of these processors. Numbers above 1,023 are ignored.
    pub fn from_cpus(cpus: impl IntoIterator<Item = usize>) -> Self {
        let mut words = [0; WORDS];
        for cpu in cpus.into_iter().filter(|cpu| *cpu < Self::MOST) {
            words[cpu / 64] |= 1 << (cpu % 64);
        }
        Self(words)
    }

    /// Returns the number of processors in the set.
    // Its loop is unrolled, so it should not be copied to each place that calls it.
    #[inline(never)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::EMPTY
    }

    /// Returns whether `cpu` is in the set.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        cpu < Self::MOST && self.0[cpu / 64] & (1 << (cpu % 64)) != 0
    }

    /// Returns whether every processor of this set is in `other`.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.intersection(other) == *self
    }

    /// Returns the processors in the set, in ascending order.
    pub fn cpus(&self) -> impl Iterator<Item = usize> {
        (0..Self::MOST).filter(|cpu| self.contains(*cpu))
    }

    /// Returns the set of processors that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Returns the set of processors that are in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl fmt::Debug for CpuMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.cpus()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_ignores_cpus_beyond_its_end() {
        let set = CpuMask::from_cpus([0, 63, 64, 1023, 1024, usize::MAX]);
        assert_eq!(set.len(), 4);
        assert!([0, 63, 64, 1023].into_iter().all(|cpu| set.contains(cpu)));
        assert!(!set.contains(1) && !set.contains(1024) && !set.contains(usize::MAX));
        let some = CpuMask::from_cpus([63, 64]);
        assert!(some.is_subset(&set) && !set.is_subset(&some));
        assert_eq!(some.union(&CpuMask::from_cpus([1])).len(), 3);
        let both = some.intersection(&CpuMask::from_cpus([1, 64]));
        assert_eq!(both.cpus().collect::<Vec<_>>(), [64]);
        assert!(CpuMask::default().is_empty());
    }
}
