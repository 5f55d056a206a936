/* SPDX-License-Identifier: MIT */
/*
 * q_embed.c — QEmbedLayerNormalization: the sum of quantised word, position and segment embeddings,
 * each with its own scale, is normalised; and the number of unmasked words of each row.
 */
#include <math.h>

#include "op/check.h"
#include "op/share/reals.h"
#include "op/share/quant.h"

enum { IN_IDS, IN_SEGMENTS, IN_WORD, IN_POSITION, IN_SEGMENT, IN_GAMMA, IN_BETA, IN_MASK };
/* The tables are the inputs from IN_WORD to IN_BETA. */
enum {
    TABLES = 5, /* number of tables */
    SCALES = 8, /* input of the first table's scale */
    ZEROS = 13  /* input of the first table's zero point */
};

/* ---- shapes ---- */

static poprt_status check_segments(const prt_infer *c)
{
    static const uint32_t slots[] = { IN_SEGMENTS, IN_SEGMENT, SCALES + 2, ZEROS + 2 };
    for (size_t i = 1; i < PRT_COUNT_OF(slots); i++)
        if (prt_infer_has(c, slots[i]) != prt_infer_has(c, slots[0]))
            return prt_infer_fail(c, POPRT_E_ARG,
                "segment ids, embedding, scale and zero point must be given together");
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    int64_t merged, hidden = prt_infer_dim(c, IN_WORD, 1);
    PRT_TRY(check_segments(c));
    for (uint32_t i = 0; i < TABLES; i++) {
        PRT_TRY(prt_infer_scalar(c, SCALES + i, &merged));
        PRT_TRY(prt_infer_scalar(c, ZEROS + i, &merged));
        const uint32_t slot = IN_WORD + i;
        if (slot >= IN_GAMMA)
            continue;
        PRT_TRY(prt_infer_rank(c, slot, 2));
        if (prt_infer_has(c, slot))
            PRT_TRY(prt_infer_merge(c, hidden, prt_infer_dim(c, slot, 1),
                "the size of an embedding", &hidden));
    }
    PRT_TRY(prt_infer_vector(c, IN_GAMMA, hidden));
    PRT_TRY(prt_infer_vector(c, IN_BETA, hidden));
    int64_t dims[3] = { prt_infer_dim(c, IN_IDS, 0), prt_infer_dim(c, IN_IDS, 1), hidden };
    static const uint32_t alike[] = { IN_IDS, IN_SEGMENTS, IN_MASK };
    for (size_t i = 0; i < PRT_COUNT_OF(alike); i++) {
        PRT_TRY(prt_infer_rank(c, alike[i], 2));
        for (uint32_t k = 0; k < 2 && prt_infer_has(c, alike[i]); k++)
            PRT_TRY(prt_infer_merge(c, dims[k], prt_infer_dim(c, alike[i], k),
                prt_slot_name(prt_op_in_slot(c->def, alike[i])), &dims[k]));
    }
    PRT_TRY(prt_infer_exact(c, 0, PRT_DTYPE_f32, 3, dims));
    return prt_infer_exact(c, 1, PRT_DTYPE_i32, 1, dims);
}

/* ---- evaluation ---- */

/* Adds the dequantised row `row` of table `i`. */
static poprt_status add_row(const prt_eval *c, uint32_t i, int64_t row, size_t hidden, double *to)
{
    const prt_tensor *t = c->in[IN_WORD + i];
    const double scale = prt_quant_number(c, SCALES + i, 1);
    const double zero = prt_quant_number(c, ZEROS + i, 0);
    const int64_t rows = t->rank == 2 ? t->dims[0] : 1;
    if (row < 0 || row >= rows)
        return prt_eval_fail(c, POPRT_E_ARG, "row %lld is outside %s, which has %lld rows",
            (long long)row, prt_slot_name(prt_op_in_slot(c->def, IN_WORD + i)), (long long)rows);
    for (size_t k = 0; k < hidden; k++)
        to[k] += scale * ((double)prt_load_i64(t->dtype, t->data, (size_t)row * hidden + k) - zero);
    return POPRT_OK;
}

static void normalise(double *x, size_t n, double epsilon, const double *gamma, const double *beta)
{
    double mean = 0, square = 0;
    for (size_t k = 0; k < n; k++)
        mean += x[k] / (double)n;
    for (size_t k = 0; k < n; k++)
        square += (x[k] - mean) * (x[k] - mean) / (double)n;
    for (size_t k = 0; k < n; k++)
        x[k] = (x[k] - mean) / sqrt(square + epsilon) * gamma[k] + beta[k];
}

static void count_words(const prt_eval *c)
{
    const prt_tensor *ids = c->in[IN_IDS];
    const size_t batch = (size_t)ids->dims[0], words = (size_t)ids->dims[1];
    for (size_t b = 0; b < batch; b++) {
        int32_t count = 0;
        for (size_t s = 0; prt_eval_has(c, IN_MASK) && s < words; s++)
            count += ((const int32_t *)c->in[IN_MASK]->data)[b * words + s] == 1;
        ((int32_t *)c->out[1]->data)[b] = count;
    }
}

static poprt_status eval(prt_eval *c)
{
    const prt_ms_qembed_layer_normalization_attrs *a = c->attrs;
    const prt_tensor *ids = c->in[IN_IDS];
    const size_t hidden = (size_t)c->in[IN_WORD]->dims[1], words = (size_t)ids->dims[1];
    double *row = prt_eval_scratch(c, hidden, 3 * sizeof(double));
    if (row == NULL)
        return POPRT_E_NOMEM;
    double *gamma = row + hidden, *beta = gamma + hidden;
    if (prt_eval_wants(c, 1))
        count_words(c);
    if (!prt_eval_wants(c, 0))
        return POPRT_OK;
    PRT_TRY(add_row(c, IN_GAMMA - IN_WORD, 0, hidden, gamma));
    PRT_TRY(add_row(c, IN_BETA - IN_WORD, 0, hidden, beta));
    for (size_t i = 0; i < prt_tensor_count(ids); i++) {
        memset(row, 0, hidden * sizeof(double));
        PRT_TRY(add_row(c, 0, ((const int32_t *)ids->data)[i], hidden, row));
        PRT_TRY(add_row(c, 1, (int64_t)(i % words), hidden, row));
        if (prt_eval_has(c, IN_SEGMENTS))
            PRT_TRY(add_row(c, 2, ((const int32_t *)c->in[IN_SEGMENTS]->data)[i], hidden, row));
        normalise(row, hidden, (double)a->epsilon, gamma, beta);
        prt_reals_store(c->out[0]->dtype, c->out[0]->data, i * hidden, 1, hidden, row);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_ms_qembed_layer_normalization = { .infer = infer, .eval = eval };
