//! `tidegate compare`: the same work on several runtimes, in turns.
//!
//! A comparison is a list of [lanes](lane::Lane), one per runtime and number of workers, each of which
//! can take a sample. The samples are taken in rounds, one per lane and round, so that whatever else
//! happens on the machine meets all lanes alike ([`rounds`]). What comes out is a [`row`](row::Row)
//! per lane.
//!
//! | file | lanes of |
//! |---|---|
//! | [`program`] | any program of `tidegate run` |
//! | [`wake`] | a fork that has to wake a worker |
//! | [`idle`] | pools with nothing to do |
//! | [`arms`] | two long arms of a join |
//! | [`hidden`] | work behind an owner that polls nothing |
//! | [`loops`] | short loops |
//! | [`iter`] | rayon's iterators, on either rayon-core, each in a process of its own |
//!
//! What this does not do: bind workers, clear caches, or leave samples out. A row's options are the
//! runtime's defaults; Tidegate's can be set by its environment variables, and how it shares the machine by flags too, which become
//! variables of a program started anew: the pools are made by code that knows of no flags.

mod arms;
mod fact;
mod hidden;
mod idle;
mod iter;
mod lane;
mod loops;
mod program;
mod race;
mod rounds;
mod row;
mod time;
mod version;
mod wake;

use crate::arguments::{Case, CompareArguments, Contest, Rival, Size};
use crate::failure::Failure;
use crate::options;
use crate::stack;
pub use version::check_rayon;

/// What a comparison is asked to do, whatever it compares.
pub struct Setting {
    with: Option<Vec<Rival>>,
    workers: Vec<usize>,
    repeat: Option<u32>,
    size: Size,
}

impl Setting {
    /// The rivals asked for, else these. They run in this process, and so on the rayon-core that it was built with.
    fn rivals(&self, preset: &[Rival]) -> Result<Vec<Rival>, Failure> {
        let rivals = self.with.clone().unwrap_or_else(|| preset.to_vec());
        if rivals.contains(&Rival::Rayon) {
            check_rayon()?;
        }
        Ok(rivals)
    }

    /// Repetitions asked for, else so many; two when everything is to be tiny.
    fn repeat(&self, preset: u32) -> u32 {
        let preset = self.sized(2, preset);
        self.repeat.unwrap_or(preset)
    }

    /// The first where everything is to be tiny, else the second.
    fn sized<T>(&self, tiny: T, usual: T) -> T {
        if self.size == Size::Tiny { tiny } else { usual }
    }

    /// Numbers of workers asked for, else one and what the machine allows.
    fn workers(&self) -> Result<Vec<usize>, Failure> {
        if !self.workers.is_empty() {
            return Ok(self.workers.clone());
        }
        let (most, _) = options::number_of_workers(None)?;
        Ok(if most == 1 { vec![1] } else { vec![1, most] })
    }

    /// The same for a case that one worker cannot show.
    fn at_least_two_workers(&self, case: Case) -> Result<Vec<usize>, Failure> {
        if self.workers.contains(&1) {
            return Err(Failure::Usage(format!(
                "--workers is 1, allowed for {} are 2 and more",
                case.name()
            )));
        }
        Ok(if self.workers.is_empty() {
            vec![2]
        } else {
            self.workers.clone()
        })
    }
}

/// Carries the subcommand out.
pub fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    options::check_environment()?;
    stack::start_anew(&arguments.sharing.as_variables())?;
    let setting = Setting {
        with: (!arguments.with.is_empty()).then(|| arguments.with.clone()),
        workers: arguments.workers.clone(),
        repeat: arguments.repeat,
        size: arguments.size,
    };
    let outcome = stack::with_deep_stack(|| match &arguments.contest {
        Contest::Program(chosen) => program::compare(chosen, &setting),
        Contest::Case(case, chains) => match case {
            Case::Wake => wake::compare(&setting),
            Case::Idle => idle::compare(&setting),
            Case::JoinArms => arms::compare(&setting),
            Case::Hidden => hidden::compare(&setting),
            Case::Loop => loops::compare(&setting),
            Case::Iter => iter::compare(chains, &setting),
        },
    })??;
    outcome.print(arguments.format)
}
