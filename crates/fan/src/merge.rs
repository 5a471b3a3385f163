//! The verb `merge`: every item counts once, in the order of the plan.

use std::path::Path;

use crate::folder::{Folder, Survey};
use crate::name::Name;
use crate::plan::Plan;
use crate::words::list;
use crate::{Error, Split};

/// Reads and checks the results of all items, and merges them.
pub fn merge<P: Split>(plan: &Plan<P>, path: &Path) -> Result<P::Report, Error> {
    let folder = Folder::new(path, plan.digest().to_owned());
    let mut survey = Survey::default();
    folder.survey(&plan.weights(), &mut survey)?;
    while let Some(item) = unlisted(&folder, &survey) {
        folder.look_up(&item, &mut survey)?;
    }
    let missing: Vec<_> = survey.missing().collect();
    if !missing.is_empty() {
        return Err(incomplete(&missing, &survey, path));
    }
    let outs = survey.weights.keys().map(|item| {
        let gone = || Error::perhaps(format!("{} was removed", folder.result(item).display()));
        let written = folder.read(item)?.ok_or_else(gone)?;
        let done = written.done::<P>()?;
        match done.rest.len() == written.trailer.rest.len() {
            true => Ok(done.out),
            false => Err(Error::perhaps(format!(
                "{}: its trailer does not count what was left",
                folder.result(item).display()
            ))),
        }
    });
    let outs = outs.collect::<Result<Vec<_>, _>>()?;
    plan.arguments().merge(outs)
}

/// Returns a missing item whose result is there, although the folder's listing does not have it.
fn unlisted(folder: &Folder, survey: &Survey) -> Option<Name> {
    let mut missing = survey.missing();
    missing.find(|item| folder.result(item).exists()).cloned()
}

fn incomplete(missing: &[&Name], survey: &Survey, path: &Path) -> Error {
    Error::perhaps(format!(
        "{}: {} of {} results are missing: items {}",
        path.display(),
        missing.len(),
        survey.weights.len(),
        list(missing)
    ))
}
