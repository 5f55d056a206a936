/* SPDX-License-Identifier: MIT */
/* op_slice.c — slices. */
#include "tensorflow/formulas.h"

/* A size of -1 reaches to the end of the axis. */
poprt_status prt_tf_row_slice(prt_tf_call *n)
{
    prt_value *x = prt_tf_in(n, 0), *begin = prt_tf_in_i64(n, 1, true);
    prt_value *size = prt_tf_in_i64(n, 2, true), *zero = I64(0);
    prt_value *end =
        prt_build_where(&n->b, BINARY(less, size, zero), I64(INT64_MAX), BINARY(add, begin, size));
    prt_value *in[] = { x, begin, end };
    return prt_tf_end_with(n, prt_build_op(&n->b, PRT_OP_slice, NULL, 3, in));
}

/* ---- StridedSlice */

enum { MAX_ENTRIES = 32 };

/* An entry that slices an axis. */
typedef struct entry {
    int64_t axis; /* negative behind an ellipsis: counted from the last axis */
    uint32_t index;
    bool begin_masked, end_masked, shrinks;
} entry;

/* The entries of a StridedSlice by what they do. */
typedef struct plan {
    entry entries[MAX_ENTRIES];
    int64_t squeezed[MAX_ENTRIES], added[MAX_ENTRIES];
    uint32_t n_entries, n_squeezed, n_added;
} plan;

static bool is_set(uint64_t mask, uint32_t i)
{
    return (mask >> i & 1) != 0;
}

/* Sorts the entries by the masks, whose bits number the entries. Axes before the ellipsis count
 * from the front, axes behind it from the end, so that the rank need not be known. */
static poprt_status make_plan(prt_tf_call *n, uint32_t count, plan *p)
{
    const uint64_t all = ((uint64_t)1 << count) - 1;
    const uint64_t ellipsis = (uint64_t)prt_tf_attr_i64(n, "ellipsis_mask", 0) & all;
    const uint64_t added = (uint64_t)prt_tf_attr_i64(n, "new_axis_mask", 0) & all & ~ellipsis;
    const uint64_t shrunk = (uint64_t)prt_tf_attr_i64(n, "shrink_axis_mask", 0) & all & ~added;
    const uint64_t begin = (uint64_t)prt_tf_attr_i64(n, "begin_mask", 0);
    const uint64_t end = (uint64_t)prt_tf_attr_i64(n, "end_mask", 0);
    int64_t axis = 0, out = 0;
    if ((ellipsis & (ellipsis - 1)) != 0)
        return prt_tf_refuse(n, "it has several ellipses");
    for (uint32_t i = 0; i < count; i++) {
        if (is_set(ellipsis, i)) {
            axis = out = 0;
            for (uint32_t k = i + 1; k < count; k++) {
                axis -= !is_set(added, k);
                out -= is_set(added, k) || !is_set(shrunk, k);
            }
        } else if (is_set(added, i)) {
            p->added[p->n_added++] = out++;
        } else {
            const bool shrinks = is_set(shrunk, i);
            p->entries[p->n_entries++] = (entry){ .axis = axis,
                .index = i,
                .begin_masked = is_set(begin, i) && !shrinks,
                .end_masked = is_set(end, i) && !shrinks,
                .shrinks = shrinks };
            if (shrinks)
                p->squeezed[p->n_squeezed++] = axis;
            out += !shrinks;
            axis++;
        }
    }
    return POPRT_OK;
}

/* What is known of one of the three vectors: its elements, and the value that has them. */
typedef struct vector {
    prt_value *value;
    int64_t known[MAX_ENTRIES]; /* PRT_DIM_UNKNOWN: computed */
} vector;

static vector vector_of(prt_tf_call *n, uint32_t input, uint32_t count)
{
    vector v = { .value = prt_tf_in_i64(n, input, true) };
    uint32_t found;
    const bool known = prt_tf_ints(n, input, MAX_ENTRIES, v.known, &found) && found == count;
    for (uint32_t i = 0; i < count; i++)
        if (!known || !prt_dim_is_number(v.known[i]))
            v.known[i] = PRT_DIM_UNKNOWN;
    return v;
}

/* Returns element i as a vector of one. */
static prt_value *element(prt_tf_call *n, const vector *v, uint32_t i)
{
    const int64_t at = i;
    if (v->known[i] != PRT_DIM_UNKNOWN)
        return prt_build_i64s(&n->b, 1, &v->known[i]);
    return prt_build_gather(&n->b, v->value, prt_build_i64s(&n->b, 1, &at), 0);
}

