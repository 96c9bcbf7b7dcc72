//! Starts and supervises the programs of a run: programs of users, servers, and commands that the
//! caller runs behind the link.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};
use rustix::process::Pid;
use rustix::thread::CapabilitySet;
use serde_json::Value;
use sim::topology::Side;

use crate::control::{LONGEST, Message};
use crate::fault::{Fault, doing};
use crate::netns::Namespace;

/// Environment variable with the file descriptor of a program's socket to the router.
pub const CONTROL: &str = "AQMLAB_LIVE_CONTROL";
/// Environment variable with the file descriptor of the socket to the pair's program on the other
/// side.
pub const PARTNER: &str = "AQMLAB_LIVE_PARTNER";

/// Description of a program to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name of the program in messages.
    pub name: String,
    /// Side in whose namespace the program runs.
    pub side: Side,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Number of the program's pair: the two programs of users of one pair, one on each side, are
    /// connected to each other and to the router. `None` for all other programs.
    pub pair: Option<u8>,
    /// File for the program's standard error; `None` to inherit the supervisor's streams.
    pub errors: Option<PathBuf>,
    /// File descriptors that the program inherits from the supervisor.
    pub files: Vec<RawFd>,
    /// Whether the program's standard input is a pipe that ends when the supervisor ends.
    pub tied: bool,
    /// Whether the run is over when this program ends.
    pub ends_run: bool,
    /// User and group that the program runs as, if not the supervisor's.
    pub identity: Option<(u32, u32)>,
}

/// A program that was started.
pub struct Running {
    /// The description by which the supervisor started the program.
    pub part: Part,
    child: Child,
    /// The router's end of the socket to a program of users.
    pub control: Option<OwnedFd>,
    /// Exit code if the program has ended; 128 plus the signal's number if a signal ended it.
    pub code: Option<i32>,
}

impl Part {
    /// Reads the description of a program from a run's specification.
    ///
    /// # Errors
    /// A sentence, if a field is missing.
    pub fn read(json: &Value) -> Result<Part, Fault> {
        let missing = |key: &str| Fault(format!("a part of the run lacks {key}"));
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        let words = json["argv"].as_array().ok_or_else(|| missing("argv"))?;
        let argv: Vec<String> =
            words.iter().filter_map(|w| w.as_str().map(str::to_owned)).collect();
        if argv.is_empty() {
            return Err(missing("argv"));
        }
        let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
        let file = |value: &Value| value.as_i64().and_then(|n| RawFd::try_from(n).ok());
        Ok(Part {
            name: text("name").ok_or_else(|| missing("name"))?,
            side: if json["side"] == "servers" { Side::Servers } else { Side::Clients },
            argv,
            pair: number(&json["pair"]).map(|pair| pair as u8),
            errors: text("errors").map(PathBuf::from),
            files: json["files"].as_array().into_iter().flatten().filter_map(file).collect(),
            tied: json["tied"] == true,
            ends_run: json["ends_run"] == true,
            identity: number(&json["identity"][0]).zip(number(&json["identity"][1])),
        })
    }
}

/// Starts programs, each in the namespace of its side. The two programs of a pair get connected
/// sockets.
///
/// # Errors
/// A sentence that names the program that cannot be started.
pub fn start(parts: &[Part], namespaces: [&Namespace; 2]) -> Result<Vec<Running>, Fault> {
    let mut waiting: Vec<(u8, OwnedFd)> = Vec::new();
    let mut running = Vec::new();
    for part in parts {
        let place = waiting.iter().position(|(pair, _)| Some(*pair) == part.pair);
        let partner = match (part.pair, place) {
            (_, Some(place)) => Some(waiting.swap_remove(place).1),
            (Some(pair), None) => {
                let (own, other) = local_pair(SocketType::STREAM)?;
                waiting.push((pair, other));
                Some(own)
            }
            (None, None) => None,
        };
        let namespace = namespaces[usize::from(crate::addresses::index(part.side))];
        running.push(start_one(part, namespace, partner)?);
    }
    Ok(running)
}

fn local_pair(kind: SocketType) -> Result<(OwnedFd, OwnedFd), Fault> {
    socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
        .map_err(doing("make a socket"))
}

