//! The book of a pool whose declared memory has a hard limit.
//!
//! The book knows every task from its fork to its end, in depth-first order, and every reservation.
//! docs/memory.md explains the budget and the reserve, and why no task waits forever. The book
//! suspends and wakes no task. If a request is not granted at once, [`Book::settle`] returns its
//! task later; the caller must call `settle` after each change until it returns `None`.

mod budget;
mod duties;
mod ids;

pub use ids::{Reservation, Scope, Task};

use super::order::{Item, Order};
use super::slab::Slab;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The end of a half that the task has forked.
    Half(Task),
    /// The end of all tasks of a scope.
    Scope(Scope),
    /// Something unknown to the book. The wait lasts until [`Book::go_on`].
    Else,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The task has the memory.
    Granted(Reservation),
    /// The task must sleep until [`Book::settle`] returns it.
    Later,
    /// The request does not fit, and no task is left that could give anything back.
    Refused,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unstarted,
    Runs,
    Waits(Until),
    Asks(u64),
    /// The task has ended, but some of the tasks that it forked have not.
    Gone,
}

#[derive(Clone, Debug)]
struct Entry {
    state: State,
    /// Another task runs on top of this task, on the same stack. Until that task ends, this one
    /// cannot resume.
    buried: bool,
    /// The task has given up its slot. As far as the book knows, it computes without one.
    blocks: bool,
    /// The task's place in the order: the present one, or where it will begin. The joiner of a half
    /// takes the half's place when both have reached the end of the join.
    item: Option<Item>,
    parent: Option<Task>,
    /// The scope into which the task was spawned; `None` for a half.
    scope: Option<Scope>,
    /// A moment of the parent: what the parent did up to then comes before this task. For a half,
    /// this is the end of the join, and [`UNDER_WAY`] until the join has ended.
    at: u64,
    /// The task's present moment: the number of its spawns and joins so far.
    moment: u64,
    /// The number of the root from which this task descends. If a task of a scope and the task that
    /// waits for the scope have different roots, they are unrelated, and the waiting task comes
    /// first.
    root: u64,
    /// The number of entries whose parent is this one. For a half, its joiner counts as well, until
    /// [`Book::forget`].
    children: u32,
    /// The exclusive or of the numbers of those child entries. When all but one have been dropped,
    /// this is the number of the last one.
    their_names: u32,
    reservations: Vec<Reservation>,
}

impl Entry {
    /// Whether it is known which part of the parent comes before this task: the task was spawned,
    /// or is a half that has been joined.
    fn has_moment(&self) -> bool {
        self.scope.is_some() || self.at != UNDER_WAY
    }
}

#[derive(Clone, Copy, Debug)]
struct Held {
    holder: Option<Task>,
    /// The holder's moment at which the reservation was made.
    at: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct Members {
    live: usize,
    /// The number of live tasks that have not begun and are unknown until they do.
    unseen: usize,
    /// The number of the other live tasks, by root.
    seen: BTreeMap<u64, usize>,
    waiter: Option<Task>,
}

impl Members {
    fn come(&mut self, root: u64) {
        *self.seen.entry(root).or_default() += 1;
    }

    fn go(&mut self, root: u64) {
        self.live -= 1;
        if let Some(count) = self.seen.get_mut(&root) {
            *count -= 1;
            if *count == 0 {
                self.seen.remove(&root);
            }
        }
    }

    /// Whether the scope has tasks, seen or unseen, of roots other than this one.
    fn has_unrelated_to(&self, root: u64) -> bool {
        self.live > self.seen.get(&root).copied().unwrap_or(0)
    }
}

/// Later than any moment of a task.
const UNDER_WAY: u64 = u64::MAX;

/// The book; see the module.
#[derive(Clone, Debug)]
pub struct Book {
    budget: u64,
    /// The limit in force: the budget or, after the budget was lowered, the old budget for a while.
    /// It falls to the new budget once that has room for the reserve and for what tasks outside the
    /// leftmost path hold.
    ceiling: u64,
    serial: u64,
    declared: u64,
    peak: u64,
    order: Order,
    /// The task of each item of the order.
    owners: Vec<Task>,
    tasks: Slab<Entry>,
    scopes: Slab<Members>,
    reservations: Slab<Held>,
    asking: Vec<Task>,
    running: usize,
    /// The number of roots so far.
    roots: u64,
    /// The number of absent tasks. `away` counts those that will resume no matter what other tasks
    /// do, as far as the book knows.
    absent: usize,
    away: usize,
}

impl Book {
    /// Creates a book for `budget` bytes, of which the serial run needs `serial`.
    #[must_use]
    pub fn new(budget: u64, serial: u64) -> Self {
        Self {
            budget,
            ceiling: budget,
            serial,
            declared: 0,
            peak: 0,
            order: Order::new(),
            owners: vec![],
            tasks: Slab::new(),
            scopes: Slab::new(),
            reservations: Slab::new(),
            asking: vec![],
            running: 0,
            roots: 0,
            absent: 0,
            away: 0,
        }
    }

