//! The plan of the house as tables: who imports whom, where `unsafe` may stand, how long things may be.
//!
//! The rules in `rules/` read these tables and hold no names or numbers of their own. A crate that is not a row here
//! is a breach, so a new room starts with a new row.

/// One crate, of the workspace or beside it.
pub struct Room {
    /// Its folder below `crates/`.
    pub folder: &'static str,
    /// The rooms it may import.
    pub imports: &'static [&'static str],
    /// The packages from outside that it may depend on; tests may use others.
    pub outside: Outside,
    /// The files, or folders of modules, below its `src/` that may hold `unsafe`, without `.rs`. None: it is forbidden.
    pub unsafe_in: &'static [&'static str],
    /// Where its code runs.
    pub code: Code,
}

/// Where the code of a room runs, which decides what the checkers must see of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// In users' programs: it reaches atomics, locks, threads and the clock through `sync`, and explains its orderings.
    Runtime,
    /// In users' programs, on top of the runtime and outside of what loom models: it may use the locks and threads of the
    /// standard library, and explains its orderings.
    Above,
    /// In programs of our own.
    Tool,
}

/// Which packages from outside the workspace a room may use.
pub enum Outside {
    /// These and no others.
    Only(&'static [&'static str]),
    /// Any, but these only behind a feature.
    AnyWithOptional(&'static [&'static str]),
}

/// A crate that others are not allowed to pay for: its dependencies are its own affair.
const TOOL: Outside = Outside::AnyWithOptional(&[]);

/// Every crate.
pub const ROOMS: &[Room] = &[
    Room {
        folder: "policy",
        imports: &[],
        outside: Outside::Only(&[]),
        unsafe_in: &[],
        code: Code::Runtime,
    },
    Room {
        folder: "sync",
        imports: &[],
        outside: Outside::Only(&["loom", "libc", "memmap2", "windows-sys"]),
        unsafe_in: &["cell", "futex", "clock", "barrier", "thread", "segmented"],
        code: Code::Runtime,
    },
    Room {
        folder: "deque",
        imports: &["sync"],
        outside: Outside::Only(&[]),
        unsafe_in: &["claim", "ring", "split"],
        code: Code::Runtime,
    },
    Room {
        folder: "share",
        imports: &["policy", "sync"],
        outside: Outside::Only(&["libc"]),
        unsafe_in: &["mapping"],
        code: Code::Runtime,
    },
    Room {
        folder: "machine",
        imports: &["policy"],
        outside: Outside::Only(&[]),
        unsafe_in: &[],
        code: Code::Runtime,
    },
    Room {
        folder: "tidegate",
        imports: &["policy", "sync", "deque", "share", "machine"],
        outside: Outside::Only(&["tracing"]),
        unsafe_in: &["job", "latch", "worker", "scope", "interval", "allocator"],
        code: Code::Runtime,
    },
    // A package beside the workspace.
    Room {
        folder: "rayon-core",
        imports: &["tidegate"],
        outside: Outside::Only(&[]),
        unsafe_in: &["scope"],
        code: Code::Above,
    },
    Room {
        folder: "sim",
        imports: &["policy"],
        outside: Outside::Only(&[]),
        unsafe_in: &[],
        code: Code::Tool,
    },
    Room {
        folder: "workloads",
        imports: &["tidegate", "sim"],
        outside: Outside::AnyWithOptional(&["rayon", "chili"]),
        unsafe_in: &[],
        code: Code::Tool,
    },
    Room {
        folder: "command",
        imports: &["policy", "tidegate", "workloads"],
        outside: TOOL,
        unsafe_in: &[],
        code: Code::Tool,
    },
    Room {
        folder: "cli",
        imports: &["policy", "share", "tidegate", "sim", "workloads", "command"],
        outside: TOOL,
        unsafe_in: &[],
        code: Code::Tool,
    },
    Room {
        folder: "lab",
        imports: &[
            "policy",
            "sync",
            "deque",
            "share",
            "tidegate",
            "sim",
            "workloads",
            "command",
        ],
        outside: TOOL,
        unsafe_in: &[],
        code: Code::Tool,
    },
    Room {
        folder: "xtask",
        imports: &[],
        outside: TOOL,
        unsafe_in: &[],
        code: Code::Tool,
    },
];

