//! The loop of a run after its measured time, between devices in memory, on a clock of its own.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use aqmlab_live::bridge::Bridge;
use aqmlab_live::control::{Announcement, Protocol};
use aqmlab_live::device::Device;
use aqmlab_live::fault::Fault;
use aqmlab_live::priority::Precedence;
use aqmlab_live::router::Router;
use aqmlab_live::run::drive::{Around, Drive};
use packet::{Duration, Instant};
use serde_json::json;
use sim::topology::Side;

use crate::bridge::datagram;
use crate::simulated::scenario;

type Clock = Rc<Cell<Instant>>;

fn ms(at: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(at)
}

/// A device into which packets come at their times.
struct Timed {
    clock: Clock,
    incoming: VecDeque<(Instant, Vec<u8>)>,
    outgoing: Rc<RefCell<Vec<Instant>>>,
}

impl Device for Timed {
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let is_there = self.incoming.front().is_some_and(|(at, _)| *at <= self.clock.get());
        let there = if is_there { self.incoming.pop_front() } else { None };
        Ok(there.map(|(_, packet)| {
            into[..packet.len()].copy_from_slice(&packet);
            packet.len()
        }))
    }

    fn send(&mut self, _: &[u8]) -> io::Result<bool> {
        self.outgoing.borrow_mut().push(self.clock.get());
        Ok(true)
    }
}

/// Programs of users that end, or fail, when they are meant to, and announce something meanwhile.
struct Programs {
    clock: Clock,
    end: Instant,
    fail: Instant,
    words: RefCell<VecDeque<Instant>>,
    received: Cell<usize>,
    slept: usize,
    stopped: bool,
}

impl Around<Timed> for Programs {
    /// Each look at the clock takes a microsecond.
    fn now(&self) -> Instant {
        self.clock.set(self.clock.get() + Duration::from_micros(1));
        self.clock.get()
    }

    fn used(&self) -> Duration {
        Duration::ZERO
    }

    /// Until the time, a packet or a word: one that is not read wakes at once.
    fn sleep(&mut self, devices: &[Timed; 2], most: Duration) -> Result<bool, Fault> {
        self.slept += 1;
        let packets = devices.iter().filter_map(|device| Some(device.incoming.front()?.0));
        let first = packets.chain(self.words.borrow().front().copied()).min();
        let now = self.clock.get();
        self.clock.set(first.unwrap_or(Instant::NEVER).min(now + most).max(now));
        Ok(self.words.borrow().front().is_some_and(|at| *at <= self.clock.get()))
    }

    fn poll_announcements(&self, notify: &mut dyn FnMut(&Announcement)) {
        let is_there = || self.words.borrow().front().is_some_and(|at| *at <= self.clock.get());
        while is_there() {
            self.words.borrow_mut().pop_front();
            let port = 1_000 + self.received.get() as u16;
            self.received.set(self.received.get() + 1);
            notify(&Announcement {
                protocol: Protocol::Udp,
                opener: ([10, 128, 0, 1], port).into(),
                acceptor: ([10, 0, 0, 1], 9).into(),
                group: 0,
                source: 0,
                round_trip: Duration::ZERO,
            });
        }
    }

    fn look_after(&mut self) -> Result<bool, Fault> {
        let failed = self.clock.get() >= self.fail;
        if failed { Err(Fault("users stopped: no room".into())) } else { Ok(false) }
    }

    fn users_have_ended(&self) -> bool {
        self.clock.get() >= self.end
    }

    fn stop(&mut self) -> Result<(), Fault> {
        self.stopped = true;
        Ok(())
    }
}

/// A run of 100 ms on 8 Mbit/s at a distance of 80 ms, through its measured time; a packet comes to the
/// servers' device at 99 ms. And when packets left at the clients'.
fn measured(end: Instant, fail: Instant) -> (Drive<Timed, Programs>, Rc<RefCell<Vec<Instant>>>) {
    let scenario = scenario(&json!({
        "duration": "10 s", "network": {"rtt": "80 ms"},
        "link": [{"rate": "8 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 1}],
    }));
    let (clock, left) = (Clock::default(), Rc::default());
    let device = |incoming, outgoing| Timed { clock: Rc::clone(&clock), incoming, outgoing };
    let last = VecDeque::from([(ms(99), datagram(Side::Servers, 0, 1))]);
    let devices = [device(VecDeque::new(), Rc::clone(&left)), device(last, Rc::default())];
    let router = Router::new(&scenario, 0).expect("a router");
    let programs = Programs {
        clock,
        end,
        fail,
        words: RefCell::default(),
        received: Cell::new(0),
        slept: 0,
        stopped: false,
    };
    let bridge = Bridge::new(router, devices, None);
    let mut drive = Drive::new(bridge, programs, Precedence::default());
    assert_eq!(drive.run(ms(100)).expect("nothing fails"), ms(100));
    (drive, left)
}

#[test]
fn packets_move_after_the_measured_time_until_users_have_ended() {
    let (mut drive, left) = measured(ms(190), Instant::NEVER);
    assert!(left.borrow().is_empty() && !drive.programs.stopped);
    drive.wait(ms(100)).expect("users end");
    // 1 ms on the line, 40 ms of distance; handed on within the clock's step or two.
    let late = left.borrow()[0].since(ms(140));
    assert!(late < Duration::from_micros(5), "{late:?}");
    assert!(drive.programs.stopped);
    // Programs are looked after every 20 ms.
    let now = drive.programs.clock.get();
    assert!(ms(190) <= now && now < ms(211), "{now:?}");
}

#[test]
fn what_is_announced_after_the_measured_time_is_read_and_does_not_keep_the_loop_awake() {
    let (mut drive, _) = measured(ms(500), Instant::NEVER);
    drive.programs.words.borrow_mut().extend((0..5).map(|each| ms(150 + 10 * each)));
    let before = drive.programs.slept;
    drive.wait(ms(100)).expect("users end");
    assert_eq!(drive.programs.received.get(), 5);
    let sleeps = drive.programs.slept - before;
    // 20 looks, 5 words, a few for the packet.
    assert!(sleeps < 40, "{sleeps} sleeps in 0.4 s");
}

#[test]
fn users_that_do_not_end_are_stopped_with_a_sentence() {
    let (mut drive, _) = measured(Instant::NEVER, Instant::NEVER);
    let said = drive.wait(ms(100)).expect_err("they have written nothing").0;
    assert!(said.starts_with("users had not ended 30 s after the run"), "{said}");
    assert!(drive.programs.stopped);
    assert!(drive.programs.clock.get() < ms(30_101));
}

#[test]
fn users_that_fail_after_the_measured_time_are_reported_and_the_others_stopped() {
    let (mut drive, _) = measured(Instant::NEVER, ms(150));
    assert_eq!(drive.wait(ms(100)).expect_err("no room").0, "users stopped: no room");
    assert!(drive.programs.stopped);
    assert!(drive.programs.clock.get() < ms(171));
}
