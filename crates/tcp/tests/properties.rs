//! Laws that hold whatever the path does: every byte arrives once and in order, nothing is sent
//! that may not be sent, no connection hangs.

mod parts;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::lab::{C, S, profile};
use aqmlab_tcp::{Deadline, Endpoint, Flags, HostClock, Profile, Segment, State};
use packet::params::Raw;
use packet::{Duration, Ecn, Instant, Rng};

/// An independent account of what a side has received: a mark per byte.
struct Book {
    bytes: Vec<bool>,
    prefix: usize,
}

impl Book {
    fn new(bytes: u64) -> Self {
        Book { bytes: vec![false; bytes as usize], prefix: 0 }
    }
    fn enter(&mut self, segment: &Segment) {
        if segment.len > 0 {
            let first = segment.seq as usize - 1;
            self.bytes[first..first + segment.len as usize].fill(true);
            while self.bytes.get(self.prefix) == Some(&true) {
                self.prefix += 1;
            }
        }
    }
}

/// What a hostile path may do to one connection.
struct Path {
    rng: Rng,
    loss: f64,
    /// Losses still allowed before the server is established (else it may rightly give up after
    /// 75 s) and after (12 timeouts in a row may pass, those of the
    /// handshake included).
    left: [u32; 2],
    /// Largest extra delay: reorders.
    jitter: u64,
    duplicate: f64,
    /// Share of the ECN-capable packets that a queue marks.
    mark: f64,
}

/// When, in which order, for which side, which segment.
type Entry = (Instant, u8, u64, usize, usize);

struct Case {
    clocks: [HostClock; 2],
    ends: [Endpoint; 2],
    sizes: [u64; 2],
    books: [Book; 2],
    path: Path,
    agenda: BinaryHeap<Reverse<Entry>>,
    flying: Vec<Segment>,
    /// Highest acknowledgement seen by each side.
    acked: [u64; 2],
    /// Highest number sent by each side, plus one.
    sent: [u64; 2],
    /// Packets marked on the way.
    marks: u32,
    window: u64,
    /// What is sent again is ECN-capable too (ns-2.35).
    repeats_are_capable: bool,
    silent: bool,
    wrote: bool,
    hung_up: bool,
    poll_first: bool,
    armed: [Option<Deadline>; 2],
    /// Segments that reached the server after its TIME_WAIT.
    knocks: u32,
    order: u64,
}

impl Case {
    fn new(profile: &Arc<Profile>, seed: u64) -> Self {
        let mut rng = Rng::indexed(seed, "case", 0);
        let mut phase = |ms: u64| Duration::from_nanos(rng.below(ms * 1_000_000));
        let clocks = [0, 1].map(|_| HostClock { slow: phase(500), fast: phase(200) });
        let small = rng.below(2) == 0;
        let sizes = [1 + rng.below(3_000), 1 + rng.below(if small { 6_000 } else { 150_000 })];
        let hostile = rng.below(3) == 0;
        let path = Path {
            loss: [0.02, 0.1, 0.3, 0.6][rng.below(4) as usize],
            // Windows NT 4.0 gives up after 5 retransmissions, or two lost SYNs.
            left: if profile.name() == "windows-nt4" { [1, 4] } else { [3, 9] },
            mark: [0.0, 0.1, 0.5, 1.0][Rng::indexed(seed, "marks", 0).below(4) as usize],
            jitter: if hostile { rng.below(80_000_000) } else { 0 },
            duplicate: if hostile { 0.05 } else { 0.0 },
            rng: Rng::indexed(seed, "path", 0),
        };
        Case {
            clocks,
            ends: clocks.map(|clock| Endpoint::new(profile, clock)),
            sizes,
            books: [Book::new(sizes[S]), Book::new(sizes[C])],
            path,
            agenda: BinaryHeap::new(),
            flying: Vec::new(),
            acked: [0; 2],
            sent: [1; 2],
            marks: 0,
            window: profile.window(),
            repeats_are_capable: profile.name() == "ns2",
            silent: profile.name() == "ns2",
            wrote: false,
            hung_up: false,
            poll_first: rng.below(2) == 0,
            armed: [None; 2],
            knocks: 0,
            order: 0,
        }
    }

