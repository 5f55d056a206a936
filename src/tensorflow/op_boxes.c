/* SPDX-License-Identifier: MIT */
/* op_boxes.c — selection of boxes: NonMaxSuppression, also of several classes, and a Loop for soft
 * suppression and for given overlaps. */
#include <math.h>

#include "tensorflow/formulas.h"
#include "train/region.h"

/* ---- one class */

static prt_value *as_f32(prt_tf_call *n, uint32_t i)
{
    return prt_build_cast(&n->b, prt_tf_in(n, i), PRT_DTYPE_f32);
}

/* Returns the selected rows of boxes [n, 4] as int64. */
static prt_value *select_boxes(prt_tf_call *n, prt_value *limit, prt_value *overlap,
    prt_value *lowest)
{
    static const int64_t zero = 0, both[] = { 0, 1 }, two = 2;
    prt_value *boxes = prt_build_unsqueeze(&n->b, as_f32(n, 0), 1, &zero);
    prt_value *scores = prt_build_unsqueeze(&n->b, as_f32(n, 1), 2, both);
    limit = prt_build_cast(&n->b, limit, PRT_DTYPE_i64);
    if (boxes == NULL || scores == NULL || limit == NULL)
        return NULL;
    prt_value *in[] = { boxes, scores, limit, overlap, lowest };
    prt_value *all =
        prt_build_op(&n->b, PRT_OP_non_max_suppression, NULL, lowest != NULL ? 5 : 4, in);
    return prt_build_gather(&n->b, all, I64(two), 1);
}

/* Returns indices or scores with zeros behind them, up to the limit, if the node asks for it. */
static prt_value *padded(prt_tf_call *n, prt_value *v)
{
    static const int64_t zero = 0;
    if (v == NULL || !prt_tf_attr_bool(n, "pad_to_max_output_size", false))
        return v;
    prt_value *limit =
        prt_build_unsqueeze(&n->b, prt_build_cast(&n->b, prt_tf_in(n, 2), PRT_DTYPE_i64), 1, &zero);
    prt_value *more = BINARY(sub, limit, prt_build_shape(&n->b, v));
    prt_value *pads[] = { prt_build_i64s(&n->b, 1, &zero), more };
    return BINARY(pad, v, prt_build_concat(&n->b, 0, 2, pads));
}

/* Sets output k to the number of elements. */
static void set_count(prt_tf_call *n, uint32_t k, prt_value *v)
{
    prt_tf_set(n, k, prt_build_cast(&n->b, UNARY(size, v), PRT_DTYPE_i32));
}

static void set_indices(prt_tf_call *n, prt_value *at)
{
    prt_tf_set(n, 0, prt_build_cast(&n->b, padded(n, at), PRT_DTYPE_i32));
}

poprt_status prt_tf_row_nms(prt_tf_call *n)
{
    prt_value *overlap =
        n->n_in > 3 ? as_f32(n, 3) : F32((double)prt_tf_attr_f32(n, "iou_threshold", 0.5f));
    set_indices(n, select_boxes(n, prt_tf_in(n, 2), overlap, n->n_in > 4 ? as_f32(n, 4) : NULL));
    return prt_tf_end(n);
}

poprt_status prt_tf_row_nms_padded(prt_tf_call *n)
{
    prt_value *at = select_boxes(n, prt_tf_in(n, 2), as_f32(n, 3), as_f32(n, 4));
    if (at != NULL) {
        set_indices(n, at);
        set_count(n, 1, at);
    }
    return prt_tf_end(n);
}

/* ---- the loop */

/* What a loop of suppression reads. */
typedef struct suppression {
    prt_value *boxes;    /* [n, 4], or NULL with `overlaps` */
    prt_value *overlaps; /* [n, n] */
    prt_value *scores, *limit, *overlap, *lowest;
    prt_value *decay; /* -0.5/sigma of soft suppression, which has no threshold; or NULL */
} suppression;

/* Returns the lower and the higher corners of boxes, [n, 2] each, and their areas [n]. */
static prt_value *corners(prt_build *b, prt_value *boxes, prt_value **low, prt_value **high)
{
    prt_value *one = prt_build_slice(b, boxes, 1, 0, 2, 1);
    prt_value *two = prt_build_slice(b, boxes, 1, 2, 4, 1);
    *low = prt_build_binary(b, PRT_OP_min, one, two);
    *high = prt_build_binary(b, PRT_OP_max, one, two);
    return prt_build_reduce_axis(b, PRT_OP_reduce_prod,
        prt_build_binary(b, PRT_OP_sub, *high, *low), 1, false);
}

/* Returns the intersection over union of every box with box `at`, a vector of one index; 0 where an
 * area is 0. */
