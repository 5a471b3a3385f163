//! The verb `piece`: does the work of one item, and publishes its result.

use std::env;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::folder::{self, Folder};
use crate::name::Name;
use crate::plan::Plan;
use crate::publish::Attempt;
use crate::{Budget, Error, Split};

/// The variable in which HyperQueue names an item. Its value is an [`Entry`].
pub const HQ_ENTRY: &str = "HQ_ENTRY";

/// An item whose name has more characters must be done to its end: its piece has no budget.
const LONGEST_SPLIT: usize = 100;

/// What an engine is given for each piece: an entry of the file that lists a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The digest of the plan.
    pub plan: String,
    pub item: Name,
}

/// Which item a piece is asked for.
pub struct Asked<'a> {
    pub plan: &'a Path,
    pub item: Option<&'a str>,
    /// The variable in which the engine names the item, if the command line does not.
    pub item_from: Option<&'a str>,
    /// The file that lists the round, if the engine knows only numbers.
    pub list: Option<&'a Path>,
    pub out: &'a Path,
}

/// Which item a piece is to do.
struct Order {
    item: Name,
    /// The digest of the plan that has the item, if that is known, and what says so.
    plan: Option<(String, String)>,
}

/// Does the work of an item, unless its result is published already. An error goes into the item's log
/// as well.
pub fn piece<P: Split>(asked: &Asked<'_>, budget: &Budget) -> Result<(), Error> {
    let Order { item, plan: named } = order(asked)?;
    let plan = Plan::<P>::read(asked.plan, asked.out, None);
    // A piece of another plan writes nothing into the logs of this one.
    if let (Ok(plan), Some((digest, source))) = (&plan, &named)
        && digest != plan.digest()
    {
        return Err(Error::never(format!(
            "{source} names an item of another plan"
        )));
    }
    let done = plan.and_then(|plan| {
        let folder = Folder::new(asked.out, plan.digest().to_owned());
        attempt(plan, &folder, &item, budget)
    });
    done.map_err(|error| match folder::record(asked.out, &item, &error) {
        Ok(()) => error,
        Err(unrecorded) => error.and(&unrecorded),
    })
}

fn attempt<P: Split>(
    plan: Plan<P>,
    folder: &Folder,
    item: &Name,
    budget: &Budget,
) -> Result<(), Error> {
    if folder.read(item)?.is_some() {
        return Ok(());
    }
    let (arguments, work) = plan.take(folder, item)?;
    let attempt = Attempt::begin(folder, item)?;
    // Each generation has a longer name, and a file's name can only be so long.
    let unlimited = Budget::unlimited();
    let is_long = item.to_string().len() > LONGEST_SPLIT;
    let budget = if is_long { &unlimited } else { budget };
    let place = note_panics();
    let run = AssertUnwindSafe(|| arguments.run(work, budget));
    let done = catch_unwind(run).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no message");
        let place = place.lock().map_or(String::new(), |place| place.clone());
        let text = format!("item {item} panicked{place}: {text}");
        Err(Error::perhaps(text))
    })?;
    if is_long && !done.rest.is_empty() {
        return Err(endless(item));
    }
    attempt.publish::<P>(&done)
}

/// Returns where the first panic from now on is noted, as text such as ` at main.rs:7:5`. It may be in
/// another thread.
fn note_panics() -> Arc<Mutex<String>> {
    let place = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&place);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if let (Some(at), Ok(mut noted)) = (panic.location(), noted.lock())
            && noted.is_empty()
        {
            *noted = format!(" at {at}");
        }
        before(panic);
    }));
    place
}

/// Returns the error of a piece that leaves work although it has no budget.
fn endless(item: &Name) -> Error {
    let text = item.to_string();
    let numbers: Vec<_> = text.split('.').collect();
    let (first, times) = (numbers[0], numbers.len());
    Error::never(format!(
        "{times} times in a row, a piece has left work of item {first} to others, and the last one had no budget: \
         `run` must leave less than it was given, and nothing before the budget is spent"
    ))
}

/// Returns the item, which the engine names in a variable if the command line does not. Others are
/// not read: an engine hands on those of the engine in which `run` runs.
fn order(asked: &Asked<'_>) -> Result<Order, Error> {
    if let Some(item) = asked.item {
        return bare(item);
    }
    let variable = asked
        .item_from
        .ok_or_else(|| Error::never("no item: pass --item or --item-from"))?;
    let number = env::var(variable).map_err(|_| {
        Error::never(format!(
            "--item-from names {variable}, which is not set: an engine sets it, or pass --item"
        ))
    })?;
    if variable == HQ_ENTRY {
        if asked.list.is_some() {
            let text = "HQ_ENTRY has an entry of the list: pass it without --list";
            return Err(Error::never(text));
        }
        let entry: Entry = serde_json::from_str(&number)
            .map_err(|error| Error::never(format!("HQ_ENTRY is no entry of a plan: {error}")))?;
        return Ok(entry.of(HQ_ENTRY));
    }
    let Some(list) = asked.list else {
        return bare(&number);
    };
    let text = files::read(list).map_err(|error| Error::at(list, &error))?;
    let list = list.display().to_string();
    let entries: Vec<Entry> = serde_json::from_slice(&text)
        .map_err(|error| Error::never(format!("{list} is no list: {error}")))?;
    let at: Option<usize> = number.parse().ok();
    let entry = at.and_then(|at| entries.into_iter().nth(at));
    let missing = || Error::never(format!("{variable}={number} is not in {list}"));
    Ok(entry.ok_or_else(missing)?.of(&list))
}