    /// Adds a task that no task has forked. It comes after all others.
    pub fn root(&mut self) -> Task {
        let item = self.order.push_last();
        self.enter(item, None, None)
    }

    /// Like [`root`](Self::root), but for a task of a scope that [`expect`](Self::expect)s it.
    pub fn root_in(&mut self, scope: Scope) -> Task {
        let item = self.order.push_last();
        let task = self.enter(item, None, Some(scope));
        let root = self.tasks[task.0].root;
        assert!(self.scopes[scope.0].unseen > 0, "the scope expects it");
        self.see(scope, |members| {
            members.unseen -= 1;
            members.come(root);
        });
        task
    }

    /// Announces a task of the scope. Nothing else is known of the task until
    /// [`root_in`](Self::root_in) adds it.
    pub fn expect(&mut self, scope: Scope) {
        self.see(scope, |members| {
            members.live += 1;
            members.unseen += 1;
        });
    }

    /// Changes what is known of a scope, and updates the counts: the scope's waiter may become
    /// absent, or stop being absent.
    fn see(&mut self, scope: Scope, change: impl FnOnce(&mut Members)) {
        let waiter = self.scopes[scope.0].waiter;
        let before = waiter.map(|waiter| self.presence(waiter));
        change(&mut self.scopes[scope.0]);
        if let (Some(waiter), Some(before)) = (waiter, before) {
            self.count(waiter, before);
        }
    }

    /// Adds the second half of a join of this task.
    pub fn half(&mut self, of: Task) -> Task {
        let item = self.order.insert_after(self.place(of));
        self.enter(item, Some(of), None)
    }

    /// Adds a task that this one spawns into a scope.
    pub fn spawn(&mut self, of: Task, scope: Scope) -> Task {
        let item = self.order.insert_before(self.place(of));
        let task = self.enter(item, Some(of), Some(scope));
        self.tasks[of.0].moment += 1;
        let root = self.tasks[task.0].root;
        self.see(scope, |members| {
            members.live += 1;
            members.come(root);
        });
        task
    }

    /// Opens a scope without tasks.
    pub fn open(&mut self) -> Scope {
        Scope(self.scopes.put(Members::default()))
    }

    /// Closes a scope whose tasks have all ended.
    pub fn close(&mut self, scope: Scope) {
        debug_assert_eq!(self.scopes[scope.0].live, 0);
        self.scopes.take(scope.0);
    }

    /// Records that the task begins.
    pub fn begin(&mut self, task: Task) {
        debug_assert_eq!(self.tasks[task.0].state, State::Unstarted);
        self.change(task, State::Runs);
    }

    /// Records that the task waits for something. If that is [`Until::Else`], the task waits until
    /// [`go_on`](Self::go_on).
    pub fn wait(&mut self, task: Task, until: Until) {
        match until {
            Until::Half(half) => {
                if self.tasks[half.0].state != State::Gone {
                    self.change(task, State::Waits(until));
                    // The task takes the half's place when the half has ended.
                    self.leave(task);
                }
            }
            Until::Scope(scope) if self.scopes[scope.0].live > 0 => {
                self.scopes[scope.0].waiter = Some(task);
                self.change(task, State::Waits(until));
            }
            Until::Scope(_) | Until::Else => self.change(task, State::Waits(Until::Else)),
        }
    }

    /// The number of tasks, including those that have ended but are kept because of tasks that they
    /// forked.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.tasks.len()
    }

    /// Records that the task resumes, because what it waited for has happened. This is not needed
    /// if the task waits for a half: the book knows when the half ends.
    pub fn go_on(&mut self, task: Task) {
        if self.tasks[task.0].state == State::Waits(Until::Else) {
            self.change(task, State::Runs);
        }
    }

    /// Records that another task begins or ends on top of this task, on the same stack.
    pub fn set_buried(&mut self, task: Task, buried: bool) {
        let before = self.presence(task);
        self.tasks[task.0].buried = buried;
        self.count(task, before);
    }

