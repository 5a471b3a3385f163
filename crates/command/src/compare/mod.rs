//! Comparisons: the same work on several runtimes, in turns.
//!
//! A comparison is a list of [lanes](lane::Lane), one per runtime and number of workers, each of
//! which can take a sample. The samples are taken in [`rounds`], one per lane and round, so that
//! whatever else happens on the machine meets all lanes alike. What comes out is a
//! [`row`](row::Row) per lane. The lanes of a program are in [`program`].
//!
//! What this does not do: bind workers, clear caches, or leave samples out. A row's options are the
//! runtime's defaults; Tidegate's can be set by its environment variables, and how it shares the
//! machine by flags too, which become variables of a program started anew: the pools are made by
//! code that knows of no flags.

mod flags;
pub mod lane;
pub mod program;
pub mod race;
pub mod rounds;
pub mod row;
pub mod time;
mod version;

pub use flags::{AFTER_COMPARE, ComparisonFlags, Rival};
pub use version::check_rayon;

use crate::arguments::Size;
use crate::failure::Failure;
use crate::{options, stack};
use row::Outcome;

/// What a comparison is asked to do, whatever it compares.
pub struct Setting {
    /// The rivals asked for; none if the case's own are meant.
    pub with: Option<Vec<Rival>>,
    /// The numbers of workers asked for; empty if the case decides.
    pub workers: Vec<usize>,
    /// Repetitions asked for.
    pub repeat: Option<u32>,
    /// How big everything is.
    pub size: Size,
}

impl Setting {
    /// The rivals asked for, else these. They run in this process, and so on the rayon-core that it was built with.
    pub fn rivals(&self, preset: &[Rival]) -> Result<Vec<Rival>, Failure> {
        let rivals = self.with.clone().unwrap_or_else(|| preset.to_vec());
        if rivals.contains(&Rival::Rayon) {
            check_rayon()?;
        }
        Ok(rivals)
    }

    /// Repetitions asked for, else so many; two when everything is to be tiny.
    pub fn repeat(&self, preset: u32) -> u32 {
        let preset = self.sized(2, preset);
        self.repeat.unwrap_or(preset)
    }

    /// The first where everything is to be tiny, else the second.
    pub fn sized<T>(&self, tiny: T, usual: T) -> T {
        if self.size == Size::Tiny { tiny } else { usual }
    }

    /// Numbers of workers asked for, else one and what the machine allows.
    pub fn workers(&self) -> Result<Vec<usize>, Failure> {
        if !self.workers.is_empty() {
            return Ok(self.workers.clone());
        }
        let (most, _) = options::number_of_workers(None)?;
        Ok(if most == 1 { vec![1] } else { vec![1, most] })
    }

    /// The same for a case that one worker cannot show.
    pub fn at_least_two_workers(&self, case: &str) -> Result<Vec<usize>, Failure> {
        if self.workers.contains(&1) {
            return Err(Failure::Usage(format!(
                "--workers is 1, allowed for {} are 2 and more",
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

/// Compares by `work` what the flags ask for, and prints the outcome.
pub fn carry_out(
    flags: &ComparisonFlags,
    work: impl FnOnce(&Setting) -> Result<Outcome, Failure> + Send,
) -> Result<(), Failure> {
    options::check_environment()?;
    stack::start_anew(&flags.sharing.as_variables())?;
    let setting = Setting {
        with: (!flags.with.is_empty()).then(|| flags.with.clone()),
        workers: flags.workers.clone(),
        repeat: flags.repeat,
        size: flags.size,
    };
    stack::with_deep_stack(|| work(&setting)?.print(flags.format))?
}
