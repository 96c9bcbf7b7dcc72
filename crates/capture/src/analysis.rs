//! The state of an analysis while a capture is read: open connections, counters, finished lines.

use serde_json::{Value, json};

use crate::connection::{Connection, Stage};
use crate::container::Frame;
use crate::direction::Direction;
use crate::distributions::Distributions;
use crate::headers::{self, ACK, Content, Packet, SYN, Segment};
use crate::hosts::Hosts;
use crate::learner::Finished;
use crate::limits::Limits;
use crate::line::{self, About, Vector};
use crate::load::Load;
use crate::marks::Negotiated;
use crate::report::{self, Seen};
use crate::sides::{Prefix, Sides};
use crate::table::{Entry, Key, STAGES, Table};
use crate::units::Unit;
use crate::vector::{self, Epoch, Piece};
use crate::warnings;

/// Shortest time without packets that the report lists as a gap: an hour, our own choice, longer
/// than most clients and servers keep an idle connection.
const GAP_NS: i64 = 3_600 * 1_000_000_000;
/// Largest number of gaps that the report lists.
const MOST_GAPS: usize = 100;

/// The analysis of packets, after the container format has been decoded.
pub struct Analysis {
    limits: Limits,
    table: Table,
    hosts: Hosts,
    sides: Sides,
    seen: Seen,
    load: Load,
    distributions: Distributions,
    /// Time of the first packet by the file's clock, ns.
    first_ns: Option<i64>,
    /// Latest time of a packet since the first packet, ns.
    latest_ns: i64,
    serial: u64,
    /// Bytes of memory that the connection vectors of all open connections take.
    vectors: usize,
    /// Lines of the model for connections that have ended; `finished` has an entry for each. The
    /// caller takes both.
    pub lines: Vec<u8>,
    pub finished: Vec<Finished>,
    units: Vec<Unit>,
    epochs: Vec<Epoch>,
}

impl Analysis {
    pub fn new(limits: Limits, inside: Vec<Prefix>) -> Self {
        Analysis {
            table: Table::new(),
            hosts: Hosts::new(limits.hosts),
            sides: Sides::new(inside),
            seen: Seen::default(),
            load: Load::new(),
            distributions: Distributions::default(),
            first_ns: None,
            latest_ns: 0,
            serial: 0,
            vectors: 0,
            lines: Vec::new(),
            finished: Vec::new(),
            units: Vec::new(),
            epochs: Vec::new(),
            limits,
        }
    }

