//! What the queue is worth from which intervals run: chapter 11 of the thesis.

use tidegate_policy::Queue;
use tidegate_workloads::Size;

use crate::bench::programs;
use crate::bench::queues::programs::{Row, measure};
use crate::reproduce::page::{Finding, Page, Section, Sheet};
use tidegate_command::failure::Failure;
use tidegate_command::output::{Progress, show_ratio};

/// What differs less is alike: the thesis calls such differences not significant.
const ALIKE: f64 = 0.05;

/// What the thesis says of a queue beside another.
struct Statement {
    queue: Queue,
    beside: Queue,
    published: &'static str,
    agrees: Yardstick,
    why: &'static str,
}

/// What is slower takes so much more at least.
const SLOWER: f64 = 0.01;

/// What a ratio of times is held against.
enum Yardstick {
    Alike,
    Slower,
}

impl Yardstick {
    fn holds(&self, ratio: f64) -> bool {
        match self {
            Self::Alike => (ratio - 1.0).abs() < ALIKE,
            Self::Slower => ratio > 1.0 + SLOWER,
        }
    }

    fn told(&self) -> String {
        match self {
            Self::Alike => format!("within {} %", ALIKE * 100.0),
            Self::Slower => format!("by more than {} %", SLOWER * 100.0),
        }
    }
}

const STATEMENTS: [Statement; 7] = [
    Statement {
        queue: Queue::ChaseLev,
        beside: Queue::Lazy,
        published: "no significant difference (section 11.2)",
        agrees: Yardstick::Alike,
        why: "A take is a full fence in the one and an exchange in the other, which cost about the same; what differs beyond that is not known.",
    },
    Statement {
        queue: Queue::IdempotentDeque,
        beside: Queue::Lazy,
        published: "no significant difference (section 11.2)",
        agrees: Yardstick::Alike,
        why: "Each task is claimed before it runs, which costs what the deque saves.",
    },
    Statement {
        queue: Queue::Dynamic,
        beside: Queue::ChaseLev,
        published: "most programs slightly slower (section 11.3.1)",
        agrees: Yardstick::Slower,
        why: "Its pieces are linked by indices and kept for reuse; the thesis linked objects that a collector had to find.",
    },
    Statement {
        queue: Queue::IdempotentFifo,
        beside: Queue::IdempotentDeque,
        published: "often slower (section 11.3.2)",
        agrees: Yardstick::Slower,
        why: "It contends where many workers meet at one end; with two there is one to meet.",
    },
    Statement {
        queue: Queue::IdempotentLifo,
        beside: Queue::IdempotentDeque,
        published: "slower, with very many failed steals (section 11.3.2)",
        agrees: Yardstick::Slower,
        why: "It contends where many workers meet at one end; with two there is one to meet.",
    },
    Statement {
        queue: Queue::Duplicating,
        beside: Queue::IdempotentDeque,
        published: "no significant difference (section 11.3.3)",
        agrees: Yardstick::Alike,
        why: "A task that is handed out twice runs once: the second to claim it has looked in vain. What differs beyond that is not known.",
    },
    Statement {
        queue: Queue::Shared,
        beside: Queue::ChaseLev,
        published: "no significant difference on up to 8 cores (section 11.4)",
        agrees: Yardstick::Alike,
        why: "Tasks here are shorter than in the thesis, so the lock that all take weighs more.",
    },
];

/// Adds what comes of it.
pub fn add(page: &mut Page, size: Size, runs: u32) -> Result<(), Failure> {
    let progress = Progress::start(u64::from(runs) * programs::all().count() as u64);
    let rows = measure(size, runs, &progress)?;
    drop(progress);
    let found = STATEMENTS.iter().map(|statement| statement.finding(&rows));
    page.findings.extend(found);
    page.sections.push(section(&rows));
    Ok(())
}

/// The time on a queue by that on another, the geometric mean of all programs.
fn ratio(rows: &[Row], queue: Queue, beside: Queue) -> f64 {
    let of = |queue: Queue| rows.iter().filter(move |row| row.queue == queue.name());
    let ratios = of(queue).filter_map(|row| {
        let other = of(beside).find(|other| other.program == row.program)?;
        Some(row.seconds / other.seconds)
    });
    let logs: Vec<f64> = ratios.map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len() as f64).exp()
}

impl Statement {
    fn finding(&self, rows: &[Row]) -> Finding {
        let ratio = ratio(rows, self.queue, self.beside);
        Finding::new(
            format!(
                "{}: time by that of {}, the mean of all programs",
                self.queue, self.beside
            ),
            format!("{}; here: {}", self.published, self.agrees.told()),
            show_ratio(ratio),
            self.agrees.holds(ratio),
            self.why,
        )
    }
}

/// A row for each program, a column for each queue.
fn section(rows: &[Row]) -> Section {
    let usual = Queue::default();
    let shown = |program: &str| {
        let seconds = |queue: Queue| {
            let mut rows = rows.iter();
            let row = rows.find(|row| (row.program, row.queue) == (program, queue.name()));
            row.map_or(f64::NAN, |row| row.seconds)
        };
        let ratios = Queue::ALL
            .iter()
            .map(|queue| show_ratio(seconds(*queue) / seconds(usual)));
        std::iter::once(program.to_owned()).chain(ratios).collect()
    };
    let queues = Queue::ALL.iter().map(|queue| queue.name().to_owned());
    Section {
        title: "Queues".to_owned(),
        text: format!(
            "Programs of intervals on two workers whose tasks lie in one queue or another: the time by that on {usual}, the usual one."
        ),
        charts: vec![],
        tables: vec![Sheet {
            title: "Programs on each queue".to_owned(),
            columns: std::iter::once("program".to_owned())
                .chain(queues)
                .collect(),
            rows: programs::all().map(|entry| shown(entry.name)).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many statements agree where a queue takes so long.
    fn agreeing(seconds: fn(Queue) -> f64) -> usize {
        let programs = ["a", "b"];
        let rows = programs.into_iter().flat_map(|program| {
            let row = move |queue: &Queue| Row {
                queue: queue.name(),
                program,
                seconds: seconds(*queue),
                ratio: 1.0,
            };
            Queue::ALL.iter().map(row)
        });
        let rows: Vec<Row> = rows.collect();
        let mut statements = STATEMENTS.iter();
        let agree = statements
            .by_ref()
            .filter(|statement| statement.finding(&rows).agrees);
        agree.count()
    }

    #[test]
    fn each_statement_agrees_with_what_was_published_and_none_with_the_contrary() {
        let published = agreeing(|queue| match queue {
            Queue::Dynamic | Queue::IdempotentFifo | Queue::IdempotentLifo => 1.1,
            _ => 1.0,
        });
        assert_eq!(published, STATEMENTS.len());
        let contrary = agreeing(|queue| match queue {
            Queue::Lazy => 2.0,
            Queue::Shared | Queue::Duplicating => 1.5,
            Queue::Dynamic | Queue::IdempotentFifo | Queue::IdempotentLifo => 0.9,
            _ => 1.0,
        });
        assert_eq!(contrary, 0);
    }
}
