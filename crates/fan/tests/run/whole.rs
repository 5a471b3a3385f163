//! Runs that end by themselves.

use std::fs;

use crate::support::{Ended, Fan};

tests! {
    equals_plan_piece_merge, plan_of_the_folder_is_the_default, continues_from_results,
    spent_budgets_split_again, names_its_folder, dry_run_starts_nothing, no_items,
    attempts_elsewhere_are_left_alone,
}

const SUM: &str = "sum --below 100 --pieces 7";

fn equals_plan_piece_merge() {
    let fan = Fan::new();
    let plan = fan.output(&format!("plan {SUM}")).done();
    fs::write(fan.path("plan"), &plan).expect("a file");
    fs::create_dir(fan.path("by-hand")).expect("a folder");
    for item in 0..7 {
        let piece = format!("piece --plan plan --out by-hand --item {item}");
        fan.output(&piece).done();
    }
    for json in ["", "--json"] {
        let by_hand = fan
            .output(&format!("merge --plan plan by-hand {json}"))
            .done();
        let run = fan.output(&format!("run {SUM} --dir D{json} {json}"));
        assert!(run.err.contains("D"), "{run:?}");
        assert_eq!(run.err.lines().count(), 1, "{run:?}");
        assert_eq!(run.done(), by_hand);
    }
    assert_eq!(fan.read("D/plan.json"), plan);
}

fn plan_of_the_folder_is_the_default() {
    let fan = Fan::new();
    let sum = fan.output(&format!("run {SUM} --dir D")).done();
    fs::remove_file(fan.path("D/3.out")).expect("a result");
    fan.output("piece --out D --item 3").done();
    assert_eq!(fan.output("merge D").done(), sum);
}

fn continues_from_results() {
    let fan = Fan::new();
    let run = format!("run {SUM} --dir D");
    let is_told = |ended: &Ended| ended.err.contains("nothing to run");
    let first = fan.output(&run);
    assert!(!is_told(&first), "{first:?}");
    let whole = first.done();
    assert_eq!(whole, "sum 4950\n");
    let kept = fan.read("D/3.out");
    fs::remove_file(fan.path("D/4.out")).expect("a result");
    assert_eq!(fan.output(&run).done(), whole);
    assert_eq!(fan.read("D/3.out"), kept);
    let again = fan.output(&run);
    assert!(is_told(&again), "{again:?}");
    assert_eq!(again.done(), whole);
}

fn spent_budgets_split_again() {
    let fan = Fan::new();
    let run = |options: &str| format!("run sum --below 12 --pieces 2 {options}");
    assert_eq!(fan.output(&run("--dir A")).done(), "sum 66\n");
    assert_eq!(fan.output(&run("--dir B --budget 0")).done(), "sum 66\n");
    assert!(fan.path("B/0.0.0.out").exists());
    let merged = fan.output("merge --plan B/plan.json B --json").done();
    let ends: String = (0..12).map(|number| format!("{number},")).collect();
    let printed: String = merged.split_whitespace().collect();
    let printed = printed.replace(']', ",]");
    assert!(printed.contains(&format!("[{ends}]")), "{printed}");
}

fn names_its_folder() {
    let fan = Fan::new();
    fan.output("run sum --below 3").done();
    let names = fan.names("");
    assert_eq!(names.len(), 1, "{names:?}");
    let digest = names[0].strip_prefix("fan-sums-").expect("the name");
    assert_eq!(digest.len(), 8);
}

fn dry_run_starts_nothing() {
    let fan = Fan::new();
    let run = "run sum --below 2 --pieces 2 --dir D --budget 5 --cpus 3 --dry-run";
    let text = fan.output(run).done();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[1].starts_with("TIDEGATE_WORKERS=3 "), "{text}");
    assert!(lines[1].ends_with(" --budget 5 --item 1"), "{text}");
    assert_eq!(fan.output(run).done(), text);
    assert_eq!(fan.names("D"), ["local.json", "plan.json"]);
    let plan = fan.output("plan sum --below 2 --pieces 2").done();
    assert_eq!(fan.read("D/plan.json"), plan);
    let list = fan.read("D/local.json");
    assert!(list.contains(r#""item":"0"},{"plan":""#), "{list}");
}

fn no_items() {
    let fan = Fan::new();
    assert_eq!(fan.output("run sum --below 0").done(), "sum 0\n");
}

fn attempts_elsewhere_are_left_alone() {
    let fan = Fan::new();
    let run = format!("run {SUM} --dir D");
    fan.output(&run).done();
    let file = fan.path("D/3~elsewhere~1~5.running");
    fs::write(&file, "").expect("a file");
    fan.output(&run).done();
    assert!(file.exists());
}
