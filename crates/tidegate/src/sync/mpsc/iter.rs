//! Iterators over the messages of a channel.

use super::Receiver;

/// Receives messages until all senders are gone. Returned by [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T>(pub(super) &'a Receiver<T>);

/// Receives messages while there are any. Returned by [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T>(pub(super) &'a Receiver<T>);

/// Like [`Iter`], but owns the receiver.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T: Send> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T: Send> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T: Send> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T: Send> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Send> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}
