/* SPDX-License-Identifier: MIT */
/*
 * group_query.c — GroupQueryAttention: groups of query heads share one head of K and V. Q and K may
 * be normalised and rotated (RoPE) first.
 *
 * Each image has its own number of keys (seqlens_k + 1). The cache holds the first rows of each
 * image or, with sliding_window_cache, the last ones (see resident_rows).
 */
#include <math.h>

#include "op/microsoft/attention_parts.h"
#include "op/microsoft/quantized_cache.h"
#include "op/share/rotary_core.h"

enum {
    IN_Q,
    IN_K,
    IN_V,
    IN_PAST_KEY,
    IN_PAST_VALUE,
    IN_LENGTHS,
    IN_TOTAL,
    IN_COS,
    IN_SIN,
    IN_POSITIONS,
    IN_ADDED,
    IN_SINK,
    IN_K_SCALE,
    IN_V_SCALE,
    IN_Q_NORM,
    IN_K_NORM
};
enum { OUT_Y, OUT_KEY, OUT_VALUE, OUT_SCORES };
enum { SCORES_NONE, SCORES_BEFORE, SCORES_AFTER };

typedef prt_ms_group_query_attention_attrs attrs;

/* ---- shapes ---- */

/* Returns whether the caches are quantised; both are, or neither. */
static bool is_coded(const attrs *a)
{
    return !prt_str_is(a->k_quant_type, "NONE") || !prt_str_is(a->v_quant_type, "NONE");
}

static poprt_status check_attrs(const prt_infer *c, const attrs *a)
{
    if (a->kv_num_heads < 1 || a->num_heads < 1 || a->num_heads > INT32_MAX ||
        a->num_heads % a->kv_num_heads != 0)
        return prt_infer_fail(c, POPRT_E_ARG,
            "num_heads is %lld and kv_num_heads %lld; a positive multiple of the latter is needed",
            (long long)a->num_heads, (long long)a->kv_num_heads);
    if (!is_coded(a) && (prt_infer_has(c, IN_K_SCALE) || prt_infer_has(c, IN_V_SCALE)))
        return prt_infer_fail(c, POPRT_E_ARG, "k_scale and v_scale go with quantised caches");
    if (a->qk_output < SCORES_NONE || a->qk_output > SCORES_AFTER)
        return prt_infer_fail(c, POPRT_E_ARG, "qk_output is %lld; accepted: 0, 1, 2",
            (long long)a->qk_output);
    if (a->local_window_size < -1 || (a->causal == 0 && a->local_window_size != -1))
        return prt_infer_fail(c, POPRT_E_ARG,
            "local_window_size is %lld; accepted: -1 or, for causal attention, a size",
            (long long)a->local_window_size);
    if (a->sliding_window_cache != 0 &&
        (a->local_window_size < 1 || !prt_infer_has(c, IN_PAST_KEY)))
        return prt_infer_fail(c, POPRT_E_ARG,
            "sliding_window_cache needs local_window_size and "
            "past_key");
    if (a->do_rotary != 0 && (!prt_infer_has(c, IN_COS) || !prt_infer_has(c, IN_SIN)))
        return prt_infer_fail(c, POPRT_E_ARG, "do_rotary needs cos_cache and sin_cache");
    if (prt_infer_has(c, IN_Q_NORM) != prt_infer_has(c, IN_K_NORM))
        return prt_infer_fail(c, POPRT_E_ARG,
            "q_norm_weight and k_norm_weight must be given together");
    if (prt_infer_has(c, IN_PAST_KEY) != prt_infer_has(c, IN_PAST_VALUE))
        return prt_infer_fail(c, POPRT_E_ARG, "past_key and past_value must be given together");
    if (prt_infer_has(c, IN_K) != prt_infer_has(c, IN_V))
        return prt_infer_fail(c, POPRT_E_ARG, "key and value must be given together");
    return POPRT_OK;
}

