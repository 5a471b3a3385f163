//! The file of a paper: its claims, and what its sections show.
//!
//! The file says which figure a claim, a line of a chart or a column of a table has, and gives
//! values to it; the figure itself is code ([`Figure`]). Texts contain names of given values in
//! braces, as in `{job}`, also with a number of decimals or a unit, as in `{published:.3}`; so they
//! may name further figures, as in `{dear:ratio}`. Each line break and what follows it is a space.

#[cfg(test)]
mod check;
mod draw;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table as Fields, Value};

use super::measured::{Figure, Lists, Measured, View, fill};
use super::page::{Finding, Page};
use super::units::show;
use crate::arguments::Size;
use crate::engine::{Claim, Interval, Refuted, Verdict};

#[derive(Deserialize)]
pub struct Paper {
    #[serde(skip)]
    pub lists: Lists,
    #[serde(default, rename = "lists")]
    lists_of_items: Fields,
    /// Columns that several tables have, by name.
    #[serde(default)]
    columns: BTreeMap<String, Vec<draw::Entry>>,
    /// Explanations that several claims have, by name.
    #[serde(default)]
    notes: BTreeMap<String, String>,
    /// Words of the source, such as "worse", each with the ranges that they are taken to mean.
    #[serde(default)]
    words: BTreeMap<String, Fields>,
    /// The unit of claims that name none.
    unit: Option<String>,
    #[serde(flatten)]
    parts: BTreeMap<String, Part>,
}

/// Claims and sections that have figures of the same runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(default)]
    claim: Vec<Fields>,
    #[serde(default)]
    section: Vec<draw::Section>,
}

/// A claim of the source, which a figure can contradict.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    id: String,
    /// One sentence that states the claim.
    claim: String,
    /// The section, figure or table of the source that contains it.
    source: String,
    published: Option<f64>,
    agrees: [f64; 2],
    refuted: Refuted,
    /// The name of the figure; the claim's, if this is left out.
    figure: Option<String>,
    #[serde(default)]
    with: Fields,
    unit: Option<String>,
    /// An explanation, or the name of a note.
    #[serde(default)]
    why: String,
    /// The smallest size of the programs that shows the effect; small, if this is left out.
    size: Option<String>,
    /// The name of a circumstance in which the verdict cannot be told, or "always".
    cannot: Option<String>,
    why_not: Option<String>,
    /// A wider interval cannot tell.
    widest: Option<f64>,
}

/// What an item of a list may give in place of the claim.
#[rustfmt::skip]
const OF_ITEMS: [&str; 9] = [
    "published", "agrees", "refuted", "word", "why", "source", "size", "unit", "cannot",
];

/// The results of a part of a paper.
pub struct Results<'a, R: 'static> {
    paper: &'a Paper,
    pub measured: Measured<R>,
    figures: &'static [Figure<R>],
    /// The paper's lists, and those that depend on the programs.
    pub lists: Lists,
    pub size: Size,
    pub cannot: Vec<&'static str>,
}

impl Paper {
    /// Reads a file that is part of this program.
    pub fn read(text: &str) -> Self {
        let mut paper: Self = toml::from_str(text).expect("a file of this program");
        paper.lists = paper.lists_of_items.iter().map(list).collect();
        paper
    }

    pub fn numbers<'a>(&'a self, list: &'a str) -> impl Iterator<Item = u64> + 'a {
        let number = move |item: &Value| item.get(list).unwrap_or(item).as_integer();
        let numbers = self.lists[list].iter().map(number);
        numbers.map(|number| number.expect("a number") as u64)
    }

    pub fn told(&self, note: &str) -> String {
        prose(&self.notes[note])
    }

    fn part(&self, name: &str) -> &Part {
        let part = self.parts.get(name);
        part.unwrap_or_else(|| panic!("{name} is a part of the paper"))
    }

    /// Returns the claim with what the items of its lists give.
    fn entry<R>(&self, fields: &Fields, view: View<'_, R>) -> Entry {
        let mut fields = fields.clone();
        fields.remove("each");
        for name in OF_ITEMS {
            if let Some(value) = view.find(name) {
                fields.insert(name.to_owned(), value.clone());
            }
        }
        if let Some(word) = fields.remove("word") {
            let ranges = &self.words[word.as_str().expect("a word")];
            for (name, range) in ranges {
                fields.entry(name).or_insert(range.clone());
            }
        }
        let entry = Entry::deserialize(Value::Table(fields.clone()));
        entry.unwrap_or_else(|error| panic!("{fields:?}: {error}"))
    }
}

/// Reads a list of items, or of values under another name than the list's.
fn list((name, items): (&String, &Value)) -> (String, Vec<Value>) {
    let items = match items {
        Value::Table(named) => {
            let (name, values) = named.iter().next().expect("a name of values");
            items_of(name, values.as_array().expect("values").clone())
        }
        items => items.as_array().expect("a list").clone(),
    };
    (name.clone(), items)
}

pub fn items_of(name: &str, values: impl IntoIterator<Item = impl Into<Value>>) -> Vec<Value> {
    let values = values.into_iter();
    values.map(|value| item([(name, value)])).collect()
}

/// Returns an item of a list, which has several values.
pub fn item<'a>(values: impl IntoIterator<Item = (&'a str, impl Into<Value>)>) -> Value {
    let values = values.into_iter();
    Value::Table(
        values
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect(),
    )
}

