//! Damages the folders of `tidegate fan`. Each command must print the exact result, or fail with a
//! message that names the damaged file.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;
use tidegate_policy::Rng;
use tidegate_testkit::seeds;

use crate::support::tidegate;

/// What is run in pieces. `TREE` is a folder.
const PROGRAMS: [&str; 3] = [
    "uts --tree tiny --pieces 4",
    "digest TREE --pieces 3",
    "sim fib 8 --processors 3 --seeds 6 --pieces 3",
];

/// Changes bytes. The others are those of the same file in the folder of another program.
type Damage = fn(&mut Rng, &mut Vec<u8>, &[u8]);

/// What happens to the content of a file.
const DAMAGES: [(&str, Damage); 8] = [
    ("a bit flipped", |random, bytes, _| flip(random, bytes, 0)),
    ("a bit of the last line flipped", |random, bytes, _| {
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let start = text.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        flip(random, bytes, start);
    }),
    ("cut off", |random, bytes, _| {
        let length = index(random, bytes.len());
        bytes.truncate(length);
    }),
    ("partly zeroed", |random, bytes, _| {
        let start = index(random, bytes.len());
        bytes[start..].fill(0);
    }),
    ("emptied", |_, bytes, _| bytes.clear()),
    ("extended", |random, bytes, _| {
        bytes.extend((0..20).map(|_| random.draw() as u8));
    }),
    ("doubled", |_, bytes, _| bytes.extend_from_within(..)),
    ("foreign", |_, bytes, other| *bytes = other.to_vec()),
];

const SWAPPED: usize = 2;

fn index(random: &mut Rng, length: usize) -> usize {
    random.below(length.max(1) as u64) as usize
}

fn flip(random: &mut Rng, bytes: &mut [u8], start: usize) {
    if let Some(byte) = bytes[start..].len().checked_sub(1) {
        bytes[start + index(random, byte + 1)] ^= 1 << random.below(8);
    }
}

/// A finished run.
struct Finished {
    home: TempDir,
    words: String,
    json: Vec<u8>,
}

impl Finished {
    fn new(words: &str, tree: &Path) -> Self {
        let words = words.replace("TREE", &tree.display().to_string());
        let home = tempfile::tempdir().expect("a folder");
        let mut finished = Self {
            home,
            words,
            json: Vec::new(),
        };
        let [run, merge] = finished.outputs();
        assert!(
            run.status.success() && run.stdout == merge.stdout,
            "{run:?}"
        );
        finished.json = run.stdout;
        finished
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("D")
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.folder()).expect("a folder").flatten();
        let file = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().expect("UTF-8");
            (name, fs::read(entry.path()).expect("a file"))
        };
        entries.map(file).collect()
    }

    fn outputs(&self) -> [Output; 2] {
        let run = format!("fan run {} --dir D --json", self.words);
        [&*run, "fan merge D --json"].map(|words| {
            let mut command = tidegate(words);
            command.current_dir(self.home.path());
            command.output().expect("it starts")
        })
    }

    /// Gives the folder these files, and damages one or two. Returns their names, and the damage.
    fn damage(
        &self,
        random: &mut Rng,
        files: &BTreeMap<String, Vec<u8>>,
        others: &BTreeMap<String, Vec<u8>>,
    ) -> ([String; 2], &'static str) {
        fs::remove_dir_all(self.folder()).expect("a folder");
        fs::create_dir(self.folder()).expect("a folder");
        for (name, bytes) in files {
            fs::write(self.folder().join(name), bytes).expect("a file");
        }
        let names: Vec<_> = files.keys().collect();
        let [name, mut other] = [(); 2].map(|()| names[index(random, names.len())]);
        let path = self.folder().join(name);
        let number = index(random, DAMAGES.len() + 3);
        if number != SWAPPED {
            other = name;
        }
        let damage = match number {
            0 => {
                fs::remove_file(path).expect("a file");
                "removed"
            }
            1 => {
                fs::remove_file(&path).expect("a file");
                fs::create_dir(path).expect("a folder");
                "a folder"
            }
            SWAPPED => {
                fs::write(path, &files[other]).expect("a file");
                fs::write(self.folder().join(other), &files[name]).expect("a file");
                "swapped"
            }
            number => {
                let (damage, change) = DAMAGES[number - 3];
                let mut bytes = files[name].clone();
                change(
                    random,
                    &mut bytes,
                    others.get(name).map_or(&[], Vec::as_slice),
                );
                fs::write(path, bytes).expect("a file");
                damage
            }
        };
        ([name.clone(), other.clone()], damage)
    }
}

#[test]
fn damaged_folders_never_change_the_result() {
    let tree = tempfile::tempdir().expect("a folder");
    for number in 0..8 {
        fs::write(tree.path().join(number.to_string()), "text").expect("a file");
    }
    let runs = PROGRAMS.map(|words| Finished::new(words, tree.path()));
    let files = runs.each_ref().map(Finished::files);
    let mut exact = 0;
    for seed in seeds(6, "damaged folders") {
        println!("seed {seed}");
        let random = &mut Rng::new(seed);
        let program = seed as usize % runs.len();
        let others = &files[(program + 1) % runs.len()];
        let (names, damage) = runs[program].damage(random, &files[program], others);
        for Output {
            status,
            stdout,
            stderr,
        } in runs[program].outputs()
        {
            let told = String::from_utf8_lossy(&stderr);
            let what = format!("seed {seed}, {names:?} {damage}: {status}, {told}");
            if status.success() {
                assert!(stdout == runs[program].json, "{what}");
                exact += 1;
                continue;
            }
            assert!(matches!(status.code(), Some(1..=3)), "{what}");
            assert!(stdout.is_empty() && !told.contains("panicked"), "{what}");
            // Another plan has other results.
            let is_plan = names.iter().any(|name| name == "plan.json");
            let is_named = names.iter().any(|name| told.contains(name));
            let is_named = is_named || is_plan && told.contains(".out ");
            assert!(is_named, "{what}");
        }
    }
    println!("soak: {exact} commands printed the exact result");
}
