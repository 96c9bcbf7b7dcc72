//! Comparison with the kernel's own code. `kernel.txt.gz` has the acknowledgements of a flow, which
//! were passed to net/ipv4/tcp_bbr.c of Linux 6.12 compiled in user space, and the windows and
//! rates that it set. The flow has timeouts, recoveries, ProbeRTT and a policed rate.

use std::io::Read;

use flate2::read::GzDecoder;

use super::super::control::RateSample;
use super::super::testing::{self, ack_sample};
use super::*;

const SEEN: &[u8] = include_bytes!("kernel.txt.gz");

struct Replay {
    bbr: Bbr,
    win: Window,
}

impl Replay {
    /// Reports further segments as lost, until `lost` packets have been lost in all.
    fn lose(&mut self, now: Instant, lost: u64) {
        let bytes = self.bbr.mss;
        let none =
            Lost { now, bytes, sent_in_flight: 0, lost: 0, total_delivered: 0, app_limited: false };
        while self.bbr.lost < lost {
            self.bbr.on_lost(&self.win, &none);
        }
    }

    fn open(&mut self, fields: &[u64]) {
        let &[now, cwnd, mss, srtt, rate] = fields else { panic!("five fields") };
        (self.win.cwnd, self.win.mss) = (cwnd * mss, mss as u16);
        self.bbr.on_open(&mut self.win, Duration::from_micros(srtt), Instant::from_nanos(now));
        assert_eq!(self.bbr.pacing_rate, rate);
    }

    /// The sample of an acknowledgement from the fields of a line; `None` where a field is -1.
    fn ack_sample(&self, f: &[Option<u64>]) -> testing::AckSample {
        let mss = self.bbr.mss;
        let value = |i: usize| f[i].expect("a number");
        let now = Instant::from_nanos(value(0));
        let delivered = value(10) * mss;
        let rate = f[6].map(|interval| RateSample {
            delivered: value(5) * mss,
            interval: Duration::from_micros(interval),
            prior_delivered: (value(7) - 1) * mss,
            total_delivered: self.bbr.delivered_bytes + delivered,
            sent_in_flight: 0,
            lost: 0,
            app_limited: value(8) == 1,
        });
        testing::AckSample {
            now,
            next_send: now + Duration::from_nanos(value(1)),
            in_flight: value(3) * mss,
            in_flight_before: value(4) * mss,
            lost: value(9) * mss,
            rtt: f[11].map(Duration::from_micros),
            srtt: Duration::from_micros(value(12)),
            rate,
            ca_state: match value(13) {
                3 => CaState::Recovery,
                4 => CaState::Loss,
                _ => CaState::Open,
            },
            ..ack_sample(delivered)
        }
    }

    fn acknowledge(&mut self, line: usize, f: &[Option<u64>]) {
        let value = |i: usize| f[i].expect("a number");
        let ack = self.ack_sample(f);
        self.lose(ack.now, value(2));
        self.win.cwnd = value(14) * self.bbr.mss;
        self.bbr.on_ack(&mut self.win, &ack);
        let bbr = &mut self.bbr;
        let seen = [self.win.cwnd / bbr.mss, bbr.pacing_rate, bbr.mode as u64];
        assert_eq!(seen, [value(15), value(16), value(17)], "line {line}");
        if bbr.mode == Mode::ProbeBw {
            assert_eq!(bbr.cycle.index as u64, value(18), "line {line}");
        }
    }
}

#[test]
fn every_window_rate_and_phase_is_that_of_the_kernels_code() {
    let mut replay = Replay { bbr: Bbr::default(), win: Window::default() };
    let mut ruled = 0;
    let mut seen = String::new();
    GzDecoder::new(SEEN).read_to_string(&mut seen).expect("the file is text");
    for (line, text) in seen.lines().enumerate().filter(|(_, text)| !text.starts_with('#')) {
        let (what, rest) = text.split_once(' ').unwrap_or((text, ""));
        let fields: Vec<Option<u64>> = rest.split_whitespace().map(|f| f.parse().ok()).collect();
        let whole: Vec<u64> = fields.iter().flatten().copied().collect();
        match what {
            "open" => replay.open(&whole),
            "cut" => {
                replay.win.cwnd = whole[0] * replay.bbr.mss;
                replay.bbr.on_congestion(
                    &mut replay.win,
                    &Flight::default(),
                    Cause::Loss,
                    Instant::ZERO,
                );
            }
            "loss" => {
                replay.lose(Instant::from_nanos(whole[0]), whole[1]);
                replay.bbr.on_timeout(
                    &replay.win,
                    &Flight::default(),
                    Instant::from_nanos(whole[0]),
                );
            }
            "undo" => replay.bbr.undo(&mut replay.win, false),
            _ => replay.acknowledge(line + 1, &fields),
        }
        ruled += u32::from(replay.bbr.policer.rules);
    }
    assert!(ruled > 100, "{ruled}");
}
