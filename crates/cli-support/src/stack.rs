//! Provides a thread with a large stack for programs that recurse deeply.
//!
//! The serial version of a program runs on the calling thread, and so does the parallel version on
//! some runtimes. The deepest tree of the program `uts` would overflow the stack of a main thread.
//! Threads that other libraries start have the standard library's default stack size. Only an
//! environment variable can change that size, and only before the first thread starts: see
//! [`restart`].

use std::io;
use std::thread;

use crate::failure::Failure;

/// The size of the stack, in bytes. Only pages that are used take up memory.
const STACK: usize = 512 << 20;

/// The environment variable that sets the default stack size of threads.
#[cfg(unix)]
const DEFAULT: &str = "RUST_MIN_STACK";

/// Runs `work` on a thread with a large stack.
pub fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("tidegate-main".into())
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|error| refused(&error))?;
        thread
            .join()
            .map_err(|panic| std::panic::resume_unwind(panic))
    })
}

fn refused(error: &io::Error) -> Failure {
    Failure::Impossible(format!(
        "cannot start a thread with {STACK} bytes of stack: {error}"
    ))
}

/// Restarts the program with these environment variables. Also increases the default stack size,
/// unless the user has set it.
#[cfg(unix)]
pub fn restart(variables: &[(&str, String)]) -> Result<(), Failure> {
    use std::os::unix::process::CommandExt;
    let mut missing: Vec<_> = variables
        .iter()
        .filter(|(name, value)| std::env::var_os(name).is_none_or(|set| set != **value))
        .cloned()
        .collect();
    if std::env::var_os(DEFAULT).is_none() {
        missing.push((DEFAULT, STACK.to_string()));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|error| not_again(&error))?;
    let error = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .envs(missing)
        .exec();
    Err(not_again(&error))
}

#[cfg(unix)]
fn not_again(error: &io::Error) -> Failure {
    Failure::Impossible(format!(
        "cannot restart the program with {DEFAULT}={STACK}, which deep recursion on other runtimes \
         needs: {error}; set {DEFAULT} yourself"
    ))
}

/// Keeps the default stack size, and rejects any variables, because this system cannot replace a
/// process.
#[cfg(not(unix))]
pub fn restart(variables: &[(&str, String)]) -> Result<(), Failure> {
    match variables.first() {
        None => Ok(()),
        Some((name, value)) => Err(Failure::Usage(format!(
            "comparisons take this option from the environment on this system: set {name}={value}"
        ))),
    }
}
