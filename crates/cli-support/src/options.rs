//! The options of the runtime. A flag takes precedence over an environment variable, which takes
//! precedence over the default.
//!
//! `Pool::builder` applies the same precedence and checks. This module repeats them, because the
//! report on a run contains the options in effect and the reason for the number of workers.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;
use serde_json::{Value, json};
use tidegate::machine::Machine;
use tidegate::{
    BuildError, Pool,
    policy::{
        Choose, DesirePolicy, IdlePolicy, MemoryPolicy, ParseError, PlaceBy, QueueKind,
        SharePolicy, StealAmount, VictimPolicy, WaitPolicy,
    },
};
use tidegate_policy::tunables::{self, Allowed, Setting, Tunable};
use tidegate_policy::{Nanos, show_time};

use crate::arguments::whole;
use crate::failure::Failure;

/// The names of all options that only apply to pools. A run without a pool rejects them.
#[rustfmt::skip]
pub const OF_POOLS: [&str; 13] = [
    "workers", "idle", "steal", "victim", "wait", "queue", "memory", "places", "bind", "share",
    "weight", "desire", "est_cycle",
];

/// The flags of a pool.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Runtime options")]
pub struct Flags {
    #[arg(long, value_name = "N", global = true, value_parser = workers(), allow_negative_numbers = true, help = help(&tunables::WORKERS))]
    workers: Option<usize>,
    #[arg(long, value_name = "POLICY", global = true, help = help_of_policy(&tunables::IDLE))]
    idle: Option<IdlePolicy>,
    #[arg(long, value_name = "AMOUNT", global = true, help = help(&tunables::STEAL))]
    steal: Option<StealAmount>,
    #[arg(long, value_name = "RULE", global = true, help = help(&tunables::VICTIM))]
    victim: Option<VictimPolicy>,
    #[arg(long, value_name = "RULE", global = true, help = help(&tunables::WAIT))]
    wait: Option<WaitPolicy>,
    #[arg(long, value_name = "QUEUE", global = true, help = help(&tunables::QUEUE))]
    queue: Option<QueueKind>,
    #[arg(long, value_name = "POLICY", global = true, help = help_of_policy(&tunables::SPACE))]
    memory: Option<MemoryPolicy>,
    #[arg(long, value_name = "WHAT", global = true, help = help(&tunables::PLACES))]
    places: Option<PlaceBy>,
    #[arg(long, value_name = "on|off", global = true, value_parser = switch, help = help(&tunables::BIND))]
    bind: Option<bool>,
    #[command(flatten)]
    sharing: SharingFlags,
}

/// The flags for sharing the machine with other jobs.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Runtime options")]
pub struct SharingFlags {
    #[arg(long, value_name = "HOW", global = true, help = help(&tunables::SHARE))]
    share: Option<SharePolicy>,
    #[arg(long, value_name = "N", global = true, value_parser = weight(), allow_negative_numbers = true, help = help(&tunables::WEIGHT))]
    weight: Option<usize>,
    #[arg(long, value_name = "POLICY", global = true, help = help_of_policy(&tunables::DESIRE))]
    desire: Option<DesirePolicy>,
    #[arg(long, value_name = "TIME", global = true, value_parser = est_cycle, allow_negative_numbers = true, help = help(&tunables::EST_CYCLE))]
    est_cycle: Option<Nanos>,
}

impl SharingFlags {
    /// Returns environment variables that have the same effect as these flags.
    pub fn as_variables(&self) -> Vec<(&'static str, String)> {
        let share = variable(&tunables::SHARE, self.share);
        let weight = variable(&tunables::WEIGHT, self.weight);
        let desire = variable(&tunables::DESIRE, self.desire);
        let est_cycle = variable(&tunables::EST_CYCLE, self.est_cycle.map(show_time));
        let all = [share, weight, desire, est_cycle];
        all.into_iter().flatten().collect()
    }
}

fn variable<T>(
    tunable: &Tunable<T>,
    flag: Option<impl ToString>,
) -> Option<(&'static str, String)> {
    Some((tunable.variable?, flag?.to_string()))
}

/// Returns an option's help text, which is generated from its tunable.
pub fn help<T: Setting>(tunable: &Tunable<T>) -> String {
    let row = tunable.row();
    let mut text = format!(
        "{} [{}: {}] [default: {}]",
        row.why,
        match tunable.allowed {
            Allowed::Between(..) => "range",
            Allowed::OneOf(_) => "possible values",
        },
        row.allowed,
        row.default
    );
    if let Some(variable) = row.variable {
        text += &format!(" [env: {variable}]");
    }
    text
}

/// Like [`help`], but for an option whose values have parameters.
pub fn help_of_policy<T: Setting>(tunable: &Tunable<T>) -> String {
    help(tunable) + " [parameters: see `tidegate tunables`]"
}

/// Returns a parser for a number of workers.
pub fn workers() -> impl TypedValueParser<Value = usize> {
    match tunables::WORKERS.allowed {
        Allowed::Between(Some(least), Some(most)) => whole(least, most),
        _ => whole(1, usize::MAX),
    }
}

/// Returns a parser for a weight.
pub fn weight() -> impl TypedValueParser<Value = usize> {
    match tunables::WEIGHT.allowed {
        Allowed::Between(least, most) => whole(least, most),
        _ => whole(1, usize::MAX),
    }
}

/// Parses the time between two estimates. The error doesn't name the option, because clap adds the
/// name of the flag.
pub fn est_cycle(text: &str) -> Result<Nanos, ParseError> {
    tunables::EST_CYCLE.parse(text).map_err(ParseError::alone)
}

/// Parses a switch. The error doesn't name the option, because clap adds the name of the flag.
fn switch(text: &str) -> Result<bool, ParseError> {
    tunables::BIND.parse(text).map_err(ParseError::alone)
}

