//! Counters of every flow in debug builds, which check that every packet sent is delivered, dropped
//! or in flight.

use std::collections::HashMap;

use crate::spread::BySpread;

/// Numbers of packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Amount {
    packets: u64,
    bytes: u64,
}

impl Amount {
    fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    sent: Amount,
    delivered: Amount,
    dropped: Amount,
}

/// The counters of all directional flows. In release builds they do nothing and cost nothing.
#[derive(Debug, Default)]
pub struct Conservation {
    flows: HashMap<u64, Entry, BySpread>,
}

impl Conservation {
    /// Whether packets are counted.
    pub const ON: bool = cfg!(debug_assertions);

    fn entry(&mut self, flow: u64, book: impl FnOnce(&mut Entry)) {
        if Self::ON {
            book(self.flows.entry(flow).or_default());
        }
    }

    /// A host sent a packet.
    #[inline]
    pub fn sent(&mut self, flow: u64, bytes: u32) {
        self.entry(flow, |e| e.sent.add(bytes));
    }
    /// A packet reached its host.
    #[inline]
    pub fn delivered(&mut self, flow: u64, bytes: u32) {
        self.entry(flow, |e| e.delivered.add(bytes));
    }
    /// A queue dropped a packet.
    #[inline]
    pub fn dropped(&mut self, flow: u64, bytes: u32) {
        self.entry(flow, |e| e.dropped.add(bytes));
    }

    /// Asserts that the packets in flight (flow and bytes of each) are those that were sent and
    /// have neither arrived nor been dropped. Discards flows without packets in flight.
    ///
    /// # Panics
    /// If a packet or a byte of any flow is missing or too many.
    pub fn check(&mut self, on_the_way: impl Iterator<Item = (u64, u32)>) {
        let mut travelling: HashMap<u64, Amount, BySpread> = HashMap::default();
        for (flow, bytes) in on_the_way {
            travelling.entry(flow).or_default().add(bytes);
        }
        self.flows.retain(|flow, e| {
            let now = travelling.remove(flow).unwrap_or_default();
            for (part, whole) in [
                (e.delivered.packets + e.dropped.packets + now.packets, e.sent.packets),
                (e.delivered.bytes + e.dropped.bytes + now.bytes, e.sent.bytes),
            ] {
                assert_eq!(part, whole, "flow {flow}: {e:?}, on the way {now:?}");
            }
            now.packets > 0
        });
        assert!(travelling.is_empty(), "packets of flows that never sent: {travelling:?}");
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn settled_books_pass() {
        let mut conservation = Conservation::default();
        for bytes in [40, 1_500, 1_500] {
            conservation.sent(7, bytes);
        }
        conservation.delivered(7, 40);
        conservation.dropped(7, 1_500);
        conservation.check([(7, 1_500)].into_iter());
        conservation.delivered(7, 1_500);
        conservation.check(std::iter::empty());
        assert!(conservation.flows.is_empty());
    }

    #[test]
    #[should_panic(expected = "flow 7")]
    fn a_lost_byte_is_noticed() {
        let mut conservation = Conservation::default();
        conservation.sent(7, 1_500);
        conservation.check([(7, 1_499)].into_iter());
    }
}
