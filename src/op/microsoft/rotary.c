/* SPDX-License-Identifier: MIT */
/*
 * rotary.c — rotary position embeddings: RotaryEmbedding of com.microsoft, MRotaryEmbedding, whose
 * tokens have three positions, and GemmaRotaryEmbedding, whose input is the angles.
 *
 * X is [batch, heads, sequence, size] or [batch, sequence, heads * size]. The attribute `scale` of
 * RotaryEmbedding has no effect, as in ONNX Runtime.
 */
#include "op/share/rotary_core.h"

#include <math.h>

#include "op/share/reals.h"

enum { IN_X, IN_POSITIONS, IN_COS, IN_SIN };

typedef struct params {
    int64_t heads, rotated; /* from attributes; 0: absent */
    bool interleaved;
    prt_i64s sections; /* MRotaryEmbedding: pairs for each of the positions */
    double scale;      /* factor of the rotated elements */
    bool mixed;        /* positions alternate by pair, instead of by section */
} params;

static params plain_params(const void *attrs)
{
    const prt_ms_rotary_embedding_attrs *a = attrs;
    return (params){ .heads = a->num_heads,
        .rotated = a->rotary_embedding_dim,
        .interleaved = a->interleaved != 0,
        .scale = 1 };
}

static params m_form(const void *attrs)
{
    const prt_ms_m_rotary_embedding_attrs *a = attrs;
    return (params){ .heads = a->num_heads,
        .rotated = a->rotary_embedding_dim,
        .interleaved = a->interleaved != 0,
        .sections = a->mrope_section,
        .scale = a->scale != 0.0f ? (double)a->scale : 1,
        .mixed = a->mrope_layout != 0 };
}

/* Finds the head size and the number of rotated elements. Without attributes, and with X of rank 3,
   a head is twice as wide as the caches. */
static poprt_status head_size(const prt_infer *c, const params *f, int64_t *size, int64_t *rotated)
{
    const prt_shape *x = &c->in[IN_X];
    const int64_t pairs = prt_infer_dim(c, IN_COS, 1);
    if (f->heads < 0 || f->rotated < 0 || f->rotated % 2 != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "num_heads is %lld and rotary_embedding_dim %lld; both must be at least 0, the latter "
            "even",
            (long long)f->heads, (long long)f->rotated);
    *size = x->dims[x->rank - 1];
    if (x->rank == 3 && f->heads > 0 && prt_dim_is_number(*size) && *size % f->heads != 0)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld elements do not divide into %lld heads",
            (long long)*size, (long long)f->heads);
    if (x->rank == 3 && f->heads > 0)
        *size = prt_dim_floordiv(c->dims, *size, f->heads);
    else if (x->rank == 3)
        *size = prt_dim_mul(c->dims, pairs, 2);
    if (x->rank == 3 && f->heads == 0 && f->rotated > 0)
        return prt_infer_fail(c, POPRT_E_ARG, "rotary_embedding_dim needs num_heads");
    *rotated = f->rotated > 0 ? f->rotated : *size;
    if (prt_dim_is_number(*size) &&
        (*size < 1 ||
            (prt_dim_is_number(x->dims[x->rank - 1]) && x->dims[x->rank - 1] % *size != 0)))
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld elements do not divide into heads of %lld",
            (long long)x->dims[x->rank - 1], (long long)*size);
    if (prt_dim_is_number(*rotated) &&
        (*rotated % 2 != 0 || (prt_dim_is_number(*size) && *rotated > *size)))
        return prt_infer_fail(c, POPRT_E_ARG, "%lld of %lld elements cannot be rotated",
            (long long)*rotated, (long long)*size);
    return POPRT_OK;
}

static poprt_status check_positions(const prt_infer *c, const params *f)
{
    const prt_shape *x = &c->in[IN_X], *p = &c->in[IN_POSITIONS];
    const bool three = f->sections.count != 0;
    int64_t dim;
    if (!prt_infer_ranked(c, IN_POSITIONS))
        return POPRT_OK;
    if (p->rank == 1 && !three)
        return prt_infer_vector(c, IN_POSITIONS, 1);
    PRT_TRY(prt_infer_rank(c, IN_POSITIONS, three ? 3 : 2));
    if (three)
        PRT_TRY(prt_infer_merge(c, 3, p->dims[0], "the number of positions", &dim));
    PRT_TRY(prt_infer_merge(c, x->dims[0], p->dims[p->rank - 2], "the batch", &dim));
    return prt_infer_merge(c, x->dims[x->rank - 2], p->dims[p->rank - 1], "the sequence", &dim);
}

