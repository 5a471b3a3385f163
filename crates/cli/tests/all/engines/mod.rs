//! Soaks of `tidegate fan` on real engines. Whatever happens there, a run must end with the result
//! of one process, and tell the user why it waits.
//!
//! Each round has an engine of its own, below a new folder, and a run of one program. While that
//! runs, faults happen that the round's seed draws. An engine is a table of shell scripts, in
//! `slurm`, `hq` and `k8s`. They run in the folder and find in their variables:
//!
//! | variable | meaning |
//! |---|---|
//! | `seed` | the number of the round |
//! | `port`, `port2` | free ports |
//! | `this` | this program |
//! | the name of a daemon | its process |
//! | `run` | the process of `fan run` |
//! | `piece` | the process of a piece that lives; empty if there is none |
//! | `pause` | how many seconds something is missing |
#![cfg(target_os = "linux")]

mod hq;
mod k8s;
mod slurm;

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{panicking, sleep};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use procfs::process::{Process, all_processes};
use serde_json::Value;
use tempfile::TempDir;
use tidegate_policy::Rng;
use tidegate_testkit::{PATIENCE, eventually, on_path, seeds};

use crate::support::{json, tidegate};

/// A name, and a script.
type Script = (&'static str, &'static str);

struct Engine {
    name: &'static str,
    /// What must be on the path.
    programs: &'static [&'static str],
    /// What `fan run` gets.
    options: &'static str,
    /// About how many pieces each of [`PROGRAMS`] has, so that it takes some seconds.
    pieces: [usize; PROGRAMS.len()],
    /// Writes the configuration.
    setup: &'static str,
    /// The processes of the engine. Those that have ended are started again after each fault.
    daemons: &'static [Script],
    /// Repairs what a fault has left. Fails if no piece can start yet.
    repair: &'static str,
    /// Fails while the engine has a job that has not ended.
    is_empty: &'static str,
    /// Comes before each fault.
    define: &'static str,
    /// What happens. A script that fails has found nothing to break, and does not count.
    faults: &'static [Script],
}

/// Faults of every engine.
const FAULTS: &[Script] = &[
    ("piece killed", "kill -KILL $piece"),
    (
        "piece stopped",
        "kill -STOP $piece; sleep $pause; kill -CONT $piece || :",
    ),
    ("run killed", "kill -KILL $run"),
    ("run interrupted", "kill -INT $run"),
];

/// How many faults happen in a round.
const FAULTS_OF_A_ROUND: usize = 4;

/// What is run: alone, and in pieces, and which part of the JSON is the same. `digest` gets a folder.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("run uts --tree T3L --repeat 1", "uts --tree T3L", "/result"),
    ("run digest --repeat 1", "digest", "/result"),
    (
        "sim fib 28 --processors 8 --seeds 120",
        "sim fib 28 --processors 8 --seeds 120",
        "",
    ),
];

/// The names of the folders of results.
const NAMES: [&str; 4] = ["D", "two words", "Größe 数", "it's $HOME; `x` %j \"#\""];

/// After how long the user must know why no piece runs. In every eighth round, something is missing
/// for longer.
const SILENCE: Duration = Duration::from_secs(100);

/// What takes longer hangs: a round, and a round in which no piece runs.
const ROUND: Duration = Duration::from_secs(900);
const STANDSTILL: Duration = Duration::from_secs(240);

#[test]
#[ignore = "needs Slurm: cargo run -p xtask -- soak fan-slurm"]
fn slurm_never_changes_the_result() {
    soak(&slurm::ENGINE);
}

#[test]
#[ignore = "needs HyperQueue: cargo run -p xtask -- soak fan-hq --hq PATH"]
fn hq_never_changes_the_result() {
    soak(&hq::ENGINE);
}

#[test]
#[ignore = "needs Kubernetes: cargo run -p xtask -- soak fan-k8s --k8s FOLDER"]
fn k8s_never_changes_the_result() {
    soak(&k8s::ENGINE);
}

