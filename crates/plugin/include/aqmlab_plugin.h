/* A queue discipline of one's own for aqmlab, as a shared library. Written from aqmlab's sources by
 * its tests: do not edit.
 *
 * The library exports one function, aqmlab_discipline, which answers with the table of what there
 * is. A judge gives `admit` and decides at arrival; who holds packets gives `enqueue` and `dequeue`.
 *
 * Read no clock and draw no random number of your own: time and randomness are handed in, so that
 * a run can be repeated to the bit. Keep no state outside of what `create` answers.
 */


#ifndef AQMLAB_PLUGIN_H
#define AQMLAB_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/**
 * Version of this interface. It changes when any structure or meaning in this file changes.
 */
#define AQMLAB_PLUGIN_VERSION 2

/**
 * Not-ECT: not ECN-capable. The AQMLAB_ECN_... numbers are the bits of the IP header's ECN field.
 */
#define AQMLAB_ECN_NOT_ECT 0

/**
 * ECT(1): ECN-capable, for L4S.
 */
#define AQMLAB_ECN_ECT1 1

/**
 * ECT(0): ECN-capable.
 */
#define AQMLAB_ECN_ECT0 2

/**
 * CE: congestion experienced.
 */
#define AQMLAB_ECN_CE 3

/**
 * The packet carries data, SYN or FIN, or is not TCP.
 */
#define AQMLAB_ACK_NO 0

/**
 * A pure acknowledgement that must arrive: a duplicate, or one with new SACK blocks, flags or
 * other signals besides its acknowledgement number.
 */
#define AQMLAB_ACK_NEEDED 1

/**
 * A pure acknowledgement whose only news is a higher number: it supersedes earlier such ones of
 * its flow.
 */
#define AQMLAB_ACK_NEWER 2

/**
 * Event: the packet was queued.
 */
#define AQMLAB_QUEUED 0

/**
 * Event: the packet was marked CE.
 */
#define AQMLAB_MARKED 1

/**
 * Event: the packet was dropped.
 */
#define AQMLAB_DROPPED 2

/**
 * Reason: the discipline's decision by a random draw (early drop or mark).
 */
#define AQMLAB_WHY_EARLY 1

/**
 * Reason: the discipline's decision without a random draw (forced drop or mark).
 */
#define AQMLAB_WHY_FORCED 2

/**
 * Reason: the buffer was full.
 */
#define AQMLAB_WHY_OVERFLOW 3

/**
 * Reason: a later acknowledgement of its flow supersedes it (ACK filtering).
 */
#define AQMLAB_WHY_SUPERSEDED 4

/**
 * Result of `admit`: the packet is accepted.
 */
#define AQMLAB_PASS 0

/**
 * Result of `admit`: a congestion signal by a random draw. The packet is marked if ECN allows,
 * else dropped.
 */
#define AQMLAB_SIGNAL_EARLY 1

/**
 * Result of `admit`: a congestion signal without a random draw. The packet is marked if ECN
 * allows, else dropped.
 */
#define AQMLAB_SIGNAL_FORCED 2

/**
 * Result of `admit`: drop the packet whatever its ECN field, by a random draw.
 */
#define AQMLAB_DROP_EARLY 3

/**
 * Result of `admit`: drop the packet whatever its ECN field, without a random draw.
 */
#define AQMLAB_DROP_FORCED 4

/**
 * Result of `dequeue`: there is nothing to send now.
 */
#define AQMLAB_NOTHING -1

/**
 * Value of `next_tick_ns` for no tick.
 */
#define AQMLAB_NEVER UINT64_MAX

/**
 * Kind of a parameter: a number from `least` to `most`.
 */
#define AQMLAB_REAL 0

/**
 * Kind of a parameter: a whole number from `least` to `most`.
 */
#define AQMLAB_WHOLE 1

/**
 * Kind of a parameter: 0 or 1, which users write as false or true.
 */
#define AQMLAB_SWITCH 2

/**
 * Kind of a parameter: one of `choices`. Its value is the index of the choice, from 0.
 */
#define AQMLAB_CHOICE 3

