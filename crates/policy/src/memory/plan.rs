//! Decides which thread runs which task in a pool whose memory policy keeps the depth-first order:
//! depth-first, DFDeques, or the hard budget.
//!
//! A *thread* here is a stack of tasks. The topmost task runs, waits, asks for memory, or is
//! *parked*: it could continue, but has left its slot to a task that comes before it. The plan
//! holds all tasks from fork to end, and decides how to use a free slot. docs/memory.md explains
//! order, quotas and steps. The plan does not suspend or wake threads itself; [`Plan::settle`]
//! returns the threads to wake.

mod choice;
mod command;
#[cfg(feature = "replay")]
mod duties;
mod line;

use super::book::{Answer, Book, Reservation, Scope, Task, Until};
use super::form::MemoryPolicy;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
pub use command::{Command, Reply};
use line::{Line, Stand};

/// How a plan chooses the next task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Like DFDeques, but without quotas; the book's budget limits memory.
    Budget,
    /// The leftmost tasks run. A request above `k` bytes waits one step for each `k` bytes.
    DepthFirst { k: u64 },
    /// Thieves steal from the leftmost deques. From one steal to the next, a thread may be granted
    /// `k` bytes.
    DfDeques { k: u64 },
}

/// How to use a free slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// Begin this task on the thread that has the slot. If the second field names a thread, the
    /// task comes from that thread's deque.
    Start(T, Option<usize>),
    /// Resume this parked thread.
    Resume(usize),
    /// Look for work again: a parked task has now waited one more of its steps.
    Again,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    stack: Vec<Task>,
    /// The unstarted tasks that were forked on this thread, in depth-first order.
    deque: VecDeque<Task>,
    /// The bytes that the thread was granted since its last steal and has not given back.
    used: u64,
    /// The thread's position in the plan's `line`, or `None` if the line does not contain the
    /// thread.
    stand: Option<Stand>,
}

/// What the plan knows about a task, in addition to what the book knows.
#[derive(Clone, Debug)]
struct Note<T> {
    /// The number of the task's fork and the caller's value for the task. `None` once the task has
    /// begun.
    payload: Option<(u64, T)>,
    /// The thread that has the task in its deque or on its stack.
    thread: usize,
    parked: Option<Parked>,
    answer: Option<Answer>,
}

/// Why a task is parked.
#[derive(Clone, Copy, Debug)]
struct Parked {
    /// The size of the task's request, or `None` if it was parked for another reason.
    bytes: Option<u64>,
    /// How many more times a free slot must find the task and skip it before the task resumes. Each
    /// skip stands for a dummy task that would run before this task.
    rounds: u64,
}

/// The scheduler of a pool whose memory policy keeps the depth-first order; see the [module](self).
#[derive(Clone, Debug)]
pub struct Plan<T> {
    rule: Rule,
    book: Book,
    workers: usize,
    threads: Vec<Thread>,
    /// The threads that have deques. Empty under depth-first, which uses no deques.
    line: Line,
    /// What the plan knows about each task, indexed by [`Task::index`].
    notes: Vec<Option<Note<T>>>,
    unstarted: usize,
    parked: usize,
    forks: u64,
    last_taken: u64,
}

impl<T> Plan<T> {
    /// Creates a plan for `workers` slots. Returns `None` if the policy keeps no depth-first order.
    #[must_use]
    pub fn new(memory: MemoryPolicy, workers: usize) -> Option<Self> {
        let unlimited = || Book::new(u64::MAX, 0);
        let (rule, book) = match memory {
            MemoryPolicy::None | MemoryPolicy::Hybrid(_) => return None,
            MemoryPolicy::DepthFirst(policy) => {
                (Rule::DepthFirst { k: policy.k as u64 }, unlimited())
            }
            MemoryPolicy::DfDeques(policy) => (Rule::DfDeques { k: policy.k as u64 }, unlimited()),
            MemoryPolicy::Budget(policy) => (
                Rule::Budget,
                Book::new(policy.bytes as u64, policy.serial as u64),
            ),
        };
        Some(Self {
            rule,
            book,
            workers,
            threads: vec![],
            line: Line::default(),
            notes: vec![],
            unstarted: 0,
            parked: 0,
            forks: 0,
            last_taken: 0,
        })
    }

