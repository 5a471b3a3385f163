//! The figures of the experiments. A rule's time is that of an instance of a program.

use crate::engine::ratios::{farthest, geometric_mean, greatest, least};
use crate::reproduce::measured::{Figure, View};
use crate::reproduce::observed::Observed;
use crate::reproduce::plan::{in_units, seconds};

type V<'a> = View<'a, Observed>;

#[rustfmt::skip]
pub const FIGURES: &[Figure<Observed>] = &[
    ("seconds", |v| seconds(v, "{on}/{work}/{rule}/{load}")),
    ("asleep", |v| v.median("{on}/{work}/{rule}/{load}", |run| run.asleep)),
    ("naps", |v| v.median("{on}/{work}/{rule}/{load}", |run| run.naps)),
    ("in units", in_units),
    // Times of a program.
    ("slower", slower),
    ("slower at each load", |v| least(&v.each("load", slower))),
    ("farthest", |v| {
        farthest(&v.each("load", |v| {
            let slow = v.each("slow", |v| time(v, "{slow}"));
            let fast = time(v, "{fast}");
            farthest(
                &slow
                    .into_iter()
                    .map(|slow| slow / fast)
                    .collect::<Vec<f64>>(),
            )
        }))
    }),
    ("spread", |v| spread(&v.each("rule", |v| time(v, "{rule}")))),
    ("by load", |v| {
        let at = |load: &str| seconds(v, &format!("{{on}}/{{work}}/{{rule}}/{load}"));
        at("{many}") / at("{few}")
    }),
    ("efficiency", |v| {
        let at = |load: &str| seconds(v, &format!("{{on}}/UTS-7/linear/{load}"));
        at("1") / at("{processors}") / v.number("processors")
    }),
    ("lu-steals", |v| { let at = |cell| v.median(cell, |run| run.steals); at("Mars/lu/none/80") / at("Mars/lu/none/40") }),
    ("lu-load-original", |v| {
        let longer = |rule: &str| {
            let at = |load: &str| seconds(v, &format!("Mars/lu/{rule}/{load}"));
            at("80-4") / at("80")
        };
        longer("pheet-original") / longer("linear")
    }),
    ("lu-48-none", |v| {
        let slower = |load: &str| {
            let under = |rule: &str| seconds(v, &format!("Saturn/lu/{rule}/{load}"));
            under("none") / under("linear")
        };
        slower("48-4") / slower("48")
    }),
    ("prefix-80-abp", |v| {
        let six = mean(v.each("six", |v| seconds(v, "Mars/prefixsum/{rule}/80")));
        seconds(v, "Mars/prefixsum/abp-yield/80") / six
    }),
    ("uts0-48", |v| {
        let time = |v: V<'_>| {
            let at = |v: V<'_>| seconds(v, "Saturn/UTS-0/{rule}/{load}");
            geometric_mean(&v.each("full Saturn", at))
        };
        least(&v.each("quanta", time)) / mean(v.each("others", time))
    }),
    ("uts7", |v| {
        let worst = |on: &'static str, loads| {
            let time = |v: V<'_>| seconds(v, &format!("{on}/UTS-7/{{rule}}/{{load}}"));
            let spreads = v.each(loads, |v| spread(&v.each("six", time)));
            greatest(&spreads)
        };
        greatest(&[worst("Mars", "full Mars"), worst("Saturn", "full Saturn")])
    }),
    // Aggregated times.
    ("slower overall", slower_overall),
    ("slower overall at each load", |v| least(&v.each("load", slower_overall))),
    ("overall spread", |v| spread(&values(v))),
    ("worst spread", |v| greatest(&v.each("load", |v| spread(&values(v))))),
    ("mean slower", |v| {
        let slow = mean(v.each("slow", |v| overall(v, "{slow}")));
        slow / mean(v.each("fast", |v| overall(v, "{fast}")))
    }),
    ("factor", |v| {
        greatest(&v.each("load", |v| {
            let best = overall(v, "1.3");
            let others = v.each("exponential: factor", |v| overall(v, "{rule}"));
            best / least(&others)
        }))
    }),
    ("untuned", |v| {
        let times = |v: V<'_>, list| v.each(list, |v| aggregated(v, "backoffs", "{of}"));
        let untuned = least(&times(v, "untuned"));
        untuned / mean(times(v, "tuned"))
    }),
    ("tuned", |v| spread(&v.each("tuned", |v| aggregated(v, "backoffs", "{of}")))),
    ("mars-linear", |v| { let all = v.each("seven", |v| aggregated(v, "seven", "{rule}")); least(&all[1..]) / all[0] }),
    ("mars-none", |v| {
        let under = |rule| aggregated(v, "seven", rule);
        under("none") / least(&["pheet-original", "yield"].map(under))
    }),
    ("saturn-alone", |v| {
        let spread = |cell| spread(&v.each("seven", |v| on(v, cell, "seven", "{rule}")));
        spread(["Mars", "80"]) / spread(["Saturn", "48"])
    }),
    ("slower on both", |v| both(v, "{slow}") / both(v, "{fast}")),
    // Sleeps.
    ("nap-length", |v| {
        let length = |work| asleep_by_linear(v, work) / naps_by_linear(v, work);
        (length("lu") + length("quicksort")) / 2.0
    }),
    ("naps by linear", |v| naps_by_linear(v, "{work}")),
    ("asleep by linear", |v| asleep_by_linear(v, "{work}")),
    ("inserted-quanta", |_| super::rest::inserted_quanta()),
    // A logarithmic axis cannot show 0.
    ("attempts of LU", |v| v.median("Mars/lu/none/{alone}", |run| known(run.attempts))),
    ("steals of LU", |v| v.median("Mars/lu/none/{alone}", |run| known(run.steals))),
    // Costs.
    ("by linear at a cost", |v| {
        let under = |rule: &str| seconds(v, &format!("{{cost}}/{{nanos}}/lu/{rule}/{{load}}"));
        under("{rule}") / under("linear")
    }),
    // The outlook.
    ("estimator by linear", |v| outlook(v, "{rule}") / outlook(v, "linear")),
    ("best estimator by quanta", |v| {
        let best = least(&v.each("estimator", |v| outlook(v, "{rule}")));
        best / outlook(v, "quanta")
    }),
    ("cao-alone", |v| {
        let time = |rule| on(v, ["outlook/Mars", "8"], "all six", rule);
        least(&["a-steal", "a-deque"].map(time)) / time("linear")
    }),
];

