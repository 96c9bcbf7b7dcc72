//! A trace of the events of packets at a port, with a row for each event.

use packet::{Event, Instant};

use crate::{Column, PacketClass, Table};

/// The class, the user and the length of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// Kind of the packet, whether it is a retransmission, and the group of its user.
    pub class: PacketClass,
    /// User of the packet, numbered over all groups.
    pub user: u32,
    /// IP length in bytes.
    pub bytes: u32,
}

/// The event of a row, with its code in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum What {
    Arrived = 0,
    Started = 1,
    Dropped = 2,
    Marked = 3,
}

const NO_CAUSE: u8 = 255;

#[derive(Clone, Copy, Debug)]
struct Row {
    at: Instant,
    what: What,
    why: u8,
    who: Who,
    queue: u32,
    id: u32,
}

/// A row of the trace for an observer of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedPacket {
    /// Time of the event.
    pub at: Instant,
    /// Code of the event: 0 arrived, 1 its transmission began, 2 dropped, 3 marked.
    pub what: u8,
    /// Index of the cause in [`packet::DropReason::ALL`]; 255 for an event without a cause.
    pub why: u8,
    /// The class, the user and the length of the packet.
    pub who: Who,
    /// Number of the packet while it is in flight.
    pub id: u32,
}

/// Most rows kept for an observer who has not read them; then the older half is discarded.
const MOST_SEEN: usize = 8_192;

/// The packet at the port with a certain number, or the last one that had this number.
#[derive(Clone, Copy, Debug, Default)]
struct Guest {
    who: Who,
    waits: bool,
}

/// The trace of one port. Packets are identified by the numbers that their driver gives them.
#[derive(Clone, Debug, Default)]
pub struct PacketTrace {
    guests: Vec<Guest>,
    waiting: u32,
    rows: Vec<Row>,
    /// Whether rows are kept only until the observer has read them.
    passing: bool,
    /// Whether the observer has switched the rows off.
    unwatched: bool,
    /// Number of rows that the observer has read already.
    looked: usize,
}

impl PacketTrace {
    /// A trace that is `kept` as a whole, or only until an observer has read it; `None` if neither.
    pub(crate) fn of(kept: bool, watched: bool) -> Option<Self> {
        (kept || watched).then(|| PacketTrace { passing: !kept, ..PacketTrace::default() })
    }

    /// Switches the rows for the observer on or off.
    pub fn watch(&mut self, on: bool) {
        self.unwatched = !on;
    }

    /// Returns the rows that the observer has not read yet.
    pub fn drain(&mut self) -> Vec<TracedPacket> {
        let seen = |r: &Row| TracedPacket {
            at: r.at,
            what: r.what as u8,
            why: r.why,
            who: r.who,
            id: r.id,
        };
        let rows = self.rows[self.looked..].iter().map(seen).collect();
        if self.passing {
            self.rows.clear();
        }
        self.looked = self.rows.len();
        rows
    }

