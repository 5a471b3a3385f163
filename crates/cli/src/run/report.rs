//! Prints a run as text and as JSON.

use std::fmt;
use std::io::{self, Write};

use serde_json::{Value, json};
use tidegate::Stats;
use tidegate_policy::show_size;
use tidegate_workloads::trial::Check;
use tidegate_workloads::{Answer, Trial};

use super::counts;
use super::measure::{Plan, Run};
use tidegate_cli_support::json_fields;
use tidegate_cli_support::output::{
    JsonField, show_bytes, show_count, show_fields, show_ratio, show_seconds, show_value, to_json,
};
use tidegate_cli_support::statistics::Sample;

pub struct Report<'a> {
    workload: &'static str,
    parameters: Answer,
    plan: &'a Plan,
    result: &'a Answer,
    check: Option<&'a Check>,
    seconds: &'a Sample,
    serial_seconds: f64,
    reads_files: bool,
    cpu_seconds: Option<f64>,
    peak_rss_bytes: Option<u64>,
    peak_declared_bytes: u64,
    stats: Option<&'a Stats>,
    /// Whether the text includes the details that `--stats` requests.
    full: bool,
    notes: Vec<String>,
}

impl<'a> Report<'a> {
    /// Creates the report on `run`. The text of a `full` report includes the counters.
    pub fn new(program: &'a dyn Trial, plan: &'a Plan, run: &'a Run, full: bool) -> Self {
        Self {
            workload: program.name(),
            parameters: program.parameters(),
            plan,
            result: program.answer(),
            check: run.check.as_ref(),
            seconds: &run.seconds,
            serial_seconds: run.serial_seconds,
            reads_files: program.reads_files(),
            cpu_seconds: run.used.cpu_seconds(),
            peak_rss_bytes: run.peak_rss_bytes,
            peak_declared_bytes: run.peak_declared_bytes,
            stats: run.stats.as_ref(),
            full,
            notes: run.notes(),
        }
    }

    fn is_verified(&self) -> bool {
        self.check.is_some_and(|check| check.wrong == 0)
    }

    /// The JSON fields.
    pub const FIELDS: &'a [JsonField<Self>] = json_fields! { run:
        workload "" = run.workload;
        parameters "" = run.parameters;
        workers "" = run.workers();
        options "null with --serial" = run.options();
        result "its fields are listed by `run WORKLOAD --help`" = run.result;
        verified "whether every run's answer matches the reference" = run.is_verified();
        reference "its source; null if there is none" = run.check.map(|check| check.reference);
        changed "files that changed between runs and were ignored"
            = run.check.map_or(&[][..], |check| &check.changed);
        repetitions "" = run.seconds.count();
        seconds "min, median and max of a run"
            = json!({"min": run.seconds.min(), "median": run.seconds.median(), "max": run.seconds.max()});
        serial_seconds "time of the serial version" = run.serial_seconds;
        cpu_seconds "CPU time of all runs" = run.cpu_seconds;
        peak_rss_bytes "peak memory of the process, read after the last run" = run.peak_rss_bytes;
        peak_declared_bytes "peak of the memory that tasks reserved" = run.peak_declared_bytes;
        memory_sleeps "how often a task slept while waiting for a reservation; null with --serial"
            = run.stats.map(|stats| stats.memory.sleeps);
        allotment "number of workers that the pool was entitled to after the last run, given the other jobs; null with \
            --serial" = run.stats.map(|stats| stats.allotment);
        counters "the pool's counters, over all runs; null with --serial"
            = run.stats.map(|stats| counts::counters(&stats.counters));
        breakdown "seconds by activity, in total and per_worker, including spare threads and guests; null with --serial"
            = run.stats.map(counts::breakdown);
        waiting "seconds without a slot, by reason; null with --serial"
            = run.stats.map(|stats| counts::waiting(&stats.waiting));
        notes "reasons to distrust the times" = run.notes;
    };

    pub fn to_json(&self) -> Value {
        to_json(Self::FIELDS, self).into()
    }

    fn workers(&self) -> usize {
        if self.plan.serial {
            1
        } else {
            self.plan.options.workers
        }
    }

    fn options(&self) -> Value {
        if self.plan.serial {
            Value::Null
        } else {
            self.plan.options.to_json()
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.workload, show_fields(&self.parameters))?;
        if self.plan.serial {
            writeln!(f, ", serial version")?
        } else {
            writeln!(
                f,
                ", {} ({})",
                show_count(self.workers(), "worker"),
                self.plan.options.why
            )?
        }
        for (name, value) in self.result {
            row(f, name, show_value(value))?;
        }
        row(f, "verified", self.verified())?;
        row(f, "time", self.time())?;
        let (label, speedup) = self.speedup();
        row(f, label, speedup)?;
        self.write_reserved(f)?;
        if self.full {
            self.write_costs(f)?;
        }
        Ok(())
    }
}