static poprt_status infer_with(prt_infer *c, const params *f)
{
    const prt_shape *x = &c->in[IN_X];
    int64_t size = 0, rotated = 0, dim;
    PRT_TRY(prt_infer_rank(c, IN_COS, 2));
    PRT_TRY(prt_infer_rank(c, IN_SIN, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_COS, 0), prt_infer_dim(c, IN_SIN, 0),
        "the number of positions", &dim));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_COS, 1), prt_infer_dim(c, IN_SIN, 1),
        "the number of angles", &dim));
    if (prt_infer_ranked(c, IN_X)) {
        if (x->rank != 3 && x->rank != 4)
            return prt_infer_fail(c, POPRT_E_SHAPE, "the input has rank %d; accepted: 3, 4",
                x->rank);
        PRT_TRY(head_size(c, f, &size, &rotated));
        PRT_TRY(prt_infer_merge(c, prt_dim_floordiv(c->dims, rotated, 2),
            prt_infer_dim(c, IN_COS, 1), "the number of angles", &dim));
        PRT_TRY(check_positions(c, f));
        for (uint32_t i = 0; i < f->sections.count && prt_dim_is_number(dim); i++)
            if (f->sections.data[i] < 0 || f->sections.data[i] > dim)
                return prt_infer_fail(c, POPRT_E_ARG,
                    "a section has %lld angles, outside [0, %lld]", (long long)f->sections.data[i],
                    (long long)dim);
            else if (i == 2 &&
                f->sections.data[0] + f->sections.data[1] + f->sections.data[2] != dim)
                return prt_infer_fail(c, POPRT_E_ARG, "the sections do not add up to %lld angles",
                    (long long)dim);
    }
    return prt_infer_like(c, 0, IN_X, x->dtype);
}

/* Returns the index of the position that pair `k` takes its angle from. */
static size_t stream_of(const params *f, int64_t k)
{
    if (f->sections.count == 0)
        return 0;
    const int64_t *s = f->sections.data;
    if (f->mixed)
        return k % 3 == 1 && k / 3 < s[1] ? 1 : k % 3 == 2 && k / 3 < s[2] ? 2 : 0;
    return k < s[0] ? 0 : k < s[0] + s[1] ? 1 : 2;
}

/* Loads cosines and sines of the token with index `index` of all tokens and `i` of its sequence. */
static poprt_status load_angles(prt_eval *c, const params *f, size_t index, size_t i, size_t tokens,
    size_t half, double *cosine)
{
    const prt_tensor *p = c->in[IN_POSITIONS], *cos_cache = c->in[IN_COS];
    const int64_t most = cos_cache->dims[0], *place = p->data;
    for (size_t k = 0; k < half; k++) {
        int64_t at = place[p->rank == 1 ? 0 : stream_of(f, (int64_t)k) * tokens + index];
        if (at < 0 || at >= most || (p->rank == 1 && (int64_t)i >= most - at))
            return prt_eval_fail(c, POPRT_E_ARG, "position %lld is outside the %lld positions",
                (long long)at, (long long)most);
        at += p->rank == 1 ? (int64_t)i : 0;
        prt_reals_load(cos_cache->dtype, cos_cache->data, (size_t)at * half + k, 1, 1, &cosine[k]);
        prt_reals_load(cos_cache->dtype, c->in[IN_SIN]->data, (size_t)at * half + k, 1, 1,
            &cosine[half + k]);
    }
    return POPRT_OK;
}

