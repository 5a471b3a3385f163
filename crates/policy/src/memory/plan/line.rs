//! The threads that have deques, leftmost first.
//!
//! A thread's position is that of its first task in depth-first order: the first task in its deque,
//! or the task that runs on its stack. The ranks of tasks may change, but the order of two tasks
//! never does. So the line finds a thread by the current rank of its first task. Before that task
//! moves or leaves the order, the thread must be removed from the line, and put back afterwards.

use super::{Plan, Rule, Thread};
use crate::memory::order::{Item, Order};
use alloc::vec::Vec;

/// The position of a thread in the line, and whether the thread has a parked task or tasks for
/// other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stand {
    item: Item,
    gives: bool,
}

/// The threads that have deques, as parallel lists indexed by position.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    threads: Vec<u32>,
    items: Vec<Item>,
    gives: Vec<bool>,
}

/// The number of `gives` flags that a search counts at once.
const CHUNK: usize = 64;

fn count(gives: &[bool]) -> usize {
    gives.iter().map(|gives| usize::from(*gives)).sum()
}

impl Line {
    fn place_of(&self, item: Item, order: &Order) -> usize {
        let rank = order.rank(item);
        let comes_before = |other: &Item| order.rank(*other) < rank;
        self.items.partition_point(comes_before)
    }

    fn insert(&mut self, thread: usize, stand: Stand, order: &Order) {
        let at = self.place_of(stand.item, order);
        self.threads.insert(at, thread as u32);
        self.items.insert(at, stand.item);
        self.gives.insert(at, stand.gives);
    }

    fn remove(&mut self, thread: usize, stand: Stand, order: &Order) {
        let at = self.place_of(stand.item, order);
        debug_assert_eq!(self.threads[at], thread as u32);
        self.threads.remove(at);
        self.items.remove(at);
        self.gives.remove(at);
    }

    /// Updates a thread whose first task has changed, or that has gained or lost tasks for other
    /// threads.
    fn change(&mut self, thread: usize, from: Stand, to: Stand, order: &Order) {
        let at = self.place_of(from.item, order);
        let rank = order.rank(to.item);
        let is_behind = |before: usize| order.rank(self.items[before]) < rank;
        let is_before = |after: &Item| rank < order.rank(*after);
        let stays =
            at.checked_sub(1).is_none_or(is_behind) && self.items.get(at + 1).is_none_or(is_before);
        if stays {
            self.items[at] = to.item;
            self.gives[at] = to.gives;
        } else {
            self.remove(thread, from, order);
            self.insert(thread, to, order);
        }
    }

    /// Among the first `first` threads, returns those with tasks for other threads. If there are
    /// none, returns the first such thread further right.
    pub(super) fn givers(&self, first: usize) -> Givers<'_> {
        let (leftmost, others) = self.gives.split_at(first.min(self.gives.len()));
        let found = count(leftmost);
        let beyond = || Some(leftmost.len() + others.iter().position(|gives| *gives)?);
        Givers {
            line: self,
            count: found,
            beyond: if found == 0 { beyond() } else { None },
        }
    }

    fn thread(&self, at: usize) -> usize {
        self.threads[at] as usize
    }

    pub(super) fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        self.threads.iter().map(|thread| *thread as usize)
    }
}

/// Threads that have tasks for other threads.
pub(super) struct Givers<'a> {
    line: &'a Line,
    count: usize,
    beyond: Option<usize>,
}

impl Givers<'_> {
    pub(super) fn len(&self) -> usize {
        self.count + usize::from(self.beyond.is_some())
    }

    pub(super) fn nth(&self, mut nth: usize) -> Option<usize> {
        if nth >= self.len() {
            return None;
        }
        if let Some(at) = self.beyond {
            return Some(self.line.thread(at));
        }
        for (number, chunk) in self.line.gives.chunks(CHUNK).enumerate() {
            let here = count(chunk);
            if nth < here {
                let mut givers = (0..chunk.len()).filter(|at| chunk[*at]);
                return Some(self.line.thread(number * CHUNK + givers.nth(nth)?));
            }
            nth -= here;
        }
        None
    }
}

impl<T> Plan<T> {
    /// Removes the thread from the line, because its first task is about to move.
    pub(super) fn lift(&mut self, thread: usize) {
        if let Some(stand) = self.thread(thread).stand.take() {
            self.line.remove(thread, stand, self.book.order());
        }
    }

    /// Puts the thread at its position in the line, after a change.
    pub(super) fn place(&mut self, thread: usize) {
        if matches!(self.rule, Rule::DepthFirst { .. }) {
            return;
        }
        let stand = self.stand_of(thread);
        let before = core::mem::replace(&mut self.threads[thread].stand, stand);
        let order = self.book.order();
        match (before, stand) {
            _ if before == stand => {}
            (Some(before), Some(stand)) => self.line.change(thread, before, stand, order),
            (Some(before), None) => self.line.remove(thread, before, order),
            (None, Some(stand)) => self.line.insert(thread, stand, order),
            (None, None) => {}
        }
    }

    fn stand_of(&self, thread: usize) -> Option<Stand> {
        let Thread { stack, deque, .. } = &self.threads[thread];
        let top = stack.last().copied().filter(|top| self.book.runs(*top));
        let all = deque.front().copied().into_iter().chain(top);
        let items = all.filter_map(|task| self.book.item(task));
        let item = items.min_by_key(|item| self.book.order().rank(*item))?;
        let gives = !deque.is_empty() || top.is_some_and(|top| self.is_parked(top));
        Some(Stand { item, gives })
    }
}
