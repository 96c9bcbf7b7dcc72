//! Video calls: the frames that each viewer saw, their delays, and the rates sent and received.

use packet::report::VideoCallReport;

use crate::measure::{AS_MS, BITS_PER_S, Measure, SHARE, Unit, real, whole};
use crate::reported::Reported;
use crate::{Column, Summary, Table, quantile, ratio};

/// The report of one viewer.
type VideoCallViewer = Reported<VideoCallReport>;

/// The recorder of all viewers of video calls.
#[derive(Clone, Debug, Default)]
pub struct VideoCalls {
    watchers: Vec<VideoCallViewer>,
}

impl VideoCalls {
    /// Adds a viewer of a call of `user` in `group`; a viewer for whom no frame was made has no
    /// row.
    pub fn add(&mut self, group: u16, user: u32, report: VideoCallReport) {
        if report.frames > 0 {
            self.watchers.push(Reported { group, user, report });
        }
    }

    /// Writes the measures over all viewers and, where there are several groups, of each group;
    /// `groups` are their names. Writes nothing without a call.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        out.write_rows("rtc_", MEASURES, &self.watchers, |watcher| watcher.group, groups);
    }

    /// A table with one row for each viewer; none without a call.
    pub fn table(&self) -> Option<Table> {
        if self.watchers.is_empty() {
            return None;
        }
        let each = || self.watchers.iter();
        let real = |of: &dyn Fn(&[VideoCallViewer]) -> f64| {
            Column::F64(each().map(|w| of(std::slice::from_ref(w))).collect())
        };
        let whole = |of: &dyn Fn(&VideoCallViewer) -> u64| Column::U64(each().map(of).collect());
        let columns = [
            ("group", Column::U16(each().map(|w| w.group).collect())),
            ("user", Column::U32(each().map(|w| w.user).collect())),
            ("back", Column::U8(each().map(|w| u8::from(w.back)).collect())),
            ("frames", whole(&|w| w.frames)),
            ("frames_lost", whole(&|w| w.frames_lost)),
            ("frame_delay_p50_s", real(&|w| delay(w, 0.5))),
            ("frame_delay_p95_s", real(&|w| delay(w, 0.95))),
            ("frame_delay_p99_s", real(&|w| delay(w, 0.99))),
            ("freezes", whole(&|w| w.freezes)),
            ("frozen_s", real(&|w| sum(w, |w| w.frozen_s))),
            ("sent_bits_per_s", real(&sent_rate)),
            ("received_bits_per_s", real(&received_rate)),
            ("lost_share", real(&lost_share)),
            ("marked_share", real(&marked_share)),
        ];
        let columns = columns.map(|(name, column)| (name.to_owned(), column)).to_vec();
        Some(Table { name: "video_calls", columns, every_s: None })
    }
}

/// The measures of viewers. Quantiles are over the frames of all viewers, a share is a quotient of
/// two sums over the viewers, and a rate is the mean over the viewers.
#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<[VideoCallViewer]>] = &[
    whole("viewers", Unit::of("viewers"), "video calls, viewers", |w| w.len() as u64,
        "rows of `video_calls`; these numbers only with video calls"),
    real("frame_delay_p50_s", AS_MS, "video calls, frame delay, median", |w| delay(w, 0.5), DELAY),
    real("frame_delay_p95_s", AS_MS, "video calls, frame delay, 95 %", |w| delay(w, 0.95), DELAY),
    real("frame_delay_p99_s", AS_MS, "video calls, frame delay, 99 %", |w| delay(w, 0.99), DELAY),
    real("frames_lost_share", SHARE.digits(2), "video calls, frames lost", frames_lost_share,
        "of the frames up to the last one shown, lacked a packet and were not shown"),
    real("freezes_per_min", Unit::of("1/min").digits(2), "video calls, freezes a minute",
        |w| 60.0 * sum(w, |w| w.freezes as f64) / sum(w, |w| w.seconds),
        "times the picture froze (a frame lasted max(3 means, the mean and 150 ms) of the last 30, \
         `freezeCount` of W3C's WebRTC statistics) for each minute of call"),
    real("frozen_share", SHARE.digits(2), "video calls, frozen",
        |w| sum(w, |w| w.frozen_s) / sum(w, |w| w.seconds), "of the time of the calls, frozen"),
    real("sent_bits_per_s", BITS_PER_S, "video calls, rate sent", sent_rate,
        "RTP packets sent, mean over the viewers"),
    real("received_bits_per_s", BITS_PER_S, "video calls, rate received", received_rate,
        "RTP packets received, mean over the viewers"),
    real("lost_share", SHARE.digits(2), "video calls, packets lost", lost_share,
        "of the packets of video, never came"),
    real("marked_share", SHARE.digits(2), "video calls, packets marked", marked_share,
        "of the packets of video that came, with a mark"),
];