/* Finds the head size from Q alone, or from Q packed with K and V. */
static poprt_status head_size(const prt_infer *c, const attrs *a, int64_t *size)
{
    const bool packed = !prt_infer_has(c, IN_K);
    const int64_t heads = a->num_heads + (packed ? 2 * a->kv_num_heads : 0);
    const int64_t hidden = prt_infer_dim(c, IN_Q, 2);
    PRT_TRY(prt_infer_rank(c, IN_Q, 3));
    PRT_TRY(prt_ms_check_heads(c, heads, hidden));
    *size = prt_dim_floordiv(c->dims, hidden, heads);
    for (uint32_t i = IN_K; i <= IN_V; i++) {
        int64_t dim;
        PRT_TRY(prt_infer_rank(c, i, 3));
        PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_Q, 0), prt_infer_dim(c, i, 0), "the batch",
            &dim));
        PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_Q, 1), prt_infer_dim(c, i, 1),
            "the number of new keys", &dim));
        if (prt_infer_has(c, i))
            PRT_TRY(prt_infer_merge(c, prt_dim_mul(c->dims, *size, a->kv_num_heads),
                prt_infer_dim(c, i, 2), "the size of K and V", &dim));
    }
    return POPRT_OK;
}

/* Checks quantised caches and sets `width` to the last dim of the cache. */
static poprt_status check_codes(const prt_infer *c, const attrs *a, int64_t size, int64_t *width)
{
    prt_ms_cache_params f = { .past = IN_PAST_KEY,
        .scale = IN_K_SCALE,
        .kind = a->k_quant_type,
        .bits = a->kv_cache_bit_width,
        .heads = a->kv_num_heads,
        .size = size };
    *width = size;
    if (!is_coded(a))
        return POPRT_OK;
    PRT_TRY(prt_ms_cache_check(c, &f, width));
    f.past = IN_PAST_VALUE;
    f.scale = IN_V_SCALE;
    f.kind = a->v_quant_type;
    return prt_ms_cache_check(c, &f, width);
}

static poprt_status check_cache(const prt_infer *c, const attrs *a, int64_t width, int64_t *rows)
{
    const int64_t want[4] = { prt_infer_dim(c, IN_Q, 0), a->kv_num_heads, 0, width };
    int64_t dim;
    *rows = prt_infer_has(c, IN_PAST_KEY) ? PRT_DIM_UNKNOWN : 0;
    for (uint32_t i = IN_PAST_KEY; i <= IN_PAST_VALUE && prt_infer_has(c, i); i++) {
        if (!is_coded(a) && c->in[i].dtype != c->in[IN_Q].dtype &&
            c->in[i].dtype != PRT_DTYPE_undefined)
            return prt_infer_fail(c, POPRT_E_TYPE, "the cache is not of the query's type");
        PRT_TRY(prt_infer_rank(c, i, 4));
        for (uint32_t k = 0; k < 4; k++)
            if (k != 2)
                PRT_TRY(prt_infer_merge(c, want[k], prt_infer_dim(c, i, k), "a dim of the cache",
                    &dim));
        PRT_TRY(prt_infer_merge(c, *rows, prt_infer_dim(c, i, 2), "the rows of the cache", rows));
    }
    if (a->sliding_window_cache != 0 && prt_dim_is_number(*rows) && *rows < a->local_window_size)
        return prt_infer_fail(c, POPRT_E_SHAPE,
            "a cache of %lld rows is less than a window of "
            "%lld",
            (long long)*rows, (long long)a->local_window_size);
    return POPRT_OK;
}

