//! A Linux host of version 6.1 (December 2022, Debian 12): `linux-6.12` with the rules and defaults
//! that were different then.

use packet::About;
use packet::params::{BadParams, Field, Params, Value};

use super::v6_12::{
    ACCECN_OPTION, BUFFER_GROWTH, COMP_SACK_PERCENT, COMP_SACK_SLACK, WINDOW, fields,
};
use crate::congestion::Controls;
use crate::entry::Entry;
use crate::profile::Profile;

const NAME: &str = "linux-6.1";

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: NAME,
        summary: "A Linux host of version 6.1: linux-6.12 whose windows are half of the receive buffer, and \
                  whose SYN waits twice as long each time",
        year: 2022,
        source: "as linux; Linux 6.1.176 (net/ipv4) where it differs, as named at each rule",
        deviations: super::ENTRY.about.deviations,
        fields: &FIELDS,
    },
    build,
};

/// The defaults that differ: field, default, and its source.
const DIFFERS: [(&str, Value, &str); 7] = [
    WINDOW,
    BUFFER_GROWTH,
    COMP_SACK_PERCENT,
    COMP_SACK_SLACK,
    ACCECN_OPTION,
    (
        "scaling_ratio",
        Value::Real(0.5),
        "net.ipv4.tcp_adv_win_scale = 1 of Linux 6.1 (tcp_win_from_space), whatever a segment takes; its \
         tcp_rcv_space_adjust lets a buffer grow by 3 % more, for a segment of 1,448 B counts 2,984 B",
    ),
    (
        "syn_linear",
        Value::Whole(0),
        "since Linux 6.5; before, each timeout doubles the wait (tcp_retransmit_timer)",
    ),
];

const FIELDS: [Field; super::FIELDS.len()] = fields(&DIFFERS);

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    super::build_as(NAME, params, controls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles::linux::v6_12;
    use crate::receiver::{Adaptive, AtOnce};

    #[test]
    fn the_kernel_s_numbers_of_2022_differ_in_two() {
        let made = |entry: &Entry| {
            let profile = (entry.build)(&Params::defaults(entry.about.fields), &Controls::ours())
                .expect("defaults");
            let AtOnce::Adaptive(rules) = profile.ack.at_once else { panic!("{:?}", profile.ack) };
            (rules, profile.opening.waits)
        };
        let ((old, waits), (new, later)) = (made(&ENTRY), made(&v6_12::ENTRY));
        // The window is half of 6 MiB, or 0.64 of it. Seven SYNs take 127 s; later kernels add four
        // waits of a second each.
        assert_eq!(old, Adaptive { ratio: 128, ..new });
        assert_eq!((new.ratio, new.buffer), (164, 6 << 20));
        assert_eq!((waits.syn_linear, waits.syn_retries), (0, 6));
        assert_eq!((later.syn_linear, later.syn_retries), (4, 10));
    }
}
