//! Times chains of the iterators of rayon and orx-parallel, and Tidegate's own loops, for
//! `tidegate-lab compare iter` and `compare native`.
//!
//! Two packages build this source: `stock` with the rayon-core that rayon's authors publish and
//! orx-parallel's own pool, and `tidegate` with Tidegate in place of both. Nothing else differs, so
//! any difference in time is due to the runtime. The parent process passes the number of workers as
//! the only argument. The program prints a greeting ([`identity`]), reads a [`request`] from each
//! line of standard input and answers it with a line on standard output, all in JSON, until the
//! input ends.
//!
//! | answer | when |
//! | --- | --- |
//! | `{"nanos", "cpu_nanos", "wakeups"}` | a sample: time per call, and what all calls used |
//! | `{"cpu_nanos", "wakeups"}` | the process has slept for the requested time |
//! | `{"levels", "bytes_per_level"}` | the scopes ended; no bytes if several threads ran them |
//! | `{"wrong": ".."}` | a parallel result differs from the serial one |
//! | `{"error": ".."}` | the request cannot be carried out |
//!
//! The parent decides what to measure, how often and in which order, and evaluates the answers.

#![forbid(unsafe_code)]

mod bench;
mod chains;
mod depth;
mod identity;
mod input;
mod native;
mod orx;
mod pools;
mod request;
mod trouble;
mod usage;

use std::env;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::Value;

use bench::Bench;
use request::Request;
use trouble::Trouble;

fn main() -> ExitCode {
    match serve(start(), io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: its parent is gone: {error}", env!("CARGO_PKG_NAME"));
            ExitCode::FAILURE
        }
    }
}

/// Starts the global pools and the bench's private pool. The
/// program's argument is the number of workers of each.
fn start() -> Result<Bench, Trouble> {
    let argument = env::args().nth(1).unwrap_or_default();
    let workers = argument.parse().map_err(|_| {
        Trouble::Refused(format!("{argument:?} is no number of workers for a pool"))
    })?;
    pools::start_global(workers)?;
    pools::set_workers(workers);
    native::start_global(workers)?;
    Bench::new(workers)
}

/// Prints the greeting, then answers each request until the input ends. If there is no bench
/// because the pools did not start, prints the reason instead of the greeting.
fn serve(
    bench: Result<Bench, Trouble>,
    requests: impl BufRead,
    mut answers: impl Write,
) -> io::Result<()> {
    let mut answer = |value: &Value| {
        writeln!(answers, "{value}")?;
        answers.flush()
    };
    let mut bench = match bench {
        Ok(bench) => bench,
        Err(trouble) => return answer(&trouble.to_json()),
    };
    answer(&identity::greeting())?;
    for line in requests.lines() {
        let done = Request::read(&line?).and_then(|request| bench.carry_out(&request));
        answer(&done.unwrap_or_else(|trouble| trouble.to_json()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(requests: &str) -> Vec<Value> {
        let mut written = Vec::new();
        serve(Bench::new(2), requests.as_bytes(), &mut written).unwrap();
        let lines = written.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn greeting_names_the_linked_rayon_core() {
        let greeting = &answers("")[0];
        assert_eq!(greeting["program"], env!("CARGO_PKG_NAME"));
        assert_eq!(greeting["rayon_core"], "1.13.0");
        let is_tidegate = env!("CARGO_PKG_NAME") == "iter-tidegate";
        assert_eq!(greeting["tidegate"].is_string(), is_tidegate, "{greeting}");
        let source = if is_tidegate {
            "this repository"
        } else {
            "the registry"
        };
        assert_eq!(greeting["source"], source);
    }

    #[test]
    fn startup_error_replaces_the_greeting() {
        let mut written = Vec::new();
        let trouble = Err(Trouble::Refused("no threads".into()));
        serve(trouble, &b""[..], &mut written).unwrap();
        assert_eq!(written, b"{\"error\":\"no threads\"}\n");
    }

    #[test]
    fn requests_are_answered_in_order() {
        let requests = concat!(
            r#"{"do":"sample","chain":"map_sum","items":10,"micros":2,"place":"inside"}"#,
            "\n",
            r#"{"do":"dance"}"#,
            "\n",
            r#"{"do":"idle","millis":1}"#,
            "\n",
            r#"{"do":"depth","levels":5,"workers":1,"stack":1000000}"#,
        );
        let found = answers(requests);
        assert_eq!(found.len(), 5);
        assert!(found[1]["nanos"].as_f64().unwrap() > 0.0);
        assert!(found[2]["error"].as_str().unwrap().contains("dance"));
        assert!(found[3].get("cpu_nanos").is_some());
        assert_eq!(found[4]["levels"], 5);
    }
}
