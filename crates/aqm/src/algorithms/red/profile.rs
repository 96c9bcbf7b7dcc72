//! What a profile is: an implementation of RED with its defaults, and what it cannot do. Each is
//! a file in `profiles/`, from which checks, constructors and the table of parameters read it.

use alloc::format;

use packet::params::{BadParams, Params};
use packet::{Duration, Rate};

use super::settings::Settings;
use crate::by_profile::Stated;
use crate::idle::PacketClock;
use crate::{Built, Fit};

/// The program whose algorithm a profile follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// The pseudocode of the 1993 paper.
    Paper,
    /// The code of ns-2, which ns-3 shares.
    Ns,
    Altq,
    Linux,
}

/// An implementation of RED.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// Name of the profile in scenarios.
    pub name: &'static str,
    pub program: Program,
    /// Constructs the profile's algorithm.
    pub judge: fn(&Settings) -> Result<Built, BadParams>,
    pub min_th: Stated<Rule>,
    pub max_th: Stated<Rule>,
    pub w_q: Stated<Rule>,
    pub max_p: Stated<f64>,
    pub mean_packet_bytes: Stated<u32>,
    pub idle_packet_time: Stated<IdleClock>,
    pub limit: Stated<u32>,
    pub limits: Limits,
    /// How an arrival is compared with the limit.
    pub fit: Fit,
    pub gentle: Switch,
    pub wait: Switch,
    pub queue_in_bytes: Switch,
    pub byte_probability: Switch,
    pub harddrop: Switch,
    pub nodrop: Switch,
    pub use_mark_p: Switch,
    pub ns1_compat: Switch,
    /// Whether `ns1_compat` has the opposite meaning (ns-3).
    pub ns1_inverted: bool,
    /// Whether even a certain signal needs a queue of more than one packet, or byte in byte mode
    /// (ns-2's second defect).
    pub guarded: bool,
}

impl Profile {
    /// Whether `byte_probability` scales by `max_packet_bytes`, not by `mean_packet_bytes`.
    pub fn refers_to_largest_packet(&self) -> bool {
        self.program == Program::Paper
    }

    /// The profile's switch called `name`.
    pub fn switch(&self, name: &str) -> Switch {
        match name {
            "gentle" => self.gentle,
            "wait" => self.wait,
            "queue_in_bytes" => self.queue_in_bytes,
            "byte_probability" => self.byte_probability,
            "harddrop" => self.harddrop,
            "nodrop" => self.nodrop,
            "use_mark_p" => self.use_mark_p,
            "ns1_compat" => self.ns1_compat,
            other => panic!("{other} is no switch of a profile"),
        }
    }
}

/// A default that is computed from the line and from what else the user wrote.
pub(crate) type Rule = fn(&Given) -> f64;

/// The inputs of a [`Rule`].
pub(crate) struct Given {
    /// The line's rate.
    pub rate: Rate,
    /// Value of `mean_packet_bytes`.
    pub mean: u32,
    /// The thresholds in packets, as far as the user or a preset gives them.
    pub min_th: Option<f64>,
    pub max_th: Option<f64>,
    pub limit_bytes: u64,
    /// The clock by which the average ages.
    pub clock: PacketClock,
}

impl Given {
    /// Mean packets that the line sends in a second.
    pub fn packets_per_s(&self) -> f64 {
        self.rate.bytes_per_s() / f64::from(self.mean)
    }

    /// Both thresholds in packets: those given, else the defaults of `profile`.
    ///
    /// # Errors
    /// If the lower is not below the upper.
    pub fn thresholds(&self, profile: &Profile) -> Result<(f64, f64), BadParams> {
        let min_th = self.min_th.unwrap_or_else(|| (profile.min_th.value)(self));
        let max_th = self.max_th.unwrap_or_else(|| (profile.max_th.value)(self));
        band(min_th, max_th)
    }
}

/// Returns both thresholds after a check of their order.
///
/// # Errors
/// If the lower is not below the upper.
pub(crate) fn band(min_th: f64, max_th: f64) -> Result<(f64, f64), BadParams> {
    band_of("", min_th, max_th)
}

/// [`band`] for the class whose parameters have names that begin with `class`.
///
/// # Errors
/// If the lower is not below the upper.
pub(crate) fn band_of(class: &str, min_th: f64, max_th: f64) -> Result<(f64, f64), BadParams> {
    if min_th < max_th {
        return Ok((min_th, max_th));
    }
    let why = format!(
        "{min_th} is not below {class}max_th = {max_th}: RED needs a band between its thresholds; \
         give both, {class}min_th the smaller"
    );
    Err(BadParams::new(&format!("{class}min_th"), why))
}

/// Default of `idle_packet_time`, the time of one packet by which the average ages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IdleClock {
    /// Transmission time of a mean packet at the line's rate.
    OfLine,
    /// Transmission time of a mean packet at this rate, whatever the line.
    At(Rate),
    /// This fixed time; but if the user wrote `mean_packet_bytes`, the transmission time of a
    /// packet of that size at the line's rate.
    Fixed(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limits {
    /// The limit is in packets, in bytes, or both.
    Both,
    /// The limit is in packets or bytes, whichever the queue is measured in.
    AsQueue,
    /// The limit is in bytes, whatever the queue is measured in.
    Bytes,
    /// The limit is in packets, and raised to `max_th` if it is less.
    AtLeastMaxTh,
}

/// A switch's value in a profile.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Switch {
    /// The user may choose; this is the default.
    Free(bool),
    /// The user may choose; the default follows from other parameters, as the text says.
    Follows(&'static str, fn(&Params) -> bool),
    /// The program always has this value, for the reason in the text.
    Fixed(bool, &'static str),
}

impl Switch {
    /// The default as the table of parameters shows it.
    pub const fn text(&self) -> &'static str {
        match self {
            Switch::Free(true) => "true",
            Switch::Free(false) => "false",
            Switch::Follows(text, _) => text,
            Switch::Fixed(true, _) => "always true",
            Switch::Fixed(false, _) => "always false",
        }
    }
    /// The switch's value if the user does not set it.
    pub fn default(&self, params: &Params) -> bool {
        match *self {
            Switch::Free(value) | Switch::Fixed(value, _) => value,
            Switch::Follows(_, rule) => rule(params),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_says_who_chooses() {
        for (switch, text) in [
            (Switch::Free(true), "true"),
            (Switch::Free(false), "false"),
            (Switch::Follows("as that one", |_| true), "as that one"),
            (Switch::Fixed(true, "because"), "always true"),
            (Switch::Fixed(false, "because"), "always false"),
        ] {
            assert_eq!(switch.text(), text);
        }
    }
}
