//! A simulated machine that runs random programs under a plan. In each step, it advances one
//! randomly chosen thread.

use super::programs::{Pause, Step};
use tidegate_policy::Rng;
use tidegate_policy::memory::MemoryPolicy;
use tidegate_policy::memory::book::{Answer, Reservation, Scope, Task, Until};
use tidegate_policy::memory::plan::{Next, Plan};

/// A task that has not begun: its steps, and the scopes around it.
#[derive(Clone, Debug)]
pub struct Unstarted {
    steps: Vec<Step>,
    around: Vec<Scope>,
}

/// A body in progress. A thread has a stack of frames.
#[derive(Debug)]
struct Frame {
    steps: std::vec::IntoIter<Step>,
    reservations: Vec<(Reservation, u64)>,
    /// The enclosing scopes, innermost last. The last one is the body's own scope.
    scopes: Vec<Scope>,
    /// The body's own scope, or `None` once all tasks in that scope have ended.
    own: Option<Scope>,
    /// The second half of a join, if the body is the first half.
    half: Option<Task>,
    /// Whether this is the first frame of its task.
    is_base: bool,
    /// The state of the thread before this frame began on top of its stack.
    below: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Idle,
    Runs,
    Waits,
    /// The thread has requested this many bytes, or is parked if this is `None`.
    Asks(Option<u64>),
    /// The thread could continue, but has no slot.
    Owed,
    /// The thread computes without a slot, or waits for something outside the plan. Afterwards it
    /// is owed a slot.
    Paused(Pause),
}

pub struct Thread {
    pub state: State,
    frames: Vec<Frame>,
}

pub struct Machine {
    pub plan: Plan<Unstarted>,
    slots: usize,
    /// The maximum number of threads.
    most: usize,
    pub threads: Vec<Thread>,
    /// Tasks that were announced to a scope of the plan but have not begun.
    unrelated: Vec<(Scope, Unstarted)>,
    pub kept: Vec<(Reservation, u64)>,
    pub peak: u64,
}

impl Machine {
    /// Creates a machine that begins these programs in this order, each on its own thread.
    pub fn new(memory: MemoryPolicy, slots: usize, most: usize, programs: Vec<Vec<Step>>) -> Self {
        let mut machine = Self {
            plan: Plan::new(memory, slots).expect("it keeps the order"),
            slots,
            most: most.max(programs.len()),
            threads: vec![],
            unrelated: vec![],
            kept: vec![],
            peak: 0,
        };
        for steps in programs {
            let number = machine.idle_thread().expect("one for each");
            machine.plan.here(number);
            let around = vec![];
            machine.start(number, Unstarted { steps, around }, true);
            machine.threads[number].state = State::Owed;
        }
        machine
    }

    fn idle_thread(&mut self) -> Option<usize> {
        let idle = self.threads.iter().position(|t| t.state == State::Idle);
        if idle.is_none() && self.threads.len() < self.most {
            self.threads.push(Thread {
                state: State::Idle,
                frames: vec![],
            });
            return Some(self.threads.len() - 1);
        }
        idle
    }

    fn start(&mut self, number: usize, task: Unstarted, is_base: bool) {
        let own = self.plan.open();
        let frame = Frame {
            steps: task.steps.into_iter(),
            reservations: vec![],
            scopes: task.around.into_iter().chain([own]).collect(),
            own: Some(own),
            half: None,
            is_base,
            below: self.threads[number].state,
        };
        self.threads[number].frames.push(frame);
        self.threads[number].state = State::Runs;
    }

