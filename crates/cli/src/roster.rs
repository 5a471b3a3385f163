//! The jobs in the table, as the commands that show them see them.
//!
//! Which table it is, who counts in it and why it is refused is `tidegate-share`'s to say; here are a job's row as text and as JSON.
//! Nothing here takes part in the table or makes one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tidegate_share::{Job, Kind, Location, Refusal};

use tidegate_command::failure::Failure;
use tidegate_command::output::{Table, Value as Cell, show_age};

/// A job as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its process.
    pub pid: u32,
    /// What it calls itself.
    pub name: String,
    /// How many processors it could use.
    pub desire: usize,
    /// How many it is entitled to.
    pub allotment: usize,
    /// How many workers it has running.
    pub in_use: usize,
    /// How much of the time of its processors goes into work, per mille.
    pub efficiency: u32,
    /// How much it counts beside the others.
    pub weight: usize,
    /// How many processors it may have at most.
    pub limit: usize,
    /// When it came, in nanoseconds since 1970.
    pub since: u64,
    /// The processor time of its process, in nanoseconds.
    pub cpu_time: u64,
    /// Whether it desires processors and does not move.
    pub stalled: bool,
}

impl From<&Job> for Row {
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

impl Row {
    /// The object that `--json` prints.
    pub fn to_json(&self) -> Value {
        json!({
            "pid": self.pid,
            "name": self.name,
            "desire": self.desire,
            "allotment": self.allotment,
            "in_use": self.in_use,
            "efficiency": f64::from(self.efficiency) / 1000.0,
            "weight": self.weight,
            "limit": self.limit,
            "since": Duration::from_nanos(self.since).as_secs_f64(),
            "cpu_seconds": Duration::from_nanos(self.cpu_time).as_secs_f64(),
        })
    }

    /// How much of the time of its processors goes into work.
    pub fn efficiency_text(&self) -> String {
        format!("{} %", (self.efficiency + 5) / 10)
    }

    /// For how long it has been there. A clock that was set back makes that nothing.
    pub fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(Duration::from_nanos(self.since))
    }

    /// That in a few letters.
    pub fn age_text(&self, now: Duration) -> String {
        show_age(self.age(now))
    }
}

/// The time since 1970.
pub fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

/// The rows as a table, the most important columns first.
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new([
        "pid",
        "name",
        "desire",
        "allotment",
        "in use",
        "efficiency",
        "since",
        "weight",
        "limit",
    ]);
    let now = now();
    for row in rows {
        table.row([
            row.pid.into(),
            row.name.as_str().into(),
            row.desire.into(),
            row.allotment.into(),
            row.in_use.into(),
            Cell::Share(f64::from(row.efficiency) / 1000.0),
            Cell::Age(row.age(now).as_secs_f64()),
            row.weight.into(),
            row.limit.into(),
        ]);
    }
    table
}

/// Where the table of this user and environment is.
pub fn find() -> Result<Location, Failure> {
    Location::find().map_err(|refusal| Failure::Impossible(refusal.to_string()))
}

/// The path of the table and why it is that one.
pub fn place(location: &Location) -> String {
    let path = location.path().display().to_string();
    format!("{} ({})", path.escape_debug(), location.why())
}

/// Why the table at a place cannot be read, and what that means to jobs. What to do about it the refusal says itself.
pub fn refused(refusal: &Refusal) -> Failure {
    let meaning = match refusal.kind() {
        Kind::Untrusted | Kind::NoFile | Kind::Damaged => {
            "; jobs that find it run as if they were alone"
        }
        _ => "",
    };
    Failure::Impossible(format!("{refusal}{meaning}"))
}
