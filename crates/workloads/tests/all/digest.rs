//! Runs `digest` on a generated tree of files and compares it with an independent computation.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};
use tidegate_workloads::digest::{Digest, ProblemKind, Report, hex};
use tidegate_workloads::{Program, Runtime, Serial, Threads, Tidegate};

/// A temporary directory that is removed on drop.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tidegate-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Writes a file, and creates missing parent directories.
    fn write(&self, path: &[u8], contents: &[u8]) {
        let path = self.0.join(OsStr::from_bytes(path));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // An error is ignored, because the test already has its result.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// File names and sizes that are likely to reveal bugs.
const NAMES: &[&[u8]] = &[
    b"empty",
    b"-",
    b"--help",
    b"a-b",
    b"a/b",
    b"a/-",
    b"a.c",
    b"a/c/d/e",
    b"a0",
    b" leading and trailing ",
    b"line\nbreak",
    b"carriage\rreturn",
    b"back\\slash/in\\folder",
    b"not utf-8 \xff\xfe",
    b"folder \xff/file",
    b"\xc3\xa9t\xc3\xa9",
    b"tab\t",
    b"large",
];

fn contents(name: &[u8]) -> Vec<u8> {
    match name {
        b"empty" => Vec::new(),
        b"large" => (0..75_001_u32).flat_map(u32::to_le_bytes).collect(),
        _ => [b"contents of ", name].concat(),
    }
}

fn made_up(name: &str) -> Temporary {
    let tree = Temporary::new(name);
    for name in NAMES {
        tree.write(name, &contents(name));
    }
    symlink("a/b", tree.0.join("link to file")).unwrap();
    symlink("..", tree.0.join("a/link to a folder above")).unwrap();
    symlink("nowhere", tree.0.join("dangling")).unwrap();
    drop(UnixListener::bind(tree.0.join("socket")).unwrap());
    fs::create_dir(tree.0.join("empty folder")).unwrap();
    tree
}

/// Returns the expected lines: every file's path and digest, sorted by path.
fn expected_lines() -> Vec<u8> {
    let mut names = NAMES.to_vec();
    names.sort_unstable();
    let mut lines = Vec::new();
    for name in names {
        let digest = hex(&Sha256::digest(contents(name)).into());
        let escaped = name.iter().any(|byte| b"\\\n\r".contains(byte));
        lines.extend_from_slice(if escaped { b"\\" } else { b"" });
        lines.extend_from_slice(format!("{digest}  ").as_bytes());
        lines.extend_from_slice(if name == b"-" { b"./" } else { b"" });
        for &byte in name {
            match byte {
                b'\\' => lines.extend_from_slice(b"\\\\"),
                b'\n' => lines.extend_from_slice(b"\\n"),
                b'\r' => lines.extend_from_slice(b"\\r"),
                _ => lines.push(byte),
            }
        }
        lines.push(b'\n');
    }
    lines
}

fn lines(report: &Report) -> Vec<u8> {
    let mut lines = Vec::new();
    report.lines(|line| lines.extend_from_slice(line));
    lines
}

fn serial(path: &Path) -> Report {
    Digest::new(path).serial(&mut ())
}

fn parallel<R: Runtime>(path: &Path) -> Report {
    let runtime = R::with_workers(2).unwrap();
    runtime.install(|fork| Digest::new(path).parallel::<R>(&mut (), fork))
}

#[test]
fn digest_matches_independent_computation() {
    let tree = made_up("tree");
    let expected = expected_lines();
    let reports = [
        serial(&tree.0),
        parallel::<Serial>(&tree.0),
        parallel::<Threads>(&tree.0),
        parallel::<Tidegate>(&tree.0),
    ];
    for report in reports {
        assert_eq!(
            lines(&report).escape_ascii().to_string(),
            expected.escape_ascii().to_string()
        );
        assert_eq!(report.digest, <[u8; 32]>::from(Sha256::digest(&expected)));
        assert_eq!(report.files, NAMES.len() as u64);
        let bytes: usize = NAMES.iter().map(|name| contents(name).len()).sum();
        assert_eq!(report.bytes, bytes as u64);
        assert_eq!(report.links, 3);
        let count = |kind| report.problems_of(kind).count();
        assert_eq!(ProblemKind::ALL.map(count), [0, 0, 7, 1]);
    }
}

#[test]
fn sha256sum_accepts_the_lines() {
    let tree = made_up("check");
    let list = lines(&serial(&tree.0));
    let list_path = tree.0.with_extension("list");
    fs::write(&list_path, list).unwrap();
    let checked = Command::new("sha256sum")
        .args(["--check", "--strict", "--quiet"])
        .arg(&list_path)
        .current_dir(&tree.0)
        .stdin(Stdio::null())
        .output();
    fs::remove_file(&list_path).unwrap();
    match checked {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => eprintln!("skipped, no sha256sum here: {error}"),
    }
}

/// The tree changes between two runs. Both reports must lose exactly the changed entries.
#[test]
fn changed_files_are_named_and_excluded() {
    let tree = made_up("settle");
    let digest = Digest::new(&tree.0);
    let mut before = digest.serial(&mut ());
    tree.write(b"a/b", b"other contents");
    tree.write(b"a/new", b"");
    fs::remove_file(tree.0.join("a0")).unwrap();
    fs::remove_dir_all(tree.0.join("a/c")).unwrap();
    let mut after = digest.serial(&mut ());
    assert_ne!(digest.answer(&(), &before), digest.answer(&(), &after));
    let changed = digest.settle(&mut before, &mut after);
    assert_eq!(changed, ["a/b", "a/c", "a/new", "a0"]);
    assert_eq!(digest.answer(&(), &before), digest.answer(&(), &after));
    assert_eq!(before.files, NAMES.len() as u64 - 3);
    assert!(digest.settle(&mut before, &mut after).is_empty());
}

#[test]
fn deepest_possible_path_is_read() {
    let tree = Temporary::new("deep");
    let room = 4096 - 1 - tree.0.as_os_str().len() - "/file".len();
    let deep: PathBuf = vec!["deep"; room / "deep/".len()].into_iter().collect();
    let deep = tree.0.join(deep);
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("file"), "deep").unwrap();
    for report in [serial(&tree.0), parallel::<Tidegate>(&tree.0)] {
        assert_eq!((report.files, report.bytes), (1, 4));
        assert_eq!(report.problems, []);
    }
}

