//! From what the user wrote and what the profile says to plain numbers.

use alloc::format;

use packet::params::{BadParams, Params, Value};
use packet::{Duration, Rate, math};

use super::average::PacketClock;
use super::curve::Curve;
use super::presets::Preset;
use super::switches::{Switch, switch_in};
use crate::{BufferLimit, Fit, Line, Verdict};

/// The names of the profiles.
pub(super) const PROFILES: &[&str] = &["fj93", "ns2", "ns2-fixed", "ns3", "altq", "linux"];

/// Which implementation to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    Fj93,
    Ns2,
    Ns2Fixed,
    Ns3,
    Altq,
    Linux,
}

use Profile::{Altq, Fj93, Linux, Ns2, Ns2Fixed, Ns3};

impl Profile {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "fj93" => Fj93,
            "ns2" => Ns2,
            "ns2-fixed" => Ns2Fixed,
            "ns3" => Ns3,
            "altq" => Altq,
            "linux" => Linux,
            other => panic!("{other} passed the check of profiles"),
        }
    }
}

/// Everything a judge is constructed from. Thresholds are in packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub profile: Profile,
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
    pub use_mark_p: bool,
    pub mark_p: f64,
    pub ns1_compat: bool,
    pub ecn: bool,
    pub limit: BufferLimit,
}

impl Settings {
    /// Checks `params` against their profile and each other, and fills in its defaults.
    pub fn resolve(params: &Params, line: &Line) -> Result<Self, BadParams> {
        let preset = match params.value("preset") {
            Value::Choice(name) => Some(Preset::named(name)),
            _ => None,
        };
        let name = match preset {
            Some(_) if !params.given("profile") => "ns2-fixed",
            _ => params.choice("profile"),
        };
        let profile = Profile::named(name);
        let asked = Asked { params, profile, name, preset };
        asked.refuse_what_has_no_effect()?;
        let mean_packet_bytes = params.whole_or("mean_packet_bytes", mean_bytes(profile)) as u32;
        let queue_in_bytes = asked.switch("queue_in_bytes")?;
        let byte_probability = asked.switch("byte_probability")?;
        if profile == Ns3 && byte_probability != queue_in_bytes {
            return Err(coupled(byte_probability, queue_in_bytes));
        }
        let clock = asked.clock(line, mean_packet_bytes);
        let (min_th, max_th) = asked.thresholds(line, mean_packet_bytes)?;
        let settings = Settings {
            profile,
            min_th,
            max_th,
            w_q: asked.weight(line, mean_packet_bytes, min_th, max_th, clock),
            max_p: params.real_or("max_p", preset.map_or(default_max_p(profile), |p| p.max_p)),
            gentle: asked.switch("gentle")?,
            wait: asked.switch("wait")?,
            queue_in_bytes,
            byte_probability,
            mean_packet_bytes,
            max_packet_bytes: params.whole("max_packet_bytes") as u32,
            clock,
            harddrop: asked.switch("harddrop")?,
            use_mark_p: asked.switch("use_mark_p")?,
            mark_p: params.real("mark_p"),
            ns1_compat: asked.switch("ns1_compat")?,
            ecn: params.switch("ecn"),
            limit: asked.limit(queue_in_bytes, mean_packet_bytes, max_th)?,
        };
        asked.note(&settings);
        Ok(settings)
    }

    /// Bytes per packet of a threshold: 1 where the queue is measured in packets.
    pub fn unit(&self) -> f64 {
        if self.queue_in_bytes { f64::from(self.mean_packet_bytes) } else { 1.0 }
    }

    /// The probability over the average in the unit in which the queue is measured.
    pub fn curve(&self) -> Curve {
        let unit = self.unit();
        Curve::new(self.min_th * unit, self.max_th * unit, self.max_p, self.gentle)
    }
}

/// What to do where the signal is certain.
pub(crate) const fn certain_verdict(harddrop: bool) -> Verdict {
    use packet::Why::Forced;
    if harddrop { Verdict::Drop(Forced) } else { Verdict::Signal(Forced) }
}

const fn mean_bytes(profile: Profile) -> u64 {
    if matches!(profile, Ns2 | Ns2Fixed | Ns3) { 500 } else { 1000 }
}

const fn default_max_p(profile: Profile) -> f64 {
    if matches!(profile, Ns2 | Ns2Fixed | Altq) { 0.1 } else { 0.02 }
}

