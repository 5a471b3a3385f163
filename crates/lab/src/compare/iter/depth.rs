//! Scopes inside of tasks of scopes: how much stack a level takes on either runtime.

use serde_json::{Value, json};

use super::sides::Sides;
use crate::compare::fact::Fact;
use tidegate_command::compare::Setting;
use tidegate_command::failure::Failure;
use tidegate_command::output::show_bytes;

/// Levels, and levels where everything is tiny.
const LEVELS: u64 = 10_000;
const TINY_LEVELS: u64 = 100;

/// Bytes of stack of a worker, far more than so many levels should take. They are touched lazily.
const STACK: u64 = 1 << 30;

/// Numbers of workers. Only on one can all levels be sure to lie on the same stack.
const WORKERS: [usize; 2] = [1, 2];

/// What each program says. One that breaks down is a fact as well.
pub fn facts(sides: &Sides, setting: &Setting) -> Result<Vec<Fact>, Failure> {
    let levels = setting.sized(TINY_LEVELS, LEVELS);
    let mut facts = Vec::new();
    for (runtime, program) in sides.both() {
        for workers in WORKERS {
            let request =
                json!({ "do": "depth", "levels": levels, "workers": workers, "stack": STACK });
            let what = format!("{levels} scopes inside of scopes on {runtime} {workers}");
            facts.push(match program.borrow_mut().ask(&request) {
                Ok(answer) => finished(what, answer),
                Err(Failure::Impossible(why)) => {
                    Fact::new(what, Value::Null, format!("not finished, {why}"))
                }
                Err(failure) => return Err(failure),
            });
        }
    }
    Ok(facts)
}

fn finished(what: String, answer: Value) -> Fact {
    let words = match answer["bytes_per_level"].as_f64() {
        Some(bytes) => format!("finished, {} of stack a level", show_bytes(bytes.round())),
        None => "finished, on more than one thread".into(),
    };
    Fact::new(what, answer, words)
}
