//! Tests `tidegate jobs` and `tidegate table check` while jobs run in other processes.
#![cfg(target_os = "linux")]

use crate::support::jobs::Home;
use crate::support::{assert_contains, complaint, json, text, tidegate};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{SystemTime, UNIX_EPOCH};
use tidegate_share::Location;
use tidegate_share::confinement::{Record, own_name};

fn seconds() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs_f64()
}

#[test]
fn jobs_are_listed_by_arrival() {
    let home = Home::new();
    let before = seconds();
    let first = home.job("");
    let second = home.job("--weight 300");
    let found = json(&mut home.tidegate("jobs --json"));
    let path = home.table().display().to_string();
    assert_eq!(found["table"], path);
    assert_eq!(found["why"], "TIDEGATE_TABLE");
    assert_eq!(found["exists"], true);
    let rows = found["jobs"].as_array().unwrap();
    let pids: Vec<&Value> = rows.iter().map(|row| &row["pid"]).collect();
    assert_eq!(pids, [first.0.id(), second.0.id()]);
    for (row, weight) in rows.iter().zip([100, 300]) {
        assert_eq!(row["name"], "fib");
        assert_eq!(row["weight"], weight);
        assert_eq!((&row["desire"], &row["limit"]), (&1.into(), &1.into()));
        assert!(row["allotment"].is_u64() && row["in_use"].is_u64(), "{row}");
        let since = row["since"].as_f64().unwrap();
        assert!((before..=seconds()).contains(&since), "{row}");
        let efficiency = &row["efficiency"];
        let measured = efficiency.as_f64();
        let is_fraction = measured.is_some_and(|measured| (0.001..=1.0).contains(&measured));
        assert!(is_fraction || efficiency.is_null(), "{row}");
        assert!(row["cpu_seconds"].as_f64().unwrap() > 0.0);
    }
    let text = text(&mut home.tidegate("jobs --wide"));
    let title = format!("2 jobs in the table at {path} (TIDEGATE_TABLE)\n| pid ");
    assert!(text.starts_with(&title), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.contains(&second.0.id().to_string()), "{text}");
    for column in [
        "name",
        "desire",
        "allotment",
        "in use",
        "efficiency",
        "since",
    ] {
        assert!(text.contains(&format!("| {column} ")), "{column} in {text}");
    }
    let csv = self::text(&mut home.tidegate("jobs --csv"));
    let columns = "pid,name,desire,allotment,in use,efficiency,since,weight,limit";
    assert_eq!(csv.lines().next(), Some(columns));
    assert_eq!(csv.lines().count(), 3, "{csv}");
}

#[test]
fn listing_jobs_creates_no_table() {
    let home = Home::new();
    let place = format!("{} (TIDEGATE_TABLE)", home.table().display());
    assert_eq!(
        text(&mut home.tidegate("jobs")),
        format!("no jobs: there is no table at {place}\n")
    );
    assert_eq!(
        text(&mut home.tidegate("table check")),
        format!("no table at {place}: the first job creates it\n")
    );
    let found = json(&mut home.tidegate("jobs --json"));
    assert_eq!(found["exists"], false);
    assert_eq!(found["jobs"].as_array().unwrap().len(), 0);
    let found = json(&mut home.tidegate("table check --json"));
    assert_eq!(found["exists"], false);
    assert!(!home.table().exists());
}

#[test]
fn check_fails_if_table_is_impossible() {
    for path in ["/proc/self/table", "/nowhere/table"] {
        for arguments in ["table check", "table check --json"] {
            let told = complaint(tidegate(arguments).env("TIDEGATE_TABLE", path), 3);
            let begin = format!("tidegate: {path} cannot be made: ");
            assert!(told.starts_with(&begin), "{told}");
            assert_contains(&told, &["; set TIDEGATE_TABLE to another path"]);
        }
    }
}