static poprt_status eval_with(prt_eval *c, const params *f)
{
    const prt_tensor *x = c->in[IN_X];
    const bool four = x->rank == 4;
    if (!prt_eval_wants(c, 0) || prt_tensor_count(x) == 0)
        return POPRT_OK;
    const size_t half = (size_t)c->in[IN_COS]->dims[1], last = (size_t)x->dims[x->rank - 1];
    const size_t size = !four && f->heads > 0 ? last / (size_t)f->heads : four ? last : 2 * half;
    const size_t heads = four ? (size_t)x->dims[1] : last / size;
    const size_t batch = (size_t)x->dims[0], rows = (size_t)x->dims[x->rank - 2];
    double *row = prt_eval_scratch(c, size + 2 * half, sizeof(double)), *angles = row + size;
    if (row == NULL)
        return POPRT_E_NOMEM;
    for (size_t t = 0; t < batch * rows; t++) {
        PRT_TRY(load_angles(c, f, t, t % rows, batch * rows, half, angles));
        for (size_t h = 0; h < heads; h++) {
            const size_t at =
                four ? ((t / rows * heads + h) * rows + t % rows) * size : (t * heads + h) * size;
            prt_reals_load(x->dtype, x->data, at, 1, size, row);
            prt_rotary_rotate(half, f->interleaved, angles, angles + half, row);
            for (size_t k = 0; k < 2 * half; k++)
                row[k] *= f->scale;
            prt_reals_store(x->dtype, c->out[0]->data, at, 1, size, row);
        }
    }
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    const params f = plain_params(c->attrs);
    return infer_with(c, &f);
}

static poprt_status eval(prt_eval *c)
{
    const params f = plain_params(c->attrs);
    return eval_with(c, &f);
}

const prt_op_hooks prt_op_ms_rotary_embedding = { .infer = infer, .eval = eval };

static poprt_status infer_m(prt_infer *c)
{
    const params f = m_form(c->attrs);
    if (f.sections.count != 3)
        return prt_infer_fail(c, POPRT_E_ARG, "mrope_section has %u numbers; 3 are needed",
            f.sections.count);
    return infer_with(c, &f);
}

static poprt_status eval_m(prt_eval *c)
{
    const params f = m_form(c->attrs);
    return eval_with(c, &f);
}

const prt_op_hooks prt_op_ms_m_rotary_embedding = { .infer = infer_m, .eval = eval_m };

/* ---- GemmaRotaryEmbedding: q * cos(emb) + q_rot * sin(emb), and the same for k ---- */

static poprt_status infer_gemma(prt_infer *c)
{
    static const uint32_t same[3][2] = { { 0, 0 }, { 2, 1 }, { 3, 2 } }; /* dims of q and emb */
    int64_t dim;
    PRT_TRY(prt_infer_rank(c, 0, 3));
    for (uint32_t i = 1; i < 5; i++) {
        PRT_TRY(prt_infer_rank(c, i, 4));
        for (uint32_t k = 0; k < 3; k++)
            PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 0, same[k][1]),
                prt_infer_dim(c, i, same[k][0]), "a dim of emb", &dim));
    }
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 1, 1), prt_infer_dim(c, 2, 1), "the heads", &dim));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, 3, 1), prt_infer_dim(c, 4, 1), "the heads", &dim));
    PRT_TRY(prt_infer_like(c, 0, 1, c->in[1].dtype));
    return prt_infer_like(c, 1, 3, c->in[3].dtype);
}

static poprt_status eval_gemma(prt_eval *c)
{
    const float *emb = c->in[0]->data;
    for (uint32_t o = 0; o < 2; o++) {
        const prt_tensor *x = c->in[1 + 2 * o], *rotated = c->in[2 + 2 * o];
        const size_t heads = (size_t)x->dims[1], n = (size_t)(x->dims[2] * x->dims[3]);
        for (size_t i = 0; i < prt_tensor_count(x) && prt_eval_wants(c, o); i++) {
            const double angle = (double)emb[i / n / heads * n + i % n];
            double a, b;
            prt_reals_load(x->dtype, x->data, i, 1, 1, &a);
            prt_reals_load(x->dtype, rotated->data, i, 1, 1, &b);
            a = a * cos(angle) + b * sin(angle);
            prt_reals_store(x->dtype, c->out[o]->data, i, 1, 1, &a);
        }
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_gemma_rotary_embedding = { .infer = infer_gemma, .eval = eval_gemma };
