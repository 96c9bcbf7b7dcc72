//! A Linux host of version 6.12 (November 2024): `linux` with the rules and defaults that were
//! different then.

use packet::About;
use packet::params::{BadParams, Field, Params, Value};

use crate::congestion::Controls;
use crate::entry::Entry;
use crate::profile::Profile;

pub(super) const COMP_SACK_PERCENT: (&str, Value, &str) = (
    "comp_sack_rtt_percent",
    Value::Whole(5),
    "__tcp_ack_snd_check of Linux 6.12: a twentieth, not to be set",
);
pub(super) const COMP_SACK_SLACK: (&str, Value, &str) = (
    "comp_sack_slack",
    Value::Real(0.000_1),
    "net.ipv4.tcp_comp_sack_slack_ns = 100000; a kernel with nothing else to do was seen to wait all of it",
);
pub(super) const BUFFER_GROWTH: (&str, Value, &str) =
    ("buffer_growth", Value::Choice("space_adjust"), "tcp_rcv_space_adjust of Linux 6.12");
pub(super) const WINDOW: (&str, Value, &str) = (
    "window_bytes",
    Value::Whole(6 << 20),
    "net.ipv4.tcp_rmem = 4096 131072 6291456 of Linux 6.12 (tcp_init)",
);
pub(super) const ACCECN_OPTION: (&str, Value, &str) =
    ("accecn_option", Value::Switch(false), "constructed: off; Linux 6.12 has no AccECN");

const NAME: &str = "linux-6.12";

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: NAME,
        summary: "A Linux host of version 6.12: linux with compressed SACKs and receive buffers as they were",
        year: 2024,
        source: "as linux; Linux 6.12.117 (net/ipv4) where it differs, as named at each rule",
        deviations: super::ENTRY.about.deviations,
        fields: &FIELDS,
    },
    build,
};

/// The defaults that differ: field, default, and its source.
const DIFFERS: [(&str, Value, &str); 5] =
    [WINDOW, BUFFER_GROWTH, COMP_SACK_PERCENT, COMP_SACK_SLACK, ACCECN_OPTION];

const COUNT: usize = super::FIELDS.len();
const FIELDS: [Field; COUNT] = fields(&DIFFERS);

/// The fields of `linux` with these defaults of an older kernel, and their sources.
pub(super) const fn fields(differs: &[(&str, Value, &'static str)]) -> [Field; COUNT] {
    let mut fields = [super::FIELDS[0]; COUNT];
    let (mut at, mut replaced) = (0, 0);
    while at < COUNT {
        fields[at] = super::FIELDS[at];
        let mut which = 0;
        while which < differs.len() {
            let (name, default, source) = differs[which];
            if same(name, fields[at].name) {
                fields[at] = Field { default, source, ..fields[at] };
                replaced += 1;
            }
            which += 1;
        }
        at += 1;
    }
    assert!(replaced == differs.len(), "a field that linux does not have");
    fields
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    super::build_as(NAME, params, controls)
}

#[cfg(test)]
mod tests {
    use std::time::Duration as Span;

    use packet::Duration;

    use super::*;
    use crate::receiver::{AtOnce, Compress, Growth};

    #[test]
    fn the_kernel_s_numbers_of_2024_differ_in_four() {
        // 6.12: 5 % of a round trip of 10 ms and 100 us of slack. 7.3: 33 % is more than 1 ms, the
        // limit of both.
        let rules = |entry: &Entry| {
            let profile = (entry.build)(&Params::defaults(entry.about.fields), &Controls::ours())
                .expect("defaults");
            let AtOnce::Adaptive(rules) = profile.ack.at_once else { panic!("{:?}", profile.ack) };
            rules
        };
        let (old, new) = (rules(&ENTRY), rules(&super::super::ENTRY));
        assert_eq!((old.buffer, new.buffer), (6 << 20, 32 << 20));
        assert_eq!((old.growth, new.growth), (Growth::SpaceAdjust, Growth::RcvbufGrow));
        let wait = |compress: Compress, trip: Span| {
            let eighths = 8 * trip.as_micros() as u64;
            compress.wait(eighths, eighths)
        };
        let us = Duration::from_micros;
        for (trip, waits) in [(10, [600, 1_010]), (2, [200, 670]), (100, [1_100, 1_010])] {
            let trip = Span::from_millis(trip);
            assert_eq!([old, new].map(|rules| wait(rules.compress, trip)), waits.map(us));
        }
    }
}
