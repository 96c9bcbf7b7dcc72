//! A channel without room: what is sent into it in vain.

use crate::outcome::{group, simulate};
use aqmlab_sim::Outcome;
use serde_json::json;

/// While a channel has no room, what is sent in vain is counted at once, up to the channel's next tick; with a row for
/// each datagram it is counted one by one. All figures are the same, the number of events too.
#[test]
fn what_is_refused_at_once_counts_as_if_it_were_refused_one_by_one() {
    let fifo = json!({"aqm": "droptail", "limit": 1000});
    let both = |stations: usize, every: bool| {
        let cbr = |side, rate, at| json!({"app": "cbr", "flows": stations, "side": side, "rate": rate, "packet": 1472, "start_within": at});
        let traffic = [
            cbr("servers", "400 Mbit/s", "0.1 s"),
            cbr("clients", "200 Mbit/s", "0.2 s"),
            cbr("servers", "190 Mbit/s", "0.5 s"),
        ];
        json!({
            "duration": "4 s", "warmup": "1.0003 s", "seed": 7,
            "network": {"rtt": "0 s", "clients": stations, "servers": 1},
            "link": [{"name": "air", "rate": "100 Mbit/s", "forward": fifo, "reverse": fifo,
                "wifi": {"rates": vec!["65 Mbit/s"; stations], "point_room": 40, "station_room": 30}}],
            "traffic": traffic, "record": {"samples": false, "datagrams": every},
        })
    };
    for stations in [1, 3] {
        let [at_once, each] = [false, true].map(|every| simulate(&both(stations, every)));
        assert_eq!(format!("{:?}", at_once.summary), format!("{:?}", each.summary), "{stations}");
        let lost = group(group(&at_once.summary, "ports"), "air.forward").number("drop_rate");
        assert!(lost > 0.2, "{lost}");
        let series = |outcome: &Outcome| {
            outcome
                .tables
                .iter()
                .filter(|t| t.name != "datagrams")
                .map(|t| format!("{t:?}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(series(&at_once), series(&each), "{stations}");
    }
}
