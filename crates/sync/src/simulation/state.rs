//! What the threads of a simulation share, and how the turn passes from one to the next.

use std::panic::Location;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar};
use std::time::Duration;

/// The time that passes at each step, in nanoseconds of the simulation's clock.
const STEP: u64 = 1_000;

/// The limits of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The number of steps after which the simulation stops, because it may never end.
    pub steps: u64,
    /// How long a thread may keep the turn, by the wall clock.
    pub patience: Duration,
}

/// A choice between the threads that can run.
#[derive(Debug)]
pub struct Choice<'a> {
    /// The number of this step, counted from 1.
    pub step: u64,
    /// The thread that passes the turn on.
    pub last: usize,
    /// Whether that thread has nothing to do until another thread has run.
    pub gives_way: bool,
    /// Whether that thread is in a call to something that the program shares between threads.
    pub is_access: bool,
    /// The threads that can run, in ascending order; at least one.
    pub ready: &'a [usize],
}

/// Why a thread passes the turn on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It accesses something that the program shares between threads.
    Access,
    /// It has nothing to do until another thread has run.
    GivesWay,
    /// Any other reason.
    Other,
}

/// One step of a simulation: a thread reaches a place where others may run, and the turn goes to
/// `next`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the step, counted from 1.
    pub step: u64,
    /// The thread that had the turn.
    pub thread: usize,
    /// What that thread does there.
    pub what: &'static str,
    /// Where user code has called this.
    pub at: Option<&'static Location<'static>>,
    /// The thread that runs next.
    pub next: usize,
}

/// Why a simulation has stopped before its threads ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Every thread waits for another one.
    Deadlock,
    /// The simulation has taken as many steps as [`Settings::steps`] allows.
    Endless,
    /// The thread that has the turn has kept it for longer than [`Settings::patience`].
    Stuck,
}

/// What one thread was doing when the simulation stopped.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The name of the thread.
    pub name: String,
    /// What the thread did when it last passed the turn on.
    pub what: &'static str,
    /// Where user code called this.
    pub at: Option<&'static Location<'static>>,
    /// Whether the thread had the turn.
    pub runs: bool,
    /// Whether the thread had ended.
    pub has_ended: bool,
    /// The threads of the simulation that held the lock for which the thread waited.
    pub holders: Vec<Holder>,
}

/// A thread that holds a lock.
#[derive(Clone, Debug)]
pub struct Holder {
    /// The name of the thread.
    pub name: String,
    /// Where user code has taken the lock.
    pub at: &'static Location<'static>,
}

/// The state in which a simulation has stopped.
#[derive(Clone, Debug)]
pub struct Report {
    /// Why it has stopped.
    pub reason: Reason,
    /// Its threads, in the order in which they were started.
    pub threads: Vec<Waiting>,
}

/// A pointer to the condition for which a thread waits.
pub(super) struct Condition(Pointer);

type Pointer = *const (dyn Fn() -> bool + Sync);

// SAFETY: `holds` only shares the condition, which is Sync.
unsafe impl Send for Condition {}

impl Condition {
    /// # Safety
    /// 1. `condition` lives until the result is dropped.
    pub(super) unsafe fn new(condition: &(dyn Fn() -> bool + Sync)) -> Self {
        let pointer = std::ptr::from_ref(condition);
        // SAFETY: only the lifetime of a raw pointer changes. `holds` reads it while the condition
        // lives (1).
        let pointer = unsafe {
            std::mem::transmute::<*const (dyn Fn() -> bool + Sync + '_), Pointer>(pointer)
        };
        Self(pointer)
    }

    /// Whether the thread that waits can continue.
    fn holds(&self) -> bool {
        // SAFETY: the condition lives as long as this (1 of `new`).
        let condition = unsafe { &*self.0 };
        condition()
    }
}

pub(super) enum Status {
    Ready,
    Blocked {
        condition: Condition,
        /// When the thread continues even if the condition does not hold.
        until: Option<u64>,
        /// The address of the lock for which the thread waits, if it waits for a lock.
        lock: Option<usize>,
    },
    Ended,
}

pub(super) struct Member {
    name: String,
    pub(super) status: Status,
    what: &'static str,
    at: Option<&'static Location<'static>>,
    /// Signalled when the turn comes to this thread.
    pub(super) turn_comes: Arc<Condvar>,
    pub(super) ended: Arc<AtomicBool>,
}

impl Member {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            status: Status::Ready,
            what: "starts",
            at: None,
            turn_comes: Arc::default(),
            ended: Arc::default(),
        }
    }

    fn is_ready(&self, now: u64) -> bool {
        match &self.status {
            Status::Ready => true,
            Status::Blocked {
                condition, until, ..
            } => until.is_some_and(|until| until <= now) || condition.holds(),
            Status::Ended => false,
        }
    }
}

/// A lock that a thread holds, as a reader or as the only one.
struct Held {
    /// The address of the lock.
    lock: usize,
    thread: usize,
    at: &'static Location<'static>,
}

/// Stands for the thread with the turn while there is none: all threads have ended, or the founder
/// has and the others wait.
const NONE: usize = usize::MAX;