/// The options in effect.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of workers.
    pub workers: usize,
    /// How the number of workers was chosen.
    pub why: String,
    /// The value of `--workers`. Without this flag, the pool chooses the number of workers itself,
    /// so that its own reports give the reason.
    flag: Option<usize>,
    idle: IdlePolicy,
    steal: StealAmount,
    victim: VictimPolicy,
    wait: WaitPolicy,
    queue: QueueKind,
    memory: MemoryPolicy,
    places: PlaceBy,
    bind: bool,
    share: SharePolicy,
    weight: usize,
    desire: DesirePolicy,
    est_cycle: Nanos,
    /// Whether the pool records a trace. The caller sets this; no flag in [`Flags`] does.
    pub trace: bool,
    /// Whether the pool prints no explanation, even with `TIDEGATE_EXPLAIN=1`.
    silent: bool,
}

impl Options {
    /// Combines the flags with the environment and the defaults.
    pub fn resolve(flags: &Flags) -> Result<Self, Failure> {
        let (workers, why) = number_of_workers(flags.workers)?;
        let sharing = &flags.sharing;
        Ok(Self {
            workers,
            why,
            flag: flags.workers,
            idle: value(flags.idle, &tunables::IDLE)?,
            steal: value(flags.steal, &tunables::STEAL)?,
            victim: value(flags.victim, &tunables::VICTIM)?,
            wait: value(flags.wait, &tunables::WAIT)?,
            queue: value(flags.queue, &tunables::QUEUE)?,
            memory: value(flags.memory, &tunables::SPACE)?,
            places: value(flags.places, &tunables::PLACES)?,
            bind: value(flags.bind, &tunables::BIND)?,
            share: value(sharing.share, &tunables::SHARE)?,
            weight: value(sharing.weight, &tunables::WEIGHT)?,
            desire: value(sharing.desire, &tunables::DESIRE)?,
            est_cycle: value(sharing.est_cycle, &tunables::EST_CYCLE)?,
            trace: false,
            silent: false,
        })
    }

    /// Returns these options for a pool whose runs are not measured, which records no trace and
    /// prints no explanation.
    #[must_use]
    pub fn unobserved(&self) -> Self {
        Self {
            trace: false,
            silent: true,
            ..self.clone()
        }
    }

    /// Creates a pool with these options and this name.
    pub fn build(&self, name: &str) -> Result<Pool, Failure> {
        let mut builder = Pool::builder()
            .name(name)
            .idle(self.idle)
            .steal(self.steal)
            .victim(self.victim)
            .wait(self.wait)
            .queue(self.queue)
            .memory(self.memory)
            .places(self.places)
            .bind(self.bind)
            .share(self.share)
            .weight(self.weight)
            .desire(self.desire)
            .est_cycle(Duration::from_nanos(self.est_cycle))
            .trace(self.trace)
            // Ignore panics here: the panic hook has reported all of them except those of refused
            // reservations. A refused reservation ends the run, and the command reports the first
            // one.
            .on_panic(|_| ());
        if let Some(workers) = self.flag {
            builder = builder.workers(workers);
        }
        if self.silent {
            builder = builder.explain(false);
        }
        builder.build().map_err(|error| named_by_flags(&error))
    }

    /// Returns the options as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "idle": self.idle.to_string(),
            "steal": self.steal.to_string(),
            "victim": self.victim.to_string(),
            "wait": self.wait.to_string(),
            "queue": self.queue.to_string(),
            "memory": self.memory.to_string(),
            "places": self.places.to_string(),
            "bind": self.bind,
            "share": self.share.to_string(),
            "weight": self.weight,
            "desire": self.desire.to_string(),
            "est_cycle": show_time(self.est_cycle),
        })
    }
}

/// Converts a builder's error into one that names flags instead of the builder's methods.
fn named_by_flags(error: &BuildError) -> Failure {
    let named = OF_POOLS.iter().fold(error.to_string(), |text, name| {
        text.replace(&format!("Builder::{name}"), &format!("--{name}"))
    });
    Failure::Usage(named)
}

/// Checks that no environment variable sets an invalid pool option.
pub fn check_environment() -> Result<(), Failure> {
    let pool = Pool::builder().workers(1).build();
    pool.map(drop)
        .map_err(|error| Failure::Usage(error.to_string()))
}

/// Returns the number of workers and the reason for it.
pub fn number_of_workers(flag: Option<usize>) -> Result<(usize, String), Failure> {
    if let Some(workers) = flag {
        return Ok((workers, "set by --workers".into()));
    }
    if let Some((variable, text)) = from_environment(&tunables::WORKERS)
        && let Some(workers) = parse(&tunables::WORKERS, &text)?
    {
        return Ok((workers, format!("set by {variable}")));
    }
    let machine = Machine::read();
    Ok((machine.default_workers(), machine.reason()))
}

/// Returns the value of the flag, else the value of the environment variable, else the default.
pub fn value<T: Setting>(flag: Option<T>, tunable: &Tunable<T>) -> Result<T, Failure> {
    match (flag, from_environment(tunable)) {
        (Some(value), _) => Ok(value),
        (None, Some((_, text))) => parse(tunable, &text),
        (None, None) => Ok(tunable.default),
    }
}

fn from_environment<T>(tunable: &Tunable<T>) -> Option<(&'static str, OsString)> {
    let variable = tunable.variable?;
    Some((variable, std::env::var_os(variable)?))
}

fn parse<T: Setting>(tunable: &Tunable<T>, text: &OsString) -> Result<T, Failure> {
    tunable
        .parse(&text.to_string_lossy())
        .map_err(|error| Failure::Usage(error.to_string()))
}
