//! Pools whose process is a job of a jobserver. The tests are the jobserver: a fifo with tokens.

use crate::support::fib;
use crate::support::forks::{WELL, in_child};
use crate::support::jobs::{Job, plays, print_line, until_told};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;
use tidegate::Pool;
use tidegate_testkit::{PATIENCE, eventually, this};

const WORKERS: usize = 4;

/// The variable with the number of slots that a job waits for.
const SLOTS: &str = "TIDEGATE_TEST_SLOTS";

struct Server {
    folder: TempDir,
    fifo: File,
}

impl Server {
    fn start(tokens: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("coreutils").success());
        let mut fifo = open(&path);
        fifo.write_all(&vec![b'+'; tokens]).unwrap();
        Self { folder, fifo }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn free(&mut self) -> usize {
        free(&mut self.fifo)
    }

    /// Starts a job that works until it has `slots` slots.
    fn job(&self, role: &str, slots: usize, variables: &[(&str, &str)]) -> Job {
        let flags = format!("-j --jobserver-auth=fifo:{}", self.path("fifo").display());
        let slots = slots.to_string();
        let own = [
            ("CARGO_MAKEFLAGS", ""),
            ("MAKEFLAGS", &flags),
            (SLOTS, &slots),
        ];
        let all = [&own, variables].concat();
        Job::start(role, &self.path("table"), &all)
    }
}

fn open(fifo: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options.custom_flags(libc::O_NONBLOCK).open(fifo).unwrap()
}

/// Counts the free tokens.
fn free(fifo: &mut File) -> usize {
    let mut tokens = [0; 64];
    let count = fifo.read(&mut tokens).unwrap_or(0);
    fifo.write_all(&tokens[..count]).unwrap();
    count
}

fn pool() -> Pool {
    let pool = Pool::builder().workers(WORKERS).build().unwrap();
    print_line(format_args!("begins with {}", slots(&pool)));
    pool
}

fn slots(pool: &Pool) -> usize {
    pool.stats().allotment
}

fn expected() -> usize {
    std::env::var(SLOTS).unwrap().parse().unwrap()
}

/// Runs more tasks than the pool has workers, and looks at its slots in each of them. Returns
/// whether the pool had as many as the test said; it may have more while one is lent.
fn burst(pool: &Pool) -> bool {
    let (expected, seen) = (expected(), AtomicBool::new(false));
    tidegate::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|_| {
                if fib(10) == 55 && slots(pool) == expected {
                    seen.store(true, Ordering::Relaxed);
                }
            });
        }
    });
    seen.into_inner()
}

/// Works until the pool has as many slots as the test said.
fn work(pool: &Pool) {
    pool.install(|| while !burst(pool) {});
    print_line(format_args!("has {}", expected()));
}

fn wait_for_input() {
    let _ = std::io::stdin().read(&mut [0]);
}

const WORKS: &str = "jobserver::job_that_works";

#[test]
fn job_that_works() {
    if plays(WORKS) {
        let pool = pool();
        work(&pool);
        pool.install(|| until_told(|| _ = burst(&pool)));
    }
}

const IDLES: &str = "jobserver::job_that_idles";

#[test]
fn job_that_idles() {
    if plays(IDLES) {
        let pool = pool();
        work(&pool);
        wait_for_input();
    }
}

const DROPS: &str = "jobserver::job_that_drops_its_pool";

#[test]
fn job_that_drops_its_pool() {
    if plays(DROPS) {
        let pool = pool();
        work(&pool);
        drop(pool);
        eprintln!("dropped");
        wait_for_input();
    }
}

const EXITS: &str = "jobserver::job_that_exits";

#[test]
fn job_that_exits() {
    if plays(EXITS) {
        let pool = pool();
        pool.install(|| {
            work(&pool);
            std::process::exit(0);
        });
    }
}

const FORKS: &str = "jobserver::job_that_forks";

#[test]
fn job_that_forks() {
    if plays(FORKS) {
        let pool = pool();
        // A pool that lacks tokens desires one slot more than it has tokens for.
        let gets_no_token = || {
            let is_short = || {
                burst(&pool);
                pool.stats().desire <= Some(2)
            };
            pool.install(|| {
                while pool.stats().desire < Some(2) {
                    burst(&pool);
                }
                (0..20).all(|_| is_short())
            })
        };
        work(&pool);
        let flags = std::env::var("MAKEFLAGS").unwrap();
        let mut fifo = open(Path::new(flags.split_once("fifo:").unwrap().1));
        eventually("the tokens are back", || free(&mut fifo) == 2);
        assert_eq!(in_child(gets_no_token), WELL);
    }
}

