//! The package of rayon-core's own tests, as published, without the code that they test.
//!
//! Unit tests belong to a crate and see its private names. Here the unit tests are modules of a
//! library whose root is `around.rs`. That file imports the public names, and has a stand-in for
//! each private name that has a public equivalent. The tests that `LEFT_OUT` lists are disabled.
//! The documentation becomes modules that contain only documentation, so that its examples run.

use std::path::PathBuf;

use cargo_metadata::Package;

use super::layout::{File, below};
use super::table::LEFT_OUT;
use crate::workspace::slashed;

pub const NAME: &str = "rayon-core-tests";

const AROUND: &str = include_str!("around.rs");

/// The modules of unit tests that [`AROUND`] declares, as paths in rayon-core's `src/`.
#[rustfmt::skip]
const UNITS: [&str; 6] = [
    "broadcast/test.rs", "join/test.rs", "scope/test.rs", "spawn/test.rs", "test.rs", "thread_pool/test.rs",
];

/// The folder of documentation tests that need no code around them.
const COMPILE_FAIL: &str = "compile_fail/";

/// Returns the files of the package, from the published package `core`.
pub fn package(core: &Package) -> Result<Vec<File>, String> {
    let mut found = vec![
        File::new("Cargo.toml", manifest(core)),
        File::new("src/lib.rs", AROUND),
    ];
    let mut modules = String::new();
    for file in below(core)? {
        if file.path.starts_with("tests") {
            found.push(file);
            continue;
        }
        let path = slashed(&file.path);
        let module = path
            .strip_prefix("src/")
            .filter(|module| module.ends_with(".rs"));
        if let Some(module) = module {
            let text = String::from_utf8_lossy(&file.bytes);
            let source = source(module, &text)?;
            if source.path.starts_with("src/docs") {
                modules.push_str(&format!("mod {};\n", documented(module)));
            }
            found.push(source);
        }
    }
    found.push(File::new("src/docs/mod.rs", modules));
    Ok(found)
}

fn documented(module: &str) -> String {
    module.trim_end_matches(".rs").replace('/', "_")
}

/// Returns the part of the source `module` that goes into the package.
fn source(module: &str, text: &str) -> Result<File, String> {
    let path = PathBuf::from("src").join(module);
    if UNITS.contains(&module) {
        let path_of_tests = module.trim_end_matches(".rs").replace('/', "::");
        return Ok(File::new(path, without_left_out(&path_of_tests, text)?));
    }
    if module.starts_with(COMPILE_FAIL) {
        return Ok(File::new(path, text));
    }
    if text.contains("#[test]") {
        return Err(format!(
            "declare the tests of {module} in around.rs and UNITS"
        ));
    }
    let path = format!("src/docs/{}.rs", documented(module));
    Ok(File::new(path, documentation(text)))
}

fn manifest(core: &Package) -> String {
    let (edition, version) = (core.edition, &core.version);
    let mut manifest = format!(
        "[package]\nname = \"{NAME}\"\nedition = \"{edition}\"\npublish = false\n\n\
         [dependencies]\nrayon-core = \"={version}\"\n\n[dev-dependencies]\n"
    );
    for used in core.dependencies.iter().filter(|used| !used.optional) {
        manifest.push_str(&format!("{} = \"{}\"\n", used.name, used.req));
    }
    manifest
}

/// Returns the unit tests of `module`, after disabling those in [`LEFT_OUT`].
fn without_left_out(module: &str, text: &str) -> Result<String, String> {
    let mut text = text.to_string();
    for (test, _) in LEFT_OUT {
        let Some((_, name)) = test.rsplit_once("::").filter(|(of, _)| *of == module) else {
            continue;
        };
        let head = format!("\nfn {name}() {{\n");
        if text.matches(&head).count() != 1 {
            return Err(format!("rayon-core has no test {test}: change the table"));
        }
        text = text.replace(&head, &format!("\n#[cfg(any())]{head}"));
    }
    Ok(text)
}

/// Returns the documentation in a source, as the documentation of a module without code. Line
/// numbers stay the same.
fn documentation(source: &str) -> String {
    let line = |line: &str| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or(line.strip_prefix("//!"));
        format!("//!{}\n", text.unwrap_or_default())
    };
    source.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluded_test_must_exist() {
        for (test, _) in LEFT_OUT {
            let (module, name) = test.rsplit_once("::").unwrap();
            assert!(without_left_out(module, "fn f() {}").is_err());
            let of_module = LEFT_OUT
                .iter()
                .filter_map(|(test, _)| test.strip_prefix(module)?.strip_prefix("::"));
            let text: String = of_module
                .map(|name| format!("#[test]\nfn {name}() {{\n}}\n"))
                .collect();
            let off = without_left_out(module, &text).unwrap();
            assert!(off.contains(&format!("#[test]\n#[cfg(any())]\nfn {name}()")));
            assert_eq!(without_left_out("other", &text).unwrap(), text);
        }
    }

    #[test]
    fn tests_in_unused_files_are_errors() {
        assert!(source("latch.rs", "#[test]\nfn f() {}").is_err());
        assert_eq!(
            source("scope/mod.rs", "//! A.").unwrap().path,
            PathBuf::from("src/docs/scope_mod.rs")
        );
    }
}
