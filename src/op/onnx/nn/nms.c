/* SPDX-License-Identifier: MIT */
/*
 * nms.c — NonMaxSuppression: for each batch and class, selects boxes by descending score that do
 * not overlap a selected box by more than the threshold. The number of results depends on the data.
 * A heap orders the candidates; a one-dimensional grid of cells over x finds the selected boxes
 * that may overlap.
 */
#include <math.h>

#include "op/op.h"

static poprt_status infer(prt_infer *c)
{
    const int64_t dims[2] = { PRT_DIM_UNKNOWN, 3 };
    int64_t dim;
    for (uint32_t i = 0; i < 2; i++)
        if (prt_infer_ranked(c, i) && c->in[i].rank != 3)
            return prt_infer_fail(c, POPRT_E_SHAPE, "input %u has rank %d; rank 3 is required", i,
                c->in[i].rank);
    if (prt_infer_ranked(c, 0))
        PRT_TRY(prt_infer_merge(c, c->in[0].dims[2], 4, "the size of a box", &dim));
    if (prt_infer_ranked(c, 0) && prt_infer_ranked(c, 1)) {
        PRT_TRY(prt_infer_merge(c, c->in[0].dims[0], c->in[1].dims[0], "the batch", &dim));
        PRT_TRY(
            prt_infer_merge(c, c->in[0].dims[1], c->in[1].dims[2], "the number of boxes", &dim));
    }
    return prt_infer_set(c, 0, PRT_DTYPE_i64, 2, dims);
}

/* A box as two intervals. */
typedef struct area {
    double y0, x0, y1, x1;
} area;

/* Not fmin: NaN needs no care, since a box with NaN overlaps nothing. */
static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static area area_of(const float *box, bool centred)
{
    const double a = (double)box[0], b = (double)box[1], p = (double)box[2], q = (double)box[3];
    if (centred) /* x, y, width, height */
        return (area){ b - q / 2, a - p / 2, b + q / 2, a + p / 2 };
    return (area){ least(a, p), least(b, q), most(a, p), most(b, q) };
}

static bool overlaps(area a, area b, double threshold)
{
    const double h = least(a.y1, b.y1) - most(a.y0, b.y0);
    const double w = least(a.x1, b.x1) - most(a.x0, b.x0);
    if (!(h > 0) || !(w > 0))
        return false;
    const double one = (a.y1 - a.y0) * (a.x1 - a.x0), two = (b.y1 - b.y0) * (b.x1 - b.x0);
    const double both = one + two - h * w;
    return one > 0 && two > 0 && both > 0 && h * w / both > threshold;
}

/* Reads an optional input of one element. */
static poprt_status read_option(prt_eval *c, uint32_t i, double *to)
{
    if (!prt_eval_has(c, i))
        return POPRT_OK;
    if (prt_tensor_count(c->in[i]) != 1)
        return prt_eval_fail(c, POPRT_E_SHAPE,
            "input %u is not one number; a tensor of one element is required", i);
    *to = prt_load_f64(c->in[i]->dtype, c->in[i]->data, 0);
    return POPRT_OK;
}

enum {
    CELLS = 256,
    COMPARE_ALL = 32 /* up to this number, all kept boxes are compared without cells */
};

typedef struct nms {
    size_t boxes;
    double most, iou, score; /* maximum number of results per class; thresholds */
    bool scored, centred;
    uint64_t *heap; /* keys of the candidates, the best on top */
    size_t *kept;
    area *areas; /* areas of the kept boxes */
    /* Cells over the x axis, from the lowest to the highest left edge of all boxes: the list of
     * kept boxes whose left edge is in the cell. Indices are counted from 1. */
    uint32_t first[CELLS], *next;
    double from, scale, widest;
} nms;

/* Returns a key that is greater for a greater score and, for equal scores, for the lower index. */
static uint64_t key_of(float score, size_t index)
{
    const float zero = score + 0.0f; /* -0.0 becomes +0.0 */
    uint32_t bits;
    memcpy(&bits, &zero, sizeof(bits));
    bits ^= (0 - (bits >> 31)) | 0x80000000u;
    return (uint64_t)bits << 32 | (UINT32_MAX - (uint32_t)index);
}

static size_t index_of(uint64_t key)
{
    return UINT32_MAX - (uint32_t)key;
}

/* Moves heap[at] down until no child is greater. */
static void sift(uint64_t *heap, size_t count, size_t at)
{
    const uint64_t moved = heap[at];
    for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[child] <= moved)
            break;
        heap[at] = heap[child];
        heap[at = child] = moved;
    }
}

static size_t collect(nms *s, const float *scores)
{
    size_t n = 0;
    for (size_t i = 0; i < s->boxes; i++)
        if (!isnan(scores[i]) && (!s->scored || (double)scores[i] > s->score))
            s->heap[n++] = key_of(scores[i], i);
    for (size_t i = n / 2; i-- > 0;)
        sift(s->heap, n, i);
    return n;
}

/* Returns the cell of x; it does not decrease with x. */
static size_t cell_of(const nms *s, double x)
{
    const double at = (x - s->from) * s->scale;
    return at > 0 ? at < CELLS - 1 ? (size_t)at : CELLS - 1 : 0;
}

