//! The state behind the exported functions: checks scenarios, and advances and observes one run.

use std::sync::{Arc, Mutex};

use packet::{Duration, Instant};
use plugin::control::module::{self, Host};
use serde_json::{Value as Json, json};
use sim::{Capture, CapturedAt, Run, Scenario};
use tcp::{Controls, OwnControl};

/// An answer: a text, or one sentence on what is wrong.
pub type Answer = Result<String, String>;

/// Longest scenario that is read, in bytes.
const MOST_TEXT: usize = 4 << 20;
/// Most memory that a scenario may need, in bytes: a module with 32-bit addresses has 4 GiB, a
/// browser tab rarely more than 1 GiB.
const MOST_BYTES: u64 = 1 << 30;
/// Least simulated time of a step, after which the number of events served is checked.
const LEAST_STEP: Duration = Duration::from_micros(100);

/// At most one run at a time, its observations, and the user's own congestion controls.
#[derive(Default)]
pub struct Lab {
    run: Option<Run>,
    rows: Vec<f64>,
    captured: Arc<Mutex<Vec<u8>>>,
    /// The user's own congestion controls.
    own: Vec<&'static OwnControl>,
    /// All congestion controls that a scenario may name, the user's own included.
    controls: Controls,
    /// Current length of a step in simulated nanoseconds, adapted to the number of events in it.
    stride: u64,
}

fn scenario(text: &str, controls: &Controls) -> Result<Scenario, String> {
    if text.len() > MOST_TEXT {
        return Err(format!(
            "the scenario has {} bytes, more than {MOST_TEXT}: leave recorded traffic to `aqmlab run`",
            text.len()
        ));
    }
    let scenario =
        Scenario::read_with(text, &aqm::Registry::ours(), controls).map_err(|why| why.0)?;
    let bytes = scenario.least_bytes();
    if bytes > MOST_BYTES {
        return Err(format!(
            "the run takes at least {} MiB of memory, more than a tab's {} MiB: shorten it, or leave it to `aqmlab run`",
            bytes >> 20,
            MOST_BYTES >> 20,
        ));
    }
    Ok(scenario)
}

impl Lab {
    /// The simulator's version and build (a hash of its sources) as JSON.
    pub fn version() -> String {
        json!({"version": env!("CARGO_PKG_VERSION"), "build": env!("AQMLAB_BUILD")}).to_string()
    }

    /// All queue disciplines, TCP profiles, congestion controls and applications, and the sections
    /// of a scenario with their fields, as JSON.
    pub fn catalogue(&self) -> String {
        let mut all = sim::catalogue();
        for own in &self.own {
            let add = |list: &mut Json, entry| list.as_array_mut().map(|list| list.push(entry));
            add(&mut all["congestion"], sim::congestion_control(&own.about));
            let fields = all["tcp"].as_array_mut().into_iter().flatten();
            for field in
                fields.flat_map(|profile| profile["fields"].as_array_mut().into_iter().flatten())
            {
                if field["name"] == "congestion" {
                    add(&mut field["choices"], own.about.name.into());
                }
            }
        }
        all.to_string()
    }

    /// Adds the user's own congestion control that `host` gives access to, or replaces an older one
    /// of its name. Returns its name.
    ///
    /// # Errors
    /// A sentence on what is wrong with the control.
    pub fn add(&mut self, host: impl Host) -> Answer {
        let added = module::load(host)?;
        let name = added.about.name;
        let mut own = self.own.clone();
        own.retain(|older| older.about.name != name);
        own.push(added);
        self.controls = Controls::with(&own).map_err(|name| {
            format!("there is a congestion control {name} already: give it another name")
        })?;
        self.own = own;
        Ok(name.to_owned())
    }

    /// Discards the run, if there is one.
    pub fn leave(&mut self) {
        self.run = None;
    }

