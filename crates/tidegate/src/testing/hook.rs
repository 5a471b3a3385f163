//! Keeps the panics of searched runs off standard error, and remembers the first one of each run.

use super::failure::PANICS;
use std::collections::BTreeMap;
use std::panic;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use tidegate_sync::simulation::{Observer, note, serial_here};
use tidegate_sync::stderr::print_line;

/// The first panic of each run that is being searched, by the number of its simulation.
static FIRST: Mutex<BTreeMap<u64, Option<String>>> = Mutex::new(BTreeMap::new());

/// What Rust says of a panic that cannot be caught.
const ENDS_PROCESS: [&str; 2] = ["cannot unwind", "in a destructor during cleanup"];

fn first() -> MutexGuard<'static, BTreeMap<u64, Option<String>>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to remember the first panic of a run.
pub(super) fn watch(run: &Observer) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !remember(info) {
                before(info);
            }
        }));
    });
    first().insert(run.serial(), None);
}

/// Ends what [`watch`] began, and returns the message of the run's first panic.
pub(super) fn unwatch(run: &Observer) -> Option<String> {
    first().remove(&run.serial()).flatten()
}

/// Remembers a panic if it is the first one of a watched run. Returns whether the run is watched.
fn remember(info: &panic::PanicHookInfo<'_>) -> bool {
    let Some(run) = serial_here() else {
        return false;
    };
    match first().get_mut(&run) {
        Some(message) => {
            let text = info.to_string();
            if ENDS_PROCESS.iter().any(|why| text.contains(why)) {
                let first = message.as_deref().unwrap_or("none");
                print_line(format_args!(
                    "a simulated run aborts the process; its first panic: {first}"
                ));
                return false;
            }
            message.get_or_insert(text);
            note(PANICS, None);
            true
        }
        None => false,
    }
}
