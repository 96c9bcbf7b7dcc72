//! A home behind an ADSL2+ line with PPPoE on ATM.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "adsl",
    summary: "A home behind an ADSL2+ line with PPPoE on ATM.",
    year: 2003,
    source: "ITU-T G.992.5, AAL5 with LLC/SNAP (RFC 2684), PPPoE (RFC 2516); numbers constructed where not said",
    deviations: "Interleaving is part of the delay; damaged cells are not modelled.",
    settings: &[
        setting("rate", "16 Mbit/s", "Rate of the cells: a line of medium length.", "constructed"),
        setting("reverse_rate", "1 Mbit/s", "Rate of the cells.", "constructed"),
        setting("delay", "15 ms", "Each way, with interleaving.", "constructed"),
        setting(
            "framing",
            "pppoe-llcsnap",
            "40 bytes, in cells of 53 bytes with 48 of payload.",
            "RFC 2684; tc-cake(8): pppoe-llcsnap",
        ),
        setting(
            "forward",
            r#"{"limit_bytes": 200000}"#,
            "0.1 s at the multiplexer.",
            "constructed",
        ),
        setting(
            "reverse",
            r#"{"limit_bytes": 128000}"#,
            "128 kB in the modem: a second.",
            "Kreibich et al., Netalyzr, IMC 2010: uplink buffers of DSL hold a second or more (recalled)",
        ),
    ],
};
