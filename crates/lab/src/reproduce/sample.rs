//! What several runs of the same thing say.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::page::Point;

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

    /// A point of a chart.
    pub fn at(self, x: f64) -> Point {
        Point {
            x,
            y: self.value,
            low: self.value - self.half_width,
            high: self.value + self.half_width,
        }
    }

    /// How many times as fast as `alone` this time is, as a point of a chart.
    pub fn speedup(self, alone: f64, x: f64) -> Point {
        let Self { value, half_width } = self;
        // An interval of times down to zero gives the speed-up no upper end: the point itself stands for it, as in a chart there is nothing beyond.
        let least = if half_width < value {
            value - half_width
        } else {
            value
        };
        Point {
            x,
            y: alone / value,
            low: alone / (value + half_width),
            high: alone / least,
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

    #[test]
    fn a_speed_up_has_no_end_beyond_what_is_known() {
        let ends = |half_width| {
            let value = 4.0;
            let point = Mean { value, half_width }.speedup(8.0, 0.0);
            [point.low, point.y, point.high]
        };
        assert_eq!(ends(0.0), [2.0; 3]);
        assert_eq!(ends(2.0), [8.0 / 6.0, 2.0, 4.0]);
        for half_width in [4.0, 12.0] {
            assert_eq!(ends(half_width), [8.0 / (4.0 + half_width), 2.0, 2.0]);
        }
    }
}
