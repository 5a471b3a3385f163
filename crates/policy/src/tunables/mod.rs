//! Every setting of the runtime and the simulator, with its range, its default and the reason for
//! the default.
//!
//! A tunable is one constant, which holds the name, the allowed values, the default and the reason
//! for the default. The code takes the value from the constant ([`Tunable::default`]), checks input
//! against it ([`Tunable::check`], [`Tunable::parse`]) and prints it ([`rows`]). The code contains
//! the number nowhere else.
//!
//! The parameters of policies are tunables, too. The part of the name after the dot is the key in
//! the policy's text form. A parameter has no environment variable of its own: one variable sets
//! the whole policy.
//!
//! Each tunable is declared next to the policy that uses it. This module re-exports all of them and
//! declares those that belong to no policy. It does not read the environment: the runtime does, and
//! passes the text to [`Tunable::parse`].
//!
//! ```
//! use tidegate_policy::tunables::WORKERS;
//!
//! assert_eq!(WORKERS.parse("12")?, Some(12));
//! let error = WORKERS.parse("0").unwrap_err().to_string();
//! let expected = "invalid value \"0\" for TIDEGATE_WORKERS: expected an integer from 1 to 4096";
//! assert_eq!(error, expected);
//! # Ok::<(), tidegate_policy::ParseError>(())
//! ```

mod exec;
mod runtime;
mod simulator;

#[doc(inline)]
pub use crate::amount::{STEAL, STEAL_FIXED, STEAL_HALF_ABOVE};
#[doc(inline)]
pub use crate::desire::{DESIRE, tunables::*};
#[doc(inline)]
pub use crate::idle::{IDLE, tunables::*};
pub use crate::limits::WORKERS;
pub use crate::memory::tunables::*;
pub use crate::place_by::{PLACES, PLACES_EACH};
pub use crate::priority::{PRIORITY, PRIORITY_AGING};
#[doc(inline)]
pub use crate::queue::QUEUE;
pub use crate::search::tunables::*;
pub use crate::share::tunables::*;
pub use crate::stall::{STALL_GAP, STALL_REPORT, STALL_USAGE};
pub use crate::tunable::{Allowed, AnyEntry, Basis, Entry, Row, Setting, Tunable, Unit};
#[doc(inline)]
pub use crate::victim::VICTIM;
#[doc(inline)]
pub use crate::wait::WAIT;
pub use exec::*;
pub use runtime::*;
pub use simulator::*;

use crate::error::ParseError;
use crate::text::closest;
use crate::{
    amount, desire, idle, limits, memory, place_by, priority, queue, search, share, stall, victim,
    wait,
};
use alloc::format;
use alloc::vec::Vec;

/// The variable that holds the path of the table of jobs.
pub const TABLE_VARIABLE: &str = "TIDEGATE_TABLE";
/// The variable that names the record of the `tidegate exec` that started a process.
pub const EXEC_VARIABLE: &str = "TIDEGATE_EXEC";
/// A container's CPU request, in thousandths of a processor.
pub const REQUEST_VARIABLE: &str = "TIDEGATE_CPU_REQUEST";
/// The variable that holds the only schedule that a search in simulated pools runs.
pub const SCHEDULE_VARIABLE: &str = "TIDEGATE_SCHEDULE";

/// Checks the name of an environment variable.
///
/// # Errors
/// Returns an error if the name begins with `TIDEGATE_` but no variable of Tidegate has it.
///
/// ```
/// let check = tidegate_policy::tunables::check_variable;
/// let error = check("TIDEGATE_WORKES").unwrap_err().to_string();
/// let expected = "unknown variable \"TIDEGATE_WORKES\"; did you mean \"TIDEGATE_WORKERS\"?";
/// assert_eq!(error, expected);
/// assert!(check("TIDEGATE_TABLE").is_ok() && check("WORKERS").is_ok());
/// ```
#[inline]
pub fn check_variable(name: &str) -> Result<(), ParseError> {
    const PREFIX: &str = "TIDEGATE_";
    let Some(end) = name.strip_prefix(PREFIX) else {
        return Ok(());
    };
    let set = rows().into_iter().filter_map(|row| row.variable);
    let others = [
        TABLE_VARIABLE,
        EXEC_VARIABLE,
        REQUEST_VARIABLE,
        SCHEDULE_VARIABLE,
    ];
    let known: Vec<_> = set.chain(others).collect();
    if known.contains(&name) {
        return Ok(());
    }
    let problem = format!("unknown variable {name:?}");
    // Without the prefix, in which all names are alike.
    let ends = known.iter().filter_map(|name| name.strip_prefix(PREFIX));
    Err(match closest(end, ends) {
        Some(end) => ParseError::misspelled(&problem, &format!("{PREFIX}{end}")),
        None => ParseError::new("", &problem, "a variable that `tidegate tunables` lists"),
    })
}

/// Returns all tunables. First come the settings that users change most often; then those of the
/// runtime, of sharing between jobs, of the estimators, of the idle policies, of the memory orders
/// and of `tidegate exec`; and last the simulator's costs.
#[must_use]
#[inline]
pub fn rows() -> Vec<Row> {
    let tables = [
        limits::ROWS,
        idle::ROWS,
        desire::ROWS,
        amount::ROWS,
        victim::ROWS,
        wait::ROWS,
        queue::ROWS,
        place_by::ROWS,
        priority::ROWS,
        stall::ROWS,
        runtime::ROWS,
        search::tunables::ROWS,
        share::tunables::ROWS,
        desire::tunables::ROWS,
        idle::tunables::ROWS,
        memory::tunables::ROWS,
        exec::ROWS,
        simulator::ROWS,
    ];
    let mut rows = Vec::new();
    for table in tables {
        rows.extend(table.iter().map(Tunable::shown));
    }
    rows
}
