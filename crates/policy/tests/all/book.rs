//! Runs random programs under a budget. They must end and stay within the budget, no matter in
//! which order their tasks run.

use crate::programs::{Step, body, serial};
use std::collections::VecDeque;
use tidegate_policy::Rng;
use tidegate_policy::memory::book::{Answer, Book, Reservation, Scope, Task, Until};
use tidegate_testkit::soak;

/// A body in progress. A task has a stack of frames.
struct Frame {
    steps: std::vec::IntoIter<Step>,
    reservations: Vec<Reservation>,
    /// The enclosing scopes, innermost last. The last one is the body's own scope.
    scopes: Vec<Scope>,
    /// The body's own scope, or `None` once all tasks in that scope have ended.
    own: Option<Scope>,
    /// The second half of a join, if the body is the first half.
    half: Option<(Task, Vec<Step>)>,
}

struct Run {
    book: Book,
    /// Tasks that have begun and can continue.
    able: Vec<(Task, Vec<Frame>)>,
    asleep: Vec<(Task, Vec<Frame>)>,
    unstarted: Vec<(Task, Vec<Step>, Vec<Scope>)>,
    kept: Vec<Reservation>,
}

impl Run {
    fn frame(&mut self, steps: Vec<Step>, around: &[Scope]) -> Frame {
        let own = self.book.open();
        Frame {
            steps: steps.into_iter(),
            reservations: vec![],
            scopes: around.iter().copied().chain([own]).collect(),
            own: Some(own),
            half: None,
        }
    }

    /// Runs one step of one task, or begins a task.
    fn step(&mut self, rng: &mut Rng) {
        let choice = rng.below((self.able.len() + self.unstarted.len()) as u64) as usize;
        if let Some(at) = choice.checked_sub(self.able.len()) {
            let (name, steps, around) = self.unstarted.swap_remove(at);
            self.book.begin(name);
            let frame = self.frame(steps, &around);
            self.able.push((name, vec![frame]));
            return;
        }
        let (name, mut frames) = self.able.swap_remove(choice);
        let frame = frames.last_mut().expect("a task that has not ended");
        let scopes = frame.scopes.clone();
        match frame.steps.next() {
            Some(Step::Reservation(bytes)) => match self.book.ask(name, bytes) {
                Answer::Granted(reservation) => frame.reservations.push(reservation),
                Answer::Later => return self.asleep.push((name, frames)),
                Answer::Refused => panic!("refused"),
            },
            Some(Step::Free) => {
                let reservation = frame.reservations.pop();
                self.book
                    .give_back(reservation.expect("one that was reserved"));
            }
            Some(Step::Pause(_) | Step::Unrelated(..)) => {}
            Some(Step::Keep) => self.kept.extend(frame.reservations.pop()),
            Some(Step::Join(one, other)) => {
                let half = self.book.half(name);
                self.unstarted.push((half, other.clone(), scopes.clone()));
                let mut frame = self.frame(one, &scopes);
                frame.half = Some((half, other));
                frames.push(frame);
            }
            Some(Step::Spawn(outer, task)) => {
                let kept = scopes.len() - outer.min(scopes.len() - 1);
                let around = &scopes[..kept];
                let spawned = self.book.spawn(name, around[kept - 1]);
                self.unstarted.push((spawned, task, around.to_vec()));
            }
            None => return self.end_of_body(name, frames),
        }
        self.able.push((name, frames));
    }

    /// Called when the innermost body of a task has no steps left. The task may still have to wait
    /// for the body's scope or for the second half of a join.
    fn end_of_body(&mut self, name: Task, mut frames: Vec<Frame>) {
        let frame = frames.last_mut().expect("a task that has not ended");
        if let Some(own) = frame.own {
            self.book.wait(name, Until::Scope(own));
            if self.book.waits(name) {
                return self.asleep.push((name, frames));
            }
            self.book.go_on(name);
            self.book.close(own);
            frame.own = None;
            let reservations = frame.reservations.drain(..);
            reservations.for_each(|reservation| self.book.give_back(reservation));
        }
        if let Some((half, steps)) = frame.half.take() {
            let at = self.unstarted.iter().position(|task| task.0 == half);
            if let Some(at) = at {
                // The joiner takes back the second half and runs it.
                let (_, _, around) = self.unstarted.swap_remove(at);
                self.book.end(half);
                self.book.forget(half);
                *frame = self.frame(steps, &around);
                return self.able.push((name, frames));
            }
            self.book.wait(name, Until::Half(half));
            if self.book.waits(name) {
                frame.half = Some((half, steps));
                return self.asleep.push((name, frames));
            }
            self.book.forget(half);
        }
        frames.pop();
        if frames.is_empty() {
            return self.book.end(name);
        }
        self.able.push((name, frames));
    }

