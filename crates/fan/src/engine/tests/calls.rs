//! Calls of commands that answer, fail and hang.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::LIMIT;
use crate::engine::call::Commands;
use crate::{Error, Retry};
use tidegate_testkit::eventually;

fn commands(folder: &Path, limit: Duration) -> Commands {
    let folder = folder.to_owned();
    let advice = "get it";
    Commands {
        folder,
        limit,
        advice,
    }
}

/// Calls a shell script.
fn shell(script: &str, input: &str, limit: Duration) -> Result<String, Error> {
    let answer = commands(Path::new("/bin"), limit).call("sh", &["-c", script], input);
    answer?.success()
}

#[test]
fn a_missing_command_tells_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let error = commands(folder.path(), LIMIT).call("hq", &[], "").err();
    let error = error.expect("there is no command");
    assert_eq!(error.retry(), Retry::Never);
    assert_eq!(error.to_string(), "hq is not on the path: get it");
}

#[test]
fn a_command_answers() {
    assert_eq!(shell("cat; echo b", "a\n", LIMIT).unwrap(), "a\nb\n");
    let many = "x".repeat(1 << 20);
    assert_eq!(shell("cat", &many, LIMIT).unwrap(), many);
    assert_eq!(shell("echo a", &many, LIMIT).unwrap(), "a\n");
}

#[test]
fn a_failure_is_the_first_line_of_standard_error() {
    let error = shell(
        "echo a; echo >&2; echo ' b ' >&2; echo c >&2; exit 3",
        "",
        LIMIT,
    );
    assert_eq!(error.unwrap_err().to_string(), "sh: b");
    let logged = "echo 'E0803 10:00:00.1 memcache.go:265] c' >&2; echo b >&2; exit 1";
    let error = shell(logged, "", LIMIT).unwrap_err();
    assert_eq!(error.to_string(), "sh: b");
    let named = "echo 'sh: error: b' >&2; exit 1";
    let error = shell(named, "", LIMIT).unwrap_err();
    assert_eq!(error.to_string(), "sh: b");
    let list = "echo 'a is invalid: ' >&2; echo '* b' >&2; echo '* c' >&2; exit 1";
    let error = shell(list, "", LIMIT).unwrap_err();
    assert_eq!(error.to_string(), "sh: a is invalid: b");
    let error = shell("exit 3", "", LIMIT).unwrap_err();
    assert_eq!(error.to_string(), "sh: exit status: 3");
}

#[test]
fn a_command_that_hangs_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! >{}; wait", file.display());
    let mut pid = String::new();
    // A busy machine may kill the command before it has begun.
    for seconds in [1, 4, 16] {
        assert!(shell(&script, "", Duration::from_secs(seconds)).is_err());
        pid = fs::read_to_string(&file).unwrap_or_default();
        if !pid.is_empty() {
            break;
        }
    }
    let stat = format!("/proc/{}/stat", pid.trim());
    eventually("the end of the child", || {
        // A zombie has ended too.
        fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "))
    });
}

#[test]
fn a_child_that_keeps_the_pipe_open_does_not_hold_the_answer() {
    assert_eq!(shell("sleep 10 & echo a", "", LIMIT).unwrap(), "a\n");
}
