//! BBR version 1 as the mainline kernel has it (Linux 6.12, `net/ipv4/tcp_bbr.c`; Cardwell et al.,
//! "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016). Users of Linux call this
//! `bbr`; version 3 is `bbr3`.
//!
//! Methods have the names of the kernel's functions, without `bbr_`; where a name differs, the
//! kernel's is given with it. As in the kernel, all arithmetic is in integers: windows and amounts
//! in packets, rates in packets per microsecond times 2^24 ([`BW_UNIT`]), gains times 2^8
//! ([`UNIT`]), round-trip times in microseconds, long times in milliseconds (jiffies at HZ = 1000).
//! Reading order: this file has the modes, `model` the model of the path (rate, round-trip time,
//! aggregated acknowledgements), `policer` the long-term rate, `window` the pacing rate and the
//! window.

#[cfg(test)]
mod kernel;
mod model;
mod policer;
mod settings;
#[cfg(test)]
mod tests;
mod window;

use packet::random::{GOLDEN, mix};

use packet::{About, Duration, Instant};

use super::control::{
    AckSample, BurstSize, CLASSIC, CaState, Cause, Control, ControlFlags, Entry, Lost,
};
use crate::send_state::{Flight, Window};
use model::{Aggregation, FullPipe, Rounds, Trips};
use policer::Policer;
use settings::{FIELDS, Settings};
use window::Saved;

/// This control's entry in the registry of congestion controls.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "bbr",
        summary: "BBRv1, the kernel's: paced at the greatest delivery rate of ten round trips, up to \
              two bandwidth-delay products in flight, deaf to single losses and to marks",
        year: 2024,
        source: "Linux 6.12, net/ipv4/tcp_bbr.c (HZ = 1000), in its integers, with Cardwell et al., \
             ACM Queue 14(5), 2016",
        deviations: "constructed: the random first phase of a gain cycle is a hash \
             of the time and of the bytes delivered; a packet is a segment's worth of bytes",
        fields: FIELDS,
    },
    make: |params| Box::new(Bbr::new(Settings::read(params))),
};

/// BW_UNIT: rates are in packets per microsecond, multiplied by this.
const BW_SCALE: u32 = 24;
const BW_UNIT: u64 = 1 << BW_SCALE;
/// BBR_UNIT: gains are multiplied by this.
const SCALE: u32 = 8;
const UNIT: u64 = 1 << SCALE;

/// bbr_high_gain, 2/ln 2 rounded up, and bbr_drain_gain, its inverse.
const HIGH_GAIN: u64 = UNIT * 2_885 / 1_000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1_000 / 2_885;
/// bbr_pacing_gain: pacing gains of the phases of ProbeBW's cycle.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// bbr_cycle_rand: any phase but the second may be the first.
const CYCLE_RAND: u64 = 7;

/// The mode of the sender (`enum bbr_mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The report of the current acknowledgement (`struct rate_sample`), in packets and microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// Packets delivered, and the interval in microseconds; none where the rate is not known.
    rate: Option<(u64, u64)>,
    /// Bytes delivered in all when the newest acknowledged segment was sent.
    prior_delivered: u64,
    app_limited: bool,
    losses: u64,
    acked: u64,
    prior_in_flight: u64,
    in_flight: u64,
    rtt_us: Option<u64>,
    /// The segment was the only one in flight and short, so the receiver may have delayed its
    /// acknowledgement.
    delayed: bool,
    /// Time for which pacing holds the next segment back, microseconds.
    wait_us: u64,
}

/// The current phase of ProbeBW's cycle, and when it began.
#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    index: usize,
    since: Instant,
}

#[derive(Clone, Debug)]
struct Bbr {
    settings: Settings,
    mode: Mode,
    pacing_gain: u64,
    cwnd_gain: u64,
    now: Instant,
    mss: u64,
    /// Number of packets delivered in all.
    delivered: u64,
    /// Number of packets lost in all.
    lost: u64,
    /// Number of bytes delivered in all.
    delivered_bytes: u64,
    /// When the last bytes were delivered.
    delivered_at: Instant,
    sample: Sample,
    rounds: Rounds,
    pipe: FullPipe,
    trips: Trips,
    cycle: Cycle,
    aggregation: Aggregation,
    policer: Policer,
    saved: Saved,
    /// Pacing rate, bytes per second.
    pacing_rate: u64,
    has_seen_rtt: bool,
    /// The sender starts again after the program had nothing to send.
    idle_restart: bool,
}

