//! The verb `status`: what a folder says about a run. It changes nothing.

pub mod commands;
mod report;
mod text;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::files::{host, now};
use crate::folder::{Begun, Folder, Survey};
use crate::parent::has_ended;
use crate::plan::Plan;
use crate::request::Request;
use crate::result::differ;
use crate::run::book::{plan_path, queue};
use crate::run::lock;
use crate::verbs::print;
use crate::{Error, Split};
use commands::Commands;
use report::{Status, View, Wrong};

/// Which run is shown, and how.
#[derive(Args, Debug)]
pub struct StatusArguments {
    /// The folder of the results
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a picture of the pieces over time to this file; with -, print it instead of the text
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Carries out the verb. `prefix` are the arguments that lead to the verbs of this crate.
pub fn carry_out<P: Split>(asked: &StatusArguments, prefix: &[OsString]) -> Result<(), Error> {
    let is_picture = asked
        .svg
        .as_ref()
        .is_some_and(|path| path.as_os_str() == "-");
    if is_picture && asked.json {
        let text = "--json and --svg - would both print to standard output: use --svg FILE";
        return Err(Error::never(text));
    }
    let view = view::<P>(&asked.dir)?;
    let timeline = view.timeline();
    let commands = Commands::new(&asked.dir, prefix, &view.request);
    let status = Status::new(&view, &timeline, commands);
    if let Some(path) = &asked.svg {
        let svg = timeline.svg([&status.title(), &status.headline()]);
        if is_picture {
            return print(svg.as_bytes());
        }
        fs::write(path, svg).map_err(|error| Error::at(path, &error))?;
    }
    let text = if asked.json {
        serde_json::to_string_pretty(&status).expect("a status is JSON") + "\n"
    } else {
        status.to_string()
    };
    print(text.as_bytes())
}

fn view<P: Split>(dir: &Path) -> Result<View, Error> {
    fs::read_dir(dir).map_err(|error| Error::at(dir, &error))?;
    let path = plan_path(dir);
    if !path.exists() {
        let text = format!("{}: no verb `run` has written a plan here", path.display());
        return Err(Error::never(text));
    }
    let plan = Plan::<P>::read(&path, dir, None)?;
    let folder = Folder::new(dir, plan.digest().to_owned());
    // Before the folder: a `run` that ends meanwhile has published what the survey shows.
    let run = lock::owner(dir);
    let found = survey_with_ends(&folder, &plan.weights(), has_ended)?;
    let items = found.survey.weights.keys();
    let failures = items.map(|item| Ok((item.clone(), folder.failures(item)?)));
    let mut failures = failures.collect::<Result<BTreeMap<_, _>, Error>>()?;
    failures.retain(|_, failures| !failures.is_empty());
    Ok(View {
        program: format!("{} {}", P::NAME, P::VERSION),
        request: Request::of(plan.header()),
        wrong: found.wrong,
        survey: found.survey,
        run,
        dead: found.dead,
        failures,
        queue: queue(dir),
        here: host(),
        now: now(),
    })
}

/// What a folder says.
struct Found {
    /// The attempts that have begun live, as far as is known.
    survey: Survey,
    wrong: Vec<Wrong>,
    /// The attempts on this machine that were killed.
    dead: Vec<Begun>,
}

/// Finds out what is published, and which attempts live and which were killed.
fn survey_with_ends(
    folder: &Folder,
    planned: &[u64],
    has_ended: impl Fn(u32) -> bool,
) -> Result<Found, Error> {
    let here = host();
    let (mut survey, mut wrong) = self::survey(folder, planned)?;
    let ended: HashSet<_> = (survey.begun.iter())
        .filter(|begun| begun.host == here && has_ended(begun.pid))
        .map(|begun| begun.file.clone())
        .collect();
    if !ended.is_empty() {
        // An attempt that was not killed has published its result, and removed its file.
        (survey, wrong) = self::survey(folder, planned)?;
    }
    let (dead, begun) = survey
        .begun
        .drain(..)
        .partition(|begun| ended.contains(&begun.file));
    survey.begun = begun;
    Ok(Found {
        survey,
        wrong,
        dead,
    })
}

/// Finds out what is published and what has begun. Where a survey ends with the first result that
/// cannot be used, this one lists all of them.
fn survey(folder: &Folder, planned: &[u64]) -> Result<(Survey, Vec<Wrong>), Error> {
    let mut survey = Survey::new(planned);
    if folder.survey(&mut survey).is_ok() {
        return Ok((survey, Vec::new()));
    }
    let contradictions = folder.contradictions()?.into_iter();
    let contradictions = contradictions.map(|(item, other)| {
        let text = differ(&item, &folder.result(&item), &other).to_string();
        Wrong { item, text }
    });
    let mut wrong: Vec<_> = contradictions.collect();
    folder.look_up_missing(&mut survey, |item, error| {
        let text = error.to_string();
        wrong.push(Wrong { item, text });
        Ok(())
    })?;
    wrong.sort_by(|one, other| (&one.item, &one.text).cmp(&(&other.item, &other.text)));
    Ok((survey, wrong))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::Done;
    use crate::name::Name;
    use crate::publish::Attempt;
    use crate::testing::split;

    #[derive(Args, Serialize, Deserialize)]
    struct Nothing {}
    split!(Nothing, "nothing");

    #[test]
    fn ended_attempts_are_looked_up_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path(), "0123456789".to_owned());
        for publishes in [true, false] {
            let item = Name::planned(usize::from(publishes));
            let attempt = Attempt::begin(&folder, &item).expect("a file");
            let attempt = Cell::new(Some(attempt));
            // The listing still shows its file when the attempt ends.
            let has_ended = |_| {
                let attempt = attempt.take().expect("one question");
                if publishes {
                    attempt
                        .publish::<Nothing>(&Done::whole(()))
                        .expect("a result")
                } else {
                    std::mem::forget(attempt)
                }
                true
            };
            let found = survey_with_ends(&folder, &[1, 1], has_ended).expect("a survey");
            assert_eq!(found.survey.published.contains_key(&item), publishes);
            assert_eq!(found.dead.len(), usize::from(!publishes));
            assert!(found.survey.begun.is_empty() && found.wrong.is_empty());
        }
    }
}
