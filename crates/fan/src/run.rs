//! The verb `run`: plans, lets an engine run the pieces, and merges their results. The protocol is
//! in `docs/fan.md`.

pub mod book;
mod driver;
mod fresh;
pub mod lock;
mod progress;
pub mod schedule;
pub mod table;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use crate::engine::words::line;
use crate::engine::{Engine, EngineOptions, Launch};
use crate::files;
use crate::folder::{self, Folder, Survey};
use crate::interrupt::Interrupt;
use crate::merge::merge;
use crate::phrases::span;
use crate::plan::{Header, Plan};
use crate::status::commands;
use crate::{Error, Split};
use book::Book;
use driver::Driver;
use lock::Lock;

/// How a program is run in pieces.
pub struct Options {
    pub pieces: usize,
    pub engine: EngineOptions,
    /// The folder of the results, if the user has named one.
    pub dir: Option<PathBuf>,
    /// Whether what is in the folder is removed first.
    pub fresh: bool,
    /// Another build whose plan may be used.
    pub accept_build: Option<String>,
    pub retries: usize,
    /// The seconds after which a piece hands its remaining work to new pieces.
    pub budget: f64,
    pub cpus: Option<usize>,
    /// The arguments of this program that lead to the verbs.
    pub prefix: Vec<OsString>,
}

/// A program that is planned, and the folder where its pieces publish.
struct Prepared<P: Split, L> {
    plan: Plan<P>,
    folder: Folder,
    lock: L,
    engine: Box<dyn Engine>,
    /// The command line of a piece, without its item.
    piece: String,
}

/// Runs the program, and returns what its pieces have found, and the folder of their results.
pub fn run<P: Split>(arguments: P, options: &Options) -> Result<(P::Report, PathBuf), Error> {
    let Prepared {
        plan,
        folder,
        engine,
        piece,
        lock: _lock,
    } = prepare(arguments, options, Lock::take)?;
    let interrupt = Interrupt::listen()?;
    let book = Book::new(&folder, options.engine.engine.name());
    let survey = Survey::new(&plan.weights());
    let mut driver = Driver::new(&book, survey, engine, piece, options.retries, &interrupt);
    let end = driver.run();
    let survey = driver.finish();
    interrupt.stop_listening();
    if let Some(signal) = interrupt.caught() {
        let (done, all) = (survey.published.len(), survey.weights.len());
        let path = folder.path().display();
        let text = format!(
            "interrupted: {done} of {all} results are in {path}; run the same command again to resume"
        );
        // Another error may have ended the run before the signal.
        let error = Error::interrupted(signal, text);
        return Err(end.err().map_or(error.clone(), |end| error.and(&end)));
    }
    end?;
    // A piece may have been killed between its link and this.
    files::sync(folder.path())?;
    Ok((merge(&plan, folder.path())?, folder.path().to_owned()))
}

/// Tells the user if all results are there, because the program's input may have changed since.
fn tell_if_finished(folder: &Path, survey: &Survey) {
    if survey.weights.is_empty() || survey.missing().next().is_some() {
        return;
    }
    let path = book::plan_path(folder);
    let made = fs::metadata(&path).and_then(|plan| plan.modified());
    let age = made.ok().and_then(|made| made.elapsed().ok());
    let age = span(age.unwrap_or_default().as_secs_f64());
    eprintln!(
        "nothing to run: all results exist, from a plan made {age} ago; to start over, add --fresh"
    );
}

/// Writes the plan and a list of the missing items, and returns what would be submitted.
pub fn dry_run<P: Split>(arguments: P, options: &Options) -> Result<String, Error> {
    let Prepared {
        plan,
        folder,
        engine,
        ..
    } = prepare(arguments, options, |_| Ok(()))?;
    let mut survey = Survey::new(&plan.weights());
    folder.survey(&mut survey)?;
    let missing: Vec<_> = survey.missing().take(engine.capacity()).cloned().collect();
    if missing.is_empty() {
        tell_if_finished(folder.path(), &survey);
        return Ok(String::new());
    }
    let book = Book::new(&folder, options.engine.engine.name());
    Ok(engine.manifest(&book.round(missing)?))
}

fn prepare<P: Split, L>(
    arguments: P,
    options: &Options,
    lock: impl FnOnce(&Path) -> Result<L, Error>,
) -> Result<Prepared<P, L>, Error> {
    let header = Header::new(arguments, options.pieces);
    let named = || format!("fan-{}-{}", P::NAME, &header.digest()[..8]).into();
    let path = options.dir.clone().unwrap_or_else(named);
    let path = absolute(&path).map_err(|error| Error::at(&path, &error))?;
    let launch = launch(&path, options)?;
    let piece = line(&launch.words());
    let engine = options.engine.choose(launch)?;
    let (plan, lock) = plan(header, &path, options, lock)?;
    let folder = Folder::new(&path, plan.digest().to_owned());
    Ok(Prepared {
        plan,
        folder,
        lock,
        engine,
        piece,
    })
}

/// Returns the plan of a folder, which is locked by then, so that no other `run` starts over
/// meanwhile. If there is no plan, or it is not wanted, plans.
fn plan<P: Split, L>(
    header: Header<P>,
    path: &Path,
    options: &Options,
    lock: impl FnOnce(&Path) -> Result<L, Error>,
) -> Result<(Plan<P>, L), Error> {
    if !options.fresh && book::plan_path(path).exists() {
        folder::prepare(path).map_err(|error| {
            if is_whole(&header, path) {
                let merge = commands::merge(path, &options.prefix);
                let text = format!("all results exist: `{merge}` prints the report");
                error.and(&Error::never(text))
            } else {
                error
            }
        })?;
        let lock = lock(path)?;
        let accept = options.accept_build.as_deref();
        return Ok((book::present(&header, path, accept)?, lock));
    }
    if options.accept_build.is_some() {
        let path = book::plan_path(path);
        return Err(Error::never(format!(
            "{} does not exist, so no other build has made it: leave --accept-build out",
            path.display()
        )));
    }
    // First, because this may fail.
    let plan = Plan::new(header)?;
    folder::prepare(path)?;
    let lock = lock(path)?;
    if options.fresh {
        fresh::clear::<P>(path)?;
    }
    Ok((book::link(plan, path)?, lock))
}

/// Whether the folder has the plan that is asked for, and all of its results.
fn is_whole<P: Split>(header: &Header<P>, path: &Path) -> bool {
    book::present(header, path, None).is_ok_and(|plan| {
        let mut survey = Survey::new(&plan.weights());
        let folder = Folder::new(path, plan.digest().to_owned());
        folder.survey(&mut survey).is_ok() && survey.missing().next().is_none()
    })
}

fn launch(out: &Path, options: &Options) -> Result<Launch, Error> {
    let program =
        env::current_exe().map_err(|error| Error::elsewhere(format!("this program: {error}")))?;
    let mut program = vec![program.into_os_string()];
    program.extend(options.prefix.iter().cloned());
    Ok(Launch {
        program,
        plan: book::plan_path(out),
        out: out.to_owned(),
        budget: options.budget,
        cpus: options.cpus,
    })
}
