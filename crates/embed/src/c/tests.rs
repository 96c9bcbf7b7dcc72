//! Tests of wrong calls, and of a discipline that panics.

use core::ptr::{null, null_mut};

use aqm::{Cx, Discipline};
use packet::{Backlog, Instant, Packet, Rng};

use super::*;

fn create(name: &CStr, parameters: Option<&CStr>, rate: u64) -> Result<*mut Queue, String> {
    let mut queue = null_mut();
    let mut error = [0x7f as c_char; 300];
    let parameters = parameters.map_or(null(), CStr::as_ptr);
    // SAFETY: texts end with zero bytes, and the other pointers are to variables of this test.
    let status = unsafe {
        aqmlab_create(
            name.as_ptr(),
            parameters,
            rate,
            1,
            500,
            &raw mut queue,
            error.as_mut_ptr(),
            error.len(),
        )
    };
    if status == AQMLAB_OK {
        assert!(error.iter().all(|byte| *byte == 0x7f), "nothing is written without an error");
        return Ok(queue);
    }
    assert!(status == AQMLAB_ERROR_REFUSED && queue.is_null());
    // SAFETY: aqmlab_create ends the sentence with a zero byte.
    Err(unsafe { CStr::from_ptr(error.as_ptr()) }.to_str().expect("UTF-8").to_owned())
}

fn packet(id: u32) -> PacketIn {
    PacketIn { id, bytes: 1000, ..PacketIn::default() }
}

fn taken(queue: *mut Queue) -> Vec<EventOut> {
    let (mut events, mut count) = ([EventOut::default(); 3], 0);
    let mut all = Vec::new();
    loop {
        // SAFETY: a queue of ours, an array and its length.
        let status = unsafe { aqmlab_take_events(queue, events.as_mut_ptr(), 3, &raw mut count) };
        assert_eq!(status, AQMLAB_OK);
        if count == 0 {
            return all;
        }
        all.extend(&events[..count]);
    }
}

fn stats(queue: *mut Queue) -> Stats {
    let mut stats = Stats::default();
    // SAFETY: a queue of ours and room for its numbers.
    assert_eq!(unsafe { aqmlab_get_stats(queue, &raw mut stats) }, AQMLAB_OK);
    stats
}

#[test]
fn a_queue_from_creation_to_destruction() {
    let queue = create(c"droptail", Some(c"{\"limit\": 2}"), 8_000_000).unwrap();
    let (mut packets, mut bytes, mut out) = (9, 9, Departure::default());
    // SAFETY: a queue of ours, packets and room of ours.
    unsafe {
        for id in 0..3 {
            assert_eq!(aqmlab_enqueue(queue, &packet(id), 1_000), AQMLAB_OK);
        }
        assert_eq!(aqmlab_backlog(queue, &raw mut packets, &raw mut bytes), AQMLAB_OK);
        assert_eq!((packets, bytes), (2, 2000));
        assert_eq!(aqmlab_backlog(queue, null_mut(), null_mut()), AQMLAB_OK);
        assert_eq!(aqmlab_dequeue(queue, 4_000, &raw mut out), AQMLAB_OK);
        assert_eq!(out, Departure { waited_ns: 3_000, id: 0, bytes: 1000, ecn: 0 });
        assert_eq!(aqmlab_next_tick(queue, &raw mut bytes), AQMLAB_NONE);
        assert_eq!(aqmlab_tick(queue, 5_000), AQMLAB_OK);
    }
    let event = |id, what, why| EventOut { id, what, why };
    assert_eq!(
        taken(queue),
        [
            event(0, AQMLAB_QUEUED, AQMLAB_WHY_NONE),
            event(1, AQMLAB_QUEUED, AQMLAB_WHY_NONE),
            event(2, AQMLAB_DROPPED, AQMLAB_WHY_OVERFLOW),
        ]
    );
    let seen = stats(queue);
    assert_eq!((seen.arrived, seen.queued, seen.sent, seen.waiting), (3, 2, 1, 1));
    assert_eq!((seen.dropped_early, seen.dropped_forced, seen.dropped_overflow), (0, 0, 1));
    assert_eq!((seen.arrived_bytes, seen.dropped_bytes), (3000, 1000));
    assert_eq!((seen.sent_bytes, seen.waiting_bytes), (1000, 1000));
    // SAFETY: a queue of ours, used no more.
    unsafe { aqmlab_destroy(queue) };
}

