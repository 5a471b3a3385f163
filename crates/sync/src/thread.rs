//! Threads: starting, yielding, numbering and binding them, and handling of `fork`.

mod cpus;
mod fork;
mod number;
mod private;
mod slice;

use std::io;

pub use cpus::{CpuSet, Tid, current_cpu};
pub use fork::{PerProcess, Process, abort_child, watch_forks};
pub use number::with_number;
pub use private::PrivateFile;
pub use slice::shorten_slice;

#[cfg(loom)]
pub use loom::thread::JoinHandle;
#[cfg(not(loom))]
pub use std::thread::JoinHandle;

/// Starts a named thread with `stack` bytes of stack. Loom uses its own name and stack size.
///
/// # Errors
/// Any error of the system, for instance that the limit of threads is reached.
pub fn start(
    name: String,
    stack: usize,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    #[cfg(loom)]
    return {
        let _ = (name, stack);
        Ok(loom::thread::spawn(body))
    };
    #[cfg(not(loom))]
    std::thread::Builder::new()
        .name(name)
        .stack_size(stack)
        .spawn(body)
}

/// Yields the processor to another thread.
pub fn yield_now() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::thread::yield_now();
}
