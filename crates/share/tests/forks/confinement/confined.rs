//! Programs whose threads the tests confine, and records of that.

use crate::support::{Home, sys};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tidegate_share::CpuMask;
use tidegate_share::confinement::{Record, ThreadId, VARIABLE};
use tidegate_sync::thread::{CpuSet, Tid};
use tidegate_testkit::this;

/// Marks a process of this test program that must be a program of [`Program::start`].
const ROLE: &str = "TIDEGATE_TEST_PROGRAM";

/// A process with several threads, which does nothing until it is dropped.
pub struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a program with three idle threads beside its first one. Its environment names
    /// `record`.
    pub fn start(record: &str) -> Self {
        let (_, module) = module_path!().split_once("::").expect("a module");
        let mut child = this()
            .args([&format!("{module}::program"), "--exact"])
            .args(["--nocapture", "--test-threads=1"])
            .env(ROLE, "yes")
            .env(VARIABLE, record)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program runs");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut program = Self {
            child,
            input,
            output,
        };
        (0..3).for_each(|_| program.start_thread());
        program
    }

    /// Starts one more thread. It inherits the mask of the thread that runs the test.
    pub fn start_thread(&mut self) {
        self.order("thread");
    }

    /// Starts a process that ends with the program, and returns its number. It inherits the mask of
    /// the thread that runs the test, and the environment.
    pub fn start_process(&mut self) -> u32 {
        self.order("process")
    }

    /// Like [`start_process`](Self::start_process), but with an empty environment.
    pub fn start_bare_process(&mut self) -> u32 {
        self.order("bare process")
    }

    fn order(&mut self, what: &str) -> u32 {
        writeln!(self.input, "{what}").expect("it lives");
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.output.read_line(&mut line).expect("it writes text");
            assert!(read > 0, "the program has ended");
            if let Some((_, number)) = line.split_once("started ") {
                return number.trim().parse().expect("a number");
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns all threads, the first one first.
    pub fn threads(&self) -> Vec<ThreadId> {
        let tasks = format!("/proc/{}/task", self.pid());
        let entries = fs::read_dir(tasks).expect("it lives").flatten();
        let names = entries.map(|entry| entry.file_name().into_string().expect("a number"));
        let mut threads: Vec<_> = names
            .map(|name| thread(self.pid(), name.parse().expect("a number")))
            .collect();
        threads.sort_unstable();
        threads
    }

    /// Restricts all threads to `set`.
    pub fn confine(&self, set: &CpuMask) {
        for thread in self.threads() {
            bind(thread.tid, set);
        }
    }

    /// Returns the masks of all threads.
    pub fn masks(&self) -> Vec<CpuMask> {
        let threads = self.threads().into_iter();
        threads.map(|thread| mask(thread.tid)).collect()
    }

    #[track_caller]
    pub fn all_have(&self, set: &CpuMask) {
        let masks = self.masks();
        assert!(
            masks.len() >= 5 && masks.iter().all(|mask| mask == set),
            "{masks:?}"
        );
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Not a test of its own: the program of [`Program::start`], if this process is one.
#[test]
fn program() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let mut processes = Vec::new();
    for line in std::io::stdin().lines().map_while(Result::ok) {
        if line == "thread" {
            std::thread::spawn(|| {
                println!("started 0");
                loop {
                    std::thread::park();
                }
            });
            continue;
        }
        let mut process = Command::new("/bin/cat");
        if line.starts_with("bare") {
            process.env_clear();
        }
        let process = process.stdin(Stdio::piped()).spawn().expect("cat runs");
        println!("started {}", process.id());
        processes.push(process);
    }
}

fn thread(pid: u32, tid: u32) -> ThreadId {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).expect("it lives");
    let (_, rest) = stat.rsplit_once(')').expect("a name in parentheses");
    let started = rest.split_ascii_whitespace().nth(19);
    ThreadId {
        pid,
        tid,
        started: started
            .and_then(|field| field.parse().ok())
            .expect("a number"),
    }
}

pub fn mask(tid: u32) -> CpuMask {
    let set = CpuSet::of(Tid::numbered(tid)).expect("it lives");
    CpuMask::from_cpus(set.cpus())
}

pub fn bind(tid: u32, set: &CpuMask) {
    let set: CpuSet = set.cpus().collect();
    assert!(set.bind(Tid::numbered(tid)), "thread {tid} is confined");
}

/// The processors of this process, and two different ones among them. `None` if it has only one.
pub fn processors() -> Option<(CpuMask, CpuMask, CpuMask)> {
    let all = CpuSet::of(Tid::this()).expect("Linux tells");
    let all = CpuMask::from_cpus(all.cpus());
    let mut cpus = all.cpus();
    let (one, two) = (cpus.next()?, cpus.next());
    let Some(two) = two else {
        println!("skipped: this process has only one processor");
        return None;
    };
    Some((all, CpuMask::from_cpus([one]), CpuMask::from_cpus([two])))
}

/// A record whose owner has died. The test writes its lines.
pub struct Abandoned {
    pub path: PathBuf,
    pub name: String,
}

impl Abandoned {
    pub fn new(home: &Home) -> Self {
        let mut owner = sys::fork(|| i32::from(Record::create(&home.location()).is_err()));
        let pid = owner.pid();
        assert_eq!(owner.end(), sys::WELL);
        let entries = fs::read_dir(home.folder.path())
            .expect("a folder")
            .flatten();
        let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let begin = format!("exec-{pid}-");
        let name = names
            .find(|name| name.starts_with(&begin))
            .expect("a record");
        let path = home.folder.path().join(&name);
        Self { path, name }
    }

    pub fn write(&self, text: &str) {
        let file = File::options().append(true).open(&self.path);
        let mut file = file.expect("the record is there");
        file.write_all(text.as_bytes()).expect("room for a line");
    }

    pub fn chosen(&self, set: &CpuMask) {
        self.write(&format!("chosen {}\n", list(set)));
    }

    pub fn thread(&self, thread: ThreadId, original: &CpuMask) {
        let ThreadId { pid, tid, started } = thread;
        self.write(&format!(
            "thread {pid} {tid} {started} {}\n",
            list(original)
        ));
    }
}

fn list(set: &CpuMask) -> String {
    let cpus: Vec<String> = set.cpus().map(|cpu| cpu.to_string()).collect();
    cpus.join(",")
}
