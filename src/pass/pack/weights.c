/* SPDX-License-Identifier: MIT */
/*
 * weights.c — pack_weights: constant matrices of products become panels as kernels read them
 * (kern/gemm.h), once, when a model is compiled. MatMul, Gemm and fused_linear become fused_linear
 * with `columns`. A matrix with other readers stays for them.
 */
#include "kern/gemm.h"
#include "pass/rewrite.h"

enum { LEAST = 1 << 10 }; /* elements; smaller ones are packed as fast as they are read */

static void pack_panels(const float *w, bool turned, size_t k, size_t n, float *to)
{
    const size_t row = turned ? 1 : n, column = turned ? k : 1;
    for (size_t first = 0; first < n; first += PRT_GEMM_PANEL) {
        const size_t left = n - first, columns = left < PRT_GEMM_PANEL ? left : PRT_GEMM_PANEL;
        prt_gemm_pack(k, columns, w + first * column, row, column, to);
        to += k * prt_gemm_width(columns);
    }
}

/* The same from a constant that may lie at any address. */
static bool pack_into(const prt_pass *p, const prt_tensor *w, bool turned, size_t k, size_t n,
    float *to)
{
    prt_blob *copy = NULL;
    const bool aligned = (uintptr_t)w->data % _Alignof(float) == 0;
    if (!aligned && prt_blob_create(p->module->allocator, w->size, &copy) != POPRT_OK)
        return false;
    if (!aligned)
        memcpy(prt_blob_bytes(copy), w->data, w->size);
    pack_panels(aligned ? w->data : (const void *)copy->data, turned, k, n, to);
    prt_blob_release(copy);
    return true;
}

/* The panels of a constant matrix as a new constant; NULL when it is none worth it. */
static prt_value *packed(prt_pass *p, prt_op *op, bool turned, int64_t *columns)
{
    prt_tensor w;
    prt_blob *blob = NULL;
    size_t size;
    if (!prt_match_constant(op, 1, &w) || w.dtype != PRT_DTYPE_f32 || w.rank != 2 ||
        prt_tensor_count(&w) < LEAST)
        return NULL;
    const size_t k = (size_t)w.dims[turned], n = (size_t)w.dims[!turned];
    const size_t panels = n / PRT_GEMM_PANEL * PRT_GEMM_PANEL;
    const size_t width = panels + prt_gemm_width(n - panels);
    if (!prt_size_mul(k, width * sizeof(float), &size) ||
        prt_blob_create(p->module->allocator, size, &blob) != POPRT_OK)
        return NULL;
    if (!pack_into(p, &w, turned, k, n, (float *)(void *)prt_blob_bytes(blob))) {
        prt_blob_release(blob);
        return NULL;
    }
    const int64_t dim = (int64_t)(k * width);
    *columns = (int64_t)n;
    return prt_pass_derive(op->graph, prt_op_input(op, 1),
        prt_type_tensor(p->module->types, PRT_DTYPE_f32, 1, &dim), blob);
}

static bool put(prt_pass *p, prt_build *b, prt_op *root, prt_fused_linear_attrs *attrs)
{
    prt_value *in[4];
    int64_t columns = 0;
    for (uint32_t i = 0; i < 4; i++)
        in[i] = prt_op_input(root, i);
    prt_value *w = packed(p, root, attrs->transB != 0, &columns);
    if (w == NULL)
        return false;
    in[1] = w;
    const prt_op_def *def = prt_op_of(PRT_OP_fused_linear);
    attrs->transB = 0;
    attrs->present &= ~((uint64_t)1 << prt_op_attr(def, PRT_STR("transB")));
    PRT_ATTR_GIVE(*attrs, fused_linear, columns, columns);
    uint32_t n = 4;
    while (n > 2 && in[n - 1] == NULL)
        n--;
    prt_value *y = prt_build_op(b, PRT_OP_fused_linear, attrs, n, in);
    if (y != NULL)
        (void)prt_pass_replace(b, &root->out[0], y);
    return true;
}

static bool apply_linear(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_fused_linear_attrs attrs = *(const prt_fused_linear_attrs *)root->attrs;
    return attrs.columns == 0 && put(p, b, root, &attrs);
}

static bool apply_matmul(prt_pass *p, prt_build *b, prt_op *root)
{
    prt_fused_linear_attrs attrs = PRT_ATTRS_OF(fused_linear);
    const prt_value *a = prt_op_input(root, 0);
    return prt_type_is_tensor(a->type) && a->type->rank >= 2 && put(p, b, root, &attrs);
}

static bool apply_gemm(prt_pass *p, prt_build *b, prt_op *root)
{
    const prt_gemm_attrs *g = root->attrs;
    const prt_value *c = prt_op_input(root, 2), *w = prt_op_input(root, 1);
    prt_fused_linear_attrs attrs = PRT_ATTRS_OF(fused_linear);
    if (g->transA != 0 || g->alpha != 1.0f || g->beta != 1.0f || !prt_type_is_tensor(w->type) ||
        w->type->rank != 2 ||
        (c != NULL && (!prt_type_is_tensor(c->type) || c->type->rank != 1 ||
                          c->type->dims[0] != w->type->dims[g->transB != 0 ? 0 : 1])))
        return false;
    attrs.transB = g->transB;
    return put(p, b, root, &attrs);
}

static const prt_rewrite rewrites[] = { { PRT_OP_fused_linear, apply_linear },
    { PRT_OP_matmul, apply_matmul }, { PRT_OP_gemm, apply_gemm } };

const prt_pass_hooks prt_pass_pack_weights = {
    .rewrites = rewrites,
    .n_rewrites = PRT_COUNT_OF(rewrites),
};
