//! The figures of the experiments on simulated machines.

use super::job::PROCESSORS;
use super::setup::Seen;
use super::setups::{ALONE, HALF};
use crate::engine::ratios::{farthest, geometric_mean, greatest, least};
use crate::reproduce::measured::{Figure, View};

type V<'a> = View<'a, Seen>;

/// A run counts as greedy if its time divided by the bound is at most this.
const GREEDY: f64 = 1.01;

#[rustfmt::skip]
pub const FIGURES: &[Figure<Seen>] = &[
    ("response", |v| response(v, "{cell}")),
    ("by base", |v| by(v, "{cell}", "{base}")),
    ("work by span", |v| v.median("{cell}", parallelism)),
    ("work", |v| v.median("{cell}", |seen| seen.work)),
    ("span", |v| v.median("{cell}", |seen| seen.span)),
    // Figure 7-1: the programs under Cilk.
    ("f71-parallelism", |v| v.median("O/{job}/Cilk", parallelism) / v.number("parallelism")),
    ("f71-all-procs", |v| geometric_mean(&v.each("program", |v| all(v, "O/{job}/Cilk") / v.number("all")))),
    // O1: the time until all processors have work.
    ("all", |v| all(v, "{cell}")),
    ("all in ms", |v| all(v, "{cell}") * 1e3),
    ("all in cycles", |v| all(v, "{cell}") * (1.0 / length(v))),
    ("all by Cilk", |v| all(v, "{cell}") / all(v, "O/{job}/Cilk")),
    ("O1-much-longer", |v| least(&doublings(v))),
    ("longest", |v| greatest(&doublings(v))),
    ("O1-falls", |v| {
        let falls = |v: V<'_>| all(v, "O/{job}/WSAP/1") / all(v, "O/{job}/WSAP/100");
        least(&v.each("job", falls)) * (0.1 / 0.001)
    }),
    ("O1-by-cilk", |v| {
        let ratio = |v: V<'_>| all(v, "O/{job}/WSAP/100") / all(v, "O/{job}/Cilk");
        geometric_mean(&v.each("job", ratio))
    }),
    ("O1-counting", |v| counting(v, "1")),
    ("counting at 100", |v| counting(v, "100")),
    ("O1-counting-always", |v| least(&v.each("cycle", |v| counting(v, "{cycle}")))),
    // O2: how the length of a cycle affects the running time.
    ("O2-slope", |v| steepest(v, "WSAP")),
    ("dear", |v| steepest(v, "dear")),
    ("O2-none-at-5", |v| greatest(&v.each("job", |v| by(v, "O/{job}/WSAP/5", "O/{job}/Cilk")))),
    ("O2-flat-beyond", |v| greatest(&v.each("long", |v| by(v, "O/{long}/WSAP/100", "O/{long}/WSAP/5")))),
    ("fib beyond", |v| by(v, "O/fib(33)/WSAP/100", "O/fib(33)/WSAP/5")),
    ("O2-above-floor", |v| greatest(&v.each("job", above_floor))),
    ("O2-best", |v| best(v, &v.each("job", |v| costs(v, "O/{job}"))) / 5.0),
    ("overhead in %", |v| (by(v, "{cell}", "O/{job}/Cilk") - 1.0) * 100.0),
    // O3: more workers than processors.
    ("O3", |v| by(v, "O3/{job}/WSAP", "O3/{job}/halves")),
    ("O3-limited", |v| farthest(&v.each("late", |v| by(v, "O3/{job}/WSAP, limit 8", "O3/{job}/halves")))),
    // P1: a third job arrives.
    ("published", |v| {
        let is_shown = v.is_measured("P1/halves");
        if is_shown { v.number("published") } else { f64::NAN }
    }),
    ("P1 response", |v| arrival(v)[0]),
    ("P1 throughput", |v| arrival(v)[1]),
    ("P1 power", |v| arrival(v)[2]),
    ("response by halves", |v| by_halves(v)[0]),
    ("throughput by halves", |v| by_halves(v)[1]),
    ("power by halves", |v| by_halves(v)[2]),
    // P2: complementary phases.
    ("P2-response", |v| by(v, "P2/WSAP", "P2/halves")),
    ("P2-by-ideal", |v| by(v, "P2/WSAP", "P2/halves") / ideal(v.median("P2/WSAP", parallelism))),
    ("P2-processors", |v| v.median("P2/WSAP", |seen| least(&seen.allotments)) * (1.0 / HALF as f64)),
    ("P2-history", |v| by(v, "P2/steady", "P2/WSAP")),
    ("first", |v| v.median("{cell}", |seen| seen.allotments[0])),
    ("second", |v| v.median("{cell}", |seen| seen.allotments[1])),
    // P3: the greedy bound.
    ("P3-cilk", |v| farthest(&v.each("greedy", |v| response(v, "P3/{job}/WSAP") / on_average(v)))),
    ("P3-best-width", |v| greatest(&v.each("greedy", |v| on_average(v) / best_of_any(v)))),
    ("P3-bound", |v| greatest(&v.each("greedy", |v| v.median("P3/{job}/WSAP", by_bound)))),
    ("P3-processors", |v| {
        let ratio = |v: V<'_>| usage(v) / v.number("processors");
        let is_strassen = |v: V<'_>| v.fill("{job}").starts_with("strassen");
        let ratios = v.each("greedy", |v| (!is_strassen(v)).then(|| ratio(v)));
        farthest(&ratios.into_iter().flatten().collect::<Vec<f64>>())
    }),
    ("P3-serial-waste", |v| v.median("P3/knary(11,3,3)/WSAP", |seen| seen.allotments[0] / parallelism(seen))),
    ("P3-theorem", |v| within(v, |seen| seen.effective)),
    ("repaired", |v| within(v, |seen| seen.trimmed)),
    ("usage", usage),
    ("on average", on_average),
    ("by average", |v| response(v, "P3/{job}/WSAP") / on_average(v)),
    ("published by Cilk", |v| v.number("time") / v.number("cilk") * 100.0),
    ("best of any", best_of_any),
    ("bound", |v| v.median("P3/{job}/WSAP", |seen| bound(seen, seen.allotments[0]))),
    ("by bound", |v| v.median("P3/{job}/WSAP", by_bound)),
    ("by repaired", |v| v.median("P3/{job}/WSAP", |seen| seen.response / bound(seen, seen.trimmed))),
    ("published by bound", |v| v.number("time") / v.number("bound")),
    // Chapter 9: other sizes of the machine.
    ("scale-start", |v| greatest(&v.each("short", lost)) / floor(v)),
    ("scale-best-cycle", |v| {
        let best =
            |machine: &toml::Value| v.with("machine", machine, |v| best(v, &[costs(v, LONG)]));
        match v.list("machine") {
            [_, middle, _, _, large, ..] => best(large) / best(middle),
            _ => f64::NAN,
        }
    }),
    ("lost", lost),
    ("lost by 1 %", |v| 100.0 * lost(v) * 5.0 / 1e3),
    ("floor", floor),
    ("cost", |v| cost(v, LONG)),
    ("cost in %", |v| cost(v, LONG) * 100.0),
    ("best cycle", |v| best(v, &[costs(v, LONG)]) / 1e3),
];

