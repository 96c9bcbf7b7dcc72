//! Tests of how each profile resolves the parameters that users write.

use packet::Rate;
use packet::params::Raw;

use super::*;
use crate::Fit;
use crate::algorithms::red::profile_of;

const LINE: Line = Line::of(Rate::from_bits_per_s(10_000_000));

pub(in crate::algorithms::red) fn resolve(pairs: &[(&str, &str)]) -> Result<Settings, BadParams> {
    let raw = |text: &str| match text {
        "true" => Raw::Bool(true),
        "false" => Raw::Bool(false),
        _ => Raw::Text(text.into()),
    };
    let raw: Vec<_> = pairs.iter().map(|(k, v)| (k.to_string(), raw(v))).collect();
    let params = Params::check(crate::algorithms::red::fields::FIELDS, &raw)?;
    Settings::resolve(&params, &LINE, profile_of(&params))
}

pub(in crate::algorithms::red) fn settings(pairs: &[(&str, &str)]) -> Settings {
    resolve(pairs).unwrap()
}

fn refusal(pairs: &[(&str, &str)]) -> String {
    resolve(pairs).expect_err(&format!("{pairs:?}")).to_string()
}

#[test]
fn defaults_are_the_profiles_own() {
    let of = |name| settings(&[("profile", name)]);
    let numbers = |s: Settings| (s.min_th, s.max_th, s.w_q, s.max_p);
    assert_eq!(numbers(of("fj93")), (5.0, 15.0, 0.002, 0.02));
    assert_eq!(numbers(of("ns3")), (5.0, 15.0, 0.002, 0.02));
    assert_eq!(numbers(of("altq")), (5.0, 15.0, 1.0 / 512.0, 0.1));
    assert_eq!(numbers(of("linux")), (5.0, 15.0, 1.0 / 8.0, 0.02));
    // 10 Mb/s of 500-byte packets: 2500 packets/s; 5 ms of them are 12.5, half of that 6.25.
    let ns2 = of("ns2");
    assert_eq!((ns2.min_th, ns2.max_th, ns2.max_p), (6.25, 18.75, 0.1));
    assert!((ns2.w_q - (1.0 - (-1.0f64 / 2500.0).exp())).abs() < 1e-12);
    assert!(ns2.gentle && ns2.wait && ns2.queue_in_bytes && ns2.byte_probability);
    assert!(ns2.use_mark_p && !ns2.ecn && ns2.mark_p == 0.1);
    let fixed = of("ns2-fixed");
    assert!(!fixed.gentle && fixed.wait && !fixed.queue_in_bytes && fixed.byte_probability);
    let ns3 = of("ns3");
    assert!(ns3.gentle && ns3.wait && !ns3.queue_in_bytes && !ns3.byte_probability);
    assert!(ns3.harddrop && !of("linux").harddrop && of("altq").harddrop);
}

#[test]
fn presets_of_harsh_red() {
    let preset = |pairs: &[(&str, &str)]| {
        let s = settings(pairs);
        (s.min_th, s.max_th, s.w_q, s.max_p)
    };
    assert_eq!(preset(&[("preset", "edge-red")]), (3.0, 9.0, 0.002, 0.1));
    assert_eq!(preset(&[("preset", "edge-hred")]), (3.0, 40.0, 0.2, 0.65));
    assert_eq!(preset(&[("preset", "hspa-red")]), (5.0, 20.0, 0.002, 0.1));
    assert_eq!(preset(&[("preset", "hspa-hred")]), (3.0, 50.0, 0.02, 0.65));
    let harsh = settings(&[("preset", "edge-hred")]);
    assert_eq!(harsh.profile.name, "ns2-fixed");
    assert!(harsh.wait && harsh.byte_probability && !harsh.gentle && !harsh.use_mark_p);
    assert_eq!(harsh.limit, BufferLimit::of_bytes(240 * 500, Fit::Whole));
    assert!((harsh.curve().p_b(20.0) - 0.298649).abs() < 1e-6);
    // A parameter that the user wrote overrides the preset's.
    let own = [("preset", "edge-hred"), ("max_th", "30"), ("w_q", "0.1"), ("profile", "fj93")];
    assert_eq!(preset(&own), (3.0, 30.0, 0.1, 0.65));
    assert_eq!(settings(&own).profile.name, "fj93");
    assert!(refusal(&[("preset", "hspa-red"), ("max_th", "4")]).contains("max_th = 4"));
}

