//! A lower bound of the memory that a scenario needs.

use packet::Duration;

use crate::error::ScenarioError;
use crate::scenario::{Queue, Rtt, Scenario, Traffic};
use crate::topology::{Direction, TCPEVAL_MS};

/// Bytes of a user without idle connections (checked by a test of `world::source`).
const USER: u64 = 200;
/// Bytes of a sender's connection with its packets in flight (checked by a test of `connection`).
const CONNECTION: u64 = 1_024;
/// Bytes of an idle port (measured: 467 MB with 66,000 of them).
const PORT: u64 = 7_000;
/// Bytes of a port's six counters for each second, which are stored twice: as counted and in the
/// results.
const SECOND: u64 = 96;
/// Bytes of one sample of a queue.
const SAMPLE: f64 = 4.0;

/// Bytes of a row in the log of requests, which doubles as it grows and is copied into the results.
const REQUEST: f64 = 3.0 * 32.0;
/// Bytes of a row in the log of pages; several requests share one.
const PAGE: f64 = 3.0 * 40.0;
/// Bytes that the packet trace takes for each packet: at least two rows.
const TRACED_PACKET: f64 = 2.0 * 2.0 * 32.0;
/// Bytes of a round-trip time in a table, and of its place in the table's random order.
const DISTANCE: u64 = 16;
/// Bytes of a waiting packet, in a queue that doubles as it grows.
const WAITING: u64 = 96;
/// A reply and a data packet, IP bytes (constructed: web replies of 10 kB, full packets).
const REPLY_BYTES: f64 = 10_000.0;
const PACKET_BYTES: f64 = 1_500.0;
/// Number of round trips that a connection of an open loop lasts at least (handshake, request,
/// end).
const ROUND_TRIPS: f64 = 3.0;
/// Number of users of a closed loop per open connection (constructed: users mostly think).
const USERS_PER_CONNECTION: u64 = 10;
/// Number of packets that one TCP sender may have waiting in a queue (constructed: a window of 1.5
/// MB).
const PACKETS_OF_A_SENDER: u64 = 1_000;
impl Scenario {
    /// Bytes that a run needs at least: users and senders, ports and their values per second,
    /// samples of queues, tables of disciplines, waiting packets, and logs of requests, pages and
    /// packets as far as the load is known before the run. How congestion changes the users'
    /// behaviour is not known.
    pub fn least_bytes(&self) -> u64 {
        let users: u64 = self.traffic.iter().map(|group| self.group_bytes(group)).sum();
        let duration = self.params.real("duration");
        let shared = self.links.iter().filter(|link| link.clients_per_link().is_none()).count();
        let links = 2 * shared as u64;
        let copies: u64 = self.links.iter().map(|link| 2 * u64::from(self.copies(link))).sum();
        let own = self.network.given("access_rate");
        let machines = self.network.whole("clients") + self.network.whole("servers");
        let ports = copies + if own { machines } else { 0 };
        let seconds = (duration as u64 + 1).saturating_mul(links).saturating_mul(SECOND);
        let kept = self.record.switch("samples");
        let each = duration / self.record.real("queue_every") * SAMPLE;
        let samples = if kept { self.queues.len() as f64 * each } else { 0.0 };
        // The cast saturates.
        [ports * PORT, seconds, samples as u64, self.queue_bytes(), self.log_bytes() as u64]
            .into_iter()
            .fold(users, u64::saturating_add)
    }

    fn group_bytes(&self, group: &Traffic) -> u64 {
        let sources = u64::from(group.sources().unwrap_or(0));
        let connections = match group.entry.fetches {
            // The cast saturates.
            true if group.entry.is_open_loop() => {
                let lasts = ROUND_TRIPS * self.mean_round_trip_s(group);
                (self.replies_per_s(group) * lasts) as u64
            }
            true => sources / USERS_PER_CONNECTION,
            false if group.entry.datagrams => 0,
            false => sources,
        };
        let distances = match group.rtt.as_ref().unwrap_or(&self.rtt) {
            Rtt::Range(range) if range.choice("draw") == "source" => sources,
            Rtt::Range(range) if range.choice("draw") == "pair" => {
                self.network.whole("clients") * self.network.whole("servers")
            }
            _ => 0,
        };
        (sources * USER + distances * DISTANCE)
            .saturating_add(connections.saturating_mul(CONNECTION))
    }

