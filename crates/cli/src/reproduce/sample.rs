//! What several runs of the same thing say.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The figures of some runs; at least one.
#[derive(Clone, Debug)]
pub struct Sample(Vec<f64>);

/// A mean, and how far from it the true one is at most, with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub value: f64,
    pub half_width: f64,
}

impl Sample {
    pub fn new(figures: Vec<f64>) -> Self {
        assert!(!figures.is_empty(), "one run at least");
        Self(figures)
    }

    /// The mean alone.
    pub fn mean_of(figures: Vec<f64>) -> f64 {
        Self::new(figures).mean().value
    }

    /// The mean with its interval by Student's t. One run says nothing about how far it is off: its interval has no width.
    pub fn mean(&self) -> Mean {
        let count = self.0.len() as f64;
        let value = self.0.iter().sum::<f64>() / count;
        let squares: f64 = self.0.iter().map(|figure| (figure - value).powi(2)).sum();
        let half_width = match StudentsT::new(0.0, 1.0, count - 1.0) {
            Ok(student) => student.inverse_cdf(0.975) * (squares / (count - 1.0) / count).sqrt(),
            Err(_) => 0.0,
        };
        Mean { value, half_width }
    }
}

impl Mean {
    /// The same in units of `unit`.
    pub fn over(self, unit: f64) -> Self {
        Self {
            value: self.value / unit,
            half_width: self.half_width / unit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        let mean = Sample::new(vec![9.0, 10.0, 11.0]).mean();
        assert_eq!(mean.value, 10.0);
        // t of two degrees of freedom at 97.5 % is 4.302653.
        let expected = 4.302_653 / 3f64.sqrt();
        assert!((mean.half_width - expected).abs() < 1e-5, "{mean:?}");
    }

    #[test]
    fn one_run_has_no_interval() {
        let mean = Sample::new(vec![3.0]).mean();
        assert_eq!((mean.value, mean.half_width), (3.0, 0.0));
    }
}
