//! ns-2's `webtraf`: sessions that arrive one after the other, fetch their pages and end.
//!
//! `webcache/webtraf.cc` and `tcl/webcache/webtraf.tcl` of ns-2 2.35, after A. Feldmann, A. C.
//! Gilbert, P. Huang and W. Willinger, *Dynamics of IP traffic*, SIGCOMM 1999 (from memory). The
//! program has no distributions of its own; those here are of its two example scripts.

mod session;

use std::sync::Arc;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, Rng};

use super::fields::{self, always};
use super::load;
use crate::distribution::{Affine, Constant, Distribution, Exponential, Lomax, read_or};
use crate::entry::{Entry, Group, Population, USERS};
use crate::models::{Model, Variable};

pub use session::Session;

/// The instant from which the pause between two pages is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapFrom {
    /// The end of the earlier page.
    End,
    /// The begin of the earlier page: pages may overlap.
    Start,
}

/// The model of the sessions of a group.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// Seconds from the begin of one session to that of the next.
    pub session_gap: Arc<dyn Distribution>,
    /// Number of pages of a session.
    pub pages: Arc<dyn Distribution>,
    /// Seconds between two pages.
    pub think: Arc<dyn Distribution>,
    /// The instant from which `think` is counted.
    pub gap_from: GapFrom,
    /// Number of objects of a page.
    pub files: Arc<dyn Distribution>,
    /// Seconds from the request for one object of a page to the next one's, whatever became of it.
    pub object_gap: Arc<dyn Distribution>,
    /// Size of an object, packets.
    pub packets: Arc<dyn Distribution>,
    /// Bytes of a packet of `packets`.
    pub packet: u32,
    /// Size of a request, bytes.
    pub request: Arc<dyn Distribution>,
    /// Number of machines that serve.
    pub servers: u32,
}

const NAMES: &[&str] = &["large-scale", "small"];

impl Sessions {
    /// The sessions of an example script of ns-2: `large-scale` is
    /// `tcl/ex/large-scale-web-traffic.tcl`, `small` is `tcl/ex/web-traffic.tcl`.
    pub fn of(model: &str, servers: u32) -> Self {
        let large = model == NAMES[0];
        let exponential = |mean: f64| -> Arc<dyn Distribution> { Arc::new(Exponential { mean }) };
        Sessions {
            session_gap: if large { exponential(1.0) } else { always(0.1) },
            pages: always(if large { 250.0 } else { 10.0 }),
            think: exponential(if large { 15.0 } else { 1.0 }),
            gap_from: GapFrom::End,
            files: always(1.0),
            object_gap: exponential(0.01),
            packets: Arc::new(object_packets(if large { 12.0 } else { 10.0 })),
            packet: 1_000,
            request: always(1_000.0),
            servers,
        }
    }

    /// Mean size of an object, bytes: of the whole packets that a drawn size is rounded up to.
    pub fn mean_object_bytes(&self) -> f64 {
        mean_rounded_up(self.packets.as_ref()) * f64::from(self.packet)
    }

    /// IP bytes per second, without framing, that one session causes towards its side on an
    /// uncongested network.
    fn ip_bytes_per_s(&self) -> f64 {
        let files = mean_rounded_up(self.files.as_ref());
        let packet = f64::from(self.packet);
        // Headers for the size that is not rounded, plus half a packet, which rounding adds on
        // average.
        let smooth = Affine { inner: Arc::clone(&self.packets), times: packet, plus: 0.5 * packet };
        let (segments, connection) = load::mean_headers(&smooth, 1.0);
        let page = files * (self.mean_object_bytes() + segments + connection);
        let lasts = (files - 1.0) * self.object_gap.mean() + load::PAGE_TIME;
        page / (self.think.mean() + if self.gap_from == GapFrom::End { lasts } else { 0.0 })
    }
}

/// Size of an object before it is rounded up, packets: ns-2's `RandomVariable/ParetoII` with this
/// mean and shape 1.2.
pub fn object_packets(mean: f64) -> Lomax {
    Lomax { scale: mean * 0.2, shape: 1.2 }
}

/// The mean of values rounded up to a whole number, at least 1: the sum over n of P(more than n),
/// whose far part is the integral and half the first term (Euler and Maclaurin).
pub fn mean_rounded_up(of: &dyn Distribution) -> f64 {
    const FAR: u32 = 4_096;
    let above = |n: u32| 1.0 - of.below(f64::from(n).next_up());
    let few: f64 = (1..FAR).map(above).sum();
    1.0 + few + 0.5 * above(FAR) + (of.mean() - of.capped_mean(f64::from(FAR)))
}

/// The registry's entry for sessions of ns-2's `webtraf`.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "webtraf",
        summary: "Sessions that arrive one after the other, fetch pages whose objects are requested in \
                  short intervals without waiting, and end.",
        year: 1999,
        source: "ns-2 2.35, webcache/webtraf.cc; distributions of its examples \
                 large-scale-web-traffic.tcl and web-traffic.tcl",
        deviations: "An object comes over one connection with handshake and close (ns-2: two one-way \
                     senders without). Sessions take client machines in turn (ns-2: at random), the \
                     first begins at once (ns-2: after 0.1 s). TCP's segments are the profile's, whatever \
                     the size of a packet here. Servers have no queue of requests.",
        fields: FIELDS,
    },
    noun: USERS,
    fetches: true,
    datagrams: false,
    build,
};

