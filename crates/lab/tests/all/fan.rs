//! `tidegate-lab fan`: the page of merged pieces is that of one process.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{assert_contains, complaint, lab};
use serde_json::Value;

/// A plan's file, and the folder of its results.
struct Fan {
    folder: tempfile::TempDir,
}

impl Fan {
    /// Plans what `reproduce` is asked for with these arguments.
    fn plan(arguments: &str, pieces: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("fan plan reproduce {arguments} --pieces {pieces}");
        fs::write(folder.path().join("plan.json"), printed(&line, &[])).unwrap();
        Self { folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("plan.json")
    }

    fn items(&self) -> usize {
        let plan: Value = serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap();
        plan["items"].as_array().unwrap().len()
    }

    /// Does all items, and those that their pieces leave. Returns the number of pieces.
    fn run(&self, budget: u64) -> usize {
        let mut open: Vec<String> = (0..self.items()).map(|item| item.to_string()).collect();
        let mut pieces = 0;
        while let Some(item) = open.pop() {
            let line = format!("fan piece --item {item} --budget {budget} --plan");
            let out = Path::new("--out");
            assert_eq!(printed(&line, &[&self.file(), out, self.folder.path()]), "");
            let result =
                fs::read_to_string(self.folder.path().join(format!("{item}.out"))).unwrap();
            let found: Value = serde_json::from_str(result.lines().next().unwrap()).unwrap();
            let left = found["rest"].as_array().unwrap().len();
            open.extend((0..left).map(|number| format!("{item}.{number}")));
            pieces += 1;
        }
        pieces
    }

    fn merge(&self, flag: &str) -> String {
        let line = format!("fan merge {flag} --plan");
        printed(&line, &[&self.file(), self.folder.path()])
    }
}

/// Runs a command, which must succeed without a message, and returns what it prints.
fn printed(line: &str, paths: &[&Path]) -> String {
    let output = lab(line).args(paths).assert().success().stderr("");
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

/// Checks that merged pieces give the JSON of one process. Returns the plan and its results.
fn assert_equal_pages(arguments: &str, pieces: usize) -> Fan {
    let arguments = format!("{arguments} --sim --size tiny");
    let fan = Fan::plan(&arguments, pieces);
    assert_eq!(fan.items(), pieces);
    assert_eq!(fan.run(1_000_000), pieces, "no piece leaves work");
    let whole = printed(&format!("reproduce {arguments} --json"), &[]);
    assert!(fan.merge("--json") == whole, "{arguments}, {pieces} pieces");
    fan
}

/// For each experiment, its smallest part that has all types of runs.
mod merged_pages_are_those_of_one_process {
    use super::*;

    #[test]
    fn adaptive() {
        assert_equal_pages("adaptive --only prefixsum --runs 1", 2);
    }

    #[test]
    fn two_level() {
        assert_equal_pages("two-level --only O3 --runs 2", 3);
    }

    #[test]
    fn multi_steal() {
        assert_equal_pages("multi-steal --only states,SparseLU --runs 1", 2);
    }

    #[test]
    fn memory() {
        assert_equal_pages("memory --only memfib --runs 1", 2);
    }

    #[test]
    fn intervals() {
        let arguments = "intervals --runs 2";
        let text = printed(&format!("reproduce {arguments} --sim --size tiny"), &[]);
        for pieces in [1, 4] {
            let fan = assert_equal_pages(arguments, pieces);
            assert!(fan.merge("") == text, "{pieces} pieces");
        }
    }

    #[test]
    fn scaling() {
        assert_equal_pages("scaling --only 4 --runs 1", 2);
    }
}

/// Every piece ends after its first run, and leaves the others.
#[test]
fn spent_pieces_leave_their_runs() {
    let arguments = "two-level --only P2 --runs 2 --sim --size tiny";
    let fan = Fan::plan(arguments, 1);
    assert!(fan.run(0) > 4);
    assert_eq!(
        fan.merge(""),
        printed(&format!("reproduce {arguments}"), &[])
    );
}

#[test]
fn every_experiment_is_planned_in_the_same_way_each_time() {
    let plan = |experiment: &str| {
        let fan = Fan::plan(&format!("{experiment} --sim --size tiny"), 100);
        let items = fan.items();
        assert!((100..=106).contains(&items), "{items}");
        fs::read_to_string(fan.file()).unwrap()
    };
    let planned = plan("all");
    assert_eq!(planned, plan("all"));
    let plan: Value = serde_json::from_str(&planned).unwrap();
    let items = plan["items"].as_array().unwrap().iter();
    let experiments: BTreeSet<_> = items
        .map(|item| item["item"]["experiment"].as_str().unwrap())
        .collect();
    // Each of them is merged above.
    #[rustfmt::skip]
    let all = [
        "adaptive", "intervals", "memory", "multi-steal", "scaling", "two-level",
    ];
    assert_eq!(experiments, all.into());
}

#[test]
fn results_of_another_plan_are_refused() {
    let [one, other] = [1, 2].map(|runs| {
        let arguments = format!("two-level --only O3 --runs {runs} --sim --size tiny");
        Fan::plan(&arguments, 1)
    });
    one.run(1_000_000);
    let mut merge = lab("fan merge --plan");
    let text = complaint(merge.arg(other.file()).arg(one.folder.path()), 1);
    assert!(text.contains("belongs to another plan"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn plans_of_another_build_are_refused() {
    let fan = Fan::plan("two-level --only O3 --runs 1 --sim --size tiny", 1);
    let plan = fs::read_to_string(fan.file()).unwrap();
    let mut changed: Value = serde_json::from_str(&plan).unwrap();
    changed["build"] = "0".into();
    fs::write(fan.file(), changed.to_string()).unwrap();
    let mut piece = lab("fan piece --item 0 --plan");
    let text = complaint(piece.arg(fan.file()).arg("--out").arg(fan.folder.path()), 2);
    assert_contains(&text, &["was made by build 0, and this is build"]);
}
