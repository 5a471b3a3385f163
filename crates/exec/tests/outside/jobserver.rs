//! The jobserver with real clients.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tidegate_exec::jobserver::Server;
use tidegate_testkit::on_path;

/// Returns a command that ends `program`, with code 124, if it hangs.
fn patient(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.arg("60").arg(program);
    command
}

/// Calls `test` for each `make` of the path and each kind of address that it knows: descriptors, or,
/// since version 4.4, also a fifo.
fn for_each_make(test: impl Fn(&Path, bool)) {
    let mut knows_fifos = false;
    for make in on_path("make") {
        test(&make, true);
        let mut features = patient(&make);
        features.args(["--eval=$(info $(.FEATURES))all:", "--file=/dev/null"]);
        let features = features.env_remove("MAKEFLAGS").output().unwrap().stdout;
        if String::from_utf8_lossy(&features).contains("jobserver-fifo") {
            test(&make, false);
            knows_fifos = true;
        }
    }
    if !knows_fifos {
        eprintln!("skipped: no make on the path is 4.4 or newer, so none knows fifos");
    }
}

/// Runs `make` in `folder` as a client of `server`, without a number of jobs of its own.
fn run(make: &Path, server: &Server, folder: &Path, rules: &str) {
    fs::write(folder.join("Makefile"), rules).unwrap();
    let mut make = patient(make);
    make.current_dir(folder)
        .env("MAKEFLAGS", server.makeflags("MAKEFLAGS"));
    let output = make.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
}

/// Each job writes a line when it has begun, and one before it ends.
const JOBS: &str = "\
JOBS = $(addprefix job,1 2 3 4 5 6 7 8 9 10 11 12)
all: $(JOBS)
$(JOBS):
\t@echo begin >>log; sleep 0.01; echo end >>log
";

#[test]
fn make_runs_no_more_jobs_than_allowed() {
    for_each_make(|make, is_old| {
        for allowed in [1, 2, 3] {
            let folder = tempfile::tempdir().unwrap();
            let server = Server::start(allowed, is_old).unwrap();
            run(make, &server, folder.path(), JOBS);
            let log = fs::read_to_string(folder.path().join("log")).unwrap();
            let (mut now, mut most, mut begun) = (0_usize, 0, 0);
            for line in log.lines() {
                match line {
                    "begin" => (now, begun) = (now + 1, begun + 1),
                    _ => now -= 1,
                }
                most = most.max(now);
            }
            assert_eq!((now, begun), (0, 12));
            assert!(most <= allowed, "{most} of {allowed}");
        }
    });
}

/// Each job waits for all others.
const MEETING: &str = "\
all: 1 2 3
1 2 3:
\t@>begun$@; until [ -e begun1 ] && [ -e begun2 ] && [ -e begun3 ]; do sleep 0.01; done
";

#[test]
fn make_runs_as_many_jobs_as_allowed() {
    for_each_make(|make, is_old| {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(1, is_old).unwrap();
        server.allow(3);
        run(make, &server, folder.path(), MEETING);
    });
}

/// The first client is killed while it holds both tokens, and the second one waits for both.
#[test]
fn tokens_of_a_killed_client_are_replaced() {
    for is_old in [true, false] {
        let server = Server::start(3, is_old).unwrap();
        let flags = server.makeflags("MAKEFLAGS");
        let address = flags.rsplit_once("--jobserver-auth=").unwrap().1;
        let fifo = match address.strip_prefix("fifo:") {
            Some(path) => path.to_owned(),
            None => format!("/proc/self/fd/{}", address.split_once(',').unwrap().0),
        };
        let take = format!("dd if={fifo} bs=1 count=2 2>&1 && kill -9 $$");
        for _ in 0..2 {
            let client = patient("sh").args(["-c", &take]).output().unwrap();
            let is_killed = matches!(client.status.code(), None | Some(137));
            assert!(is_killed, "{client:?}");
        }
    }
}
