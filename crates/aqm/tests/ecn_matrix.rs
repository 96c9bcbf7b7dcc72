//! What every discipline does to every ECN code point, in its normal zone, in its severe zone and
//! with a full buffer: one table, every cell of which is run with packets and compared with what
//! the discipline reports.
//!
//! RFC 3168: only ECN-capable packets are marked, a mark is never taken back, an overflow drops.

mod cells;

use std::collections::HashMap;

use aqmlab_aqm::{ALGORITHMS, Cx, Discipline, Entry, Line, find};
use packet::params::{Kind, Params, Raw};
use packet::{DropReason, Ecn, Event, Instant, Packet, Rate, Rng};

const LINE: Line = Line::of(Rate::from_bits_per_s(10_000_000));
const CODE_POINTS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];

struct Row {
    /// Name of the discipline.
    of: &'static str,
    /// Parameters of all three columns. If the discipline has `ecn` and it is not given here, the
    /// row is run with it on, as the cells say, and off, when every mark of a cell is a drop.
    with: &'static str,
    /// Parameters that hold the queue in its normal zone, and what happens to the packets that are
    /// signalled there.
    normal: (&'static str, Cell),
    /// Parameters that hold the queue in its severe zone, and what happens to the packets that are
    /// signalled there.
    severe: (&'static str, Cell),
    /// Parameters under which the buffer overflows.
    full: &'static str,
}

/// A letter each for packets that arrive as Not-ECT, ECT(0), ECT(1) and CE: `M` marked, `D`
/// dropped, `B` some marked and others dropped, `-` never signalled. Marking CE leaves it as it is.
type Cell = &'static str;

const fn row(
    of: &'static str,
    with: &'static str,
    normal: (&'static str, Cell),
    severe: (&'static str, Cell),
    full: &'static str,
) -> Row {
    Row { of, with, normal, severe, full }
}

/// The rows. Two words in them are no parameters: `gap`, the time between arrivals in microseconds
/// (700 unless given; the line sends a packet in 800), and `flows`, their number (50 unless given;
/// 0: each packet is a flow).
#[rustfmt::skip]
const MATRIX: &[Row] = &[
    row("droptail", "profile=normative", ("", "----"), ("", "----"), "limit=3"),
    row("droptail", "profile=ns2", ("", "----"), ("", "----"), "limit=3"),
    row("droptail", "from_front=true", ("", "----"), ("", "----"), "limit=3"),

    // RED drops where its signal is certain (RFC 3168, section 7), unless a switch says otherwise.
    row("red", "profile=fj93 w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("red", "profile=fj93 harddrop=false w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DMMM"), "limit=3 min_th=5 max_th=9"),
    // ns-2: from p_b = mark_p on the random test drops too, whatever the average.
    row("red", "profile=ns2 w_q=1",
        ("gap=790 min_th=1 max_th=60 limit=50 max_p=0.05", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("red", "profile=ns2 use_mark_p=false w_q=1",
        ("gap=790 min_th=1 max_th=60 limit=50 max_p=0.05", "DMMM"), ("min_th=1 max_th=1.5 gentle=false", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("red", "profile=ns2-fixed w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("red", "profile=ns3 w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5 gentle=false", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("red", "profile=altq w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60", "DMMM"), ("min_th=1 max_th=2 max_p=0.0000001", "DDDD"), "limit=3 min_th=5 max_th=9 w_q=0.0001220703125"),
    row("red", "profile=linux w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=2", "DMMM"), "limit=3 min_th=5 max_th=9"),
    row("red", "profile=linux ecn=true nodrop=true w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "-MMM"), ("min_th=1 max_th=2 limit=2000", "-MMM"), "limit=3 min_th=5 max_th=9"),
    row("red", "profile=linux harddrop=true w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=2 max_p=0.0000001", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("ared", "profile=floyd w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("ared", "profile=floyd ecn_above_max=mark_always w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DMMM"), "limit=3 min_th=5 max_th=9"),
    row("ared", "profile=ns2 w_q=1 top=0.05 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("ared", "profile=ns3 w_q=1 max_p=0.05 gentle=false",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("ared", "profile=altq w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("ared", "profile=linux w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=2", "DMMM"), "limit=3 min_th=5 max_th=9"),
    row("feng_red", "profile=fj93 w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("feng_red", "profile=ns2 gentle=false w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("feng_red", "profile=ns3 gentle=false w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("nlred", "profile=fj93 w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("nlred", "profile=ns3 gentle=false w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("dsred", "w_q=1",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("wred", "n=1",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("gred", "w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=2", "DMMM"), "limit=3 min_th=5 max_th=9"),
    row("gred", "harddrop=true w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=2 max_p=0.0000001", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("rio", "profile=paper w_q=1",
        ("in_min_th=1 in_max_th=60 out_min_th=1 out_max_th=60", "DMMM"),
        ("in_min_th=1 in_max_th=1.5 out_min_th=1 out_max_th=1.5", "DDDD"), "limit=3"),
    row("rio", "profile=ns2 w_q=1",
        ("in_min_th=1 in_max_th=60 out_min_th=1 out_max_th=60", "DMMM"),
        ("in_min_th=1 in_max_th=1.5 out_min_th=1 out_max_th=1.5", "DDDD"), "limit=3"),
    row("rio", "profile=altq w_q=0.5 ecn=false",
        ("in_min_th=1 in_max_th=70 medium_min_th=1 medium_max_th=70 out_min_th=1 out_max_th=70", "DDDD"),
        ("in_min_th=1 in_max_th=2 medium_min_th=1 medium_max_th=2 out_min_th=1 out_max_th=2", "DDDD"), "limit=3"),
    row("rio_ps", "w_q=1",
        ("gap=790 in_min_th=1 in_max_th=60 out_min_th=1 out_max_th=60", "DMMM"),
        ("in_min_th=1 in_max_th=1.5 out_min_th=1 out_max_th=1.5", "DDDD"), "limit=3"),
    row("avq", "profile=paper", ("", "DMMM"), ("alpha=10", "DMMM"), "limit=3"),
    row("avq", "profile=ns2", ("", "DMMM"), ("alpha=10", "DMMM"), "limit=3"),
    row("dctcp_step", "not_ect=pass", ("K=20 limit=50", "-MMM"), ("K=1 limit=50", "-MMM"), "limit=3"),
    row("dctcp_step", "not_ect=drop", ("K=20 limit=50", "DMMM"), ("K=1 limit=50", "DMMM"), "limit=3"),

    // Controllers of the queue length mark ECN-capable packets at every load.
    row("pi", "", ("a=0.002 b=0.0018", "DMMM"), ("q_ref=0 a=0.5 b=0.1", "DMMM"), "limit=3"),
    row("rem", "profile=standard", ("", "DMMM"), ("phi=10 gamma=1 b_star=0", "DMMM"), "limit=3"),
    row("rem", "profile=ns2 ecn=true", ("limit=60", "-MMM"), ("limit=60 phi=10 gamma=1", "-MMM"), "limit=4"),
    row("rem", "profile=ns2 ecn=false", ("limit=60", "DDDD"), ("limit=60 phi=10 gamma=1", "DDDD"), "limit=4"),
    row("blue", "profile=standard", ("limit=20", "DMMM"), ("limit=20 d1=0.2 d2=0.01 freeze_time=20ms", "DMMM"), "limit=3"),
    row("blue", "profile=altq", ("limit=20", "DMMM"), ("limit=5", "DMMM"), "limit=3 freeze_time=1000s"),
    row("dcn", "threshold=3 interval=100s a=0.002 b=0.0018", ("", "DDDD"), ("q_ref=0", "DDDD"), "limit=3"),
    row("afd", "", ("", "DMMM"), ("m_fair_min=0.01 q_target=0", "DMMM"), "limit=3"),

    row("green", "", ("delta_P=0.01", "DMMM"), ("target=0.1 delta_P=1", "DMMM"), "limit=3 target=2"),

    // Algorithms that act on the sojourn time.
    row("codel", "profile=rfc8289", ("", "DMMM"), ("interval=1ms target=0s limit=2000", "DMMM"), "limit=3"),
    row("codel", "profile=linux", ("", "DMMM"), ("interval=1ms target=0s limit=2000", "DMMM"), "limit=3"),
    row("codel", "profile=linux-6.12", ("", "DMMM"), ("interval=1ms target=0s limit=2000", "DMMM"), "limit=3"),
    row("codel", "profile=ns3", ("", "DMMM"), ("interval=1ms target=0s limit=2000", "DMMM"), "limit=3"),
    row("codel", "profile=ns2 ecn=false", ("", "DDDD"), ("interval=1ms target=0s limit=2000", "DDDD"), "limit=3"),
    // ce_threshold marks in addition to CoDel's signals, which drop without ecn.
    row("codel", "profile=linux ecn=false ce_threshold=1ms", ("", "DBBB"), ("interval=1ms", "DBBB"), "limit=3"),
    row("cobalt", "profile=ns3 ecn=true", ("p_inc=0 blue_threshold=100s", "DMMM"), ("p_inc=0.01 limit=20", "DBBB"), "limit=3"),
    row("cobalt", "profile=linux", ("p_inc=0", "DMMM"), ("p_inc=0.01 limit=20", "DBBB"), "limit=3"),

    row("sfq", "profile=paper", ("", "----"), ("", "----"), "limit=3"),
    row("sfq", "profile=linux", ("", "----"), ("", "----"), "limit=3"),
    row("sfq", "profile=linux queues=1 red_ecn=true red_w_q=0.5 red_max_p=0.05",
        ("gap=790 red_min_th=1 red_max_th=60 limit=50", "DMMM"), ("red_min_th=1 red_max_th=2", "DMMM"), "limit=3 red_min_th=5 red_max_th=9"),
    row("sfq", "profile=linux queues=1 red_ecn=true red_harddrop=true red_w_q=0.5 red_max_p=0.05",
        ("gap=790 red_min_th=1 red_max_th=60 limit=50", "DMMM"), ("red_min_th=1 red_max_th=2 red_max_p=0.0000001", "DDDD"), "limit=3 red_min_th=5 red_max_th=9"),
    row("drr", "", ("", "----"), ("", "----"), "limit=3"),
    // CAKE: each overflow raises its queue's drop probability, which ignores ECN.
    row("cake", "flows=4", ("", "DMMM"), ("gap=400 memory_limit=60000", "DBBB"), "memory_limit=3000 target=10s interval=100s"),
    row("hhf", "", ("", "----"), ("admit_bytes=1000", "----"), "limit=3"),
    row("fq_codel", "profile=rfc8290", ("", "DMMM"), ("interval=1ms target=0s", "DMMM"), "limit=3"),
    row("fq_codel", "profile=linux", ("", "DMMM"), ("interval=1ms target=0s", "DMMM"), "limit=3"),
    row("fq_codel", "profile=linux-6.12", ("", "DMMM"), ("interval=1ms target=0s", "DMMM"), "limit=3"),
    row("fq_codel", "profile=ns3", ("", "DMMM"), ("interval=1ms target=0s", "DMMM"), "limit=3"),
    row("fq_pie", "profile=rfc8033 ecn=true", ("flows=3 gap=790 mark_ecnth=1", "DMMM"), ("mark_ecnth=0", "DDDD"), "limit=3"),
    row("fq_pie", "profile=rfc8033 ecn=false", ("", "DDDD"), ("gap=400", "DDDD"), "limit=3"),
    row("fq_pie", "profile=linux ecn=true", ("flows=3 gap=790 mark_ecnth=1", "DMMM"), ("mark_ecnth=0", "DDDD"), "limit=3"),
    row("fq_pie", "profile=linux ecn=false", ("", "DDDD"), ("gap=400", "DDDD"), "limit=3"),

    // CHOKe: a match drops both packets; RED decides on packets without a match.
    row("choke", "profile=paper flows=0 w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DMMM"), "limit=3 min_th=5 max_th=9"),
    row("choke", "profile=paper flows=0 harddrop=true w_q=1 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("choke", "profile=linux flows=0 w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=2", "DMMM"), "limit=3 min_th=5 max_th=9"),
    row("choke", "profile=linux flows=0 harddrop=true w_q=0.5 max_p=0.05",
        ("gap=790 min_th=1 max_th=60 limit=50", "DMMM"), ("min_th=1 max_th=2 max_p=0.0000001", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("choke", "w_q=1 max_p=0.05 flows=10",
        ("min_th=1 max_th=60 limit=50", "DBBB"), ("min_th=1 max_th=1.5", "DBBB"), "limit=3 min_th=5 max_th=9"),
    row("csfq", "", ("flows=4 congested_from=0", "DDDD"), ("gap=300 flows=4 congested_from=0", "DDDD"), "limit=3"),
    // RED-PD has a filter before RED, which drops whatever the ECN field.
    row("red_pd", "inner=fj93 gentle=false flows=0 w_q=1",
        ("gap=790 min_th=1 max_th=60 limit=50 max_p=0.05", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("red_pd", "inner=ns2 gentle=false flows=0 w_q=1",
        ("gap=790 min_th=1 max_th=60 limit=50 max_p=0.05", "DMMM"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 min_th=5 max_th=9"),
    row("red_pd", "flows=4 w_q=1",
        ("min_th=1 max_th=60 limit=50 max_p=0.05", "DBBB"), ("min_th=1 max_th=1.5 gentle=false", "DDDD"), "limit=3 min_th=5 max_th=9"),
    // SFB drops some packets above p = 1/2. At p = 1 the penalty box begins, which has a large rate
    // in two rows and none in the others.
    row("sfb", "profile=lab", ("gap=790 d1=0.0003 max=1000", "DMMM"), ("gap=600 max=1000 penalty_rate=1e9 penalty_burst=1000000000", "DBBB"), "limit=3"),
    row("sfb", "profile=linux", ("gap=790 d1=0.0003 max=1000", "DMMM"), ("gap=600 max=1000 penalty_rate=1e9 penalty_burst=1000000000", "DBBB"), "limit=3"),
    row("sfb", "profile=lab penalty_rate=0 penalty_burst=0", ("gap=790 d1=0.0003 max=1000", "DMMM"), ("d1=1 d2=1e-17", "DDDD"), "limit=3"),
    row("sfb", "profile=paper penalty_rate=0 penalty_burst=0", ("gap=790 d1=0.0003 max=1000", "DMMM"), ("d1=1 d2=1e-17", "DDDD"), "limit=3"),
    row("fred", "w_q=1", ("", "DDDD"), ("min_th=1 max_th=1.5", "DDDD"), "limit=3 flows=0 min_th=50 max_th=90"),
    row("sred", "", ("", "DMMM"), ("many_flows=10", "DMMM"), "limit=3"),
    row("bred", "", ("flows=4", "DDDD"), ("flows=4 p1_divisor=1", "DDDD"), "limit=3"),

    // Controllers of the queueing delay. PIE drops from mark_ecnth on, 10 % unless given.
    row("pie", "profile=rfc8033 ecn=true", ("flows=3 gap=790 mark_ecnth=1", "DMMM"), ("mark_ecnth=0", "DDDD"), "limit=3"),
    row("pie", "profile=rfc8033 ecn=false", ("", "DDDD"), ("gap=400", "DDDD"), "limit=3"),
    row("pie", "profile=linux ecn=true", ("mark_ecnth=1", "DMMM"), ("mark_ecnth=0", "DDDD"), "limit=3"),
    row("pie", "profile=linux ecn=false", ("", "DDDD"), ("gap=400", "DDDD"), "limit=3"),
    row("pie", "profile=docsis ecn=false", ("", "DDDD"), ("gap=400", "DDDD"), "limit=3"),
    row("pi2", "", ("", "DMMM"), ("gap=400 limit=200", "DMMM"), "limit=3"),
    // DualPI2 is overloaded from k p' = 1 on: both queues drop, and what the scalable one sends is
    // marked.
    row("dualpi2", "profile=rfc9332", ("k=0.1", "DMMM"), ("gap=300", "DDBB"), "limit=3"),
    row("dualpi2", "profile=linux", ("k=0.1", "DMMM"), ("gap=300", "DDBB"), "limit=3"),
    // Curvy RED has no overload protection: only a full buffer drops scalable packets.
    row("curvy_red", "", ("", "DMMM"), ("range_C=1us g_C=0", "DMMM"), "limit=3"),

    // The classic queue drops and the low-latency one marks. A packet that queue protection
    // redirects to the classic queue may be dropped.
    row("docsis_lld", "", ("gap=500 protection=false max_burst=0s", "DDMM"), ("gap=300 max_burst=0s", "DDBB"), "limit_bytes=3000 low_limit_bytes=4000"),
];

/// What happened to the signalled packets of one code point.
#[derive(Clone, Copy, Default)]
struct Fate {
    marked: bool,
    dropped: bool,
    overflowed: bool,
}

impl Fate {
    fn letter(self) -> char {
        match (self.marked, self.dropped) {
            (true, true) => 'B',
            (true, false) => 'M',
            (false, true) => 'D',
            (false, false) => '-',
        }
    }
}

/// The parameters in `words`, and the values of `gap` and `flows`.
fn read(words: &str) -> (Vec<(String, Raw)>, u64, u64) {
    let (mut raw, mut gap, mut flows) = (Vec::<(String, Raw)>::new(), 700, 50);
    for word in words.split_whitespace() {
        let (name, value) = word.split_once('=').expect("name=value");
        let value = match value {
            "true" | "false" => Raw::Bool(value == "true"),
            _ => Raw::Text(value.to_string()),
        };
        match (name, &value) {
            ("gap", Raw::Text(us)) => gap = us.parse().unwrap(),
            ("flows", Raw::Text(n)) => flows = n.parse().unwrap(),
            _ => {
                raw.retain(|(other, _)| other != name); // a column overrides its row
                raw.push((name.to_string(), value));
            }
        }
    }
    (raw, gap, flows)
}

fn build(entry: &Entry, raw: &[(String, Raw)]) -> Box<dyn Discipline> {
    let params = Params::check(entry.about.fields, raw);
    let built = params.and_then(|params| (entry.build)(&params, &LINE));
    built.unwrap_or_else(|why| panic!("{} {raw:?}: {why}", entry.about.name)).into_discipline()
}

/// A run of a queue, with the packets that must wait in it.
struct Run {
    queue: Box<dyn Discipline>,
    rng: Rng,
    /// Waiting packets by handle: the index of the code point at arrival, and the code point as
    /// reported since.
    waiting: HashMap<u32, (usize, Ecn)>,
    fates: [Fate; 4],
}

impl Run {
    fn new(queue: Box<dyn Discipline>) -> Self {
        let (rng, waiting) = (Rng::named(1, "ecn matrix"), HashMap::new());
        Run { queue, rng, waiting, fates: Default::default() }
    }

    fn call(
        &mut self,
        now: u64,
        act: impl FnOnce(&mut dyn Discipline, &mut Cx) -> Option<Packet>,
    ) -> Option<Packet> {
        let mut events = Vec::new();
        let mut out = |event| events.push(event);
        let now = Instant::from_nanos(now);
        let sent = act(&mut *self.queue, &mut Cx { now, rng: &mut self.rng, out: &mut out });
        for event in events {
            self.note(event);
        }
        let sent = sent?;
        let (came, known) = self.waiting.remove(&sent.id).expect("it waited");
        assert_eq!(sent.ecn, known, "a packet that came as {:?}", CODE_POINTS[came]);
        Some(sent)
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Queued { .. } => {}
            Event::Marked { id, why } => {
                let (came, known) = self.waiting.get_mut(&id).expect("it waits");
                assert_ne!(*known, Ecn::NotEct, "only ECN-capable packets are marked");
                assert_ne!(why, DropReason::Overflow, "an overflow drops");
                *known = Ecn::Ce;
                self.fates[*came].marked = true;
            }
            Event::Dropped { packet, why } => {
                let (came, _) = self.waiting.remove(&packet.id).expect("it waited");
                let fate = &mut self.fates[came];
                match why {
                    DropReason::Overflow => fate.overflowed = true,
                    DropReason::Early | DropReason::Forced | DropReason::AckFiltered => {
                        fate.dropped = true
                    }
                }
            }
        }
    }

    fn tick(&mut self, until: u64) {
        while let Some(due) = self.queue.next_tick().filter(|due| due.nanos() <= until) {
            self.call(due.nanos(), |queue, cx| {
                queue.on_tick(cx);
                None
            });
        }
    }
}

/// What happens to 20 000 packets, after 20 000 others that bring the queue to its steady state;
/// and the largest backlog in packets.
fn drive(entry: &Entry, words: &str) -> ([Fate; 4], u32) {
    let (raw, gap, flows) = read(words);
    let mut run = Run::new(build(entry, &raw));
    let mut draw = Rng::named(2, "ecn matrix");
    let (mut free, mut most) = (0, 0);
    for id in 0..40_000 {
        if id == 20_000 {
            run.fates = Default::default();
        }
        let now = (u64::from(id) + 1) * gap * 1000;
        while free <= now {
            run.tick(free);
            run.call(free, |queue, cx| queue.dequeue(cx));
            free += 800_000;
        }
        run.tick(now);
        let came = draw.below(4) as usize;
        let flow = if flows == 0 { u64::from(id) } else { draw.below(flows) };
        let (ecn, arrived) = (CODE_POINTS[came], Instant::from_nanos(now));
        run.waiting.insert(id, (came, ecn));
        let packet = Packet { id, flow, bytes: 1000, ecn, arrived, header: Default::default() };
        run.call(now, |queue, cx| {
            queue.enqueue(packet, cx);
            None
        });
        most = most.max(run.queue.backlog().packets);
    }
    (run.fates, most)
}

fn letters(fates: [Fate; 4]) -> String {
    fates.map(Fate::letter).iter().collect()
}

/// Parameters with which a row is run, and whether its cells hold as written: with `ecn` on and off
/// if that is left open.
fn switched(entry: &Entry, row: &Row) -> Vec<(String, bool)> {
    let has = entry.about.fields.iter().any(|f| f.name == "ecn" && matches!(f.kind, Kind::Switch));
    if !has || row.with.contains("ecn=") {
        return vec![(row.with.to_string(), true)];
    }
    [true, false].map(|on| (format!("{} ecn={on}", row.with), on)).to_vec()
}
