//! The list of end systems and its parameters.

use aqmlab_tcp::{PROFILES, Profile, controls, find};
use packet::params::{Kind, Params, Raw};

fn build(name: &str, raw: &[(&str, f64)]) -> Result<Profile, String> {
    let entry = find(name).unwrap();
    let raw: Vec<_> = raw.iter().map(|(n, v)| (n.to_string(), Raw::Number(*v))).collect();
    let params = Params::check(entry.about.fields, &raw).map_err(|e| e.to_string())?;
    (entry.build)(&params, &aqmlab_tcp::Controls::ours()).map_err(|e| e.to_string())
}

#[test]
fn every_entry_is_found_and_builds_from_its_defaults() {
    for entry in PROFILES {
        assert_eq!(find(entry.about.name).unwrap().about.name, entry.about.name);
        assert_eq!(build(entry.about.name, &[]).unwrap().name(), entry.about.name);
        assert!(!entry.about.summary.is_empty() && !entry.about.source.is_empty());
        for field in entry.about.fields {
            assert!(!field.meaning.is_empty() && !field.source.is_empty(), "{}", field.name);
        }
    }
    assert!(find("windows-3.1").is_none());
}

#[test]
fn the_bsd_window_is_rounded_up_to_whole_segments() {
    assert_eq!(build("freebsd-2.2.8", &[("window_bytes", 16_384.0)]).unwrap().window(), 17_520);
    assert_eq!(build("freebsd-2.2.8", &[]).unwrap().window(), 17_520);
    assert_eq!(build("plain", &[]).unwrap().window(), 65_535);
    // Without window scaling the header has 16 bits for it.
    assert!(build("freebsd-2.2.8", &[("window_bytes", 65_535.0)]).is_ok());
    assert!(build("freebsd-2.2.8", &[("window_bytes", 65_536.0)]).is_err());
}

#[test]
fn a_window_must_hold_a_segment() {
    let why = build("plain", &[("window_bytes", 1_000.0)]).unwrap_err();
    assert_eq!(
        why,
        "window_bytes: 1000 B do not hold one segment; it must be at least mss = 1460 B"
    );
    assert!(build("plain", &[("window_bytes", 1_000.0), ("mss", 500.0)]).is_ok());
}

#[test]
fn every_profile_has_the_same_parts() {
    const PARTS: [&str; 25] = [
        "mss",
        "window_bytes",
        "initial_window",
        "recovery",
        "congestion",
        "dupack_threshold",
        "limited_transmit",
        "rto_min",
        "tick",
        "delayed_ack",
        "ack_every",
        "delayed_ack_clock",
        "timestamps",
        "f_rto",
        "ecn",
        "ecn_feedback",
        "ecn_receiver",
        "idle_restart",
        "initial_ssthresh",
        "rto_initial",
        "syn_linear",
        "syn_retries",
        "synack_retries",
        "connect_limit",
        "sack",
    ];
    let of_tcp = |entry: &&aqmlab_tcp::Entry| entry.about.name != "quic";
    for entry in PROFILES.iter().filter(of_tcp) {
        let has = |name: &&&str| entry.about.fields.iter().any(|f| f.name == **name);
        let known = PARTS.iter().filter(has).count();
        // The short form of recovery is of plain alone.
        assert_eq!(
            known,
            if entry.about.name == "plain" { 25 } else { 24 },
            "{}",
            entry.about.name
        );
    }
}

#[test]
fn timers_share_ticks_where_both_of_their_clocks_are_the_hosts() {
    let tick = |name, clock: Option<&str>| {
        let raw = clock.map(|clock| ("delayed_ack_clock".to_owned(), Raw::Text(clock.into())));
        let entry = find(name).unwrap();
        let params = Params::check(entry.about.fields, raw.as_slice()).unwrap();
        (entry.build)(&params, &aqmlab_tcp::Controls::ours()).unwrap().timers_tick()
    };
    let which = PROFILES.iter().map(|entry| entry.about.name).filter(|name| tick(name, None));
    assert_eq!(which.collect::<Vec<_>>(), ["freebsd-2.2.8"]);
    assert!(!tick("freebsd-2.2.8", Some("connection")));
    // FreeBSD 4.5 has callouts for every connection.
    assert!(!tick("freebsd-4.5", Some("host")));
}

#[test]
fn a_sink_of_ns2_has_no_timer() {
    let why = build("ns2", &[("synack_retries", 3.0)]).unwrap_err();
    assert_eq!(
        why,
        "synack_retries: means nothing here: a sink has no timer, it answers every SYN; leave it out"
    );
    assert!(build("ns2", &[("syn_retries", 3.0)]).is_ok());
}