/* Checks vectors and angles against the head size. */
static poprt_status check_extras(const prt_infer *c, const attrs *a, int64_t size)
{
    int64_t dim, pairs = PRT_DIM_UNKNOWN;
    PRT_TRY(prt_infer_vector(c, IN_LENGTHS, prt_infer_dim(c, IN_Q, 0)));
    PRT_TRY(prt_infer_vector(c, IN_SINK, a->num_heads));
    PRT_TRY(prt_infer_vector(c, IN_Q_NORM, size));
    PRT_TRY(prt_infer_vector(c, IN_K_NORM, size));
    for (uint32_t i = IN_COS; i <= IN_SIN; i++) {
        PRT_TRY(prt_infer_rank(c, i, 2));
        PRT_TRY(prt_infer_merge(c, pairs, prt_infer_dim(c, i, 1), "the number of angles", &pairs));
    }
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_COS, 0), prt_infer_dim(c, IN_SIN, 0),
        "the number of positions", &dim));
    if (prt_dim_is_number(pairs) && prt_dim_is_number(size) && pairs > size / 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "%lld angles for heads of %lld elements",
            (long long)pairs, (long long)size);
    PRT_TRY(prt_infer_rank(c, IN_POSITIONS, 2));
    PRT_TRY(prt_infer_merge(c, prt_infer_dim(c, IN_Q, 0), prt_infer_dim(c, IN_POSITIONS, 0),
        "the batch", &dim));
    return prt_infer_merge(c, prt_infer_dim(c, IN_Q, 1), prt_infer_dim(c, IN_POSITIONS, 1),
        "the sequence", &dim);
}

static poprt_status infer(prt_infer *c)
{
    const attrs *a = c->attrs;
    int64_t size, width, rows, total;
    PRT_TRY(check_attrs(c, a));
    PRT_TRY(head_size(c, a, &size));
    PRT_TRY(check_codes(c, a, size, &width));
    PRT_TRY(check_cache(c, a, width, &rows));
    PRT_TRY(check_extras(c, a, size));
    if (!prt_infer_number(c, IN_TOTAL, &total))
        total = PRT_DIM_UNKNOWN;
    if (prt_dim_is_number(total) && (total < 0 || total > INT32_MAX))
        return prt_infer_fail(c, POPRT_E_ARG, "total_sequence_length is %lld", (long long)total);
    const int64_t batch = prt_infer_dim(c, IN_Q, 0), queries = prt_infer_dim(c, IN_Q, 1);
    const int64_t want[4] = { batch, a->num_heads, queries, total };
    PRT_TRY(prt_ms_check_bias(c, IN_ADDED, want));
    const int32_t dtype = c->in[IN_Q].dtype;
    const int64_t y[3] = { batch, queries, prt_dim_mul(c->dims, size, a->num_heads) };
    const int64_t present[4] = { batch, a->kv_num_heads,
        a->sliding_window_cache != 0 ? rows : prt_dim_max(c->dims, rows, total), width };
    const int32_t cache = is_coded(a) ? c->in[IN_PAST_KEY].dtype : dtype;
    PRT_TRY(prt_infer_exact(c, OUT_Y, dtype, 3, y));
    PRT_TRY(prt_infer_exact(c, OUT_KEY, cache, 4, present));
    PRT_TRY(prt_infer_exact(c, OUT_VALUE, cache, 4, present));
    return prt_infer_exact(c, OUT_SCORES, dtype, 4, want);
}

/* ---- evaluation ---- */

typedef struct state {
    const attrs *a;
    const prt_tensor *bias;
    prt_tensor *scores;
    const int64_t *length; /* by image: number of keys, new ones included */
    const int64_t *offset; /* by image: position of key 0 of the run */
    bool first;            /* prompt: there are no earlier tokens */
} state;

static void fill_bias(const prt_attention *s, size_t batch, size_t head, size_t i, double *to)
{
    const state *st = s->user;
    const int64_t window = st->a->local_window_size, offset = st->offset[batch];
    const int64_t place = offset + (int64_t)(s->past + i);
    for (size_t j = 0; j < s->total; j++) {
        const int64_t at = offset + (int64_t)j;
        const bool open = at < st->length[batch] &&
            (st->a->causal == 0 || (at <= place && (window <= 0 || at > place - window)));
        to[j] = !open          ? -HUGE_VAL
            : st->bias != NULL ? prt_ms_bias_at(st->bias, batch, head, i, (size_t)at)
                               : 0;
    }
}

static bool range(const prt_attention *s, size_t batch, size_t i, size_t *first, size_t *end)
{
    const state *st = s->user;
    const int64_t window = st->a->local_window_size, left = st->length[batch] - st->offset[batch];
    const int64_t place = (int64_t)(s->past + i); /* among the keys of the run */
    int64_t low = 0, high = left < (int64_t)s->total ? left : (int64_t)s->total;
    if (st->a->causal != 0 && high > place + 1)
        high = place + 1;
    if (st->a->causal != 0 && window > 0 && place >= window)
        low = place - window + 1;
    *end = high > 0 ? (size_t)high : 0;
    *first = low < (int64_t)*end ? (size_t)low : *end;
    return st->bias == NULL;
}

