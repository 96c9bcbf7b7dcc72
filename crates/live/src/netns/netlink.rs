//! The part of rtnetlink (RFC 3549) that a namespace needs: brings a device up, gives it an
//! address, and adds routes.

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};

const SET_LINK: u16 = 19;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const NEW_QDISC: u16 = 36;
const ERROR: u16 = 2;
/// Flags of a request: NLM_F_REQUEST, NLM_F_ACK, NLM_F_REPLACE and NLM_F_CREATE.
const REQUEST: u16 = 0x1 | 0x4 | 0x100 | 0x400;

const UP: u32 = 1;
const MAIN: u8 = 254;
const LOCAL: u8 = 255;
const STATIC: u8 = 4;
const LINK_SCOPE: u8 = 253;
const HOST_SCOPE: u8 = 254;
const UNICAST: u8 = 1;
const TO_HOST: u8 = 2;
const NO_DUPLICATE_DETECTION: u8 = 2;

/// A netlink socket in the calling thread's network namespace.
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

/// Metrics of a route, which TCP connections over it use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Initial congestion window in segments (`initcwnd`); 0 for the kernel's default.
    pub initial_window: u32,
    /// Whether receivers acknowledge every segment at once (`quickack`).
    pub quick_acknowledgements: bool,
    /// Congestion control of sockets that do not choose one (`congctl`).
    pub congestion: Option<String>,
}

impl Metrics {
    fn attributes(&self) -> Request {
        let mut out = Request(Vec::new());
        if self.initial_window > 0 {
            out = out.number(11, self.initial_window);
        }
        if self.quick_acknowledgements {
            out = out.number(15, 1);
        }
        if let Some(name) = &self.congestion {
            out = out.attribute(16, &[name.as_bytes(), b"\0"].concat());
        }
        out
    }
}

/// A netlink request under construction, without its length and sequence number.
struct Request(Vec<u8>);

impl Request {
    fn new(kind: u16, body: &[u8]) -> Request {
        let mut bytes = vec![0; 4];
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(REQUEST.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(body);
        Request(bytes)
    }

    fn attribute(mut self, kind: u16, value: &[u8]) -> Request {
        self.0.extend(((4 + value.len()) as u16).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    fn number(self, kind: u16, value: u32) -> Request {
        self.attribute(kind, &value.to_ne_bytes())
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

fn family(address: IpAddr) -> u8 {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    family.as_raw() as u8
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl Netlink {
    /// Opens a netlink socket.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open() -> io::Result<Netlink> {
        let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// The interface index of a device.
    ///
    /// # Errors
    /// If there is no device of that name.
    pub fn device(&self, name: &str) -> io::Result<u32> {
        Ok(rustix::net::netdevice::name_to_index(&self.socket, name)?)
    }

    fn ask(&mut self, request: Request) -> io::Result<()> {
        self.sequence += 1;
        let mut bytes = request.0;
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.sequence.to_ne_bytes());
        send(&self.socket, &bytes, SendFlags::empty())?;
        let mut answer = [0; 4096];
        let (taken, _) = recv(&self.socket, &mut answer, RecvFlags::empty())?;
        let field = |at: usize| answer[at..at + 4].try_into().map(i32::from_ne_bytes);
        let kind = u16::from_ne_bytes([answer[4], answer[5]]);
        match (kind, taken >= 20, field(16)) {
            (ERROR, true, Ok(0)) => Ok(()),
            (ERROR, true, Ok(error)) => Err(Errno::from_raw_os_error(-error).into()),
            _ => Err(io::Error::other("the kernel's answer was not understood")),
        }
    }

    /// Brings a device up. Sets its queue length in packets and its MTU in bytes unless they are 0.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn bring_up(&mut self, device: u32, queue: u32, mtu: u32) -> io::Result<()> {
        let mut body = vec![0; 4];
        body.extend(device.to_ne_bytes());
        body.extend(UP.to_ne_bytes());
        body.extend(UP.to_ne_bytes());
        let mut request = Request::new(SET_LINK, &body);
        if queue > 0 {
            request = request.number(13, queue);
        }
        if mtu > 0 {
            request = request.number(4, mtu);
        }
        self.ask(request)
    }

    /// Sets the qdisc `noqueue` on a device: packets go to the device at once.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn without_queue(&mut self, device: u32) -> io::Result<()> {
        let mut body = vec![0; 4];
        body.extend(device.to_ne_bytes());
        body.extend([0; 4]);
        body.extend(u32::MAX.to_ne_bytes()); // at the device's root
        body.extend([0; 4]);
        self.ask(Request::new(NEW_QDISC, &body).attribute(1, b"noqueue\0"))
    }

    /// Adds an address to a device, with a prefix of full length (/32 or /128).
    ///
    /// # Errors
    /// The kernel's error.
    pub fn add_address(&mut self, device: u32, address: IpAddr) -> io::Result<()> {
        let mut body = vec![family(address), bits(address), NO_DUPLICATE_DETECTION, 0];
        body.extend(device.to_ne_bytes());
        let octets = octets(address);
        self.ask(Request::new(NEW_ADDRESS, &body).attribute(2, &octets).attribute(1, &octets))
    }

    /// Adds a local route: every address of the prefix is one of the namespace itself.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn own(&mut self, loopback: u32, (prefix, bits): (IpAddr, u8)) -> io::Result<()> {
        let body = [family(prefix), bits, 0, 0, LOCAL, STATIC, HOST_SCOPE, TO_HOST, 0, 0, 0, 0];
        let request = Request::new(NEW_ROUTE, &body);
        self.ask(request.attribute(1, &octets(prefix)).number(4, loopback))
    }

    /// Adds a route to this prefix over a device. `own` is the source address of sockets that are
    /// not bound to one.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn route(
        &mut self,
        device: u32,
        (prefix, bits): (IpAddr, u8),
        own: IpAddr,
        metrics: &Metrics,
    ) -> io::Result<()> {
        let scope = if prefix.is_ipv4() { LINK_SCOPE } else { 0 };
        let body = [family(prefix), bits, 0, 0, MAIN, STATIC, scope, UNICAST, 0, 0, 0, 0];
        let of_route = metrics.attributes();
        let mut request = Request::new(NEW_ROUTE, &body)
            .attribute(1, &octets(prefix))
            .number(4, device)
            .attribute(7, &octets(own));
        if !of_route.0.is_empty() {
            request = request.attribute(8, &of_route.0);
        }
        self.ask(request)
    }
}
