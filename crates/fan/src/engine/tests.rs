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
use super::{Ended, Engine, Fault, Job, Launch, Queue, Submission};
use crate::name::Name;
use crate::{Error, Retry};

const FAKES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake");
/// Long enough for a busy machine. Only what hangs takes so long.
const LIMIT: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(700);

impl Fault {
    fn error(self) -> Error {
        match self {
            Self::Silent(error) | Self::Refused(error) => error,
        }
    }
}

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

    fn engine(&self, limit: Duration) -> Box<dyn Engine> {
        let commands = Commands {
            folder: self.folder.path().to_owned(),
            limit,
            advice: "",
        };
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

    fn submission(&self, name: &str) -> Submission {
        let names = ["0", "1", "2.0", "2.7"];
        let entries = names.map(|name| format!(r#"{{"plan":"abc","item":"{name}"}}"#));
        let list = self.launch.out.join(format!("{name}.json"));
        fs::write(&list, format!("[\n{}\n]\n", entries.join(",\n"))).unwrap();
        Submission {
            name: name.to_owned(),
            list,
            items: names.map(|name| name.parse().unwrap()).into(),
        }
    }

    fn job(&self, id: &str, submission: Submission) -> Job {
        Job {
            id: id.to_owned(),
            submission,
        }
    }

    /// Submits four pieces with a fault.
    fn start(&self, fault: &str) -> (Box<dyn Engine>, Job) {
        if !fault.is_empty() {
            self.fault(fault, "");
        }
        let mut engine = self.engine(LIMIT);
        let submission = self.submission("first");
        let id = engine.submit(&submission).unwrap();
        (engine, self.job(&id, submission))
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
fn all_ended(engine: &mut dyn Engine, job: &Job) -> Vec<Ended> {
    let mut ended = Vec::new();
    eventually("the end of all pieces", || {
        ended = engine.ended(job).unwrap();
        ended.len() == job.submission.items.len()
    });
    let items: Vec<Name> = ended.iter().map(|ended| ended.item.clone()).collect();
    assert_eq!(items, job.submission.items);
    ended
}

fn codes(ended: &[Ended]) -> Vec<Option<i32>> {
    ended.iter().map(|ended| ended.code).collect()
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
    a_failure_is_told,
    running_pieces_have_not_ended,
    a_hanging_submit_is_killed_and_its_job_found,
    pieces_run_twice,
    a_lost_worker,
    an_engine_that_lies,
    killed_pieces_have_failed,
    a_forgotten_job_has_ended,
    an_engine_that_does_not_answer,
    waiting_pieces_have_a_reason,
    cancel_ends_the_pieces,
);

fn pieces_run_and_end(fake: &Fake) {
    let (mut engine, job) = fake.start("");
    let ended = all_ended(&mut *engine, &job);
    assert_eq!(codes(&ended), [Some(0); 4]);
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
    assert_eq!(engine.find("first").unwrap(), None);
}

fn a_failure_is_told(fake: &Fake) {
    let bad = fake.called()[3];
    fake.tell(&format!("code.{bad}"), "2");
    let (mut engine, job) = fake.start("");
    let ended = all_ended(&mut *engine, &job);
    let code = (fake.kind == "slurm").then_some(2);
    assert_eq!(codes(&ended), [Some(0), Some(0), Some(0), code]);
    let text = match fake.kind {
        "hq" => r#"Error: no luck with "2.7""#,
        "slurm" => "Slurm says FAILED with code 2 (NonZeroExitCode); the piece has left no message",
        _ => {
            "Kubernetes says that the index has failed; the piece has left no message, so it may have been killed"
        }
    };
    assert_eq!(ended[3].text, text);
}

fn running_pieces_have_not_ended(fake: &Fake) {
    fake.tell("hold", "");
    let (mut engine, job) = fake.start("");
    eventually("the start", || fake.lines("ran").len() == 4);
    assert!(engine.ended(&job).unwrap().is_empty());
    assert_eq!(engine.find("first").unwrap().as_ref(), Some(&job.id));
    assert_eq!(engine.queue(&job).unwrap().running, 4);
    assert_eq!(engine.find("second").unwrap(), None);
    fake.release();
    all_ended(&mut *engine, &job);
}

fn a_hanging_submit_is_killed_and_its_job_found(fake: &Fake) {
    fake.fault("hang", "");
    fake.tell("hold", "");
    let mut engine = fake.engine(SHORT);
    let submission = fake.submission("first");
    let error = engine.submit(&submission).unwrap_err().error().to_string();
    let command = match fake.kind {
        "hq" => "hq submit",
        "slurm" => "sbatch",
        _ => "kubectl apply",
    };
    assert_eq!(error, format!("{command} has not answered within 0.7 s"));
    let mut engine = fake.engine(LIMIT);
    let mut id = None;
    // A busy machine may have killed the command before it has started the job.
    if fake.folder.path().join("fault.hang").exists() {
        return;
    }
    eventually("the job", || {
        id = engine.find("first").unwrap();
        id.is_some()
    });
    fake.release();
    let job = fake.job(&id.unwrap(), submission);
    all_ended(&mut *engine, &job);
}

fn pieces_run_twice(fake: &Fake) {
    let (mut engine, job) = fake.start("twice");
    assert_eq!(codes(&all_ended(&mut *engine, &job)), [Some(0); 4]);
    eventually("the other attempts", || fake.lines("done").len() == 8);
}

fn a_lost_worker(fake: &Fake) {
    let (mut engine, job) = fake.start("lost");
    assert_eq!(codes(&all_ended(&mut *engine, &job)), [Some(0); 4]);
    eventually("the orphans and the retries", || {
        fake.lines("done").len() >= 8
    });
}

fn an_engine_that_lies(fake: &Fake) {
    fake.tell("hold", "");
    let (mut engine, job) = fake.start("lie");
    assert_eq!(codes(&all_ended(&mut *engine, &job)), [Some(0); 4]);
    assert!(fake.lines("done").is_empty());
    engine.cancel(&job).unwrap();
}

fn killed_pieces_have_failed(fake: &Fake) {
    // Only its death can end a piece that is held.
    fake.tell("hold", "");
    let (mut engine, job) = fake.start("kill");
    let ended = all_ended(&mut *engine, &job);
    assert!(ended.iter().all(|ended| ended.code != Some(0)));
    assert!(ended.iter().all(|ended| !ended.text.is_empty()));
}

fn a_forgotten_job_has_ended(fake: &Fake) {
    fake.tell("hold", "");
    let (mut engine, job) = fake.start("");
    fake.fault("forget", "");
    let ended = all_ended(&mut *engine, &job);
    assert_eq!(codes(&ended), [None; 4]);
    fake.release();
}

fn an_engine_that_does_not_answer(fake: &Fake) {
    let (mut engine, job) = fake.start("");
    fake.fault("silent", "1");
    let mut hasty = fake.engine(SHORT);
    let error = hasty.ended(&job).unwrap_err().error();
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
    all_ended(&mut *engine, &job);
}

fn waiting_pieces_have_a_reason(fake: &Fake) {
    fake.fault("wait", "no node is idle");
    let (mut engine, job) = fake.start("");
    let id = &job.id;
    let reason = match fake.kind {
        "hq" => {
            "no worker has 1 free processor: start one that has, or use fewer --cpus".to_owned()
        }
        "slurm" => format!("no node is idle (to see more: scontrol show job {id})"),
        _ => format!("no node is idle (to see more: kubectl describe job {id})"),
    };
    let (running, waiting) = (0, 4);
    let queue = Queue {
        running,
        waiting,
        reason,
    };
    assert_eq!(engine.queue(&job).unwrap(), queue);
    assert!(engine.ended(&job).unwrap().is_empty());
    engine.cancel(&job).unwrap();
    assert_eq!(engine.queue(&job).unwrap().waiting, 0);
}

fn cancel_ends_the_pieces(fake: &Fake) {
    fake.tell("hold", "");
    let (mut engine, job) = fake.start("");
    eventually("the start", || fake.lines("ran").len() == 4);
    engine.cancel(&job).unwrap();
    let ended = all_ended(&mut *engine, &job);
    assert_eq!(codes(&ended), [None; 4]);
    fake.release();
    assert!(fake.lines("done").is_empty());
    engine.cancel(&job).unwrap();
}

#[test]
fn another_job_of_the_same_number_is_left_alone() {
    another_job_is_left_alone(&Fake::new("hq"));
    another_job_is_left_alone(&Fake::new("slurm"));
}

fn another_job_is_left_alone(fake: &Fake) {
    let (_, lost) = fake.start("");
    fake.fault("forget", "");
    fake.tell("hold", "");
    let mut engine = fake.engine(LIMIT);
    let submission = fake.submission("second");
    let id = engine.submit(&submission).unwrap();
    assert_eq!(id, lost.id);
    assert_eq!(codes(&engine.ended(&lost).unwrap()), [None; 4]);
    engine.cancel(&lost).unwrap();
    fake.release();
    let job = fake.job(&id, submission);
    assert_eq!(codes(&all_ended(&mut *engine, &job)), [Some(0); 4]);
}

#[test]
fn hyperqueue_tells_that_it_has_no_worker() {
    let fake = Fake::new("hq");
    fake.fault("wait", "");
    let (mut engine, job) = fake.start("");
    let reason = engine.queue(&job).unwrap().reason;
    assert_eq!(reason, "no worker is connected: run `hq worker start`");
}

#[test]
fn hyperqueue_tells_the_code_of_a_piece_without_a_message() {
    let fake = Fake::new("hq");
    fake.tell("hold", "");
    let (mut engine, job) = fake.start("kill");
    assert_eq!(codes(&all_ended(&mut *engine, &job)), [Some(137); 4]);
}

#[test]
fn slurm_tells_why_an_element_has_ended() {
    let fake = Fake::new("slurm");
    fake.tell("hold", "");
    let (mut engine, job) = fake.start("kill");
    let ended = all_ended(&mut *engine, &job);
    assert_eq!(codes(&ended), [None; 4]);
    let text = "Slurm says FAILED (JobLaunchFailure); the piece has left no message, so it may have been killed";
    assert_eq!(ended[0].text, text);
    engine.cancel(&job).unwrap();
    let cancelled = &all_ended(&mut *engine, &job)[0].text;
    assert!(
        cancelled.starts_with("Slurm says CANCELLED; "),
        "{cancelled}"
    );
}

#[test]
fn the_error_of_hyperqueue_is_one_line() {
    let fake = Fake::new("hq");
    let mut submission = fake.submission("first");
    submission.list = fake.launch.out.join("missing");
    let error = fake.engine(LIMIT).submit(&submission).unwrap_err().error();
    let text = "hq submit: No such file or directory (os error 2)";
    assert_eq!(error.to_string(), text);
}

#[test]
fn slurm_tells_codes_as_before_23_02() {
    let fake = Fake::new("slurm");
    fake.fault("old", "");
    fake.tell("code.1", "2");
    let (mut engine, job) = fake.start("");
    let ended = all_ended(&mut *engine, &job);
    assert_eq!(codes(&ended), [Some(0), Some(2), Some(0), Some(0)]);
}

#[test]
fn jobs_of_slurm_are_found_in_any_state() {
    let fake = Fake::new("slurm");
    fake.fault("wait", "None");
    let (mut engine, job) = fake.start("");
    for state in ["CONFIGURING", "REQUEUE_HOLD", "SUSPENDED"] {
        fake.fault("state", state);
        let found = engine.find("first").unwrap();
        assert_eq!(found.as_ref(), Some(&job.id), "{state}");
        let reason = engine.queue(&job).unwrap().reason;
        assert!(reason.starts_with(&format!("{state} (")), "{reason}");
    }
    for state in ["COMPLETED", "LAUNCH_FAILED"] {
        fake.fault("state", state);
        assert_eq!(engine.find("first").unwrap(), None, "{state}");
    }
}

#[test]
fn elements_that_squeue_does_not_list_have_ended() {
    let fake = Fake::new("slurm");
    fake.fault("short", "");
    let (mut engine, job) = fake.start("");
    assert_eq!(codes(&all_ended(&mut *engine, &job)), [None; 4]);
}

#[test]
fn arrays_that_are_refused_are_halved() {
    let fake = Fake::new("slurm");
    fake.fault("small", "3");
    let mut engine = fake.engine(LIMIT);
    let submission = fake.submission("first");
    assert!(engine.submit(&submission).is_err());
    assert_eq!(engine.capacity(), 2);
}

#[test]
fn scripts_with_line_breaks_of_dos_are_never_taken() {
    let fake = Fake::new("slurm");
    let breaks = "Batch script contains DOS line breaks (\\r\\n)";
    fake.fault("refuse", breaks);
    let submission = fake.submission("first");
    let error = fake.engine(LIMIT).submit(&submission).unwrap_err().error();
    assert_eq!(error.retry(), Retry::Never);
    let text = "a path has a line break of DOS, which sbatch rejects: choose another --dir";
    assert_eq!(error.to_string(), text);
}

#[test]
fn jobs_of_another_cluster_are_found_and_cancelled() {
    let fake = Fake::new("slurm");
    fake.fault("cluster", "b");
    fake.tell("hold", "");
    let (mut engine, job) = fake.start("");
    assert!(job.id.ends_with(";b"), "{}", job.id);
    assert_eq!(engine.find("first").unwrap(), Some(job.id.clone()));
    assert!(engine.ended(&job).unwrap().is_empty());
    engine.cancel(&job).unwrap();
    assert_eq!(codes(&all_ended(&mut *engine, &job)), [None; 4]);
}
