//! The question of chapter 7: are schedulers that estimate how many processors they can use faster
//! than a tuned backoff on all processors? The thesis has no figures on this.

use tidegate_workloads::Size;

use super::claims::{Row, SLIGHTLY};
use super::machines::{MARS, Machine, SATURN};
use super::medians::View;
use super::simulated::slowed;
use crate::engine::ratios::least;
use crate::engine::{Refuted, Session};
use crate::reproduce::grid::{Grid, Load, Plan, Rule, Trial};
use crate::reproduce::page::{Page, Section};
use crate::reproduce::simulated::Work;
use tidegate_command::failure::Failure;
use tidegate_policy::Nanos;
use tidegate_sim::Settings;

const MS: Nanos = 1_000_000;

/// Estimators of desires, each with its cycle, as in the evaluations of Cao et al. (section 2.4)
/// and of Sen, "Dynamic processor allocation for adaptively parallel work-stealing jobs", 2004.
const ESTIMATORS: [(&str, Nanos); 4] = [
    ("a-steal", 10 * MS),
    ("a-deque", 10 * MS),
    ("wsap", 5 * MS),
    ("steady", 5 * MS),
];

/// The rules whose mean time is the unit of aggregated times.
const ALL: [&str; 6] = ["linear", "quanta", "a-steal", "a-deque", "wsap", "steady"];

/// The number of processors in the evaluation of Cao et al.
const CAO: usize = 8;

fn rules() -> Vec<Rule> {
    let mut rules: Vec<Rule> = ["linear", "quanta"]
        .map(|rule| Rule::new(rule, rule))
        .into();
    rules.extend(ESTIMATORS.map(|(name, cycle)| Rule::new(name, "linear").desiring(name, cycle)));
    rules
}

/// Returns the programs, with tasks so long that each program, alone on all processors, takes more
/// than a second. A job that estimates its desire begins with one processor, so a shorter program
/// would mainly show how long that start takes.
fn works(size: Size) -> Vec<Work> {
    let longer = match size {
        Size::Tiny => [1.0; 5],
        Size::Small => [40.0, 500.0, 40.0, 100.0, 100.0],
        Size::Paper => [4.0, 1500.0, 10.0, 300.0, 300.0],
    };
    let lengthen = |(work, longer): (Work, f64)| Work {
        slower: work.slower * longer,
        ..work
    };
    let works = slowed(size).into_iter();
    works.zip(longer).map(lengthen).collect()
}

struct Results {
    mars: Grid,
    saturn: Grid,
    cao: Grid,
}

pub struct Trials([Trial; 3]);

fn plan(size: Size, loads: Vec<Load>) -> Plan {
    Plan {
        rules: rules(),
        works: works(size),
        loads,
    }
}

/// Returns settings without pinned workers, because a job is not always allotted the same
/// processors.
fn unpinned(machine: Machine) -> impl Fn(usize) -> Settings {
    move |processors| Settings {
        pinned: false,
        ..machine.settings(processors)
    }
}

impl Trials {
    pub fn new(session: &Session) -> Self {
        let (size, runs) = (session.size().into(), super::runs(session));
        let [mars, saturn] = [MARS, SATURN].map(|machine| {
            let loads = machine.full().into_iter();
            let loads = loads.filter(|load| load.instances != 2).collect();
            let place = format!("{}/outlook", machine.name);
            plan(size, loads).simulated(&place, runs, unpinned(machine))
        });
        let cao = plan(size, vec![MARS.alone(CAO)]);
        let cao = cao.simulated("Mars/outlook", runs, unpinned(MARS));
        let trials = [mars, saturn, cao];
        trials.iter().for_each(|trial| trial.expect(session));
        Self(trials)
    }

    pub fn add(self, session: &Session, page: &mut Page) -> Result<(), Failure> {
        let [mars, saturn, cao] = self.0;
        let results = Results {
            mars: mars.measure(session)?,
            saturn: saturn.measure(session)?,
            cao: cao.measure(session)?,
        };
        let size = session.size().into();
        let findings = ROWS.iter().map(|row| row.finding(&results, size));
        page.findings.extend(findings);
        page.sections.push(section(&results));
        Ok(())
    }
}

/// Returns the aggregated time under a rule, averaged over both machines.
fn time(view: &View<'_, Results>, rule: &str, [mars, saturn]: [&str; 2]) -> f64 {
    let Results {
        mars: on_mars,
        saturn: on_saturn,
        ..
    } = view.results;
    let mars = view.on(on_mars).aggregated(rule, &[mars], &ALL);
    (mars + view.on(on_saturn).aggregated(rule, &[saturn], &ALL)) / 2.0
}

const ALONE: [&str; 2] = ["80", "48"];
const FOUR: [&str; 2] = ["80-4", "48-4"];

fn by_linear(view: &View<'_, Results>, rule: &str, loads: [&str; 2]) -> f64 {
    time(view, rule, loads) / time(view, "linear", loads)
}

/// Creates a claim for the first of the three explanations in chapter 7: adaptivity gains nothing.
macro_rules! no_faster {
    ($rule:literal, $load:literal, $take:literal, $loads:expr) => {
        Row::new(
            concat!("outlook-", $rule, "-", $load),
            concat!(
                $take,
                " at least as long under ",
                $rule,
                " on as many processors as it asks for as under the linear backoff on all"
            ),
            ASKED,
            0.95..=2.0,
            Refuted::AtMost(0.95),
            |view| by_linear(view, $rule, $loads),
        )
    };
}

