/* SPDX-License-Identifier: MIT */
/* op_custom.c — custom operators: TensorFlow operators in a TFLite file (Flex), and the selection
 * of boxes behind a detector. */
#include <math.h>

#include "tensorflow/formulas.h"
#include "tflite/flexbuffer.h"
#include "tflite/rows.h"

/* ---- TensorFlow operators */

/* The options of FlexName are a vector of the operator's name and its NodeDef. */
static poprt_status flex(prt_tflite_call *n)
{
    const prt_tflite_bytes *o = &n->op->custom_options;
    prt_flex list;
    prt_flex_value name, node;
    const prt_tf_attr *attrs;
    uint32_t count;
    PRT_TRY(prt_flex_open(o->data, o->size, &list));
    if (list.count != 2)
        return prt_tf_refuse(&n->tf, "its options do not hold a node of TensorFlow");
    PRT_TRY(prt_flex_item(&list, 0, &name));
    PRT_TRY(prt_flex_item(&list, 1, &node));
    if (name.kind != PRT_FLEX_text || node.kind != PRT_FLEX_text)
        return prt_tf_refuse(&n->tf, "its options do not hold a node of TensorFlow");
    const prt_bytes bytes = { (const unsigned char *)node.s.data, node.s.size };
    const char *text = prt_arena_text(n->tf.c->arena, name.s.data, name.s.size);
    if (text == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_tf_attrs_read(n->tf.c->arena, bytes, PRT_TF_NodeDef, PRT_TF_NodeDef_attr, 1, &attrs,
        &count));
    return prt_tflite_as(n, text, n->tf.n_in, n->tf.in, count, attrs);
}

/* ---- TFLite_Detection_PostProcess */

typedef struct detection {
    int64_t most;      /* detections */
    int64_t each;      /* classes of one detection */
    int64_t per_class; /* detections of one class, if each class is suppressed alone */
    int64_t classes;   /* without the background */
    bool by_class;
    double lowest, overlap;
    double scale[4]; /* y, x, h, w */
} detection;

static poprt_status read_number(const prt_flex *map, const char *key, double absent, double *out)
{
    prt_flex_value v;
    PRT_TRY(prt_flex_find(map, key, &v));
    const bool number =
        v.kind == PRT_FLEX_int || v.kind == PRT_FLEX_float || v.kind == PRT_FLEX_bool;
    *out = number ? v.f : absent;
    return POPRT_OK;
}

static poprt_status read_detection(prt_tflite_call *n, detection *d)
{
    static const char *const keys[] = { "max_detections", "max_classes_per_detection",
        "detections_per_class", "num_classes", "use_regular_nms", "nms_score_threshold",
        "nms_iou_threshold", "y_scale", "x_scale", "h_scale", "w_scale" };
    static const double absent[] = { 0, 1, 100, 0, 0, 0, 0, 0, 0, 0, 0 };
    const prt_tflite_bytes *o = &n->op->custom_options;
    double v[PRT_COUNT_OF(keys)];
    prt_flex map;
    PRT_TRY(prt_flex_open(o->data, o->size, &map));
    for (size_t i = 0; i < PRT_COUNT_OF(keys); i++) {
        PRT_TRY(read_number(&map, keys[i], absent[i], &v[i]));
        if (!(v[i] >= 0 && v[i] <= 1e6))
            return prt_tf_refuse(&n->tf, "option %s is out of range", keys[i]);
    }
    *d = (detection){ .most = (int64_t)v[0],
        .each = (int64_t)v[1],
        .per_class = (int64_t)v[2],
        .classes = (int64_t)v[3],
        .by_class = v[4] != 0,
        .lowest = v[5],
        .overlap = v[6],
        .scale = { v[7], v[8], v[9], v[10] } };
    if (d->most < 1 || d->each < 1 || d->classes < d->each || v[7] == 0 || v[8] == 0 || v[9] == 0 ||
        v[10] == 0)
        return prt_tf_refuse(&n->tf, "its options are incomplete");
    return POPRT_OK;
}

/* Returns columns [first, first + 2) of the last axis divided by two scales. */
static prt_value *scaled(prt_tf_call *n, prt_value *x, int64_t first, const double *scale)
{
    const float by[] = { (float)scale[0], (float)scale[1] };
    const int64_t two = 2;
    return BINARY(div, prt_build_slice(&n->b, x, -1, first, first + 2, 1),
        prt_build_tensor(&n->b, PRT_DTYPE_f32, 1, &two, by));
}

