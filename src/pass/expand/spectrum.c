/* SPDX-License-Identifier: MIT */
/*
 * spectrum.c — float32 DFT and STFT with frames of known length become products with a matrix of
 * cosines and sines, real and imaginary parts side by side:
 *
 *     STFT    a Conv of one channel; the frame step is the stride, the filters include the window
 *     DFT     MatMul along the axis
 *
 * A matrix has at most MOST elements; for longer frames the operators' own eval is as fast.
 */
#include "pass/expand/expand.h"

#include <math.h>
#include <stdio.h>

enum { MOST = 1 << 21 };

/* A transform of length n: `there` input numbers with `from` parts each give `bins` bins with `to`
 * parts each. A part is a real or imaginary part. */
typedef struct spectrum {
    size_t n, there, bins, from, to;
    bool inverse, halved;     /* halved: the input is the first half of a symmetric spectrum */
    bool by_bin;              /* rows of the matrix are outputs instead of inputs */
    const prt_tensor *window; /* NULL: no window */
} spectrum;

/* Returns the matrix element: the factor from part `p` of number `i` to part `q` of bin `k`. */
static float factor(const spectrum *s, const double *table, size_t i, size_t p, size_t k, size_t q)
{
    if (i >= (s->halved ? s->n / 2 + 1 : s->n))
        return 0.0f;
    const size_t at = (size_t)((uint64_t)i * k % s->n);
    const double cosine = table[at], sine = s->inverse ? -table[s->n + at] : table[s->n + at];
    double x = p == q ? cosine : p == 0 ? -sine : sine;
    if (s->inverse)
        x /= (double)s->n;
    if (s->halved && i != 0 && 2 * i != s->n)
        x *= 2; /* counts the mirrored bin too */
    if (s->window != NULL)
        x *= prt_load_f64(s->window->dtype, s->window->data, i);
    return (float)x;
}

static void fill(const spectrum *s, const double *table, float *to)
{
    const size_t rows = s->there * s->from, columns = s->bins * s->to;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            to[s->by_bin ? c * rows + r : r * columns + c] =
                factor(s, table, r / s->from, r % s->from, c / s->to, c % s->to);
}

/* Returns the matrix as a constant of these dims. On failure returns NULL with the status in `b`;
 * if its scratch cannot be allocated, only NULL. */
