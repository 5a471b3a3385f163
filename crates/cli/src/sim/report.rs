//! Prints a simulated run as text and as JSON.

use std::fmt;

use serde_json::{Value, json};
use tidegate_sim::bounds::waste;
use tidegate_sim::{Bound, JobOutcome, Nanos};

use super::experiment::{Done, Experiment};
use super::head::Head;
use super::sheet::{self, seconds};
use tidegate_cli_support::json_fields;
use tidegate_cli_support::output::{JsonField, show_bytes, show_ratio, show_seconds, to_json};

pub struct Report<'a> {
    head: Head<'a>,
    run: &'a Done,
    job: &'a JobOutcome,
    waste: Bound,
}

impl<'a> Report<'a> {
    /// Creates a report on a run that has only one job.
    pub fn new(head: Head<'a>, experiment: &'a Experiment, run: &'a Done) -> Self {
        let job = &run.outcome.jobs[0];
        Self {
            head,
            run,
            job,
            waste: waste(&experiment.settings, job),
        }
    }

    /// The JSON fields that only the report on a single run has.
    pub const FIELDS: &'a [JsonField<Self>] = json_fields! { report:
        t1 "work of all tasks" = seconds(report.job.work);
        tinf "span, the longest chain of dependent tasks" = seconds(report.job.span);
        t "time of the run" = seconds(report.job.time());
        p_trimmed "p_mean, leaving out the tinf seconds with the most processors" = report.job.trimmed_allotment;
        all_procs_seconds "until every processor has had work; null if one never had"
            = report.job.all_processors.map(seconds);
        bounds "for each bound, by name: value, limit, holds, and can_fail (false if every run meets it)"
            = report.bounds_to_json();
        waste "value (processor time spent searching), and limit (the most that Sen 2004 allows a good scheduler)"
            = json!({"value": report.waste.value / 1e9, "limit": report.waste.limit / 1e9});
        events "steps of the simulation" = report.run.outcome.events;
    };

    pub fn to_json(&self) -> Value {
        let mut fields = self.head.to_json(Some(self.run.seed));
        fields.extend(to_json(Self::FIELDS, self));
        fields.extend(sheet::shared(self.run));
        fields.into()
    }
}

fn show_bound(bound: &Bound) -> String {
    let show = |figure: f64| match bound.name {
        "memory" => show_bytes(figure),
        "greedy" => show_seconds(figure / 1e9),
        "allotments" => format!("{figure:.0}"),
        _ => format!("{figure:.2}"),
    };
    let (value, limit) = (show(bound.value), show(bound.limit));
    let (before, unit) = match bound.name {
        "stealing-time" => ("T1/P + ", " spans"),
        "steals" => ("", " per processor and step of the span"),
        "allotments" => ("", " broken promises"),
        _ => ("", ""),
    };
    let verdict = match (bound.holds(), bound.can_fail()) {
        (false, _) => "BROKEN",
        (true, true) => "holds",
        (true, false) => "holds (cannot fail with these settings)",
    };
    format!(
        "{}: {before}{value}{unit} (limit {limit}), {verdict}",
        bound.name
    )
}

impl Report<'_> {
    fn bounds(&self) -> &[Bound] {
        &self.run.bounds[0]
    }

    fn bounds_to_json(&self) -> Value {
        let bound = |bound: &Bound| {
            let value = json!({
                "value": bound.value,
                "limit": bound.limit,
                "holds": bound.holds(),
                "can_fail": bound.can_fail(),
            });
            (bound.name.to_owned(), value)
        };
        self.bounds().iter().map(bound).collect()
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JobOutcome {
            work,
            span,
            mean_allotment,
            all_processors,
            counters,
            ..
        } = self.job;
        let time = self.job.time();
        writeln!(f, "{}", self.head)?;
        let mut row = |label: &str, value: String| writeln!(f, "{label:<12}{value}");
        let show = |time: Nanos| show_seconds(seconds(time));
        row("work", format!("{} (T1)", show(*work)))?;
        row("span", format!("{} (Tinf)", show(*span)))?;
        let speedup = match *work {
            0 => "nothing to speed up".to_owned(),
            work => format!("speedup {}", show_ratio(work as f64 / time.max(1) as f64)),
        };
        row("time", format!("{}, {speedup}", show(time)))?;
        let all = all_processors.map_or_else(
            || "not all had work".to_owned(),
            |time| format!("all had work after {}", show(time)),
        );
        row(
            "processors",
            format!("{mean_allotment:.2} on average, {all}"),
        )?;
        row("tasks", counters.tasks.to_string())?;
        if self.job.peak_bytes > 0 || counters.refusals > 0 {
            let (peak, sleeps) = (show_bytes(self.job.peak_bytes as f64), counters.sleeps);
            let mut text = format!("peak {peak} reserved, {sleeps} sleeps");
            if counters.refusals > 0 {
                text += &format!(", {} requests refused", counters.refusals);
            }
            row("memory", text)?;
        }
        if counters.missed_bytes > 0 {
            let [touched, missed] = [counters.touched_bytes, counters.missed_bytes]
                .map(|bytes| show_bytes(bytes as f64));
            row(
                "data",
                format!("{touched} touched, {missed} not in the place's cache"),
            )?;
        }
        row(
            "steals",
            format!(
                "{} of {} attempts; {} failed at a busy victim, {} found nothing",
                counters.steals, counters.attempts, counters.failed_busy, counters.failed_empty
            ),
        )?;
        row("asleep", show(counters.asleep))?;
        for bound in self.bounds() {
            row("bound", show_bound(bound))?;
        }
        row("events", self.run.outcome.events.to_string())
    }
}