#[test]
fn unreadable_root_is_rejected_by_name() {
    let tree = Temporary::new("refused");
    tree.write(b"file", b"");
    symlink("file", tree.0.join("link")).unwrap();
    let expected = [
        ("file", "is a file"),
        ("link", "is a symbolic link"),
        ("missing", "No such file"),
        ("file/below", "Not a directory"),
    ];
    for (name, words) in expected {
        let error = Digest::new(tree.0.join(name)).prepare().unwrap_err();
        let message = error.to_string();
        assert!(message.contains(&format!("{name}: ")), "{message}");
        assert!(message.contains(words), "{message}");
    }
    assert!(Digest::new(&tree.0).prepare().is_ok());
}

#[test]
fn unreadable_entries_do_not_stop_run() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Temporary::new("unreadable");
    tree.write(b"folder/inside", b"");
    tree.write(b"file", b"");
    tree.write(b"zzz", b"read");
    let locked = ["folder", "file"].map(|name| tree.0.join(name));
    for path in &locked {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    // Root may read everything, so it gets no errors.
    let expected: &[&[u8]] = match fs::read(&locked[1]) {
        Ok(_) => &[],
        Err(_) => &[b"file", b"folder"],
    };
    let report = parallel::<Tidegate>(&tree.0);
    for path in &locked {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let unreadable: Vec<_> = report
        .problems_of(ProblemKind::Unreadable)
        .map(|problem| problem.path.as_slice())
        .collect();
    assert_eq!(unreadable, expected);
    assert_eq!(report.files, if expected.is_empty() { 3 } else { 1 });
}
