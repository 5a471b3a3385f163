//! Makes the program follow its allotment.
//!
//! Once per cycle, [`Following`] looks at the program's threads, publishes its desire, computes its
//! processors from the table and confines the program to them. All decisions are in
//! [`crate::outside`].
//!
//! Whatever goes wrong, the program gets its processors back, the user reads one line, and the
//! program runs on as it would without the command.

mod affinity;
#[cfg(test)]
mod cgroups;
mod confinement;
mod guards;
mod look;
mod quota;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
mod tree;

pub use confinement::Means;

use crate::jobserver::Server;
use crate::outside::{Desire, Look, Row, assign_more, cycle};
use crate::seat::report;
use crate::{Options, say};
use confinement::Confinement;
use guards::Guards;
use look::{Clocks, Observer, now, thread_time, threads};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tidegate_machine::{Machine, Topology};
use tidegate_policy::Nanos;
use tidegate_share::{Portion, Refusal, Report, Seat, Waker};
use tree::{Member, Tree};

/// Ends [`Following::run`] from another thread.
#[derive(Clone, Debug)]
pub struct Stop {
    is_set: Arc<AtomicBool>,
    /// Wakes the present seat.
    waker: Arc<Mutex<Waker>>,
}

impl Stop {
    /// Makes [`Following::run`] give the program its processors back and return.
    pub fn set(&self) {
        // The lock orders this against a change of the seat, and the waker's system call against
        // the last look at the flag.
        let waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_set.store(true, Ordering::Relaxed);
        waker.wake();
    }

    fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    fn change_seat(&self, seat: &Seat) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = seat.waker();
    }
}

/// The running program, its seat and its confinement.
pub struct Following {
    seat: Seat,
    stop: Stop,
    confinement: Confinement,
    tree: Tree,
    observer: Observer,
    desire: Desire,
    /// One guard for each process with several threads.
    guards: Guards,
    report: Report,
    bounds: Bounds,
    /// All processors of the machine, those that share a cache side by side.
    order: Vec<usize>,
    /// The processors to which the program is confined, if it is.
    chosen: Option<Vec<usize>>,
    /// The jobserver of the program, and the most jobs that the user allows.
    server: Option<(Server, usize)>,
    last: Look,
    next_look: Nanos,
    /// The number of cycles since the desire or the processors changed.
    calm: usize,
}

impl Following {
    /// Takes the first look at the program, whose first process is `pid`. Call this immediately
    /// after that process has started. All children of this process belong to the program, except
    /// those older than [`Means::start`] and the watcher of the confinement.
    #[must_use]
    pub fn begin(
        options: &Options,
        (seat, machine): (Seat, &Machine),
        means: Means,
        server: Option<Server>,
        pid: i32,
    ) -> Self {
        let report = report(options, machine);
        let (tree, confinement) = means.of(pid);
        let mut following = Self {
            stop: Stop {
                is_set: Arc::default(),
                waker: Arc::new(Mutex::new(seat.waker())),
            },
            seat,
            confinement,
            tree,
            observer: Observer::new(Clocks::KERNEL),
            desire: Desire::default(),
            guards: Guards::default(),
            report,
            bounds: Bounds {
                min: options.min,
                max: options.max.unwrap_or(usize::MAX).max(1),
            },
            order: order(machine.topology()),
            chosen: None,
            server: server.zip(options.jobserver),
            last: Look::default(),
            next_look: 0,
            calm: 0,
        };
        // If this fails, so does the first look of `run`, which says why.
        if let Ok((look, _)) = following.observer.look(&following.tree, now()) {
            following.desire.next(&look, following.report.limit);
            following.last = look;
        }
        following
    }

    /// Returns what ends [`run`](Self::run).
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Follows the allotment until [`Stop::set`] is called. Then gives the program its processors
    /// back, leaves the table and ends the watcher. Does so earlier if the program cannot be
    /// followed any more, and says why. Returns the jobserver.
    pub fn run(mut self) -> Option<Server> {
        let followed = self.follow();
        self.free(followed.err().as_deref());
        // The program may run on without sharing the machine.
        let (server, jobs) = self.server?;
        server.allow(jobs);
        Some(server)
    }

