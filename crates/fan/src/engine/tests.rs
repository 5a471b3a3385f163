//! The engines against fakes of their commands, which are in `tests/fake`.

mod calls;
mod described;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use tidegate_testkit::eventually;

use super::call::Commands;
use super::hq::Hq;
use super::k8s::{Container, K8s};
use super::options::Claim;
use super::slurm::Slurm;
use super::{Alive, Engine, Launch, Round};
use crate::Retry;

const FAKES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake");
/// Long enough for a busy machine. Only what hangs takes so long.
const LIMIT: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(700);

/// A folder with fake commands, and one for the results, whose path must be quoted.
struct Fake {
    kind: &'static str,
    folder: tempfile::TempDir,
    launch: Launch,
}

impl Fake {
    fn new(kind: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for fake in fs::read_dir(FAKES).unwrap() {
            let fake = fake.unwrap();
            symlink(fake.path(), folder.path().join(fake.file_name())).unwrap();
        }
        let out = folder.path().join("it's a $(folder)");
        fs::create_dir(&out).unwrap();
        let launch = Launch {
            program: vec![Path::new(FAKES).join("piece").into(), "fan".into()],
            plan: out.join("plan.json"),
            out,
            budget: 2.5,
            cpus: None,
        };
        Self {
            kind,
            folder,
            launch,
        }
    }

    fn commands(&self, limit: Duration) -> Commands {
        Commands {
            folder: self.folder.path().to_owned(),
            limit,
            advice: "",
        }
    }

    fn engine(&self, limit: Duration) -> Box<dyn Engine> {
        let commands = self.commands(limit);
        let launch = &self.launch;
        match self.kind {
            "hq" => Box::new(Hq::new(launch, commands).unwrap()),
            "slurm" => Box::new(Slurm::new(launch, commands).unwrap()),
            _ => {
                let container = container(self.folder.path());
                Box::new(K8s::new(launch, &container, commands).unwrap())
            }
        }
    }

