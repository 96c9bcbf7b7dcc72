/* A queue discipline of my own. */
#include <stdio.h>
#include <stdlib.h>

#include "aqmlab_plugin.h"

struct my_aqm {
    double min_th, max_th, max_p, p;
};

/* In the order in which `create` gets their values. */
static const struct aqmlab_plugin_parameter PARAMETERS[] = {
    {.name = "min_th", .meaning = "Packets below which nothing is signalled.",
     .unit = "packets", .kind = AQMLAB_WHOLE, .usual = 10, .least = 0, .most = 1e6},
    {.name = "max_th", .meaning = "Packets from which max_p holds.",
     .unit = "packets", .kind = AQMLAB_WHOLE, .usual = 60, .least = 1, .most = 1e6},
    {.name = "max_p", .meaning = "The largest probability.",
     .kind = AQMLAB_REAL, .usual = 0.1, .least = 1e-9, .most = 1},
};

static void *create(const double *values, const struct aqmlab_plugin_line *line,
                    struct aqmlab_plugin_call *call, char *error, size_t room) {
    struct my_aqm *aqm = malloc(sizeof *aqm);
    (void)line, (void)call;
    if (aqm == NULL || values[0] >= values[1]) {
        snprintf(error, room, "min_th must be smaller than max_th");
        free(aqm);
        return NULL;
    }
    *aqm = (struct my_aqm){values[0], values[1], values[2], 0};
    return aqm;
}

static void destroy(void *self) { free(self); }

static int32_t admit(void *self, const struct aqmlab_plugin_packet *packet,
                     struct aqmlab_plugin_call *call) {
    struct my_aqm *aqm = self;
    double share = (call->packets - aqm->min_th) / (aqm->max_th - aqm->min_th);
    (void)packet;
    aqm->p = aqm->max_p * (share < 0 ? 0 : share > 1 ? 1 : share);
    return aqmlab_uniform(call) < aqm->p ? AQMLAB_SIGNAL_EARLY : AQMLAB_PASS;
}

static void gauges(const void *self, double *values) {
    values[0] = ((const struct my_aqm *)self)->p;
}

static const char *const GAUGES[] = {"p"};

static const struct aqmlab_plugin TABLE = {
    AQMLAB_PLUGIN_HEAD,
    .name = "my_aqm",
    .summary = "Signals with a probability that rises from min_th to max_th packets that wait.",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .gauge_names = GAUGES,
    .gauge_count = sizeof GAUGES / sizeof *GAUGES,
    .create = create,
    .destroy = destroy,
    .admit = admit,
    .gauges = gauges,
};

const struct aqmlab_plugin *aqmlab_discipline(void) { return &TABLE; }
