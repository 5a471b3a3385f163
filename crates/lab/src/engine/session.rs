//! Runs cells, in parallel or interleaved.

use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidegate_cli_support::busy::Watch;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::Progress;

use super::shard::Shard;
use super::store::{Head, KeepFlags, Runs, Store};
use tidegate_cli_support::arguments::Size;

pub struct Cell<'a, T> {
    /// The full name, which identifies stored runs. It consists of parts separated by `/`, and
    /// `--only` matches these parts.
    pub name: String,
    /// Performs the run with this number, which is also the run's seed.
    pub take: Box<dyn Fn(u64) -> Result<T, Failure> + Sync + 'a>,
}

impl<'a, T> Cell<'a, T> {
    pub fn new(
        name: impl Into<String>,
        take: impl Fn(u64) -> Result<T, Failure> + Sync + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            take: Box::new(take),
        }
    }
}

/// The command-line options that control an experiment's runs.
pub struct Plan {
    pub experiment: String,
    pub size: Size,
    pub runs: u64,
    /// Run only cells whose names contain one of these parts. If this is empty, run all cells.
    pub only: Vec<String>,
    pub source: Source,
}

/// Where a session's runs come from.
pub enum Source {
    /// They are made, and kept in a file.
    File(KeepFlags),
    /// Some of them are made, for another process that merges them. The cells get no runs, so the
    /// page says nothing. For simulated runs only.
    Shard(Arc<Shard>),
    /// They were made earlier: a missing one is an error.
    Given(Runs),
}

pub struct Session {
    plan: Plan,
    store: OnceLock<Mutex<Store>>,
    progress: Progress,
    notes: Mutex<Vec<String>>,
    parts: Mutex<Vec<String>>,
}

impl Session {
    pub fn new(plan: Plan) -> Self {
        Self {
            store: OnceLock::new(),
            progress: match plan.source {
                Source::File(_) => Progress::start(0),
                Source::Shard(_) | Source::Given(_) => Progress::hidden(),
            },
            plan,
            notes: Mutex::default(),
            parts: Mutex::default(),
        }
    }

    /// Creates a session that runs every cell.
    pub fn whole(experiment: impl Into<String>, size: Size, keep: &KeepFlags) -> Self {
        Self::new(Plan {
            experiment: experiment.into(),
            size,
            runs: u64::MAX,
            only: Vec::new(),
            source: Source::File(keep.clone()),
        })
    }

    pub fn size(&self) -> Size {
        self.plan.size
    }

    /// Returns the number of runs of each cell: the requested number, but at most `most`.
    pub fn runs(&self, most: u64) -> u64 {
        self.plan.runs.min(most)
    }

