//! A pool's options, resolved and checked, and the machine that some of them depend on.
//!
//! An option takes its value from the builder, or else from the environment ([`Environment`]), or
//! else from its default. The [`table`] declares all options.

mod closed;
mod environment;
mod error;
mod idle;
mod machine;
mod orders;
mod settings;
mod table;

pub use closed::Closed;
pub(crate) use environment::Environment;
pub use error::BuildError;
pub(crate) use idle::IdleRule;
pub use machine::pretend;
pub(crate) use machine::{affinity, limits, machine};
pub(crate) use settings::Settings;
pub(crate) use table::options;

use crate::jobserver::Jobserver;
use crate::latch::MAX_WORKERS;
use crate::layout::Layout;
use crate::panics::PanicReport;
use crate::simulated::{self, Simulated};
use orders::orders;
use std::fmt;
use std::time::Duration;
use tidegate_machine::{CpuList, Topology};
use tidegate_policy::tunables::THREADS_PER_SLOT;
use tidegate_policy::{
    DesirePolicy, MemoryPolicy, Nanos, PlaceBy, Priority, QueueKind, SharePolicy, StealAmount,
    VictimPolicy, WaitPolicy,
};

pub(crate) type ThreadHandler = Box<dyn Fn(usize) + Send + Sync>;
pub(crate) type PanicHandler = Box<dyn Fn(PanicReport) + Send + Sync>;

/// Where the value of an option came from: this method of the builder, this environment variable, or
/// its default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Builder(&'static str),
    Variable(&'static str),
    Default,
}

impl Source {
    fn is_variable(self) -> bool {
        matches!(self, Self::Variable(_))
    }
}

/// The name by which an error message refers to an option.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Builder(name) | Self::Variable(name) => name,
            Self::Default => "the default",
        })
    }
}

pub struct Options {
    pub(crate) workers: usize,
    pub(crate) workers_from: Source,
    pub(crate) max_threads: usize,
    pub(crate) max_threads_from: Source,
    pub(crate) max_blocking_threads: usize,
    pub(crate) idle: IdleRule,
    pub(crate) amount: StealAmount,
    pub(crate) victim: VictimPolicy,
    pub(crate) wait: WaitPolicy,
    pub(crate) queue: QueueKind,
    pub(crate) memory: MemoryPolicy,
    pub(crate) places: PlaceBy,
    /// The class of the pool's tasks that were given no class.
    pub priority: Priority,
    /// Within how many dispatches each class that has tasks begins one.
    pub(crate) priority_aging: usize,
    /// The workers' CPU slots, and the place to which each slot belongs.
    pub(crate) layout: Layout,
    /// Whether each worker is bound to the CPU of its CPU slot.
    pub(crate) bind: bool,
    /// The CPUs on which the pool may run.
    pub(crate) usable: CpuList,
    pub(crate) name: String,
    pub(crate) stack_size: usize,
    /// `None`: the queue is unbounded.
    pub(crate) max_queued: Option<usize>,
    /// Whether the pool prints its options when it is first used.
    pub(crate) explain: bool,
    /// For how many seconds the pool must stand still until it reports that.
    pub(crate) stall_report: usize,
    pub(crate) stall_report_from: Source,
    /// Whether the pool records its scheduling decisions; see [`crate::trace`].
    pub(crate) trace: bool,
    pub(crate) on_start: Option<ThreadHandler>,
    pub(crate) on_exit: Option<ThreadHandler>,
    pub(crate) on_panic: Option<PanicHandler>,
    /// `None`: the pool has no share controller.
    pub(crate) share: Option<Sharing>,
    pub(crate) share_from: Source,
    /// `None`: the pool is open. It starts spare threads and admits guests.
    pub(crate) closed: Option<Closed>,
    /// How the pool is simulated. `None`: its threads run freely.
    pub(crate) simulated: Option<Simulated>,
}

pub(crate) struct Sharing {
    /// The job's name in the job table.
    pub(crate) job: String,
    /// `Off`: the pool takes no seat in the table, and only follows the affinity, the quotas and
    /// the tokens of a jobserver.
    pub(crate) share: SharePolicy,
    pub(crate) weight: usize,
    pub(crate) desire: DesirePolicy,
    /// The time between two estimates of the desire.
    pub(crate) est_cycle: Nanos,
}

/// The name of a pool whose builder sets none.
const UNNAMED: &str = "tidegate";