static prt_value *matrix(prt_pass *p, prt_build *b, const spectrum *s, uint32_t rank,
    const int64_t *dims)
{
    const size_t count = s->there * s->from * s->bins * s->to;
    prt_arena *scratch = NULL;
    prt_blob *blob = NULL;
    char name[96];
    if (prt_arena_create(p->module->allocator, 0, &scratch) != POPRT_OK)
        return NULL;
    double *table = PRT_NEW_N(scratch, double, 2 * s->n);
    if (table != NULL &&
        prt_blob_create(p->module->allocator, count * sizeof(float), &blob) == POPRT_OK) {
        for (size_t i = 0; i < s->n; i++) {
            const double t = 6.28318530717958647692 * (double)i / (double)s->n;
            table[i] = cos(t);
            table[s->n + i] = sin(t);
        }
        fill(s, table, (void *)prt_blob_bytes(blob));
    }
    prt_arena_release(scratch);
    const prt_type *type = prt_type_tensor(p->module->types, PRT_DTYPE_f32, (int32_t)rank, dims);
    if (blob == NULL || type == NULL) {
        prt_blob_release(blob);
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    (void)snprintf(name, sizeof(name), "dft_%zu_%zu_%zu", s->n, s->there, s->bins);
    return prt_match_shared_constant(p, b, name, type, blob);
}

/* Returns whether the sizes are within MOST. `n` and `there` must be positive. */
static bool fits(const spectrum *s)
{
    return s->n <= MOST && s->there <= MOST && s->bins * s->to * s->from <= MOST / s->there;
}

/* ---- STFT */

static bool frame_of(const prt_op *root, spectrum *s, prt_tensor *window)
{
    int64_t frame = prt_match_dim(prt_op_input(root, 0), 1);
    s->window = prt_op_input(root, 2) != NULL ? window : NULL;
    if (s->window != NULL) {
        if (!prt_match_constant(root, 2, window) || window->rank != 1)
            return false;
        frame = window->dims[0];
    } else if (prt_op_input(root, 3) != NULL && !prt_match_integer(root, 3, &frame)) {
        return false;
    }
    s->n = s->there = frame > 0 && frame <= MOST ? (size_t)frame : 0;
    return s->n != 0;
}

bool prt_expand_stft(prt_pass *p, prt_build *b, prt_op *root)
{
    static const int64_t channel = 1, part = 2, swap[3] = { 0, 2, 1 };
    const prt_stft_attrs *a = root->attrs;
    prt_value *x = prt_op_input(root, 0);
    prt_tensor window;
    int64_t step;
    spectrum s = { .from = 1, .to = 2, .by_bin = true };
    if (!prt_match_is_f32(x) || (x->type->rank != 2 && prt_match_dim(x, 2) != 1) ||
        !prt_match_integer(root, 1, &step) || step < 1 || !frame_of(root, &s, &window))
        return false;
    s.bins = a->onesided != 0 ? s.n / 2 + 1 : s.n;
    if (!fits(&s))
        return false;
    const int64_t dims[3] = { (int64_t)(s.bins * 2), 1, (int64_t)s.n };
    const int64_t last[4] = { 0, 0, (int64_t)s.bins, 2 };
    prt_value *filters = matrix(p, b, &s, 3, dims);
    if (filters == NULL)
        return b->status != POPRT_OK;
    prt_conv_attrs conv = PRT_ATTRS_OF(conv);
    const prt_i64s steps = { &step, 1 };
    PRT_ATTR_SET(conv, conv, strides, steps);
    if (x->type->rank == 3)
        x = prt_build_binary(b, PRT_OP_squeeze, x, prt_build_i64s(b, 1, &part));
    prt_value *in[2] = { prt_build_binary(b, PRT_OP_unsqueeze, x, prt_build_i64s(b, 1, &channel)),
        filters };
    prt_value *y = prt_match_add_transpose(b, prt_build_op(b, PRT_OP_conv, &conv, 2, in), 3, swap);
    return prt_match_replace(b, root, prt_match_add_reshape(b, y, 4, last));
}

/* ---- DFT */

static bool match_dft(const prt_op *root, spectrum *s, uint32_t *axis)
{
    const prt_dft_attrs *a = root->attrs;
    const prt_value *x = prt_op_input(root, 0);
    int64_t at = -2, length;
    if (!prt_match_is_f32(x) || x->type->rank < 2 || x->type->rank >= PRT_MAX_RANK ||
        (prt_op_input(root, 2) != NULL && !prt_match_integer(root, 2, &at)) ||
        !prt_match_axis(at, x->type->rank, axis) || *axis + 1 == (uint32_t)x->type->rank)
        return false;
    const int64_t dim = prt_match_dim(x, *axis), parts = prt_match_dim(x, -1);
    s->inverse = a->inverse != 0;
    s->halved = s->inverse && a->onesided != 0;
    length = s->halved ? 2 * (dim - 1) : dim;
    if (dim < 1 || dim > MOST || (parts != 1 && parts != 2) || (s->halved && parts != 2) ||
        (prt_op_input(root, 1) != NULL && !prt_match_integer(root, 1, &length)) || length < 1 ||
        length > MOST)
        return false;
    s->n = (size_t)length;
    s->there = (size_t)dim;
    s->from = (size_t)parts;
    s->to = s->halved ? 1 : 2;
    s->bins = !s->inverse && a->onesided != 0 ? s->n / 2 + 1 : s->n;
    return fits(s);
}

bool prt_expand_dft(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_value *x = prt_op_input(root, 0);
    uint32_t axis;
    spectrum s = { .n = 0 };
    if (!match_dft(root, &s, &axis))
        return false;
    const uint32_t rank = (uint32_t)x->type->rank, along = rank - 2;
    const int64_t dims[2] = { (int64_t)(s.there * s.from), (int64_t)(s.bins * s.to) };
    int64_t perm[PRT_MAX_RANK], joined[PRT_MAX_RANK] = { 0 }, separate[PRT_MAX_RANK] = { 0 };
    prt_value *factors = matrix(p, b, &s, 2, dims);
    if (factors == NULL)
        return b->status != POPRT_OK;
    for (uint32_t i = 0; i < rank; i++)
        perm[i] = i == axis ? along : i == along ? axis : i;
    joined[along] = dims[0];
    separate[along] = (int64_t)s.bins;
    separate[rank - 1] = (int64_t)s.to;
    if (axis != along)
        x = prt_match_add_transpose(b, x, rank, perm);
    x = prt_match_add_reshape(b, x, rank - 1, joined);
    x = prt_match_add_reshape(b, prt_build_binary(b, PRT_OP_matmul, x, factors), rank, separate);
    return prt_match_replace(b, root,
        axis != along ? prt_match_add_transpose(b, x, rank, perm) : x);
}
