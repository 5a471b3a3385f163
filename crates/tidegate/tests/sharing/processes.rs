//! Pools in one or several processes that share a table. If one process is killed, stopped or
//! forked, or gets fewer processors, the pools in other processes must adapt.

use crate::share::Home;
use crate::share::sys::{self, WELL};
use crate::support::jobs::{Job, job, jobs, plays, until_told};
use crate::support::{Gate, fib, pool, soak, watched};
use std::path::Path;
use std::time::Duration;
use tidegate_share::confinement::Record;
use tidegate_share::{Location, Observer};
use tidegate_testkit::{Cgroup, eventually};

const WORKS: &str = "processes::job_that_works";
/// Returns the number of workers in each pool of these tests: one for each processor, so that two
/// pools must divide the processors.
fn processors() -> usize {
    tidegate::machine::Machine::read().usable().len()
}

/// Returns the maximum number of processors that each of two jobs gets.
fn half() -> usize {
    processors().div_ceil(2)
}

#[test]
fn job_that_works() {
    if plays(WORKS) {
        let pool = pool(processors());
        until_told(|| assert_eq!(pool.install(|| fib(18)), 2584));
    }
}

/// Whether the job in process `pid` has a number of processors in the range `processors`.
fn has(path: &Path, pid: u32, processors: std::ops::RangeInclusive<usize>) -> bool {
    job(path, pid).is_some_and(|job| job.desire > 0 && processors.contains(&job.allotment))
}

/// Returns how many rows any process has marked as in use. An observer cannot count them, because
/// its check frees the rows of dead processes.
fn claims_in_use(path: &Path) -> usize {
    let table = std::fs::read(path).unwrap();
    let claims = table
        [crate::share::assault::CLAIMS as usize..crate::share::assault::FIRST_ROW as usize]
        .chunks(8);
    claims
        .filter(|claim| u64::from_ne_bytes((*claim).try_into().unwrap()) & 1 != 0)
        .count()
}

/// Checks that all rows in the table belong to live jobs.
fn is_sound(path: &Path, alive: usize) {
    let checked = Observer::check(&Location::at(path)).unwrap().unwrap();
    let found = (
        checked.alive.len(),
        checked.dead.len(),
        checked.orphaned.len(),
    );
    assert_eq!(found, (alive, 0, 0), "{checked:?}");
}

/// A killed job's row becomes free no matter when the job is killed.
#[test]
fn survivor_inherits_killed_job_processors() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let kills = soak(10, "kills");
    watched(move || {
        let mut random = fastrand::Rng::with_seed(seed);
        let home = Home::new();
        let survivor = Job::start(WORKS, &home.path(), &[]);
        let all = processors()..=processors();
        let alone =
            || has(&home.path(), survivor.pid(), all.clone()) && jobs(&home.path()).len() == 1;
        eventually("the survivor has everything", alone);
        let mut slowest = Duration::ZERO;
        for kill in 0..kills {
            let mut victim = Job::start(WORKS, &home.path(), &[]);
            // Every second victim may die before it appears in the table.
            if kill % 2 == 0 {
                eventually("the victim is there", || {
                    has(&home.path(), victim.pid(), 1..=half())
                });
                let other = || has(&home.path(), survivor.pid(), 1..=half());
                eventually("the survivor has made room", other);
            }
            std::thread::sleep(Duration::from_micros(random.u64(..30_000)));
            victim.kill();
            slowest = slowest.max(eventually("all is the survivor's again", alone));
            let swept = || claims_in_use(&home.path()) == 1;
            eventually("the survivor has freed the row", swept);
            is_sound(&home.path(), 1);
        }
        println!(
            "all processors were back after {} ms at most",
            slowest.as_millis()
        );
        survivor.end();
    });
}

/// Stops a job while it desires processors. A job without desires never counts as stalled. Between
/// two pieces of work, a job may be off the CPU for so long that its desire is withdrawn.
fn stop_while_it_desires(path: &Path, pid: u32) {
    eventually("it is stopped at work", || {
        sys::signal(pid, libc::SIGSTOP);
        eventually("it has stopped", || sys::has_stopped(pid));
        let desires = job(path, pid).is_some_and(|job| job.desire > 0);
        if !desires {
            sys::signal(pid, libc::SIGCONT);
        }
        desires
    });
}