/// Both commands must also print the table's path, and why it was chosen.
#[test]
fn jobs_and_check_create_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in ["jobs --json", "table check --json"] {
        let mut command = tidegate(arguments);
        let command = command.env_remove("TIDEGATE_TABLE");
        let found = json(command.env("XDG_RUNTIME_DIR", folder.path()));
        assert_eq!(found["why"], "XDG_RUNTIME_DIR");
        let path = folder.path().join("tidegate/table.v1");
        assert_eq!(found["table"], path.display().to_string());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The first check must also free the killed job's row.
#[test]
fn killed_job_is_reported_once() {
    let home = Home::new();
    let mut job = home.job("");
    let pid = job.0.id();
    job.kill();
    assert_eq!(home.jobs().len(), 0, "who is dead is no job");
    let empty = text(&mut home.tidegate("jobs"));
    assert!(empty.starts_with("no jobs in the table at "), "{empty}");
    let found = json(&mut home.tidegate("table check --json"));
    assert_eq!(found["dead"][0]["pid"], pid);
    assert_eq!((&found["freed"], &found["rows"]), (&1.into(), &256.into()));
    let again = json(&mut home.tidegate("table check --json"));
    assert_eq!(again["dead"].as_array().unwrap().len(), 0);
    assert_eq!(again["freed"], 0);
}

#[test]
fn check_names_live_and_dead_jobs() {
    let home = Home::new();
    let mut job = home.job("");
    let pid = job.0.id();
    let sound = text(&mut home.tidegate("table check"));
    let path = home.table().display().to_string();
    let expected = [
        format!("table       {path} (TIDEGATE_TABLE)"),
        "sound       yes".into(),
        "rows        256, 1 taken".into(),
        "alive       1".into(),
    ];
    assert_eq!(sound.lines().take(4).collect::<Vec<_>>(), expected);
    assert!(sound.contains(&format!("\n  {pid} fib, since ")), "{sound}");
    job.kill();
    let repaired = text(&mut home.tidegate("table check"));
    let dead = format!("alive       0\ndead        1\n  {pid} fib, since ");
    assert!(repaired.contains(&dead), "{repaired}");
    assert!(
        repaired.ends_with("orphaned    0\nfreed       1\n"),
        "{repaired}"
    );
}

/// A record of masks is restored once, whether there is a table beside it or not.
#[test]
fn check_restores_abandoned_records() {
    let home = Home::new();
    let record = Record::create(&Location::at(home.table())).unwrap();
    let beside = |name: &str| home.table().with_file_name(name);
    fs::write(beside("exec-mine.masks"), "mine").unwrap();
    let abandon = || {
        // Without threads, and never locked.
        fs::copy(record.path(), beside("exec-1-1.masks")).unwrap();
    };
    abandon();
    let found = text(&mut home.tidegate("table check"));
    let expected = format!(
        "confined    1\n  {}\nrestored    1\n  exec-1-1.masks\nleft alone  1\n  {} is no record",
        own_name(),
        beside("exec-mine.masks").display()
    );
    assert!(found.contains(&expected), "{found}");
    assert!(record.path().exists() && !beside("exec-1-1.masks").exists());
    abandon();
    let found = json(&mut home.tidegate("table check --json"));
    let records = &found["records"];
    assert_eq!(records["confined"], Value::from(vec![own_name()]));
    assert_eq!(records["restored"], Value::from(vec!["exec-1-1.masks"]));
    assert_eq!(records["left_alone"].as_array().unwrap().len(), 1);
}

/// The error must also state what the user can do.
#[test]
fn untrusted_table_is_rejected_and_kept() {
    let home = Home::new();
    let path = home.table();
    let refused = |what: &str| {
        for command in ["jobs", "jobs --json", "table check", "table check --json"] {
            let told = complaint(&mut home.tidegate(command), 3);
            let without = "jobs with this path run without sharing";
            assert_contains(&told, &[&path.display().to_string(), what, without]);
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    };
    fs::write(&path, "no table").unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    refused("is not a Tidegate table: it has 8 bytes");
    assert_eq!(fs::read(&path).unwrap(), b"no table");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    refused("is open to others: its mode is 644; set TIDEGATE_TABLE to another path");
    fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    refused("is a symbolic link");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused("is a folder; set TIDEGATE_TABLE to another path");
}