#[cfg(feature = "testing")]
const SIMULATES: &str = "jobserver::job_that_simulates";

#[cfg(feature = "testing")]
#[test]
fn job_that_simulates() {
    if plays(SIMULATES) {
        let pool = Pool::builder().workers(WORKERS).simulated(1).build();
        let pool = pool.unwrap();
        assert_eq!(pool.install(|| fib(10)), 55);
        assert_eq!(slots(&pool), WORKERS);
    }
}

/// A job that has slots for all tokens, or for all of its workers.
#[track_caller]
fn takes(tokens: usize, slots: usize, variables: &[(&str, &str)]) {
    let mut server = Server::start(tokens);
    let mut job = server.job(WORKS, slots, variables);
    job.says("takes a token of the jobserver for each worker beyond the first");
    job.says("begins with 1");
    job.says(&format!("has {slots}"));
    let rest = tokens + 1 - slots;
    eventually("it has its tokens", || server.free() == rest);
    job.end();
    assert_eq!(server.free(), tokens);
}

mod slots {
    use super::*;

    #[test]
    fn are_one_more_than_tokens() {
        takes(2, 3, &[]);
    }

    #[test]
    fn take_no_more_tokens_than_needed() {
        takes(9, WORKERS, &[]);
    }

    #[test]
    fn need_tokens_even_without_sharing() {
        takes(2, 3, &[("TIDEGATE_SHARE", "off")]);
    }

    #[test]
    fn grow_when_tokens_arrive() {
        let mut server = Server::start(0);
        let mut job = server.job(WORKS, 2, &[]);
        server.fifo.write_all(b"+").unwrap();
        job.says("has 2");
        job.end();
        assert_eq!(server.free(), 1);
    }

    /// The job may only open the descriptors that it has inherited.
    #[test]
    fn need_tokens_of_an_inherited_pipe() {
        let mut server = Server::start(2);
        let script = "exec 7<>\"$0\" && exec \"$@\" jobserver::job_that_exits --exact --nocapture";
        let this = this();
        let job = Command::new("timeout")
            .args([&PATIENCE.as_secs().to_string(), "sh", "-c", script])
            .arg(server.path("fifo"))
            .arg(this.get_program())
            .args(this.get_args())
            .env("TIDEGATE_TEST_ROLE", EXITS)
            .env("TIDEGATE_TABLE", server.path("table"))
            .env("CARGO_MAKEFLAGS", "-j --jobserver-auth=7,7")
            .env(SLOTS, "3")
            .stdout(Stdio::null())
            .status();
        assert!(job.unwrap().success());
        assert_eq!(server.free(), 2);
    }
}

mod tokens {
    use super::*;

    #[test]
    fn return_when_the_pool_idles() {
        let mut server = Server::start(2);
        let mut job = server.job(IDLES, 3, &[]);
        job.says("has 3");
        eventually("the tokens are back", || server.free() == 2);
        job.end();
        assert_eq!(server.free(), 2);
    }

    #[test]
    fn return_when_the_pool_is_dropped() {
        let mut server = Server::start(2);
        let mut job = server.job(DROPS, 3, &[]);
        job.says("dropped");
        assert_eq!(server.free(), 2);
        job.end();
    }

    #[test]
    fn return_when_the_process_exits() {
        let mut server = Server::start(2);
        server.job(EXITS, 3, &[]).end();
        assert_eq!(server.free(), 2);
    }

    #[test]
    fn of_a_killed_job_are_lost() {
        let mut server = Server::start(2);
        let mut job = server.job(WORKS, 3, &[]);
        eventually("it has tokens", || server.free() < 2);
        job.kill();
        let free = server.free();
        server.job(EXITS, 1 + free, &[]).end();
        assert_eq!(server.free(), free);
    }

    #[cfg(feature = "testing")]
    #[test]
    fn are_not_taken_by_simulated_pools() {
        let mut server = Server::start(2);
        server.job(SIMULATES, 0, &[]).end();
        assert_eq!(server.free(), 2);
    }

    #[test]
    fn are_neither_taken_nor_returned_by_forks() {
        let mut server = Server::start(2);
        server.job(FORKS, 3, &[]).end();
        assert_eq!(server.free(), 2);
    }
}
