//! The path of the table leads to a file that must not be used. Jobs get an error with a reason and
//! advice, and change nothing.

use crate::support::damage::{each, good, state};
use crate::support::sys::{self, NOT_PERMITTED, WELL};
use crate::support::{Home, make_stale, wants};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use tidegate_share::{Kind, Location, Name, Observer, Refusal, Seat};

fn take(location: &Location) -> Result<Seat, Refusal> {
    Seat::take(location, &Name::new("newcomer"))
}

/// Returns the error of each way to use `location`.
fn refusals(location: &Location) -> [(&'static str, Option<Refusal>); 3] {
    [
        ("take", take(location).err()),
        ("open", Observer::open(location).err()),
        ("check", Observer::check(location).err()),
    ]
}

/// Checks that the refusal is a single line that names the file and gives advice.
#[track_caller]
fn is_in_order(refusal: &Refusal, (kind, says): (Kind, &str), path: &Path, what: &str) {
    let text = refusal.to_string();
    assert_eq!(refusal.kind(), kind, "{what}: {text}");
    assert!(text.contains(says), "{what}: {text}");
    assert!(
        text.starts_with(&path.display().to_string()),
        "{what}: {text}"
    );
    assert_eq!(text.lines().count(), 1, "{what}: {text}");
    let advised = text.contains("; ") && text.contains("TIDEGATE_TABLE");
    assert!(advised, "{what}: {text}");
    let ours = says.contains("before the machine was started");
    assert_eq!(text.contains("remove it"), ours, "{what}: {text}");
}

/// Every use fails with a one-line error, and does not change the file.
#[test]
fn non_tables_are_rejected_and_kept() {
    each(|home, damage| {
        for (who, refusal) in refusals(&home.location()) {
            let what = format!("{}, {who}", damage.name);
            let refusal = refusal.unwrap_or_else(|| panic!("{what}: not refused"));
            is_in_order(&refusal, (damage.kind, damage.says), &home.path(), &what);
        }
    });
}

#[test]
fn random_bytes_are_no_table() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..20 {
        let home = Home::new();
        let length = *random
            .choice(&[random.clone().usize(..200_000), 135_168])
            .unwrap();
        let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..))
            .take(length)
            .collect();
        fs::write(home.path(), bytes).unwrap();
        fs::set_permissions(home.path(), Permissions::from_mode(0o600)).unwrap();
        let before = state(home.folder.path());
        for (who, refusal) in refusals(&home.location()) {
            is_in_order(&refusal.unwrap(), (Kind::Damaged, ""), &home.path(), who);
        }
        assert_eq!(state(home.folder.path()), before);
    }
}

/// A job that takes a seat replaces a table from before the machine's last boot. Checks and
/// observers do not change it.
#[test]
fn only_a_newcomer_replaces_stale_table() {
    let home = Home::new();
    make_stale(&home);
    let before = state(home.folder.path());
    assert!(Observer::open(&home.location()).is_err());
    let error = Observer::check(&home.location()).unwrap_err();
    let says = (Kind::Damaged, "before the machine was started");
    is_in_order(&error, says, &home.path(), "check");
    assert_eq!(state(home.folder.path()), before);
    let mut seat = home.seat("newcomer");
    seat.publish(&wants(2, 2)).unwrap();
    assert_eq!(seat.shares().unwrap().allotment, 2);
    assert_ne!(state(home.folder.path()), before);
}

/// A stale table with a row in use is kept, because it may belong to another machine.
#[test]
fn occupied_stale_table_is_kept() {
    let home = Home::new();
    let seat = home.seat("on another machine");
    crate::support::overwrite(&home, 8, &[0x5a; 8]);
    let before = state(home.folder.path());
    let says = (Kind::Unreachable, "is in use by another machine");
    is_in_order(
        &take(&home.location()).unwrap_err(),
        says,
        &home.path(),
        "take",
    );
    assert_eq!(state(home.folder.path()), before);
    drop(seat);
    assert!(take(&home.location()).is_ok());
}

