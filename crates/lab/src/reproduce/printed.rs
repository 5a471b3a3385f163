//! Checks the tables of docs/findings.md and docs/reproduction.md. Their claims are those of the
//! papers' files. Our figures and their verdicts are kept in docs/findings.md itself.
//!
//! If the variable FINDINGS is set, the test writes the tables, with the figures of the file that it
//! names, which is output of `reproduce all --sim --json`.

use std::path::Path;
use std::sync::Arc;
use std::{env, fs};

use super::page::{Finding, Page};
use super::{Machines, page};
use crate::arguments::{Experiments, Selection, Size};
use crate::engine::{Shard, Source, Verdict};

/// The comments before and after what is printed on a page.
const MARKS: [&str; 2] = ["<!-- printed -->\n\n", "\n<!-- end -->\n"];

type Found = [String; 2];

/// Returns the figures in the rows of a table.
fn kept(table: &str) -> Vec<Found> {
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    let found = rows.map(|row| {
        let mut cells = row.trim_end_matches(" |").rsplit(" | ").map(str::to_owned);
        let mut cell = || cells.next().expect("a figure and a verdict");
        let verdict = cell();
        [cell(), verdict]
    });
    found.collect()
}

/// Returns the verdicts that pages with all runs have.
fn verdicts() -> impl Iterator<Item = Verdict> {
    let all = Verdict::ALL.into_iter();
    all.filter(|verdict| *verdict != Verdict::NotMeasured)
}

/// Returns the page of an experiment with its claims and no figures.
fn claims(experiment: Experiments) -> Page {
    let selection = Selection {
        experiment,
        size: Size::Small,
        runs: 20,
        only: vec![],
    };
    let source = Source::Shard(Arc::new(Shard::list()));
    page(experiment, &selection, Machines::SIMULATED, source).unwrap()
}

/// Returns the table of an experiment's findings, and the row that counts their verdicts.
fn printed(page: &Page, found: &[Found]) -> [String; 2] {
    let (experiment, findings) = (&page.experiment, &page.findings);
    let again = "its claims have changed: make its figures again";
    assert_eq!(findings.len(), found.len(), "{experiment}: {again}");
    let rows = findings.iter().zip(found).map(|(claim, [ours, verdict])| {
        let range = claim.range.trim_start_matches("agrees: ");
        let range = range.replace("; contradicts: ", " | ");
        let (what, source, published) = (&claim.what, &claim.source, &claim.published);
        format!("| {what} | {source} | {published} | {range} | {ours} | {verdict} |\n")
    });
    let table = format!(
        "## {experiment}\n\n\
         | claim | where | published | agrees | contradicts | here | verdict |\n\
         |---|---|---|---|---|---|---|\n{}",
        rows.collect::<String>()
    );
    let count = |verdict: Verdict| {
        let same = |found: &&Found| found[1] == verdict.to_string();
        let count = found.iter().filter(same).count();
        format!(" {count} |").replace(" 0 ", " ")
    };
    let counts: String = verdicts().map(count).collect();
    [table, format!("| `{experiment}` |{counts}\n")]
}

/// Returns a page of docs/: what comes before its tables, the tables, and what comes after them.
fn parts(page: &str) -> [String; 3] {
    let text = fs::read_to_string(path(page)).unwrap();
    let (before, rest) = text.split_once(MARKS[0]).unwrap();
    let (tables, after) = rest.split_once(MARKS[1]).unwrap();
    [before, tables, after].map(str::to_owned)
}

fn path(page: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(page)
}

#[test]
fn pages_have_the_claims_of_papers() {
    let file = env::var_os("FINDINGS");
    let found: Vec<Vec<Found>> = match &file {
        Some(file) if !file.is_empty() => {
            let pages: Vec<Page> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
            let one = |one: &Finding| [one.ours.clone(), one.verdict.to_string()];
            let of = |page: &Page| page.findings.iter().map(one).collect();
            pages.iter().map(of).collect()
        }
        _ => (parts("findings.md")[1].split("## ").skip(1))
            .map(kept)
            .collect(),
    };
    // Nothing is published on `scaling`.
    let of_papers = Experiments::All.each().into_iter();
    let pages = of_papers
        .filter(|one| *one != Experiments::Scaling)
        .map(claims);
    let printed = pages
        .zip(&found)
        .map(|(page, found)| printed(&page, found).into());
    let (tables, counts): (Vec<_>, Vec<_>) = printed.unzip();
    let names: String = verdicts().map(|one| format!(" {one} |")).collect();
    let ruler = "---|".repeat(verdicts().count() + 1);
    let counts = format!("| experiment |{names}\n|{ruler}\n{}", counts.concat());
    for (page, expected) in [
        ("findings.md", tables.join("\n")),
        ("reproduction.md", counts),
    ] {
        let [before, shown, after] = parts(page);
        if file.is_some() {
            let [begin, end] = MARKS;
            let text = [&before, begin, &expected, end, &after].concat();
            fs::write(path(page), text).unwrap();
        } else {
            assert!(shown == expected, "docs/{page} should show:\n{expected}");
        }
    }
}
