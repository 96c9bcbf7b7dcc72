/* A line of 10 Mbit/s behind a queue, and ten flows that offer 1.2 times as much for 20 seconds.
 *
 *   link [DISCIPLINE [PARAMETERS]]       link red '{"min_th": 10, "max_th": 30}'
 *
 * Prints what the queue made of it. Built by
 *
 *   cargo build --release -p aqmlab-embed
 *   cc -I crates/embed/include crates/embed/examples/link.c target/release/libaqmlab.a -lm -o link
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "aqmlab.h"

#define RATE UINT64_C(10000000)           /* bit/s */
#define DURATION UINT64_C(20000000000)    /* ns */
#define MEAN_GAP 645333                   /* ns: packets of 968 bytes on average at 12 Mbit/s */
#define BODIES 65536                      /* more than arrive: no queue can hold them all */

/* A program of its own has packets to keep: here a table of bodies, free or in the queue. */
static unsigned char in_queue[BODIES];

static uint64_t state = 1;

/* xorshift64* (Vigna 2016): whole numbers in 0..n, the same on every machine. */
static uint64_t below(uint64_t n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * UINT64_C(2685821657736338717) >> 32) % n;
}

static void must(aqmlab_status status, const char *what)
{
    if (status < 0) {
        fprintf(stderr, "link: %s answered %d\n", what, (int)status);
        exit(1);
    }
}

/* Frees the bodies of packets that the queue has dropped. */
static void take_events(aqmlab_queue *queue)
{
    aqmlab_event events[64];
    size_t count;

    do {
        must(aqmlab_take_events(queue, events, 64, &count), "aqmlab_take_events");
        for (size_t i = 0; i < count; i++)
            if (events[i].what == AQMLAB_DROPPED)
                in_queue[events[i].id] = 0;
    } while (count == 64);
}

static uint32_t free_body(void)
{
    for (uint32_t id = 0; id < BODIES; id++)
        if (!in_queue[id])
            return id;
    fprintf(stderr, "link: no body is free\n");
    exit(1);
}

/* When the line that got no packet asks again: with packets waiting all the same (a shaper holds
 * them back) at the next update, else, with 0, after an arrival. */
static uint64_t next_try(aqmlab_queue *queue)
{
    uint32_t packets;
    uint64_t at = 0;

    must(aqmlab_backlog(queue, &packets, NULL), "aqmlab_backlog");
    if (packets > 0)
        must(aqmlab_next_tick(queue, &at), "aqmlab_next_tick");
    return at;
}

/* Sends while the line is free before `until`; returns when it is free next, 0 if it rests. */
static uint64_t send(aqmlab_queue *queue, uint64_t free_at, uint64_t until,
                     uint64_t *waited, uint64_t *longest)
{
    aqmlab_departure sent;

    while (free_at != 0 && free_at <= until) {
        aqmlab_status status = aqmlab_dequeue(queue, free_at, &sent);
        must(status, "aqmlab_dequeue");
        take_events(queue);
        if (status == AQMLAB_NONE) {
            free_at = next_try(queue);
            continue;
        }
        in_queue[sent.id] = 0;
        *waited += sent.waited_ns;
        if (sent.waited_ns > *longest)
            *longest = sent.waited_ns;
        free_at += (UINT64_C(8000000000) * sent.bytes + RATE - 1) / RATE;
    }
    return free_at;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "red";
    const char *parameters = argc > 2 ? argv[2] : NULL;
    uint64_t now = 0, free_at = 0, waited = 0, longest = 0;
    aqmlab_queue *queue;
    aqmlab_stats stats;
    char error[400];

    aqmlab_status status = aqmlab_create(name, parameters, RATE, 7, now, &queue, error,
                                         sizeof error);
    if (status == AQMLAB_ERROR_REFUSED) {
        fprintf(stderr, "link: %s\n", error);
        return 2;
    }
    must(status, "aqmlab_create");

    while ((now += below(2 * MEAN_GAP)) < DURATION) {
        /* The departure of a packet comes before an arrival at the same time. */
        free_at = send(queue, free_at, now, &waited, &longest);
        aqmlab_packet packet = {0};
        packet.id = free_body();
        packet.flow = below(10);
        packet.bytes = below(10) < 6 ? 1500 : 170;
        packet.ecn = packet.flow < 5 ? AQMLAB_ECN_ECT0 : AQMLAB_ECN_NOT_ECT;
        in_queue[packet.id] = 1;
        must(aqmlab_enqueue(queue, &packet, now), "aqmlab_enqueue");
        take_events(queue);
        if (free_at == 0)
            free_at = send(queue, now, now, &waited, &longest);
    }
    send(queue, free_at, DURATION, &waited, &longest);

    must(aqmlab_get_stats(queue, &stats), "aqmlab_get_stats");
    aqmlab_destroy(queue);
    uint64_t dropped = stats.dropped;
    printf("%s: %" PRIu64 " packets arrived\n", name, stats.arrived);
    printf("throughput  %.3f Mbit/s\n", stats.sent_bytes * 8e3 / DURATION);
    printf("dropped     %" PRIu64 " (%.3f %%): %" PRIu64 " early, %" PRIu64 " forced, %" PRIu64
           " overflow\n",
           dropped, 100.0 * dropped / stats.arrived, stats.dropped_early, stats.dropped_forced,
           stats.dropped_overflow);
    printf("marked      %" PRIu64 "\n", stats.marked);
    printf("delay       %.3f ms on average, %.3f ms at most\n",
           waited / 1e6 / stats.sent, longest / 1e6);
    printf("waiting     %" PRIu64 " packets\n", stats.waiting);
    return 0;
}
