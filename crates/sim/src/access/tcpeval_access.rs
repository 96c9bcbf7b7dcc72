//! The access link of the Common TCP Evaluation Suite.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "tcpeval-access",
    summary: "The access link of the Common TCP Evaluation Suite.",
    year: 2014,
    source: "Common TCP Evaluation Suite, draft-irtf-iccrg-tcpeval-01",
    deviations: "The suite's traffic, recorded connections scaled to a load, is not here; network.rtt = \"tcpeval\" has its round-trip times.",
    settings: &[
        setting("rate", "100 Mbit/s", "Central link.", "draft-irtf-iccrg-tcpeval-01"),
        setting("reverse_rate", "100 Mbit/s", "Central link.", "draft-irtf-iccrg-tcpeval-01"),
        setting("delay", "2 ms", "Each way.", "draft-irtf-iccrg-tcpeval-01"),
        setting("framing", "none", "The suite counts IP bytes.", "constructed: not said"),
        setting("forward", r#"{"limit_bytes": 1250000}"#, "100 ms.", "draft-irtf-iccrg-tcpeval-01"),
        setting("reverse", r#"{"limit_bytes": 1250000}"#, "100 ms.", "draft-irtf-iccrg-tcpeval-01"),
    ],
};
