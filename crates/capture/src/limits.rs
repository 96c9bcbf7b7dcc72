//! Limits of memory, and the silence after which a connection is over.

/// Limits of memory and of time; the defaults suit captures of any size.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most connections kept open at once. One more evicts the one that has been silent for
    /// longest, first of the closed ones, then of those with an incomplete handshake.
    pub open: usize,
    /// Bytes that all vectors of open connections may take together. Above this limit a connection
    /// whose vector grows is cut in two.
    pub vectors: usize,
    /// Bytes that the vector of one open connection may take (an epoch takes about 10).
    pub vector: usize,
    /// Number of hosts that get a number of their own.
    pub hosts: usize,
    /// Silence after which a connection is taken to be over, nanoseconds: 15 minutes, beyond
    /// common idle times of servers; our own choice, without a source.
    pub idle_ns: i64,
    /// Silence after which a connection whose handshake is incomplete has ended: 75 s, the time
    /// BSD's `connect()` waits.
    pub embryonic_ns: i64,
    /// How long after its last packet a closed connection is kept for late packets, such as a FIN
    /// retransmitted with growing intervals, ns: 60 s, as long as BSD keeps TIME-WAIT.
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
