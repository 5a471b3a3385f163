//! Prints lines about a pool to standard error, for the user of the program.
//!
//! With `TIDEGATE_EXPLAIN=1` or `Builder::explain`, a pool prints a line when it is first used: its
//! version, its number of workers and what determined that number, and the options that differ from
//! their defaults. It prints another line for each environment variable whose name begins with
//! `TIDEGATE_` and is unknown. A pool is used when a thread outside it runs something in it; a pool
//! that is never used prints nothing. A child process made by `fork` has a new pool, which prints
//! the lines again.
//!
//! This module makes no decisions. For machine-readable numbers, see [`Stats`](crate::Stats).

use crate::options::{IdleRule, Options, Sharing, Source, machine};
use crate::pool::PoolInner;
use tidegate_policy::tunables::{self, Setting, Tunable};
use tidegate_sync::atomic::Ordering;
use tidegate_sync::stderr::print_line;

/// Prints the explanation line if it was requested and has not been printed yet. Must be called
/// before a thread outside the pool runs something in it.
#[inline]
pub(crate) fn announce(pool: &PoolInner) {
    // Relaxed: a flag that publishes no data.
    if pool.unexplained.load(Ordering::Relaxed) {
        explain(pool);
    }
}

#[cold]
fn explain(pool: &PoolInner) {
    // Relaxed: the swap returns true to only one caller.
    if pool.unexplained.swap(false, Ordering::Relaxed) {
        // If the machine determines the number of workers, it may change at any time: this prints
        // the original one.
        let chosen = pool.workers_are_chosen().then(|| pool.wanted());
        let workers = chosen.unwrap_or(pool.options.workers);
        print_line(format_args!("{}", explanation(&pool.options, workers)));
        for (name, _) in std::env::vars_os() {
            if let Err(error) = tunables::check_variable(&name.to_string_lossy()) {
                print_line(format_args!("{error}"));
            }
        }
    }
}

/// Returns the explanation line for these options. `workers` is the number of workers.
fn explanation(options: &Options, workers: usize) -> String {
    let why = match options.workers_from {
        _ if workers != options.workers => "set by set_workers".to_owned(),
        Source::Builder(method) => {
            let closed = options.closed.as_ref();
            format!(
                "set by {}",
                closed.map_or(method, |closed| closed.threads_by)
            )
        }
        Source::Variable(name) => format!("set by {name}"),
        Source::Default => machine().reason(),
    };
    let why = match machine().excess(workers) {
        Some(excess) => format!("{why}, {excess}"),
        None => why,
    };
    let mut differing = Vec::new();
    differing.extend(match &options.idle {
        IdleRule::BuiltIn(idle) => difference(*idle, &tunables::IDLE),
        IdleRule::Custom(backoff) => Some(format!("{}={backoff}", tunables::IDLE.name)),
    });
    differing.extend(difference(options.amount, &tunables::STEAL));
    differing.extend(difference(options.victim, &tunables::VICTIM));
    differing.extend(difference(options.wait, &tunables::WAIT));
    differing.extend(difference(options.queue, &tunables::QUEUE));
    differing.extend(difference(options.memory, &tunables::SPACE));
    differing.extend(difference(options.places, &tunables::PLACES));
    differing.extend(difference(options.priority, &tunables::PRIORITY));
    let aging = options.priority_aging;
    differing.extend(difference(aging, &tunables::PRIORITY_AGING));
    differing.extend(difference(options.bind, &tunables::BIND));
    if options.max_threads_from != Source::Default {
        let limit = Some(options.max_threads);
        differing.extend(difference(limit, &tunables::MAX_THREADS));
    }
    if options.closed.is_none() {
        let limit = options.max_blocking_threads;
        differing.extend(difference(limit, &tunables::MAX_BLOCKING_THREADS));
    }
    differing.extend(difference(options.stack_size, &tunables::STACK_SIZE));
    differing.extend(difference(options.stall_report, &tunables::STALL_REPORT));
    if Sharing::POSSIBLE {
        differing.extend(sharing(options));
    }
    let differing = match differing.as_slice() {
        [] => " default options".to_owned(),
        some => (some.iter()).fold(String::new(), |text, option| text + " " + option),
    };
    let ending = if workers == 1 { "" } else { "s" };
    format!(
        "version {}, pool {}, {workers} worker{ending} ({why}),{differing}",
        env!("CARGO_PKG_VERSION"),
        options.name.escape_debug(),
    )
}