#[test]
fn stopped_job_loses_share_until_resumed() {
    watched(|| {
        let home = Home::new();
        let path = home.path();
        let (works, stops) = (Job::start(WORKS, &path, &[]), Job::start(WORKS, &path, &[]));
        let both_share = || {
            [&works, &stops]
                .iter()
                .all(|job| has(&path, job.pid(), 1..=half()))
        };
        eventually("both share", both_share);
        let before = job(&path, stops.pid()).unwrap().since;
        stop_while_it_desires(&path, stops.pid());
        let mut observer = Observer::open(&Location::at(&path)).unwrap().unwrap();
        let stalled = || {
            let jobs = observer.jobs().unwrap();
            jobs.iter().any(|job| job.pid == stops.pid() && job.stalled)
        };
        let all = processors()..=processors();
        let took = eventually("the other one has all", || {
            has(&path, works.pid(), all.clone())
        });
        println!("a stopped job counted for {} ms", took.as_millis());
        eventually("it is seen to stand still", stalled);
        is_sound(&path, 2);
        sys::signal(stops.pid(), libc::SIGCONT);
        eventually("both share again", both_share);
        assert_eq!(
            job(&path, stops.pid()).unwrap().since,
            before,
            "it is the same row"
        );
        let calm = || observer.jobs().unwrap().iter().all(|job| !job.stalled);
        eventually("it is seen to move", calm);
        works.end();
        stops.end();
    });
}

#[test]
fn unnamed_pool_uses_program_name() {
    watched(|| {
        let home = Home::new();
        let works = Job::start(WORKS, &home.path(), &[]);
        eventually("it has come", || job(&home.path(), works.pid()).is_some());
        let program = std::env::current_exe().unwrap();
        let program = program.file_name().unwrap().to_str().unwrap();
        let named = job(&home.path(), works.pid()).unwrap().name;
        assert_eq!(named.to_string(), program);
        works.end();
    });
}

/// A job restores what a killed command has left behind, but not the record of one that lives.
#[test]
fn job_restores_abandoned_records() {
    watched(|| {
        let home = Home::new();
        let record = Record::create(&home.location()).unwrap();
        let abandoned = home.folder.path().join("exec-1-1.masks");
        std::fs::copy(record.path(), &abandoned).unwrap();
        let works = Job::start(WORKS, &home.path(), &[]);
        eventually("it is restored", || !abandoned.exists());
        works.end();
        assert!(record.path().exists());
    });
}

const BROADCASTS: &str = "processes::job_that_broadcasts";

#[test]
fn job_that_broadcasts() {
    if plays(BROADCASTS) {
        let pool = pool(processors());
        let seen = std::path::PathBuf::from(std::env::var_os("TIDEGATE_TABLE").unwrap());
        let (table, seen) = (seen.clone(), seen.with_extension("seen"));
        let mine = || job(&table, std::process::id());
        // Works until the job has a row: a job that works for only a few milliseconds at a time
        // does not look for other jobs.
        while mine().is_none() {
            assert_eq!(pool.install(|| fib(18)), 2584);
        }
        until_told(|| {
            assert_eq!(pool.install(|| fib(18)), 2584);
            // The job withdraws its desire during this sleep.
            std::thread::sleep(Duration::from_millis(50));
            let idle = mine().is_some_and(|job| job.desire == 0);
            if idle && !seen.exists() {
                // The broadcast lasts until the test has seen the job's desire.
                pool.broadcast(|_| crate::support::until(|| seen.exists()));
            }
        });
    }
}

#[test]
fn job_desires_processors_during_broadcast() {
    watched(|| {
        let home = Home::new();
        let works = Job::start(BROADCASTS, &home.path(), &[]);
        // After the job's last fork, only the broadcast keeps its desire above 0.
        let mut seen = 0;
        eventually("it desires some again and again", || {
            let desires = job(&home.path(), works.pid()).is_some_and(|job| job.desire > 0);
            seen = if desires { seen + 1 } else { 0 };
            seen > 50
        });
        std::fs::write(home.path().with_extension("seen"), "").unwrap();
        works.end();
    });
}

const TWO_POOLS: &str = "processes::job_with_two_pools";

#[test]
fn job_with_two_pools() {
    if plays(TWO_POOLS) {
        let named = |name| {
            let builder = tidegate::Pool::builder().workers(processors());
            builder.name(name).build().unwrap()
        };
        let (one, two, stop) = (named("one"), named("two"), Gate::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.is_open() {
                    assert_eq!(two.install(|| fib(18)), 2584);
                }
            });
            until_told(|| assert_eq!(one.install(|| fib(18)), 2584));
            stop.open();
        });
    }
}

