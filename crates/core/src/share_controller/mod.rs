//! The share controller: the thread that makes a pool use as many processors as it is entitled to.
//! docs/share-controller.md describes the protocol and why it works.
//!
//! [`ControllerHandle`] is the pool's interface to the controller: workers wake the controller when
//! the pool begins to work, and read the cap. `tidegate_policy` estimates the desire and contains
//! the rules; `tidegate_share` accesses the table of jobs. This module reads the counters
//! ([`sight`]), observes running threads ([`holders`]) and changes the number of slots.
//!
//! Without a table the pool has all the slots it wants. The only cost to a worker is the load of a
//! flag when a slot changes hands.

#[cfg(all(test, not(any(loom, miri))))]
mod following_tests;
mod holders;
#[cfg(all(test, feature = "jobserver", target_os = "linux", not(any(loom, miri))))]
mod jobserver_tests;
mod presence;
mod sight;

use crate::controller_handle::ControllerHandle;
use crate::jobserver::{Jobserver, Tokens};
use crate::options::{Sharing, affinity, limits, machine};
use crate::pool::PoolInner;
use crate::sleep::look;
use crate::sleep::stall;
use crate::sleep::wake;
use crate::unwind;
use holders::Holders;
use presence::Presence;
use sight::Sight;
use std::sync::Arc;
use std::time::Duration;
use tidegate_machine::{CpuList, Limits};
use tidegate_policy::trace::{NoTrace, Recorder, ShareController as Rules, Wait};
use tidegate_policy::tunables::{ALONE_CYCLE, CHANGE_GAP, CONTROLLER_SLICE, TABLE_LOOK};
use tidegate_policy::{DesireState, Nanos, SharePolicy, share};
use tidegate_share::{CpuMask, Location, Refusal, Report, Shares};
use tidegate_sync::clock;
use tidegate_sync::stderr::print_line;
use tidegate_sync::thread::{self, shorten_slice};

/// The state of the share controller's thread.
struct ShareController {
    pool: Arc<PoolInner>,
    rules: Rules,
    sight: Sight,
    presence: Presence,
    holders: Holders,
    limits: Limits,
    /// The affinity with which the controller's thread began. It may be narrower than that of the
    /// workers, so it says nothing until it changes.
    affinity: Option<CpuList>,
    /// How many consecutive cycles have changed nothing.
    calm: usize,
    /// When the controller last read the limits and requested a seat; `None` before the first time.
    looked: Option<Nanos>,
    /// How the machine was divided at the last look at the table.
    shares: Shares,
    /// The pool's tokens of a jobserver.
    tokens: Tokens,
}

/// The size of the controller's stack in bytes. The controller only reads files and formats a line;
/// no user code runs on this stack.
const STACK: usize = 256 * 1024;

impl ShareController {
    /// Creates the share controller of a pool that takes its seat in the table at `location`.
    pub(crate) fn new(
        pool: Arc<PoolInner>,
        location: Result<Location, Refusal>,
        tokens: Tokens,
    ) -> Self {
        let sharing = sharing(&pool);
        Self {
            rules: rules(&NoTrace, sharing),
            sight: Sight::default(),
            presence: Presence::new(&pool.options, &sharing.job, location),
            holders: Holders::default(),
            limits: Limits {
                usable: machine().usable(),
                workers: machine().default_workers(),
            },
            affinity: affinity(),
            calm: 0,
            looked: None,
            shares: Shares::default(),
            tokens,
            pool,
        }
    }

    /// Runs until the pool ends.
    pub(crate) fn run(mut self) {
        // If the system does not grant the shorter time slice, the controller is scheduled later
        // while all processors are busy.
        let _ = shorten_slice(Duration::from_nanos(CONTROLLER_SLICE.default));
        while self.sleep_until_active() {
            if self.begin() {
                while !self.pool.is_over() && self.cycle() {}
            }
        }
        // The seat and the tokens are given up when they are dropped.
        *controller(&self.pool).waker.lock() = None;
    }

    /// Parks until the pool is active. Returns false if the pool ends.
    fn sleep_until_active(&self) -> bool {
        loop {
            {
                let mut ledger = self.pool.ledger();
                if self.pool.is_over() {
                    return false;
                }
                let (ledger, agreement) = ledger.with_agreement();
                if ledger.is_active() || agreement.has_acted() {
                    return true;
                }
                agreement.controller_parks();
            }
            controller(&self.pool).parker.park();
        }
    }