    /// Registers cells before they run: the progress bar needs the total number of runs, and
    /// [`begin`](Self::begin) checks `--only` against the parts of the registered names.
    pub fn expect<T>(&self, cells: &[Cell<'_, T>], runs: u64) {
        let mut parts = lock(&self.parts);
        for part in cells.iter().flat_map(|cell| cell.name.split('/')) {
            if !parts.iter().any(|known| known == part) {
                parts.push(part.to_owned());
            }
        }
        self.progress.expect(self.choose(cells).len() as u64 * runs);
    }

    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Opens the store unless it is open already or the runs are not kept. All cells must have been
    /// [registered](Self::expect) before. Fails, without touching any file, if `--only` names a
    /// part that no cell has.
    pub fn begin(&self) -> Result<(), Failure> {
        self.check_parts()?;
        let Source::File(keep) = &self.plan.source else {
            return Ok(());
        };
        if self.store.get().is_some() {
            return Ok(());
        }
        let head = Head {
            experiment: self.plan.experiment.clone(),
            size: format!("{:?}", self.plan.size).to_lowercase(),
            build: format!("{} {}", env!("CARGO_PKG_VERSION"), tidegate_fan::build()?),
        };
        let store = Store::open(keep, &head)?;
        self.store.get_or_init(|| Mutex::new(store));
        Ok(())
    }

    fn check_parts(&self) -> Result<(), Failure> {
        let parts = lock(&self.parts);
        let known = |name: &&String| parts.iter().any(|part| matches(part, name));
        match self.plan.only.iter().find(|name| !known(name)) {
            None => Ok(()),
            Some(name) => Err(Failure::Usage(format!(
                "invalid value {name:?} for --only: expected one of {}",
                in_short(&parts)
            ))),
        }
    }

    /// Runs cells in parallel, on a Tidegate pool. The cells must not influence each other. Cells
    /// that `--only` leaves out get no runs.
    pub fn side_by_side<T>(&self, cells: &[Cell<'_, T>], runs: u64) -> Result<Vec<Vec<T>>, Failure>
    where
        T: Serialize + DeserializeOwned + Send + Sync,
    {
        let chosen = self.choose(cells);
        if let Source::Shard(shard) = &self.plan.source {
            shard.take(&chosen, runs)?;
            return Ok(self.spread(cells, iter::empty()));
        }
        let count = chosen.len() * runs as usize;
        let slots: Vec<OnceLock<Result<T, Failure>>> =
            (0..count).map(|_| OnceLock::new()).collect();
        // The first run of every cell comes first, then the second run of every cell, and so on, so
        // that an interrupted session has some runs of each cell.
        tidegate::for_each(0..count, |number| {
            let (run, cell) = (number / chosen.len(), number % chosen.len());
            let slot = &slots[cell * runs as usize + run];
            let (cell, run) = (chosen[cell], run as u64);
            slot.get_or_init(|| self.keep(&cell.name, run, || (cell.take)(run)));
        });
        let done = slots
            .into_iter()
            .map(|slot| slot.into_inner().expect("every run is made"));
        let mut done = done.collect::<Result<Vec<T>, _>>()?.into_iter();
        let of_cells = chosen
            .iter()
            .map(|_| done.by_ref().take(runs as usize).collect());
        Ok(self.spread(cells, of_cells))
    }

    /// Interleaves the runs of cells on this machine, so that changes in load affect all cells
    /// alike. A first round warms up and is not counted, unless only one run is requested.
    pub fn in_turns<T>(&self, cells: &[Cell<'_, T>], runs: u64) -> Result<Vec<Vec<T>>, Failure>
    where
        T: Serialize + DeserializeOwned,
    {
        let chosen = self.choose(cells);
        let names: Vec<&str> = chosen.iter().map(|cell| &*cell.name).collect();
        let taken = self.rounds(&names, runs, |cell, run| (chosen[cell].take)(run))?;
        Ok(self.spread(cells, taken))
    }

    /// Like [`in_turns`](Self::in_turns), but for cells that share mutable state. `take` performs
    /// one run of the cell with the given index. This method also registers the cells and opens the
    /// store.
    pub fn share_turns<T>(
        &self,
        names: &[impl AsRef<str>],
        runs: u64,
        take: impl FnMut(usize, u64) -> Result<T, Failure>,
    ) -> Result<Vec<Vec<T>>, Failure>
    where
        T: Serialize + DeserializeOwned,
    {
        self.progress.expect(names.len() as u64 * runs);
        self.begin()?;
        self.rounds(names, runs, take)
    }

    fn rounds<T>(
        &self,
        names: &[impl AsRef<str>],
        runs: u64,
        mut take: impl FnMut(usize, u64) -> Result<T, Failure>,
    ) -> Result<Vec<Vec<T>>, Failure>
    where
        T: Serialize + DeserializeOwned,
    {
        let watch = Watch::start();
        let names = names.iter().map(|name| name.as_ref()).enumerate();
        let kept = names.clone().map(|(_, name)| self.kept(name, 0));
        let kept: Vec<Option<T>> = kept.collect::<Result<_, Failure>>()?;
        if runs > 1 && kept.iter().any(Option::is_none) {
            self.progress.say("warming up");
            names
                .clone()
                .try_for_each(|(cell, _)| take(cell, 0).map(drop))?;
        }
        let mut taken: Vec<Vec<T>> = names.clone().map(|_| Vec::new()).collect();
        for run in 0..runs {
            for (cell, name) in names.clone() {
                taken[cell].push(self.keep(name, run, || take(cell, run))?);
            }
        }
        self.note_load(&watch);
        Ok(taken)
    }

    /// Spreads the runs of the chosen cells over all cells. The others have no runs.
    fn spread<T>(
        &self,
        cells: &[Cell<'_, T>],
        of_chosen: impl IntoIterator<Item = Vec<T>>,
    ) -> Vec<Vec<T>> {
        let mut of_chosen = of_chosen.into_iter();
        let of = |cell: &Cell<'_, T>| {
            let runs = self.is_chosen(&cell.name).then(|| of_chosen.next());
            runs.flatten().unwrap_or_default()
        };
        cells.iter().map(of).collect()
    }

    fn choose<'c, 'a, T>(&self, cells: &'c [Cell<'a, T>]) -> Vec<&'c Cell<'a, T>> {
        cells
            .iter()
            .filter(|cell| self.is_chosen(&cell.name))
            .collect()
    }

    fn is_chosen(&self, name: &str) -> bool {
        let only = &self.plan.only;
        only.is_empty()
            || only
                .iter()
                .any(|chosen| name.split('/').any(|part| matches(part, chosen)))
    }

    /// Returns the stored run, or performs the run and stores it.
    fn keep<T>(
        &self,
        cell: &str,
        run: u64,
        take: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure>
    where
        T: Serialize + DeserializeOwned,
    {
        let value = match (self.kept(cell, run)?, &self.plan.source) {
            (Some(value), _) => value,
            (None, Source::Given(_)) => {
                let missing = format!("run {run} of {cell} is missing");
                return Err(Failure::Wrong(missing));
            }
            (None, _) => {
                self.progress.say(cell);
                let value = take()?;
                let json = serde_json::to_value(&value).expect("runs are JSON");
                self.store().add(cell, run, json)?;
                value
            }
        };
        self.progress.step();
        Ok(value)
    }

    /// Returns the stored run, if there is one. It is an error if its value is of another type.
    fn kept<T: DeserializeOwned>(&self, cell: &str, run: u64) -> Result<Option<T>, Failure> {
        let value = match &self.plan.source {
            Source::Given(runs) => runs.get(&(cell.to_owned(), run)).cloned(),
            _ => self.store().get(cell, run).cloned(),
        };
        let read = value.map(serde_path_to_error::deserialize).transpose();
        read.map_err(|error| {
            let field = match error.path().to_string() {
                whole if whole == "." => "value".to_owned(),
                path => format!("value.{path}"),
            };
            let why = format!("run {run} of {cell}: {field}: {}", error.inner());
            match &self.plan.source {
                Source::Given(_) => Failure::Wrong(why),
                _ => self.store().refusal(&why),
            }
        })
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        lock(self.store.get().expect("the session has begun"))
    }

    fn note_load(&self, watch: &Watch) {
        if let Some(others) = watch.disturbance() {
            lock(&self.notes).push(format!(
                "machine busy: other programs used {others:.1} processors while these runs were made"
            ));
        }
    }
}

/// Joins the parts of a cell's name, leaving out the parts that set parameters.
fn in_short(parts: &[String]) -> String {
    let short = parts.iter().filter(|part| !part.contains('='));
    short.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Ignores poisoning: if a run panics, the command ends, so no later run sees the poisoned state.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compares a part of a cell's name with a part requested by `--only`, ignoring case.
fn matches(part: &str, chosen: &str) -> bool {
    part.eq_ignore_ascii_case(chosen)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn session(folder: &tempfile::TempDir, only: &[&str], resume: bool) -> Session {
        Session::new(Plan {
            experiment: "test".to_owned(),
            size: Size::Tiny,
            runs: 3,
            only: only.iter().map(|&name| name.to_owned()).collect(),
            source: Source::File(KeepFlags {
                dir: folder.path().to_owned(),
                resume,
            }),
        })
    }

    fn begun(folder: &tempfile::TempDir, resume: bool) -> Session {
        let session = session(folder, &[], resume);
        session.begin().unwrap();
        session
    }

    /// Creates two cells. A run returns ten times the cell's number plus the run's number, and
    /// increments `made`.
    fn cells(made: &AtomicU64) -> Vec<Cell<'_, u64>> {
        let cell = |number: u64| {
            Cell::new(format!("part/{number}"), move |run| {
                made.fetch_add(1, Ordering::Relaxed);
                Ok(10 * number + run)
            })
        };
        vec![cell(1), cell(2)]
    }

    #[test]
    fn resume_makes_only_missing_runs() {
        let folder = tempfile::tempdir().unwrap();
        let made = AtomicU64::new(0);
        let expected = vec![vec![10, 11, 12], vec![20, 21, 22]];
        let runs = |resume, runs| begun(&folder, resume).side_by_side(&cells(&made), runs);
        assert_eq!(runs(false, 2).unwrap(), [[10, 11], [20, 21]]);
        assert_eq!(made.swap(0, Ordering::Relaxed), 4);
        assert_eq!(runs(true, 3).unwrap(), expected);
        assert_eq!(made.swap(0, Ordering::Relaxed), 2);
        assert_eq!(runs(false, 3).unwrap(), expected);
        assert_eq!(made.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn runs_name_their_build() {
        let folder = tempfile::tempdir().unwrap();
        begun(&folder, false);
        let text = std::fs::read_to_string(folder.path().join("test-tiny.jsonl")).unwrap();
        let head: Head = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert!(head.build.ends_with(&tidegate_fan::build().unwrap()));
    }

    #[test]
    fn real_runs_warm_up_once() {
        let folder = tempfile::tempdir().unwrap();
        let made = AtomicU64::new(0);
        let session = begun(&folder, false);
        let taken = session.in_turns(&cells(&made), 2).unwrap();
        assert_eq!(taken, [[10, 11], [20, 21]]);
        assert_eq!(made.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn resume_reuses_stored_shared_turns() {
        let folder = tempfile::tempdir().unwrap();
        let mut made = 0;
        let mut take = |resume, runs| {
            let mut next = |cell: usize, _| {
                made += 1;
                Ok(10 * cell + made)
            };
            let session = session(&folder, &[], resume);
            let taken = session.share_turns(&["a", "b"], runs, &mut next).unwrap();
            (taken, made)
        };
        assert_eq!(take(false, 1), (vec![vec![1], vec![12]], 2));
        assert_eq!(take(true, 2), (vec![vec![1, 3], vec![12, 14]], 4));
    }

    #[test]
    fn given_runs_are_never_made() {
        let folder = tempfile::tempdir().unwrap();
        let given = |cell: &str, run: u64, value: serde_json::Value| {
            let runs = [("part/1", 0, 7.into()), (cell, run, value)];
            let runs = runs.map(|(cell, run, value)| ((cell.to_owned(), run), value));
            let mut session = session(&folder, &[], false);
            session.plan.source = Source::Given(runs.into());
            session.begin().unwrap();
            session.side_by_side(&cells(&AtomicU64::new(0)), 1)
        };
        assert_eq!(given("part/2", 0, 7.into()).unwrap(), [[7], [7]]);
        let missing = given("part/2", 1, 7.into()).unwrap_err();
        assert_eq!(missing.to_string(), "run 0 of part/2 is missing");
        let Err(Failure::Wrong(why)) = given("part/2", 0, "7".into()) else {
            panic!("a string is read");
        };
        assert!(
            why.starts_with("run 0 of part/2: value: invalid type"),
            "{why}"
        );
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn stored_run_of_another_type_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let pair = |resume| {
            let cell = Cell::new("part/1", |_| Ok(BTreeMap::from([("list".into(), vec![2])])));
            begun(&folder, resume).side_by_side::<BTreeMap<String, Vec<u64>>>(&[cell], 1)
        };
        pair(false).unwrap();
        let file = folder.path().join("test-tiny.jsonl");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("[2]", "[\"two\"]")).unwrap();
        let Err(Failure::Usage(why)) = pair(true) else {
            panic!("a string is read");
        };
        let where_ = format!("{}: run 0 of part/1: value.list[0]: ", file.display());
        assert!(why.starts_with(&where_), "{why}");
        assert!(
            why.contains("invalid type: string \"two\", expected u64"),
            "{why}"
        );
        assert!(why.ends_with("; start again without --resume"), "{why}");
        std::fs::write(&file, text).unwrap();
        assert_eq!(pair(true).unwrap()[0][0]["list"], [2]);
    }

    #[test]
    fn only_leaves_other_cells_without_runs() {
        let folder = tempfile::tempdir().unwrap();
        let made = AtomicU64::new(0);
        let session = session(&folder, &["2"], false);
        let cells = cells(&made);
        session.expect(&cells, 1);
        session.begin().unwrap();
        let taken = session.side_by_side(&cells, 1).unwrap();
        assert_eq!(taken, [vec![], vec![20]]);
    }
}