    /// Analyses a packet.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        let first = *self.first_ns.get_or_insert(frame.at_ns);
        let at = frame.at_ns.saturating_sub(first).max(0);
        if at < self.latest_ns {
            self.seen.backwards += 1;
            self.seen.backwards_ns = self.seen.backwards_ns.max(self.latest_ns - at);
        }
        if at - self.latest_ns > GAP_NS && self.seen.gaps.len() < MOST_GAPS {
            let micros = |ns: i64| (ns / 1_000) as u64;
            self.seen.gaps.push([micros(self.latest_ns), micros(at - self.latest_ns)]);
        }
        self.latest_ns = self.latest_ns.max(at);
        self.expire();
        self.seen.packets += 1;
        self.seen.bytes += u64::from(frame.length);
        self.seen.cut += u64::from((frame.data.len() as u64) < u64::from(frame.length));
        *self.seen.links.entry(frame.link).or_default() += 1;
        let packet = headers::read(frame);
        self.seen.count(&packet);
        if packet.ip_bytes > 0 {
            self.load.add(at, packet.ip_bytes, matches!(packet.content, Content::Tcp(_)));
        }
        if let Content::Tcp(segment) = packet.content {
            self.segment(frame, &packet, &segment, at);
        }
    }

    fn segment(&mut self, frame: &Frame<'_>, packet: &Packet, segment: &Segment, at: i64) {
        let link_side = self.sides.of(frame, packet, segment);
        let (key, from_low) = Key::of(segment);
        let mut place = self.table.find(&key);
        if let Some(found) = place
            && let Some(entry) = self.table.get(found)
        {
            let side = usize::from(entry.low_is_opener != from_low);
            if entry.connection.is_replaced_by(side, segment) {
                self.close(found);
                place = None;
            }
        }
        let place = place.unwrap_or_else(|| self.open(key, from_low, segment, link_side, at));
        let Some(entry) = self.table.get(place) else { return };
        let side = usize::from(entry.low_is_opener != from_low);
        let connection = &mut entry.connection;
        let before = connection.units.size();
        connection.take(side, segment, at);
        let announced = connection.directions[1 - side].mss;
        let size = connection.units.size();
        self.seen.connections.joined += u64::from(report::is_joined(segment.payload, announced));
        self.vectors += size - before;
        self.table.touch(place);
        if size > self.limits.vector || (size > before && self.vectors > self.limits.vectors) {
            self.cut(place, at);
        }
    }

    fn open(
        &mut self,
        key: Key,
        from_low: bool,
        segment: &Segment,
        link_side: Option<u8>,
        at: i64,
    ) -> u32 {
        if self.table.len() >= self.limits.open {
            let oldest = STAGES.into_iter().find_map(|stage| self.table.oldest(stage));
            if let Some((place, _)) = oldest {
                let stage = self.table.get(place).map(|entry| entry.connection.stage());
                self.seen.connections.evicted += u64::from(stage == Some(Stage::Established));
                self.close(place);
            }
        }
        let from_opener = match (segment.has(SYN), segment.has(ACK)) {
            (true, acknowledges) => !acknowledges,
            // Without a SYN, the side with the lower port is taken as the acceptor.
            _ => segment.from.1 >= segment.to.1,
        };
        let link_side = link_side.map(|side| if from_opener { side } else { 1 - side });
        let connection = Connection::new(self.serial, at, link_side);
        self.serial += 1;
        self.seen.connections.seen += 1;
        let place = self.table.insert(key, from_low == from_opener, connection);
        let open = self.table.len() as u64;
        self.seen.connections.most_open = self.seen.connections.most_open.max(open);
        place
    }

    /// Ends connections that have been silent for too long.
    fn expire(&mut self) {
        let Limits { idle_ns, embryonic_ns, linger_ns, .. } = self.limits;
        for stage in STAGES {
            let most = match stage {
                Stage::Closed => linger_ns,
                Stage::Embryonic => embryonic_ns,
                Stage::Established => idle_ns,
            };
            while let Some((place, last)) = self.table.oldest(stage)
                && self.latest_ns - last > most
            {
                self.close(place);
            }
        }
    }

    /// Ends a connection whose vector is too long, and continues its state as another connection.
    fn cut(&mut self, place: u32, at: i64) {
        let serial = self.serial;
        self.serial += 1;
        let Some(entry) = self.table.get(place) else { return };
        let rest = entry.connection.cut(serial, at);
        let (key, low_is_opener) = (entry.key, entry.low_is_opener);
        self.seen.connections.cut += 1;
        self.close(place);
        self.table.insert(key, low_is_opener, rest);
    }

    fn close(&mut self, place: u32) {
        if let Some(entry) = self.table.remove(place) {
            let Entry { key, low_is_opener, mut connection, .. } = *entry;
            self.vectors = self.vectors.saturating_sub(connection.units.size());
            connection.end_units();
            let (opener, acceptor) =
                if low_is_opener { (key.low, key.high) } else { (key.high, key.low) };
            self.count(&connection);
            if connection.has_payload() {
                let hosts = [&opener.0, &acceptor.0].map(|address| self.hosts.number(address));
                let at_us = (connection.start_ns / 1_000) as u64;
                self.write(&connection, &About { hosts, port: acceptor.1, at_us });
            }
        }
    }

    fn write(&mut self, connection: &Connection, about: &About) {
        let mut units = core::mem::take(&mut self.units);
        let mut epochs = core::mem::take(&mut self.epochs);
        connection.units.read(&mut units);
        let begin = self.lines.len();
        if connection.concurrent {
            let of = |side| vector::pieces(connection, &units, side).collect::<Vec<Piece>>();
            let (opener, acceptor) = (of(0), of(1));
            let vector = Vector::Concurrent(&opener, &acceptor);
            line::write(&mut self.lines, connection, about, &vector);
        } else {
            vector::epochs(connection, &units, &mut epochs);
            self.distributions.add_epochs(&epochs);
            self.seen.connections.epochs += epochs.len() as u64;
            line::write(&mut self.lines, connection, about, &Vector::Sequential(&epochs));
        }
        let length = self.lines.len() - begin;
        self.finished.push(Finished { at_us: about.at_us, serial: connection.serial, length });
        (self.units, self.epochs) = (units, epochs);
    }

    /// Adds the counts of a connection that has ended to those of the capture.
    fn count(&mut self, connection: &Connection) {
        let c = &mut self.seen.connections;
        let [opener, acceptor] = &connection.directions;
        let sum = |of: fn(&Direction) -> u64| of(opener) + of(acceptor);
        c.segments += sum(|h| h.segments);
        c.resent += sum(|h| h.resent);
        c.resent_bytes += sum(|h| h.resent_bytes);
        c.reordered += sum(|h| h.reordered);
        c.control_resent += sum(|h| u64::from(h.control_resent));
        c.duplicate_acks += sum(|h| h.duplicate_acks);
        c.keep_alives += sum(|h| u64::from(h.keep_alives));
        c.copies += sum(|h| u64::from(h.copies));
        for direction in &connection.directions {
            for (all, own) in c.code_points.iter_mut().zip(direction.ecn.code_points) {
                *all += u64::from(own);
            }
        }
        match connection.ecn() {
            Negotiated::Nothing => {}
            Negotiated::Refused => c.ecn[0] += 1,
            Negotiated::Classic => c.ecn[1] += 1,
            Negotiated::Accurate => c.ecn[2] += 1,
        }
        if !connection.has_payload() {
            c.silent += 1;
            c.unanswered += u64::from(!acceptor.seen && opener.first.is_some());
            c.refused += u64::from(connection.reset && acceptor.first.is_none() && acceptor.seen);
            return;
        }
        self.count_kept(connection);
        self.distributions.add_connection(connection);
    }

    /// Counts a connection that carried payload, and therefore is kept.
    fn count_kept(&mut self, connection: &Connection) {
        let c = &mut self.seen.connections;
        let [opener, acceptor] = &connection.directions;
        let one = |condition: bool| u64::from(condition);
        let partial = line::partial(connection);
        c.kept += 1;
        let side = connection.link_side.map_or(2, |side| usize::from(side).min(2));
        let agreed = match connection.ecn() {
            Negotiated::Classic => 1,
            Negotiated::Accurate => 2,
            Negotiated::Nothing | Negotiated::Refused => 0,
        };
        c.kept_ecn[side][agreed] += 1;
        let missed = Direction::missed(opener) + Direction::missed(acceptor);
        c.missing += u64::from(missed > 0);
        c.missed_bytes += missed;
        c.concurrent += one(connection.concurrent);
        c.sequential += one(!connection.concurrent);
        c.partial += one(!partial.is_empty());
        c.no_start += one(partial.contains("start"));
        c.one_sided += one(partial.contains("reverse"));
        c.open += one(!connection.reset && !opener.fin && !acceptor.fin);
        c.reset += one(connection.reset);
        c.no_rtt += one(connection.rtt_ns.contains(&None));
        c.sack += one(connection.sack);
        c.timestamps += one(connection.timestamps);
        c.window_scale += one(opener.shift.is_some() && acceptor.shift.is_some());
        c.bytes[0] += opener.bytes;
        c.bytes[1] += acceptor.bytes;
        if let Some(side) = connection.link_side.and_then(|s| c.sides.get_mut(usize::from(s))) {
            side.connections += 1;
            side.bytes[0] += opener.bytes;
            side.bytes[1] += acceptor.bytes;
        }
    }

    pub fn end(&mut self) {
        for stage in STAGES {
            while let Some((place, _)) = self.table.oldest(stage) {
                self.close(place);
            }
        }
    }

    /// The report as JSON, without the format and the damage of the container, which
    /// [`Learner`](crate::Learner) adds.
    pub fn report(&self) -> Value {
        let c = &self.seen.connections;
        let column =
            |which: usize| self.load.bins().iter().map(|bin| bin[which]).collect::<Vec<_>>();
        json!({
            "format": "aqmlab traffic model",
            "version": 2,
            "duration_us": self.latest_ns / 1_000,
            "connections": c.kept,
            "concurrent": c.concurrent,
            "partial": c.partial,
            "bytes": c.bytes,
            "seen": self.seen.json(),
            "warnings": warnings::all(&self.seen, self.hosts.count() >= self.limits.hosts),
            "hosts": self.hosts.count(),
            "load": { "step_s": self.load.step_s(), "tcp": column(0), "other": column(1) },
            "histograms": self.distributions.json(),
        })
    }
}
