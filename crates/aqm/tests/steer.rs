//! Parameters that may be changed while a queue works, and what the benchmark's load counts.

use aqmlab_aqm::{
    AGENT, ALGORITHMS, Admission, Built, Cx, Discipline, Entry, Gate, Line, Overload, Table, find,
};
use packet::params::{Params, Raw};
use packet::{Backlog, Ecn, Event, Header, Instant, Packet, Rate, Rng};

fn built(entry: &Entry, set: &[(&str, Raw)]) -> Box<dyn Discipline> {
    let written: Vec<_> = set.iter().map(|(name, raw)| (name.to_string(), raw.clone())).collect();
    let params = Params::check(entry.about.fields, &written).expect("values of the table");
    let line = Line::of(Rate::from_bits_per_s(10_000_000));
    let built: Built = (entry.build)(&params, &line).expect("a discipline");
    built.into_discipline()
}

fn gauge(queue: &dyn Discipline, name: &str) -> f64 {
    let mut found = f64::NAN;
    queue.gauges(&mut |gauge, value| {
        if gauge == name {
            found = value;
        }
    });
    found
}

/// Numbers of `packets` arrivals that are dropped and that are marked; each packet is dequeued at
/// once.
fn signals(queue: &mut dyn Discipline, packets: u32) -> [u32; 2] {
    let mut rng = Rng::named(7, "steer");
    let (mut dropped, mut marked) = (0, 0);
    let mut out = |event| match event {
        Event::Dropped { .. } => dropped += 1,
        Event::Marked { .. } => marked += 1,
        Event::Queued { .. } => {}
    };
    for id in 0..packets {
        let now = Instant::from_nanos(u64::from(id) * 1_000_000);
        let header = Header::default();
        let packet = Packet { id, flow: 1, bytes: 1000, ecn: Ecn::Ect0, arrived: now, header };
        let cx = &mut Cx { now, rng: &mut rng, out: &mut out };
        queue.enqueue(packet, cx);
        queue.dequeue(cx);
    }
    [dropped, marked]
}

#[test]
fn no_discipline_takes_a_name_or_a_value_that_it_cannot_have() {
    for entry in ALGORITHMS.iter().chain([&AGENT]) {
        let params = Params::defaults(entry.about.fields);
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        let Ok(built) = (entry.build)(&params, &line) else { continue };
        let mut queue = built.into_discipline();
        assert!(!queue.set("no such name", 0.5), "{}", entry.about.name);
        for field in entry.about.fields {
            assert!(!queue.set(field.name, -1.0), "{}.{}", entry.about.name, field.name);
        }
    }
}

#[test]
fn what_can_be_steered_says_so_and_nothing_else_does() {
    for (name, field, value) in [("red", "max_p", 0.5), ("pie", "target", 0.02)] {
        assert!(built(find(name).unwrap(), &[]).set(field, value), "{name}");
    }
    let mut ns2 = built(find("red").unwrap(), &[("profile", Raw::Text("ns2".into()))]);
    assert!(ns2.set("max_p", 0.5) && !ns2.set("max_ps", 0.5));
    // FQ-PIE has a controller for each queue, so that its target cannot be set.
    assert!(!built(find("fq_pie").unwrap(), &[]).set("target", 0.02));
    for (name, field, value) in
        [("red", "max_p", 1.5), ("pie", "target", 0.0), ("red", "target", 0.5)]
    {
        assert!(!built(find(name).unwrap(), &[]).set(field, value), "{name}.{field}");
    }
    assert!(!built(find("droptail").unwrap(), &[]).set("limit", 5.0));
}

