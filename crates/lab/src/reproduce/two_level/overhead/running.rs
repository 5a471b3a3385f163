//! Experiment O2: how the length of a cycle affects the running time.

use super::{CHOL, FIB, JOBS, KNARY, LOOPY, Overhead};
use crate::engine::ratios::{greatest, of_ratios};
use crate::engine::{Claim, Interval, Refuted, Sample};
use crate::reproduce::page::{Finding, Section};
use crate::reproduce::two_level::case::{Case, Observed};
use crate::reproduce::two_level::cycle::{
    self, CHOSEN, CYCLES, LONGEST, SHORTEST, chart, length, line,
};
use crate::reproduce::two_level::show;

/// The minimum loss, in cycles, of a job that begins with one of 16 processors and doubles its
/// allotment at the end of each cycle: log2 P - (P - 1) / P.
const FLOOR: f64 = 4.0 - 15.0 / 16.0;

pub fn findings(overhead: &Overhead, observed: &Observed) -> Vec<Finding> {
    vec![
        slope(overhead, observed),
        none_at_chosen(overhead, observed),
        flat_beyond(overhead, observed),
        above_floor(overhead, observed),
        best(overhead, observed),
    ]
}

fn time(overhead: &Overhead, observed: &Observed, job: usize, cycle: usize) -> Sample {
    observed.response(&overhead.wsap(job, cycle))
}

fn slope(overhead: &Overhead, observed: &Observed) -> Finding {
    let steepest = |case: &dyn Fn(usize, usize) -> Case| {
        let pairs =
            JOBS.map(|job| [SHORTEST, CHOSEN].map(|cycle| observed.response(&case(job, cycle))));
        of_ratios(&pairs, greatest)
    };
    let ours = steepest(&|job, cycle| overhead.wsap(job, cycle));
    let dear = steepest(&|job, cycle| overhead.dear(job, cycle));
    Claim::new(
        "O2-slope",
        "Running time falls steeply as the cycle grows from 1 to 5 ms, by at least 3 %: an \
         overhead at 1 ms is gone at 5 ms (the largest ratio of four programs)",
        "7.1.2, figure 7-5",
        1.03..=2.0,
        Refuted::AtMost(1.005),
    )
    .finding(ours, show)
    .because(format!(
        "The thesis has a chart only; the range is from what it calls an overhead (4 %) and none \
         (up to 1 %) in figure 7-6. An estimate takes 20 us of one processor, as measured on a \
         machine of today. loopy(64) pays most, since the same worker is held up each time and its \
         subtasks are too long for others to make up for it. If an estimate takes 40 us, as it may \
         have on processors of 195 MHz, the ratio is {}.",
        dear.show(show)
    ))
}

fn none_at_chosen(overhead: &Overhead, observed: &Observed) -> Finding {
    let pairs = JOBS.map(|job| {
        let fixed = observed.response(&overhead.fixed(job));
        [time(overhead, observed, job, CHOSEN), fixed]
    });
    Claim::new(
        "O2-none-at-5",
        "With a cycle of 5 ms a job takes no longer than under Cilk with all processors from the \
         start (the largest ratio of four programs)",
        "7.1.2, figure 7-5",
        0.98..=1.02,
        Refuted::Outside(0.96, 1.04),
    )
    .published(1.0)
    .finding(of_ratios(&pairs, greatest), show)
    .because(
        "fib(33) ran for 1.044 s, of which the 3.06 cycles that a doubling job loses are 1.5 %, \
         so the range ends at 2 % and not at 1 %.",
    )
}

fn flat_beyond(overhead: &Overhead, observed: &Observed) -> Finding {
    let ratio = |job| [LONGEST, CHOSEN].map(|cycle| time(overhead, observed, job, cycle));
    let fib = of_ratios(&[ratio(FIB)], greatest);
    Claim::new(
        "O2-flat-beyond",
        "From 5 ms to 100 ms the running time changes minimally (the largest ratio of loopy, \
         knary and cholesky)",
        "7.1.2, figure 7-5",
        0.97..=1.03,
        Refuted::Outside(0.96, 1.04),
    )
    .published(1.0)
    .finding(of_ratios(&[LOOPY, KNARY, CHOL].map(ratio), greatest), show)
    .because(format!(
        "The start alone costs these three 1.7 to 2.7 % at 100 ms. fib(33) takes {} as long at \
         100 ms as at 5 ms and is left out: here the thesis contradicts itself. A start \
         \"much longer\" than four cycles of 100 ms (figure 7-2b) costs a job of 1.044 s at least \
         29 %.",
        fib.show(show)
    ))
}

