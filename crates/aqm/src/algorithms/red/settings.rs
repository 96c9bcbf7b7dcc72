//! Resolves the user's parameters and the profile's defaults into plain numbers.

use alloc::format;

use packet::params::{BadParams, Params, Value};
use packet::{Duration, math};

use super::curve::Curve;
use super::presets::Preset;
use super::profile::{Given, IdleClock, Limits, Profile, Switch};
use crate::idle::PacketClock;
use crate::{BufferLimit, Line, Verdict};

/// Everything from which an implementation of RED is constructed. Thresholds are in packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub profile: &'static Profile,
    pub min_th: f64,
    pub max_th: f64,
    pub w_q: f64,
    pub max_p: f64,
    pub gentle: bool,
    pub wait: bool,
    pub queue_in_bytes: bool,
    pub byte_probability: bool,
    pub mean_packet_bytes: u32,
    pub max_packet_bytes: u32,
    pub clock: PacketClock,
    pub harddrop: bool,
    pub nodrop: bool,
    pub use_mark_p: bool,
    pub mark_p: f64,
    pub ns1_compat: bool,
    pub ecn: bool,
    pub limit: BufferLimit,
}

impl Settings {
    /// Checks `params` against their profile and each other, and fills in its defaults.
    pub fn resolve(
        params: &Params,
        line: &Line,
        profile: &'static Profile,
    ) -> Result<Self, BadParams> {
        let preset = match params.value("preset") {
            Value::Choice(name) => Some(Preset::named(name)),
            _ => None,
        };
        let requested = Requested { params, profile, preset };
        requested.refuse_what_has_no_effect()?;
        let mean_packet_bytes =
            params.whole_or("mean_packet_bytes", u64::from(profile.mean_packet_bytes.value)) as u32;
        let queue_in_bytes = requested.switch("queue_in_bytes")?;
        let byte_probability = requested.switch("byte_probability")?;
        let one_unit = matches!(profile.byte_probability, Switch::Follows(..));
        if one_unit && byte_probability != queue_in_bytes {
            return Err(coupled(byte_probability, queue_in_bytes));
        }
        let clock = requested.clock(line, mean_packet_bytes);
        let given = requested.given(line, mean_packet_bytes, clock);
        let (min_th, max_th) = given.thresholds(profile)?;
        let settings = Settings {
            profile,
            min_th,
            max_th,
            w_q: params
                .real_or("w_q", preset.map_or_else(|| (profile.w_q.value)(&given), |p| p.w_q)),
            max_p: params.real_or("max_p", preset.map_or(profile.max_p.value, |p| p.max_p)),
            gentle: requested.switch("gentle")?,
            wait: requested.switch("wait")?,
            queue_in_bytes,
            byte_probability,
            mean_packet_bytes,
            max_packet_bytes: params.whole("max_packet_bytes") as u32,
            clock,
            harddrop: requested.switch("harddrop")?,
            nodrop: requested.switch("nodrop")?,
            use_mark_p: requested.switch("use_mark_p")?,
            mark_p: params.real("mark_p"),
            ns1_compat: requested.switch("ns1_compat")?,
            ecn: params.switch("ecn"),
            limit: requested.limit(queue_in_bytes, mean_packet_bytes, max_th)?,
        };
        requested.note(&settings);
        Ok(settings)
    }

    /// Bytes per packet of a threshold: 1 where the queue is measured in packets.
    pub fn unit(&self) -> f64 {
        if self.queue_in_bytes { f64::from(self.mean_packet_bytes) } else { 1.0 }
    }

    /// The curve of p_b over the average, with thresholds in the unit of the queue.
    pub fn curve(&self) -> Curve {
        let unit = self.unit();
        Curve::new(self.min_th * unit, self.max_th * unit, self.max_p, self.gentle)
    }
}

/// The verdict where the signal is certain: a drop with `harddrop`, else a signal.
pub(crate) const fn certain_verdict(harddrop: bool) -> Verdict {
    use packet::DropReason::Forced;
    if harddrop { Verdict::Drop(Forced) } else { Verdict::Signal(Forced) }
}