/// The long job of a machine of another size.
const LONG: &str = "scale/{processors}/long loopy(16 P)";

/// The mean time from the arrival of an instance to its end.
fn response(v: V<'_>, cell: &str) -> f64 {
    v.median(cell, |seen| seen.response)
}

fn by(v: V<'_>, cell: &str, base: &str) -> f64 {
    v.ratio(cell, base, |seen| seen.response)
}

/// The time until all processors had work; unknown if that never happened in some run.
fn all(v: V<'_>, cell: &str) -> f64 {
    v.median(cell, |seen| seen.all.unwrap_or(f64::NAN))
}

fn parallelism(seen: &Seen) -> f64 {
    seen.work / seen.span
}

/// The length of the cycle, in seconds.
fn length(v: V<'_>) -> f64 {
    v.number("cycle") / 1e3
}

/// The time until all processors have work, by the four cycles in which a desire can grow from 1 to
/// 16 by doubling, for each job and cycle.
fn doublings(v: V<'_>) -> Vec<f64> {
    let of_job = |v: V<'_>| {
        v.each("cycle", |v| {
            all(v, "O/{job}/WSAP/{cycle}") / (4.0 * length(v))
        })
    };
    v.each("job", of_job).concat()
}

/// The time until all processors have work if ready tasks are counted, by that under WSAP. A job may
/// end earlier.
fn counting(v: V<'_>, cycle: &str) -> f64 {
    let until = |rule: &str| {
        let cell = format!("O/loopy(64)/{rule}/{cycle}");
        v.median(&cell, |seen| seen.all.unwrap_or(seen.response))
    };
    until("counting ready tasks") / until("WSAP")
}