fn known(count: f64) -> f64 {
    if count > 0.0 { count } else { f64::NAN }
}

/// The ratio of the longest time to the shortest.
fn spread(times: &[f64]) -> f64 {
    greatest(times) / least(times)
}

/// The mean, or NaN if there are no values.
fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum) = values
        .into_iter()
        .fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    sum / count
}

/// The time of a program under a rule: the geometric mean over the loads.
fn time(v: V<'_>, rule: &str) -> f64 {
    let at = |v: V<'_>| seconds(v, &format!("{{on}}/{{work}}/{rule}/{{load}}"));
    geometric_mean(&v.each("load", at))
}

/// The shortest time of a program under the slow rules by the longest under the fast ones.
fn slower(v: V<'_>) -> f64 {
    let slow = least(&v.each("slow", |v| time(v, "{slow}")));
    slow / greatest(&v.each("fast", |v| time(v, "{fast}")))
}

/// The aggregated time under a rule, averaged over the loads. Each program's time is divided by its
/// mean over the rules of the unit, and the quotients of all measured programs are averaged (section
/// 3.2).
fn aggregated(v: V<'_>, unit: &str, rule: &str) -> f64 {
    let works = v.fill("{on}, works");
    let works = if v.lists.contains_key(&works) {
        &works
    } else {
        "work"
    };
    let cell = |rule: &str| format!("{{on}}/{{work}}/{rule}/{{load}}");
    let (of_rule, of_unit) = (&cell(rule), &cell("{rule}"));
    let of_work = |v: V<'_>| {
        let is_measured = v.each(unit, |v| v.is_measured(of_unit));
        let is_whole = v.is_measured(of_rule) && is_measured.into_iter().all(|is| is);
        is_whole.then(|| seconds(v, of_rule) / mean(v.each(unit, |v| seconds(v, of_unit))))
    };
    mean(v.each("load", |v| {
        mean(v.each(works, of_work).into_iter().flatten())
    }))
}

