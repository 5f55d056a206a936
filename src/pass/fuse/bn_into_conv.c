/* SPDX-License-Identifier: MIT */
/*
 * bn_into_conv.c — fuse_bn_into_conv: folds a BatchNormalization for inference into the Conv or
 * ConvTranspose before it. All parameters are constants of one type. With s = scale / sqrt(var +
 * epsilon), W' = W · s and B' = (B - mean) · s + bias for each output channel, in double
 * arithmetic.
 *
 * Requires that only the normalisation reads the convolution's result. Keeps the convolution and
 * gives it new constants; the old ones may have other readers. If the type cannot hold a new value
 * (float16, for instance), the pattern stays as it is.
 */
#include "pass/fuse/bn.h"

/* A match; all tensors are constants. */
typedef struct match {
    prt_op *conv, *norm;
    prt_bn bn;
    prt_tensor w, b;
    bool has_b, transposed;
    uint64_t channels; /* of the convolution's output */
    int64_t group;
} match;

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
    m->channels =
        m->transposed ? (uint64_t)m->w.dims[1] * (uint64_t)m->group : (uint64_t)m->w.dims[0];
    m->has_b = prt_op_input(m->conv, 2) != NULL;
    return !m->has_b || prt_match_constant(m->conv, 2, &m->b);
}

static bool is_match(match *m)
{
    return prt_bn_match(m->norm, &m->bn) && match_conv(m) &&
        prt_bn_is_supported(&m->bn, m->w.dtype, m->channels) &&
        (!m->has_b || prt_bn_is_row(&m->b, m->w.dtype, m->channels)) &&
        prt_pass_may_replace(&m->norm->out[0], &m->conv->out[0]);
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
                if (!prt_bn_store(dtype, data, i, prt_load_f64(dtype, m->w.data, i) * s[channel]))
                    return false;
        }
    return true;
}

/* Makes blobs of the folded weights and bias. Returns false, and makes nothing, if the type cannot
 * hold them or there is no memory. */
static bool fold(const match *m, prt_pass *p, prt_blob **w, prt_blob **b)
{
    size_t size;
    const double *s = prt_bn_factors(&m->bn, p->arena);
    *w = *b = NULL;
    if (s == NULL || !prt_pass_reserve(p, m->w.size) ||
        !prt_dtype_size(m->w.dtype, m->channels, &size) ||
        prt_blob_create(p->module->allocator, m->w.size, w) != POPRT_OK)
        return false;
    if (prt_blob_create(p->module->allocator, size, b) == POPRT_OK &&
        fold_weights(m, s, prt_blob_bytes(*w)) &&
        prt_bn_fold_bias(&m->bn, s, m->has_b ? &m->b : NULL, 1.0, prt_blob_bytes(*b)))
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
    prt_value *weights =
        prt_pass_derive(root->graph, prt_op_input(m.conv, 1), prt_op_input(m.conv, 1)->type, w);
    prt_value *bias =
        prt_pass_derive(root->graph, prt_op_input(root, 2), prt_op_input(root, 2)->type, b);
    if (weights == NULL || bias == NULL) {
        builder->status = POPRT_E_NOMEM;
        return true;
    }
    /* The convolution is changed in place to keep its position and raw attributes in the model. The
     * new parameters are set exactly if the normalisation was replaced. */
    if (m.conv->n_in < 3)
        builder->status = prt_op_add_input(m.conv, NULL);
    if (prt_pass_may_replace(&root->out[0], &m.conv->out[0]))
        m.conv->out[0].name = PRT_STR(""); /* the value has changed */
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