fn steepest(v: V<'_>, rule: &str) -> f64 {
    let at = |v: V<'_>, cycle| response(v, &format!("O/{{job}}/{rule}/{cycle}"));
    greatest(&v.each("job", |v| at(v, "1") / at(v, "5")))
}

/// Compares the shortest with the longest cycle, without the least loss of a job that begins with
/// one of 16 processors.
fn above_floor(v: V<'_>) -> f64 {
    const FLOOR: f64 = 4.0 - 15.0 / 16.0;
    let fixed = response(v, "O/{job}/Cilk");
    let beyond = |cell, length| (response(v, cell) - FLOOR * length) / fixed;
    beyond("O/{job}/WSAP/1", 0.001) / beyond("O/{job}/WSAP/100", 0.1)
}

/// The cost of a cycle for a job: the overhead plus the time until all processors have work, both
/// relative to the running time.
fn cost(v: V<'_>, job: &str) -> f64 {
    let wsap = format!("{job}/WSAP/{{cycle}}");
    let fixed = response(v, &format!("{job}/Cilk"));
    (response(v, &wsap) + all(v, &wsap)) / fixed - 1.0
}

fn costs(v: V<'_>, job: &str) -> Vec<f64> {
    v.each("cycle", |v| cost(v, job))
}

/// The cycle with the lowest cost in the mean of these jobs, in milliseconds.
fn best(v: V<'_>, costs: &[Vec<f64>]) -> f64 {
    let mean = |cycle: usize| costs.iter().map(|job| job[cycle]).sum::<f64>() / costs.len() as f64;
    let cycles = v.each("cycle", |v| v.number("cycle"));
    let means = cycles
        .iter()
        .enumerate()
        .map(|(at, cycle)| (mean(at), cycle));
    let (least, cycle) = means.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a cycle");
    if least.is_nan() { least } else { *cycle }
}

/// The response, throughput and power of three jobs.
fn figures(response: f64, end: f64) -> [f64; 3] {
    let throughput = 3.0 / end;
    [response, throughput, throughput / response]
}

/// The figures of a static split into halves, where the third job waits for half of the machine.
fn on_halves(v: V<'_>) -> [f64; 3] {
    let later = if v.fill("{third}") == "0" {
        0.0
    } else {
        ALONE / 2.0
    };
    let alone = response(v, "P1/halves");
    figures(alone + (alone - later) / 3.0, 2.0 * alone)
}

fn arrival(v: V<'_>) -> [f64; 3] {
    if v.fill("{rule}") == "halves" {
        return on_halves(v);
    }
    let end = |v: V<'_>| v.median("P1/WSAP/{third}", |seen| seen.end);
    figures(response(v, "P1/WSAP/{third}"), end(v))
}

fn by_halves(v: V<'_>) -> [f64; 3] {
    if v.fill("{rule}") == "halves" {
        return [f64::NAN; 3];
    }
    let halves = on_halves(v);
    let wsap = arrival(v);
    [0, 1, 2].map(|figure| wsap[figure] / halves[figure])
}

/// The lowest mean response, relative to static halves, that any rule can reach for jobs with this
/// parallelism, up to 16. In the ideal schedule, the serial phase has one processor while the other
/// job has fifteen.
pub fn ideal(parallelism: f64) -> f64 {
    let parallel = parallelism - 1.0;
    (1.0 + parallel / (PROCESSORS - 1) as f64) / (1.0 + parallel / HALF as f64)
}

/// The average number of processors that the thesis prints: not the effective allotment of theorem
/// 3, but all that the job had.
fn usage(v: V<'_>) -> f64 {
    v.median("P3/{job}/WSAP", |seen| seen.allotments[0])
}

/// The time under Cilk on the average number of processors that the job had under WSAP.
fn on_average(v: V<'_>) -> f64 {
    v.median("P3/{job}/WSAP", |seen| seen.fixed.unwrap_or(f64::NAN))
}

/// The best time under Cilk on any number of processors that was tried.
fn best_of_any(v: V<'_>) -> f64 {
    let times = v.each("width", |v| response(v, "P3/{job}/{width}"));
    times.into_iter().fold(on_average(v), f64::min)
}