    /// The scenario (JSON) with every default filled in.
    ///
    /// # Errors
    /// A sentence that names the field, the value and the remedy.
    pub fn check(&self, text: &str) -> Answer {
        let scenario = scenario(text, &self.controls)?;
        scenario.check_parameters().map_err(|why| why.0)?;
        Ok(scenario.to_json().to_string())
    }

    /// Number of users for the offered load of a group, and bytes/s that each requests: `{"users",
    /// "bytes_per_user_s"}`. Null if no group has a load, or the bytes are unknown.
    ///
    /// # Errors
    /// As [`Lab::check`].
    pub fn users(&self, text: &str) -> Answer {
        let scenario = scenario(text, &self.controls)?;
        let each = sim::estimate(&scenario).map_err(|why| why.0)?;
        let group = scenario.traffic.iter().find(|group| group.params.given("load"));
        let (Some(each), Some(group)) = (each, group) else { return Ok("null".to_owned()) };
        let (_, line) = sim::capacities(&scenario).swap_remove(0);
        let users = (group.params.real("load") * line / 8.0 / each).round().max(1.0);
        Ok(json!({"users": users as u64, "bytes_per_user_s": each}).to_string())
    }

    /// Sets up a run with observations for [`Lab::look`], in bins of `bin_s` simulated seconds.
    ///
    /// # Errors
    /// As [`Lab::check`].
    pub fn start(&mut self, text: &str, bin_s: f64) -> Answer {
        self.leave(); // frees the memory of the previous run first
        let bin = Duration::from_secs_f64(bin_s.clamp(1e-4, 3_600.0));
        self.begin(Run::watched_bounded(scenario(text, &self.controls)?, bin).map_err(|why| why.0)?)
    }

    /// Sets up a run without observations, as the command line does.
    ///
    /// # Errors
    /// As [`Lab::check`].
    pub fn start_unwatched(&mut self, text: &str) -> Answer {
        self.leave();
        self.begin(Run::new(scenario(text, &self.controls)?).map_err(|why| why.0)?)
    }

    /// Sets up a run that captures the packets of the first link, for Wireshark; see
    /// [`Lab::captured`].
    ///
    /// # Errors
    /// As [`Lab::check`].
    pub fn start_capture(&mut self, text: &str) -> Answer {
        self.leave();
        let captured = Arc::clone(&self.captured);
        let sink = move |bytes: &[u8]| {
            captured.lock().expect("nobody panics while holding it").extend(bytes);
        };
        let at = CapturedAt::Departure;
        let capture = Capture { ports: Vec::new(), at, sink: Box::new(sink) };
        self.begin(Run::capturing(scenario(text, &self.controls)?, capture).map_err(|why| why.0)?)
    }

    fn begin(&mut self, run: Run) -> Answer {
        self.stride = LEAST_STEP.nanos();
        self.run = Some(run);
        Ok(String::new())
    }

    /// Advances the run to `until_s`, or until about `events` more events were served. Returns the
    /// time that it has reached, in seconds; NaN without a run.
    pub fn step(&mut self, until_s: f64, events: f64) -> f64 {
        let Some(run) = &mut self.run else { return f64::NAN };
        let until = Instant::ZERO + Duration::from_secs_f64(until_s.clamp(0.0, 1e9));
        let until = until.min(run.end());
        let before = run.events();
        while run.now() < until {
            run.advance(until.min(run.now() + Duration::from_nanos(self.stride)));
            let served = (run.events() - before) as f64;
            if served >= events {
                self.stride = (self.stride / 2).max(LEAST_STEP.nanos());
                break;
            }
            if served < events / 16.0 {
                self.stride = (self.stride * 2).min(1_000_000_000);
            }
        }
        run.now().secs_f64()
    }

    /// Observations since the last call of this function, as JSON.
    ///
    /// # Errors
    /// A sentence, if there is no run.
    pub fn look(&mut self) -> Answer {
        Ok(self.run.as_mut().ok_or(NO_RUN)?.snapshot().to_string())
    }

