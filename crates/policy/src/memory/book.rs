//! The book: the tasks and memory reservations of a pool that keeps the depth-first order of its
//! tasks, with an optional hard limit on declared memory.
//!
//! It holds every task from its fork to its end, in depth-first order, and every reservation.
//! docs/memory.md explains the budget and the reserve, and why no task waits forever. The book does
//! not suspend or wake tasks itself. If a request is not granted at once, [`Book::settle`] later
//! returns the task that made it; the caller must call `settle` after each change until it returns
//! `None`.

mod budget;
#[cfg(feature = "replay")]
mod duties;
mod ids;

pub use ids::{Reservation, Scope, Task};

use super::order::{Item, Order};
use super::slab::Slab;
use alloc::vec;
use alloc::vec::Vec;

/// What a task waits for, as far as the book knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The end of the second half of a join that the task has forked.
    Half(Task),
    /// The end of all tasks of this scope.
    Scope(Scope),
    /// Something unknown to the book. The wait lasts until [`Book::go_on`].
    Else,
}

/// The answer to a task's request for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The memory is granted; this reservation holds it.
    Granted(Reservation),
    /// The task must sleep until [`Book::settle`] returns it.
    Later,
    /// The request does not fit, and no other task is left that could give memory back.
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
    /// Another task runs on top of this task, on the same stack. Until that task ends, this task
    /// cannot resume.
    buried: bool,
    /// The task has given up its slot and, as far as the book knows, computes without one.
    blocks: bool,
    /// The task's place in the depth-first order: where it is now, or where it will begin. When the
    /// two halves of a join have ended, the joiner takes the second half's place. `None` while the
    /// task has no place.
    item: Option<Item>,
    parent: Option<Task>,
    /// The scope into which the task was spawned, or `None` for the second half of a join.
    scope: Option<Scope>,
    /// The parent's `moment` when it spawned this task or, for the second half of a join, when the
    /// join ended ([`UNDER_WAY`] until then). In the serial run, everything that the parent did up
    /// to that moment comes before this task.
    at: u64,
    /// The number of spawns and joins that the task has done so far, which serves as its clock.
    moment: u64,
    /// The number of the root from which this task descends. If a task of a scope and the task that
    /// waits for the scope have different roots, they are unrelated, and the waiting task comes
    /// first in the order.
    root: u64,
    /// The number of entries whose `parent` is this task. The second half of a join also counts its
    /// joiner, until [`Book::forget`].
    children: u32,
    /// The exclusive or of the numbers of all child entries. If only one child is left, this is the
    /// number of that child.
    their_names: u32,
    reservations: Vec<Reservation>,
}

impl Entry {
    /// Whether the book knows which of the parent's actions come before this task. It does if the
    /// task was spawned, or is the second half of a join that has ended.
    fn has_moment(&self) -> bool {
        self.scope.is_some() || self.at != UNDER_WAY
    }
}

#[derive(Clone, Copy, Debug)]
struct Held {
    holder: Option<Task>,
    /// The holder's `moment` when the reservation was made.
    at: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct Members {
    live: usize,
    /// The number of live tasks that were announced with [`Book::expect`] but are not in the book
    /// yet.
    unseen: usize,
    /// The roots that have live tasks in the book, in ascending order, each with their number.
    seen: Vec<(u64, usize)>,
    waiter: Option<Task>,
}

impl Members {
    fn find(&self, root: u64) -> Result<usize, usize> {
        self.seen.binary_search_by_key(&root, |seen| seen.0)
    }

    fn come(&mut self, root: u64) {
        match self.find(root) {
            Ok(at) => self.seen[at].1 += 1,
            Err(at) => self.seen.insert(at, (root, 1)),
        }
    }

    fn go(&mut self, root: u64) {
        self.live -= 1;
        if let Ok(at) = self.find(root) {
            self.seen[at].1 -= 1;
            if self.seen[at].1 == 0 {
                self.seen.remove(at);
            }
        }
    }

