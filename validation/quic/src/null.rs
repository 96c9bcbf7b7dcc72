//! TLS of quinn without cryptography: messages of given lengths in the order of RFC 8446, keys that change nothing.

use std::any::Any;
use std::sync::Arc;

use crate::frames;
use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

/// Lengths of the handshake messages in bytes; the first `server_hello` bytes of the server's
/// flight go in Initial packets.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    pub client_hello: usize,
    pub server_hello: usize,
    pub server_rest: usize,
    pub finished: usize,
}

/// Length in bytes of the tag of AEAD_AES_128_GCM.
const TAG: usize = 16;

struct Null;

impl PacketKey for Null {
    fn encrypt(&self, _packet: u64, _buf: &mut [u8], _header_len: usize) {}
    fn decrypt(&self, _n: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let len = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(len);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Null {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}
    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        TAG
    }
}

impl HmacKey for Null {
    fn sign(&self, _data: &[u8], signature: &mut [u8]) {
        signature.fill(0xa5); // not zeros, which end every packet: its token would be taken for a stateless reset
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, _data: &[u8], _signature: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Null)
    }
}

impl AeadKey for Null {
    fn seal(&self, _data: &mut Vec<u8>, _more: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], _more: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}

/// A key whose signatures are constant.
pub fn hmac() -> Arc<dyn HmacKey> {
    Arc::new(Null)
}

/// A key that leaves tokens unencrypted.
pub fn token_key() -> Arc<dyn HandshakeTokenKey> {
    Arc::new(Null)
}

fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(Null), remote: Box::new(Null) }
}

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Null), remote: Box::new(Null) },
        packet: packet_keys(),
    }
}

/// `min_ack_delay` of draft-ietf-quic-ack-frequency. A peer that does not announce it is sent no IMMEDIATE_ACK frame,
/// which quinn puts into its probes.
const MIN_ACK_DELAY: u64 = 0xff04_de1b;

/// Transport parameters without one of them (RFC 9000 section 18).
fn without(params: &[u8], id: u64) -> Vec<u8> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < params.len() {
        let (which, next) = frames::read(params, at).expect("an identifier");
        let (len, next) = frames::read(params, next).expect("a length");
        let end = next + len as usize;
        if which != id {
            kept.extend_from_slice(&params[at..end]);
        }
        at = end;
    }
    kept
}

/// The handshake's state at one end.
struct Exchange {
    side: Side,
    lengths: Lengths,
    own: TransportParameters,
    peer: Option<TransportParameters>,
    received: Vec<u8>,
    /// Number of calls of `write_handshake` that wrote something.
    written: u8,
}

impl Exchange {
    /// The transport parameters, after their length, filled up to `len` bytes.
    fn message(&self, len: usize) -> Vec<u8> {
        let mut params = Vec::new();
        self.own.write(&mut params);
        let params = without(&params, MIN_ACK_DELAY);
        let mut message = (params.len() as u16).to_be_bytes().to_vec();
        message.extend(params);
        assert!(message.len() <= len, "{} B of parameters in {len} B", message.len());
        message.resize(len, 0);
        message
    }

    /// The peer's transport parameters in a message that begins here.
    fn parameters(&self, at: usize) -> Option<TransportParameters> {
        let message = self.received.get(at..)?;
        let len = u16::from_be_bytes([*message.first()?, *message.get(1)?]);
        let mut params = message.get(2..2 + usize::from(len))?;
        TransportParameters::read(self.side, &mut params).ok()
    }
}

impl Session for Exchange {
    fn initial_keys(&self, _dst_cid: &ConnectionId, _side: Side) -> Keys {
        keys()
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        None
    }
    fn is_handshaking(&self) -> bool {
        let Lengths { client_hello, finished, .. } = self.lengths;
        match self.side {
            Side::Client => self.written < 11,
            Side::Server => self.received.len() < client_hello + finished,
        }
    }
    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.received.extend_from_slice(buf);
        let Lengths { client_hello, server_hello, server_rest, .. } = self.lengths;
        let (from, whole) = match self.side {
            Side::Client => (server_hello, server_hello + server_rest),
            Side::Server => (0, client_hello),
        };
        if self.peer.is_none() && self.received.len() >= whole {
            self.peer = self.parameters(from);
            return Ok(true);
        }
        Ok(false)
    }
    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }
    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let Lengths { client_hello, server_hello, server_rest, finished } = self.lengths;
        let received = self.received.len();
        match (self.side, self.written) {
            (Side::Client, 0) => buf.extend(self.message(client_hello)),
            // The server's hello has come: keys for Handshake packets, nothing to write yet.
            (Side::Client, 1) if received >= server_hello => {
                self.written = 10;
                return Some(keys());
            }
            (Side::Client, 10) if received >= server_hello + server_rest => {
                buf.extend(vec![0; finished]);
                self.written = 11;
                return Some(keys());
            }
            (Side::Server, 0) if received >= client_hello => {
                buf.extend(vec![0; server_hello]);
                self.written = 1;
                return Some(keys());
            }
            (Side::Server, 1) => {
                buf.extend(self.message(server_rest));
                self.written = 2;
                return Some(keys());
            }
            _ => return None,
        }
        self.written = 1;
        None
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(packet_keys())
    }
    fn is_valid_retry(&self, _cid: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        false
    }
    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl Exchange {
    fn new(side: Side, lengths: Lengths, own: &TransportParameters) -> Box<dyn Session> {
        Box::new(Exchange { side, lengths, own: *own, peer: None, received: vec![], written: 0 })
    }
}

impl ClientConfig for Lengths {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Exchange::new(Side::Client, *self, params))
    }
}

impl ServerConfig for Lengths {
    fn initial_keys(&self, _version: u32, _cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }
    fn retry_tag(&self, _version: u32, _cid: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        params: &TransportParameters,
    ) -> Box<dyn Session> {
        Exchange::new(Side::Server, *self, params)
    }
}
