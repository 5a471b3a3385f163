//! Stores to words that other threads exchange.

use tidegate_sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// A word that the owner overwrites, whatever other threads have exchanged it for.
///
/// loom 0.7 lets a plain store slip in between the two halves of an exchange, and then takes the
/// overwritten value for the current one. Under loom, the store is therefore an exchange itself.
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
