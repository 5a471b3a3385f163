//! A substitute for the `file` module on systems without tables.

use crate::layout::{Claim, Head, Row};
use crate::location::{Access, Location};
use crate::refusal::{Kind, Refusal};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tidegate_sync::futex::SharedWord;

/// A type without values, because no table can be opened.
#[derive(Debug)]
pub(crate) struct Table(Infallible);

/// Returns an error: no user has a table on this system.
pub(crate) fn user() -> Result<u32, Refusal> {
    let text = "there is no table of jobs on this system".to_owned();
    Err(Refusal::new(Kind::Unsupported, text))
}

/// Returns `false`: no table needs a folder on this system.
pub(crate) fn is_folder_of(_: u32, _: &Path) -> bool {
    false
}

/// Defines methods that are never called, because `Table` has no values.
macro_rules! none {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Table {
            $(pub(crate) fn $name(&self, $($argument: $type),*) -> $result {
                let _ = ($($argument),*);
                match self.0 {}
            })*
        }
    };
}
none! {
    path() -> &Path;
    is_current() -> bool;
    head() -> Result<Head, Refusal>;
    row(index: usize) -> Result<Row, Refusal>;
    claim(index: usize) -> Result<Claim, Refusal>;
    write_row(index: usize, row: &Row) -> Result<(), Refusal>;
    write_claim(index: usize, claim: Claim) -> Result<(), Refusal>;
    lock(index: usize) -> Result<bool, Refusal>;
    unlock(index: usize) -> Result<(), Refusal>;
    is_locked(index: usize) -> Result<bool, Refusal>;
    sweep(index: usize) -> Result<bool, Refusal>;
    announce() -> Result<(), Refusal>;
    change() -> Option<Arc<SharedWord>>;
    wait(seen: u32, limit: Duration) -> Result<(), Refusal>;
}

impl Table {
    pub(crate) fn open(_: &Location, _: Access) -> Result<Option<Self>, Refusal> {
        user().map(|_| None)
    }

    pub(crate) fn could_be_made(_: &Location) -> Result<(), Refusal> {
        user().map(drop)
    }
}
