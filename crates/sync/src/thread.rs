//! Starts, yields, numbers and binds threads, and handles `fork`.

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

/// Starts a thread with this name and a stack of `stack` bytes. Under loom, the name and the stack
/// size are loom's.
///
/// # Errors
/// The system cannot start a thread, for instance because the limit on threads is reached.
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

/// Lets other threads use the processor.
pub fn yield_now() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::thread::yield_now();
}
