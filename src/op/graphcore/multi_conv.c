/* SPDX-License-Identifier: MIT */
/*
 * multi_conv.c — MultiConv: several independent convolutions; inputs are (X, W, B) of each, and
 * attributes concatenate the lists of all. inDilations inserts zeros between the elements of X,
 * outPads pads the result with zeros. Also AddBias, which convolutions are split into.
 */
#include "op/share/conv_core.h"
#include "op/share/shape_values.h"

static const prt_conv_slots SLOTS = { 0, 1, 2 };

/* The attributes of one convolution. */
typedef struct part {
    prt_window_spec spec;
    prt_i64s in_dilations, out_pads;
    uint32_t spatial;
} part;

static prt_i64s share_of(prt_i64s list, uint32_t first, uint32_t count)
{
    if (list.count == 0)
        return list;
    return (prt_i64s){ list.data + first, count };
}

/* Returns the number of convolutions; 0 if the inputs are not triples (the last bias may be
   missing). */
static uint32_t count_of(uint32_t n_in)
{
    return n_in % 3 == 1 ? 0 : (n_in + 1) / 3;
}

static part part_at(const prt_gc_multi_conv_attrs *a, uint32_t first, uint32_t spatial)
{
    return (part){ .spec = { .strides = share_of(a->strides, first, spatial),
                       .dilations = share_of(a->dilations, first, spatial),
                       .pads = share_of(a->pads, 2 * first, 2 * spatial) },
        .in_dilations = share_of(a->inDilations, first, spatial),
        .out_pads = share_of(a->outPads, 2 * first, 2 * spatial),
        .spatial = spatial };
}

/* Checks that lists are empty or have an element for each spatial dim of all convolutions. */
static poprt_status check_lists(const prt_infer *c, uint32_t spatial)
{
    const prt_gc_multi_conv_attrs *a = c->attrs;
    const struct {
        const char *name;
        prt_i64s list;
        uint32_t each;
        int64_t least;
    } lists[] = { { "strides", a->strides, 1, 1 }, { "dilations", a->dilations, 1, 1 },
        { "inDilations", a->inDilations, 1, 1 }, { "pads", a->pads, 2, INT32_MIN },
        { "outPads", a->outPads, 2, 0 } };
    for (size_t i = 0; i < PRT_COUNT_OF(lists); i++) {
        if (lists[i].list.count != 0 && lists[i].list.count != lists[i].each * spatial)
            return prt_infer_fail(c, POPRT_E_ARG, "%s has %u elements; 0 or %u are needed",
                lists[i].name, lists[i].list.count, lists[i].each * spatial);
        for (uint32_t k = 0; k < lists[i].list.count; k++)
            if (lists[i].list.data[k] < lists[i].least || lists[i].list.data[k] > INT32_MAX)
                return prt_infer_fail(c, POPRT_E_ARG, "%s has %lld", lists[i].name,
                    (long long)lists[i].list.data[k]);
    }
    return POPRT_OK;
}

/* Returns the size of `dim` elements with `by` - 1 zeros between them. */
static int64_t dilated(prt_dims *dims, int64_t dim, int64_t by)
{
    if (prt_dim_is_number(dim) && dim == 0)
        return 0;
    return by == 1 ? dim : prt_dim_add(dims, prt_dim_mul(dims, prt_dim_sub(dims, dim, 1), by), 1);
}

