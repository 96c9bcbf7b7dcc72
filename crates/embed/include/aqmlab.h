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
 * Success.
 */
#define AQMLAB_OK 0

/**
 * Success without a result: no packet to send, no future update, or no gauge of that name.
 */
#define AQMLAB_NONE 1

/**
 * A required pointer is null.
 */
#define AQMLAB_ERROR_NULL -1

/**
 * An argument is out of its range, a text is not UTF-8, or a pointer is not aligned.
 */
#define AQMLAB_ERROR_ARGUMENT -2

/**
 * The time is before that of an earlier call, or more than 146 years after creation.
 */
#define AQMLAB_ERROR_TIME -3

/**
 * The queue cannot be created; the error text says why.
 */
#define AQMLAB_ERROR_REFUSED -4

/**
 * The library failed in this call or an earlier call for this queue; please report this bug. The
 * queue can only be destroyed; packets in it are lost.
 */
#define AQMLAB_ERROR_BROKEN -5

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
 * Event: the packet was accepted. It may still be dropped later.
 */
#define AQMLAB_QUEUED 0

/**
 * Event: the packet was marked CE; it stays in the queue or is being dequeued.
 */
#define AQMLAB_MARKED 1

/**
 * Event: the packet was dropped. The caller may free its body and reuse its id.
 */
#define AQMLAB_DROPPED 2

/**
 * No reason, for events that need none.
 */
#define AQMLAB_WHY_NONE 0

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
 * A queue.
 */
typedef struct aqmlab_queue aqmlab_queue;

/**
 * Result of a function: AQMLAB_OK, AQMLAB_NONE, or an error, which is negative.
 */
typedef int32_t aqmlab_status;

/**
 * An arriving packet. Set unknown members to zero: most disciplines read bytes, flow and ecn only.
 */
typedef struct aqmlab_packet {
  /**
   * Number of the flow, e.g. a hash of the 5-tuple.
   */
  uint64_t flow;
  /**
   * The caller's number for the packet, which events and departures contain.
   */
  uint32_t id;
  /**
   * IP length in bytes, 1 to 16777216.
   */
  uint32_t bytes;
  /**
   * Number of the source host, or a hash of its address.
   */
  uint16_t source;
  /**
   * Number of the destination host, or a hash of its address.
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
   * ECN field of the IP header: AQMLAB_ECN_...
   */
  uint8_t ecn;
} aqmlab_packet;

/**
 * A packet that was dequeued.
 */
typedef struct aqmlab_departure {
  /**
   * Time that the packet waited, in nanoseconds.
   */
  uint64_t waited_ns;
  /**
   * The caller's number of the packet.
   */
  uint32_t id;
  /**
   * IP length of the packet in bytes.
   */
  uint32_t bytes;
  /**
   * ECN field with which the packet must be sent: AQMLAB_ECN_...
   */
  uint8_t ecn;
} aqmlab_departure;

/**
 * An event of a packet in the queue.
 */
typedef struct aqmlab_event {
  /**
   * The caller's number of the packet.
   */
  uint32_t id;
  /**
   * Kind of event: AQMLAB_QUEUED, AQMLAB_MARKED or AQMLAB_DROPPED.
   */
  uint8_t what;
  /**
   * Reason of the event: AQMLAB_WHY_...
   */
  uint8_t why;
} aqmlab_event;

/**
 * Counts since creation. Always arrived = sent + dropped + waiting.
 */