    fn fault(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(format!("fault.{name}")), text).unwrap();
    }

    /// Writes a file of the results' folder, which tells pieces what to do.
    fn tell(&self, name: &str, text: &str) {
        fs::write(self.launch.out.join(name), text).unwrap();
    }

    /// Lets pieces that were held go on.
    fn release(&self) {
        fs::remove_file(self.launch.out.join("hold")).unwrap();
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.launch.out.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn round(&self, name: &str) -> Round {
        let names = ["0", "1", "2.0", "2.7"];
        let entries = names.map(|name| format!(r#"{{"plan":"abc","item":"{name}"}}"#));
        let list = self.launch.out.join(format!("{name}.json"));
        fs::write(&list, format!("[\n{}\n]\n", entries.join(",\n"))).unwrap();
        Round {
            name: name.to_owned(),
            list,
            items: names.map(|name| name.parse().unwrap()).into(),
        }
    }

    /// Submits four pieces with a fault.
    fn start(&self, fault: &str) -> (Box<dyn Engine>, Round) {
        if !fault.is_empty() {
            self.fault(fault, "");
        }
        let mut engine = self.engine(LIMIT);
        let round = self.round("first");
        engine.submit(&round).unwrap();
        (engine, round)
    }

    /// What a piece calls its item: the entry's, or its place in the list.
    fn called(&self) -> [&'static str; 4] {
        match self.kind {
            "hq" => ["0", "1", "2.0", "2.7"],
            _ => ["0", "1", "2", "3"],
        }
    }
}

fn container(mounted: &Path) -> Container {
    let image = "registry.example/primes:1".to_owned();
    let (name, path) = ("data".to_owned(), mounted.to_owned());
    let claim = Claim { name, path };
    Container { image, claim }
}

/// Waits until all pieces have ended.
fn wait_for_end(engine: &mut dyn Engine, round: &Round) {
    eventually("the end of all pieces", || !lives(engine, round));
}

fn lives(engine: &mut dyn Engine, round: &Round) -> bool {
    !engine.alive(&[round]).unwrap().is_empty()
}

fn alive(round: &Round, running: usize, waiting: usize) -> Alive {
    Alive {
        name: round.name.clone(),
        running,
        waiting,
    }
}

/// Runs a test for each engine.
macro_rules! for_each_engine {
    ($($test:ident),* $(,)?) => {
        mod hq { $(#[test] fn $test() { super::$test(&super::Fake::new("hq")); })* }
        mod slurm { $(#[test] fn $test() { super::$test(&super::Fake::new("slurm")); })* }
        mod k8s { $(#[test] fn $test() { super::$test(&super::Fake::new("k8s")); })* }
    };
}

for_each_engine!(
    pieces_run_and_end,
    failed_pieces_have_ended,
    running_pieces_are_alive,
    a_hanging_submit_is_killed_and_its_round_lives,
    pieces_run_twice,
    a_lost_worker,
    an_engine_that_lies,
    a_forgotten_round_has_ended,
    an_engine_that_does_not_answer,
    waiting_pieces_have_a_reason,
    cancel_ends_the_pieces_of_one_round,
);

fn pieces_run_and_end(fake: &Fake) {
    let (mut engine, round) = fake.start("");
    wait_for_end(&mut *engine, &round);
    let out = fake.launch.out.display();
    let list = format!("[--list][{out}/first.json]");
    let item = match fake.kind {
        "hq" => "[HQ_ENTRY]".to_owned(),
        "slurm" => format!("[SLURM_ARRAY_TASK_ID]{list}"),
        _ => format!("[JOB_COMPLETION_INDEX]{list}"),
    };
    let words = format!(
        "[fan][piece][--plan][{out}/plan.json][--out][{out}][--budget][2.5][--item-from]{item}"
    );
    let mut ran = fake.lines("ran");
    ran.sort();
    assert_eq!(ran, fake.called().map(|name| format!("{name} {words}")));
}

fn failed_pieces_have_ended(fake: &Fake) {
    let bad = fake.called()[3];
    fake.tell(&format!("code.{bad}"), "2");
    let (mut engine, round) = fake.start("");
    wait_for_end(&mut *engine, &round);
    assert_eq!(fake.lines("done").len(), 3);
    // Only its death can end a piece that is held.
    fake.tell("hold", "");
    fake.fault("kill", "");
    let round = fake.round("second");
    engine.submit(&round).unwrap();
    wait_for_end(&mut *engine, &round);
}

fn running_pieces_are_alive(fake: &Fake) {
    fake.tell("hold", "");
    let (mut engine, first) = fake.start("");
    let second = fake.round("second");
    engine.submit(&second).unwrap();
    eventually("the start", || fake.lines("ran").len() == 8);
    let unknown = fake.round("third");
    let all = engine.alive(&[&first, &second, &unknown]).unwrap();
    assert_eq!(all, [alive(&first, 4, 0), alive(&second, 4, 0)]);
    assert_eq!(engine.alive(&[&second]).unwrap(), [alive(&second, 4, 0)]);
    fake.release();
    wait_for_end(&mut *engine, &first);
}

fn a_hanging_submit_is_killed_and_its_round_lives(fake: &Fake) {
    fake.fault("hang", "");
    fake.tell("hold", "");
    let round = fake.round("first");
    let error = fake.engine(SHORT).submit(&round).unwrap_err().to_string();
    let command = match fake.kind {
        "hq" => "hq submit",
        "slurm" => "sbatch",
        _ => "kubectl apply",
    };
    assert_eq!(error, format!("{command} has not answered within 0.7 s"));
    // A busy machine may have killed the command before it has started the pieces.
    if fake.folder.path().join("fault.hang").exists() {
        return;
    }
    let mut engine = fake.engine(LIMIT);
    eventually("the round", || lives(&mut *engine, &round));
    fake.release();
    wait_for_end(&mut *engine, &round);
}

fn pieces_run_twice(fake: &Fake) {
    let (mut engine, round) = fake.start("twice");
    wait_for_end(&mut *engine, &round);
    eventually("the other attempts", || fake.lines("done").len() == 8);
}

fn a_lost_worker(fake: &Fake) {
    let (mut engine, round) = fake.start("lost");
    wait_for_end(&mut *engine, &round);
    eventually("the orphans and the retries", || {
        fake.lines("done").len() >= 8
    });
}

fn an_engine_that_lies(fake: &Fake) {
    fake.tell("hold", "");
    let (mut engine, round) = fake.start("lie");
    wait_for_end(&mut *engine, &round);
    assert!(fake.lines("done").is_empty());
    fake.release();
}

fn a_forgotten_round_has_ended(fake: &Fake) {
    fake.tell("hold", "");
    let (mut engine, round) = fake.start("");
    fake.fault("forget", "");
    assert!(!lives(&mut *engine, &round));
    engine.cancel(&round).unwrap();
    fake.release();
}

fn an_engine_that_does_not_answer(fake: &Fake) {
    let (mut engine, round) = fake.start("");
    fake.fault("silent", "1");
    let error = fake.engine(SHORT).alive(&[&round]).unwrap_err();
    assert_eq!(error.retry(), Retry::Elsewhere);
    let command = match fake.kind {
        "hq" => "hq job",
        "slurm" => "squeue",
        _ => "kubectl get",
    };
    let text = format!("{command} has not answered within 0.7 s");
    assert_eq!(error.to_string(), text);
    // A busy machine may have killed the command before it has taken the fault.
    let _ = fs::remove_file(fake.folder.path().join("fault.silent"));
    wait_for_end(&mut *engine, &round);
}

fn waiting_pieces_have_a_reason(fake: &Fake) {
    fake.fault("wait", "no node is idle");
    let (mut engine, round) = fake.start("");
    let (reason, details) = match fake.kind {
        "hq" => (
            "no worker has 1 free processor: start one that has, or use fewer --cpus",
            "hq job list --all",
        ),
        "slurm" => ("no node is idle", "squeue --name=first --states=all --long"),
        _ => ("no node is idle", "kubectl describe job first"),
    };
    assert_eq!(engine.alive(&[&round]).unwrap(), [alive(&round, 0, 4)]);
    assert_eq!(engine.reason(&round).unwrap(), reason);
    assert_eq!(engine.details(&round).unwrap(), details);
    engine.cancel(&round).unwrap();
    assert!(!lives(&mut *engine, &round));
}

fn cancel_ends_the_pieces_of_one_round(fake: &Fake) {
    fake.tell("hold", "");
    let (mut engine, first) = fake.start("");
    let second = fake.round("second");
    engine.submit(&second).unwrap();
    eventually("the start", || fake.lines("ran").len() == 8);
    engine.cancel(&first).unwrap();
    assert!(!lives(&mut *engine, &first));
    assert!(lives(&mut *engine, &second));
    fake.release();
    wait_for_end(&mut *engine, &second);
    assert_eq!(fake.lines("done").len(), 4);
    engine.cancel(&first).unwrap();
}

#[test]
fn hyperqueue_tells_that_it_has_no_worker() {
    let fake = Fake::new("hq");
    fake.fault("wait", "");
    let (mut engine, round) = fake.start("");
    let reason = engine.reason(&round).unwrap();
    assert_eq!(reason, "no worker is connected: run `hq worker start`");
}

#[test]
fn the_error_of_hyperqueue_is_one_line() {
    let fake = Fake::new("hq");
    let mut round = fake.round("first");
    round.list = fake.launch.out.join("missing");
    let error = fake.engine(LIMIT).submit(&round).unwrap_err();
    let text = "hq submit: No such file or directory (os error 2)";
    assert_eq!(error.to_string(), text);
}

#[test]
fn rounds_of_slurm_live_in_any_state_that_is_no_end() {
    let fake = Fake::new("slurm");
    fake.fault("wait", "None");
    let (mut engine, round) = fake.start("");
    for state in ["CONFIGURING", "REQUEUE_HOLD", "SUSPENDED"] {
        fake.fault("state", state);
        assert_eq!(engine.alive(&[&round]).unwrap(), [alive(&round, 0, 4)]);
        assert_eq!(engine.reason(&round).unwrap(), state);
    }
    for state in ["COMPLETED", "LAUNCH_FAILED"] {
        fake.fault("state", state);
        assert!(!lives(&mut *engine, &round), "{state}");
    }
}

#[test]
fn held_rounds_tell_how_to_go_on() {
    let fake = Fake::new("slurm");
    fake.fault("wait", "JobHeldAdmin");
    let (mut engine, round) = fake.start("");
    for why in ["JobHeldAdmin", "job requeued in held state"] {
        fake.fault("wait", why);
        let text = format!("{why}: `scontrol release jobname=first` releases them");
        assert_eq!(engine.reason(&round).unwrap(), text);
    }
    let fake = Fake::new("k8s");
    fake.fault("wait", "");
    fake.fault("suspend", "");
    let (mut engine, round) = fake.start("");
    let text = r#"the Job is suspended: `kubectl patch job first --patch '{"spec":{"suspend":false}}'` resumes it"#;
    assert_eq!(engine.reason(&round).unwrap(), text);
}

#[test]
fn arrays_that_are_refused_are_halved() {
    let fake = Fake::new("slurm");
    fake.fault("small", "3");
    let mut engine = fake.engine(LIMIT);
    assert!(engine.submit(&fake.round("first")).is_err());
    assert_eq!(engine.capacity(), 2);
}

#[test]
fn scripts_with_line_breaks_of_dos_are_never_taken() {
    let fake = Fake::new("slurm");
    let breaks = "Batch script contains DOS line breaks (\\r\\n)";
    fake.fault("refuse", breaks);
    let round = fake.round("first");
    let error = fake.engine(LIMIT).submit(&round).unwrap_err();
    assert_eq!(error.retry(), Retry::Never);
    let text = "a path has a line break of DOS, which sbatch rejects: choose another --dir";
    assert_eq!(error.to_string(), text);
}

#[test]
fn rounds_of_another_cluster_are_found_and_cancelled() {
    let fake = Fake::new("slurm");
    fake.fault("cluster", "b");
    fake.tell("hold", "");
    let commands = fake.commands(LIMIT);
    let mut engine = Slurm::of_cluster(&fake.launch, Some("b".to_owned()), commands).unwrap();
    let round = fake.round("first");
    engine.submit(&round).unwrap();
    eventually("the start", || fake.lines("ran").len() == 4);
    assert_eq!(engine.alive(&[&round]).unwrap(), [alive(&round, 4, 0)]);
    engine.cancel(&round).unwrap();
    assert!(!lives(&mut engine, &round));
}

#[test]
fn slurm_is_asked_about_any_number_of_rounds() {
    let fake = Fake::new("slurm");
    fake.tell("hold", "");
    let (mut engine, first) = fake.start("");
    let other = fake.round(&"x".repeat(40));
    // More than one argument may have.
    let mut rounds = vec![&other; 4000];
    rounds.push(&first);
    assert_eq!(engine.alive(&rounds).unwrap().len(), 1);
    fake.release();
}