/// Returns the sharing options that differ from their defaults. A closed pool doesn't share by
/// default.
fn sharing(options: &Options) -> Vec<String> {
    let closed = options.closed.is_some();
    let share = options.share_policy();
    let mut differing = Vec::new();
    // A pool with a share controller that does not share only follows the limits.
    let follows = if options.share.is_some() && !options.shares() {
        "; follows changes of affinity and quotas"
    } else {
        ""
    };
    differing.extend(match (closed, options.share_from) {
        (true, Source::Default) => Some(format!("share=off (TIDEGATE_SHARE turns it on{follows})")),
        (true, _) => Some(shown("share", &tunables::SHARE.show(share))),
        (false, _) => difference(share, &tunables::SHARE),
    });
    if let Some(sharing) = options.share.as_ref().filter(|_| options.shares()) {
        differing.extend(difference(sharing.weight, &tunables::WEIGHT));
        differing.extend(difference(sharing.desire, &tunables::DESIRE));
        differing.extend(difference(sharing.est_cycle, &tunables::EST_CYCLE));
    }
    differing
}

/// Returns the option as text if it differs from its default.
fn difference<T: Setting>(value: T, tunable: &Tunable<T>) -> Option<String> {
    if value == tunable.default {
        return None;
    }
    Some(shown(tunable.name, &tunable.show(value)))
}

fn shown(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::policy::Choose;
    use crate::{Builder, Pool};
    use tidegate_policy::idle::{BackoffFactory, CustomBackoff};
    use tidegate_policy::{Rest, SharePolicy};

    #[test]
    fn line_lists_workers_and_changed_options() {
        let builder = Pool::builder()
            .workers(3)
            .name("no\u{200b}width")
            .idle("none".parse().unwrap())
            .steal("fixed:20".parse().unwrap())
            .victim("random".parse().unwrap())
            .wait("help-any".parse().unwrap())
            .max_threads(4)
            .stack_size(1 << 20);
        let options = builder.options().unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            explanation(&options, 3),
            format!(
                "version {version}, pool no\\u{{200b}}width, 3 workers (set by Builder::workers), idle=none steal=fixed:20 \
                 victim=random wait=help-any max-threads=4 stack-size=1MiB"
            )
        );
        assert!(explanation(&options, 2).contains("2 workers (set by set_workers)"));
    }

    #[test]
    fn custom_backoff_is_called_custom() {
        struct Parks;
        impl CustomBackoff for Parks {
            fn backoff(&mut self, _: u64) -> Rest {
                Rest::Park
            }

            fn reset(&mut self) {}
        }
        let builder = Pool::builder()
            .workers(1)
            .backoff(BackoffFactory::new(|_| Parks));
        let line = explanation(&builder.options().unwrap(), 1);
        assert!(line.ends_with(", idle=custom"), "{line}");
    }

    #[test]
    fn changed_share_options_are_listed() {
        let differing = |builder: Builder| explanation(&builder.options().unwrap(), 1);
        let builder = || Pool::builder().workers(1);
        let shares = builder().share(SharePolicy::On).weight(300);
        let shares = shares.desire("wsap:eta=0.75".parse().unwrap());
        assert!(differing(shares).ends_with(", share=on weight=300 desire=wsap:eta=0.75"));
        assert!(differing(builder().share(SharePolicy::Off).weight(300)).ends_with(", share=off"));
    }

    #[test]
    fn pool_reports_default_options() {
        let options = Pool::builder().workers(2).options().unwrap();
        assert!(explanation(&options, 2).ends_with("(set by Builder::workers), default options"));
    }
}