pub fn texts<'a>(items: &'a [Value], name: &'a str) -> impl Iterator<Item = &'a str> {
    items
        .iter()
        .map(move |item| item[name].as_str().expect("a text"))
}

/// Passes each combination of items of lists.
fn through<R>(view: View<'_, R>, lists: &[String], each: &mut dyn FnMut(View<'_, R>)) {
    let [first, rest @ ..] = lists else {
        return each(view);
    };
    let list = view.fill(first);
    for item in view.list(&list) {
        view.with(&list, item, |view| through(view, rest, each));
    }
}

fn lists(fields: &Fields) -> Vec<String> {
    let each = fields.get("each").cloned();
    each.map_or_else(Vec::new, |each| each.try_into().expect("names of lists"))
}

fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<'a, R> Results<'a, R> {
    pub fn new(
        paper: &'a Paper,
        measured: Measured<R>,
        figures: &'static [Figure<R>],
        size: Size,
    ) -> Self {
        Self {
            paper,
            measured,
            figures,
            lists: paper.lists.clone(),
            size,
            cannot: vec![],
        }
    }

    /// Sets a list that depends on the programs or on the machine.
    pub fn list(&mut self, name: &str, items: Vec<Value>) {
        self.lists.insert(name.to_owned(), items);
    }

    fn figure(&self, name: &str) -> fn(View<'_, R>) -> f64 {
        let found = self.figures.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("{name} is a figure")).1
    }

    /// Returns a note with its figures.
    pub fn told(&self, note: &str) -> String {
        let text = &self.paper.notes[note];
        self.measured
            .view(&self.lists, |view| self.text(text, view))
    }

    /// Adds the findings and sections of a part to a page.
    pub fn add(&self, page: &mut Page, part: &str) {
        page.findings.extend(self.findings(part));
        page.sections.extend(self.sections(part));
    }

    pub fn findings(&self, part: &str) -> Vec<Finding> {
        let mut findings = vec![];
        self.measured.view(&self.lists, |view| {
            for fields in &self.paper.part(part).claim {
                through(view, &lists(fields), &mut |view| {
                    let entry = self.paper.entry(fields, view);
                    let with = Value::Table(entry.with.clone());
                    let published = Value::Float(entry.published.unwrap_or(f64::NAN));
                    findings.push(view.with("published", &published, |view| {
                        view.with("", &with, |view| self.finding(&entry, view))
                    }));
                });
            }
        });
        findings
    }

    fn finding(&self, entry: &Entry, view: View<'_, R>) -> Finding {
        let id = view.fill(&entry.id);
        let cannot = entry.cannot.as_deref();
        let always = cannot == Some("always");
        let has_figure = entry.figure.is_some() || !always;
        let (ours, [is_short, once]) = if has_figure {
            let name = entry.figure.as_ref().unwrap_or(&entry.id);
            let figure = self.figure(&view.fill(name));
            (view.interval(figure), view.doubts(figure))
        } else {
            (Interval::exact(f64::NAN), [false; 2])
        };
        let is_so = always || cannot.is_some_and(|cannot| self.cannot.contains(&cannot));
        let claim = entry.judged();
        let why_not = entry.why_not.as_ref().filter(|_| is_so);
        let why = why_not.unwrap_or(&entry.why);
        let why = self.paper.notes.get(why).unwrap_or(why);
        let show = show(self.unit(entry));
        let mut finding = Finding {
            id,
            what: self.text(&entry.claim, view),
            source: entry.source.clone(),
            published: entry.published.map_or_else(String::new, show),
            range: claim.range(show),
            ours: ours.show(show),
            verdict: claim.judge(ours, once),
            why: self.text(why, view),
        };
        if !has_figure {
            finding.verdict = Verdict::CannotTell;
        }
        let is_wide = entry.widest.is_some_and(|most| ours.high - ours.low > most);
        let is_too_small = match entry.size.as_deref() {
            Some("tiny") => false,
            Some("paper") => self.size != Size::Paper,
            _ => self.size == Size::Tiny,
        };
        finding
            .unless(is_so || is_wide, Verdict::CannotTell)
            .unless(is_too_small || is_short, Verdict::TooSmall)
    }

    fn unit<'e>(&'e self, entry: &'e Entry) -> &'e str {
        let unit = entry.unit.as_ref().or(self.paper.unit.as_ref());
        unit.map_or("ratio", String::as_str)
    }

    /// Fills in given values and further figures.
    fn text(&self, text: &str, view: View<'_, R>) -> String {
        let filled = fill(&prose(text), |name| {
            let Some((name, unit)) = name.split_once(':') else {
                return view.fill(&format!("{{{name}}}"));
            };
            let figure = || view.interval(self.figure(name));
            let given = view.find(name).map(|_| Interval::exact(view.number(name)));
            let interval = given.unwrap_or_else(figure);
            if let Some(Ok(decimals)) = unit.strip_prefix('.').map(str::parse) {
                return format!("{:.*}", decimals, interval.value);
            }
            match unit.strip_prefix("median ") {
                Some(unit) => show(unit)(interval.value),
                None => interval.show(show(unit)),
            }
        });
        prose(&filled)
    }
}

impl Entry {
    fn judged(&self) -> Claim {
        let (agrees, refuted) = (self.agrees, self.refuted);
        Claim { agrees, refuted }
    }
}