/// Folders of programs that show or measure something. Nobody imports them, so they are no rooms, and they may import what
/// they like.
pub const PROGRAMS: &[&str] = &["benches", "examples", "fuzz"];

/// The one room that may name the standard library's atomics, threads and clock.
pub const DOOR: &str = "sync";

/// The one room that must do without the standard library altogether.
pub const WITHOUT_STD: &str = "policy";

/// What runtime crates other than the door reach only through it, outside tests.
pub const BEHIND_THE_DOOR: &[&str] = &[
    "std::sync",
    "core::sync",
    "alloc::sync",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// What lies behind the door and is harmless all the same: it counts references, which no model of ours looks at, or asks a
/// question.
pub const HARMLESS: &[&str] = &[
    "std::sync::Arc",
    "std::sync::Weak",
    "std::thread::Result",
    "std::thread::available_parallelism",
    "std::thread::panicking",
];

/// A cell that makes a thread wait while another one fills it. A child made by `fork` in that moment would wait for ever.
pub const WAITING_CELL: &str = "std::sync::OnceLock";

/// The files in which a single thread fills such cells, so that no other thread ever waits.
pub const FILLED_BY_ONE: &[&str] = &["crates/deque/src/array.rs", "crates/deque/src/store.rs"];

/// The most lines that a file may have.
pub const FILE_LINES: usize = 600;

/// The most lines that a function may have, from `fn` to its closing brace.
pub const FUNCTION_LINES: usize = 60;

/// Tests that may hold `unsafe`: what they test begins with a call of the C library.
pub const UNSAFE_TESTS: &[&str] = &[
    "crates/tidegate/tests/support/forks.rs",
    "crates/share/tests/support/sys.rs",
];

/// How many lines above an `unsafe` the end of its SAFETY note may lie: a statement may start before the keyword.
pub const SAFETY_REACH: usize = 4;

/// How many lines above an `Ordering` the end of its comment may lie.
pub const ORDERING_REACH: usize = 6;

/// The fewest words that can name a partner or a reason.
pub const ORDERING_WORDS: usize = 3;

/// The words of the project, each with its entry in [`GLOSSARY`].
pub const TERMS: &[&str] = &[
    "job",
    "pool",
    "worker",
    "slot",
    "task",
    "thief",
    "victim",
    "steal",
    "place",
    "interval",
    "point",
    "happens before",
    "quantum",
    "desire",
    "allotment",
    "usage",
    "lease",
];

/// The glossary page.
pub const GLOSSARY: &str = "docs/glossary.md";

/// Texts that name a machine or a place outside the repository. Each is cut in two, so that this table is not one.
pub const FOREIGN: &[(&str, &str)] = &[
    ("/wor", "k"),
    ("/roo", "t"),
    ("/hom", "e"),
    ("../sha", "red"),
    ("/tmp/tar", "get"),
    ("index.", "crates.io"),
    ("static.", "crates.io"),
    ("static.", "rust-lang.org"),
    ("registry.", "npmjs.org"),
    ("files.", "pythonhosted.org"),
    ("deb.", "debian.org"),
];

/// The room whose sources lie in `path`, a path from the root.
pub fn room_of(path: &str) -> Option<&'static Room> {
    let folder = path.strip_prefix("crates/")?.split('/').next()?;
    ROOMS.iter().find(|room| room.folder == folder)
}

/// The package's name of the room in `folder`, as users of the registry see it.
pub fn package_of(folder: &str) -> String {
    match folder {
        "tidegate" | "rayon-core" | "xtask" => folder.to_string(),
        _ => format!("tidegate-{folder}"),
    }
}