    /// Bytes of the disciplines' tables, and of as many waiting packets as their limits admit and
    /// senders can send.
    fn queue_bytes(&self) -> u64 {
        let copies = |link| u64::from(self.copies(link));
        let queues = self.links.iter().flat_map(|l| l.queues.iter().map(move |q| (q, copies(l))));
        let of = |queue: &Queue| {
            let tables = queue.entry.table_bytes(&queue.params);
            tables.saturating_add(self.waiting(queue).saturating_mul(WAITING))
        };
        queues.map(|(queue, n)| of(queue).saturating_mul(n)).fold(0, u64::saturating_add)
    }

    fn waiting(&self, queue: &Queue) -> u64 {
        let known = queue.entry.about.fields.iter().any(|field| field.name == "limit");
        let limit =
            if known && queue.params.given("limit") { queue.params.whole("limit") } else { 0 };
        // How many datagrams come is unknown here.
        let tcp = |group: &&Traffic| !group.entry.datagrams && !group.entry.fetches;
        let senders = self.traffic.iter().filter(tcp).filter_map(Traffic::sources);
        let most = senders.map(u64::from).sum::<u64>() * PACKETS_OF_A_SENDER;
        limit.min(most)
    }

    /// Bytes of the logs of requests, pages and traced packets.
    fn log_bytes(&self) -> f64 {
        let duration = self.params.real("duration");
        let requested = |group: &Traffic| self.replies_per_s(group) * duration;
        let replies: f64 = self.traffic.iter().map(requested).sum();
        let row = |name: &str, bytes: f64| if self.record.switch(name) { bytes } else { 0.0 };
        let packets = replies * REPLY_BYTES / PACKET_BYTES * self.queues.len().min(1) as f64;
        replies * (row("responses", REQUEST) + row("pages", PAGE / 4.0))
            + packets * row("trace", TRACED_PACKET)
    }

    /// Replies per second that a group requests and its slowest link can carry; 0 if unknown.
    fn replies_per_s(&self, group: &Traffic) -> f64 {
        // A recording is completely in memory already, and reading it again would take long.
        if !group.entry.fetches || group.entry.is_recorded() {
            return 0.0;
        }
        let sources = f64::from(group.sources().unwrap_or(0));
        let wanted = self.ip_bytes_per_source_s(group).unwrap_or(0.0) * sources;
        let wanted = match group.entry.is_open_loop() && group.app.given(traffic::RATE) {
            true => group.app.real(traffic::RATE) * wanted,
            false => wanted,
        };
        let direction = Direction::from(group.side().other());
        let rates = group.via.iter().map(|&link| self.links[link].rate_of(direction));
        let carried = rates.map(|rate| rate.bits_per_s() as f64 / 8.0);
        carried.fold(wanted, f64::min) / REPLY_BYTES
    }

    fn mean_round_trip_s(&self, group: &Traffic) -> f64 {
        let mean = |times: &[Duration]| {
            times.iter().map(|time| time.secs_f64()).sum::<f64>() / times.len().max(1) as f64
        };
        match group.rtt.as_ref().unwrap_or(&self.rtt) {
            Rtt::Constant(time) => time.secs_f64(),
            Rtt::List(times) => mean(times),
            Rtt::Tcpeval => mean(&TCPEVAL_MS.map(Duration::from_millis)),
            Rtt::Range(range) => (range.real("min") + range.real("max")) / 2.0,
        }
    }