fn row(f: &mut fmt::Formatter<'_>, label: &str, value: String) -> fmt::Result {
    writeln!(f, "{label:<12}{value}")
}

impl Report<'_> {
    /// Writes the notes, which come last in the report.
    pub fn write_notes(&self, out: &mut dyn Write) -> io::Result<()> {
        self.notes
            .iter()
            .try_for_each(|note| writeln!(out, "note        {note}"))
    }

    fn write_reserved(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.peak_declared_bytes == 0 {
            return Ok(());
        }
        let mut reserved = format!("peak {}", show_bytes(self.peak_declared_bytes as f64));
        if self.plan.serial {
            let exact = show_size(self.peak_declared_bytes);
            reserved += &format!("; for a budget, use serial={exact}");
        }
        if let Some(sleeps) = self.stats.map(|stats| stats.memory.sleeps) {
            reserved += &format!(
                ", {} while waiting for it",
                show_count(sleeps as usize, "sleep")
            );
        }
        row(f, "reserved", reserved)
    }

    fn write_costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = || "unknown".to_owned();
        let cpu = self.cpu_seconds.map_or_else(unknown, show_seconds);
        row(f, "cpu", cpu)?;
        let memory = self.peak_rss_bytes.map_or_else(unknown, |bytes| {
            format!("peak {}", show_bytes(bytes as f64))
        });
        row(f, "memory", memory)?;
        let Some(stats) = self.stats else {
            return Ok(());
        };
        let workers = show_count(stats.workers, "worker");
        let allotment = format!("{} of {workers} at the end of the runs", stats.allotment);
        row(f, "allotment", allotment)?;
        counts::write(stats, f)
    }

    fn verified(&self) -> String {
        match self.check {
            None => "n/a (this is the reference run)".into(),
            Some(Check {
                wrong: 0,
                reference,
                ..
            }) => format!("same answer as {reference}"),
            Some(Check {
                runs,
                wrong,
                reference,
                ..
            }) => format!("WRONG: {wrong} of {runs} runs differ from {reference}"),
        }
    }

    /// Returns the label and the text of the line about the serial version.
    fn speedup(&self) -> (&'static str, String) {
        let serial = show_seconds(self.serial_seconds);
        // Without a warm-up, the runs may have waited for the disk, while the serial version found
        // the files in the cache, so a speedup would be misleading.
        if self.reads_files && !self.plan.warm_up {
            let when = if self.plan.serial {
                "median of these runs"
            } else {
                "read the files again, after these runs"
            };
            return ("serial", format!("{serial} ({when})"));
        }
        let ratio = show_ratio(self.serial_seconds / self.seconds.median());
        ("speedup", format!("{ratio} (serial version: {serial})"))
    }

    fn time(&self) -> String {
        let [min, median, max] = [
            self.seconds.min(),
            self.seconds.median(),
            self.seconds.max(),
        ]
        .map(show_seconds);
        match self.seconds.count() {
            1 => format!("{median} (one run)"),
            runs => format!("{median} (median of {runs} runs, {min} to {max})"),
        }
    }
}