#[test]
fn ecn_fields_come_back_and_events_wait_for_room() {
    let queue = create(c"droptail", None, 8_000_000).unwrap();
    let (mut out, mut count) = (Departure::default(), 0);
    // SAFETY: a queue of ours, packets and room of ours.
    unsafe {
        for ecn in 0..4u8 {
            let packet = PacketIn { ecn, ..packet(ecn.into()) };
            assert_eq!(aqmlab_enqueue(queue, &packet, 1_000), AQMLAB_OK);
        }
        for (first, expected) in [(0, 3), (3, 1), (0, 0)] {
            let untouched = EventOut { id: 99, what: 9, why: 9 };
            let mut events = [untouched; 4];
            assert_eq!(
                aqmlab_take_events(queue, events.as_mut_ptr(), 3, &raw mut count),
                AQMLAB_OK
            );
            assert_eq!(count, expected);
            assert!((0..count).all(|i| events[i].id as usize == first + i));
            assert!(events[count..].iter().all(|event| *event == untouched));
        }
        for ecn in 0..4 {
            assert_eq!(aqmlab_dequeue(queue, 1_000, &raw mut out), AQMLAB_OK);
            assert_eq!((out.id, out.ecn), (u32::from(ecn), ecn));
        }
        aqmlab_destroy(queue);
    }
    // A marked packet is dequeued with CE.
    let queue = create(c"dctcp_step", Some(c"{\"K\": 1}"), 8_000_000).unwrap();
    // SAFETY: as above.
    unsafe {
        for id in 0..2 {
            let packet = PacketIn { ecn: AQMLAB_ECN_ECT0, ..packet(id) };
            assert_eq!(aqmlab_enqueue(queue, &packet, 1_000), AQMLAB_OK);
            assert_eq!(stats(queue).marked, u64::from(id));
        }
        for ecn in [AQMLAB_ECN_ECT0, AQMLAB_ECN_CE] {
            assert_eq!(aqmlab_dequeue(queue, 1_000, &raw mut out), AQMLAB_OK);
            assert_eq!(out.ecn, ecn);
        }
        aqmlab_destroy(queue);
    }
}

#[test]
fn null_is_answered_everywhere() {
    let queue = create(c"red", None, 10_000_000).unwrap();
    let (mut number, mut value, mut count) = (0u64, 0.0, 0usize);
    let (mut departure, mut event) = (Departure::default(), EventOut::default());
    let mut made = null_mut();
    // SAFETY: null is tested; all else is a queue and room of ours.
    unsafe {
        let no = null_mut::<Queue>();
        let answers = [
            aqmlab_enqueue(no, &packet(1), 600),
            aqmlab_enqueue(queue, null(), 600),
            aqmlab_dequeue(no, 600, &raw mut departure),
            aqmlab_dequeue(queue, 600, null_mut()),
            aqmlab_next_tick(no, &raw mut number),
            aqmlab_next_tick(queue, null_mut()),
            aqmlab_tick(no, 600),
            aqmlab_take_events(no, &raw mut event, 1, &raw mut count),
            aqmlab_take_events(queue, null_mut(), 1, &raw mut count),
            aqmlab_take_events(queue, &raw mut event, 1, null_mut()),
            aqmlab_backlog(no, null_mut(), null_mut()),
            aqmlab_get_stats(no, null_mut()),
            aqmlab_get_stats(queue, null_mut()),
            aqmlab_gauge(no, c"avg".as_ptr(), &raw mut value),
            aqmlab_gauge(queue, null(), &raw mut value),
            aqmlab_gauge(queue, c"avg".as_ptr(), null_mut()),
            aqmlab_create(null(), null(), 1, 1, 1, &raw mut made, null_mut(), 0),
            aqmlab_create(c"red".as_ptr(), null(), 1, 1, 1, null_mut(), null_mut(), 0),
        ];
        assert_eq!(answers, [AQMLAB_ERROR_NULL; 18]);
        assert_eq!(aqmlab_gauges(no, null_mut(), 5), 0);
        aqmlab_destroy(no);
        assert_eq!(stats(queue), Stats::default());
        aqmlab_destroy(queue);
    }
}