static poprt_status infer_part(prt_infer *c, uint32_t k, const part *p)
{
    const prt_shape *x = &c->in[3 * k], *w = &c->in[3 * k + 1];
    const uint32_t given = c->n_in - 3 * k;
    prt_shape in[3] = { *x, *w, { .kind = PRT_VALUE_ABSENT } };
    if (given > 2)
        in[2] = c->in[3 * k + 2];
    for (uint32_t i = 0; x->rank >= 0 && i < p->spatial; i++)
        in[0].dims[i + 2] = dilated(c->dims, x->dims[i + 2], prt_i64s_at(p->in_dilations, i, 1));
    /* The number of groups follows from the channels of X and W. */
    const int64_t channels = prt_infer_ranked(c, 3 * k) ? x->dims[1] : PRT_DIM_UNKNOWN;
    const int64_t each = prt_infer_ranked(c, 3 * k + 1) ? w->dims[1] : PRT_DIM_UNKNOWN;
    if (!prt_dim_is_number(channels) || !prt_dim_is_number(each))
        return prt_infer_unranked(c, k, x->dtype, (int32_t)p->spatial + 2);
    if (each == 0 ? channels != 0 : channels % each != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "convolution %u: %lld channels do not divide into groups of %lld", k,
            (long long)channels, (long long)each);
    prt_infer other = *c;
    other.n_in = 3;
    other.n_out = 1;
    other.in = in;
    other.out = c->out + k;
    PRT_TRY(prt_conv_infer(&other, SLOTS, &p->spec,
        each != 0 && channels != 0 ? channels / each : 1, x->dtype));
    if (!prt_infer_wants(c, k) || c->out[k].rank < 0)
        return POPRT_OK;
    int64_t dims[PRT_MAX_RANK];
    memcpy(dims, c->out[k].dims, sizeof(dims));
    for (uint32_t i = 0; i < p->spatial; i++)
        dims[i + 2] = prt_dim_add(c->dims, dims[i + 2],
            prt_i64s_at(p->out_pads, i, 0) + prt_i64s_at(p->out_pads, p->spatial + i, 0));
    return prt_infer_exact(c, k, x->dtype, c->out[k].rank, dims);
}

static poprt_status infer(prt_infer *c)
{
    const prt_gc_multi_conv_attrs *a = c->attrs;
    const uint32_t n = count_of(c->n_in);
    uint32_t spatial = 0;
    bool open = false;
    if (n == 0 || n != c->n_out || (prt_attr_given(a, 5) && a->numConvs != (int64_t)n))
        return prt_infer_fail(c, POPRT_E_PARSE,
            "has %u inputs and %u outputs; a triple of inputs belongs to each output", c->n_in,
            c->n_out);
    if (prt_attr_given(a, 6) && !prt_str_is(a->planType, "parallel") &&
        !prt_str_is(a->planType, "serial"))
        return prt_infer_fail(c, POPRT_E_ARG, "planType is '%.*s'; accepted: parallel, serial",
            PRT_STR_ARG(a->planType));
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < 2; i++) {
            const prt_shape *in = &c->in[3 * k + i];
            if (in->kind == PRT_VALUE_ABSENT)
                return prt_infer_fail(c, POPRT_E_PARSE, "required input %u is missing", 3 * k + i);
            if (prt_infer_ranked(c, 3 * k + i) && in->rank < 3)
                return prt_infer_fail(c, POPRT_E_SHAPE,
                    "input %u has rank %d; at least 3 is needed", 3 * k + i, in->rank);
            open = open || !prt_infer_ranked(c, 3 * k);
        }
    for (uint32_t k = 0; !open && k < n; k++)
        spatial += (uint32_t)c->in[3 * k].rank - 2;
    if (!open)
        PRT_TRY(check_lists(c, spatial));
    for (uint32_t k = 0, first = 0; k < n; k++) {
        const uint32_t each = open ? 0 : (uint32_t)c->in[3 * k].rank - 2;
        const part p = part_at(a, first, each);
        if (open)
            PRT_TRY(prt_infer_unranked(c, k, c->in[0].dtype, PRT_RANK_UNKNOWN));
        else
            PRT_TRY(infer_part(c, k, &p));
        first += each;
    }
    return POPRT_OK;
}

/* Inserts zeros between the elements of X; the result is in scratch. */
static poprt_status dilate(prt_eval *c, const part *p, const prt_tensor *x, prt_tensor *to)
{
    int64_t dims[PRT_MAX_RANK], at[PRT_MAX_RANK] = { 0 };
    memcpy(dims, x->dims, sizeof(dims));
    for (uint32_t i = 0; i < p->spatial; i++)
        dims[i + 2] = dilated(NULL, x->dims[i + 2], prt_i64s_at(p->in_dilations, i, 1));
    if (!prt_tensor_init(to, x->dtype, x->rank, dims, NULL))
        return prt_eval_fail(c, POPRT_E_LIMIT, "the dilated input is too large");
    to->data = prt_eval_scratch(c, to->size, 1); /* zeroed */
    if (to->data == NULL)
        return POPRT_E_NOMEM;
    for (size_t from = 0; from < prt_tensor_count(x); from++) {
        size_t index = 0;
        for (uint32_t i = 0; i < x->rank; i++) {
            const int64_t by = i < 2 ? 1 : prt_i64s_at(p->in_dilations, i - 2, 1);
            index = index * (size_t)dims[i] + (size_t)(at[i] * by);
        }
        prt_element_copy(x->dtype, to->data, index, x->data, from, 1);
        (void)prt_at_next(x->rank, x->dims, at);
    }
    return POPRT_OK;
}

