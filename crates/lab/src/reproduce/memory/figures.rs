//! The figures of peaks and times.

use crate::engine::ratios::greatest;
use crate::reproduce::measured::{Figure, View};
use crate::reproduce::observed::Observed;
use crate::reproduce::plan::seconds;

type V<'a> = View<'a, Observed>;

const CELL: &str = "{on}/{program}/{scheduler}/{processors}";
const STEALING: &str = "{on}/{program}/work stealing/{processors}";
const SWEPT: &str = "swept/{program}/{line} at {part}/16";
const SWEPT_STEALING: &str = "swept/{program}/work stealing/16";

#[rustfmt::skip]
pub const FIGURES: &[Figure<Observed>] = &[
    ("processors", |v| v.number("processors")),
    ("peak", |v| peak(v, CELL)),
    ("time", |v| seconds(v, CELL)),
    ("peak by S1", |v| peak(v, CELL) / v.number("s1")),
    ("peak in S1", |v| peak(v, CELL) * (1.0 / v.number("s1"))),
    ("peak by stealing", |v| peak(v, CELL) / peak(v, STEALING)),
    ("time by stealing", |v| seconds(v, CELL) / seconds(v, STEALING)),
    // Modified fib, whose blocks are its S1.
    ("published blocks", |v| {
        let blocks = v.find(&v.fill("{processors}"));
        blocks
            .and_then(|blocks| blocks.as_integer())
            .map_or(f64::NAN, |blocks| blocks as f64)
    }),
    ("blocks here", |v| fib(v, |v| peak(v, CELL) * (1.0 / v.number("s1")))),
    ("at work", |v| fib(v, |v| v.number("work") * (1.0 / seconds(v, CELL)))),
    ("blocks by processors", |v| {
        let by = |v: V<'_>| peak(v, STEALING) * (1.0 / (v.number("s1") * v.number("processors")));
        fib(v, by)
    }),
    ("grown", |v| grown(v, "{scheduler}")),
    ("grown by other", |v| grown(v, "{scheduler}") / grown(v, "{other}")),
    ("saved share", |v| {
        let [stealing, hybrid, narlikar] = ["work stealing", "hybrid", "Narlikar"]
            .map(|scheduler| peak(v, &format!("{{on}}/{{program}}/{scheduler}/16")));
        (stealing - hybrid) / (stealing - narlikar)
    }),
    // The largest peak of all programs, processors and runs by what theory or the budget allows.
    ("largest by bound", |v| {
        let of_program = |v: V<'_>| v.each("{loads}", by_bound);
        let ratios = v.each("{programs}", of_program).concat();
        ratios.into_iter().fold(f64::NAN, f64::max)
    }),
    // The sweep of parameters.
    ("swept peak by stealing", |v| peak(v, SWEPT) / peak(v, SWEPT_STEALING)),
    ("swept time by stealing", |v| seconds(v, SWEPT) / seconds(v, SWEPT_STEALING)),
    ("swept product by stealing", |v| product(v, SWEPT) / product(v, SWEPT_STEALING)),
    // Compares a sleep function with the published one, on the program with the largest ratio.
    ("product by published", |v| {
        let linear = "swept/{program}/hybrid at {part}/16";
        greatest(&v.each("swept", |v| product(v, SWEPT) / product(v, linear)))
    }),
    ("peak as here by stealing", |v| as_here(v, peak)),
    ("time as here by stealing", |v| as_here(v, seconds)),
];

/// Declared bytes.
fn peak(v: V<'_>, cell: &str) -> f64 {
    v.median(cell, |run| run.peak)
}

fn product(v: V<'_>, cell: &str) -> f64 {
    v.median(cell, |run| run.peak * run.seconds)
}

/// Computes a figure of the first program.
fn fib(v: V<'_>, figure: fn(V<'_>) -> f64) -> f64 {
    v.with("", &v.lists["program"][0], figure)
}

/// The peak on more processors by that on fewer.
fn grown(v: V<'_>, scheduler: &str) -> f64 {
    let on = |processors: &str| peak(v, &format!("{{on}}/{{program}}/{scheduler}/{processors}"));
    on("{to}") / on("{from}")
}

fn by_bound(v: V<'_>) -> f64 {
    let [processors, s1] = ["processors", "s1"].map(|name| v.number(name));
    let bound = match v.fill("{scheduler}").as_str() {
        "budget" => v.number("most"),
        "Narlikar" => s1 + processors * v.number("k") * v.number("depth"),
        _ => processors * s1,
    };
    let runs = v.measured.runs(&v.fill(CELL)).iter();
    runs.map(|run| run.peak / bound).fold(f64::NAN, f64::max)
}

/// Compares a scheduler with work stealing on simulated processors, as many as workers here.
fn as_here(v: V<'_>, figure: fn(V<'_>, &str) -> f64) -> f64 {
    v.with("on", &"as here".into(), |v| {
        figure(v, CELL) / figure(v, STEALING)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::measured::made_up;

    #[test]
    fn bounds_depend_on_the_scheduler() {
        let given = [
            ("s1", "100"),
            ("k", "2"),
            ("depth", "5"),
            ("most", "110"),
            ("program", "fib"),
            ("on", "here"),
            ("loads", "processors"),
            ("programs", "program"),
            ("processors", "4"),
        ];
        for (scheduler, bound) in [
            ("work stealing", 400.0),
            ("Narlikar", 140.0),
            ("budget", 110.0),
        ] {
            let run = Observed {
                peak: 1.5 * bound,
                ..Observed::default()
            };
            let given = [&given[..], &[("scheduler", scheduler)]].concat();
            let cells = [(format!("here/fib/{scheduler}/4"), run)];
            let ours = made_up(
                FIGURES,
                "largest by bound",
                &given,
                &Default::default(),
                cells,
            );
            assert_eq!(ours, 1.5, "{scheduler}");
        }
    }
}
