//! The list of all measures, with one line for each recorder's table.

use crate::measure::{Listed, list};
use crate::{
    answers, calls, concurrency, datagrams, flows, gauges, losses, meter, pages, pings, players,
    requests, round_trips, samples, sojourn, sources, transfers, video_calls,
};

/// Every measure of this crate's recorders.
pub fn measures() -> Vec<Listed> {
    const PORTS: &[&str] = &["", "ports.<port>."];
    const GROUP: &str = "by_group.<group>.";
    [
        list(PORTS, "", meter::MEASURES),
        list(PORTS, "", samples::MEASURES),
        list(sojourn::PLACES, "", sojourn::MEASURES),
        list(meter::COPIES, "", meter::OF_COPIES),
        list(&["gauge_max.", "ports.<port>.gauge_max."], "", gauges::LARGEST),
        list(&["gauge_mean.", "ports.<port>.gauge_mean."], "", gauges::MEANS),
        list(&[""], GROUP, answers::MEASURES),
        list(&[""], "", requests::MEASURES),
        list(&["retransmission_classes."], "", requests::CLASSES),
        list(&[""], GROUP, pages::MEASURES),
        list(&[""], "", concurrency::MEASURES),
        list(&[""], "", flows::RECOVERIES),
        list(&[""], "", flows::LONG),
        list(round_trips::PLACES, "", round_trips::MEASURES),
        list(&[""], "", losses::MEASURES),
        list(&[""], "", sources::MEASURES),
        list(&["datagrams.<group>."], "", datagrams::MEASURES),
        list(&["voip_", "voip_by_group.<group>."], "", calls::MEASURES),
        list(&["video_", "video_by_group.<group>."], "", players::MEASURES),
        list(&["rtc_", "rtc_by_group.<group>."], "", video_calls::MEASURES),
        list(&["ping.<group>."], "", pings::MEASURES),
        list(&["transfers.<group>."], "", transfers::MEASURES),
    ]
    .concat()
}
