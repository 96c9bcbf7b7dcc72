//! REM: a second transcription, in both places of the signal, and ns-2's one packet less.

use aqmlab_aqm::Admission;
use packet::{Backlog, Ecn, Rng, Why};

use super::duel::{Arrival, Queue, Reference, duel};
use super::{Bench, Pairs, gate, packet};

/// `run_updaterule`, `enque` and `deque` of ns-2, with a choice of the place of the signal.
#[derive(Default)]
struct Ns {
    ns2: bool,
    ecn: bool,
    qib: bool,
    inw: f64,
    v_count: f64,
    v_ave: f64,
    v_pl: f64,
    v_prob: f64,
}

const MEAN: f64 = 800.0;

impl Ns {
    fn pro(&self, size: u64) -> f64 {
        if self.qib { self.v_prob * size as f64 / MEAN } else { self.v_prob }
    }
    fn late(&self) -> bool {
        self.ns2 && self.ecn
    }
}

impl Reference for Ns {
    fn clock(&self) -> Option<(u64, u64)> {
        Some((2_000_000, 2_000_000))
    }
    fn tick(&mut self, queue: Queue) {
        let unit = if self.qib { MEAN } else { 1.0 };
        let nqueued = if self.qib { queue.bytes as f64 / unit } else { queue.packets as f64 };
        let mut in_avg = self.v_ave;
        in_avg *= 1.0 - self.inw;
        in_avg += self.inw * self.v_count / unit;
        let ptc = 1e7 / (8.0 * MEAN);
        let mut pl = self.v_pl + 0.03 * (in_avg + 0.1 * (nqueued - 20.0) - 0.002 * ptc);
        if pl < 0.0 {
            pl = 0.0;
        }
        self.v_prob = 1.0 - packet::math::pow(1.01, -pl);
        self.v_count = 0.0;
        self.v_ave = in_avg;
        self.v_pl = pl;
    }
    fn arrive(&mut self, arrival: Arrival, rng: &mut Rng) -> Admission {
        self.v_count += if self.qib { arrival.size as f64 } else { 1.0 };
        let full = match (self.ns2, self.qib) {
            (true, true) => (arrival.bytes + arrival.size) as f64 >= 40.0 * MEAN,
            (true, false) => arrival.packets + 1 >= 40,
            (false, _) => arrival.packets >= 40,
        };
        if full {
            Admission::Dropped(Why::Overflow)
        } else if self.late() || rng.uniform() >= self.pro(arrival.size) {
            Admission::Queued
        } else if self.ecn && arrival.ect() {
            Admission::Marked(Why::Early)
        } else {
            Admission::Dropped(Why::Early)
        }
    }
    fn depart(&mut self, size: u64, _: u64, _: Queue, rng: &mut Rng) -> bool {
        self.late() && rng.uniform() < self.pro(size)
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("price", self.v_pl), ("p", self.v_prob)]
    }
}

#[test]
fn both_transcriptions_agree() {
    for bits in 0..16u64 {
        let on = |bit: u32| bits >> bit & 1 == 1;
        let (ns2, ecn, qib) = (on(0), on(1), on(2));
        let inw = if on(3) { 0.25 } else { 1.0 };
        let text = |on: bool| if on { "true" } else { "false" };
        let pairs = [
            ("profile", if ns2 { "ns2" } else { "standard" }),
            ("ecn", text(ecn)),
            ("queue_in_bytes", text(qib)),
            ("inw", if on(3) { "0.25" } else { "1" }),
            ("gamma", "0.03"),
            ("phi", "1.01"),
            ("mean_packet_bytes", "800"),
            ("limit", "40"),
        ];
        let reference = Ns { ns2, ecn, qib, inw, ..Ns::default() };
        let tally = duel("rem", &pairs, reference, bits, 30_000);
        assert!(tally.queued > 10_000 && tally.overflow > 50, "{pairs:?} {tally:?}");
        assert_eq!(tally.marked > 300, ecn, "{pairs:?} {tally:?}");
        assert_eq!(tally.early > 100, !(ns2 && ecn), "{pairs:?} {tally:?}");
    }
}

#[test]
fn ns2_holds_one_packet_less() {
    let fits = |pairs: Pairs, packets, bytes| {
        let mut rng = Rng::named(1, "rem");
        let backlog = Backlog { packets, bytes };
        let now = packet::Instant::ZERO;
        let said = gate("rem", pairs).admit(&mut packet(1000, Ecn::Ect0), backlog, now, &mut rng);
        said == Admission::Queued
    };
    let ns2 = ("profile", "ns2");
    assert!(fits(&[("limit", "3")], 2, 0) && !fits(&[("limit", "3")], 3, 0));
    assert!(fits(&[ns2, ("limit", "3")], 1, 0) && !fits(&[ns2, ("limit", "3")], 2, 0));
    let bytes = [ns2, ("limit", "3"), ("queue_in_bytes", "true")];
    assert!(fits(&bytes, 1, 1999) && !fits(&bytes, 1, 2000));
    let both = [ns2, ("limit", "3"), ("limit_bytes", "9000")];
    assert!(fits(&both, 1, 7999) && !fits(&both, 2, 0) && !fits(&both, 1, 8000));
    let given = [ns2, ("limit_bytes", "3000")];
    assert!(fits(&given, 1, 1999) && !fits(&given, 1, 2000));
}

/// A load that keeps the rates equal and the queue above its target: the price rises without end
/// and the probability with it; refused packets count as arrivals.
#[test]
fn refused_packets_raise_the_price() {
    let mut bench = Bench::new("rem", &[("limit", "20"), ("b_star", "20")], 1);
    for _ in 0..100 {
        for _ in 0..5 {
            let said = bench.arrive(20, 1000, Ecn::NotEct);
            assert_eq!(said, Admission::Dropped(Why::Overflow));
        }
        let due = bench.gate.next_tick().unwrap();
        let backlog = Backlog { packets: 20, bytes: 20_000 };
        bench.gate.on_tick(backlog, due, &mut bench.rng);
    }
    // 10 Mbit/s: c = 2.5 packets in 2 ms; 5 arrive; nothing from the queue.
    super::close(bench.gauge("price"), 100.0 * 0.001 * 2.5, 1e-9);
}