    /// Prepares the state for a pool that has begun to work. Returns false if the pool has already
    /// stopped and no other job shares the machine; nothing has been published in that case. A pool
    /// that needs tokens begins at once, because it has only one slot until then.
    fn begin(&mut self) -> bool {
        if self.shares.others == 0 && !self.tokens.are_needed() && !self.goes_on() {
            return false;
        }
        self.rules = rules(&controller(&self.pool).notes, sharing(&self.pool));
        self.sight = Sight::of(&self.pool);
        self.holders = Holders::default();
        self.calm = 0;
        true
    }

    /// Waits for a cycle and, if the pool is idle by then, for another one. Returns whether the
    /// pool is still working or has begun to work again.
    fn goes_on(&self) -> bool {
        let cycle = if self.pool.options.shares() {
            sharing(&self.pool).est_cycle
        } else {
            self.unseated_wait(ALONE_CYCLE.default)
        };
        self.park(cycle);
        let _ = self.acts();
        if self.pool.ledger().is_active() {
            return true;
        }
        if !self.pool.is_over() {
            self.park(cycle);
        }
        self.acts()
    }

    /// Runs one cycle. Returns false if the pool did nothing during the cycle.
    fn cycle(&mut self) -> bool {
        let from = clock::now();
        self.look_around(from);
        let acts = self.acts();
        self.say(acts);
        if self.apply(from) {
            // Publish again, so that observers see the current numbers.
            self.say(acts);
            self.calm = 0;
        }
        if !acts {
            return false;
        }
        stall::look(&self.pool);
        self.wait(from + self.cycle_length());
        let before = self.rules.desire();
        let seen = self.sight.look(&self.pool, self.shares);
        let notes = &controller(&self.pool).notes;
        let calm = self.rules.next_desire(notes, &seen) == before;
        self.calm = if calm { self.calm + 1 } else { 0 };
        true
    }

    /// Returns how long the next cycle takes. A pool that needs tokens has no longer cycles than
    /// beside other jobs: nothing wakes it when tokens are free or needed elsewhere.
    fn cycle_length(&self) -> Nanos {
        let Sharing {
            share, est_cycle, ..
        } = *sharing(&self.pool);
        let calm = [self.shares.others, self.calm];
        let length = self.rules.cycle(&controller(&self.pool).notes, share, calm);
        if !self.tokens.are_needed() {
            return length;
        }
        length.min(share::cycle(SharePolicy::On, 1, self.calm, est_cycle))
    }

    /// Whether the pool has done anything since the last call.
    fn acts(&self) -> bool {
        let mut ledger = self.pool.ledger();
        let (ledger, agreement) = ledger.with_agreement();
        let acts = agreement.has_acted() || ledger.is_active();
        agreement.forget_acts();
        acts
    }

    /// About once a second, checks the limits, the pool's seat in the table, and the load of other
    /// processes.
    fn look_around(&mut self, now: Nanos) {
        let since = self.looked.map(|looked| now.saturating_sub(looked));
        if since.is_some_and(|since| since < TABLE_LOOK.default) {
            return;
        }
        self.looked = Some(now);
        if let Some(limits) = limits(self.affinity.as_ref()) {
            self.limits = limits;
            let workers = self.limits.workers.min(self.pool.options.max_threads);
            if !self.pool.workers_are_chosen() && workers != self.pool.wanted() {
                self.pool.want(workers, false);
            }
        }
        let share = sharing(&self.pool).share;
        if share != SharePolicy::Off {
            self.presence.look(share, self.shares.others);
            *controller(&self.pool).waker.lock() = self.presence.waker();
        }
    }

    /// Publishes the pool's report. If the pool has stopped working, it publishes a desire of 0
    /// even if work has begun since: that work may end before the controller could withdraw what it
    /// published.
    fn say(&mut self, acts: bool) {
        let sharing = sharing(&self.pool);
        let usage = self.pool.ledger().active();
        // The last estimate may be outdated, but a running pool desires at least one processor.
        let runs = acts && usage > 0;
        let desire = if runs { self.rules.desire().max(1) } else { 0 };
        let limit = self.limits.workers.min(self.pool.wanted()).max(1);
        let desire = self.tokens.usable(desire.min(limit));
        controller(&self.pool).desire.set(desire);
        let report = Report {
            desire,
            usage,
            limit,
            weight: sharing.weight,
            allotment: self.pool.sleep.slots(),
            efficiency: self.sight.efficiency,
            ..Report::new(CpuMask::from_cpus(
                self.limits.usable.as_slice().iter().copied(),
            ))
        };
        self.presence.publish(report);
    }

