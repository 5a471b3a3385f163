//! Tests that pieces of a program give the result of one process, however it is split.
#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::jobs::{Home, Running, eventually};
use crate::support::{assert_contains, complaint, json, printed, text, tidegate};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

/// A plan, and the folder of its results.
struct Fan {
    home: TempDir,
    /// The weights of the items.
    weights: Vec<u64>,
    /// How many items were left by pieces.
    left: usize,
}

fn plan(words: &str, pieces: usize, path: &Path) -> assert_cmd::Command {
    let mut command = tidegate("fan plan");
    command.args(words.split_whitespace());
    if words.starts_with("digest") {
        command.arg(path);
    }
    command.arg(format!("--pieces={pieces}"));
    command
}

impl Fan {
    fn new(words: &str, pieces: usize, path: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        let planned = text(&mut plan(words, pieces, path));
        assert_eq!(planned, text(&mut plan(words, pieces, path)));
        fs::write(home.path().join("plan.json"), &planned).unwrap();
        let planned: Value = serde_json::from_str(&planned).unwrap();
        let items = planned["items"].as_array().unwrap().iter();
        let weights: Vec<_> = items.map(|item| item["weight"].as_u64().unwrap()).collect();
        let items = weights.len();
        assert!((1..=pieces).contains(&items), "{items} of {pieces}");
        Self {
            home,
            weights,
            left: 0,
        }
    }

    fn verb(&self, verb: &str) -> assert_cmd::Command {
        let mut command = tidegate(&format!("fan {verb}"));
        command
            .arg("--plan")
            .arg(self.home.path().join("plan.json"));
        command
    }

    fn piece(&self, item: &str, budget: u32) -> assert_cmd::Command {
        let mut command = self.verb("piece");
        command.arg(format!("--item={item}"));
        command.arg(format!("--budget={budget}"));
        command.arg("--out").arg(self.home.path());
        command
    }

    /// Runs the piece of an item. Returns the weights of the items that it leaves.
    fn run_one(&self, item: &str, budget: u32) -> Vec<u64> {
        self.piece(item, budget).assert().success().stderr("");
        let result = fs::read_to_string(self.home.path().join(format!("{item}.out"))).unwrap();
        let trailer: Value = serde_json::from_str(result.lines().last().unwrap()).unwrap();
        let rest = trailer["rest"].as_array().unwrap().iter();
        rest.map(|weight| weight.as_u64().unwrap()).collect()
    }

    /// Runs the piece of an item and those of what it leaves. In the first three generations, every
    /// eighth one has no budget.
    fn run(&mut self, item: &str, weight: u64, has_budget: bool) {
        let rest = self.run_one(item, if has_budget { 600 } else { 0 });
        assert!(rest.len() <= 16, "{rest:?}");
        // Otherwise the progress would fall.
        let sum = rest.iter().sum::<u64>();
        assert!(sum < weight, "{item}: {rest:?} of {weight}");
        self.left += rest.len();
        for (child, weight) in rest.into_iter().enumerate() {
            let item = format!("{item}.{child}");
            let has_budget = child % 8 != 0 || item.split('.').count() > 3;
            self.run(&item, weight, has_budget);
        }
    }

    fn run_all(&mut self) {
        for (item, weight) in self.weights.clone().into_iter().enumerate() {
            self.run(&item.to_string(), weight, item % 8 != 0);
        }
    }

    fn merge(&self, options: &str) -> assert_cmd::Command {
        let mut command = self.verb("merge");
        command.args(options.split_whitespace());
        command.arg(self.home.path());
        command
    }
}

/// Splits the program in several ways. Each time, `check` gets the merged text and JSON.
fn in_pieces(words: &str, path: &Path, check: impl Fn(&str, &Value)) {
    let mut left = 0;
    for pieces in [1, 2, 5, 24] {
        let mut fan = Fan::new(words, pieces, path);
        fan.run_all();
        check(&text(&mut fan.merge("")), &json(&mut fan.merge("--json")));
        left += fan.left;
    }
    assert!(left > 0, "no piece of {words} has left work");
}

