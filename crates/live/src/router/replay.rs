//! Replays a log through the simulator: equal arrivals at a fresh port of the scenario must have
//! equal fates, with departure times equal to the nanosecond.
//!
//! The port has the form that the simulator would choose. For the many disciplines that decide at
//! arrival that is the folded form, which computes departures at arrival, unlike the router's
//! ports.

use packet::Instant;
use sim::port::{ExplicitPort, Offered, Port};
use sim::{Scenario, ScenarioError};

use super::log::{Fate, Log};

/// Result of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Number of arrivals replayed.
    pub arrivals: usize,
    /// The first arrival with different fates: its row, the fate in the log, and that in the
    /// replay.
    pub differs: Option<(usize, Fate, Fate)>,
}

/// Replays the log of the port called `name`. A packet that still waits at the end of the log or of
/// the replay is not compared.
///
/// # Errors
/// A sentence, if the scenario contradicts itself.
pub fn replay(scenario: &Scenario, name: &str, log: &Log) -> Result<Replayed, ScenarioError> {
    let mut parts = sim::simulated_parts(scenario)?;
    let place = parts.names.iter().position(|of| of == name);
    let place = place.ok_or_else(|| ScenarioError(format!("there is no port {name}")))?;
    let fates = match &mut parts.network.ports_mut()[place] {
        Port::Folded(folded) => {
            let offer = |row: &super::log::Row| {
                let mut packet = row.packet.clone();
                match folded.offer(&mut packet, row.class) {
                    Offered::Leaves { at, .. } => {
                        Fate::Left { at, marked: packet.ecn != row.packet.ecn }
                    }
                    _ => Fate::Dropped,
                }
            };
            log.rows().iter().map(offer).collect()
        }
        Port::Explicit(explicit) => event_by_event(explicit, log),
        Port::Effect(_) | Port::Channel(_) => {
            return Err(ScenarioError(format!("{name} is no port that a live run has")));
        }
    };
    let pairs = log.rows().iter().map(|row| row.fate).zip(fates);
    let unlike = |(logged, again): &(Fate, Fate)| {
        *logged != Fate::Waits && *again != Fate::Waits && logged != again
    };
    let differs = pairs.enumerate().find(|(_, pair)| unlike(pair));
    Ok(Replayed {
        arrivals: log.rows().len(),
        differs: differs.map(|(row, (logged, again))| (row, logged, again)),
    })
}

/// The fates of a log's packets at an explicit port, which queues packets and serves events.
fn event_by_event(port: &mut ExplicitPort, log: &Log) -> Vec<Fate> {
    let mut fates = vec![Fate::Waits; log.rows().len()];
    let mut finish = None;
    for (row, number) in log.rows().iter().zip(0..) {
        serve(port, &mut finish, row.packet.arrived, log, &mut fates);
        let packet = packet::Packet { id: number, ..row.packet.clone() };
        let mut lost = |packet: packet::Packet| fates[packet.id as usize] = Fate::Dropped;
        finish = finish.or(port.offer(packet, row.tcp.as_ref(), row.class, &mut lost));
    }
    // Later fates are not replayed: an update of the discipline may have come in between.
    let last = log.rows().last().map_or(Instant::ZERO, |row| row.packet.arrived);
    serve(port, &mut finish, last, log, &mut fates);
    fates
}

/// Ends transmissions and runs the discipline's updates up to and including `until`; at one instant
/// updates come first.
fn serve(
    port: &mut ExplicitPort,
    finish: &mut Option<Instant>,
    until: Instant,
    log: &Log,
    fates: &mut [Fate],
) {
    loop {
        let end = finish.filter(|at| *at <= until);
        let tick = port.next_tick().filter(|at| *at <= until);
        match (end, tick) {
            (None, None) => return,
            (end, Some(tick)) if end.is_none_or(|end| tick <= end) => {
                let mut lost = |packet: packet::Packet| fates[packet.id as usize] = Fate::Dropped;
                *finish = finish.or(port.tick(tick, &mut lost));
            }
            (Some(at), _) | (None, Some(at)) => {
                let mut lost = |packet: packet::Packet| fates[packet.id as usize] = Fate::Dropped;
                let (packet, next) = port.finish_transmission(at, &mut lost);
                let before = log.rows()[packet.id as usize].packet.ecn;
                fates[packet.id as usize] = Fate::Left { at, marked: packet.ecn != before };
                *finish = next;
            }
        }
    }
}