/// Runs `test` in a child whose runtime folder is `home`, with the location that the child finds.
fn in_runtime_folder(home: &Home, test: impl FnOnce(Location) -> bool) {
    let (folder, mut test) = (home.folder.path(), Some(test));
    let mut child = sys::fork(|| {
        let test = test.take().expect("once");
        i32::from(!test(sys::location_in(folder)))
    });
    assert_eq!(child.end(), WELL);
}

#[test]
fn folder_open_to_others_is_rejected() {
    type Make = fn(&Path) -> std::io::Result<()>;
    let cases: [(&str, Make, &str); 5] = [
        (
            "open",
            |folder| {
                fs::create_dir(folder)?;
                fs::set_permissions(folder, Permissions::from_mode(0o755))
            },
            "its mode is 755",
        ),
        (
            "another's",
            |folder| {
                fs::create_dir(folder)?;
                fs::set_permissions(folder, Permissions::from_mode(0o700))?;
                chown(folder, Some(65_534), None)
            },
            "belongs to user 65534",
        ),
        ("a file", |folder| fs::write(folder, ""), "is no folder"),
        (
            "a link",
            |folder| {
                fs::create_dir(folder.with_extension("real"))?;
                symlink(folder.with_extension("real"), folder)
            },
            "is no folder",
        ),
        (
            "a link to nowhere",
            |folder| symlink("/nowhere", folder),
            "is no folder",
        ),
    ];
    for (what, make, says) in cases {
        let home = Home::new();
        let folder = home.folder.path().join("tidegate");
        if let Err(error) = make(&folder) {
            println!("skipped: {what}: {error}");
            continue;
        }
        let before = state(home.folder.path());
        in_runtime_folder(&home, |location| {
            for (who, refusal) in refusals(&location) {
                is_in_order(
                    &refusal.unwrap(),
                    (Kind::Untrusted, says),
                    &folder,
                    &format!("{what}, {who}"),
                );
            }
            true
        });
        assert_eq!(state(home.folder.path()), before, "{what}");
    }
}

#[test]
fn files_are_private_under_any_umask() {
    for mask in [0, 0o022, 0o777] {
        let home = Home::new();
        in_runtime_folder(&home, |location| {
            sys::mask_modes(mask);
            take(&location).unwrap();
            true
        });
        let mode = |name: &str| fs::metadata(home.folder.path().join(name)).unwrap().mode();
        assert_eq!(mode("tidegate") & 0o7777, 0o700);
        assert_eq!(mode("tidegate/table.v1") & 0o7777, 0o600);
    }
}

#[test]
fn missing_folder_prevents_the_table() {
    let home = Home::new();
    let path = home.folder.path().join("missing/table");
    let location = Location::at(&path);
    let says = (Kind::Unreachable, "cannot be made: its folder is missing");
    is_in_order(&take(&location).unwrap_err(), says, &path, "take");
    let refusal = Observer::check(&location).unwrap_err();
    is_in_order(&refusal, says, &path, "check");
    assert!(Observer::open(&location).unwrap().is_none());
    assert_eq!(fs::read_dir(home.folder.path()).unwrap().count(), 0);
}

#[test]
fn check_predicts_without_creating_anything() {
    let home = Home::new();
    let before = state(home.folder.path());
    assert!(Observer::check(&home.location()).unwrap().is_none());
    in_runtime_folder(&home, |location| {
        Observer::check(&location).unwrap().is_none()
    });
    assert_eq!(state(home.folder.path()), before);
    let path = Path::new("/proc/1/table");
    let says = (Kind::Unreachable, "cannot be made: ");
    let refusal = Observer::check(&Location::at(path)).unwrap_err();
    is_in_order(&refusal, says, path, "check");
}

