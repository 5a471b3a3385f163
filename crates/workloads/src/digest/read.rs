//! Reads one directory or file. It may have changed or vanished since it was listed.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::tree::{Contents, Entry, Folder, Outcome, Stamp, Trouble};
use crate::program::Progress;

/// The size of each thread's read buffer, in bytes.
const CHUNK: usize = 128 << 10;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; CHUNK]);
}

impl Trouble {
    fn new(error: &io::Error) -> Self {
        if is_link(error) {
            return Self::replaced();
        }
        Self {
            vanished: matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
            reason: error.to_string(),
        }
    }

    fn replaced() -> Self {
        Self {
            vanished: true,
            reason: "something else took its place".into(),
        }
    }
}

impl Folder {
    /// Lists the entries of this directory in order, without reading them.
    pub fn list(&mut self) {
        if let Err(trouble) = self.try_list() {
            self.trouble = Some(trouble);
        }
        self.entries.sort_unstable_by(Entry::order);
    }

    fn try_list(&mut self) -> Result<(), Trouble> {
        let trouble = |error| Trouble::new(&error);
        // The directory may have become a link since its parent was listed.
        if !fs::symlink_metadata(&self.path).map_err(trouble)?.is_dir() {
            return Err(Trouble::replaced());
        }
        for entry in fs::read_dir(&self.path).map_err(trouble)? {
            let entry = entry.map_err(trouble)?;
            let kind = entry.file_type().map_err(trouble)?;
            self.entries
                .push(Entry::new(&self.path, entry.file_name(), kind));
        }
        Ok(())
    }
}

impl Outcome {
    pub(crate) fn of(path: &Path, progress: &Progress) -> Self {
        let contents = open(path)
            .map_err(|error| Trouble::new(&error))
            .and_then(|file| BUFFER.with_borrow_mut(|buffer| digest(file, buffer, progress)));
        progress.add_file();
        match contents {
            Ok(contents) => Self::Read(contents),
            Err(trouble) => Self::Failed(trouble),
        }
    }
}

/// Opens a file that was a regular file when its directory was listed. If a link has replaced the
/// file, the open fails. If a pipe has replaced it, the open doesn't wait for a writer.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    options.open(path)
}

/// Whether an open failed because the path is a link, which must not be followed.
fn is_link(error: &io::Error) -> bool {
    #[cfg(unix)]
    let code = Some(libc::ELOOP);
    #[cfg(not(unix))]
    let code = None;
    code.is_some() && error.raw_os_error() == code
}

fn digest(mut file: File, buffer: &mut [u8], progress: &Progress) -> Result<Contents, Trouble> {
    let trouble = |error| Trouble::new(&error);
    let before = file.metadata().map_err(trouble)?;
    if !before.is_file() {
        return Err(Trouble::replaced());
    }
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    loop {
        match file.read(buffer) {
            Ok(0) => break,
            Ok(n) => {
                hasher.update(&buffer[..n]);
                bytes += n as u64;
                progress.add_bytes(n as u64);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(trouble(error)),
        }
    }
    let before = Stamp::new(&before);
    let after = Stamp::new(&file.metadata().map_err(trouble)?);
    Ok(Contents {
        digest: hasher.finalize().into(),
        bytes,
        stamp: (before == after).then_some(after),
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn trouble(path: &Path) -> Trouble {
        match Outcome::of(path, &Progress::default()) {
            Outcome::Failed(trouble) => trouble,
            other => panic!("{other:?}"),
        }
    }

    /// If a link or pipe has replaced a file, the read neither follows the link nor waits for a
    /// writer.
    #[test]
    fn replaced_file_is_not_opened() {
        let folder = std::env::temp_dir().join(format!("tidegate-replaced-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let (link, pipe) = (folder.join("link"), folder.join("pipe"));
        std::os::unix::fs::symlink("/proc/self/status", &link).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let troubles = [&link, &pipe, &folder].map(|path| trouble(path));
        fs::remove_dir_all(&folder).unwrap();
        assert!(
            troubles.iter().all(|trouble| trouble.vanished),
            "{troubles:?}"
        );
    }

    #[test]
    fn unreadable_file_reports_its_reason() {
        let trouble = trouble(Path::new("/proc/self/mem"));
        assert!(!trouble.vanished);
        assert!(trouble.reason.contains("Input/output error"), "{trouble:?}");
    }
}
