//! The suites, and the tests among them that do not pass, each with its reason.

/// Tests that run together.
pub struct Suite {
    /// What its row is called.
    pub name: &'static str,
    /// Their package and programs, as arguments of `cargo test`.
    pub programs: &'static str,
    /// Whether waits help anybody, which is not the default.
    pub help_any: bool,
    /// Those that do not pass.
    pub excused: &'static [&'static [Excuse]],
}

/// Why a test does not pass.
#[derive(Clone, Copy)]
pub struct Excuse {
    /// The test, with its modules.
    pub test: &'static str,
    /// What becomes of it instead.
    pub kind: Kind,
    /// The reason.
    pub why: &'static str,
}

/// What becomes of a test that does not pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is not compiled: it calls a private function for which there is no public one.
    LeftOut,
    /// Rayon itself does not run it.
    Ignored,
    /// It runs and fails, because we mean to differ.
    Differs,
}

use Kind::{Differs, Ignored, LeftOut};

/// Every suite, quick ones first.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    suite("rayon-core unit tests", "-p rayon-core-tests --lib", &[LEFT_OUT, DIFFERENCES]),
    Suite {
        help_any: true,
        ..suite("unit tests with waits that help anybody", "-p rayon-core-tests --lib", &[LEFT_OUT])
    },
    suite("rayon-core integration tests", "-p rayon-core-tests --test *", &[STARTED_BY_ANOTHER]),
    suite("rayon-core doc tests", "-p rayon-core-tests --doc", &[]),
    suite("rayon unit tests", "-p rayon --lib", &[IGNORED]),
    suite("rayon integration tests", "-p rayon --test *", &[]),
    suite("rayon doc tests", "-p rayon --doc", &[]),
];

const fn suite(
    name: &'static str,
    programs: &'static str,
    excused: &'static [&'static [Excuse]],
) -> Suite {
    Suite {
        name,
        programs,
        help_any: false,
        excused,
    }
}

/// Unit tests that need what is private to rayon-core.
pub const LEFT_OUT: &[Excuse] = &[
    excuse("thread_pool::test::workers_stop", LeftOut, PRIVATE),
    excuse("thread_pool::test::sleeper_stop", LeftOut, PRIVATE),
];

const PRIVATE: &str = "ThreadPool::registry is private";

/// Unit tests of what our waits only do when they help anybody: run tasks that the waiter does not wait for.
const DIFFERENCES: &[Excuse] = &[
    excuse("scope::test::mixed_lifo_order", Differs, OUTER),
    excuse("scope::test::mixed_fifo_order", Differs, OUTER),
    excuse("scope::test::mixed_lifo_fifo_order", Differs, OUTER),
    excuse("scope::test::mixed_fifo_lifo_order", Differs, OUTER),
];

const OUTER: &str = "the end of an inner scope runs no task of the outer one";

/// Tests that rayon ignores because another one, `stack_overflow_crash`, starts each as a process.
const STARTED_BY_ANOTHER: &[Excuse] = &[
    excuse("run_with_small_stack", Ignored, STARTED),
    excuse("run_with_large_stack", Ignored, STARTED),
];

const STARTED: &str = "stack_overflow_crash starts it";

/// Tests that rayon ignores, and nothing else runs.
const IGNORED: &[Excuse] = &[excuse(
    "iter::test::check_repeat_unbounded",
    Ignored,
    "counts to the largest number, one by one",
)];

const fn excuse(test: &'static str, kind: Kind, why: &'static str) -> Excuse {
    Excuse { test, kind, why }
}
