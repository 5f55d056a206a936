/* SPDX-License-Identifier: MIT */
/* infer.c — helpers of the infer hooks: the table's checks, broadcasting, contents, errors. */
#include "op/infer.h"

#include <stdarg.h>
#include <stdio.h>

#include "op/content.h"

poprt_status prt_infer_fail(const prt_infer *c, poprt_status status, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    return prt_fail(status, c->origin.data, "%s: %s", c->def->name, text);
}

void prt_shape_of_tensor(const prt_tensor *t, prt_shape *shape)
{
    *shape = (prt_shape){ .kind = PRT_VALUE_ABSENT };
    if (t == NULL || t->kind == PRT_VALUE_ABSENT)
        return;
    shape->kind = t->kind;
    shape->dtype = t->dtype;
    shape->rank = t->kind == PRT_VALUE_TENSOR ? (int32_t)t->rank : PRT_RANK_UNKNOWN;
    memcpy(shape->dims, t->dims, sizeof(t->dims));
}

bool prt_shape_is_known(const prt_shape *shape)
{
    if (shape->kind != PRT_VALUE_TENSOR || shape->rank < 0 || shape->dtype == PRT_DTYPE_undefined)
        return false;
    for (int32_t i = 0; i < shape->rank; i++)
        if (!prt_dim_is_number(shape->dims[i]))
            return false;
    return true;
}

poprt_status prt_infer_set(prt_infer *c, uint32_t i, int32_t dtype, int32_t rank,
    const int64_t *dims)
{
    if (!prt_infer_wants(c, i))
        return POPRT_OK;
    if (rank > PRT_MAX_RANK)
        return prt_infer_fail(c, POPRT_E_LIMIT, "output %u would have rank %d; the limit is %d", i,
            rank, PRT_MAX_RANK);
    prt_shape *out = &c->out[i];
    for (int32_t k = 0; k < rank; k++)
        if (prt_dim_is_number(dims[k]) && dims[k] < 0)
            return prt_infer_fail(c, POPRT_E_SHAPE,
                "dim %d of output %u would be %lld, but dims cannot be negative", k, i,
                (long long)dims[k]);
    out->kind = PRT_VALUE_TENSOR;
    out->dtype = dtype;
    out->rank = rank < 0 ? PRT_RANK_UNKNOWN : rank;
    if (rank > 0)
        memmove(out->dims, dims, (size_t)rank * sizeof(int64_t));
    return POPRT_OK;
}

poprt_status prt_infer_unranked(prt_infer *c, uint32_t i, int32_t dtype, int32_t rank)
{
    int64_t dims[PRT_MAX_RANK];
    for (uint32_t k = 0; k < PRT_MAX_RANK; k++)
        dims[k] = PRT_DIM_UNKNOWN;
    return prt_infer_set(c, i, dtype, rank, dims);
}

poprt_status prt_infer_like(prt_infer *c, uint32_t i, uint32_t j, int32_t dtype)
{
    return prt_infer_set(c, i, dtype, c->in[j].rank, c->in[j].dims);
}

poprt_status prt_infer_same(prt_infer *c)
{
    if (!prt_infer_wants(c, 0))
        return POPRT_OK;
    c->out[0] = c->in[0];
    if (c->content[0].count != 0 && !prt_dtype_is_float(c->in[0].dtype))
        return prt_infer_set_content(c, 0, c->content[0].count, c->content[0].values);
    return POPRT_OK;
}

/* Broadcasts two dims. Returns false if they are incompatible. */
static bool broadcast_dim(prt_dims *dims, int64_t a, int64_t b, int64_t *out)
{
    const bool na = prt_dim_is_number(a), nb = prt_dim_is_number(b);
    if (a == b)
        *out = a;
    else if (na && a == 1)
        *out = b;
    else if (nb && b == 1)
        *out = a;
    else if (na && nb)
        return false;
    else if (na) /* the other dim is 1 or equal to this number, which is above 1 */
        *out = a;
    else if (nb)
        *out = b;
    else
        *out = prt_dim_broadcast(dims, a, b);
    return true;
}