#[test]
fn limits() {
    let limit = |pairs: &[(&str, &str)]| settings(pairs).limit;
    let whole = |n| BufferLimit::of_packets(n, Fit::Whole);
    assert_eq!(limit(&[]), whole(60));
    assert_eq!(limit(&[("limit", "9"), ("limit_bytes", "5000")]), whole(9).and_bytes(5000));
    assert_eq!(limit(&[("limit_bytes", "5000")]), BufferLimit::of_bytes(5000, Fit::Whole));
    assert_eq!(limit(&[("profile", "ns2")]), BufferLimit::of_bytes(25_000, Fit::Overhanging));
    let packets = [("profile", "ns2"), ("queue_in_bytes", "false")];
    assert_eq!(limit(&packets), BufferLimit::of_packets(50, Fit::Overhanging));
    assert_eq!(limit(&[("profile", "ns2-fixed")]), BufferLimit::of_bytes(25_000, Fit::Whole));
    assert_eq!(limit(&[("profile", "ns3")]), whole(25));
    let bytes = [("profile", "ns3"), ("limit_bytes", "9000")];
    assert_eq!(limit(&bytes), BufferLimit::of_bytes(9000, Fit::Whole));
    assert!(settings(&bytes).queue_in_bytes && settings(&bytes).byte_probability);
    assert_eq!(limit(&[("profile", "linux")]), BufferLimit::of_bytes(60_000, Fit::Whole));
    // ALTQ raises the limit to max_th.
    assert_eq!(limit(&[("profile", "altq"), ("limit", "10")]), whole(15));
    assert_eq!(limit(&[("profile", "altq"), ("limit", "10"), ("max_th", "20.5")]), whole(21));
    assert_eq!(limit(&[("profile", "altq"), ("limit", "480")]), whole(480));
}

#[test]
fn the_weight_of_altq_goes_by_the_packet_time_in_whole_microseconds() {
    // At 10 Mbit/s 4,166 B take 3,332.8 us and 4,168 B 3,334.4.
    for (bytes, w_q) in [("4166", 512.0), ("4168", 128.0)] {
        let found = settings(&[("profile", "altq"), ("mean_packet_bytes", bytes)]);
        assert_eq!(found.w_q, 1.0 / w_q, "{bytes} B");
    }
}

#[test]
fn clocks() {
    let secs = |pairs: &[(&str, &str)]| settings(pairs).clock.packet_secs();
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} is not {b}");
    close(secs(&[]), 800e-6);
    close(secs(&[("profile", "ns2")]), 400e-6);
    close(secs(&[("profile", "ns3")]), 4000.0 / 1.5e6);
    close(secs(&[("profile", "altq")]), 800e-6);
    close(secs(&[("profile", "altq"), ("mean_packet_bytes", "500")]), 400e-6);
    close(secs(&[("profile", "ns3"), ("idle_packet_time", "3 ms")]), 3e-3);
}

