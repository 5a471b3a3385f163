//! Confined threads get back what they had, whatever dies, and no other thread is touched.
#![cfg(all(target_os = "linux", not(any(miri, tidegate_tsan))))]

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::sync::Barrier;
use support::confined::{self, Abandoned, Program, bind, processors};
use support::sys::{self, KILLED, Traced, WELL};
use support::{Home, at_every_call, to_stop, until};
use tidegate_share::confinement::{self, Record, ThreadId, restore_abandoned};
use tidegate_share::{CpuMask, Kind};

/// Not a test of its own: the programs of the other tests.
#[test]
fn program() {
    confined::run_program();
}

/// Does what a command does: records the threads of `program`, then confines them to `chosen`.
fn confine(record: &mut Record, program: &Program, original: &CpuMask, chosen: &CpuMask) {
    record.chosen(chosen).unwrap();
    for thread in program.threads() {
        record.thread(thread, original).unwrap();
        bind(thread.tid, chosen);
    }
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
        assert_eq!(path, home.folder.path().join(record.name()));
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
        let program = Program::start(record.name());
        confine(&mut record, &program, &all, &one);
        assert_eq!(restore_abandoned(&home.location()), 0);
        let found = confinement::check(&home.location()).unwrap();
        assert_eq!(found.owned, [record.name()]);
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
            std::thread::sleep(sys::PATIENCE);
            0
        });
        until("the program is confined", || {
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

mod file {
    use super::*;

    #[test]
    fn counts_without_its_torn_line() {
        let Some((all, one, two)) = processors() else {
            return;
        };
        let home = Home::new();
        let record = Abandoned::new(&home);
        let program = Program::start(&record.name);
        record.chosen(&one);
        record.thread(program.threads()[0], &all);
        record.write("chosen 9");
        program.confine(&one);
        bind(program.threads()[1].tid, &two);
        assert_eq!(restore_abandoned(&home.location()), 1);
        let masks = program.masks();
        assert_eq!((masks[0], masks[1], masks[2]), (all, two, all));
    }

    /// Each of these files is reported and keeps its content, and a good record beside it counts.
    #[test]
    fn that_is_no_record_is_left_alone() {
        let home = Home::new();
        let good = Abandoned::new(&home);
        let head = fs::read_to_string(&good.path).unwrap();
        let (_, namespace) = head.trim().rsplit_once(' ').unwrap();
        let elsewhere = head.replace(namespace, "1");
        let is = |name: &str| home.folder.path().join(name);
        for (name, text) in [
            ("exec-1-2.masks", ""),
            ("exec-1-3.masks", "masks 2 0 0\n"),
            (
                "exec-1-4.masks",
                &format!("{head}chosen 0\nsomething else\n"),
            ),
            ("exec-1-5.masks", &elsewhere),
            ("exec-1-6.masks", &head),
            ("exec-x-7.masks", &head),
            ("exec-mine.masks", "mine"),
            ("exec-1-2", "not even named like a record"),
            ("exec-1-2.masks.bak", "nor this"),
        ] {
            fs::write(is(name), text).unwrap();
            fs::set_permissions(is(name), Permissions::from_mode(0o600)).unwrap();
        }
        fs::set_permissions(is("exec-1-6.masks"), Permissions::from_mode(0o644)).unwrap();
        symlink("exec-1-2", is("exec-1-8.masks")).unwrap();
        sys::make_node(&is("exec-1-9.masks"), libc::S_IFIFO, (0, 0)).unwrap();
        let files = || {
            let mut lines = support::damage::state(home.folder.path());
            lines.retain(|line| line.contains("/exec-") && !line.contains(&good.name));
            lines
        };
        let before = files();
        let found = confinement::check(&home.location()).unwrap();
        assert_eq!(found.restored, [good.name.as_str()]);
        assert!(found.owned.is_empty());
        let ignored: Vec<String> = found.ignored.iter().map(ToString::to_string).collect();
        let reasons = [
            ("exec-1-2.masks", "line 1 has no meaning"),
            ("exec-1-3.masks", "line 1 has no meaning"),
            ("exec-1-4.masks", "line 3 has no meaning"),
            ("exec-1-5.masks", "another pid namespace"),
            ("exec-1-6.masks", "is open to others"),
            ("exec-1-8.masks", "is a symbolic link"),
            ("exec-1-9.masks", "is a pipe"),
            ("exec-mine.masks", "is named exec-PID-STARTTIME.masks"),
            ("exec-x-7.masks", "is named exec-PID-STARTTIME.masks"),
        ];
        assert_eq!(ignored.len(), reasons.len(), "{ignored:?}");
        for (text, (name, reason)) in ignored.iter().zip(reasons) {
            assert!(text.contains(name) && text.contains(reason), "{text}");
        }
        assert_eq!(files(), before);
    }

    /// The threads in it ended with the machine, so it is only removed.
    #[test]
    fn of_an_earlier_boot_is_removed() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        let home = Home::new();
        let record = Abandoned::new(&home);
        let text = fs::read_to_string(&record.path).unwrap();
        let mut words: Vec<&str> = text.split(' ').collect();
        words[2] = "1";
        fs::write(&record.path, words.join(" ")).unwrap();
        let program = Program::start(&record.name);
        record.chosen(&one);
        record.thread(program.threads()[0], &all);
        program.confine(&one);
        assert_eq!(restore_abandoned(&home.location()), 1);
        program.all_have(&one);
        assert!(!record.path.exists());
    }

    /// Only then can a later process restore the thread.
    #[test]
    fn stays_while_a_thread_of_another_user_is_confined() {
        let Some((all, one, _)) = processors() else {
            return;
        };
        if !sys::is_root() {
            return println!("skipped: only root may become another user");
        }
        let home = Home::new();
        let record = Abandoned::new(&home);
        let program = Program::start(&record.name);
        record.chosen(&one);
        record.thread(program.threads()[0], &all);
        program.confine(&one);
        for path in [home.folder.path(), &record.path] {
            chown(path, Some(65_534), None).unwrap();
        }
        let restored = || {
            let mut child = sys::fork(|| {
                sys::become_user(65_534).unwrap();
                i32::from(!confinement::restore(&record.path).is_ok_and(|restored| restored))
            });
            child.end() == WELL
        };
        assert!(!restored());
        program.all_have(&one);
        assert!(record.path.exists());
        drop(program);
        assert!(restored());
        assert!(!record.path.exists());
    }

    #[test]
    fn lifts_quotas() {
        let home = Home::new();
        let (full, bare) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for group in [&full, &bare] {
            fs::write(group.path().join("cpu.max"), "50000 100000\n").unwrap();
        }
        fs::write(full.path().join("cpuset.cpus"), "0\n").unwrap();
        let mut owner = sys::fork(|| {
            let mut record = Record::create(&home.location()).unwrap();
            for group in [full.path(), bare.path(), "/no/such/group".as_ref()] {
                record.quota(group).unwrap();
            }
            i32::from(record.quota("a".as_ref()).is_ok())
        });
        assert_eq!(owner.end(), WELL);
        assert_eq!(restore_abandoned(&home.location()), 1);
        let read = |path| fs::read_to_string(path).unwrap();
        assert_eq!(read(full.path().join("cpu.max")), "max\n");
        assert_eq!(read(full.path().join("cpuset.cpus")), "\n");
        assert_eq!(read(bare.path().join("cpu.max")), "max\n");
        assert_eq!(fs::read_dir(bare.path()).unwrap().count(), 1);
    }

    /// Records ever more threads that have ended, until the record has been compacted twice.
    fn outgrow(record: &mut Record, home: &Home) {
        let path = record.path().to_owned();
        let length = || fs::metadata(&path).unwrap().len();
        // This set makes long lines.
        let scattered = CpuMask::from_cpus((0..CpuMask::MOST).step_by(2));
        let (mut longest, mut compacted) = (0, 0);
        for tid in 0.. {
            let (pid, started) = (u32::MAX, 1);
            let ended = ThreadId { pid, tid, started };
            record.thread(ended, &scattered).unwrap();
            let now = length();
            if now < longest {
                assert!(longest < 1 << 20 && now < 1000, "{longest}, then {now}");
                assert_eq!(restore_abandoned(&home.location()), 0, "it is locked");
                compacted += 1;
            }
            if compacted == 2 {
                return;
            }
            longest = now;
        }
    }

    /// A program that starts processes for days has a short record all the same, which is locked at
    /// every moment.
    #[test]
    fn is_compacted_when_it_grows() {
        let Some((all, one, two)) = processors() else {
            return;
        };
        let home = Home::new();
        let program = Program::start("none");
        let mut owner = sys::fork(|| {
            let mut record = Record::create(&home.location()).unwrap();
            confine(&mut record, &program, &all, &one);
            record.quota("/no/such/group".as_ref()).unwrap();
            outgrow(&mut record, &home);
            assert!(record.is_there());
            record.chosen(&two).unwrap();
            bind(program.pid(), &two);
            0
        });
        assert_eq!(owner.end(), WELL);
        assert_eq!(program.masks()[..2], [two, one]);
        assert_eq!(restore_abandoned(&home.location()), 1);
        program.all_have(&all);
        assert_eq!(fs::read_dir(home.folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn is_not_written_beyond_the_size_limit() {
        let home = Home::new();
        let mut owner = sys::fork(|| {
            let mut record = Record::create(&home.location()).unwrap();
            sys::limit_file_size(64);
            let refusal = record.chosen(&CpuMask::from_cpus((0..256).step_by(2)));
            assert_eq!(refusal.unwrap_err().kind(), Kind::Unreachable);
            0
        });
        assert_eq!(owner.end(), WELL);
        assert_eq!(restore_abandoned(&home.location()), 1);
    }
}