    fn schedule(&mut self, at: Instant, class: u8, side: usize, what: usize) {
        self.order += 1;
        self.agenda.push(Reverse((at, class, self.order, side, what)));
    }

    fn run(&mut self) {
        self.ends[C].connect(Instant::ZERO);
        self.ends[C].write(self.sizes[C], Instant::ZERO);
        self.settle(C, Instant::ZERO);
        let mut steps = 0;
        while let Some(Reverse((now, class, _, side, what))) = self.agenda.pop() {
            steps += 1;
            assert!(steps < 200_000, "no end of segments");
            if class == 0 {
                self.arrive(side, self.flying[what], now);
            } else {
                // Stale calls must be harmless.
                if self.armed[side].is_some_and(|due| due.at == now) {
                    self.armed[side] = None;
                }
                self.ends[side].on_timeout(now);
            }
            self.settle(side, now);
            self.tell_ends(now);
        }
    }

    /// Ends that send no FIN: the other hears of it, and the client closes in turn.
    fn tell_ends(&mut self, now: Instant) {
        for side in [C, S, C] {
            let other = 1 - side;
            if self.ends[side].ended_without_fin() && !self.ends[other].peer_closed() {
                assert_eq!(self.ends[side].acked(), self.sizes[side]);
                self.ends[other].on_peer_closed(now);
                if other == C && !self.hung_up {
                    self.hung_up = true;
                    self.ends[C].close(now);
                }
                self.settle(other, now);
            }
        }
    }

    fn arrive(&mut self, side: usize, segment: Segment, now: Instant) {
        self.books[side].enter(&segment);
        if segment.flags.has(Flags::ACK) {
            self.acked[side] = self.acked[side].max(segment.ack);
        }
        self.knocks += u32::from(side == S && self.ends[S].state() == State::Closed);
        self.ends[side].on_segment(&segment, now);
        if self.poll_first {
            self.settle(side, now);
        }
        let end = &mut self.ends[side];
        // With a handshake still open a server cannot have taken data into account.
        if end.state() != State::SynSent && end.state() != State::Listen {
            assert_eq!(end.delivered(), self.books[side].prefix as u64, "bytes in order");
        }
        if side == S && !self.wrote && end.delivered() == self.sizes[C] {
            self.wrote = true;
            end.write(self.sizes[S], now);
            end.close(now);
        }
        if side == C && !self.hung_up && end.peer_closed() {
            assert_eq!(end.delivered(), self.sizes[S], "the FIN comes after all data");
            self.hung_up = true;
            end.close(now);
        }
    }

    fn settle(&mut self, side: usize, now: Instant) {
        while let Some(segment) = self.ends[side].poll_send(now) {
            self.send(side, segment, now);
        }
        let end = &self.ends[side];
        let open = !matches!(end.state(), State::Closed | State::Failed | State::TimeWait);
        // A sink of ns-2 has no timer for what answers a SYN.
        let sink = end.state() == State::SynReceived && self.silent;
        if end.outstanding() > 0 && open && !sink {
            let due = end.next_timeout().expect("a timer runs while anything is outstanding");
            assert!(due.at >= now);
        }
        if let Some(due) = end.next_timeout()
            && self.armed[side] != Some(due)
        {
            self.armed[side] = Some(due);
            self.schedule(due.at.max(now), 1 + due.order, side, 0);
        }
    }

