//! Starting over: what `--fresh` removes.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::build::{Accepted, BUILDS};
use crate::files::{self, host};
use crate::folder::{Begun, DIFFERENT, Folder, LOG, RESULT, RUNNING, attempt};
use crate::name::Name;
use crate::parent::has_ended;
use crate::piece::Entry;
use crate::run::book::{Line, ROUNDS, plan_path};
use crate::{Error, Split, plan};

/// Removes the plan of the folder at `path`, and what belongs to it. The caller has the lock.
pub fn clear<P: Split>(path: &Path) -> Result<(), Error> {
    let plan = plan_path(path);
    let Some(digest) = plan::digest_at::<P>(&plan)? else {
        return Ok(());
    };
    let folder = Folder::new(path, digest);
    let names = folder.names()?;
    if let Some(begun) = names.iter().find_map(|name| living(name)) {
        return Err(still_runs(path, &begun));
    }
    // All are looked at before the first is removed.
    let names = names.iter().filter(|name| belongs(&folder, name));
    let mut files: Vec<_> = names.map(|name| path.join(name)).collect();
    // The plan last: without it, a second attempt would not know what belongs to it.
    files.push(plan);
    for file in files {
        fs::remove_file(&file).map_err(|error| Error::at(&file, &error))?;
    }
    files::sync(path)
}

/// Returns the attempt of this file if it may still run, and publish later.
fn living(name: &str) -> Option<Begun> {
    let begun = attempt(name, RUNNING)?;
    let is_dead = begun.host == host() && has_ended(begun.pid);
    (!is_dead).then_some(begun)
}

fn still_runs(path: &Path, begun: &Begun) -> Error {
    let (item, host, pid) = (&begun.item, &begun.host, begun.pid);
    let file = path.join(&begun.file);
    let file = file.display();
    Error::elsewhere(format!(
        "cannot start over: item {item} runs on {host}, process {pid}: wait for it or stop it; if it was killed, remove {file}"
    ))
}

/// Whether a file was made by this crate, and for the plan of the folder. A user may have other
/// files here.
fn belongs(folder: &Folder, name: &str) -> bool {
    let path = folder.path().join(name);
    if !path.is_file() {
        return false;
    }
    let Some((stem, kind)) = name.rsplit_once('.') else {
        return (name == ROUNDS && is_log::<Line>(&path))
            || (name == BUILDS && is_log::<Accepted>(&path));
    };
    let item = stem.parse::<Name>();
    match kind {
        RESULT => item.is_ok_and(|item| folder.trailer(&item).is_ok()),
        LOG => item.is_ok_and(|item| folder.failures(&item).is_ok_and(|all| !all.is_empty())),
        RUNNING | DIFFERENT => attempt(name, kind).is_some(),
        "json" => is_list(&path, folder.plan()),
        _ => false,
    }
}

fn is_log<T: DeserializeOwned>(path: &Path) -> bool {
    files::lines::<T>(path).is_ok_and(|lines| !lines.is_empty())
}

fn is_list(path: &Path, plan: &str) -> bool {
    let text = files::read(path).unwrap_or_default();
    let entries = serde_json::from_slice::<Vec<Entry>>(&text);
    entries
        .is_ok_and(|entries| !entries.is_empty() && entries.iter().all(|entry| entry.plan == plan))
}