#[test]
fn every_control_is_described_and_offered_by_every_profile() {
    for entry in PROFILES {
        let field = entry.about.fields.iter().find(|field| field.name == "congestion").unwrap();
        let Kind::Variant(offered) = field.kind else { panic!("{:?}", field.kind) };
        assert!(offered.iter().map(|about| about.name).eq(controls().map(|about| about.name)));
    }
    for about in controls() {
        assert!(about.summary.len() > 20 && about.source.len() >= 8, "{about:?}");
        for field in about.fields {
            assert!(field.meaning.len() > 10 && !field.source.is_empty(), "{}", field.name);
        }
    }
}

/// Why these settings do not go together; `None` if they do.
fn refusal(name: &str, settings: &[(&str, Raw)]) -> Option<String> {
    let entry = find(name).unwrap();
    let raw: Vec<_> = settings.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
    let params = Params::check(entry.about.fields, &raw).expect("each alone is possible");
    (entry.build)(&params, &aqmlab_tcp::Controls::ours()).err().map(|why| why.to_string())
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let (on, off) = (|name| (name, Raw::Bool(true)), |name| (name, Raw::Bool(false)));
    let number = |name, value| (name, Raw::Number(value));
    let text = |name, value: &str| (name, Raw::Text(value.into()));
    let never_waits = || text("delayed_ack", "0 s");
    let cases = [
        (
            "freebsd-4.5",
            vec![off("host_cache"), number("sendpipe", 17_520.0)],
            vec![off("host_cache"), number("sendpipe", 0.0)],
            "sendpipe: says what the host cache keeps",
        ),
        (
            "plain",
            vec![never_waits(), number("ack_every", 2.0)],
            vec![never_waits(), number("ack_every", 1.0)],
            "ack_every: 2 segments never wait for each other",
        ),
        (
            "freebsd-4.5",
            vec![on("f_rto"), on("false_timeout")],
            vec![on("f_rto")],
            "false_timeout: decides the question that f_rto answers",
        ),
        (
            "freebsd-4.5",
            vec![on("f_rto"), on("false_timeout")],
            vec![on("f_rto"), off("false_timeout")],
            "false_timeout: decides the question that f_rto answers",
        ),
        (
            "plain",
            vec![text("ecn_cut", "rfc5681")],
            vec![text("ecn_cut", "rfc5681"), on("ecn")],
            "ecn_cut: \"rfc5681\" means nothing without ecn = true",
        ),
        (
            "plain",
            vec![text("ecn_cut", "rfc5681"), on("ecn"), ("beta_ecn", Raw::Number(0.8))],
            vec![on("ecn"), ("beta_ecn", Raw::Number(0.8))],
            "ecn_cut: \"rfc5681\" contradicts beta_ecn",
        ),
        (
            "plain",
            vec![on("sack"), text("recovery", "newreno")],
            vec![on("sack"), text("recovery", "sack")],
            "sack: contradicts recovery",
        ),
        (
            "plain",
            vec![off("sack"), text("recovery", "sack")],
            vec![off("sack"), text("recovery", "newreno")],
            "sack: contradicts recovery",
        ),
        (
            "plain",
            vec![on("ecn"), on("accecn_option")],
            vec![on("ecn"), text("ecn_feedback", "accurate"), on("accecn_option")],
            "accecn_option: goes with ecn_feedback",
        ),
        (
            "linux",
            vec![text("congestion", "cubic"), on("classic_fallback")],
            vec![text("congestion", "prague"), on("classic_fallback")],
            "classic_fallback: is for congestion",
        ),
        (
            "plain",
            vec![text("tick", "0.999 ms")],
            vec![text("tick", "1 ms")],
            "tick: 0.000999 s is finer than 1 ms",
        ),
        (
            "plain",
            vec![number("window_bytes", 1_459.0)],
            vec![number("window_bytes", 1_460.0)],
            "window_bytes: 1459 B do not hold one segment",
        ),
    ];
    for (name, refused, taken, why) in cases {
        let told = refusal(name, &refused).expect(why);
        assert!(told.starts_with(why), "{told}");
        assert_eq!(refusal(name, &taken), None, "{taken:?}");
    }
}

#[test]
fn the_payload_of_a_segment_is_what_the_table_says() {
    assert_eq!(build("plain", &[("mss", 500.0)]).unwrap().mss(), 500);
}