const DELAY: &str = "quantile over the frames shown of the time from a frame's making to its last \
                     packet's arrival, the sender's buffer included";

fn sum(watchers: &[VideoCallViewer], of: impl Fn(&VideoCallViewer) -> f64) -> f64 {
    watchers.iter().map(of).sum()
}

fn whole_of(watchers: &[VideoCallViewer], of: impl Fn(&VideoCallViewer) -> u64) -> u64 {
    watchers.iter().map(of).sum()
}

/// The quantile `p` of the delays of frames shown, in seconds; NaN if no frame was shown.
fn delay(watchers: &[VideoCallViewer], p: f64) -> f64 {
    let delays = watchers.iter().flat_map(|w| &w.delays);
    let mut delays: Vec<f64> = delays.map(|delay| delay.secs_f64()).collect();
    delays.sort_unstable_by(f64::total_cmp);
    if delays.is_empty() { f64::NAN } else { quantile(&delays, p) }
}

fn frames_lost_share(watchers: &[VideoCallViewer]) -> f64 {
    let lost = whole_of(watchers, |w| w.frames_lost);
    ratio(lost, lost + whole_of(watchers, |w| w.delays.len() as u64))
}

fn sent_rate(watchers: &[VideoCallViewer]) -> f64 {
    sum(watchers, |w| 8.0 * w.sent_bytes as f64 / w.seconds) / watchers.len() as f64
}

fn received_rate(watchers: &[VideoCallViewer]) -> f64 {
    sum(watchers, |w| 8.0 * w.received_bytes as f64 / w.seconds) / watchers.len() as f64
}

fn lost_share(watchers: &[VideoCallViewer]) -> f64 {
    let lost = whole_of(watchers, |w| w.lost);
    ratio(lost, lost + whole_of(watchers, |w| w.received))
}

fn marked_share(watchers: &[VideoCallViewer]) -> f64 {
    ratio(whole_of(watchers, |w| w.marked), whole_of(watchers, |w| w.received))
}

#[cfg(test)]
mod tests {
    use packet::Duration;

    use super::*;

    /// The report of a call of 100 s: frames with these delays (ms) were shown, two were lost.
    fn watcher(group: u16, delays: &[u64], freezes: u64) -> VideoCallReport {
        VideoCallReport {
            back: false,
            seconds: 100.0,
            frames: 11,
            frames_lost: 2,
            delays: delays.iter().map(|&ms| Duration::from_millis(ms)).collect(),
            freezes,
            frozen_s: 2.0 * freezes as f64,
            sent_bytes: 1_000_000 * (1 + u64::from(group)),
            received_bytes: 900_000,
            received: 90,
            lost: 10,
            marked: 9,
        }
    }

    #[test]
    fn figures_by_hand() {
        let mut calls = VideoCalls::default();
        calls.add(0, 3, watcher(0, &[50; 8], 1));
        calls.add(1, 3, watcher(1, &[250; 8], 2));
        calls.add(1, 3, VideoCallReport { frames: 0, ..watcher(1, &[], 0) });
        let mut summary = Summary::default();
        calls.summarise(&["a", "b"], &mut summary);
        let number = |name: &str| summary.number(&format!("rtc_{name}"));
        assert_eq!((number("viewers"), number("frames_lost_share")), (2.0, 0.2));
        assert_eq!((number("frame_delay_p95_s"), number("freezes_per_min")), (0.25, 0.9));
        assert_eq!((number("frozen_share"), number("sent_bits_per_s")), (0.03, 120e3));
        assert_eq!((number("lost_share"), number("marked_share")), (0.1, 0.1));
        let Some(crate::Figure::Group(groups)) = summary.get("rtc_by_group") else { panic!() };
        let Some(crate::Figure::Group(b)) = groups.get("b") else { panic!() };
        assert_eq!((b.number("frame_delay_p50_s"), b.number("sent_bits_per_s")), (0.25, 160e3));
        let table = calls.table().unwrap();
        assert_eq!(table.columns[5].1, Column::F64(vec![0.05, 0.25]));
        assert!(VideoCalls::default().table().is_none());
    }

    #[test]
    fn a_viewer_who_was_shown_nothing_has_no_delay() {
        let mut calls = VideoCalls::default();
        calls.add(0, 3, watcher(0, &[], 0));
        let table = calls.table().unwrap();
        let Column::F64(delays) = &table.columns[5].1 else { panic!("a delay is a real number") };
        assert!(delays[0].is_nan());
    }
}