static prt_value *overlaps_with(prt_build *b, const suppression *s, prt_value *at)
{
    prt_value *low, *high;
    prt_value *area = corners(b, s->boxes, &low, &high), *zero = prt_build_number(b, area, 0);
    low = prt_build_binary(b, PRT_OP_max, low, prt_build_gather(b, low, at, 0));
    high = prt_build_binary(b, PRT_OP_min, high, prt_build_gather(b, high, at, 0));
    prt_value *sides =
        prt_build_binary(b, PRT_OP_max, zero, prt_build_binary(b, PRT_OP_sub, high, low));
    prt_value *common = prt_build_reduce_axis(b, PRT_OP_reduce_prod, sides, 1, false);
    prt_value *sum = prt_build_binary(b, PRT_OP_add, area, prt_build_gather(b, area, at, 0));
    prt_value *joint = prt_build_binary(b, PRT_OP_sub, sum, common);
    prt_value *some = prt_build_binary(b, PRT_OP_greater, common, zero);
    joint = prt_build_where(b, some, joint, prt_build_number(b, area, 1));
    return prt_build_binary(b, PRT_OP_div, common, joint);
}

/* Returns whether the best score is above the lowest that is accepted. */
static prt_value *any_left(prt_build *b, const suppression *s, prt_value *scores)
{
    prt_value *best = prt_build_reduce(b, PRT_OP_reduce_max, scores, NULL, false);
    return prt_build_binary(b, PRT_OP_greater, best, s->lowest);
}

/* One round: takes the best score and lowers the scores of the boxes that overlap its box. A box
 * that is taken or suppressed has the score -inf. The body returns the condition, the scores, and
 * the index and score of the box. */
static poprt_status fill_body(const suppression *s, prt_graph *body, prt_str origin)
{
    prt_build inside = prt_build_at_end(body), *b = &inside;
    inside.origin = origin;
    prt_value *scores = body->inputs.data[2], *none = prt_build_number(b, scores, -HUGE_VAL);
    prt_argmax_attrs attrs = PRT_ATTRS_OF(argmax);
    PRT_ATTR_SET(attrs, argmax, keepdims, 1);
    PRT_ATTR_SET(attrs, argmax, axis, 0);
    prt_value *at = prt_build_op(b, PRT_OP_argmax, &attrs, 1, &scores);
    prt_value *best = prt_build_gather(b, scores, at, 0);
    prt_value *common = s->boxes != NULL ? overlaps_with(b, s, at) : NULL;
    if (s->boxes == NULL) {
        const int64_t one = 1;
        common = prt_build_squeeze(b, prt_build_gather(b, s->overlaps, at, 1), 1, &one);
    }
    prt_value *next;
    if (s->decay != NULL) {
        prt_value *square = prt_build_binary(b, PRT_OP_mul, common, common);
        prt_value *weight =
            prt_build_unary(b, PRT_OP_exp, prt_build_binary(b, PRT_OP_mul, square, s->decay));
        prt_value *taken = prt_build_binary(b, PRT_OP_equal, scores, none);
        next = prt_build_binary(b, PRT_OP_mul, scores, weight);
        next = prt_build_where(b, taken, none, next);
    } else {
        prt_value *over = prt_build_binary(b, PRT_OP_greater, common, s->overlap);
        next = prt_build_where(b, over, none, scores);
    }
    const int64_t last = 1, single = 1;
    next = prt_build_scatter_nd(b, next, prt_build_unsqueeze(b, at, 1, &last),
        prt_build_expand(b, none, prt_build_i64s(b, 1, &single)), "none");
    const int64_t zero = 0;
    prt_value *ret[] = { any_left(b, s, next), next, prt_build_squeeze(b, at, 1, &zero),
        prt_build_squeeze(b, best, 1, &zero) };
    PRT_TRY(prt_build_status(b));
    return prt_region_return(body, PRT_COUNT_OF(ret), ret);
}

/* Builds the loop, and sets `at` and `best` to the selected indices, as int64, and their scores. */
static poprt_status suppress(prt_tf_call *n, const suppression *s, prt_value **at, prt_value **best)
{
    prt_value *in[] = { prt_build_cast(&n->b, s->limit, PRT_DTYPE_i64),
        any_left(&n->b, s, s->scores), s->scores };
    PRT_TRY(prt_tf_end(n));
    prt_op *loop = prt_region_add_loop(&n->b, PRT_COUNT_OF(in), in, 3);
    if (loop == NULL)
        return prt_tf_end(n);
    PRT_TRY(prt_region_add_loop_inputs(loop));
    PRT_TRY(fill_body(s, loop->regions[0], n->b.origin));
    PRT_TRY(prt_ir_infer_new_op(loop));
    *at = &loop->out[1];
    *best = &loop->out[2];
    return POPRT_OK;
}

