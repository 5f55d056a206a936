/* SPDX-License-Identifier: MIT */
/*
 * ctc.c — Ctc: the CTC loss (Graves et al., 2006), minus the log-probability of a target under all
 * alignments with blanks, and its gradient with respect to the input of the log-softmax:
 * exp(log_probs) minus the posterior of each class.
 *
 * The target is extended to 2 n + 1 states, with blanks around and between the labels. alpha[t][s]
 * is the log-probability of frames 0 to t ending in state s; beta[t][s] is that of the frames from
 * t on beginning in state s. Both include frame t.
 */
#include <math.h>

#include "op/check.h"
#include "op/graphcore/onnx_hooks.h"

enum { PROBS, TARGETS, INPUT_LENGTHS, TARGET_LENGTHS };

static poprt_status infer(prt_infer *c)
{
    const prt_gc_ctc_attrs *a = c->attrs;
    const prt_shape *x = &c->in[PROBS], *targets = &c->in[TARGETS];
    const int64_t wanted = a->outDataType != 0 ? a->outDataType : x->dtype;
    int64_t dims[3] = { PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN };
    prt_gc_reduction r;
    PRT_TRY(prt_gc_reduction_of(c, a->reduction, &r));
    if (wanted != PRT_DTYPE_undefined)
        PRT_TRY(prt_infer_dtype_attr(c, "outDataType", PRT_T_FB, wanted));
    if (prt_infer_ranked(c, PROBS)) {
        if (x->rank != 3)
            return prt_infer_fail(c, POPRT_E_SHAPE, "log_probs have rank %d, not 3", x->rank);
        memcpy(dims, x->dims, sizeof(dims));
    }
    if (a->blank < 0 || (prt_dim_is_number(dims[2]) && a->blank >= dims[2]))
        return prt_infer_fail(c, POPRT_E_ARG, "blank %lld is not a class", (long long)a->blank);
    if (prt_infer_ranked(c, TARGETS) && targets->rank != 2)
        return prt_infer_fail(c, POPRT_E_SHAPE, "targets have rank %d, not 2", targets->rank);
    for (uint32_t i = TARGETS; i <= TARGET_LENGTHS; i++) {
        if (!prt_infer_ranked(c, i))
            continue;
        if (i != TARGETS && c->in[i].rank != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d, not 1", i,
                c->in[i].rank);
        PRT_TRY(prt_infer_merge(c, dims[1], c->in[i].dims[0], "the batch", &dims[1]));
    }
    PRT_TRY(prt_infer_set(c, 0, (int32_t)wanted, r == PRT_GC_NONE, &dims[1]));
    return prt_infer_set(c, 1, (int32_t)wanted, 3, dims);
}

/* State of the computation for one batch entry. */
typedef struct entry {
    const prt_tensor *x;
    const double *lp; /* [frames][classes] of this entry */
    const int64_t *target;
    size_t index, batch, frames, classes, labels, states, rows; /* rows: rows of alpha in memory */
    int64_t blank;
    double *alpha, *beta, *next, *posterior;
    double loss;
} entry;

static double log_add(double a, double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;
    return most == -HUGE_VAL ? most : most + log1p(exp(least - most));
}

static int64_t class_of(const entry *e, size_t state)
{
    return state % 2 != 0 ? e->target[state / 2] : e->blank;
}

static double emission(const entry *e, size_t t, size_t state)
{
    return e->lp[t * e->classes + (size_t)class_of(e, state)];
}

/* Returns whether `state` may follow state - 2: a different label without a blank between them. */
static bool skips(const entry *e, size_t state)
{
    return state % 2 != 0 && state >= 2 && class_of(e, state) != class_of(e, state - 2);
}

static double *alpha_row(const entry *e, size_t t)
{
    return e->alpha + t % e->rows * e->states;
}

static void forward(entry *e)
{
    for (size_t t = 0; t < e->frames; t++) {
        const double *before = t != 0 ? alpha_row(e, t - 1) : NULL;
        double *now = alpha_row(e, t);
        for (size_t s = 0; s < e->states; s++) {
            double sum = before != NULL ? before[s] : s < 2 ? 0.0 : -HUGE_VAL;
            if (before != NULL && s >= 1)
                sum = log_add(sum, before[s - 1]);
            if (before != NULL && skips(e, s))
                sum = log_add(sum, before[s - 2]);
            now[s] = sum + emission(e, t, s);
        }
    }
    if (e->frames == 0) {
        e->loss = e->labels == 0 ? 0.0 : HUGE_VAL;
        return;
    }
    const double *last = alpha_row(e, e->frames - 1) + e->states - 1;
    e->loss = 0.0 - (e->states > 1 ? log_add(last[0], last[-1]) : last[0]);
}

/* Replaces beta of frame t + 1 by beta of frame t. */
static void step_back(entry *e, size_t t)
{
    double *const after = e->beta;
    for (size_t s = 0; s < e->states; s++) {
        double sum = t + 1 == e->frames ? (s + 2 >= e->states ? 0.0 : -HUGE_VAL) : after[s];
        if (t + 1 != e->frames && s + 1 < e->states)
            sum = log_add(sum, after[s + 1]);
        if (t + 1 != e->frames && s + 2 < e->states && skips(e, s + 2))
            sum = log_add(sum, after[s + 2]);
        e->next[s] = sum + emission(e, t, s);
    }
    e->beta = e->next;
    e->next = after;
}

