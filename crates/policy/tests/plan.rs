//! Random programs on a machine that asks the plan: they end, in the right order and within their bounds.

mod programs;
mod soak;

use programs::{Step, body, serial, span};
use soak::soak;
use tidegate_policy::Rng;
use tidegate_policy::space::Space;
use tidegate_policy::space::book::{Answer, Lease, Scope, Task, Until};
use tidegate_policy::space::plan::{Next, Plan};

/// A task that nobody has begun.
#[derive(Clone, Debug)]
struct Unstarted {
    steps: Vec<Step>,
    around: Vec<Scope>,
}

/// A body under way: in a task, one on top of the other.
#[derive(Debug)]
struct Frame {
    steps: std::vec::IntoIter<Step>,
    leases: Vec<(Lease, u64)>,
    /// Those around, the innermost last, which is its own.
    scopes: Vec<Scope>,
    /// The same, until all in it has ended.
    own: Option<Scope>,
    /// The second half, which comes when the body is over.
    half: Option<Task>,
    /// It is the first one of its task.
    is_base: bool,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Runs,
    Waits,
    /// It has asked for so much, or was parked.
    Asks(Option<u64>),
    /// It could go on, and has no slot.
    Owed,
}

struct Thread {
    state: State,
    frames: Vec<Frame>,
}

struct Machine {
    plan: Plan<Unstarted>,
    slots: usize,
    threads: Vec<Thread>,
    kept: Vec<(Lease, u64)>,
    peak: u64,
}

impl Machine {
    fn new(space: Space, slots: usize, program: Vec<Step>) -> Self {
        let mut machine = Self {
            plan: Plan::new(space, slots).expect("it keeps the order"),
            slots,
            threads: vec![],
            kept: vec![],
            peak: 0,
        };
        let main = Unstarted {
            steps: program,
            around: vec![],
        };
        let number = machine.idle_thread();
        machine.plan.here(number);
        machine.start(number, main, true);
        machine
    }

    fn idle_thread(&mut self) -> usize {
        let idle = self.threads.iter().position(|t| t.state == State::Idle);
        idle.unwrap_or_else(|| {
            self.threads.push(Thread {
                state: State::Idle,
                frames: vec![],
            });
            self.threads.len() - 1
        })
    }

    fn start(&mut self, number: usize, task: Unstarted, is_base: bool) {
        let own = self.plan.open();
        let frame = Frame {
            steps: task.steps.into_iter(),
            leases: vec![],
            scopes: task.around.into_iter().chain([own]).collect(),
            own: Some(own),
            half: None,
            is_base,
        };
        self.threads[number].frames.push(frame);
        self.threads[number].state = State::Runs;
    }

    /// One step of whoever has a slot, drawn at random. Whether there was anything to do.
    fn step(&mut self, rng: &mut Rng) -> bool {
        let running = |t: &Thread| t.state == State::Runs;
        let runs: Vec<usize> = (0..self.threads.len())
            .filter(|t| running(&self.threads[*t]))
            .collect();
        assert!(runs.len() <= self.slots);
        let choice = rng.below(self.slots as u64) as usize;
        if let Some(number) = runs.get(choice) {
            self.advance(*number);
            return true;
        }
        let owed = self.threads.iter().position(|t| t.state == State::Owed);
        if let Some(owed) = owed {
            self.threads[owed].state = State::Runs;
            return true;
        }
        let number = self.idle_thread();
        match self.plan.next(number, |n| rng.below(n as u64) as usize) {
            Some(Next::Start(task, _)) => self.start(number, task, true),
            Some(Next::Resume(other)) => self.wake(other, State::Runs),
            None => return !runs.is_empty() || self.plan.has_work(),
        }
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
        let Answer::Granted(lease) = answer else {
            panic!("{answer:?}");
        };
        let frame = self.threads[number].frames.last_mut().unwrap();
        frame.leases.push((lease, bytes));
    }

    fn advance(&mut self, number: usize) {
        let frame = self.threads[number].frames.last_mut().unwrap();
        let scopes = frame.scopes.clone();
        match frame.steps.next() {
            Some(Step::Lease(bytes)) => match self.plan.ask(number, bytes) {
                Answer::Later => self.threads[number].state = State::Asks(Some(bytes)),
                answer => self.granted(number, answer, bytes),
            },
            Some(Step::Free) => {
                let (lease, bytes) = frame.leases.pop().expect("one that was leased");
                self.plan.give_back(Some(number), lease, bytes);
            }
            Some(Step::Keep) => self.kept.extend(frame.leases.pop()),
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
            None => self.end_of_body(number),
        }
        self.settle();
    }

    fn after_fork(&mut self, number: usize) {
        if self.plan.gives_way(number) {
            self.threads[number].state = State::Asks(None);
        }
    }

    /// The innermost body is over, apart from what it waits for.
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
            for (lease, bytes) in frame.leases.drain(..) {
                self.plan.give_back(Some(number), lease, bytes);
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
            if self.threads[number].frames.is_empty() {
                self.threads[number].state = State::Idle;
            }
        }
    }

    /// Wakes who can go on.
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

/// What becomes of a random program: its peak.
fn run(space: &str, slots: usize, program: Vec<Step>, rng: &mut Rng) -> u64 {
    let mut machine = Machine::new(space.parse().unwrap(), slots, program);
    while machine.step(rng) {}
    for (number, thread) in machine.threads.iter().enumerate() {
        let State::Idle = thread.state else {
            panic!("thread {number} is left: {:?}", thread.state);
        };
    }
    for (lease, bytes) in machine.kept.drain(..) {
        machine.plan.give_back(None, lease, bytes);
    }
    assert_eq!(machine.plan.book().declared(), 0);
    machine.peak
}

#[test]
fn every_random_program_ends_within_its_bound_on_any_number_of_slots() {
    let slots = [1, 2, 4, 16, 64];
    let seeds = soak(
        50,
        "random programs with leases, each on 1 to 64 slots under each policy",
    );
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let program = body(&mut rng, 5);
        let s1 = serial(&program);
        for slots in slots {
            let k = [20, 60, 200][rng.below(3) as usize];
            let budget = s1 + [0, 1, s1 / 10, s1][rng.below(4) as usize];
            let bound = s1 + k * slots as u64 * span(&program, k);
            for (rule, bound) in [
                (format!("budget:bytes={budget},serial={s1}"), budget),
                (format!("depth-first:k={k}"), bound),
                (format!("dfdeques:k={k}"), bound),
            ] {
                let peak = run(&rule, slots, program.clone(), &mut rng);
                assert!(
                    peak <= bound,
                    "seed {seed}, {slots} slots, {rule}: {peak} > {bound}"
                );
            }
        }
    }
}
