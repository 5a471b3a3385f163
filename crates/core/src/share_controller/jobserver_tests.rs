//! Cycles of a share controller whose slots need tokens.

use super::ShareController;
use crate::Pool;
use crate::jobserver::{Jobserver, Tokens};
use crate::pool::{PoolInner, members};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use std::sync::Arc;
use tidegate_policy::SharePolicy;
use tidegate_policy::desire::Seen;
use tidegate_policy::trace::NoTrace;
use tidegate_share::{Location, Refusal};

/// The controller of a pool with four slots. The fifo contains `tokens` tokens. The test leaks all
/// of it, because the pool has no threads that could end it.
fn begin(tokens: usize) -> (ShareController, Arc<PoolInner>, File) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK);
    let mut fifo = options.open(&path).unwrap();
    fifo.write_all(&vec![b'+'; tokens]).unwrap();
    let server = Jobserver::open(&format!("--jobserver-auth=fifo:{}", path.display()));
    let tokens = Tokens::of(Some(Box::leak(Box::new(server.unwrap()))));
    let builder = Pool::builder().workers(4).share(SharePolicy::Auto);
    let pool = PoolInner::bare(builder.options().unwrap());
    let nowhere: Result<Location, Refusal> = Ok(Location::at(folder.path().join("no/table")));
    let controller = ShareController::new(pool.clone(), nowhere, tokens);
    (controller, pool, fifo)
}

/// Counts the tokens in the fifo.
fn free(fifo: &mut File) -> usize {
    let mut tokens = [0; 64];
    let count = fifo.read(&mut tokens).unwrap_or(0);
    fifo.write_all(&tokens[..count]).unwrap();
    count
}

/// Makes the pool desire `desire` processors.
fn desire(controller: &mut ShareController, desire: usize) {
    let seen = Seen {
        length: 1000,
        allotment: 1,
        usage: 1,
        working: 1000,
        queued: desire - 1,
        busy: 1,
        ..Seen::default()
    };
    assert_eq!(controller.rules.next_desire(&NoTrace, &seen), desire);
    super::controller(&controller.pool).desire.set(desire);
}

#[test]
fn slots_are_one_more_than_tokens() {
    let (mut controller, pool, mut fifo) = begin(2);
    desire(&mut controller, 4);
    assert!(controller.apply(0));
    assert_eq!((pool.sleep.slots(), free(&mut fifo)), (3, 0));
    fifo.write_all(b"++").unwrap();
    assert!(controller.apply(1));
    assert_eq!((pool.sleep.slots(), free(&mut fifo)), (4, 1));
    std::mem::forget((controller, pool));
}

#[test]
fn job_takes_no_more_than_it_desires() {
    let (mut controller, pool, mut fifo) = begin(3);
    desire(&mut controller, 2);
    assert!(controller.apply(0));
    assert_eq!((pool.sleep.slots(), free(&mut fifo)), (2, 2));
    std::mem::forget((controller, pool));
}

#[test]
fn held_slots_keep_their_tokens() {
    let (mut controller, pool, mut fifo) = begin(3);
    desire(&mut controller, 4);
    assert!(controller.apply(0));
    let holders = members::admit_all(&pool, 3);
    super::controller(&controller.pool).desire.set(0);
    assert!(controller.apply(1));
    assert_eq!((pool.sleep.slots(), free(&mut fifo)), (1, 1));
    holders.into_iter().for_each(|t| members::dismiss(&pool, t));
    assert!(!controller.apply(2));
    assert_eq!((pool.sleep.slots(), free(&mut fifo)), (1, 3));
    std::mem::forget((controller, pool));
}

#[test]
fn missing_tokens_bound_the_published_desire() {
    let (mut controller, pool, _fifo) = begin(1);
    desire(&mut controller, 4);
    assert_eq!(controller.tokens.usable(4), 4);
    assert!(controller.apply(0));
    assert_eq!(controller.tokens.usable(4), 3);
    std::mem::forget((controller, pool));
}
