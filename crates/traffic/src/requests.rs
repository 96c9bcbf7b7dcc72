//! Users who make given requests: think times and sizes come from a file, so that another program
//! can make identical requests.

use std::ops::Range;
use std::sync::Arc;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{About, Duration};

use crate::entry::{Entry, Group, Population, USERS};
use crate::{Action, App, AppCx, Closes, Input};

/// Connection number of every request: the number is free again before the next request.
const CONN: u32 = 0;

/// The registry's entry for users who make the requests of a file.
pub const ENTRY: Entry = Entry {
    about: About {
        name: "requests",
        summary: "Users who make given requests one after the other: think times and sizes from a file.",
        year: 2026,
        source: "constructed, to replay identical requests in several programs",
        deviations: "Every request has a connection of its own, which the server closes with its reply.",
        fields: FIELDS,
    },
    noun: USERS,
    fetches: true,
    datagrams: false,
    build,
};

static FIELDS: &[Field] = &[
    Field::new("requests", Kind::File, Value::Unset)
        .meaning(
            "A CSV file with a row for each request and the header \
                  user,think_s,request_bytes,reply_bytes: who makes it, counted from 0; how long \
                  after the user's reply before it (or start, or failure), in seconds; payload \
                  bytes. A fifth column, server, says which machine it goes to, modulo how many \
                  there are; without it users go round the machines.",
        )
        .source("required"),
    Field::new("repeat", Kind::Switch, Value::Switch(false))
        .meaning("Whether a user begins anew after the last request; otherwise it has finished.")
        .source("constructed"),
];

/// Columns of the header, of which the last one may be left out.
const COLUMNS: [&str; 5] = ["user", "think_s", "request_bytes", "reply_bytes", "server"];

/// Longest think time in seconds, as for any time in a scenario.
const LONGEST: f64 = 1e9;

/// Largest request or reply, bytes.
const MOST_BYTES: u64 = 1 << 53;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Request {
    think: Duration,
    bytes: u64,
    reply_bytes: u64,
    /// Number of the machine, if the file gives one.
    server: Option<u32>,
}

/// The requests of all users; those of one user stand together and in order.
#[derive(Debug)]
struct RequestLists {
    requests: Vec<Request>,
    /// Index of each user's first request; the last entry is the number of all requests.
    begins: Vec<usize>,
}

impl RequestLists {
    /// Reads a file's content. An error is a sentence that begins with the line.
    fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let header = COLUMNS.join(",");
        let (first, head) = lines.next().unwrap_or((1, ""));
        let columns = COLUMNS.iter().zip(head.split(',')).filter(|(a, b)| **a == b.trim()).count();
        if columns < 4 || columns != head.split(',').count() {
            return Err(format!(
                "line {first}: the header is not {header} (server may be left out)"
            ));
        }
        let mut rows = Vec::new();
        for (number, line) in lines {
            rows.push(row(line, columns).map_err(|why| format!("line {number}: {why}"))?);
        }
        // The sort is stable: a user's requests stay in the order of the file.
        rows.sort_by_key(|(user, _)| *user);
        let mut begins = Vec::new();
        for (place, (user, _)) in rows.iter().enumerate() {
            match (*user as usize + 1).checked_sub(begins.len()) {
                Some(0) => {}
                Some(1) => begins.push(place),
                _ => {
                    return Err(format!(
                        "user {} makes no request; number users from 0 on",
                        begins.len()
                    ));
                }
            }
        }
        if begins.is_empty() {
            return Err("there is no request in it; give a row for each".into());
        }
        begins.push(rows.len());
        Ok(RequestLists {
            requests: rows.into_iter().map(|(_, request)| request).collect(),
            begins,
        })
    }

    fn users(&self) -> usize {
        self.begins.len() - 1
    }

    fn of(&self, user: u32) -> Range<usize> {
        self.begins[user as usize]..self.begins[user as usize + 1]
    }
}

/// Reads the user and the request of a row.
fn row(line: &str, columns: usize) -> Result<(u32, Request), String> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    if cells.len() != columns {
        return Err(format!("{} values stand under {columns} columns; give each one", cells.len()));
    }
    let whole = |column: usize, min: u64, max: u64| {
        let value = cells[column].parse().ok().filter(|value| (min..=max).contains(value));
        value.ok_or_else(|| {
            let (name, cell) = (COLUMNS[column], cells[column]);
            format!("{name} is \"{cell}\", not a whole number from {min} to {max}")
        })
    };
    let think = cells[1].parse().ok().filter(|think| (0.0..=LONGEST).contains(think));
    let think = think.ok_or_else(|| {
        format!("think_s is \"{}\", not a number of seconds from 0 to 10^9", cells[1])
    })?;
    let server = (columns > 4).then(|| whole(4, 0, u64::from(u32::MAX))).transpose()?;
    let request = Request {
        think: Duration::from_secs_f64(think),
        bytes: whole(2, 1, MOST_BYTES)?,
        reply_bytes: whole(3, 1, MOST_BYTES)?,
        server: server.map(|server| server as u32),
    };
    Ok((whole(0, 0, u64::from(u32::MAX) - 1)? as u32, request))
}

