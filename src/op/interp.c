/* SPDX-License-Identifier: MIT */
/* interp.c — runs one operator's reference kernel on given tensors. */
#include "op/interp.h"

typedef struct interp {
    prt_arena *arena;
    void *user;
} interp;

void *prt_interp_user(prt_eval *c)
{
    return ((interp *)c->user)->user;
}

static void *interp_alloc(prt_eval *c, uint32_t out, size_t size)
{
    (void)out;
    return prt_arena_alloc(((interp *)c->user)->arena, size);
}

static poprt_status interp_check(prt_eval *c)
{
    (void)c;
    return POPRT_OK;
}

/* The seed depends on the node's name only: reproducible, and different for each node. */
static uint64_t interp_seed(prt_eval *c)
{
    return prt_hash(c->origin.data, c->origin.size, 0);
}

/* Infers output shapes from the real inputs; outputs whose shape infer leaves open stay without
 * data. */
static poprt_status shape_outputs(prt_infer *c, prt_tensor *out, prt_arena *arena)
{
    PRT_TRY(prt_op_infer(c));
    for (uint32_t i = 0; i < c->n_out; i++) {
        const prt_shape *s = &c->out[i];
        if (s->kind == PRT_VALUE_ABSENT)
            continue;
        if (s->kind == PRT_VALUE_UNKNOWN && s->dtype == PRT_DTYPE_undefined)
            continue; /* the caller's declaration stays */
        const int32_t dtype = s->dtype != PRT_DTYPE_undefined ? s->dtype : out[i].dtype;
        out[i] = (prt_tensor){ .kind = s->kind, .dtype = dtype };
        if (!prt_shape_is_known(s))
            continue;
        if (!prt_tensor_init(&out[i], s->dtype, (uint32_t)s->rank, s->dims, NULL))
            return prt_infer_fail(c, POPRT_E_LIMIT, "output %u is too large", i);
        out[i].data = prt_arena_alloc(arena, out[i].size);
        if (out[i].data == NULL)
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

poprt_status prt_interp_run(const prt_op_def *def, const void *attrs, prt_str origin, uint32_t n_in,
    const prt_tensor *const *in, uint32_t n_out, prt_tensor *out, prt_arena *arena,
    const prt_interp_regions *regions, void *user)
{
    prt_shape *shapes = PRT_NEW_N(arena, prt_shape, (size_t)n_in + n_out + 1);
    prt_content *content = PRT_NEW_N(arena, prt_content, (size_t)n_in + n_out + 1);
    prt_tensor **wanted = PRT_NEW_N(arena, prt_tensor *, (size_t)n_out + 1);
    if (shapes == NULL || content == NULL || wanted == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n_in; i++)
        prt_shape_of_tensor(in[i], &shapes[i]);
    for (uint32_t i = 0; i < n_out; i++) {
        shapes[n_in + i].kind =
            out[i].kind == PRT_VALUE_ABSENT ? PRT_VALUE_ABSENT : PRT_VALUE_UNKNOWN;
        wanted[i] = out[i].kind == PRT_VALUE_ABSENT ? NULL : &out[i];
    }
    prt_infer ci = { .def = def,
        .attrs = attrs,
        .origin = origin,
        .n_in = n_in,
        .n_out = n_out,
        .in = shapes,
        .value = in,
        .content = content,
        .out = shapes + n_in,
        .out_content = content + n_in,
        .scratch = arena };
    PRT_TRY(shape_outputs(&ci, out, arena));
    prt_eval_host host = { .alloc = interp_alloc, .check = interp_check, .seed = interp_seed };
    if (regions != NULL) {
        host.call = regions->call;
        host.region_signature = regions->signature;
    }
    interp state = { .arena = arena, .user = user };
    prt_eval ce = { .def = def,
        .attrs = attrs,
        .origin = origin,
        .n_in = n_in,
        .n_out = n_out,
        .in = in,
        .out = wanted,
        .host = &host,
        .user = &state };
    return prt_op_eval(&ce);
}
