//! A running program of `benches/iter`. Each request and each answer is a line of JSON.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::identity::Identity;
use crate::talk::Talk;
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::usage::Usage;

pub struct Program {
    /// What the program stated about itself in its greeting.
    pub identity: Identity,
    talk: Talk,
}

impl Program {
    /// Starts the program at `path`, with pools of this many workers, and reads its greeting.
    pub fn start(path: &Path, workers: usize) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let mut talk = Talk::start(name, Command::new(path).arg(workers.to_string()))?;
        let greeting = talk.hear("at its start")?;
        let identity = Identity::deserialize(&greeting).map_err(|error| {
            let name = &talk.name;
            Failure::Impossible(format!(
                "{name} sent an unexpected first line: {greeting}: {error}"
            ))
        })?;
        Ok(Self { identity, talk })
    }

    pub fn ask(&mut self, request: &Value) -> Result<Value, Failure> {
        self.talk.say(request);
        let answer = self.talk.hear(&request.to_string())?;
        let said = |what: &Value| format!("{} on {request}: {what}", self.talk.name);
        match (answer.get("wrong"), answer.get("error")) {
            (Some(what), _) => Err(Failure::Wrong(said(what))),
            (None, Some(what)) => Err(Failure::Impossible(said(what))),
            (None, None) => Ok(answer),
        }
    }
}

pub fn usage(answer: &Value) -> Usage {
    Usage {
        cpu: answer["cpu_nanos"].as_u64().map(Duration::from_nanos),
        wakeups: answer["wakeups"].as_u64(),
        switches: None,
    }
}
