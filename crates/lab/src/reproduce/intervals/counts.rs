//! Counts how often workers run out of work, and how often owners and thieves find nothing in a
//! queue. Compares the counts with parts (a) of tables 11.1 to 11.3, which are for two cores.

use std::ops::RangeInclusive;

use tidegate_policy::QueueKind;

use super::pools::{Contender, Measured, QUEUES, Ran, SUITE, WORKERS};
use crate::arguments::Size;
use crate::engine::{Claim, Interval, Refuted, Sample, Verdict};
use crate::reproduce::page::{Finding, Page, Section};
use tidegate_command::output::{Table, Value};

const DEQUE: QueueKind = QueueKind::IdempotentDeque;
const FIFO: QueueKind = QueueKind::IdempotentFifo;
const LIFO: QueueKind = QueueKind::IdempotentLifo;

struct Row {
    what: &'static str,
    table: &'static str,
    program: &'static str,
    figure: Figure,
    published: f64,
    agrees: RangeInclusive<f64>,
    refuted: Refuted,
}

/// The figure that a claim is about.
#[derive(Clone, Copy)]
enum Figure {
    /// How often workers park, relative to how often they park in the named program.
    ParksBy(&'static str),
    /// The number of the owner's takes that fail with this queue, relative to the number with the
    /// deque.
    FailedTakes(QueueKind),
    /// The number of steal attempts with this queue, relative to the number with the deque.
    Attempts(QueueKind),
    /// The number of steals that fail with this queue, relative to the number with the deque.
    FailedSteals(QueueKind),
    /// The fraction of tasks that are stolen with this queue, relative to the fraction with the
    /// deque.
    StolenBy(QueueKind),
    /// The fraction of tasks that are stolen with the deque.
    Stolen,
}

use Figure::{Attempts, FailedSteals, FailedTakes, ParksBy, Stolen, StolenBy};
use Refuted::{AtLeast, AtMost, Outside};

const MANY: f64 = f64::INFINITY;

#[rustfmt::skip]
const ROWS: [Row; 21] = [
    // The ranges allow about a factor of four, because Crypt's count is only 9.
    row("Workers run out of work 393 times as often on LUFact as on Crypt", "11.1", "lufact", ParksBy("crypt"), 393.0, 100.0..=1600.0, AtMost(5.0)),
    row("Workers run out of work 30 times as often on MolDyn as on Crypt", "11.1", "moldyn", ParksBy("crypt"), 30.1, 7.5..=120.0, AtMost(2.0)),
    row("Workers run out of work 13 times as often on LUFact as on MolDyn", "11.1", "lufact", ParksBy("moldyn"), 13.0, 3.3..=52.0, AtMost(1.5)),
    row("Workers run out of work about as rarely on SOR as on Crypt", "11.1", "sor", ParksBy("crypt"), 0.67, 0.1..=4.0, Outside(0.02, 20.0)),
    row("Workers run out of work about as rarely on RayTracer as on Crypt", "11.1", "raytracer", ParksBy("crypt"), 0.67, 0.1..=4.0, Outside(0.02, 20.0)),
    // The ranges for SOR allow up to a factor of ten, because the two machines of the thesis differ
    // by a factor of seven.
    row("On SOR takes fail 54 times as often with the FIFO queue as with the deque", "11.2", "sor", FailedTakes(FIFO), 54.5, 5.0..=550.0, AtMost(1.5)),
    row("On SOR thieves ask the FIFO queue 43 times as often as the deque", "11.2", "sor", Attempts(FIFO), 42.6, 4.0..=430.0, AtMost(1.5)),
    row("On SOR steals fail 1.6 times as often with the FIFO queue as with the deque", "11.2", "sor", FailedSteals(FIFO), 1.56, 1.0..=16.0, AtMost(0.5)),
    row("On MolDyn takes fail 1.1 times as often with the FIFO queue as with the deque", "11.2", "moldyn", FailedTakes(FIFO), 1.109, 1.0..=1.5, Outside(0.5, 2.0)),
    row("On MolDyn thieves ask the FIFO queue 1.1 times as often as the deque", "11.2", "moldyn", Attempts(FIFO), 1.094, 1.0..=1.5, Outside(0.5, 2.0)),
    row("On MolDyn steals fail as often with the FIFO queue as with the deque", "11.2", "moldyn", FailedSteals(FIFO), 1.004, 1.0..=1.5, Outside(0.5, 2.0)),
    row("On SOR thieves get 55 times the share of tasks from the FIFO queue (18 %) as from the deque (0.3 %)", "11.2", "sor", StolenBy(FIFO), 55.0, 10.0..=280.0, AtMost(1.5)),
    row("On MolDyn thieves get 1.2 times the share of tasks from the FIFO queue as from the deque", "11.2", "moldyn", StolenBy(FIFO), 1.16, 0.8..=2.0, Outside(0.5, 4.0)),
    // The number of failures depends on how fast a thief spins. Tidegate's thieves park, so steals
    // from the LIFO queue fail only hundreds of times as often as steals from the deque.
    row("On Series steals fail four million times as often with the LIFO queue as with the deque", "11.3", "series", FailedSteals(LIFO), 4.0e6, 100.0..=MANY, AtMost(2.0)),
    row("On MonteCarlo steals fail half a million times as often with the LIFO queue as with the deque", "11.3", "montecarlo", FailedSteals(LIFO), 5.3e5, 100.0..=MANY, AtMost(2.0)),
    row("On Series takes fail 0.0016 times as often with the LIFO queue as with the deque", "11.3", "series", FailedTakes(LIFO), 0.0016, 0.0..=0.02, AtLeast(0.5)),
    row("On MonteCarlo takes fail 0.0014 times as often with the LIFO queue as with the deque", "11.3", "montecarlo", FailedTakes(LIFO), 0.0014, 0.0..=0.02, AtLeast(0.5)),
    // The following figures do not depend on how fast thieves spin.
    row("On Series thieves get 0.0014 times the share of tasks from the LIFO queue (under 0.1 %) as from the deque (half)", "11.3", "series", StolenBy(LIFO), 0.0014, 0.0..=0.02, AtLeast(0.5)),
    row("On MonteCarlo thieves get 0.0012 times the share of tasks from the LIFO queue as from the deque", "11.3", "montecarlo", StolenBy(LIFO), 0.0012, 0.0..=0.02, AtLeast(0.5)),
    row("On Series thieves get half of the tasks from the deque", "11.3", "series", Stolen, 0.497, 0.35..=0.6, Outside(0.1, 0.9)),
    row("On MonteCarlo thieves get half of the tasks from the deque", "11.3", "montecarlo", Stolen, 0.499, 0.35..=0.6, Outside(0.1, 0.9)),
];

const fn row(
    what: &'static str,
    table: &'static str,
    program: &'static str,
    figure: Figure,
    published: f64,
    agrees: RangeInclusive<f64>,
    refuted: Refuted,
) -> Row {
    Row {
        what,
        table,
        program,
        figure,
        published,
        agrees,
        refuted,
    }
}

pub fn add(page: &mut Page, measured: &Measured, size: Size) {
    page.findings.extend(findings(measured, size));
    page.sections.push(section(measured));
}

fn findings(measured: &Measured, size: Size) -> Vec<Finding> {
    let rows = ROWS.iter().map(|row| row.finding(measured, size));
    rows.chain([woken(measured)]).collect()
}

impl Row {
    fn finding(&self, measured: &Measured, size: Size) -> Finding {
        let too_small = match self.figure {
            // How often workers run out of work depends on the number of steps. Only size paper has
            // the published number.
            ParksBy(_) => size != Size::Paper,
            _ => size == Size::Tiny,
        };
        let (start, end) = (*self.agrees.start(), *self.agrees.end());
        Claim::new(
            self.id(),
            self.what,
            format!("table {}a", self.table),
            start..=end,
            self.refuted,
        )
        .published(self.published)
        .finding(self.ours(measured), |figure| match self.figure {
            Stolen => format!("{:.1} %", 100.0 * figure),
            _ => show(figure),
        })
        .because(self.why())
        .unless(too_small, Verdict::TooSmall)
    }

