//! The runs of an experiment's cells, and figures that are computed from them.
//!
//! A figure is a function of medians. It is computed once to find out which medians it reads, and
//! then repeatedly from resampled runs ([`Interval::of`]), where it reads the same medians in the
//! same order. A cell that it reads twice has the same median both times.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidegate_cli_support::failure::Failure;
use toml::Value;

use crate::engine::{self, Interval, Sample, Session};

/// A cell, with the name by which figures refer to it.
pub type Named<R> = (String, engine::Cell<'static, R>);

/// Cells to run, each equally often.
pub struct Batch<R> {
    names: Vec<String>,
    cells: Vec<engine::Cell<'static, R>>,
    runs: u64,
    is_real: bool,
}

/// The runs of cells, by the names of the cells. A cell that `--only` left out has no runs.
pub struct Measured<R> {
    runs: HashMap<String, Vec<R>>,
    /// Whether a run is too short for its figures to count.
    pub is_short: fn(&R) -> bool,
}

/// Lists of names that claims, charts and tables go through. An item is a text, or a table of
/// several values.
pub type Lists = BTreeMap<String, Vec<Value>>;

/// A figure, under its name in the file of the paper.
pub type Figure<R> = (&'static str, fn(View<'_, R>) -> f64);

/// What a figure is computed from: medians of runs, and the values that a claim, a column or an item
/// of a list gives.
pub struct View<'a, R> {
    pub measured: &'a Measured<R>,
    pub lists: &'a Lists,
    given: Option<&'a Given<'a>>,
    reads: &'a Reads,
}

/// A value under a name, or a table of values.
struct Given<'a> {
    name: &'a str,
    value: &'a Value,
    outer: Option<&'a Given<'a>>,
}

/// The samples that a figure has read, and the order in which it read them.
#[derive(Default)]
struct Reads {
    samples: RefCell<Vec<(String, Sample)>>,
    order: RefCell<Vec<usize>>,
    /// Which cells have runs, and how many of these answers were asked for.
    answers: RefCell<Vec<bool>>,
    asked: Cell<usize>,
    has_short: Cell<bool>,
    /// While samples are redrawn: their medians, and how many were read.
    redrawn: RefCell<Option<(Vec<f64>, usize)>>,
}

impl<R: Serialize + DeserializeOwned + Send + Sync> Batch<R> {
    pub fn simulated(runs: u64, cells: impl IntoIterator<Item = Named<R>>) -> Self {
        let (names, cells) = cells.into_iter().unzip();
        let is_real = false;
        Self {
            names,
            cells,
            runs,
            is_real,
        }
    }

    pub fn real(runs: u64, cells: impl IntoIterator<Item = Named<R>>) -> Self {
        let is_real = true;
        Self {
            is_real,
            ..Self::simulated(runs, cells)
        }
    }

    pub fn expect(&self, session: &Session) {
        session.expect(&self.cells, self.runs);
    }

    pub fn measure_all(batches: Vec<Self>, session: &Session) -> Result<Measured<R>, Failure> {
        let mut cells = vec![];
        for batch in batches {
            cells.extend(batch.measure(session)?.runs);
        }
        Ok(Measured::of(cells))
    }

    pub fn measure(self, session: &Session) -> Result<Measured<R>, Failure> {
        let runs = if self.is_real {
            session.in_turns(&self.cells, self.runs)?
        } else {
            session.side_by_side(&self.cells, self.runs)?
        };
        Ok(Measured::of(self.names.into_iter().zip(runs)))
    }
}

impl<R> Measured<R> {
    pub fn of(cells: impl IntoIterator<Item = (String, Vec<R>)>) -> Self {
        let mut all = HashMap::new();
        for (name, runs) in cells {
            let other = all.insert(name, runs);
            assert!(other.is_none(), "each cell has a name of its own");
        }
        let is_short = |_: &R| false;
        Self {
            runs: all,
            is_short,
        }
    }

    pub fn find(&self, cell: &str) -> Option<&[R]> {
        self.runs.get(cell).map(Vec::as_slice)
    }

    pub fn runs(&self, cell: &str) -> &[R] {
        let runs = self.find(cell);
        runs.unwrap_or_else(|| panic!("{cell} is a cell of the experiment"))
    }

