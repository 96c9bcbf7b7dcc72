//! Calls: packets that each listener received and played, and the rating of the conversation.

use packet::report::ListenerReport;

use crate::e_model::{Conversation, mean_opinion_score};
use crate::measure::{AS_MS, BARE, Measure, SHARE, Unit, real, whole};
use crate::reported::Reported;
use crate::{Column, Summary, Table, quantile};

type Listener = Reported<ListenerReport>;

/// The row of one listener in the table `calls`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    listener: Listener,
    burst_ratio: f64,
    rating: f64,
}

/// The recorder of calls: a row for each listener of each call.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    rows: Vec<Row>,
}

/// The rating R from which on at most some users are dissatisfied (ITU-T G.109).
const SATISFYING: f64 = 70.0;

impl Listener {
    fn not_played(&self) -> u64 {
        self.late + self.lost
    }

    fn share_not_played(&self) -> f64 {
        self.not_played() as f64 / self.said as f64
    }

    /// Mean length of the runs of packets not played, divided by that of as many independent losses
    /// (G.107 section 7.5); at least 1, also where a queue spreads losses more evenly than chance.
    fn burst_ratio(&self) -> f64 {
        if self.gaps == 0 {
            return 1.0;
        }
        let run = self.not_played() as f64 / self.gaps as f64;
        (run * (1.0 - self.share_not_played())).max(1.0)
    }

    /// The E-model's rating factor R when half of the conversation's round trip lasts `delay_s`. R
    /// is 0 if no packet was played.
    fn rating(&self, delay_s: f64) -> f64 {
        if self.not_played() == self.said {
            return 0.0;
        }
        let (loss_share, burst_ratio) = (self.share_not_played(), self.burst_ratio());
        Conversation { delay_s, loss_share, burst_ratio, codec: self.codec }.rating()
    }
}

impl Calls {
    /// Adds the listeners of one call of `user` in `group`; a listener to whom no packet was sent
    /// has no row. The round trip decides how delay harms a conversation, so each listener is rated
    /// with the mean delay of both directions.
    pub fn add(&mut self, group: u16, user: u32, reports: &[ListenerReport]) {
        let delays: Vec<f64> =
            reports.iter().map(|l| l.mouth_to_ear_s).filter(|s| s.is_finite()).collect();
        let delay_s = delays.iter().sum::<f64>() / delays.len().max(1) as f64;
        for &report in reports.iter().filter(|l| l.said > 0) {
            let listener = Reported { group, user, report };
            let (burst_ratio, rating) = (listener.burst_ratio(), listener.rating(delay_s));
            self.rows.push(Row { listener, burst_ratio, rating });
        }
    }

    /// Writes the measures over all listeners and, where there are several groups, of each group;
    /// `groups` are their names. Writes nothing without a call.
    pub fn summarise(&self, groups: &[&str], out: &mut Summary) {
        out.write_rows("voip_", MEASURES, &self.rows, |row| row.listener.group, groups);
    }

    /// A table with one row for each listener; none without a call.
    pub fn table(&self) -> Option<Table> {
        if self.rows.is_empty() {
            return None;
        }
        let real = |of: &dyn Fn(&Row) -> f64| Column::F64(self.rows.iter().map(of).collect());
        let whole = |of: &dyn Fn(&Listener) -> u64| {
            Column::U64(self.rows.iter().map(|row| of(&row.listener)).collect())
        };
        let columns = [
            ("group", Column::U16(self.rows.iter().map(|r| r.listener.group).collect())),
            ("user", Column::U32(self.rows.iter().map(|r| r.listener.user).collect())),
            ("back", Column::U8(self.rows.iter().map(|r| u8::from(r.listener.back)).collect())),
            ("packets", whole(&|l| l.said)),
            ("late", whole(&|l| l.late)),
            ("lost", whole(&|l| l.lost)),
            ("burst_ratio", real(&|r| r.burst_ratio)),
            ("network_delay_mean_s", real(&|r| r.listener.network_s)),
            ("mouth_to_ear_mean_s", real(&|r| r.listener.mouth_to_ear_s)),
            ("r", real(&|r| r.rating)),
            ("mos", real(&|r| mean_opinion_score(r.rating))),
        ];
        let columns = columns.map(|(name, column)| (name.to_owned(), column)).to_vec();
        Some(Table { name: "calls", columns, every_s: None })
    }
}

const SCORE: Unit = BARE.digits(1);

