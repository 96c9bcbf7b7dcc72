/* Memory where there is no C library, as in a module for a browser's tab. */
#ifndef ALONE_H
#define ALONE_H

#include <stddef.h>

struct alone_block {
    size_t bytes;
    struct alone_block *next;
};

static struct alone_block *alone_free; /* blocks that were given back */
static unsigned char *alone_at;        /* what was not given out yet */
static size_t alone_left;

static void *malloc(size_t bytes) {
    struct alone_block **at, *block;
    size_t need;
    bytes = (bytes + 7) / 8 * 8;
    need = sizeof *block + bytes;
    for (at = &alone_free; (block = *at) != NULL; at = &block->next) {
        if (block->bytes == bytes) {
            *at = block->next;
            return block + 1;
        }
    }
    if (alone_left < need) {
        size_t pages = need / 65536 + 1;
        size_t first = __builtin_wasm_memory_grow(0, pages);
        if (first == (size_t)-1)
            return NULL;
        alone_at = (unsigned char *)(first * 65536);
        alone_left = pages * 65536;
    }
    block = (struct alone_block *)alone_at;
    alone_at += need;
    alone_left -= need;
    block->bytes = bytes;
    return block + 1;
}

static void free(void *given) {
    struct alone_block *block = (struct alone_block *)given - 1;
    if (given == NULL)
        return;
    block->next = alone_free;
    alone_free = block;
}

#endif
