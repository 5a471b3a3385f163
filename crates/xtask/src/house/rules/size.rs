//! How long files and functions may be.

use crate::house::Breach;
use crate::house::plan::{FILE_LINES, FUNCTION_LINES};
use crate::house::repo::{Repo, Text};
use crate::house::source::Source;

/// Names of files that nobody reads from top to bottom: cargo writes one, lawyers wrote the others.
const NOT_READ: [&str; 3] = ["Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT"];

/// Files and functions that are too long.
pub fn check(repo: &Repo) -> Vec<Breach> {
    let files = repo.texts.iter().filter_map(file);
    files
        .chain(repo.sources.iter().flat_map(functions))
        .collect()
}

fn file(file: &Text) -> Option<Breach> {
    let lines = file.text.lines().count();
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let too_long = lines > FILE_LINES && !NOT_READ.contains(&name);
    let advice = || format!("{lines} lines where {FILE_LINES} are allowed: split it by concept");
    too_long.then(|| Breach::new(&file.path, 1, "file size", advice()))
}

fn functions(source: &Source) -> Vec<Breach> {
    let long = source
        .functions
        .iter()
        .filter(|function| function.last - function.first + 1 > FUNCTION_LINES);
    long.map(|function| {
        let lines = function.last - function.first + 1;
        let advice = format!(
            "{} has {lines} lines where {FUNCTION_LINES} are allowed: give its parts names",
            function.name
        );
        Breach::new(&source.path, function.first, "function size", advice)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::rules::small::found;

    #[test]
    fn the_longest_file_passes_and_one_line_more_does_not() {
        assert_eq!(
            found(check, "docs/a.md", &"line\n".repeat(FILE_LINES)),
            [""; 0]
        );
        assert_eq!(
            found(check, "docs/a.md", &"line\n".repeat(FILE_LINES + 1)),
            ["file size:1"]
        );
        assert_eq!(
            found(check, "Cargo.lock", &"line\n".repeat(FILE_LINES + 1)),
            [""; 0]
        );
        let lock = "benches/iter/Cargo.lock";
        assert_eq!(
            found(check, lock, &"line\n".repeat(FILE_LINES + 1)),
            [""; 0]
        );
    }

    #[test]
    fn the_longest_function_passes_and_one_line_more_does_not() {
        let function = |lines: usize| {
            format!(
                "\nfn f() -> [u8; 3] {{\n{}}}\n",
                "    g();\n".repeat(lines - 2)
            )
        };
        assert_eq!(found(check, "a.rs", &function(FUNCTION_LINES)), [""; 0]);
        assert_eq!(
            found(check, "a.rs", &function(FUNCTION_LINES + 1)),
            ["function size:2"]
        );
    }
}
