//! Stores values under small numbers, which are reused.

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

#[derive(Clone, Debug)]
pub(super) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Stores a value and returns its number.
    pub(super) fn put(&mut self, value: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.places[number as usize] = Some(value);
            return number;
        }
        let number = u32::try_from(self.places.len()).expect("fewer than 2^32 values");
        self.places.push(Some(value));
        number
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        self.places.get(number as usize)?.as_ref()
    }

    /// Removes and returns a value. Its number may be reused.
    pub(super) fn take(&mut self, number: u32) -> T {
        let value = self.places[number as usize].take();
        self.free.push(number);
        value.expect(LIVES)
    }
}

const LIVES: &str = "a value that was not taken out";

impl<T> Index<u32> for Slab<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        self.places[number as usize].as_ref().expect(LIVES)
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        self.places[number as usize].as_mut().expect(LIVES)
    }
}