    /// Whether the scope has live tasks whose root is not `root`, including tasks not yet in the
    /// book.
    fn has_unrelated_to(&self, root: u64) -> bool {
        self.live > self.find(root).map_or(0, |at| self.seen[at].1)
    }
}

/// The value of [`Entry::at`] while a join is under way: later than any moment of a task.
const UNDER_WAY: u64 = u64::MAX;

/// The tasks and reservations of a pool; see the [module](self).
#[derive(Clone, Debug)]
pub struct Book {
    budget: u64,
    /// The limit in force. It equals the budget, except after the budget was lowered. The old
    /// budget then stays in force until the reserve, and what tasks outside the leftmost path hold,
    /// fit under the new budget.
    ceiling: u64,
    serial: u64,
    declared: u64,
    peak: u64,
    order: Order,
    /// The task at each item of `order`, by [`Item::index`].
    owners: Vec<Task>,
    tasks: Slab<Entry>,
    scopes: Slab<Members>,
    reservations: Slab<Held>,
    /// The tasks that wait for memory, in depth-first order, in which no two of them change places.
    asking: Vec<Task>,
    running: usize,
    roots: u64,
    /// The number of absent tasks; see [`Book::is_absent`].
    absent: usize,
    /// The number of absent tasks that, as far as the book knows, will resume no matter what other
    /// tasks do.
    away: usize,
}

impl Book {
    /// Creates a book with a budget of `budget` bytes, of which the serial run needs `serial`.
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

    /// Adds a task that no other task has forked. It comes last in the depth-first order.
    pub fn root(&mut self) -> Task {
        let item = self.order.push_last();
        self.enter(item, None, None)
    }

    /// Like [`root`](Self::root), but for a task of a scope that was announced with
    /// [`expect`](Self::expect).
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

    /// Announces a task of the scope, for instance one from another pool. The book learns nothing
    /// else about the task until [`root_in`](Self::root_in) adds it.
    pub fn expect(&mut self, scope: Scope) {
        self.see(scope, |members| {
            members.live += 1;
            members.unseen += 1;
        });
    }

    /// Changes a scope's members, and updates the counts of running and absent tasks: the scope's
    /// waiter may become absent, or stop being absent.
    fn see(&mut self, scope: Scope, change: impl FnOnce(&mut Members)) {
        let waiter = self.scopes[scope.0].waiter;
        let before = waiter.map(|waiter| self.presence(waiter));
        change(&mut self.scopes[scope.0]);
        if let (Some(waiter), Some(before)) = (waiter, before) {
            self.count(waiter, before);
        }
    }

    /// Adds the second half of a join in task `of`.
    pub fn half(&mut self, of: Task) -> Task {
        let item = self.order.insert_after(self.place(of));
        self.enter(item, Some(of), None)
    }

    /// Adds a task that `of` spawns into a scope.
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

    /// Records that a task begins.
    pub fn begin(&mut self, task: Task) {
        debug_assert_eq!(self.tasks[task.0].state, State::Unstarted);
        self.change(task, State::Runs);
    }

