//! Tests of copies and corruption, policers, slots and outages.

use super::*;

#[test]
fn copies_corruption_and_holding_have_their_shares() {
    let share = [("share", n(0.02))];
    let count = |kind: &str, settings: &[(&str, Raw)], fate: fn(&Passing) -> bool| {
        passed(&mut *of_packets(kind, settings, &[]), DRAWS, MS).iter().filter(|p| fate(p)).count()
    };
    assert_share(count("duplicate", &share, |p| p.fate == Fate::Copied), DRAWS, 0.02, "copies");
    assert_share(
        count("corrupt", &share, |p| p.fate == Fate::Corrupted),
        DRAWS,
        0.02,
        "corruption",
    );
    assert_share(
        count("reorder", &share, |p| matches!(p.fate, Fate::Held(3, _))),
        DRAWS,
        0.02,
        "held",
    );
    // 12,000 bits, each wrong with 10^-6.
    let bits = [("bit_error_rate", n(1e-6))];
    let expected = 1.0 - math::pow(1.0 - 1e-6, 12_000.0);
    assert_share(
        count("corrupt", &bits, |p| p.fate == Fate::Corrupted),
        DRAWS,
        expected,
        "bit errors",
    );
}

#[test]
fn a_policer_lets_its_rate_and_burst_through() {
    // 12 Mbit/s come, a packet of 12,000 bits a millisecond; 4.5 Mbit/s and 15,000 B go through.
    let settings = [("rate", t("4.5 Mbit/s")), ("burst", n(15_000.0))];
    let packets = passed(&mut *of_packets("policer", &settings, &[]), 100_000, MS);
    let went = packets.iter().filter(is(Fate::GoesOn)).count();
    // In 99.999 s: 450 kbit a second, and the burst of ten packets.
    assert_eq!(went, (99_999 * 4_500 + 120_000) / 12_000);
    assert!(packets[..10].iter().all(|p| p.fate == Fate::GoesOn), "the burst");
    let marks = [("rate", t("4.5 Mbit/s")), ("burst", n(15_000.0)), ("action", t("mark"))];
    let mut effect = of_packets("policer", &marks, &[]);
    let mut rng = Rng::named(1, "");
    let mut unmarked = 0;
    for i in 0..100 {
        let mut packet = Passing::new(Instant::from_nanos(i * MS), 1_500, Ecn::Ect0);
        effect.pass(&mut packet, &mut rng);
        assert_eq!(packet.fate, Fate::GoesOn);
        unmarked += u64::from(packet.ecn == Ecn::Ect0);
    }
    assert_eq!(unmarked, (99 * 4_500 + 120_000) / 12_000);
}

#[test]
fn netems_slots_gather_packets() {
    // A slot every 4 ms after the packet that opens it; packets come every ms.
    let settings = [("min_delay", t("4 ms"))];
    let ends = |settings: &[(&str, Raw)], count| -> Vec<u64> {
        let packets = passed(&mut *of_packets("netem-slot", settings, &[]), count, MS);
        packets.iter().map(|p| p.at.nanos() / MS - 1_000).collect()
    };
    // The packet at 0 ms begins a slot at 4 ms, in which the packets until then go on; the packet
    // at 5 ms begins the next slot.
    assert_eq!(ends(&settings, 11), [4, 4, 4, 4, 4, 9, 9, 9, 9, 9, 14]);
    // With two in each slot the rest waits for the next ones, which begin at once.
    let two = [("min_delay", t("4 ms")), ("packets", n(2.0))];
    assert_eq!(ends(&two, 6), [4, 4, 8, 8, 12, 12]);
    let bytes = [("min_delay", t("4 ms")), ("bytes", n(2_000.0))];
    assert_eq!(ends(&bytes, 4), [4, 4, 8, 8], "the packet that reaches the number goes on");
}

#[test]
fn slots_are_open_for_their_share_of_each_period() {
    let mut slots = line("slots", &[("period", t("4 ms")), ("share", n(0.25))], &[]);
    assert_eq!(slots.open(0), (0, MS));
    assert_eq!(slots.open(MS), (4 * MS, 5 * MS));
    assert_eq!(slots.open(4 * MS + 7), (4 * MS + 7, 5 * MS));
    // At 8 Mbit/s two packets of 1,500 B take 3 ms.
    let mut packets = line("slots", &[("period", t("5 ms")), ("packets", n(2.0))], &[]);
    assert_eq!(packets.open(3 * MS), (5 * MS, 8 * MS));
    let settings = [("period", t("2 ms")), ("longest_period", t("6 ms")), ("share", n(0.5))];
    let mut drawn = line("slots", &settings, &[]);
    let (mut at, mut periods, mut begun) = (0, Vec::new(), 0);
    for _ in 0..DRAWS {
        let (_, end) = drawn.open(at);
        let (next, _) = drawn.open(end);
        periods.push((next - begun) as f64 / MS as f64);
        (at, begun) = (next, next);
    }
    assert_quantiles(&periods, &[(0.25, 3.0), (0.5, 4.0), (0.9, 5.6)], "periods");
}

#[test]
fn outages_come_as_listed_every_so_often_or_drawn() {
    let listed = Timed::new(&[(0, 0.0), (10 * MS, 0.005)], Some(20 * MS)).unwrap();
    let mut table = line("outages", &[], &[("times", listed)]);
    assert_eq!(table.open(0), (0, 10 * MS));
    assert_eq!(table.open(12 * MS), (15 * MS, 20 * MS));
    assert_eq!(table.open(31 * MS), (35 * MS, 40 * MS));
    let mut regular = line("outages", &[("every", t("1 s")), ("length", t("100 ms"))], &[]);
    assert_eq!(regular.open(1_050 * MS), (1_100 * MS, 2_000 * MS));
    let settings = [("every", t("1 s")), ("length", t("0.25 s")), ("drawn", t("exponential"))];
    let mut drawn = line("outages", &settings, &[]);
    let (mut at, mut open, mut closed) = (0, Vec::new(), Vec::new());
    for _ in 0..DRAWS {
        let (from, end) = drawn.open(at);
        let (next, _) = drawn.open(end);
        open.push((end - from) as f64 / 1e9);
        closed.push((next - end) as f64 / 1e9);
        at = next;
    }
    let share = |x: f64, mean: f64| 1.0 - math::exp(-x / mean);
    // The first open interval may be cut short; it is one of a million.
    for x in [0.1, 0.5, 2.0] {
        assert_quantiles(&open[1..], &[(share(x, 0.75), x)], "open");
        assert_quantiles(&closed[1..], &[(share(x, 0.25), x)], "closed");
    }
}

#[test]
fn correlated_numbers_fall_back_on_independent_ones() {
    let mut rng = Rng::named(1, "x");
    let mut same = rng.clone();
    let mut number = super::random::Correlated::new(0.0);
    assert_eq!(number.next(&mut rng), same.uniform());
}

#[test]
fn a_packet_is_never_early() {
    let settings = [("delay", t("1 ms")), ("jitter", t("50 ms")), ("distribution", t("normal"))];
    let packets = passed(&mut *of_packets("delay", &settings, &[]), 10_000, MS);
    assert!(packets.iter().all(|p| p.at >= p.now));
}