#[test]
fn pools_in_process_are_separate_jobs() {
    watched(|| {
        let home = Home::new();
        let both = Job::start(TWO_POOLS, &home.path(), &[]);
        eventually("both pools share", || {
            let jobs = jobs(&home.path());
            let mut names: Vec<String> = jobs.iter().map(|job| job.name.to_string()).collect();
            names.sort();
            names == ["one", "two"]
                && jobs
                    .iter()
                    .all(|job| job.pid == both.pid() && job.desire > 0)
                && jobs.iter().all(|job| (1..=half()).contains(&job.allotment))
        });
        both.end();
        is_sound(&home.path(), 0);
    });
}

const FORKS: &str = "processes::job_that_forks";

#[test]
fn job_that_forks() {
    if plays(FORKS) {
        let pool = pool(processors());
        let path = std::env::var_os("TIDEGATE_TABLE").unwrap();
        let mut child = None;
        until_told(|| {
            assert_eq!(pool.install(|| fib(18)), 2584);
            let seated = job(path.as_ref(), std::process::id()).is_some();
            if seated && child.is_none() {
                child = Some(sys::fork(|| {
                    let own = || job(path.as_ref(), std::process::id());
                    while own().is_none_or(|own| own.desire == 0) {
                        assert_eq!(pool.install(|| fib(18)), 2584);
                    }
                    // Works until the parent's test has seen the child.
                    while !Path::new(&path).with_extension("seen").exists() {
                        assert_eq!(pool.install(|| fib(18)), 2584);
                    }
                    0
                }));
            }
        });
        assert_eq!(child.expect("the pool has taken a seat").end(), WELL);
    }
}

#[test]
fn forked_child_takes_its_own_row() {
    watched(|| {
        let home = Home::new();
        let parent = Job::start(FORKS, &home.path(), &[]);
        eventually("parent and child share", || {
            let jobs = jobs(&home.path());
            let others = jobs.iter().filter(|job| job.pid != parent.pid());
            jobs.len() == 2 && others.count() == 1 && jobs.iter().all(|job| job.desire > 0)
        });
        std::fs::write(home.path().with_extension("seen"), "").unwrap();
        parent.end();
    });
}

const SPEAKS: &str = "processes::job_that_forks_while_stderr_locked";

#[test]
fn job_that_forks_while_stderr_locked() {
    if plays(SPEAKS) {
        let pool = pool(2);
        let (has_lock, forked) = (Gate::new(), Gate::new());
        let end = std::thread::scope(|scope| {
            scope.spawn(|| {
                let _lock = std::io::stderr().lock();
                has_lock.open();
                forked.wait();
            });
            has_lock.wait();
            let mut child = sys::fork(|| i32::from(pool.install(|| fib(15)) != 610));
            forked.open();
            child.end()
        });
        assert_eq!(end, WELL);
    }
}

/// Another thread was writing to standard error during the fork.
#[test]
fn forked_child_still_explains_itself() {
    watched(|| {
        let home = Home::new();
        let lines = Job::start(SPEAKS, &home.path(), &[]).end();
        let told = lines
            .iter()
            .filter(|line| line.contains("tidegate: version"));
        assert_eq!(
            told.count(),
            1,
            "the parent has not used the pool: {lines:?}"
        );
    });
}

const GLOBAL: &str = "processes::job_in_the_global_pool";

#[test]
fn job_in_the_global_pool() {
    if plays(GLOBAL) {
        until_told(|| assert_eq!(fib(18), 2584));
    }
}

#[test]
fn running_job_follows_quota_changes() {
    watched(|| {
        let Some(group) = Cgroup::new("pool").filter(|_| processors() > 1) else {
            return;
        };
        let home = Home::new();
        let works = Job::start(GLOBAL, &home.path(), &[]);
        std::fs::write(group.folder().join("cgroup.procs"), works.pid().to_string())
            .expect("a process");
        let path = home.path();
        let has_limit = |limit: usize| {
            job(&path, works.pid()).is_some_and(|job| job.limit == limit && job.usage <= limit)
        };
        let follows = |limit| eventually("the limit is followed", || has_limit(limit));
        let all = processors();
        follows(all);
        group.allow(Some(1));
        let lowered = follows(1);
        group.allow(None);
        let raised = follows(all);
        let times = (lowered.as_millis(), raised.as_millis());
        println!("followed after {} and {} ms", times.0, times.1);
        works.end();
    });
}
