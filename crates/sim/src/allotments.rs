//! Imposed allotments: how many processors the operating system gives each job over time,
//! regardless of the job's desire.
//!
//! In the model of Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs",
//! 2004, section 3.2, the operating system is an adversary: it decides how many processors P_t a
//! job has in step t, and the job's scheduler must make the best of them. Here, P_t is a function
//! of the time since the job arrived, and changes only at the given times.
//!
//! The text form is `0ms:4,10ms:2,25ms:8`, or `random:2ms` for a random number every 2 ms.

use crate::arrivals::{TIME, shown};
use crate::settings::Refusal;
use std::fmt;
use std::str::FromStr;
use tidegate_policy::tunables::{Allowed, SIM_PROCESSORS, Tunable};
use tidegate_policy::{Nanos, Rng};

const FROM: Tunable<Nanos> = Tunable {
    name: "allotments",
    why: "When an allotment begins, after the job's arrival.",
    ..TIME
};

const EVERY: Tunable<Nanos> = Tunable {
    name: "random",
    allowed: Allowed::Between(1_000, 86_400_000_000_000),
    why: "The time between two random allotments; each is an event for each job.",
    ..TIME
};

const PROCESSORS: Tunable<usize> = Tunable {
    name: "allotments",
    ..SIM_PROCESSORS
};

/// The maximum number of processors that each job may have over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allotments {
    /// Pairs of a time since the job's arrival and the limit that begins to apply then. The last
    /// limit holds until the job ends. The first time is 0, and times increase.
    At(Vec<(Nanos, usize)>),
    /// Limits drawn uniformly from 1 to the machine's number of processors. Each job draws its
    /// first limit when it arrives, and a new limit at this interval.
    Random(Nanos),
}

/// Changes to a job's allotment: when each happens, and the new number of processors.
pub(crate) type Course<'a> = Box<dyn Iterator<Item = (Nanos, usize)> + 'a>;

impl Allotments {
    /// Returns an error if a machine with this many processors cannot provide the allotments.
    pub(crate) fn check(&self, processors: usize) -> Result<(), Refusal> {
        let list = match self {
            Self::Random(every) => {
                EVERY.check(*every)?;
                return Ok(());
            }
            Self::At(list) => list,
        };
        let refused = |what: String| Err(Refusal::new(format!("allotments: {what}")));
        let first = list.first().map(|(time, _)| *time);
        if first != Some(0) {
            let first = first.map_or("missing".into(), shown);
            return refused(format!("the first time is {first}: expected 0ms"));
        }
        for pair in list.windows(2) {
            if pair[1].0 <= pair[0].0 {
                let [before, time] = [pair[0].0, pair[1].0].map(shown);
                return refused(format!(
                    "{time} is not later than {before}: expected increasing times"
                ));
            }
        }
        for &(time, number) in list {
            if !(1..=processors).contains(&number) {
                let time = shown(time);
                return refused(format!(
                    "{number} processors from {time} on: expected 1 to {processors}"
                ));
            }
        }
        Ok(())
    }

    /// Returns the changes in the allotment of job number `job`, with times since the start of the
    /// run.
    pub(crate) fn course(
        &self,
        (processors, seed): (usize, u64),
        job: usize,
        arrives: Nanos,
    ) -> Course<'_> {
        match self {
            Self::At(list) => {
                let later = move |&(time, number)| (arrives.saturating_add(time), number);
                Box::new(list.iter().map(later))
            }
            Self::Random(every) => {
                // This seed differs from those of the machine (`seed`) and of the arrivals
                // (`!seed`).
                let seed = seed.rotate_left(32) ^ 0x5bd1_e995;
                let mut rng = Rng::new(seed.wrapping_add(job as u64));
                let times = std::iter::successors(Some(arrives), |time| time.checked_add(*every));
                Box::new(times.map(move |time| (time, 1 + rng.below(processors as u64) as usize)))
            }
        }
    }
}

impl FromStr for Allotments {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        if let Some(every) = text.strip_prefix("random:") {
            return Ok(Self::Random(EVERY.parse(every)?));
        }
        let entry = |entry: &str| {
            let (time, number) = entry.split_once(':').ok_or_else(|| unknown(text))?;
            Ok((FROM.parse(time)?, PROCESSORS.parse(number)?))
        };
        let list = text.split(',').map(entry).collect::<Result<_, Refusal>>()?;
        let allotments = Self::At(list);
        // Whether a limit is too high is checked later, because only the machine knows its number
        // of processors.
        allotments.check(usize::MAX)?;
        Ok(allotments)
    }
}

fn unknown(text: &str) -> Refusal {
    Refusal::new(format!(
        "invalid allotments {text:?}: expected TIME:PROCESSORS,.. ({}, {}) or random:TIME ({})",
        FROM.row().allowed,
        PROCESSORS.row().allowed,
        EVERY.row().allowed
    ))
}

impl fmt::Display for Allotments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(every) => write!(f, "random:{}", shown(*every)),
            Self::At(list) => {
                let entry = |&(time, number): &(Nanos, usize)| format!("{}:{number}", shown(time));
                let entries: Vec<_> = list.iter().map(entry).collect();
                write!(f, "{}", entries.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<Allotments>().unwrap_err().to_string()
    }

    #[test]
    fn are_shown_as_they_are_read() {
        for text in ["0ns:4", "0ns:4,10ms:2,25ms:8", "random:2ms"] {
            assert_eq!(text.parse::<Allotments>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn bad_allotments_name_allowed_values() {
        #[rustfmt::skip]
        let rows = [
            ("5ms:4", "allotments: the first time is 5ms: expected 0ms"),
            ("0ms:4,2ms:1,2ms:3", "allotments: 2ms is not later than 2ms: expected increasing times"),
            ("0ms:0", "invalid value \"0\" for allotments: expected an integer from 1 to 65536"),
            ("0ms:1,86401s:1", "invalid value \"86401s\" for allotments: expected a time such as 5ms (ns, us, ms, s) from 0ns to 86400s"),
            ("random:1ns", "invalid value \"1ns\" for random: expected a time such as 5ms (ns, us, ms, s) from 1us to 86400s"),
        ];
        for (text, message) in rows {
            assert_eq!(refused(text), message);
        }
        for text in ["", "4", "0ms:4,,1ms:3", "random"] {
            assert!(
                refused(text).contains("expected TIME:PROCESSORS,.."),
                "{text}"
            );
        }
    }

    #[test]
    fn allotment_must_fit_the_machine() {
        let allotments: Allotments = "0ms:4,1ms:9".parse().unwrap();
        assert_eq!(allotments.check(9), Ok(()));
        assert_eq!(
            allotments.check(8).unwrap_err().to_string(),
            "allotments: 9 processors from 1ms on: expected 1 to 8"
        );
    }

    #[test]
    fn random_course_follows_seed_and_job() {
        let random = Allotments::Random(10);
        let of = |seed, job| -> Vec<_> { random.course((16, seed), job, 5).take(40).collect() };
        assert_eq!(of(1, 0), of(1, 0));
        assert_ne!(of(1, 0), of(2, 0));
        assert_ne!(of(1, 0), of(1, 1));
        assert!(
            of(1, 0)
                .iter()
                .all(|&(_, number)| (1..=16).contains(&number))
        );
        assert_eq!([of(1, 0)[0].0, of(1, 0)[2].0], [5, 25]);
    }
}
