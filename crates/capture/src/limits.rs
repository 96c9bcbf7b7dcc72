//! What bounds the memory and decides when a connection is over.

/// Bounds and times; the defaults suit captures of any size.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections kept open at once; with one more, the one that has been silent for longest is
    /// taken as it is.
    pub open: usize,
    /// Bytes that all vectors of open connections may take together. Above it the connection that
    /// grows is cut in two.
    pub vectors: usize,
    /// Bytes that the vector of one open connection may take (some 10 an epoch).
    pub vector: usize,
    /// Hosts that get a number of their own.
    pub hosts: usize,
    /// Silence after which a connection is taken to be over, nanoseconds: 15 minutes, beyond
    /// common idle times of servers (constructed).
    pub idle_ns: i64,
    /// Silence after which a connection whose handshake is incomplete has ended: 75 s, the time
    /// BSD's `connect()` waits.
    pub embryonic_ns: i64,
    /// How long a closed connection still owns its late packets, such as a FIN retransmitted with
    /// growing intervals: 60 s, as long as BSD keeps TIME-WAIT.
    pub linger_ns: i64,
}

impl Default for Limits {
    fn default() -> Self {
        const S: i64 = 1_000_000_000;
        Limits {
            open: 1 << 18,
            vectors: 128 << 20,
            vector: 4 << 20,
            hosts: 1_000_000,
            idle_ns: 900 * S,
            embryonic_ns: 75 * S,
            linger_ns: 60 * S,
        }
    }
}
