//! Runtime crates reach atomics, locks, threads and the clock through `sync` alone.
//!
//! Otherwise loom, Miri and ThreadSanitizer would not see what the crate does. Tests are free: they may need a real
//! thread to show something about the shim's.

use crate::house::Breach;
use crate::house::lex::is_word;
use crate::house::plan::{
    BEHIND_THE_DOOR, Code, DOOR, FILLED_BY_ONE, HARMLESS, WAITING_CELL, room_of,
};
use crate::house::repo::Repo;
use crate::house::source::Source;

/// Paths of runtime crates that lead round the door.
pub fn check(repo: &Repo) -> Vec<Breach> {
    let runtime = repo.sources.iter().filter(|source| {
        room_of(&source.path).is_some_and(|room| room.code == Code::Runtime && room.folder != DOOR)
    });
    runtime.flat_map(breaches).collect()
}

fn breaches(source: &Source) -> Vec<Breach> {
    let outside_tests = paths(source)
        .into_iter()
        .filter(|(line, _)| !source.in_test(*line));
    let may_fill = FILLED_BY_ONE.contains(&source.path.as_str());
    let allowed = |path: &str| leads(path, HARMLESS) || (may_fill && leads(path, &[WAITING_CELL]));
    let round = outside_tests.filter(|(_, path)| leads(path, BEHIND_THE_DOOR) && !allowed(path));
    round
        .map(|(line, path)| {
            let advice = format!("{path} leads round the door: take it from tidegate_{DOOR}");
            Breach::new(&source.path, line, "door", advice)
        })
        .collect()
}

/// Whether `path` is one of `places` or lies below one.
fn leads(path: &str, places: &[&str]) -> bool {
    let below = |place: &&str| {
        path.strip_prefix(*place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    places.iter().any(below)
}

/// Every path of the source with its line; a tree of imports is unfolded.
fn paths(source: &Source) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < source.tokens.len() {
        index = path(source, index, "", &mut found).max(index + 1);
    }
    found
}

/// Follows the path that begins at `index` below `prefix`, and returns the index after it.
fn path(
    source: &Source,
    mut index: usize,
    prefix: &str,
    found: &mut Vec<(usize, String)>,
) -> usize {
    let mut so_far = prefix.to_string();
    while let Some(token) = source.tokens.get(index) {
        if token.text == "{" && so_far.ends_with("::") {
            let mut inside = index + 1;
            while inside < token.close {
                inside = path(source, inside, &so_far, found).max(inside + 1);
            }
            return token.close + 1;
        }
        if !is_word(&token.text) && token.text != "*" {
            return index;
        }
        so_far.push_str(&token.text);
        index += 1;
        if !source.reads(index, &[":", ":"]) {
            found.push((token.line, so_far));
            return index;
        }
        so_far.push_str("::");
        index += 2;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::found;

    const DEQUE: &str = "crates/deque/src/split.rs";

    #[test]
    fn naming_std_atomics_threads_or_clock_in_a_runtime_crate_is_a_breach() {
        let text = "use std::sync::atomic::AtomicU64;\nfn f() { std::thread::yield_now(); }\nuse std::time::Instant;";
        assert_eq!(found(check, DEQUE, text), ["door:1", "door:2", "door:3"]);
    }

    #[test]
    fn a_tree_of_imports_is_unfolded() {
        let text =
            "use std::{\n    fmt,\n    sync::{\n        Mutex,\n    },\n    time::Duration,\n};";
        assert_eq!(found(check, DEQUE, text), ["door:4"]);
    }

    #[test]
    fn the_door_itself_tests_and_tools_may_name_them() {
        let text = "use std::sync::atomic::AtomicU64;";
        assert_eq!(found(check, "crates/sync/src/lib.rs", text), [""; 0]);
        assert_eq!(found(check, "crates/cli/src/main.rs", text), [""; 0]);
        assert_eq!(found(check, "crates/rayon-core/src/pool.rs", text), [""; 0]);
        assert_eq!(found(check, "crates/deque/tests/stress.rs", text), [""; 0]);
        assert_eq!(
            found(
                check,
                DEQUE,
                "#[cfg(test)]\nmod tests {\n    use std::thread;\n}"
            ),
            [""; 0]
        );
    }

    #[test]
    fn a_cell_that_waits_passes_where_one_thread_fills_it() {
        let text = "use std::sync::OnceLock;";
        assert_eq!(found(check, DEQUE, text), ["door:1"]);
        assert_eq!(found(check, "crates/deque/src/store.rs", text), [""; 0]);
    }

    #[test]
    fn harmless_names_pass() {
        assert_eq!(
            found(check, DEQUE, "fn f() -> bool { std::thread::panicking() }"),
            [""; 0]
        );
        assert_eq!(found(check, DEQUE, "use tidegate_sync::thread;"), [""; 0]);
        assert_eq!(
            found(check, DEQUE, "use std::sync::{Arc, Mutex};"),
            ["door:1"]
        );
    }
}