/// Computes the figure for the second explanation in chapter 7: estimators need a central table.
fn gain(view: &View<'_, Results>, loads: [&str; 2]) -> f64 {
    let best = least(&ESTIMATORS.map(|(rule, _)| time(view, rule, loads)));
    best / time(view, "quanta", loads)
}

const ASKED: &str = "asked in ch. 7";

const ROWS: &[Row<Results>] = &[
    no_faster!("a-steal", "alone", "One instance takes", ALONE),
    no_faster!("a-steal", "4", "Four instances take", FOUR),
    no_faster!("a-deque", "alone", "One instance takes", ALONE),
    no_faster!("a-deque", "4", "Four instances take", FOUR),
    no_faster!("wsap", "alone", "One instance takes", ALONE),
    no_faster!("wsap", "4", "Four instances take", FOUR),
    no_faster!("steady", "alone", "One instance takes", ALONE),
    no_faster!("steady", "4", "Four instances take", FOUR),
    Row::below(
        "outlook-central-alone",
        "One instance takes less time under the best estimator with a central table than under \
         quanta, which have none",
        ASKED,
        0.5..=0.95,
        |view| gain(view, ALONE),
    ),
    Row::below(
        "outlook-central-4",
        "Four instances take less time under the best estimator with a central table than under \
         quanta, which have none",
        ASKED,
        0.5..=0.95,
        |view| gain(view, FOUR),
    ),
    Row::above(
        "cao-alone",
        "One program alone on 8 processors takes longer under A-Steal and A-Deque than with all \
         processors all the time",
        "2.4, after Cao et al.",
        SLIGHTLY,
        |view: &View<'_, Results>| {
            let cao = view.on(&view.results.cao);
            let time = |rule| cao.aggregated(rule, &["8"], &ALL);
            least(&["a-steal", "a-deque"].map(time)) / time("linear")
        },
    )
    .because(
        "A job with a desire begins with one processor, and has all that it can use only after some \
         cycles.",
    ),
];

fn section(results: &Results) -> Section {
    let Results { mars, saturn, cao } = results;
    Section {
        title: "Outlook: estimators compared with tuned backoffs".to_owned(),
        text: "Chapter 7 asks whether adaptive schedulers are worth their trouble if the backoff is \
               tuned. Under linear and quanta each instance has all processors all the time. Under \
               A-Steal, A-Deque, WSAP and steady it begins with one, and its desire is estimated \
               every 10 ms (A-Steal, A-Deque) or 5 ms; the allotments come from a central table, and \
               its thieves rest as the linear backoff does. Unlike above, any free processor takes any \
               waiting thread. The unit is the mean over all six. Findings whose identifier begins with outlook answer a question: \"contradicts\" means \
               that adaptivity gains time."
            .to_owned(),
        charts: [("Mars", mars), ("Saturn", saturn), ("8 processors", cao)]
            .map(|(name, grid)| grid.aggregated_chart(name))
            .into(),
        tables: [mars, saturn, cao].map(super::times).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Verdict;
    use crate::reproduce::observed::Observed;

    /// Makes up results in which the rules in `times` take that many seconds, and all others one
    /// second.
    fn results(times: &[(&str, f64)]) -> Results {
        let grid = |loads| {
            let plan = plan(Size::Tiny, loads);
            let observed = plan.cells().map(|(rule, ..)| {
                let time = times.iter().find(|(name, _)| *name == rule.name);
                vec![Observed {
                    seconds: time.map_or(1.0, |(_, seconds)| *seconds),
                    ..Observed::default()
                }]
            });
            let observed = observed.collect();
            Grid::new(plan, observed)
        };
        Results {
            mars: grid(MARS.full()),
            saturn: grid(SATURN.full()),
            cao: grid(vec![MARS.alone(CAO)]),
        }
    }

    #[test]
    fn each_answer_can_agree_and_contradict() {
        let all = |seconds| ESTIMATORS.map(|(rule, _)| (rule, seconds));
        for (id, agreeing, contradicting) in [
            ("outlook-a-steal-alone", 1.1, 0.9),
            ("outlook-a-steal-4", 1.1, 0.9),
            ("outlook-a-deque-alone", 1.1, 0.9),
            ("outlook-a-deque-4", 1.1, 0.9),
            ("outlook-wsap-alone", 1.1, 0.9),
            ("outlook-wsap-4", 1.1, 0.9),
            ("outlook-steady-alone", 1.1, 0.9),
            ("outlook-steady-4", 1.1, 0.9),
            ("outlook-central-alone", 0.9, 1.1),
            ("outlook-central-4", 0.9, 1.1),
            ("cao-alone", 1.1, 0.9),
        ] {
            for (seconds, verdict) in [
                (agreeing, Verdict::Agrees),
                (contradicting, Verdict::Contradicts),
            ] {
                let results = results(&all(seconds));
                let findings = ROWS.iter().map(|row| row.finding(&results, Size::Paper));
                let mut of = findings.filter(|finding| finding.id == id);
                assert_eq!(of.next().expect("a claim").verdict, verdict, "{id}");
            }
        }
    }

    #[test]
    fn only_estimators_have_a_desire() {
        for rule in rules() {
            let is_estimator = ESTIMATORS.iter().any(|(name, _)| *name == rule.name);
            assert_eq!(rule.desire.is_some(), is_estimator, "{}", rule.name);
        }
    }
}
