//! What builds a pool.

use super::Builder;
use crate::global;
use crate::handle::Pool;
use crate::options::{BuildError, Options};

impl<P> Builder<P> {
    pub(crate) fn options(self) -> Result<Options, BuildError> {
        Options::of(self.settings)
    }
}

impl<P: From<Pool>> Builder<P> {
    /// Creates the pool and starts its threads.
    ///
    /// If the operating system refuses to start a thread, the pool prints a line to standard error
    /// and continues with the threads that it could start.
    ///
    /// ```
    /// use tidegate::Pool;
    ///
    /// let error = Pool::builder().workers(4).max_threads(2).build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "Builder::max_threads: 2 is less than the number of workers, 4: expected 4 to 32768"
    /// );
    /// ```
    ///
    /// # Errors
    /// If an option, or the environment variable that is read in its place, has an invalid value,
    /// or if two options contradict each other. The error names them and the accepted values.
    pub fn build(self) -> Result<P, BuildError> {
        Pool::with_options(self.options()?).map(P::from)
    }
}

/// Starts the global pool with the options of `builder`.
///
/// Call it early in `main`, before anything uses the global pool and so starts it with default
/// options. A library should leave this to the program. The global pool lives until the process
/// ends; the process does not wait for the pool's tasks.
///
/// Environment variables are read as for any [`Builder`]: a variable sets an option that the
/// builder does not set. An invalid value is an error here, whereas a global pool that starts at
/// its first use only prints the error. A child made by `fork` starts its own global pool with
/// these options.
///
/// ```
/// use tidegate::Pool;
///
/// tidegate::build_global(Pool::builder().workers(2))?;
/// assert_eq!(tidegate::current_num_workers(), 2);
///
/// let error = tidegate::build_global(Pool::builder().workers(3)).unwrap_err();
/// assert_eq!(error.to_string(), "build_global: the global pool exists already");
/// # Ok::<(), tidegate::BuildError>(())
/// ```
///
/// # Errors
/// If the global pool exists already, because it was built or a free function has
/// used it, if the variable `TIDEGATE_GLOBAL` is `off`, or if the options are invalid (see
/// [`Builder::build`]). In the last case, no global pool is started, and a later call may succeed.
pub fn build_global<P>(builder: Builder<P>) -> Result<(), BuildError> {
    global::build(builder.settings)
}
