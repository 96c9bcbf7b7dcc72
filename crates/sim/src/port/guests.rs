//! What a port remembers of each packet while a discipline holds the packet.

use record::DelayClass;

/// For each packet, by its handle: its class, and whether the packet arrived in the measured
/// interval and has no mark yet.
#[derive(Default)]
pub(super) struct Guests(Vec<(DelayClass, bool)>);

impl Guests {
    /// A packet arrives; `measured` says whether this is in the measured interval.
    #[inline]
    pub fn set(&mut self, id: u32, class: DelayClass, measured: bool) {
        let place = id as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, Default::default());
        }
        self.0[place] = (class, measured);
    }

    /// A packet is marked. Returns whether the mark counts: only the first one of a packet that
    /// arrived in the measured interval does.
    pub fn marked(&mut self, id: u32) -> bool {
        self.0.get_mut(id as usize).is_some_and(|(_, unmarked)| std::mem::take(unmarked))
    }

    /// The class of a packet, under which its delay is counted.
    #[inline]
    pub fn class(&self, id: u32) -> DelayClass {
        self.0.get(id as usize).map_or_else(DelayClass::default, |(class, _)| *class)
    }
}
