//! Takes the samples of senders' windows and gauges that `record.controls` switches on.

use packet::Instant;
use record::ControlState;
use tcp::Endpoint;

use super::World;
use super::connection::Connection;

impl World {
    /// Time of the next sample of the congestion controls; `None` if they are not sampled.
    pub fn controls_due(&self) -> Option<Instant> {
        self.recorder.controls().map(record::Controls::due)
    }

    /// Samples the congestion control of every sender with outstanding data, in the order of users
    /// and of their connections. All events of this instant have been served.
    pub fn sample_controls(&mut self) {
        let Some(controls) = self.recorder.controls_mut() else { return };
        let open = self.connections.places().iter().filter(|it| it.serial.is_some());
        let mut senders: Vec<(ControlState, &Endpoint)> = open.flat_map(senders).collect();
        senders.sort_by_key(|(state, _)| (state.user, state.connection, state.end));
        for (state, end) in senders {
            controls.add(state, |show| end.gauges(show));
        }
        controls.taken();
    }
}

/// The ends of a connection with outstanding data; an outstanding SYN alone does not count.
fn senders(connection: &Connection) -> impl Iterator<Item = (ControlState, &Endpoint)> {
    let ends = (0..).zip(&connection.ends);
    let sending = ends.filter(|(_, end)| end.snd_una() > 0 && end.outstanding() > 0);
    sending.map(|(number, end)| {
        let state = ControlState {
            group: connection.group(),
            user: connection.source,
            connection: connection.number,
            end: number,
            cwnd: end.cwnd(),
            ssthresh: end.ssthresh(),
            outstanding: end.outstanding(),
            srtt: end.srtt(),
        };
        (state, end)
    })
}
