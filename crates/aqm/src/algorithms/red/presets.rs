//! Named parameter sets: Table I of I. Järvinen, Y. Ding, A. Nyrhinen, M. Kojo, *Harsh RED:
//! Improving RED for Limited Aggregate Traffic* (AINA 2012).
//!
//! The sets are for links that carry one user or a few, EDGE and HSPA. Harsh RED has a heavy
//! weight, a low `min_th`, a large `max_p` and a `max_th` that slow start alone does not reach.

/// Names of the presets, in the order of Table I.
pub(super) const PRESETS: &[&str] = &["edge-red", "edge-hred", "hspa-red", "hspa-hred"];

/// A preset's values, for the parameters that the user did not write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Preset {
    pub min_th: f64,
    pub max_th: f64,
    pub w_q: f64,
    pub max_p: f64,
}

impl Preset {
    /// The preset called `name`.
    pub fn named(name: &str) -> Self {
        let (min_th, max_th, w_q, max_p) = match name {
            "edge-red" => (3.0, 9.0, 0.002, 0.1),
            "edge-hred" => (3.0, 40.0, 0.2, 0.65),
            "hspa-red" => (5.0, 20.0, 0.002, 0.1),
            "hspa-hred" => (3.0, 50.0, 0.02, 0.65),
            other => panic!("{other} passed the check of presets"),
        };
        Preset { min_th, max_th, w_q, max_p }
    }

    /// Buffer size in mean packets of 500 bytes. It holds twice `max_th` packets of 1500 bytes, so
    /// that it does not overflow before the average reaches `max_th`.
    pub fn limit(&self) -> u64 {
        6 * self.max_th as u64
    }
}