/// The rows of the result are the first ones in the report of `run`.
fn agrees_with_run(run: &str, result: &Value, merged: &str, json: &Value) {
    assert_eq!(json["result"], result["result"]);
    assert_eq!(json["parameters"], result["parameters"]);
    assert_eq!(json["workload"], result["workload"]);
    let rows = 1 + result["result"].as_object().unwrap().len();
    let (run, merged): (Vec<_>, Vec<_>) = (run.lines().collect(), merged.lines().collect());
    assert_eq!(run[1..rows], merged[1..rows]);
    let title = run[0].split(", ").next().unwrap();
    assert_eq!(title, merged[0]);
}

const NOWHERE: &str = "/";

#[test]
fn uts_in_pieces_has_the_known_counts() {
    let program = "uts --tree tiny";
    let run = text(&mut tidegate(&format!("run {program} --repeat 1")));
    let result = json(&mut tidegate(&format!("run {program} --repeat 1 --json")));
    in_pieces(program, NOWHERE.as_ref(), |merged, json| {
        agrees_with_run(&run, &result, merged, json);
        assert_eq!(json["verified"], true);
        assert_contains(merged, &["\nverified    same answer as the counts known"]);
    });
}

#[test]
fn uts_without_known_counts_is_not_verified() {
    let program = "uts --tree tiny --seed 7 --depth 4";
    let result = json(&mut tidegate(&format!("run {program} --repeat 1 --json")));
    let mut fan = Fan::new(program, 7, NOWHERE.as_ref());
    fan.run_all();
    let merged = json(&mut fan.merge("--json"));
    assert_eq!(merged["result"], result["result"]);
    assert_eq!(merged["verified"], false);
}

#[test]
fn piece_that_leaves_work_counts_half() {
    let fan = Fan::new("uts --tree tiny", 2, NOWHERE.as_ref());
    let rest = fan.run_one("0", 0);
    assert!(!rest.is_empty());
    let (sum, weight) = (rest.iter().sum::<u64>(), fan.weights[0]);
    let about_half = weight / 2 - weight / 100..=weight / 2;
    assert!(about_half.contains(&sum), "{sum} of {weight}");
}

#[test]
fn tree_of_one_node_has_one_item() {
    let program = "uts --type balanced --b0 0 --depth 1";
    let mut fan = Fan::new(program, 5, NOWHERE.as_ref());
    fan.run_all();
    let merged = json(&mut fan.merge("--json"));
    assert_eq!(
        merged["result"],
        serde_json::json!({"nodes": 1, "depth": 0, "leaves": 1})
    );
}

#[test]
fn wrong_counts_are_an_error() {
    let fan = Fan::new("uts --tree tiny", 1, NOWHERE.as_ref());
    let path = fan.home.path().join("plan.json");
    let planned = fs::read_to_string(&path).unwrap();
    let above = planned.replacen("\"above\":{\"nodes\":", "\"above\":{\"nodes\":1", 1);
    assert_ne!(planned, above);
    fs::write(&path, above).unwrap();
    fan.piece("0", 600).assert().success();
    let error = complaint(&mut fan.merge(""), 1);
    assert_contains(&error, &["does not match the counts known for this tree"]);
    assert_eq!(error.lines().count(), 1, "{error}");
}

/// A tree with names of all kinds, an empty folder, one that only root can read, a link, a FIFO and
/// a deep folder.
struct Tree(TempDir);

impl Tree {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn set_mode(&self, mode: u32) -> std::io::Result<()> {
        fs::set_permissions(self.path().join("closed"), Permissions::from_mode(mode))
    }
}

/// Makes the closed folder readable, so that it can be removed.
impl Drop for Tree {
    fn drop(&mut self) {
        let _ = self.set_mode(0o700);
    }
}

