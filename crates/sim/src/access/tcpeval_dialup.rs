//! The dial-up link of the Common TCP Evaluation Suite.

use super::{Entry, setting};

/// The registry's line.
pub(super) const ENTRY: Entry = Entry {
    name: "tcpeval-dialup",
    summary: "The dial-up link of the Common TCP Evaluation Suite.",
    year: 2014,
    source: "Common TCP Evaluation Suite, draft-irtf-iccrg-tcpeval-01",
    deviations: "The suite's traffic, recorded connections scaled to a load, is not here; network.rtt = \"tcpeval\" has its round-trip times.",
    settings: &[
        setting("rate", "64 kbit/s", "Central link.", "draft-irtf-iccrg-tcpeval-01"),
        setting("reverse_rate", "64 kbit/s", "Central link.", "draft-irtf-iccrg-tcpeval-01"),
        setting("delay", "5 ms", "Each way.", "draft-irtf-iccrg-tcpeval-01"),
        setting("framing", "none", "The suite counts IP bytes.", "constructed: not said"),
        setting("forward", r#"{"limit_bytes": 10000}"#, "1.25 s.", "draft-irtf-iccrg-tcpeval-01"),
        setting("reverse", r#"{"limit_bytes": 10000}"#, "1.25 s.", "draft-irtf-iccrg-tcpeval-01"),
    ],
};