fn coupled(probability: bool, queue: bool) -> BadParams {
    let why = format!(
        "{probability} contradicts queue_in_bytes = {queue}: ns-3 takes both from the unit of \
         MaxSize, so they must be equal; leave byte_probability out"
    );
    BadParams::new("byte_probability", why)
}

/// The parameters that the user set, the profile and its presets.
struct Requested<'a> {
    params: &'a Params,
    profile: &'static Profile,
    preset: Option<Preset>,
}

impl Requested<'_> {
    fn switch(&self, name: &str) -> Result<bool, BadParams> {
        let given = match self.params.value(name) {
            Value::Switch(value) => Some(value),
            _ => None,
        };
        match (self.profile.switch(name), given) {
            (Switch::Fixed(fixed, why), Some(value)) if value != fixed => {
                Err(self.refuse(name, format_args!("{value}"), why, fixed))
            }
            (_, Some(value)) => Ok(value),
            (switch, None) => Ok(switch.default(self.params)),
        }
    }

    fn refuse(
        &self,
        name: &str,
        value: core::fmt::Arguments,
        why: &str,
        allowed: bool,
    ) -> BadParams {
        let profile = self.profile.name;
        let text = format!(
            "{value} is not possible with profile \"{profile}\": {why}; write {allowed} or leave \
             it out"
        );
        BadParams::new(name, text)
    }

    /// Refuses parameters that this profile would silently ignore.
    fn refuse_what_has_no_effect(&self) -> Result<(), BadParams> {
        let idle = |field: &str, why: &str| {
            let profile = self.profile.name;
            Err(BadParams::new(
                field,
                format!(
                    "{} has no effect with profile \"{profile}\": {why}; leave it out",
                    self.params.written(field)
                ),
            ))
        };
        if self.params.given("max_packet_bytes")
            && !(self.profile.refers_to_largest_packet() && self.switch("byte_probability")?)
        {
            return idle("max_packet_bytes", "only fj93 with byte_probability refers to it");
        }
        if self.params.given("mark_p") && !self.switch("use_mark_p")? {
            return idle("mark_p", "only ns2 with use_mark_p refers to it");
        }
        if self.switch("nodrop")? && !self.params.switch("ecn") {
            return idle("nodrop", "without ecn nothing is marked");
        }
        Ok(())
    }

    /// Records the resolved thresholds and switches, and which parameters have no effect.
    fn note(&self, settings: &Settings) {
        let params = self.params;
        params.settle("profile", Value::Choice(self.profile.name));
        params.settle("min_th", Value::Real(settings.min_th));
        params.settle("max_th", Value::Real(settings.max_th));
        for (name, on) in [
            ("gentle", settings.gentle),
            ("wait", settings.wait),
            ("queue_in_bytes", settings.queue_in_bytes),
            ("byte_probability", settings.byte_probability),
            ("harddrop", settings.harddrop),
            ("nodrop", settings.nodrop),
            ("use_mark_p", settings.use_mark_p),
            ("ns1_compat", settings.ns1_compat),
        ] {
            params.settle(name, Value::Switch(on));
        }
        if !(self.profile.refers_to_largest_packet() && settings.byte_probability) {
            params.ignore("max_packet_bytes");
        }
        if !settings.use_mark_p {
            params.ignore("mark_p");
        }
        if self.fixed_clock().is_some() {
            params.settle("idle_packet_time", Value::Real(settings.clock.packet_secs()));
        }
    }

    /// The profile's fixed packet time, unless the user wrote a time or a packet size.
    fn fixed_clock(&self) -> Option<Duration> {
        let given = |name| self.params.given(name);
        match self.profile.idle_packet_time.value {
            IdleClock::Fixed(time) if !given("idle_packet_time") && !given("mean_packet_bytes") => {
                Some(time)
            }
            _ => None,
        }
    }

    fn clock(&self, line: &Line, mean: u32) -> PacketClock {
        if self.params.given("idle_packet_time") {
            // A positive time below half a nanosecond would round to zero.
            let time = self.params.time("idle_packet_time");
            return PacketClock::of_time(time.max(Duration::from_nanos(1)));
        }
        match (self.fixed_clock(), self.profile.idle_packet_time.value) {
            (Some(time), _) => PacketClock::of_time(time),
            (_, IdleClock::At(rate)) => PacketClock::of_line(rate, mean),
            _ => PacketClock::of_line(line.rate, mean),
        }
    }

    /// The inputs of the profile's rules.
    fn given(&self, line: &Line, mean: u32, clock: PacketClock) -> Given {
        let written = |name| Some(self.params.real_or(name, f64::NAN)).filter(|v| !v.is_nan());
        Given {
            rate: line.rate,
            mean,
            min_th: written("min_th").or(self.preset.map(|preset| preset.min_th)),
            max_th: written("max_th").or(self.preset.map(|preset| preset.max_th)),
            limit_bytes: self.limit_bytes(mean),
            clock,
        }
    }

    fn limit_packets(&self) -> u32 {
        let default = u64::from(self.profile.limit.value);
        let default = self.preset.map_or(default, |preset| preset.limit());
        self.params.whole_or("limit", default) as u32
    }

    fn limit_bytes(&self, mean: u32) -> u64 {
        match self.params.given("limit_bytes") {
            true => self.params.whole("limit_bytes"),
            false => u64::from(self.limit_packets()) * u64::from(mean),
        }
    }

    fn limit(
        &self,
        queue_in_bytes: bool,
        mean: u32,
        max_th: f64,
    ) -> Result<BufferLimit, BadParams> {
        let packets = self.limit_packets();
        let (has_packets, has_bytes) =
            (self.params.given("limit"), self.params.given("limit_bytes"));
        if has_bytes && !has_packets {
            self.params.ignore("limit");
        }
        let (limits, fit) = (self.profile.limits, self.profile.fit);
        if limits == Limits::Both {
            let limit = BufferLimit::of_packets(packets, fit);
            return Ok(match (has_packets, has_bytes) {
                (_, false) => limit,
                (false, true) => BufferLimit::of_bytes(self.limit_bytes(mean), fit),
                (true, true) => limit.and_bytes(self.limit_bytes(mean)),
            });
        }
        let in_bytes = queue_in_bytes || limits == Limits::Bytes;
        if has_bytes && (has_packets || !in_bytes) {
            return Err(self.wrong_limit(has_packets && in_bytes));
        }
        if in_bytes {
            return Ok(BufferLimit::of_bytes(self.limit_bytes(mean), fit));
        }
        let raised = limits == Limits::AtLeastMaxTh;
        let whole = max_th as u32;
        let least = if raised { whole + u32::from(max_th > f64::from(whole)) } else { 0 };
        let packets = packets.max(least);
        self.params.settle("limit", Value::Whole(u64::from(packets)));
        Ok(BufferLimit::of_packets(packets, fit))
    }

    fn wrong_limit(&self, both: bool) -> BadParams {
        let (profile, bytes) = (self.profile.name, self.params.written("limit_bytes"));
        let why = if both {
            "a queue measured in bytes has one limit; leave out this one or limit"
        } else {
            "its queue is measured in packets; write limit, in packets, instead"
        };
        let text = format!("{bytes} is not possible with profile \"{profile}\" here: {why}");
        BadParams::new("limit_bytes", text)
    }
}

/// The largest weight 2^−k that keeps the average of a burst of (2·min + max)/3 packets below
/// `min` (tc's `tc_red_eval_ewma`: burst + 1 − min ≤ (1 − (1 − w)^burst)/w).
pub(crate) fn weight_for_burst(min: f64, max: f64) -> f64 {
    let burst = math::floor((2.0 * min + max) / 3.0);
    let needed = burst + 1.0 - min;
    let mut w = 0.5;
    while w > 1.0 / (1u64 << 30) as f64 && needed > (1.0 - math::pow(1.0 - w, burst)) / w {
        w /= 2.0;
    }
    w
}

#[cfg(test)]
pub(super) mod tests;