    /// Sets the number of slots.
    pub fn set_workers(&mut self, workers: usize) {
        self.workers = workers;
    }

    /// Returns the book, which has the tasks, their order and their reservations.
    #[must_use]
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// Returns the budget, and the part of it that is reserved for the leftmost path, in bytes.
    /// `None` without a budget.
    #[must_use]
    pub fn budget(&self) -> Option<(u64, u64)> {
        (self.rule == Rule::Budget).then(|| self.book.budget())
    }

    /// Sets the budget in bytes.
    pub fn set_budget(&mut self, bytes: u64) {
        debug_assert_eq!(self.rule, Rule::Budget);
        self.book.set_budget(bytes);
    }

    /// The number of tasks that have not begun.
    #[must_use]
    pub fn unstarted(&self) -> usize {
        self.unstarted
    }

    /// The fork number of the task that was taken last, either to begin it or to take it back.
    pub(crate) fn last_taken(&self) -> u64 {
        self.last_taken
    }

    /// Returns the thread's topmost task. If the thread has none, begins an unrelated task on it.
    pub fn here(&mut self, thread: usize) -> Task {
        let top = self.thread(thread).stack.last().copied();
        top.unwrap_or_else(|| self.begin_unrelated(thread))
    }

    /// Begins a task on this thread that no task of the plan has forked. It comes last in the
    /// depth-first order.
    pub fn begin_unrelated(&mut self, thread: usize) -> Task {
        let task = self.book.root();
        self.arrives(thread, task)
    }

    /// Like [`begin_unrelated`](Self::begin_unrelated), but for a task of a scope that was
    /// announced with [`expect`](Self::expect).
    pub fn begin_unrelated_in(&mut self, thread: usize, scope: Scope) -> Task {
        let task = self.book.root_in(scope);
        self.arrives(thread, task)
    }

    /// Announces a task of the scope, about which nothing else is known until it begins.
    pub fn expect(&mut self, scope: Scope) {
        self.book.expect(scope);
    }

    fn arrives(&mut self, thread: usize, task: Task) -> Task {
        self.note(task, None, thread);
        self.start(thread, task);
        task
    }

    /// Whether the thread has no task in progress and no task in its deque.
    #[must_use]
    pub fn is_free(&self, thread: usize) -> bool {
        let thread = self.threads.get(thread);
        thread.is_none_or(|thread| thread.stack.is_empty() && thread.deque.is_empty())
    }

    /// Forks a task that no other task waits for.
    pub fn detached(&mut self, thread: usize, payload: T) -> Task {
        let task = self.book.root();
        self.put(thread, task, payload);
        task
    }

    /// Forks the second half of a join in the thread's topmost task.
    pub fn half(&mut self, thread: usize, payload: T) -> Task {
        let here = self.here(thread);
        let task = self.book.half(here);
        self.put(thread, task, payload);
        task
    }

    /// Spawns a task into a scope, from the thread's topmost task.
    pub fn spawn(&mut self, thread: usize, scope: Scope, payload: T) -> Task {
        let here = self.here(thread);
        let task = self.book.spawn(here, scope);
        self.put(thread, task, payload);
        task
    }

    /// Opens a scope without tasks.
    pub fn open(&mut self) -> Scope {
        self.book.open()
    }

    /// Closes a scope whose tasks have all ended.
    pub fn close(&mut self, scope: Scope) {
        self.book.close(scope);
    }

    /// Called when a joiner reaches the second half of its join. If that half has not begun,
    /// returns its payload, which the joiner must run.
    pub fn take_back(&mut self, half: Task) -> Option<T> {
        if !self.book.is_unstarted(half) {
            return None;
        }
        let payload = self.take(half);
        self.move_joiner(half, |book| {
            book.end(half);
            book.forget(half);
        });
        self.notes[half.index()] = None;
        Some(payload)
    }

    /// Whether any task is parked.
    #[must_use]
    pub fn has_parked(&self) -> bool {
        self.parked > 0
    }

