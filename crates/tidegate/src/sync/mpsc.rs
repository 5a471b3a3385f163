//! Channels with several senders and one receiver, like those of [`std::sync::mpsc`].
//!
//! The senders of bounded and unbounded channels have the same type, and [`SyncSender`] is another
//! name of it. Receivers are [`Sync`], unlike those of `std`: threads may share one by reference.
//!
//! ```
//! use tidegate::sync::mpsc::channel;
//!
//! let (sender, receiver) = channel();
//! tidegate::for_each(0..4, |n| sender.send(n).unwrap());
//! drop(sender);
//! assert_eq!(receiver.iter().sum::<i32>(), 6);
//! ```

mod iter;

pub use iter::{IntoIter, Iter, TryIter};

use std::collections::VecDeque;
use std::fmt;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tidegate_sync::simulation::{access, block, is_simulated};

/// Creates a channel without a bound: a send never waits.
///
/// ```
/// let (sender, receiver) = tidegate::sync::mpsc::channel();
/// sender.send(7).unwrap();
/// assert_eq!(receiver.recv(), Ok(7));
/// ```
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    new(None)
}

/// Creates a channel that holds at most `bound` messages: a send waits until there is room. With a
/// bound of 0, a send waits until its message has been received.
///
/// ```
/// let (sender, receiver) = tidegate::sync::mpsc::sync_channel(1);
/// sender.send(1).unwrap();
/// assert!(sender.try_send(2).is_err());
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (Sender<T>, Receiver<T>) {
    new(Some(bound))
}

fn new<T>(bound: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let state = State {
        messages: VecDeque::new(),
        taken: 0,
        senders: 1,
        has_receiver: true,
        receivers: 0,
    };
    let shared = Arc::new(Shared {
        bound,
        state: Mutex::new(state),
        sent: Condvar::new(),
        received: Condvar::new(),
    });
    (Sender(shared.clone()), Receiver(shared))
}

struct Shared<T> {
    /// `None`: a send never waits.
    bound: Option<usize>,
    state: Mutex<State<T>>,
    /// Notified when a message has been sent or the last sender is gone.
    sent: Condvar,
    /// Notified when a message has been received or the receiver is gone.
    received: Condvar,
}

struct State<T> {
    messages: VecDeque<T>,
    /// The number of messages that have been received.
    taken: u64,
    senders: usize,
    has_receiver: bool,
    /// The number of threads that wait for a message.
    receivers: usize,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        let state = self.state.lock();
        state.unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn has_room(&self, state: &State<T>) -> bool {
        let room = |bound: usize| state.messages.len() < bound.max(1);
        self.bound.is_none_or(room)
    }
}

impl<T: Send> Shared<T> {
    /// Waits until `is_ready` returns true, or until `until`.
    #[track_caller]
    fn wait<'a>(
        &'a self,
        (what, changed): (&'static str, &Condvar),
        mut state: MutexGuard<'a, State<T>>,
        limit: Option<Duration>,
        is_ready: impl Fn(&State<T>) -> bool + Sync,
    ) -> MutexGuard<'a, State<T>> {
        if is_simulated() {
            drop(state);
            // False only if the limit has passed.
            while block(what, limit, &|| is_ready(&self.lock())) == Some(true) {
                let state = self.lock();
                if is_ready(&state) {
                    return state;
                }
            }
            return self.lock();
        }
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        while !is_ready(&state) {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            state = match left {
                Some(Duration::ZERO) => break,
                Some(left) => {
                    let waited = changed.wait_timeout(state, left);
                    waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0
                }
                None => {
                    let waited = changed.wait(state);
                    waited.unwrap_or_else(|poisoned| poisoned.into_inner())
                }
            };
        }
        state
    }
}

/// The sending half of a channel. Its clones send to the same channel.
pub struct Sender<T>(Arc<Shared<T>>);

/// The name that the sender of a bounded channel has in `std`.
pub type SyncSender<T> = Sender<T>;