    /// Returns a figure of each run of a cell; nothing if a run has no such figure.
    fn sample(&self, cell: &str, figure: fn(&R) -> f64) -> Sample {
        let figures: Vec<f64> = self.runs(cell).iter().map(figure).collect();
        if figures.iter().any(|figure| figure.is_nan()) {
            return Sample::default();
        }
        Sample::new(figures)
    }

    /// Passes a view of the runs without any given value.
    pub fn view<T>(&self, lists: &Lists, then: impl FnOnce(View<'_, R>) -> T) -> T {
        then(View {
            measured: self,
            lists,
            given: None,
            reads: &Reads::default(),
        })
    }
}

impl<R> Clone for View<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for View<'_, R> {}

impl<'a, R> View<'a, R> {
    /// Computes a figure and its interval. The value is NaN if a cell that it reads has no runs.
    pub fn interval(self, figure: impl Fn(View<'_, R>) -> f64) -> Interval {
        let reads = Reads::default();
        let view = View {
            reads: &reads,
            ..self
        };
        let value = figure(view);
        let samples = reads.samples.take();
        let samples: Vec<&Sample> = samples.iter().map(|(_, sample)| sample).collect();
        if samples.is_empty() {
            return Interval::exact(value);
        }
        Interval::of(&samples, |medians| {
            reads.redrawn.replace(Some((medians.to_vec(), 0)));
            reads.asked.set(0);
            figure(view)
        })
    }

    pub fn value(self, figure: impl Fn(View<'_, R>) -> f64) -> f64 {
        let reads = &Reads::default();
        figure(View { reads, ..self })
    }

    /// Returns whether a figure reads runs that are too short, and whether it reads one run of each
    /// cell.
    pub fn doubts(self, figure: impl Fn(View<'_, R>) -> f64) -> [bool; 2] {
        let reads = Reads::default();
        figure(View {
            reads: &reads,
            ..self
        });
        let samples = reads.samples.take();
        let once = samples.iter().all(|(_, sample)| sample.count() == 1);
        [reads.has_short.get(), once && !samples.is_empty()]
    }

    /// Returns the median of a figure of a cell's runs. The cell's name may contain names of values
    /// in braces.
    pub fn median(self, cell: &str, figure: fn(&R) -> f64) -> f64 {
        self.read(|| {
            let cell = self.fill(cell);
            let sample = self.measured.sample(&cell, figure);
            if self.measured.runs(&cell).iter().any(self.measured.is_short) {
                self.reads.has_short.set(true);
            }
            (cell, sample)
        })
    }

    /// Returns the ratio of the medians of a figure of two cells.
    pub fn ratio(self, cell: &str, base: &str, figure: fn(&R) -> f64) -> f64 {
        self.median(cell, figure) / self.median(base, figure)
    }

    /// Reads the median of a sample of a cell.
    pub fn read(self, sample: impl FnOnce() -> (String, Sample)) -> f64 {
        let (samples, order, redrawn) =
            (&self.reads.samples, &self.reads.order, &self.reads.redrawn);
        if let Some((medians, read)) = &mut *redrawn.borrow_mut() {
            *read += 1;
            return medians[order.borrow()[*read - 1]];
        }
        let sample = sample();
        let median = sample.1.median();
        let mut samples = samples.borrow_mut();
        let known = samples.iter().position(|known| *known == sample);
        order.borrow_mut().push(known.unwrap_or(samples.len()));
        if known.is_none() {
            samples.push(sample);
        }
        median
    }

    /// Whether a cell has runs. This, too, is looked up only once.
    pub fn is_measured(self, cell: &str) -> bool {
        let Reads { answers, asked, .. } = self.reads;
        let mut answers = answers.borrow_mut();
        if asked.get() == answers.len() {
            answers.push(!self.measured.runs(&self.fill(cell)).is_empty());
        }
        asked.set(asked.get() + 1);
        answers[asked.get() - 1]
    }

    /// Computes a figure for each item of a list. Values in the item take precedence.
    pub fn each<T>(self, list: &str, figure: impl Fn(View<'_, R>) -> T) -> Vec<T> {
        let list = &self.fill(list);
        let items = self.list(list).iter();
        items.map(|item| self.with(list, item, &figure)).collect()
    }

    /// Computes a figure with one more value, or with a table of values.
    pub fn with<T>(self, name: &str, value: &Value, figure: impl FnOnce(View<'_, R>) -> T) -> T {
        let outer = self.given;
        let given = Some(&Given { name, value, outer });
        let (measured, lists, reads) = (self.measured, self.lists, self.reads);
        figure(View {
            measured,
            lists,
            given,
            reads,
        })
    }

    /// Returns the items of a list, which may be a single one.
    pub fn list(self, name: &str) -> &'a [Value] {
        match self.find(name) {
            Some(Value::Array(items)) => items,
            Some(item) if !item.is_table() => std::slice::from_ref(item),
            _ => {
                let list = self.lists.get(name);
                list.unwrap_or_else(|| panic!("{name} is a list of the paper"))
            }
        }
    }

    /// Returns a given value. A list of one item is a value, too.
    pub fn find(self, name: &str) -> Option<&'a Value> {
        let each = std::iter::successors(self.given, |given| given.outer);
        let mut values = each.filter_map(|given| {
            let inner = given.value.as_table().and_then(|values| values.get(name));
            inner.or((given.name == name).then_some(given.value))
        });
        let only = || self.lists.get(name).filter(|list| list.len() == 1);
        values.next().or_else(|| only()?.first())
    }

    pub fn number(self, name: &str) -> f64 {
        let text = self.text(name);
        let number = text.parse();
        number.unwrap_or_else(|_| panic!("{name} is a number and not {text}"))
    }

    fn text(self, name: &str) -> String {
        match self.find(name) {
            Some(Value::String(text)) => self.fill(text),
            Some(value) => value.to_string(),
            None => panic!("{name} is a value of the claim, column or line"),
        }
    }

    /// Replaces names of values in braces by the values.
    pub fn fill(self, text: &str) -> String {
        fill(text, |name| self.text(name))
    }
}

pub fn fill(text: &str, value: impl Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').expect("a closing brace");
        filled += before;
        filled += &value(name);
        rest = after;
    }
    filled + rest
}

/// Computes a figure from one made-up run of each cell.
#[cfg(test)]
pub fn made_up<R>(
    figures: &[Figure<R>],
    figure: &str,
    given: &[(&str, &str)],
    lists: &Lists,
    cells: impl IntoIterator<Item = (String, R)>,
) -> f64 {
    let found = figures.iter().find(|(name, _)| *name == figure);
    let (_, figure) = found.expect("a figure of this name");
    let given = super::paper::item(given.iter().copied());
    let measured = Measured::of(cells.into_iter().map(|(cell, run)| (cell, vec![run])));
    measured.view(lists, |view| {
        view.with("", &given, |view| view.value(figure))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(figure: impl Fn(View<'_, f64>) -> f64) -> Interval {
        let cells = [
            ("a", vec![3.0, 6.0, 3.0]),
            ("b", vec![2.0]),
            ("none", vec![]),
        ];
        let measured = Measured::of(cells.map(|(name, runs)| (name.to_owned(), runs)));
        measured.view(&Lists::new(), |v| v.interval(figure))
    }

    #[test]
    fn cells_read_twice_have_one_median() {
        let ratio = interval(|v| v.median("a", |run| *run) / v.median("a", |run| *run));
        assert_eq!(ratio, Interval::exact(1.0));
        let time = interval(|v| v.median("a", |run| *run));
        assert_eq!((time.low, time.value, time.high), (3.0, 3.0, 6.0));
    }

    #[test]
    fn a_missing_run_leaves_no_figure() {
        let sum = interval(|v| v.median("a", |run| *run) + v.median("none", |run| *run));
        assert!(!sum.is_measured());
        let undefined = interval(|v| v.median("a", |run| run / (run - 6.0) * 0.0 * f64::NAN));
        assert!(!undefined.is_measured());
    }

    #[test]
    fn doubts_name_short_and_single_runs() {
        let cells = [
            ("one", vec![8.0]),
            ("two", vec![8.0; 2]),
            ("short", vec![8.0, 7.0]),
        ];
        let mut measured = Measured::of(cells.map(|(name, runs)| (name.to_owned(), runs)));
        measured.is_short = |run| *run < 8.0;
        let doubts = |cells: &[&str]| {
            let read = |v: View<'_, f64>| cells.iter().map(|cell| v.median(cell, |run| *run)).sum();
            measured.view(&Lists::new(), |v| v.doubts(read))
        };
        assert_eq!(doubts(&["one"]), [false, true]);
        assert_eq!(doubts(&["one", "two"]), [false, false]);
        assert_eq!(doubts(&["one", "short"]), [true, false]);
        assert_eq!(doubts(&[]), [false, false]);
    }
}