    fn send(&mut self, side: usize, segment: Segment, now: Instant) {
        let past = segment.seq + u64::from(segment.len);
        let data = segment.len > 0;
        assert!(!data || past <= 1 + self.sizes[side], "sends what was never written");
        let una = self.ends[side].acked().max(self.acked[side].saturating_sub(1));
        assert!(past <= 1 + una + self.window, "sends beyond the peer's window");
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            assert!(self.ends[1 - side].state() != State::Listen, "sends before the handshake");
        }
        assert!(segment.len <= 1_460);
        // RFC 3168 section 6.1: only data sent for the first time is ECN-capable; in ns-2 all data is.
        let new = data && segment.seq >= self.sent[side];
        let may = new || data && self.repeats_are_capable;
        assert!(segment.ecn == Ecn::NotEct || (may && segment.ecn == Ecn::Ect0));
        assert!(!segment.flags.has(Flags::CWR) || new || segment.flags.has(Flags::SYN));
        if data {
            self.sent[side] = self.sent[side].max(past);
        }
        let opening = matches!(self.ends[S].state(), State::Listen | State::SynReceived);
        let kind = usize::from(!opening);
        if self.path.left[kind] > 0 && self.path.rng.uniform() < self.path.loss {
            self.path.left[kind] -= 1;
            return;
        }
        let copies = 1 + u32::from(self.path.rng.uniform() < self.path.duplicate);
        for _ in 0..copies {
            let extra = self.path.rng.below(self.path.jitter + 1);
            let marked = segment.ecn == Ecn::Ect0 && self.path.rng.uniform() < self.path.mark;
            self.marks += u32::from(marked);
            let ecn = if marked { Ecn::Ce } else { segment.ecn };
            self.flying.push(Segment { ecn, ..segment });
            let at = now + Duration::from_nanos(20_000_000 + extra);
            self.schedule(at, 0, 1 - side, self.flying.len() - 1);
        }
    }

    fn check(&self) {
        for side in [C, S] {
            let end = &self.ends[side];
            assert_eq!(end.delivered(), self.sizes[1 - side], "all delivered to side {side}");
            assert_eq!(end.acked(), self.sizes[side], "all of side {side} acknowledged");
            assert!(end.peer_closed());
        }
        assert_eq!(self.ends[S].state(), State::Closed);
        // The last ACK may be lost so often that the server's TIME_WAIT ends first.
        let client = self.ends[C].state();
        let orphan = client == State::Failed && self.knocks > 0;
        assert!(client == State::Closed || orphan, "{client:?}");
    }
}

fn all_cases(name: &str, settings: &[(&str, Raw)], cases: u64) {
    let profile = profile(name, settings);
    for seed in 0..cases {
        let run = std::panic::catch_unwind(|| {
            let mut case = Case::new(&profile, seed);
            case.run();
            case.check();
        });
        assert!(run.is_ok(), "{name} {settings:?}: seed {seed} (see above)");
    }
}

#[test]
fn freebsd_delivers_under_any_loss() {
    all_cases("freebsd-2.2.8", &[], 8_000);
}

#[test]
fn freebsd_delivers_with_chunked_writes() {
    let chunks = [("write_chunk", Raw::Number(2048.0)), ("small_write_split", Raw::Bool(true))];
    all_cases("freebsd-2.2.8", &chunks, 1_500);
    all_cases("freebsd-2.2.8", &[("floor_v", Raw::Bool(false))], 500);
}

#[test]
fn plain_delivers_under_any_loss() {
    all_cases("plain", &[], 8_000);
}

#[test]
fn linux_delivers_under_any_loss() {
    all_cases("linux", &[], 8_000);
    let paced = [("pacing", Raw::Bool(true)), ("ecn", Raw::Bool(true))];
    all_cases("linux", &paced, 2_000);
}

#[test]
fn linux_delivers_whatever_finds_its_losses() {
    for recovery in ["sack", "newreno"] {
        all_cases("linux", &[("recovery", Raw::Text(recovery.into()))], 2_000);
    }
}

#[test]
fn every_control_delivers_under_any_loss() {
    for control in ["cubic", "rfc9438", "vegas", "bbr", "bbr3", "ledbat++"] {
        for ecn in [false, true] {
            let settings = [("congestion", Raw::Text(control.into())), ("ecn", Raw::Bool(ecn))];
            all_cases("linux", &settings, 1_500);
        }
    }
}

#[test]
fn plain_delivers_without_sack() {
    all_cases("plain", &[("sack", Raw::Bool(false))], 2_000);
}

#[test]
fn plain_delivers_with_other_settings() {
    let settings = [
        ("initial_window", Raw::Number(10.0)),
        ("rto_min", Raw::Text("0.2 s".into())),
        ("delayed_ack", Raw::Text("0 s".into())),
        ("window_bytes", Raw::Number(20_001.0)),
    ];
    all_cases("plain", &settings, 1_000);
    all_cases("plain", &[("mss", Raw::Number(100.0)), ("window_bytes", Raw::Number(3_000.0))], 500);
}