/**
 * A parameter that users may set. Texts end with a zero byte; a null pointer is an empty text.
 */
typedef struct aqmlab_plugin_parameter {
  /**
   * The parameter's name: letters, digits and underscores.
   */
  const char *name;
  /**
   * Meaning of the parameter, in a sentence.
   */
  const char *meaning;
  /**
   * Where the default comes from.
   */
  const char *source;
  /**
   * Unit: "time" (values in seconds), "rate" (in bit/s), "packets", "bytes", "count" or "".
   */
  const char *unit;
  /**
   * Names of the choices, separated by commas, for AQMLAB_CHOICE.
   */
  const char *choices;
  /**
   * Default in base units; 0 or 1 for a switch, the index of a choice; NaN for no default.
   */
  double usual;
  /**
   * The smallest value.
   */
  double least;
  /**
   * The largest value.
   */
  double most;
  /**
   * AQMLAB_REAL, AQMLAB_WHOLE, AQMLAB_SWITCH or AQMLAB_CHOICE.
   */
  uint32_t kind;
} aqmlab_plugin_parameter;

/**
 * The line behind the queue.
 */
typedef struct aqmlab_plugin_line {
  /**
   * Rate of the line, bit/s.
   */
  uint64_t bits_per_s;
  /**
   * Bytes of link-layer header that sizes of packets include.
   */
  uint32_t header_bytes;
} aqmlab_plugin_line;

/**
 * Context of a call to a discipline. It is valid during the call only.
 */
typedef struct aqmlab_plugin_call {
  /**
   * Time of the call, in nanoseconds since the run began.
   */
  uint64_t now_ns;
  /**
   * Time of the next call of `tick`; AQMLAB_NEVER for none. Any call may set it. It is reset to
   * AQMLAB_NEVER before `tick` is called.
   */
  uint64_t next_tick_ns;
  /**
   * State of the queue's random number generator; draw with aqmlab_uniform.
   */
  uint64_t random;
  /**
   * IP bytes that wait. The arriving packet counts in `enqueue`, but not in `admit`.
   */
  uint64_t bytes;
  /**
   * Number of packets that wait; the arriving packet counts as in `bytes`.
   */
  uint32_t packets;
  /**
   * The simulator's own flag for a wrong call; a discipline must not change it.
   */
  uint32_t misuse;
  /**
   * Drops the waiting or arriving packet `number`; `why` is AQMLAB_WHY_... Only disciplines with
   * `enqueue` and `dequeue` may call it.
   */
  void (*drop)(struct aqmlab_plugin_call *call, uint32_t number, uint8_t why);
  /**
   * Sets CE in the waiting or arriving packet `number`; `why` is AQMLAB_WHY_... Only disciplines
   * with `enqueue` and `dequeue` may call it.
   */
  void (*mark)(struct aqmlab_plugin_call *call, uint32_t number, uint8_t why);
  /**
   * The simulator's own pointer; a discipline must not change it.
   */
  void *owner;
} aqmlab_plugin_call;

/**
 * An arriving packet.
 */
typedef struct aqmlab_plugin_packet {
  /**
   * Number of the packet's flow.
   */
  uint64_t flow;
  /**
   * Number of the packet while it waits; a later packet may reuse it.
   */
  uint32_t number;
  /**
   * IP length in bytes.
   */
  uint32_t bytes;
  /**
   * Number of the source host.
   */
  uint16_t source;
  /**
   * Number of the destination host.
   */
  uint16_t destination;
  /**
   * Differentiated services code point, 0 to 63.
   */
  uint8_t dscp;
  /**
   * Kind of acknowledgement: AQMLAB_ACK_...
   */
  uint8_t ack;
  /**
   * ECN field: AQMLAB_ECN_...
   */
  uint8_t ecn;
} aqmlab_plugin_packet;

/**
 * A discipline: its description and its functions. Either `admit` is given: the discipline only
 * decides at arrival, and aqmlab keeps the queue, tests its limit, and marks or drops. Or
 * `enqueue` and `dequeue` are given: the discipline queues packets by their numbers. `state` is
 * what `create` returned; one thread at a time uses it.
 */