#[rustfmt::skip]
pub(crate) static MEASURES: &[Measure<[Row]>] = &[
    whole("listeners", Unit::of("listeners"), "calls, listeners", |rows| rows.len() as u64,
        "rows of `calls`; these numbers only with calls"),
    real("r_mean", SCORE, "calls, rating R", |rows| mean(rows, |r| r.rating),
        "mean rating R (ITU-T G.107) over the listeners"),
    real("r_p5", SCORE, "calls, rating R, 5 %", worst_rating, "5 % quantile of R over the listeners"),
    real("mos_mean", BARE.digits(2), "calls, opinion score",
        |rows| mean(rows, |r| mean_opinion_score(r.rating)), "mean opinion score over the listeners"),
    real("share_r_ge_70", SHARE, "calls, R of 70 and more",
        |rows| mean(rows, |r| f64::from(u8::from(r.rating >= SATISFYING))),
        "of the listeners with R of 70 and more: at most \"some users dissatisfied\" (ITU-T G.109)"),
    real("mouth_to_ear_mean_s", AS_MS, "calls, mouth to ear", mouth_to_ear_mean_s,
        "mean over the listeners to whom a packet was played"),
    real("late_share", SHARE.digits(2), "calls, packets late", |rows| share(rows, |l| l.late),
        "of all packets in `calls`, too late to be played"),
    real("lost_share", SHARE.digits(2), "calls, packets lost", |rows| share(rows, |l| l.lost),
        "of all packets in `calls`, lost"),
];

fn mean(rows: &[Row], of: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(of).sum::<f64>() / rows.len() as f64
}

/// A sum over listeners, as a share of all packets that the speakers sent.
fn share(rows: &[Row], of: fn(&Listener) -> u64) -> f64 {
    let said: u64 = rows.iter().map(|r| r.listener.said).sum();
    rows.iter().map(|r| of(&r.listener)).sum::<u64>() as f64 / said as f64
}

fn worst_rating(rows: &[Row]) -> f64 {
    let mut ratings: Vec<f64> = rows.iter().map(|r| r.rating).collect();
    ratings.sort_by(f64::total_cmp);
    quantile(&ratings, 0.05)
}

fn mouth_to_ear_mean_s(rows: &[Row]) -> f64 {
    let delays = rows.iter().map(|r| r.listener.mouth_to_ear_s).filter(|s| s.is_finite());
    let delays: Vec<f64> = delays.collect();
    delays.iter().sum::<f64>() / delays.len() as f64
}

#[cfg(test)]
mod tests {
    use packet::report::Impairment;

    use super::*;

    fn listener(
        back: bool,
        [said, late, lost, gaps]: [u64; 4],
        mouth_to_ear_s: f64,
    ) -> ListenerReport {
        let codec = Impairment { equipment: 0.0, robustness: 25.1 };
        ListenerReport { back, said, late, lost, gaps, network_s: 0.03, mouth_to_ear_s, codec }
    }

    fn column(calls: &Calls, name: &str) -> Vec<f64> {
        let columns = calls.table().unwrap().columns;
        match &columns.iter().find(|(n, _)| n == name).unwrap().1 {
            Column::F64(values) => values.clone(),
            Column::U64(values) => values.iter().map(|&v| v as f64).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_ears_are_rated_with_half_the_round_trip() {
        // Delays of 200 and 300 ms: both listeners are rated with 250 ms, as in a test of the
        // E-model.
        let mut calls = Calls::default();
        let ears = [listener(false, [100, 0, 0, 0], 0.2), listener(true, [100, 3, 2, 2], 0.3)];
        calls.add(0, 7, &ears);
        calls.add(1, 8, &[listener(false, [0; 4], f64::NAN)]);
        let ratings = column(&calls, "r");
        assert!((ratings[0] - 79.1771).abs() < 1e-4, "{ratings:?}");
        // Runs of 2.5 packets at a loss of 5 %: 2.5 * 0.95 = 2.375 times those of independent
        // losses.
        let worse = 79.1771 - 95.0 * 5.0 / (5.0 / 2.375 + 25.1);
        assert!((ratings[1] - worse).abs() < 1e-4, "{ratings:?}");
        assert_eq!(column(&calls, "burst_ratio"), [1.0, 2.375]);
    }

    #[test]
    fn the_summary_is_over_listeners_and_by_group_where_there_are_several() {
        let mut calls = Calls::default();
        calls.add(0, 0, &[listener(false, [100, 0, 0, 0], 0.05)]);
        calls.add(2, 1, &[listener(false, [300, 0, 300, 1], f64::NAN)]);
        let mut summary = Summary::default();
        calls.summarise(&["a", "b", "c"], &mut summary);
        assert_eq!(summary.number("voip_listeners"), 2.0);
        assert_eq!(summary.number("voip_r_p5"), 0.0);
        assert_eq!(summary.number("voip_share_r_ge_70"), 0.5);
        assert_eq!(summary.number("voip_lost_share"), 0.75);
        assert_eq!(summary.number("voip_mouth_to_ear_mean_s"), 0.05);
        assert!((summary.number("voip_mos_mean") - (4.38 + 1.0) / 2.0).abs() < 0.001);
        let Some(crate::Figure::Group(groups)) = summary.get("voip_by_group") else { panic!() };
        let names: Vec<&str> = groups.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "c"]);
        let mut nobody = Summary::default();
        Calls::default().summarise(&[], &mut nobody);
        assert!(nobody.0.is_empty() && Calls::default().table().is_none());
    }
}
