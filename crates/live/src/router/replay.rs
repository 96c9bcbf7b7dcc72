//! Replays a log through the simulator: equal arrivals at a fresh port of this scenario must meet
//! equal decisions, to the nanosecond.
//!
//! The port is in the form that the simulator would choose. For the many disciplines that decide at
//! arrival that is the folded one, which computes departures in another way than the router's ports do.

use packet::Instant;
use sim::port::{ExplicitPort, Offered, Port};
use sim::{Scenario, ScenarioError};

use super::log::{Fate, Log};

/// How a replay came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Arrivals offered again.
    pub arrivals: usize,
    /// The first one with another fate: its number, and both fates, the log's first.
    pub differs: Option<(usize, Fate, Fate)>,
}

/// Replays the log of the port called `name`. What waited at the end of the log, in either, is left out.
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

/// The fates of a log's packets at a port that holds them.
fn event_by_event(port: &mut ExplicitPort, log: &Log) -> Vec<Fate> {
    let mut fates = vec![Fate::Waits; log.rows().len()];
    let mut finish = None;
    for (row, number) in log.rows().iter().zip(0..) {
        serve(port, &mut finish, row.packet.arrived, log, &mut fates);
        let packet = packet::Packet { id: number, ..row.packet.clone() };
        let mut lost = |packet: packet::Packet| fates[packet.id as usize] = Fate::Dropped;
        finish = finish.or(port.offer(packet, row.tcp.as_ref(), row.class, &mut lost));
    }
    // What the log's last arrivals met later lies beyond it: updates may have come in between.
    let last = log.rows().last().map_or(Instant::ZERO, |row| row.packet.arrived);
    serve(port, &mut finish, last, log, &mut fates);
    fates
}

/// Ends transmissions and runs updates up to and including `until`, updates first.
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
