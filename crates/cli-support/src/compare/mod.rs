//! Comparisons, which run the same work on several runtimes in interleaved rounds.
//!
//! A comparison is a list of [lanes](lane::Lane), one per runtime and number of workers. Each
//! [round](rounds) measures every lane once, so that disturbances affect all lanes alike. The
//! result is a [`row`](row::Row) per lane. [`program`] creates the lanes of a program.
//!
//! Workers aren't bound, caches aren't cleared, and no sample is dropped. All runtimes use their
//! default options, except that environment variables can change Tidegate's. The code that creates
//! the pools doesn't know the command's flags, so the process turns its sharing flags into
//! environment variables and restarts itself.

mod flags;
pub mod lane;
pub mod program;
pub mod race;
pub mod rounds;
pub mod row;
pub mod time;
mod version;

pub use flags::{ComparisonFlags, Rival, after_compare};
pub use version::check_rayon;

use crate::arguments::Size;
use crate::failure::Failure;
use crate::{options, stack};
use row::Outcome;

/// The options that all comparisons share.
pub struct Setting {
    /// The requested rivals; `None` for the case's defaults.
    pub with: Option<Vec<Rival>>,
    /// The requested numbers of workers; if empty, the case's defaults apply.
    pub workers: Vec<usize>,
    /// The requested number of repetitions.
    pub repeat: Option<u32>,
    /// The problem size.
    pub size: Size,
}

impl Setting {
    /// Returns the requested rivals, or `preset` if the user requested none. Fails if they include
    /// rayon and this process was built with a rayon that runs on Tidegate.
    pub fn rivals(&self, preset: &[Rival]) -> Result<Vec<Rival>, Failure> {
        let rivals = self.with.clone().unwrap_or_else(|| preset.to_vec());
        if rivals.contains(&Rival::Rayon) {
            check_rayon()?;
        }
        Ok(rivals)
    }

    /// Returns the requested number of repetitions. By default, it is 2 for the tiny size, and
    /// `preset` otherwise.
    pub fn repeat(&self, preset: u32) -> u32 {
        let preset = self.sized(2, preset);
        self.repeat.unwrap_or(preset)
    }

    /// Returns `tiny` for the tiny size, and `usual` otherwise.
    pub fn sized<T>(&self, tiny: T, usual: T) -> T {
        if self.size == Size::Tiny { tiny } else { usual }
    }

    /// Returns the requested numbers of workers. By default, they are 1 and the number that the
    /// machine allows.
    pub fn workers(&self) -> Result<Vec<usize>, Failure> {
        if !self.workers.is_empty() {
            return Ok(self.workers.clone());
        }
        let (most, _) = options::number_of_workers(None)?;
        Ok(if most == 1 { vec![1] } else { vec![1, most] })
    }

    /// Like [`workers`](Self::workers), but for a case that needs at least two workers.
    pub fn at_least_two_workers(&self, case: &str) -> Result<Vec<usize>, Failure> {
        if self.workers.contains(&1) {
            return Err(Failure::Usage(format!(
                "invalid value 1 for --workers: expected at least 2 for {}",
                case
            )));
        }
        Ok(if self.workers.is_empty() {
            vec![2]
        } else {
            self.workers.clone()
        })
    }
}

/// Runs the comparison `work` with these flags, and prints its outcome.
pub fn carry_out(
    flags: &ComparisonFlags,
    work: impl FnOnce(&Setting) -> Result<Outcome, Failure> + Send,
) -> Result<(), Failure> {
    options::check_environment()?;
    stack::restart(&flags.sharing.as_variables())?;
    let setting = Setting {
        with: (!flags.with.is_empty()).then(|| flags.with.clone()),
        workers: flags.workers.clone(),
        repeat: flags.repeat,
        size: flags.size,
    };
    stack::with_deep_stack(|| work(&setting)?.print(flags.format))?
}
