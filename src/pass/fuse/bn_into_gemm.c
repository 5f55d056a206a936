/* SPDX-License-Identifier: MIT */
/*
 * bn_into_gemm.c — fuse_bn_into_gemm: folds a BatchNormalization for inference (bn.h) into the
 * MatMul or Gemm of matrices before it, which becomes one Gemm. Its weight is an initializer with
 * no other reader; C of the Gemm is absent, or a constant for each column or for all.
 *
 * A Reshape from rows of more dims to a matrix may stand between them, as in models that apply a
 * linear layer to sequences and the normalisation to a matrix: "bij,jk" then "(bi)k".
 *
 * Requires that only the normalisation reads the product. If the type cannot hold a new value, the
 * pattern stays as it is. Results differ by the rounding of weight and bias: a few units in the
 * last place of the sum's largest term.
 */
#include "pass/fuse/bn.h"

typedef struct match {
    prt_bn bn;
    prt_op *product;
    bool rows; /* the product's result has more than two dims */
    prt_tensor w, c;
    prt_gemm_attrs attrs;
    bool has_c;
    size_t columns;
} match;

static bool is_matrix(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->rank == 2;
}

/* Returns whether C is one number, or one for each column. */
static bool is_row(const prt_tensor *c, size_t columns)
{
    const size_t n = prt_tensor_count(c);
    return n == 1 || (n == columns && c->rank >= 1 && (size_t)c->dims[c->rank - 1] == columns);
}

/* Matches a MatMul whose result is reshaped to a matrix with the same columns. */
static bool match_rows(const prt_op *norm, match *m)
{
    const prt_op *reshape = prt_match_interior(norm, 0, PRT_OP_reshape);
    prt_op *product = reshape != NULL ? prt_match_interior(reshape, 0, PRT_OP_matmul) : NULL;
    if (product == NULL || !is_matrix(&reshape->out[0]) || !is_matrix(prt_op_input(product, 1)) ||
        prt_match_ranked(prt_op_input(product, 0)) == NULL ||
        prt_op_input(product, 0)->type->rank < 2 || !prt_match_own_constant(product, 1, &m->w) ||
        prt_match_dim(&reshape->out[0], 1) != m->w.dims[1])
        return false;
    m->product = product;
    m->rows = true;
    m->columns = (size_t)m->w.dims[1];
    return true;
}

static bool match_product(const prt_op *norm, match *m)
{
    m->attrs = PRT_ATTRS_OF(gemm);
    if (match_rows(norm, m))
        return true;
    m->product = prt_match_interior(norm, 0, PRT_OP_matmul);
    if (m->product == NULL) {
        m->product = prt_match_interior(norm, 0, PRT_OP_gemm);
        if (m->product == NULL)
            return false;
        m->attrs = *(const prt_gemm_attrs *)m->product->attrs;
        m->has_c = prt_op_input(m->product, 2) != NULL;
    }
    if (!is_matrix(prt_op_input(m->product, 0)) || !is_matrix(prt_op_input(m->product, 1)) ||
        !prt_match_own_constant(m->product, 1, &m->w))
        return false;
    m->columns = (size_t)m->w.dims[m->attrs.transB != 0 ? 0 : 1];
    if (!m->has_c)
        return true;
    return prt_match_constant(m->product, 2, &m->c) && m->c.dtype == m->w.dtype &&
        is_row(&m->c, m->columns);
}

static bool fold_weights(const match *m, const double *s, void *data)
{
    const size_t rows = (size_t)m->w.dims[0], columns = (size_t)m->w.dims[1];
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            const size_t i = r * columns + c;
            if (!prt_bn_store(m->w.dtype, data, i,
                    prt_load_f64(m->w.dtype, m->w.data, i) * s[m->attrs.transB != 0 ? r : c]))
                return false;
        }
    return true;
}

/* Makes blobs of the folded weight and bias. Returns false, and makes nothing, if the type cannot
 * hold them or there is no memory. */
static bool fold(const match *m, prt_pass *p, prt_blob **w, prt_blob **c)
{
    const double *s = prt_bn_factors(&m->bn, p->arena);
    *w = *c = NULL;
    if (s != NULL && prt_pass_reserve(p, m->w.size) &&
        prt_blob_create(p->module->allocator, m->w.size, w) == POPRT_OK &&
        prt_blob_create(p->module->allocator, m->bn.bias.size, c) == POPRT_OK &&
        fold_weights(m, s, prt_blob_bytes(*w)) &&
        prt_bn_fold_bias(&m->bn, s, m->has_c ? &m->c : NULL, (double)m->attrs.beta,
            prt_blob_bytes(*c)))
        return true;
    prt_blob_release(*w);
    prt_blob_release(*c);
    return false;
}

static bool apply(prt_pass *p, prt_build *b, prt_op *root)
{
    match m = { .has_c = false };
    prt_blob *w, *c;
    if (!prt_bn_match(root, &m.bn) || !match_product(root, &m) ||
        !prt_bn_is_supported(&m.bn, m.w.dtype, m.columns) || !fold(&m, p, &w, &c))
        return false;
    const prt_value *weight = prt_op_input(m.product, 1), *bias = prt_op_input(root, 2);
    prt_value *in[3] = { prt_op_input(m.product, 0),
        prt_pass_derive(root->graph, weight, weight->type, w),
        prt_pass_derive(root->graph, bias, bias->type, c) };
    if (in[1] == NULL || in[2] == NULL) {
        b->status = POPRT_E_NOMEM;
        return true;
    }
    PRT_ATTR_SET(m.attrs, gemm, beta, 1.0f);
    if (m.rows) {
        const int64_t dims[2] = { -1, m.w.dims[0] };
        in[0] = prt_build_binary(b, PRT_OP_reshape, in[0], prt_build_i64s(b, 2, dims));
    }
    prt_op *gemm = prt_match_new(b, m.product, PRT_OP_gemm, &m.attrs, 3, in, 1);
    if (gemm != NULL)
        (void)prt_pass_replace(b, &root->out[0], &gemm->out[0]);
    return true;
}

static const prt_rewrite rewrites[] = { { PRT_OP_batch_normalization, apply } };

const prt_pass_hooks prt_pass_fuse_bn_into_gemm = { .rewrites = rewrites, .n_rewrites = 1 };
