//! Computes the numbers of adaptive RED from the user's parameters and the profile's defaults.

use alloc::format;

use packet::params::{BadParams, Params, Value};
use packet::{Rate, math};

use super::Rule;
use super::profiles::Profile;
use crate::algorithms::family::{self, Given, PacketClock, Program, Switch, band};
use crate::{BufferLimit, Line};

/// Everything from which the algorithm and its rule for `max_p` are constructed.
pub(super) struct Settings {
    pub base: family::Settings,
    pub rule: Rule,
    /// Whether a signal drops even ECN-capable packets while the average is at or above `max_th`.
    pub drops_above_max: bool,
}

impl Settings {
    pub fn resolve(params: &Params, line: &Line) -> Result<Self, BadParams> {
        let profile = Profile::named(params.choice("profile"));
        let requested = Requested { params, profile, rate: line.rate };
        requested.refuse_what_has_no_effect()?;
        let gentle = !requested.is_linux() && requested.switch("gentle").unwrap_or(true);
        let in_bytes = requested.in_bytes();
        let (min_th, max_th) = requested.thresholds()?;
        let above = requested.above_max(gentle)?;
        let use_mark_p = above.is_none();
        let settings = Settings {
            base: family::Settings {
                profile: profile.underneath,
                min_th,
                max_th,
                w_q: requested.weight(Some(min_th), Some(max_th)),
                max_p: params.real_or("max_p", profile.max_p.value),
                gentle,
                wait: profile.underneath.wait.default(params),
                queue_in_bytes: in_bytes,
                byte_probability: in_bytes && !requested.is_linux(),
                mean_packet_bytes: requested.mean(),
                max_packet_bytes: params.whole_or("max_packet_bytes", 1500) as u32,
                clock: PacketClock::of_line(line.rate, requested.mean()),
                harddrop: above != Some("mark_always"),
                nodrop: false,
                use_mark_p,
                mark_p: 0.1,
                ns1_compat: false,
                ecn: params.switch("ecn"),
                limit: requested.limit(in_bytes, max_th)?,
            },
            rule: requested.rule()?,
            drops_above_max: above == Some("drop"),
        };
        requested.note(&settings.base, above);
        Ok(settings)
    }
}

/// The parameters that the user set, and the profile.
struct Requested<'a> {
    params: &'a Params,
    profile: &'static Profile,
    rate: Rate,
}

