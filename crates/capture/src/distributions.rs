//! Distributions of sizes, times and counts over all connections.

use serde_json::{Value, json};

use crate::connection::Connection;
use crate::histogram::Histogram;
use crate::vector::Epoch;

/// Histograms in the first line of a model.
#[derive(Default)]
pub struct Distributions {
    request_bytes: Histogram,
    response_bytes: Histogram,
    think_us: Histogram,
    first_think_us: Histogram,
    delay_us: Histogram,
    epochs: Histogram,
    rtt_us: Histogram,
    duration_us: Histogram,
}

impl Distributions {
    /// Adds the round-trip time and the duration of a connection.
    pub fn add_connection(&mut self, connection: &Connection) {
        if let [Some(near), Some(far)] = connection.rtt_ns {
            self.rtt_us.add((near + far).max(0) as u64 / 1_000);
        }
        let lasted = (connection.last_ns - connection.start_ns).max(0);
        self.duration_us.add(lasted as u64 / 1_000);
    }

    pub fn json(&self) -> Value {
        json!({
            "request_bytes": histogram(&self.request_bytes),
            "response_bytes": histogram(&self.response_bytes),
            "think_us": histogram(&self.think_us),
            "first_think_us": histogram(&self.first_think_us),
            "delay_us": histogram(&self.delay_us),
            "epochs": histogram(&self.epochs),
            "rtt_us": histogram(&self.rtt_us),
            "duration_us": histogram(&self.duration_us),
        })
    }

    /// Adds the epochs of a sequential connection.
    pub fn add_epochs(&mut self, epochs: &[Epoch]) {
        self.epochs.add(epochs.len() as u64);
        for (index, epoch) in epochs.iter().enumerate() {
            if epoch.request > 0 {
                self.request_bytes.add(epoch.request);
                let think = if index == 0 { &mut self.first_think_us } else { &mut self.think_us };
                think.add(epoch.think_us);
            }
            if epoch.response > 0 {
                self.response_bytes.add(epoch.response);
                self.delay_us.add(epoch.delay_us);
            }
        }
    }
}

/// A histogram as JSON, in the form that `Learner::finish` describes.
fn histogram(of: &Histogram) -> Value {
    let buckets: Vec<[u64; 3]> = of.buckets().map(|(low, high, n)| [low, high, n]).collect();
    json!({ "n": of.n(), "mean": of.mean(), "buckets": buckets })
}
