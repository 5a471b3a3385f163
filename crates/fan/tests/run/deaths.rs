//! Pieces and `run` are killed at random moments, and resumed until they are done.

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use crate::kills::{PATIENCE, ended};
use crate::support::{Ended, Fan};

tests! {
    lose_nothing,
}

/// How many processes are killed in a slice, and at most in a round.
const DEATHS: u64 = 10;

const NUMBERS: u64 = 48;

/// Kills until so many processes have died, in rounds of which each is a whole run.
fn lose_nothing() {
    let scale: u64 = tidegate_testkit::scale();
    let mut left = DEATHS * scale;
    let (mut seed, mut pieces) = (0, 0);
    while left > 0 {
        let mut round = Round::new(seed, left.min(DEATHS));
        round.run();
        let deaths = round.deaths;
        left -= deaths[0] + deaths[1];
        pieces += deaths[1];
        seed += 1;
    }
    let runs = DEATHS * scale - pieces;
    println!("soak: {seed} rounds, deaths of pieces: {pieces}, of `run`: {runs}");
}

/// A run that is killed again and again, and resumed.
struct Round {
    fan: Fan,
    seed: u64,
    random: u64,
    /// How many deaths remain.
    left: u64,
    /// How many times `run` and pieces were killed.
    deaths: [u64; 2],
    /// The results that were seen, which must never change.
    seen: BTreeMap<String, Vec<u8>>,
}

/// The first line of a result.
#[derive(Deserialize)]
struct Found {
    out: Vec<u64>,
    rest: Vec<serde_json::Value>,
}

impl Round {
    fn new(seed: u64, left: u64) -> Self {
        Self {
            fan: Fan::new(),
            seed,
            random: seed,
            left,
            deaths: [0, 0],
            seen: BTreeMap::new(),
        }
    }

    /// Every second run has a budget so small that pieces leave work to others.
    fn budget(&self) -> &'static str {
        match self.seed % 2 {
            0 => "--budget 0.02",
            _ => "",
        }
    }

    fn words(&self, dir: &str) -> String {
        let budget = self.budget();
        format!("run sum --below {NUMBERS} --pause 4 --pieces 6 --dir {dir} --json {budget}")
    }

    /// Returns a random number below `end` (SplitMix64).
    fn below(&mut self, end: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn run(&mut self) {
        let end = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < end, "seed {}: no end", self.seed);
            let run = self.attempt();
            self.look();
            match run.code {
                // Killed, or a piece was killed too often.
                None | Some(1) => {}
                _ => break self.check(&run.done()),
            }
        }
    }

    /// Runs until the end or the death of `run`.
    fn attempt(&mut self) -> Ended {
        let mut run = self.fan.start(&self.words("D"));
        while self.left > 0 {
            sleep(Duration::from_millis(self.below(60)));
            if run.try_wait().expect("a state").is_some() {
                break;
            }
            self.look();
            if self.kill(&mut run) {
                break;
            }
        }
        ended(run)
    }

    /// Kills `run` or one of its pieces. Returns whether it was `run`.
    fn kill(&mut self, run: &mut Child) -> bool {
        let pieces = children(run.id());
        let is_run = self.below(3) == 0;
        if is_run {
            run.kill().expect("a signal");
        } else {
            let Some(at) = (pieces.len() as u64).checked_sub(1) else {
                return false;
            };
            let piece = pieces[self.below(at + 1) as usize];
            // Its parent may have noticed its end.
            if kill_process(piece, Signal::KILL).is_err() {
                return false;
            }
        }
        self.left -= 1;
        self.deaths[usize::from(!is_run)] += 1;
        is_run
    }

    /// Checks that the results that were seen are still there, and sees new ones.
    fn look(&mut self) {
        for (name, bytes) in &self.seen {
            let now = fs::read(self.fan.path("D").join(name)).ok();
            assert_eq!(now.as_ref(), Some(bytes), "seed {}: {name}", self.seed);
        }
        for name in results(&self.fan, "D") {
            let bytes = fs::read(self.fan.path("D").join(&name)).expect("a result");
            self.seen.insert(name, bytes);
        }
    }

    /// Compares with a run that nothing disturbs.
    fn check(&self, printed: &str) {
        let seed = self.seed;
        let quiet = self.fan.output(&self.words("quiet")).done();
        let names = self.fan.names("D");
        let is_left = |name: &&String| name.ends_with(".running") || name.ends_with(".differs");
        assert_eq!(names.iter().find(is_left), None, "seed {seed}");
        let merge = "merge --plan D/plan.json D --json";
        assert_eq!(self.fan.output(merge).done(), printed, "seed {seed}");
        // Which number is the last of a piece that has left work depends on the time.
        if self.budget().is_empty() {
            assert_eq!(printed, quiet, "seed {seed}");
        }
        let sum = format!(r#""sum": {},"#, (0..NUMBERS).sum::<u64>());
        assert!(printed.contains(&sum), "seed {seed}: {printed}");
        let (mut numbers, mut files) = (Vec::new(), 0);
        for item in 0..6 {
            self.collect(&item.to_string(), &mut numbers, &mut files);
        }
        assert!(numbers.into_iter().eq(0..NUMBERS), "seed {seed}");
        assert_eq!(results(&self.fan, "D").count(), files, "seed {seed}");
    }

    /// Reads the result of an item, and those of what its piece has left.
    fn collect(&self, item: &str, numbers: &mut Vec<u64>, files: &mut usize) {
        let text = self.fan.read(&format!("D/{item}.out"));
        let line = text.lines().next().expect("a line");
        let found: Found = serde_json::from_str(line).expect("a result");
        numbers.extend(found.out);
        *files += 1;
        for child in 0..found.rest.len() {
            self.collect(&format!("{item}.{child}"), numbers, files);
        }
    }
}

fn results(fan: &Fan, dir: &str) -> impl Iterator<Item = String> {
    let names = fan.names(dir).into_iter();
    names.filter(|name| name.ends_with(".out"))
}

/// Returns the children of a process that have not ended.
fn children(parent: u32) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").expect("the processes").flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    let is_child = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        fields.next() != Some("Z") && fields.next() == Some(&parent.to_string())
    };
    pids.filter(is_child).filter_map(Pid::from_raw).collect()
}
