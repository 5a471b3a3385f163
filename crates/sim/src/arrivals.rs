//! Arrival times of jobs, given or random.
//!
//! Random arrivals are a Poisson process: the gaps are independent and exponentially distributed.
//! Gaps are drawn using only comparisons (John von Neumann, "Various techniques used in connection
//! with random digits", National Bureau of Standards Applied Mathematics Series 12, 1951). So they
//! are the same to the nanosecond on every machine, which a library's logarithm doesn't guarantee.
//!
//! The text form is `at:0ms,5ms,1s` or `poisson:5ms`.

use crate::settings::Refusal;
use std::fmt;
use std::str::FromStr;
use tidegate_policy::tunables::{Allowed, Basis, Tunable, Unit};
use tidegate_policy::{Nanos, Rng};

pub(crate) const TIME: Tunable<Nanos> = Tunable {
    name: "at",
    unit: Unit::Time,
    allowed: Allowed::Between(0, 86_400_000_000_000),
    default: 0,
    variable: None,
    why: "When a job comes; a day is long on a machine whose quanta are milliseconds.",
    basis: Basis::Guessed,
};

/// The mean time between two random arrivals.
const MEAN: Tunable<Nanos> = Tunable {
    name: "poisson",
    allowed: Allowed::Between(1, 86_400_000_000_000),
    ..TIME
};

/// When jobs arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// One job at each of these times, in nanoseconds since the start of the run.
    At(Vec<Nanos>),
    /// Random times. The mean gap before the first job and between two jobs is this many
    /// nanoseconds.
    Poisson(Nanos),
}

impl Arrivals {
    /// Returns the number of jobs if the arrival times determine it.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::At(times) => Some(times.len()),
            Self::Poisson(_) => None,
        }
    }

    /// Returns the arrival times of `count` jobs. Random times depend only on `seed`: a larger
    /// `count` only adds jobs that arrive later.
    ///
    /// # Errors
    /// If times are given and their number is not `count`.
    pub fn times(&self, count: usize, seed: u64) -> Result<Vec<Nanos>, Refusal> {
        match self {
            Self::At(times) if times.len() == count => Ok(times.clone()),
            Self::At(times) => Err(Refusal::new(format!(
                "{} arrival times for {count} jobs: expected one time per job",
                times.len()
            ))),
            Self::Poisson(mean) => {
                // This seed differs from `seed`, which the machine uses.
                let mut rng = Rng::new(!seed);
                let gaps = (0..count).map(|_| exponential(*mean, &mut rng));
                let comes = |now: &mut Nanos, gap| {
                    *now = now.saturating_add(gap);
                    Some(*now)
                };
                Ok(gaps.scan(0, comes).collect())
            }
        }
    }
}

/// Returns an exponentially distributed length of time with this mean.
///
/// Draws numbers as long as each is smaller than the one before. If the length of this descending
/// run is odd, the run's first number is the fraction of a mean that is added to the result. If the
/// length is even, adds a whole mean to the result and starts a new run.
fn exponential(mean: Nanos, rng: &mut Rng) -> Nanos {
    let mut whole: Nanos = 0;
    loop {
        let first = rng.draw();
        let (mut last, mut fallen) = (first, 1);
        loop {
            let next = rng.draw();
            if next >= last {
                break;
            }
            (last, fallen) = (next, fallen + 1);
        }
        if fallen % 2 == 1 {
            let fraction = (u128::from(mean) * u128::from(first)) >> 64;
            return whole.saturating_add(fraction as Nanos);
        }
        whole = whole.saturating_add(mean);
    }
}

/// Formats a time so that parsing the text gives the same time.
pub(crate) fn shown(time: Nanos) -> String {
    Tunable {
        default: time,
        ..TIME
    }
    .row()
    .default
}

impl FromStr for Arrivals {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        match text.split_once(':') {
            Some(("poisson", mean)) => Ok(Self::Poisson(MEAN.parse(mean)?)),
            Some(("at", times)) => {
                let times = times.split(',').map(|time| TIME.parse(time));
                Ok(Self::At(times.collect::<Result<_, _>>()?))
            }
            _ => Err(Refusal::new(format!(
                "invalid arrivals {text:?}: expected at:TIME,.. (each {}) or poisson:MEAN ({})",
                TIME.row().allowed,
                MEAN.row().allowed
            ))),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson(mean) => write!(f, "poisson:{}", shown(*mean)),
            Self::At(times) => {
                let times: Vec<_> = times.iter().copied().map(shown).collect();
                write!(f, "at:{}", times.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<Arrivals>().unwrap_err().to_string()
    }

    #[test]
    fn arrivals_round_trip_as_text() {
        for text in ["at:0ns", "at:0ns,5ms,1s", "poisson:5ms", "poisson:1ns"] {
            assert_eq!(text.parse::<Arrivals>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn invalid_arrival_times_are_rejected() {
        assert_eq!(
            refused("poisson:0ms"),
            "invalid value \"0ms\" for poisson: expected a time such as 5ms (ns, us, ms, s) from 1ns to 86400s"
        );
        assert_eq!(
            refused("at:1ms,86401s"),
            "invalid value \"86401s\" for at: expected a time such as 5ms (ns, us, ms, s) from 0ns to 86400s"
        );
        assert!(refused("at:").contains("expected a time such as 5ms (ns, us, ms, s) from 0ns"));
        for text in ["", "5ms", "uniform:5ms"] {
            assert!(refused(text).contains("expected at:TIME,.."), "{text}");
        }
    }

    #[test]
    fn arrival_count_must_match_jobs() {
        let given: Arrivals = "at:3ns,1ns".parse().unwrap();
        assert_eq!(given.count(), Some(2));
        assert_eq!(given.times(2, 9), Ok(vec![3, 1]));
        let error = given.times(3, 9).unwrap_err().to_string();
        assert_eq!(
            error,
            "2 arrival times for 3 jobs: expected one time per job"
        );
        assert_eq!(Arrivals::Poisson(5).times(0, 9), Ok(vec![]));
    }

    /// Requesting more arrivals adds later ones and leaves the earlier ones unchanged.
    #[test]
    fn random_arrivals_repeat_with_seed() {
        let poisson = Arrivals::Poisson(1_000_000);
        let of = |count, seed| poisson.times(count, seed).unwrap();
        assert_eq!(of(9, 1), of(20, 1)[..9]);
        assert_ne!(of(9, 1), of(9, 2));
        assert!(of(20, 1).is_sorted());
        assert_eq!(of(3, 1), [1_120_870, 1_966_004, 2_083_852]);
    }

    #[test]
    fn random_gaps_are_exponentially_distributed() {
        const COUNT: usize = 100_000;
        let mut rng = Rng::new(5);
        let gaps: Vec<f64> = (0..COUNT)
            .map(|_| exponential(1 << 20, &mut rng) as f64 / f64::from(1 << 20))
            .collect();
        let mean = gaps.iter().sum::<f64>() / COUNT as f64;
        let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / COUNT as f64;
        let tail = gaps.iter().filter(|gap| **gap > 3.0).count() as f64 / COUNT as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((squares - 1.0).abs() < 0.05, "{squares}");
        assert!((tail - (-3.0_f64).exp()).abs() < 0.003, "{tail}");
    }
}