/// The bound of theorem 3 if `processors` is the effective allotment, the repaired bound if it is the
/// trimmed mean, and the published bound if it is the usage.
fn bound(seen: &Seen, processors: f64) -> f64 {
    seen.work / processors.max(1.0) + seen.span
}

fn by_bound(seen: &Seen) -> f64 {
    seen.response / bound(seen, seen.allotments[0])
}

/// The part of all runs that are within a bound.
fn within(v: V<'_>, processors: fn(&Seen) -> f64) -> f64 {
    let ratio = |seen: &Seen| seen.response / bound(seen, processors(seen));
    let ratios = v.each("greedy", |v| {
        let runs = v.measured.runs(&v.fill("P3/{job}/WSAP")).iter();
        runs.map(ratio).collect::<Vec<f64>>()
    });
    let ratios = ratios.concat();
    let within = ratios.iter().filter(|ratio| **ratio <= GREEDY).count();
    within as f64 / ratios.len() as f64
}

/// The minimum loss, in cycles, of a job that begins with one of P processors and doubles its
/// allotment at the end of each cycle.
fn floor(v: V<'_>) -> f64 {
    let processors = v.number("processors");
    processors.log2() - (processors - 1.0) / processors
}

/// The time that a job loses at its start, in cycles of 5 ms.
fn lost(v: V<'_>) -> f64 {
    (response(v, "scale/{processors}/{short}/WSAP/5")
        - response(v, "scale/{processors}/{short}/Cilk"))
        / (5.0 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::super::PAPER;
    use super::*;
    use crate::reproduce::measured::made_up;
    use crate::reproduce::paper::Paper;

    fn seen(response: f64, end: f64) -> Seen {
        Seen {
            response,
            end,
            all: Some(0.0),
            ..Seen::default()
        }
    }

    /// The second job takes a thousand times as long as the first, and gets faster with longer
    /// cycles, but counts no more.
    #[test]
    fn best_cycle_weighs_jobs_alike() {
        let lists = Paper::read(PAPER).lists;
        for (more, expected) in [(0.3, 1.0), (0.1, 100.0)] {
            let cells = [
                ("fib(33)", 1.0, more),
                ("loopy(64)", 1e3, -0.2),
                ("knary(10,6,1)", 1.0, 0.0),
                ("cholesky(2048,10000)", 1.0, 0.0),
            ];
            let cells = cells.into_iter().flat_map(|(job, time, more)| {
                let cycles = [1, 2, 5, 10, 25, 50, 100].into_iter().enumerate();
                let wsap = cycles.map(move |(place, cycle)| {
                    let response = time * (1.0 + more * place as f64);
                    (format!("O/{job}/WSAP/{cycle}"), seen(response, 0.0))
                });
                wsap.chain([(format!("O/{job}/Cilk"), seen(time, 0.0))])
            });
            let best = made_up(FIGURES, "O2-best", &[], &lists, cells);
            assert_eq!(best * 5.0, expected);
        }
    }

    #[test]
    fn usage_counts_idle_processors() {
        let run = Seen {
            work: 1.0,
            span: 1.0,
            effective: 1.0,
            allotments: vec![2.0],
            ..Seen::default()
        };
        let cells = [("P3/knary(11,3,3)/WSAP".to_owned(), run)];
        let ours = made_up(FIGURES, "P3-serial-waste", &[], &Default::default(), cells);
        assert_eq!(ours, 2.0);
    }

    /// With static halves, the third of three jobs that arrive at once begins when the first ends.
    #[test]
    fn third_job_waits_for_a_half() {
        let cells = || {
            let halves = ("P1/halves".to_owned(), seen(3.0, 0.0));
            [halves, ("P1/WSAP/0".to_owned(), seen(4.0, 3.0))]
        };
        for (figure, rule, expected) in [
            ("P1 response", "halves", 4.0),
            ("P1 throughput", "halves", 0.5),
            ("response by halves", "WSAP", 1.0),
            ("throughput by halves", "WSAP", 2.0),
        ] {
            let given = [("rule", rule), ("third", "0")];
            let ours = made_up(FIGURES, figure, &given, &Default::default(), cells());
            assert_eq!(ours, expected, "{figure}");
        }
    }
}
