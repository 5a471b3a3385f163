//! Turns bytes into operations on a job table, as the table's tests do with random bytes.
//!
//! Under cargo-fuzz (`cargo +nightly fuzz run table`), the fuzzer chooses the bytes. If built as an
//! ordinary program, it takes file names and replays each file once, so that a finding can be
//! examined without the fuzzer.

#![cfg_attr(fuzzing, no_main)]

#[cfg(target_os = "linux")]
#[path = "../../crates/share/tests/support/assault.rs"]
mod assault;

#[cfg(target_os = "linux")]
use assault::assault;

/// Job tables exist only on Linux.
#[cfg(not(target_os = "linux"))]
fn assault(_: &std::path::Path, _: &[u8]) {}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a folder for files");
    }
    FOLDER.with(|folder| assault(folder.path(), data));
});

#[cfg(not(fuzzing))]
fn main() {
    let folder = tempfile::tempdir().expect("a folder for files");
    for name in std::env::args_os().skip(1) {
        let data = std::fs::read(&name).expect("a file to play");
        assault(folder.path(), &data);
        println!("{}: errors or sane shares", name.to_string_lossy());
    }
}
