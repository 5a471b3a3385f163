//! `tidegate-lab reproduce` and `tidegate-lab report`.

use crate::support::{assert_contains, complaint, json, lab, printed};
use serde_json::{Value, json as value};
use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, OnceLock};

/// Runs an experiment at size tiny and returns its page.
fn reproduced(line: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("reproduce {line} --size tiny --runs 1 --json --dir");
    json(lab(&line).arg(folder.path()))
}

/// Returns the page of an experiment on one kind of machine, which is made once for all tests.
fn page(line: &'static str) -> Arc<Value> {
    type Pages = BTreeMap<&'static str, Arc<OnceLock<Arc<Value>>>>;
    static PAGES: Mutex<Pages> = Mutex::new(BTreeMap::new());
    let page = PAGES.lock().unwrap().entry(line).or_default().clone();
    page.get_or_init(|| Arc::new(reproduced(line))).clone()
}

fn names<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap().iter();
    list.map(|one| one[name].as_str().unwrap()).collect()
}

/// The page must cover both machines.
#[test]
fn simulated_page_covers_every_rule() {
    let page = page("adaptive --sim");
    assert_eq!(page["experiment"], "adaptive");
    let aggregated = &page["sections"][0]["charts"];
    assert_eq!(names(aggregated, "title"), ["Mars", "Saturn"]);
    let lines = names(&aggregated[0]["lines"], "name");
    assert_eq!(lines.len(), 12);
    assert!(lines.contains(&"linear") && lines.contains(&"elastic"));
    let loads: Vec<&Value> = aggregated[0]["labels"].as_array().unwrap().iter().collect();
    assert!(loads.contains(&&Value::from("80-4")));
    let findings = page["findings"].as_array().unwrap();
    let (judged, small): (Vec<&Value>, Vec<&Value>) = findings
        .iter()
        .filter(|finding| finding["verdict"] != "not-measured")
        .partition(|finding| finding["verdict"] != "too-small");
    assert_eq!(judged.len(), 1, "only the rules alone need no programs");
    assert!(small.len() > 80);
    let titles = names(&page["sections"], "title");
    for title in ["Sleeps by the rules", "Costs that slow", "Outlook"] {
        assert!(titles.iter().any(|one| one.starts_with(title)), "{title}");
    }
}

#[test]
fn two_level_has_all_sections() {
    let page = page("two-level --sim");
    let titles = names(&page["sections"], "title");
    let parts = "The programs|O1|O2|O3|P1|P2|P3|Other sizes".split('|');
    let fits = parts.map(|part| titles.iter().position(|title| title.starts_with(part)));
    assert!(fits.eq((0..titles.len()).map(Some)), "{titles:?}");
    for verdict in names(&page["findings"], "verdict") {
        assert!(
            ["too-small", "not-measured"].contains(&verdict),
            "{verdict}"
        );
    }
}

#[test]
fn only_selects_parts_of_two_level() {
    for (part, kind, title) in [
        ("P2", "--sim", "P2: complementary phases"),
        ("real", "--real", "On this machine"),
    ] {
        let page = reproduced(&format!("two-level {kind} --only {part}"));
        assert_eq!(names(&page["sections"], "title"), [title]);
        for id in names(&page["findings"], "id") {
            assert!(id.starts_with(part), "{id}");
        }
    }
}

#[test]
fn stealing_more_means_stealing_less_often() {
    let page = page("multi-steal --sim");
    let titles = names(&page["sections"], "title");
    assert_eq!(titles.len(), 7, "{titles:?}");
    let rows = &page["sections"][0]["tables"][1]["rows"];
    let steals = |strategy: &str| -> f64 {
        let mut rows = rows.as_array().unwrap().iter();
        let row = rows.find(|row| row[0]["text"] == "UTS A" && row[1]["text"] == strategy);
        row.unwrap()[8]["number"].as_f64().unwrap()
    };
    assert!(steals("fixed 20") < steals("bottommost"));
    assert!(steals("dynamic") > 0.0);
}

