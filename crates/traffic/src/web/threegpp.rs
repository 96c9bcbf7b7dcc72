//! The web-browsing model of the 3GPP2 and WiMAX evaluation methodologies, as in ns-3.

use std::sync::Arc;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration, math};

use super::fields::always;
use super::{Persistence, UserModel, fields};
use crate::distribution::{
    Affine, Capped, Distribution, Exponential, LogNormal, Pareto, Truncated,
};
use crate::entry::{Entry, Group, Population, USERS};
use crate::models::{Model, Variable};

/// One persistent connection that is never closed for idleness.
const PERSISTENCE: Persistence =
    Persistence { parallel: 1, idle: Duration::ZERO, ..Persistence::HTTP11 };

/// Values of `of` from `low` up to `high`; others are drawn again.
fn kept(of: impl Distribution + 'static, low: f64, high: f64) -> Arc<dyn Distribution> {
    Arc::new(Truncated::new(Arc::new(of), low, high).expect("a range with values"))
}

/// Size of the main object, bytes: log-normal of mean 10,710 and standard deviation 25,032, kept
/// in 100 B to 2 MB.
pub fn main_object() -> Arc<dyn Distribution> {
    kept(LogNormal::with_mean(10_710.0, 25_032.0), 100.0, 2e6)
}

/// Size of an embedded object, bytes: log-normal of mean 7,758 and standard deviation 126,168,
/// kept in 50 B to 2 MB.
pub fn embedded_object() -> Arc<dyn Distribution> {
    kept(LogNormal::with_mean(7_758.0, 126_168.0), 50.0, 2e6)
}

/// Files of a page by the standard's table: the main object and a Pareto value minus 2, where
/// values above 55 are replaced by 55, so that 5.64 objects are embedded on average and 53 at most.
/// The values are not rounded yet; the standard does not mention rounding.
pub fn files() -> Arc<dyn Distribution> {
    let inner = Arc::new(Pareto { min: 2.0, shape: 1.1 });
    Arc::new(Affine { inner: Arc::new(Capped { inner, most: 55.0 }), times: 1.0, plus: -1.0 })
}

/// Files of a page in ns-3: the main object and the whole part of a Pareto value, drawn again from
/// 55 on, minus 2. That makes 3.92 embedded objects, not 5.64.
pub fn files_of_ns3() -> Arc<dyn Distribution> {
    // The number of files is 1 + floor(p) - 2. It is rounded to the nearest number later, so that
    // it is written as p - 1.5.
    Arc::new(Affine {
        inner: kept(Pareto { min: 2.0, shape: 1.1 }, 2.0, 55.0),
        times: 1.0,
        plus: -1.5,
    })
}

/// Number of embedded objects of a page: the drawn number of [`files`], rounded, without the main
/// object.
pub fn embedded_count(drawn_files: f64) -> f64 {
    math::floor(drawn_files + 0.5) - 1.0
}

pub(super) fn model(servers: u32) -> UserModel {
    UserModel {
        request: always(328.0),
        reply: main_object(),
        embedded: Some(embedded_object()),
        files: files(),
        pages: always(1e6),
        think: Arc::new(Exponential { mean: 30.0 }),
        parse: Some(Arc::new(Exponential { mean: 0.13 })),
        persistence: Some(PERSISTENCE),
        ..UserModel::plain(servers)
    }
}

/// The parameter for the number of objects that a page embeds.
const EMBEDDED_OBJECTS: Field = Field::new(
    "embedded_objects",
    Kind::Choice(&["standard", "ns3"]),
    Value::Choice("standard"),
)
.meaning(
    "How many objects a page embeds unless files is given: standard (Pareto values above 55 are put \
     at 55: 5.64 on average, 53 at most) or ns3 (they are drawn again, and the rest is cut to whole \
     numbers: 3.92).",
)
.source("recalled: table of the 3GPP2 and IEEE 802.16m methodologies; read: ns-3 GetNumOfEmbeddedObjects");

const FIELDS: &[Field] = &{
    let mut all = [EMBEDDED_OBJECTS; fields::ALL.len() + 1];
    let mut i = 0;
    while i < fields::ALL.len() {
        all[i + 1] = fields::ALL[i];
        i += 1;
    }
    all
};

/// The registry's entry for users of the 3GPP2 and WiMAX model.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "threegpp-http",
        summary: "Users who read a page for 30 s on average and fetch all of it over one connection.",
        year: 2009,
        source: "3GPP2 C.R1002 and IEEE 802.16m evaluation methodologies (tables recalled); read: ns-3, \
                 ThreeGppHttpVariables",
        deviations: "Embedded objects are rounded to whole ones. The segment size is the TCP profile's (ns-3 uses 536 B for 24 % of the users). Sizes \
                     are rounded, not cut to whole bytes. The connection stays open for ever, as ns-3's \
                     does while its server lives.",
        fields: FIELDS,
    },
    noun: USERS,
    fetches: true,
    datagrams: false,
    build,
};

fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    let mut model = model(group.peers);
    if params.choice("embedded_objects") == "ns3" {
        model.files = files_of_ns3();
    }
    fields::users(model, params, &PERSISTENCE, group)
}

/// The model's name, and the distributions of its variables, which `describe` shows.
pub const MODEL: Model = Model { name: "3gpp", app: "threegpp-http", variables };

fn variables() -> Vec<Variable> {
    vec![
        Variable::new("main object size", Unit::Bytes, main_object()),
        Variable::new("embedded object size", Unit::Bytes, embedded_object()),
        Variable::new("files per page (rounded)", Unit::Count, files()),
        Variable::new("reading time", Unit::Time, Arc::new(Exponential { mean: 30.0 })),
        Variable::new("parsing time", Unit::Time, Arc::new(Exponential { mean: 0.13 })),
    ]
}