fn folder() -> Tree {
    let folder = Tree(tempfile::tempdir().unwrap());
    let deep = folder.path().join("d/".repeat(200));
    fs::create_dir_all(&deep).unwrap();
    for name in ["empty", "closed"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    for name in [
        &b"plain"[..],
        b"with space",
        b"line\nbreak",
        b"\xff\xfe",
        b"d.txt",
        b"-",
    ] {
        fs::write(folder.path().join(OsStr::from_bytes(name)), name).unwrap();
        fs::write(deep.join(OsStr::from_bytes(name)), name).unwrap();
    }
    std::os::unix::fs::symlink("plain", folder.path().join("link")).unwrap();
    fs::write(folder.path().join("closed/file"), "closed").unwrap();
    folder.set_mode(0).unwrap();
    let fifo = folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(fifo).status();
    assert!(made.is_ok_and(|status| status.success()));
    folder
}

fn run_digest(options: &str, path: &Path) -> assert_cmd::Command {
    let mut command = tidegate(&format!("run digest --repeat 1 {options}"));
    command.arg(path);
    command
}

#[test]
fn digest_in_pieces_has_the_digest_of_one_run() {
    let folder = folder();
    let run = text(&mut run_digest("", folder.path()));
    let result = json(&mut run_digest("--json", folder.path()));
    let details = &run[run.find("odd_names: ").unwrap()..];
    let details = details.split("note  ").next().unwrap();
    assert_eq!(result["result"]["special"], 1, "{result}");
    in_pieces("digest", folder.path(), |merged, json| {
        agrees_with_run(&run, &result, merged, json);
        assert!(merged.ends_with(details), "{merged}\n{run}");
        assert_eq!(json["changed"], serde_json::json!([]));
    });
}

#[test]
fn root_that_is_not_utf8_survives() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(OsStr::from_bytes(b"-\xff"));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("file"), "text").unwrap();
    let mut fan = Fan::new("digest", 3, &root);
    fan.run_all();
    assert_eq!(json(&mut fan.merge("--json"))["result"]["files"], 1);
}

#[test]
fn changed_and_vanished_files_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["grows", "goes", "stays"] {
        fs::write(folder.path().join(name), name).unwrap();
    }
    let mut fan = Fan::new("digest", 2, folder.path());
    fs::write(folder.path().join("grows"), "it has grown").unwrap();
    fs::remove_file(folder.path().join("goes")).unwrap();
    fan.run_all();
    let found = json(&mut fan.merge("--json"));
    assert_eq!(found["result"]["vanished"], 1);
    assert_eq!(found["result"]["files"], 2);
    assert_eq!(found["changed"], serde_json::json!(["grows"]));
    let merged = text(&mut fan.merge(""));
    assert!(merged.contains("vanished: 1\n  goes"), "{merged}");
    assert_contains(&merged, &["changed since the plan: 1\n  grows\n"]);
}

