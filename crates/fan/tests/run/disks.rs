//! Folders on file systems that are full or cannot link.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::support::Fan;

tests! {
    full_disk_loses_nothing, links_are_needed, read_only_results_are_merged,
}

/// A file system that only a process and its children have mounted.
struct Mounted {
    /// The process, in namespaces of its own. It ends with this value.
    holder: Child,
    path: PathBuf,
}

impl Mounted {
    /// Mounts with these arguments. If the machine does not allow that, prints why, and returns
    /// `None`.
    fn new(fan: &Fan, arguments: &str) -> Option<Self> {
        fs::create_dir(fan.path("disk")).expect("a folder");
        let script = format!("mount {arguments} none disk && echo mounted && read end");
        let mut holder = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "--ipc"])
            .args(["sh", "-c", &script])
            .current_dir(fan.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .inspect_err(|error| println!("skipped: unshare: {error}"))
            .ok()?;
        let mut line = String::new();
        let mut out = BufReader::new(holder.stdout.take().expect("a pipe"));
        out.read_line(&mut line).expect("a line");
        if line != "mounted\n" {
            let output = holder.wait_with_output().expect("an end");
            let error = String::from_utf8_lossy(&output.stderr);
            println!("skipped: {}", error.trim());
            return None;
        }
        let root = PathBuf::from(format!("/proc/{}/root", holder.id()));
        let disk = fan.path("disk");
        let path = root.join(disk.strip_prefix("/").expect("an absolute path"));
        if fs::read_dir(&path).is_err() {
            println!("skipped: {} cannot be read", path.display());
            let _ = (holder.kill(), holder.wait());
            return None;
        }
        Some(Self { holder, path })
    }

    /// Writes until the disk is full, and then takes `spare` bytes back.
    fn fill(&self, spare: u64) {
        let mut file = File::create(self.path.join("filler")).expect("a file");
        while file.write_all(&[0; 4096]).is_ok() {}
        let length = file.metadata().expect("a length").len();
        file.set_len(length - spare).expect("a shorter file");
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = (self.holder.kill(), self.holder.wait());
    }
}

/// Two results of some 80 KB.
const SUM: &str = "sum --below 30000 --pieces 2";

fn full_disk_loses_nothing() {
    let fan = Fan::new();
    let Some(disk) = Mounted::new(&fan, "-t tmpfs -o size=1m") else {
        return;
    };
    let dir = disk.path.join("D");
    let run = format!("run {SUM} --dir {}", dir.display());
    let plan = fan.output(&format!("plan {SUM}")).done();
    fs::write(fan.path("plan"), plan).expect("a file");
    fs::create_dir(&dir).expect("a folder");
    let piece = format!("piece --plan plan --item 0 --out {}", dir.display());

    disk.fill(0);
    let way_out = "make room, and run the same command again";
    fan.output(&run).refused(3, &["No space left", way_out]);
    let full = fan.output(&piece);
    full.refused(3, &["No space left"]);
    // The result and the log met the same error.
    assert_eq!(full.err.matches(way_out).count(), 1, "{full:?}");
    assert!(!dir.join("0.out").exists());

    // There is room for the plan and the logs, and not for a result.
    disk.fill(40_960);
    fan.output(&piece).refused(3, &["No space left"]);
    assert!(dir.join("0.err").exists());
    let failed = fan.output(&run);
    assert!(failed.err.contains("No space left"), "{failed:?}");
    // While a piece holds the rest of the disk, `run` itself may have no room for what it notes.
    match failed.code {
        Some(1) => assert!(failed.err.contains("2 of 2 items failed"), "{failed:?}"),
        code => assert_eq!(code, Some(3), "{failed:?}"),
    }
    let names = fs::read_dir(&dir).expect("a folder").flatten();
    let mut names = names.map(|name| name.file_name().into_string().expect("UTF-8"));
    let torn = names.find(|name| name.ends_with(".out") || name.ends_with(".running"));
    assert_eq!(torn, None);

    fs::remove_file(disk.path.join("filler")).expect("a file");
    assert_eq!(fan.output(&run).done(), "sum 449985000\n");
}

/// The file system of message queues has no links.
fn links_are_needed() {
    let fan = Fan::new();
    let Some(disk) = Mounted::new(&fan, "-t mqueue") else {
        return;
    };
    let run = format!("run sum --below 3 --dir {}", disk.path.display());
    fan.output(&run)
        .refused(2, &["hard links", "another file system"]);
    assert_eq!(fs::read_dir(&disk.path).expect("a folder").count(), 0);
}

/// `run` cannot lock the folder or publish there.
fn read_only_results_are_merged() {
    let fan = Fan::new();
    fan.output(&format!("run {SUM} --dir D")).done();
    fan.output(&format!("run {SUM} --dir E --dry-run")).done();
    let copy = "-t tmpfs none disk && cp -r D E disk && mount -o remount,ro";
    let Some(disk) = Mounted::new(&fan, copy) else {
        return;
    };
    let dir = disk.path.join("D");
    let merge = format!("merge {}", dir.display());
    let run = fan.output(&format!("run {SUM} --dir {}", dir.display()));
    let program = std::env::current_exe().expect("a path");
    let whole = format!("`{} {merge}` prints", program.display());
    run.refused(3, &["choose another --dir", &whole]);
    let other = disk.path.join("E");
    let missing = fan.output(&format!("run {SUM} --dir {}", other.display()));
    missing.refused(3, &["choose another --dir"]);
    assert!(!missing.err.contains("prints the report"), "{missing:?}");
    assert_eq!(fan.output(&merge).done(), "sum 449985000\n");
}
