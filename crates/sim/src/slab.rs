//! Reusable numbered places.

use std::num::NonZero;

/// A place that is remembered, in four bytes also where there may be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept(NonZero<u32>);

impl Kept {
    /// Remembers a place.
    pub fn new(place: u32) -> Self {
        Kept(NonZero::new(place.wrapping_add(1)).expect("fewer than 2^32 - 1 at a time"))
    }
    /// The number of the place.
    #[inline]
    pub fn place(self) -> u32 {
        self.0.get() - 1
    }
}

/// A vector whose freed places are used again, last freed first (it is still in the cache).
pub struct Slab<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// A place to fill: a freed one, which still holds its last value, or a new one with `make`.
    #[inline]
    pub fn place(&mut self, make: impl FnOnce() -> T) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let place = u32::try_from(self.places.len()).expect("fewer than 2^32 at a time");
            prefetch::push(&mut self.places, make());
            place
        })
    }
    #[inline]
    pub fn free(&mut self, index: u32) {
        self.free.push(index);
    }
    /// This place, if there is one.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.places.get(index as usize)
    }
    /// All places, also the free ones.
    pub fn places(&self) -> &[T] {
        &self.places
    }
    /// All places, also the free ones.
    pub fn places_mut(&mut self) -> &mut [T] {
        &mut self.places
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.places[index as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.places[index as usize]
    }
}
