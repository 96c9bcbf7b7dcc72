//! The state of a user or sender outside its application; it is small, because there may be
//! millions.

use packet::Rng;

use crate::slab::Kept;

/// One user or sender.
pub(super) struct Source {
    /// Stream of random numbers from which the round-trip times of the source are drawn.
    pub rng: Rng,
    pub connections: Connections,
    /// Index of the source's stream of datagrams; `None` before its first datagram.
    pub stream: Option<Kept>,
    pub group: u16,
    /// Number of the source's machine; 16 bits are enough for a side
    /// ([`crate::scenario::schema::NETWORK`]).
    pub machine: u16,
}

impl Source {
    pub fn new(group: u16, machine: u32, rng: Rng) -> Self {
        let connections = Connections::default();
        Source { rng, connections, stream: None, group, machine: machine_number(machine) }
    }
}

/// The 16-bit number by which packets name a machine.
pub(super) fn machine_number(machine: u32) -> u16 {
    u16::try_from(machine).expect("machines have numbers of 16 bits")
}

/// Number of connections that are stored without allocation; most users have no more at a time.
const FEW: usize = 4;

/// Index of each connection, by the number that the application gives it.
#[derive(Default)]
pub(super) struct Connections {
    few: [Option<Kept>; FEW],
    /// Connections from number [`FEW`] on. (An empty vector would take three times the memory of an
    /// empty box.)
    more: Option<Box<More>>,
}

#[derive(Default)]
struct More(Vec<Option<Kept>>);

impl Connections {
    /// Stores the index `place` of the connection that the application calls `number`.
    pub fn put(&mut self, number: u32, place: u32) {
        let number = number as usize;
        let of_number = if number < FEW {
            &mut self.few[number]
        } else {
            let More(more) = &mut **self.more.get_or_insert_default();
            more.resize(more.len().max(number - FEW + 1), None);
            &mut more[number - FEW]
        };
        *of_number = Some(Kept::new(place));
    }

    /// Index of the connection with this number, or of the last one that had it.
    #[inline]
    pub fn get(&self, number: u32) -> Option<u32> {
        let number = number as usize;
        let kept = match self.few.get(number) {
            Some(kept) => *kept,
            None => *self.more.as_ref()?.0.get(number - FEW)?,
        };
        kept.map(Kept::place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_found_by_their_numbers() {
        let mut connections = Connections::default();
        let numbers = [9, 0, 3, 4, 63, 5];
        for (place, number) in (100..).zip(numbers) {
            assert_eq!(connections.get(number), None);
            connections.put(number, place);
        }
        connections.put(0, 7);
        let places = numbers.map(|number| connections.get(number));
        assert_eq!(places, [100, 7, 102, 103, 104, 105].map(Some));
        assert_eq!([1, 8, 62, 64].map(|number| connections.get(number)), [None; 4]);
    }

    #[test]
    fn an_idle_user_takes_two_hundred_bytes() {
        // The source, its application, and its pending wake-up (whole runs are measured by
        // tests/test_memory.py). Models with persistent connections need more.
        let wake = 32;
        let all = size_of::<Source>() + size_of::<traffic::web::User>() + wake;
        assert!(all <= 200, "{all} B");
    }
}