    fn follow(&mut self) -> Result<(), String> {
        let line = |refusal: Refusal| refusal.to_string();
        loop {
            let (begin, before) = (now(), thread_time());
            let mut members = None;
            if begin >= self.next_look {
                self.keep_seat().map_err(line)?;
                members = Some(self.look(begin)?);
            }
            let looked = members.is_some();
            let chosen = self.choose().map_err(line)?;
            self.allow_jobs(chosen.as_deref());
            if let Err(reason) = self.confine(chosen, members) {
                // If `/proc` has vanished, the next look would say so as well.
                self.tree.walk().map_err(|error| error.to_string())?;
                self.free(Some(&reason));
            }
            if looked {
                let cost = thread_time().saturating_sub(before);
                let is_idle = self.report.desire == 0 && self.last.runnable == 0;
                self.next_look = begin.saturating_add(cycle(cost, self.calm, is_idle));
            }
            if self.stop.is_set() {
                return Ok(());
            }
            let rest = Duration::from_nanos(self.next_look.saturating_sub(now()));
            self.seat.wait_change(rest).map_err(line)?;
        }
    }

    /// Takes a new seat if the table was removed.
    fn keep_seat(&mut self) -> Result<(), Refusal> {
        if !self.seat.is_current() {
            self.seat = self.seat.take_again()?;
            self.stop.change_seat(&self.seat);
            self.seat.publish_outside(&self.report, self.last.ran)?;
        }
        Ok(())
    }

    /// Looks at the program and publishes what it desires.
    fn look(&mut self, at: Nanos) -> Result<Vec<Member>, String> {
        if self.confinement.is_lost() {
            self.free(Some("its record was removed"));
        }
        let look = self.observer.look(&self.tree, at);
        let (look, members) = look.map_err(|error| error.to_string())?;
        let processors = self.chosen.as_ref().map(Vec::len);
        if let Some(pid) = self.guards.next(&self.tree, &members, at, processors) {
            let spins = "may be waiting for each other by spinning";
            self.free(Some(&format!("the threads of process {pid} {spins}")));
        }
        let allotment = self
            .chosen
            .as_ref()
            .map_or(self.report.mask.len(), Vec::len);
        let desire = self.desire.next(&look, allotment);
        let desire = desire.min(threads(&members).count()).min(self.report.limit);
        self.calm = if desire == self.report.desire {
            self.calm.saturating_add(1)
        } else {
            0
        };
        let published = self.publish(desire, &look);
        published.map_err(|refusal| refusal.to_string())?;
        self.last = look;
        Ok(members)
    }

    fn publish(&mut self, desire: usize, look: &Look) -> Result<(), Refusal> {
        let was_idle = self.report.desire == 0;
        self.report.desire = desire;
        self.report.usage = match desire {
            // The row of an idle job is not published again.
            0 => 0,
            _ => usage(&self.last, look),
        };
        self.report.allotment = match (desire, &self.chosen) {
            (0, _) => 0,
            (_, Some(chosen)) => chosen.len(),
            (_, None) => self.report.limit,
        };
        if was_idle && desire == 0 {
            // The row of an idle job does not beat.
            return Ok(());
        }
        self.seat.publish_outside(&self.report, look.ran)
    }

    /// Computes the program's processors from the table.
    fn choose(&mut self) -> Result<Option<Vec<usize>>, Refusal> {
        let portions = self.seat.division()?;
        Ok(chosen(&portions, &self.order, self.bounds))
    }

    /// Lets a `make` run as many jobs at once as the program is entitled to processors. That does
    /// not depend on the confinement: tokens share the machine without it.
    fn allow_jobs(&self, chosen: Option<&[usize]>) {
        if let Some((server, jobs)) = &self.server {
            let processors = chosen.map_or(self.report.limit, <[usize]>::len);
            server.allow(processors.min(*jobs));
        }
    }

