//! What was measured, as a table and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::child::Usage;
use super::rounds::{Measured, Runtime, Samples};
use super::statistics::{BELOW, Ratio, median};

/// What came of one program.
pub struct Row {
    /// What the program is called.
    pub name: &'static str,
    /// The package and version that it is or exercises.
    pub package: String,
    /// The measurements, or why there are none.
    pub measured: Result<Measured, String>,
}

/// One line of the table.
struct Line<'a> {
    samples: &'a Samples,
    /// The wall time and the CPU time of stock by those of this runtime, unless it is stock.
    ratios: Option<[Ratio; 2]>,
}

const WALL: fn(&Usage) -> f64 = |usage| usage.wall;
const CPU: fn(&Usage) -> f64 = |usage| usage.cpu;
const MEMORY: fn(&Usage) -> f64 = |usage| usage.memory;

/// What the columns of a table mean.
pub fn legend() -> String {
    format!(
        "Medians. wall: seconds until the last copy has ended; CPU: user and system seconds of all copies; \
         memory: largest peak of a process.\n\
         stock/this: above 1 is better than stock; in brackets the bootstrapped 95 % interval, \
         `below` if all of it is below {BELOW}."
    )
}

impl Row {
    /// Whether the program ran on every runtime with the same answers.
    pub fn equal(&self) -> bool {
        let measured = self.measured.as_ref();
        measured.is_ok_and(|measured| measured.different.is_empty())
    }

    /// The table of this program.
    pub fn table(&self) -> String {
        let mut table = format!("{} ({}): ", self.name, self.package);
        let measured = match &self.measured {
            Err(why) => return format!("{table}FAILED\n{why}\n"),
            Ok(measured) => measured,
        };
        table.push_str(&match different(measured) {
            None => "results equal\n".to_string(),
            Some(runs) => format!(
                "RESULTS DIFFER from the first run of stock: {runs}; see {}\n",
                measured.folder.display()
            ),
        });
        let head = ["wall stock/this", "CPU stock/this"];
        let _ = writeln!(
            table,
            "{:>6}  {:<11}{:>9}{:>9}{:>10}  {:<25}{}",
            "copies", "runtime", "wall", "CPU", "memory", head[0], head[1]
        );
        for line in lines(measured) {
            line.write(&mut table);
        }
        table
    }

    /// Everything about this program, every sample included.
    pub fn json(&self) -> Value {
        let mut found = json!({ "name": self.name, "package": self.package });
        match &self.measured {
            Err(why) => found["failed"] = json!(why),
            Ok(measured) => {
                found["equal"] = json!(measured.different.is_empty());
                found["different"] = json!(measured.different);
                let rows: Vec<Value> = lines(measured).iter().map(Line::json).collect();
                found["rows"] = json!(rows);
            }
        }
        found
    }
}

/// The runs whose answer was another.
fn different(measured: &Measured) -> Option<String> {
    let runs: Vec<&str> = measured.different.iter().map(String::as_str).collect();
    (!runs.is_empty()).then(|| runs.join(", "))
}

fn lines(measured: &Measured) -> Vec<Line<'_>> {
    let line = |samples| Line {
        samples,
        ratios: ratios(measured, samples),
    };
    measured.samples.iter().map(line).collect()
}

fn ratios(measured: &Measured, samples: &Samples) -> Option<[Ratio; 2]> {
    if samples.runtime == Runtime::Stock {
        return None;
    }
    let mut all = measured.samples.iter();
    let stock =
        all.find(|other| other.runtime == Runtime::Stock && other.copies == samples.copies)?;
    Some([WALL, CPU].map(|of| Ratio::new(&stock.series(of), &samples.series(of))))
}

impl Samples {
    fn series(&self, of: fn(&Usage) -> f64) -> Vec<f64> {
        self.usage.iter().map(of).collect()
    }

    fn median(&self, of: fn(&Usage) -> f64) -> f64 {
        median(self.series(of))
    }
}

