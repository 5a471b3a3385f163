//! Snapshots of help texts and messages that are the same on every machine.
//!
//! `INSTA_UPDATE=always cargo test -p tidegate-lab --test all shown` updates them.
#![cfg(target_os = "linux")]

use crate::support::{assert_shown, lab};

#[test]
fn helps() {
    #[rustfmt::skip]
    let commands = [
        "", "reproduce", "fan", "fan plan reproduce", "report", "compare", "compare wake",
        "compare iter", "bench", "bench handover", "bench queues", "bench places",
        "bench intervals", "bench memory", "bench streams", "bench rayon-programs",
        "bench calibrate", "bench exec",
    ];
    for command in commands {
        let line = format!("{command} --help");
        assert_shown(&format!("help {command}"), &[line.trim()], lab);
    }
}

#[test]
fn bad_values() {
    #[rustfmt::skip]
    let lines = [
        "", "bench", "bench everything", "bench queues --repeat -1", "bench memory --csv --wide",
        "bench handover --csv", "bench exec --repeat 0", "bench exec --size huge",
        "bench exec --csv --json", "bench rayon-programs --repeat 0", "bench rayon-programs none",
        "compare", "compare nothing", "compare wake --workers 1", "reproduce adaptive --runs -1",
        "fan plan reproduce adaptive", "fan plan reproduce adaptive --real",
        "fan plan reproduce intervals --sim --only nothing",
    ];
    assert_shown("bad values", &lines, lab);
}
