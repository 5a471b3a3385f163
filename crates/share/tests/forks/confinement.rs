//! Confined threads get back what they had, whatever dies, and no other thread is touched.

mod confined;
mod file;

use crate::support::sys::{self, KILLED, Traced, WELL};
use crate::support::{Home, at_every_call, to_stop};
use confined::{Abandoned, Program, bind, mask, processors};
use std::fs;
use std::sync::Barrier;
use tidegate_share::CpuMask;
use tidegate_share::confinement::{self, Record, ThreadId, own_name, restore_abandoned};
use tidegate_testkit::{PATIENCE, eventually};

/// Does what a command does: records the threads of `program`, then confines them to `chosen`.
fn confine(record: &mut Record, program: &Program, original: &CpuMask, chosen: &CpuMask) {
    record.chosen(chosen).unwrap();
    for thread in program.threads() {
        record.thread(thread, original).unwrap();
        bind(thread.tid, chosen);
    }
}

/// Traces a process that restores.
fn traced(home: &Home) -> Option<Traced> {
    let child = sys::trace(|| {
        restore_abandoned(&home.location());
        0
    });
    if child.is_none() {
        println!("skipped: tracing a child is not permitted here");
    }
    child
}

mod owner {
    use super::*;

    #[test]
    fn restores_threads_and_removes_record() {
        let Some((all, one, two)) = processors() else {
            return;
        };
        let home = Home::new();
        let mut record = Record::create(&home.location()).unwrap();
        let path = record.path().to_owned();
        assert_eq!(path, home.folder.path().join(own_name()));
        assert!(Record::create(&home.location()).is_err(), "one per process");
        assert!(record.is_there());
        let program = Program::start("none");
        confine(&mut record, &program, &all, &one);
        record.chosen(&two).unwrap();
        bind(program.pid(), &two);
        assert_eq!(record.restore().unwrap(), program.threads().len());
        program.all_have(&all);
        assert!(!path.exists());
        assert!(!confinement::restore(&path).unwrap(), "nothing is left");
    }

    #[test]
    fn keeps_its_record_while_it_lives() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let home = Home::new();
        let mut record = Record::create(&home.location()).unwrap();
        let program = Program::start(&own_name());
        confine(&mut record, &program, &all, &one);
        assert_eq!(restore_abandoned(&home.location()), 0);
        let found = confinement::check(&home.location()).unwrap();
        assert_eq!(found.owned, [own_name()]);
        assert!(found.restored.is_empty() && found.ignored.is_empty());
        program.all_have(&one);
    }

    /// A command that dies between any two system calls confines no thread for good.
    #[test]
    fn may_be_killed_at_any_moment() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let home = Home::new();
        let program = Program::start("none");
        let mut confined = 0;
        let stops = at_every_call(
            || {},
            || {
                let mut record = Record::create(&home.location()).unwrap();
                confine(&mut record, &program, &all, &one);
                0
            },
            |stop, owner| {
                assert_eq!(owner.kill(), KILLED);
                confined += program.masks().iter().filter(|set| **set == one).count();
                restore_abandoned(&home.location());
                program.all_have(&all);
                let left = fs::read_dir(home.folder.path()).unwrap().count();
                assert_eq!(left, 0, "stop {stop}");
            },
        );
        restore_abandoned(&home.location());
        program.all_have(&all);
        assert!(stops == usize::MAX || confined > program.threads().len());
    }

    /// The watcher waits for the lock, so it restores as soon as the owner is dead.
    #[test]
    fn is_succeeded_by_its_watcher() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let home = Home::new();
        let program = Program::start("none");
        let mut owner = sys::fork(|| {
            let mut record = Record::create(&home.location()).unwrap();
            confine(&mut record, &program, &all, &one);
            std::thread::sleep(PATIENCE);
            0
        });
        eventually("the program is confined", || {
            program.masks().iter().all(|set| *set == one)
        });
        let entry = fs::read_dir(home.folder.path()).unwrap().next().unwrap();
        let path = entry.unwrap().path();
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| confinement::restore(&path));
            assert_eq!(restore_abandoned(&home.location()), 0, "it lives");
            assert_eq!(owner.kill(), KILLED);
            // A process that comes now may be faster than the watcher.
            let ours = restore_abandoned(&home.location());
            assert_eq!(ours + usize::from(watcher.join().unwrap().unwrap()), 1);
        });
        program.all_have(&all);
        assert!(!path.exists());
    }
}

