//! A user or sender as the world knows it, apart from its application: little, for there are millions.

use packet::Rng;

use crate::slab::Kept;

/// One user or sender.
pub(super) struct Source {
    /// For its distances.
    pub rng: Rng,
    pub connections: Connections,
    /// Place of its stream of datagrams; none before the first.
    pub stream: Option<Kept>,
    pub group: u16,
    /// A scenario has few enough of them ([`crate::scenario::schema::NETWORK`]).
    pub machine: u16,
}

impl Source {
    pub fn new(group: u16, machine: u32, rng: Rng) -> Self {
        let connections = Connections::default();
        Source { rng, connections, stream: None, group, machine: machine_number(machine) }
    }
}

/// A machine as packets name it.
pub(super) fn machine_number(machine: u32) -> u16 {
    u16::try_from(machine).expect("machines have numbers of 16 bits")
}

/// Most users have no more connections at a time than this.
const FEW: usize = 4;

/// Place of each connection, by the application's number.
#[derive(Default)]
pub(super) struct Connections {
    few: [Option<Kept>; FEW],
    /// From number [`FEW`] on. (A vector would take three times the place where there are none.)
    more: Option<Box<More>>,
}

#[derive(Default)]
struct More(Vec<Option<Kept>>);

impl Connections {
    /// The application gives a number to the connection in this place.
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

    /// Where the connection of this number is, or was last.
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
        // Its place among the sources, itself, and its pending wake-up (measured whole:
        // tests/test_memory.py). What the models of kept connections need comes on top.
        let wake = 32;
        let all = size_of::<Source>() + size_of::<traffic::web::User>() + wake;
        assert!(all <= 200, "{all} B");
    }
}