static void backward(entry *e, prt_tensor *gradient)
{
    for (size_t t = e->frames; t-- > 0;) {
        step_back(e, t);
        const double *alpha = alpha_row(e, t);
        memset(e->posterior, 0, e->classes * sizeof(double));
        for (size_t s = 0; s < e->states; s++)
            if (alpha[s] > -HUGE_VAL && e->beta[s] > -HUGE_VAL)
                e->posterior[class_of(e, s)] +=
                    exp(alpha[s] + e->beta[s] - emission(e, t, s) + e->loss);
        for (size_t k = 0; k < e->classes; k++) {
            const double p = exp(e->lp[t * e->classes + k]);
            /* an infinite loss has no valid alignment and no gradient */
            const double g = isinf(e->loss) ? (double)NAN : p - e->posterior[k];
            prt_store_f64(gradient->dtype, gradient->data,
                (t * e->batch + e->index) * e->classes + k, g);
        }
    }
}

static poprt_status length_of(const prt_eval *c, uint32_t input, size_t n, size_t most, size_t *out)
{
    const int64_t given = prt_load_i64(c->in[input]->dtype, c->in[input]->data, n);
    if (given < 0 || (uint64_t)given > most)
        return prt_eval_fail(c, POPRT_E_ARG, "%s %zu is %lld, outside [0, %zu]",
            input == INPUT_LENGTHS ? "input length" : "target length", n, (long long)given, most);
    *out = (size_t)given;
    return POPRT_OK;
}

static poprt_status begin(prt_eval *c, entry *e, size_t n, int64_t *target, double *lp)
{
    const prt_tensor *targets = c->in[TARGETS];
    const size_t most = (size_t)targets->dims[1];
    PRT_TRY(length_of(c, INPUT_LENGTHS, n, (size_t)e->x->dims[0], &e->frames));
    PRT_TRY(length_of(c, TARGET_LENGTHS, n, most, &e->labels));
    e->index = n;
    e->states = 2 * e->labels + 1;
    for (size_t i = 0; i < e->labels; i++) {
        target[i] = prt_load_i64(targets->dtype, targets->data, n * most + i);
        if (target[i] < 0 || (uint64_t)target[i] >= e->classes || target[i] == e->blank)
            return prt_eval_fail(c, POPRT_E_ARG,
                "target %zu of entry %zu is %lld; accepted: "
                "classes below %zu but the blank",
                i, n, (long long)target[i], e->classes);
    }
    for (size_t t = 0; t < e->frames; t++)
        for (size_t k = 0; k < e->classes; k++)
            lp[t * e->classes + k] =
                prt_load_f64(e->x->dtype, e->x->data, (t * e->batch + n) * e->classes + k);
    return POPRT_OK;
}

static poprt_status run_entry(prt_eval *c, entry *e)
{
    const prt_gc_ctc_attrs *a = c->attrs;
    PRT_TRY(c->host->check(c));
    forward(e);
    const bool nothing = a->zeroInfinity != 0 && isinf(e->loss);
    if (nothing)
        e->loss = 0.0;
    if (!nothing && prt_eval_wants(c, 1))
        backward(e, c->out[1]);
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_gc_ctc_attrs *a = c->attrs;
    const prt_tensor *x = c->in[PROBS];
    const prt_gc_reduction r = prt_gc_reduction_again(a->reduction);
    entry e = { .x = x,
        .batch = (size_t)x->dims[1],
        .classes = (size_t)x->dims[2],
        .blank = a->blank };
    const size_t frames = (size_t)x->dims[0], states = 2 * (size_t)c->in[TARGETS]->dims[1] + 1;
    double sum = 0.0;
    e.rows = prt_eval_wants(c, 1) ? frames + 1 : 2;
    double *lp = prt_eval_scratch(c, frames * e.classes + 1, sizeof(double));
    int64_t *target = prt_eval_scratch(c, states, sizeof(int64_t));
    e.alpha = e.rows <= SIZE_MAX / sizeof(double) / states
        ? prt_eval_scratch(c, e.rows * states, sizeof(double))
        : NULL;
    e.beta = prt_eval_scratch(c, states, sizeof(double));
    e.next = prt_eval_scratch(c, states, sizeof(double));
    e.posterior = prt_eval_scratch(c, e.classes + 1, sizeof(double));
    if (lp == NULL || target == NULL || e.alpha == NULL || e.beta == NULL || e.next == NULL ||
        e.posterior == NULL)
        return prt_eval_fail(c, POPRT_E_NOMEM, "%zu frames of %zu states do not fit in memory",
            frames, states);
    e.lp = lp;
    e.target = target;
    if (prt_eval_wants(c, 1) && c->out[1]->size != 0)
        memset(c->out[1]->data, 0, c->out[1]->size);
    for (size_t n = 0; n < e.batch; n++) {
        PRT_TRY(begin(c, &e, n, target, lp));
        PRT_TRY(run_entry(c, &e));
        const double labels = e.labels != 0 ? (double)e.labels : 1.0;
        sum += r == PRT_GC_MEAN ? e.loss / labels : e.loss;
        if (r == PRT_GC_NONE && prt_eval_wants(c, 0))
            prt_store_f64(c->out[0]->dtype, c->out[0]->data, n, e.loss);
    }
    if (r != PRT_GC_NONE && prt_eval_wants(c, 0))
        prt_store_f64(c->out[0]->dtype, c->out[0]->data, 0,
            r == PRT_GC_MEAN ? sum / (double)e.batch : sum);
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_ctc = { .infer = infer, .eval = eval };
