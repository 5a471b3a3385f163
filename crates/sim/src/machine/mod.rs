//! The machine: processors, workers, and an event loop.
//!
//! Every worker has at most one pending event: the end of its work, an attempt to steal, or the end
//! of a nap. The machine handles the earliest event, which sets the next one. Besides workers there
//! are *clockworks*, which are timers: job arrivals, the cycle in which desires are estimated, time
//! slices while workers wait in line for processors, the ends of rests, samples, and changes of
//! imposed allotments. `tidegate-policy` makes every decision.
//!
//! Scheduling has two levels: work stealing inside a job ([`work`], [`search`], [`sleep`]), and the
//! sharing of processors between jobs ([`shares`]), which imposed allotments may overrule
//! ([`given`]). Tasks may be put where their data is ([`places`]).

mod allotment_history;
mod given;
mod hybrid;
mod job;
mod memory;
mod places;
mod search;
mod shares;
mod sleep;
#[cfg(test)]
mod tests;
mod work;
mod worker;

use crate::allot::{AllotState, Broken};
use crate::caches::Caches;
use crate::chain::Chain;
use crate::dag::Dag;
use crate::distance_index::PlaceOrder;
use crate::event_queue::EventQueue;
use crate::frames::{FrameId, Frames, NONE};
use crate::outcome::{JobOutcome, Outcome, Sample};
use crate::processors::Processors;
use crate::settings::{Deques, Job, Refusal, Settings, Width};
use crate::unfold::AnyDag;
use job::Running;
use places::Places;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use tidegate_policy::{DesireState, Nanos, ParseError, Rng, VictimState};
use worker::{State, Thief, Worker};

/// The clockworks: actors that are numbered after the workers.
const ARRIVALS: usize = 0;
const CYCLE: usize = 1;
const SLICE: usize = 2;
const RESTS: usize = 3;
const SAMPLES: usize = 4;
const GIVEN: usize = 5;
const CLOCKWORKS: usize = 6;

/// A task's rest: when it ends, a number that orders rests with the same end, the task's frame and
/// the worker.
type Rest = Reverse<(Nanos, u64, FrameId, usize)>;

/// Runs `jobs` on the machine that `settings` describes, until all jobs have ended. The same
/// arguments give the same outcome.
///
/// # Errors
/// If the settings cannot be used, or if the run would last longer than [`Nanos`] can count: 584
/// years, summed over all workers.
pub fn run<D: Dag>(settings: &Settings, jobs: &[Job<D>]) -> Result<Outcome, Refusal> {
    run_telling(settings, jobs, &mut |_, _| ())
}

/// Like [`run`], but calls `tell` after every million events with the number of events and the
/// current time.
///
/// # Errors
/// Like [`run`].
pub fn run_telling<D: Dag>(
    settings: &Settings,
    jobs: &[Job<D>],
    tell: &mut dyn FnMut(u64, Nanos),
) -> Result<Outcome, Refusal> {
    Machine::new(settings, &untyped(jobs))?.run(tell)
}

/// Like [`run_telling`], but the jobs may run different programs.
///
/// # Errors
/// Like [`run`].
pub fn run_mix(
    settings: &Settings,
    jobs: &[Job<&dyn AnyDag>],
    tell: &mut dyn FnMut(u64, Nanos),
) -> Result<Outcome, Refusal> {
    Machine::new(settings, jobs)?.run(tell)
}

fn untyped<D: Dag>(jobs: &[Job<D>]) -> Vec<Job<&dyn AnyDag>> {
    let jobs = jobs.iter().map(|job| Job {
        dag: &job.dag as &dyn AnyDag,
        arrives: job.arrives,
        width: job.width,
    });
    jobs.collect()
}

/// How many events the machine handles between two calls to `tell`.
const UNHEARD: u64 = 1_000_000;

struct Machine<'a> {
    settings: &'a Settings,
    jobs: Vec<Running<'a>>,
    widths: Vec<Width>,
    workers: Vec<Worker>,
    thieves: Vec<Thief>,
    /// The workers of a job, ordered by their places.
    order: PlaceOrder,
    places: Places,
    caches: Caches,
    frames: Frames,
    event_queue: EventQueue,
    processors: Processors,
    /// The actor whose event is being handled.
    acting: usize,
    shares: AllotState,
    rests: BinaryHeap<Rest>,
    /// How many rests have begun.
    rested: u64,
    now: Nanos,
    /// What calls of idle workers have cost a worker that ran tasks all the time.
    calls: Nanos,
    /// When the last cycle ended.
    cycle_began: Nanos,
    /// How many jobs have not ended.
    left: usize,
    /// The first promise of the allotment rule that was broken.
    broken: Option<Broken>,
    samples: Vec<Sample>,
    /// The error that ended the run, if any.
    refusal: Option<Refusal>,
    #[cfg(test)]
    fault: Option<Fault>,
}