#[test]
fn misuse_is_answered_and_changes_nothing() {
    let queue = create(c"pie", None, 10_000_000).unwrap();
    let odd = (queue as usize + 1) as *mut Queue;
    let bad = [
        PacketIn { bytes: 0, ..packet(1) },
        PacketIn { bytes: (1 << 24) + 1, ..packet(1) },
        PacketIn { ecn: 4, ..packet(1) },
        PacketIn { dscp: 64, ..packet(1) },
        PacketIn { ack: 3, ..packet(1) },
    ];
    let (mut departure, mut value) = (Departure::default(), 0.0);
    // SAFETY: a queue and room of ours; a misaligned pointer is not followed.
    unsafe {
        assert_eq!(aqmlab_tick(odd, 600), AQMLAB_ERROR_ARGUMENT);
        for packet in &bad {
            assert_eq!(aqmlab_enqueue(queue, packet, 600), AQMLAB_ERROR_ARGUMENT, "{packet:?}");
        }
        assert_eq!(aqmlab_enqueue(queue, &packet(1), 499), AQMLAB_ERROR_TIME);
        assert_eq!(aqmlab_enqueue(queue, &packet(1), u64::MAX), AQMLAB_ERROR_TIME);
        assert_eq!(stats(queue), Stats::default());
        assert_eq!(aqmlab_enqueue(queue, &packet(1), 900), AQMLAB_OK);
        assert_eq!(aqmlab_dequeue(queue, 899, &raw mut departure), AQMLAB_ERROR_TIME);
        assert_eq!(departure, Departure::default());
        assert_eq!(stats(queue).waiting, 1);
        assert_eq!(aqmlab_dequeue(queue, 900, &raw mut departure), AQMLAB_OK);
        assert_eq!(aqmlab_dequeue(queue, 900, &raw mut departure), AQMLAB_NONE);
        let latin = c"\xe9";
        assert_eq!(aqmlab_gauge(queue, latin.as_ptr(), &raw mut value), AQMLAB_ERROR_ARGUMENT);
        assert_eq!(aqmlab_gauge(queue, c"no such".as_ptr(), &raw mut value), AQMLAB_NONE);
        aqmlab_destroy(queue);
    }
}

#[test]
fn a_line_at_rest_may_be_called_as_often_as_it_likes() {
    // RED's average decays once for the idle time since the first dequeue that found no packet.
    let average = |asks: &[u64]| {
        let queue = create(c"red", Some(c"{\"w_q\": 0.1}"), 8_000_000).unwrap();
        let (mut out, mut value) = (Departure::default(), 0.0);
        // SAFETY: a queue of ours, packets and room of ours.
        unsafe {
            assert_eq!(aqmlab_dequeue(queue, 600, &raw mut out), AQMLAB_NONE);
            for id in 0..9 {
                assert_eq!(aqmlab_enqueue(queue, &packet(id), 1_000), AQMLAB_OK);
            }
            for ms in 0..9 {
                assert_eq!(aqmlab_dequeue(queue, 1_000 + ms * 1_000_000, &raw mut out), AQMLAB_OK);
            }
            for ms in asks {
                assert_eq!(aqmlab_dequeue(queue, ms * 1_000_000, &raw mut out), AQMLAB_NONE);
            }
            assert_eq!(aqmlab_enqueue(queue, &packet(9), 30_000_000), AQMLAB_OK);
            assert_eq!(aqmlab_gauge(queue, c"avg".as_ptr(), &raw mut value), AQMLAB_OK);
            aqmlab_destroy(queue);
        }
        value
    };
    let once = average(&[10]);
    assert!(once > 0.0 && once < 1.0, "{once}");
    assert_eq!(average(&[10, 11, 20, 29, 30]), once);
    assert_ne!(average(&[29]), once);
}

