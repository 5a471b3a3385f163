//! What a few samples say.

/// Samples in order; there is at least one.
#[derive(Clone, Debug)]
pub struct Summary(Vec<f64>);

impl Summary {
    /// The summary of one sample.
    pub fn new(sample: f64) -> Self {
        Self(vec![sample])
    }

    /// The summary of these; nothing if there are none.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut samples: Vec<_> = samples.into_iter().collect();
        samples.sort_unstable_by(f64::total_cmp);
        (!samples.is_empty()).then_some(Self(samples))
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: f64) {
        let place = self.0.partition_point(|other| *other < sample);
        self.0.insert(place, sample);
    }

    /// The samples, in increasing order.
    pub fn in_order(&self) -> &[f64] {
        &self.0
    }

    /// How many samples.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The least.
    pub fn min(&self) -> f64 {
        self.0[0]
    }

    /// The greatest.
    pub fn max(&self) -> f64 {
        self.0[self.0.len() - 1]
    }

    /// The middle sample, of an even number the mean of the two.
    pub fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        match self.0.len() % 2 {
            0 => (self.0[middle - 1] + self.0[middle]) / 2.0,
            _ => self.0[middle],
        }
    }

    /// The least sample that 99 % of them do not exceed; of fewer than a hundred it is the greatest.
    pub fn p99(&self) -> f64 {
        self.at_least(0.99)
    }

    /// The least sample that such a share of them does not exceed: the nearest rank.
    pub fn at_least(&self, share: f64) -> f64 {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        self.0[rank.max(1) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_samples_in_order() {
        let mut summary = Summary::new(200.0);
        (1..200).for_each(|sample| summary.add(f64::from(sample)));
        assert_eq!((summary.min(), summary.max()), (1.0, 200.0));
        assert_eq!(summary.p99(), 198.0);
        assert_eq!(summary.count(), 200);
    }

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_two_in_the_middle() {
        let mut summary = Summary::new(8.0);
        summary.add(1.0);
        assert_eq!(summary.median(), 4.5);
        summary.add(2.0);
        assert_eq!(summary.median(), 2.0);
    }

    #[test]
    fn order_of_arrival_is_no_matter() {
        let summary = Summary::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!(summary.in_order(), [1.0, 2.0, 3.0]);
        assert!(Summary::of([]).is_none());
    }

    #[test]
    fn one_sample_is_everything() {
        let summary = Summary::new(3.0);
        let all = [
            summary.min(),
            summary.median(),
            summary.p99(),
            summary.max(),
        ];
        assert_eq!(all, [3.0; 4]);
    }
}
