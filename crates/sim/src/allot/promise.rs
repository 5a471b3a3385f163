//! What each rule promises about its shares, and a check that the shares comply.

use super::{Allot, Share};
use std::fmt;

/// A promise that a set of shares breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// A job without work has a processor.
    Idle,
    /// There are at least as many jobs with work as processors, but some of these jobs do not have
    /// exactly one processor.
    Crowd,
    /// The rule promises equal parts, but a processor is left over or two parts differ by more than
    /// one.
    Equal,
    /// A job has more than its desire.
    Conservative,
    /// More processors were given out than exist, or one is free while a job is deprived.
    Efficient,
    /// A job has at least two processors more than a deprived job.
    Fair,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "a job without work has a processor",
            Self::Crowd => "not one for every job with work",
            Self::Equal => "not equal",
            Self::Conservative => "not conservative",
            Self::Efficient => "not efficient",
            Self::Fair => "not fair",
        })
    }
}

/// Returns the first promise of `rule` that these shares break, if any.
#[must_use]
pub fn broken(rule: Allot, processors: usize, shares: &[Share]) -> Option<Broken> {
    let mut with_work = shares.iter().filter(|share| share.desire > 0);
    let workless = shares.iter().filter(|share| share.desire == 0);
    let given: usize = shares.iter().map(|share| share.allotment).sum();
    let most = shares.iter().map(|share| share.allotment).max();
    let most = most.unwrap_or(0);
    let mut deprived = shares.iter().filter(|share| share.is_deprived());
    let holds = |promise: Broken, holds: bool| (!holds).then_some(promise);
    if workless.clone().any(|share| share.allotment > 0) {
        return Some(Broken::Idle);
    }
    if with_work.clone().count() >= processors {
        let one = |share: &Share| share.allotment == 1;
        return holds(Broken::Crowd, with_work.all(one));
    }
    if rule == Allot::Equi {
        let all = given == processors || workless.count() == shares.len();
        let equal = with_work.all(|share| share.allotment + 1 >= most);
        return holds(Broken::Equal, all && equal);
    }
    let spares = given < processors && deprived.clone().next().is_some();
    let crowded = |share: &Share| most > share.allotment + 1;
    holds(
        Broken::Conservative,
        shares.iter().all(|share| share.allotment <= share.desire),
    )
    .or(holds(Broken::Efficient, given <= processors && !spares))
    .or(holds(Broken::Fair, !deprived.any(crowded)))
}
