//! The runtime's options: flag, else environment variable, else default.
//!
//! The same order and the same checks as in `Pool::builder`. They are resolved here, too, because a
//! run reports the values that held and why there are so many workers.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use clap::builder::TypedValueParser;
use serde_json::{Value, json};
use tidegate::machine::Machine;
use tidegate::{
    BuildError, Pool,
    policy::{
        DesirePolicy, IdlePolicy, MemoryPolicy, ParseError, PlaceBy, QueueKind, SharePolicy,
        StealAmount, VictimPolicy, WaitPolicy,
    },
};
use tidegate_policy::tunables::{self, Allowed, Setting, Tunable};
use tidegate_policy::{Nanos, show_time};

use crate::arguments::whole;
use crate::failure::Failure;

/// The names of all that follow: who runs without a pool refuses them.
pub const OF_POOLS: [&str; 13] = [
    "workers",
    "idle",
    "steal",
    "victim",
    "wait",
    "queue",
    "memory",
    "places",
    "bind",
    "share",
    "weight",
    "desire",
    "est_cycle",
];

/// The flags.
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

/// The flags that say how a pool shares the machine.
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
    /// The environment variables that say the same as the flags which are given.
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

/// What the table of tunables says of an option.
pub fn help<T: Setting>(tunable: &Tunable<T>) -> String {
    let row = tunable.row();
    let mut text = format!(
        "{} [allowed: {}] [default: {}]",
        row.why, row.allowed, row.default
    );
    if let Some(variable) = row.variable {
        text += &format!(" [env: {variable}]");
    }
    text
}

/// The same for an option whose values have parameters.
pub fn help_of_policy<T: Setting>(tunable: &Tunable<T>) -> String {
    help(tunable) + " [parameters: see `tidegate tunables`]"
}

/// Reads a number of workers within the range of its tunable.
pub fn workers() -> impl TypedValueParser<Value = usize> {
    match tunables::WORKERS.allowed {
        Allowed::Between(Some(least), Some(most)) => whole(least, most),
        _ => whole(1, usize::MAX),
    }
}

/// Reads a weight within the range of its tunable.
fn weight() -> impl TypedValueParser<Value = usize> {
    match tunables::WEIGHT.allowed {
        Allowed::Between(least, most) => whole(least, most),
        _ => whole(1, usize::MAX),
    }
}

/// Reads a time between two estimates as its variable does; clap names the flag.
pub fn est_cycle(text: &str) -> Result<Nanos, ParseError> {
    tunables::EST_CYCLE.parse(text).map_err(ParseError::alone)
}

/// Reads what a switch is set to, as its variable does; clap says which flag it is.
fn switch(text: &str) -> Result<bool, ParseError> {
    tunables::BIND.parse(text).map_err(ParseError::alone)
}

/// The options that hold.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many workers.
    pub workers: usize,
    /// Why so many.
    pub why: String,
    /// What the flag says. The pool finds the rest by itself, so that it knows the reason, too.
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
    /// Whether the pool takes notes; no flag of all pools.
    pub trace: bool,
}

impl Options {
    /// What the flags and the environment say.
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
        })
    }

    /// A pool with these options, which calls itself `name`.
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
            // What the panic hook has not told is a reservation that was refused, of which one is enough.
            .on_panic(|_, _| ());
        if let Some(workers) = self.flag {
            builder = builder.workers(workers);
        }
        builder.build().map_err(|error| named_by_flags(&error))
    }

    /// The policies by name.
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

/// A pool's error with the flags' names in place of the builder's.
fn named_by_flags(error: &BuildError) -> Failure {
    let named = OF_POOLS.iter().fold(error.to_string(), |text, name| {
        text.replace(&format!("Builder::{name}"), &format!("--{name}"))
    });
    Failure::Usage(named)
}

/// Refuses an environment with which no pool can be made, whatever its number of workers.
pub fn check_environment() -> Result<(), Failure> {
    let pool = Pool::builder().workers(1).build();
    pool.map(drop)
        .map_err(|error| Failure::Usage(error.to_string()))
}

/// How many workers if the flag says nothing, and why.
pub fn number_of_workers(flag: Option<usize>) -> Result<(usize, String), Failure> {
    if let Some(workers) = flag {
        return Ok((workers, "as --workers says".into()));
    }
    if let Some((variable, text)) = from_environment(&tunables::WORKERS)
        && let Some(workers) = parse(&tunables::WORKERS, &text)?
    {
        return Ok((workers, format!("as {variable} says")));
    }
    let machine = Machine::read();
    Ok((machine.default_workers(), machine.reason()))
}

/// The flag, else the environment variable, else the default.
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
