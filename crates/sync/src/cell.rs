//! An `UnsafeCell` that loom can check, and a cell that is written once.

mod once;

pub use once::OnceBox;

/// An `UnsafeCell` whose accesses are closures, so that loom can check each of them for races.
#[derive(Debug)]
pub struct UnsafeCell<T: ?Sized>(Inner<T>);

#[cfg(loom)]
type Inner<T> = loom::cell::UnsafeCell<T>;
#[cfg(not(loom))]
type Inner<T> = std::cell::UnsafeCell<T>;

impl<T> UnsafeCell<T> {
    /// Creates a cell around `value`.
    pub fn new(value: T) -> Self {
        Self(Inner::new(value))
    }

    /// Consumes the cell and returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
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
}
