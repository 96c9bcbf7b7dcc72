//! The measures of channels in the summary: one table of measures for each kind of channel.

use record::{Listed, Measure, Summary, Unit, list, real, whole};

use crate::port::{ChannelReport, Grants, Share, UeShare};

/// A station's share of a Wi-Fi channel, and the length of the interval in s.
struct StationShare {
    of: Share,
    interval_s: f64,
}

#[rustfmt::skip]
static STATION: &[Measure<StationShare>] = &[
    real("airtime_share", Unit::of("share").shown("%", 100.0).digits(1), "airtime", |s: &StationShare| s.of.airtime.secs_f64() / s.interval_s,
        "of the time in which a station sent or was sent to, acknowledgements included; stations are numbered as \
         `wifi.rates` has them, from 0"),
    whole("aggregates", Unit::of("aggregates"), "aggregates", |s| s.of.aggregates, "to and from a station"),
    real("frames_mean", Unit::of("frames").digits(1), "frames of an aggregate", |s| s.of.frames as f64 / s.of.aggregates as f64,
        "mean over the aggregates"),
    real("repeated_share", Unit::of("share").shown("%", 100.0).digits(1), "frames retransmitted",
        |s| s.of.repeated as f64 / s.of.frames as f64, "of the frames, retransmitted after an error or a collision"),
    whole("frames_given_up", Unit::of("frames"), "frames given up", |s| s.of.given_up, "after their last try"),
];

const REQUESTS: Unit = Unit::of("requests");

#[rustfmt::skip]
static GRANTS: &[Measure<Grants>] = &[
    whole("grants", Unit::of("grants"), "grants", |g: &Grants| g.grants, "that a cable modem got"),
    real("granted_mean_bytes", Unit::of("bytes").digits(0), "bytes of a grant", |g| g.bytes as f64 / g.grants as f64,
        "mean over the grants"),
    real("unused_share", Unit::of("share").shown("%", 100.0).digits(1), "granted and not used",
        |g| g.unused as f64 / g.bytes as f64, "of the granted bytes"),
    whole("requests_in_contention", REQUESTS, "requests in contention", |g| g.contention,
        "sent in an interval without a grant; the others were sent with a grant"),
    whole("requests_collided", REQUESTS, "requests that collided", |g| g.collisions, "of those in contention"),
];

/// What a UE got of a cell's resources, and the length of the interval in s.
struct UeFacts {
    of: UeShare,
    interval_s: f64,
}

const BLOCKS: Unit = Unit::of("blocks");

#[rustfmt::skip]
static UE: &[Measure<UeFacts>] = &[
    real("slots_per_s", Unit::of("1/s").digits(1), "slots", |u: &UeFacts| u.of.slots / u.interval_s,
        "whole slots that a UE of a cell had, parts of slots added, blocks retransmitted included; UEs are numbered as \
         `cell.quality` has them, from 0"),
    real("efficiency_mean", Unit::of("bit/s/Hz").digits(2), "efficiency",
        |u| u.of.efficiency / u.of.first_slots, "mean over what was sent for the first time, of one layer"),
    whole("blocks", BLOCKS, "blocks", |u| u.of.blocks, "sent for the first time"),
    real("blocks_repeated_share", Unit::of("share").shown("%", 100.0).digits(1), "blocks retransmitted",
        |u| u.of.repeated as f64 / u.of.blocks as f64, "tries after the first one (HARQ, RLC), for each block"),
    whole("blocks_given_up", BLOCKS, "blocks given up", |u| u.of.given_up, "by HARQ after its last try"),
];

/// Adds the measures of all channels to a summary, by kind and link.
pub(super) fn summarise(channels: &[(&str, ChannelReport)], interval_s: f64, out: &mut Summary) {
    let [mut wifi, mut docsis, mut cell] = [(); 3].map(|()| Summary::default());
    for (port, report) in channels {
        let link = port.trim_end_matches(".forward").trim_end_matches(".reverse");
        match report {
            ChannelReport::Wifi(shares) => {
                let station = |&of: &Share| (StationShare { of, interval_s }, STATION);
                wifi.group(link, numbered(shares.iter().map(station)));
            }
            // A cell is measured in each direction, under the name of its port.
            ChannelReport::Cell(ues) => {
                let ue = |&of: &UeShare| (UeFacts { of, interval_s }, UE);
                cell.group(port, numbered(ues.iter().map(ue)));
            }
            ChannelReport::Docsis(grants) => {
                let mut own = Summary::default();
                own.write(GRANTS, grants);
                docsis.group(link, own);
            }
        }
    }
    for (name, of) in [("wifi", wifi), ("docsis", docsis), ("cell", cell)] {
        if !of.0.is_empty() {
            out.group(name, of);
        }
    }
}

/// A summary with a group for each item, called by its number.
fn numbered<T: 'static>(of: impl Iterator<Item = (T, &'static [Measure<T>])>) -> Summary {
    let mut all = Summary::default();
    for (number, (facts, measures)) in of.enumerate() {
        let mut one = Summary::default();
        one.write(measures, &facts);
        all.group(&number.to_string(), one);
    }
    all
}

/// The measures of all kinds of channel.
pub(super) fn measures() -> Vec<Listed> {
    let docsis = list(&["docsis.<link>."], "", GRANTS);
    let cell = list(&["cell.<port>.<ue>."], "", UE);
    [list(&["wifi.<link>.<station>."], "", STATION), docsis, cell].concat()
}