/// Whether errors are printed to standard error instead of returned, because no caller could handle
/// them.
pub(crate) fn is_forgiving(closed: Option<&Closed>) -> bool {
    closed.is_some_and(|closed| closed.forgiving)
}

impl Options {
    /// Resolves and checks the options that a builder has collected.
    pub(crate) fn of(settings: Settings) -> Result<Self, BuildError> {
        let settings = simulated::complete(settings)?;
        let environment = if settings.simulated.is_some() {
            // A seed means the same run in every environment.
            Environment::Ignored
        } else if is_forgiving(settings.closed.as_ref()) {
            Environment::Forgiving
        } else {
            Environment::Strict
        };
        Self::resolve(settings, environment)
    }

    pub(crate) fn global() -> Self {
        Self::resolve(Settings::default(), Environment::Forgiving)
            .expect("defaults are allowed, and everything else is forgiven")
    }

    fn resolve(mut settings: Settings, environment: Environment) -> Result<Self, BuildError> {
        settings.name.take_if(|name| name.is_empty());
        let (workers, workers_from) = match settings.workers(environment)? {
            (Some(workers), from) => (workers, from),
            (None, _) => (machine().default_workers(), Source::Default),
        };
        let (share, share_from) = Sharing::of(&settings, (workers, workers_from), environment)?;
        let (max_threads, max_threads_from) = limit(&settings, workers, environment)?;
        let max_blocking_threads = blocking_limit(&settings, max_threads, environment)?;
        let (victim, _) = settings.victim(environment)?;
        let (amount, wait, queue, memory) = orders(&settings, environment)?;
        let (places, _) = settings.places(environment)?;
        let (bind, _) = settings.bind(environment)?;
        let ground = Ground::of(settings.topology.as_ref(), workers, (places, victim), bind)?;
        let layout = ground.layout(workers, places);
        let usable = ground.usable;
        let (stall_report, stall_report_from) = settings.stall_report(environment)?;
        Ok(Self {
            workers,
            workers_from,
            max_threads,
            max_threads_from,
            max_blocking_threads,
            idle: IdleRule::of(&mut settings, environment)?,
            amount,
            victim,
            wait,
            queue,
            memory,
            places,
            priority: settings.priority(environment)?.0,
            priority_aging: settings.priority_aging(environment)?.0,
            layout,
            bind: bind && Ground::KNOWN,
            usable,
            stack_size: settings.stack_size(environment)?.0,
            explain: settings.explain(environment)?.0 == 1,
            name: name(settings.name)?,
            max_queued: max_queued(settings.max_queued)?,
            stall_report,
            stall_report_from,
            share,
            share_from,
            trace: settings.trace.unwrap_or_default(),
            on_start: settings.on_start,
            on_exit: settings.on_exit,
            on_panic: settings.on_panic,
            closed: settings.closed,
            simulated: settings.simulated,
        })
    }
}

impl Sharing {
    /// False under loom and Miri: they run a single pool and have no files.
    pub(crate) const POSSIBLE: bool = cfg!(not(any(loom, miri)));

    /// Whether the affinity and the quotas are read again while a closed pool does not share the
    /// machine. Other systems have no limits that could be read.
    const FOLLOWS: bool = Self::POSSIBLE && cfg!(target_os = "linux");

    /// Returns what the pool's share controller does (`None` if the pool has none), and where the
    /// choice of the policy came from. If the machine has determined the number of `workers`, it
    /// may also lower it.
    fn of(
        settings: &Settings,
        (workers, workers_from): (usize, Source),
        environment: Environment,
    ) -> Result<(Option<Self>, Source), BuildError> {
        let (share, from) = settings.share(environment)?;
        let (weight, _) = settings.weight(environment)?;
        let (desire, _) = settings.desire(environment)?;
        let (est_cycle, _) = settings.est_cycle(environment)?;
        // A closed pool shares the machine only if that was requested: its caller may rely on all
        // of its threads running.
        let is_asked = settings.closed.is_none() || from != Source::Default;
        let may_shrink = workers > 1 && workers_from == Source::Default;
        let share = if is_asked { share } else { SharePolicy::Off };
        // A simulated pool does not depend on its environment.
        let needs_tokens = || settings.simulated.is_none() && Jobserver::inherited().is_some();
        let has_controller = match share {
            SharePolicy::Off if is_asked => settings.closed.is_none() && needs_tokens(),
            SharePolicy::Off => Self::FOLLOWS && may_shrink,
            SharePolicy::Auto | SharePolicy::On => Self::POSSIBLE,
        };
        let sharing = has_controller.then(|| Self {
            job: job(settings),
            share,
            weight,
            desire,
            est_cycle,
        });
        Ok((sharing, from))
    }
}

