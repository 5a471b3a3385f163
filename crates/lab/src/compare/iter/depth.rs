//! Measures how much stack each level of nested scopes takes on each runtime.

use serde_json::{Value, json};

use super::identity::Library;
use super::sides::Sides;
use crate::compare::fact::Fact;
use tidegate_cli_support::compare::Setting;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::output::show_bytes;

const LEVELS: u64 = 10_000;
/// The number of nested scopes with `--size tiny`.
const TINY_LEVELS: u64 = 100;

/// The stack size of a worker in bytes, which is far more than the levels should take. The system
/// allocates a page only when it is touched.
const STACK: u64 = 1 << 30;

/// The numbers of workers. All levels are sure to share a stack only if there is one worker.
const WORKERS: [usize; 2] = [1, 2];

/// Returns the stack per level of each program. If a program crashes, its fact states that.
pub fn facts(sides: &Sides, setting: &Setting) -> Result<Vec<Fact>, Failure> {
    let levels = setting.sized(TINY_LEVELS, LEVELS);
    let mut facts = Vec::new();
    for (runtime, program) in sides.both(Library::Rayon) {
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