fn above_floor(overhead: &Overhead, observed: &Observed) -> Finding {
    let samples: Vec<Sample> = JOBS
        .into_iter()
        .flat_map(|job| {
            let fixed = observed.response(&overhead.fixed(job));
            let ends = [SHORTEST, LONGEST].map(|cycle| time(overhead, observed, job, cycle));
            std::iter::once(fixed).chain(ends)
        })
        .collect();
    let samples: Vec<&Sample> = samples.iter().collect();
    let ratio = Interval::of(&samples, |medians| {
        let of_job = medians.chunks(3).map(|times| {
            let beyond = |time: f64, cycle| (time - FLOOR * length(cycle)) / times[0];
            beyond(times[1], SHORTEST) / beyond(times[2], LONGEST)
        });
        greatest(&of_job.collect::<Vec<f64>>())
    });
    Claim::new(
        "O2-above-floor",
        "Without the 3.06 cycles that a doubling job must lose at its start, a job takes at least \
         3 % longer with a cycle of 1 ms than with one of 100 ms (the largest of four programs)",
        "7.1.2, figure 7-5 without the start; derived",
        1.03..=2.0,
        Refuted::AtMost(1.0),
    )
    .finding(ratio, show)
    .because("This is what estimates cost, apart from the start, which costs the more the longer a cycle \
         is. In figure 7-5 it must be more than the start costs.")
}

fn best(overhead: &Overhead, observed: &Observed) -> Finding {
    let of_job = |job| {
        cycle::samples(observed, &overhead.fixed(job), |cycle| {
            overhead.wsap(job, cycle)
        })
    };
    let samples: Vec<Sample> = JOBS.into_iter().flat_map(of_job).collect();
    let samples: Vec<&Sample> = samples.iter().collect();
    let best = Interval::of(&samples, |medians| {
        cycle::best(medians) / CYCLES[CHOSEN] as f64
    });
    Claim::new(
        "O2-best",
        "The best cycle for 16 processors is 5 to 10 ms: that with the least sum of overhead and \
         of the time until all have work, by the running time (ours by 5 ms)",
        "7.1.1 and 7.1.2",
        1.0..=2.0,
        Refuted::Outside(0.4, 5.0),
    )
    .published(1.0)
    .finding(best, show)
    .because(
        "The thesis chose 5 ms by eye, from two charts. The sum is the mean of four programs, of \
         which fib(33) is so short that its start counts most: for it alone a shorter cycle is \
         better.",
    )
}

pub fn section(overhead: &Overhead, observed: &Observed) -> Section {
    let names = overhead.names();
    let percent = |case: &dyn Fn(usize, usize) -> Case| {
        let overhead_of = |job, cycle| {
            let fixed = observed.response(&overhead.fixed(job));
            let ratio = observed.response(&case(job, cycle)).over(&fixed);
            Interval {
                value: ratio.value - 1.0,
                low: ratio.low - 1.0,
                high: ratio.high - 1.0,
            }
            .times(100.0)
        };
        JOBS.map(|job| line(names[job], |cycle| overhead_of(job, cycle)))
            .into()
    };
    Section {
        title: "O2: running time".to_owned(),
        text: "Overhead is what a job takes beyond its time with all processors from the \
               beginning. An estimate takes time of a processor, so short cycles cost; a long \
               cycle delays the start. Figure 7-5 shows only the first: it falls throughout."
            .to_owned(),
        charts: vec![
            chart(
                "Figure 7-5: overhead",
                "%",
                false,
                percent(&|job, cycle| overhead.wsap(job, cycle)),
            ),
            chart(
                "The same where an estimate takes 40 us",
                "%",
                false,
                percent(&|job, cycle| overhead.dear(job, cycle)),
            ),
        ],
        tables: vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Verdict;
    use crate::reproduce::two_level::Part;
    use crate::reproduce::two_level::case::Seen;
    use tidegate_workloads::Size;

    /// Returns the verdicts if a job's overhead is this function of the cycle in milliseconds.
    fn verdicts(overhead_at: fn(f64) -> f64) -> Vec<(String, Verdict)> {
        let overhead = Overhead::new(Size::Paper);
        let observed = Observed::made_up(&overhead.cases(), |case| {
            let ms = case.cycle as f64;
            let more = if case.contender == "Cilk" {
                0.0
            } else {
                overhead_at(ms)
            };
            Seen {
                response: case.job.seconds * (1.0 + more),
                all: Some(4.0 * ms / 1e3),
                ..Seen::default()
            }
        });
        let findings = findings(&overhead, &observed).into_iter();
        findings
            .map(|finding| (finding.id, finding.verdict))
            .collect()
    }

    #[test]
    fn overhead_vanishing_at_five_ms_agrees() {
        let published = verdicts(|ms| if ms < 5.0 { 0.1 / ms } else { 0.001 });
        assert!(
            published
                .iter()
                .all(|(_, verdict)| *verdict == Verdict::Agrees),
            "{published:?}"
        );
    }

    #[test]
    fn an_overhead_that_rises_contradicts() {
        let rising = verdicts(|ms| 0.01 * ms);
        for (id, verdict) in rising {
            assert!(matches!(verdict, Verdict::Contradicts), "{id}: {verdict}");
        }
    }
}
