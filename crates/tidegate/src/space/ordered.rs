//! Where the runtime asks the plan of a pool that keeps the depth-first order ([`tidegate_policy::space::plan`]).
//!
//! Such a pool has a lock for its plan. It is taken for each fork, begin, wait, end and lease; the ledger is never locked under it. A task that was forked lies in
//! the plan and nowhere else. Tasks that come from outside, or go to a place or a mailbox, are unknown to the plan until they begin, behind all others.

use super::error::{Holder, Holders, LeaseError, Size};
use super::memory::Memory;
use crate::job::{Header, Task};
use crate::options::{BuildError, Options};
use crate::pool::PoolInner;
use crate::scope::ScopeCore;
use crate::sleep::wake;
use crate::trace::recorder;
use crate::worker::Event;
use crate::worker::WorkerThread;
use crate::worker::wait::{self, Awaited};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::panic::Location;
use std::sync::Arc;
use tidegate_policy::Rng;
use tidegate_policy::show_size;
use tidegate_policy::space::book::{self, Answer, Book, Until};
use tidegate_policy::space::plan::Next;
use tidegate_policy::trace::{Orders, StreamRecorder};
use tidegate_sync::seed;
use tidegate_sync::stderr::print_line;

/// The plan, and what its names stand for.
pub(crate) struct Ordered {
    plan: Orders<Task, Option<RefCell<StreamRecorder>>>,
    /// By the address of a task: from the fork until it begins, for a half until its joiner goes on.
    tasks: ByAddress<book::Task>,
    /// By the address of a scope: from its first task to its end.
    scopes: ByAddress<book::Scope>,
    /// By thread: what it waits for that is asleep; the innermost last.
    asleep: Vec<Vec<Arc<Event>>>,
    /// By thread: what its tasks ask for that are not answered; the innermost last.
    asks: Vec<Vec<(u64, &'static Location<'static>)>>,
    /// By the number of the lease: how much, and who has asked.
    leases: Vec<Option<(u64, &'static Location<'static>)>>,
    /// For choices of who asks.
    rng: Rng,
    /// A thread on which all wait has found nothing to begin, and nothing has changed since.
    in_vain: bool,
    /// The same before the latest turn.
    was_in_vain: bool,
}

type ByAddress<T> = HashMap<usize, T, BuildHasherDefault<Scatter>>;

/// Hashes addresses, which nobody chooses to our harm.
#[derive(Default)]
struct Scatter(u64);

impl Hasher for Scatter {
    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, word: usize) {
        // The golden ratio: close addresses end up far from each other.
        self.0 = (self.0 ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        // The table looks at both ends.
        self.0 ^ self.0 >> 32
    }
}

/// A place in a list that grows as needed.
fn place<T: Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize_with(at + 1, T::default);
    }
    &mut list[at]
}

fn address<T>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

impl Ordered {
    /// That of a pool with these options, if its policy keeps the order.
    pub(super) fn of(options: &Options) -> Option<Self> {
        let &Options { space, workers, .. } = options;
        let notes = recorder(options).map(RefCell::new);
        Some(Self {
            plan: Orders::new(space, workers, notes)?,
            tasks: HashMap::default(),
            scopes: HashMap::default(),
            asleep: vec![],
            asks: vec![],
            leases: vec![],
            rng: Rng::new(seed::worker_seed(workers)),
            in_vain: false,
            was_in_vain: false,
        })
    }

    /// Where the plan's notes are, if it takes any.
    pub(super) fn notes(&self) -> Option<&RefCell<StreamRecorder>> {
        self.plan.recorder().as_ref()
    }

    pub(super) fn book(&self) -> &Book {
        self.plan.book()
    }

    pub(super) fn give_back(&mut self, thread: Option<usize>, lease: book::Lease, bytes: u64) {
        self.leases[lease.index()] = None;
        self.plan.give_back(thread, lease, bytes);
    }

    /// Thread `t` has forked a task.
    fn put(&mut self, t: usize, task: Task) {
        let header = address(task.header());
        let name = if task.header().latch.is_half() {
            self.plan.half(t, task)
        } else if let Some(scope) = task.scope().map(address) {
            let plan = &mut self.plan;
            let scope = *self.scopes.entry(scope).or_insert_with(|| plan.open());
            self.plan.spawn(t, scope, task)
        } else {
            self.plan.detached(t, task)
        };
        self.tasks.insert(header, name);
    }

    /// Thread `t` goes to sleep until the plan names it.
    fn sleeps(&mut self, t: usize) -> Arc<Event> {
        let event = Arc::new(Event::for_this_thread());
        place(&mut self.asleep, t).push(event.clone());
        event
    }