/// Runs `test` in a child that has its own tmpfs mounted at the folder of `home`.
fn in_tmpfs(home: &Home, options: &str, mut test: impl FnMut()) {
    let mut child = sys::fork(|| {
        if let Err(error) = sys::mount_tmpfs(home.folder.path(), options) {
            eprintln!("mount: {error}");
            return NOT_PERMITTED;
        }
        test();
        0
    });
    match child.end() {
        sys::End::Exit(NOT_PERMITTED) => {
            println!("skipped: a file system of the test's own is not permitted here")
        }
        end => assert_eq!(end, WELL),
    }
}

#[test]
fn full_disk_leaves_nothing_behind() {
    for size in [4096, 65_536] {
        let home = Home::new();
        in_tmpfs(&home, &format!("size={size},mode=700"), || {
            let error = take(&home.location()).unwrap_err();
            let says = (Kind::Unreachable, "cannot be made: No space left on device");
            is_in_order(&error, says, &home.path(), "take");
            let error = Observer::check(&home.location()).unwrap_err();
            is_in_order(&error, says, &home.path(), "check");
            assert_eq!(fs::read_dir(home.folder.path()).unwrap().count(), 0);
            fs::write(home.folder.path().join("room"), [1; 4000]).unwrap();
        });
    }
}

#[test]
fn existing_table_works_on_full_disk() {
    let home = Home::new();
    in_tmpfs(&home, "size=200k,mode=700", || {
        good(&home);
        let _ = fs::write(home.folder.path().join("rest"), vec![1; 1 << 20]);
        assert!(
            fs::write(home.folder.path().join("more"), [1]).is_err(),
            "it is full"
        );
        let mut seats = ["a", "b"].map(|name| home.seat(name));
        for seat in &mut seats {
            seat.publish(&wants(4, 4)).unwrap();
        }
        assert_eq!(seats[0].shares().unwrap().allotment, 2);
    });
}

#[test]
fn read_only_disk_allows_only_observers() {
    let home = Home::new();
    in_tmpfs(&home, "size=1m,mode=700", || {
        good(&home);
        sys::make_read_only(home.folder.path()).unwrap();
        let says = (Kind::Unreachable, "cannot be opened: Read-only file system");
        is_in_order(
            &take(&home.location()).unwrap_err(),
            says,
            &home.path(),
            "take",
        );
        let mut observer = Observer::open(&home.location()).unwrap().unwrap();
        assert!(observer.jobs().unwrap().is_empty());
    });
}

/// The job gets an error instead of being killed by a signal.
#[test]
fn file_size_limit_prevents_joining() {
    for (limit, exists) in [
        (0, false),
        (100_000, false),
        (0, true),
        (2048, true),
        (4096, true),
    ] {
        let home = Home::new();
        if exists {
            good(&home);
        }
        let mut child = sys::fork(|| {
            sys::limit_file_size(limit);
            let says = (Kind::Unreachable, "files of this process may have");
            is_in_order(
                &take(&home.location()).unwrap_err(),
                says,
                &home.path(),
                "take",
            );
            0
        });
        assert_eq!(child.end(), WELL, "limit {limit}");
        assert_eq!(home.path().exists(), exists);
        drop(home.seat("of a process without a limit"));
    }
}

/// The job gets an error instead of being killed by a signal.
#[test]
fn later_file_size_limit_fails_publishing() {
    let home = Home::new();
    let mut child = sys::fork(|| {
        let mut seat = home.seat("limited");
        sys::limit_file_size(0);
        assert!(seat.publish(&wants(2, 2)).is_err());
        drop(seat);
        0
    });
    assert_eq!(child.end(), WELL);
}

#[test]
fn job_reports_lost_folder_permission() {
    if !sys::is_root() {
        println!("skipped: only root may become another user");
        return;
    }
    let home = Home::new();
    good(&home);
    let mut child = sys::fork(|| {
        sys::become_user(65_534).unwrap();
        let says = (Kind::Unreachable, "Permission denied");
        is_in_order(
            &take(&home.location()).unwrap_err(),
            says,
            &home.path(),
            "take",
        );
        0
    });
    assert_eq!(child.end(), WELL);
}