    fn id(&self) -> String {
        let program = self.program;
        match self.figure {
            ParksBy(other) => format!("parks, {program} by {other}"),
            FailedTakes(queue) => format!("failed takes, {program}, {queue} by {DEQUE}"),
            Attempts(queue) => format!("steal attempts, {program}, {queue} by {DEQUE}"),
            FailedSteals(queue) => format!("failed steals, {program}, {queue} by {DEQUE}"),
            StolenBy(queue) => format!("stolen share, {program}, {queue} by {DEQUE}"),
            Stolen => format!("stolen share, {program}, {DEQUE}"),
        }
    }

    fn ours(&self, measured: &Measured) -> Interval {
        let on = |queue, figure: fn(&Ran) -> f64| {
            measured.sample(self.program, Contender::Queue(queue), figure)
        };
        let by_deque = |queue, figure| by_count(&on(queue, figure), &on(DEQUE, figure));
        let parks = |program| measured.sample(program, Contender::Parking, |ran| ran.parks);
        match self.figure {
            ParksBy(other) => by_count(&parks(self.program), &parks(other)),
            FailedTakes(queue) => by_deque(queue, |ran| ran.failed_takes),
            Attempts(queue) => by_deque(queue, |ran| ran.attempts),
            FailedSteals(queue) => by_deque(queue, Ran::failed_steals),
            StolenBy(queue) => {
                on(queue, Ran::stolen_share).over(&on(DEQUE, Ran::stolen_share_or_one))
            }
            Stolen => on(DEQUE, Ran::stolen_share).interval(),
        }
    }

