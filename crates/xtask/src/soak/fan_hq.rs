//! The soak `fan-hq`: a tree is counted in pieces by the workers of a real HyperQueue server. In
//! the middle, a worker and then the server are killed, and started again.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

use crate::command::{Cmd, NIGHT};
use crate::step::{Outcome, Stop, Tally};
use crate::workspace::Workspace;

pub const NAME: &str = "fan-hq";

/// The number of nodes of the tree T3L.
const NODES: &str = "111345631";

const PIECES: usize = 64;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(600);

/// How long HyperQueue may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the soak with the program `hq`, if there is one.
pub fn run(workspace: &Workspace, tally: &mut Tally, hq: Option<&Path>) {
    tally.run(&format!("soak {NAME}"), || {
        let hq = working(hq)?;
        let build = Cmd::cargo(workspace, NAME, "build --release -p tidegate-cli");
        build.limit(NIGHT).succeed()?;
        let program = workspace.target.join("release/tidegate");
        let drill = Drill::new(hq, program, &workspace.scratch(NAME), PIECES)?;
        drill.run()
    });
}

/// Returns the absolute path of `hq`, or why the soak cannot run.
fn working(hq: Option<&Path>) -> Result<PathBuf, Stop> {
    let not_run = |why: String| Stop::Skipped(format!("not run: {why}"));
    let hq = hq.ok_or_else(|| not_run("pass --hq PATH, the program of HyperQueue".to_owned()))?;
    let failed = |why: &str| not_run(format!("{}: {why}", hq.display()));
    let path = std::path::absolute(hq).map_err(|error| failed(&error.to_string()))?;
    // `tidegate fan` looks for this name on the path.
    if path.file_name() != Some("hq".as_ref()) {
        return Err(failed("is not named hq"));
    }
    let version = Command::new(&path).arg("--version").output();
    let version = version.map_err(|error| failed(&error.to_string()))?;
    if version.status.success() {
        Ok(path)
    } else {
        Err(failed("does not know --version"))
    }
}

struct Drill {
    hq: PathBuf,
    /// The command `tidegate`.
    program: PathBuf,
    folder: PathBuf,
    pieces: usize,
}

/// A process that is killed at the end of the soak, if not earlier.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

impl Drill {
    fn new(hq: PathBuf, program: PathBuf, folder: &Path, pieces: usize) -> Result<Drill, String> {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Drill {
            hq,
            program,
            folder: folder.to_owned(),
            pieces,
        })
    }

    fn run(&self) -> Outcome {
        let server = self.server()?;
        let mut workers = vec![self.worker("1")?, self.worker("2")?];
        self.hq(&["worker", "wait", "2"])?;
        let mut run = self.fan()?;

        let first = self.reach(self.pieces / 4, &mut run)?;
        drop(workers.remove(0));
        workers.push(self.worker("3")?);

        let second = self.reach(self.pieces / 2, &mut run)?;
        drop(server);
        // Workers end with their server.
        for worker in &mut workers {
            let ended = worker.0.wait_timeout(PATIENCE);
            ended.map_err(|error| format!("a worker: {error}"))?;
        }
        drop(workers);
        let _server = self.server()?;
        let _workers = [self.worker("4")?, self.worker("5")?];
        self.hq(&["worker", "wait", "2"])?;

        let end = run.0.wait_timeout(LIMIT);
        let end = end.map_err(|error| format!("tidegate: {error}"))?;
        let log = self.read("run");
        match end {
            Some(status) if status.success() && log.contains(NODES) => Ok(format!(
                "{NODES} nodes; a worker was killed after {first} of {} results, the server after \
                 {second}",
                self.pieces
            )),
            Some(status) => Err(format!("{status}, not {NODES} nodes:\n{log}").into()),
            None => Err(format!("no end after {} s:\n{log}", LIMIT.as_secs()).into()),
        }
    }

    /// Starts the server on its journal, and waits until it answers.
    fn server(&self) -> Result<Killed, String> {
        let journal = self.folder.join("journal");
        let mut command = self.command(&self.hq, &["server", "start", "--journal"]);
        let server = self.start(command.arg(journal), "server")?;
        let end = Instant::now() + PATIENCE;
        while let Err(trouble) = self.hq(&["server", "info"]) {
            if Instant::now() > end {
                return Err(format!("{trouble}\n{}", self.read("server")));
            }
            sleep(Duration::from_millis(100));
        }
        Ok(server)
    }

    fn worker(&self, number: &str) -> Result<Killed, String> {
        let mut command = self.command(&self.hq, &["worker", "start", "--cpus", "1"]);
        self.start(&mut command, &format!("worker-{number}"))
    }

    fn fan(&self) -> Result<Killed, String> {
        let line = format!(
            "fan run uts --tree T3L --engine hq --json --pieces {}",
            self.pieces
        );
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = self.command(&self.program, &words);
        self.start(command.arg("--dir").arg(self.results()), "run")
    }

    fn results(&self) -> PathBuf {
        self.folder.join("results")
    }

    /// Waits until there are so many results. Returns how many there are.
    fn reach(&self, least: usize, run: &mut Killed) -> Result<usize, String> {
        let end = Instant::now() + LIMIT;
        loop {
            let names = fs::read_dir(self.results()).into_iter().flatten().flatten();
            let results = names.filter(|name| name.path().extension() == Some("out".as_ref()));
            let found = results.count();
            if (least..self.pieces).contains(&found) {
                return Ok(found);
            }
            let is_over = found >= self.pieces || !matches!(run.0.try_wait(), Ok(None));
            if is_over || Instant::now() > end {
                let log = self.read("run");
                return Err(format!("{found} results, not about {least}:\n{log}"));
            }
            sleep(Duration::from_millis(10));
        }
    }

    /// Calls `hq`, which must succeed.
    fn hq(&self, words: &[&str]) -> Result<(), String> {
        let mut call = self.start(&mut self.command(&self.hq, words), "call")?;
        match call.0.wait_timeout(PATIENCE) {
            Ok(Some(status)) if status.success() => Ok(()),
            _ => Err(format!(
                "hq {} failed:\n{}",
                words.join(" "),
                self.read("call")
            )),
        }
    }

    /// Returns a command that finds `hq` and its server.
    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let folder = self.hq.parent().unwrap_or(Path::new("/"));
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [folder.to_owned()]
            .into_iter()
            .chain(env::split_paths(&path));
        let path = env::join_paths(folders).unwrap_or(path);
        let mut command = Command::new(program);
        command.args(words).env("PATH", path);
        command.env("HQ_SERVER_DIR", self.folder.join("server"));
        command
    }

    /// Starts a command whose output goes to a log.
    fn start(&self, command: &mut Command, log: &str) -> Result<Killed, String> {
        let path = self.folder.join(format!("{log}.log"));
        let child = File::options()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|log| {
                let command = command.stdin(Stdio::null()).stdout(log.try_clone()?);
                command.stderr(log).spawn()
            });
        child.map(Killed).map_err(|error| format!("{log}: {error}"))
    }

    fn read(&self, log: &str) -> String {
        fs::read_to_string(self.folder.join(format!("{log}.log"))).unwrap_or_default()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// Publishes a result for each piece, and prints the known number of nodes.
    const PROGRAM: &str = r#"#!/bin/sh
while [ "$#" -gt 0 ]; do
    case $1 in
    --pieces) pieces=$2 ;;
    --dir) dir=$2 ;;
    esac
    shift