    /// Sets the number of slots to what other jobs and the jobserver leave, plus the slots that are
    /// lent. Returns whether anything has changed.
    fn apply(&mut self, now: Nanos) -> bool {
        self.shares = self.presence.shares();
        let wanted = self.pool.wanted();
        let share = sharing(&self.pool).share;
        let fair = if self.presence.is_alone() {
            wanted
        } else {
            let counts = [wanted, self.shares.allotment, self.shares.others];
            Rules::slots(&controller(&self.pool).notes, share, counts)
        };
        // If the pool may have all slots that it wants, there is no cap: it may want more a moment
        // later.
        let cap = if fair >= wanted { usize::MAX } else { fair };
        let tokens = self.take_tokens(fair);
        let cap = cap.min(tokens);
        let lent = self.lend(fair.min(tokens), now);
        let changes = self.pool.ledger().with_agreement().1.set_share(cap, lent);
        if changes {
            wake::resize(&self.pool);
        }
        // A slot that its holder has not given up yet still needs its token.
        let held = self.pool.ledger().held();
        self.tokens.keep(cap.max(held));
        changes
    }

    /// Takes tokens for the slots that the pool could use, but for at most `fair`. Returns for how
    /// many slots it has tokens.
    fn take_tokens(&mut self, fair: usize) -> usize {
        let is_idle = controller(&self.pool).desire.get() == 0;
        let desire = if is_idle { 1 } else { self.rules.desire() };
        self.tokens.take(fair.min(desire.max(1)))
    }

    /// Returns how many slots to lend beyond `fair`, because the pool may have come to a
    /// standstill. Also repeats the requests to threads that should already have stopped running.
    fn lend(&mut self, fair: usize, now: Nanos) -> usize {
        let room = self.pool.most().saturating_sub(fair);
        let sees_work = look::finds_work(&self.pool);
        let ledger = self.pool.ledger();
        // When the number of slots was last reduced, holders without a worker could not be asked to
        // give up their slots.
        wake::ask_holders(&self.pool, &ledger);
        if room == 0 && self.shares.others == 0 {
            self.holders = Holders::default();
            self.rules.forget_loans(&controller(&self.pool).notes);
            return 0;
        }
        self.holders.take_turns(&self.pool, &ledger, now);
        let waits = !ledger.has_free() && (sees_work || ledger.owes());
        let (stuck, silent) = self.holders.look(&self.pool, &ledger, waits, now);
        if stuck == 0 {
            // While threads are stuck, overcommitted threads keep running: they delay no other
            // thread, and the stuck threads may be waiting for them.
            wake::ask_overcommitted(&self.pool, &ledger, now);
        }
        let wait = Wait {
            waits: waits && room > 0,
            stuck,
            silent,
            room,
            now,
        };
        self.rules.lend(&controller(&self.pool).notes, wait)
    }

    /// Sleeps until `until`. If the table changes meanwhile, updates the slots.
    fn wait(&mut self, until: Nanos) {
        loop {
            let now = clock::now();
            if now >= until || self.pool.is_over() {
                return;
            }
            if !self.presence.wait(Duration::from_nanos(until - now)) {
                if self.pool.options.shares() {
                    // The seat may just have been lost.
                    let _ = self.apply(clock::now());
                }
                let mut length = until - now;
                if self.presence.is_alone() {
                    length = self.unseated_wait(length);
                }
                return self.park(length);
            }
            let woken = clock::now();
            if woken >= until || self.pool.is_over() {
                return;
            }
            let others = self.shares.others;
            if self.apply(woken) {
                self.calm = 0;
            }
            if others == 0 && self.shares.others > 0 {
                // Another job has arrived. Its share depends on what this job publishes, so publish
                // soon.
                return;
            }
            self.park(CHANGE_GAP.default.min(until.saturating_sub(clock::now())));
        }
    }

    /// Sleeps for `length`, or until another thread wakes the controller.
    fn park(&self, length: Nanos) {
        let length = Duration::from_nanos(length);
        controller(&self.pool).parker.park_timeout(length);
    }

    /// Returns how long a pool without a seat waits if a cycle would take `cycle`. No other job has
    /// a share of the machine, so nothing changes until the next look, unless slots may be lent or
    /// need tokens.
    fn unseated_wait(&self, cycle: Nanos) -> Nanos {
        if self.tokens.are_needed() || self.pool.wanted() < self.pool.most() {
            cycle
        } else {
            TABLE_LOOK.default
        }
    }
}

fn rules(recorder: &impl Recorder, sharing: &Sharing) -> Rules {
    let desire = DesireState::new(&sharing.desire).expect("a checked policy");
    Rules::new(recorder, desire, sharing.est_cycle, sharing.share)
}

fn controller(pool: &PoolInner) -> &ControllerHandle {
    pool.controller
        .as_ref()
        .expect("the pool has a share controller")
}

