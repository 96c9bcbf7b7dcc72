//! An end of quinn-proto.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use packet::Ecn;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionEvent, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint,
    Endpoint, EndpointConfig, Event, RandomConnectionIdGenerator, ReadError, ServerConfig,
    StreamEvent, StreamId, TransportConfig, VarInt,
};

use crate::control::{AppendixBs, Losses};
use crate::end::{Body, Datagram, End, Reply, Seen};
use crate::frames::{self, Numbers};
use crate::null::{self, Lengths};

/// Length in bytes of the IPv4 and UDP headers.
const HEADERS: u32 = 28;

/// The congestion controls that may be chosen: quinn's own, and that of RFC 9002, appendix B.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    Cubic,
    Reno,
    AppendixB,
}

/// The settings of quinn that a comparison varies.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub control: Which,
    pub lengths: Lengths,
    pub ecn: bool,
    /// Whether quinn works as it is shipped: acknowledged packets grow the window before losses
    /// reduce it, and a window is never filled.
    pub shipped: bool,
}

fn transport(settings: &Settings) -> TransportConfig {
    let mut config = TransportConfig::default();
    let window = VarInt::from_u64(1 << 40).expect("below 2^62");
    config
        .stream_receive_window(window)
        .receive_window(window)
        .send_window(1 << 40)
        .initial_mtu(1_200)
        .min_mtu(1_200)
        .mtu_discovery_config(None)
        .allow_spin(false)
        .datagram_receive_buffer_size(None)
        .enable_segmentation_offload(false);
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match settings.control {
        Which::Cubic => Arc::new(CubicConfig::default()),
        Which::Reno => Arc::new(NewRenoConfig::default()),
        Which::AppendixB => Arc::new(AppendixBs),
    };
    config.congestion_controller_factory(if settings.shipped {
        factory
    } else {
        Arc::new(Losses::first(factory))
    });
    config
}

pub struct Quinn {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    settings: Settings,
    /// The instant that counts as time 0.
    zero: Instant,
    client: bool,
    peer: SocketAddr,
    reply: Reply,
    stream: Option<StreamId>,
    /// Number of bytes that the client has read.
    read: u64,
    /// Whether the client has read all bytes.
    whole: bool,
    /// Number of bytes that the server has still to write.
    unwritten: u64,
    numbers: Numbers,
    /// The highest offset of data that was sent.
    sent: u64,
    out: Vec<u8>,
}

fn endpoint(client: bool, settings: &Settings, seed: u8) -> Endpoint {
    let mut config = EndpointConfig::new(null::hmac());
    config.grease_quic_bit(false).rng_seed(Some([seed; 32]));
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
    let server = (!client).then(|| {
        let mut server = ServerConfig::new(Arc::new(settings.lengths), null::token_key());
        server.transport_config(Arc::new(transport(settings)));
        server.validation_token.sent(0);
        Arc::new(server)
    });
    Endpoint::new(Arc::new(config), server, false, None)
}

impl Quinn {
    pub fn new(settings: &Settings, client: bool, reply: Reply, zero: Instant, seed: u8) -> Self {
        let port = if client { 443 } else { 50_000 };
        Quinn {
            endpoint: endpoint(client, settings, seed),
            connection: None,
            settings: *settings,
            zero,
            client,
            peer: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            reply,
            stream: None,
            read: 0,
            whole: false,
            unwritten: 0,
            numbers: Numbers::default(),
            sent: 0,
            out: Vec::new(),
        }
    }

    fn at(&self, ns: u64) -> Instant {
        self.zero + Duration::from_nanos(ns)
    }