/// The page must combine real and simulated experiments, and load nothing from elsewhere.
#[test]
fn page_is_complete_and_self_contained() {
    let folder = tempfile::tempdir().unwrap();
    let pages = [
        "adaptive --sim",
        "adaptive --real --only prefixsum",
        "two-level --real",
        "multi-steal --real",
    ];
    let files = pages.map(|line| {
        let page = page(line);
        let file = folder
            .path()
            .join(page["sections"].to_string().len().to_string());
        fs::write(&file, page.to_string()).unwrap();
        file
    });
    let out = folder.path().join("report.html");
    let report = lab("report").args(&files).arg("--out").arg(&out).output();
    assert!(report.unwrap().status.success());
    let page = fs::read_to_string(out).unwrap();
    assert!(page.matches("<svg").count() > 10);
    for outside in ["src=", "href=\"http", "url(", "<script", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let picture = lab("report --out - --chart Mars").args(&files).output();
    let svg = String::from_utf8(picture.unwrap().stdout).unwrap();
    for part in ["<svg xmlns", ">Mars<", ">quanta<", "80-4", "--line-0: #"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let said = complaint(lab("report --out - --chart none").args(&files), 2);
    assert!(said.contains("one of [\"Mars\", \"Saturn\""), "{said}");
}

#[test]
fn every_scheduler_respects_its_budget() {
    let page = page("memory --sim");
    let sections = page["sections"].as_array().unwrap();
    // One section for each of seven programs, one for all programs, and one for the parameter
    // sweep.
    assert_eq!(sections.len(), 9);
    for section in &sections[..7] {
        let charts = section["charts"].as_array().unwrap();
        let peaks = &charts[charts.len() - 2];
        let schedulers = ["work stealing", "hybrid", "Narlikar", "DFDeques", "budget"];
        assert_eq!(names(&peaks["lines"], "name"), schedulers);
        for line in peaks["lines"].as_array().unwrap() {
            for point in line["points"].as_array().unwrap() {
                let peak = point["y"].as_f64().unwrap();
                // Peaks are relative to the declared bytes of the serial run.
                let most = if line["name"] == "budget" { 1.101 } else { 1e3 };
                assert!((0.999..most).contains(&peak), "{line}");
            }
        }
    }
    assert_eq!(sections[8]["charts"].as_array().unwrap().len(), 8);
}

#[test]
fn interval_findings_depend_on_size() {
    let simulated = page("intervals --sim");
    let section = &simulated["sections"][0];
    assert_eq!(section["charts"].as_array().unwrap().len(), 3);
    assert_eq!(section["tables"].as_array().unwrap().len(), 2);
    let real = page("intervals --real");
    let titles = ["Places on this machine", "Queues", "Takes and steals"];
    assert_eq!(names(&real["sections"], "title"), titles);
    for finding in [&simulated, &real].map(|page| page["findings"].as_array().unwrap()) {
        for finding in finding {
            let why = finding["why"].as_str().unwrap();
            assert!(!why.is_empty() && finding["ours"] != "", "{finding}");
            // This finding, whether workers are woken as often as they park, can be judged at any
            // size.
            let judged = finding["id"] == "parks and wakes";
            let cannot = ["too-small", "cannot-tell"].map(Value::from);
            assert!(judged || cannot.contains(&finding["verdict"]), "{finding}");
        }
    }
}

#[test]
fn contradictions_say_why() {
    for experiment in [
        "two-level --sim",
        "multi-steal --sim",
        "memory --sim",
        "adaptive --sim",
    ] {
        for finding in page(experiment)["findings"].as_array().unwrap() {
            let [why, ours] = ["why", "ours"].map(|field| finding[field].as_str().unwrap());
            let contradicts = finding["verdict"] == "contradicts";
            assert!(!contradicts || !why.is_empty(), "{finding}");
            assert!(!ours.contains("NaN"), "{finding}");
        }
    }
}

#[test]
fn unavailable_machine_kind_is_rejected() {
    let (line, other) = ("scaling --real", "--sim");
    let text = complaint(&mut lab(&format!("reproduce {line}")), 2);
    assert!(text.contains(&format!("{line}: ")), "{text}");
    assert!(text.contains(&format!("use {other}")), "{text}");
}

/// The error must name the file.
#[test]
fn invalid_page_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("x.json"), folder.path().join("out.html"));
    fs::write(&file, "{\"experiment\": 1}").unwrap();
    let refused = |file: &std::path::Path, code: i32| {
        let text = complaint(lab("report").arg(file).arg("--out").arg(&out), code);
        assert!(text.contains(&file.display().to_string()), "{text}");
    };
    refused(&file, 2);
    refused(&folder.path().join("none.json"), 3);
    assert!(!out.exists());
}

#[test]
fn report_never_overwrites_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.json");
    fs::write(&file, "{}").unwrap();
    let mut report = lab("report");
    let text = complaint(report.arg(&file).arg("--out").arg(&file), 2);
    assert!(text.contains("expected another file"), "{text}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
}

fn empty(experiment: &str) -> String {
    let page = value!({
        "experiment": experiment, "title": "One", "source": "", "made": [], "findings": [], "sections": [],
    });
    page.to_string()
}

#[test]
fn repeated_experiments_stay_distinct_on_page() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.json");
    fs::write(&file, empty("one")).unwrap();
    let mut report = lab("report - --out -");
    report.arg(&file).current_dir(folder.path());
    let page = printed(report.write_stdin(empty("one")));
    let after = |mark: &str| -> Vec<&str> {
        let parts = page.split(mark).skip(1);
        parts.filter_map(|part| part.split('"').next()).collect()
    };
    let names = after("id=\"");
    assert_eq!(names, after("href=\"#"));
    assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
    for title in ["One (1 of 2)", "One (2 of 2)"] {
        assert_eq!(page.matches(title).count(), 2, "{page}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The error must contain the position and the expected content, but no internal types.
#[test]
fn invalid_page_error_is_helpful() {
    let said = complaint(lab("report - --out -").write_stdin("[]"), 2);
    assert!(said.contains("no page of an experiment"), "{said}");
    for (text, what) in [
        ("[1]", "this is not a page of an experiment (line 1, column"),
        ("page", "this is not JSON (line 1, column 1)"),
        ("{\"experiment\": ", "the file is cut off (line 1, column"),
    ] {
        let said = complaint(lab("report - --out -").write_stdin(text), 2);
        assert!(said.contains(&format!("standard input: {what}")), "{said}");
        let allowed = "expected output of `tidegate-lab reproduce EXPERIMENT --json`";
        assert!(said.contains(allowed) && !said.contains("struct"), "{said}");
    }
    let mut page: Value = serde_json::from_str(&empty("one")).unwrap();
    let point = value!({ "x": 0, "y": 1e300, "low": 1, "high": 1 });
    page["sections"] = value!([{
        "title": "", "text": "", "tables": [], "charts": [{
            "title": "much", "x": "", "y": "", "labels": [], "lines": [{ "name": "", "points": [point] }],
        }],
    }]);
    let said = complaint(lab("report - --out -").write_stdin(page.to_string()), 2);
    assert_contains(&said, &["chart \"much\" has 1e300: expected -1e15 to 1e15"]);
    let said = complaint(lab("report - - --out -").write_stdin(empty("one")), 2);
    assert!(said.contains("expected - for one file"), "{said}");
}
