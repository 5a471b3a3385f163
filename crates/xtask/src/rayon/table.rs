//! The suites, and the tests among them that do not pass, each with its reason.

/// Tests that run together.
pub struct Suite {
    pub name: &'static str,
    /// Their package and programs, as arguments of `cargo test`.
    pub programs: &'static str,
    /// Whether waits help anybody, which is not the default.
    pub help_any: bool,
    /// Those that rayon itself does not run.
    pub ignored: &'static [Excuse],
    /// Those that fail because we mean to differ.
    pub differ: &'static [Excuse],
}

/// A test, with its modules, and why it does not pass.
pub type Excuse = (&'static str, &'static str);

const NONE: &[Excuse] = &[];

/// Every suite, quick ones first.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    suite("rayon-core unit tests", "-p rayon-core-tests --lib", NONE, DIFFER),
    Suite { help_any: true, ..suite("with waits that help anybody", "-p rayon-core-tests --lib", NONE, NONE) },
    suite("rayon-core integration tests", "-p rayon-core-tests --test *", STARTED_BY_ANOTHER, NONE),
    suite("rayon-core doc tests", "-p rayon-core-tests --doc", NONE, NONE),
    suite("rayon unit tests", "-p rayon --lib", ENDLESS, NONE),
    suite("rayon integration tests", "-p rayon --test *", NONE, NONE),
    suite("rayon doc tests", "-p rayon --doc", NONE, NONE),
];

const fn suite(
    name: &'static str,
    programs: &'static str,
    ignored: &'static [Excuse],
    differ: &'static [Excuse],
) -> Suite {
    Suite {
        name,
        programs,
        help_any: false,
        ignored,
        differ,
    }
}

/// Unit tests that are not compiled, and what they call that is private to rayon-core.
pub const LEFT_OUT: &[Excuse] = &[
    ("thread_pool::test::workers_stop", "ThreadPool::registry"),
    ("thread_pool::test::sleeper_stop", "ThreadPool::registry"),
];

/// Unit tests of what our waits only do when they help anybody: run tasks that the waiter does not wait for.
const DIFFER: &[Excuse] = &[
    ("scope::test::mixed_lifo_order", OUTER),
    ("scope::test::mixed_fifo_order", OUTER),
    ("scope::test::mixed_lifo_fifo_order", OUTER),
    ("scope::test::mixed_fifo_lifo_order", OUTER),
];

const OUTER: &str = "the end of an inner scope runs no task of the outer one";

const STARTED_BY_ANOTHER: &[Excuse] = &[
    ("run_with_small_stack", "stack_overflow_crash starts it"),
    ("run_with_large_stack", "stack_overflow_crash starts it"),
];

const ENDLESS: &[Excuse] = &[(
    "iter::test::check_repeat_unbounded",
    "counts to the largest number, one by one",
)];
