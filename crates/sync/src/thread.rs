//! Starts, yields, numbers and binds threads, and handles `fork`.

mod cpus;
mod exit;
mod fork;
mod number;
mod private;
mod processors;
mod slice;

use crate::simulation::{self, End, Seat};
#[cfg(loom)]
use loom::thread as imp;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(loom))]
use std::thread as imp;

pub use cpus::{CpuSet, Tid, current_cpu};
pub use exit::at_exit;
pub use fork::{PerProcess, Process, abort_child, watch_forks};
pub use number::with_number;
pub use private::PrivateFile;
pub use processors::processors;
pub use slice::shorten_slice;

/// The handle of a thread from [`start`].
#[derive(Debug)]
pub struct JoinHandle {
    handle: imp::JoinHandle<()>,
    /// The end of the thread's part in its simulation, if it belongs to one.
    end: Option<End>,
}

impl JoinHandle {
    /// Waits for the thread to end.
    ///
    /// # Errors
    /// The thread has panicked; the error is the payload.
    pub fn join(self) -> std::thread::Result<()> {
        if let Some(end) = &self.end {
            end.wait();
        }
        self.handle.join()
    }
}

/// Starts a thread with this name and a stack of `stack` bytes. Under loom, the name and the stack
/// size are loom's. A thread that is started in a simulation belongs to it.
///
/// # Errors
/// The system cannot start a thread, for instance because the limit on threads is reached.
pub fn start(
    name: String,
    stack: usize,
    body: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle> {
    start_boxed(name, stack, Box::new(body))
}

type Body = Box<dyn FnOnce() + Send>;

fn start_boxed(name: String, stack: usize, body: Body) -> io::Result<JoinHandle> {
    let seat = simulation::admit(&name);
    let end = seat.as_ref().map(Seat::end);
    let body = move || {
        if let Some(seat) = seat {
            seat.enter();
        }
        body();
    };
    #[cfg(loom)]
    let handle = {
        let _ = (name, stack);
        loom::thread::spawn(body)
    };
    #[cfg(not(loom))]
    let handle = std::thread::Builder::new()
        .name(name)
        .stack_size(stack)
        .spawn(body)
        .inspect_err(|error| {
            if error.kind() == io::ErrorKind::Unsupported {
                // Relaxed: without threads there is nobody to pair with.
                UNSUPPORTED.store(true, Ordering::Relaxed);
            }
        })?;
    Ok(JoinHandle { handle, end })
}

/// Whether [`start`] has failed because this system has no threads.
static UNSUPPORTED: AtomicBool = AtomicBool::new(false);

/// Whether this system is known to have no threads. A target feature tells without a system, but
/// not under WASI: on stable Rust, `wasm32-wasip1-threads` has the same ones as `wasm32-wasip1`.
#[cfg(not(all(target_os = "linux", not(any(loom, miri)))))]
pub(crate) fn are_unsupported() -> bool {
    let lone = cfg!(all(
        target_family = "wasm",
        target_os = "unknown",
        not(target_feature = "atomics")
    ));
    // Relaxed: without threads there is nobody to pair with.
    lone || UNSUPPORTED.load(Ordering::Relaxed)
}

/// Lets other threads use the processor.
pub fn yield_now() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    if !simulation::give_way("yields") {
        std::thread::yield_now();
    }
}
