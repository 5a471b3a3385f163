//! A thread with a stack for programs that recurse deeply.
//!
//! The serial version of a program, and the parallel body on a runtime whose caller takes part, run
//! on the thread that called them, and the deepest named tree needs more than a main thread has.
//! Threads that other libraries start take the standard library's default, which only an environment
//! variable can change, and that only before the first thread: [`start_anew`].

use std::io;
use std::thread;

use crate::failure::Failure;

/// Address space of the stack in bytes. It is touched lazily.
const STACK: usize = 512 << 20;

/// The variable with the size of a thread's stack where its program names none.
#[cfg(unix)]
const DEFAULT: &str = "RUST_MIN_STACK";

/// Runs `work` on such a thread.
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
        "the system refuses a thread with {STACK} bytes of stack: {error}"
    ))
}

/// Starts the program anew with a larger default stack, unless the user has chosen one, and with these variables.
#[cfg(unix)]
pub fn start_anew(variables: &[(&str, String)]) -> Result<(), Failure> {
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
        "cannot start the program anew with {DEFAULT}={STACK}, which deep recursion in other \
         runtimes needs: {error}; set {DEFAULT} yourself"
    ))
}

/// Elsewhere a process cannot be replaced: the default stays, and variables are the user's to set.
#[cfg(not(unix))]
pub fn start_anew(variables: &[(&str, String)]) -> Result<(), Failure> {
    match variables.first() {
        None => Ok(()),
        Some((name, value)) => Err(Failure::Usage(format!(
            "a comparison takes this from the environment here: set {name}={value}"
        ))),
    }
}