impl Options {
    /// Returns how the pool shares the machine; `Off` also without a share controller.
    pub(crate) fn share_policy(&self) -> SharePolicy {
        let share = self.share.as_ref();
        share.map_or(SharePolicy::Off, |sharing| sharing.share)
    }

    /// Whether the pool shares the machine with other jobs.
    pub(crate) fn shares(&self) -> bool {
        self.share_policy() != SharePolicy::Off
    }

    /// Returns for how long the pool must stand still until it reports that. `None` if it never
    /// does. A closed pool reports only if that was requested: programs that use rayon block in
    /// tasks by design.
    pub(crate) fn stall_report(&self) -> Option<Nanos> {
        let is_asked = self.closed.is_none() || self.stall_report_from != Source::Default;
        let reports = is_asked && self.simulated.is_none() && Sharing::POSSIBLE;
        let after = self.stall_report as Nanos * 1_000_000_000;
        Some(after).filter(|after| reports && *after > 0)
    }

    /// Whether thieves record how many tasks their victims have.
    pub(crate) fn counts_lengths(&self) -> bool {
        let desire = self.share.as_ref().map(|sharing| sharing.desire);
        self.shares() && matches!(desire, Some(DesirePolicy::ADeque(_)))
    }
}

/// A duration too long for `Nanos` becomes `Nanos::MAX`, which is out of range for every tunable.
pub fn nanos(time: Duration) -> Nanos {
    Nanos::try_from(time.as_nanos()).unwrap_or(Nanos::MAX)
}

/// Returns the job's name: the pool's own name, or else the program's, because the table lists the
/// jobs of many programs and most pools are unnamed.
fn job(settings: &Settings) -> String {
    let own = settings.name.clone().filter(|_| settings.closed.is_none());
    let program = || {
        let path = std::env::current_exe().ok()?;
        Some(path.file_name()?.to_string_lossy().into_owned())
    };
    own.or_else(program).unwrap_or_else(|| UNNAMED.into())
}

fn max_queued(given: Option<usize>) -> Result<Option<usize>, BuildError> {
    if given == Some(0) {
        let error = "Builder::max_queued: invalid value 0: expected at least 1";
        return Err(BuildError::new(error.into()));
    }
    Ok(given)
}

fn name(given: Option<String>) -> Result<String, BuildError> {
    let name = given.unwrap_or_else(|| UNNAMED.into());
    if name.contains(char::is_control) {
        let error = format!(
            "Builder::name: {name:?} cannot name threads: expected text without control characters"
        );
        return Err(BuildError::new(error));
    }
    Ok(name)
}

/// Returns the limit on threads.
fn limit(
    settings: &Settings,
    workers: usize,
    environment: Environment,
) -> Result<(usize, Source), BuildError> {
    if settings.closed.is_some() {
        return Ok((workers, Source::Default));
    }
    let default = (workers * THREADS_PER_SLOT.default).min(MAX_WORKERS);
    let (Some(max), from) = settings.max_threads(environment)? else {
        return Ok((default, Source::Default));
    };
    if max >= workers {
        return Ok((max, from));
    }
    let error = BuildError::new(format!(
        "{from}: {max} is less than the number of workers, {workers}: expected {workers} to {MAX_WORKERS}"
    ));
    let from = environment.forgive(from, error, &format_args!("{default} threads"))?;
    Ok((default, from))
}

/// Returns how many threads may be in blocking calls without counting towards `max_threads`.
fn blocking_limit(
    settings: &Settings,
    max_threads: usize,
    environment: Environment,
) -> Result<usize, BuildError> {
    let (limit, from) = settings.max_blocking_threads(environment)?;
    let most = MAX_WORKERS - max_threads;
    if limit > most && from != Source::Default {
        let error = BuildError::new(format!(
            "{from}: {limit} beside max_threads, {max_threads}: expected 0 to {most}"
        ));
        environment.forgive(from, error, &format_args!("{most} threads"))?;
    }
    Ok(limit.min(most))
}

/// The topology and the CPUs to which a pool's CPU slots are assigned.
struct Ground<'a> {
    /// `None` if no option depends on the topology.
    topology: Option<&'a Topology>,
    usable: CpuList,
}