    /// Advances one randomly chosen thread that has a slot, or lets a thread get a slot. Returns
    /// whether the machine could do anything.
    pub fn step(&mut self, rng: &mut Rng) -> bool {
        let running = |t: &Thread| t.state == State::Runs;
        let runs: Vec<usize> = (0..self.threads.len())
            .filter(|t| running(&self.threads[*t]))
            .collect();
        assert!(runs.len() <= self.slots);
        self.fits_in_reserve();
        let choice = rng.below(self.slots as u64) as usize;
        if let Some(number) = runs.get(choice) {
            self.advance(*number, rng);
            return true;
        }
        if rng.below(3) == 0 && self.ends_a_pause(rng) {
            return true;
        }
        let owed = self.threads.iter().position(|t| t.state == State::Owed);
        if let Some(owed) = owed {
            self.threads[owed].state = State::Runs;
            return true;
        }
        let Some(number) = self.idle_thread() else {
            let rescued = runs.is_empty() && rng.below(2) == 0 && self.rescue(rng);
            return rescued || self.ends_a_pause(rng) || !runs.is_empty() || self.rescue(rng);
        };
        if rng.below(2) == 0 && self.begins_an_unrelated_task(number, rng) {
            return true;
        }
        match self.plan.next(number, |n| rng.below(n as u64) as usize) {
            Some(Next::Start(task, _)) => self.start(number, task, true),
            Some(Next::Resume(other)) => self.wake(other, State::Runs),
            Some(Next::Again) => {}
            None => {
                let goes_on = self.ends_a_pause(rng) || self.begins_an_unrelated_task(number, rng);
                return goes_on || !runs.is_empty() || self.plan.has_work();
            }
        }
        self.settle();
        true
    }

    /// Begins one of the tasks that were announced to the plan, if any. Returns whether there was
    /// one.
    fn begins_an_unrelated_task(&mut self, number: usize, rng: &mut Rng) -> bool {
        if self.unrelated.is_empty() {
            return false;
        }
        let at = rng.below(self.unrelated.len() as u64) as usize;
        let (scope, task) = self.unrelated.swap_remove(at);
        self.plan.begin_unrelated_in(number, scope);
        self.start(number, task, true);
        if rng.below(2) == 0 {
            self.spawns_another(number, scope);
        }
        self.settle();
        true
    }

    /// Simulates a call from outside the pool: begins a task that no other task has forked and that
    /// is not in the scope, lets it spawn a task into the scope, and ends it.
    fn spawns_another(&mut self, number: usize, scope: Scope) {
        let frame = self.threads[number].frames.last().expect("it has begun");
        let around = frame.scopes.iter().copied();
        let around = around.take_while(|around| Some(*around) != frame.own);
        let task = Unstarted {
            steps: vec![],
            around: around.collect(),
        };
        self.plan.begin_unrelated(number);
        self.plan.spawn(number, scope, task);
        self.plan.end(number);
    }

    /// Checks that the leftmost path holds at most as much memory as the serial run.
    fn fits_in_reserve(&self) {
        let book = self.plan.book();
        let (budget, serial) = book.budget();
        let reserved = book.reserved();
        assert!(budget == u64::MAX || reserved <= serial, "{reserved} held");
    }

    /// Called when all threads wait and no more may be started. One of the threads runs a task on
    /// top of its frames.
    fn rescue(&mut self, rng: &mut Rng) -> bool {
        let number = rng.below(self.threads.len() as u64) as usize;
        if self.threads[number].state == State::Paused(Pause::Blocks) {
            return false;
        }
        match self.plan.rescue(number) {
            Some(Next::Start(task, _)) => self.start(number, task, true),
            Some(Next::Resume(other)) => self.wake(other, State::Runs),
            Some(Next::Again) => return false,
            None => return self.begins_an_unrelated_task(number, rng),
        }
        self.settle();
        true
    }

    /// Ends the pause of one thread. Returns whether any thread was paused.
    fn ends_a_pause(&mut self, rng: &mut Rng) -> bool {
        let paused = |number: &usize| matches!(self.threads[*number].state, State::Paused(_));
        let paused: Vec<usize> = (0..self.threads.len()).filter(paused).collect();
        if paused.is_empty() {
            return false;
        }
        let number = paused[rng.below(paused.len() as u64) as usize];
        match self.threads[number].state {
            State::Paused(Pause::Blocks) => self.plan.blocks(number, false),
            _ => self.plan.goes_on(number),
        }
        self.threads[number].state = State::Owed;
        self.settle();
        true
    }

    fn wake(&mut self, number: usize, state: State) {
        let State::Asks(bytes) = self.threads[number].state else {
            panic!(
                "thread {number} was asleep: {:?}",
                self.threads[number].state
            );
        };
        if let Some(bytes) = bytes {
            let answer = self.plan.answer(number).expect("why it is woken");
            self.granted(number, answer, bytes);
        }
        self.threads[number].state = state;
    }

    fn granted(&mut self, number: usize, answer: Answer, bytes: u64) {
        let Answer::Granted(reservation) = answer else {
            panic!("{answer:?}");
        };
        let frame = self.threads[number].frames.last_mut().unwrap();
        frame.reservations.push((reservation, bytes));
    }

