//! Turns units of application data into epochs of the a-b-t model.
//!
//! Hernández-Campos, Jeffay, Smith; Weigle et al., "Tmix: a tool for generating realistic TCP
//! application workloads in ns-2", CCR 36(3), 2006.

use crate::connection::Connection;
use crate::units::Unit;

/// A request and its response; sizes in bytes, times in microseconds at the end systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch {
    pub think_us: u64,
    pub request: u64,
    pub delay_us: u64,
    pub response: u64,
}

/// A unit of one side of a concurrent connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Time since the end of the side's previous unit, microseconds.
    pub gap_us: u64,
    pub bytes: u64,
    /// Bytes of the other side that had arrived before this unit was sent.
    pub after: u64,
}

/// The epochs of a sequential connection, from its units in order of time.
pub fn epochs(connection: &Connection, units: &[Unit], into: &mut Vec<Epoch>) {
    into.clear();
    let rtt_us = round_trips(connection);
    let mut before: Option<&Unit> = None;
    let mut open = false; // the last epoch has no response yet
    for unit in units {
        let side = unit.side;
        let pause = match before {
            // Both units went in one direction, so that both ends of the pause were captured with
            // an equal delay.
            Some(last) if last.side == side => unit.unit.start_us.saturating_sub(last.unit.end_us),
            Some(last) => elapsed(unit, last.unit.end_us, rtt_us[side]),
            None => first(connection, unit, rtt_us[side]),
        };
        let bytes = unit.unit.bytes;
        match (side, into.last_mut()) {
            (0, _) => into.push(Epoch { think_us: pause, request: bytes, ..Epoch::default() }),
            (_, Some(epoch)) if open => (epoch.delay_us, epoch.response) = (pause, bytes),
            _ => into.push(Epoch { delay_us: pause, response: bytes, ..Epoch::default() }),
        }
        open = side == 0;
        before = Some(unit);
    }
}

/// The units of one side of a concurrent connection.
pub fn pieces<'a>(
    connection: &Connection,
    units: &'a [Unit],
    side: usize,
) -> impl Iterator<Item = Piece> + use<'a> {
    let rtt_us = round_trips(connection)[side];
    let start = units.iter().find(|u| u.side == side).map_or(0, |u| first(connection, u, rtt_us));
    let mut end_us = None;
    units.iter().filter(move |u| u.side == side).map(move |u| {
        let gap_us = end_us.map_or(start, |end| u.unit.start_us.saturating_sub(end));
        end_us = Some(u.unit.end_us);
        Piece { gap_us, bytes: u.unit.bytes, after: u.unit.after }
    })
}

/// Least round-trip times between the point of capture and each end, microseconds; 0 if unknown.
fn round_trips(connection: &Connection) -> [u64; 2] {
    connection.rtt_ns.map(|rtt| (rtt.unwrap_or(0).max(0) as u64 + 500) / 1_000)
}

/// Time from when the end system received data that was captured at `from_us` to when it sent
/// `unit`, microseconds.
fn elapsed(unit: &Unit, from_us: u64, rtt_us: u64) -> u64 {
    unit.unit.start_us.saturating_sub(from_us).saturating_sub(rtt_us)
}

/// Time from the established connection, or from the first packet seen, to the first unit,
/// microseconds.
fn first(connection: &Connection, unit: &Unit, rtt_us: u64) -> u64 {
    match connection.ready_us[unit.side] {
        Some(ready) => elapsed(unit, ready, rtt_us),
        None => unit.unit.start_us,
    }
}
