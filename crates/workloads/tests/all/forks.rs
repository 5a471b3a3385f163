//! Checks that each program's parallel body and dag make the same number of forks and spawns.

use std::cell::Cell;
use std::io;
use std::marker::PhantomData;

use tidegate_sim::{Dag, Step};
use tidegate_workloads::registry::{ENTRIES, Entry};
use tidegate_workloads::{Counted, Runtime, Simulated, SimulatedVisitor, Size, visit_simulated};

use crate::support::{Named, given};

type Made = (u64, u64);

/// A program's name, and the names and values of its parameters.
type Case<'a> = (&'a str, &'a Named<'a>);

thread_local! {
    /// The forks and spawns that [`Counting`] has made on this thread.
    static MADE: Cell<Made> = Cell::default();
}

/// A runtime that counts forks and spawns and runs everything immediately on the calling thread.
struct Counting;

struct Scope<'scope>(PhantomData<fn(&'scope ()) -> &'scope ()>);

impl Runtime for Counting {
    const NAME: &'static str = "counting";
    const SPAWNS: bool = true;
    type Fork<'a> = ();
    type Reservation = Counted;
    type Scope<'scope> = Scope<'scope>;

    fn with_workers(_: usize) -> io::Result<Self> {
        Ok(Self)
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut ()) -> T + Send) -> T {
        body(&mut ())
    }

    fn join<A, B, RA, RB>(fork: &mut (), a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut ()) -> RA + Send,
        B: FnOnce(&mut ()) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let (forks, spawns) = MADE.get();
        MADE.set((forks + 1, spawns));
        (a(fork), b(fork))
    }

    fn reserve(bytes: usize) -> Counted {
        tidegate_workloads::Serial::reserve(bytes)
    }

    fn scope<'scope, T: Send>(body: impl FnOnce(&Scope<'scope>) -> T + Send) -> T {
        body(&Scope(PhantomData))
    }

    fn spawn<'scope>(scope: &Scope<'scope>, body: impl FnOnce(&Scope<'scope>) + Send + 'scope) {
        let (forks, spawns) = MADE.get();
        MADE.set((forks, spawns + 1));
        body(scope);
    }
}

/// Returns the number of forks and spawns in a dag.
fn unfolded(dag: &impl Dag) -> Made {
    let mut tasks = vec![dag.root()];
    let mut made = (0, 0);
    while let Some(task) = tasks.last_mut() {
        match dag.next(task) {
            Step::End => drop(tasks.pop()),
            Step::Fork(one, other) => {
                made.0 += 1;
                tasks.extend([one, other]);
            }
            Step::Spawn(child) => {
                made.1 += 1;
                tasks.push(child);
            }
            Step::Call(child) => tasks.push(child),
            _ => {}
        }
    }
    made
}

/// Counts the forks and spawns of a program's parallel body and of its dag.
struct Both;

impl SimulatedVisitor for Both {
    type Out = [Made; 2];

    fn visit<P: Simulated>(self, program: P) -> [Made; 2] {
        let mut input = program.prepare().unwrap();
        MADE.set((0, 0));
        Counting.install(|fork| program.parallel::<Counting>(&mut input, fork));
        [MADE.get(), unfolded(&program.dag())]
    }
}

fn both(name: &str, named: &Named<'_>) -> [Made; 2] {
    visit_simulated(name, Size::Tiny, &given(named), Both).unwrap()
}

fn agree(cases: &[Case<'_>]) {
    for (name, named) in cases {
        let [body, dag] = both(name, named);
        assert_eq!(body, dag, "{name} {named:?}");
    }
}

#[test]
fn programs_and_dags_fork_equally() {
    // Programs with intervals make neither forks nor spawns, and the dags of programs with places
    // consist of drafts.
    let placed = ["cachestress", "mergesort", "blockmatmul"];
    let forking =
        |entry: &&Entry| entry.simulated && !entry.intervals && !placed.contains(&entry.name);
    for entry in ENTRIES.iter().filter(forking) {
        let [body, dag] = both(entry.name, &[]);
        assert_eq!(body, dag, "{}", entry.name);
        assert_ne!(body, (0, 0), "{}", entry.name);
    }
}

/// The test includes inputs whose length doesn't divide evenly.
#[test]
fn halving_programs_and_dags_fork_equally() {
    agree(&[
        ("fft", &[("n", "2"), ("cutoff", "2")]),
        ("fft", &[("n", "4096"), ("cutoff", "2")]),
        ("fft", &[("n", "4096"), ("cutoff", "100")]),
        ("fft", &[("n", "64"), ("cutoff", "64")]),
        ("prefixsum", &[("n", "0")]),
        ("prefixsum", &[("n", "1000"), ("block", "1")]),
        ("prefixsum", &[("n", "1000"), ("block", "7")]),
        ("prefixsum", &[("n", "1000"), ("block", "1001")]),
    ]);
}

#[test]
fn factorizations_and_dags_fork_equally() {
    agree(&[
        ("cholesky", &[("n", "16")]),
        ("cholesky", &[("n", "512"), ("nonzeros", "0")]),
        ("cholesky", &[("n", "512"), ("nonzeros", "60")]),
        ("cholesky", &[("n", "256"), ("nonzeros", "9000")]),
        ("lu", &[("n", "16")]),
        ("lu", &[("n", "70"), ("block", "7")]),
        ("sparselu", &[("n", "1")]),
        ("sparselu", &[("n", "13"), ("block", "2")]),
    ]);
}
