//! Folders of another build of the program, and `run --fresh`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Ended, Fan};

tests! {
    other_builds_are_refused, copies_are_one_build, accepted_builds_count_as_equal,
    other_formats_are_refused, fresh_replaces_results, fresh_spares_other_files,
    fresh_waits_for_pieces, fresh_respects_the_lock,
}

const RUN: &str = "run sum --below 30 --pieces 3 --dir D";

/// An executable in the folder of a test.
struct Program<'a> {
    fan: &'a Fan,
    path: PathBuf,
}

impl<'a> Program<'a> {
    fn new(fan: &'a Fan, name: &str, bytes: &[u8]) -> Self {
        let path = fan.path(name);
        fs::write(&path, bytes).expect("a program");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a program");
        Self { fan, path }
    }

    /// Returns this program, built from other sources: what identifies its build is changed.
    fn rebuilt(fan: &'a Fan) -> Self {
        let mut bytes = this();
        let id = build(&fan.output("plan sum --below 1").done());
        let id: Vec<_> = (0..id.len() / 2)
            .map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).expect("two digits"))
            .collect();
        match bytes.windows(id.len()).position(|window| window == id) {
            Some(at) => bytes[at] ^= 1,
            // It is a hash of the executable.
            None => bytes.push(0),
        }
        Self::new(fan, "rebuilt", &bytes)
    }

    fn output(&self, words: &str) -> Ended {
        let mut command = std::process::Command::new(&self.path);
        command.args(words.split_whitespace());
        command.current_dir(self.fan.path(""));
        Ended::of(command.output().expect("a process"))
    }
}

fn this() -> Vec<u8> {
    fs::read(std::env::current_exe().expect("a path")).expect("this program")
}

/// Returns the build in a plan.
fn build(plan: &str) -> String {
    let plan: Value = serde_json::from_str(plan).expect("a plan");
    plan["build"].as_str().expect("a build").to_owned()
}

fn other_builds_are_refused() {
    let fan = Fan::new();
    let rebuilt = Program::rebuilt(&fan);
    fan.output(RUN).done();
    fan.output("run sum --below 3").done();
    let theirs = build(&fan.read("D/plan.json"));
    let ours = build(&rebuilt.output("plan sum --below 3").done());
    let parts = [
        &*format!("was made by build {theirs}, and this is build {ours}"),
        "another --dir",
        "`run --fresh`",
        &*format!("`run --accept-build {theirs}`"),
    ];
    // Without --dir, it is the same folder.
    for verb in [RUN, "run sum --below 3", "merge D", "status D"] {
        rebuilt.output(verb).refused(2, &parts);
    }
    rebuilt.output("piece --out D --item 0").refused(2, &parts);
    assert!(fan.read("D/0.err").contains("was made by build"));
}

fn copies_are_one_build() {
    let fan = Fan::new();
    let copy = Program::new(&fan, "copy", &this());
    fan.output(RUN).done();
    fs::remove_file(fan.path("D/1.out")).expect("a result");
    assert_eq!(copy.output(RUN).done(), "sum 435\n");
}

fn accepted_builds_count_as_equal() {
    let fan = Fan::new();
    let rebuilt = Program::rebuilt(&fan);
    fan.output(RUN).done();
    fs::remove_file(fan.path("D/1.out")).expect("a result");
    let kept = fan.read("D/0.out");
    let accept = |build: &str| rebuilt.output(&format!("{RUN} --accept-build {build}"));
    accept("0").refused(2, &["was made by build"]);
    assert_eq!(accept(&build(&fan.read("D/plan.json"))).done(), "sum 435\n");
    assert_eq!(fan.read("D/0.out"), kept);
    // The folder has it, so nothing else needs to name the build.
    for verb in [RUN, "merge D", "status D", "piece --out D --item 2"] {
        rebuilt.output(verb).done();
        fan.output(verb).done();
    }
}

/// Such a plan has no build.
fn other_formats_are_refused() {
    let fan = Fan::new();
    fan.output(RUN).done();
    let mut plan: Value = serde_json::from_str(&fan.read("D/plan.json")).expect("JSON");
    plan["header"]["format"] = 1.into();
    plan.as_object_mut().expect("a plan").remove("build");
    fs::write(fan.path("D/plan.json"), plan.to_string()).expect("a file");
    let run = fan.output(RUN);
    run.refused(2, &["sums 1, format 1, and this is sums 1, format 2: "]);
}

