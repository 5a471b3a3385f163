//! The state shared by the tasks of a call that stops at its first error.

use super::token::{CancelToken, child_of_current};
use super::{Cancelled, TryError};
use crate::parallel_for::keep_first;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::lock::Mutex;

pub(super) struct Attempt<E> {
    /// A child of the caller's token, which the first error or panic cancels.
    pub(super) token: CancelToken,
    first_error: Mutex<Option<E>>,
    /// Whether a task or an item was skipped because the token was cancelled.
    was_cut_short: AtomicBool,
}

impl<E> Attempt<E> {
    pub(super) fn new() -> Self {
        Self {
            token: child_of_current(),
            first_error: Mutex::new(None),
            was_cut_short: AtomicBool::new(false),
        }
    }

    /// Runs `f`, unless the token is cancelled. Returns `None` if `f` has failed or did not run.
    pub(super) fn run<T>(&self, f: impl FnOnce() -> Result<T, E>) -> Option<T> {
        // A task may have been spawned under a descendant of this token, such as a deadline.
        let run = || {
            if self.token.covers_task() {
                f()
            } else {
                self.token.run(f)
            }
        };
        match self.token.run_unless_cancelled(run) {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => {
                keep_first(&self.first_error, error);
                self.token.cancel();
            }
            Err(Cancelled) => self.cut_short(),
        }
        None
    }

    /// Calls `f` with each item until `f` fails or the token itself is cancelled. Returns `None` if
    /// it stopped early.
    pub(super) fn run_each<T>(
        &self,
        items: impl IntoIterator<Item = T>,
        mut f: impl FnMut(T) -> Result<(), E>,
    ) -> Option<()> {
        self.run(|| {
            for item in items {
                if self.token.was_cancelled_itself() {
                    self.cut_short();
                    return Ok(None);
                }
                f(item)?;
            }
            Ok(Some(()))
        })?
    }

    fn cut_short(&self) {
        // Relaxed: read after all tasks have ended.
        self.was_cut_short.store(true, Ordering::Relaxed);
    }

    /// Returns the value, unless there was an error or something was left out. Call this after all
    /// tasks have ended.
    pub(super) fn end<T>(&self, value: T) -> Result<T, TryError<E>> {
        let first_error = self.first_error.lock().take();
        if let Some(error) = first_error {
            return Err(TryError::Failed(error));
        }
        // Relaxed: the tasks have ended, so all stores come before this load.
        if self.was_cut_short.load(Ordering::Relaxed) {
            return Err(TryError::Cancelled);
        }
        Ok(value)
    }
}
