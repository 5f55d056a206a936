/* SPDX-License-Identifier: MIT */
/*
 * bn_into_conv.c — fuse_bn_into_conv: Conv or ConvTranspose, then BatchNormalization for
 * inference, all parameters constants of one type: with s = scale / sqrt(var + epsilon),
 * W' = W · s and B' = (B - mean) · s + bias, per output channel, in double arithmetic.
 *
 * Expects: the convolution's result read by the normalisation only. Leaves: the convolution, with
 * new constants; the old ones may have other readers. A result that the type cannot hold (half
 * precision, say) keeps the pattern as it is.
 */
#include <math.h>

#include "pass/rewrite.h"

/* Everything about a match; tensors are constants. */
typedef struct match {
    prt_op *conv, *norm;
    prt_tensor w, b, scale, bias, mean, var;
    bool has_b, transposed;
    uint64_t channels; /* of the output */
    int64_t group;
    double epsilon;
} match;

static bool is_row(const prt_tensor *t, const match *m)
{
    return t->dtype == m->w.dtype && t->rank == 1 && (uint64_t)t->dims[0] == m->channels;
}

static bool match_norm(match *m, const prt_op *norm)
{
    const prt_batch_normalization_attrs *a = norm->attrs;
    for (uint32_t i = 1; i < norm->n_out; i++)
        if (prt_value_used(&norm->out[i]))
            return false;
    m->epsilon = (double)a->epsilon;
    return a->training_mode == 0 && prt_value_used(&norm->out[0]) &&
        prt_match_constant(norm, 1, &m->scale) && prt_match_constant(norm, 2, &m->bias) &&
        prt_match_constant(norm, 3, &m->mean) && prt_match_constant(norm, 4, &m->var);
}

static bool match_conv(match *m)
{
    m->conv = prt_match_interior(m->norm, 0, PRT_OP_conv);
    if (m->conv == NULL) {
        m->conv = prt_match_interior(m->norm, 0, PRT_OP_conv_transpose);
        m->transposed = true;
    }
    if (m->conv == NULL || !prt_match_constant(m->conv, 1, &m->w) || m->w.rank < 3)
        return false;
    m->group = m->transposed ? ((const prt_conv_transpose_attrs *)m->conv->attrs)->group
                             : ((const prt_conv_attrs *)m->conv->attrs)->group;
    if (m->group < 1 || m->w.dims[0] % m->group != 0)
        return false;
    m->channels = m->transposed ? (uint64_t)m->w.dims[1] * (uint64_t)m->group
                                : (uint64_t)m->w.dims[0];
    m->has_b = prt_op_input(m->conv, 2) != NULL;
    return !m->has_b || prt_match_constant(m->conv, 2, &m->b);
}

static bool is_match(match *m)
{
    if (!match_norm(m, m->norm) || !match_conv(m))
        return false;
    const int32_t dtype = m->w.dtype;
    if (dtype != PRT_DTYPE_f16 && dtype != PRT_DTYPE_f32 && dtype != PRT_DTYPE_f64)
        return false;
    return is_row(&m->scale, m) && is_row(&m->bias, m) && is_row(&m->mean, m) &&
        is_row(&m->var, m) && (!m->has_b || is_row(&m->b, m)) &&
        prt_pass_may_replace(&m->norm->out[0], &m->conv->out[0]);
}

/* Stores a value; false when it is finite no more. */
static bool put(int32_t dtype, void *data, size_t index, double value)
{
    prt_store_f64(dtype, data, index, value);
    return isfinite(prt_load_f64(dtype, data, index));
}

static bool fold_bias(const match *m, const double *s, void *data)
{
    const int32_t dtype = m->w.dtype;
    for (size_t i = 0; i < m->channels; i++) {
        const double b = m->has_b ? prt_load_f64(dtype, m->b.data, i) : 0;
        const double mean = prt_load_f64(dtype, m->mean.data, i);
        if (!put(dtype, data, i, (b - mean) * s[i] + prt_load_f64(dtype, m->bias.data, i)))
            return false;
    }
    return true;
}

/* Conv: W[channel, in, …]. ConvTranspose: W[in, channel within its group, …]. */
static bool fold_weights(const match *m, const double *s, void *data)
{
    const int32_t dtype = m->w.dtype;
    const size_t rows = (size_t)m->w.dims[0], columns = (size_t)m->w.dims[1];
    const size_t inner = prt_dims_product(m->w.dims, 2, m->w.rank);
    const size_t rows_of_group = rows / (size_t)m->group;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            const size_t channel = m->transposed ? r / rows_of_group * columns + c : r;
            const size_t first = (r * columns + c) * inner;
            for (size_t i = first; i < first + inner; i++)
                if (!put(dtype, data, i, prt_load_f64(dtype, m->w.data, i) * s[channel]))
                    return false;
        }
    return true;
}

/* New blobs of the folded weights and bias; false (nothing made) when the type cannot hold them or
 * memory is short. */
static bool fold(const match *m, prt_pass *p, prt_blob **w, prt_blob **b)
{
    size_t size;
    double *s = PRT_NEW_N(p->arena, double, (size_t)m->channels);
    *w = *b = NULL;
    if (s == NULL || !prt_dtype_size(m->w.dtype, m->channels, &size) ||
        prt_blob_create(p->module->allocator, m->w.size, w) != POPRT_OK)
        return false;
    for (size_t i = 0; i < m->channels; i++)
        s[i] = prt_load_f64(m->w.dtype, m->scale.data, i) /
            sqrt(prt_load_f64(m->w.dtype, m->var.data, i) + m->epsilon);
    if (prt_blob_create(p->module->allocator, size, b) == POPRT_OK &&
        fold_weights(m, s, prt_blob_bytes(*w)) && fold_bias(m, s, prt_blob_bytes(*b)))
        return true;
    prt_blob_release(*w);
    prt_blob_release(*b);
    return false;
}

static bool apply(prt_pass *p, prt_build *builder, prt_op *root)
{
    match m = { .norm = root };
    prt_blob *w, *b;
    if (!is_match(&m) || !fold(&m, p, &w, &b))
        return false;
    prt_value *weights = prt_pass_derive(root->graph, prt_op_input(m.conv, 1),
        prt_op_input(m.conv, 1)->type, w);
    prt_value *bias = prt_pass_derive(root->graph, prt_op_input(root, 2),
        prt_op_input(root, 2)->type, b);
    if (weights == NULL || bias == NULL) {
        builder->status = POPRT_E_NOMEM;
        return true;
    }
    /* In place, so that what the model says of the node (place, raw attributes) stays. The new
     * parameters go in exactly when the normalisation is out, whatever is refused on the way. */
    if (m.conv->n_in < 3)
        builder->status = prt_op_add_input(m.conv, NULL);
    (void)prt_pass_replace(builder, &root->out[0], &m.conv->out[0]);
    if (!prt_value_used(&root->out[0])) {
        prt_op_set_input(m.conv, 1, weights);
        prt_op_set_input(m.conv, 2, bias);
    }
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_batch_normalization, apply } };

const prt_pass_hooks prt_pass_fuse_bn_into_conv = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