    /// Records that a task starts to wait. With [`Until::Else`], it waits until
    /// [`go_on`](Self::go_on).
    pub fn wait(&mut self, task: Task, until: Until) {
        match until {
            Until::Half(half) => {
                if self.tasks[half.0].state != State::Gone {
                    self.change(task, State::Waits(until));
                    // Remove the task from the order: it takes the half's place when the half has
                    // ended.
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

    /// The number of tasks in the book, including ended tasks whose forked tasks are still alive.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.tasks.len()
    }

    /// Records that a task resumes, because what it waited for has happened. Not needed if the task
    /// waits for the second half of a join: the book knows when that half ends.
    pub fn go_on(&mut self, task: Task) {
        if self.tasks[task.0].state == State::Waits(Until::Else) {
            self.change(task, State::Runs);
        }
    }

    /// Records whether another task now runs on top of this task, on the same stack.
    pub fn set_buried(&mut self, task: Task, buried: bool) {
        let before = self.presence(task);
        self.tasks[task.0].buried = buried;
        self.count(task, before);
    }

    /// Records whether the task computes without a slot, because it has given up its slot.
    pub fn set_blocks(&mut self, task: Task, blocks: bool) {
        let before = self.presence(task);
        self.tasks[task.0].blocks = blocks;
        self.count(task, before);
    }

    /// Whether the task waits for a scope or the second half of a join, as far as the book knows.
    #[must_use]
    pub fn waits(&self, task: Task) -> bool {
        let state = self.tasks[task.0].state;
        matches!(state, State::Waits(Until::Half(_) | Until::Scope(_)))
    }

    /// Whether the task has requested memory and has no answer yet.
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

    /// Whether the task computes with a slot: it has begun and not ended, neither waits nor
    /// requests memory, and is not buried.
    #[must_use]
    pub fn runs(&self, task: Task) -> bool {
        let entry = &self.tasks[task.0];
        entry.state == State::Runs && !entry.buried && !entry.blocks
    }

    /// Returns the task that forked this second half of a join. `None` if `half` is not a second
    /// half or is not in the book.
    pub(crate) fn joiner(&self, half: Task) -> Option<Task> {
        let entry = self.tasks.get(half.0)?;
        entry.parent.filter(|_| entry.scope.is_none())
    }

    /// Returns the scope into which the task was spawned, or `None` for the second half of a join.
    #[must_use]
    pub fn scope(&self, task: Task) -> Option<Scope> {
        self.tasks[task.0].scope
    }

    /// Returns a key that sorts tasks in depth-first order, valid until a task is added or removed.
    /// A task that waits for the second half of a join has no place in the order and sorts last.
    #[must_use]
    pub fn rank(&self, task: Task) -> (u64, u64) {
        self.item(task)
            .map_or((u64::MAX, u64::MAX), |item| self.order.rank(item))
    }

    pub(super) fn item(&self, task: Task) -> Option<Item> {
        self.tasks[task.0].item
    }

    pub(super) fn order(&self) -> &Order {
        &self.order
    }

    /// Returns all tasks that have a place in the depth-first order, leftmost first.
    pub fn in_order(&self) -> impl Iterator<Item = Task> + '_ {
        let first = self.order.first();
        let items = core::iter::successors(first, |item| self.order.next(*item));
        items.map(|item| self.owners[item.index()])
    }

    /// Records that a task has ended. Once all tasks that it forked have ended as well, the task's
    /// parent takes over its reservations. If the task is the second half of a join, its number is
    /// not reused until [`forget`](Self::forget).
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
                // The waiter stays absent until it resumes: the scope may have tasks that are not
                // in the book.
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

    /// Records that a joiner resumes after the second half of its join has ended. The half's number
    /// may then be reused.
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
            // The joiner of a second half will check whether that half has ended, so the joiner
            // keeps the half's entry alive.
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

    /// Removes the task from the depth-first order.
    fn leave(&mut self, task: Task) {
        if let Some(item) = self.tasks[task.0].item.take() {
            self.order.remove(item);
        }
    }

    /// Moves the joiner to the place of its second half, which comes after all remaining tasks that
    /// the half forked.
    fn come_to(&mut self, joiner: Task, half: Task) {
        let Some(item) = self.tasks[half.0].item.take() else {
            return;
        };
        self.leave(joiner);
        self.owners[item.index()] = joiner;
        self.tasks[joiner.0].item = Some(item);
    }

    /// Drops the entry of a task that has ended, holds no reservations and has only one child left.
    /// The task's parent becomes the child's parent, so that a chain of spawns does not keep an
    /// entry for each link. If two children are left, the entry stays, because it records the order
    /// between them.
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
    /// then does the same for its ancestors. The parent of each dropped task takes over its
    /// reservations.
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

    /// Returns what the book knows about the task: whether it runs, whether it is absent, and
    /// whether it is absent but will resume no matter what other tasks do.
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

    /// Updates the counts after a change to a task whose presence was `before`.
    fn count(&mut self, task: Task, before: [bool; 3]) {
        let now = self.presence(task);
        let change = |count: &mut usize, at: usize| {
            *count = *count + usize::from(now[at]) - usize::from(before[at]);
        };
        change(&mut self.running, 0);
        change(&mut self.absent, 1);
        change(&mut self.away, 2);
    }
}
