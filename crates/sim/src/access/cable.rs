//! A home behind a cable modem (DOCSIS 3.0 or 3.1).

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "cable",
    summary: "A home behind a cable modem (DOCSIS 3.0 or 3.1).",
    year: 2016,
    source: "DOCSIS as described in RFC 8034; sizes as tc-cake(8) counts them; numbers constructed where not said",
    deviations: "Requests and grants are no events: their mean time is part of the delay, which does not vary. Nothing is shared with neighbours.",
    settings: &[
        setting("rate", "100 Mbit/s", "A common contract.", "constructed"),
        setting("reverse_rate", "10 Mbit/s", "A tenth of it.", "constructed"),
        setting(
            "delay",
            "5 ms",
            "Each way, a round trip of 10 ms to the first router; upstream 2 to 8 ms of it pass until a request is granted.",
            "constructed around the range of 2 to 8 ms (recalled: CableLabs, Low Latency DOCSIS, 2019)",
        ),
        setting(
            "framing",
            "docsis",
            "Ethernet frames with check sequence, at least 64 bytes.",
            "tc-cake(8): docsis",
        ),
        setting(
            "forward",
            r#"{"limit_bytes": 625000}"#,
            "50 ms at the termination system.",
            "constructed",
        ),
        setting(
            "reverse",
            r#"{"limit_bytes": 256000}"#,
            "256 kB in the modem: 0.2 s.",
            "Kreibich et al., Netalyzr, IMC 2010: a usual size of uplink buffers (recalled)",
        ),
    ],
};
