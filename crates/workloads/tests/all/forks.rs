//! Checks that each program's parallel body and dag make the same number of forks and spawns.

use std::cell::Cell;
use std::io;

use tidegate_sim::{Dag, Step};
use tidegate_workloads::factors::{cholesky::Cholesky, lu::Lu, sparselu::Sparselu};
use tidegate_workloads::memory::decompress::Decompress;
use tidegate_workloads::memory::matmul::Matmul;
use tidegate_workloads::memory::memfib::Memfib;
use tidegate_workloads::memory::nested::Nested;
use tidegate_workloads::memory::sortmany::Sortmany;
use tidegate_workloads::memory::strassen::Strassen;
use tidegate_workloads::phases::Phases;
use tidegate_workloads::prefixsum::Prefixsum;
use tidegate_workloads::quicksort::Quicksort;
use tidegate_workloads::registry::{ENTRIES, Entry};
use tidegate_workloads::seriesparallel::Seriesparallel;
use tidegate_workloads::treesum::Treesum;
use tidegate_workloads::uts::Uts;
use tidegate_workloads::{Counted, Runtime, Serial, Simulated, Size, Values};
use tidegate_workloads::{fft::Fft, fib::Fib, knary::Knary, loops::Loops, loopy::Loopy};

use crate::support::{Named, given};

type Made = (u64, u64);

thread_local! {
    /// The forks and spawns that [`Counting`] has made on this thread.
    static MADE: Cell<Made> = Cell::default();
}

/// A runtime that counts forks and spawns and runs everything immediately on the calling thread.
struct Counting;

impl Runtime for Counting {
    const NAME: &'static str = "counting";
    const SPAWNS: bool = true;
    type Fork<'a> = ();
    type Reservation = Counted;
    type Scope<'scope> = <Serial as Runtime>::Scope<'scope>;

    fn with_workers(_: usize) -> io::Result<Self> {
        Ok(Self)
    }

    fn install<T: Send>(&self, body: impl FnOnce(&mut ()) -> T + Send) -> T {
        body(&mut ())
    }

    fn join<RA: Send, RB: Send>(
        fork: &mut (),
        a: impl FnOnce(&mut ()) -> RA + Send,
        b: impl FnOnce(&mut ()) -> RB + Send,
    ) -> (RA, RB) {
        let (forks, spawns) = MADE.get();
        MADE.set((forks + 1, spawns));
        (a(fork), b(fork))
    }

    fn reserve(bytes: usize) -> Counted {
        Serial::reserve(bytes)
    }

    fn scope<'scope, T: Send>(body: impl FnOnce(&Self::Scope<'scope>) -> T + Send) -> T {
        Serial::scope(body)
    }

    fn spawn<'scope>(
        scope: &Self::Scope<'scope>,
        body: impl FnOnce(&Self::Scope<'scope>) + Send + 'scope,
    ) {
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

/// Checks that a program's parallel body and its dag fork and spawn equally. Returns the program's
/// name, and how often they do.
fn agree<P: Simulated>(named: &Named<'_>) -> (&'static str, Made) {
    let values = Values::parse(P::PARAMETERS, Size::Tiny, &given(named)).unwrap();
    let program = P::from_values(&values).unwrap();
    let mut input = program.prepare().unwrap();
    MADE.set((0, 0));
    Counting.install(|fork| program.parallel::<Counting>(&mut input, fork));
    assert_eq!(
        MADE.get(),
        unfolded(&program.dag()),
        "{} {named:?}",
        P::NAME
    );
    (P::NAME, MADE.get())
}

macro_rules! usual {
    ($($program:ident)*) => { [$(agree::<$program>(&[])),*] };
}

#[test]
fn programs_and_dags_fork_equally() {
    let agreed = usual! {
        Fib Treesum Uts Quicksort Loopy Knary Phases Loops Memfib Nested Matmul Strassen Sortmany
        Decompress Cholesky Lu Sparselu Fft Prefixsum Seriesparallel
    };
    // Programs with intervals make neither forks nor spawns, and the dags of programs with places
    // consist of drafts.
    let placed = ["cachestress", "mergesort", "blockmatmul"];
    let forking =
        |entry: &&Entry| entry.simulated && !entry.intervals && !placed.contains(&entry.name);
    let names = ENTRIES.iter().filter(forking).map(|entry| entry.name);
    assert!(agreed.iter().map(|(name, _)| *name).eq(names));
    let spawning = agree::<Knary>(&[("form", "spawn")]);
    for (name, made) in agreed.into_iter().chain([spawning]) {
        assert_ne!(made, (0, 0), "{name}");
    }
}

/// The test includes inputs whose length doesn't divide evenly.
#[test]
fn halving_programs_and_dags_fork_equally() {
    agree::<Fft>(&[("n", "2"), ("cutoff", "2")]);
    agree::<Fft>(&[("n", "4096"), ("cutoff", "2")]);
    agree::<Fft>(&[("n", "4096"), ("cutoff", "100")]);
    agree::<Fft>(&[("n", "64"), ("cutoff", "64")]);
    agree::<Prefixsum>(&[("n", "0")]);
    agree::<Prefixsum>(&[("n", "1000"), ("block", "1")]);
    agree::<Prefixsum>(&[("n", "1000"), ("block", "7")]);
    agree::<Prefixsum>(&[("n", "1000"), ("block", "1001")]);
}

#[test]
fn factorizations_and_dags_fork_equally() {
    agree::<Cholesky>(&[("n", "16")]);
    agree::<Cholesky>(&[("n", "512"), ("nonzeros", "0")]);
    agree::<Cholesky>(&[("n", "512"), ("nonzeros", "60")]);
    agree::<Cholesky>(&[("n", "256"), ("nonzeros", "9000")]);
    agree::<Lu>(&[("n", "16")]);
    agree::<Lu>(&[("n", "70"), ("block", "7")]);
    agree::<Sparselu>(&[("n", "1")]);
    agree::<Sparselu>(&[("n", "13"), ("block", "2")]);
}