#[test]
fn what_a_profile_cannot_do_is_refused_with_its_reason() {
    assert_eq!(
        refusal(&[("profile", "altq"), ("gentle", "true")]),
        "gentle: true is not possible with profile \"altq\": ALTQ's RED has no gentle mode; \
         write false or leave it out"
    );
    for (profile, field, value) in [
        ("linux", "gentle", "true"),
        ("fj93", "wait", "true"),
        ("altq", "wait", "true"),
        ("altq", "queue_in_bytes", "true"),
        ("linux", "queue_in_bytes", "false"),
        ("linux", "byte_probability", "true"),
        ("ns2", "harddrop", "false"),
        ("ns2-fixed", "use_mark_p", "true"),
        ("ns3", "use_mark_p", "true"),
        ("fj93", "ns1_compat", "true"),
        ("altq", "limit_bytes", "9000"),
        ("ns2", "max_packet_bytes", "1500"),
        ("fj93", "max_packet_bytes", "1500"),
        ("ns3", "mark_p", "0.5"),
    ] {
        let why = refusal(&[("profile", profile), (field, value)]);
        assert!(why.starts_with(field) && why.contains(profile), "{why}");
    }
    let why = refusal(&[("profile", "ns3"), ("byte_probability", "true")]);
    assert!(why.contains("queue_in_bytes = false"), "{why}");
    let why = refusal(&[("profile", "linux"), ("limit", "9"), ("limit_bytes", "9000")]);
    assert!(why.contains("one limit"), "{why}");
}

#[test]
fn thresholds_in_the_wrong_order_are_both_named() {
    for (min, max) in [("90", "30"), ("30", "30")] {
        let why = refusal(&[("min_th", min), ("max_th", max)]);
        assert!(why.contains(min) && why.contains(&format!("max_th = {max}")), "{why}");
    }
    assert!(refusal(&[("min_th", "30")]).contains("max_th = 15"));
    let linux = settings(&[("profile", "linux"), ("min_th", "30")]);
    assert_eq!((linux.min_th, linux.max_th), (30.0, 90.0));
}

#[test]
fn weights_for_bursts() {
    assert_eq!(weight_for_burst(5.0, 15.0), 1.0 / 8.0);
    // A burst of 50 packets: tc needs burst + 1 - min_th = 21 to be at most (1 - (1 - w)^50)/w,
    // which is 15.4 at w = 1/16 and 25.5 at 1/32.
    assert_eq!(weight_for_burst(30.0, 90.0), 1.0 / 32.0);
    // A burst of one packet: burst + 1 - min_th = 1 is at most 1 already at the largest weight.
    assert_eq!(weight_for_burst(1.0, 3.0), 0.5);
}

#[test]
fn altq_counts_idle_packets_of_800_us_whatever_the_line() {
    let line = Line::of(Rate::from_bits_per_s(20_000_000));
    for (profile, micros) in [("altq", 800.0), ("fj93", 400.0)] {
        let raw = [("profile".to_string(), Raw::Text(profile.into()))];
        let params = Params::check(crate::algorithms::red::fields::FIELDS, &raw).unwrap();
        let secs =
            Settings::resolve(&params, &line, profile_of(&params)).unwrap().clock.packet_secs();
        assert!((secs * 1e6 - micros).abs() < 1e-9, "{profile}: {secs}");
    }
}

#[test]
fn a_limit_in_bytes_is_refused_where_packets_are_counted() {
    for limit in [&[][..], &[("limit", "20")]] {
        let requested = [&[("profile", "altq"), ("limit_bytes", "9000")], limit].concat();
        assert!(refusal(&requested).contains("measured in packets"), "{limit:?}");
    }
}

#[test]
fn a_weight_is_never_below_a_billionth() {
    // tc tries no less than 2^-30, which a burst of 10^10 packets would need.
    assert_eq!(weight_for_burst(0.0, 3e10), 1.0 / f64::from(1 << 30));
}

#[test]
fn in_ns3_the_unit_of_the_probability_follows_that_of_the_queue() {
    for on in ["true", "false"] {
        let requested = settings(&[("profile", "ns3"), ("queue_in_bytes", on)]);
        assert_eq!([requested.queue_in_bytes, requested.byte_probability], [on == "true"; 2]);
    }
}
