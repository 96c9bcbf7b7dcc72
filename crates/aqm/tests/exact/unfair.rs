//! One unresponsive flow among twenty small ones: it offers twice the line's rate, they a quarter
//! of it together.

use aqmlab_aqm::Cx;
use packet::{Ecn, Instant, Packet, Rng};

use super::{Pairs, build};

/// Transmission time of a packet of 1000 bytes at 10 Mbit/s.
const SLOT: f64 = 800_000.0;

/// The share of their packets that the small flows get through, and the share of the line that
/// the heavy flow gets.
pub fn run(name: &str, pairs: Pairs) -> (f64, f64) {
    let mut product = match build(name, pairs, 10_000_000) {
        Ok(built) => built.into_discipline(),
        Err(why) => panic!("{pairs:?}: {why}"),
    };
    let (mut rng, mut traffic) = (Rng::named(1, "draws"), Rng::named(1, "traffic"));
    let (mut now, mut free) = (0.0, 0.0);
    let (mut offered, mut small, mut heavy, mut slots) = (0, 0, 0, 0);
    for id in 0..200_000 {
        now += traffic.exponential(SLOT / 2.25);
        let counts = id > 40_000;
        while free <= now {
            let at = Instant::from_nanos(free as u64);
            while let Some(due) = product.next_tick().filter(|due| *due <= at) {
                product.on_tick(&mut Cx { now: due, rng: &mut rng, out: &mut |_| {} });
            }
            let sent = product.dequeue(&mut Cx { now: at, rng: &mut rng, out: &mut |_| {} });
            slots += u32::from(counts);
            match sent {
                Some(packet) if packet.flow == 0 => heavy += u32::from(counts),
                Some(_) => small += u32::from(counts),
                None => {}
            }
            free += SLOT;
        }
        let flow = if traffic.below(9) < 8 { 0 } else { 1 + traffic.below(20) };
        offered += u32::from(counts && flow != 0);
        let arrived = Instant::from_nanos(now as u64);
        let packet =
            Packet { id, flow, bytes: 1000, ecn: Ecn::NotEct, arrived, header: Default::default() };
        product.enqueue(packet, &mut Cx { now: arrived, rng: &mut rng, out: &mut |_| {} });
    }
    (f64::from(small) / f64::from(offered), f64::from(heavy) / f64::from(slots))
}

#[test]
fn a_plain_queue_lets_all_suffer_alike() {
    // RED does not always keep the line busy.
    for (name, idle) in [("droptail", 0.0), ("red", 0.03)] {
        let (small, heavy) = run(name, &[]);
        super::close(small, 1.0 / 2.25, 0.02);
        super::close(heavy, 8.0 / 9.0, 0.01 + idle);
    }
}