    /// Records that the task gives up its slot and computes without one, or that it has a slot
    /// again.
    pub fn set_blocks(&mut self, task: Task, blocks: bool) {
        let before = self.presence(task);
        self.tasks[task.0].blocks = blocks;
        self.count(task, before);
    }

    /// Whether the task waits for a half or a scope that has not ended.
    #[must_use]
    pub fn waits(&self, task: Task) -> bool {
        let state = self.tasks[task.0].state;
        matches!(state, State::Waits(Until::Half(_) | Until::Scope(_)))
    }

    /// Whether the task has asked for memory and has no answer yet.
    #[must_use]
    pub fn asks(&self, task: Task) -> bool {
        matches!(self.tasks[task.0].state, State::Asks(_))
    }

    /// Whether the task has not begun.
    #[must_use]
    pub fn is_unstarted(&self, task: Task) -> bool {
        self.tasks[task.0].state == State::Unstarted
    }

    /// The number of tasks that [run](Self::runs).
    #[must_use]
    pub fn running(&self) -> usize {
        self.running
    }

    /// Whether the task has begun, neither waits nor asks, is not buried, and computes with a slot.
    #[must_use]
    pub fn runs(&self, task: Task) -> bool {
        let entry = &self.tasks[task.0];
        entry.state == State::Runs && !entry.buried && !entry.blocks
    }

    /// The task that forked this half; `None` if this is not a half, or is unknown.
    pub(crate) fn joiner(&self, half: Task) -> Option<Task> {
        let entry = self.tasks.get(half.0)?;
        entry.parent.filter(|_| entry.scope.is_none())
    }

    /// The scope into which the task was spawned; `None` for a half.
    #[must_use]
    pub fn scope(&self, task: Task) -> Option<Scope> {
        self.tasks[task.0].scope
    }

    /// A key that sorts tasks in depth-first order, valid until a task is added or removed. A task
    /// that waits for a half has no place and sorts last.
    #[must_use]
    pub fn rank(&self, task: Task) -> (u64, u64) {
        self.item(task)
            .map_or((u64::MAX, u64::MAX), |item| self.order.rank(item))
    }

    /// The task's place in the order, if any.
    pub(super) fn item(&self, task: Task) -> Option<Item> {
        self.tasks[task.0].item
    }

    pub(super) fn order(&self) -> &Order {
        &self.order
    }