#[test]
fn what_cannot_be_created_is_explained() {
    let why = |name, parameters, rate| create(name, parameters, rate).unwrap_err();
    assert!(why(c"rde", None, 1).contains("did you mean \"red\"?"));
    let both = Some(c"{\"min_th\": 9, \"max_th\": 3}");
    assert!(why(c"red", both, 1).starts_with("parameters.min_th: 9 is not below max_th = 3"));
    assert!(why(c"red", Some(c"min_th=9"), 1).starts_with("parameters: not JSON"));
    assert!(why(c"red", None, 0).starts_with("line rate: 0 is out of range"));
    assert!(why(c"red", None, u64::MAX).starts_with("line rate: "));
    // A zero character in the caller's text does not end the error sentence.
    let zero = why(c"red", Some(c"{\"limit\": \"6\\u0000\"}"), 1);
    assert!(zero.contains("write for example"), "{zero}");
    // A long sentence is cut, and still ends with a zero byte.
    let long = c"{\"ääää\": 1}";
    let mut error = [0x7f; 16];
    let mut queue = null_mut();
    // SAFETY: texts end with zero bytes, and the other pointers are to variables of this test.
    let status = unsafe {
        let room = error.as_mut_ptr();
        aqmlab_create(c"red".as_ptr(), long.as_ptr(), 1, 1, 1, &raw mut queue, room, 15)
    };
    assert_eq!(status, AQMLAB_ERROR_REFUSED);
    assert_eq!(error.map(|byte: c_char| byte as u8), *b"parameters.\xc3\xa4\0\x7f\x7f");
}

#[test]
fn lists_are_written_as_far_as_they_fit() {
    // SAFETY: null, or room of ours.
    unsafe {
        let whole = aqmlab_names(null_mut(), 0);
        let mut room = vec![0x7f as c_char; whole + 1];
        assert_eq!(aqmlab_names(room.as_mut_ptr(), room.len()), whole);
        let names = CStr::from_ptr(room.as_ptr()).to_str().unwrap();
        let expected: Vec<_> = aqm::ALGORITHMS.iter().map(|e| e.about.name).collect();
        assert_eq!(names.lines().collect::<Vec<_>>(), expected);
        let mut short = [0x7f as c_char; 9];
        assert_eq!(aqmlab_names(short.as_mut_ptr(), 5), whole);
        assert_eq!(short.map(|byte| byte as u8), *b"drop\0\x7f\x7f\x7f\x7f");

        let queue = create(c"red", None, 10_000_000).unwrap();
        assert_eq!(aqmlab_enqueue(queue, &packet(1), 600), AQMLAB_OK);
        assert_eq!(aqmlab_enqueue(queue, &packet(2), 600), AQMLAB_OK);
        let length = aqmlab_gauges(queue, room.as_mut_ptr(), room.len());
        let gauges = CStr::from_ptr(room.as_ptr()).to_str().unwrap().to_owned();
        assert_eq!(gauges.len(), length);
        assert!(gauges.lines().any(|name| name == "avg"), "{gauges}");
        let mut average = 0.0;
        assert_eq!(aqmlab_gauge(queue, c"avg".as_ptr(), &raw mut average), AQMLAB_OK);
        assert_eq!(average, 0.002, "one packet with weight w_q");
        aqmlab_destroy(queue);
        let version = CStr::from_ptr(aqmlab_version()).to_str().unwrap();
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
    }
}

/// A discipline without packets, which has a periodic update every 10 ns and records its calls.
#[derive(Default)]
struct Probe {
    ticks: Vec<u64>,
    requested: u32,
}