/* Returns the corners [1, n, 4] of boxes that are given relative to anchors, both as y, x, h, w. */
static prt_value *decode(prt_tf_call *n, const detection *d)
{
    prt_value *boxes = prt_tf_in(n, 0), *anchors = prt_tf_in(n, 2);
    prt_value *size = prt_build_slice(&n->b, anchors, -1, 2, 4, 1);
    prt_value *middle = BINARY(add, BINARY(mul, scaled(n, boxes, 0, d->scale), size),
        prt_build_slice(&n->b, anchors, -1, 0, 2, 1));
    prt_value *half =
        BINARY(mul, BINARY(mul, UNARY(exp, scaled(n, boxes, 2, d->scale + 2)), size), F32(0.5));
    prt_value *corners[2] = { BINARY(sub, middle, half), BINARY(add, middle, half) };
    return prt_build_concat(&n->b, -1, 2, corners);
}

/* Selects boxes by scores [1, c, n]: rows of image, class, box. TFLite accepts the lowest score
 * itself, ONNX only higher ones. */
static prt_value *suppress(prt_tf_call *n, const detection *d, prt_value *boxes, prt_value *scores,
    int64_t limit)
{
    const float lowest = nextafterf((float)d->lowest, -INFINITY);
    prt_value *in[] = { boxes, scores, I64(limit), F32(d->overlap),
        prt_build_tensor(&n->b, PRT_DTYPE_f32, 0, NULL, &lowest) };
    return boxes != NULL && scores != NULL
        ? prt_build_op(&n->b, PRT_OP_non_max_suppression, NULL, 5, in)
        : NULL;
}

static prt_value *column(prt_tf_call *n, prt_value *selected, int64_t i)
{
    return prt_build_gather(&n->b, selected, I64(i), 1);
}

/* Returns the first `k` of each row in descending order; NULL on failure. */
static prt_op *top(prt_tf_call *n, prt_value *x, prt_value *k)
{
    prt_value *in[] = { x, k };
    return x != NULL && k != NULL ? prt_build_op_n(&n->b, PRT_OP_topk, NULL, 2, in, 2) : NULL;
}

/* Sets output k to the first values, with zeros behind them, as [1, total, …]. */
static void set_padded(prt_tf_call *n, uint32_t k, prt_value *v, const detection *d, uint32_t rank)
{
    static const int64_t zero[] = { 0, 0 }, first = 0;
    const int64_t total = d->most * d->each;
    prt_value *count = prt_build_size_of(&n->b, v, 0);
    prt_value *behind = BINARY(sub, prt_build_i64s(&n->b, 1, &total), count);
    prt_value *parts[] = { prt_build_i64s(&n->b, rank, zero), behind,
        prt_build_i64s(&n->b, rank - 1, zero) };
    v = BINARY(pad, v, prt_build_concat(&n->b, 0, rank + 1, parts));
    if (rank == 2) {
        const int64_t dims[] = { 1, total, 4 };
        prt_tf_set(n, k, prt_build_reshape(&n->b, v, 3, dims));
        return;
    }
    prt_tf_set(n, k, prt_build_unsqueeze(&n->b, v, 1, &first));
}

static poprt_status set_results(prt_tf_call *n, const detection *d, prt_value *boxes,
    prt_value *classes, prt_value *scores, prt_value *count)
{
    set_padded(n, 0, boxes, d, 2);
    set_padded(n, 1, prt_build_cast(&n->b, classes, PRT_DTYPE_f32), d, 1);
    set_padded(n, 2, scores, d, 1);
    prt_tf_set(n, 3, prt_build_cast(&n->b, count, PRT_DTYPE_f32));
    return prt_tf_end(n);
}

