//! Runs that cannot succeed.

use std::fs;

use crate::support::{Ended, Fan};

tests! {
    code_2_is_final, panics_are_tried_again, aborts_show_their_last_line, folder_cannot_be_written,
    #[cfg(target_os = "linux")]
    file_system_is_read_only,
    parents_are_not_created, options_are_never_ignored, folder_of_another_plan,
    plan_of_another_version, torn_result,
    #[cfg(target_os = "linux")]
    special_files,
    numbers_out_of_range,
    #[cfg(unix)]
    piece_of_another_parent,
}

fn numbers_out_of_range() {
    for (option, range) in [
        ("--pieces 0", "an integer from 1 to 1000000"),
        ("--pieces -1", "an integer from 1 to 1000000"),
        ("--cpus 0", "an integer from 1 to 4096"),
        ("--call-limit 0", "an integer from 1 to 86400"),
        ("--retries -1", "an integer from 0 to 255"),
        ("--budget -1", "from 0 to 1000000000"),
        ("--budget NaN", "from 0 to 1000000000"),
    ] {
        let fan = Fan::new();
        let run = fan.output(&format!("run sum --below 10 --dir D {option}"));
        let (name, _) = option.split_once(' ').unwrap();
        run.told(2, &[name, range]);
        assert!(!fan.path("D").exists());
    }
}

/// Runs ten pieces, of which that with the number 55 has a fault, and checks the code. Checks the
/// item, the attempts, the code and the end of the message in the row of the table, which it returns.
fn fault(fan: &Fan, options: &str, code: i32, row: [&str; 4]) -> String {
    let run = format!("run sum --below 100 --pieces 10 --dir D --at 55 {options}");
    let run = fan.output(&run);
    assert_eq!(run.code, Some(code), "{run:?}");
    assert!(run.out.is_empty(), "{run:?}");
    let lines: Vec<_> = run.err.lines().collect();
    assert_eq!(lines.len(), 4, "{run:?}");
    let cells: Vec<_> = lines[1].split_whitespace().collect();
    assert_eq!([cells[0], cells[1], cells[3]], row[..3], "{run:?}");
    assert!(lines[1].ends_with(row[3]), "{run:?}");
    assert!(lines[2].contains("piece --plan "), "{run:?}");
    assert!(lines[2].ends_with(" --item 5"), "{run:?}");
    assert!(lines[3].contains("1 of 10 items failed"), "{run:?}");
    let results = fan.names("D");
    let results = results.iter().filter(|name| name.ends_with(".out"));
    assert_eq!(results.count(), 9);
    lines[1].to_owned()
}

fn code_2_is_final() {
    let row = ["5", "1", "2", "bad 55"];
    fault(&Fan::new(), "--fault never", 2, row);
}

fn panics_are_tried_again() {
    for (retries, attempts) in [("", "3"), ("--retries 0", "1")] {
        let options = format!("--fault panic {retries}");
        let row = ["5", attempts, "1", ": no luck with 55"];
        let line = fault(&Fan::new(), &options, 1, row);
        assert!(line.contains("item 5 panicked at "), "{line}");
    }
}

fn aborts_show_their_last_line() {
    let fan = Fan::new();
    let row = ["5", "1", "1", "55 is the end"];
    fault(&fan, "--fault abort --retries 0", 1, row);
    // The piece could not write that itself.
    let status = fan.output("status D").done();
    assert!(status.contains("55 is the end"), "{status}");
    let names = fan.names("D");
    let has_running = names.iter().any(|name| name.ends_with(".running"));
    assert_eq!(has_running, cfg!(not(unix)), "{names:?}");
}

fn folder_cannot_be_written() {
    let fan = Fan::new();
    fs::write(fan.path("file"), "").expect("a file");
    let run = fan.output("run sum --below 3 --dir file/D");
    run.refused(3, &["cannot write to the folder ", "file: ", "--dir"]);
    let run = fan.output("run sum --below 3 --dir file");
    run.refused(3, &["file is not a folder: choose another --dir"]);
}

/// A folder in which nothing can be created, even by the superuser.
#[cfg(target_os = "linux")]
fn file_system_is_read_only() {
    let fan = Fan::new();
    for folder in ["/proc/self", "/proc/self/fan"] {
        let run = fan.output(&format!("run sum --below 3 --dir {folder}"));
        let part = "cannot write to the folder /proc/self: ";
        run.refused(3, &[part, "(os error ", "; choose another --dir"]);
    }
}

/// A place where nothing is mounted would otherwise get folders.
fn parents_are_not_created() {
    let fan = Fan::new();
    for option in ["", "--dry-run"] {
        let run = fan.output(&format!("run sum --below 3 --dir shared/D {option}"));
        run.refused(3, &["shared does not exist on this machine", "--dir"]);
        assert!(!fan.path("shared").exists());
    }
}