    fn why(&self) -> &'static str {
        match self.figure {
            ParksBy(_) => {
                "Workers with the lazy deque that park as soon as they find nothing. LUFact and SOR \
                 have edges from step to step: a worker that makes an interval ready runs it at \
                 once, without a queue, and so rarely runs out of work. LUFact has size B \
                 here and C in the thesis, which does not print how large its pieces are."
            }
            Attempts(_) | FailedSteals(_) => {
                "A thief of the thesis asks again and again while there is work anywhere; ours \
                 parks after a while and is woken when there is work."
            }
            FailedTakes(_) => {
                "A take fails when the queue is empty or a thief was faster. Where the thief keeps up \
                 with the owner, each of its tasks is a take that failed before. In SOR most \
                 intervals go through no queue: the worker that makes one ready runs it at once."
            }
            StolenBy(LIFO) => {
                "A thief of the thesis loses against the owner thousands of times for each task. \
                 Ours loses a race only if the owner puts or takes during the thief's \
                 compare-and-swap, and tasks are much longer than that, so it gets half of them."
            }
            StolenBy(_) => {
                "In SOR most intervals go through no queue: the worker that makes one ready runs it \
                 at once, so few are left to be stolen from either queue."
            }
            Stolen => "Two workers that take turns with equal tasks get half of them each.",
        }
    }
}

/// Computes the ratio of two counts. A value of `other` below 1 counts as 1, to avoid a division by
/// zero.
fn by_count(count: &Sample, other: &Sample) -> Interval {
    Interval::of(&[count, other], |counts| counts[0] / counts[1].max(1.0))
}

fn show(figure: f64) -> String {
    match figure.abs() {
        0.095..1e4 => format!("{figure:.2}x"),
        0.0 => "0x".to_owned(),
        _ => format!("{figure:.1e}x"),
    }
}

fn woken(measured: &Measured) -> Finding {
    let apart = SUITE.map(|program| {
        let apart = |ran: &Ran| (ran.parks - ran.wakes).abs();
        measured.sample(program, Contender::Parking, apart)
    });
    let samples: Vec<&Sample> = apart.iter().filter(|sample| !sample.is_empty()).collect();
    let ours = if samples.is_empty() {
        Interval::exact(f64::NAN)
    } else {
        Interval::of(&samples, |apart| apart.iter().copied().fold(0.0, f64::max))
    };
    Claim::new(
        "parks and wakes",
        "Nearly every worker that goes idle is woken again: in each program the two numbers differ \
         by at most the number of workers",
        "table 11.1a",
        0.0..=WORKERS as f64,
        Refuted::AtLeast(WORKERS as f64 + 1.0),
    )
    .published(2.0)
    .finding(ours, |count| format!("{count:.0}"))
    .because("The largest difference of the seven programs, in medians of the runs.")
}

