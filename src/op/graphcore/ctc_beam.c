/* SPDX-License-Identifier: MIT */
/*
 * ctc_beam.c — CtcBeamSearchDecoder: the most probable label sequences, by prefix beam search.
 *
 * Prefixes are nodes of a tree, so each prefix exists once. A beam is a node with the
 * log-probabilities of all alignments so far that give its prefix and end in a blank, or in its
 * last label. Ties go to the prefix found first. If fewer paths exist than requested, the others
 * have log-probability -inf and length 0. Labels after the end of a path are the blank.
 */
#include <math.h>

#include "op/op.h"

#define NOWHERE UINT32_MAX

typedef struct node {
    uint32_t parent, label, child, sibling;
    uint32_t slot; /* index of its beam, or NOWHERE */
} node;

typedef struct beam {
    uint32_t node;
    double blank, label; /* log-probabilities of ending in a blank, in the last label */
} beam;

/* A candidate for a beam of the next frame: an existing beam, or one extended by a label. */
typedef struct candidate {
    double total;
    uint64_t order;
    uint32_t from, label; /* from: index of a beam; label NOWHERE: the beam itself */
    double blank_end, label_end;
} candidate;

typedef struct search {
    size_t frames, batch, classes, width;
    uint32_t blank;
    node *nodes;
    size_t n_nodes;
    beam *beams, *next;
    size_t n_beams;
    candidate *heap; /* min-heap: worst candidate first */
    size_t n_heap;
    uint64_t found;
    uint32_t *taken; /* by class: beam + 1 whose extension by the class is a beam already */
    double *lp;      /* log-probabilities of the frame */
} search;

static poprt_status infer(prt_infer *c)
{
    const prt_gc_ctc_beam_search_decoder_attrs *a = c->attrs;
    const prt_shape *x = &c->in[0];
    int64_t dims[3] = { PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN, PRT_DIM_UNKNOWN };
    if (prt_infer_ranked(c, 0)) {
        if (x->rank != 3)
            return prt_infer_fail(c, POPRT_E_SHAPE, "log_probs have rank %d, not 3", x->rank);
        memcpy(dims, x->dims, sizeof(dims));
    }
    if (a->blank < 0 || a->blank > INT32_MAX ||
        (prt_dim_is_number(dims[2]) && (a->blank >= dims[2] || dims[2] > INT32_MAX)))
        return prt_infer_fail(c, POPRT_E_ARG, "blank %lld is not a class", (long long)a->blank);
    if (a->top_paths < 1 || a->beam_width < a->top_paths || a->beam_width > INT32_MAX)
        return prt_infer_fail(c, POPRT_E_ARG,
            "top_paths is %lld, beam_width %lld; 1 <= top_paths <= beam_width < 2^31 is needed",
            (long long)a->top_paths, (long long)a->beam_width);
    if (prt_infer_ranked(c, 1)) {
        if (c->in[1].rank != 1)
            return prt_infer_fail(c, POPRT_E_SHAPE, "data_lengths have rank %d, not 1",
                c->in[1].rank);
        PRT_TRY(prt_infer_merge(c, dims[1], c->in[1].dims[0], "the batch", &dims[1]));
    }
    const int64_t out[3] = { dims[1], a->top_paths, dims[0] };
    PRT_TRY(prt_infer_set(c, 0, x->dtype, 2, out));
    PRT_TRY(prt_infer_set(c, 1, PRT_DTYPE_u32, 2, out));
    return prt_infer_set(c, 2, PRT_DTYPE_u32, 3, out);
}

static double log_add(double a, double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;
    return most == -HUGE_VAL ? most : most + log1p(exp(least - most));
}

static bool is_worse(const candidate *a, const candidate *b)
{
    return a->total < b->total || (a->total == b->total && a->order > b->order);
}

