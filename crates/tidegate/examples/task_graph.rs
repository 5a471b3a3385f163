//! Builds units in the order of their dependencies: `cargo run -p tidegate --example task_graph`
//!
//! The page `docs/guide/task-graph.md` explains it.

use tidegate::interval::{self, Failure, Interval};

/// A unit's name, its source, and the indices of the earlier units that it needs.
type Unit = (&'static str, &'static str, &'static [usize]);

const UNITS: [Unit; 4] = [
    ("syntax", "fn parse", &[]),
    ("types", "fn check", &[0]),
    ("layout", "fn place", &[0]),
    ("driver", "fn main", &[1, 2]),
];

fn main() -> Result<(), Failure> {
    println!("{}", build(&UNITS)?);

    let mut broken = UNITS;
    broken[1].1 = "?";
    let failure = build(&broken).expect_err("types has no function");
    println!("error: {failure}"); // error: types (FILE:LINE:COLUMN) failed: no function in "?"
    assert_eq!(failure.chain()[0], "types");
    Ok(())
}

/// Compiles all units and returns the object of the last one.
fn build(units: &[Unit]) -> Result<String, Failure> {
    let mut program = String::new();
    interval::run(|s| {
        let mut objects: Vec<Interval<'_, String>> = Vec::new();
        for unit @ (name, _, needs) in units {
            let inputs: Vec<_> = needs.iter().map(|&i| objects[i].clone()).collect();
            let object = s.try_interval(move |_| compile(unit, &inputs)).named(*name);
            for &i in *needs {
                let edge = objects[i].end().before(object.start());
                edge.expect("a new interval can wait for an older one");
            }
            objects.push(object.schedule());
        }
        let last = objects.last().expect("there are units");
        let copy = last.then(s, |_, object| program.clone_from(object));
        copy.expect("a new interval can wait for an older one");
    })?;
    Ok(program)
}

fn compile(unit: &Unit, inputs: &[Interval<'_, String>]) -> Result<String, String> {
    let (name, source, _) = unit;
    if !source.contains("fn ") {
        return Err(format!("no function in {source:?}"));
    }
    let inputs = inputs.iter().filter_map(|input| input.value());
    let inputs: Vec<&str> = inputs.map(String::as_str).collect();
    Ok(format!("{name}[{}]", inputs.join(" ")))
}
