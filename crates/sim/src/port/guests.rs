//! What a port that has packets pass its disciplines knows of each of them.

use record::DelayClass;

/// What a port must know of each packet from its arrival on, by its handle: its class, and whether
/// it arrived in the measured interval and has no mark yet.
#[derive(Default)]
pub(super) struct Guests(Vec<(DelayClass, bool)>);

impl Guests {
    /// The packet arrives, within the interval or not.
    #[inline]
    pub fn set(&mut self, id: u32, class: DelayClass, measured: bool) {
        let place = id as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, Default::default());
        }
        self.0[place] = (class, measured);
    }

    /// The packet is marked: whether it counts.
    pub fn marked(&mut self, id: u32) -> bool {
        self.0.get_mut(id as usize).is_some_and(|(_, unmarked)| std::mem::take(unmarked))
    }

    /// The class of the packet.
    #[inline]
    pub fn class(&self, id: u32) -> DelayClass {
        self.0.get(id as usize).map_or_else(DelayClass::default, |(class, _)| *class)
    }
}