fn bare(item: &str) -> Result<Order, Error> {
    let item = item.parse()?;
    Ok(Order { item, plan: None })
}

impl Entry {
    fn of(self, source: &str) -> Order {
        Order {
            item: self.item,
            plan: Some((self.plan, source.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;
    use crate::plan::Header;
    use crate::{Done, Retry, Weighted};

    /// A program whose pieces leave one item if their budget is spent.
    #[derive(clap::Args, Serialize, Deserialize)]
    struct Endless {
        /// They leave it with any budget.
        #[arg(long)]
        always: bool,
    }

    fn left() -> Vec<Weighted<()>> {
        vec![Weighted {
            item: (),
            weight: 1,
        }]
    }

    impl Split for Endless {
        const NAME: &'static str = "endless";
        const VERSION: &'static str = "1";
        type Item = ();
        type Out = f64;
        type Report = String;

        fn plan(&self, _: usize) -> Result<Vec<Weighted<()>>, Error> {
            Ok(left())
        }

        fn run(&self, (): (), budget: &Budget) -> Result<Done<(), f64>, Error> {
            let rest = if self.always || budget.is_spent() {
                left()
            } else {
                Vec::new()
            };
            Ok(Done { out: 0.0, rest })
        }

        fn merge(&self, _: Vec<f64>) -> Result<String, Error> {
            Ok(String::new())
        }
    }

    #[test]
    fn long_names_are_not_split() {
        for (depth, is_split) in [(50, true), (51, false)] {
            let (item, published) = at_depth(depth, false);
            published.unwrap();
            assert_eq!(item, Some(is_split), "{depth}");
        }
    }

    #[test]
    fn leaving_work_without_a_budget_is_final() {
        let (rest, done) = at_depth(50, true);
        assert_eq!((rest, done.is_ok()), (Some(true), true));
        let (rest, done) = at_depth(51, true);
        let error = done.unwrap_err();
        assert_eq!((rest, error.retry()), (None, Retry::Never));
        let text = error.to_string();
        assert!(
            text.starts_with("51 times in a row, a piece has left work of item 7 "),
            "{text}"
        );
    }

    /// Runs the piece of an item whose name has so many numbers, the first of which is 7. Returns
    /// whether its result leaves work, if there is a result.
    fn at_depth(depth: usize, always: bool) -> (Option<bool>, Result<(), Error>) {
        let dir = TempDir::new().unwrap();
        let plan = Plan::new(Header::new(Endless { always }, 1)).unwrap();
        let folder = Folder::new(dir.path(), plan.digest().to_owned());
        let parent = (2..depth).fold(Name::planned(7), |name, _| name.child(0));
        let done = Done {
            out: 0.0,
            rest: left(),
        };
        let begun = Attempt::begin(&folder, &parent).unwrap();
        begun.publish::<Endless>(&done).unwrap();
        let item = parent.child(0);
        let done = attempt(plan, &folder, &item, &Budget::new(Duration::ZERO));
        let written = folder.read(&item).unwrap();
        (
            written.map(|written| !written.trailer.rest.is_empty()),
            done,
        )
    }

    #[test]
    fn results_are_read_back_before_they_are_published() {
        let dir = TempDir::new().unwrap();
        let folder = Folder::new(dir.path(), "0123456789".to_owned());
        let attempt = Attempt::begin(&folder, &Name::planned(0)).unwrap();
        let error = attempt.publish::<Endless>(&Done::whole(f64::NAN));
        let error = error.unwrap_err();
        assert_eq!(error.retry(), Retry::Never);
        let text = "what item 0 has found cannot be read back from JSON: ";
        assert!(error.to_string().starts_with(text), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn removed_file_is_written_again() {
        let dir = TempDir::new().unwrap();
        let folder = Folder::new(dir.path(), "0123456789".to_owned());
        let item = Name::planned(0);
        let done = Done::whole(0.0);
        for _ in 0..2 {
            let attempt = Attempt::begin(&folder, &item).unwrap();
            let files = fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap());
            let paths = files.map(|file| file.path());
            let mut running = paths.filter(|path| path.extension() == Some("running".as_ref()));
            fs::remove_file(running.next().unwrap()).unwrap();
            attempt.publish::<Endless>(&done).unwrap();
            assert!(folder.read(&item).unwrap().is_some());
        }
    }
}