    /// All tasks that have a place, in depth-first order.
    pub fn in_order(&self) -> impl Iterator<Item = Task> + '_ {
        let first = self.order.first();
        let items = core::iter::successors(first, |item| self.order.next(*item));
        items.map(|item| self.owners[item.index()])
    }

    /// Records that the task has ended. Once all tasks that it forked have ended as well, the
    /// task's parent takes over its reservations. The number of a half is not reused until
    /// [`forget`](Self::forget).
    pub fn end(&mut self, task: Task) {
        self.change(task, State::Gone);
        let Entry { scope, root, .. } = self.tasks[task.0];
        let joiner = self.joiner(task);
        if joiner.is_none() {
            self.leave(task);
        }
        if let Some(scope) = scope {
            self.see(scope, |members| members.go(root));
            let members = &mut self.scopes[scope.0];
            let waiter = members.waiter.filter(|_| members.live == 0);
            if let Some(waiter) = waiter {
                members.waiter = None;
                // The scope may have tasks that the book does not know of.
                self.change(waiter, State::Waits(Until::Else));
            }
        }
        if let Some(joiner) = joiner {
            if self.tasks[joiner.0].state == State::Waits(Until::Half(task)) {
                self.come_to(joiner, task);
                self.change(joiner, State::Runs);
            }
        }
        self.drop_gone(task);
    }

    /// Records that the joiner of a half that has ended resumes. The half's number may then be
    /// reused.
    pub fn forget(&mut self, half: Task) {
        let entry = &mut self.tasks[half.0];
        entry.children -= 1;
        if let Some(joiner) = entry.parent {
            self.come_to(joiner, half);
            let joiner = &mut self.tasks[joiner.0];
            let now = joiner.moment;
            joiner.moment += 1;
            self.tasks[half.0].at = now;
        }
        self.drop_gone(half);
    }

    fn enter(&mut self, item: Item, parent: Option<Task>, scope: Option<Scope>) -> Task {
        let root = match parent {
            Some(parent) => self.tasks[parent.0].root,
            None => {
                self.roots += 1;
                self.roots
            }
        };
        let entry = Entry {
            state: State::Unstarted,
            buried: false,
            blocks: false,
            item: Some(item),
            parent,
            scope,
            at: match (parent, scope) {
                (Some(parent), Some(_)) => self.tasks[parent.0].moment,
                _ => UNDER_WAY,
            },
            moment: 0,
            root,
            // The joiner of a half will ask whether the half has ended, so it keeps the half's
            // entry.
            children: u32::from(parent.is_some() && scope.is_none()),
            their_names: 0,
            reservations: vec![],
        };
        let task = Task(self.tasks.put(entry));
        if item.index() == self.owners.len() {
            self.owners.push(task);
        } else {
            self.owners[item.index()] = task;
        }
        if let Some(parent) = parent {
            let parent = &mut self.tasks[parent.0];
            parent.children += 1;
            parent.their_names ^= task.0;
        }
        task
    }

    fn place(&self, task: Task) -> Item {
        self.tasks[task.0].item.expect("it has not ended")
    }

    /// Removes a task from the order.
    fn leave(&mut self, task: Task) {
        if let Some(item) = self.tasks[task.0].item.take() {
            self.order.remove(item);
        }
    }

    /// Gives the joiner the place of its half, which comes after all remaining tasks that the half
    /// forked.
    fn come_to(&mut self, joiner: Task, half: Task) {
        let Some(item) = self.tasks[half.0].item.take() else {
            return;
        };
        self.leave(joiner);
        self.owners[item.index()] = joiner;
        self.tasks[joiner.0].item = Some(item);
    }

    /// Drops the entry of a task that has ended, holds no reservation and has only one child left.
    /// The child then counts as forked by the task's parent. So a chain of spawns does not keep an
    /// entry for each link. With two children left, the order between them would be lost.
    fn step_aside(&mut self, task: Task) {
        let entry = &self.tasks[task.0];
        let is_done = entry.state == State::Gone && entry.reservations.is_empty();
        if !(is_done && entry.has_moment() && entry.children == 1) {
            return;
        }
        if !self.tasks[entry.their_names].has_moment() {
            return;
        }
        let Entry {
            parent,
            at,
            their_names: heir,
            ..
        } = self.tasks.take(task.0);
        (self.tasks[heir].parent, self.tasks[heir].at) = (parent, at);
        if let Some(parent) = parent {
            self.tasks[parent.0].their_names ^= task.0 ^ heir;
        }
    }

    /// Drops the entry of a task that has ended if all tasks that it forked have ended as well,
    /// then does the same with its ancestors. Each parent takes over the reservations of the
    /// dropped entry.
    fn drop_gone(&mut self, task: Task) {
        let mut next = Some(task);
        while let Some(task) = next {
            let entry = &self.tasks[task.0];
            if entry.state != State::Gone || entry.children > 0 {
                return self.step_aside(task);
            }
            let entry = self.tasks.take(task.0);
            for reservation in &entry.reservations {
                let held = &mut self.reservations[reservation.0];
                (held.holder, held.at) = (entry.parent, entry.at);
            }
            if let Some(parent) = entry.parent {
                let parent = &mut self.tasks[parent.0];
                parent.reservations.extend(entry.reservations);
                parent.children -= 1;
                parent.their_names ^= task.0;
            }
            next = entry.parent;
        }
    }

    fn change(&mut self, task: Task, state: State) {
        let before = self.presence(task);
        self.tasks[task.0].state = state;
        self.count(task, before);
    }

    /// Whether the task runs, whether it is absent, and whether it will resume no matter what other
    /// tasks do, as far as the book knows.
    fn presence(&self, task: Task) -> [bool; 3] {
        let Entry { state, buried, .. } = self.tasks[task.0];
        let is_absent = self.is_absent(task);
        let for_known = match state {
            State::Waits(Until::Scope(scope)) => self.scopes[scope.0].unseen == 0,
            _ => false,
        };
        [
            self.runs(task),
            is_absent,
            is_absent && !buried && !for_known,
        ]
    }

    /// Updates the counts after a task has changed; `before` is its presence before the change.
    fn count(&mut self, task: Task, before: [bool; 3]) {
        let now = self.presence(task);
        let counts = [&mut self.running, &mut self.absent, &mut self.away];
        for (count, (now, before)) in counts.into_iter().zip(now.into_iter().zip(before)) {
            *count = *count + usize::from(now) - usize::from(before);
        }
    }
}