poprt_status prt_tf_row_nms_soft(prt_tf_call *n)
{
    prt_tensor sigma;
    prt_value *at = NULL, *best = NULL;
    const bool known = prt_tf_constant(n, 5, &sigma) && prt_tensor_count(&sigma) == 1;
    if (known && !(prt_load_f64(sigma.dtype, sigma.data, 0) > 0)) {
        at = select_boxes(n, prt_tf_in(n, 2), as_f32(n, 3), as_f32(n, 4));
        best = prt_build_gather(&n->b, as_f32(n, 1), at, 0);
    } else if (!known) {
        return prt_tf_refuse(n, "soft_nms_sigma (input 5) must be a constant");
    } else {
        const suppression s = { .boxes = as_f32(n, 0),
            .scores = as_f32(n, 1),
            .limit = prt_tf_in(n, 2),
            .lowest = as_f32(n, 4),
            .decay = F32(-0.5 / prt_load_f64(sigma.dtype, sigma.data, 0)) };
        PRT_TRY(prt_tf_end(n));
        PRT_TRY(suppress(n, &s, &at, &best));
    }
    if (at != NULL && best != NULL) {
        set_indices(n, at);
        prt_tf_set(n, 1, prt_build_cast_as(&n->b, padded(n, best), prt_tf_in(n, 1)));
        set_count(n, 2, at);
    }
    return prt_tf_end(n);
}

/* Inputs: overlaps, scores, max_output_size, overlap_threshold, score_threshold. */
poprt_status prt_tf_row_nms_overlaps(prt_tf_call *n)
{
    prt_value *at = NULL, *best = NULL;
    const suppression s = { .overlaps = prt_tf_in(n, 0),
        .scores = prt_tf_in(n, 1),
        .limit = prt_tf_in(n, 2),
        .overlap = prt_tf_in(n, 3),
        .lowest = prt_tf_in(n, 4) };
    PRT_TRY(prt_tf_end(n));
    PRT_TRY(suppress(n, &s, &at, &best));
    set_indices(n, at);
    return prt_tf_end(n);
}

/* ---- several classes */

/* The sizes of CombinedNonMaxSuppression: boxes [b, n, q, 4] with q = 1 or the number of classes,
 * scores [b, n, classes]. */
typedef struct combined {
    bool own_boxes;            /* each class has its boxes */
    int64_t total;             /* boxes of an image that are returned */
    prt_value *boxes, *scores; /* [images, n, 4] and [images, classes, n] of NonMaxSuppression */
    prt_value *flat_boxes;     /* [b, n or classes·n, 4] */
} combined;

/* Brings boxes and scores to the form of NonMaxSuppression: where classes have their own boxes,
 * each class of an image is an image. */
static bool read_combined(prt_tf_call *n, combined *c)
{
    static const int64_t two = 2, one = 1, class_first[] = { 0, 2, 1 },
                         box_class_first[] = { 0, 2, 1, 3 };
    int64_t each = 0;
    prt_value *boxes = as_f32(n, 0), *scores = as_f32(n, 1);
    const int64_t q = prt_tf_dim(boxes, 2), classes = prt_tf_dim(scores, 2);
    if (boxes == NULL || scores == NULL || !prt_tf_need_int(n, 2, "the number per class", &each) ||
        !prt_tf_need_int(n, 3, "the total number", &c->total))
        return false;
    if (!prt_dim_is_number(q) || !prt_dim_is_number(classes) || each < 0 || each > INT32_MAX ||
        c->total < 1 || c->total > INT32_MAX || classes > INT32_MAX) {
        (void)prt_tf_refuse(n, "the number of classes or of results is not known, or too large");
        return false;
    }
    c->own_boxes = q != 1;
    if (prt_tf_attr_bool(n, "pad_per_class", false) && each * classes < c->total)
        c->total = each * classes;
    c->scores = prt_build_transpose(&n->b, scores, 3, class_first);
    if (!c->own_boxes) {
        c->boxes = c->flat_boxes = prt_build_squeeze(&n->b, boxes, 1, &two);
        return c->boxes != NULL;
    }
    boxes = prt_build_transpose(&n->b, boxes, 4, box_class_first); /* [b, classes, n, 4] */
    prt_value *rows = prt_build_slice(&n->b, prt_build_shape(&n->b, boxes), 0, 2, 4, 1);
    prt_value *images[] = { prt_build_reduce(&n->b, PRT_OP_reduce_prod,
                                prt_build_slice(&n->b, prt_build_shape(&n->b, boxes), 0, 0, 2, 1),
                                NULL, true),
        rows };
    prt_value *of_image[] = { prt_build_size_of(&n->b, boxes, 0),
        BINARY(mul, prt_build_size_of(&n->b, boxes, 1), prt_build_size_of(&n->b, boxes, 2)),
        prt_build_size_of(&n->b, boxes, 3) };
    c->boxes = prt_build_reshape_to(&n->b, boxes, prt_build_concat(&n->b, 0, 2, images));
    c->flat_boxes = prt_build_reshape_to(&n->b, boxes, prt_build_concat(&n->b, 0, 3, of_image));
    prt_value *single[] = { images[0], prt_build_i64s(&n->b, 1, &one),
        prt_build_size_of(&n->b, boxes, 2) };
    c->scores = prt_build_reshape_to(&n->b, c->scores, prt_build_concat(&n->b, 0, 3, single));
    return c->flat_boxes != NULL && c->scores != NULL;
}

