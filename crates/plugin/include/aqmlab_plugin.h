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
 * Version of this interface. It changes when any structure or meaning here does.
 */
#define AQMLAB_PLUGIN_VERSION 2

/**
 * The transport does not understand ECN. These are the two bits of the IP header.
 */
#define AQMLAB_ECN_NOT_ECT 0

/**
 * ECN-capable, codepoint 1 (L4S).
 */
#define AQMLAB_ECN_ECT1 1

/**
 * ECN-capable, codepoint 0.
 */
#define AQMLAB_ECN_ECT0 2

/**
 * Congestion experienced.
 */
#define AQMLAB_ECN_CE 3

/**
 * The packet carries data, SYN or FIN, or is not TCP.
 */
#define AQMLAB_ACK_NO 0

/**
 * A pure acknowledgement that must arrive: a duplicate, or with news besides its number.
 */
#define AQMLAB_ACK_NEEDED 1

/**
 * A pure acknowledgement that says all that earlier ones of its flow said, and more.
 */
#define AQMLAB_ACK_NEWER 2

/**
 * The packet waits.
 */
#define AQMLAB_QUEUED 0

/**
 * The packet waits, marked "congestion experienced".
 */
#define AQMLAB_MARKED 1

/**
 * The packet is gone.
 */
#define AQMLAB_DROPPED 2

/**
 * A random early decision of the discipline.
 */
#define AQMLAB_WHY_EARLY 1

/**
 * A certain decision of the discipline.
 */
#define AQMLAB_WHY_FORCED 2

/**
 * The buffer was full.
 */
#define AQMLAB_WHY_OVERFLOW 3

/**
 * A later acknowledgement of its flow says all that it said.
 */
#define AQMLAB_WHY_SUPERSEDED 4

/**
 * Answer of `admit`: the packet may wait.
 */
#define AQMLAB_PASS 0

/**
 * Its sender should slow down, says a random draw: marked if ECN allows, else dropped.
 */
#define AQMLAB_SIGNAL_EARLY 1

/**
 * Its sender should slow down for certain: marked if ECN allows, else dropped.
 */
#define AQMLAB_SIGNAL_FORCED 2

/**
 * It is dropped whatever its ECN field says, by a random draw.
 */
#define AQMLAB_DROP_EARLY 3

/**
 * It is dropped whatever its ECN field says, for certain.
 */
#define AQMLAB_DROP_FORCED 4

/**
 * Answer of `dequeue`: nothing to send now.
 */
#define AQMLAB_NOTHING -1

/**
 * `next_tick_ns` of a discipline that wants no tick.
 */
#define AQMLAB_NEVER UINT64_MAX

/**
 * Kind of a parameter: a number from `least` to `most`.
 */
#define AQMLAB_REAL 0

/**
 * A whole number from `least` to `most`.
 */
#define AQMLAB_WHOLE 1

/**
 * 0 or 1: written as true or false.
 */
#define AQMLAB_SWITCH 2

/**
 * One of `choices`: its place, from 0 on.
 */
#define AQMLAB_CHOICE 3

/**
 * A parameter that users may set. Texts end with a zero byte; null is an empty one.
 */
