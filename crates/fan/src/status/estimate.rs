//! How much time is left.

/// An item without a result.
pub struct Open {
    pub weight: u64,
    /// For how many seconds its piece runs, if one does.
    pub runs: Option<f64>,
}

/// Returns the seconds until everything is published, if as many pieces run at once as do now.
/// `done` are the weights and the seconds of the published items. Returns `None` if these tell
/// nothing, or if no piece runs.
pub fn left(done: &[(u64, f64)], open: &[Open]) -> Option<f64> {
    let weight: u64 = done.iter().map(|(weight, _)| weight).sum();
    let seconds: f64 = done.iter().map(|(_, seconds)| seconds).sum();
    let running = open.iter().filter(|open| open.runs.is_some()).count();
    if weight == 0 || running == 0 {
        return None;
    }
    let each = seconds / weight as f64;
    let remaining = |open: &Open| (open.weight as f64 * each - open.runs.unwrap_or(0.0)).max(0.0);
    let all: f64 = open.iter().map(remaining).sum();
    let longest = open.iter().map(remaining).fold(0.0, f64::max);
    // A piece runs in one place, so the longest one may end last.
    Some(longest.max(all / running as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(weight: u64) -> Open {
        let runs = None;
        Open { weight, runs }
    }

    fn runs(weight: u64, seconds: f64) -> Open {
        let runs = Some(seconds);
        Open { weight, runs }
    }

    /// Weight 10 took 20 seconds.
    const DONE: &[(u64, f64)] = &[(6, 15.0), (4, 5.0)];

    #[test]
    fn pieces_share_what_is_left() {
        assert_eq!(left(DONE, &[runs(10, 0.0), waits(10)]), Some(40.0));
        let two = [runs(10, 5.0), runs(10, 5.0), waits(10), waits(10)];
        assert_eq!(left(DONE, &two), Some(35.0));
    }

    #[test]
    fn longest_piece_ends_last() {
        let uneven = [runs(1, 0.0), runs(1, 0.0), waits(50)];
        assert_eq!(left(DONE, &uneven), Some(100.0));
    }

    #[test]
    fn overdue_pieces_are_about_to_end() {
        assert_eq!(left(DONE, &[runs(1, 50.0), waits(2)]), Some(4.0));
    }

    #[test]
    fn nothing_is_known_without_results_or_pieces() {
        assert_eq!(left(&[], &[runs(1, 5.0)]), None);
        assert_eq!(left(&[(0, 3.0)], &[runs(1, 5.0)]), None);
        assert_eq!(left(DONE, &[waits(1)]), None);
    }
}
