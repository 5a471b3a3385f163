//! The lock of `par_bridge`, held while its iterator waits for a task that computes in parallel. The
//! guide's page on public bugs explains it.

use rayon::iter::{ParallelBridge, ParallelIterator};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc;
use std::{iter, thread, time::Duration};

static STOLEN: AtomicBool = AtomicBool::new(false);
static LOCKED: AtomicBool = AtomicBool::new(false);

fn until(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        thread::yield_now();
    }
}

fn main() {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(3);
    let pool = builder.build().unwrap();
    let (done, end) = mpsc::channel();
    pool.spawn(move || {
        let (sender, receiver) = mpsc::channel();
        let consume = move || {
            until(&STOLEN);
            let next = move || {
                LOCKED.store(true, SeqCst); // `par_bridge` holds its lock across `next`
                receiver.recv().ok()
            };
            iter::from_fn(next).par_bridge().for_each(drop::<u32>);
        };
        let produce = move || {
            let steal = || {
                STOLEN.store(true, SeqCst); // runs on the third thread
                until(&LOCKED);
                thread::sleep(Duration::from_secs(1)); // meanwhile, the second thread waits
            };
            rayon::join(|| until(&LOCKED), steal);
            sender.send(1).unwrap();
        };
        rayon::join(consume, produce);
        done.send(()).unwrap();
    });
    match end.recv_timeout(Duration::from_secs(5)) {
        Ok(()) => println!("ended"),
        Err(_) => println!("deadlock"),
    }
    std::process::exit(0);
}