fn fresh_replaces_results() {
    let fan = Fan::new();
    let rebuilt = Program::rebuilt(&fan);
    fan.output("run sum --below 30 --pieces 7 --budget 0 --dir D")
        .done();
    fan.output("run sum --below 30 --pieces 7 --dir D --fresh --dry-run")
        .refused(2, &["--dry-run cannot be used with --fresh"]);
    let before = fan.names("D");
    assert!(before.contains(&"0.0.out".to_owned()), "{before:?}");
    fs::write(fan.path("D/2~b~7~5.differs"), "").expect("a file");
    fs::write(fan.path("D/builds"), "\n{\"plan\":\"\",\"build\":\"\"}\n").expect("a file");
    let run = rebuilt.output(&format!("{RUN} --fresh"));
    assert!(!run.err.contains("nothing to run"), "{run:?}");
    assert_eq!(run.done(), "sum 435\n");
    let names = "0.out 1.out 2.out local.json plan.json rounds run.lock";
    assert_eq!(fan.names("D").join(" "), names);
    rebuilt.output("merge D").done();
    fan.output("merge D").refused(2, &["was made by build"]);
    // A plan of another version is started over, too.
    let other = fan
        .read("D/plan.json")
        .replace(r#""version":"1""#, r#""version":"0""#);
    fs::write(fan.path("D/plan.json"), other).expect("a file");
    fan.output(RUN).refused(2, &["sums 0", "`run --fresh`"]);
    // Its results are those of the plan before it was changed.
    fan.output(&format!("{RUN} --fresh"))
        .refused(1, &["another plan"]);
}

fn fresh_spares_other_files() {
    let fan = Fan::new();
    fan.output(RUN).done();
    let files = [
        ("D/7.out", "a result of another program"),
        ("D/8.err", "a log of another program"),
        ("D/data.json", "[]"),
        ("D/notes", ""),
        ("D/builds", "a text of the user"),
    ];
    for (name, text) in files {
        fs::write(fan.path(name), text).expect("a file");
    }
    fan.output(&format!("{RUN} --fresh")).done();
    for (name, text) in files {
        assert_eq!(fan.read(name), text);
    }
    for folder in ["D/builds", "D/2~b~7~5.differs"] {
        let _ = fs::remove_file(fan.path(folder));
        fs::create_dir(fan.path(folder)).expect("a folder");
    }
    let refused = fan.output(&format!("{RUN} --fresh"));
    refused.refused(2, &["2~b~7~5.differs"]);
    assert!(fan.path("D/builds").exists());
    fs::remove_dir(fan.path("D/2~b~7~5.differs")).expect("a folder");
    fan.output(&format!("{RUN} --fresh")).done();
    fs::write(fan.path("D/rounds"), "a text of the user").expect("a file");
    fan.output(&format!("{RUN} --fresh")).done();
    assert!(fan.read("D/rounds").starts_with("a text of the user\n{"));
    let plan = fan.read("D/plan.json");
    fs::write(fan.path("D/plan.json"), plan.replace("sums", "other")).expect("a file");
    let run = fan.output(&format!("{RUN} --fresh"));
    run.refused(2, &["plan.json is not a plan of sums: "]);
    assert!(fan.path("D/0.out").exists());
}

/// A piece that has begun publishes what it finds, whatever was removed meanwhile.
fn fresh_waits_for_pieces() {
    let fan = Fan::new();
    fan.output(RUN).done();
    let file = fan.path("D/1~elsewhere~7~5.running");
    fs::write(&file, "").expect("a file");
    let run = fan.output(&format!("{RUN} --fresh"));
    run.refused(3, &["item 1 runs on elsewhere, process 7: "]);
    assert!(fan.path("D/0.out").exists());
    fs::remove_file(&file).expect("a file");
    fan.output(&format!("{RUN} --fresh")).done();
}

fn fresh_respects_the_lock() {
    let fan = Fan::new();
    let run = fan.start("run sum --below 20 --pieces 2 --from 10 --dir D");
    fan.held(10, &[]);
    let fresh = fan.output("run sum --below 20 --pieces 2 --dir D --fresh");
    fresh.refused(3, &["is already running in this folder"]);
    fan.go();
    let output = run.wait_with_output().expect("an end");
    assert_eq!(Ended::of(output).done(), "sum 190\n");
}