    /// What thread `t` sleeps on.
    fn wakes(&mut self, t: usize) -> Arc<Event> {
        let event = place(&mut self.asleep, t).pop();
        event.expect("the plan wakes who sleeps")
    }

    /// Who holds what, by the place in the source.
    fn holders(&self) -> Vec<Holder> {
        let mut holders: Vec<Holder> = vec![];
        for (bytes, at) in self.leases.iter().flatten() {
            if let Some(holder) = holders.iter_mut().find(|holder| holder.at == *at) {
                holder.bytes = holder.bytes.saturating_add(*bytes);
                holder.leases += 1;
            } else {
                holders.push(Holder {
                    at,
                    bytes: *bytes,
                    leases: 1,
                });
            }
        }
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.bytes));
        holders
    }

    fn refusal(&self, bytes: u64) -> LeaseError {
        let (budget, serial) = self.book().budget();
        LeaseError::Refused {
            bytes,
            budget,
            serial,
            declared: self.book().declared(),
            holders: self.holders(),
        }
    }
}

impl Memory {
    /// How many slots there are now.
    pub(crate) fn set_workers(&self, workers: usize) {
        if let Some(mut ordered) = self.ordered() {
            ordered.plan.set_workers(workers);
            // Whoever changes the number of slots looks for somebody to wake afterwards.
            let _ = self.mirror_plan(&mut ordered);
        }
    }

    /// Mirrors what the plan has. Whether there was nothing to do before and now is.
    fn mirror_plan(&self, ordered: &mut Ordered) -> bool {
        self.mirror_waiters(ordered.in_vain, ordered.plan.has_parked());
        self.mirror(ordered.plan.has_work(), ordered.plan.unstarted())
    }
}

/// Changes the plan, if the pool has one, and wakes whoever has been answered by that.
pub(super) fn with_ordered<R>(
    pool: &PoolInner,
    change: impl FnOnce(&mut Ordered) -> R,
) -> Option<R> {
    let (result, rises) = change_plan(pool, change)?;
    if rises {
        // What nobody was to begin before has no other publisher.
        wake::work_visible(pool, None);
    }
    Some(result)
}

/// The same for a caller who makes visible what it has put there. Also, whether there is work now and was none before.
fn change_plan<R>(pool: &PoolInner, change: impl FnOnce(&mut Ordered) -> R) -> Option<(R, bool)> {
    if pool.is_inherited() {
        // Somebody may have held the lock who is not here.
        return None;
    }
    let mut ordered = pool.memory.ordered()?;
    ordered.was_in_vain = std::mem::replace(&mut ordered.in_vain, false);
    let result = change(&mut ordered);
    let mut answered = vec![];
    while let Some(t) = ordered.plan.settle() {
        answered.push(ordered.wakes(t));
    }
    let rises = pool.memory.mirror_plan(&mut ordered);
    drop(ordered);
    // Whoever has changed the plan may be in the middle of a task, and keeps its slot.
    answered.iter().for_each(Event::open_owed);
    Some((result, rises))
}

/// A task of the scope will come that the plan does not know: from outside, or by a place or a mailbox.
pub(crate) fn expect_planned(pool: &PoolInner, scope: &ScopeCore) {
    if pool.is_inherited() {
        return;
    }
    // Nobody is answered by it, and the caller may have the ledger.
    if let Some(mut ordered) = pool.memory.ordered() {
        let Ordered { plan, scopes, .. } = &mut *ordered;
        let scope = scopes.entry(address(scope));
        let scope = *scope.or_insert_with(|| plan.open());
        plan.expect(scope);
    }
}

/// The scope is over.
pub(crate) fn close_planned(pool: &PoolInner, scope: &ScopeCore) {
    if pool.memory.is_ordered() {
        with_ordered(pool, |ordered| {
            if let Some(scope) = ordered.scopes.remove(&address(scope)) {
                ordered.plan.close(scope);
            }
        });
    }
}

pub(crate) fn set_budget(pool: &PoolInner, bytes: usize) -> Result<(), BuildError> {
    let bytes = bytes as u64;
    let set = with_ordered(pool, |ordered| {
        let (_, serial) = ordered.plan.budget()?;
        Some(if bytes < serial {
            Err(serial)
        } else {
            ordered.plan.set_budget(bytes);
            Ok(())
        })
    });
    match set.flatten() {
        Some(Ok(())) => Ok(()),
        Some(Err(serial)) => Err(BuildError::new(format!(
            "Pool::set_budget: {} is less than what the serial run needs; allowed: from {} on",
            show_size(bytes),
            show_size(serial)
        ))),
        None => Err(BuildError::new(
            "Pool::set_budget: the pool has no budget; allowed: for a pool with Space::Budget"
                .into(),
        )),
    }
}

