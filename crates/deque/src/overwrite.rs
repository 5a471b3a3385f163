//! Plain stores to words that other threads change with exchanges.

use tidegate_sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// A word that the owner overwrites even if another thread has changed it meanwhile.
///
/// In loom 0.7, a plain store can fall between the two halves of an exchange, and loom then treats
/// the overwritten value as the current one. So under loom, the store is an exchange as well.
pub(crate) trait Overwrite<V> {
    fn overwrite(&self, value: V, order: Ordering);
}

macro_rules! overwrite {
    ($atomic:ty, $value:ty $(, $parameter:ident)?) => {
        impl$(<$parameter>)? Overwrite<$value> for $atomic {
            fn overwrite(&self, value: $value, order: Ordering) {
                if cfg!(loom) {
                    self.swap(value, order);
                } else {
                    self.store(value, order);
                }
            }
        }
    };
}

overwrite!(AtomicBool, bool);
overwrite!(AtomicU64, u64);
overwrite!(AtomicPtr<T>, *mut T, T);