fn soak(engine: &'static Engine) {
    if engine.programs.iter().any(|it| on_path(it).is_empty()) {
        return;
    }
    let tree = tempfile::tempdir().expect("a folder");
    for number in 0..2000 {
        fs::write(tree.path().join(format!("file {number}")), "text").expect("a file");
    }
    let (mut expected, mut counts) = ([const { None }; PROGRAMS.len()], BTreeMap::new());
    for seed in seeds(PROGRAMS.len() as u64, "rounds") {
        println!("seed {seed}");
        let program = seed as usize % PROGRAMS.len();
        let expected = expected[program].get_or_insert_with(|| alone(program, tree.path()));
        Round::new(engine, seed, tree.path()).run(expected, &mut counts);
    }
    let of_all: usize = counts.values().sum();
    println!("soak: {of_all} faults: {counts:?}");
}

/// Returns the result of one process.
fn alone(program: usize, tree: &Path) -> Value {
    let (words, _, part) = PROGRAMS[program];
    let mut command = tidegate(&format!("{words} --json"));
    if words.contains("digest") {
        command.arg(tree);
    }
    json(&mut command).pointer(part).expect("a result").clone()
}

/// A running engine, and a run there.
struct Round {
    engine: &'static Engine,
    seed: u64,
    random: Rng,
    home: PathBuf,
    /// Removes the folder, unless the test fails.
    folder: Option<TempDir>,
    ports: [u16; 2],
    daemons: BTreeMap<&'static str, Child>,
    /// The command line of `fan run`, and its process.
    words: Vec<String>,
    run: Option<Child>,
    begin: Instant,
    /// When the folder of results changed last, or a piece was seen, what was there, and how much
    /// the runs had said.
    moved: (Instant, Vec<String>, u64),
    /// The results that were seen, which must never change.
    seen: BTreeMap<String, Vec<u8>>,
}

impl Round {
    fn new(engine: &'static Engine, seed: u64, tree: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let ports = listeners.map(|it| it.local_addr().expect("an address").port());
        let program = seed as usize % PROGRAMS.len();
        let (_, split, _) = PROGRAMS[program];
        let pieces = engine.pieces[program].to_string();
        // With the short one, pieces leave work to others.
        let budget = ["60", "2"][seed as usize / PROGRAMS.len() % 2];
        let words = format!("fan run {split} --json {} --engine", engine.options);
        let mut words: Vec<_> = words.split_whitespace().map(str::to_owned).collect();
        words.extend([engine.name, "--pieces", &pieces, "--budget", budget].map(str::to_owned));
        if split == "digest" {
            words.push(tree.display().to_string());
        }
        let round = Self {
            engine,
            seed,
            random: Rng::new(seed),
            home: folder.path().to_owned(),
            folder: Some(folder),
            ports,
            daemons: BTreeMap::new(),
            words,
            run: None,
            begin: Instant::now(),
            moved: (Instant::now(), Vec::new(), 0),
            seen: BTreeMap::new(),
        };
        assert!(round.shell(engine.setup), "{}: no setup", engine.name);
        round
    }

    fn run(mut self, expected: &Value, counts: &mut BTreeMap<&'static str, usize>) {
        self.repair();
        self.start();
        let mut left = FAULTS_OF_A_ROUND;
        loop {
            let end = Instant::now() + Duration::from_millis(self.random.below(2000));
            self.watch(|_| Instant::now() > end);
            if self.has_ended() {
                break;
            }
            if left > 0 {
                if let Some(fault) = self.fault() {
                    left -= 1;
                    *counts.entry(fault).or_default() += 1;
                }
            } else if self.moved.0.elapsed() > Duration::from_secs(15) {
                self.repair();
            }
        }
        let out = fs::read(self.home.join("out")).expect("a file");
        let found: Value = serde_json::from_slice(&out).expect("JSON");
        let part = PROGRAMS[self.seed as usize % PROGRAMS.len()].2;
        assert_eq!(found.pointer(part), Some(expected), "seed {}", self.seed);
        self.note("complete");
        eprint!("{}", self.told());
        self.look();
        eventually("no piece is left", || self.pieces().is_empty());
        eventually("no job is left", || self.shell(self.engine.is_empty));
    }

