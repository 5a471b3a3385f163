//! `tidegate-lab fan`: the page of merged pieces is that of one process.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{complaint, lab};

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

/// Checks that merged pieces give the page of one process, as text and as JSON.
fn assert_equal_pages(arguments: &str, pieces: &[usize]) {
    let arguments = format!("{arguments} --sim --size tiny");
    let [text, json] =
        ["", " --json"].map(|flag| printed(&format!("reproduce {arguments}{flag}"), &[]));
    for pieces in pieces {
        let fan = Fan::plan(&arguments, *pieces);
        let items = fan.items();
        assert_eq!(fan.run(1_000_000), items, "no piece leaves work");
        assert!(
            items >= *pieces.min(&3),
            "{items} items for {pieces} pieces"
        );
        assert!(fan.merge("") == text, "{arguments}, {pieces} pieces");
        assert!(fan.merge("--json") == json, "{arguments}, {pieces} pieces");
    }
}

#[test]
fn merged_pages_are_those_of_one_process() {
    assert_equal_pages("intervals --runs 2", &[1, 3, 16]);
}

/// The runs of this experiment are of other types.
#[test]
fn other_figures_are_read_back_exactly() {
    assert_equal_pages("multi-steal --only states --runs 2", &[3]);
    assert_equal_pages("two-level --only O3 --runs 2", &[3]);
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
    for experiment in [
        "adaptive",
        "two-level",
        "multi-steal",
        "memory",
        "intervals",
        "scaling",
    ] {
        let mut items = plan["items"].as_array().unwrap().iter();
        assert!(
            items.any(|item| item["item"]["experiment"] == experiment),
            "{experiment}"
        );
    }
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
    changed["header"]["arguments"]["program"]["reproduce"]["build"] = "0.0.0 0".into();
    fs::write(fan.file(), changed.to_string()).unwrap();
    let mut piece = lab("fan piece --item 0 --plan");
    let text = complaint(piece.arg(fan.file()).arg("--out").arg(fan.folder.path()), 2);
    assert!(
        text.contains("the plan is of build 0.0.0 0, this is"),
        "{text}"
    );
}
