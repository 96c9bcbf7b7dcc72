//! The C example, compiled and run, prints what the same run gives in Rust, without the C
//! interface; every discipline does through the queue of this crate what it does in a trial.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use aqm::{Cx, Discipline};
use packet::{DropReason, Ecn, Event, Instant, Packet, Rate, Rng};
use testvec::What;

const RATE: u64 = 10_000_000;
const DURATION: u64 = 20_000_000_000;
const MEAN_GAP: u64 = 645_333;

/// The example's random numbers.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(2_685_821_657_736_338_717) >> 32) % n
    }
}

/// The example's line in Rust, straight over a discipline.
struct Line {
    discipline: Box<dyn Discipline>,
    rng: Rng,
    free_at: Option<u64>,
    sent: (u64, u64),
    waited: (u64, u64),
    marked: u64,
    dropped: Vec<DropReason>,
}

impl Line {
    fn call<T>(&mut self, now: u64, ask: impl FnOnce(&mut dyn Discipline, &mut Cx) -> T) -> T {
        while let Some(due) = self.discipline.next_tick().filter(|due| due.nanos() <= now) {
            let mut out = |event| note(event, &mut self.marked, &mut self.dropped);
            self.discipline.on_tick(&mut Cx { now: due, rng: &mut self.rng, out: &mut out });
        }
        let mut out = |event| note(event, &mut self.marked, &mut self.dropped);
        let now = Instant::from_nanos(now);
        ask(&mut *self.discipline, &mut Cx { now, rng: &mut self.rng, out: &mut out })
    }

    fn send(&mut self, until: u64) {
        while let Some(now) = self.free_at.filter(|at| *at <= until) {
            let Some(packet) = self.call(now, |d, cx| d.dequeue(cx)) else {
                // Held back by a shaper: the line asks again when that says.
                let held = self.discipline.backlog().packets > 0;
                let next = self.discipline.next_tick().filter(|_| held);
                self.free_at = next.map(|due| due.nanos());
                continue;
            };
            let waited = now - packet.arrived.nanos();
            self.sent = (self.sent.0 + 1, self.sent.1 + u64::from(packet.bytes));
            self.waited = (self.waited.0 + waited, self.waited.1.max(waited));
            let time = Rate::from_bits_per_s(RATE).time_for(u64::from(packet.bytes)).nanos();
            self.free_at = Some(now + time);
        }
    }
}

fn note(event: Event, marked: &mut u64, dropped: &mut Vec<DropReason>) {
    match event {
        Event::Queued { .. } => {}
        Event::Marked { .. } => *marked += 1,
        Event::Dropped { why, .. } => dropped.push(why),
    }
}

/// What examples/link.c prints.
fn in_rust(name: &str, parameters: &str) -> String {
    let parameters = serde_json::from_str(parameters).unwrap();
    let discipline = testvec::build(name, &parameters, Rate::from_bits_per_s(RATE)).unwrap();
    let rng = Rng::named(7, "draws");
    let (sent, waited, marked, dropped) = ((0, 0), (0, 0), 0, Vec::new());
    let mut line = Line { discipline, rng, free_at: None, sent, waited, marked, dropped };
    let (mut dice, mut now, mut arrived) = (Xorshift(1), 0, 0);
    loop {
        now += dice.below(2 * MEAN_GAP);
        if now >= DURATION {
            break;
        }
        line.send(now);
        let flow = dice.below(10);
        let bytes = if dice.below(10) < 6 { 1500 } else { 170 };
        let ecn = if flow < 5 { Ecn::Ect0 } else { Ecn::NotEct };
        let header = Default::default();
        let packet =
            Packet { id: arrived, flow, bytes, ecn, arrived: Instant::from_nanos(now), header };
        arrived += 1;
        line.call(now, |d, cx| d.enqueue(packet, cx));
        if line.free_at.is_none() && line.discipline.backlog().packets > 0 {
            line.free_at = Some(now);
            line.send(now);
        }
    }
    line.send(DURATION);
    let drops = line.dropped.len();
    let of = |why: DropReason| line.dropped.iter().filter(|one| **one == why).count();
    format!(
        "{name}: {arrived} packets arrived\n\
         throughput  {:.3} Mbit/s\n\
         dropped     {drops} ({:.3} %): {} early, {} forced, {} overflow\n\
         marked      {}\n\
         delay       {:.3} ms on average, {:.3} ms at most\n\
         waiting     {} packets\n",
        line.sent.1 as f64 * 8e3 / DURATION as f64,
        100.0 * drops as f64 / f64::from(arrived),
        of(DropReason::Early),
        of(DropReason::Forced),
        of(DropReason::Overflow),
        line.marked,
        line.waited.0 as f64 / 1e6 / line.sent.0 as f64,
        line.waited.1 as f64 / 1e6,
        line.discipline.backlog().packets,
    )
}