/// The same for this worker, and nothing where the pool has no plan.
fn plan<R>(worker: WorkerThread<'_>, change: impl FnOnce(&mut Ordered) -> R) -> Option<R> {
    worker.shared().memory.is_ordered().then_some(())?;
    with_ordered(worker.shared(), change)
}

/// This worker has forked these tasks. If so many come before what it runs that it has to leave its slot to one of them, what it is to wait for.
pub(crate) fn put_planned(
    worker: WorkerThread<'_>,
    tasks: impl Iterator<Item = Task>,
) -> Option<Arc<Event>> {
    let gives_way = change_plan(worker.shared(), |ordered| {
        let moved = tasks.map(|task| ordered.put(worker.index, task)).count();
        let gives_way = moved > 0 && ordered.plan.gives_way(worker.index);
        gives_way.then(|| ordered.sleeps(worker.index))
    });
    gives_way?.0
}

/// What this worker, which has no frames, is to do.
pub(crate) fn take_planned(
    worker: WorkerThread<'_>,
    mut draw: impl FnMut(usize) -> usize,
) -> Option<Task> {
    while worker.shared().memory.has_work() {
        let next = plan(worker, |ordered| {
            let next = ordered.plan.next(worker.index, &mut draw);
            follow(ordered, next?)
        });
        match next.flatten()? {
            Step::Again if is_wanted(worker) => return None,
            Step::Again => {}
            step => return go(worker, step),
        }
    }
    None
}

/// Whether this worker, which looks again and again, has something else to do.
fn is_wanted(worker: WorkerThread<'_>) -> bool {
    worker.inbox.len() > 0 || worker.is_called() || worker.shared().is_ending()
}

/// What this worker, which waits as all others do, is to do.
pub(crate) fn take_leftmost(worker: WorkerThread<'_>) -> Option<Task> {
    if !worker.shared().memory.has_work() {
        return None;
    }
    let next = plan(worker, |ordered| {
        let next = ordered.plan.rescue(worker.index);
        ordered.in_vain = next.is_none();
        follow(ordered, next?)
    });
    go(worker, next.flatten()?)
}

/// Gives this worker's slot, which no thread without frames can use, to the first parked task; that may be its own.
pub(crate) fn resume_parked(worker: WorkerThread<'_>) {
    if worker.shared().memory.has_parked() {
        let next = plan(worker, |ordered| {
            let next = ordered.plan.resume_parked();
            follow(ordered, next?)
        });
        let _ = next.flatten().and_then(|step| go(worker, step));
    }
}

/// A task of the scope that this worker waits for, if that is what comes next.
pub(crate) fn take_planned_of(worker: WorkerThread<'_>, scope: &ScopeCore) -> Option<Task> {
    if worker.shared().memory.unstarted() == 0 {
        return None;
    }
    let task = plan(worker, |ordered| {
        ordered.in_vain = ordered.was_in_vain;
        let scope = *ordered.scopes.get(&address(scope))?;
        let task = ordered.plan.next_of(worker.index, scope);
        ordered.in_vain = ordered.was_in_vain && task.is_none();
        task
    });
    task.flatten()
}

/// Takes a half back that nobody has begun.
pub(crate) fn take_back_planned(worker: WorkerThread<'_>, half: &Header) -> bool {
    let taken = plan(worker, |ordered| {
        let name = *ordered.tasks.get(&address(half))?;
        let task = ordered.plan.take_back(name)?;
        ordered.tasks.remove(&address(half));
        Some(task)
    });
    taken.flatten().is_some()
}

/// A task begins here that was taken from somewhere.
pub(crate) fn plan_begins(worker: WorkerThread<'_>, task: &Task) {
    plan(worker, |ordered| {
        let (is_half, header) = (task.header().latch.is_half(), address(task.header()));
        let known = if is_half {
            ordered.tasks.contains_key(&header)
        } else {
            ordered.tasks.remove(&header).is_some()
        };
        if known {
            return;
        }
        let scope = task.scope().map(address);
        let scope = scope.and_then(|scope| ordered.scopes.get(&scope).copied());
        match scope {
            Some(scope) => ordered.plan.stranger_in(worker.index, scope),
            None => ordered.plan.stranger(worker.index),
        };
    });
}

/// The topmost task of this worker has ended; whoever waits for it has yet to be told.
pub(crate) fn plan_ends(worker: WorkerThread<'_>) {
    plan(worker, |ordered| ordered.plan.end(worker.index));
}

/// This worker has no frames any more.
pub(crate) fn plan_leaves(worker: WorkerThread<'_>) {
    plan(worker, |ordered| ordered.plan.leave(worker.index));
}

