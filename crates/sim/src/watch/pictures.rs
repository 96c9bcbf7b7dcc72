//! The pictures that viewers of films and video calls are shown, per second. Only the applications
//! know them, so they are read from there at the end of every second.

use std::ops::Range;

use packet::Instant;
use record::PerSecond;
use serde_json::Value as Json;
use traffic::Shown;

const SECOND: u64 = 1_000_000_000;

/// The pictures of one traffic group.
#[derive(Clone, Debug)]
struct Group {
    name: String,
    /// Sums of what was shown up to the last second that was read; `None` if the group has shown
    /// nothing yet.
    before: Option<Shown>,
    /// For each second: frames, the sum of their delays in ns, the time for which pictures were
    /// frozen in ns, and viewers.
    seconds: PerSecond<4>,
}

#[derive(Clone, Debug)]
pub(crate) struct Pictures {
    groups: Vec<Group>,
    /// Number of whole seconds that have been read.
    requested: u64,
}

impl Pictures {
    /// Groups with these names that have shown nothing yet.
    pub fn new(groups: Vec<String>) -> Self {
        let group = |name| Group { name, before: None, seconds: PerSecond::default() };
        Pictures { groups: groups.into_iter().map(group).collect(), requested: 0 }
    }

    /// The end of the first second that has not been read.
    pub fn next_second(&self) -> Instant {
        Instant::from_nanos((self.requested + 1) * SECOND)
    }

    /// Takes the sums of what each group has shown up to [`Pictures::next_second`].
    pub fn second(&mut self, shown: &[Option<Shown>]) {
        let at = Instant::from_nanos(self.requested * SECOND);
        self.requested += 1;
        for (group, shown) in self.groups.iter_mut().zip(shown) {
            let Some(shown) = *shown else { continue };
            let before = group.before.replace(shown).unwrap_or_default();
            let frames = shown.frames - before.frames;
            let [delay, still] = [shown.delay, shown.still].map(|sum| sum.nanos());
            // A freeze is recognised only some time after it began, so the sum may decrease.
            let still = still.saturating_sub(before.still.nanos());
            let viewers = u64::from(shown.viewers);
            group.seconds.add_all(at, [frames, delay - before.delay.nanos(), still, viewers]);
        }
    }

    /// The measured interval begins: applications reset their sums.
    pub fn begin_measuring(&mut self) {
        self.groups
            .iter_mut()
            .for_each(|group| group.before = group.before.map(|_| Shown::default()));
    }

    /// Discards the values of all seconds before `second`.
    pub fn forget_before(&mut self, second: usize) {
        self.groups.iter_mut().for_each(|group| group.seconds.forget_before(second));
    }

    /// Columns of these seconds: `<group>.still_share`, the share of viewers whose picture is
    /// frozen, and for video calls `<group>.frame_delay_mean_s`; null in a second without viewers
    /// or frames.
    pub fn per_second(&self, seconds: &Range<usize>) -> Vec<(String, Json)> {
        let mut columns = Vec::new();
        for Group { name, before, seconds: rows } in &self.groups {
            let Some(shown) = before else { continue };
            let ratio = |part: usize, whole: usize| -> Json {
                let share = |row: [u64; 4]| {
                    (row[whole] > 0).then(|| row[part] as f64 / 1e9 / row[whole] as f64)
                };
                seconds.clone().map(|second| share(rows.row(second))).collect()
            };
            columns.push((format!("{name}.still_share"), ratio(2, 3)));
            if shown.frames > 0 {
                columns.push((format!("{name}.frame_delay_mean_s"), ratio(1, 0)));
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Duration;

    fn shown(frames: u64, delay_ms: u64, still_ms: u64) -> Option<Shown> {
        let [delay, still] = [delay_ms, still_ms].map(Duration::from_millis);
        Some(Shown { viewers: 2, frames, delay, still })
    }

    #[test]
    fn every_second_has_its_own_delays_and_its_own_stalls() {
        let mut pictures = Pictures::new(vec!["web".into(), "call".into(), "film".into()]);
        pictures.second(&[None, shown(0, 0, 0), None]);
        pictures.second(&[None, shown(10, 500, 1_000), shown(0, 0, 500)]);
        assert_eq!(pictures.next_second(), Instant::from_nanos(3 * SECOND));
        pictures.begin_measuring();
        pictures.second(&[None, shown(4, 400, 0), shown(0, 0, 2_000)]);
        let columns = pictures.per_second(&(0..4));
        let of = |name: &str| &columns.iter().find(|(n, _)| n == name).unwrap().1;
        assert_eq!(*of("call.still_share"), serde_json::json!([0.0, 0.5, 0.0, null]));
        assert_eq!(*of("call.frame_delay_mean_s"), serde_json::json!([null, 0.05, 0.1, null]));
        assert_eq!(*of("film.still_share"), serde_json::json!([null, 0.25, 1.0, null]));
        assert_eq!(columns.len(), 3, "films have no frames, and the web shows nothing");
    }
}