impl Bbr {
    /// The state of a new connection (`bbr_init`).
    fn new(settings: Settings) -> Self {
        Bbr {
            settings,
            mode: Mode::Startup,
            // The kernel's structure is zeroed at first; the first acknowledgement sets the gains.
            pacing_gain: 0,
            cwnd_gain: 0,
            now: Instant::ZERO,
            mss: 1,
            // The packet of the handshake counts.
            delivered: 1,
            lost: 0,
            delivered_bytes: 0,
            delivered_at: Instant::ZERO,
            sample: Sample::default(),
            rounds: Rounds::default(),
            pipe: FullPipe::default(),
            trips: Trips::default(),
            cycle: Cycle::default(),
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            saved: Saved::default(),
            pacing_rate: 0,
            has_seen_rtt: false,
            idle_restart: false,
        }
    }
}

/// The time span in whole microseconds.
fn micros(span: Duration) -> u64 {
    span.nanos() / 1_000
}

/// Microseconds between two of the kernel's time stamps, which are whole microseconds.
fn stamps(later: Instant, earlier: Instant) -> u64 {
    let stamp = |at: Instant| micros(at.since(Instant::ZERO));
    stamp(later).saturating_sub(stamp(earlier))
}

/// Whole milliseconds since the start of the run (jiffies).
fn jiffies(at: Instant) -> u64 {
    at.since(Instant::ZERO).nanos() / 1_000_000
}

/// Number of packets in `bytes` bytes: whole segments and a shorter last one, which also carries a
/// FIN.
fn packets(bytes: u64, mss: u64) -> u64 {
    if bytes == 0 { 0 } else { (bytes - 1).div_ceil(mss).max(1) }
}

impl Bbr {
    fn take(&mut self, ack: &AckSample) {
        let mss = self.mss;
        self.now = ack.now;
        let acked = packets(ack.delivered, mss);
        self.delivered += acked;
        self.delivered_bytes += ack.delivered;
        if ack.delivered > 0 {
            self.delivered_at = ack.now;
        }
        self.sample = Sample {
            losses: packets(ack.lost, mss),
            acked,
            prior_in_flight: packets(ack.in_flight_before, mss),
            in_flight: packets(ack.in_flight, mss),
            rtt_us: ack.rtt.map(micros),
            wait_us: micros(ack.next_send.since(ack.now)),
            ..Sample::default()
        };
        let Some(rate) = ack.rate else { return };
        let sample = &mut self.sample;
        sample.rate = Some((packets(rate.delivered, mss), micros(rate.interval)));
        sample.prior_delivered = rate.prior_delivered;
        sample.app_limited = rate.app_limited || self.trips.slowed(rate.prior_delivered);
        let alone = rate.prior_delivered + ack.delivered == rate.total_delivered;
        sample.delayed = alone && ack.delivered < mss && ack.acked == ack.delivered;
    }

    fn update_model(&mut self, win: &mut Window) {
        self.update_bw();
        self.update_ack_aggregation(win);
        self.update_cycle_phase();
        self.check_full_bw_reached();
        self.check_drain(win);
        self.update_min_rtt(win);
        self.update_gains();
    }

    fn update_cycle_phase(&mut self) {
        if self.mode == Mode::ProbeBw && self.is_next_cycle_phase() {
            self.advance_cycle_phase();
        }
    }

    fn is_next_cycle_phase(&self) -> bool {
        let least = self.trips.min_us.unwrap_or(u64::from(u32::MAX));
        let full_length = stamps(self.delivered_at, self.cycle.since) > least;
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let in_flight = self.packets_in_net_at_edt(self.sample.prior_in_flight);
        let bw = self.rounds.max_bw();
        if self.pacing_gain > UNIT {
            let raised = in_flight >= self.inflight(bw, self.pacing_gain);
            return full_length && (self.sample.losses > 0 || raised);
        }
        full_length || in_flight <= self.inflight(bw, UNIT)
    }