/* Suppression among the best scores of all boxes; each box has its best classes. */
static poprt_status detect_fast(prt_tf_call *n, const detection *d, prt_value *boxes,
    prt_value *scores)
{
    static const int64_t swap[] = { 0, 2, 1 }, first = 0, middle = 1;
    prt_value *best = prt_build_reduce_axis(&n->b, PRT_OP_reduce_max, scores, 2, true);
    prt_value *selected = suppress(n, d, boxes, prt_build_transpose(&n->b, best, 3, swap), d->most);
    prt_value *at = column(n, selected, 2);
    prt_op *classes =
        top(n, prt_build_squeeze(&n->b, scores, 1, &first), prt_build_i64s(&n->b, 1, &d->each));
    if (classes == NULL || at == NULL)
        return prt_tf_end(n);
    const int64_t flat[] = { -1 }, rows[] = { -1, 4 }, each[] = { 1, d->each, 1 };
    boxes = prt_build_gather(&n->b, prt_build_squeeze(&n->b, boxes, 1, &first), at, 0);
    boxes = prt_build_expand(&n->b, prt_build_unsqueeze(&n->b, boxes, 1, &middle),
        prt_build_i64s(&n->b, 3, each));
    return set_results(n, d, prt_build_reshape(&n->b, boxes, 2, rows),
        prt_build_reshape(&n->b, prt_build_gather(&n->b, &classes->out[1], at, 0), 1, flat),
        prt_build_reshape(&n->b, prt_build_gather(&n->b, &classes->out[0], at, 0), 1, flat),
        prt_build_size_of(&n->b, selected, 0));
}

/* Suppression in each class; the best of all classes are the results. */
static poprt_status detect_by_class(prt_tf_call *n, const detection *d, prt_value *boxes,
    prt_value *scores)
{
    static const int64_t swap[] = { 0, 2, 1 }, first = 0;
    prt_value *by_class = prt_build_transpose(&n->b, scores, 3, swap);
    prt_value *selected = suppress(n, d, boxes, by_class, d->per_class);
    prt_value *values = prt_build_gather_nd(&n->b, by_class, selected, 0);
    prt_value *most[] = { prt_build_i64s(&n->b, 1, &d->most),
        prt_build_size_of(&n->b, selected, 0) };
    prt_op *best =
        selected != NULL ? top(n, values, prt_build_op(&n->b, PRT_OP_min, NULL, 2, most)) : NULL;
    if (best == NULL)
        return prt_tf_end(n);
    prt_value *order = &best->out[1];
    prt_value *at = prt_build_gather(&n->b, column(n, selected, 2), order, 0);
    return set_results(n, d,
        prt_build_gather(&n->b, prt_build_squeeze(&n->b, boxes, 1, &first), at, 0),
        prt_build_gather(&n->b, column(n, selected, 1), order, 0), &best->out[0],
        prt_build_shape(&n->b, order));
}

/* Inputs: boxes [1, n, 4] relative to anchors, scores [1, n, classes] (perhaps with a background as
 * class 0), anchors [n, 4]. Outputs: boxes, classes, scores, the number of them. */
static poprt_status detect(prt_tflite_call *call)
{
    prt_tf_call *n = &call->tf;
    detection d;
    PRT_TRY(read_detection(call, &d));
    prt_value *scores = prt_tf_in(n, 1);
    const int64_t all = prt_tf_dim(scores, 2);
    if (scores == NULL || prt_tf_rank(prt_tf_in(n, 0)) != 3 || prt_tf_rank(prt_tf_in(n, 2)) != 2 ||
        prt_tf_dim(scores, 0) != 1 || (all != d.classes && all != d.classes + 1))
        return n->status != POPRT_OK
            ? prt_tf_end(n)
            : prt_tf_refuse(n, "its inputs do not have the shapes that its options imply");
    if (all != d.classes)
        scores = prt_build_slice(&n->b, scores, 2, 1, INT64_MAX, 1);
    prt_value *boxes = decode(n, &d);
    return d.by_class ? detect_by_class(n, &d, boxes, scores) : detect_fast(n, &d, boxes, scores);
}

poprt_status prt_tflite_row_custom(prt_tflite_call *n)
{
    const prt_str name = n->op->custom;
    if (prt_str_is(name, "TFLite_Detection_PostProcess"))
        return detect(n);
    if (name.size > 4 && memcmp(name.data, "Flex", 4) == 0)
        return flex(n);
    if (prt_str_is(name, "edgetpu-custom-op"))
        return prt_tf_refuse(&n->tf,
            "the file was compiled for an Edge TPU: give the file that was compiled");
    return prt_tf_refuse(&n->tf, "%s", "");
}
