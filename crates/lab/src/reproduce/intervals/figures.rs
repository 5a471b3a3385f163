//! The figures of localities and queues.

use super::pools::Ran;
use crate::engine::ratios::{geometric_mean, greatest};
use crate::reproduce::measured::{Figure, View};
use crate::reproduce::observed::Observed;
use crate::reproduce::plan::seconds;

type Simulated<'a> = View<'a, Observed>;
type OnPools<'a> = View<'a, Ran>;

const CELL: &str = "{machine}/{program}/{locality}/{miss}";
const BEST: &str = "{machine}/{program}/best/{miss}";

#[rustfmt::skip]
pub const SIMULATED: &[Figure<Observed>] = &[
    ("seconds", |v| seconds(v, CELL)),
    ("by best", |v| seconds(v, CELL) / seconds(v, BEST)),
    ("missed", |v| v.median(CELL, |run| run.missed)),
    ("hits", |v| v.median(CELL, hits)),
    ("steals", |v| v.median(CELL, |run| run.steals)),
    ("time", |v| slowdown(v, "{locality}", "best")),
    ("time by that without hints", |v| slowdown(v, "{locality}", "ignorant")),
    ("fitted time", |v| {
        let of = |v: Simulated<'_>| slowdown(v, "ignorant", "best");
        let fitted = |v: Simulated<'_>| v.with("miss", &"{fitted}".into(), of);
        v.with("program", &"cachestress".into(), fitted)
    }),
    ("misses", |v| { let missed = |cell| v.median(cell, |run| run.missed); missed(CELL) / missed(BEST) }),
    ("missed share", |v| v.median(CELL, |run| run.missed / run.touched)),
    ("hits of best", |v| v.median(BEST, hits) / v.median(CELL, hits)),
    ("speed-up", |v| { let alone = seconds(v, "one processor/{program}/{locality}/{miss}"); alone / seconds(v, CELL) }),
];

fn hits(run: &Observed) -> f64 {
    run.touched - run.missed
}

/// The ratio of a program's times in two localities, divided by the same ratio on a machine with
/// free cache misses, so that only slowdowns from misses count.
fn slowdown(v: Simulated<'_>, locality: &str, base: &str) -> f64 {
    let time = |locality: &str, miss: &str| {
        seconds(v, &format!("{{machine}}/{{program}}/{locality}/{miss}"))
    };
    let costly = time(locality, "{miss}") / time(base, "{miss}");
    costly / (time(locality, "0") / time(base, "0"))
}

#[rustfmt::skip]
pub const ON_POOLS: &[Figure<Ran>] = &[
    ("seconds", |v| v.median("{program}/{pool}", |ran| ran.seconds)),
    ("steals", |v| v.median("{program}/{pool}", |ran| ran.steals)),
    ("by base", |v| {
        let seconds = |cell| v.median(cell, |ran| ran.seconds);
        seconds("{program}/{pool}") / seconds("{program}/{base}")
    }),
    ("mean by base", |v| mean_ratio(v, "suite", "{program}")),
    ("mean of some by base", |v| mean_ratio(v, "most", "{most}")),
    ("queue by base", |v| mean_ratio(v, "program", "{program}")),
    ("some by others", |v| {
        let (most, others) = (ratios(v, "most", "{most}"), ratios(v, "others", "{others}"));
        if most.is_empty() || others.is_empty() {
            return f64::NAN;
        }
        geometric_mean(&most) / geometric_mean(&others)
    }),
    ("programs slower on dynamic", |v| {
        let ratios = ratios(v, "suite", "{program}");
        let slower = ratios.iter().filter(|ratio| **ratio > 1.01).count();
        if ratios.is_empty() {
            f64::NAN
        } else {
            slower as f64
        }
    }),
    ("parks and wakes", |v| {
        let apart = |v: OnPools<'_>| {
            let cell = "{program}/parks at once";
            let apart = |v: OnPools<'_>| v.median(cell, |ran| (ran.parks - ran.wakes).abs());
            v.is_measured(cell).then(|| apart(v))
        };
        let apart: Vec<f64> = v.each("suite", apart).into_iter().flatten().collect();
        if apart.is_empty() {
            f64::NAN
        } else {
            greatest(&apart)
        }
    }),
    ("parks", |v| v.median("{program}/parks at once", |ran| ran.parks)),
    ("wakes", |v| v.median("{program}/parks at once", |ran| ran.wakes)),
    ("parks by other", |v| by_count(v, ["{program}/parks at once", "{other}/parks at once"], |ran| ran.parks)),
    ("takes", |v| v.median("{program}/{queue}", |ran| ran.takes)),
    ("failed takes", |v| v.median("{program}/{queue}", |ran| ran.failed_takes)),
    ("attempts", |v| v.median("{program}/{queue}", |ran| ran.attempts)),
    ("failed steals", |v| v.median("{program}/{queue}", Ran::failed_steals)),
    ("stolen share", |v| v.median("{program}/{queue}", Ran::stolen_share)),
    ("failed takes by deque", |v| by_deque(v, |ran| ran.failed_takes)),
    ("attempts by deque", |v| by_deque(v, |ran| ran.attempts)),
    ("failed steals by deque", |v| by_deque(v, Ran::failed_steals)),
    ("stolen by deque", |v| {
        let stolen = v.median("{program}/{queue}", Ran::stolen_share);
        stolen / v.median("{program}/idempotent-deque", Ran::stolen_share_or_one)
    }),
];

/// The times of programs on a pool by those on the base. Programs that `--only` left out do not
/// count.
fn ratios(v: OnPools<'_>, programs: &str, program: &str) -> Vec<f64> {
    let cells = ["pool", "base"].map(|pool| format!("{program}/{{{pool}}}"));
    let ratios = v.each(programs, |v| {
        let [time, base] = cells.each_ref().map(|cell| {
            let seconds = |v: OnPools<'_>| v.median(cell, |ran| ran.seconds);
            v.is_measured(cell).then(|| seconds(v))
        });
        Some(time? / base?)
    });
    ratios.into_iter().flatten().collect()
}

fn mean_ratio(v: OnPools<'_>, programs: &str, program: &str) -> f64 {
    geometric_mean(&ratios(v, programs, program))
}

/// The ratio of two counts. A count below 1 counts as 1, to avoid a division by zero.
fn by_count(v: OnPools<'_>, [cell, base]: [&str; 2], count: fn(&Ran) -> f64) -> f64 {
    v.median(cell, count) / v.median(base, count).max(1.0)
}

fn by_deque(v: OnPools<'_>, count: fn(&Ran) -> f64) -> f64 {
    by_count(
        v,
        ["{program}/{queue}", "{program}/idempotent-deque"],
        count,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::measured::made_up;

    /// The worst locality doubles the time even if misses are free. Misses add another tenth.
    #[test]
    fn effects_without_misses_are_divided_out() {
        let times = [
            ("best/68", 1.0),
            ("worst/68", 2.2),
            ("best/0", 1.0),
            ("worst/0", 2.0),
        ];
        let cells = times.map(|(cell, seconds)| {
            let name = format!("places/mergesort/{cell}");
            (name, Observed::lasting(seconds))
        });
        let given = [
            ("machine", "places"),
            ("program", "mergesort"),
            ("locality", "worst"),
            ("miss", "68"),
        ];
        let slowdown = made_up(SIMULATED, "time", &given, &Default::default(), cells);
        assert!((slowdown - 1.1).abs() < 1e-9, "{slowdown}");
    }
}
