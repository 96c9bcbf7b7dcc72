/* A congestion control of one's own for aqmlab, as a shared library. Written from aqmlab's sources by
 * its tests: do not edit.
 *
 * The library exports one function, aqmlab_control, which answers with the table of what there is.
 *
 * Read no clock and draw no random number of your own: time is handed in, so that a run can be
 * repeated to the bit. Keep no state outside of what `create` answers.
 */


#ifndef AQMLAB_CONTROL_H
#define AQMLAB_CONTROL_H

#include <stddef.h>
#include <stdint.h>
#include "aqmlab_plugin.h"

/**
 * Version of this interface. It changes when any structure or meaning in this file changes.
 */
#define AQMLAB_CONTROL_VERSION 1

/**
 * State of loss recovery: the sender is not reacting to a loss or mark (TCP_CA_Open of Linux).
 */
#define AQMLAB_STATE_OPEN 0

/**
 * State of loss recovery: the window is being reduced after marks (TCP_CA_CWR of Linux).
 */
#define AQMLAB_STATE_CWR 1

/**
 * State of loss recovery: losses are being repaired by fast recovery.
 */
#define AQMLAB_STATE_RECOVERY 2

/**
 * State of loss recovery: losses are being repaired after a retransmission timeout.
 */
#define AQMLAB_STATE_LOSS 3

/**
 * ECN of RFC 3168: packets are ECT(0), and marks are reported once per window of data.
 */
#define AQMLAB_ECN_OF_RFC3168 0

/**
 * ECN of RFC 8257 (DCTCP): packets are ECT(0), and `marked` counts the marked bytes.
 */
#define AQMLAB_ECN_OF_DCTCP 1

/**
 * ECN of RFC 9331 (L4S): packets are ECT(1), and `marked` counts the marked bytes.
 */
#define AQMLAB_ECN_OF_L4S 2

/**
 * Flag: the control sets cwnd at all times. Without it, the transport moves cwnd towards ssthresh
 * after a loss or mark (RFC 6937), and the control must not set cwnd meanwhile.
 */
#define AQMLAB_OWN_WINDOW 1

/**
 * Flag: the control reads `marked` itself, and `on_ecn` is not called.
 */
#define AQMLAB_OWN_MARKS 2

/**
 * Flag: segments are paced, whether or not the end system paces.
 */
#define AQMLAB_PACED 4

/**
 * Flag: the control needs delivery-rate samples, and `on_lost` for each lost segment.
 */
#define AQMLAB_RATES 8

/**
 * Stands for a time without a value.
 */
#define AQMLAB_NO_TIME UINT64_MAX

/**
 * Windows and pacing rate, which the control sets, and the state of the connection. Amounts are in
 * bytes. The structure is valid during the call only.
 */
typedef struct aqmlab_control_window {
  /**
   * Congestion window; at least one segment.
   */
  uint64_t cwnd;
  /**
   * Slow-start threshold; at least one segment.
   */
  uint64_t ssthresh;
  /**
   * Rate at which segments are paced; 0 for Linux's rule (twice cwnd/srtt below half of ssthresh,
   * 1.2 times above).
   */
  uint64_t pacing_bits_per_s;
  /**
   * Time of the call, in nanoseconds since the run began.
   */
  uint64_t now_ns;
  /**
   * Bytes sent and not acknowledged.
   */
  uint64_t outstanding;
  /**
   * Receive window of the peer.
   */
  uint64_t peer_window;
  /**
   * Smoothed round-trip time in nanoseconds; 0 before the first sample.
   */
  uint64_t srtt_ns;
  /**
   * Segment size, bytes of payload.
   */
  uint32_t mss;
  /**
   * Padding; the control must not use it.
   */
  uint32_t unused;
} aqmlab_control_window;

/**
 * A sample of the connection at one acknowledgement. Amounts are in bytes.
 */
typedef struct aqmlab_control_ack {
  /**
   * Bytes newly acknowledged, cumulatively or selectively.
   */
  uint64_t delivered;
  /**
   * Bytes of `delivered` that the cumulative acknowledgement covers.
   */
  uint64_t acked;
  /**
   * Bytes newly found lost.
   */
  uint64_t lost;
  /**
   * Bytes of `delivered` that were reported to have arrived with CE.
   */
  uint64_t marked;
  /**
   * Bytes in flight before this acknowledgement.
   */
  uint64_t in_flight_before;
  /**
   * Bytes in flight after this acknowledgement.
   */
  uint64_t in_flight;
  /**
   * Newest round-trip time that this acknowledgement measures, in nanoseconds; AQMLAB_NO_TIME if
   * it measures none.
   */
  uint64_t rtt_ns;
  /**
   * Smoothed round-trip time in nanoseconds; 0 before the first sample.
   */
  uint64_t srtt_ns;
  /**
   * Smallest round-trip time of the last 300 s, in nanoseconds.
   */
  uint64_t min_rtt_ns;
  /**
   * Earliest time at which pacing lets the next segment be sent, in nanoseconds since the run
   * began.
   */
  uint64_t next_send_ns;
  /**
   * Interval of the delivery-rate sample in nanoseconds; 0 without a sample.
   */
  uint64_t rate_interval_ns;
  /**
   * Bytes delivered in the interval of the delivery-rate sample.
   */
  uint64_t rate_delivered;
  /**
   * Bytes delivered in the whole connection when the newest acknowledged segment was sent.
   */
  uint64_t rate_prior_delivered;
  /**
   * Bytes delivered in the whole connection until now.
   */
  uint64_t rate_total_delivered;
  /**
   * Bytes in flight when the newest acknowledged segment was sent.
   */
  uint64_t rate_sent_in_flight;
  /**
   * Bytes found lost since the newest acknowledged segment was sent.
   */
  uint64_t rate_lost;
  /**
   * Number of segments newly acknowledged, as Linux counts them for growing the window.
   */
  uint32_t segments;
  /**
   * State of loss recovery: AQMLAB_STATE_...
   */
  uint8_t state;
  /**
   * 1 if this acknowledgement ends a round trip.
   */
  uint8_t round;
  /**
   * 1 if cwnd limited sending at some time in this round trip.
   */
  uint8_t window_limited;
  /**
   * 1 if cwnd may grow: it limited sending, and no loss or mark is reducing it.
   */
  uint8_t may_grow;
  /**
   * 1 if the rate sample is application-limited: data to send was lacking, not window.
   */
  uint8_t app_limited;
  /**
   * 1 if segments are paced.
   */
  uint8_t paced;
  /**
   * Padding; the control must not use it.
   */
  uint8_t unused[6];
} aqmlab_control_ack;