static void swap(candidate *a, candidate *b)
{
    const candidate kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(candidate *heap, size_t n)
{
    for (size_t i = 0;;) {
        const size_t left = 2 * i + 1;
        size_t worst = i;
        for (size_t k = left; k < left + 2 && k < n; k++)
            if (is_worse(&heap[k], &heap[worst]))
                worst = k;
        if (worst == i)
            return;
        swap(&heap[i], &heap[worst]);
        i = worst;
    }
}

/* Keeps the candidate if it is among the best. Candidates with probability 0 are never kept. */
static void offer_candidate(search *s, uint32_t from, uint32_t label, double blank_end,
    double label_end)
{
    candidate c = { log_add(blank_end, label_end), s->found++, from, label, blank_end, label_end };
    if (!(c.total > -HUGE_VAL))
        return;
    if (s->n_heap < s->width) {
        size_t i = s->n_heap++;
        s->heap[i] = c;
        for (; i > 0 && is_worse(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
            swap(&s->heap[i], &s->heap[(i - 1) / 2]);
    } else if (is_worse(&s->heap[0], &c)) {
        s->heap[0] = c;
        sift_down(s->heap, s->n_heap);
    }
}

/* Returns the log-probability of beam `b` extended by `label`. The same label may repeat only after
   a blank. */
static double extended(const search *s, const beam *b, uint32_t label)
{
    const bool repeats = b->node != 0 && s->nodes[b->node].label == label;
    return (repeats ? b->blank : log_add(b->blank, b->label)) + s->lp[label];
}

static void offer_beam(search *s, uint32_t i)
{
    const beam *b = &s->beams[i];
    const node *n = &s->nodes[b->node];
    double label_end = -HUGE_VAL;
    if (b->node != 0) {
        const uint32_t parent = s->nodes[n->parent].slot;
        label_end = b->label + s->lp[n->label];
        if (parent != NOWHERE)
            label_end = log_add(label_end, extended(s, &s->beams[parent], n->label));
    }
    offer_candidate(s, i, NOWHERE, log_add(b->blank, b->label) + s->lp[s->blank], label_end);
    for (uint32_t child = n->child; child != NOWHERE; child = s->nodes[child].sibling)
        if (s->nodes[child].slot != NOWHERE)
            s->taken[s->nodes[child].label] = i + 1;
    for (uint32_t label = 0; label < s->classes; label++)
        if (label != s->blank && s->taken[label] != i + 1)
            offer_candidate(s, i, label, -HUGE_VAL, extended(s, b, label));
}

static uint32_t child_of(search *s, uint32_t parent, uint32_t label)
{
    uint32_t child = s->nodes[parent].child;
    while (child != NOWHERE && s->nodes[child].label != label)
        child = s->nodes[child].sibling;
    if (child != NOWHERE)
        return child;
    child = (uint32_t)s->n_nodes++;
    s->nodes[child] = (node){ parent, label, NOWHERE, s->nodes[parent].child, NOWHERE };
    s->nodes[parent].child = child;
    return child;
}

/* Converts the candidates of the heap to beams, best first. */
static void adopt_candidates(search *s)
{
    const size_t n = s->n_heap;
    for (; s->n_heap > 0; s->n_heap--) {
        const candidate c = s->heap[0];
        const uint32_t at = s->beams[c.from].node;
        s->next[s->n_heap - 1] =
            (beam){ c.label == NOWHERE ? at : child_of(s, at, c.label), c.blank_end, c.label_end };
        s->heap[0] = s->heap[s->n_heap - 1];
        sift_down(s->heap, s->n_heap - 1);
    }
    for (size_t i = 0; i < s->n_beams; i++)
        s->nodes[s->beams[i].node].slot = NOWHERE;
    beam *const old = s->beams;
    s->beams = s->next;
    s->next = old;
    s->n_beams = n;
    for (size_t i = 0; i < n; i++)
        s->nodes[s->beams[i].node].slot = (uint32_t)i;
}

static poprt_status decode(prt_eval *c, search *s, size_t entry)
{
    const prt_tensor *x = c->in[0];
    const int64_t length = prt_load_i64(c->in[1]->dtype, c->in[1]->data, entry);
    if (length < 0 || (uint64_t)length > s->frames)
        return prt_eval_fail(c, POPRT_E_ARG, "data length %zu is %lld, outside [0, %zu]", entry,
            (long long)length, s->frames);
    s->nodes[0] = (node){ NOWHERE, NOWHERE, NOWHERE, NOWHERE, 0 };
    s->n_nodes = 1;
    s->beams[0] = (beam){ 0, 0.0, -HUGE_VAL };
    s->n_beams = 1;
    for (size_t t = 0; t < (size_t)length; t++) {
        PRT_TRY(c->host->check(c));
        for (size_t k = 0; k < s->classes; k++) {
            s->lp[k] = prt_load_f64(x->dtype, x->data, (t * s->batch + entry) * s->classes + k);
            s->taken[k] = 0;
        }
        for (uint32_t i = 0; i < s->n_beams; i++)
            offer_beam(s, i);
        adopt_candidates(s);
    }
    return POPRT_OK;
}

static void write_path(const prt_eval *c, const search *s, size_t entry, size_t path)
{
    const prt_gc_ctc_beam_search_decoder_attrs *a = c->attrs;
    const size_t row = entry * (size_t)a->top_paths + path;
    const bool exists = path < s->n_beams;
    const beam *b = &s->beams[exists ? path : 0];
    uint32_t length = 0;
    for (uint32_t n = exists ? b->node : 0; n != 0; n = s->nodes[n].parent)
        length++;
    if (prt_eval_wants(c, 0))
        prt_store_f64(c->out[0]->dtype, c->out[0]->data, row,
            exists ? log_add(b->blank, b->label) : -HUGE_VAL);
    if (prt_eval_wants(c, 1))
        ((uint32_t *)c->out[1]->data)[row] = length;
    if (!prt_eval_wants(c, 2))
        return;
    uint32_t *labels = (uint32_t *)c->out[2]->data + row * s->frames;
    for (size_t i = length; i < s->frames; i++)
        labels[i] = s->blank;
    for (uint32_t n = exists ? b->node : 0; n != 0; n = s->nodes[n].parent)
        labels[--length] = s->nodes[n].label;
}

/* Limits the number of beams to the number of label sequences of at most `frames` labels. */
static size_t width_of(const search *s, int64_t asked)
{
    size_t all = 1, power = 1;
    for (size_t t = 0; t < s->frames && all < (size_t)asked; t++) {
        power *= s->classes - 1;
        all += power;
    }
    return all < (size_t)asked ? all : (size_t)asked;
}

static poprt_status eval(prt_eval *c)
{
    const prt_gc_ctc_beam_search_decoder_attrs *a = c->attrs;
    const prt_tensor *x = c->in[0];
    search s = { .frames = (size_t)x->dims[0],
        .batch = (size_t)x->dims[1],
        .classes = (size_t)x->dims[2],
        .blank = (uint32_t)a->blank };
    s.width = width_of(&s, a->beam_width);
    if (s.frames != 0 && s.width > (UINT32_MAX - 2) / s.frames)
        return prt_eval_fail(c, POPRT_E_LIMIT, "%zu beams for %zu frames do not fit in memory",
            s.width, s.frames);
    s.nodes = prt_eval_scratch(c, s.width * s.frames + 1, sizeof(node));
    s.beams = prt_eval_scratch(c, s.width, sizeof(beam));
    s.next = prt_eval_scratch(c, s.width, sizeof(beam));
    s.heap = prt_eval_scratch(c, s.width, sizeof(candidate));
    s.taken = prt_eval_scratch(c, s.classes, sizeof(uint32_t));
    s.lp = prt_eval_scratch(c, s.classes, sizeof(double));
    if (s.nodes == NULL || s.beams == NULL || s.next == NULL || s.heap == NULL || s.taken == NULL ||
        s.lp == NULL)
        return POPRT_E_NOMEM;
    for (size_t n = 0; n < s.batch; n++) {
        PRT_TRY(decode(c, &s, n));
        for (size_t path = 0; path < (size_t)a->top_paths; path++)
            write_path(c, &s, n, path);
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_gc_ctc_beam_search_decoder = { .infer = infer, .eval = eval };
