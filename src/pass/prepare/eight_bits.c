/* SPDX-License-Identifier: MIT */
/*
 * eight_bits.c — eight_bits_io: float images of three channels are fed as uint8, and the graph
 * makes of them what ImageNet's networks are trained on: x / (255 std) - mean / std by channel
 * (mean 0.485, 0.456, 0.406, std 0.229, 0.224, 0.225). The channels may stand first or last.
 */
#include "pass/pass.h"

enum { CHANNELS = 3, RANK = 4 };

static const double mean[CHANNELS] = { 0.485, 0.456, 0.406 };
static const double deviation[CHANNELS] = { 0.229, 0.224, 0.225 };

/* The axis of three channels; 0: none. */
static int32_t channel_axis(const prt_type *type)
{
    if (!prt_type_is_tensor(type) || type->rank != RANK || !prt_dtype_is_float(type->dtype))
        return 0;
    return type->dims[1] == CHANNELS ? 1 : type->dims[RANK - 1] == CHANNELS ? RANK - 1 : 0;
}

static prt_value *by_channel(prt_build *b, int32_t dtype, int32_t axis, const double *values)
{
    const int64_t dims[] = { 1, axis == 1 ? CHANNELS : 1, 1, axis == 1 ? 1 : CHANNELS };
    unsigned char bytes[CHANNELS * sizeof(double)];
    for (size_t i = 0; i < CHANNELS; i++)
        prt_store_f64(dtype, bytes, i, values[i]);
    return prt_build_tensor(b, dtype, RANK, dims, bytes);
}

static poprt_status convert(prt_graph *graph, prt_value *image, int32_t axis)
{
    prt_build b = prt_build_before(graph->first);
    const int32_t dtype = image->type->dtype;
    const prt_type *bytes =
        prt_type_tensor(graph->module->types, PRT_DTYPE_u8, RANK, image->type->dims);
    double factors[CHANNELS], offsets[CHANNELS];
    prt_cast_attrs to = PRT_ATTRS_OF(cast);
    to.to = dtype;
    if (bytes == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < CHANNELS; i++) {
        factors[i] = 1 / (255 * deviation[i]);
        offsets[i] = mean[i] / deviation[i];
    }
    image->constant = NULL;
    image->content = NULL;
    image->type = bytes;
    prt_value *const in[] = { image };
    prt_value *const x = prt_build_op(&b, PRT_OP_cast, &to, 1, in);
    prt_value *y = prt_build_binary(&b, PRT_OP_mul, x, by_channel(&b, dtype, axis, factors));
    y = prt_build_binary(&b, PRT_OP_sub, y, by_channel(&b, dtype, axis, offsets));
    PRT_TRY(prt_build_status(&b));
    for (prt_use *use = image->uses, *next; use != NULL; use = next) {
        next = use->next;
        if (use->user != x->def)
            prt_op_set_input(use->user, (uint32_t)(use - use->user->in), y);
    }
    return POPRT_OK;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    for (size_t i = 0; i < graph->inputs.count && graph->first != NULL; i++) {
        prt_value *v = graph->inputs.data[i];
        const int32_t axis = channel_axis(v->type);
        if (axis == 0 || !prt_value_used(v) || prt_value_is_output(v))
            continue;
        PRT_TRY(convert(graph, v, axis));
        *changed = true;
    }
    if (!*changed)
        prt_pass_note(p, NULL, "no input is an image: float, 4 dimensions, 3 channels");
    return POPRT_OK;
}

const prt_pass_hooks prt_pass_eight_bits_io = { .run = run };
