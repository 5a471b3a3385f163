//! Who runs what, in a pool whose policy for memory keeps the depth-first order: depth-first, DFDeques, and the hard budget.
//!
//! A *thread* here is a stack of tasks, of which the topmost runs, waits, asks for memory, or is *parked*: it could go on, and has left its slot to
//! somebody who comes before it. The plan knows all tasks from fork to end and says what a free slot is to be used for. What order, quotas and steps
//! mean is argued in docs/memory.md. It puts nobody to sleep and wakes nobody; [`Plan::settle`] names whom to wake.

mod choice;
mod command;
mod duties;
mod line;

use super::book::{Answer, Book, Reservation, Scope, Task, Until};
use super::form::MemoryPolicy;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
pub use command::{Command, Reply};
use line::{Line, Stand};

/// How a plan chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// As DFDeques, without quotas; memory is what the book's budget says.
    Budget,
    /// The leftmost tasks run. A request above `k` bytes sits out a step for each `k` of it.
    DepthFirst { k: u64 },
    /// The leftmost deques are robbed. From one theft to the next a thread may be granted `k` bytes.
    DfDeques { k: u64 },
}

/// What a free slot is to be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// This task begins on the thread that has the slot; it lay in the deque of another one, if one is named.
    Start(T, Option<usize>),
    /// This thread, which is parked, goes on.
    Resume(usize),
    /// A step that comes before a large request: the slot may look again.
    Again,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    stack: Vec<Task>,
    /// What its tasks have forked and nobody has begun, in depth-first order.
    deque: VecDeque<Task>,
    /// What it was granted since its last theft and has not given back.
    used: u64,
    /// Where it stands in the line, if it does.
    stand: Option<Stand>,
}

/// What the plan knows of a task beyond the book.
#[derive(Clone, Debug)]
struct Note<T> {
    /// The number of its fork and the caller's name for it, until it begins.
    payload: Option<(u64, T)>,
    /// In whose deque it lies, or on whose stack.
    thread: usize,
    parked: Option<Parked>,
    answer: Option<Answer>,
}

/// Why a task is parked.
#[derive(Clone, Copy, Debug)]
struct Parked {
    /// It wants so much.
    bytes: Option<u64>,
    /// So many slots look at it and go away first, as if they had run dummy tasks that come before it.
    rounds: u64,
}

/// The plan.
#[derive(Clone, Debug)]
pub struct Plan<T> {
    rule: Rule,
    book: Book,
    workers: usize,
    threads: Vec<Thread>,
    /// The threads with deques; empty under a rule that has no use for it.
    line: Line,
    /// By the number of the task.
    notes: Vec<Option<Note<T>>>,
    unstarted: usize,
    parked: usize,
    /// How many tasks were forked so far.
    forks: u64,
    /// The number of the fork of the task that was begun or taken back last.
    last_taken: u64,
}

impl<T> Plan<T> {
    /// For so many slots, if the policy keeps the order.
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

    /// How many slots there are now.
    pub fn set_workers(&mut self, workers: usize) {
        self.workers = workers;
    }

    /// The tasks, their order and their reservations.
    #[must_use]
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// The budget, if there is one, and what of it is kept for the leftmost path.
    #[must_use]
    pub fn budget(&self) -> Option<(u64, u64)> {
        (self.rule == Rule::Budget).then(|| self.book.budget())
    }

    /// From now on so much may be declared.
    pub fn set_budget(&mut self, bytes: u64) {
        debug_assert_eq!(self.rule, Rule::Budget);
        self.book.set_budget(bytes);
    }

    /// How many tasks lie here that nobody has begun.
    #[must_use]
    pub fn unstarted(&self) -> usize {
        self.unstarted
    }

    /// The number of the fork of the task that was begun or taken back last.
    pub(crate) fn last_taken(&self) -> u64 {
        self.last_taken
    }

    /// The topmost task of a thread; one that begins here, behind all others, if it has none.
    pub fn here(&mut self, thread: usize) -> Task {
        let top = self.thread(thread).stack.last().copied();
        top.unwrap_or_else(|| self.stranger(thread))
    }

    /// A task that nobody of the plan has forked begins on this thread, behind all others.
    pub fn stranger(&mut self, thread: usize) -> Task {
        let task = self.book.root();
        self.arrives(thread, task)
    }

    /// The same for a task of a scope, which [`expect`](Self::expect)s it.
    pub fn stranger_in(&mut self, thread: usize, scope: Scope) -> Task {
        let task = self.book.root_in(scope);
        self.arrives(thread, task)
    }

    /// A task of the scope will begin that is unknown until then.
    pub fn expect(&mut self, scope: Scope) {
        self.book.expect(scope);
    }

    fn arrives(&mut self, thread: usize, task: Task) -> Task {
        self.note(task, None, thread);
        self.start(thread, task);
        task
    }

