//! A listener's playout buffer, which plays packets at equal intervals again after the network has
//! delayed them differently.

use std::collections::VecDeque;

use packet::report::Impairment;
use packet::{Duration, Instant};

use crate::report::ListenerReport;

/// A packet that has not arrived after this time counts as lost.
const GIVEN_UP: Duration = Duration::from_secs(10);
/// Weight of the past in the adaptive buffer's estimates (Ramjee et al., algorithm 1).
const PAST: f64 = 0.998_002;

/// How a listener's buffer is set at the begin of each spurt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Playout {
    /// Time in the buffer of a spurt's first packet, s.
    pub buffer: f64,
    /// Whether the delay is estimated instead; `buffer` is then only the first guess.
    pub adaptive: bool,
}

/// One packet that the talker sent.
#[derive(Clone, Copy, Debug)]
struct Said {
    at: Instant,
    spurt: u32,
    fate: Option<Fate>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Played,
    Late,
    Lost,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    said: u64,
    played: u64,
    late: u64,
    lost: u64,
    gaps: u64,
    /// Sum of the network delays and number of the packets that arrived; sum of the playout delays
    /// of those that were played, s.
    network_ns: u128,
    came: u64,
    playout_s: f64,
}

/// The estimates of the adaptive buffer, s.
#[derive(Clone, Copy, Debug)]
struct Estimate {
    delay: f64,
    variation: f64,
}

/// The playout buffer of one listener.
#[derive(Debug)]
pub(super) struct PlayoutBuffer {
    playout: Playout,
    estimate: Option<Estimate>,
    /// The spurt being played (its number), and the time from sending a packet to playing it, s.
    playing: Option<(u32, f64)>,
    /// Number of spurts that the talker has begun.
    spurt: u32,
    /// Packets whose fate is not yet counted, in order.
    waiting: VecDeque<Said>,
    /// Number of the first of these packets.
    first: u64,
    /// Number of the first packet of the measured interval.
    measured_from: u64,
    in_gap: bool,
    counts: Counts,
}

impl PlayoutBuffer {
    pub fn new(playout: Playout) -> Self {
        PlayoutBuffer {
            playout,
            estimate: None,
            playing: None,
            spurt: 0,
            waiting: VecDeque::new(),
            first: 0,
            measured_from: 0,
            in_gap: false,
            counts: Counts::default(),
        }
    }

    /// Records that the talker sends a packet, perhaps the first of a spurt.
    pub fn said(&mut self, begins: bool, now: Instant) {
        self.spurt += u32::from(begins);
        self.waiting.push_back(Said { at: now, spurt: self.spurt, fate: None });
        self.settle(now);
    }

    /// Records that packet `number` arrives.
    pub fn received(&mut self, number: u64, now: Instant) {
        // A packet that was given up is counted as lost already.
        let Some(place) = number.checked_sub(self.first) else { return };
        let said = self.waiting[place as usize];
        let delay = now.since(said.at);
        let playout = self.playout_of(said.spurt, delay.secs_f64());
        let played = delay <= Duration::from_secs_f64(playout);
        self.waiting[place as usize].fate = Some(if played { Fate::Played } else { Fate::Late });
        if number >= self.measured_from {
            self.counts.came += 1;
            self.counts.network_ns += u128::from(delay.nanos());
            self.counts.playout_s += if played { playout } else { 0.0 };
        }
        self.settle(now);
    }

    /// The playout delay of the packets of a spurt, s; it is set by the first of them that arrives.
    /// A packet that a later spurt has overtaken gets the delay of that spurt.
    fn playout_of(&mut self, spurt: u32, delay: f64) -> f64 {
        let Playout { buffer, adaptive } = self.playout;
        let estimate = self.estimate.get_or_insert(Estimate { delay, variation: buffer / 4.0 });
        let mix = |old: f64, new: f64| PAST * old + (1.0 - PAST) * new;
        estimate.delay = mix(estimate.delay, delay);
        estimate.variation = mix(estimate.variation, (delay - estimate.delay).abs());
        match self.playing {
            Some((playing, playout)) if playing >= spurt => playout,
            _ => {
                let estimated = estimate.delay + 4.0 * estimate.variation;
                let playout = if adaptive { estimated } else { delay + buffer };
                self.playing = Some((spurt, playout));
                playout
            }
        }
    }