mod restorers {
    use super::*;

    fn abandoned(home: &Home, program: &Program, all: &CpuMask, one: &CpuMask) -> Abandoned {
        let record = Abandoned::new(home);
        record.chosen(one);
        for thread in program.threads() {
            record.thread(thread, all);
        }
        program.confine(one);
        record
    }

    #[test]
    fn only_one_of_many_restores() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let (home, program) = (Home::new(), Program::start("none"));
        for _ in 0..20 {
            let record = abandoned(&home, &program, &all, &one);
            let start = Barrier::new(4);
            let restored: usize = std::thread::scope(|scope| {
                let newcomer = || {
                    start.wait();
                    restore_abandoned(&home.location())
                };
                let watcher = || {
                    start.wait();
                    usize::from(confinement::restore(&record.path).unwrap())
                };
                let newcomers = [scope.spawn(newcomer), scope.spawn(newcomer)];
                let watchers = [scope.spawn(watcher), scope.spawn(watcher)];
                let all = newcomers.into_iter().chain(watchers);
                all.map(|one| one.join().unwrap()).sum()
            });
            assert_eq!(restored, 1);
            program.all_have(&all);
            assert!(!record.path.exists());
        }
    }

    /// Another process tries to restore whenever a restorer has stopped before or after a system
    /// call. It succeeds only until the restorer has the lock.
    #[test]
    fn may_meet_at_any_moment() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let (home, program) = (Home::new(), Program::start("none"));
        let mut stop = 0;
        let mut lost = false;
        while !lost {
            let record = abandoned(&home, &program, &all, &one);
            let Some(mut child) = traced(&home) else {
                return;
            };
            stop += 1;
            assert!(to_stop(&mut child, stop), "it never gets the lock");
            lost = restore_abandoned(&home.location()) == 0;
            while lost && child.step().is_none() {
                assert!(restore_abandoned(&home.location()) == 0, "both restore");
            }
            assert_eq!(child.finish(), WELL);
            program.all_have(&all);
            assert!(!record.path.exists(), "stop {stop}");
        }
        assert!(stop > 2, "the other one has never been first");
    }

    /// If a restorer is killed, the next one completes its work.
    #[test]
    fn may_be_killed() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let (home, program) = (Home::new(), Program::start("none"));
        // Most of the calls look at the processes of the machine, one after the other.
        for stop in (1..60).chain((60..).step_by(97)) {
            let record = abandoned(&home, &program, &all, &one);
            let Some(mut child) = traced(&home) else {
                return;
            };
            let ended = !to_stop(&mut child, stop);
            child.kill();
            restore_abandoned(&home.location());
            program.all_have(&all);
            assert!(!record.path.exists(), "stop {stop}");
            if ended {
                break;
            }
        }
    }
}

mod threads {
    use super::*;

    /// A thread that has started in a confined process or program is in no record, but has
    /// inherited the mask of its creator.
    #[test]
    fn missing_in_the_record_are_found() {
        let Some((all, one, two)) = processors() else {
            return;
        };
        let home = Home::new();
        let record = Abandoned::new(&home);
        let mut first = Program::start(&record.name);
        let other = Program::start(&record.name);
        // The environment of this one names no record, as that of a program that has changed it.
        let mut listed = Program::start("none");
        let foreign = Program::start("none");
        record.chosen(&two);
        record.chosen(&one);
        for program in [&first, &listed] {
            record.thread(program.threads()[0], &all);
        }
        for program in [&first, &other, &listed, &foreign] {
            program.confine(&one);
        }
        first.start_thread();
        listed.start_thread();
        bind(other.threads()[2].tid, &two);
        assert_eq!(restore_abandoned(&home.location()), 1);
        for program in [&first, &other, &listed] {
            program.all_have(&all);
        }
        foreign.all_have(&one);
    }

