//! The verb `merge`: every item counts once, in the order of the plan.

use std::path::Path;

use crate::folder::{Folder, Survey};
use crate::name::Name;
use crate::phrases::list;
use crate::plan::Plan;
use crate::{Error, Split};

/// Reads and checks the results of all items, and merges them.
pub fn merge<P: Split>(plan: &Plan<P>, path: &Path) -> Result<P::Report, Error> {
    let folder = Folder::new(path, plan.digest().to_owned());
    let mut survey = Survey::new(&plan.weights());
    folder.survey(&mut survey)?;
    folder.look_up_missing(&mut survey, |_, error| Err(error))?;
    let missing: Vec<_> = survey.missing().collect();
    if !missing.is_empty() {
        return Err(incomplete(&missing, &survey, path));
    }
    let outs = survey.weights.keys().map(|item| {
        let gone = || Error::perhaps(format!("{} was removed", folder.result(item).display()));
        let written = folder.read(item)?.ok_or_else(gone)?;
        let done = written.done::<P>(&folder.result(item))?;
        if done.rest.len() == written.trailer.rest.len() {
            Ok(done.out)
        } else {
            Err(Error::perhaps(format!(
                "{}: its trailer does not count what was left",
                folder.result(item).display()
            )))
        }
    });
    let outs = outs.collect::<Result<Vec<_>, _>>()?;
    plan.arguments().merge(outs)
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
