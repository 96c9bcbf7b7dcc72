use super::*;

#[test]
fn nine_scalable_packets_then_one_classic() {
    let mut pool = Pool::default();
    let (mut classic, mut scalable) = (Queue::new(), Queue::new());
    for queue in [&mut classic, &mut scalable] {
        let arrived = Instant::ZERO;
        pool.push(
            queue,
            Packet {
                id: 0,
                flow: 0,
                bytes: 1514,
                ecn: Ecn::Ect1,
                arrived,
                header: Default::default(),
            },
        );
    }
    let mut credit = Credit::new(1514, 10);
    assert_eq!(credit.value, -121_120);
    let mut order = String::new();
    for _ in 0..20 {
        let (which, cost) = credit.turn(&classic, &scalable).unwrap();
        credit.value += cost * 1514;
        order.push(if which == Which::Classic { 'C' } else { 'L' });
    }
    assert_eq!(order, "LLLLLLLLLCLLLLLLLLLC");
    // A queue that is alone pays no credit, and an empty link resets the credit.
    let empty = Queue::new();
    assert_eq!(credit.turn(&classic, &empty), Some((Which::Classic, 0)));
    assert_eq!(credit.turn(&empty, &scalable), Some((Which::Scalable, 0)));
    assert_eq!((credit.turn(&empty, &empty), credit.value), (None, -121_120));
}

#[test]
fn any_ect_lets_ect0_into_the_scalable_queue() {
    use packet::params::Raw;
    let scalable = |any_ect: bool| {
        let pairs = [("profile", Raw::Text("linux".into())), ("any_ect", Raw::Bool(any_ect))];
        let raw = pairs.map(|(name, value)| (name.to_string(), value));
        let params = Params::check(fields::FIELDS, &raw).unwrap();
        let line = Line::of(packet::Rate::from_bits_per_s(10_000_000));
        let mut queue = build(&params, &line).unwrap().into_discipline();
        let mut rng = packet::Rng::named(1, "dualpi2");
        for (id, ecn) in (0..).zip([Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]) {
            let (arrived, header) = (Instant::ZERO, Default::default());
            let packet = Packet { id, flow: 0, bytes: 1500, ecn, arrived, header };
            queue.enqueue(packet, &mut Cx { now: arrived, rng: &mut rng, out: &mut |_| {} });
        }
        let mut waiting = f64::NAN;
        queue.gauges(&mut |name, value| {
            waiting = if name == "scalable_packets" { value } else { waiting };
        });
        waiting
    };
    assert_eq!([false, true].map(scalable), [2.0, 3.0]);
}

/// Number of signals at arrivals and at departures with profile `linux`, for 4,000 packets of 1,500
/// B that arrive twice as fast as they leave.
fn signals(switch: &str, ecn: Ecn) -> (u32, u32) {
    use packet::params::Raw;
    let pairs = [("profile", Raw::Text("linux".into())), (switch, Raw::Bool(true))];
    let raw = pairs.map(|(name, value)| (name.to_string(), value));
    let params = Params::check(fields::FIELDS, &raw).unwrap();
    let line = Line::of(packet::Rate::from_bits_per_s(6_000_000));
    let mut queue = build(&params, &line).unwrap().into_discipline();
    let mut rng = packet::Rng::named(1, "dualpi2");
    let (mut on_arrival, mut at_departure) = (0, 0);
    let signal = |event| matches!(event, Event::Marked { .. } | Event::Dropped { .. });
    for id in 0..4_000 {
        let now = Instant::ZERO + Duration::from_millis(u64::from(id));
        while queue.next_tick().is_some_and(|at| at <= now) {
            queue.on_tick(&mut Cx { now, rng: &mut rng, out: &mut |_| {} });
        }
        let header = packet::Header { dscp: NQB, ..Default::default() };
        let packet = Packet { id, flow: 0, bytes: 1500, ecn, arrived: now, header };
        let mut count = |event| on_arrival += u32::from(signal(event));
        queue.enqueue(packet, &mut Cx { now, rng: &mut rng, out: &mut count });
        if id % 2 == 0 {
            let mut count = |event| at_departure += u32::from(signal(event));
            queue.dequeue(&mut Cx { now, rng: &mut rng, out: &mut count });
        }
    }
    (on_arrival, at_departure)
}

#[test]
fn drop_enqueue_signals_arrivals_and_leaves_the_step_to_departures() {
    // `drop_overload` is on by default, so that this switch changes nothing.
    let usual = signals("drop_overload", Ecn::Ect0);
    assert!(usual.0 == 0 && usual.1 > 100, "{usual:?}");
    let early = signals("drop_enqueue", Ecn::Ect0);
    assert!(early.0 > 100 && early.1 == 0, "{early:?}");
    let (on_arrival, step) = signals("drop_enqueue", Ecn::Ect1);
    assert!(on_arrival > 100 && step > 0, "{on_arrival} {step}");
}

#[test]
fn non_queue_building_packets_are_spared_only_where_that_is_switched_on() {
    // DSCP 45 with Not-ECT or ECT(0): in the classic queue it is signalled, in the scalable one
    // not.
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        assert!(signals("drop_overload", ecn).1 > 100, "{ecn:?}");
        assert_eq!(signals("nqb", ecn), (0, 0), "{ecn:?}");
    }
    // Packets of scalable senders are marked in any case.
    assert!(signals("nqb", Ecn::Ect1).1 > 100);
}

#[test]
fn the_step_counts_for_packets_that_found_enough_others() {
    let mut steps = Steps::new(2);
    (1..=3).for_each(|found| steps.on_arrival(found));
    assert_eq!([(); 3].map(|()| steps.on_departure()), [false, true, true]);
    // Without a least number the step applies to every packet, and no flag is kept.
    let mut all = Steps::new(0);
    all.on_arrival(0);
    assert!(all.on_departure() && all.counts.is_empty());
}
