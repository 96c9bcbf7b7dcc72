//! Random packets that exercise a discipline's branches: overload and light load, bursts at one
//! instant, pauses, flows of unequal rates, small and large packets, every ECN field.

use packet::{Ack, Ecn, Header, Instant, Packet, Rate, Rng};

/// How random packets are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// Number of packets.
    pub packets: u32,
    /// Number of flows; flows with low numbers send most packets.
    pub flows: u64,
    /// Factor on the arrival rate; at 1 the rates of the phases are around the line's rate.
    pub load: f64,
    /// Whether packets have varied DSCPs, hosts and acknowledgements, or the defaults.
    pub headers: bool,
}

/// Mean gaps of the phases, in transmission times of a packet of [`MEAN_BYTES`] bytes.
const GAPS: [f64; 6] = [0.0, 0.3, 0.7, 1.0, 1.3, 3.0];
/// Mean pauses between phases, in transmission times of a packet of [`MEAN_BYTES`] bytes.
const PAUSES: [f64; 3] = [5.0, 20.0, 60.0];
const MEAN_BYTES: u64 = 1_000;
/// Mean number of packets in a phase, after which a mean gap between packets is drawn anew. Below:
/// mean number of packets between two pauses.
const PHASE: u64 = 12;
const PAUSE: u64 = 40;

/// DSCPs that are assigned to the flows in turn: default, AF11 to AF13, EF, LE and CS6.
const CODE_POINTS: [u8; 7] = [0, 10, 12, 14, 46, 1, 48];

/// Random packets for a line of `rate`, in order of time. Half of them arrive at whole
/// transmission times of 100 bytes, so that arrivals meet departures at one instant.
pub fn arrivals(traffic: Traffic, rate: Rate, seed: u64) -> Vec<Packet> {
    let mut rng = Rng::named(seed, "arrivals");
    let service = rate.time_for(MEAN_BYTES).nanos() as f64;
    let grid = rate.time_for(100).nanos();
    let (mut now, mut gap) = (0, 1.0);
    let mut next = |id| {
        if rng.below(PHASE) == 0 {
            gap = GAPS[rng.below(GAPS.len() as u64) as usize];
        }
        now += (rng.exponential(gap) * service / traffic.load) as u64;
        if rng.below(PAUSE) == 0 {
            now += (PAUSES[rng.below(PAUSES.len() as u64) as usize] * service) as u64;
        }
        if rng.below(2) == 0 {
            now = now.div_ceil(grid) * grid;
        }
        let flow = rng.below(traffic.flows).min(rng.below(traffic.flows));
        let bytes = match flow % 3 {
            2 => [40, 200][rng.below(2) as usize],
            _ => [40, 500, 1000, 1500, 1500, 1500][rng.below(6) as usize],
        };
        // Each flow is either classic or scalable, because a dual queue may reorder a mixed flow.
        let ecn = match (flow % 2, rng.below(4)) {
            (0, 0 | 1) => Ecn::NotEct,
            (0, _) => Ecn::Ect0,
            (_, 0) => Ecn::Ce,
            _ => Ecn::Ect1,
        };
        let newer = rng.below(4) > 0;
        let header = if traffic.headers { header(flow, bytes, newer) } else { Header::default() };
        Packet { id, flow, bytes, ecn, arrived: Instant::from_nanos(now), header }
    };
    (0..traffic.packets).map(&mut next).collect()
}

/// Header fields of a packet of `flow`: a DSCP, a source, a destination, and for packets of 40
/// bytes of every third flow the kind of acknowledgement.
fn header(flow: u64, bytes: u32, newer: bool) -> Header {
    let ack = match (flow % 3, bytes) {
        (2, 40) if newer => Ack::Newer,
        (2, 40) => Ack::Needed,
        _ => Ack::No,
    };
    let dscp = CODE_POINTS[(flow % CODE_POINTS.len() as u64) as usize];
    Header { dscp, ack, source: 1 + (flow % 2) as u16, destination: 1 + (flow / 2 % 3) as u16 }
}
