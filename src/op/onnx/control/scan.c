/* SPDX-License-Identifier: MIT */
/*
 * scan.c — Scan: runs its region once for each slice of the scanned inputs.
 *
 * Region: (states …, slices …) → (states …, slices …). The inputs of the operator are the initial
 * states and then the scanned tensors; the outputs are the final states and the stacked slices.
 * States keep their shape.
 */
#include "op/share/loop_carry.h"
#include "op/share/type_wrap.h"

enum { SCAN_INPUTS = 0, SCAN_BODY = 1 }; /* indices in the operator's row */

/* Returns entry `i` of an optional list; the default of an entry is 0. */
static int64_t entry(prt_i64s list, uint32_t i)
{
    return i < list.count ? list.data[i] : 0;
}

static uint32_t axis_of(int64_t axis, uint32_t rank)
{
    return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

static poprt_status check_lists(const prt_infer *c, uint32_t n_scanned, uint32_t n_stacked)
{
    const prt_scan_attrs *a = c->attrs;
    const struct {
        const char *name;
        prt_i64s list;
        uint32_t count;
        bool direction;
    } rows[] = {
        { "scan_input_axes", a->scan_input_axes, n_scanned, false },
        { "scan_input_directions", a->scan_input_directions, n_scanned, true },
        { "scan_output_axes", a->scan_output_axes, n_stacked, false },
        { "scan_output_directions", a->scan_output_directions, n_stacked, true },
    };
    for (size_t r = 0; r < PRT_COUNT_OF(rows); r++) {
        if (rows[r].list.count != 0 && rows[r].list.count != rows[r].count)
            return prt_infer_fail(c, POPRT_E_ARG, "%s has %u entries; %u are required",
                rows[r].name, rows[r].list.count, rows[r].count);
        for (uint32_t i = 0; rows[r].direction && i < rows[r].list.count; i++)
            if (rows[r].list.data[i] != 0 && rows[r].list.data[i] != 1)
                return prt_infer_fail(c, POPRT_E_ARG, "%s has an entry other than 0 and 1",
                    rows[r].name);
    }
    return POPRT_OK;
}

/* Infers the shapes of the slices, and their number from all scanned inputs. */
static poprt_status slice_shapes(prt_infer *c, uint32_t n_states, prt_shape *to, int64_t *steps)
{
    const prt_scan_attrs *a = c->attrs;
    *steps = PRT_DIM_UNKNOWN;
    for (uint32_t i = n_states; i < c->n_in; i++) {
        uint32_t axis;
        const prt_shape *in = &c->in[i];
        to[i] = prt_shape_open(in->dtype);
        if (!prt_infer_ranked(c, i))
            continue;
        PRT_TRY(prt_infer_axis(c, entry(a->scan_input_axes, i - n_states), in->rank, false, &axis));
        PRT_TRY(prt_infer_merge(c, *steps, in->dims[axis], "the number of slices", steps));
        to[i] = *in;
        to[i].rank--;
        for (int32_t k = (int32_t)axis; k < to[i].rank; k++)
            to[i].dims[k] = in->dims[k + 1];
    }
    return POPRT_OK;
}

/* Infers output `i`, which stacks slices of shape `s`. */
static poprt_status stacked_shape(prt_infer *c, uint32_t i, const prt_shape *s, int64_t axis_attr,
    int64_t steps)
{
    uint32_t axis;
    int64_t dims[PRT_MAX_RANK];
    if (s->kind != PRT_VALUE_TENSOR || s->rank < 0 || s->rank >= PRT_MAX_RANK)
        return prt_infer_unranked(c, i, s->dtype, PRT_RANK_UNKNOWN);
    PRT_TRY(prt_infer_axis(c, axis_attr, s->rank + 1, false, &axis));
    for (int32_t k = 0; k < s->rank; k++)
        dims[k < (int32_t)axis ? k : k + 1] = s->dims[k];
    dims[axis] = steps;
    return prt_infer_set(c, i, s->dtype, s->rank + 1, dims);
}

static poprt_status infer(prt_infer *c)
{
    const prt_scan_attrs *a = c->attrs;
    int64_t steps;
    if (!prt_attr_given(a, SCAN_BODY) || !prt_attr_given(a, SCAN_INPUTS))
        return prt_infer_fail(c, POPRT_E_PARSE, "the attribute body or num_scan_inputs is missing");
    if (a->num_scan_inputs < 1 || a->num_scan_inputs > (int64_t)c->n_in)
        return prt_infer_fail(c, POPRT_E_ARG,
            "num_scan_inputs is %lld; accepted: 1 to the number of inputs, %u",
            (long long)a->num_scan_inputs, c->n_in);
    const uint32_t n_scanned = (uint32_t)a->num_scan_inputs, n_states = c->n_in - n_scanned;
    if (n_states > c->n_out)
        return prt_infer_fail(c, POPRT_E_PARSE, "there are %u states, but only %u outputs",
            n_states, c->n_out);
    PRT_TRY(check_lists(c, n_scanned, c->n_out - n_states));
    prt_shape *in = prt_type_wrap_shapes(c, c->n_in), *out = prt_type_wrap_shapes(c, c->n_out);
    if (in == NULL || out == NULL)
        return POPRT_E_NOMEM;
    memcpy(in, c->in, n_states * sizeof(prt_shape));
    PRT_TRY(slice_shapes(c, n_states, in, &steps));
    for (uint32_t i = 0; i < n_states; i++)
        prt_type_wrap_copy(c, i, &c->in[i]);
    if (c->region == NULL)
        return POPRT_OK;
    PRT_TRY(c->region(c, a->body,
        &(prt_region){ .n_in = c->n_in, .in = in, .n_out = c->n_out, .out = out }));
    for (uint32_t i = n_states; i < c->n_out; i++)
        PRT_TRY(stacked_shape(c, i, &out[i], entry(a->scan_output_axes, i - n_states), steps));
    return POPRT_OK;
}

typedef struct scan_run {
    uint32_t n_states, n_scanned, n_stacked;
    int64_t steps;
    prt_loop_carry *states;
    prt_tensor *slices;
    const prt_tensor **in; /* inputs of the region */
    prt_tensor *out;
} scan_run;

static poprt_status make_slice(prt_eval *c, const prt_tensor *whole, uint32_t axis, prt_tensor *to)
{
    int64_t dims[PRT_MAX_RANK] = { 0 };
    for (uint32_t k = 0; k + 1 < whole->rank; k++)
        dims[k] = whole->dims[k < axis ? k : k + 1];
    if (!prt_tensor_init(to, whole->dtype, whole->rank - 1, dims, NULL))
        return prt_eval_fail(c, POPRT_E_LIMIT, "a slice is too large");
    to->data = prt_eval_scratch(c, to->size, 1);
    return to->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status scan_begin(prt_eval *c, scan_run *r)
{
    const prt_scan_attrs *a = c->attrs;
    r->n_scanned = (uint32_t)a->num_scan_inputs;
    r->n_states = c->n_in - r->n_scanned;
    r->n_stacked = c->n_out - r->n_states;
    r->states = prt_eval_scratch(c, (size_t)r->n_states + 1, sizeof(prt_loop_carry));
    r->slices = prt_eval_scratch(c, r->n_scanned, sizeof(prt_tensor));
    r->in = prt_eval_scratch(c, c->n_in, sizeof(prt_tensor *));
    r->out = prt_eval_scratch(c, (size_t)c->n_out + 1, sizeof(prt_tensor));
    if (r->states == NULL || r->slices == NULL || r->in == NULL || r->out == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < r->n_states; i++) {
        r->states[i].value = *c->in[i];
        r->in[i] = &r->states[i].value;
    }
    for (uint32_t i = 0; i < r->n_scanned; i++) {
        const prt_tensor *whole = c->in[r->n_states + i];
        const uint32_t axis = axis_of(entry(a->scan_input_axes, i), whole->rank);
        r->steps = whole->dims[axis];
        PRT_TRY(make_slice(c, whole, axis, &r->slices[i]));
        r->in[r->n_states + i] = &r->slices[i];
    }
    return POPRT_OK;
}

static bool same_type_and_shape(const prt_tensor *a, const prt_tensor *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank &&
        (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof(int64_t)) == 0);
}

/* Copies the region's slice to output `i`; the first slice allocates the output. */
static poprt_status write_slice(prt_eval *c, const scan_run *r, uint32_t i, int64_t step)
{
    const prt_scan_attrs *a = c->attrs;
    const uint32_t out = r->n_states + i;
    const prt_tensor *slice = &r->out[out];
    if (!prt_eval_wants(c, out))
        return POPRT_OK;
    if (slice->kind != PRT_VALUE_TENSOR || slice->rank >= PRT_MAX_RANK)
        return prt_eval_fail(c, POPRT_E_TYPE,
            "output %u stacks tensors; each must have a rank below %d", out, PRT_MAX_RANK);
    const int64_t rank = (int64_t)slice->rank + 1, wanted = entry(a->scan_output_axes, i);
    if (wanted < -rank || wanted >= rank)
        return prt_eval_fail(c, POPRT_E_SHAPE, "output axis %lld is outside [%lld, %lld]",
            (long long)wanted, (long long)-rank, (long long)(rank - 1));
    const uint32_t axis = axis_of(wanted, (uint32_t)rank);
    int64_t dims[PRT_MAX_RANK] = { 0 };
    for (uint32_t k = 0; k < slice->rank; k++)
        dims[k < axis ? k : k + 1] = slice->dims[k];
    dims[axis] = r->steps;
    prt_tensor *to = c->out[out];
    if (step == 0)
        PRT_TRY(prt_eval_shape(c, out, slice->dtype, (uint32_t)rank, dims));
    else if (to->dtype != slice->dtype || to->rank != (uint32_t)rank ||
        memcmp(to->dims, dims, (size_t)rank * sizeof(int64_t)) != 0)
        return prt_eval_fail(c, POPRT_E_SHAPE, "output %u stacks tensors; their shapes differ",
            out);
    prt_tensor kept = *slice;
    if (slice->dtype == PRT_DTYPE_string)
        PRT_TRY(prt_eval_copy_item(c, out, slice, &kept));
    const bool backward = entry(a->scan_output_directions, i) != 0;
    prt_slice_write(to, axis, backward ? r->steps - 1 - step : step, &kept);
    return POPRT_OK;
}

static poprt_status scan_step(prt_eval *c, scan_run *r, int64_t step)
{
    const prt_scan_attrs *a = c->attrs;
    PRT_TRY(c->host->check(c));
    for (uint32_t i = 0; i < r->n_scanned; i++) {
        const prt_tensor *whole = c->in[r->n_states + i];
        const bool backward = entry(a->scan_input_directions, i) != 0;
        prt_slice_read(whole, axis_of(entry(a->scan_input_axes, i), whole->rank),
            backward ? r->steps - 1 - step : step, &r->slices[i]);
    }
    PRT_TRY(c->host->call(c, a->body, c->n_in, r->in, c->n_out, r->out));
    for (uint32_t i = 0; i < r->n_stacked; i++)
        PRT_TRY(write_slice(c, r, i, step));
    for (uint32_t i = 0; i < r->n_states; i++) {
        if (!same_type_and_shape(c->in[i], &r->out[i]))
            return prt_eval_fail(c, POPRT_E_SHAPE,
                "state %u changes its type or shape, which must stay the same", i);
        PRT_TRY(prt_loop_carry_take(c, &r->states[i], c->in[i], &r->out[i]));
    }
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_scan_attrs *a = c->attrs;
    scan_run r = { 0 };
    if (c->host->call == NULL)
        return prt_eval_fail(c, POPRT_E_UNSUPPORTED,
            "this operator has a region, which cannot run in this context");
    PRT_TRY(scan_begin(c, &r));
    for (int64_t step = 0; step < r.steps; step++)
        PRT_TRY(scan_step(c, &r, step));
    for (uint32_t i = 0; i < r.n_states; i++)
        PRT_TRY(prt_eval_copy(c, i, &r.states[i].value));
    for (uint32_t i = 0; r.steps == 0 && i < r.n_stacked; i++) {
        const prt_tensor *y = c->out[r.n_states + i];
        int64_t axis = entry(a->scan_output_axes, i);
        if (axis < 0 && y != NULL && y->rank <= PRT_MAX_RANK)
            axis += y->rank;
        const bool usable = axis > 0 && axis < PRT_MAX_RANK;
        PRT_TRY(prt_loop_carry_empty(c, r.n_states + i, usable ? (uint32_t)axis : 0));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_scan = { .infer = infer, .eval = eval };
