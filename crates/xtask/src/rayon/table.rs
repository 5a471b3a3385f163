//! The suites, and the tests in them that do not pass, each with the reason.

pub struct Suite {
    pub name: &'static str,
    /// The arguments of `cargo test` that select the package and its test programs.
    pub programs: &'static str,
    /// Whether waiting threads may run any task, which is not the default.
    pub help_any: bool,
    pub ignored: &'static [Excuse],
    /// Tests that fail because our rayon-core differs on purpose.
    pub differ: &'static [Excuse],
}

pub type Excuse = (&'static str, &'static str);

const NONE: &[Excuse] = &[];

/// All suites, the quick ones first.
#[rustfmt::skip]
pub const SUITES: &[Suite] = &[
    Suite { name: "rayon-core unit tests", programs: "-p rayon-core-tests --lib", help_any: false, ignored: NONE, differ: DIFFER },
    Suite { name: "with waits that help anybody", programs: "-p rayon-core-tests --lib", help_any: true, ignored: NONE, differ: NONE },
    Suite { name: "rayon-core integration tests", programs: "-p rayon-core-tests --test *", help_any: false, ignored: STARTED_BY_ANOTHER, differ: NONE },
    Suite { name: "rayon-core doc tests", programs: "-p rayon-core-tests --doc", help_any: false, ignored: NONE, differ: NONE },
    Suite { name: "rayon unit tests", programs: "-p rayon --lib", help_any: false, ignored: ENDLESS, differ: NONE },
    Suite { name: "rayon integration tests", programs: "-p rayon --test *", help_any: false, ignored: NONE, differ: NONE },
    Suite { name: "rayon doc tests", programs: "-p rayon --doc", help_any: false, ignored: NONE, differ: NONE },
];

/// Unit tests that are not compiled.
pub const LEFT_OUT: &[Excuse] = &[
    ("thread_pool::test::workers_stop", REGISTRY),
    ("thread_pool::test::sleeper_stop", REGISTRY),
    (
        "broadcast::test::broadcast_after_spawn",
        "a race: a thread that has run its part of the broadcast may steal the spawned task",
    ),
];

const REGISTRY: &str = "calls the private function ThreadPool::registry";

/// Unit tests of behaviour that our rayon-core has only with help-any: a waiting thread runs tasks
/// that it is not waiting for.
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