type Chooser = Box<dyn FnMut(&Choice<'_>) -> usize + Send>;

/// The state of a simulation, which its lock protects.
pub(super) struct State {
    pub(super) members: Vec<Member>,
    /// The thread that runs, or [`NONE`].
    pub(super) turn: usize,
    pub(super) step: u64,
    pub(super) now: u64,
    pub(super) events: Vec<Event>,
    held: Vec<Held>,
    /// Whether the simulation has stopped early. No thread runs after that.
    pub(super) has_stopped: bool,
    choose: Chooser,
    ready: Vec<usize>,
}

impl State {
    pub(super) fn new(name: String, choose: Chooser) -> Self {
        Self {
            members: vec![Member::new(name)],
            turn: 0,
            step: 0,
            now: 0,
            events: Vec::new(),
            held: Vec::new(),
            has_stopped: false,
            choose,
            ready: Vec::new(),
        }
    }

    /// Gives the turn of thread `me`, which must have it, to the thread that is chosen next.
    pub(super) fn pass(
        &mut self,
        me: usize,
        (what, at): (&'static str, Option<&'static Location<'static>>),
        kind: Kind,
        most: u64,
    ) -> Result<(), Reason> {
        (self.members[me].what, self.members[me].at) = (what, at);
        self.step += 1;
        self.now = self.now.saturating_add(STEP);
        if self.step > most {
            return Err(Reason::Endless);
        }
        self.find_ready();
        if self.ready.is_empty() {
            let Some(next) = self.next_timeout() else {
                let founder = &self.members[0].status;
                if !matches!(founder, Status::Ended) {
                    return Err(Reason::Deadlock);
                }
                self.turn = NONE;
                return Ok(());
            };
            self.now = next;
            self.find_ready();
        }
        let next = self.choose_next(me, kind);
        self.events.push(Event {
            step: self.step,
            thread: me,
            what,
            at,
            next,
        });
        Ok(())
    }

    /// Gives the turn to one of the threads that can run.
    fn choose_next(&mut self, last: usize, kind: Kind) -> usize {
        let next = (self.choose)(&Choice {
            step: self.step,
            last,
            gives_way: kind == Kind::GivesWay,
            is_access: kind == Kind::Access,
            ready: &self.ready,
        });
        assert!(self.ready.contains(&next), "thread {next} cannot run");
        self.turn = next;
        self.members[next].turn_comes.notify_one();
        next
    }

    /// Gives the turn to a thread that can run, if no thread has it. A thread outside the
    /// simulation may have changed a condition.
    pub(super) fn kick(&mut self) {
        if self.turn != NONE || self.has_stopped {
            return;
        }
        self.find_ready();
        if !self.ready.is_empty() {
            self.step += 1;
            self.choose_next(0, Kind::GivesWay);
        }
    }

    /// Whether another thread has had the turn since `step`, while thread `me` waits.
    pub(super) fn is_waiting_since(&self, step: u64, me: usize) -> bool {
        self.step == step && self.turn != me && self.turn != NONE
    }

    /// Returns the flags of all threads but the founder that tell whether they have ended.
    pub(super) fn ends(&self) -> Vec<Arc<AtomicBool>> {
        let members = self.members[1..].iter();
        members.map(|member| member.ended.clone()).collect()
    }

    /// Whether all threads but the founder have ended.
    pub(super) fn have_others_ended(&self) -> bool {
        let has_ended = |member: &Member| matches!(member.status, Status::Ended);
        self.members[1..].iter().all(has_ended)
    }

    fn find_ready(&mut self) {
        let members = self.members.iter().enumerate();
        let ready = members.filter(|(_, member)| member.is_ready(self.now));
        self.ready.clear();
        self.ready.extend(ready.map(|(index, _)| index));
    }

    fn next_timeout(&self) -> Option<u64> {
        let until = |member: &Member| match member.status {
            Status::Blocked { until, .. } => until,
            Status::Ready | Status::Ended => None,
        };
        self.members.iter().filter_map(until).min()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.members
            .iter()
            .map(|member| member.name.clone())
            .collect()
    }

    /// Records that a thread has taken the lock at this address.
    pub(super) fn take_lock(&mut self, lock: usize, thread: usize, at: &'static Location<'static>) {
        self.held.push(Held { lock, thread, at });
    }

    /// Records that a thread has released the lock at this address.
    pub(super) fn release_lock(&mut self, lock: usize, thread: usize) {
        let is_meant = |held: &Held| held.lock == lock && held.thread == thread;
        if let Some(index) = self.held.iter().rposition(is_meant) {
            self.held.remove(index);
        }
    }

    /// Returns the threads that hold the lock for which a thread with this status waits.
    fn holders(&self, status: &Status) -> Vec<Holder> {
        let Status::Blocked {
            lock: Some(lock), ..
        } = status
        else {
            return Vec::new();
        };
        let held = self.held.iter().filter(|held| held.lock == *lock);
        let holder = |held: &Held| Holder {
            name: self.members[held.thread].name.clone(),
            at: held.at,
        };
        held.map(holder).collect()
    }

    pub(super) fn report(&self, reason: Reason) -> Report {
        let waiting = |(index, member): (usize, &Member)| Waiting {
            name: member.name.clone(),
            what: member.what,
            at: member.at,
            runs: index == self.turn && reason == Reason::Stuck,
            has_ended: matches!(member.status, Status::Ended),
            holders: self.holders(&member.status),
        };
        Report {
            reason,
            threads: self.members.iter().enumerate().map(waiting).collect(),
        }
    }
}
