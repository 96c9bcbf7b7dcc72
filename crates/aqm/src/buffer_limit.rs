//! The buffer limit of a queue.

use packet::Backlog;

/// How an arrival is compared with the limit. Implementations disagree, and the difference is
/// visible in published comparisons, so each is available by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// The arrival must fit whole: at most L packets and at most B bytes ever wait
    /// (Linux `pfifo` and `bfifo`).
    #[default]
    Whole,
    /// Some space must remain, but the arrival's tail may overhang it: up to B + MTU − 1 bytes wait
    /// (ns-2 RED; the first defect named in Järvinen et al., *Harsh RED*). A limit in packets works
    /// as with [`Fit::Whole`].
    Overhanging,
    /// Space must remain *after* the arrival: at most L − 1 packets and B − 1 bytes wait
    /// (ns-2 DropTail).
    Short,
}

/// How much may wait: a limit in packets, in bytes, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimit {
    packets: u64,
    bytes: u64,
    fit: Fit,
}

impl BufferLimit {
    /// A limit that is never reached.
    pub const UNLIMITED: BufferLimit =
        BufferLimit { packets: u64::MAX, bytes: u64::MAX, fit: Fit::Whole };

    /// Room for `packets` packets. None at all (0) means that every arrival is dropped: even a
    /// packet that finds the line free passes through the queue.
    pub const fn of_packets(packets: u32, fit: Fit) -> Self {
        BufferLimit { packets: packets as u64, bytes: u64::MAX, fit }
    }
    /// Room for `bytes` bytes of IP packets.
    pub const fn of_bytes(bytes: u64, fit: Fit) -> Self {
        BufferLimit { packets: u64::MAX, bytes, fit }
    }
    /// A copy of this buffer limit that also limits the queue to `bytes` bytes.
    pub const fn and_bytes(self, bytes: u64) -> Self {
        BufferLimit { bytes, ..self }
    }

    /// Whether a packet of `size` bytes is accepted where `backlog` waits.
    #[inline]
    pub const fn admits(&self, backlog: Backlog, size: u32) -> bool {
        let packets = backlog.packets as u64;
        let with_arrival = backlog.bytes + size as u64;
        match self.fit {
            Fit::Whole => packets < self.packets && with_arrival <= self.bytes,
            Fit::Overhanging => packets < self.packets && backlog.bytes < self.bytes,
            Fit::Short => packets + 1 < self.packets && with_arrival < self.bytes,
        }
    }

    /// How an arrival is compared with the limit.
    pub const fn fit(&self) -> Fit {
        self.fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(packets: u32, bytes: u64) -> Backlog {
        Backlog { packets, bytes }
    }

    #[test]
    fn packets() {
        let (whole, short) =
            (BufferLimit::of_packets(3, Fit::Whole), BufferLimit::of_packets(3, Fit::Short));
        assert!(whole.admits(backlog(2, 9_999), 1500) && !whole.admits(backlog(3, 0), 1));
        assert!(short.admits(backlog(1, 9_999), 1500) && !short.admits(backlog(2, 0), 1));
        let overhang = BufferLimit::of_packets(3, Fit::Overhanging);
        assert!(overhang.admits(backlog(2, 0), 1500) && !overhang.admits(backlog(3, 0), 1500));
    }

    #[test]
    fn bytes() {
        let limit = |fit| BufferLimit::of_bytes(3000, fit);
        assert!(limit(Fit::Whole).admits(backlog(1, 1500), 1500));
        assert!(!limit(Fit::Whole).admits(backlog(2, 2980), 40));
        assert!(!limit(Fit::Short).admits(backlog(1, 1500), 1500));
        assert!(limit(Fit::Short).admits(backlog(1, 1500), 1499));
        assert!(limit(Fit::Overhanging).admits(backlog(2, 2999), 1500));
        assert!(!limit(Fit::Overhanging).admits(backlog(2, 3000), 1));
    }

    #[test]
    fn no_room_drops_everything_and_no_limit_nothing() {
        for fit in [Fit::Whole, Fit::Overhanging, Fit::Short] {
            assert!(!BufferLimit::of_packets(0, fit).admits(backlog(0, 0), 1));
            assert!(!BufferLimit::of_bytes(0, fit).admits(backlog(0, 0), 1));
        }
        assert!(!BufferLimit::of_packets(1, Fit::Short).admits(backlog(0, 0), 1), "ns-2, L = 1");
        assert!(BufferLimit::UNLIMITED.admits(backlog(u32::MAX, u64::MAX >> 1), u32::MAX));
    }

    #[test]
    fn both_limits_hold_together() {
        let limit = BufferLimit::of_packets(3, Fit::Whole).and_bytes(2000);
        assert!(limit.admits(backlog(2, 500), 1500));
        assert!(!limit.admits(backlog(2, 501), 1500) && !limit.admits(backlog(3, 0), 1));
    }
}
