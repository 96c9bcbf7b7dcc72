/* BLUE as the papers have it (Feng and others, 1999), the same as aqmlab's own to the bit. */
#include <stdlib.h>

#include "aqmlab_plugin.h"

struct blue {
    double d1, d2, p;
    int64_t freeze_ns, changed_ns, idle_ns; /* -1: never, not */
};

static const struct aqmlab_plugin_parameter PARAMETERS[] = {
    {.name = "freeze_time", .meaning = "Least time between two changes.", .unit = "time",
     .usual = 0.1, .least = 1e-9, .most = 1e3},
    {.name = "d1", .meaning = "What a loss adds.", .usual = 0.0025, .most = 1},
    {.name = "d2", .meaning = "What an idle line takes.", .usual = 0.00025, .most = 1},
};

static void *create(const double *values, const struct aqmlab_plugin_line *line,
                    struct aqmlab_plugin_call *call, char *error, size_t room) {
    struct blue *blue = malloc(sizeof *blue);
    (void)line, (void)call, (void)error, (void)room;
    if (blue)
        *blue = (struct blue){values[1], values[2], 0, (int64_t)(values[0] * 1e9 + 0.5), -1, -1};
    return blue;
}

static void destroy(void *self) { free(self); }

static int thawed(const struct blue *blue, int64_t now) {
    return blue->changed_ns >= 0 && now - blue->changed_ns > blue->freeze_ns;
}

/* What a line that stays idle has missed. */
static void catch_up(struct blue *blue, int64_t now) {
    int64_t freeze = blue->freeze_ns, due, more;
    if (blue->changed_ns < 0)
        blue->changed_ns = now;
    if (blue->idle_ns < 0)
        return;
    due = blue->changed_ns + freeze;
    due = blue->idle_ns > due ? blue->idle_ns : due;
    if (now <= due)
        return;
    more = (now - due - 1) / freeze;
    blue->p -= (double)(more + 1) * blue->d2;
    blue->p = blue->p < 0 ? 0 : blue->p;
    blue->changed_ns = due + freeze * more;
}

static int32_t admit(void *self, const struct aqmlab_plugin_packet *packet,
                     struct aqmlab_plugin_call *call) {
    struct blue *blue = self;
    (void)packet;
    catch_up(blue, (int64_t)call->now_ns);
    if (aqmlab_uniform(call) < blue->p)
        return AQMLAB_SIGNAL_EARLY;
    blue->idle_ns = -1;
    return AQMLAB_PASS;
}

static void decided(void *self, uint8_t what, uint8_t why, struct aqmlab_plugin_call *call) {
    struct blue *blue = self;
    int64_t now = (int64_t)call->now_ns;
    if (what == AQMLAB_MARKED)
        blue->idle_ns = -1;
    if (what != AQMLAB_DROPPED || why != AQMLAB_WHY_OVERFLOW)
        return;
    catch_up(blue, now);
    if (thawed(blue, now)) {
        blue->p = blue->p + blue->d1 > 1 ? 1 : blue->p + blue->d1;
        blue->changed_ns = now;
    }
}

static void idle(void *self, struct aqmlab_plugin_call *call) {
    struct blue *blue = self;
    int64_t now = (int64_t)call->now_ns;
    if (blue->idle_ns >= 0)
        return;
    blue->idle_ns = now;
    if (thawed(blue, now)) {
        blue->p = blue->p < blue->d2 ? 0 : blue->p - blue->d2;
        blue->changed_ns = now;
    }
}

static void gauges(const void *self, double *values) { values[0] = ((const struct blue *)self)->p; }

static const char *const GAUGES[] = {"p"};

static const struct aqmlab_plugin TABLE = {
    AQMLAB_PLUGIN_HEAD,
    .name = "c_blue",
    .summary = "Losses raise the signal probability, idle times lower it.",
    .source = "Feng, Kandlur, Saha and Shin, 1999",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .gauge_count = 1,
    .gauge_names = GAUGES,
    .limit_first = 1,
    .create = create,
    .destroy = destroy,
    .admit = admit,
    .decided = decided,
    .idle = idle,
    .gauges = gauges,
};

const struct aqmlab_plugin *aqmlab_discipline(void) { return &TABLE; }