    /// Refuses a scenario that needs more memory than is free.
    ///
    /// # Errors
    /// One sentence with both amounts.
    pub(crate) fn check_memory(&self, free: Option<u64>) -> Result<(), ScenarioError> {
        let (needed, free) = (self.least_bytes(), free.unwrap_or(u64::MAX));
        if needed <= free {
            return Ok(());
        }
        let gigabytes = |bytes: u64| bytes as f64 / 1e9;
        Err(ScenarioError(format!(
            "the scenario needs at least {:.1} GB of memory and {:.1} GB are free; give fewer users, flows or links, a shorter duration, smaller queues and tables, or record less",
            gigabytes(needed),
            gigabytes(free)
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::free_bytes;

    fn scenario(change: &str) -> Scenario {
        let link = r#""link": [{"rate": "1 Mbit/s"}], "#;
        let link = if change.contains("\"link\"") { "" } else { link };
        let text = format!(r#"{{"duration": "100 s", {link}{change}}}"#);
        Scenario::from_json(&text).unwrap()
    }

    #[test]
    fn what_needs_too_much_is_refused_before_it_starts() {
        let users = scenario(r#""traffic": [{"app": "web", "users": 100000000}]"#);
        // One of ten users has a connection open.
        let said = users.least_bytes() as f64;
        assert!((30.2e9..30.3e9).contains(&said), "{said}");
        let why = users.check_memory(Some(8_000_000_000)).unwrap_err().to_string();
        assert!(
            why.starts_with("the scenario needs at least 30.2 GB of memory and 8.0 GB are free")
        );
        assert!(users.check_memory(None).is_ok(), "nobody says what is free");
        let samples =
            r#""traffic": [{"app": "bulk", "flows": 1}], "record": {"queue_every": "2 us"}"#;
        assert!(scenario(samples).least_bytes() > 200_000_000);
        let small = scenario(r#""traffic": [{"app": "bulk", "flows": 50}]"#);
        assert!(small.least_bytes() < 1_000_000, "{}", small.least_bytes());
        assert!(small.check_memory(free_bytes()).is_ok());
    }

    /// Number of bytes that a run of scenario `change` needs more than one of scenario `than`.
    fn more(change: &str, than: &str) -> u64 {
        scenario(change).least_bytes() - scenario(than).least_bytes()
    }

    #[test]
    fn what_is_open_logged_and_waiting_counts() {
        let open = |rate: &str| {
            format!(
                r#""network": {{"rtt": "200 ms"}}, "traffic": [{{"app": "packmime", "connections_per_s": {rate}}}]"#
            )
        };
        // 12.5 replies of 10 kB a second are what 1 Mbit/s carries, however many are requested:
        // 7.5 connections of three round trips, and 1,250 rows of 96 bytes.
        assert_eq!(scenario(&open("1e5")).least_bytes(), scenario(&open("1e6")).least_bytes());
        let quiet = open("1e5") + r#", "record": {"responses": false}"#;
        assert_eq!(more(&open("1e5"), &quiet), 120_000);
        let traced = open("1e5") + r#", "record": {"trace": true}"#;
        assert!((900_000..1_100_000).contains(&more(&traced, &open("1e5"))));
        let bulk = |flows: u32, forward: &str| {
            format!(
                r#""link": [{{"rate": "1 Mbit/s", "forward": {forward}}}], "traffic": [{{"app": "bulk", "flows": {flows}}}]"#
            )
        };
        let tail = |limit: u64| format!(r#"{{"aqm": "droptail", "limit": {limit}}}"#);
        // A limit that cannot be reached needs no memory.
        let most = |limit| scenario(&bulk(2, &tail(limit))).least_bytes();
        assert_eq!(most(2_000) - most(1_000), 1_000 * WAITING);
        assert_eq!(most(100_000_000), most(2_000));
        let packet = size_of::<packet::Packet>() as u64;
        assert!((2 * packet..=4 * packet).contains(&WAITING), "{packet}");
        let far = |draw: &str| {
            let rtt =
                format!(r#"{{"rtt": {{"draw": "{draw}"}}, "clients": 1000, "servers": 1000}}"#);
            format!(r#""network": {rtt}, "traffic": [{{"app": "bulk", "flows": 5000}}]"#)
        };
        assert_eq!(more(&far("pair"), &far("connection")), 1_000_000 * DISTANCE);
        assert_eq!(more(&far("source"), &far("connection")), 5_000 * DISTANCE);
        let afd = |b: u32| bulk(2, &format!(r#"{{"aqm": "afd", "b": {b}}}"#));
        assert!(more(&afd(1_000_000), &afd(1_000)) > 100_000_000);
    }

    #[test]
    fn of_a_recording_nothing_is_reckoned() {
        let replay = |responses: bool| {
            let text = "recording 5000000 1\\n0 40000 0 1 2 fin epochs 0,300,1000,100000";
            format!(
                r#""record": {{"responses": {responses}}},
                   "traffic": [{{"app": "replay", "model": {{"file": "small", "text": "{text}"}}}}]"#
            )
        };
        assert_eq!(more(&replay(true), &replay(false)), 0);
    }

    /// Memory of a run of 100 s over `links` links, apart from groups, samples and logs.
    fn at_rest(links: u64) -> u64 {
        2 * links * PORT + 101 * 2 * links * SECOND
    }

    #[test]
    fn links_and_machines_with_lines_of_their_own_count() {
        let links = r#""link": [{"rate": "1 Mbit/s"}, {"name": "b", "rate": "1 Mbit/s"}, {"name": "c", "rate": "1 Mbit/s"}],
                       "record": {"samples": false}, "traffic": [{"app": "bulk", "flows": 5, "rtt": "50 ms"}]"#;
        assert_eq!(scenario(links).least_bytes(), at_rest(3) + 5 * (USER + CONNECTION));
        let own = format!(
            r#"{links}, "network": {{"clients": 5, "servers": 4, "access_rate": "1 Gbit/s"}}"#
        );
        assert_eq!(more(&own, links), 9 * PORT);
    }

    #[test]
    fn samples_are_kept_of_every_recorded_queue() {
        let of = |kept: bool| {
            format!(
                r#""traffic": [{{"app": "bulk", "flows": 1}}], "record": {{"samples": {kept}, "queue_every": "0.5 s",
                    "queues": ["bottleneck.forward", "bottleneck.reverse"]}}"#
            )
        };
        assert_eq!(more(&of(true), &of(false)), 2 * 200 * 4);
    }

    #[test]
    fn connections_of_an_open_loop_last_three_mean_round_trips() {
        let open = |rtt: &str| {
            let group = format!(r#"{{"app": "packmime", "connections_per_s": 1e5, "rtt": {rtt}}}"#);
            scenario(&format!(
                r#""traffic": [{group}], "record": {{"samples": false, "responses": false}}"#
            ))
            .least_bytes()
        };
        // 12.5 connections begin per second.
        for (rtt, connections) in [
            (r#""1 us""#, 0),
            (r#""200 ms""#, 7),
            (r#"["100 ms", "300 ms", "800 ms"]"#, 15),
            (r#"{"min": "100 ms", "max": "500 ms", "draw": "connection"}"#, 11),
        ] {
            assert_eq!(open(rtt), at_rest(1) + USER + connections * CONNECTION, "{rtt}");
        }
    }

    #[test]
    fn datagrams_have_no_connections_and_no_log() {
        let of = |app: &str| {
            format!(
                r#""traffic": [{{"app": "{app}", "flows": 10, "rtt": "50 ms"}}], "record": {{"samples": false}}"#
            )
        };
        assert_eq!(scenario(&of("cbr")).least_bytes(), at_rest(1) + 10 * USER);
        assert_eq!(more(&of("bulk"), &of("cbr")), 10 * CONNECTION);
    }

    #[test]
    fn logs_grow_with_users_pages_and_traced_packets() {
        let web = |users: u32, record: &str| {
            let link = r#"{"rate": "1 Gbit/s"}"#;
            scenario(&format!(r#""link": [{link}], "traffic": [{{"app": "web", "users": {users}}}], "record": {{{record}}}"#))
                .least_bytes()
        };
        let logged = |users| web(users, "") - web(users, r#""responses": false"#);
        assert!(logged(100) > 10_000);
        assert!(logged(200).abs_diff(2 * logged(100)) <= 2, "{} {}", logged(100), logged(200));
        let open = |record: &str| {
            let group = r#"{"app": "packmime", "connections_per_s": 1e5, "rtt": "200 ms"}"#;
            scenario(&format!(r#""traffic": [{group}], "record": {{{record}}}"#)).least_bytes()
        };
        // 1,250 replies of 20/3 packets each, and a quarter of a page.
        assert_eq!(open(r#""trace": true"#) - open(""), 1_066_666);
        assert_eq!(open(r#""pages": true"#) - open(r#""pages": false"#), 1_250 * 30);
    }

    #[test]
    fn packets_that_may_wait_are_counted_of_senders_only() {
        let web = |limit: u32| {
            let queue = format!(r#"{{"aqm": "droptail", "limit": {limit}}}"#);
            format!(
                r#""link": [{{"rate": "1 Mbit/s", "forward": {queue}}}], "traffic": [{{"app": "web", "users": 10}}]"#
            )
        };
        assert_eq!(more(&web(2_000), &web(1_000)), 0);
    }
}