static void write_scores(const prt_attention *s, int stage, size_t batch, size_t head, size_t i,
    const double *scores)
{
    const state *st = s->user;
    const bool after = st->a->qk_output == SCORES_AFTER;
    if (st->scores == NULL || st->a->qk_output == SCORES_NONE ||
        stage != (after ? PRT_SCORES_SOFTMAX : PRT_SCORES_BIASED))
        return;
    const size_t last = (size_t)st->scores->dims[3];
    const size_t row = ((batch * s->q.heads + head) * s->q.rows + i) * last;
    const size_t from = (size_t)st->offset[batch];
    for (size_t j = 0; j < s->total && from + j < last; j++)
        prt_store_f64(st->scores->dtype, st->scores->data, row + from + j,
            scores[j] == -HUGE_VAL ? 0 : scores[j]);
}

/* Returns the number of rows that a sliding-window cache holds after `total` tokens. When full, it
   drops `step` rows at once. */
static int64_t resident_rows(int64_t total, int64_t rows, int64_t window)
{
    const int64_t step = rows - window + 1;
    return total <= rows ? total : total - step * ((total - rows + step - 1) / step);
}

/* Counts the valid rows of each image; the arrays are in scratch. */
static poprt_status count_rows(prt_eval *c, prt_attention *s, state *st)
{
    const attrs *a = c->attrs;
    const int32_t *lengths = c->in[IN_LENGTHS]->data;
    const int64_t queries = (int64_t)s->q.rows, rows = (int64_t)s->past_k.rows;
    const bool sliding = a->sliding_window_cache != 0;
    int64_t total;
    uint32_t count;
    PRT_TRY(prt_eval_ints(c, IN_TOTAL, &total, 1, &count));
    int64_t *length = prt_eval_scratch(c, s->batch + 1, 2 * sizeof(int64_t));
    size_t *past = prt_eval_scratch(c, s->batch + 1, 2 * sizeof(size_t));
    if (length == NULL || past == NULL)
        return POPRT_E_NOMEM;
    int64_t *offset = length + s->batch;
    size_t *leave = past + s->batch;
    const bool first = st->first = queries >= total;
    for (size_t b = 0; b < s->batch; b++) {
        const int64_t all = length[b] = (int64_t)lengths[b] + 1;
        const int64_t before = first ? 0 : all - queries;
        const int64_t kept =
            sliding ? resident_rows(before > 0 ? before : 0, rows, a->local_window_size) : before;
        if (all < 0 || before < 0 || kept > rows || (!first && all > total) ||
            (first && all > queries))
            return prt_eval_fail(c, POPRT_E_ARG,
                "seqlens_k %lld does not fit %lld new tokens, a "
                "cache of %lld rows and a total of %lld",
                (long long)lengths[b], (long long)queries, (long long)rows, (long long)total);
        past[b] = (size_t)kept;
        offset[b] = before - kept;
        leave[b] = sliding
            ? (size_t)(kept + queries - resident_rows(before + queries, rows, a->local_window_size))
            : 0;
    }
    st->length = length;
    st->offset = offset;
    s->past_rows = past;
    s->leave = sliding ? leave : NULL;
    return POPRT_OK;
}

/* Parameters of normalisation and rotation of Q or K. */
typedef struct shaping {
    const prt_tensor *norm, *cosine, *sine, *positions;
    double epsilon;
    bool interleaved;
} shaping;

static poprt_status load_angles(prt_eval *c, const shaping *sh, int64_t at, double *to)
{
    const size_t half = (size_t)sh->cosine->dims[1];
    if (at < 0 || at >= sh->cosine->dims[0])
        return prt_eval_fail(c, POPRT_E_ARG, "position %lld is outside the %lld positions",
            (long long)at, (long long)sh->cosine->dims[0]);
    prt_reals_load(sh->cosine->dtype, sh->cosine->data, (size_t)at * half, 1, half, to);
    prt_reals_load(sh->sine->dtype, sh->sine->data, (size_t)at * half, 1, half, to + half);
    return POPRT_OK;
}

