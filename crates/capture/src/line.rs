//! A connection as a line of the model (`docs/learned-models.md`).

use std::io::Write;

use crate::connection::Connection;
use crate::marks::{Marks, Negotiated};
use crate::vector::{Epoch, Piece};

/// Fields of a line that the connection itself does not hold.
pub struct About {
    /// Host numbers of opener and acceptor.
    pub hosts: [u32; 2],
    /// The acceptor's port.
    pub port: u16,
    pub at_us: u64,
}

/// The data that the applications of a connection exchanged.
pub enum Vector<'a> {
    Sequential(&'a [Epoch]),
    Concurrent(&'a [Piece], &'a [Piece]),
}

/// Appends the line of a connection to `out`.
pub fn write(out: &mut Vec<u8>, connection: &Connection, about: &About, vector: &Vector<'_>) {
    // Writing to a vector does not fail.
    let _ = lines(out, connection, about, vector);
}

fn lines(
    out: &mut Vec<u8>,
    connection: &Connection,
    about: &About,
    vector: &Vector<'_>,
) -> std::io::Result<()> {
    let [opener, acceptor] = &connection.directions;
    write!(out, "{{\"at_us\":{},\"class\":\"{}\"", about.at_us, class(about.port))?;
    if let Some(side) = connection.link_side {
        write!(out, ",\"side\":{side}")?;
    }
    write!(out, ",\"hosts\":[{},{}],\"rtt_us\":", about.hosts[0], about.hosts[1])?;
    pair(out, connection.rtt_ns.map(|rtt| rtt.map(|ns| (ns as u64 + 500) / 1_000)))?;
    if opener.mss.is_some() || acceptor.mss.is_some() {
        write!(out, ",\"mss\":")?;
        pair(out, [opener.mss.map(u64::from), acceptor.mss.map(u64::from)])?;
    }
    write!(out, ",\"window\":[{},{}]", opener.window, acceptor.window)?;
    write!(out, ",\"segments\":[{},{}]", opener.segments, acceptor.segments)?;
    if opener.resent + acceptor.resent > 0 {
        write!(out, ",\"resent\":[{},{}]", opener.resent, acceptor.resent)?;
    }
    ecn(out, connection)?;
    write!(out, ",\"end\":\"{}\"", end(connection))?;
    let partial = partial(connection);
    if !partial.is_empty() {
        write!(out, ",\"partial\":\"{partial}\"")?;
    }
    match vector {
        Vector::Sequential(epochs) => {
            write!(out, ",\"epochs\":[")?;
            for (index, e) in epochs.iter().enumerate() {
                comma(out, index);
                write!(out, "[{},{},{},{}]", e.think_us, e.request, e.delay_us, e.response)?;
            }
        }
        Vector::Concurrent(of_opener, of_acceptor) => {
            write!(out, ",\"opener\":[")?;
            pieces(out, of_opener)?;
            write!(out, "],\"acceptor\":[")?;
            pieces(out, of_acceptor)?;
        }
    }
    out.extend_from_slice(b"]}\n");
    Ok(())
}

/// Appends the negotiated ECN, the packets with ECT(1), ECT(0) and CE of each side, and the number
/// of marks that each side reported.
fn ecn(out: &mut Vec<u8>, connection: &Connection) -> std::io::Result<()> {
    let [opener, acceptor] = connection.directions.each_ref().map(|direction| direction.ecn);
    let agreed = connection.ecn();
    if let Some(name) = agreed.name() {
        write!(out, ",\"ecn\":\"{name}\"")?;
    }
    if [opener, acceptor].iter().any(|side| side.code_points[1..] != [0; 3]) {
        let [a, b] = [opener, acceptor].map(|side| side.code_points);
        write!(out, ",\"ect\":[[{},{},{}],[{},{},{}]]", a[1], a[2], a[3], b[1], b[2], b[3])?;
    }
    let reported = |marks: Marks| match agreed {
        Negotiated::Accurate => marks.counted,
        Negotiated::Classic => marks.echoes,
        _ => 0,
    };
    let reports = [opener, acceptor].map(reported);
    if reports != [0; 2] {
        write!(out, ",\"echoed\":[{},{}]", reports[0], reports[1])?;
    }
    Ok(())
}

fn pieces(out: &mut Vec<u8>, pieces: &[Piece]) -> std::io::Result<()> {
    for (index, p) in pieces.iter().enumerate() {
        comma(out, index);
        write!(out, "[{},{},{}]", p.gap_us, p.bytes, p.after)?;
    }
    Ok(())
}

fn comma(out: &mut Vec<u8>, index: usize) {
    if index > 0 {
        out.push(b',');
    }
}

fn pair(out: &mut Vec<u8>, values: [Option<u64>; 2]) -> std::io::Result<()> {
    for (before, value) in ["[", ","].into_iter().zip(values) {
        match value {
            Some(value) => write!(out, "{before}{value}")?,
            None => write!(out, "{before}null")?,
        }
    }
    out.push(b']');
    Ok(())
}

fn end(connection: &Connection) -> &'static str {
    if connection.reset {
        "rst"
    } else if !connection.cut && connection.directions.iter().any(|direction| direction.fin) {
        "fin"
    } else {
        "open"
    }
}

/// The part of the connection that the capture lacks; empty if it is complete.
pub fn partial(connection: &Connection) -> &'static str {
    let [opener, acceptor] = &connection.directions;
    let start = opener.first.is_none() && acceptor.first.is_none();
    let reverse = !opener.seen || !acceptor.seen;
    match (start, reverse) {
        (false, false) => "",
        (true, false) => "start",
        (false, true) => "reverse",
        (true, true) => "start reverse",
    }
}

/// Class of the applications that usually listen on a port.
pub fn class(port: u16) -> &'static str {
    match port {
        80 | 3128 | 8000 | 8008 | 8080 => "web",
        443 | 8443 => "tls",
        25 | 110 | 143 | 465 | 587 | 993 | 995 => "mail",
        22 => "ssh",
        53 | 853 => "dns",
        _ => "other",
    }
}
