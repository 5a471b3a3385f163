//! How long a thief that finds nothing sleeps, computed from the rules alone (figures 4.16 and
//! 5.11).

use tidegate_policy::{IdlePolicy, IdleState, Nanos, Rest, Rng};

use crate::engine::Interval;
use crate::reproduce::page::{Chart, Line, Point, Section};
use crate::reproduce::paper::{Paper, texts};

/// The end of the chart in nanoseconds, slightly beyond the range of figure 5.11.
const END: Nanos = 50_000_000;
/// The number of successive failures in figure 4.16. Each failure is followed by a sleep.
const CALLS: usize = 40;
/// The duration of an attempt to steal, in nanoseconds.
const ATTEMPT: Nanos = 1_000;
const MS: f64 = 1e6;

/// Returns the start and the length of each sleep of a thief that finds nothing.
fn sleeps(rule: &str) -> impl Iterator<Item = (Nanos, Nanos)> {
    let idle: IdlePolicy = rule.parse().expect("a rule of this program");
    let mut state = IdleState::new(&idle).expect("defaults are valid");
    let mut rng = Rng::new(0);
    let mut now = 0;
    std::iter::from_fn(move || {
        loop {
            now += ATTEMPT;
            let rest = match state.attempt_failed(|| now) {
                Rest::Sleep(time) => Rest::Sleep(time),
                _ => state.sweep_failed(|| now, || rng.draw()),
            };
            if let Rest::Sleep(time) = rest {
                let began = now;
                now += time;
                state.rested(|| now);
                return Some((began, time));
            }
        }
    })
}

/// Returns the start times of a thief's short sleeps under quanta. A short sleep takes less than
/// half as long as the previous sleep; it falls in an inserted quantum of normal length.
fn short_sleeps() -> Vec<Nanos> {
    let sleeps: Vec<(Nanos, Nanos)> = sleeps("quanta")
        .take_while(|(began, _)| *began < END)
        .collect();
    let short = sleeps.windows(2).filter(|pair| pair[1].1 < pair[0].1 / 2);
    short.map(|pair| pair[1].0).collect()
}

/// The start of the second short sleep by that of the first.
pub fn inserted_quanta() -> f64 {
    match short_sleeps()[..] {
        [first, second, ..] => second as f64 / first as f64,
        _ => f64::NAN,
    }
}

pub fn section(paper: &Paper) -> Section {
    let calls = |rule: &str| {
        let sleeps = sleeps(rule).take(CALLS).enumerate();
        line(
            rule,
            sleeps.map(|(call, (_, time))| (call as f64 + 1.0, time)),
        )
    };
    let times = |rule: &str| {
        let sleeps = sleeps(rule).take_while(|(began, _)| *began < END);
        line(rule, sleeps.map(|(began, time)| (began as f64 / MS, time)))
    };
    let chart = |title: &str, x: &str, lines: Vec<Line>| Chart {
        title: title.to_owned(),
        x: x.to_owned(),
        y: "sleep, ms".to_owned(),
        labels: vec![],
        log: false,
        lines,
    };
    let backoffs = texts(&paper.lists["tuned"], "of").chain(["pheet-original"]);
    Section {
        title: "Sleeps by the rules".to_owned(),
        text: "How long a thief sleeps that finds nothing: under backoffs by the number of failures \
               (figure 4.16), under quanta and the linear backoff over time (figure 5.11). No program \
               runs; an attempt takes a microsecond."
            .to_owned(),
        charts: vec![
            chart(
                "Sleeps of backoffs",
                "failures in a row",
                backoffs.map(calls).collect(),
            ),
            chart(
                "Sleeps over time",
                "ms since the first failure",
                ["quanta", "linear"].map(times).into(),
            ),
        ],
        tables: vec![],
    }
}

fn line(name: &str, sleeps: impl Iterator<Item = (f64, Nanos)>) -> Line {
    let point = |(x, time)| Point::new(x, Interval::exact(time as f64 / MS));
    Line {
        name: name.to_owned(),
        points: sleeps.filter_map(point).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sleeps_match_figure_5_11() {
        let short = short_sleeps();
        let ms: Vec<u64> = short.iter().map(|time| time / 1_000_000).collect();
        assert_eq!(ms, [12, 40]);
    }

    #[test]
    fn backoffs_grow_to_their_longest_sleep() {
        let paper = Paper::read(super::super::PAPER);
        for rule in texts(&paper.lists["tuned"], "of") {
            let last = sleeps(rule).nth(CALLS).expect("a thief never gives up");
            assert_eq!(last.1, 500_000, "{rule}");
        }
    }
}