static void normalise(double *x, size_t n, const double *weight, double epsilon)
{
    double sum = 0;
    for (size_t d = 0; d < n; d++)
        sum += x[d] * x[d];
    const double by = 1 / sqrt(sum / (double)n + epsilon);
    for (size_t d = 0; d < n; d++)
        x[d] *= by * weight[d];
}

/* Returns the position of token r. In a prompt all images count from the first position. */
static int64_t position_of(const prt_tensor *positions, bool first, size_t image, size_t r)
{
    const int64_t *p = positions->data;
    if (!first)
        return p[image + r];
    return p[0] > INT64_MAX - (int64_t)r ? -1 : p[0] + (int64_t)r;
}

static poprt_status shape_heads(prt_eval *c, const shaping *sh, const prt_attention *s,
    const state *st, prt_heads *h)
{
    const size_t half = sh->cosine != NULL ? (size_t)sh->cosine->dims[1] : 0, size = h->size;
    const size_t each = h->heads * h->rows * size;
    double *to = prt_eval_scratch(c, s->batch, each * sizeof(double));
    double *angles = prt_eval_scratch(c, 2 * half + size + 1, sizeof(double));
    if (to == NULL || angles == NULL)
        return POPRT_E_NOMEM;
    double *weight = angles + 2 * half;
    if (sh->norm != NULL)
        prt_reals_load(sh->norm->dtype, sh->norm->data, 0, 1, size, weight);
    for (size_t b = 0; b < s->batch; b++)
        for (size_t r = 0; r < h->rows; r++) {
            int64_t at = st->offset[b] + (int64_t)(s->past_rows[b] + r);
            if (sh->positions != NULL)
                at = position_of(sh->positions, st->first, b * h->rows, r);
            else if (at >= st->length[b])
                at = 0; /* padding: its result is never read */
            if (half != 0)
                PRT_TRY(load_angles(c, sh, at, angles));
            for (size_t k = 0; k < h->heads; k++) {
                double *row = to + b * each + (k * h->rows + r) * size;
                prt_reals_load(h->dtype, h->data, prt_heads_at(h, b, k, r), 1, size, row);
                if (sh->norm != NULL)
                    normalise(row, size, weight, sh->epsilon);
                prt_rotary_rotate(half, sh->interleaved, angles, angles + half, row);
            }
        }
    *h = (prt_heads){ .dtype = PRT_DTYPE_f64,
        .data = to,
        .batch = each,
        .head = h->rows * size,
        .row = size,
        .heads = h->heads,
        .rows = h->rows,
        .size = size };
    return POPRT_OK;
}

/* Loads Q, K and V from one tensor or three. */
static void load_operands(const prt_eval *c, const attrs *a, prt_attention *s)
{
    const size_t heads = (size_t)a->num_heads, groups = (size_t)a->kv_num_heads;
    const prt_tensor *q = c->in[IN_Q];
    if (prt_eval_has(c, IN_K)) {
        s->q = prt_heads_of_rank3(q, heads);
        s->k = prt_heads_of_rank3(c->in[IN_K], groups);
        s->v = prt_heads_of_rank3(c->in[IN_V], groups);
        return;
    }
    s->q = s->k = prt_heads_of_rank3(q, heads + 2 * groups);
    s->q.heads = heads;
    s->k.heads = groups;
    s->k.first = heads * s->q.size;
    s->v = s->k;
    s->v.first += groups * s->q.size;
}

/* Converts quantised keys or values, with their past and present, to doubles. */
static poprt_status decode_cache(prt_eval *c, uint32_t past, prt_ms_cache_quant *code,
    prt_heads *now, prt_heads *before, prt_heads *present)
{
    const bool key = past == IN_PAST_KEY;
    const prt_tensor *t = prt_ms_out(c, key ? OUT_KEY : OUT_VALUE);
    const size_t size = now->size;
    *code = prt_ms_cache_quant_of(c->in[past], c->in[key ? IN_K_SCALE : IN_V_SCALE]);
    PRT_TRY(prt_ms_cache_dequantize(c, code, c->in[past], size, before));
    PRT_TRY(prt_ms_cache_round(c, code, (size_t)c->in[past]->dims[0], now));
    return t != NULL ? prt_ms_cache_zeros(c, t, size, present) : POPRT_OK;
}