impl Line<'_> {
    fn write(&self, table: &mut String) {
        let samples = self.samples;
        let mut line = format!(
            "{:>6}  {:<11}{:>7.3} s{:>7.3} s{:>6.1} MiB",
            samples.copies,
            samples.runtime.name(),
            samples.median(WALL),
            samples.median(CPU),
            samples.median(MEMORY) / f64::from(1 << 20),
        );
        if let Some([wall, cpu]) = &self.ratios {
            let _ = write!(line, "  {:<25}{}", shown(wall), shown(cpu));
        }
        let _ = writeln!(table, "{}", line.trim_end());
    }

    fn json(&self) -> Value {
        let samples = self.samples;
        let series = |of: fn(&Usage) -> f64| json!({ "median": samples.median(of), "samples": samples.series(of) });
        let mut row = json!({
            "copies": samples.copies,
            "runtime": samples.runtime.name(),
            "wall_s": series(WALL),
            "cpu_s": series(CPU),
            "memory_bytes": series(MEMORY),
        });
        if let Some([wall, cpu]) = &self.ratios {
            row["wall_ratio"] = ratio(wall);
            row["cpu_ratio"] = ratio(cpu);
        }
        row
    }
}

fn shown(ratio: &Ratio) -> String {
    let mut text = format!("{:.2}", ratio.value);
    if let Some((low, high)) = ratio.interval {
        let _ = write!(text, " [{low:.2}, {high:.2}]");
    }
    if ratio.below() {
        text.push_str(" below");
    }
    text
}

fn ratio(ratio: &Ratio) -> Value {
    json!({
        "value": ratio.value,
        "interval": ratio.interval.map(|(low, high)| [low, high]),
        "below": ratio.below(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn row(walls: [f64; 3]) -> Row {
        let sample = |(runtime, wall): (Runtime, f64)| {
            let usage = Usage {
                wall,
                cpu: 1.0,
                memory: 1048576.0,
            };
            Samples {
                copies: 1,
                runtime,
                usage: vec![usage; 5],
            }
        };
        Row {
            name: "program",
            package: "package 1.0.0".to_string(),
            measured: Ok(Measured {
                samples: Runtime::ALL.into_iter().zip(walls).map(sample).collect(),
                different: BTreeSet::new(),
                folder: "kept".into(),
            }),
        }
    }

    #[test]
    fn slower_runtime_is_marked() {
        let table = row([1.0, 0.5, 2.0]).table();
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "program (package 1.0.0): results equal");
        assert_eq!(lines[2], "     1  stock        1.000 s  1.000 s   1.0 MiB");
        assert_eq!(
            lines[3],
            "     1  tidegate     0.500 s  1.000 s   1.0 MiB  2.00 [2.00, 2.00]        1.00 [1.00, 1.00]"
        );
        assert_eq!(
            lines[4],
            "     1  share=auto   2.000 s  1.000 s   1.0 MiB  0.50 [0.50, 0.50] below  1.00 [1.00, 1.00]"
        );
    }

    #[test]
    fn different_answer_is_named() {
        let mut row = row([1.0; 3]);
        assert!(row.equal());
        if let Ok(measured) = &mut row.measured {
            measured.different.insert("tidegate (alone)".to_string());
        }
        assert!(!row.equal());
        let table = row.table();
        let named = "RESULTS DIFFER from the first run of stock: tidegate (alone); see kept\n";
        assert!(table.contains(named), "{table}");
        assert_eq!(row.json()["equal"], false);
    }

    #[test]
    fn failure_is_no_equality() {
        let row = Row {
            measured: Err("no such folder".to_string()),
            ..row([1.0; 3])
        };
        assert!(!row.equal());
        assert!(row.table().contains("FAILED\nno such folder"));
        assert_eq!(row.json()["failed"], "no such folder");
    }

    #[test]
    fn json_has_every_sample() {
        let json = row([1.0, 0.5, 2.0]).json();
        assert_eq!(json["rows"][0]["wall_ratio"], Value::Null);
        assert_eq!(json["rows"][2]["wall_ratio"]["below"], true);
        assert_eq!(json["rows"][1]["wall_s"]["samples"], json!(vec![0.5; 5]));
    }
}
