//! Futures for tests: one wakes itself, and another waits for a signal.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Waits for `times` wake-ups, each of which this future requests itself.
pub async fn yields(times: u32) -> u32 {
    let mut left = times;
    poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    times
}

/// A future that is ready once the signal is given.
#[derive(Clone, Default)]
pub struct Signal(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Signal {
    pub fn give(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        let wakers = std::mem::take(&mut state.1);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Future for Signal {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        state.1.push(context.waker().clone());
        if state.0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