    /// Moves the sleeping tasks that can continue to `able`.
    fn wake(&mut self) {
        while let Some((name, answer)) = self.book.settle() {
            let at = self.asleep.iter().position(|(other, _)| *other == name);
            let (name, mut frames) = self.asleep.swap_remove(at.expect("it sleeps"));
            let Answer::Granted(reservation) = answer else {
                panic!("{answer:?}");
            };
            frames.last_mut().unwrap().reservations.push(reservation);
            self.able.push((name, frames));
        }
        let (book, mut still) = (&mut self.book, vec![]);
        for task in self.asleep.drain(..) {
            if book.waits(task.0) || book.asks(task.0) {
                still.push(task);
            } else {
                book.go_on(task.0);
                self.able.push(task);
            }
        }
        self.asleep = still;
    }
}

/// The budget of each program is at least the peak of its serial run.
#[test]
fn every_program_ends_within_budget() {
    for seed in 0..soak(500, "random programs under a budget") {
        let mut rng = Rng::new(seed);
        let program = body(&mut rng, 5);
        let s1 = serial(&program);
        let budget = s1 + [0, 1, s1 / 10, s1][rng.below(4) as usize];
        let mut run = Run {
            book: Book::new(budget, s1),
            able: vec![],
            asleep: vec![],
            unstarted: vec![],
            kept: vec![],
        };
        let root = run.book.root();
        run.unstarted.push((root, program, vec![]));
        while !(run.able.is_empty() && run.unstarted.is_empty()) {
            run.step(&mut rng);
            run.wake();
            assert!(run.book.declared() <= budget);
            assert!(run.book.reserved() <= s1);
        }
        assert!(
            run.asleep.is_empty(),
            "seed {seed}: {} sleep for ever",
            run.asleep.len()
        );
        let kept = std::mem::take(&mut run.kept);
        kept.into_iter()
            .for_each(|reservation| run.book.give_back(reservation));
        assert_eq!(run.book.declared(), 0);
        assert!(run.book.peak() <= budget);
    }
}

#[test]
fn spawn_chain_keeps_no_entries() {
    let mut book = Book::new(10, 10);
    let body = book.root();
    book.begin(body);
    let scope = book.open();
    let mut last = book.spawn(body, scope);
    for _ in 0..1_000 {
        book.begin(last);
        let next = book.spawn(last, scope);
        book.end(last);
        last = next;
    }
    assert!(book.entries() < 5, "{}", book.entries());
    book.begin(last);
    book.end(last);
    assert_eq!(book.entries(), 1);
}

/// Each link of the chain also spawns a task that outlives the link.
#[test]
fn branching_spawn_chain_keeps_no_entries() {
    let mut book = Book::new(20, 10);
    let body = book.root();
    book.begin(body);
    let scope = book.open();
    let mut link = book.spawn(body, scope);
    let mut leaves = VecDeque::new();
    for _ in 0..1_000 {
        book.begin(link);
        leaves.push_back(book.spawn(link, scope));
        let next = book.spawn(link, scope);
        let kept = granted(book.ask(link, 1));
        book.end(link);
        book.give_back(kept);
        if leaves.len() > 3 {
            let leaf = leaves.pop_front().expect("there are four");
            book.begin(leaf);
            book.end(leaf);
        }
        link = next;
    }
    assert!(book.entries() < 12, "{}", book.entries());
}

/// Memory that a later task has left reserved does not count as held by an earlier task.
#[test]
fn later_tasks_memory_is_not_counted() {
    let mut book = Book::new(30, 20);
    let body = book.root();
    book.begin(body);
    let scope = book.open();
    let both = book.spawn(body, scope);
    book.begin(both);
    let first = book.spawn(both, scope);
    let later = book.spawn(both, scope);
    book.end(both);
    book.begin(later);
    let kept = granted(book.ask(later, 10));
    book.end(later);
    book.wait(body, Until::Scope(scope));
    book.begin(first);
    assert_eq!(book.leftmost(), Some(first));
    assert_eq!(book.reserved(), 0);
    book.end(first);
    assert_eq!(book.reserved(), 10);
    book.give_back(kept);
}