    /// Stops confining the program for good, and says why.
    fn free(&mut self, reason: Option<&str>) {
        let confinement = std::mem::replace(&mut self.confinement, Confinement::None);
        let what = match &confinement {
            Confinement::None => "takes no part in sharing any more",
            Confinement::Ready(_) => "will not be confined",
            Confinement::Quota(..) | Confinement::Affinity(..) => "is not confined any more",
        };
        self.chosen = None;
        let released = confinement.release(&self.tree);
        let left = "some threads may stay confined";
        // Only now, because a process that reads the messages may be slow.
        match (reason, released) {
            (Some(reason), Ok(())) => say(&format!("the program {what}: {reason}")),
            (Some(reason), Err(why)) => {
                let what = "will not be confined any more";
                say(&format!("the program {what}: {reason}; {left}: {why}"));
            }
            (None, Err(why)) => say(&format!("{left}: {why}")),
            (None, Ok(())) => {}
        }
    }

    fn confine(
        &mut self,
        chosen: Option<Vec<usize>>,
        members: Option<Vec<Member>>,
    ) -> Result<(), String> {
        let is_new = chosen != self.chosen;
        // New threads may have to be confined, and threads that a walk has missed to be freed.
        let has_new_threads = members.is_some() && self.confinement.is_by_thread();
        if self.confinement.is_none() || !(is_new || has_new_threads) {
            return Ok(());
        }
        let members = match members {
            Some(members) => members,
            None => self.tree.walk().map_err(|error| error.to_string())?,
        };
        let most = self.report.mask.len();
        self.confinement
            .confine(&mut self.tree, members, chosen.as_deref(), most)?;
        if is_new && !self.confinement.is_ready() {
            self.calm = 0;
            self.chosen = chosen;
        }
        Ok(())
    }
}

/// The processors that the user wants the program to have, at least and at most.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    min: usize,
    max: usize,
}

/// Returns the processors of the program, or `None` if it need not be confined because it may use
/// all that it can run on. Only the user's maximum confines a program that desires none, or that
/// shares its processors with no job that desires any.
///
/// Beside others, the program gets all that it would be entitled to if it desired as much as it may
/// have: it could not show a larger desire on fewer processors, and it may count them only once, at
/// its start.
fn chosen(portions: &[Portion], order: &[usize], bounds: Bounds) -> Option<Vec<usize>> {
    let own = portions.iter().position(|portion| portion.is_own)?;
    let is_rival = |portion: &Portion| {
        let common = portion.mask.intersection(&portions[own].mask);
        !portion.is_own && portion.allotment > 0 && !common.is_empty()
    };
    let Portion {
        allotment, most, ..
    } = portions[own];
    let is_alone = allotment == 0 || !portions.iter().any(is_rival);
    let size = if is_alone {
        usize::MAX
    } else {
        most.max(bounds.min)
    };
    let size = size.min(bounds.max);
    if size >= portions[own].mask.len() {
        return None;
    }
    let masks: Vec<Vec<usize>> = portions
        .iter()
        .map(|portion| {
            let is_in = |cpu: &usize| portion.mask.contains(*cpu);
            order.iter().copied().filter(is_in).collect()
        })
        .collect();
    let rows: Vec<Row<'_>> = portions
        .iter()
        .zip(&masks)
        .map(|(portion, mask)| Row {
            mask,
            allotment: portion.allotment,
        })
        .collect();
    let chosen = assign_more(&rows, own, size);
    (!chosen.is_empty()).then_some(chosen)
}

/// Returns the machine's order: processors that share a core, a cache or a node are neighbours.
fn order(topology: &Topology) -> Vec<usize> {
    let levels = topology.levels(topology.cpus());
    let mut order: Vec<usize> = topology.cpus().as_slice().to_vec();
    // The sorts keep the order within equal groups, so the coarsest level decides first.
    for level in levels {
        let group = |cpu: &usize| level.groups.iter().position(|group| group.contains(*cpu));
        order.sort_by_key(group);
    }
    order
}

/// Returns how many processors the program has kept busy between two looks: at least one if it ran.
fn usage(last: &Look, look: &Look) -> usize {
    let ran = look.ran.saturating_sub(last.ran);
    let length = look.at.saturating_sub(last.at).max(1);
    let nearest = ran.saturating_add(length / 2) / length;
    usize::try_from(nearest.max(ran.min(1))).unwrap_or(usize::MAX)
}
