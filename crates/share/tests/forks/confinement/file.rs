//! What happens to the file of a record.

use super::*;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use tidegate_share::Kind;

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
        let mut lines = crate::support::damage::state(home.folder.path());
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

/// A later process may be allowed to write the files.
#[test]
fn stays_while_a_quota_cannot_be_lifted() {
    for (file, other) in [("cpu.max", "cpuset.cpus"), ("cpuset.cpus", "cpu.max")] {
        let (home, group) = (Home::new(), tempfile::tempdir().unwrap());
        let [file, other] = [file, other].map(|name| group.path().join(name));
        let record = Abandoned::new(&home);
        record.write(&format!("quota {}\n", group.path().display()));
        fs::create_dir(&file).unwrap();
        fs::write(&other, "0\n").unwrap();
        let found = confinement::check(&home.location()).unwrap();
        let ignored: Vec<String> = found.ignored.iter().map(ToString::to_string).collect();
        assert_eq!(ignored.len(), 1);
        assert!(ignored[0].contains(&*file.to_string_lossy()), "{ignored:?}");
        assert_ne!(fs::read_to_string(&other).unwrap(), "0\n");
        fs::remove_dir(&file).unwrap();
        assert_eq!(restore_abandoned(&home.location()), 1);
        assert!(!record.path.exists());
    }
}

/// Restoring looks at the threads of the machine only if one may be confined.
#[test]
fn without_a_chosen_set_costs_little() {
    let home = Home::new();
    let calls = || {
        let record = Abandoned::new(&home);
        let mut child = traced(&home)?;
        let mut calls = 0;
        while child.step().is_none() {
            calls += 1;
        }
        assert!(!record.path.exists());
        Some(calls)
    };
    let (before, _programs) = (calls(), [(); 4].map(|()| Program::start("none")));
    let (Some(before), Some(now)) = (before, calls()) else {
        return;
    };
    // Four programs have twenty threads.
    assert!(now < before + 20, "{before} calls, then {now}");
}

/// Threads can be restored only with `/proc`.
#[test]
fn stays_without_proc_if_it_has_a_chosen_set() {
    if sys::fork(|| i32::from(sys::hide_proc().is_err())).end() != WELL {
        return println!("skipped: mounting is not permitted here");
    }
    for has_chosen in [false, true] {
        let home = Home::new();
        let record = Abandoned::new(&home);
        if has_chosen {
            record.chosen(&CpuMask::from_cpus([0]));
        }
        let mut child = sys::fork(|| {
            sys::hide_proc().unwrap();
            i32::from(confinement::restore(&record.path).is_err())
        });
        assert_eq!(child.end() == WELL, !has_chosen);
        assert_eq!(record.path.exists(), has_chosen);
    }
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