fn section(measured: &Measured) -> Section {
    let mut idle = Table::new(["program", "parks", "wakes"]).titled("Idle and woken (table 11.1)");
    for program in SUITE {
        let count = |figure: fn(&Ran) -> f64| {
            let sample = measured.sample(program, Contender::Parking, figure);
            Value::known(Some(sample.median()), Value::Number)
        };
        idle.row([
            program.into(),
            count(|ran| ran.parks),
            count(|ran| ran.wakes),
        ]);
    }
    Section {
        title: "Takes and steals".to_owned(),
        text: "Attempts and failures of owners and thieves on two workers (tables 11.2 and 11.3), \
               and how often workers park and are woken if they park as soon as they find nothing. \
               The thesis prints no sizes of pieces: series, montecarlo, moldyn and sor have as \
               many tasks as its tables imply (a tenth of that with --size small). It labels their \
               sizes C, but 100,000 tasks of series and 150,000 of sor would be those of size B \
               with a task for each item. The shared queue counts no takes: it has no owner."
            .to_owned(),
        charts: vec![],
        tables: vec![idle, attempts(measured)],
    }
}

fn attempts(measured: &Measured) -> Table {
    let columns = [
        "program",
        "queue",
        "takes",
        "failed",
        "steal attempts",
        "failed",
        "stolen",
    ];
    let mut table = Table::new(columns).titled("Attempts and failures (tables 11.2 and 11.3)");
    for program in SUITE {
        for queue in QUEUES
            .into_iter()
            .filter(|queue| *queue != QueueKind::Shared)
        {
            let cell = |unit, figure: fn(&Ran) -> f64| {
                let sample = measured.sample(program, Contender::Queue(queue), figure);
                Value::known(Some(sample.median()), unit)
            };
            table.row([
                program.into(),
                queue.name().into(),
                cell(Value::Number, |ran| ran.takes),
                cell(Value::Number, |ran| ran.failed_takes),
                cell(Value::Number, |ran| ran.attempts),
                cell(Value::Number, Ran::failed_steals),
                cell(Value::Share, Ran::stolen_share),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::pools::tests::measured;
    use super::*;

    /// Returns the counts in the thesis, rounded.
    fn published(program: &str, contender: Contender) -> Ran {
        let parks = match program {
            "lufact" => 3533.0,
            "moldyn" => 271.0,
            "crypt" => 9.0,
            _ => 6.0,
        };
        let [failed_takes, failed_steals, stolen] = match (contender, program) {
            (Contender::Queue(FIFO), "sor") => [54.0, 16.0, 0.18],
            (Contender::Queue(DEQUE), "sor") => [1.0, 10.0, 0.0033],
            (Contender::Queue(FIFO), "moldyn") => [1.1, 10.0, 0.12],
            (Contender::Queue(DEQUE), "moldyn") => [1.0, 9.9, 0.103],
            (Contender::Queue(LIFO), _) => [50.0, 1e8, 0.0006],
            _ => [40_000.0, 250.0, 0.5],
        };
        let steals = 100_000.0 * stolen;
        Ran {
            parks,
            wakes: parks - 2.0,
            takes: 100_000.0 - steals + failed_takes,
            failed_takes,
            attempts: steals + failed_steals,
            steals,
            ..Ran::default()
        }
    }

    #[test]
    fn published_counts_agree() {
        for finding in findings(&measured(Size::Paper, published), Size::Paper) {
            assert_eq!(finding.verdict, Verdict::Agrees, "{finding:?}");
        }
    }

    #[test]
    fn equal_counts_contradict_what_differs() {
        let equal = measured(Size::Paper, |_, _| Ran {
            parks: 1000.0,
            takes: 100.0,
            failed_takes: 90.0,
            attempts: 1000.0,
            steals: 500.0,
            ..Ran::default()
        });
        for (finding, row) in findings(&equal, Size::Paper).iter().zip(&ROWS) {
            let alike = (0.5..=2.0).contains(&row.published) && !matches!(row.figure, Stolen);
            let expected = if alike {
                Verdict::Agrees
            } else {
                Verdict::Contradicts
            };
            assert_eq!(finding.verdict, expected, "{finding:?}");
        }
        let last = findings(&equal, Size::Paper);
        assert_eq!(last.last().unwrap().verdict, Verdict::Contradicts);
    }

    #[test]
    fn small_runs_do_not_judge_parking() {
        let findings = findings(&measured(Size::Small, published), Size::Small);
        let small = findings
            .iter()
            .filter(|one| one.verdict == Verdict::TooSmall);
        assert_eq!(small.count(), 5);
    }
}
