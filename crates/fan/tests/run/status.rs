//! The verb `status`, on folders whose results have fixed machines and times.

use std::fs;

use serde_json::{Value, json};

use crate::support::Fan;

pub const TESTS: &[(&str, fn())] = &[
    ("status::shows_a_published_run", shows_a_published_run),
    ("status::shows_failed_attempts", shows_failed_attempts),
    ("status::quotes_paths", quotes_paths),
    ("status::refuses_other_folders", refuses_other_folders),
];

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

fn shows_a_published_run() {
    let fan = Fan::new();
    fan.output(RUN).done();
    set(&fan, 0, "a", 1000.0, 10.0);
    set(&fan, 1, "a", 1002.0, 8.0);
    set(&fan, 2, "b", 1000.0, 4.0);
    let text = status(&fan, "--svg time.svg");
    let expected = "\
sums 1: 100 %, 3 of 3 items published, 10 s elapsed
a: 2 published in 18.0 s, up to 2 at once, 10 % idle
b: 1 published in 4.0 s, up to 1 at once, 60 % idle
everything is published, merge it: PROGRAM merge --plan D/plan.json D
";
    assert_eq!(text, expected);
    let svg = fan.read("time.svg");
    assert_eq!(status(&fan, "--svg -"), svg);
    let both = fan.output("status D --json --svg -");
    both.refused(2, &["--json and --svg - ", "use --svg FILE"]);
    assert!(both.out.is_empty(), "{both:?}");
    let bar = "<g><title>item 1: 8.0 s, from 2.0 s on</title>\
               <rect class=\"p\" x=\"220.00\" y=\"67\" width=\"800.00\" height=\"16\"/>\
               <text class=\"n\" x=\"223.00\" y=\"79\">1</text></g>\n";
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
sums 1: 66 %, 2 of 3 items published, 10 s elapsed
a: 2 published in 14.0 s, up to 2 at once, 30 % idle
b: 0 published in 0.0 s, up to 0 at once, 0 % idle
failed attempts:
item  attempts  machine  code  message
1     1         b        2     bad <15>
missing: items 1
nothing runs: repeat the command `run` to go on
";
    assert_eq!(status(&fan, ""), expected);
    let svg = status(&fan, "--svg -");
    assert!(
        svg.contains("<title>item 1, at 5.0 s: bad &lt;15&gt;</title>"),
        "{svg}"
    );
}

fn quotes_paths() {
    let fan = Fan::new();
    fan.output("run sum --below 3 --dir D(1)").done();
    let text = fan.output("status D(1)").done();
    assert!(
        text.ends_with(" merge --plan 'D(1)/plan.json' 'D(1)'\n"),
        "{text}"
    );
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
