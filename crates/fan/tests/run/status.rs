//! The verb `status`, on folders whose results have fixed machines and times.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::{Fan, assert_contains};

tests! {
    shows_a_published_run, shows_failed_attempts, shows_what_waits,
    #[cfg(unix)]
    names_a_working_run,
    shows_why_pieces_wait, shows_split_pieces, shows_wrong_results, shows_empty_plans, quotes_paths,
    refuses_other_folders,
}

const RUN: &str = "run sum --below 30 --pieces 3 --dir D";

/// Gives a result this machine, and these times.
fn set(fan: &Fan, item: usize, host: &str, began: f64, seconds: f64) {
    let name = format!("D/{item}.out");
    let text = fan.read(&name);
    let (done, trailer) = text.trim_end().split_once('\n').expect("two lines");
    let mut trailer: Value = serde_json::from_str(trailer).expect("JSON");
    trailer["host"] = json!(host);
    trailer["began"] = json!(began);
    trailer["seconds"] = json!(seconds);
    fs::write(fan.path(&name), format!("{done}\n{trailer}\n")).expect("a file");
}

/// Returns the output without the path of the program.
fn status(fan: &Fan, options: &str) -> String {
    let text = fan.output(&format!("status D {options}")).done();
    let program = std::env::current_exe().expect("a path");
    text.replace(&*program.to_string_lossy(), "PROGRAM")
}

/// Returns the first line of the status of `RUN`, whose piece meets a fault at a number.
fn title(at: u64, fault: &Value) -> String {
    let sum = json!({
        "below": 30, "from": null, "hold": "hold", "pause": 0, "fault": fault, "at": at,
    });
    let arguments = json!({"what": {"Sum": sum}});
    format!("sums 1: {arguments}, --pieces 3\n")
}

fn remove(fan: &Fan, name: &str) {
    fs::remove_file(fan.path(name)).expect("a file");
}

fn shows_a_published_run() {
    let fan = Fan::new();
    fan.output(RUN).done();
    set(&fan, 0, "a", 1000.0, 10.0);
    set(&fan, 1, "a", 1002.0, 8.0);
    set(&fan, 2, "b", 1000.0, 4.0);
    let text = status(&fan, "--svg time.svg");
    let expected = "\
100 %, 3 of 3 items published, 10 s elapsed
a: 2 pieces, 18.0 s of work, up to 2 at once, 10 % idle
b: 1 piece, 4.0 s of work, up to 1 at once, 60 % idle
everything is published; to merge it: PROGRAM merge D
";
    assert_eq!(text, title(0, &Value::Null) + expected);
    let svg = fan.read("time.svg");
    assert_eq!(status(&fan, "--svg -"), svg);
    let both = fan.output("status D --json --svg -");
    both.refused(2, &["--json and --svg - ", "use --svg FILE"]);
    assert!(both.out.is_empty(), "{both:?}");
    let bar = "<g><title>item 1: 8.0 s, from 2.0 s on</title>\
               <rect class=\"p\" x=\"220.00\" y=\"91\" width=\"800.00\" height=\"16\"/>\
               <text class=\"n\" x=\"223.00\" y=\"103\">1</text></g>\n";
    assert!(svg.contains(bar), "{svg}");
    let json: Value = serde_json::from_str(&status(&fan, "--json")).expect("JSON");
    assert_eq!(json["hosts"][1]["idle"], json!(0.6));
    assert_eq!(json["left"], Value::Null);
}

fn shows_failed_attempts() {
    let fan = Fan::new();
    fan.output(&format!("{RUN} --fault never --at 15"));
    set(&fan, 0, "a", 1000.0, 10.0);
    set(&fan, 2, "a", 1000.0, 4.0);
    let failed = r#"{"host":"b","pid":7,"at":1005.0,"retry":"Never","text":"bad <15>"}"#;
    fs::write(fan.path("D/1.err"), format!("{failed}\n")).expect("a file");
    let expected = "\
66 %, 2 of 3 items published, 10 s elapsed
a: 2 pieces, 14.0 s of work, up to 2 at once, 30 % idle
failed attempts:
item  attempts  machine  code  message
1     1         b        2     bad <15>
missing: item 1
nothing runs; to resume: PROGRAM run --pieces 3 --dir D .., with the arguments above
";
    assert_eq!(status(&fan, ""), title(15, &json!("Never")) + expected);
    let svg = status(&fan, "--svg -");
    let mark = "<title>item 1, at 5.0 s: bad &lt;15&gt;</title>";
    assert_contains(&svg, &[mark]);
}

