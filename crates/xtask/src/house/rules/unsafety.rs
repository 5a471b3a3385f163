//! Where `unsafe` may stand, and that each has its note.
//!
//! Clippy already refuses a block without a note and more than one operation in a block; this rule adds the places,
//! the tests and the attributes.

use crate::house::Breach;
use crate::house::plan::{Room, SAFETY_REACH, UNSAFE_TESTS, room_of};
use crate::house::repo::Repo;
use crate::house::source::Source;

/// Each `unsafe` in a wrong place or without a note.
pub fn check(repo: &Repo) -> Vec<Breach> {
    repo.sources.iter().flat_map(breaches).collect()
}

fn breaches(source: &Source) -> Vec<Breach> {
    let mut found = Vec::new();
    let at_home = UNSAFE_TESTS.contains(&source.path.as_str())
        || room_of(&source.path).is_some_and(|room| at_home(room, &source.path));
    for (index, token) in source
        .tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.text == "unsafe")
    {
        let mut breach =
            |advice: &str| found.push(Breach::new(&source.path, token.line, "unsafe", advice));
        if !at_home {
            breach(
                "this file may not hold unsafe: move it behind a safe function of a file that may, see the plan",
            );
        }
        let note = source.comment_near(token.line, SAFETY_REACH, 0);
        if needs_note(source, index) && !note.contains("SAFETY:") {
            breach(
                "put a comment that begins with SAFETY: right above, and discharge each duty in it",
            );
        }
    }
    found
}

/// Whether the room's row lists the file at `path`, or the folder that it lies in.
fn at_home(room: &Room, path: &str) -> bool {
    let inside = path.strip_prefix(&format!("crates/{}/src/", room.folder));
    let module = inside.map(|inside| {
        inside
            .split('/')
            .next()
            .unwrap_or(inside)
            .trim_end_matches(".rs")
    });
    module.is_some_and(|module| room.unsafe_in.contains(&module))
}

/// Blocks, implementations, foreign items and attributes promise something; functions and traits demand it.
fn needs_note(source: &Source, index: usize) -> bool {
    let next = |offset: usize| {
        source
            .tokens
            .get(index + offset)
            .map_or("", |token| token.text.as_str())
    };
    match next(1) {
        "{" | "impl" | "(" => true,
        "extern" => next(2) == "{" || next(3) == "{",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::found;

    const JOB: &str = "crates/tidegate/src/job.rs";
    const NOTED: &str =
        "fn f(p: *const u8) -> u8 {\n    // SAFETY: p is valid.\n    unsafe { *p }\n}";

    #[test]
    fn unsafe_stands_only_in_the_files_of_the_plan() {
        assert_eq!(found(check, JOB, NOTED), [""; 0]);
        assert_eq!(
            found(check, "crates/tidegate/src/job/frame.rs", NOTED),
            [""; 0]
        );
        assert_eq!(
            found(check, "crates/tidegate/src/join.rs", NOTED),
            ["unsafe:3"]
        );
        assert_eq!(found(check, "crates/cli/src/main.rs", NOTED), ["unsafe:3"]);
        assert_eq!(
            found(check, "crates/tidegate/tests/job.rs", NOTED),
            ["unsafe:3"]
        );
    }

    #[test]
    fn a_block_or_implementation_without_a_note_is_a_breach() {
        assert_eq!(
            found(
                check,
                JOB,
                "fn f(p: *const u8) -> u8 {\n    unsafe { *p }\n}"
            ),
            ["unsafe:2"]
        );
        assert_eq!(
            found(check, JOB, "unsafe impl Send for Job {}"),
            ["unsafe:1"]
        );
        assert_eq!(
            found(check, JOB, "#[unsafe(no_mangle)]\nfn f() {}"),
            ["unsafe:1"]
        );
    }

    #[test]
    fn a_note_that_belongs_to_something_further_up_does_not_count() {
        let text = "// SAFETY: for g.\n\n\n\n\n\nfn f(p: *const u8) -> u8 { unsafe { *p } }";
        assert_eq!(found(check, JOB, text), ["unsafe:7"]);
    }

    #[test]
    fn an_unsafe_function_demands_and_needs_no_note() {
        assert_eq!(
            found(
                check,
                JOB,
                "unsafe fn f() {}\ntype F = unsafe fn(*const ());"
            ),
            [""; 0]
        );
    }
}
