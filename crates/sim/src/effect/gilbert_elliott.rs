//! Loss in bursts: the model of Gilbert and Elliott, as netem's `loss gemodel` runs it.
//!
//! A link is good or bad. With each packet it turns bad with probability `p` if it was good, and good
//! with probability `r` if it was bad; the packet is lost with the probability of the state that the
//! link had before.

use packet::params::{Field, Value};
use packet::{About, Rng};

use super::{Built, Effect, Entry, Fate, Given, Passing, SHARE};

pub(super) const ENTRY: Entry = Entry {
    about: About {
        name: "gilbert-elliott",
        summary: "Loses packets in bursts: a link that is good or bad, with a probability of loss in each.",
        year: 1963,
        source: "Gilbert, BSTJ 39 (1960); Elliott, BSTJ 42 (1963); tc-netem(8), loss gemodel p r 1-h 1-k",
        deviations: "None from netem: the state changes first, the loss is that of the state before \
                     (sch_netem.c, loss_gilb_ell). A link begins good.",
        fields: FIELDS,
    },
    tables: &[],
    acts: "behind the line",
    discarded: false,
    build: |given| Ok(Built::Exit(Box::new(GilbertElliott::new(given)))),
};

const FIELDS: &[Field] = &[
    Field::new("p", SHARE, Value::Real(0.01))
        .meaning("Probability with each packet that a good link turns bad.")
        .source("constructed"),
    Field::new("r", SHARE, Value::Real(0.3))
        .meaning("Probability with each packet that a bad link turns good.")
        .source("constructed"),
    Field::new("loss_bad", SHARE, Value::Real(1.0))
        .meaning("Probability of loss while the link is bad (netem's 1-h).")
        .source("tc-netem(8): 1-h is 100 % unless given"),
    Field::new("loss_good", SHARE, Value::Real(0.0))
        .meaning("Probability of loss while the link is good (netem's 1-k).")
        .source("tc-netem(8): 1-k is 0 unless given"),
];

struct GilbertElliott {
    p: f64,
    r: f64,
    loss: [f64; 2],
    bad: bool,
}

impl GilbertElliott {
    fn new(given: &Given) -> Self {
        let [p, r, good, bad] =
            ["p", "r", "loss_good", "loss_bad"].map(|name| given.params.real(name));
        GilbertElliott { p, r, loss: [good, bad], bad: false }
    }
}

impl Effect for GilbertElliott {
    fn pass(&mut self, packet: &mut Passing, rng: &mut Rng) {
        let loss = self.loss[usize::from(self.bad)];
        let turns = if self.bad { self.r } else { self.p };
        self.bad ^= rng.uniform() < turns;
        if rng.uniform() < loss {
            packet.fate = Fate::Lost;
        }
    }
}