    fn advance_cycle_phase(&mut self) {
        self.cycle =
            Cycle { index: (self.cycle.index + 1) % CYCLE.len(), since: self.delivered_at };
    }

    /// `bbr_reset_probe_bw_mode`. In place of the kernel's random number it uses a
    /// hash of time and bytes delivered (our own choice): flows differ, a repeated run does not.
    fn reset_probe_bw_mode(&mut self) {
        self.mode = Mode::ProbeBw;
        let draw = mix(self.now.nanos() ^ mix(self.delivered_bytes.wrapping_add(GOLDEN)));
        self.cycle.index = CYCLE.len() - 1 - (draw % CYCLE_RAND) as usize;
        self.advance_cycle_phase();
    }

    fn reset_mode(&mut self) {
        if self.pipe.reached {
            self.reset_probe_bw_mode();
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn check_drain(&mut self, win: &mut Window) {
        if !matches!(self.mode, Mode::Startup | Mode::Drain) {
            return;
        }
        let goal = self.inflight(self.rounds.max_bw(), UNIT);
        if self.mode == Mode::Startup && self.pipe.reached {
            self.mode = Mode::Drain;
            win.ssthresh = goal * self.mss;
        }
        if self.mode == Mode::Drain && self.packets_in_net_at_edt(self.sample.in_flight) <= goal {
            self.reset_probe_bw_mode();
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.rules => (UNIT, self.settings.cwnd_gain),
            Mode::ProbeBw => (CYCLE[self.cycle.index], self.settings.cwnd_gain),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }
}

impl Control for Bbr {
    fn flags(&self) -> ControlFlags {
        ControlFlags {
            own_window: true,
            joins_recoveries: true,
            paced: true,
            rates: true,
            ..CLASSIC
        }
    }

    fn on_open(&mut self, win: &mut Window, srtt: Duration, now: Instant) {
        (self.now, self.mss) = (now, win.mss());
        self.trips.begin(srtt, now);
        self.aggregation.restart(now);
        self.init_pacing_rate(win.cwnd, srtt);
    }

    /// `bbr_main`: updates the model, the pacing rate and the window at each acknowledgement.
    fn on_ack(&mut self, win: &mut Window, ack: &AckSample) {
        self.take(ack);
        self.update_model(win);
        self.set_pacing_rate(win, self.bw(), self.pacing_gain, ack.srtt);
        self.set_cwnd(win, ack.ca_state);
    }

    fn on_lost(&mut self, _win: &Window, lost: &Lost) {
        self.now = lost.now;
        self.lost += packets(lost.bytes, self.mss);
    }

    /// `bbr_ssthresh`: the threshold stays.
    fn on_congestion(&mut self, win: &mut Window, _flight: &Flight, _cause: Cause, _now: Instant) {
        self.save_cwnd(win);
    }

    /// `bbr_set_state`: a timeout is like the end of a round with a loss.
    fn on_timeout(&mut self, _: &Window, _flight: &Flight, now: Instant) {
        self.now = now;
        self.saved.state = CaState::Loss;
        self.pipe.bw = 0;
        self.rounds.started = true;
        self.sample = Sample { losses: 1, ..Sample::default() };
        self.sample_long_term();
    }

    /// `bbr_undo_cwnd`: after a spurious recovery the searches for a full pipe and for a policer
    /// start again.
    fn undo(&mut self, _win: &mut Window, _ends: bool) {
        self.pipe.forget();
        self.reset_long_term();
    }

    /// `bbr_cwnd_event`: a sender that starts again after a pause paces at the modelled rate.
    fn on_tx_start(&mut self, win: &mut Window, _: Instant, app_limited: bool, now: Instant) {
        if !app_limited && !self.trips.slowed(self.delivered_bytes) {
            return;
        }
        self.now = now;
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.pace_at(self.bw(), UNIT),
            Mode::ProbeRtt => self.check_probe_rtt_done(win),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn pacing_rate(&self, _win: &Window, _flight: &Flight, _srtt: Duration) -> Option<u64> {
        Some(self.pacing_rate.max(1))
    }

    /// `bbr_min_tso_segs`: the smallest burst.
    fn burst_size(&self, _rate: u64, _mss: u64) -> BurstSize {
        BurstSize::AtLeast(self.min_tso_segs())
    }
}