impl<'a> Ground<'a> {
    /// False under loom and Miri, which cannot read the machine's topology.
    const KNOWN: bool = cfg!(not(any(loom, miri)));

    fn of(
        given: Option<&'a Topology>,
        workers: usize,
        (places, victim): (PlaceBy, VictimPolicy),
        bind: bool,
    ) -> Result<Self, BuildError> {
        // Reading the machine takes a millisecond, so skip it if the result can't matter: with one
        // worker there are no groups, and with two in one place there is only one distance.
        let near = victim == VictimPolicy::Hierarchical && workers > 2;
        let grouped = places != PlaceBy::Machine && workers > 1;
        let asked = given.is_some() || bind || near || grouped;
        if !asked || (given.is_none() && !Self::KNOWN) {
            return Ok(Self {
                topology: None,
                usable: CpuList::default(),
            });
        }
        let here = || machine().usable();
        let usable = given.map_or_else(here, |made_up| made_up.cpus().clone());
        if usable.is_empty() {
            let error = "Builder::topology: it has no CPUs: expected a topology with one or more";
            return Err(BuildError::new(error.into()));
        }
        if bind && !usable.is_subset(&here()) {
            return Err(BuildError::new(format!(
                "Builder::bind: the pool's CPUs are {usable}, and this process may run on {}: expected a topology of those",
                here()
            )));
        }
        let topology = given.or_else(|| Some(machine().topology()));
        Ok(Self { topology, usable })
    }

    fn layout(&self, workers: usize, places: PlaceBy) -> Layout {
        match self.topology {
            Some(topology) => Layout::on(topology, &self.usable, workers, places),
            None => Layout::nowhere(workers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Choose;
    use crate::{Builder, Pool};

    /// Returns the message of the error from building this pool. No test sets an environment
    /// variable for these options.
    fn error(builder: Builder) -> String {
        match builder.options() {
            Ok(_) => panic!("it was accepted"),
            Err(error) => error.to_string(),
        }
    }

    fn two() -> Builder {
        Pool::builder().workers(2)
    }

    #[test]
    fn bad_value_error_names_the_method() {
        #[rustfmt::skip]
        let cases = [
            (Pool::builder().workers(0), "invalid value 0 for Builder::workers: expected an integer from 1 to 4096"),
            (
                two().stack_size(1024),
                "invalid value 1KiB for Builder::stack_size: expected a size such as 64MiB (KiB, MiB, GiB, TiB) from 64KiB to 64GiB",
            ),
            (
                two().steal(StealAmount::Fixed(0)),
                "invalid value 0 for fixed in Builder::steal: expected an integer from 1 to 65536",
            ),
            (two().max_threads(32_769), "invalid value 32769 for Builder::max_threads: expected an integer from 1 to 32768"),
            (
                two().max_blocking_threads(16_385),
                "invalid value 16385 for Builder::max_blocking_threads: expected an integer from 0 to 16384",
            ),
            (
                two().max_threads(30_000).max_blocking_threads(10_000),
                "Builder::max_blocking_threads: 10000 beside max_threads, 30000: expected 0 to 2768",
            ),
            (two().name("a\nb"), "Builder::name: \"a\\nb\" cannot name threads: expected text without control characters"),
            (two().name("a\0b"), "Builder::name: \"a\\0b\" cannot name threads: expected text without control characters"),
        ];
        for (builder, expected) in cases {
            assert_eq!(error(builder), expected);
        }
    }

    #[test]
    fn an_empty_name_is_none() {
        assert_eq!(two().name("").options().unwrap().name, UNNAMED);
    }

    /// A thread limit below the number of workers is rejected, not raised.
    #[test]
    fn too_few_threads_are_rejected() {
        assert_eq!(
            error(two().max_threads(1)),
            "Builder::max_threads: 1 is less than the number of workers, 2: expected 2 to 32768"
        );
        assert_eq!(two().max_threads(2).options().unwrap().max_threads, 2);
    }

    #[test]
    fn default_limit_scales_with_slots() {
        let options = two().options().unwrap();
        assert_eq!(options.max_threads, 2 * THREADS_PER_SLOT.default);
        assert_eq!(options.max_threads_from, Source::Default);
        let many = Pool::builder().workers(4_096).victim(VictimPolicy::Random);
        let options = many.options().unwrap();
        assert_eq!(options.max_threads, 4_096 * THREADS_PER_SLOT.default);
    }
}