/**
 * A segment that was found lost. Amounts are in bytes.
 */
typedef struct aqmlab_control_lost {
  /**
   * Length of the lost segment, bytes.
   */
  uint64_t bytes;
  /**
   * Bytes in flight when the segment was sent, including the segment.
   */
  uint64_t sent_in_flight;
  /**
   * Bytes found lost since the segment was sent, including the segment.
   */
  uint64_t lost;
  /**
   * Bytes delivered in the whole connection until now.
   */
  uint64_t total_delivered;
  /**
   * 1 if the connection was application-limited when the segment was sent.
   */
  uint8_t app_limited;
  /**
   * Padding; the control must not use it.
   */
  uint8_t unused[7];
} aqmlab_control_lost;

/**
 * A congestion control: its description and its functions. `state` is what `create` returned; one
 * thread at a time uses it. If `on_ecn` or `on_timeout` is null, `on_loss` is called instead.
 */
typedef struct aqmlab_control_table {
  /**
   * AQMLAB_CONTROL_VERSION.
   */
  uint32_t version;
  /**
   * Size of this structure in bytes.
   */
  uint32_t size;
  /**
   * Size of aqmlab_control_window in bytes.
   */
  uint32_t window_size;
  /**
   * Size of aqmlab_control_ack in bytes.
   */
  uint32_t ack_size;
  /**
   * Name of the control: letters, digits and underscores.
   */
  const char *name;
  /**
   * What the control does, in a sentence.
   */
  const char *summary;
  /**
   * The paper or program that the control follows.
   */
  const char *source;
  /**
   * Parameters of the control.
   */
  const aqmlab_plugin_parameter *parameters;
  /**
   * Number of parameters.
   */
  uint32_t parameter_count;
  /**
   * Number of gauges.
   */
  uint32_t gauge_count;
  /**
   * Sum of the flags: AQMLAB_OWN_WINDOW, AQMLAB_OWN_MARKS, AQMLAB_PACED, AQMLAB_RATES.
   */
  uint32_t flags;
  /**
   * Kind of ECN: AQMLAB_ECN_OF_...
   */
  uint32_t ecn;
  /**
   * Names of the gauges.
   */
  const char *const *gauge_names;
  /**
   * Creates the state of one connection. `values` has a value for each parameter. To refuse
   * them, return null and write the reason into `error`: at most `room` bytes with the zero byte
   * at the end.
   */
  void *(*create)(const double *values, char *error, size_t room);
  /**
   * Destroys a connection's state.
   */
  void (*destroy)(void *state);
  /**
   * May be null: the handshake is over.
   */
  void (*on_open)(void *state, struct aqmlab_control_window *window);
  /**
   * An acknowledgement has arrived.
   */
  void (*on_ack)(void *state,
                 struct aqmlab_control_window *window,
                 const struct aqmlab_control_ack *ack);
  /**
   * Losses were found, and recovery has begun: set ssthresh (and cwnd with AQMLAB_OWN_WINDOW).
   */
  void (*on_loss)(void *state, struct aqmlab_control_window *window);
  /**
   * May be null: marks were reported, once per window of data.
   */
  void (*on_ecn)(void *state, struct aqmlab_control_window *window);
  /**
   * May be null: the retransmission timer expired.
   */
  void (*on_timeout)(void *state, struct aqmlab_control_window *window);
  /**
   * May be null: the last reduction was spurious, and the transport has restored cwnd and
   * ssthresh.
   */
  void (*on_undo)(void *state, struct aqmlab_control_window *window);
  /**
   * May be null: a segment is sent after the application had nothing to send for `idle_ns`.
   */
  void (*on_app_limited)(void *state, struct aqmlab_control_window *window, uint64_t idle_ns);
  /**
   * May be null: a segment was found lost. The control cannot set the windows in this call.
   */
  void (*on_lost)(void *state,
                  const struct aqmlab_control_window *window,
                  const struct aqmlab_control_lost *lost);
  /**
   * Writes the values of all gauges into `values`. May be null without gauges.
   */
  void (*gauges)(const void *state, double *values);
} aqmlab_control_table;

#endif  /* AQMLAB_CONTROL_H */

/** The first members of a table. */
#define AQMLAB_CONTROL_HEAD \
    AQMLAB_CONTROL_VERSION, (uint32_t)sizeof(struct aqmlab_control_table), \
    (uint32_t)sizeof(struct aqmlab_control_window), (uint32_t)sizeof(struct aqmlab_control_ack)

#ifdef __cplusplus
extern "C"
#endif
/** The one function that the library exports. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct aqmlab_control_table *aqmlab_control(void);
