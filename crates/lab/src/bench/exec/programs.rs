//! Prepares the programs: compiles them, generates their input, and computes their answers.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tidegate_cli_support::failure::Failure;
use tidegate_policy::Rng;

use super::chains;
use super::tree::Tree;
use crate::bench::crew::own_path;
use tidegate_cli_support::arguments::Size;

pub struct Program {
    pub name: &'static str,
    pub command: Vec<OsString>,
    /// What the program must print.
    pub answer: Vec<u8>,
}

/// A program, or why it cannot run on this machine.
pub enum Prepared {
    Ready(Program),
    Skipped { name: &'static str, why: String },
}

/// The name of the program for which busy waiting matters.
pub const OPENMP: &str = "openmp";

struct Amounts {
    /// The regions, items per region and steps per item of the OpenMP program.
    regions: [u64; 3],
    /// The items and steps per item of the Python program.
    pool: [u64; 2],
    tree: Tree,
    bytes: usize,
}

impl Amounts {
    fn of(size: Size) -> Self {
        let amounts = |regions, pool, files, megabytes: usize| Self {
            regions: [regions, 64, 6000],
            pool: [pool, 400_000],
            tree: Tree {
                files,
                functions: 16,
            },
            bytes: megabytes * 1_000_000,
        };
        match size {
            Size::Tiny => Self {
                regions: [20, 64, 100],
                pool: [8, 100],
                tree: Tree {
                    files: 3,
                    functions: 2,
                },
                bytes: 100_000,
            },
            Size::Small => amounts(3000, 40, 24, 30),
            Size::Paper => amounts(9000, 120, 72, 90),
        }
    }
}

/// Prepares all programs in `folder`, to run on up to `processors` processors.
pub fn prepare(folder: &Path, size: Size, processors: usize) -> Result<Vec<Prepared>, Failure> {
    let amounts = Amounts::of(size);
    Ok(vec![
        uts(size)?,
        openmp(folder, amounts.regions)?,
        make(folder, amounts.tree, processors)?,
        xz(folder, amounts.bytes, processors)?,
        python(folder, amounts.pool)?,
    ])
}

/// Returns the arguments of a run of `uts`, on rayon or on Tidegate. It takes at least a second, of
/// which the start of the command and its first cycles are a small part; with size tiny, an instant.
pub fn uts_arguments(size: Size) -> [OsString; 4] {
    let repeat = match size {
        Size::Tiny | Size::Paper => "1",
        Size::Small => "8",
    };
    let size = format!("{size:?}").to_lowercase();
    ["--size", &size, "--repeat", repeat].map(OsString::from)
}

/// `uts` on the published rayon, which checks its answer itself.
fn uts(size: Size) -> Result<Prepared, Failure> {
    let mut command = command(own_path()?, ["bench", "rayon-uts"]);
    command.extend(uts_arguments(size));
    Ok(ready("rayon", command, Vec::new()))
}

fn openmp(folder: &Path, amounts: [u64; 3]) -> Result<Prepared, Failure> {
    const SOURCE: &str = include_str!("regions.c");
    let (source, program) = (folder.join("regions.c"), folder.join("regions"));
    write(&source, SOURCE)?;
    let mut compiler = Command::new("gcc");
    compiler.args(["-O2", "-fopenmp", "-o"]);
    compiler.arg(&program).arg(&source);
    if let Err(why) = output(&mut compiler) {
        return Ok(Prepared::Skipped { name: OPENMP, why });
    }
    let [regions, items, steps] = amounts;
    let command = command(program, amounts.map(|amount| amount.to_string()));
    let answer = line(chains::sum(regions * items, steps));
    Ok(ready(OPENMP, command, answer))
}

fn make(folder: &Path, tree: Tree, processors: usize) -> Result<Prepared, Failure> {
    const NAME: &str = "make";
    for tool in [NAME, "gcc"] {
        if let Err(why) = output(Command::new(tool).arg("--version")) {
            return Ok(Prepared::Skipped { name: NAME, why });
        }
    }
    let folder = folder.join("tree");
    tree.write(&folder).map_err(|error| at(&folder, &error))?;
    let mut command = command(NAME, ["-s", "-j", &processors.to_string(), "-f"]);
    command.push(folder.join("Makefile").into());
    Ok(ready(NAME, command, line(tree.answer())))
}

/// The answer is what a first run has printed, which must decompress to the input.
fn xz(folder: &Path, bytes: usize, processors: usize) -> Result<Prepared, Failure> {
    const NAME: &str = "xz";
    let data = folder.join("data");
    let text = compressible(bytes);
    write(&data, &text)?;
    // Level 1 has the smallest blocks, so that there are enough of them for all threads.
    let mut command = command(NAME, ["-1", "-c", "-T", &processors.to_string()]);
    command.push(data.into());
    let answer = match output(Command::new(NAME).args(&command[1..])) {
        Ok(answer) => answer,
        Err(why) => return Ok(Prepared::Skipped { name: NAME, why }),
    };
    let compressed = folder.join("data.xz");
    write(&compressed, &answer)?;
    let restored = output(Command::new(NAME).arg("-dc").arg(&compressed));
    if restored.map_err(Failure::Impossible)? == text {
        Ok(ready(NAME, command, answer))
    } else {
        Err(Failure::Wrong(
            "xz: the data is not what was compressed".into(),
        ))
    }
}

fn python(folder: &Path, amounts: [u64; 2]) -> Result<Prepared, Failure> {
    const SOURCE: &str = include_str!("pool.py");
    const NAME: &str = "python";
    let source = folder.join("pool.py");
    write(&source, SOURCE)?;
    // `python3` may be a script that looks for the interpreter each time.
    let find = "import multiprocessing.synchronize, sys; print(sys.executable)";
    let found = match output(Command::new("python3").args(["-c", find])) {
        Ok(found) => found,
        Err(why) => return Ok(Prepared::Skipped { name: NAME, why }),
    };
    let interpreter = String::from_utf8_lossy(&found).trim().to_owned();
    let [items, steps] = amounts;
    let mut command = command(interpreter, [source]);
    command.extend(amounts.map(|amount| amount.to_string().into()));
    Ok(ready(NAME, command, line(chains::sum(items, steps))))
}

/// A program that can run.
fn ready(name: &'static str, command: Vec<OsString>, answer: Vec<u8>) -> Prepared {
    Prepared::Ready(Program {
        name,
        command,
        answer,
    })
}

fn command(
    executable: impl Into<OsString>,
    arguments: impl IntoIterator<Item = impl Into<OsString>>,
) -> Vec<OsString> {
    let arguments = arguments.into_iter().map(Into::into);
    [executable.into()].into_iter().chain(arguments).collect()
}

fn line(number: u64) -> Vec<u8> {
    format!("{number}\n").into_bytes()
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| at(path, &error))
}

fn at(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Impossible(format!("{}: {error}", path.display()))
}

/// Returns what the command prints, or why it fails.
fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name} cannot be started: {error}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        let messages = String::from_utf8_lossy(&output.stderr);
        let first = messages.lines().next().unwrap_or_default();
        Err(format!("{name} failed with {}: {first}", output.status))
    }
}

/// Generates lines of numbers, which `xz` compresses to about a third.
fn compressible(bytes: usize) -> Vec<u8> {
    let mut rng = Rng::new(1);
    let mut text = Vec::with_capacity(bytes + 32);
    while text.len() < bytes {
        let line = format!("{} of {}\n", rng.below(1_000_000), rng.below(1000));
        text.extend(line.into_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_tools_are_reasons() {
        let why = output(&mut Command::new("no-such-tool")).unwrap_err();
        assert!(why.starts_with("no-such-tool cannot be started: "), "{why}");
        let why = output(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert_eq!(why, "sh failed with exit status: 3: why");
    }
}