/* Initialises empty cells for these boxes. */
static void clear_cells(nms *s, const float *boxes)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (size_t i = 0; i < s->boxes; i++) {
        const double x = area_of(boxes + 4 * i, s->centred).x0;
        low = least(low, x);
        high = most(high, x);
    }
    memset(s->first, 0, sizeof(s->first));
    s->from = low;
    s->scale = high > low && isfinite(high - low) ? CELLS / (high - low) : 0;
    s->widest = 0;
}

static void keep(nms *s, size_t at, size_t box, area mine)
{
    const size_t cell = cell_of(s, mine.x0);
    s->areas[at] = mine;
    s->kept[at] = box;
    s->next[at] = s->first[cell];
    s->first[cell] = (uint32_t)at + 1;
    s->widest = most(mine.x1 - mine.x0, s->widest);
}

/* Returns true if no kept box overlaps too much. A box that overlaps has its left edge before
 * the right edge of `mine`, and at most the largest width before its left edge. One more cell
 * covers rounding. */
static bool is_free(const nms *s, size_t kept, area mine)
{
    if (kept <= COMPARE_ALL) {
        for (size_t k = 0; k < kept; k++)
            if (overlaps(mine, s->areas[k], s->iou))
                return false;
        return true;
    }
    const size_t low = cell_of(s, mine.x0 - s->widest), end = cell_of(s, mine.x1);
    for (size_t cell = low != 0 ? low - 1 : 0; cell <= end; cell++)
        for (uint32_t k = s->first[cell]; k != 0; k = s->next[k - 1])
            if (overlaps(mine, s->areas[k - 1], s->iou))
                return false;
    return true;
}

static size_t select_boxes(nms *s, const float *boxes, const float *scores)
{
    size_t kept = 0;
    clear_cells(s, boxes);
    for (size_t n = collect(s, scores); n > 0 && (double)kept < s->most;) {
        const size_t at = index_of(s->heap[0]);
        const area mine = area_of(boxes + 4 * at, s->centred);
        s->heap[0] = s->heap[--n];
        sift(s->heap, n, 0);
        if (is_free(s, kept, mine))
            keep(s, kept++, at, mine);
    }
    return kept;
}

/* Makes capacity for `more` results in scratch, by doubling. */
static poprt_status append(prt_eval *c, int64_t **rows, size_t *capacity, size_t count, size_t more)
{
    size_t want = *capacity;
    if (count + more <= want)
        return POPRT_OK;
    while (want < count + more)
        want = want == 0 ? 64 : want * 2;
    int64_t *grown = prt_eval_scratch(c, want, 3 * sizeof(int64_t));
    if (grown == NULL)
        return POPRT_E_NOMEM;
    if (count != 0)
        memcpy(grown, *rows, count * 3 * sizeof(int64_t));
    *rows = grown;
    *capacity = want;
    return POPRT_OK;
}

static poprt_status run(prt_eval *c, nms *s)
{
    const prt_tensor *boxes = c->in[0], *scores = c->in[1];
    const size_t batches = (size_t)boxes->dims[0], classes = (size_t)scores->dims[1];
    int64_t *rows = NULL;
    size_t count = 0, capacity = 0;
    for (size_t b = 0; b < batches && s->boxes != 0 && s->most > 0; b++)
        for (size_t k = 0; k < classes; k++) {
            PRT_TRY(c->host->check(c));
            const size_t kept = select_boxes(s, (const float *)boxes->data + b * s->boxes * 4,
                (const float *)scores->data + (b * classes + k) * s->boxes);
            PRT_TRY(append(c, &rows, &capacity, count, kept));
            for (size_t i = 0; i < kept; i++, count++) {
                rows[3 * count] = (int64_t)b;
                rows[3 * count + 1] = (int64_t)k;
                rows[3 * count + 2] = (int64_t)s->kept[i];
            }
        }
    const int64_t dims[2] = { (int64_t)count, 3 };
    PRT_TRY(prt_eval_shape(c, 0, PRT_DTYPE_i64, 2, dims));
    if (prt_eval_wants(c, 0) && count != 0)
        memcpy(c->out[0]->data, rows, count * 3 * sizeof(int64_t));
    return POPRT_OK;
}

static poprt_status eval(prt_eval *c)
{
    const prt_non_max_suppression_attrs *a = c->attrs;
    nms s = { .boxes = (size_t)c->in[0]->dims[1],
        .scored = prt_eval_has(c, 4),
        .centred = a->center_point_box != 0 };
    PRT_TRY(read_option(c, 2, &s.most));
    PRT_TRY(read_option(c, 3, &s.iou));
    PRT_TRY(read_option(c, 4, &s.score));
    if (c->in[0]->dims[0] == 0)
        s.most = 0;
    const size_t n = s.most > 0 ? s.boxes : 0;
    if (n > UINT32_MAX)
        return prt_eval_fail(c, POPRT_E_LIMIT, "there are %zu boxes; the limit is 4294967295", n);
    s.heap = prt_eval_scratch(c, n + 1, sizeof(uint64_t));
    s.kept = prt_eval_scratch(c, n + 1, sizeof(size_t));
    s.areas = prt_eval_scratch(c, n + 1, sizeof(area));
    s.next = prt_eval_scratch(c, n + 1, sizeof(uint32_t));
    if (s.areas == NULL || s.heap == NULL || s.kept == NULL || s.next == NULL)
        return POPRT_E_NOMEM;
    return run(c, &s);
}

const prt_op_hooks prt_op_non_max_suppression = { .infer = infer, .eval = eval };