#[test]
fn an_agent_signals_with_the_probability_that_was_set() {
    let mut queue = built(&AGENT, &[]);
    assert_eq!(gauge(&*queue, "p"), 0.0);
    assert_eq!(signals(&mut *queue, 1000), [0, 0]);
    // Of 10 000 packets 3000 should be dropped; 230 are five standard deviations.
    assert!(queue.set("p", 0.3));
    let [dropped, marked] = signals(&mut *queue, 10_000);
    assert_eq!((gauge(&*queue, "p"), marked), (0.3, 0));
    assert!((2770..3230).contains(&dropped), "{dropped}");
    for refused in [("p", 1.1), ("p", -0.1), ("q", 0.5)] {
        assert!(!queue.set(refused.0, refused.1));
        assert_eq!(gauge(&*queue, "p"), 0.3);
    }
    assert!(queue.set("p", 1.0));
    assert_eq!(signals(&mut *queue, 100), [100, 0]);
    let mut marking = built(&AGENT, &[("ecn", Raw::Bool(true)), ("p", Raw::Number(1.0))]);
    assert_eq!(signals(&mut *marking, 100), [0, 100]);
}

#[test]
fn a_target_that_is_set_in_pie_is_the_one_that_it_holds() {
    // No packet waits, and PIE signals nothing at a delay below half of its target. A target of
    // zero is refused.
    let mut queue = built(find("pie").unwrap(), &[]);
    assert!(queue.set("target", 0.5));
    assert!(!queue.set("target", 0.0));
    assert!(!queue.set("targets", 1.0));
    assert_eq!(signals(&mut *queue, 100), [0, 0]);
}

#[test]
fn the_load_of_the_benchmark_is_an_overload_by_a_seventh() {
    let mut load = Overload::new(built(find("droptail").unwrap(), &[("limit", Raw::Number(8.0))]));
    load.run(8000);
    // Packets arrive every 700 us and take 800 us each: seven in eight are sent, the first at once.
    assert_eq!(load.happened(), [992, 0, 7001]);
    load.run(800);
    assert_eq!(load.happened(), [1092, 0, 7701]);
    let mut marking = Overload::of_defaults(&AGENT).expect("defaults");
    marking.run(100);
    assert_eq!(marking.happened()[..2], [0, 0]);
    let sure = [("ecn", Raw::Bool(true)), ("p", Raw::Number(1.0))];
    let mut marked = Overload::new(built(&AGENT, &sure));
    marked.run(100);
    assert_eq!(marked.happened()[..2], [0, 100]);
    // PIE's probability moves at its ticks: 5.6 s of overload make it signal.
    let mut controlled = Overload::of_defaults(find("pie").unwrap()).expect("defaults");
    controlled.run(8_000);
    let [dropped, marked, sent] = controlled.happened();
    assert!(dropped + marked > 100 && sent > 6_900, "{dropped} {marked} {sent}");
}

#[test]
fn what_does_not_fit_is_named_with_its_size() {
    // SRED's only table has M rows: ten million flow numbers of 8 B.
    let sred = find("sred").unwrap();
    let requested = [("M".to_owned(), Raw::Number(1e7))];
    let params = Params::check(sred.about.fields, &requested).expect("a whole number");
    assert_eq!(sred.table_bytes(&params), 80_000_000);
    let told = sred.no_room(&params).to_string();
    assert!(told.starts_with("M: tables of 0.1 GB do not fit into memory"), "{told}");
}

#[test]
fn tables_for_which_there_is_no_room_are_not_made() {
    let of = |rows| {
        let rows: &'static [_] = Box::leak(Box::new([("limit", rows)]));
        let tables: &'static [_] = Box::leak(Box::new([Table { rows, row: 8 }]));
        let entry = Entry { tables, ..*find("droptail").unwrap() };
        let line = Line::of(Rate::from_bits_per_s(10_000_000));
        entry.construct(&Params::defaults(entry.about.fields), &line).err()
    };
    let why = of(u64::MAX).expect("more than an address can tell").to_string();
    assert!(why.starts_with("limit: tables of 18446744073.7 GB do not fit"), "{why}");
    assert!(of(1_000).is_none() && of(1 << 20).is_none());
}

/// A gate that implements only what it must.
struct Ajar;

impl Gate for Ajar {
    fn admit(&mut self, _: &mut Packet, _: Backlog, _: Instant, _: &mut Rng) -> Admission {
        Admission::Queued
    }
}

#[test]
fn a_gate_has_neither_ticks_nor_parameters_unless_it_says_so() {
    assert_eq!(Ajar.next_tick(), None);
    assert!(!Ajar.set("limit", 5.0));
}
