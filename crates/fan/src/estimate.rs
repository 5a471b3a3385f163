//! How much time is left.

use std::collections::BTreeMap;

use crate::folder::Survey;
use crate::name::Name;

/// A piece that runs so many times as long as its weight predicts shows that weights do not predict
/// the time.
const OVERDUE: f64 = 4.0;

/// The largest share of the time that may have been spent in pieces that left work to others. Such
/// a piece usually leaves some 16 items, which take as long as it did, or less.
const SPLIT: f64 = 0.05;

/// A published result.
struct Done {
    /// The weight of what the piece has done.
    weight: u64,
    seconds: f64,
    /// Whether the piece has left work to others.
    is_split: bool,
}

/// An item without a result.
struct Open {
    weight: u64,
    /// For how many seconds its piece runs, if one does.
    runs: Option<f64>,
}

/// Returns the seconds until everything is published, if that can be told. `now` is in seconds since
/// 1970.
pub fn of(survey: &Survey, now: f64) -> Option<f64> {
    let done = survey.done().map(|(trailer, weight)| Done {
        weight,
        seconds: trailer.seconds,
        is_split: !trailer.rest.is_empty(),
    });
    let mut ages = BTreeMap::<&Name, f64>::new();
    for begun in &survey.begun {
        let age = ages.entry(&begun.item).or_default();
        *age = age.max(now - begun.began);
    }
    let open = survey.missing().map(|item| Open {
        weight: survey.weights[item],
        runs: ages.get(item).copied(),
    });
    left(&done.collect::<Vec<_>>(), &open.collect::<Vec<_>>())
}

/// Assumes that as many pieces run at once as do now. Returns `None` if no piece runs, or if the weights do not predict the time, as far as is known.
fn left(done: &[Done], open: &[Open]) -> Option<f64> {
    let weight: u64 = done.iter().map(|done| done.weight).sum();
    let seconds: f64 = done.iter().map(|done| done.seconds).sum();
    let split = done.iter().filter(|done| done.is_split);
    let split: f64 = split.map(|done| done.seconds).sum();
    let running = open.iter().filter(|open| open.runs.is_some()).count();
    if weight == 0 || running == 0 || done.len() < running || split > SPLIT * seconds {
        return None;
    }
    let expected = |open: &Open| open.weight as f64 * seconds / weight as f64;
    let is_overdue = |open: &Open| {
        open.runs
            .is_some_and(|runs| runs > OVERDUE * expected(open))
    };
    if open.iter().any(is_overdue) {
        return None;
    }
    let remaining = |open: &Open| (expected(open) - open.runs.unwrap_or(0.0)).max(0.0);
    let all: f64 = open.iter().map(remaining).sum();
    let longest = open.iter().map(remaining).fold(0.0, f64::max);
    // A piece runs in one place, so the longest one may end last.
    Some(longest.max(all / running as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(weight: u64, seconds: f64) -> Done {
        Done {
            weight,
            seconds,
            is_split: false,
        }
    }

    fn split(weight: u64, seconds: f64) -> Done {
        Done {
            is_split: true,
            ..whole(weight, seconds)
        }
    }

    fn waits(weight: u64) -> Open {
        let runs = None;
        Open { weight, runs }
    }

    fn runs(weight: u64, seconds: f64) -> Open {
        let runs = Some(seconds);
        Open { weight, runs }
    }

    /// Weight 10 took 20 seconds.
    fn done() -> [Done; 2] {
        [whole(6, 15.0), whole(4, 5.0)]
    }

    #[test]
    fn pieces_share_what_is_left() {
        assert_eq!(left(&done(), &[runs(10, 0.0), waits(10)]), Some(40.0));
        let two = [runs(10, 5.0), runs(10, 5.0), waits(10), waits(10)];
        assert_eq!(left(&done(), &two), Some(35.0));
    }

    #[test]
    fn longest_piece_ends_last() {
        let uneven = [runs(1, 0.0), runs(1, 0.0), waits(50)];
        assert_eq!(left(&done(), &uneven), Some(100.0));
    }

    #[test]
    fn overdue_pieces_are_about_to_end() {
        assert_eq!(left(&done(), &[runs(1, 8.0), waits(2)]), Some(4.0));
    }

    /// The subtrees of `uts` have the same weight, and one of them is nearly the whole tree.
    #[test]
    fn overdue_pieces_refute_weights() {
        assert_eq!(left(&done(), &[runs(1, 8.1), waits(2)]), None);
    }

    #[test]
    fn pieces_that_left_work_refute_weights() {
        let open = [runs(10, 0.0)];
        assert_eq!(left(&[whole(6, 15.0), split(4, 5.0)], &open), None);
        assert_eq!(left(&[whole(9, 19.0), split(1, 1.0)], &open), Some(20.0));
    }

    #[test]
    fn few_results_predict_nothing() {
        let three = [runs(1, 0.0), runs(1, 0.0), runs(1, 0.0)];
        assert_eq!(left(&done(), &three), None);
        assert_eq!(left(&done(), &three[1..]), Some(2.0));
    }

    #[test]
    fn nothing_is_known_without_results_or_pieces() {
        assert_eq!(left(&[], &[runs(1, 5.0)]), None);
        assert_eq!(left(&[whole(0, 3.0)], &[runs(1, 5.0)]), None);
        assert_eq!(left(&done(), &[waits(1)]), None);
    }
}
