use super::*;

#[test]
fn linux_drops_no_more_than_256_packets_at_one_departure() {
    // A series whose plan is an hour old catches up at one departure: in Linux 6.12 until the queue
    // is short, in 7.3 (codel_dequeue) by at most 256 drops, after which the packet passes and the
    // plan begins anew.
    for (profile, most) in [(Profile::LINUX, 256), (Profile::LINUX_6_12, 1_000)] {
        let params = Params::defaults(super::super::FIELDS);
        let mut control = Control::new(profile, &params, 1500);
        control.law.restart(100);
        (control.dropping, control.first_above) = (true, Some(Instant::ZERO));
        control.drop_next = Some(Instant::ZERO);
        let now = Instant::from_nanos(3_600 * 1_000_000_000);
        let packet = Packet {
            id: 0,
            flow: 0,
            bytes: 1500,
            ecn: packet::Ecn::NotEct,
            arrived: Instant::ZERO,
            header: packet::Header::default(),
        };
        let left = Backlog { packets: 1_000, bytes: 1_500_000 };
        let mut rng = Rng::named(1, "codel");
        let mut drops = 0;
        while drops < 1_000 && control.on_departure(&packet, left, now, &mut rng) != Verdict::Pass {
            drops += 1;
            control.on_signalled(false, now);
        }
        assert_eq!(drops, most);
        let planned = control.drop_next.is_some_and(|at| at > now);
        assert_eq!(planned, most == 256);
    }
}

#[test]
fn a_series_soon_after_another_begins_with_what_that_one_added() {
    // RFC 8289 section 5.5: the count goes on if less than 16 intervals of 100 ms have passed.
    for (late_ms, count, wait_ns) in
        [(1000, 6, 40_824_829), (1599, 6, 40_824_829), (1600, 1, 100_000_000)]
    {
        let params = Params::defaults(super::super::FIELDS);
        let mut control = Control::new(Profile::RFC8289, &params, 1500);
        control.law.restart(10);
        control.last_count = 4;
        control.drop_next = Some(Instant::ZERO);
        let now = Instant::from_nanos(late_ms * 1_000_000);
        control.begin_series(now);
        assert_eq!((control.law.count(), control.last_count), (count, count));
        assert_eq!(control.drop_next, Some(now + Duration::from_nanos(wait_ns)));
    }
}
#[test]
fn linux_and_ns3_see_whole_units_of_1024_ns() {
    // The delay is first above the target 1,023 ns into a unit, which counts as the unit's start.
    // The interval is 97,656 whole units, and the first signal comes later than that: after 97,657.
    let params = Params::defaults(super::super::FIELDS);
    let packet = |arrived: u64| Packet {
        id: 0,
        flow: 0,
        bytes: 1500,
        ecn: packet::Ecn::NotEct,
        arrived: Instant::from_nanos(arrived),
        header: packet::Header::default(),
    };
    let begin = 1_000_000 * 1_024 + 1_023;
    for (profile, last) in [
        (Profile::LINUX, (1_000_000 + 97_657) * 1_024),
        (Profile::NS3, (1_000_000 + 97_657) * 1_024),
        (Profile::RFC8289, begin + 100_000_000),
    ] {
        let mut control = Control::new(profile, &params, 1500);
        let mut late = |at| control.too_long(&packet(0), 9000, Instant::from_nanos(at));
        assert!(!late(begin) && !late(last - 1), "{profile:?}");
        assert!(late(last), "{profile:?}");
    }
    // The target is 4,882 units: Linux cuts arrival and departure to units, ns-3 the sojourn time.
    let stays = |profile: Profile, arrived, left| {
        profile.clock.stay(&packet(arrived), Instant::from_nanos(left)).nanos() / 1_024
    };
    assert_eq!([Profile::LINUX, Profile::NS3].map(|of| stays(of, 1_023, 1_024)), [1, 0]);
}

#[test]
fn a_threshold_for_some_marks_the_packets_of_its_class() {
    // Linux since 5.16: a selector of 1 with mask 3 is ECT(1), whatever the DSCP.
    let given = [("ce_threshold".to_string(), packet::params::Raw::Text("1 ms".into()))];
    let params = Params::check(super::super::FIELDS, &given).unwrap();
    let hints = |selector, mask, ecn| {
        let control = Control::new(Profile::LINUX, &params, 1500).selecting(selector, mask);
        let header = packet::Header { dscp: 46, ..Default::default() };
        let packet = Packet { id: 0, flow: 0, bytes: 1500, ecn, arrived: Instant::ZERO, header };
        control.hints(&packet, Instant::from_nanos(2_000_000))
    };
    use packet::Ecn::{Ce, Ect0, Ect1};
    assert_eq!([Ect1, Ect0, Ce].map(|ecn| hints(1, 3, ecn)), [true, false, false]);
    assert_eq!([Ect1, Ect0].map(|ecn| hints(0, 0, ecn)), [true, true], "no mask: all");
    assert_eq!([Ect1, Ect0].map(|ecn| hints(46 << 2, 0xfc, ecn)), [true, true], "by DSCP");
}

#[test]
fn a_series_of_ns2_soon_after_another_begins_with_one_less_than_that_one_reached() {
    for (profile, count) in [(Profile::RFC8289, 6), (Profile::NS2, 9)] {
        let mut control = Control::new(profile, &Params::defaults(super::super::FIELDS), 1500);
        control.law.restart(10);
        control.last_count = 4;
        control.drop_next = Some(Instant::ZERO);
        control.begin_series(Instant::from_nanos(1_000_000_000));
        assert_eq!(control.law.count(), count, "{profile:?}");
    }
}

#[test]
fn an_emptied_queue_forgets_since_when_packets_stay_too_long_but_in_ns3() {
    let params = Params::defaults(super::super::FIELDS);
    let ms = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let packet = |at: Instant| Packet {
        id: 0,
        flow: 0,
        bytes: 1500,
        ecn: packet::Ecn::NotEct,
        arrived: at,
        header: packet::Header::default(),
    };
    for (profile, signals) in
        [(Profile::RFC8289, false), (Profile::LINUX, false), (Profile::NS3, true)]
    {
        let mut control = Control::new(profile, &params, 1500);
        assert!(!control.too_long(&packet(ms(0)), 9000, ms(10)));
        // Other queues are served: this one is empty when its turn comes, and gets packets later.
        control.on_empty(ms(11));
        assert_eq!(control.too_long(&packet(ms(100)), 9000, ms(120)), signals, "{profile:?}");
    }
}