    /// Handles the events that the connection has for its endpoint and for the application.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if !self.client => {
                    self.stream = connection.streams().open(Dir::Uni);
                    self.unwritten = self.reply;
                }
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
                Event::ConnectionLost { reason } => eprintln!("lost: {reason}"),
                _ => {}
            }
        }
        match self.stream {
            Some(stream) if self.client => self.read(stream),
            Some(stream) => self.write(stream),
            None => {}
        }
    }

    /// The application of a client reads all data that has arrived.
    fn read(&mut self, stream: StreamId) {
        let Some((_, connection)) = &mut self.connection else { return };
        let mut stream = connection.recv_stream(stream);
        let Ok(mut chunks) = stream.read(true) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.read += chunk.bytes.len() as u64,
                Ok(None) => break self.whole = true,
                Err(ReadError::Blocked | ReadError::Reset(_)) => break,
            }
        }
        let _ = chunks.finalize();
    }

    /// The application of a server writes as much data as the stream accepts.
    fn write(&mut self, stream: StreamId) {
        static ZEROS: [u8; 65_536] = [0; 65_536];
        let Some((_, connection)) = &mut self.connection else { return };
        let writes = self.unwritten > 0;
        while self.unwritten > 0 {
            let len = self.unwritten.min(ZEROS.len() as u64);
            let mut chunk = [Bytes::from_static(&ZEROS[..len as usize])];
            match connection.send_stream(stream).write_chunks(&mut chunk) {
                Ok(written) => self.unwritten -= written.bytes as u64,
                Err(_) => return,
            }
        }
        if writes {
            let _ = connection.send_stream(stream).finish();
        }
    }

    fn accept(&mut self, event: DatagramEvent, now: Instant) -> Option<ConnectionEvent> {
        match event {
            DatagramEvent::ConnectionEvent(_, event) => Some(event),
            DatagramEvent::NewConnection(incoming) => {
                let mut out = Vec::new();
                self.connection = self.endpoint.accept(incoming, now, &mut out, None).ok();
                None
            }
            DatagramEvent::Response(_) => None,
        }
    }

    fn datagram(&mut self, ecn: Option<EcnCodepoint>) -> Datagram {
        let mut wire = std::mem::take(&mut self.out);
        let bytes = wire.len() as u32 + HEADERS;
        let found = if self.client {
            frames::of_client(&wire).unwrap_or_default()
        } else {
            self.numbers.out(&mut wire).map(|(found, _)| found).unwrap_or_default()
        };
        let len = |range: &std::ops::Range<u64>| (range.end - range.start) as u32;
        let data = found.data.iter().map(len).sum();
        let before = found.data.iter().map(|range| range.start..range.end.min(self.sent));
        let again = before.filter(|range| range.start < range.end).map(|range| len(&range)).sum();
        let end = found.data.iter().map(|range| range.end).max();
        self.sent = self.sent.max(end.unwrap_or(0));
        let capable = self.settings.ecn && ecn.is_some();
        Datagram {
            bytes,
            ecn: if capable { Ecn::Ect0 } else { Ecn::NotEct },
            data,
            again,
            ping: found.ping,
            only_ack: found.only_ack,
            body: Body::Wire(wire),
        }
    }
}

fn code_point(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

impl End for Quinn {
    fn begin(&mut self, now: u64) {
        let mut config = ClientConfig::new(Arc::new(self.settings.lengths));
        config.transport_config(Arc::new(transport(&self.settings)));
        let now = self.at(now);
        let opened = self.endpoint.connect(now, config, self.peer, "localhost");
        self.connection = Some(opened.expect("a connection that may be opened"));
        self.settle();
    }

    fn receive(&mut self, datagram: Datagram, now: u64) {
        let Body::Wire(mut wire) = datagram.body else { return };
        let now = self.at(now);
        if !self.client {
            self.numbers.back(&mut wire);
        }
        let data = BytesMut::from(&wire[..]);
        let (peer, ecn) = (self.peer, code_point(datagram.ecn));
        let event = self.endpoint.handle(now, peer, None, ecn, data, &mut Vec::new());
        let event = event.and_then(|event| self.accept(event, now));
        if let (Some(event), Some((_, connection))) = (event, &mut self.connection) {
            connection.handle_event(event);
        }
        self.settle();
    }

    fn due(&mut self) -> Option<(u64, u8)> {
        let (_, connection) = self.connection.as_mut()?;
        let due = connection.poll_timeout()?;
        Some((due.saturating_duration_since(self.zero).as_nanos() as u64, 0))
    }

    fn wake(&mut self, now: u64) {
        let now = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.settle();
    }

    fn poll(&mut self, now: u64) -> Option<Datagram> {
        let now = self.at(now);
        self.out.clear();
        let (_, connection) = self.connection.as_mut()?;
        let sent = connection.poll_transmit(now, 1, &mut self.out)?;
        Some(self.datagram(sent.ecn))
    }

    fn seen(&self) -> Seen {
        let cwnd = self.connection.as_ref().map_or(0, |(_, one)| one.stats().path.cwnd);
        Seen { cwnd, arrived: self.read, done: self.client && self.whole }
    }
}
