//! The beginning of every report, which describes programs, machine and policies.

use std::fmt;

use serde_json::{Map, Value, json};
use tidegate_policy::show_time;
use tidegate_sim::Deques;

use super::experiment::Experiment;
use tidegate_cli_support::json_fields;
use tidegate_cli_support::output::{JsonField, show_bytes, show_count, show_fields, to_json};

pub struct Head<'a> {
    experiment: &'a Experiment,
}

impl<'a> Head<'a> {
    /// The JSON fields that every report has.
    pub const FIELDS: &'a [JsonField<Self>] = json_fields! { head:
        processors "" = head.experiment.settings.processors;
        topology "the given file, or null" = head.experiment.topology;
        cache_bytes "per place" = head.experiment.settings.cache;
        costs "the given file, or null" = head.experiment.costs;
        options "among them desire (null if every job has all processors), est_cycle (the time between two \
            estimates of the desire), allot (the policy that divides processors among jobs), allotments (the given \
            limits, or null)" = head.options();
    };

    pub const fn new(experiment: &'a Experiment) -> Self {
        Self { experiment }
    }

    /// Returns the first JSON fields of a report. If there is only one program, they include its
    /// name and parameters; if there is only one seed, they include the seed.
    pub fn to_json(&self, seed: Option<u64>) -> Map<String, Value> {
        let mut fields = match &self.experiment.programs[..] {
            [only] => only.to_json(),
            _ => Map::new(),
        };
        fields.extend(to_json(Self::FIELDS, self));
        fields.extend(seed.map(|seed| ("sim_seed".to_owned(), seed.into())));
        fields
    }

    fn options(&self) -> Value {
        let settings = &self.experiment.settings;
        json!({
            "idle": settings.idle.to_string(),
            "steal": settings.steal.to_string(),
            "victim": settings.victim.to_string(),
            "place_deques": settings.deques == Deques::Place,
            "memory": settings.memory.to_string(),
            "pinned": settings.pinned,
            "desire": self.desire(),
            "est_cycle": show_time(settings.cycle),
            "allot": settings.allot.to_string(),
            "allotments": settings.allotments.as_ref().map(ToString::to_string),
        })
    }

    fn desire(&self) -> Option<String> {
        let desire = self.experiment.width.desire();
        desire.map(ToString::to_string)
    }
}

impl fmt::Display for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = &self.experiment.settings;
        for (number, simulated) in self.experiment.programs.iter().enumerate() {
            let plus = if number == 0 { "" } else { " + " };
            let parameters = show_fields(&simulated.program.parameters());
            write!(f, "{plus}{} {parameters}", simulated.program.name())?;
        }
        write!(f, ", simulated on {} processors", settings.processors)?;
        if self.experiment.topology.is_some() {
            let height = settings.places.height() as usize;
            write!(f, " up to {} apart", show_count(height, "step"))?;
        }
        if settings.cache > 0 {
            let (_, places) = settings.places.places();
            let cache = show_bytes(settings.cache as f64);
            write!(
                f,
                ", {} with {cache} of cache each",
                show_count(places, "place")
            )?;
        }
        if settings.deques == Deques::Place {
            write!(f, ", a deque for each place")?;
        }
        if settings.pinned {
            write!(f, ", workers pinned")?;
        }
        if let Some(desire) = self.desire() {
            write!(f, ", desire {desire}")?;
        }
        if let Some(allotments) = &settings.allotments {
            write!(f, ", allotments {allotments}")?;
        }
        Ok(())
    }
}