    /// Counts the packets whose fate is known, in order.
    fn settle(&mut self, now: Instant) {
        while let Some(said) = self.waiting.front() {
            let lost = (now.since(said.at) >= GIVEN_UP).then_some(Fate::Lost);
            let Some(fate) = said.fate.or(lost) else { return };
            self.count(fate);
        }
    }

    fn count(&mut self, fate: Fate) {
        self.waiting.pop_front();
        let measured = self.first >= self.measured_from;
        self.first += 1;
        if !measured {
            return;
        }
        let counts = &mut self.counts;
        counts.said += 1;
        match fate {
            Fate::Played => counts.played += 1,
            Fate::Late => counts.late += 1,
            Fate::Lost => counts.lost += 1,
        }
        let gap = fate != Fate::Played;
        counts.gaps += u64::from(gap && !self.in_gap);
        self.in_gap = gap;
    }

    /// Begins the measured interval with the next packet.
    pub fn measure(&mut self) {
        self.measured_from = self.first + self.waiting.len() as u64;
        self.counts = Counts::default();
        self.in_gap = false;
    }

    /// The listener's counts and delays until now. Packets that are to be played later do not
    /// count. `before_s` is the time from mouth to network; `codec` is passed on unchanged.
    pub fn report(
        &self,
        back: bool,
        before_s: f64,
        codec: Impairment,
        now: Instant,
    ) -> ListenerReport {
        let mut rest = PlayoutBuffer { waiting: self.waiting.clone(), ..*self };
        let playout = self.playing.map_or(GIVEN_UP, |(_, s)| Duration::from_secs_f64(s));
        while let Some(said) = rest.waiting.front() {
            let lost = (said.at + playout <= now).then_some(Fate::Lost);
            let Some(fate) = said.fate.or(lost) else { break };
            rest.count(fate);
        }
        let Counts { said, played, late, lost, gaps, network_ns, came, playout_s } = rest.counts;
        let network_s = network_ns as f64 / 1e9 / came as f64;
        let mouth_to_ear_s = before_s + playout_s / played as f64;
        ListenerReport { back, said, late, lost, gaps, network_s, mouth_to_ear_s, codec }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const G711: Impairment = Impairment { equipment: 0.0, robustness: 25.1 };
    const G729A: Impairment = Impairment { equipment: 11.0, robustness: 19.0 };

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// The report of a listener to whom a packet is sent every 20 ms. Delays are in ms, `None` for
    /// lost packets; spurts begin at the packets with the given numbers.
    fn listen(playout: Playout, spurts: &[u64], delays: &[Option<u64>]) -> ListenerReport {
        let mut buffer = PlayoutBuffer::new(playout);
        let mut arrivals: Vec<(u64, u64)> = Vec::new();
        let mut events: Vec<(u64, Option<u64>)> = Vec::new();
        for (number, delay) in delays.iter().enumerate() {
            let (number, sent) = (number as u64, 20 * number as u64);
            events.push((sent, None));
            arrivals.extend(delay.map(|delay| (sent + delay, number)));
        }
        events.extend(arrivals.into_iter().map(|(ms, number)| (ms, Some(number))));
        events.sort();
        let mut said = 0;
        for (ms, arrival) in events {
            match arrival {
                None => {
                    buffer.said(spurts.contains(&said), at(ms));
                    said += 1;
                }
                Some(number) => buffer.received(number, at(ms)),
            }
        }
        buffer.report(false, 0.02, G711, at(100_000))
    }

    const FIXED: Playout = Playout { buffer: 0.06, adaptive: false };

    #[test]
    fn a_spurt_is_played_so_long_after_its_first_packet_came() {
        // The first packet takes 30 ms, so the spurt is played at 90 ms: 91 ms is late, 90 is not.
        let delays = [30, 90, 91, 40, 120].map(Some);
        let listened = listen(FIXED, &[0], &delays);
        assert_eq!((listened.said, listened.late, listened.lost, listened.gaps), (5, 2, 0, 2));
        assert!((listened.mouth_to_ear_s - 0.11).abs() < 1e-12);
        assert!((listened.network_s - 0.0742).abs() < 1e-12);
        // With a spurt of its own the last one is in time, and played at 180 ms.
        let listened = listen(FIXED, &[0, 4], &delays);
        assert_eq!((listened.late, listened.gaps), (1, 1));
        assert!((listened.mouth_to_ear_s - (0.02 + (3.0 * 0.09 + 0.18) / 4.0)).abs() < 1e-12);
    }

    #[test]
    fn losses_are_counted_in_runs_with_what_is_late() {
        let delays = [Some(30), None, Some(99), Some(30), None, None, Some(30), None];
        let listened = listen(FIXED, &[0], &delays);
        assert_eq!((listened.said, listened.late, listened.lost, listened.gaps), (8, 1, 4, 3));
    }

    #[test]
    fn only_the_measured_interval_counts_and_only_what_is_due() {
        let mut buffer = PlayoutBuffer::new(FIXED);
        for number in 0..4 {
            buffer.said(number == 0, at(20 * number));
        }
        buffer.received(0, at(70)); // 70 ms, so all are played at 130 ms
        buffer.measure();
        buffer.said(false, at(80));
        buffer.said(false, at(100));
        buffer.said(false, at(120));
        buffer.received(1, at(125)); // of the earlier spurt
        buffer.received(5, at(150));
        let report = |ms| buffer.report(false, 0.0, G711, at(ms));
        assert_eq!((report(209).said, report(209).lost), (0, 0)); // the fifth's time has not come
        assert_eq!((report(210).said, report(210).lost), (2, 1)); // nor has the seventh packet's
        assert_eq!((report(250).said, report(250).lost, report(250).gaps), (3, 2, 2));
        assert_eq!(report(250).network_s, 0.05);
    }

    #[test]
    fn who_receives_nothing_has_lost_all_that_was_given_up() {
        let mut buffer = PlayoutBuffer::new(FIXED);
        buffer.said(true, at(0));
        buffer.said(false, at(20));
        let listened = buffer.report(true, 0.02, G729A, at(10_010));
        assert_eq!((listened.said, listened.lost, listened.gaps), (1, 1, 1));
        assert!(listened.mouth_to_ear_s.is_nan() && listened.network_s.is_nan());
        // A packet that arrives after all does not count twice.
        buffer.said(false, at(10_030));
        buffer.received(1, at(10_040));
        assert_eq!(buffer.report(true, 0.02, G729A, at(10_050)).lost, 2);
    }

    #[test]
    fn the_adaptive_buffer_follows_delay_and_its_variation() {
        // Delays alternate between 30 and 50 ms: mean 40, mean deviation 10, so 80 ms in the end,
        // whatever the first guess. 5,000 packets: 1 - 0.998^5000 is 1 but for 5e-5.
        let delays: Vec<_> = (0..5_000).map(|n| Some(if n % 2 == 0 { 30 } else { 50 })).collect();
        let mut buffer = PlayoutBuffer::new(Playout { buffer: 0.2, adaptive: true });
        for (number, delay) in delays.iter().enumerate() {
            let sent = 100 * number as u64;
            buffer.said(number % 50 == 0, at(sent));
            buffer.received(number as u64, at(sent + delay.unwrap()));
        }
        let (_, playout) = buffer.playing.unwrap();
        assert!((playout - 0.08).abs() < 0.001, "{playout}");
    }
}