/// The topmost task of this worker gives its slot away and goes on without one, or has one again.
pub(crate) fn plan_blocks(worker: WorkerThread<'_>, blocks: bool) {
    plan(worker, |ordered| ordered.plan.blocks(worker.index, blocks));
}

/// The topmost task of this worker waits.
pub(crate) fn plan_waits(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    plan(worker, |ordered| {
        let half = |half| ordered.tasks.get(&address(half)).copied().map(Until::Half);
        let scope = |scope| {
            ordered
                .scopes
                .get(&address(scope))
                .copied()
                .map(Until::Scope)
        };
        let until = match awaited {
            Awaited::Half(header) | Awaited::HalfUnwinding(header) => half(header),
            Awaited::Scope(core) => scope(core),
            Awaited::Outside(_) => None,
            // The request says so.
            Awaited::Memory(_) => return,
        };
        ordered
            .plan
            .waits(worker.index, until.unwrap_or(Until::Else));
    });
}

/// What it has waited for has happened.
pub(crate) fn plan_goes_on(worker: WorkerThread<'_>, awaited: Awaited<'_>) {
    plan(worker, |ordered| {
        ordered.plan.goes_on(worker.index);
        if let Awaited::Half(half) | Awaited::HalfUnwinding(half) = awaited {
            if let Some(name) = ordered.tasks.remove(&address(half)) {
                ordered.plan.joined(name);
            }
        }
    });
}

/// Asks for so many bytes, and waits until they are granted or refused.
pub(super) fn ask(
    worker: WorkerThread<'_>,
    bytes: u64,
    at: &'static Location<'static>,
) -> Result<book::Lease, LeaseError> {
    let granted = |ordered: &mut Ordered, answer| match answer {
        Answer::Granted(lease) => {
            *place(&mut ordered.leases, lease.index()) = Some((bytes, at));
            Ok(Ok(lease))
        }
        Answer::Refused => Ok(Err(ordered.refusal(bytes))),
        Answer::Later => {
            place(&mut ordered.asks, worker.index).push((bytes, at));
            Err(ordered.sleeps(worker.index))
        }
    };
    let asked = plan(worker, |ordered| {
        let Ordered { plan, rng, .. } = &mut *ordered;
        let draw = |many: usize| rng.below(many as u64) as usize;
        let answer = plan.ask(worker.index, bytes, draw);
        granted(ordered, answer)
    });
    let event = match asked.expect("a pool with a plan") {
        Ok(answered) => return answered,
        Err(event) => event,
    };
    worker.shared().memory.count_sleep();
    wait::until(worker, Awaited::Memory(&event));
    let answered = plan(worker, |ordered| {
        ordered.asks[worker.index].pop();
        let answer = ordered.plan.answer(worker.index).expect("why it was woken");
        granted(ordered, answer)
    });
    let answered = answered.expect("a pool with a plan");
    answered.unwrap_or_else(|_| unreachable!("it was answered"))
}

/// This worker has waited for memory for long.
pub(crate) fn report_stall(worker: WorkerThread<'_>) {
    let pool = &worker.shared().options.name;
    let seen = plan(worker, |ordered| {
        ordered.in_vain = ordered.was_in_vain;
        let (budget, _) = ordered.plan.budget()?;
        let asks = *ordered.asks.get(worker.index)?.last()?;
        Some((asks, ordered.book().declared(), budget, ordered.holders()))
    });
    if let Some(((bytes, at), declared, budget, holders)) = seen.flatten() {
        print_line(format_args!(
            "pool {pool}: a task waits for memory: for {} at {at}, and {} of {} are declared; {}",
            Size(bytes),
            Size(declared),
            Size(budget),
            Holders(&holders)
        ));
    }
}

/// What the plan has chosen, and under its lock whom to wake for that.
fn follow(ordered: &mut Ordered, next: Next<Task>) -> Option<Step> {
    Some(match next {
        Next::Start(task, victim) => Step::Start(task, victim),
        Next::Resume(t) => Step::Wake(ordered.wakes(t)),
        Next::Again => Step::Again,
    })
}

fn go(worker: WorkerThread<'_>, step: Step) -> Option<Task> {
    match step {
        Step::Start(task, victim) => {
            if let Some(victim) = victim {
                worker.count_steal(worker.shared().worker(victim), 1);
            }
            Some(task)
        }
        Step::Wake(event) => {
            // This worker has nothing to do: its slot goes along.
            event.open_kept();
            None
        }
        Step::Again => None,
    }
}

/// What a worker does next.
enum Step {
    Start(Task, Option<usize>),
    Wake(Arc<Event>),
    /// Looks again.
    Again,
}