typedef struct aqmlab_stats {
  /**
   * Number of packets passed to aqmlab_enqueue.
   */
  uint64_t arrived;
  /**
   * Number of packets accepted, including those that were dropped later.
   */
  uint64_t queued;
  /**
   * Number of packets marked CE.
   */
  uint64_t marked;
  /**
   * Number of packets dropped, for any reason.
   */
  uint64_t dropped;
  /**
   * Number of packets dropped by a random draw of the discipline (AQMLAB_WHY_EARLY).
   */
  uint64_t dropped_early;
  /**
   * Number of packets dropped by the discipline without a random draw (AQMLAB_WHY_FORCED).
   */
  uint64_t dropped_forced;
  /**
   * Number of packets dropped because the buffer was full.
   */
  uint64_t dropped_overflow;
  /**
   * Number of acknowledgements dropped because a later one supersedes them.
   */
  uint64_t dropped_superseded;
  /**
   * Number of packets dequeued.
   */
  uint64_t sent;
  /**
   * Number of packets waiting.
   */
  uint64_t waiting;
  /**
   * IP bytes passed to aqmlab_enqueue.
   */
  uint64_t arrived_bytes;
  /**
   * IP bytes dropped.
   */
  uint64_t dropped_bytes;
  /**
   * IP bytes dequeued.
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
 * zero byte at the end. Returns the length of the whole text in bytes, without the zero byte;
 * `out` may be null to get this length only.
 */
size_t aqmlab_names(char *out,
                    size_t room);

/**
 * Creates a queue and writes its pointer to `*queue`; aqmlab_destroy destroys it.
 *
 * `name` is the name of a discipline. `parameters` is a JSON object such as
 * {"profile": "ns2", "min_th": 30, "target": "5 ms"}, with the fields that
 * `aqmlab describe NAME` lists, or null for the defaults. `line_bits_per_s`, 1 to 10^12, is the
 * rate of the line that the queue feeds, which some disciplines need. Queues with equal arguments
 * and packets make equal random decisions; another `seed` gives others. `now_ns` is the present
 * time.
 *
 * Only with the result AQMLAB_ERROR_REFUSED, `error` holds a sentence that says what is wrong and
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
 * Destroys a queue with all packets in it; does nothing for null. The pointer must not be used
 * again.
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
 * Dequeues the next packet to send; call it when the line is free at `now_ns`. Writes the packet's
 * id and its new ECN field to `*departure`. AQMLAB_NONE: the line stays idle. Call again after an
 * arrival, or, if packets still wait, at the time of aqmlab_next_tick. The discipline may drop
 * packets in this call, which events report.
 */
aqmlab_status aqmlab_dequeue(struct aqmlab_queue *queue,
                             uint64_t now_ns,
                             struct aqmlab_departure *departure);

/**
 * Writes the time of the discipline's next periodic update to `*at_ns`. AQMLAB_NONE: it has none.
 */
aqmlab_status aqmlab_next_tick(struct aqmlab_queue *queue,
                               uint64_t *at_ns);

/**
 * Runs all periodic updates that are due by `now_ns`. aqmlab_enqueue and aqmlab_dequeue also do
 * this; call it before reading the gauges of an idle queue.
 */
aqmlab_status aqmlab_tick(struct aqmlab_queue *queue,
                          uint64_t now_ns);

/**
 * Moves events, oldest first, into the array `events`, which has room for `room` events, and
 * writes their number to `*count`. Events that do not fit stay for the next call; they are never
 * discarded, so take all events regularly, for example after each enqueue and dequeue to free
 * dropped packets.
 */
aqmlab_status aqmlab_take_events(struct aqmlab_queue *queue,
                                 struct aqmlab_event *events,
                                 size_t room,
                                 size_t *count);

/**
 * Writes the number of packets and of IP bytes that wait. Either pointer may be null.
 */
aqmlab_status aqmlab_backlog(struct aqmlab_queue *queue,
                             uint32_t *packets,
                             uint64_t *bytes);

/**
 * Writes the counts since creation.
 */
aqmlab_status aqmlab_get_stats(struct aqmlab_queue *queue, struct aqmlab_stats *stats);

/**
 * Writes the names of the queue's gauges (such as RED's average), one per line, as aqmlab_names
 * does. Returns the length of the whole text in bytes, or 0 if the queue is null or broken.
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
