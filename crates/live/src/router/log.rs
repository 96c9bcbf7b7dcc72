//! The log of a port: its arrivals and what became of each, for a replay through the simulator.

use packet::{Instant, Packet, TcpHeader};
use record::PacketClass;

/// What became of a packet at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The packet waits or is being transmitted.
    #[default]
    Waits,
    /// The port dropped the packet.
    Dropped,
    /// The packet's transmission ended.
    Left {
        /// Time when the transmission ended.
        at: Instant,
        /// Whether the queue marked the packet.
        marked: bool,
    },
}

/// An arrival at a port, in the order of arrival.
#[derive(Clone, Debug)]
pub struct Row {
    /// The packet as the queue saw it, with its number within the router.
    pub packet: Packet,
    /// TCP header of the packet, if the queue reads TCP headers.
    pub tcp: Option<TcpHeader>,
    /// Class of the packet in measurements.
    pub class: PacketClass,
    /// What became of the packet at the port.
    pub fate: Fate,
}

/// The first arrivals of a port.
#[derive(Clone, Debug, Default)]
pub struct Log {
    rows: Vec<Row>,
    most: usize,
}

/// Stands for the row of a packet that is not logged.
const NONE: u32 = u32::MAX;

impl Log {
    /// A log of at most `most` rows.
    pub fn new(most: usize) -> Log {
        Log { rows: Vec::new(), most: most.min(NONE as usize) }
    }

    /// Logs an arrival, unless the log is full. Returns the index of its row.
    pub fn arrived(&mut self, packet: &Packet, tcp: Option<TcpHeader>, class: PacketClass) -> u32 {
        if self.rows.len() >= self.most {
            return NONE;
        }
        self.rows.push(Row { packet: packet.clone(), tcp, class, fate: Fate::Waits });
        (self.rows.len() - 1) as u32
    }

    /// Sets the fate of the packet of a row.
    pub fn became(&mut self, row: u32, fate: Fate) {
        if let Some(row) = self.rows.get_mut(row as usize) {
            row.fate = fate;
        }
    }

    /// The logged arrivals, in order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}
