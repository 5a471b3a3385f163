//! The suites, and the tests among them that do not pass, each with its reason.

/// Tests that run together.
pub struct Suite {
    /// What its row is called.
    pub name: &'static str,
    /// Their package and programs, as arguments of `cargo test`.
    pub programs: &'static str,
    /// An environment variable that is set for them.
    pub setting: Option<(&'static str, &'static str)>,
    /// Those that do not pass.
    pub excused: &'static [&'static [Excuse]],
}

/// Why a test does not pass.
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
    /// It is not compiled: it calls a private function for which there is no public one. The reason is its name.
    LeftOut,
    /// Rayon itself does not run it.
    Ignored,
    /// It runs and fails, because we mean to differ.
    Differs,
}

/// Every suite, quick ones first.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "rayon-core unit tests",
        programs: "-p rayon-core-tests --lib",
        setting: None,
        excused: &[LEFT_OUT, DIFFERENCES],
    },
    Suite {
        name: "the same when waits help anybody",
        programs: "-p rayon-core-tests --lib",
        setting: Some(("TIDEGATE_WAIT", "help-any")),
        excused: &[LEFT_OUT],
    },
    Suite {
        name: "rayon-core integration tests",
        programs: "-p rayon-core-tests --test *",
        setting: None,
        excused: &[STARTED_BY_ANOTHER],
    },
    Suite {
        name: "rayon-core doc tests",
        programs: "-p rayon-core-tests --doc",
        setting: None,
        excused: &[],
    },
    Suite {
        name: "rayon unit tests",
        programs: "-p rayon --lib",
        setting: None,
        excused: &[IGNORED],
    },
    Suite {
        name: "rayon integration tests",
        programs: "-p rayon --test *",
        setting: None,
        excused: &[],
    },
    Suite {
        name: "rayon doc tests",
        programs: "-p rayon --doc",
        setting: None,
        excused: &[],
    },
];

/// Unit tests that need what is private to rayon-core.
pub const LEFT_OUT: &[Excuse] = &[
    left_out("thread_pool::test::workers_stop", "ThreadPool::registry"),
    left_out("thread_pool::test::sleeper_stop", "ThreadPool::registry"),
];

/// Unit tests of what our waits do not do unless they are told to: run tasks that the waiter does not wait for.
const DIFFERENCES: &[Excuse] = &[
    differs("scope::test::mixed_lifo_order"),
    differs("scope::test::mixed_fifo_order"),
    differs("scope::test::mixed_lifo_fifo_order"),
    differs("scope::test::mixed_fifo_lifo_order"),
];

/// Tests that rayon ignores because another one, `stack_overflow_crash`, starts each as a process.
const STARTED_BY_ANOTHER: &[Excuse] = &[
    ignored("run_with_small_stack", "stack_overflow_crash starts it"),
    ignored("run_with_large_stack", "stack_overflow_crash starts it"),
];

/// Tests that rayon ignores, and nothing else runs.
const IGNORED: &[Excuse] = &[ignored(
    "iter::test::check_repeat_unbounded",
    "counts to the largest number there is, one by one",
)];

const fn left_out(test: &'static str, private: &'static str) -> Excuse {
    Excuse {
        test,
        kind: Kind::LeftOut,
        why: private,
    }
}

const fn differs(test: &'static str) -> Excuse {
    Excuse {
        test,
        kind: Kind::Differs,
        why: "the end of an inner scope runs no task of the outer one",
    }
}

const fn ignored(test: &'static str, why: &'static str) -> Excuse {
    Excuse {
        test,
        kind: Kind::Ignored,
        why,
    }
}
