//! Where tasks and intervals come from.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// Where a task, an interval or a stream was created, and its name, if it has one.
///
/// Reports of panics and traces contain it. Spawned closures and futures have an origin, and so do
/// intervals and streams. The halves of a join and the tasks of a scope have none.
///
/// As text, an origin is one line: control characters in the name are escaped.
///
/// ```
/// # let (sender, origins) = std::sync::mpsc::channel();
/// let pool = tidegate::Pool::builder()
///     .workers(1)
///     .on_panic(move |report| {
///         let task = report.origin.expect("the task was spawned");
///         eprintln!("{task} panicked");
/// #       sender.send(task.to_string()).unwrap();
///     })
///     .build()?;
/// let task = pool.task().named("resize");
/// drop(task.spawn(|| -> u32 { panic!("oh") })); // resize (src/main.rs:9:11) panicked
/// # assert!(origins.recv()?.starts_with("resize ("));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    // One word, so that an origin passes in registers.
    name: Option<Arc<Cow<'static, str>>>,
    at: &'static Location<'static>,
}

/// Returns the origin of a task that was created `at` this place. An empty name is none.
#[inline]
pub fn of(name: Option<Cow<'static, str>>, at: &'static Location<'static>) -> Origin {
    let name = name.filter(|name| !name.is_empty()).map(Arc::new);
    Origin { name, at }
}

impl Origin {
    /// Returns the name that `TaskBuilder::named` or `IntervalBuilder::named` has given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().map(|name| &**name)
    }

    /// Returns the place in the source that created the task, interval or stream.
    #[must_use]
    pub const fn location(&self) -> &'static Location<'static> {
        self.at
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} ({})", name.escape_debug(), self.at),
            None => write!(f, "{}", self.at),
        }
    }
}