#[test]
fn run_goes_on_with_its_plan_after_the_tree_has_changed() {
    let (home, tree) = (tempfile::tempdir().unwrap(), folder());
    let run = || {
        let mut command = tidegate("fan run digest --pieces 4 --json");
        let printed = printed(command.arg(tree.path()).current_dir(home.path()));
        serde_json::from_str::<Value>(&printed).expect("JSON")
    };
    let before = run();
    let folders = fs::read_dir(home.path()).unwrap();
    let results = folders.map(|entry| entry.unwrap().path()).next().unwrap();
    let read = |name: &str| fs::read(results.join(name)).unwrap();
    let (plan, kept) = (read("plan.json"), read("1.out"));
    fs::remove_file(results.join("0.out")).unwrap();
    fs::write(tree.path().join("added"), "later").unwrap();
    assert_eq!(run(), before);
    assert_eq!((read("plan.json"), read("1.out")), (plan, kept));
    assert!(results.join("0.out").exists());
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn results_below_the_root_are_refused() {
    let (home, tree) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inside = tree.path().join("inside");
    fs::create_dir(&inside).unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    let run = |dir: Option<&Path>, start: &Path| {
        let mut command = tidegate("fan run");
        command.args(dir.map(|dir| format!("--dir={}", dir.display())));
        command.args(["digest", "--pieces=2"]).arg(tree.path());
        command.current_dir(start);
        command
    };
    for (dir, start) in [
        (Some(inside.join("new/folder")), home.path()),
        (Some(tree.path().to_owned()), home.path()),
        (Some(link.join("new")), home.path()),
        (None, &*inside),
    ] {
        for option in ["--json", "--dry-run"] {
            let error = complaint(run(dir.as_deref(), start).arg(option), 2);
            assert!(error.contains("would be digested with"), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
    assert_eq!(fs::read_dir(&inside).unwrap().count(), 0);
    // Its path only begins with the same characters.
    let mut beside = tree.path().as_os_str().to_owned();
    beside.push("-beside");
    run(Some(beside.as_ref()), home.path()).assert().success();
    fs::remove_dir_all(beside).unwrap();
}

#[test]
fn plan_of_many_files_has_each_path_once() {
    let tree = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for folder in 0..20 {
        let folder = format!("folder-of-some-files-{folder}");
        fs::create_dir(tree.path().join(&folder)).unwrap();
        for file in 0..30 {
            paths.push(format!("{folder}/file-with-a-name-{file}.text"));
            fs::write(tree.path().join(paths.last().unwrap()), "text").unwrap();
        }
    }
    let planned = |workers: &str| {
        let mut command = plan("digest", 8, tree.path());
        text(command.env("TIDEGATE_WORKERS", workers))
    };
    let planned = [planned("1"), planned("4")];
    assert_eq!(planned[0], planned[1]);
    for path in &paths {
        assert_eq!(planned[0].matches(path.as_str()).count(), 1, "{path}");
    }
    let bytes: usize = paths.iter().map(String::len).sum();
    let size = planned[0].len();
    assert!(size < bytes + bytes / 3, "{size} of {bytes}");
}

#[test]
fn all_problem_files_are_in_the_json() {
    let (home, tree) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for number in 0..12 {
        fs::write(tree.path().join(format!("strange\\{number}")), "").unwrap();
    }
    for (option, named) in [("", 10), ("--json", 12)] {
        let mut command = tidegate(&format!("fan run digest --pieces 3 {option}"));
        let printed = printed(command.arg(tree.path()).current_dir(home.path()));
        assert_eq!(printed.matches("strange").count(), named, "{printed}");
    }
}

#[test]
fn machine_without_the_root_is_the_wrong_one() {
    let folder = folder();
    let fan = Fan::new("digest", 1, folder.path());
    drop(folder);
    let error = complaint(&mut fan.piece("0", 600), 3);
    assert!(error.contains("No such file"), "{error}");
}

/// A mount point is an empty folder where nothing is mounted.
#[test]
fn machine_with_an_empty_root_is_the_wrong_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    let fan = Fan::new("digest", 1, folder.path());
    fs::remove_file(file).unwrap();
    let error = complaint(&mut fan.piece("0", 600), 3);
    assert!(error.contains("is empty"), "{error}");
}

/// This program has a parameter with the name of an option.
#[test]
fn number_of_pieces_is_no_parameter() {
    let fan = Fan::new("sim sortmany --size tiny --seeds 4", 2, NOWHERE.as_ref());
    assert_eq!(fan.weights.len(), 2);
    let words = "sim sortmany --size tiny --seeds 4 --sortmany-pieces 3";
    let fan = Fan::new(words, 4, NOWHERE.as_ref());
    assert_eq!(fan.weights.len(), 4);
}

#[test]
fn simulations_in_pieces_print_the_same_bytes() {
    for program in [
        "sim fib 8 --processors 3 --seeds 7 --sim-seed 5",
        "sim fib 8 --processors 3 --job knary --size tiny --instances 3 --arrivals poisson:1ms --desire wsap --seeds 5",
    ] {
        let alone = text(&mut tidegate(program));
        let note = "\n(--wide shows ";
        assert!(alone.contains(note), "{alone}");
        let alone = alone.replace(note, "\n(--json has ");
        let alone_json = text(&mut tidegate(&format!("{program} --json")));
        for pieces in [1, 2, 5, 24] {
            let mut fan = Fan::new(program, pieces, NOWHERE.as_ref());
            fan.run_all();
            assert_eq!(text(&mut fan.merge("")), alone);
            assert_eq!(text(&mut fan.merge("--json")), alone_json);
            assert!(pieces > 1 || fan.left > 0, "{program}");
        }
    }
}

#[test]
fn other_settings_on_a_machine_are_an_error() {
    let fan = Fan::new("sim fib 8 --processors 3 --seeds 2", 1, NOWHERE.as_ref());
    let mut piece = fan.piece("0", 600);
    let error = complaint(piece.env("TIDEGATE_STEAL", "half"), 3);
    assert_contains(&error, &["the settings are not those of the plan"]);
    fan.piece("0", 600).assert().success();
    complaint(fan.merge("").env("TIDEGATE_STEAL", "half"), 3);
    fan.merge("").assert().success();
}

#[test]
fn interrupted_run_ends_with_the_signals_code() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results");
    let mut run = home.program("fan run sim fib 60 --seeds 1 --dir");
    run.arg(&results)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut run = Running(run.spawn().unwrap());
    eventually(|| {
        let files = fs::read_dir(&results).into_iter().flatten();
        let mut names = files.map(|file| file.unwrap().file_name());
        names.any(|name| name.to_string_lossy().ends_with(".running"))
    });
    kill(Pid::from_raw(run.0.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(run.0.wait().unwrap().code(), Some(143));
    let told = std::io::read_to_string(run.0.stderr.take().unwrap()).unwrap();
    assert!(told.contains("interrupted: 0 of 1 results"), "{told}");
}

#[test]
fn spelling_does_not_change_the_plan() {
    let one = text(&mut tidegate("fan plan sim fib 8 --seeds 3 --processors 2"));
    let other = text(&mut tidegate("fan plan sim --processors=2 fib --seeds=3 8"));
    assert_eq!(one, other);
}

/// Pieces have no standard input, so it is refused.
#[test]
fn help_offers_no_standard_input() {
    let help = |words: &str| {
        let help = text(&mut tidegate(&format!("{words} --help")));
        help.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for words in ["fan plan sim fib", "fan run sim lu"] {
        let help = help(words);
        assert!(help.contains("--topology <FILE>") && help.contains("--costs <FILE>"));
        assert!(!help.contains("standard input"), "{help}");
    }
    let help = help("sim fib");
    assert_eq!(help.matches("; - for standard input").count(), 2, "{help}");
}

#[test]
fn folder_of_other_arguments_is_named_by_both_commands() {
    let home = tempfile::tempdir().unwrap();
    let run = |words: &str| {
        let mut command = tidegate(&format!("fan run {words} --dir D --dry-run"));
        command.current_dir(home.path());
        command
    };
    run("uts --tree tiny --pieces 3").assert().success();
    let error = complaint(&mut run("uts --seed 7"), 2);
    let of = "D/plan.json is the plan of uts --tree=tiny, --pieces 3, not of uts --seed=7, --pieces 64: ";
    assert!(error.contains(of), "{error}");
}

#[test]
fn wrong_arguments_end_with_code_two_and_one_line() {
    for (words, part) in [
        ("uts --tree T9", "invalid value \"T9\" for tree"),
        ("uts --form spawn", "only with --form join"),
        ("uts --type binomial --depth 3", "depth has no effect"),
        ("sim fib 8", "expected --seeds N"),
        ("sim fib x --seeds 2", "invalid value \"x\" for n"),
        (
            "sim fib 8 --seeds 2 --topology -",
            "cannot read standard input",
        ),
        ("sim fib 8 --seeds 2 --allot dp", "requires --desire"),
    ] {
        let error = complaint(&mut tidegate(&format!("fan plan {words}")), 2);
        assert!(error.contains(part), "{words}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let error = complaint(&mut tidegate("fan plan digest /nowhere/at/all"), 3);
    assert_eq!(error.lines().count(), 1, "{error}");
}