    fn start(&mut self) {
        let mut run = self.command(env!("CARGO_BIN_EXE_tidegate"));
        run.args(&self.words).arg("--dir").arg(self.results());
        run.stdout(File::create(self.home.join("out")).expect("a file"));
        self.run = Some(run.spawn().expect("a process"));
    }

    /// Returns whether the run is complete. Starts it again if it has ended otherwise.
    fn has_ended(&mut self) -> bool {
        let run = self.run.as_mut().expect("a run");
        let Some(status) = run.try_wait().expect("a state") else {
            return false;
        };
        match status.code() {
            Some(0) => return true,
            // It was killed or interrupted, or an item has failed too often, or the engine.
            None | Some(1 | 3 | 130) => {}
            Some(code) => panic!("code {code}, {}", self.told()),
        }
        self.start();
        false
    }

    /// Lets the next fault happen, and repairs the engine. Returns its name, unless there was nothing
    /// to break.
    fn fault(&mut self) -> Option<&'static str> {
        let all = FAULTS.len() + self.engine.faults.len();
        let fault = self.random.below(all as u64) as usize;
        let mut faults = FAULTS.iter().chain(self.engine.faults);
        let (name, script) = faults.nth(fault).expect("a fault");
        let milliseconds = if self.seed % 8 == 7 && self.random.below(2) == 0 {
            SILENCE.as_millis() as u64 + 10_000
        } else {
            self.random.below(4000)
        };
        let pause = milliseconds as f64 / 1000.0;
        let piece = self.random.draw() as usize;
        let end = Instant::now() + Duration::from_secs(2);
        self.watch(|round| !round.pieces().is_empty() || Instant::now() > end);
        let pieces = self.pieces();
        let piece = pieces.get(piece % pieces.len().max(1));
        let piece = piece.map(|piece| piece.pid.to_string()).unwrap_or_default();
        let mut command = self.script(&format!("{}\n{script}", self.engine.define));
        command.env("pause", pause.to_string()).env("piece", piece);
        let mut command = command.spawn().expect("a shell");
        self.note(&format!("{name}, {pause} s"));
        self.watch(|_| command.try_wait().expect("a state").is_some());
        self.repair();
        self.look();
        let has_happened = command.wait().expect("a state").success();
        if !has_happened {
            self.note("nothing to break");
        }
        has_happened.then_some(*name)
    }

    /// Starts the daemons that have ended, and waits until pieces can start.
    fn repair(&mut self) {
        let end = Instant::now() + PATIENCE;
        loop {
            for (name, script) in self.engine.daemons {
                let daemon = self.daemons.get_mut(name);
                if daemon.is_none_or(|it| it.try_wait().expect("a state").is_some()) {
                    let daemon = self.script(script).spawn().expect("a shell");
                    self.daemons.insert(name, daemon);
                }
            }
            if self.shell(self.engine.repair) {
                return;
            }
            assert!(Instant::now() < end, "no engine, {}", self.told());
            self.watch(|_| true);
        }
    }

    /// Watches the run until something has happened.
    fn watch(&mut self, mut has_happened: impl FnMut(&mut Self) -> bool) {
        loop {
            sleep(Duration::from_millis(20));
            if has_happened(self) {
                return;
            }
            let (names, said) = (self.names(), self.said());
            let (since, last, before) = &self.moved;
            let waits = since.elapsed();
            if names != *last || waits > SILENCE / 2 && !self.pieces().is_empty() {
                self.moved = (Instant::now(), names, said);
                continue;
            }
            let (is_told, begin) = (said != *before, self.begin.elapsed());
            assert!(
                is_told || waits < SILENCE,
                "silent for {waits:?}, {}",
                self.told()
            );
            assert!(waits < STANDSTILL, "it stands still, {}", self.told());
            assert!(begin < ROUND, "no end, {}", self.told());
        }
    }

    /// Checks that the results that were seen are still there, and sees new ones.
    fn look(&mut self) {
        let read = |name: &String| fs::read(self.results().join(name)).ok();
        for (name, bytes) in &self.seen {
            assert!(
                read(name).as_ref() == Some(bytes),
                "{name}: {}",
                self.told()
            );
        }
        let results = self.names().into_iter().filter(|it| it.ends_with(".out"));
        let results = results.filter_map(|name| Some((name.clone(), read(&name)?)));
        self.seen = results.collect();
    }

    fn results(&self) -> PathBuf {
        self.home.join(NAMES[self.seed as usize % NAMES.len()])
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.results()).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// Returns the pieces that have not ended.
    fn pieces(&self) -> Vec<Process> {
        let results = self.results().display().to_string();
        let is_piece = |process: &Process| {
            let words = process.cmdline().unwrap_or_default();
            let is_program = words.first().is_some_and(|it| it.ends_with("/tidegate"));
            is_program && words.get(2).is_some_and(|it| it == "piece") && words.contains(&results)
        };
        let mut pieces: Vec<_> = processes().filter(is_piece).collect();
        pieces.sort_by_key(|piece| piece.pid);
        pieces
    }

    /// Returns how many bytes the runs have written to standard error.
    fn said(&self) -> u64 {
        fs::metadata(self.home.join("err")).map_or(0, |file| file.len())
    }

    /// Adds a line to what the runs have written.
    fn note(&mut self, text: &str) {
        let line = format!("-- {:.1} s: {text}\n", self.begin.elapsed().as_secs_f64());
        self.log("err").write_all(line.as_bytes()).expect("a file");
        self.moved.2 += line.len() as u64;
    }

    fn told(&self) -> String {
        let (seed, home) = (self.seed, self.home.display());
        let said = fs::read_to_string(self.home.join("err")).unwrap_or_default();
        format!("seed {seed}, see {home}:\n{said}")
    }

    /// Runs a script. Returns whether it has succeeded.
    fn shell(&self, script: &str) -> bool {
        self.script(script).status().expect("a shell").success()
    }

    fn script(&self, script: &str) -> Command {
        let mut command = self.command("sh");
        command
            .args(["-euc", script])
            .env("seed", self.seed.to_string());
        command.env("port", self.ports[0].to_string());
        command.env("port2", self.ports[1].to_string());
        command.env("this", env::current_exe().expect("a program"));
        let processes = self.daemons.iter().map(|(name, it)| (*name, it.id()));
        let processes = processes.chain(self.run.iter().map(|it| ("run", it.id())));
        command.envs(processes.map(|(name, pid)| (name, pid.to_string())));
        command
    }

    fn log(&self, name: &str) -> File {
        let file = File::options()
            .create(true)
            .append(true)
            .open(self.home.join(name));
        file.expect("a file")
    }

    /// Returns a command of the round.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let log = self.log(if program == "sh" { "log" } else { "err" });
        command.current_dir(&self.home).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(log);
        for name in ["TIDEGATE_SOAK_SCALE", "TIDEGATE_SOAK_SEED"] {
            command.env_remove(name);
        }
        command
            .env("TIDEGATE_TABLE", self.home.join("table"))
            .env("SLURM_CONF", self.home.join("slurm.conf"))
            .env("HQ_SERVER_DIR", self.home.join("server"))
            .env("KUBECONFIG", self.home.join("kubeconfig"))
            .env("KUBECACHEDIR", self.home.join("cache"));
        command
    }
}

/// Ends all processes of the round: they have its folder in their variables.
impl Drop for Round {
    fn drop(&mut self) {
        let home = self.home.as_os_str();
        let is_ours = |process: &Process| {
            let variables = process.environ().unwrap_or_default();
            variables.values().any(|it| Path::new(it).starts_with(home))
        };
        while let Some(process) = processes().find(is_ours) {
            let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
            for child in self.daemons.values_mut().chain(&mut self.run) {
                let _ = child.try_wait();
            }
        }
        if panicking() {
            let _ = self.folder.take().map(TempDir::keep);
        }
    }
}

fn processes() -> impl Iterator<Item = Process> {
    all_processes().expect("processes").flatten()
}