    /// Packet events since the last call of this function; see [`sim::PACKET_NUMBERS`] for the
    /// format.
    pub fn packets(&mut self) -> &[f64] {
        self.rows.clear();
        if let Some(run) = &mut self.run {
            run.packet_snapshot(&mut self.rows);
        }
        &self.rows
    }

    /// Turns the recording of packet events on or off.
    pub fn watch_packets(&mut self, on: bool) {
        if let Some(run) = &mut self.run {
            run.watch_packets(on);
        }
    }

    /// Takes the bytes of the capture that were written since the last call.
    pub fn captured(&mut self) -> Vec<u8> {
        std::mem::take(&mut *self.captured.lock().expect("nobody panics while holding it"))
    }

    /// Advances the run to its end. Returns its summary with the fingerprint, as JSON.
    ///
    /// # Errors
    /// A sentence, if there is no run.
    pub fn finish(&mut self) -> Answer {
        let mut run = self.run.take().ok_or(NO_RUN)?;
        run.advance(run.end());
        let summary: Json = sim::summary_json(&run.outcome().summary);
        Ok(summary.to_string())
    }
}

const NO_RUN: &str = "there is no run: start one first";

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"{"duration": "3 s", "link": [{"rate": "2 Mbit/s", "forward": {"aqm": "red"}}],
        "traffic": [{"app": "bulk", "flows": 3}]}"#;

    fn fingerprint(summary: &str) -> Json {
        serde_json::from_str::<Json>(summary).unwrap()["fingerprint"].clone()
    }

    #[test]
    fn a_run_in_steps_has_the_fingerprint_of_one_in_a_piece() {
        let mut lab = Lab::default();
        lab.start_unwatched(SCENARIO).unwrap();
        let whole = fingerprint(&lab.finish().unwrap());
        lab.start(SCENARIO, 0.01).unwrap();
        let mut seen = 0;
        while lab.step(3.0, 500.0) < 3.0 {
            lab.look().unwrap();
            seen += lab.packets().len();
        }
        assert!(seen > 0);
        assert_eq!(fingerprint(&lab.finish().unwrap()), whole);
    }

    #[test]
    fn what_is_wrong_is_said_in_one_sentence() {
        let wrong = SCENARIO.replace("2 Mbit/s", "2 apples");
        let why = Lab::default().check(&wrong).unwrap_err();
        assert!(why.starts_with("link.0.rate: "), "{why}");
        assert!(Lab::default().check(&" ".repeat(MOST_TEXT + 1)).unwrap_err().contains("bytes"));
        let long = SCENARIO.replace(r#""flows": 3"#, r#""flows": 9000000"#);
        let why = Lab::default().check(&long).unwrap_err();
        assert!(why.contains("MiB"), "{why}");
        assert_eq!(Lab::default().finish(), Err(NO_RUN.to_owned()));
        assert!(Lab::default().step(1.0, 1.0).is_nan());
    }

    #[test]
    fn a_load_is_answered_with_users() {
        let web = SCENARIO.replace(r#""app": "bulk", "flows": 3"#, r#""app": "web", "load": 0.9"#);
        let answer: Json = serde_json::from_str(&Lab::default().users(&web).unwrap()).unwrap();
        assert!(answer["users"].as_u64().unwrap() > 10, "{answer}");
        assert_eq!(Lab::default().users(SCENARIO).unwrap(), "null");
    }

    #[test]
    fn a_capture_begins_with_its_magic_number() {
        let mut lab = Lab::default();
        lab.start_capture(SCENARIO).unwrap();
        lab.step(1.0, f64::INFINITY);
        lab.finish().unwrap();
        let bytes = lab.captured();
        assert!(bytes.len() > 24 && bytes[..4] == [0x4d, 0x3c, 0xb2, 0xa1], "{:x?}", &bytes[..4]);
    }
}