impl<T: Send> Sender<T> {
    /// Sends a message. Waits for room if the channel has a bound.
    ///
    /// ```
    /// let (sender, receiver) = tidegate::sync::mpsc::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send(7).unwrap_err().0, 7);
    /// ```
    ///
    /// # Errors
    /// If the receiver is gone; the error contains the message.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        access("sends a message");
        let shared = &*self.0;
        let mut state = shared.lock();
        if !shared.has_room(&state) {
            let has_room = |state: &State<T>| shared.has_room(state) || !state.has_receiver;
            let wait = ("waits for room in a channel", &shared.received);
            state = shared.wait(wait, state, None, has_room);
        }
        if !state.has_receiver {
            return Err(SendError(message));
        }
        state.messages.push_back(message);
        let number = state.taken + state.messages.len() as u64;
        shared.sent.notify_one();
        if shared.bound != Some(0) {
            drop(state);
            access("has sent a message");
            return Ok(());
        }
        let is_taken = |state: &State<T>| state.taken >= number || !state.has_receiver;
        let wait = ("waits for the receiver of a message", &shared.received);
        let mut state = shared.wait(wait, state, None, is_taken);
        if state.taken >= number {
            return Ok(());
        }
        // With a bound of 0, the channel holds one message at most.
        Err(SendError(state.messages.pop_back().expect("not received")))
    }

    /// Sends a message if there is room, or if the bound is 0 and the receiver waits.
    ///
    /// ```
    /// let (sender, _receiver) = tidegate::sync::mpsc::sync_channel(1);
    /// assert!(sender.try_send(1).is_ok() && sender.try_send(2).is_err());
    /// ```
    ///
    /// # Errors
    /// If there is no room or the receiver is gone; the error contains the message.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        access("sends a message");
        let shared = &*self.0;
        let mut state = shared.lock();
        if !state.has_receiver {
            return Err(TrySendError::Disconnected(message));
        }
        let meets = shared.bound != Some(0) || state.receivers > state.messages.len();
        if !shared.has_room(&state) || !meets {
            return Err(TrySendError::Full(message));
        }
        state.messages.push_back(message);
        shared.sent.notify_one();
        drop(state);
        access("has sent a message");
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Self(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        {
            let mut state = self.0.lock();
            state.senders -= 1;
            if state.senders == 0 {
                self.0.sent.notify_all();
            }
        }
        access("has dropped a sender");
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The receiving half of a channel.
pub struct Receiver<T>(Arc<Shared<T>>);

impl<T: Send> Receiver<T> {
    /// Waits for a message and receives it.
    ///
    /// ```
    /// let (sender, receiver) = tidegate::sync::mpsc::channel();
    /// sender.send(7).unwrap();
    /// drop(sender);
    /// assert!(receiver.recv() == Ok(7) && receiver.recv().is_err());
    /// ```
    ///
    /// # Errors
    /// If the channel is empty and all senders are gone.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.receive(None).map_err(|_| RecvError)
    }

    /// Like [`recv`](Self::recv), for at most `limit`. In a simulated pool, the limit refers to the
    /// simulation's time.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (_sender, receiver) = tidegate::sync::mpsc::channel::<i32>();
    /// assert!(receiver.recv_timeout(Duration::ZERO).is_err());
    /// ```
    ///
    /// # Errors
    /// If no message has arrived in time, or if the channel is empty and all senders are gone.
    #[track_caller]
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        self.receive(Some(limit))
    }

    /// Receives a message if there is one.
    ///
    /// ```
    /// let (sender, receiver) = tidegate::sync::mpsc::channel();
    /// assert!(receiver.try_recv().is_err());
    /// sender.send(7).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// ```
    ///
    /// # Errors
    /// If the channel is empty.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        access("looks for a message");
        let mut state = self.0.lock();
        match self.take(&mut state) {
            Some(message) => Ok(message),
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Receives messages until all senders are gone.
    ///
    /// ```
    /// let (sender, receiver) = tidegate::sync::mpsc::channel();
    /// (0..3).for_each(|n| sender.send(n).unwrap());
    /// drop(sender);
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// Receives the messages that are there, and never waits.
    ///
    /// ```
    /// let (sender, receiver) = tidegate::sync::mpsc::channel();
    /// (0..3).for_each(|n| sender.send(n).unwrap());
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
    /// ```
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }

    #[track_caller]
    fn receive(&self, limit: Option<Duration>) -> Result<T, RecvTimeoutError> {
        access("receives a message");
        let shared = &*self.0;
        let mut state = shared.lock();
        if state.messages.is_empty() && state.senders > 0 {
            state.receivers += 1;
            let arrived = |state: &State<T>| !state.messages.is_empty() || state.senders == 0;
            let wait = ("waits for a message", &shared.sent);
            state = shared.wait(wait, state, limit, arrived);
            state.receivers -= 1;
        }
        let received = match self.take(&mut state) {
            Some(message) => Ok(message),
            None if state.senders == 0 => Err(RecvTimeoutError::Disconnected),
            None => Err(RecvTimeoutError::Timeout),
        };
        drop(state);
        access("has received");
        received
    }

    fn take(&self, state: &mut State<T>) -> Option<T> {
        let message = state.messages.pop_front()?;
        state.taken += 1;
        match self.0.bound {
            None => {}
            // The senders wait for different messages to be received.
            Some(0) => self.0.received.notify_all(),
            Some(_) => self.0.received.notify_one(),
        }
        Some(message)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let left = {
            let mut state = self.0.lock();
            state.has_receiver = false;
            self.0.received.notify_all();
            // A sender that waits takes its message back.
            match self.0.bound {
                Some(0) => VecDeque::new(),
                _ => std::mem::take(&mut state.messages),
            }
        };
        // Dropped without the lock: this may run user code.
        drop(left);
        access("has dropped a receiver");
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
