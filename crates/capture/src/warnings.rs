//! Sentences that warn a reader about a capture.

use crate::report::Seen;

/// All sentences, the most important first; `hosts_full`: not every host has a number of its own.
pub fn all(seen: &Seen, hosts_full: bool) -> Vec<String> {
    let mut said = Warnings(Vec::new());
    said.of_what_is_missing(seen);
    said.of_connections(seen);
    said.of_other_traffic(seen);
    said.of_packets(seen);
    said.of_limits(seen, hosts_full);
    said.0
}

struct Warnings(Vec<String>);

impl Warnings {
    fn when(&mut self, condition: bool, sentence: String) {
        if condition {
            self.0.push(sentence);
        }
    }

    fn of_what_is_missing(&mut self, seen: &Seen) {
        self.when(seen.packets == 0, "The capture holds no packet.".to_owned());
        self.when(
            seen.packets > 0 && seen.connections.kept == 0,
            "No TCP connection with payload was found: the model is empty.".to_owned(),
        );
        if let Some([at, length]) = seen.gaps.first() {
            let more = match seen.gaps.len() {
                1 => String::new(),
                n => format!(" ({} such gaps in all)", n),
            };
            self.0.push(format!(
                "{} without any packet begin {:.1} s after the first one{more}: the clock was \
                 set, or several captures were joined; the scenario of the replay ends there.",
                long(*length),
                *at as f64 / 1e6
            ));
        }
        let links: Vec<String> = seen.links.keys().map(u32::to_string).collect();
        self.when(
            seen.unknown_link > 0,
            format!(
                "{} on links of a type that is not read here (of types {}): capture on Ethernet, \
                 Linux \"any\", loopback or raw IP.",
                packets(seen.unknown_link),
                links.join(", ")
            ),
        );
    }

    fn of_connections(&mut self, seen: &Seen) {
        let c = &seen.connections;
        let kept = connections(c.kept);
        self.when(
            c.one_sided > 0,
            format!(
                "{} of {kept} seen in one direction only: the other one's sizes are those that \
                 were acknowledged, and waiting times contain a round trip.",
                c.one_sided
            ),
        );
        self.when(
            c.no_start > 0,
            format!(
                "{} of {kept} had begun before the capture or without their handshake seen: the \
                 first request may be cut, and who opened them is guessed from the ports.",
                c.no_start
            ),
        );
        self.when(
            c.open > 0,
            format!(
                "{} of {kept} had no end within the capture: the last response may be cut.",
                c.open
            ),
        );
        self.when(
            c.missing > 0,
            format!(
                "{} of {kept} have holes: at least {} bytes were sent but not captured (a busy \
                 capturing host, or another path); sizes are those of the sequence numbers.",
                c.missing, c.missed_bytes
            ),
        );
        self.when(
            c.no_rtt > 0,
            format!(
                "{} without a complete round-trip time: a replay draws one.",
                connections(c.no_rtt)
            ),
        );
    }

    fn of_other_traffic(&mut self, seen: &Seen) {
        let percent = |bytes: u64| 100.0 * bytes as f64 / seen.ip_bytes().max(1) as f64;
        let quic = percent(seen.quic_bytes);
        self.when(
            quic >= 1.0,
            format!("{quic:.0} % of the IP bytes are QUIC (UDP port 443): not in the model."),
        );
        let other = percent(seen.udp_bytes - seen.quic_bytes + seen.other_bytes);
        self.when(
            other >= 5.0,
            format!("{other:.0} % of the IP bytes are other than TCP: not in the model."),
        );
    }

    fn of_packets(&mut self, seen: &Seen) {
        self.when(
            seen.fragments > 0,
            format!("{} not read because of their fragmentation.", packets(seen.fragments)),
        );
        self.when(
            seen.short > 0,
            format!(
                "{} cut off within their headers: capture with a snap length of at least 128 \
                 bytes.",
                packets(seen.short)
            ),
        );
        self.when(
            seen.malformed > 0,
            format!("{} with headers that make no sense.", packets(seen.malformed)),
        );
        self.when(
            seen.backwards > 0,
            format!(
                "{} with a time before the previous one's, by up to {:.3} ms: times of waiting \
                 are less certain by that.",
                packets(seen.backwards),
                seen.backwards_ns as f64 * 1e-6
            ),
        );
        self.when(
            seen.connections.copies > 0,
            format!(
                "{} came twice within a millisecond, as from a mirror port of both directions: \
                 each is counted once.",
                packets(seen.connections.copies)
            ),
        );
        self.when(
            seen.connections.joined > 0,
            format!(
                "{} longer than the announced maximum: the capturing host joins segments \
                 (offload), so numbers of segments and retransmissions are too small.",
                packets(seen.connections.joined)
            ),
        );
    }

    fn of_limits(&mut self, seen: &Seen, hosts_full: bool) {
        let c = &seen.connections;
        self.when(
            c.evicted > 0,
            format!(
                "{} ended early because too many were open at once: each goes on as another one.",
                connections(c.evicted)
            ),
        );
        self.when(
            c.cut > 0,
            format!("{} cut in two because of their number of epochs.", connections(c.cut)),
        );
        self.when(
            hosts_full,
            "More hosts than can be distinguished: the later ones have number 0.".to_owned(),
        );
    }
}

/// A long time as text, in hours, days or years.
fn long(us: u64) -> String {
    let hours = us as f64 / 3.6e9;
    match hours {
        h if h < 48.0 => format!("{h:.1} hours"),
        h if h < 24.0 * 700.0 => format!("{:.1} days", h / 24.0),
        h => format!("{:.1} years", h / (24.0 * 365.25)),
    }
}

fn packets(n: u64) -> String {
    if n == 1 { "1 packet".to_owned() } else { format!("{n} packets") }
}

fn connections(n: u64) -> String {
    if n == 1 { "1 connection".to_owned() } else { format!("{n} connections") }
}