/* Returns the scores of the selected boxes, and -inf in place of the others and of `total` more, as
 * [b, classes·n + total]. */
static prt_value *selected_scores(prt_tf_call *n, const combined *c)
{
    prt_value *in[] = { c->boxes, c->scores, prt_build_cast(&n->b, prt_tf_in(n, 2), PRT_DTYPE_i64),
        as_f32(n, 4), as_f32(n, 5) };
    prt_value *at = prt_build_op(&n->b, PRT_OP_non_max_suppression, NULL, 5, in);
    prt_value *none = prt_build_expand(&n->b, F32(-HUGE_VAL), prt_build_shape(&n->b, c->scores));
    prt_value *kept =
        prt_build_scatter_nd(&n->b, none, at, prt_build_gather_nd(&n->b, c->scores, at, 0), "none");
    prt_value *batch = prt_build_size_of(&n->b, prt_tf_in(n, 1), 0);
    prt_value *all = BINARY(mul, prt_build_size_of(&n->b, prt_tf_in(n, 1), 1),
        prt_build_size_of(&n->b, prt_tf_in(n, 1), 2));
    prt_value *shape[] = { batch, all }, *more[] = { batch, prt_build_i64s(&n->b, 1, &c->total) };
    prt_value *joint[] = { prt_build_reshape_to(&n->b, kept, prt_build_concat(&n->b, 0, 2, shape)),
        prt_build_expand(&n->b, F32(-HUGE_VAL), prt_build_concat(&n->b, 0, 2, more)) };
    return prt_build_concat(&n->b, 1, 2, joint);
}

/* Returns the boxes of [b, count] indices into [b, n, 4]. */
static prt_value *gather_boxes(prt_tf_call *n, prt_value *boxes, prt_value *at)
{
    static const int64_t last = 2, four[] = { 1, 1, 4 };
    prt_gather_elements_attrs attrs = PRT_ATTRS_OF(gather_elements);
    PRT_ATTR_SET(attrs, gather_elements, axis, 1);
    at = prt_build_expand(&n->b, prt_build_unsqueeze(&n->b, at, 1, &last),
        prt_build_i64s(&n->b, 3, four));
    return prt_build_op(&n->b, PRT_OP_gather_elements, &attrs, 2, (prt_value *[]){ boxes, at });
}

poprt_status prt_tf_row_nms_combined(prt_tf_call *n)
{
    static const int64_t last = 2;
    combined c;
    if (!read_combined(n, &c))
        return prt_tf_end(n);
    prt_value *in[] = { selected_scores(n, &c), prt_build_i64s(&n->b, 1, &c.total) };
    PRT_TRY(prt_tf_end(n));
    prt_op *top = prt_build_op_n(&n->b, PRT_OP_topk, NULL, 2, in, 2);
    if (top == NULL)
        return prt_tf_end(n);
    prt_value *zero = F32(0), *score = &top->out[0];
    prt_value *valid = BINARY(greater, score, F32(-HUGE_VAL));
    prt_value *at = WHERE(valid, &top->out[1], I64(0));
    prt_value *count = prt_build_size_of(&n->b, prt_tf_in(n, 1), 1);
    prt_value *class = prt_build_cast(&n->b, BINARY(div, at, count), PRT_DTYPE_f32);
    prt_value *box = c.own_boxes ? at : BINARY(mod, at, count);
    prt_value *boxes = gather_boxes(n, c.flat_boxes, box);
    if (prt_tf_attr_bool(n, "clip_boxes", true))
        boxes = prt_build_clip(&n->b, boxes, 0, 1);
    boxes = WHERE(prt_build_unsqueeze(&n->b, valid, 1, &last), boxes, zero);
    prt_tf_set(n, 0, boxes);
    prt_tf_set(n, 1, WHERE(valid, score, zero));
    prt_tf_set(n, 2, WHERE(valid, class, zero));
    prt_tf_set(n, 3,
        prt_build_reduce_axis(&n->b, PRT_OP_reduce_sum, prt_build_cast(&n->b, valid, PRT_DTYPE_i32),
            1, false));
    return prt_tf_end(n);
}