    /// Records whether the thread's topmost task computes without a slot, because it has given up
    /// its slot.
    pub fn blocks(&mut self, thread: usize, blocks: bool) {
        let here = self.here(thread);
        self.book.set_blocks(here, blocks);
        self.place(thread);
    }

    /// Records that the thread's topmost task starts to wait.
    pub fn waits(&mut self, thread: usize, until: Until) {
        let here = self.here(thread);
        // Must come first: `wait` may remove the task from the order.
        self.lift(thread);
        self.book.wait(here, until);
        self.place(thread);
    }

    /// Records that what the thread's topmost task waited for has happened.
    pub fn goes_on(&mut self, thread: usize) {
        let here = self.here(thread);
        self.book.go_on(here);
        self.place(thread);
    }

    /// Records that a joiner resumes after the second half of its join, which another thread ran,
    /// has ended.
    pub fn joined(&mut self, half: Task) {
        self.move_joiner(half, |book| book.forget(half));
    }

    /// Moves the joiner to the place of its second half, both in `line` and, by calling `come`, in
    /// the book.
    fn move_joiner(&mut self, half: Task, come: impl FnOnce(&mut Book)) {
        let joiner = self.thread_of_joiner(half);
        joiner.inspect(|thread| self.lift(*thread));
        come(&mut self.book);
        joiner.inspect(|thread| self.place(*thread));
    }

    /// Returns the thread that has the joiner of `half` on its stack.
    fn thread_of_joiner(&self, half: Task) -> Option<usize> {
        let note = self.notes.get(self.book.joiner(half)?.index())?;
        Some(note.as_ref()?.thread)
    }

    /// Records that the thread's topmost task has ended.
    pub fn end(&mut self, thread: usize) {
        let Some(task) = self.thread(thread).stack.pop() else {
            return;
        };
        self.notes[task.index()] = None;
        self.lift(thread);
        let joiner = self.thread_of_joiner(task);
        self.book.end(task);
        if let Some(below) = self.threads[thread].stack.last().copied() {
            self.book.set_buried(below, false);
            self.parked += usize::from(self.is_parked(below));
        }
        self.place(thread);
        // If the joiner waited for this task, it has resumed and has a place in the order again.
        joiner.inspect(|thread| self.place(*thread));
    }

    /// Ends all tasks of a thread that has no frames left.
    pub fn leave(&mut self, thread: usize) {
        while !self.thread(thread).stack.is_empty() {
            self.end(thread);
        }
    }

    /// Requests `bytes` bytes for the thread's topmost task. If the result is `Later`, the thread
    /// must sleep; after it is woken, [`answer`](Self::answer) returns the final answer. `draw(n)`
    /// chooses a number below `n`.
    pub fn ask(&mut self, thread: usize, bytes: u64, draw: impl FnMut(usize) -> usize) -> Answer {
        let here = self.here(thread);
        let used = self.threads[thread].used.saturating_add(bytes);
        let (is_too_much, k) = match self.rule {
            Rule::Budget => (false, 1),
            Rule::DepthFirst { k } => (bytes > k, k),
            Rule::DfDeques { k } => (used > k, k),
        };
        if !is_too_much {
            self.threads[thread].used = used;
            let answer = self.book.ask(here, bytes);
            self.place(thread);
            return answer;
        }
        let parked = Parked {
            bytes: Some(bytes),
            rounds: if bytes > k { bytes / k } else { 0 },
        };
        self.park(here, parked);
        self.look_after(thread, draw)
    }

    /// Takes the answer to the thread's request, or returns `None` if there is no answer yet.
    pub fn answer(&mut self, thread: usize) -> Option<Answer> {
        let here = self.here(thread);
        self.note_of(here).answer.take()
    }

    /// Ends a reservation of `bytes` bytes. `thread` is the thread that gives it back, or `None`
    /// for a thread that is not in the plan.
    pub fn give_back(&mut self, thread: Option<usize>, reservation: Reservation, bytes: u64) {
        if let Some(thread) = thread {
            let used = &mut self.thread(thread).used;
            *used = used.saturating_sub(bytes);
        }
        self.book.give_back(reservation);
    }

