//! Scopes nested in tasks of scopes: how much stack each level takes on each runtime.

use serde_json::{Value, json};

use super::sides::Sides;
use crate::compare::fact::Fact;
use tidegate_command::compare::Setting;
use tidegate_command::failure::Failure;
use tidegate_command::output::show_bytes;

/// The number of levels, normally and with `--size tiny`.
const LEVELS: u64 = 10_000;
const TINY_LEVELS: u64 = 100;

/// A worker's stack in bytes, far more than these levels should take. The system allocates its
/// pages only when they are touched.
const STACK: u64 = 1 << 30;

/// Numbers of workers. Only with one worker do all levels certainly share a stack.
const WORKERS: [usize; 2] = [1, 2];

/// Each program's stack per level. A crash counts as a result, too.
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
