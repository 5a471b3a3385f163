//! Threads with deques, the leftmost first.
//!
//! A thread stands where its first task does: the first of its deque, or the one that runs on its stack. The order of tasks is a list whose ranks change
//! now and then, but never the order of two; so a thread is found by the rank that its task has now. Whoever moves that task, or takes it out of the order,
//! takes the thread out of the line before and puts it back afterwards.

use super::{Plan, Rule, Thread};
use crate::memory::order::{Item, Order};
use alloc::vec::Vec;

/// Where a thread stands, and whether it has something for others: tasks, or a parked one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stand {
    item: Item,
    gives: bool,
}

/// The line, by position.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    threads: Vec<u32>,
    items: Vec<Item>,
    gives: Vec<bool>,
}

/// Flags are counted so many at a time.
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

    /// A thread stands where another task of it is, or has something for others, or not.
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

    /// Of the first `count` threads those that have something for others; else the first of all that has.
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

    /// All threads in line.
    pub(super) fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        self.threads.iter().map(|thread| *thread as usize)
    }
}

/// Threads that have something for others.
pub(super) struct Givers<'a> {
    line: &'a Line,
    count: usize,
    beyond: Option<usize>,
}

impl Givers<'_> {
    pub(super) fn len(&self) -> usize {
        self.count + usize::from(self.beyond.is_some())
    }

    /// The one that comes after so many.
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
    /// The thread leaves the line: its task is about to move.
    pub(super) fn lift(&mut self, thread: usize) {
        if let Some(stand) = self.thread(thread).stand.take() {
            self.line.remove(thread, stand, self.book.order());
        }
    }

    /// Something has changed on the thread: it stands in line where it belongs.
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