    fn advance(&mut self, number: usize, rng: &mut Rng) {
        let frame = self.threads[number].frames.last_mut().unwrap();
        let scopes = frame.scopes.clone();
        match frame.steps.next() {
            Some(Step::Reservation(bytes)) => {
                let draw = |many: usize| rng.below(many as u64) as usize;
                match self.plan.ask(number, bytes, draw) {
                    Answer::Later => self.threads[number].state = State::Asks(Some(bytes)),
                    answer => self.granted(number, answer, bytes),
                }
            }
            Some(Step::Free) => {
                let (reservation, bytes) = frame.reservations.pop().expect("one that was reserved");
                self.plan.give_back(Some(number), reservation, bytes);
            }
            Some(Step::Pause(pause)) => {
                match pause {
                    Pause::Blocks => self.plan.blocks(number, true),
                    Pause::Waits => self.plan.waits(number, Until::Else),
                }
                self.threads[number].state = State::Paused(pause);
            }
            Some(Step::Keep) => self.kept.extend(frame.reservations.pop()),
            Some(Step::Join(one, other)) => {
                let other = Unstarted {
                    steps: other,
                    around: scopes.clone(),
                };
                let half = self.plan.half(number, other);
                let one = Unstarted {
                    steps: one,
                    around: scopes,
                };
                self.start(number, one, false);
                self.threads[number].frames.last_mut().unwrap().half = Some(half);
                self.after_fork(number);
            }
            Some(Step::Spawn(outer, task)) => {
                let kept = scopes.len() - outer.min(scopes.len() - 1);
                let task = Unstarted {
                    steps: task,
                    around: scopes[..kept].to_vec(),
                };
                self.plan.spawn(number, scopes[kept - 1], task);
                self.after_fork(number);
            }
            Some(Step::Unrelated(outer, task)) => {
                let kept = scopes.len() - outer.min(scopes.len() - 1);
                let task = Unstarted {
                    steps: task,
                    around: scopes[..kept].to_vec(),
                };
                self.plan.expect(scopes[kept - 1]);
                self.unrelated.push((scopes[kept - 1], task));
            }
            None => self.end_of_body(number),
        }
        self.settle();
    }

    fn after_fork(&mut self, number: usize) {
        if self.plan.gives_way(number) {
            self.threads[number].state = State::Asks(None);
        }
    }

    /// Called when the innermost body has no steps left. The thread may still have to wait for the
    /// body's scope or for the second half of a join.
    fn end_of_body(&mut self, number: usize) {
        let frame = self.threads[number].frames.last_mut().unwrap();
        if let Some(own) = frame.own {
            self.plan.waits(number, Until::Scope(own));
            let here = self.plan.here(number);
            if self.plan.book().waits(here) {
                match self.plan.next_of(number, own) {
                    Some(task) => self.start(number, task, true),
                    None => self.threads[number].state = State::Waits,
                }
                return;
            }
            self.plan.goes_on(number);
            self.plan.close(own);
            frame.own = None;
            for (reservation, bytes) in frame.reservations.drain(..) {
                self.plan.give_back(Some(number), reservation, bytes);
            }
        }
        if let Some(half) = frame.half {
            if let Some(task) = self.plan.take_back(half) {
                self.threads[number].frames.pop();
                return self.start(number, task, false);
            }
            self.plan.waits(number, Until::Half(half));
            let here = self.plan.here(number);
            if self.plan.book().waits(here) {
                self.threads[number].state = State::Waits;
                return;
            }
            self.plan.joined(half);
        }
        let frame = self.threads[number].frames.pop().unwrap();
        if frame.is_base {
            self.plan.end(number);
            // If the thread was waiting for a scope or a half, it checks again whether it can
            // continue.
            let below = frame.below;
            let looks = matches!(below, State::Waits | State::Runs);
            self.threads[number].state = if looks { State::Runs } else { below };
        }
    }

    fn settle(&mut self) {
        while let Some(number) = self.plan.settle() {
            self.wake(number, State::Owed);
        }
        for number in 0..self.threads.len() {
            if self.threads[number].state == State::Waits {
                let here = self.plan.here(number);
                if !self.plan.book().waits(here) {
                    self.plan.goes_on(number);
                    self.threads[number].state = State::Owed;
                }
            }
        }
        self.peak = self.peak.max(self.plan.book().declared());
    }
}
