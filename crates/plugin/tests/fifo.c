/* First come, first served, of what fits into 83 packets: a holder in its smallest form. What it does
 * wrong on purpose is chosen by its parameter. */
#include <signal.h>
#include <stdlib.h>

#include "aqmlab_plugin.h"

enum { ROOM = 83, GOOD = 0, TWICE, CRASH, HANG };

struct fifo {
    uint32_t waiting[ROOM], first, count;
    int wrong;
};

static const struct aqmlab_plugin_parameter PARAMETERS[] = {
    {.name = "wrong", .meaning = "What it does wrong.", .kind = AQMLAB_CHOICE,
     .choices = "nothing, twice, crash, hang, refuse"},
};

static void *create(const double *values, const struct aqmlab_plugin_line *line,
                    struct aqmlab_plugin_call *call, char *error, size_t room) {
    struct fifo *fifo = calloc(1, sizeof *fifo);
    (void)line, (void)call;
    if (values[0] == 4) {
        for (size_t i = 0; i + 1 < room && "as it was told"[i]; i++)
            error[i] = "as it was told"[i];
        free(fifo);
        return NULL;
    }
    fifo->wrong = (int)values[0];
    return fifo;
}

static void enqueue(void *self, const struct aqmlab_plugin_packet *packet,
                    struct aqmlab_plugin_call *call) {
    struct fifo *fifo = self;
    if (fifo->wrong == CRASH && call->packets > 3)
        raise(SIGSEGV);
    if (fifo->count == ROOM) {
        call->drop(call, packet->number, AQMLAB_WHY_OVERFLOW);
        return;
    }
    fifo->waiting[(fifo->first + fifo->count++) % ROOM] = packet->number;
}

static int64_t dequeue(void *self, struct aqmlab_plugin_call *call) {
    struct fifo *fifo = self;
    uint32_t number = fifo->waiting[fifo->first];
    (void)call;
    while (fifo->wrong == HANG && fifo->count > 3) {
    }
    if (fifo->count == 0)
        return AQMLAB_NOTHING;
    if (fifo->wrong == TWICE && fifo->count == 5)
        return number;
    fifo->first = (fifo->first + 1) % ROOM;
    fifo->count--;
    return number;
}

static const struct aqmlab_plugin TABLE = {
    AQMLAB_PLUGIN_HEAD,
    .name = "c_fifo",
    .summary = "First come, first served.",
    .parameters = PARAMETERS,
    .parameter_count = 1,
    .create = create,
    .destroy = free,
    .enqueue = enqueue,
    .dequeue = dequeue,
};

const struct aqmlab_plugin *aqmlab_discipline(void) { return &TABLE; }
