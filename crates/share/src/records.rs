//! The result of looking for records of masks.

use crate::refusal::Refusal;

/// The records of masks beside the table. See [`confinement`](crate::confinement).
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Records {
    /// The names of the records whose owners live.
    pub owned: Vec<String>,
    /// The names of the abandoned records that were restored and removed.
    pub restored: Vec<String>,
    /// Why other files that are named like records were left alone.
    pub ignored: Vec<Refusal>,
}
