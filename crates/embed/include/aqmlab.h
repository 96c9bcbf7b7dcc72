/* Queue disciplines of aqmlab for C programs. Written from the library's sources by its tests:
 * do not edit.
 *
 * A queue is created by name, takes packets (aqmlab_enqueue) and gives them back in the order in
 * which they are to be sent (aqmlab_dequeue). It never sees a packet's body: the caller keeps
 * that under the packet's `id`, and learns from events which packets were dropped.
 *
 * Time is an argument, in nanoseconds of any clock that does not run backwards. Sizes are IP
 * lengths in bytes. A queue may be handed from thread to thread, but at most one may use it at a
 * time; different queues are independent.
 *
 * Every function that can fail answers with a status: AQMLAB_OK, AQMLAB_NONE, or a negative
 * error after which the queue is as it was before the call. What is written through pointers is
 * written only with AQMLAB_OK, except where said otherwise.
 */


#ifndef AQMLAB_H
#define AQMLAB_H

#include <stddef.h>
#include <stdint.h>


/**
 * Done.
 */
#define AQMLAB_OK 0

/**
 * Done, and there is none: no packet to send, no update to come, no gauge of that name.
 */
#define AQMLAB_NONE 1

/**
 * A pointer is null that must not be.
 */
#define AQMLAB_ERROR_NULL -1

/**
 * An argument is out of its range, a text is not UTF-8, or a pointer is not aligned.
 */
#define AQMLAB_ERROR_ARGUMENT -2

/**
 * The time lies before that of an earlier call, or more than 146 years after creation.
 */
#define AQMLAB_ERROR_TIME -3

/**
 * The queue cannot be created; the error text says why.
 */
#define AQMLAB_ERROR_REFUSED -4

/**
 * The library failed in this call or an earlier one for this queue: a bug, please report it. The
 * queue can only be destroyed; packets in it are lost.
 */
#define AQMLAB_ERROR_BROKEN -5

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
 * The packet was accepted. It may still be dropped later.
 */
#define AQMLAB_QUEUED 0

/**
 * The packet was marked "congestion experienced"; it stays in the queue or is just leaving.
 */
#define AQMLAB_MARKED 1

/**
 * The packet is gone: the caller may free its body and use its id again.
 */
#define AQMLAB_DROPPED 2

/**
 * Cause of an event that needs none.
 */
#define AQMLAB_WHY_NONE 0

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
 * A queue.
 */
typedef struct aqmlab_queue aqmlab_queue;

/**
 * Answer of a function: AQMLAB_OK, AQMLAB_NONE, or an error, which is negative.
 */
typedef int32_t aqmlab_status;

/**
 * A packet that arrives. Set what is not known to zero: most disciplines look at bytes, flow and
 * ecn only.
 */
typedef struct aqmlab_packet {
  /**
   * Flow: any number that is the same for packets of one flow, e.g. a hash of the 5-tuple.
   */
  uint64_t flow;
  /**
   * The caller's name for the packet; comes back in events and departures.
   */
  uint32_t id;
  /**
   * IP length in bytes, 1 to 16777216.
   */
  uint32_t bytes;
  /**
   * Source host: its number, or a hash of its address.
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
   * AQMLAB_ECN_...: the two ECN bits of the IP header.
   */
  uint8_t ecn;
} aqmlab_packet;

/**
 * A packet that leaves.
 */
typedef struct aqmlab_departure {
  /**
   * Nanoseconds that it waited.
   */
  uint64_t waited_ns;
  /**
   * The packet.
   */
  uint32_t id;
  /**
   * Its IP length in bytes.
   */
  uint32_t bytes;
  /**
   * AQMLAB_ECN_...: what its header must say now.
   */
  uint8_t ecn;
} aqmlab_departure;

/**
 * Something that happened to a packet in the queue.
 */
typedef struct aqmlab_event {
  /**
   * The packet.
   */
  uint32_t id;
  /**
   * AQMLAB_QUEUED, AQMLAB_MARKED or AQMLAB_DROPPED.
   */
  uint8_t what;
  /**
   * AQMLAB_WHY_...
   */
  uint8_t why;
} aqmlab_event;

/**
 * What happened since creation. Always arrived = sent + dropped + waiting.
 */
