//! An `UnsafeCell` that loom can watch, and a cell that is filled once.

mod once;

pub use once::OnceBox;

/// Interior mutability with the access spelled as a closure, so that loom can check each access for races.
#[derive(Debug)]
pub struct UnsafeCell<T>(Inner<T>);

#[cfg(loom)]
type Inner<T> = loom::cell::UnsafeCell<T>;
#[cfg(not(loom))]
type Inner<T> = std::cell::UnsafeCell<T>;

impl<T> UnsafeCell<T> {
    /// Wraps `value`.
    pub fn new(value: T) -> Self {
        Self(Inner::new(value))
    }

    /// Calls `f` with a pointer for reading.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        #[cfg(loom)]
        return self.0.with(f);
        #[cfg(not(loom))]
        f(self.0.get())
    }

    /// Calls `f` with a pointer for reading and writing.
    #[inline]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(loom)]
        return self.0.with_mut(f);
        #[cfg(not(loom))]
        f(self.0.get())
    }

    /// The value, once nobody shares the cell any more.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}
