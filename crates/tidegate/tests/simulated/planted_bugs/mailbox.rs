//! A deadlock by a lost notification: the producer closes a mailbox without holding the lock with
//! which the writer decides to wait.
//!
//! The writer waits forever if the producer closes the mailbox and notifies the writer after the
//! writer has seen that the mailbox is open, but before it waits. Ordinary runs miss this: the gap
//! takes about 20 ns. The producer closes the mailbox right after it has sent the last page, and
//! the writer needs 0.1 ms for that page before it looks at the mailbox again.

use super::read;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use tidegate::sync::{Condvar, Mutex};

const PAGES: u32 = 3;

#[derive(Default)]
pub struct Mailbox {
    pages: Mutex<VecDeque<u32>>,
    closed: AtomicBool,
    changed: Condvar,
}

impl Mailbox {
    fn send(&self, page: u32) {
        self.pages.lock().unwrap().push_back(page);
        self.changed.notify_one();
    }

    /// Waits for a page. Returns `None` if the mailbox is closed and empty.
    fn receive(&self) -> Option<u32> {
        let mut pages = self.pages.lock().unwrap();
        loop {
            if let Some(page) = pages.pop_front() {
                return Some(page);
            }
            if self.closed.load(Ordering::SeqCst) {
                return None;
            }
            pages = self.changed.wait(pages).unwrap();
        }
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.changed.notify_one();
    }

    /// Like `close`, but no receiver is between its check and its wait.
    pub fn close_locked(&self) {
        let pages = self.pages.lock().unwrap();
        self.closed.store(true, Ordering::SeqCst);
        drop(pages);
        self.changed.notify_one();
    }
}

/// Renders pages and writes each of them as soon as it is ready.
pub fn print(close: fn(&Mailbox)) {
    let mailbox = Mailbox::default();
    let render = || {
        for page in 0..PAGES {
            read();
            mailbox.send(page);
        }
        close(&mailbox);
    };
    let write = || {
        let mut written = 0;
        while mailbox.receive().is_some() {
            read();
            written += 1;
        }
        written
    };
    let ((), written) = tidegate::join(render, write);
    assert_eq!(written, PAGES, "pages are missing");
}