    /// Returns a thread that must be woken because its request has been answered. The caller must
    /// call this after each change to the plan until it returns `None`.
    pub fn settle(&mut self) -> Option<usize> {
        let (task, answer) = self.book.settle()?;
        let note = self.note_of(task);
        note.answer = Some(answer);
        let thread = note.thread;
        self.place(thread);
        Some(thread)
    }

    fn is_parked(&self, task: Task) -> bool {
        let note = self.notes[task.index()].as_ref();
        note.is_some_and(|note| note.parked.is_some()) && self.book.runs(task)
    }

    fn park(&mut self, task: Task, parked: Parked) {
        let note = self.note_of(task);
        note.parked = Some(parked);
        let thread = note.thread;
        self.parked += 1;
        self.place(thread);
    }

    fn resume(&mut self, task: Task) -> Next<T> {
        let note = self.note_of(task);
        let thread = note.thread;
        let parked = note.parked.take().expect("a task that is parked");
        self.parked -= 1;
        self.threads[thread].used = 0;
        if let Some(bytes) = parked.bytes {
            self.threads[thread].used = bytes;
            let answer = self.book.ask(task, bytes);
            self.note_of(task).answer = Some(answer);
        }
        self.place(thread);
        Next::Resume(thread)
    }

    fn begin(&mut self, thread: usize, task: Task) -> T {
        let payload = self.take(task);
        self.note_of(task).thread = thread;
        self.start(thread, task);
        payload
    }

    fn start(&mut self, thread: usize, task: Task) {
        self.book.begin(task);
        if let Some(below) = self.thread(thread).stack.last().copied() {
            self.parked -= usize::from(self.is_parked(below));
            self.book.set_buried(below, true);
        }
        self.threads[thread].stack.push(task);
        self.place(thread);
    }

    /// Stores a task that was just forked so that other threads can find it.
    fn put(&mut self, thread: usize, task: Task, payload: T) {
        self.forks += 1;
        self.note(task, Some((self.forks, payload)), thread);
        self.unstarted += 1;
        if matches!(self.rule, Rule::DepthFirst { .. }) {
            return;
        }
        let deque = &mut self.threads[thread].deque;
        let comes_before = |other: &Task| self.book.rank(*other) < self.book.rank(task);
        // A new second half usually comes first in the deque, and a new spawned task last.
        if !deque.front().is_some_and(comes_before) {
            deque.push_front(task);
        } else if deque.back().is_some_and(comes_before) {
            deque.push_back(task);
        } else {
            deque.insert(deque.partition_point(comes_before), task);
        }
        self.place(thread);
    }

    /// Removes an unstarted task, so that no other thread can find it, and returns its payload.
    fn take(&mut self, task: Task) -> T {
        self.unstarted -= 1;
        let note = self.note_of(task);
        let (payload, thread) = (note.payload.take(), note.thread);
        if !matches!(self.rule, Rule::DepthFirst { .. }) {
            let deque = &mut self.threads[thread].deque;
            let comes_before = |other: &Task| self.book.rank(*other) < self.book.rank(task);
            let at = if deque.front() == Some(&task) {
                0
            } else if deque.back() == Some(&task) {
                deque.len() - 1
            } else {
                deque.partition_point(comes_before)
            };
            let removed = deque.remove(at);
            debug_assert_eq!(removed, Some(task));
            self.place(thread);
        }
        let (fork, payload) = payload.expect("a task that has not begun");
        self.last_taken = fork;
        payload
    }

    fn note(&mut self, task: Task, payload: Option<(u64, T)>, thread: usize) {
        let note = Note {
            payload,
            thread,
            parked: None,
            answer: None,
        };
        // Create the thread's entry if it is missing. Only that thread itself relies on the entry.
        self.thread(thread);
        if self.notes.len() <= task.index() {
            self.notes.resize_with(task.index() + 1, || None);
        }
        self.notes[task.index()] = Some(note);
    }

    fn note_of(&mut self, task: Task) -> &mut Note<T> {
        let note = self.notes[task.index()].as_mut();
        note.expect("a task that has not ended")
    }

    fn thread(&mut self, number: usize) -> &mut Thread {
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, Thread::default);
        }
        &mut self.threads[number]
    }
}
