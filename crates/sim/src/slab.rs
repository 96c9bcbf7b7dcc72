//! A slab: a vector with reusable slots, addressed by index.

use std::num::NonZero;

/// The index of a slot, stored so that an optional index also takes four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept(NonZero<u32>);

impl Kept {
    /// Stores the index of a slot.
    pub fn new(place: u32) -> Self {
        Kept(NonZero::new(place.wrapping_add(1)).expect("fewer than 2^32 - 1 at a time"))
    }
    /// The index of the slot.
    #[inline]
    pub fn place(self) -> u32 {
        self.0.get() - 1
    }
}

/// A vector whose freed slots are reused, last freed first (its memory is still in the cache).
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
    /// Allocates a slot and returns its index: a freed slot, which still holds its last value, or a
    /// new one with the value of `make`.
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
    /// The value in slot `index`, if the slab has that slot.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.places.get(index as usize)
    }
    /// The values of all slots, the free ones included.
    pub fn places(&self) -> &[T] {
        &self.places
    }
    /// The values of all slots, the free ones included.
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
