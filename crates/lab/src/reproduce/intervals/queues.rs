//! How the queue of a pool affects the speed of intervals: the times of chapter 11.

use std::ops::RangeInclusive;

use tidegate_policy::QueueKind;

use super::pools::{Contender, Measured, QUEUES, SUITE};
use crate::arguments::Size;
use crate::engine::ratios::{self, geometric_mean, of_ratios};
use crate::engine::{Claim, Interval, Refuted, Verdict};
use crate::reproduce::page::{Chart, Finding, Line, Page, Point, Section};
use tidegate_command::output::{Table, Value, show_ratio};

/// A confidence interval wider than this is too wide to detect a difference of 5 %.
const WIDEST: f64 = 0.10;

/// Pairs of queues between which the thesis found no significant difference, each with the sections
/// of the thesis and an explanation.
const ALIKE: [(QueueKind, QueueKind, &str, &str); 4] = [
    (
        QueueKind::ChaseLev,
        QueueKind::Lazy,
        "sections 11.2 and 12.1, figure 11.2",
        "A take is a full fence in the one and an exchange in the other, which cost about the same.",
    ),
    (
        QueueKind::IdempotentDeque,
        QueueKind::Lazy,
        "sections 11.2 and 12.1, figure 11.2",
        "Each task is claimed before it runs, which costs what the deque saves.",
    ),
    (
        QueueKind::Duplicating,
        QueueKind::IdempotentDeque,
        "section 11.3.3, figure 11.5",
        "Thieves take only what the owner has shared at a put. An owner that has put all of its \
         tasks and only takes shares no more, so in Series and MonteCarlo the thief gets next to \
         nothing (table of takes and steals).",
    ),
    (
        QueueKind::Shared,
        QueueKind::ChaseLev,
        "section 11.4, figure 11.6",
        "One lock for two workers. Both take the youngest task, as in the thesis.",
    ),
];

pub fn add(page: &mut Page, measured: &Measured, size: Size) {
    page.findings.extend(findings(measured, size));
    page.sections.push(section(measured));
}