fn options_are_never_ignored() {
    let fan = Fan::new();
    for run in [
        "run sum --below 3 --dir D --dry-run --json",
        "run --json sum --below 3 --dir D --dry-run",
        "run sum --below 3 --dir D --dry-run --fresh",
        "run sum --below 3 --dir D --dry-run --accept-build 1",
        "run sum --below 3 --dir D --fresh --accept-build 1",
        "run sum --below 3 --dir D --call-limit 5",
        "run sum --below 3 --dir D --image i",
        "run sum --below 3 --dir D --engine hq --claim c:/data",
        "piece --out D --item 0 --list L",
    ] {
        fan.output(run).told(2, &["cannot be used with"]);
        assert!(!fan.path("D").exists());
    }
    let run = "run sum --below 3 --dir D";
    let accept = format!("{run} --accept-build 1");
    let useless = "leave --accept-build out";
    fan.output(&accept).refused(2, &["does not exist", useless]);
    assert!(!fan.path("D").exists());
    fan.output(run).done();
    fan.output(&accept).refused(2, &["not by 1: ", useless]);
    let mut piece = fan.command("piece --out D --item-from HQ_ENTRY --list L");
    piece.env("HQ_ENTRY", r#"{"plan":"x","item":"1"}"#);
    let piece = Ended::of(piece.output().expect("a process"));
    piece.refused(2, &["pass it without --list"]);
}

fn folder_of_another_plan() {
    let fan = Fan::new();
    fan.output("run sum --below 3 --dir D").done();
    for other in ["--below 4", "--below 3 --pieces 2"] {
        let run = fan.output(&format!("run sum --dir D {other}"));
        let of = "plan.json is the plan of {";
        let not_of = ", --pieces 64, not of {";
        let way_out = ": repeat the first command";
        run.refused(2, &[of, r#""below":3"#, not_of, way_out]);
    }
    fan.output("run sum --below 3 --dir D").done();
}

fn plan_of_another_version() {
    let fan = Fan::new();
    fan.output("run sum --below 3 --dir D").done();
    let plan = fan.read("D/plan.json");
    let other = plan.replace(r#""version":"1""#, r#""version":"0""#);
    assert_ne!(plan, other);
    fs::write(fan.path("D/plan.json"), &other).expect("a file");
    let run = fan.output("run sum --below 3 --dir D");
    let text = "plan.json is a plan of sums 0, and this is sums 1: use that version, start over with `run --fresh`, or choose another --dir";
    run.refused(2, &[text]);
    let piece = fan.output("piece --plan D/plan.json --out D --item 1");
    piece.refused(2, &["sums 0", "sums 1"]);
    // An engine may show neither the message nor the code.
    assert!(fan.read("D/1.err").contains("sums 0"));
}

fn torn_result() {
    let fan = Fan::new();
    fan.output("run sum --below 3 --dir D").done();
    fs::write(fan.path("D/1.out"), "{\n").expect("a file");
    let run = fan.output("run sum --below 3 --dir D");
    run.refused(1, &["1.out", "torn"]);
}

/// Opening or reading these would never end.
#[cfg(target_os = "linux")]
fn special_files() {
    use rustix::fs::{CWD, Mode, mkfifoat};
    let fan = Fan::new();
    let run = "run sum --below 3 --dir D";
    fan.output(run).done();
    fs::remove_file(fan.path("D/0.out")).expect("a result");
    let pipe = || mkfifoat(CWD, fan.path("D/0.out"), Mode::RWXU).expect("a pipe");
    let device = || std::os::unix::fs::symlink("/dev/zero", fan.path("D/0.out")).expect("a link");
    for create in [&pipe as &dyn Fn(), &device] {
        create();
        for verb in [run, "merge D", "piece --out D --item 0"] {
            fan.output(verb)
                .refused(3, &["D/0.out: not a regular file"]);
        }
        let status = fan.output("status D").done();
        assert!(status.contains("D/0.out: not a regular file"), "{status}");
        fs::remove_file(fan.path("D/0.out")).expect("a file");
    }
    fs::remove_file(fan.path("D/0.err")).expect("a log");
    let list = "piece --out D --item-from PATH --list D/local.json";
    let fresh = format!("{run} --fresh");
    let missing = "piece --out D --item 9";
    for (name, verb, code) in [
        ("local.json", list, 3),
        ("9.err", missing, 2),
        ("0.err", run, 3),
        ("run.lock", run, 3),
        ("plan.json", run, 3),
        ("plan.json", &fresh, 3),
    ] {
        let path = fan.path(&format!("D/{name}"));
        let kept = fs::read(&path).unwrap_or_default();
        let _ = fs::remove_file(&path);
        mkfifoat(CWD, &path, Mode::RWXU).expect("a pipe");
        fan.output(verb)
            .refused(code, &[&format!("D/{name}: not a regular file")]);
        fs::remove_file(&path).expect("a pipe");
        fs::write(&path, kept).expect("a file");
    }
    // A list that cannot be read is not used.
    fs::remove_file(fan.path("D/local.json")).expect("a list");
    mkfifoat(CWD, fan.path("D/local.json"), Mode::RWXU).expect("a pipe");
    fan.output(run).done();
    assert!(fan.path("D/local.1.json").exists());
}

#[cfg(unix)]
fn piece_of_another_parent() {
    let fan = Fan::new();
    fan.output("run sum --below 1 --dir D --dry-run").done();
    let piece = |parent| format!("piece --plan D/plan.json --out D --item 0 --parent {parent}");
    let other = std::os::unix::process::parent_id();
    let refused = fan.output(&piece(other));
    refused.refused(3, &["which started this piece, has ended"]);
    assert!(!fan.path("D/0.out").exists());
    fan.output(&piece(std::process::id())).done();
    assert!(fan.path("D/0.out").exists());
}