impl Discipline for Probe {
    fn enqueue(&mut self, _: Packet, _: &mut Cx) {}
    fn dequeue(&mut self, _: &mut Cx) -> Option<Packet> {
        self.requested += 1;
        None
    }
    fn backlog(&self) -> Backlog {
        Backlog::default()
    }
    fn next_tick(&self) -> Option<Instant> {
        Some(Instant::from_nanos(10 * (1 + self.ticks.len() as u64)))
    }
    fn on_tick(&mut self, cx: &mut Cx) {
        self.ticks.push(cx.now.nanos());
    }
    fn gauges(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("asked", f64::from(self.requested));
        self.ticks.iter().for_each(|at| show("tick", *at as f64));
    }
}

#[test]
fn updates_happen_at_their_times_and_a_resting_line_is_not_called() {
    let probe = Box::new(Probe::default());
    let mut queue = queue::Queue::around(probe, Rng::named(1, "probe"), 1_000);
    assert_eq!(queue.next_tick(), Some(1_010));
    assert_eq!(queue.dequeue(1_035), Ok(None));
    assert_eq!(queue.next_tick(), Some(1_040));
    let seen = [("asked", 0.0), ("tick", 10.0), ("tick", 20.0), ("tick", 30.0)];
    assert_eq!(queue.gauges(), seen);
}

/// A discipline that panics in the method with this name.
struct Bomb(&'static str);

impl Discipline for Bomb {
    fn enqueue(&mut self, _: Packet, _: &mut Cx) {
        assert_ne!(self.0, "enqueue");
    }
    fn dequeue(&mut self, _: &mut Cx) -> Option<Packet> {
        assert_ne!(self.0, "dequeue");
        None
    }
    fn backlog(&self) -> Backlog {
        assert_ne!(self.0, "backlog");
        Backlog { packets: 1, bytes: 1 }
    }
    fn next_tick(&self) -> Option<Instant> {
        assert_ne!(self.0, "next_tick");
        Some(Instant::from_nanos(1 << 61))
    }
    fn on_tick(&mut self, _: &mut Cx) {
        panic!("on_tick");
    }
    fn gauges(&self, _: &mut dyn FnMut(&'static str, f64)) {
        assert_ne!(self.0, "gauges");
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert_ne!(self.0, "drop");
    }
}

#[test]
fn no_panic_leaves_the_library() {
    let bomb = |place| {
        let queue = queue::Queue::around(Box::new(Bomb(place)), Rng::named(1, "bomb"), 0);
        Box::into_raw(Box::new(Queue { queue, broken: false }))
    };
    let mut departure = Departure::default();
    let (mut packets, mut value, mut at) = (0, 0.0, 0);
    // SAFETY: queues of ours, and room of ours.
    unsafe {
        type Call<'a> = &'a mut dyn FnMut(*mut Queue) -> Status;
        let calls: [(&str, Call); 6] = [
            ("enqueue", &mut |q| aqmlab_enqueue(q, &packet(1), 5)),
            ("dequeue", &mut |q| aqmlab_dequeue(q, 5, &raw mut departure)),
            ("backlog", &mut |q| aqmlab_backlog(q, &raw mut packets, null_mut())),
            ("next_tick", &mut |q| aqmlab_next_tick(q, &raw mut at)),
            ("on_tick", &mut |q| aqmlab_tick(q, 1 << 61)),
            ("gauges", &mut |q| aqmlab_gauge(q, c"x".as_ptr(), &raw mut value)),
        ];
        for (place, call) in calls {
            let queue = bomb(place);
            assert_eq!(call(queue), AQMLAB_ERROR_BROKEN, "{place}");
            assert_eq!(aqmlab_enqueue(queue, &packet(1), 9), AQMLAB_ERROR_BROKEN, "{place}");
            assert_eq!(aqmlab_gauges(queue, null_mut(), 0), 0);
            aqmlab_destroy(queue);
        }
        aqmlab_destroy(bomb("drop"));
    }
}
