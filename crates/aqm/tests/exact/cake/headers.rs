//! Random TCP headers of acknowledgements: with SACK blocks, ECN echoes, duplicates and reordering.

use packet::{Rng, TcpHeader};

/// Generates the next header of each flow.
#[derive(Default)]
pub struct Headers {
    acked: Vec<u32>,
    echoes: Vec<(bool, bool)>,
}

/// First acknowledgement number, so close to 2^32 that the numbers wrap.
const FIRST: u32 = u32::MAX - 200_000;

impl Headers {
    pub fn next(&mut self, flow: u64, bytes: u32, rng: &mut Rng) -> TcpHeader {
        let flow = flow as usize;
        if self.acked.len() <= flow {
            self.acked.resize(flow + 1, FIRST);
            self.echoes.resize(flow + 1, (false, false));
        }
        let acked = &mut self.acked[flow];
        *acked = acked.wrapping_add([0, 1_000, 1_000, 2_000][rng.below(4) as usize]);
        if rng.below(30) == 0 {
            self.echoes[flow] = (rng.below(2) == 0, rng.below(3) == 0);
        }
        let (ece, cwr) = self.echoes[flow];
        let rare = |rng: &mut Rng, one_in: u64| rng.below(one_in) == 0;
        let ack = if rare(rng, 20) { acked.wrapping_sub(1_500) } else { *acked };
        let opens = rare(rng, 80);
        let stamp = 1 + (acked.wrapping_sub(FIRST) / 3_000);
        let mut header = TcpHeader {
            ack,
            acks: !rare(rng, 90),
            opens,
            ece,
            cwr,
            other_flags: opens || rare(rng, 60),
            payload: if bytes > 40 || rare(rng, 40) { 100 } else { 0 },
            stamps: (flow % 2 == 1).then(|| (stamp - u32::from(rare(rng, 10)), stamp)),
            other_options: rare(rng, 60),
            ..TcpHeader::default()
        };
        let blocks = if rng.below(10) < 6 { 0 } else { rng.below(3) };
        for _ in 0..blocks {
            // Blocks begin at a few numbers only, so that they often cover each other.
            let start = acked.wrapping_add(2_000 * (1 + rng.below(3) as u32));
            let start = if rare(rng, 15) { acked.wrapping_sub(3_000) } else { start };
            header.sack.push(start, start.wrapping_add(1_000 * (1 + rng.below(4) as u32)));
        }
        header
    }
}
