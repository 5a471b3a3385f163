//! The verb `status`: what a folder says about a run. It changes nothing.

mod commands;
mod report;
mod text;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::folder::{Folder, Survey};
use crate::parent::has_ended;
use crate::plan::Plan;
use crate::publish::{differ, host, now};
use crate::request::Request;
use crate::run::book::plan_path;
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
    let text = match asked.json {
        true => serde_json::to_string_pretty(&status).expect("a status is JSON") + "\n",
        false => status.to_string(),
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
    let plan = Plan::<P>::read(&path)?;
    let folder = Folder::new(dir, plan.digest().to_owned());
    let (mut survey, wrong) = survey(&folder, &plan.weights())?;
    let items = survey.weights.keys();
    let failures = items.map(|item| Ok((item.clone(), folder.failures(item)?)));
    let mut failures = failures.collect::<Result<BTreeMap<_, _>, Error>>()?;
    failures.retain(|_, failures| !failures.is_empty());
    let here = host();
    let (dead, begun) = survey
        .begun
        .drain(..)
        .partition(|begun| begun.host == here && has_ended(begun.pid));
    survey.begun = begun;
    Ok(View {
        program: format!("{} {}", P::NAME, P::VERSION),
        request: Request::of(plan.header()),
        wrong,
        survey,
        dead,
        failures,
        here,
        now: now(),
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