    #[test]
    fn with_their_own_masks_are_left_alone() {
        let Some((all, one, two)) = processors() else {
            return;
        };
        let home = Home::new();
        let record = Abandoned::new(&home);
        let program = Program::start(&record.name);
        let threads = program.threads();
        // The oldest set no longer counts.
        record.chosen(&two);
        record.chosen(&all);
        record.chosen(&one);
        record.thread(threads[0], &all);
        record.thread(threads[1], &all);
        program.confine(&one);
        for chose in [1, 3] {
            bind(threads[chose].tid, &two);
        }
        assert_eq!(restore_abandoned(&home.location()), 1);
        let masks = program.masks();
        let kept = [1, 3].map(|chose| masks[chose]);
        assert_eq!((masks[0], masks[2], kept), (all, all, [two, two]));
    }

    /// Two threads had different masks before they were confined to the same processor.
    #[test]
    fn get_back_their_own_original_masks() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let home = Home::new();
        let record = Abandoned::new(&home);
        let program = Program::start(&record.name);
        record.chosen(&one);
        for (thread, original) in program.threads().into_iter().zip([&all, &one, &all]) {
            record.thread(thread, original);
        }
        program.confine(&one);
        assert_eq!(restore_abandoned(&home.location()), 1);
        assert_eq!(program.masks()[..3], [all, one, all]);
    }

    /// The thread that has created a missing one may have had another original mask than the first
    /// thread of its process.
    #[test]
    fn missing_in_the_record_inherit_from_their_process() {
        let Some((all, one, two)) = processors() else {
            return;
        };
        let home = Home::new();
        let record = Abandoned::new(&home);
        let mut program = Program::start(&record.name);
        let threads = program.threads();
        record.chosen(&two);
        record.thread(threads[0], &one);
        for thread in &threads[1..] {
            record.thread(*thread, &all);
        }
        program.confine(&two);
        bind(threads[0].tid, &one);
        program.start_thread();
        assert_eq!(restore_abandoned(&home.location()), 1);
        let masks = program.masks();
        assert_eq!(masks[0], one);
        assert!(masks[1..].iter().all(|mask| *mask == all), "{masks:?}");
    }

    /// The first thread of the program had another mask than the parent of the process.
    #[test]
    fn missing_in_the_record_inherit_from_their_parent() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        for (first, own) in [(&one, &all), (&all, &one)] {
            let home = Home::new();
            let record = Abandoned::new(&home);
            let (shell, mut make) = (Program::start("none"), Program::start(&record.name));
            record.chosen(&one);
            record.thread(shell.threads()[0], first);
            for thread in make.threads() {
                record.thread(thread, own);
            }
            make.confine(&one);
            let process = make.start_process();
            assert_eq!(restore_abandoned(&home.location()), 1);
            assert_eq!(mask(process), *own);
            make.all_have(own);
        }
    }

    /// A descendant of the program is found even if its environment does not name the record.
    #[test]
    fn of_processes_without_environment_are_found() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let home = Home::new();
        let record = Abandoned::new(&home);
        let mut listed = Program::start("none");
        let mut named = Program::start(&record.name);
        let mut foreign = Program::start("none");
        record.chosen(&one);
        record.thread(listed.threads()[0], &all);
        let processes = [&mut listed, &mut named, &mut foreign].map(|program| {
            program.confine(&one);
            program.start_bare_process()
        });
        assert_eq!(restore_abandoned(&home.location()), 1);
        assert_eq!(processes.map(mask), [all, all, one]);
    }

    #[test]
    fn with_a_reused_number_are_left_alone() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let home = Home::new();
        let record = Abandoned::new(&home);
        let program = Program::start("none");
        record.chosen(&one);
        for thread in program.threads() {
            let started = thread.started - 1;
            record.thread(ThreadId { started, ..thread }, &all);
        }
        program.confine(&one);
        assert_eq!(restore_abandoned(&home.location()), 1);
        program.all_have(&one);
    }
}