poprt_status prt_infer_broadcast(prt_infer *c, uint32_t first, uint32_t last, prt_shape *out)
{
    out->kind = PRT_VALUE_TENSOR;
    out->rank = 0;
    for (uint32_t i = first; i < last; i++) {
        if (!prt_infer_has(c, i))
            continue;
        const prt_shape *in = &c->in[i];
        if (in->rank < 0) {
            out->rank = PRT_RANK_UNKNOWN;
            return POPRT_OK;
        }
        prt_shape merged = { .kind = PRT_VALUE_TENSOR, .dtype = out->dtype };
        merged.rank = in->rank > out->rank ? in->rank : out->rank;
        for (int32_t k = 1; k <= merged.rank; k++) {
            const int64_t a = k <= out->rank ? out->dims[out->rank - k] : 1;
            const int64_t b = k <= in->rank ? in->dims[in->rank - k] : 1;
            if (!broadcast_dim(c->dims, a, b, &merged.dims[merged.rank - k]))
                return prt_infer_fail(c, POPRT_E_SHAPE,
                    "inputs do not broadcast: dim %d is %lld here and %lld in input %u",
                    merged.rank - k, (long long)a, (long long)b, i);
        }
        *out = merged;
    }
    return POPRT_OK;
}

poprt_status prt_infer_axis(const prt_infer *c, int64_t axis, int64_t rank, bool end, uint32_t *out)
{
    const int64_t most = end ? rank : rank - 1;
    if (axis < -rank || axis > most)
        return prt_infer_fail(c, POPRT_E_SHAPE, "axis %lld is outside [%lld, %lld]",
            (long long)axis, (long long)-rank, (long long)most);
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return POPRT_OK;
}

bool prt_infer_ints(const prt_infer *c, uint32_t i, int64_t *to, uint32_t max, uint32_t *count)
{
    if (!prt_infer_has(c, i))
        return false;
    const prt_tensor *t = c->value[i];
    if (t != NULL && t->kind == PRT_VALUE_TENSOR && prt_dtype_is_integer(t->dtype)) {
        const size_t n = prt_tensor_count(t);
        if (n > max)
            return false;
        for (size_t k = 0; k < n; k++) {
            const int64_t v = prt_load_i64(t->dtype, t->data, k);
            /* a number in the range of expressions must not be taken for one */
            to[k] = prt_dim_is_number(v) ? v : PRT_DIM_UNKNOWN;
        }
        *count = (uint32_t)n;
        return true;
    }
    const prt_content *known = &c->content[i];
    if (known->count == 0 || known->count > max)
        return false;
    memcpy(to, known->values, known->count * sizeof(int64_t));
    *count = known->count;
    return true;
}

bool prt_infer_number(const prt_infer *c, uint32_t i, int64_t *to)
{
    int64_t value;
    uint32_t count;
    if (!prt_infer_ints(c, i, &value, 1, &count) || count != 1 || !prt_dim_is_number(value))
        return false;
    *to = value;
    return true;
}

poprt_status prt_infer_set_content(prt_infer *c, uint32_t i, uint32_t count, const int64_t *values)
{
    if (!prt_infer_wants(c, i) || count == 0 || count > PRT_CONTENT_MAX)
        return POPRT_OK;
    const int64_t *copy = prt_arena_copy(c->scratch, values, count * sizeof(int64_t));
    if (copy == NULL)
        return POPRT_E_NOMEM;
    c->out_content[i] = (prt_content){ .count = count, .values = copy };
    return POPRT_OK;
}

poprt_status prt_infer_merge(const prt_infer *c, int64_t a, int64_t b, const char *what,
    int64_t *out)
{
    if (prt_dim_is_number(a) && prt_dim_is_number(b) && a != b)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%s is %lld in one place and %lld in another", what,
            (long long)a, (long long)b);
    /* Of two expressions for one dim, the one created earlier is the simpler one. */
    const bool both = prt_dim_is_expr(a) && prt_dim_is_expr(b);
    if (prt_dim_is_number(a) || b == PRT_DIM_UNKNOWN ||
        (both && prt_dim_index(a) < prt_dim_index(b)))
        *out = a;
    else
        *out = b;
    return POPRT_OK;
}

int64_t prt_infer_product(const prt_infer *c, const int64_t *dims, uint32_t first, uint32_t last)
{
    int64_t product = 1;
    for (uint32_t i = first; i < last; i++)
        product = prt_dim_mul(c->dims, product, dims[i]);
    return product;
}

/* ---- checks derived from the table ---- */

/* Prints a set of types, for error messages ("accepts float32, float16 …"). */
static void print_set(uint64_t set, char *to, size_t size)
{
    size_t at = 0;
    to[0] = '\0';
    for (int32_t t = 1; t < PRT_DTYPE_COUNT && at + 1 < size; t++)
        if ((set >> t & 1) != 0) {
            const int n =
                snprintf(to + at, size - at, "%s%s", at != 0 ? ", " : "", prt_dtype_of(t)->name);
            at += n > 0 ? (size_t)n : 0;
        }
}

