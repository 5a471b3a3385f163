//! Checks a file of a paper.

use std::collections::BTreeSet;

use toml::Value;

use super::{Entry, Paper, prose, through};
use crate::engine::{Interval, Refuted, Verdict};
use crate::reproduce::measured::{Figure, Measured};

impl Paper {
    /// Checks that these parts and the code name the same figures, and that each claim agrees with
    /// its published figure and is contradicted by a figure at the end of what refutes it.
    pub fn check<R>(&self, parts: &[&str], figures: &[Figure<R>], more: &[(&str, Vec<Value>)]) {
        let mut lists = self.lists.clone();
        lists.extend(
            more.iter()
                .map(|(name, list)| ((*name).to_owned(), list.clone())),
        );
        let mut named = BTreeSet::new();
        let mut texts: Vec<String> = self.notes.values().cloned().collect();
        Measured::<R>::of([]).view(&lists, |view| {
            for fields in parts.iter().flat_map(|part| &self.part(part).claim) {
                through(view, &super::lists(fields), &mut |view| {
                    let entry = self.entry(fields, view);
                    entry.check();
                    let of_id = (entry.cannot.as_deref() != Some("always")).then_some(&entry.id);
                    let figure = entry.figure.as_ref().or(of_id);
                    named.extend(figure.map(|figure| view.fill(figure)));
                    texts.extend([entry.claim, entry.why, entry.why_not.unwrap_or_default()]);
                });
            }
        });
        for section in parts.iter().flat_map(|part| &self.part(part).section) {
            texts.push(section.text.clone());
            let charts = section.chart.iter().map(|chart| &chart.lines[..]);
            let tables = section.table.iter().map(|table| self.columns(table));
            for entry in charts.chain(tables).flatten() {
                named.extend(entry.figure.clone());
                texts.extend(entry.text.clone());
            }
        }
        named.retain(|name| !name.contains('{'));
        let texts = prose(&texts.join(" "));
        let names = figures.iter().map(|(name, _)| (*name).to_owned());
        let items = || {
            lists
                .values()
                .flatten()
                .filter_map(|item| item.get("figure"))
        };
        let told = names.clone().filter(|name| {
            let is_item = items().any(|item| item.as_str() == Some(name));
            is_item || texts.contains(&format!("{{{name}:"))
        });
        named.extend(told.collect::<Vec<_>>());
        assert_eq!(named, names.collect());
    }
}

impl Entry {
    fn check(&self) {
        let claim = self.judged();
        let verdict = |figure| claim.judge(Interval::exact(figure), false);
        if let Some(published) = self.published {
            assert_eq!(verdict(published), Verdict::Agrees, "{}", self.id);
        }
        let end = match self.refuted {
            Refuted::AtLeast(end) | Refuted::AtMost(end) => end,
            Refuted::Outside(low, _) => low.next_down(),
        };
        assert_eq!(verdict(end), Verdict::Contradicts, "{}", self.id);
    }
}