    /// Whether no task of this thread is under way, and none that it has forked lies there.
    #[must_use]
    pub fn is_free(&self, thread: usize) -> bool {
        let thread = self.threads.get(thread);
        thread.is_none_or(|thread| thread.stack.is_empty() && thread.deque.is_empty())
    }

    /// A task that nobody's end waits for, forked by this thread.
    pub fn detached(&mut self, thread: usize, payload: T) -> Task {
        let task = self.book.root();
        self.put(thread, task, payload);
        task
    }

    /// The second half of a join of the thread's topmost task.
    pub fn half(&mut self, thread: usize, payload: T) -> Task {
        let here = self.here(thread);
        let task = self.book.half(here);
        self.put(thread, task, payload);
        task
    }

    /// A task that the thread's topmost one spawns into a scope.
    pub fn spawn(&mut self, thread: usize, scope: Scope, payload: T) -> Task {
        let here = self.here(thread);
        let task = self.book.spawn(here, scope);
        self.put(thread, task, payload);
        task
    }

    /// A new scope, without tasks.
    pub fn open(&mut self) -> Scope {
        self.book.open()
    }

    /// A scope of which all tasks have ended.
    pub fn close(&mut self, scope: Scope) {
        self.book.close(scope);
    }

    /// The joiner has come to its half: if nobody has begun that, it does.
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

    /// Whether a task is parked.
    #[must_use]
    pub fn has_parked(&self) -> bool {
        self.parked > 0
    }

    /// The thread's topmost task gives its slot away and goes on without one, or has one again.
    pub fn blocks(&mut self, thread: usize, blocks: bool) {
        let here = self.here(thread);
        self.book.set_blocks(here, blocks);
        self.place(thread);
    }

    /// The thread's topmost task waits.
    pub fn waits(&mut self, thread: usize, until: Until) {
        let here = self.here(thread);
        // It may have no place in the order meanwhile.
        self.lift(thread);
        self.book.wait(here, until);
        self.place(thread);
    }

    /// What it has waited for has happened.
    pub fn goes_on(&mut self, thread: usize) {
        let here = self.here(thread);
        self.book.go_on(here);
        self.place(thread);
    }

    /// A half that another thread has run has ended, and its joiner goes on.
    pub fn joined(&mut self, half: Task) {
        self.move_joiner(half, |book| book.forget(half));
    }

    /// The joiner comes to where the half was.
    fn move_joiner(&mut self, half: Task, come: impl FnOnce(&mut Book)) {
        let joiner = self.thread_of_joiner(half);
        joiner.inspect(|thread| self.lift(*thread));
        come(&mut self.book);
        joiner.inspect(|thread| self.place(*thread));
    }

    /// On whose stack the joiner of a half is.
    fn thread_of_joiner(&self, half: Task) -> Option<usize> {
        let note = self.notes.get(self.book.joiner(half)?.index())?;
        Some(note.as_ref()?.thread)
    }

    /// The thread's topmost task has ended.
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
        // If it has waited for this it goes on.
        joiner.inspect(|thread| self.place(*thread));
    }

    /// The thread has no frames any more.
    pub fn leave(&mut self, thread: usize) {
        while !self.thread(thread).stack.is_empty() {
            self.end(thread);
        }
    }

    /// The thread's topmost task asks for so many bytes. If that is for later, [`answer`](Self::answer) tells when it is woken. `draw` chooses one of so many.
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

    /// What has become of the thread's request, once.
    pub fn answer(&mut self, thread: usize) -> Option<Answer> {
        let here = self.here(thread);
        self.note_of(here).answer.take()
    }

    /// A reservation of so many bytes is over; by a thread of the plan, if by one.
    pub fn give_back(&mut self, thread: Option<usize>, reservation: Reservation, bytes: u64) {
        if let Some(thread) = thread {
            let used = &mut self.thread(thread).used;
            *used = used.saturating_sub(bytes);
        }
        self.book.give_back(reservation);
    }

    /// A thread that was answered meanwhile and is to be woken. To be asked after each change until there is none.
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

    /// The task begins on a thread.
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

    /// The task, which was just forked, lies where others find it.
    fn put(&mut self, thread: usize, task: Task, payload: T) {
        self.forks += 1;
        self.note(task, Some((self.forks, payload)), thread);
        self.unstarted += 1;
        if matches!(self.rule, Rule::DepthFirst { .. }) {
            return;
        }
        let deque = &mut self.threads[thread].deque;
        let comes_before = |other: &Task| self.book.rank(*other) < self.book.rank(task);
        // A half comes first; what is spawned one after the other last.
        if !deque.front().is_some_and(comes_before) {
            deque.push_front(task);
        } else if deque.back().is_some_and(comes_before) {
            deque.push_back(task);
        } else {
            deque.insert(deque.partition_point(comes_before), task);
        }
        self.place(thread);
    }

    /// The task lies there no more.
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
        // Nobody but the thread has use for the place meanwhile.
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