/* Allocates the result of the convolution in scratch, without the output's padding. */
static poprt_status begin_padded(prt_eval *c, const part *p, const prt_tensor *y, prt_tensor *inner)
{
    int64_t dims[PRT_MAX_RANK];
    memcpy(dims, y->dims, sizeof(dims));
    for (uint32_t i = 0; i < p->spatial; i++)
        dims[i + 2] -= prt_i64s_at(p->out_pads, i, 0) + prt_i64s_at(p->out_pads, p->spatial + i, 0);
    (void)prt_tensor_init(inner, y->dtype, y->rank, dims, NULL); /* smaller than y: cannot fail */
    inner->data = prt_eval_scratch(c, inner->size, 1);
    return inner->data != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

static void end_padded(const part *p, const prt_tensor *inner, prt_tensor *y)
{
    int64_t at[PRT_MAX_RANK] = { 0 };
    prt_zero_elements(y->dtype, y->data, 0, prt_tensor_count(y));
    for (size_t from = 0; from < prt_tensor_count(inner); from++) {
        size_t to = 0;
        for (uint32_t i = 0; i < y->rank; i++)
            to = to * (size_t)y->dims[i] +
                (size_t)(at[i] + (i < 2 ? 0 : prt_i64s_at(p->out_pads, i - 2, 0)));
        prt_element_copy(y->dtype, y->data, to, inner->data, from, 1);
        (void)prt_at_next(inner->rank, inner->dims, at);
    }
}

static poprt_status run_part(prt_eval *c, uint32_t k, const part *p)
{
    prt_tensor x, inner, *out = c->out[k];
    const prt_tensor *in[3] = { c->in[3 * k], c->in[3 * k + 1],
        c->n_in - 3 * k > 2 ? c->in[3 * k + 2] : NULL };
    prt_eval other = *c;
    prt_conv v;
    other.n_in = 3;
    other.n_out = 1;
    other.in = in;
    other.out = &out;
    const int64_t each = in[1]->dims[1];
    const int64_t group = each != 0 && in[0]->dims[1] != 0 ? in[0]->dims[1] / each : 1;
    if (p->in_dilations.count != 0) {
        PRT_TRY(dilate(c, p, in[0], &x));
        in[0] = &x;
    }
    if (p->out_pads.count != 0) {
        PRT_TRY(begin_padded(c, p, out, &inner));
        out = &inner;
    }
    PRT_TRY(prt_conv_init(&other, &v, SLOTS, &p->spec, group, NULL));
    PRT_TRY(prt_conv_run(&other, &v));
    if (p->out_pads.count != 0)
        end_padded(p, &inner, c->out[k]);
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const uint32_t n = count_of(c->n_in);
    for (uint32_t k = 0, first = 0; k < n; k++) {
        const part p = part_at(c->attrs, first, c->in[3 * k]->rank - 2);
        if (prt_eval_wants(c, k))
            PRT_TRY(run_part(c, k, &p));
        first += p.spatial;
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_multi_conv = { .infer = infer, .eval = eval };

/* ---- AddBias: adds B [C] along axis 1 of X */

static poprt_status infer_bias(prt_infer *c)
{
    if (prt_infer_ranked(c, 0) && c->in[0].rank < 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "input has rank %d; at least 2 is needed",
            c->in[0].rank);
    PRT_TRY(prt_infer_vector(c, 1, prt_infer_dim(c, 0, 1)));
    return prt_infer_like(c, 0, 0, c->in[0].dtype);
}

static poprt_status eval_bias(prt_eval *c)
{
    const prt_tensor *x = c->in[0], *b = c->in[1];
    const size_t inner = prt_dims_product(x->dims, 2, x->rank), n = prt_tensor_count(x);
    for (size_t i = 0; prt_eval_wants(c, 0) && i < n; i++)
        prt_store_f64(x->dtype, c->out[0]->data, i,
            prt_load_f64(x->dtype, x->data, i) +
                prt_load_f64(b->dtype, b->data, i / inner % (size_t)x->dims[1]));
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_add_bias = { .infer = infer_bias, .eval = eval_bias };