fn begun(book: &mut Book, task: Task) -> Task {
    book.begin(task);
    task
}

fn granted(answer: Answer) -> Reservation {
    match answer {
        Answer::Granted(reservation) => reservation,
        other => panic!("{other:?}"),
    }
}

/// A task whose request fits gets its memory before the first task's request is rejected.
#[test]
fn fitting_request_precedes_rejection() {
    let mut book = Book::new(15, 15);
    let root = book.root();
    let first = begun(&mut book, root);
    let root = book.root();
    let other = begun(&mut book, root);
    book.wait(first, Until::Else);
    let held = granted(book.ask(other, 10));
    book.go_on(first);
    assert_eq!(book.ask(other, 5), Answer::Later);
    assert_eq!(book.ask(first, 10), Answer::Later);
    let (goes_on, answer) = book.settle().expect("one of them fits");
    assert_eq!(goes_on, other);
    assert_eq!(book.settle(), None);
    book.give_back(granted(answer));
    book.give_back(held);
    let (goes_on, answer) = book.settle().expect("there is room now");
    assert_eq!(goes_on, first);
    book.give_back(granted(answer));
}

/// A lowered budget comes into force once the other tasks hold so little that the reserve is free.
#[test]
fn lowered_budget_holds_after_release() {
    let mut book = Book::new(64, 10);
    let root = book.root();
    let first = begun(&mut book, root);
    let half = book.half(first);
    let half = begun(&mut book, half);
    let kept = granted(book.ask(first, 1));
    let held = granted(book.ask(half, 40));
    book.set_budget(12);
    assert_eq!(book.ask(half, 13), Answer::Later);
    book.give_back(held);
    // Now the lowered budget is in force, and the request can never be granted.
    assert_eq!(book.settle(), Some((half, Answer::Refused)));
    assert_eq!(book.ask(half, 3), Answer::Later);
    book.give_back(kept);
    book.end(half);
    book.forget(half);
}

#[test]
fn overflowing_request_is_rejected() {
    let mut book = Book::new(u64::MAX, 0);
    let root = book.root();
    let task = begun(&mut book, root);
    let reservations = [0; 2].map(|_| granted(book.ask(task, i64::MAX as u64)));
    assert_eq!(book.ask(task, i64::MAX as u64), Answer::Refused);
    for reservation in reservations {
        book.give_back(reservation);
    }
    assert_eq!(book.declared(), 0);
}

/// A lowered budget also binds a task that becomes leftmost later.
#[test]
fn lowered_budget_binds_the_leftmost() {
    let mut book = Book::new(30, 10);
    let root = book.root();
    let first = begun(&mut book, root);
    let half = book.half(first);
    let half = begun(&mut book, half);
    let held = granted(book.ask(half, 10));
    book.set_budget(10);
    book.wait(first, Until::Half(half));
    assert_eq!((book.leftmost(), book.reserved()), (Some(half), 10));
    assert_eq!(book.ask(half, 20), Answer::Refused);
    assert_eq!(book.declared(), 10);
    book.give_back(held);
}

/// The unstarted task belongs to a different root from the task that makes the request.
#[test]
fn request_waits_for_unstarted_task() {
    let mut book = Book::new(10, 10);
    let call = book.root();
    book.begin(call);
    book.set_blocks(call, true);
    let detached = book.root();
    book.begin(detached);
    let held = granted(book.ask(detached, 10));
    book.set_blocks(call, false);
    assert!(matches!(book.ask(call, 5), Answer::Later));
    let scope = book.open();
    let task = book.spawn(detached, scope);
    book.wait(detached, Until::Scope(scope));
    assert_eq!(book.settle().map(|(task, _)| task), None);
    book.begin(task);
    book.end(task);
    book.go_on(detached);
    book.give_back(held);
    let (first, answer) = book.settle().expect("it fits now");
    assert!(first == call && matches!(answer, Answer::Granted(_)));
}