/* Runs attention on quantised caches. */
static poprt_status run_coded(prt_eval *c, prt_attention *s)
{
    prt_ms_cache_quant k, v;
    PRT_TRY(decode_cache(c, IN_PAST_KEY, &k, &s->k, &s->past_k, &s->present_k));
    PRT_TRY(decode_cache(c, IN_PAST_VALUE, &v, &s->v, &s->past_v, &s->present_v));
    PRT_TRY(prt_attention_run(c, s));
    if (prt_eval_wants(c, OUT_KEY))
        prt_ms_cache_quantize(&k, &s->present_k, c->out[OUT_KEY]);
    if (prt_eval_wants(c, OUT_VALUE))
        prt_ms_cache_quantize(&v, &s->present_v, c->out[OUT_VALUE]);
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const attrs *a = c->attrs;
    const bool past = prt_eval_has(c, IN_PAST_KEY);
    state st = { .a = a, .bias = prt_ms_in(c, IN_ADDED), .scores = prt_ms_out(c, OUT_SCORES) };
    prt_attention s = { .batch = (size_t)c->in[IN_Q]->dims[0],
        .cap = (double)a->softcap,
        .past_k = prt_heads_of_rank4(past ? c->in[IN_PAST_KEY] : NULL),
        .past_v = prt_heads_of_rank4(past ? c->in[IN_PAST_VALUE] : NULL),
        .present_k = prt_heads_of_rank4(prt_ms_out(c, OUT_KEY)),
        .present_v = prt_heads_of_rank4(prt_ms_out(c, OUT_VALUE)),
        .bias = fill_bias,
        .range = range,
        .scores = st.scores != NULL ? write_scores : NULL,
        .user = &st };
    const void *const before[3] = { s.past_k.data, s.past_v.data, NULL };
    for (uint32_t i = OUT_KEY; i <= OUT_SCORES; i++) /* rows that are not written are zero */
        if (!prt_eval_wants(c, i) || c->out[i]->data != before[i - OUT_KEY])
            prt_ms_clear(c, i);
    load_operands(c, a, &s);
    s.scale = prt_ms_scale(a->scale, s.q.size);
    if (prt_eval_wants(c, OUT_Y))
        s.y = prt_heads_of_rank3(c->out[OUT_Y], s.q.heads);
    PRT_TRY(count_rows(c, &s, &st));
    shaping sh = { .norm = prt_ms_in(c, IN_Q_NORM),
        .epsilon = (double)a->qk_norm_epsilon,
        .interleaved = a->rotary_interleaved != 0 };
    if (a->do_rotary != 0) {
        sh.cosine = c->in[IN_COS];
        sh.sine = c->in[IN_SIN];
        sh.positions = prt_ms_in(c, IN_POSITIONS);
    }
    if (sh.norm != NULL || sh.cosine != NULL) {
        PRT_TRY(shape_heads(c, &sh, &s, &st, &s.q));
        sh.norm = prt_ms_in(c, IN_K_NORM);
        PRT_TRY(shape_heads(c, &sh, &s, &st, &s.k));
    }
    const prt_tensor *sink = prt_ms_in(c, IN_SINK);
    if (sink != NULL)
        s.sinks = prt_eval_reals(c, sink);
    else if (a->smooth_softmax > 0)
        s.sinks = prt_eval_scratch(c, s.q.heads, sizeof(double));
    if ((sink != NULL || a->smooth_softmax > 0) && s.sinks == NULL)
        return POPRT_E_NOMEM;
    return is_coded(a) ? run_coded(c, &s) : prt_attention_run(c, &s);
}

const prt_op_hooks prt_op_ms_group_query_attention = { .infer = infer, .eval = eval };
