/* A congestion control of my own. */
#ifdef __wasm__
#include "alone.h"
#else
#include <stdlib.h>
#endif

#include "aqmlab_control.h"

struct my_cc {
    double beta;
    uint64_t count; /* segments acknowledged and not yet turned into one of the window */
};

/* In the order in which `create` gets their values. */
static const struct aqmlab_plugin_parameter PARAMETERS[] = {
    {.name = "beta", .meaning = "The share of the window that congestion leaves.",
     .kind = AQMLAB_REAL, .usual = 0.5, .least = 0.1, .most = 0.9},
};

static void *refused(const char *why, char *error, size_t room) {
    size_t i = 0;
    for (; why[i] != 0 && i + 1 < room; i++)
        error[i] = why[i];
    error[i] = 0;
    return NULL;
}

static void *create(const double *values, char *error, size_t room) {
    struct my_cc *cc = malloc(sizeof *cc);
    if (cc == NULL)
        return refused("no memory is left", error, room);
    *cc = (struct my_cc){values[0], 0};
    return cc;
}

static void destroy(void *state) { free(state); }

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Congestion avoidance: a segment for every window acknowledged. */
static void avoid(struct my_cc *cc, struct aqmlab_control_window *window, uint64_t segments) {
    uint64_t whole = window->cwnd / window->mss;
    if (cc->count >= whole) {
        cc->count = 0;
        window->cwnd += window->mss;
    }
    cc->count += segments;
    if (cc->count >= whole) {
        window->cwnd += cc->count / whole * window->mss;
        cc->count %= whole;
    }
}

static void on_ack(void *state, struct aqmlab_control_window *window,
                   const struct aqmlab_control_ack *ack) {
    uint64_t segments = ack->segments;
    if (!ack->may_grow)
        return;
    if (window->cwnd < window->ssthresh) { /* slow start: a segment for each acknowledged */
        uint64_t room = (window->ssthresh - window->cwnd + window->mss - 1) / window->mss;
        uint64_t used = least(room, segments);
        window->cwnd = least(window->cwnd + used * window->mss, window->ssthresh);
        segments -= used;
    }
    if (segments > 0)
        avoid(state, window, segments);
}

static void on_loss(void *state, struct aqmlab_control_window *window) {
    struct my_cc *cc = state;
    uint64_t left = (uint64_t)((double)(window->cwnd / window->mss) * cc->beta);
    cc->count = 0;
    window->ssthresh = (left < 2 ? 2 : left) * window->mss;
}

static void gauges(const void *state, double *values) {
    values[0] = (double)((const struct my_cc *)state)->count;
}

static const char *const GAUGES[] = {"count"};

static const struct aqmlab_control_table TABLE = {
    AQMLAB_CONTROL_HEAD,
    .name = "my_cc",
    .summary = "Additive increase of one segment per round trip, the share beta at congestion.",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .gauge_names = GAUGES,
    .gauge_count = sizeof GAUGES / sizeof *GAUGES,
    .create = create,
    .destroy = destroy,
    .on_ack = on_ack,
    .on_loss = on_loss,
    .gauges = gauges,
};

const struct aqmlab_control_table *aqmlab_control(void) { return &TABLE; }