typedef struct aqmlab_plugin_parameter {
  /**
   * The parameter's name: letters, digits and underscores.
   */
  const char *name;
  /**
   * What it means, in a sentence.
   */
  const char *meaning;
  /**
   * Where the default comes from.
   */
  const char *source;
  /**
   * "time" (handed over in seconds), "rate" (bit/s), "packets", "bytes", "count" or "".
   */
  const char *unit;
  /**
   * Of AQMLAB_CHOICE: the names, with commas between them.
   */
  const char *choices;
  /**
   * The default in base units; of a switch 0 or 1, of a choice its place.
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
 * What a discipline is handed at each call. It is valid during the call only.
 */
typedef struct aqmlab_plugin_call {
  /**
   * Now, in nanoseconds since the run began.
   */
  uint64_t now_ns;
  /**
   * When `tick` is to be called; set it in any call, AQMLAB_NEVER for not at all. Before `tick`
   * it is set to AQMLAB_NEVER.
   */
  uint64_t next_tick_ns;
  /**
   * State of the queue's random numbers; draw with aqmlab_uniform.
   */
  uint64_t random;
  /**
   * IP bytes that wait; in `enqueue` the packet that arrives counts, in `admit` it does not.
   */
  uint64_t bytes;
  /**
   * Packets that wait; the arriving packet counts as in `bytes`.
   */
  uint32_t packets;
  /**
   * The simulator's own note of a wrong call; a discipline leaves it alone.
   */
  uint32_t misuse;
  /**
   * Gives up a packet that waits or arrives, for AQMLAB_WHY_... Only for who holds packets.
   */
  void (*drop)(struct aqmlab_plugin_call *call, uint32_t number, uint8_t why);
  /**
   * Marks such a packet "congestion experienced". Only for who holds packets.
   */
  void (*mark)(struct aqmlab_plugin_call *call, uint32_t number, uint8_t why);
  /**
   * The simulator's own pointer; a discipline leaves it alone.
   */
  void *owner;
} aqmlab_plugin_call;

/**
 * A packet that arrives.
 */
typedef struct aqmlab_plugin_packet {
  /**
   * Flow: the same number for packets of one flow.
   */
  uint64_t flow;
  /**
   * The packet's number as long as it waits; a later packet may reuse it.
   */
  uint32_t number;
  /**
   * IP length in bytes.
   */
  uint32_t bytes;
  /**
   * Source host: its number.
   */
  uint16_t source;
  /**
   * Destination host, numbered as the source host is.
   */
  uint16_t destination;
  /**
   * Differentiated services code point, 0 to 63.
   */
  uint8_t dscp;
  /**
   * AQMLAB_ACK_...
   */
  uint8_t ack;
  /**
   * AQMLAB_ECN_...
   */
  uint8_t ecn;
} aqmlab_plugin_packet;

/**
 * A discipline: what it says of itself, and its functions. Either `admit` is given (a judge: it
 * decides at arrival, and queue, limit and ECN are aqmlab's), or `enqueue` and `dequeue` (it keeps
 * packets by their numbers). `self` is what `create` answered; one thread at a time uses it.
 */
typedef struct aqmlab_plugin {
  /**
   * AQMLAB_PLUGIN_VERSION.
   */
  uint32_t version;
  /**
   * Size of this structure.
   */
  uint32_t size;
  /**
   * Size of aqmlab_plugin_packet.
   */
  uint32_t packet_size;
  /**
   * Size of aqmlab_plugin_call.
   */
  uint32_t call_size;
  /**
   * Its name: letters, digits and underscores.
   */
  const char *name;
  /**
   * What it does, in a sentence.
   */
  const char *summary;
  /**
   * Whom it follows.
   */
  const char *source;
  /**
   * Its parameters; those of the buffer (limit, limit_bytes, ecn) are added to a judge's.
   */
  const struct aqmlab_plugin_parameter *parameters;
  /**
   * Number of parameters.
   */
  uint32_t parameter_count;
  /**
   * How many gauges it shows.
   */
  uint32_t gauge_count;
  /**
   * Of a judge: 1 if the buffer's limit is tested before `admit` (which then never sees a packet
   * that does not fit), 0 if after.
   */
  uint32_t limit_first;
  /**
   * Names of the gauges.
   */
  const char *const *gauge_names;
  /**
   * Creates one queue's state, from a value for each parameter. Null: refused, `error` says why,
   * in at most `room` bytes with the zero at the end.
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
   * Judges a packet that arrives: AQMLAB_PASS, AQMLAB_SIGNAL_... or AQMLAB_DROP_...
   */
  int32_t (*admit)(void *state,
                   const struct aqmlab_plugin_packet *packet,
                   struct aqmlab_plugin_call *call);
  /**
   * Of a judge, may be null: what became of the packet that it signalled or that did not fit.
   * AQMLAB_MARKED or AQMLAB_DROPPED, and AQMLAB_WHY_...
   */
  void (*decided)(void *state, uint8_t what, uint8_t why, struct aqmlab_plugin_call *call);
  /**
   * Of a judge, may be null: the line finished its last packet, and nothing waits.
   */
  void (*idle)(void *state, struct aqmlab_plugin_call *call);
  /**
   * Takes a packet in, or drops it or others.
   */
  void (*enqueue)(void *state,
                  const struct aqmlab_plugin_packet *packet,
                  struct aqmlab_plugin_call *call);
  /**
   * The number of the next packet to send, or AQMLAB_NOTHING. If packets wait nevertheless,
   * `next_tick_ns` says when to call again.
   */
  int64_t (*dequeue)(void *state, struct aqmlab_plugin_call *call);
  /**
   * The time of `next_tick_ns` has come. May be null if none is ever set.
   */
  void (*tick)(void *state, struct aqmlab_plugin_call *call);
  /**
   * Writes `gauge_count` numbers. May be null without gauges.
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