#[derive(Debug)]
struct Reader {
    book: Arc<RequestLists>,
    all: Range<usize>,
    next: usize,
    repeat: bool,
    peers: u32,
    /// Index of the machine for requests without a server.
    peer: u32,
}

impl Reader {
    /// Schedules the next request after its think time, if there is one.
    fn think(&mut self, cx: &mut AppCx) {
        if self.next == self.all.end && self.repeat {
            self.next = self.all.start;
        }
        if self.next < self.all.end {
            (cx.act)(Action::WakeAt(cx.now + self.book.requests[self.next].think));
        }
    }

    fn ask(&mut self, cx: &mut AppCx) {
        let request = self.book.requests[self.next];
        self.next += 1;
        let peer = request.server.map_or(self.peer, |server| server % self.peers);
        (cx.act)(Action::Open { conn: CONN, peer, closes: Closes::Acceptor });
        (cx.act)(Action::Send {
            conn: CONN,
            bytes: request.bytes,
            reply_bytes: request.reply_bytes,
            service: Duration::ZERO,
        });
    }
}

impl App for Reader {
    fn on(&mut self, input: Input, cx: &mut AppCx) {
        match input {
            Input::Woke => self.ask(cx),
            Input::Start | Input::Replied { .. } | Input::Failed { .. } => self.think(cx),
            Input::Sent { .. } | Input::Received { .. } | Input::Opened { .. } => {}
        }
    }
}

/// Builds the users of a group.
///
/// # Errors
/// If a side has no machine, the file is missing or damaged, or it has fewer users than the group.
fn build(params: &Params, group: &Group) -> Result<Population, BadParams> {
    group.need_machines("users")?;
    let bad = |why: String| BadParams::new("requests", why);
    let Some([file, text]) = params.content("requests") else {
        return Err(bad("is missing; give the name of a CSV file".into()));
    };
    let book = RequestLists::parse(text).map_err(|why| bad(format!("{file}, {why}")))?;
    if book.users() < group.sources as usize {
        let (has, requested) = (book.users(), group.sources);
        let why = format!(
            "{file} has the requests of {has} users, not of {requested}; write users = {has}"
        );
        return Err(bad(why));
    }
    let (book, repeat) = (Arc::new(book), params.switch("repeat"));
    let group = group.clone();
    Ok(Population::new(group.sources, move |user| {
        let (book, all, peer) = (Arc::clone(&book), book.of(user), group.peer_of(user));
        Reader { book, next: all.start, all, repeat, peers: group.peers, peer }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "user,think_s,request_bytes,reply_bytes";

    #[test]
    fn rows_may_stand_in_any_order_of_users() {
        let text =
            format!("# ours\n{HEAD},server\n1,0.5,100,2000,7\n\n0, 1e-3, 1,2, 0\n1,0,3,4,1\n");
        let book = RequestLists::parse(&text).unwrap();
        assert_eq!((book.users(), book.of(0), book.of(1)), (2, 0..1, 1..3));
        let second = Request {
            think: Duration::from_millis(500),
            bytes: 100,
            reply_bytes: 2_000,
            server: Some(7),
        };
        assert_eq!(book.requests[1], second);
        assert_eq!(book.requests[2].bytes, 3);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, expected) in [
            ("", "line 1: the header is not user,think_s,request_bytes,reply_bytes,server"),
            ("user,think_s\n0,1", "line 1: the header is not"),
            ("user,think_s,request_bytes,reply_bytes,host\n", "line 1: the header is not"),
            (HEAD, "there is no request in it"),
            (&format!("{HEAD}\n0,1,2"), "line 2: 3 values stand under 4 columns"),
            (&format!("{HEAD}\n0,-1,2,3"), "line 2: think_s is \"-1\", not a number of seconds"),
            (&format!("{HEAD}\n0,inf,2,3"), "line 2: think_s is \"inf\""),
            (&format!("{HEAD}\n0,nan,2,3"), "line 2: think_s is \"nan\""),
            (
                &format!("{HEAD}\n0,1,0,3"),
                "line 2: request_bytes is \"0\", not a whole number from 1",
            ),
            (&format!("{HEAD}\n0,1,2,x"), "line 2: reply_bytes is \"x\""),
            (&format!("{HEAD}\n-1,1,2,3"), "line 2: user is \"-1\""),
            (
                &format!("{HEAD}\n4294967295,1,2,3"),
                "line 2: user is \"4294967295\", not a whole number from 0 to 4294967294",
            ),
            (&format!("{HEAD}\n0,1,2,3\n2,1,2,3"), "user 1 makes no request; number users from 0"),
        ] {
            let why = RequestLists::parse(text).unwrap_err();
            assert!(why.starts_with(expected), "{text:?}: {why}");
        }
    }
}