impl Requested<'_> {
    /// Whether the profile follows Linux: a timer, fixed numbers, a queue in bytes, no gentle
    /// curve.
    fn is_linux(&self) -> bool {
        self.profile.underneath.program == Program::Linux
    }

    /// Whether the profile has ns-2's `use_mark_p` as an alternative to a rule above `max_th`.
    fn may_use_mark_p(&self) -> bool {
        matches!(self.profile.underneath.use_mark_p, Switch::Free(_))
    }

    /// The values from which the profile computes its defaults.
    fn given(&self, min_th: Option<f64>, max_th: Option<f64>) -> Given {
        let limit_bytes = if self.is_linux() { self.limit_bytes(max_th.unwrap_or(0.0)) } else { 0 };
        let (rate, mean) = (self.rate, self.mean());
        Given { rate, mean, min_th, max_th, limit_bytes, clock: PacketClock::of_line(rate, mean) }
    }

    /// Notes the effective thresholds, switches and choices, and which parameters have no effect
    /// because of them.
    fn note(&self, base: &family::Settings, above: Option<&'static str>) {
        let (params, linux) = (self.params, self.is_linux());
        params.settle("min_th", Value::Real(base.min_th));
        params.settle("max_th", Value::Real(base.max_th));
        params.settle("gentle", Value::Switch(base.gentle));
        params.settle("ecn_above_max", above.map_or(Value::Unset, Value::Choice));
        if self.may_use_mark_p() {
            params.settle("use_mark_p", Value::Switch(base.use_mark_p));
        }
        let units = if base.queue_in_bytes { "byte" } else { "packet" };
        params.settle("units", if linux { Value::Unset } else { Value::Choice(units) });
        // target_delay and automatic_w_q only set min_th and w_q, which are noted instead.
        params.ignore("target_delay");
        params.ignore("automatic_w_q");
        if !(self.profile.underneath.refers_to_largest_packet() && base.queue_in_bytes) {
            params.ignore("max_packet_bytes");
        }
        if linux {
            for name in ["alpha", "beta", "top", "bottom", "interval"] {
                params.ignore(name);
            }
        }
        if params.given("limit_bytes") {
            params.ignore("limit");
        }
    }

    fn mean(&self) -> u32 {
        let default = u64::from(self.profile.underneath.mean_packet_bytes.value);
        self.params.whole_or("mean_packet_bytes", default) as u32
    }

    fn packets_per_s(&self) -> f64 {
        self.rate.bytes_per_s() / f64::from(self.mean())
    }

    fn switch(&self, name: &str) -> Option<bool> {
        match self.params.value(name) {
            Value::Switch(on) => Some(on),
            _ => None,
        }
    }

    fn choice(&self, name: &str) -> Option<&'static str> {
        match self.params.value(name) {
            Value::Choice(choice) => Some(choice),
            _ => None,
        }
    }

    fn refuse<T>(&self, field: &str, why: &str) -> Result<T, BadParams> {
        let (value, profile) = (self.params.written(field), self.profile.name);
        Err(BadParams::new(
            field,
            format!("{value} is not possible with profile \"{profile}\": {why}"),
        ))
    }

    fn refuse_what_has_no_effect(&self) -> Result<(), BadParams> {
        let given = |field| self.params.given(field);
        if self.is_linux() {
            for field in ["alpha", "beta", "top", "bottom", "interval"] {
                if given(field) {
                    return self.refuse(field, "Linux's numbers are fixed; leave it out");
                }
            }
            for field in ["target_delay", "automatic_w_q", "units", "max_packet_bytes"] {
                if given(field) {
                    return self.refuse(field, "Linux has no such setting; leave it out");
                }
            }
            if self.switch("gentle") == Some(true) {
                return self.refuse("gentle", "Linux RED has no gentle mode; leave it out");
            }
        }
        if given("target_delay") && given("min_th") {
            return self
                .refuse("target_delay", "it only sets min_th, which is given; leave out one");
        }
        if given("automatic_w_q") && given("w_q") {
            return self.refuse("automatic_w_q", "it only sets w_q, which is given; leave out one");
        }
        let refers = self.profile.underneath.refers_to_largest_packet() && self.in_bytes();
        if given("max_packet_bytes") && !refers {
            return self.refuse(
                "max_packet_bytes",
                "only floyd with units = \"byte\" refers to it; leave it out",
            );
        }
        if self.switch("use_mark_p") == Some(true) && !self.may_use_mark_p() {
            return self.refuse("use_mark_p", "it exists in ns-2 only; leave it out");
        }
        Ok(())
    }

    fn in_bytes(&self) -> bool {
        self.is_linux() || self.choice("units").unwrap_or(self.profile.units.value) == "byte"
    }

    /// The rule above max_th; `None` if ns-2's `use_mark_p` takes its place.
    fn above_max(&self, gentle: bool) -> Result<Option<&'static str>, BadParams> {
        let given = self.choice("ecn_above_max");
        // Without use_mark_p, ns-2's random test marks up to the average at which drops are
        // certain.
        let default = self.profile.above_max[usize::from(!gentle)];
        if given == Some("mark_in_gentle") && !gentle {
            return self.refuse(
                "ecn_above_max",
                "there is no gentle region; write \"drop\" or \"mark_always\"",
            );
        }
        if self.may_use_mark_p() {
            let marks = self.switch("use_mark_p");
            if given.is_some() && marks == Some(true) {
                return self.refuse("ecn_above_max", "use_mark_p is another rule; leave out one");
            }
            let by_mark_p = given.is_none() && marks.unwrap_or(true);
            return Ok((!by_mark_p).then(|| given.unwrap_or(default)));
        }
        Ok(Some(given.unwrap_or(default)))
    }

    fn thresholds(&self) -> Result<(f64, f64), BadParams> {
        let given = |name| Some(self.params.real_or(name, f64::NAN)).filter(|v| !v.is_nan());
        let (min, max) = (given("min_th"), given("max_th"));
        if self.is_linux() {
            return self.given(min, max).thresholds(self.profile.underneath);
        }
        let delay = self.params.real_or("target_delay", 0.005);
        let min = min.unwrap_or((delay * self.packets_per_s() / 2.0).max(5.0));
        band(min, max.unwrap_or(3.0 * min))
    }

    fn weight(&self, min_th: Option<f64>, max_th: Option<f64>) -> f64 {
        let rate = self.packets_per_s();
        let remembers = self.choice("automatic_w_q").unwrap_or(self.profile.automatic_w_q.value);
        let automatic = match remembers {
            _ if self.is_linux() => {
                (self.profile.underneath.w_q.value)(&self.given(min_th, max_th))
            }
            "second" => 1.0 - math::exp(-(1.0 / rate)),
            "ten-rtt" => 1.0 - math::exp(-(1.0 / (10.0 * (3.0 / rate).max(0.1) * rate))),
            _ => 1.0 - math::exp(-(10.0 / rate)),
        };
        self.params.real_or("w_q", automatic)
    }

    fn rule(&self) -> Result<Rule, BadParams> {
        let lowest = (self.profile.bottom.value)(&self.given(None, None));
        let real = |name, otherwise| self.params.real_or(name, otherwise);
        let rule = Rule {
            alpha: real("alpha", 0.01),
            beta: real("beta", 0.9),
            top: real("top", 0.5),
            bottom: real("bottom", lowest.min(0.01)),
            interval: packet::Duration::from_secs_f64(real("interval", 0.5)),
        };
        if rule.bottom < rule.top {
            return Ok(rule);
        }
        let (bottom, top) = (rule.bottom, rule.top);
        let why = format!(
            "{bottom} is not below top = {top}: max_p needs room to move; give both, bottom the smaller"
        );
        Err(BadParams::new("bottom", why))
    }

    fn limit_packets(&self, max_th: f64) -> u32 {
        let default = (self.profile.limit.value)(max_th);
        self.params.whole_or("limit", default as u64).min(u64::from(u32::MAX)) as u32
    }

    fn limit_bytes(&self, max_th: f64) -> u64 {
        match self.params.given("limit_bytes") {
            true => self.params.whole("limit_bytes"),
            false => u64::from(self.limit_packets(max_th)) * u64::from(self.mean()),
        }
    }

    fn limit(&self, in_bytes: bool, max_th: f64) -> Result<BufferLimit, BadParams> {
        if self.params.given("limit_bytes") {
            if !in_bytes {
                return self.refuse("limit_bytes", "its queue is counted in packets; write limit");
            }
            if self.params.given("limit") {
                return self.refuse("limit_bytes", "a queue in bytes has one limit; leave out one");
            }
        }
        let fit = self.profile.underneath.fit;
        Ok(if in_bytes {
            BufferLimit::of_bytes(self.limit_bytes(max_th), fit)
        } else {
            BufferLimit::of_packets(self.limit_packets(max_th), fit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::params::Raw;

    fn resolve(rate: u64, pairs: &[(&str, &str)]) -> Result<Settings, BadParams> {
        let raw = |text: &str| match text {
            "true" => Raw::Bool(true),
            "false" => Raw::Bool(false),
            _ => Raw::Text(text.into()),
        };
        let raw: Vec<_> = pairs.iter().map(|(k, v)| (k.to_string(), raw(v))).collect();
        let params = Params::check(super::super::fields::FIELDS, &raw)?;
        Settings::resolve(&params, &Line::of(Rate::from_bits_per_s(rate)))
    }

    fn numbers(rate: u64, pairs: &[(&str, &str)]) -> (f64, f64, f64) {
        let Ok(Settings { base, .. }) = resolve(rate, pairs) else { panic!("{pairs:?}") };
        (base.w_q, base.min_th, base.max_th)
    }

    fn refusal(pairs: &[(&str, &str)]) -> String {
        resolve(10_000_000, pairs).err().unwrap_or_else(|| panic!("{pairs:?}")).to_string()
    }

    #[test]
    fn published_automatic_settings() {
        let (w_q, min, max) = numbers(100_000_000, &[]);
        assert!((w_q - 7.99968e-5).abs() < 1e-10 && (min, max) == (31.25, 93.75), "{w_q}");
        let (w_q, min, max) = numbers(10_000_000, &[]);
        assert!((w_q - 7.99680e-4).abs() < 1e-9 && (min, max) == (5.0, 15.0), "{w_q}");
        // The other two rules of ns-2 for w_q.
        let (w_q, ..) = numbers(10_000_000, &[("automatic_w_q", "ten-rtt")]);
        assert!((w_q - (1.0 - (-1.0f64 / 1250.0).exp())).abs() < 1e-12);
        let (w_q, ..) = numbers(100_000, &[("automatic_w_q", "ten-rtt")]);
        assert!((w_q - (1.0 - (-1.0f64 / 30.0).exp())).abs() < 1e-12, "rtt of three packets");
        let (w_q, ..) = numbers(10_000_000, &[("automatic_w_q", "tenth-second")]);
        assert!((w_q - (1.0 - (-0.008f64).exp())).abs() < 1e-12);
        let (_, min, max) = numbers(100_000_000, &[("target_delay", "10 ms")]);
        assert_eq!((min, max), (62.5, 187.5));
        assert_eq!(numbers(10_000_000, &[("profile", "linux")]), (0.125, 5.0, 15.0));
    }

    #[test]
    fn the_bottom_and_ns3s_error() {
        let bottom = |pairs: &[(&str, &str)]| resolve(100_000_000, pairs).ok().unwrap().rule.bottom;
        assert_eq!(bottom(&[]), 0.01);
        assert!((bottom(&[("profile", "ns2")]) - 8e-4).abs() < 1e-15);
        assert!((bottom(&[("profile", "ns3")]) - 4e-6).abs() < 1e-18);
        assert_eq!(bottom(&[("profile", "ns3"), ("bottom", "0.002")]), 0.002);
    }

    #[test]
    fn ns2_without_use_mark_p_marks_where_it_tests_at_random() {
        let drops = |more: &[(&str, &str)]| {
            let base = [("profile", "ns2"), ("use_mark_p", "false")];
            resolve(10_000_000, &[&base, more].concat()).ok().unwrap().drops_above_max
        };
        assert!(!drops(&[]) && drops(&[("gentle", "false")]));
        assert!(drops(&[("ecn_above_max", "drop")]));
    }

    #[test]
    fn mistakes_are_named() {
        for (pairs, says) in [
            (&[("min_th", "9"), ("max_th", "3")] as &[_], "min_th: 9 is not below max_th = 3"),
            (&[("profile", "linux"), ("alpha", "0.02")], "alpha: 0.02 is not possible with"),
            (&[("profile", "linux"), ("gentle", "true")], "gentle: true"),
            (&[("profile", "linux"), ("units", "byte")], "units: \"byte\""),
            (&[("target_delay", "5 ms"), ("min_th", "9")], "target_delay: 0.005 s"),
            (&[("automatic_w_q", "second"), ("w_q", "0.1")], "automatic_w_q: \"second\""),
            (&[("max_packet_bytes", "1500")], "max_packet_bytes: 1500"),
            (&[("use_mark_p", "true")], "use_mark_p: true"),
            (&[("limit_bytes", "9000")], "limit_bytes: 9000"),
            (&[("top", "0.005")], "bottom: 0.01 is not below top = 0.005"),
            (&[("gentle", "false"), ("ecn_above_max", "mark_in_gentle")], "ecn_above_max: \"mark"),
            (
                &[("profile", "ns2"), ("use_mark_p", "true"), ("ecn_above_max", "drop")],
                "ecn_above_max: \"drop\"",
            ),
        ] {
            let why = refusal(pairs);
            assert!(why.starts_with(says), "{why}");
        }
    }

    #[test]
    fn the_bottom_of_max_p_is_below_its_top() {
        for (bottom, refused) in [("0.3", true), ("0.25", true), ("0.2", false)] {
            let pairs = [("bottom", bottom), ("top", "0.25")];
            assert_eq!(resolve(10_000_000, &pairs).is_err(), refused, "{bottom}");
        }
    }
}