static bool allowed(uint64_t set, const prt_shape *in)
{
    switch (in->kind) {
    case PRT_VALUE_TENSOR:
        if (in->dtype == PRT_DTYPE_undefined)
            return true;
        return (set >> in->dtype & 1) != 0;
    case PRT_VALUE_SEQUENCE:
        return (set & PRT_T_SEQ) != 0;
    case PRT_VALUE_OPTIONAL:
        return (set & PRT_T_OPT) != 0;
    case PRT_VALUE_MAP:
        return (set & PRT_T_MAP) != 0;
    default:
        return true;
    }
}

static uint32_t var_of(const prt_op_def *def, const char *var)
{
    for (uint32_t i = 0; i < def->n_types; i++)
        if (strcmp(def->types[i].var, var) == 0)
            return i;
    return 0;
}

static poprt_status check_input(prt_infer *c, uint32_t i, int32_t *bound)
{
    const prt_op_def *def = c->def;
    const prt_slot_def *slot = prt_op_in_slot(def, i);
    const prt_shape *in = &c->in[i];
    if (in->kind == PRT_VALUE_ABSENT) {
        if (i < def->n_in && (slot->flags & PRT_SLOT_OPTIONAL) == 0)
            return prt_infer_fail(c, POPRT_E_PARSE, "required input %u (%s) is missing", i,
                prt_slot_name(slot));
        return POPRT_OK;
    }
    const uint32_t v = var_of(def, slot->var);
    if (!allowed(def->types[v].set, in)) {
        char set[256];
        print_set(def->types[v].set, set, sizeof(set));
        return prt_infer_fail(c, POPRT_E_TYPE, "input %u (%s) is %s; accepted: %s", i,
            prt_slot_name(slot),
            in->kind == PRT_VALUE_TENSOR ? prt_dtype_of(in->dtype)->name : "not a tensor", set);
    }
    if ((slot->flags & PRT_SLOT_HETEROGENEOUS) != 0 || in->kind != PRT_VALUE_TENSOR ||
        in->dtype == PRT_DTYPE_undefined)
        return POPRT_OK;
    if (bound[v] == PRT_DTYPE_undefined)
        bound[v] = in->dtype;
    else if (bound[v] != in->dtype)
        return prt_infer_fail(c, POPRT_E_TYPE,
            "input %u (%s) is %s where an earlier input of the same type variable is %s", i,
            prt_slot_name(slot), prt_dtype_of(in->dtype)->name, prt_dtype_of(bound[v])->name);
    return POPRT_OK;
}

/* Returns the only member of a set of tensor types, or undefined. */
static int32_t only_type(uint64_t set)
{
    for (int32_t t = 1; t < PRT_DTYPE_COUNT; t++)
        if (set == (uint64_t)1 << t)
            return t;
    return PRT_DTYPE_undefined;
}

poprt_status prt_op_infer(prt_infer *c)
{
    enum { MAX_VARS = 8 };
    const prt_op_def *def = c->def;
    int32_t bound[MAX_VARS] = { 0 };
    PRT_ASSERT(def->n_types <= MAX_VARS);
    if (c->n_in > def->max_in || c->n_out > def->max_out)
        return prt_infer_fail(c, POPRT_E_PARSE, "has %u inputs and %u outputs; at most %u and %u",
            c->n_in, c->n_out, def->max_in, def->max_out);
    for (uint32_t i = c->n_in; i < def->n_in; i++)
        if ((def->in[i].flags & PRT_SLOT_OPTIONAL) == 0)
            return prt_infer_fail(c, POPRT_E_PARSE, "required input %u (%s) is missing", i,
                prt_slot_name(&def->in[i]));
    if (c->n_out < def->min_out)
        return prt_infer_fail(c, POPRT_E_PARSE, "has %u outputs; at least %u", c->n_out,
            def->min_out);
    for (uint32_t i = 0; i < c->n_in; i++)
        PRT_TRY(check_input(c, i, bound));
    for (uint32_t i = 0; i < c->n_out; i++) {
        if (c->out[i].kind == PRT_VALUE_ABSENT)
            continue;
        const uint32_t v = var_of(def, prt_op_out_slot(def, i)->var);
        const int32_t dtype =
            bound[v] != PRT_DTYPE_undefined ? bound[v] : only_type(def->types[v].set);
        c->out[i] =
            (prt_shape){ .kind = PRT_VALUE_UNKNOWN, .dtype = dtype, .rank = PRT_RANK_UNKNOWN };
    }
    PRT_TRY(def->hooks->infer(c));
    return prt_known_evaluate(c);
}
