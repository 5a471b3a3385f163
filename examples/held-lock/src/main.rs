//! A lock held across a parallel call, while an unrelated task waits for the lock. The page
//! `docs/guide/public-bugs.md` explains it.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, mpsc};
use std::{thread, time::Duration};

static TABLE: Mutex<u32> = Mutex::new(0);
static STOLEN: AtomicBool = AtomicBool::new(false);

fn main() {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(2);
    let pool = builder.build().unwrap();
    let (done, end) = mpsc::channel();
    pool.spawn(move || {
        let mut table = TABLE.lock().unwrap(); // held across a parallel call
        let wait_for_thief = || {
            while !STOLEN.load(SeqCst) {
                thread::yield_now();
            }
        };
        rayon::join(wait_for_thief, || {
            STOLEN.store(true, SeqCst); // runs on the other thread
            rayon::spawn(|| *TABLE.lock().unwrap() += 1); // an unrelated task that wants the lock
            thread::sleep(Duration::from_secs(1)); // meanwhile, the first thread waits
        });
        *table += 1;
        done.send(()).unwrap();
    });
    match end.recv_timeout(Duration::from_secs(5)) {
        Ok(()) => println!("ended"),
        Err(_) => println!("deadlock"),
    }
    std::process::exit(0);
}