/// Deliberate faults, for tests.
#[cfg(test)]
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Thieves take the youngest task instead of the oldest.
    RobsYoungEnd,
    /// Every job gets all processors, regardless of its share.
    GivesAll,
    /// Thieves take nothing.
    TakesNothing,
}

impl<'a> Machine<'a> {
    fn new(settings: &'a Settings, jobs: &[Job<&'a dyn AnyDag>]) -> Result<Self, Refusal> {
        settings.check(jobs)?;
        let width = settings.processors;
        let count = width * jobs.len();
        let mut seeds = Rng::new(settings.seed);
        let thieves = (0..count).map(|w| {
            Ok(Thief {
                idle: settings.idle_state(w % width)?,
                victims: VictimState::new(settings.victim, w % width),
                rng: Rng::new(seeds.draw()),
            })
        });
        let thieves = thieves.collect::<Result<_, ParseError>>()?;
        let fixed = jobs.iter().map(|job| match job.width {
            Width::Fixed(processors) => processors,
            Width::Desired(_) | Width::Limited(..) => 0,
        });
        let dealt = width.saturating_sub(fixed.sum());
        let places = Places::new(&settings.places);
        let mut machine = Self {
            caches: Caches::new(settings.cache, places.count()),
            places,
            settings,
            jobs: Vec::with_capacity(jobs.len()),
            widths: jobs.iter().map(|job| job.width).collect(),
            workers: (0..count).map(|w| Worker::new(w / width, w)).collect(),
            thieves,
            order: PlaceOrder::new(&settings.places, width),
            frames: Frames::new(),
            event_queue: EventQueue::new(count + CLOCKWORKS),
            processors: Processors::new(width, count, settings.costs.slice, settings.pinned),
            acting: 0,
            shares: AllotState::new(settings.allot, dealt),
            rests: BinaryHeap::new(),
            rested: 0,
            now: 0,
            calls: 0,
            cycle_began: 0,
            left: jobs.len(),
            broken: None,
            samples: vec![],
            refusal: None,
            #[cfg(test)]
            fault: None,
        };
        for (number, job) in jobs.iter().enumerate() {
            let workers = number * width..(number + 1) * width;
            let course = settings.course(number, job.arrives);
            let mut running = Running::new(job.dag.unfold(), job.arrives, course, workers);
            if let Some(desire) = job.width.desire() {
                running.desire = Some(DesireState::new(desire)?);
                machine.at(machine.clockwork(CYCLE), settings.cycle);
            }
            machine.jobs.push(running);
        }
        machine.await_arrival();
        if settings.sample > 0 {
            machine.at(machine.clockwork(SAMPLES), settings.sample);
        }
        Ok(machine)
    }

    fn run(mut self, tell: &mut dyn FnMut(u64, Nanos)) -> Result<Outcome, Refusal> {
        let mut events: u64 = 0;
        // This limit keeps sums of the workers' times from overflowing.
        let longest = Nanos::MAX / self.workers.len().max(1) as Nanos;
        while self.left > 0 {
            if let Some(refusal) = self.refusal {
                return Err(refusal);
            }
            let Some((time, actor)) = self.event_queue.first() else {
                self.find_stall();
                let refusal = self.refusal;
                return Err(refusal.expect("some worker continues while a job is left"));
            };
            if time >= longest {
                return Err(Refusal::too_long(longest));
            }
            self.now = time;
            self.acting = actor;
            events += 1;
            if events % UNHEARD == 0 {
                tell(events, time);
            }
            let worker = self.workers.get(actor);
            match worker.map(|worker| worker.job) {
                Some(job) => self.jobs[job].pass(time),
                None => self.pass(),
            }
            match self.workers.get(actor).map(|worker| worker.state) {
                Some(State::Working) => self.work(actor),
                Some(State::Searching) => self.attempt(actor),
                Some(State::Napping) => self.end_nap(actor),
                Some(State::Woken) => self.search(actor, 0),
                Some(State::Parked | State::Asleep) => unreachable!("nothing awaits a sleeper"),
                None => self.turn(actor - self.workers.len()),
            }
        }
        Ok(Outcome {
            jobs: self.jobs.iter().map(outcome).collect(),
            broken: self.broken,
            samples: self.samples,
            events,
        })
    }

    /// Ends the run with this error, unless it already has an error.
    #[cold]
    fn refuse(&mut self, why: String) {
        self.refusal.get_or_insert_with(|| Refusal::new(why));
    }

    /// Ends the run if a job waits for releases that can never happen.
    fn find_stall(&mut self) {
        let stalled = self.jobs.iter().position(Running::is_stalled);
        let Some(job) = stalled.filter(|_| self.rests.is_empty()) else {
            return;
        };
        let waiting = self.jobs[job].drafts.waiting();
        self.refuse(format!(
            "job {job} never releases all of its drafts; {waiting} still wait: expected as many releases as each draft waits for"
        ));
    }

    /// Handles the event of a clockwork.
    fn turn(&mut self, clockwork: usize) {
        match clockwork {
            ARRIVALS => self.arrivals(),
            CYCLE => self.end_cycle(),
            SLICE => self.end_slice(),
            SAMPLES => self.take_sample(),
            GIVEN => self.change_given(),
            _ => self.end_rest(),
        }
    }

    fn take_sample(&mut self) {
        let mut workers = vec![];
        for worker in &self.workers {
            let tasks = worker.deque.len() + usize::from(worker.state == State::Working);
            if workers.len() <= tasks {
                workers.resize(tasks + 1, 0);
            }
            workers[tasks] += 1;
        }
        self.samples.push(Sample {
            time: self.now,
            workers,
        });
        let actor = self.clockwork(SAMPLES);
        self.event_queue.clear(actor);
        // If no other event is pending, the run has ended.
        if self.event_queue.first().is_some() {
            self.at(actor, self.settings.sample);
        }
    }

    /// Updates the history of every job up to now.
    fn pass(&mut self) {
        for job in self.jobs.iter_mut().filter(|job| job.is_here) {
            job.pass(self.now);
        }
    }

    fn clockwork(&self, number: usize) -> usize {
        self.workers.len() + number
    }

    /// Whether the worker holds work that only it can continue, or that thieves must take from it.
    fn holds_work(&self, w: usize) -> bool {
        let worker = &self.workers[w];
        match self.settings.deques {
            Deques::Worker => worker.holds_work(),
            Deques::Place => worker.frame != NONE,
        }
    }

    /// Returns the worker whose deque `w` uses.
    #[inline]
    fn deque_of(&self, w: usize) -> usize {
        match self.settings.deques {
            Deques::Worker => w,
            Deques::Place => {
                let first = self.jobs[self.workers[w].job].first;
                first + self.places.first_with(w - first)
            }
        }
    }

    fn workers_of(&self, job: usize) -> Range<usize> {
        let first = self.jobs[job].first;
        first..first + self.settings.processors
    }

    /// Sets the worker's next event to happen after `delay`.
    #[inline]
    fn at(&mut self, w: usize, delay: Nanos) {
        self.event_queue.set(w, self.now.saturating_add(delay));
    }

    #[inline]
    fn enter(&mut self, w: usize, state: State) {
        let worker = &mut self.workers[w];
        let time = self.now - worker.since;
        self.jobs[worker.job].spent(worker.state, time);
        let job = &mut self.jobs[worker.job];
        job.working -= usize::from(worker.state == State::Working);
        job.working += usize::from(state == State::Working);
        worker.state = state;
        worker.since = self.now;
    }

    /// Records that the worker has received work.
    #[inline]
    fn has_work(&mut self, w: usize) {
        let worker = &mut self.workers[w];
        if !std::mem::replace(&mut worker.had_work, true) {
            let job = &mut self.jobs[worker.job];
            job.had_work += 1;
            if job.had_work == self.settings.processors {
                job.all_processors = Some(self.now - job.arrives);
            }
        }
    }

    /// Schedules the next job's arrival, if any.
    fn await_arrival(&mut self) {
        let ahead = self.jobs.iter().filter(|job| job.is_ahead());
        let actor = self.clockwork(ARRIVALS);
        match ahead.map(|job| job.arrives).min() {
            Some(time) => self.event_queue.set(actor, time),
            None => {
                self.event_queue.clear(actor);
            }
        }
    }

    /// Handles all arrivals that are due.
    fn arrivals(&mut self) {
        for job in 0..self.jobs.len() {
            if self.jobs[job].is_ahead() && self.jobs[job].arrives == self.now {
                self.arrive(job);
            }
        }
        self.await_arrival();
    }

    /// Starts the job: its first worker gets the root task, and its other workers begin without a
    /// task.
    fn arrive(&mut self, job: usize) {
        let workers = self.workers_of(job);
        let root = self
            .frames
            .add(self.jobs[job].dag.root(), NONE, Chain::default());
        self.begin_memory(workers.start, root);
        self.workers[workers.start].frame = root;
        let running = &mut self.jobs[job];
        running.is_here = true;
        running.follow(self.now);
        running.in_hand = 1;
        running.counters.tasks = 1;
        running.with_work.push(workers.start as u32);
        running.candidates.set(&self.order, 0, true);
        let others = workers.skip(1).map(|w| w as u32);
        running.without_work = others.rev().collect();
        self.take_share(job);
        self.await_change();
    }
}

fn outcome(job: &Running<'_>) -> JobOutcome {
    let (ended, chain) = job.end.unwrap_or_default();
    let time = (ended - job.arrives).max(1);
    JobOutcome {
        arrived: job.arrives,
        ended,
        work: job.work,
        span: chain.time,
        depth: chain.actions,
        mean_allotment: job.history.allotted() as f64 / time as f64,
        effective_allotment: job.history.effective(chain.time),
        trimmed_allotment: job.history.trimmed(chain.time),
        all_processors: job.all_processors,
        stood_in_line: job.stood_in_line,
        peak_bytes: job.memory.peak,
        counters: job.counters,
    }
}