fn shows_what_waits() {
    let fan = Fan::new();
    fan.output("run sum --below 30 --pieces 5 --dir D").done();
    // Each piece takes 1,000,030 seconds, so the test has some of them to end.
    set(&fan, 0, "a", 1000.0, 1_000_030.0);
    for item in 1..5 {
        remove(&fan, &format!("D/{item}.out"));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("now");
    let running = format!("D/1~b~7~{}.running", now.as_micros());
    fs::write(fan.path(&running), "").expect("a file");
    let text = status(&fan, "");
    let lines: Vec<_> = text.lines().collect();
    let title = "20 %, 1 of 5 items published, ";
    assert!(lines[1].starts_with(title), "{text}");
    assert!(lines[1].ends_with(", 1111:08 h left"), "{text}");
    let work = "a: 1 piece, 1000030.0 s of work, up to 1 at once, 100 % idle";
    assert_eq!(lines[2], work);
    let runs = "item 1 runs on b, process 7, begun ";
    assert!(lines[3].starts_with(runs), "{text}");
    assert_eq!(lines[4..], ["missing: items 2, 3, 4"]);
}

/// No file of a piece says that anything runs.
#[cfg(unix)]
fn names_a_working_run() {
    use rustix::fs::{FlockOperation, flock};
    let fan = Fan::new();
    fan.output(&format!("{RUN} --dry-run")).done();
    fs::write(fan.path("D/run.lock"), "process 7 on b").expect("a file");
    let lock = fs::File::open(fan.path("D/run.lock")).expect("a file");
    flock(&lock, FlockOperation::LockExclusive).expect("a lock");
    let text = status(&fan, "");
    let lines = "missing: items 0, 1, 2\nrun is active in this folder: process 7 on b\n";
    assert!(text.ends_with(lines), "{text}");
    drop(lock);
    let lines = "missing: items 0, 1, 2\nnothing runs; to resume: ";
    assert_contains(&status(&fan, ""), &[lines]);
}

fn shows_why_pieces_wait() {
    let fan = Fan::new();
    fan.output(RUN).done();
    let why = "1 piece waits in slurm: JobHeldUser";
    let note = |text| {
        let line = json!({"queue": {"text": text, "at": 1000.0}}).to_string();
        fs::write(fan.path("D/rounds"), fan.read("D/rounds") + &line + "\n").expect("a file");
    };
    note(why);
    assert!(!status(&fan, "").contains(why));
    remove(&fan, "D/1.out");
    let text = status(&fan, "");
    assert!(text.contains(&format!("\n{why}, as `run` said ")), "{text}");
    let json: Value = serde_json::from_str(&status(&fan, "--json")).expect("JSON");
    assert_eq!(json["queue"]["text"], json!(why));
    let running = fan.path("D/1~b~7~1.running");
    fs::write(&running, "").expect("a file");
    assert!(!status(&fan, "").contains(why));
    fs::remove_file(running).expect("a file");
    note("");
    assert!(!status(&fan, "").contains(why));
}

fn shows_split_pieces() {
    let fan = Fan::new();
    fan.output("run sum --below 40 --pieces 2 --dir D --budget 0")
        .done();
    let text = status(&fan, "");
    let splits = text.lines().filter(|line| line.contains("left work"));
    let names = fan.names("D").into_iter();
    let left = names.filter(|name| name.ends_with(".out")).count() - 2;
    let end = format!(" pieces left work to others, as {left} items");
    let is_right: Vec<_> = splits.map(|split| split.ends_with(&end)).collect();
    assert_eq!(is_right, [true], "{text}");
}

fn shows_wrong_results() {
    let fan = Fan::new();
    fan.output(RUN).done();
    fs::write(fan.path("D/0.out"), "[0,1").expect("a file");
    fs::write(fan.path("D/2~b~7~5.differs"), "").expect("a file");
    let text = status(&fan, "");
    let lines: Vec<_> = text.lines().collect();
    let cure = "or a file is damaged: remove D/2~b~7~5.differs to keep the first, \
                or the folder to begin anew";
    let title = "66 %, 2 of 3 items published, ";
    assert!(lines[1].starts_with(title), "{text}");
    assert_eq!(lines[3], "D/0.out is torn: remove it, and run again");
    assert!(lines[4].starts_with("item 2 has two results: "), "{text}");
    assert!(lines[4].ends_with(cure), "{text}");
    assert!(lines[5].starts_with("nothing runs; to resume: "), "{text}");
    fan.output("merge --plan D/plan.json D").refused(2, &[cure]);
    remove(&fan, "D/0.out");
    remove(&fan, "D/2~b~7~5.differs");
    assert_eq!(fan.output(RUN).done(), "sum 435\n");
}

fn shows_empty_plans() {
    let fan = Fan::new();
    fan.output("run sum --below 0 --dir D").done();
    let text = status(&fan, "");
    assert_eq!(text.lines().nth(1), Some("the plan has no items"), "{text}");
}

fn quotes_paths() {
    let fan = Fan::new();
    fan.output("run sum --below 3 --dir D(1)").done();
    let text = fan.output("status D(1)").done();
    assert!(text.ends_with(" merge 'D(1)'\n"), "{text}");
}

fn refuses_other_folders() {
    let fan = Fan::new();
    fan.output("status D").refused(3, &["D"]);
    fs::create_dir(fan.path("D")).expect("a folder");
    fan.output("status D").refused(2, &["plan.json"]);
    let plan = fan.output("plan sum --below 3").done();
    let other = plan.replace(r#""program":"sums""#, r#""program":"other""#);
    fs::write(fan.path("D/plan.json"), other).expect("a file");
    fan.output("status D").refused(2, &["other 1", "sums 1"]);
}
