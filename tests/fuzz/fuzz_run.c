/* SPDX-License-Identifier: MIT */
/* fuzz_run.c — one bounded run of a program. */
#define _GNU_SOURCE
#include "fuzz/fuzz_run.h"

#include <signal.h>
#include <sys/time.h>

#include "cpu/cpu.h"
#include "fuzz/fuzz.h"
#include "runtime/stream.h"

enum { MAX_IO = 16, MAX_ELEMENTS = 4096, RUN_MS = 200 };

static prt_session *volatile running;

/* Cancelling is one atomic store, so a signal handler may do it. */
static void on_timer(int signal_number)
{
    (void)signal_number;
    if (running != NULL)
        prt_session_cancel(running);
}

static void set_timer(int ms)
{
    const struct itimerval t = { .it_value = { ms / 1000, ms % 1000 * 1000 } };
    (void)signal(SIGVTALRM, on_timer);
    (void)setitimer(ITIMER_VIRTUAL, &t, NULL);
}

poprt_status fuzz_run_session(prt_session *session, int ms, const prt_tensor *in, prt_tensor *out)
{
    running = session;
    set_timer(ms);
    const poprt_status status = prt_session_run(session, in, out);
    set_timer(0);
    running = NULL;
    return status;
}

/* ---- data flow: every block of an input is the same tensor */

static poprt_status block_of_zeros(void *user, const prt_stream_block *block, bool prefetch,
    prt_tensor *out)
{
    (void)prefetch;
    *out = ((const prt_tensor *)user)[block->index];
    return POPRT_OK;
}

static void end_block(void *user, const prt_stream_block *block)
{
    (void)user;
    (void)block;
}

static poprt_status no_buffer(void *user, const prt_stream_block *block, prt_tensor *out)
{
    (void)user;
    (void)block;
    (void)out;
    return POPRT_OK;
}

static poprt_status drop_block(void *user, const prt_stream_block *block, const prt_tensor *value)
{
    (void)user;
    (void)block;
    (void)value;
    return POPRT_OK;
}

/* Runs two steps, which are cancelled after `ms` milliseconds. */
static void run_flow(prt_session *session, int ms, const prt_tensor *in)
{
    const prt_stream stream = { (void *)(uintptr_t)in, block_of_zeros, end_block, no_buffer,
        drop_block };
    running = session;
    set_timer(ms);
    if (prt_session_run_flow(session, &stream) == POPRT_OK)
        (void)prt_session_run_flow(session, &stream);
    set_timer(0);
    running = NULL;
}

static unsigned char zeros[MAX_ELEMENTS * 16];

/* Makes an input of zeros in the required shape, with 2 for symbols; false if it is too large. */
static bool make_input(const prt_type *type, prt_tensor *t)
{
    int64_t dims[PRT_MAX_RANK] = { 0 };
    size_t count = 1;
    if (!prt_type_is_tensor(type) || type->rank > PRT_MAX_RANK || type->dtype == PRT_DTYPE_string)
        return false;
    for (int32_t i = 0; i < type->rank; i++) {
        dims[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : 2;
        if (dims[i] != 0 && count > (size_t)MAX_ELEMENTS / (size_t)dims[i])
            return false;
        count *= (size_t)dims[i];
    }
    return prt_tensor_init(t, type->dtype, type->rank < 0 ? 1 : (uint32_t)type->rank, dims, zeros);
}

/* Makes a map of two keys to zeros; `values` is its only item. */
static bool make_map(const prt_type *type, prt_tensor *values, prt_tensor *t)
{
    static int64_t numbers[2] = { 0, 1 };
    static poprt_string words[2] = { { "a", 1 }, { "", 0 } };
    const int64_t two = 2;
    if (!prt_type_is_tensor(type->elem) || type->elem->dtype == PRT_DTYPE_string ||
        (type->dtype != PRT_DTYPE_i64 && type->dtype != PRT_DTYPE_string))
        return false;
    *t = (prt_tensor){ .kind = PRT_VALUE_MAP,
        .dtype = type->dtype,
        .count = 2,
        .items = values,
        .data = type->dtype == PRT_DTYPE_i64 ? (void *)numbers : (void *)words };
    return prt_tensor_init(values, type->elem->dtype, 1, &two, zeros);
}

static void run_session(prt_program *program, const prt_kern *kern, const prt_tensor *in)
{
    const prt_session_options options = { .allocator = fuzz_allocator(),
        .memory_limit = FUZZ_MEMORY / 2,
        .kern = kern };
    prt_tensor out[MAX_IO] = { { 0 } };
    prt_session *session = NULL;
    if (prt_session_create(program, &options, &session) != POPRT_OK)
        return;
    if (program->has_flow)
        run_flow(session, RUN_MS, in);
    else
        (void)fuzz_run_session(session, RUN_MS, in, out);
    prt_session_release(session);
}

/* Runs with the reference kernels, then with the fast operators. */
void fuzz_run_program(prt_program *program)
{
    prt_tensor in[MAX_IO] = { { 0 } }, values[MAX_IO];
    if (program->n_inputs > MAX_IO || program->n_outputs > MAX_IO)
        return;
    for (uint32_t i = 0; i < program->n_inputs; i++)
        if (program->inputs[i].type->kind == PRT_VALUE_MAP
                ? !make_map(program->inputs[i].type, &values[i], &in[i])
                : !make_input(program->inputs[i].type, &in[i]))
            return;
    run_session(program, NULL, in);
    run_session(program, prt_kern_of(prt_cpu_features()), in);
}