/// The aggregated time on a machine in units of the seven schedulers of chapter 6, or of a sweep in
/// units of all its values.
fn overall(v: V<'_>, rule: &str) -> f64 {
    let sweep = v.fill("{on}");
    let unit = if v.lists.contains_key(&sweep) {
        &sweep
    } else {
        "seven"
    };
    aggregated(v, unit, rule)
}

fn slower_overall(v: V<'_>) -> f64 {
    let slow = least(&v.each("slow", |v| overall(v, "{slow}")));
    slow / greatest(&v.each("fast", |v| overall(v, "{fast}")))
}

fn values(v: V<'_>) -> Vec<f64> {
    v.each("value", |v| overall(v, "{value}"))
}

/// The aggregated time at one load of a machine.
fn on(v: V<'_>, [machine, load]: [&str; 2], unit: &str, rule: &str) -> f64 {
    let at = |v: V<'_>| v.with("load", &load.into(), |v| aggregated(v, unit, rule));
    v.with("on", &machine.into(), at)
}

/// The aggregated time under a rule, averaged over both machines.
fn both(v: V<'_>, rule: &str) -> f64 {
    let on = |machine: &str, loads: &str| {
        let loads = toml::Value::Array(v.lists[loads].clone());
        let at = |v: V<'_>| v.with("load", &loads, |v| aggregated(v, "seven", rule));
        v.with("on", &machine.into(), at)
    };
    (on("Mars", "full Mars") + on("Saturn", "full Saturn")) / 2.0
}

fn naps_by_linear(v: V<'_>, work: &str) -> f64 {
    let under = |rule| v.median(&format!("Mars/{work}/{rule}/80"), |run| run.naps);
    under("quanta") / under("linear")
}

fn asleep_by_linear(v: V<'_>, work: &str) -> f64 {
    let under = |rule| v.median(&format!("Mars/{work}/{rule}/80"), |run| run.asleep);
    under("quanta") / under("linear")
}

/// The aggregated time of some instances under a rule, averaged over both machines.
fn outlook(v: V<'_>, rule: &str) -> f64 {
    let mars = on(v, ["outlook/Mars", "80{instances}"], "all six", rule);
    (mars + on(v, ["outlook/Saturn", "48{instances}"], "all six", rule)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::super::PAPER;
    use super::*;
    use crate::reproduce::measured::made_up;
    use crate::reproduce::paper::Paper;

    fn figure(figure: &str, given: &[(&str, &str)], seconds: fn(&str) -> f64) -> f64 {
        let lists = Paper::read(PAPER).lists;
        let text = |item: &toml::Value, name: &str| item[name].as_str().unwrap().to_owned();
        let rules = lists["rule"].iter().map(|rule| text(rule, "rule"));
        let cells = rules.flat_map(|rule| {
            let works = lists["work"].iter().map(move |work| text(work, "work"));
            works.map(move |work| {
                let run = Observed::lasting(seconds(&rule));
                (format!("Mars/{work}/{rule}/80"), run)
            })
        });
        let given = [&[("on", "Mars"), ("work", "lu"), ("load", "80")], given].concat();
        made_up(FIGURES, figure, &given, &lists, cells.collect::<Vec<_>>())
    }

    #[test]
    fn slow_rules_are_divided_by_fast_ones() {
        let given = [("slow", "none"), ("fast", "linear")];
        let seconds = |rule: &str| if rule == "none" { 3.0 } else { 2.0 };
        let slower = figure("slower", &given, seconds);
        assert!((slower - 1.5).abs() < 1e-9, "{slower}");
    }

    #[test]
    fn thesis_mean_excludes_our_rule() {
        let aggregated = |seconds| figure("mars-linear", &[], seconds);
        let ours = aggregated(|rule| if rule == "linear" { 0.9 } else { 1.0 });
        let with_slow_elastic = aggregated(|rule| match rule {
            "linear" => 0.9,
            "elastic" => 99.0,
            _ => 1.0,
        });
        assert_eq!(ours, with_slow_elastic);
        assert!((ours - 1.0 / 0.9).abs() < 1e-9, "{ours}");
    }
}