fn present(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The static library that cargo built for this test, beside the test itself.
fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libaqmlab.a")
}

/// Compiles the example with every warning an error.
fn compile(folder: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join("link");
    let output = Command::new("cc")
        .args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .arg("-I")
        .arg(here.join("include"))
        .arg(here.join("examples/link.c"))
        .arg(library())
        .args(["-lm", "-lpthread", "-ldl", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

const RUNS: [(&str, &str); 6] = [
    ("red", "{}"),
    ("red", r#"{"profile": "ns2", "min_th": 10, "ecn": true}"#),
    ("fq_codel", "{}"),
    ("pie", r#"{"target": "5 ms"}"#),
    ("droptail", r#"{"limit": 100}"#),
    ("cake", r#"{"rate": "5 Mbit/s"}"#),
];

#[test]
fn the_example_prints_what_rust_computes() {
    if !present("cc") {
        println!("skipped: there is no C compiler called cc");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = compile(folder);
    for (name, parameters) in RUNS {
        let output = run(&program, &[name, parameters]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said, in_rust(name, parameters), "{name} {parameters}");
    }
    let wrong = run(&program, &["rde"]);
    let why = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(wrong.status.code() == Some(2) && why.contains("did you mean \"red\"?"), "{why}");
    if !present("valgrind") {
        println!("skipped in part: valgrind is not installed");
        return;
    }
    let checked = Command::new("valgrind")
        .args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all"])
        .arg(&program)
        .args(["fq_codel", r#"{"limit": 50}"#])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success() && said.is_empty(), "{said}");
}

/// Every call of every trial that the test vectors are made of, through this crate's queue.
#[test]
fn every_discipline_answers_as_in_a_trial() {
    for entry in aqm::ALGORITHMS {
        let mut answered = 0;
        for case in testvec::suite::cases(entry, None).unwrap() {
            let what = format!("{}: {}", entry.about.name, case.title);
            let Ok(recorded) = case.run() else { continue }; // values that do not go together
            answered += recorded.calls().len();
            let parameters = serde_json::to_string(&case.parameters).unwrap();
            let (rate, start) = (case.rate.bits_per_s(), 1_700_000_000_000_000_000);
            let mut queue =
                aqmlab::Queue::new(entry.about.name, &parameters, rate, case.seed, start).unwrap();
            for (i, call) in recorded.calls().iter().enumerate() {
                let now = start + call.at.nanos();
                match &call.what {
                    What::Tick => queue.tick(now).unwrap(),
                    What::Enqueue(packet) => queue.enqueue(packet.clone(), now).unwrap(),
                    What::Dequeue(packet) => {
                        let sent = queue.dequeue(now).unwrap();
                        let expected = packet.as_ref().map(|p| (p.id, p.ecn, p.bytes));
                        assert_eq!(sent.map(|s| (s.id, s.ecn, s.bytes)), expected, "{what}, {i}");
                    }
                }
                let events: Vec<Event> = std::iter::from_fn(|| queue.take_event()).collect();
                assert_eq!(events, call.events, "{what}, call {i}");
            }
            let counts = queue.counts();
            let gone = counts.sent.0 + counts.dropped.iter().sum::<u64>();
            assert_eq!(counts.arrived.0, gone + u64::from(queue.backlog().packets), "{what}");
        }
        assert!(answered > 100, "{}: {answered} calls", entry.about.name);
    }
}