/* Returns `forward` where the stride is positive, else `backward`. */
static prt_value *by_stride(prt_tf_call *n, const vector *strides, uint32_t i, int64_t forward,
    int64_t backward)
{
    const int64_t s = strides->known[i];
    if (s != PRT_DIM_UNKNOWN)
        return prt_build_i64s(&n->b, 1, s < 0 ? &backward : &forward);
    prt_value *negative = BINARY(less, element(n, strides, i), I64(0));
    return prt_build_where(&n->b, negative, I64(backward), I64(forward));
}

/* The end of an axis that disappears: one behind its begin. */
static prt_value *next_cell(prt_tf_call *n, prt_value *begin)
{
    prt_value *next = BINARY(add, begin, I64(1));
    return prt_build_where(&n->b, BINARY(equal, next, I64(0)), I64(INT64_MAX), next);
}

/* Applies Slice, Squeeze and Unsqueeze to `x`, the input or a tensor of its shape. */
static prt_value *strided_slice(prt_tf_call *n, prt_value *x)
{
    prt_value *starts[MAX_ENTRIES], *ends[MAX_ENTRIES], *steps[MAX_ENTRIES];
    int64_t axes[MAX_ENTRIES];
    uint32_t sliced = 0;
    plan p = { .n_entries = 0 };
    const int64_t count = prt_tf_dim(prt_tf_in(n, 1), 0);
    if (!prt_dim_is_number(count) || count > MAX_ENTRIES) {
        (void)prt_tf_refuse(n, "the number of its indices is not known, or is above %d",
            MAX_ENTRIES);
        return NULL;
    }
    if (make_plan(n, (uint32_t)count, &p) != POPRT_OK)
        return NULL;
    const vector begin = vector_of(n, 1, (uint32_t)count), end = vector_of(n, 2, (uint32_t)count);
    const vector strides = vector_of(n, 3, (uint32_t)count);
    for (uint32_t k = 0; k < p.n_entries; k++) {
        const entry *e = &p.entries[k];
        const uint32_t i = e->index;
        const int64_t one = 1;
        if (e->begin_masked && e->end_masked && strides.known[i] == 1)
            continue;
        axes[sliced] = e->axis;
        starts[sliced] =
            e->begin_masked ? by_stride(n, &strides, i, 0, INT64_MAX) : element(n, &begin, i);
        ends[sliced] = e->shrinks ? next_cell(n, starts[sliced])
            : e->end_masked       ? by_stride(n, &strides, i, INT64_MAX, -INT64_MAX)
                                  : element(n, &end, i);
        steps[sliced++] = e->shrinks ? prt_build_i64s(&n->b, 1, &one) : element(n, &strides, i);
    }
    if (sliced != 0)
        x = prt_build_slice_by(&n->b, x, prt_build_concat(&n->b, 0, sliced, starts),
            prt_build_concat(&n->b, 0, sliced, ends), prt_build_i64s(&n->b, sliced, axes),
            prt_build_concat(&n->b, 0, sliced, steps));
    x = prt_build_squeeze(&n->b, x, p.n_squeezed, p.squeezed);
    return prt_build_unsqueeze(&n->b, x, p.n_added, p.added);
}

poprt_status prt_tf_row_strided_slice(prt_tf_call *n)
{
    return prt_tf_end_with(n, strided_slice(n, prt_tf_in(n, 0)));
}

/* Writes a value to the cells of a slice: the numbers of the cells are sliced likewise. */
poprt_status prt_tf_row_strided_slice_update(prt_tf_call *n)
{
    static const int64_t all = -1, column[] = { -1, 1 };
    prt_value *x = prt_tf_in(n, 0), *shape = prt_build_shape(&n->b, x);
    prt_value *size = prt_build_unary(&n->b, PRT_OP_size, x);
    prt_value *cells = prt_build_range(&n->b, I64(0), size, I64(1));
    cells = strided_slice(n, prt_build_reshape_to(&n->b, cells, shape));
    prt_value *value = prt_build_expand(&n->b, prt_tf_in(n, 4), prt_build_shape(&n->b, cells));
    prt_value *y = prt_build_scatter_nd(&n->b, prt_build_reshape(&n->b, x, 1, &all),
        prt_build_reshape(&n->b, cells, 2, column), prt_build_reshape(&n->b, value, 1, &all),
        "none");
    return prt_tf_end_with(n, prt_build_reshape_to(&n->b, y, shape));
}