/// Starts the pool's share controller, if the pool has one. If that fails, the pool does not share
/// the machine.
pub(crate) fn start(pool: &Arc<PoolInner>) {
    if pool.controller.is_none() {
        return;
    }
    let name = format!("{}-share", pool.options.name);
    // Read the environment here, not when a seat is taken: a program that changes the environment
    // must not do so in parallel with a thread that reads it.
    let location = Location::find();
    let tokens = Tokens::of(Jobserver::inherited());
    if tokens.are_needed() {
        set_cap(pool, 1);
        if pool.options.explain {
            print_line(format_args!(
                "pool {}: takes a token of the jobserver for each worker beyond the first",
                pool.options.name,
            ));
        }
    }
    let of_controller = pool.clone();
    let controller = move || {
        unwind::no_unwind(|| ShareController::new(of_controller, location, tokens).run());
    };
    match thread::start(name, STACK, controller) {
        Ok(handle) => pool.add_thread(handle),
        Err(error) => {
            set_cap(pool, usize::MAX);
            print_line(format_args!(
                "pool {}: the system refused the share controller: {error}; the pool always uses all of its workers",
                pool.options.name,
            ));
        }
    }
}

/// Sets the cap of a pool whose share controller does not run.
fn set_cap(pool: &PoolInner, cap: usize) {
    let _ = pool.ledger().with_agreement().1.set_share(cap, 0);
    wake::resize(pool);
}

fn sharing(pool: &PoolInner) -> &Sharing {
    let sharing = pool.options.share.as_ref();
    sharing.expect("a pool that takes no part has no share controller")
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::Pool;
    use crate::job::Task;
    use crate::pool::members;

    fn bare() -> Arc<PoolInner> {
        let builder = Pool::builder()
            .workers(4)
            .share(tidegate_policy::SharePolicy::Auto);
        PoolInner::bare(builder.options().unwrap())
    }

    fn controller_of(
        pool: &Arc<PoolInner>,
        location: Result<Location, Refusal>,
    ) -> ShareController {
        ShareController::new(pool.clone(), location, Tokens::of(None))
    }

    /// Tests the gap between `wake_for_work`, which grants the slot under the ledger's lock, and
    /// `start_thread`, which creates the worker afterwards.
    #[test]
    fn starting_thread_is_observed_without_panic() {
        let pool = bare();
        let _ = pool.change().set_slots(1);
        pool.sources.injector.push(Task::alone(&pool, |_| ()));
        let wake = pool
            .change()
            .wake_for_work(|_| tidegate_policy::slots::Fit::Never, |_| true);
        assert_eq!(wake, tidegate_policy::slots::Wake::Start(0));
        let mut controller = controller_of(&pool, Location::find());
        assert_eq!(controller.lend(1, 0), 0);
        std::mem::forget(pool);
    }

    #[test]
    fn ready_thread_counts_as_waiting_work() {
        let pool = bare();
        let (first, second) = {
            let mut ledger = pool.change();
            let _ = ledger.set_slots(1);
            (ledger.admit().unwrap(), ledger.admit().unwrap())
        };
        let queued = || Sight::of(&pool).look(&pool, Shares::default()).queued;
        assert!(pool.change().ready(first));
        assert_eq!(queued(), 0);
        assert!(!pool.change().ready(second), "owed");
        assert_eq!(queued(), 1);
        assert!(pool.change().overcommit(second), "in debt");
        assert_eq!(queued(), 1);
    }

    /// A task begins after the share controller has checked whether the pool is active, and ends
    /// before the next check.
    #[cfg(target_os = "linux")]
    #[test]
    fn an_idle_pool_desires_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::at(folder.path().join("table"));
        let pool = bare();
        let mut controller = controller_of(&pool, Ok(location.clone()));
        controller.look_around(clock::now());
        let acts = controller.acts();
        assert!(!acts);
        let t = members::admit_all(&pool, 1)[0];
        controller.say(acts);
        let _ = controller.apply(clock::now());
        members::dismiss(&pool, t);
        assert!(controller.sleep_until_active());
        assert!(!controller.begin(), "it is done already");
        let observer = tidegate_share::Observer::open(&location).unwrap();
        let desire = observer.unwrap().jobs().unwrap()[0].desire;
        std::mem::forget((controller, pool));
        assert_eq!(desire, 0);
    }

    #[test]
    fn loans_do_not_raise_demand() {
        let pool = bare();
        let _ = pool.ledger().with_agreement().1.set_share(1, 3);
        pool.want(2, true);
        let slots = pool.sleep.slots();
        std::mem::forget(pool);
        assert_eq!(slots, 2);
    }
}