/// Returns the ratio of the times with two queues: the geometric mean over these programs.
fn ratio(
    measured: &Measured,
    programs: &[&'static str],
    [queue, other]: [QueueKind; 2],
) -> Interval {
    let pairs = programs.iter().map(|program| {
        [queue, other].map(|queue| measured.seconds(program, Contender::Queue(queue)))
    });
    of_ratios(&ratios::measured(pairs), geometric_mean)
}

fn findings(measured: &Measured, size: Size) -> Vec<Finding> {
    let judged = |finding: Finding| {
        let finding = finding.unless(size == Size::Tiny, Verdict::TooSmall);
        finding.unless(measured.has_few_runs(), Verdict::CannotTell)
    };
    let alike = ALIKE.iter().map(|pair| alike(measured, pair));
    let dynamic = dynamic(measured);
    let slower = SLOWER.iter().flat_map(|slower| slower.findings(measured));
    alike.chain(dynamic).chain(slower).map(judged).collect()
}

fn alike(
    measured: &Measured,
    &(queue, other, source, why): &(QueueKind, QueueKind, &str, &str),
) -> Finding {
    let ours = ratio(measured, &SUITE, [queue, other]);
    // The thesis gives no threshold. With the best three of ten runs, it can detect a difference of
    // 5 %.
    Claim::new(
        format!("{queue} time by that of {other}"),
        format!("Programs take as long on the queue {queue} as on {other} (within 5 %), as the geometric mean of the seven Java Grande programs"),
        source,
        0.95..=1.05,
        Refuted::Outside(0.90, 1.10),
    )
    .finding(ours, show_ratio)
    .because(why)
    .unless(ours.high - ours.low > WIDEST, Verdict::CannotTell)
}

fn dynamic(measured: &Measured) -> [Finding; 2] {
    let queues = [QueueKind::Dynamic, QueueKind::ChaseLev];
    let why = "Ours links its arrays by indices and uses them again, so there are no objects for a \
               collector to find, as there are in the thesis.";
    let each = SUITE.map(|program| ratio(measured, &[program], queues));
    let slower = if each.iter().any(|ratio| ratio.is_measured()) {
        let count = |end: fn(&Interval) -> f64| {
            each.iter().filter(|ratio| end(ratio) > 1.01).count() as f64
        };
        Interval {
            value: count(|ratio| ratio.value),
            low: count(|ratio| ratio.low),
            high: count(|ratio| ratio.high),
        }
    } else {
        Interval::exact(f64::NAN)
    };
    [
        Claim::new(
            "dynamic time by that of chase-lev",
            "Programs take longer on the dynamic deque than on the Chase-Lev deque (slightly, says \
             section 11.3.1, often significantly, says 12.1), as the geometric mean of seven",
            "sections 11.3.1 and 12.1, figure 11.3",
            1.01..=1.25,
            Refuted::AtMost(1.0),
        )
        .finding(ratio(measured, &SUITE, queues), show_ratio)
        .because(why),
        Claim::new(
            "programs slower on dynamic",
            "Most of the seven programs are more than 1 % slower on the dynamic deque than on the \
             Chase-Lev deque",
            "section 11.3.1, figure 11.3",
            4.0..=7.0,
            Refuted::AtMost(0.0),
        )
        .finding(slower, |count| format!("{count:.0}"))
        .because(why),
    ]
}

/// A queue that the thesis finds slower than the idempotent deque, especially on two of the
/// programs.
struct Slower {
    queue: QueueKind,
    most: [&'static str; 2],
    agrees: RangeInclusive<f64>,
    why: &'static str,
}

const SLOWER: [Slower; 2] = [
    Slower {
        queue: QueueKind::IdempotentFifo,
        most: ["sor", "moldyn"],
        agrees: 1.03..=f64::INFINITY,
        why: "Owner and thieves take the oldest task. With two workers there is one thief at the \
              owner's end, and ours parks where those of the thesis spin.",
    },
    Slower {
        queue: QueueKind::IdempotentLifo,
        most: ["series", "montecarlo"],
        // In the thesis, thieves get less than 0.1 % of the tasks, so the second worker is useless
        // and a run takes up to twice as long as with the idempotent deque. 1.10 is enough to
        // agree.
        agrees: 1.10..=f64::INFINITY,
        why: "In the thesis thieves lose nearly every race against the owner, which works at their \
              end. Ours lose few and get half of the tasks (table of takes and steals).",
    },
];

impl Slower {
    fn findings(&self, measured: &Measured) -> [Finding; 2] {
        let Self { queue, most, .. } = self;
        let queues = [*queue, QueueKind::IdempotentDeque];
        let others: Vec<&str> = SUITE
            .into_iter()
            .filter(|one| !most.contains(one))
            .collect();
        let names = most.join(" and ");
        let source = "sections 11.3.2 and 12.1, figure 11.4";
        [
            Claim::new(
                format!("{queue} time by that of idempotent-deque, {names}"),
                format!("{names} take longer on the queue {queue} than on the idempotent deque, in the geometric mean"),
                source,
                self.agrees.clone(),
                Refuted::AtMost(1.0),
            )
            .finding(ratio(measured, most, queues), show_ratio)
            .because(self.why),
            Claim::new(
                format!("{queue}, {names} by the other programs"),
                format!("The queue {queue} slows {names} more than the other five programs"),
                source,
                1.01..=f64::INFINITY,
                Refuted::AtMost(1.0),
            )
            .finding(excess(measured, [most, &others], queues), show_ratio)
            .because(self.why),
        ]
    }
}

/// Returns the slowdown of the programs `most`, relative to the slowdown of the programs `others`.
fn excess(
    measured: &Measured,
    [most, others]: [&[&'static str]; 2],
    queues: [QueueKind; 2],
) -> Interval {
    let seconds =
        |program: &&'static str, queue| measured.seconds(program, Contender::Queue(queue));
    let pairs = |programs: &[&'static str]| {
        ratios::measured(
            programs
                .iter()
                .map(|program| queues.map(|queue| seconds(program, queue))),
        )
    };
    let (most, others) = (pairs(most), pairs(others));
    if most.is_empty() || others.is_empty() {
        return Interval::exact(f64::NAN);
    }
    let samples: Vec<_> = most.iter().chain(&others).flatten().collect();
    Interval::of(&samples, |medians| {
        let slowed: Vec<f64> = medians.chunks(2).map(|pair| pair[0] / pair[1]).collect();
        let (most, others) = slowed.split_at(most.len());
        geometric_mean(most) / geometric_mean(others)
    })
}

/// Creates a table with a row for each program and a column for each queue.
fn section(measured: &Measured) -> Section {
    let base = QueueKind::Lazy;
    let of = |program, queue: QueueKind| ratio(measured, &[program], [queue, base]);
    let columns = std::iter::once("program").chain(QUEUES.iter().map(|queue| queue.name()));
    let mut table = Table::new(columns).titled(format!("Time by that on {base}"));
    for program in SUITE {
        let ratios = QUEUES.map(|queue| Value::known(Some(of(program, queue).value), Value::Ratio));
        table.row(std::iter::once(program.into()).chain(ratios));
    }
    let line = |queue: QueueKind| {
        let point = |(number, program): (usize, &'static str)| {
            Point::new(number as f64, of(program, queue))
        };
        Line {
            name: queue.to_string(),
            points: SUITE.into_iter().enumerate().filter_map(point).collect(),
        }
    };
    Section {
        title: "Queues".to_owned(),
        text: "The Java Grande programs on two workers that keep their tasks in one queue or \
               another (figures 11.2 to 11.6). Arrays of these queues grow and never shrink, nor \
               do the dynamic deque's pieces go back to the system before the queue is dropped; \
               the thesis names both as future work (section 12.2). Each queue gives a thief one \
               task at a time. The shared queue gives the youngest task first, as in the thesis."
            .to_owned(),
        charts: vec![Chart {
            title: "Programs on each queue".to_owned(),
            x: "program".to_owned(),
            y: format!("time / {base}"),
            labels: SUITE.map(str::to_owned).into(),
            log: false,
            lines: QUEUES
                .into_iter()
                .filter(|queue| *queue != base)
                .map(line)
                .collect(),
        }],
        tables: vec![table],
    }
}

#[cfg(test)]
mod tests {
    use super::super::pools::Ran;
    use super::super::pools::tests::measured;
    use super::*;

    fn verdicts(seconds: fn(&str, QueueKind) -> f64) -> Vec<Verdict> {
        let measured = measured(Size::Paper, |program, contender| Ran {
            seconds: match contender {
                Contender::Queue(queue) => seconds(program, queue),
                _ => 1.0,
            },
            ..Ran::default()
        });
        let findings = findings(&measured, Size::Paper);
        findings.iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn published_differences_agree() {
        let published = verdicts(|program, queue| match (queue, program) {
            (QueueKind::Dynamic, _) => 1.1,
            (QueueKind::IdempotentFifo, "sor" | "moldyn") => 1.2,
            (QueueKind::IdempotentLifo, "series" | "montecarlo") => 1.5,
            _ => 1.0,
        });
        assert_eq!(published, [Verdict::Agrees; 10]);
    }

    #[test]
    fn contrary_differences_contradict() {
        let contrary = verdicts(|program, queue| match (queue, program) {
            (QueueKind::Lazy, _) => 2.0,
            (QueueKind::Shared | QueueKind::Duplicating, _) => 1.5,
            (QueueKind::IdempotentFifo, "sor" | "moldyn") => 0.8,
            (QueueKind::IdempotentLifo, "series" | "montecarlo") => 0.8,
            (QueueKind::Dynamic, _) => 0.9,
            _ => 1.0,
        });
        assert_eq!(contrary, [Verdict::Contradicts; 10]);
    }
}