typedef struct aqmlab_plugin {
  /**
   * AQMLAB_PLUGIN_VERSION.
   */
  uint32_t version;
  /**
   * Size of this structure in bytes.
   */
  uint32_t size;
  /**
   * Size of aqmlab_plugin_packet in bytes.
   */
  uint32_t packet_size;
  /**
   * Size of aqmlab_plugin_call in bytes.
   */
  uint32_t call_size;
  /**
   * Name of the discipline: letters, digits and underscores.
   */
  const char *name;
  /**
   * What the discipline does, in a sentence.
   */
  const char *summary;
  /**
   * The paper or program that the discipline follows.
   */
  const char *source;
  /**
   * Parameters. With `admit` those of the buffer (limit, limit_bytes, ecn) are added.
   */
  const struct aqmlab_plugin_parameter *parameters;
  /**
   * Number of parameters.
   */
  uint32_t parameter_count;
  /**
   * Number of gauges.
   */
  uint32_t gauge_count;
  /**
   * With `admit`: 1 if the buffer's limit is tested before `admit` is called, which then never
   * gets a packet that does not fit; 0 if it is tested after.
   */
  uint32_t limit_first;
  /**
   * Names of the gauges.
   */
  const char *const *gauge_names;
  /**
   * Creates the state of one queue. `values` has a value for each parameter. To refuse them,
   * return null and write the reason into `error`: at most `room` bytes with the zero byte at
   * the end.
   */
  void *(*create)(const double *values,
                  const struct aqmlab_plugin_line *line,
                  struct aqmlab_plugin_call *call,
                  char *error,
                  size_t room);
  /**
   * Destroys a queue's state.
   */
  void (*destroy)(void *state);
  /**
   * Decides about an arriving packet. Returns AQMLAB_PASS, AQMLAB_SIGNAL_... or AQMLAB_DROP_...
   */
  int32_t (*admit)(void *state,
                   const struct aqmlab_plugin_packet *packet,
                   struct aqmlab_plugin_call *call);
  /**
   * With `admit`, may be null: reports that a packet was marked or dropped. `what` is
   * AQMLAB_MARKED or AQMLAB_DROPPED; `why` is AQMLAB_WHY_... of a drop, 0 of a mark.
   */
  void (*decided)(void *state, uint8_t what, uint8_t why, struct aqmlab_plugin_call *call);
  /**
   * With `admit`, may be null: the line has sent its last packet, and no packet waits.
   */
  void (*idle)(void *state, struct aqmlab_plugin_call *call);
  /**
   * Enqueues an arriving packet; may drop it or others by `drop` of the call.
   */
  void (*enqueue)(void *state,
                  const struct aqmlab_plugin_packet *packet,
                  struct aqmlab_plugin_call *call);
  /**
   * Returns the number of the next packet to send, or AQMLAB_NOTHING. If packets wait
   * nevertheless, `next_tick_ns` must be the time of the next attempt.
   */
  int64_t (*dequeue)(void *state, struct aqmlab_plugin_call *call);
  /**
   * Called at the time `next_tick_ns`. May be null if that is never set.
   */
  void (*tick)(void *state, struct aqmlab_plugin_call *call);
  /**
   * Writes the values of all gauges into `values`. May be null without gauges.
   */
  void (*gauges)(const void *state, double *values);
} aqmlab_plugin;

#endif  /* AQMLAB_PLUGIN_H */

/** The first members of a table. */
#define AQMLAB_PLUGIN_HEAD \
    AQMLAB_PLUGIN_VERSION, (uint32_t)sizeof(struct aqmlab_plugin), \
    (uint32_t)sizeof(struct aqmlab_plugin_packet), (uint32_t)sizeof(struct aqmlab_plugin_call)

#ifdef __cplusplus
extern "C"
#endif
/** The one function that the library exports. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct aqmlab_plugin *aqmlab_discipline(void);

/** The next random number, uniform in [0, 1) (SplitMix64): compare with u < p. */
static inline double aqmlab_uniform(struct aqmlab_plugin_call *call) {
    uint64_t z = call->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0);
}