/// Starts a program in a namespace; `partner` is the socket to the other program of its pair.
///
/// # Errors
/// A sentence that names the program that cannot be started.
pub fn start_one(
    part: &Part,
    namespace: &Namespace,
    partner: Option<OwnedFd>,
) -> Result<Running, Fault> {
    let mut command = Command::new(&part.argv[0]);
    command.args(&part.argv[1..]);
    if let Some((user, group)) = part.identity {
        command.uid(user).gid(group);
    }
    if let Some(path) = &part.errors {
        let file = File::create(path).map_err(doing("make a file for errors"))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    }
    if part.tied {
        command.stdin(Stdio::piped());
    }
    command.env_remove(crate::system::PARENT);
    let mut kept = Vec::new();
    let mut control = None;
    if let Some(partner) = partner {
        let (own, other) = local_pair(SocketType::SEQPACKET)?;
        command.env(PARTNER, partner.as_raw_fd().to_string());
        command.env(CONTROL, other.as_raw_fd().to_string());
        kept.extend([partner, other]);
        control = Some(own);
    }
    // Programs of users need this capability to choose any congestion control for their sockets.
    let able = if control.is_some() { CapabilitySet::NET_ADMIN } else { CapabilitySet::empty() };
    let files = kept.iter().map(AsRawFd::as_raw_fd).chain(part.files.iter().copied()).collect();
    crate::system::confine(&mut command, files, able);
    let child = namespace.within(|| command.spawn())?.map_err(|error| {
        Fault(format!("{} cannot be started ({error}): give a program that is there", part.argv[0]))
    })?;
    Ok(Running { part: part.clone(), child, control, code: None })
}

impl Running {
    /// The process identifier of the part.
    pub fn process(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Whether the program has ended.
    ///
    /// # Errors
    /// A sentence, if the system call fails.
    pub fn has_ended(&mut self) -> Result<bool, Fault> {
        use std::os::unix::process::ExitStatusExt;
        if self.code.is_none() {
            let status = self.child.try_wait().map_err(doing("wait for a program"))?;
            self.code = status.map(|s| s.code().unwrap_or(128 + s.signal().unwrap_or(0)));
        }
        Ok(self.code.is_some())
    }

    /// Waits at most this many tenths of a second for the program's end. Returns whether it has
    /// ended.
    ///
    /// # Errors
    /// As [`Running::has_ended`].
    pub fn ends_within(&mut self, tenths: u32) -> Result<bool, Fault> {
        for _ in 0..tenths {
            if self.has_ended()? {
                return Ok(true);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        self.has_ended()
    }

    /// The last line of standard error of a program of users that has failed.
    pub fn failure(&self) -> Option<Fault> {
        let code = self.code.filter(|&code| code != 0 && self.part.pair.is_some())?;
        let said = self.part.errors.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let said = said.unwrap_or_default();
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let why = last.map_or_else(|| format!("exit code {code}"), str::to_owned);
        Some(Fault(format!("{} stopped: {why}", self.part.name)))
    }

    /// Kills the program if it has not ended.
    pub fn stop(&mut self) {
        if self.code.is_none() {
            // An error means that it has ended meanwhile.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    /// Waits until a program of users reports that its servers listen.
    ///
    /// # Errors
    /// A sentence, if the program ends or does not report within `most`.
    pub fn wait_until_ready(&mut self, most: Duration) -> Result<(), Fault> {
        let steps = most.as_millis() / 2;
        for _ in 0..steps {
            match self.receive() {
                Some(Message::Ready) => return Ok(()),
                _ if self.has_ended()? => {
                    let silent = || Fault(format!("{} ended before the run began", self.part.name));
                    return Err(self.failure().unwrap_or_else(silent));
                }
                _ => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        Err(Fault(format!("{} did not get ready within {} s", self.part.name, most.as_secs())))
    }

    /// Sends a program of users the time when the run begins, ns of `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// A sentence, if the message cannot be sent.
    pub fn begin(&self, at_ns: u64) -> Result<(), Fault> {
        let Some(control) = &self.control else { return Ok(()) };
        let (bytes, length) = Message::Begin(at_ns).encode();
        send(control, &bytes[..length], SendFlags::NOSIGNAL)
            .map(drop)
            .map_err(doing("send a program its start time"))
    }

    /// The next message from the program, if there is one.
    pub fn receive(&self) -> Option<Message> {
        let mut bytes = [0; LONGEST + 1];
        match recv(self.control.as_ref()?, &mut bytes, RecvFlags::DONTWAIT) {
            Ok((length, _)) => Message::decode(&bytes[..length]),
            Err(Errno::AGAIN | Errno::INTR) | Err(_) => None,
        }
    }
}