static FIELDS: &[Field] = &[
    Field::new("model", Kind::Choice(NAMES), Value::Choice("large-scale"))
        .meaning(
            "large-scale: sessions 1 s apart (exponential) with 250 pages, 15 s between pages \
                  (exponential), one object a page of 12 packets on average; small: sessions 0.1 s \
                  apart with 10 pages, 1 s between pages, objects of 10 packets.",
        )
        .source("read: ns-2's examples, which have 400 and 2 sessions"),
    Field {
        name: "session_gap",
        meaning: "From the begin of one session to that of the next; if not given, the model's.",
        ..fields::THINK
    },
    fields::PAGES.meaning("Pages of a session; if not given, the model's."),
    fields::THINK.meaning("Between two pages; if not given, the model's."),
    Field::new("page_gap_from", Kind::Choice(&["end", "start"]), Value::Choice("end"))
        .meaning(
            "From what the pause between two pages is counted: the end of the earlier one, or \
                  its start, so that pages may overlap.",
        )
        .source("read: ns-2, interPageOption_"),
    fields::FILES.meaning("Objects of a page, rounded up; if not given, the model's."),
    Field {
        name: "object_gap",
        meaning: "From the request for one object of a page to that for the next; if not given, \
                  exponential with mean 10 ms.",
        ..fields::THINK
    },
    Field {
        name: "packets",
        meaning: "Size of an object in packets, rounded up; if not given, the model's: Pareto's \
                  second distribution with shape 1.2.",
        ..fields::FILES
    },
    Field::new("packet", Kind::whole(Unit::Bytes, 1, 65_535), Value::Whole(1_000))
        .meaning("Bytes of such a packet.")
        .source("read: ns-2, webtraf.tcl counts 1000 B a packet"),
    fields::REQUEST.meaning("Size of a request; if not given, one packet."),
];

/// Builds the sessions of a group.
///
/// # Errors
/// If the other side has no machine that could serve, or a description is wrong.
fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    if group.peers == 0 {
        let why = "sessions fetch from the other side, but it has no machine; give it at least 1";
        return Err(BadParams::new("peers", why));
    }
    let model = Sessions::of(params.choice("model"), group.peers);
    let own = |name, unit, default: &Arc<dyn Distribution>| {
        read_or(params, name, unit, Arc::clone(default))
    };
    let packet = params.whole("packet") as u32;
    let one_packet: Arc<dyn Distribution> = Arc::new(Constant(f64::from(packet)));
    let start = params.choice("page_gap_from") == "start";
    let sessions = Sessions {
        session_gap: own("session_gap", Unit::Time, &model.session_gap)?,
        pages: own("pages", Unit::Count, &model.pages)?,
        think: own("think", Unit::Time, &model.think)?,
        gap_from: if start { GapFrom::Start } else { GapFrom::End },
        files: own("files", Unit::Count, &model.files)?,
        object_gap: own("object_gap", Unit::Time, &model.object_gap)?,
        packets: own("packets", Unit::Count, &model.packets)?,
        packet,
        request: own("request", Unit::Bytes, &one_packet)?,
        servers: group.peers,
    };
    let estimate = sessions.ip_bytes_per_s();
    let begins = begins(&sessions, group);
    let (sessions, seed, name) = (Arc::new(sessions), group.seed, group.name.clone());
    let session = move |i: u32| {
        Session::new(Arc::clone(&sessions), begins[i as usize], seed, &name, u64::from(i))
    };
    Ok(Population::new(group.sources, session).requesting(estimate))
}

/// The times at which the sessions of a group begin: the first at once, every other one a gap after
/// the one before.
fn begins(sessions: &Sessions, group: &Group) -> Vec<Duration> {
    let mut rng = Rng::named(group.seed, &format!("{}.session", group.name));
    let mut at = 0.0;
    let mut next = || {
        let begins = Duration::from_secs_f64(at);
        at += sessions.session_gap.sample(&mut rng);
        begins
    };
    (0..group.sources).map(|_| next()).collect()
}

/// The model's name, and the distributions of its variables, which `describe` shows.
pub const MODEL: Model = Model { name: "webtraf", app: "webtraf", variables };

fn variables() -> Vec<Variable> {
    let [large, small] = [NAMES[0], NAMES[1]].map(|name| Sessions::of(name, 1));
    vec![
        Variable::new("gap between sessions, large-scale", Unit::Time, large.session_gap),
        Variable::new("time between pages, large-scale", Unit::Time, large.think),
        Variable::new("time between pages, small", Unit::Time, small.think),
        Variable::new("time between objects", Unit::Time, large.object_gap),
        Variable::new("object size, large-scale (packets)", Unit::Count, large.packets),
        Variable::new("object size, small (packets)", Unit::Count, small.packets),
    ]
}
