//! The runs of an experiment in a table, and the figures of a run that another process has made.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::broken;
use super::experiment::Experiment;
use super::head::Head;
use super::sheet::{self, Row, Rows};
use tidegate_cli_support::failure::Failure;
use tidegate_cli_support::json_fields;
use tidegate_cli_support::output::{JsonField, show_count, to_json};

/// A table with a row for each run or for each job.
pub struct Runs<'a> {
    pub experiment: &'a Experiment,
    /// The seed, unless each row has one.
    pub seed: Option<u64>,
    /// The work and span of the programs.
    pub sizes: Map<String, Value>,
    pub rows: Rows,
}

/// What a table says about a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figures {
    pub row: Row,
    sizes: Map<String, Value>,
    /// Which bound the run exceeded.
    broken: Option<String>,
}

impl Figures {
    /// Runs the experiment with the seed of this number.
    pub fn of(experiment: &Experiment, number: usize) -> Result<Self, Failure> {
        let done = experiment.once(number, &mut |_, _| {})?;
        Ok(Self {
            row: sheet::row(&done),
            sizes: experiment.sizes(&done.outcome),
            broken: broken(experiment, &done),
        })
    }
}

impl<'a> Runs<'a> {
    /// The JSON fields that only tables have, beside the rows and their summary.
    pub const FIELDS: &'a [JsonField<Self>] = json_fields! { runs:
        instances "the number of jobs" = runs.experiment.instances;
        arrivals "as given, or null if all jobs arrive at once"
            = runs.experiment.arrivals.as_ref().map(ToString::to_string);
    };

    /// Creates the table of these runs, one for each seed of the experiment.
    pub fn new(experiment: &'a Experiment, runs: Vec<Figures>) -> Result<Self, Failure> {
        if let Some(why) = runs.iter().find_map(|run| run.broken.clone()) {
            return Err(Failure::Wrong(why));
        }
        let sizes = runs.first().map(|run| run.sizes.clone());
        Ok(Self {
            experiment,
            seed: None,
            sizes: sizes.unwrap_or_default(),
            rows: Rows::of_runs(runs.into_iter().map(|run| run.row).collect()),
        })
    }

    /// Returns the line above the table.
    pub fn title(&self) -> String {
        let experiment = self.experiment;
        let jobs = show_count(experiment.instances, "job");
        let seeds = show_count(experiment.seeds, "seed");
        format!("{}, {jobs}, {seeds}", Head::new(experiment))
    }

    /// Returns the text that `tidegate sim` prints. `where_rest` begins the note on the columns that
    /// do not fit.
    pub fn text(&self, where_rest: &str) -> String {
        let table = self.rows.to_table().fitted(where_rest);
        format!("{}\n{table}\n", self.title())
    }

    pub fn to_json(&self) -> Value {
        let experiment = self.experiment;
        let mut fields = Head::new(experiment).to_json(self.seed);
        fields.extend(to_json(Self::FIELDS, self));
        fields.extend(self.sizes.clone());
        fields.extend(self.rows.to_json());
        fields.into()
    }
}
