//! The states of the jobs in the job table, for the commands that display them.
//!
//! `tidegate-share` finds and reads the table. This module formats them as text and as JSON. It
//! neither joins the table nor creates one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tidegate_share::{Job, Kind, Location, Refusal};

use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::json_fields;
use tidegate_cli_support::output::{JsonField, Table, Value as Cell, show_age, to_json};

/// The state of a job, as it publishes it in the job table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobStatus {
    pub pid: u32,
    pub name: String,
    /// The number of processors that the job could use.
    pub desire: usize,
    /// The number of processors that the job is entitled to.
    pub allotment: usize,
    /// The number of workers that the job is running.
    pub in_use: usize,
    /// The fraction of its processors' time that the job spends on work, in thousandths, if the job
    /// has measured it.
    pub efficiency: Option<u32>,
    /// The job's weight relative to other jobs' weights.
    pub weight: usize,
    /// The maximum number of processors that the job may get.
    pub limit: usize,
    /// When the job joined the table, in nanoseconds since 1970.
    pub since: u64,
    /// The CPU time of the job's process, in nanoseconds.
    pub cpu_time: u64,
    /// Whether the job desires processors but makes no progress.
    pub stalled: bool,
}

impl From<&Job> for JobStatus {
    fn from(job: &Job) -> Self {
        Self {
            pid: job.pid,
            name: job.name.to_string(),
            desire: job.desire,
            allotment: job.allotment,
            in_use: job.usage,
            efficiency: job.efficiency,
            weight: job.weight,
            limit: job.limit,
            since: job.since,
            cpu_time: job.cpu_time,
            stalled: job.stalled,
        }
    }
}

impl JobStatus {
    /// The fields of the object that `--json` prints.
    pub const FIELDS: &[JsonField<Self>] = json_fields! { job:
        pid "" = job.pid;
        name "" = job.name;
        desire "" = job.desire;
        allotment "" = job.allotment;
        in_use "" = job.in_use;
        efficiency "0 to 1; null if unknown" = job.efficiency();
        weight "" = job.weight;
        limit "maximum processors" = job.limit;
        since "start in seconds since 1970" = Duration::from_nanos(job.since).as_secs_f64();
        cpu_seconds "of its process so far" = Duration::from_nanos(job.cpu_time).as_secs_f64();
    };

    /// Returns the object that `--json` prints.
    pub fn to_json(&self) -> Value {
        to_json(Self::FIELDS, self).into()
    }

    /// Returns the efficiency as a fraction.
    fn efficiency(&self) -> Option<f64> {
        self.efficiency.map(|measured| f64::from(measured) / 1000.0)
    }

    /// Returns the efficiency as a percentage, or `-` if it is unknown.
    pub fn efficiency_text(&self) -> String {
        self.efficiency.map_or("-".to_owned(), |measured| {
            format!("{} %", (measured + 5) / 10)
        })
    }

    /// Returns how long ago the job joined, or zero if the clock has been set back since.
    pub fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(Duration::from_nanos(self.since))
    }

    pub fn age_text(&self, now: Duration) -> String {
        show_age(self.age(now))
    }
}

/// Returns the time since 1970.
pub fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

/// Returns a table of the jobs, with the most important columns first.
pub fn table(jobs: &[JobStatus]) -> Table {
    #[rustfmt::skip]
    let mut table = Table::new([
        "pid", "name", "desire", "allotment", "in use", "efficiency", "since", "weight", "limit",
    ]);
    let now = now();
    for job in jobs {
        table.row([
            Cell::Number(job.pid.into()),
            job.name.as_str().into(),
            job.desire.into(),
            job.allotment.into(),
            job.in_use.into(),
            job.efficiency().map_or(Cell::Missing, Cell::Share),
            Cell::Age(job.age(now).as_secs_f64()),
            job.weight.into(),
            job.limit.into(),
        ]);
    }
    table
}

/// Finds the job table of this user and environment.
pub fn find() -> Result<Location, Failure> {
    Location::find().map_err(|refusal| Failure::Impossible(refusal.to_string()))
}

/// Returns the table's path, and the reason why this path is used.
pub fn place(location: &Location) -> String {
    let path = location.path().display().to_string();
    format!("{} ({})", path.escape_debug(), location.why())
}

/// Returns the failure for a table that cannot be read. Its text includes the advice from
/// `refusal`, and states what this means for jobs.
pub fn refused(refusal: &Refusal) -> Failure {
    let meaning = match refusal.kind() {
        Kind::Untrusted | Kind::NoFile | Kind::Damaged => {
            "; jobs with this path run without sharing"
        }
        _ => "",
    };
    Failure::Impossible(format!("{refusal}{meaning}"))
}