done
mkdir "$dir"
hq --output-mode=json job list --all || exit 1
while [ "$number" != "$pieces" ]; do
    number=$((number + 1))
    : >"$dir/$number.out"
    while [ "$(wc -l <"$(dirname "$dir")/bin/workers")" -lt $((number > 3 ? 5 : number > 1 ? 3 : 2)) ]; do
        sleep 0.01
    done
done
echo NODES
"#;

    /// Links the fakes of `tidegate-fan` into the soak's folder. The program prints this number.
    fn drill(name: &str, nodes: &str) -> Drill {
        let workspace = Workspace::load().unwrap();
        let folder = workspace.scratch("tests").join(name);
        let (bin, program) = (folder.join("bin"), folder.join("tidegate"));
        let drill = Drill::new(bin.join("hq"), program, &folder, 4).unwrap();
        fs::create_dir(&bin).unwrap();
        for fake in fs::read_dir(workspace.root.join("crates/fan/tests/fake")).unwrap() {
            let fake = fake.unwrap();
            symlink(fake.path(), bin.join(fake.file_name())).unwrap();
        }
        fs::write(&drill.program, PROGRAM.replace("NODES", nodes)).unwrap();
        fs::set_permissions(&drill.program, PermissionsExt::from_mode(0o755)).unwrap();
        drill
    }

    #[test]
    fn worker_and_server_are_started_again() {
        let drill = drill("fan-hq", NODES);
        let detail = drill.run().unwrap();
        assert!(detail.starts_with(NODES), "{detail}");
        let lines = |path| {
            fs::read_to_string(drill.folder.join(path))
                .unwrap()
                .lines()
                .count()
        };
        assert_eq!([lines("journal"), lines("bin/workers")], [2, 5]);
    }

    #[test]
    fn wrong_count_fails() {
        let failed = drill("fan-hq-wrong", "7").run();
        assert!(
            matches!(&failed, Err(Stop::Failed(text)) if text.contains("not 111345631 nodes")),
            "{failed:?}"
        );
    }

    #[test]
    fn without_hq_it_does_not_run() {
        for hq in [
            None,
            Some(Path::new("/nowhere/hq")),
            Some(Path::new("/bin/false")),
        ] {
            let Err(Stop::Skipped(why)) = working(hq) else {
                panic!("{hq:?} works");
            };
            assert!(
                why.starts_with("not run: ") && why.lines().count() == 1,
                "{why}"
            );
        }
    }
}
