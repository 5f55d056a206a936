/* SPDX-License-Identifier: MIT */
/* loop.c — runs a loaded model again and again, whichever engine it is loaded in, by the clock. */
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "poprt/stepio.h"

enum { LOOP_POPRT, LOOP_ORT, LOOP_OPENVINO, LOOP_DECODE };

/* libpoprt writing word after word with its caches in place: from `first` words of a past to `end`,
 * and again. The functions are those of the library that is measured. */
typedef struct loop_decode {
    int32_t (*run)(void *session, void *io);
    poprt_status (*bind)(poprt_stepio *io, const char *name, const poprt_tensor *tensor);
    poprt_status (*bind_cache)(poprt_stepio *io, const char *input, const char *output,
        const poprt_tensor *room, int64_t rows);
    const char *mask;
    poprt_tensor *seen; /* the mask; its dims follow */
    int64_t *seen_dims;
    const char *const *names; /* input, output; input, output; ... */
    const poprt_tensor *rooms;
    int64_t n_caches, first, end, rows;
} loop_decode;

/* One run: a C function of the engine and what it takes. */
typedef struct loop_call {
    int32_t kind; /* LOOP_* */
    union {
        int32_t (*poprt)(void *session, void *io);
        void *(*ort)(void *session, const void *options, const void *binding);
        int32_t (*openvino)(void *request);
    } run;
    void *a, *b, *c;
} loop_call;

static int decode(void *session, poprt_stepio *io, loop_decode *d)
{
    if (d->rows == d->end)
        d->rows = d->first;
    for (int64_t i = 0; d->rows == d->first && i < d->n_caches; i++)
        if (d->bind_cache(io, d->names[2 * i], d->names[2 * i + 1], &d->rooms[i], d->rows) != 0)
            return 0;
    d->seen_dims[1] = ++d->rows;
    d->seen->size = (size_t)d->rows * sizeof(int64_t);
    return d->bind(io, d->mask, d->seen) == 0 && d->run(session, io) == 0;
}

static int run(const loop_call *call)
{
    switch (call->kind) {
    case LOOP_POPRT:
        return call->run.poprt(call->a, call->b) == 0;
    case LOOP_DECODE:
        return decode(call->a, call->b, call->c);
    case LOOP_ORT:
        return call->run.ort(call->a, call->b, call->c) == NULL;
    default:
        return call->run.openvino(call->a) == 0;
    }
}

static uint64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Goes on for `ns` nanoseconds, at least `least` and at most `most` samples of `each` runs; a
 * sample's nanoseconds go to `samples`. How many there are, or -1 when a run failed.
 */
__attribute__((visibility("default"))) int64_t bench_loop(const loop_call *call, int64_t each,
    int64_t least, int64_t most, uint64_t ns, uint64_t *samples);

int64_t bench_loop(const loop_call *call, int64_t each, int64_t least, int64_t most, uint64_t ns,
    uint64_t *samples)
{
    const uint64_t begin = now();
    int64_t n = 0;
    for (uint64_t last = begin; n < least || (n < most && last - begin < ns); n++) {
        const uint64_t start = now();
        for (int64_t i = 0; i < each; i++)
            if (!run(call))
                return -1;
        last = now();
        samples[n] = last - start;
    }
    return n;
}