typedef struct aqmlab_stats {
  /**
   * Packets handed to aqmlab_enqueue.
   */
  uint64_t arrived;
  /**
   * Packets accepted, those included that were dropped later.
   */
  uint64_t queued;
  /**
   * Packets marked.
   */
  uint64_t marked;
  /**
   * Packets dropped, whatever the cause.
   */
  uint64_t dropped;
  /**
   * Packets dropped at random.
   */
  uint64_t dropped_early;
  /**
   * Packets dropped by a certain decision.
   */
  uint64_t dropped_forced;
  /**
   * Packets dropped because the buffer was full.
   */
  uint64_t dropped_overflow;
  /**
   * Dropped because a later acknowledgement says all that they said.
   */
  uint64_t dropped_superseded;
  /**
   * Packets sent.
   */
  uint64_t sent;
  /**
   * Packets waiting.
   */
  uint64_t waiting;
  /**
   * IP bytes handed to aqmlab_enqueue.
   */
  uint64_t arrived_bytes;
  /**
   * IP bytes dropped.
   */
  uint64_t dropped_bytes;
  /**
   * IP bytes sent.
   */
  uint64_t sent_bytes;
  /**
   * IP bytes waiting.
   */
  uint64_t waiting_bytes;
} aqmlab_stats;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Version of the library, e.g. "0.1.0".
 */
const char *aqmlab_version(void);

/**
 * Writes the names of all disciplines, one per line, as far as they fit into `room` bytes with a
 * zero byte at the end. Returns the length of the whole text without that byte; `out` may be null
 * to learn it.
 */
size_t aqmlab_names(char *out,
                    size_t room);

/**
 * Creates a queue and writes it to `*queue`; aqmlab_destroy ends it.
 *
 * `name` is a discipline. `parameters` is a JSON object such as
 * {"profile": "ns2", "min_th": 30, "target": "5 ms"}, with the fields that
 * `aqmlab describe NAME` lists, or null for the defaults. `line_bits_per_s`, 1 to 10^12, is the
 * rate of the line that the queue feeds: some disciplines need to know it. Queues with the same
 * arguments and packets make the same random decisions; `seed` chooses others. `now_ns` is the
 * present time.
 *
 * With AQMLAB_ERROR_REFUSED, and only then, `error` holds a sentence that says what is wrong and
 * what to do, cut to fit into `error_room` bytes; `error` may be null.
 */
aqmlab_status aqmlab_create(const char *name,
                            const char *parameters,
                            uint64_t line_bits_per_s,
                            uint64_t seed,
                            uint64_t now_ns,
                            struct aqmlab_queue **queue,
                            char *error,
                            size_t error_room);

/**
 * Destroys a queue with all packets in it; null is nothing. The pointer must not be used again.
 */
void aqmlab_destroy(struct aqmlab_queue *queue);

/**
 * Offers a packet to the queue at `now_ns`. Events report whether it was queued, marked or
 * dropped, and whether others were dropped to make room.
 */
aqmlab_status aqmlab_enqueue(struct aqmlab_queue *queue,
                             const struct aqmlab_packet *packet,
                             uint64_t now_ns);

/**
 * Takes the next packet to send, when the line is free at `now_ns`; `departure` says which, and
 * what its ECN field must be. AQMLAB_NONE: the line rests. Call again after an arrival, or, if
 * packets still wait, at the time of aqmlab_next_tick. Packets may be dropped on the way: look at
 * the events.
 */
aqmlab_status aqmlab_dequeue(struct aqmlab_queue *queue,
                             uint64_t now_ns,
                             struct aqmlab_departure *departure);

/**
 * Writes to `*at_ns` when the discipline has a periodic update to make. AQMLAB_NONE: never.
 */
aqmlab_status aqmlab_next_tick(struct aqmlab_queue *queue, uint64_t *at_ns);

/**
 * Makes all periodic updates that are due at `now_ns` or before. aqmlab_enqueue and
 * aqmlab_dequeue do so themselves; this is for a queue that is looked at while it rests, and for
 * disciplines that hold packets back.
 */
aqmlab_status aqmlab_tick(struct aqmlab_queue *queue,
                          uint64_t now_ns);

/**
 * Moves events, oldest first, into the array `events` with room for `room` of them, and writes
 * their number to `*count`. Those that do not fit wait for the next call, and so do all that are
 * never taken: a caller that frees bodies by events takes them after each enqueue and dequeue.
 */
aqmlab_status aqmlab_take_events(struct aqmlab_queue *queue,
                                 struct aqmlab_event *events,
                                 size_t room,
                                 size_t *count);

/**
 * Writes how many packets and IP bytes wait. Either pointer may be null.
 */
aqmlab_status aqmlab_backlog(struct aqmlab_queue *queue,
                             uint32_t *packets,
                             uint64_t *bytes);

/**
 * Writes what happened since creation.
 */
aqmlab_status aqmlab_get_stats(struct aqmlab_queue *queue, struct aqmlab_stats *stats);

/**
 * Writes the names of the queue's gauges (its average, its probability, ...), one per line, as
 * aqmlab_names does. Returns 0 if the queue is null or broken.
 */
size_t aqmlab_gauges(struct aqmlab_queue *queue,
                     char *out,
                     size_t room);

/**
 * Writes the value of the gauge called `name`. AQMLAB_NONE: there is no such gauge.
 */
aqmlab_status aqmlab_gauge(struct aqmlab_queue *queue, const char *name, double *value);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AQMLAB_H */
