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
 * Version of this interface. It changes when any structure or meaning here does.
 */
#define AQMLAB_CONTROL_VERSION 1

/**
 * State of loss recovery: no loss or mark is being answered.
 */
#define AQMLAB_STATE_OPEN 0

/**
 * Marks were reported less than a window of data ago: the window is being reduced.
 */
#define AQMLAB_STATE_CWR 1

/**
 * Losses are being repaired (fast recovery).
 */
#define AQMLAB_STATE_RECOVERY 2

/**
 * Losses are being repaired after a retransmission timeout.
 */
#define AQMLAB_STATE_LOSS 3

/**
 * ECN of RFC 3168: ECT(0), one echo per window of data.
 */
#define AQMLAB_ECN_OF_RFC3168 0

/**
 * ECN of RFC 8257 (DCTCP): ECT(0), `marked` says which bytes were marked.
 */
#define AQMLAB_ECN_OF_DCTCP 1

/**
 * ECN of RFC 9331 (L4S): ECT(1), `marked` says which bytes were marked.
 */
#define AQMLAB_ECN_OF_L4S 2

/**
 * Flag: the control sets cwnd at all times. Without it, while a loss or mark is answered, the
 * transport leads cwnd to ssthresh (RFC 6937), and the control leaves cwnd alone meanwhile.
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
 * Flag: the control reads the delivery rate and what is reported of each lost segment.
 */
#define AQMLAB_RATES 8

/**
 * Stands for "no time".
 */
#define AQMLAB_NO_TIME UINT64_MAX

/**
 * What a control sets. Amounts are bytes. It is valid during the call only.
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
   * Now, in nanoseconds since the run began.
   */
  uint64_t now_ns;
  /**
   * Bytes sent and not acknowledged.
   */
  uint64_t outstanding;
  /**
   * The peer's receive window.
   */
  uint64_t peer_window;
  /**
   * Smoothed round trip in nanoseconds; 0 before the first.
   */
  uint64_t srtt_ns;
  /**
   * Segment size, bytes of payload.
   */
  uint32_t mss;
  /**
   * Not for the control.
   */
  uint32_t unused;
} aqmlab_control_window;

/**
 * What one acknowledgement reports. Amounts are bytes.
 */
typedef struct aqmlab_control_ack {
  /**
   * Newly acknowledged, cumulatively or selectively.
   */
  uint64_t delivered;
  /**
   * Of these, what the cumulative acknowledgement covers.
   */
  uint64_t acked;
  /**
   * Newly found lost.
   */
  uint64_t lost;
  /**
   * Of `delivered`, what is reported to have arrived marked.
   */
  uint64_t marked;
  /**
   * Bytes in flight before this acknowledgement.
   */
  uint64_t in_flight_before;
  /**
   * Bytes in flight after it.
   */
  uint64_t in_flight;
  /**
   * The newest round-trip time that it measures, in nanoseconds; AQMLAB_NO_TIME if it measures
   * none.
   */
  uint64_t rtt_ns;
  /**
   * Smoothed round trip in nanoseconds; 0 before the first.
   */
  uint64_t srtt_ns;
  /**
   * Smallest round trip of the last 300 s, in nanoseconds.
   */
  uint64_t min_rtt_ns;
  /**
   * The earliest time at which pacing lets the next segment be sent.
   */
  uint64_t next_send_ns;
  /**
   * Interval of the delivery-rate sample in nanoseconds; 0 without a sample.
   */
  uint64_t rate_interval_ns;
  /**
   * Bytes delivered in this interval.
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
   * Bytes in flight when that segment was sent.
   */
  uint64_t rate_sent_in_flight;
  /**
   * Bytes lost since the segment was sent that this acknowledgement samples.
   */
  uint64_t rate_lost;
  /**
   * Segments newly acknowledged, as Linux counts them for growth.
   */
  uint32_t segments;
  /**
   * AQMLAB_STATE_...
   */
  uint8_t state;
  /**
   * 1 if a round trip has passed.
   */
  uint8_t round;
  /**
   * 1 if the window was the limit since the round began.
   */
  uint8_t window_limited;
  /**
   * 1 if the window may grow: it was the limit, and nothing reduces it.
   */
  uint8_t may_grow;
  /**
   * 1 if the program, not the window, limited the sending of the rate sample.
   */
  uint8_t app_limited;
  /**
   * 1 if segments are paced.
   */
  uint8_t paced;
  /**
   * Not for the control.
   */
  uint8_t unused[6];
} aqmlab_control_ack;

/**
 * A segment found lost. Amounts are bytes.
 */
typedef struct aqmlab_control_lost {
  /**
   * Length of the lost segment, bytes.
   */
  uint64_t bytes;
  /**
   * Bytes in flight when it was sent, itself included.
   */
  uint64_t sent_in_flight;
  /**
   * Bytes found lost since it was sent, itself included.
   */
  uint64_t lost;
  /**
   * Bytes delivered in the whole connection until now.
   */
  uint64_t total_delivered;
  /**
   * 1 if the program, not the window, limited the sending when it was sent.
   */
  uint8_t app_limited;
  /**
   * Not for the control.
   */
  uint8_t unused[7];
} aqmlab_control_lost;

/**
 * A congestion control: its description and its functions. `state` is what `create` returned; one
 * thread at a time uses it. Without `on_ecn` or `on_timeout`, `on_loss` stands for it.
 */
typedef struct aqmlab_control_table {
  /**
   * AQMLAB_CONTROL_VERSION.
   */
  uint32_t version;
  /**
   * Size of this structure.
   */
  uint32_t size;
  /**
   * Size of aqmlab_control_window.
   */
  uint32_t window_size;
  /**
   * Size of aqmlab_control_ack.
   */
  uint32_t ack_size;
  /**
   * Its name: letters, digits and underscores.
   */
  const char *name;
  /**
   * What it does, in a sentence.
   */
  const char *summary;
  /**
   * The paper or program that it follows.
   */
  const char *source;
  /**
   * Its parameters.
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
   * AQMLAB_OWN_WINDOW and the other flags, added.
   */
  uint32_t flags;
  /**
   * AQMLAB_ECN_OF_...
   */
  uint32_t ecn;
  /**
   * The names of its gauges.
   */
  const char *const *gauge_names;
  /**
   * Creates one connection's state, from a value for each parameter. Null: refused, `error` says
   * why, in at most `room` bytes with the zero at the end.
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
   * May be null: the last reduction was wrong, and the transport has put back both windows.
   */
  void (*on_undo)(void *state, struct aqmlab_control_window *window);
  /**
   * May be null: a segment is sent after the program had nothing to send for `idle_ns`.
   */
  void (*on_app_limited)(void *state, struct aqmlab_control_window *window, uint64_t idle_ns);
  /**
   * May be null: a segment was found lost. The window cannot be set here.
   */
  void (*on_lost)(void *state,
                  const struct aqmlab_control_window *window,
                  const struct aqmlab_control_lost *lost);
  /**
   * Writes `gauge_count` numbers. May be null without gauges.
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