    /// Records that a packet reaches the port.
    pub fn arrived(&mut self, now: Instant, id: u32, who: Who) {
        let place = id as usize;
        if self.guests.len() <= place {
            self.guests.resize(place + 1, Guest::default());
        }
        self.guests[place] = Guest { who, waits: false };
        self.note(now, id, What::Arrived, NO_CAUSE);
    }
    /// Records that the transmission of a packet begins.
    pub fn started(&mut self, now: Instant, id: u32) {
        self.leave(id);
        self.note(now, id, What::Started, NO_CAUSE);
    }
    /// Records an event that a discipline reports: the packet was queued, marked, or dropped on
    /// arrival or from the queue.
    pub fn reported(&mut self, now: Instant, event: &Event) {
        match event {
            Event::Queued { id } => {
                self.waiting += 1;
                self.guests[*id as usize].waits = true;
            }
            Event::Marked { id, why } => self.note(now, *id, What::Marked, *why as u8),
            Event::Dropped { packet, why } => {
                self.leave(packet.id);
                self.note(now, packet.id, What::Dropped, *why as u8);
            }
        }
    }
    /// Number of packets that wait.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    fn leave(&mut self, id: u32) {
        let waited = std::mem::take(&mut self.guests[id as usize].waits);
        self.waiting -= u32::from(waited);
    }

    fn note(&mut self, at: Instant, id: u32, what: What, why: u8) {
        let Guest { who, waits } = self.guests[id as usize];
        if self.passing {
            if self.unwatched {
                return;
            }
            if self.rows.len() == MOST_SEEN {
                self.rows.drain(..MOST_SEEN / 2);
            }
        }
        let queue = self.waiting - u32::from(waits);
        self.rows.push(Row { at, what, why, who, queue, id });
    }

    /// The traces of several ports as one table in order of time; events of one instant are in the
    /// order of the ports.
    pub(crate) fn table(ports: &[&PacketTrace]) -> Table {
        let of_port = |(port, trace): (usize, &&PacketTrace)| {
            (0..trace.rows.len()).map(|row| (port as u32, row as u32)).collect::<Vec<_>>()
        };
        let mut order: Vec<(u32, u32)> = ports.iter().enumerate().flat_map(of_port).collect();
        let row = |&(port, row): &(u32, u32)| &ports[port as usize].rows[row as usize];
        if ports.len() > 1 {
            order.sort_by_key(|place| row(place).at);
        }
        let bytes = |of: fn(&Row) -> u8| Column::U8(order.iter().map(|p| of(row(p))).collect());
        let words = |of: fn(&Row) -> u32| Column::U32(order.iter().map(|p| of(row(p))).collect());
        let times = order.iter().map(|p| row(p).at.nanos()).collect();
        let groups = order.iter().map(|p| row(p).who.class.group()).collect();
        let columns = [
            ("time_ns", Column::U64(times)),
            ("port", Column::U32(order.iter().map(|&(port, _)| port).collect())),
            ("event", bytes(|r| r.what as u8)),
            ("why", bytes(|r| r.why)),
            ("kind", bytes(|r| r.who.class.kind())),
            ("again", bytes(|r| u8::from(r.who.class.is_retransmission()))),
            ("group", Column::U16(groups)),
            ("user", words(|r| r.who.user)),
            ("bytes", words(|r| r.who.bytes)),
            ("queue_packets", words(|r| r.queue)),
        ];
        let columns = columns.into_iter().map(|(name, column)| (name.to_owned(), column));
        Table { name: "trace", columns: columns.collect(), every_s: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use packet::{DropReason, Ecn, Packet};

    fn at(t: u64) -> Instant {
        Instant::from_nanos(t)
    }

    fn who(user: u32) -> Who {
        Who { class: PacketClass::new(Kind::Data, user == 2).of_group(1), user, bytes: 100 }
    }

    fn dropped(id: u32, why: DropReason) -> Event {
        let header = Default::default();
        let packet = Packet { id, flow: 0, bytes: 100, ecn: Ecn::Ect0, arrived: at(0), header };
        Event::Dropped { packet, why }
    }

    fn column(table: &Table, name: &str) -> Vec<u64> {
        match &table.columns.iter().find(|(n, _)| n == name).unwrap().1 {
            Column::U8(v) => v.iter().map(|&x| x.into()).collect(),
            Column::U16(v) => v.iter().map(|&x| x.into()).collect(),
            Column::U32(v) => v.iter().map(|&x| x.into()).collect(),
            Column::U64(v) => v.clone(),
            Column::F64(_) => panic!("no such column"),
        }
    }

    #[test]
    fn every_row_reports_how_many_others_wait() {
        let mut trace = PacketTrace::default();
        trace.arrived(at(1), 5, who(0));
        trace.reported(at(1), &Event::Queued { id: 5 });
        trace.arrived(at(2), 9, who(1));
        trace.reported(at(2), &Event::Marked { id: 9, why: DropReason::Early });
        trace.reported(at(2), &Event::Queued { id: 9 });
        trace.arrived(at(3), 6, who(2));
        trace.reported(at(3), &dropped(6, DropReason::Overflow)); // on arrival: two wait
        trace.reported(at(4), &dropped(5, DropReason::Forced)); // from the queue: one is left
        trace.started(at(4), 9);
        let table = PacketTrace::table(&[&trace]);
        assert_eq!(column(&table, "event"), [0, 0, 3, 0, 2, 2, 1]);
        assert_eq!(column(&table, "why"), [255, 255, 0, 255, 2, 1, 255]);
        assert_eq!(column(&table, "queue_packets"), [0, 1, 1, 2, 2, 1, 0]);
        assert_eq!(column(&table, "user"), [0, 1, 1, 2, 2, 0, 1]);
        assert_eq!(column(&table, "again"), [0, 0, 0, 1, 1, 0, 0]);
        assert_eq!(column(&table, "kind"), [3; 7]);
        assert_eq!(trace.waiting(), 0);
    }

    #[test]
    fn an_observer_takes_rows_away_once_and_leaves_no_heap() {
        let mut trace = PacketTrace::of(false, true).unwrap();
        (0..20_000).for_each(|t| trace.arrived(at(t), 3, who(0)));
        assert!(trace.rows.len() <= MOST_SEEN);
        let seen = trace.drain();
        assert_eq!(seen.last().map(|s| (s.at, s.what, s.id)), Some((at(19_999), 0, 3)));
        assert!(trace.drain().is_empty());
        trace.watch(false);
        trace.arrived(at(20_000), 3, who(0));
        assert!(trace.drain().is_empty());
    }

    #[test]
    fn a_trace_that_is_kept_stays_whole_under_looks() {
        let mut trace = PacketTrace::of(true, true).unwrap();
        (0..3).for_each(|t| trace.arrived(at(t), 3, who(0)));
        assert_eq!((trace.drain().len(), trace.drain().len()), (3, 0));
        assert_eq!(column(&PacketTrace::table(&[&trace]), "time_ns"), [0, 1, 2]);
    }

    #[test]
    fn several_ports_are_one_table_in_order_of_time() {
        let traces = [[1, 3], [2, 3]].map(|times| {
            let mut trace = PacketTrace::default();
            times.iter().for_each(|&t| trace.arrived(at(t), 0, who(0)));
            trace
        });
        let table = PacketTrace::table(&traces.iter().collect::<Vec<_>>());
        assert_eq!(column(&table, "time_ns"), [1, 2, 3, 3]);
        assert_eq!(column(&table, "port"), [0, 1, 0, 1]);
    }

    #[test]
    fn as_many_ports_as_a_scenario_has_keep_their_numbers() {
        let mut traces: Vec<_> = (0..=65_536).map(|_| PacketTrace::default()).collect();
        traces[65_536].arrived(at(1), 0, who(0));
        let table = PacketTrace::table(&traces.iter().collect::<Vec<_>>());
        assert_eq!(column(&table, "port"), [65_536]);
    }

    #[test]
    fn a_row_takes_as_much_memory_as_the_schema_says() {
        assert_eq!(size_of::<Row>(), 32);
    }
}