fn coupled(probability: bool, queue: bool) -> BadParams {
    let why = format!(
        "{probability} contradicts queue_in_bytes = {queue}: ns-3 takes both from the unit of \
         MaxSize, so they must be equal; leave byte_probability out"
    );
    BadParams::new("byte_probability", why)
}

/// What the user asked of a profile.
struct Asked<'a> {
    params: &'a Params,
    profile: Profile,
    name: &'static str,
    preset: Option<Preset>,
}

impl Asked<'_> {
    fn switch(&self, name: &str) -> Result<bool, BadParams> {
        let given = match self.params.value(name) {
            Value::Switch(value) => Some(value),
            _ => None,
        };
        match (switch_in(self.profile, name), given) {
            (_, None) if self.profile == Ns3 && name == "queue_in_bytes" => {
                Ok(self.params.given("limit_bytes"))
            }
            (_, None) if self.profile == Ns3 && name == "byte_probability" => {
                self.switch("queue_in_bytes")
            }
            (Switch::Free(value) | Switch::Fixed(value, _), None) => Ok(value),
            (Switch::Fixed(fixed, why), Some(value)) if value != fixed => {
                Err(self.refuse(name, format_args!("{value}"), why, fixed))
            }
            (_, Some(value)) => Ok(value),
        }
    }

    fn refuse(
        &self,
        name: &str,
        value: core::fmt::Arguments,
        why: &str,
        allowed: bool,
    ) -> BadParams {
        let profile = self.name;
        let text = format!(
            "{value} is not possible with profile \"{profile}\": {why}; write {allowed} or leave \
             it out"
        );
        BadParams::new(name, text)
    }

    /// Parameters that this profile would silently ignore.
    fn refuse_what_has_no_effect(&self) -> Result<(), BadParams> {
        let idle = |field: &str, why: &str| {
            let profile = self.name;
            Err(BadParams::new(
                field,
                format!(
                    "{} has no effect with profile \"{profile}\": {why}; leave it out",
                    self.params.written(field)
                ),
            ))
        };
        if self.params.given("max_packet_bytes")
            && !(self.profile == Fj93 && self.switch("byte_probability")?)
        {
            return idle("max_packet_bytes", "only fj93 with byte_probability refers to it");
        }
        if self.params.given("mark_p") && !self.switch("use_mark_p")? {
            return idle("mark_p", "only ns2 with use_mark_p refers to it");
        }
        Ok(())
    }

    /// Notes the thresholds and the switches, and what has no effect.
    fn note(&self, settings: &Settings) {
        let params = self.params;
        params.settle("profile", Value::Choice(self.name));
        params.settle("min_th", Value::Real(settings.min_th));
        params.settle("max_th", Value::Real(settings.max_th));
        for (name, on) in [
            ("gentle", settings.gentle),
            ("wait", settings.wait),
            ("queue_in_bytes", settings.queue_in_bytes),
            ("byte_probability", settings.byte_probability),
            ("harddrop", settings.harddrop),
            ("use_mark_p", settings.use_mark_p),
            ("ns1_compat", settings.ns1_compat),
        ] {
            params.settle(name, Value::Switch(on));
        }
        if !(self.profile == Fj93 && settings.byte_probability) {
            params.ignore("max_packet_bytes");
        }
        if !settings.use_mark_p {
            params.ignore("mark_p");
        }
        if self.clock_is_altqs_own() {
            params.settle("idle_packet_time", Value::Real(settings.clock.packet_secs()));
        }
    }

    /// A fixed time, whatever the line.
    fn clock_is_altqs_own(&self) -> bool {
        let given = |name| self.params.given(name);
        self.profile == Altq && !given("idle_packet_time") && !given("mean_packet_bytes")
    }

    fn clock(&self, line: &Line, mean: u32) -> PacketClock {
        if self.params.given("idle_packet_time") {
            // A positive time below half a nanosecond would round to none.
            let time = self.params.time("idle_packet_time");
            return PacketClock::of_time(time.max(Duration::from_nanos(1)));
        }
        match self.profile {
            Ns3 => PacketClock::of_line(Rate::from_bits_per_s(1_500_000), mean),
            Altq if self.clock_is_altqs_own() => PacketClock::of_time(Duration::from_micros(800)),
            _ => PacketClock::of_line(line.rate, mean),
        }
    }

    fn thresholds(&self, line: &Line, mean: u32) -> Result<(f64, f64), BadParams> {
        let given = |name| Some(self.params.real_or(name, f64::NAN)).filter(|v| !v.is_nan());
        let min = given("min_th").or(self.preset.map(|preset| preset.min_th));
        let max = given("max_th").or(self.preset.map(|preset| preset.max_th));
        let (min_th, max_th) = match self.profile {
            Ns2 | Ns2Fixed => {
                let in_5_ms = 0.005 * line.rate.bytes_per_s() / f64::from(mean);
                let min = min.unwrap_or((in_5_ms / 2.0).max(5.0));
                (min, max.unwrap_or(3.0 * min))
            }
            Linux => {
                let limit = self.limit_bytes(mean) as f64 / f64::from(mean);
                let max = max.unwrap_or(min.map_or(limit / 4.0, |min| 3.0 * min));
                (min.unwrap_or(max / 3.0), max)
            }
            _ => (min.unwrap_or(5.0), max.unwrap_or(15.0)),
        };
        if min_th < max_th {
            return Ok((min_th, max_th));
        }
        let why = format!(
            "{min_th} is not below max_th = {max_th}: RED needs a band between its thresholds; \
             give both, min_th the smaller"
        );
        Err(BadParams::new("min_th", why))
    }

    fn weight(&self, line: &Line, mean: u32, min: f64, max: f64, clock: PacketClock) -> f64 {
        let automatic = match self.profile {
            Fj93 | Ns3 => 0.002,
            Ns2 | Ns2Fixed => {
                let packets_per_s = line.rate.bytes_per_s() / f64::from(mean);
                let rtt = (3.0 / packets_per_s).max(0.1);
                1.0 - math::exp(-1.0 / (10.0 * rtt * packets_per_s))
            }
            Altq => match (clock.packet_secs() * 1e6 + 0.5) as u64 {
                0..=3333 => 1.0 / 512.0, // ALTQ truncates 10^6/packet time before comparing
                3334..=20_000 => 1.0 / 128.0,
                _ => 1.0 / 64.0,
            },
            Linux => weight_for_burst(min, max),
        };
        self.params.real_or("w_q", self.preset.map_or(automatic, |preset| preset.w_q))
    }

    fn limit_packets(&self) -> u32 {
        let default = match self.profile {
            Ns2 | Ns2Fixed => 50,
            Ns3 => 25,
            Fj93 | Altq | Linux => 60,
        };
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
        let in_bytes = queue_in_bytes || self.profile == Ns2Fixed;
        if self.profile == Fj93 {
            let limit = BufferLimit::of_packets(packets, Fit::Whole);
            return Ok(match (has_packets, has_bytes) {
                (_, false) => limit,
                (false, true) => BufferLimit::of_bytes(self.limit_bytes(mean), Fit::Whole),
                (true, true) => limit.and_bytes(self.limit_bytes(mean)),
            });
        }
        if has_bytes && (has_packets || !in_bytes) {
            return Err(self.wrong_limit(has_packets && in_bytes));
        }
        let fit = if self.profile == Ns2 { Fit::Overhanging } else { Fit::Whole };
        if in_bytes {
            return Ok(BufferLimit::of_bytes(self.limit_bytes(mean), fit));
        }
        let least = if self.profile == Altq { max_th.min(f64::from(u32::MAX)) } else { 0.0 };
        let least = least as u32 + u32::from(least > f64::from(least as u32));
        let packets = packets.max(least);
        self.params.settle("limit", Value::Whole(u64::from(packets)));
        Ok(BufferLimit::of_packets(packets, fit))
    }

    fn wrong_limit(&self, both: bool) -> BadParams {
        let (profile, bytes) = (self.name, self.params.written("limit_bytes"));
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
pub(super) mod tests {
    use super::*;
    use packet::params::Raw;

    const LINE: Line = Line::of(Rate::from_bits_per_s(10_000_000));

    pub(in super::super) fn resolve(pairs: &[(&str, &str)]) -> Result<Settings, BadParams> {
        let raw = |text: &str| match text {
            "true" => Raw::Bool(true),
            "false" => Raw::Bool(false),
            _ => Raw::Text(text.into()),
        };
        let raw: Vec<_> = pairs.iter().map(|(k, v)| (k.to_string(), raw(v))).collect();
        Settings::resolve(&Params::check(super::super::fields::FIELDS, &raw)?, &LINE)
    }

    pub(in super::super) fn settings(pairs: &[(&str, &str)]) -> Settings {
        resolve(pairs).unwrap()
    }

    fn refusal(pairs: &[(&str, &str)]) -> String {
        resolve(pairs).expect_err(&format!("{pairs:?}")).to_string()
    }

    #[test]
    fn defaults_are_the_profiles_own() {
        let of = |name| settings(&[("profile", name)]);
        let numbers = |s: Settings| (s.min_th, s.max_th, s.w_q, s.max_p);
        assert_eq!(numbers(of("fj93")), (5.0, 15.0, 0.002, 0.02));
        assert_eq!(numbers(of("ns3")), (5.0, 15.0, 0.002, 0.02));
        assert_eq!(numbers(of("altq")), (5.0, 15.0, 1.0 / 512.0, 0.1));
        assert_eq!(numbers(of("linux")), (5.0, 15.0, 1.0 / 8.0, 0.02));
        // 10 Mb/s of 500-byte packets: 2500 packets/s; 5 ms of them are 12.5, half of that 6.25.
        let ns2 = of("ns2");
        assert_eq!((ns2.min_th, ns2.max_th, ns2.max_p), (6.25, 18.75, 0.1));
        assert!((ns2.w_q - (1.0 - (-1.0f64 / 2500.0).exp())).abs() < 1e-12);
        assert!(ns2.gentle && ns2.wait && ns2.queue_in_bytes && ns2.byte_probability);
        assert!(ns2.use_mark_p && !ns2.ecn && ns2.mark_p == 0.1);
        let fixed = of("ns2-fixed");
        assert!(!fixed.gentle && fixed.wait && !fixed.queue_in_bytes && fixed.byte_probability);
        let ns3 = of("ns3");
        assert!(ns3.gentle && ns3.wait && !ns3.queue_in_bytes && !ns3.byte_probability);
        assert!(ns3.harddrop && !of("linux").harddrop && of("altq").harddrop);
    }

    #[test]
    fn presets_of_harsh_red() {
        let preset = |pairs: &[(&str, &str)]| {
            let s = settings(pairs);
            (s.min_th, s.max_th, s.w_q, s.max_p)
        };
        assert_eq!(preset(&[("preset", "edge-red")]), (3.0, 9.0, 0.002, 0.1));
        assert_eq!(preset(&[("preset", "edge-hred")]), (3.0, 40.0, 0.2, 0.65));
        assert_eq!(preset(&[("preset", "hspa-red")]), (5.0, 20.0, 0.002, 0.1));
        assert_eq!(preset(&[("preset", "hspa-hred")]), (3.0, 50.0, 0.02, 0.65));
        let harsh = settings(&[("preset", "edge-hred")]);
        assert_eq!(harsh.profile, Ns2Fixed);
        assert!(harsh.wait && harsh.byte_probability && !harsh.gentle && !harsh.use_mark_p);
        assert_eq!(harsh.limit, BufferLimit::of_bytes(240 * 500, Fit::Whole));
        assert!((harsh.curve().p_b(20.0) - 0.298649).abs() < 1e-6);
        // What is written wins.
        let own = [("preset", "edge-hred"), ("max_th", "30"), ("w_q", "0.1"), ("profile", "fj93")];
        assert_eq!(preset(&own), (3.0, 30.0, 0.1, 0.65));
        assert_eq!(settings(&own).profile, Fj93);
        assert!(refusal(&[("preset", "hspa-red"), ("max_th", "4")]).contains("max_th = 4"));
    }

    #[test]
    fn rooms() {
        let limit = |pairs: &[(&str, &str)]| settings(pairs).limit;
        let whole = |n| BufferLimit::of_packets(n, Fit::Whole);
        assert_eq!(limit(&[]), whole(60));
        assert_eq!(limit(&[("limit", "9"), ("limit_bytes", "5000")]), whole(9).and_bytes(5000));
        assert_eq!(limit(&[("limit_bytes", "5000")]), BufferLimit::of_bytes(5000, Fit::Whole));
        assert_eq!(limit(&[("profile", "ns2")]), BufferLimit::of_bytes(25_000, Fit::Overhanging));
        let packets = [("profile", "ns2"), ("queue_in_bytes", "false")];
        assert_eq!(limit(&packets), BufferLimit::of_packets(50, Fit::Overhanging));
        assert_eq!(limit(&[("profile", "ns2-fixed")]), BufferLimit::of_bytes(25_000, Fit::Whole));
        assert_eq!(limit(&[("profile", "ns3")]), whole(25));
        let bytes = [("profile", "ns3"), ("limit_bytes", "9000")];
        assert_eq!(limit(&bytes), BufferLimit::of_bytes(9000, Fit::Whole));
        assert!(settings(&bytes).queue_in_bytes && settings(&bytes).byte_probability);
        assert_eq!(limit(&[("profile", "linux")]), BufferLimit::of_bytes(60_000, Fit::Whole));
        // ALTQ raises the limit to max_th.
        assert_eq!(limit(&[("profile", "altq"), ("limit", "10")]), whole(15));
        assert_eq!(limit(&[("profile", "altq"), ("limit", "10"), ("max_th", "20.5")]), whole(21));
        assert_eq!(limit(&[("profile", "altq"), ("limit", "480")]), whole(480));
    }

    #[test]
    fn clocks() {
        let secs = |pairs: &[(&str, &str)]| settings(pairs).clock.packet_secs();
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-12, "{a} is not {b}");
        close(secs(&[]), 800e-6);
        close(secs(&[("profile", "ns2")]), 400e-6);
        close(secs(&[("profile", "ns3")]), 4000.0 / 1.5e6);
        close(secs(&[("profile", "altq")]), 800e-6);
        close(secs(&[("profile", "altq"), ("mean_packet_bytes", "500")]), 400e-6);
        close(secs(&[("profile", "ns3"), ("idle_packet_time", "3 ms")]), 3e-3);
    }

    #[test]
    fn what_a_profile_cannot_do_is_refused_with_its_reason() {
        assert_eq!(
            refusal(&[("profile", "altq"), ("gentle", "true")]),
            "gentle: true is not possible with profile \"altq\": ALTQ's RED has no gentle mode; \
             write false or leave it out"
        );
        for (profile, field, value) in [
            ("linux", "gentle", "true"),
            ("fj93", "wait", "true"),
            ("altq", "wait", "true"),
            ("altq", "queue_in_bytes", "true"),
            ("linux", "queue_in_bytes", "false"),
            ("linux", "byte_probability", "true"),
            ("ns2", "harddrop", "false"),
            ("ns2-fixed", "use_mark_p", "true"),
            ("ns3", "use_mark_p", "true"),
            ("fj93", "ns1_compat", "true"),
            ("altq", "limit_bytes", "9000"),
            ("ns2", "max_packet_bytes", "1500"),
            ("fj93", "max_packet_bytes", "1500"),
            ("ns3", "mark_p", "0.5"),
        ] {
            let why = refusal(&[("profile", profile), (field, value)]);
            assert!(why.starts_with(field) && why.contains(profile), "{why}");
        }
        let why = refusal(&[("profile", "ns3"), ("byte_probability", "true")]);
        assert!(why.contains("queue_in_bytes = false"), "{why}");
        let why = refusal(&[("profile", "linux"), ("limit", "9"), ("limit_bytes", "9000")]);
        assert!(why.contains("one limit"), "{why}");
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_both_named() {
        for (min, max) in [("90", "30"), ("30", "30")] {
            let why = refusal(&[("min_th", min), ("max_th", max)]);
            assert!(why.contains(min) && why.contains(&format!("max_th = {max}")), "{why}");
        }
        assert!(refusal(&[("min_th", "30")]).contains("max_th = 15"));
        let linux = settings(&[("profile", "linux"), ("min_th", "30")]);
        assert_eq!((linux.min_th, linux.max_th), (30.0, 90.0));
    }

    #[test]
    fn weights_for_bursts() {
        assert_eq!(weight_for_burst(5.0, 15.0), 1.0 / 8.0);
        // A burst of 50: 21 must not exceed (1 - (1 - w)^50)/w, which is 15.4 at 1/16, 25.5 at 1/32.
        assert_eq!(weight_for_burst(30.0, 90.0), 1.0 / 32.0);
    }
}
