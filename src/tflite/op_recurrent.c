/* SPDX-License-Identifier: MIT */
/*
 * op_recurrent.c — recurrent layers. States that are variables of the file start with zeros in each
 * run. A layer becomes ONNX's LSTM or RNN. What these lack (layer normalisation, clipping of the
 * cell, a clipped or biased projection) is computed by a Scan over the steps.
 */
#include "tflite/rows.h"

/* Gates in the order of TFLite. */
enum { I, F, C, O, GATES };

/* One direction of an LSTM layer. */
typedef struct lstm {
    prt_value *x; /* [steps, batch, in] */
    prt_value *w[GATES], *r[GATES], *bias[GATES], *norm[GATES];
    prt_value *peephole[GATES];                      /* of I, F and O */
    prt_value *projection, *projection_bias, *h, *c; /* h and c: NULL are zeros */
    int64_t n;                                       /* units */
    bool coupled;                                    /* gate I is 1 - F */
    int64_t activation;
    float cell_clip, projection_clip;
} lstm;

/* Returns input i as real numbers; NULL if it is absent, or a state that is a variable. */
static prt_value *optional(prt_tflite_call *n, uint32_t i)
{
    prt_value *v = prt_tf_has(&n->tf, i) ? prt_tf_in(&n->tf, i) : NULL;
    if (v != NULL && prt_tf_dtype(v) != PRT_DTYPE_f32) {
        (void)prt_tf_refuse(&n->tf, "input %u holds integers without a scale", i);
        return NULL;
    }
    return v;
}

static float option_f32(const prt_tflite_call *n, uint32_t field)
{
    return prt_flat_f32(&n->op->options, &prt_tflite_fields[field]);
}

static prt_value *concat(prt_build *b, int64_t axis, uint32_t count, prt_value *const *values)
{
    return prt_build_concat(b, axis, count, values);
}

/* Returns x·wᵀ. */
static prt_value *product(prt_build *b, prt_value *x, prt_value *w)
{
    return prt_build_binary(b, PRT_OP_matmul, x, prt_build_swap_last(b, w));
}

/* Returns zeros [batch, count] for x [steps, batch, in]. */
static prt_value *zeros(prt_build *b, prt_value *x, int64_t count)
{
    prt_value *dims[2] = { prt_build_size_of(b, x, 1), prt_build_i64s(b, 1, &count) };
    return prt_build_expand(b, prt_build_scalar(b, PRT_DTYPE_f32, 0),
        prt_build_concat(b, 0, 2, dims));
}

/* ---- reading */

/* Reads the weights of a direction from input `first` on. Without a gate I, it is 1 - F: the
 * sigmoid of the negated sum, so that negated weights of F stand for it. */
static bool read_lstm(prt_tflite_call *n, uint32_t first, lstm *l)
{
    prt_build *b = &n->tf.b;
    for (uint32_t k = 0; k < GATES; k++) {
        l->w[k] = optional(n, first + k);
        l->r[k] = optional(n, first + 4 + k);
        l->bias[k] = optional(n, first + 11 + k);
    }
    l->peephole[I] = optional(n, first + 8);
    l->peephole[F] = optional(n, first + 9);
    l->peephole[O] = optional(n, first + 10);
    l->projection = optional(n, first + 15);
    l->projection_bias = optional(n, first + 16);
    for (uint32_t k = F; k < GATES; k++)
        if (n->tf.status == POPRT_OK && (l->w[k] == NULL || l->r[k] == NULL || l->bias[k] == NULL))
            (void)prt_tf_refuse(&n->tf, "its weights or biases are incomplete");
    l->n = prt_tf_dim(l->w[F], 0);
    if (n->tf.status == POPRT_OK && (!prt_dim_is_number(l->n) || l->n < 1))
        (void)prt_tf_refuse(&n->tf, "the shapes of its weights must be known");
    if (n->tf.status == POPRT_OK && l->activation == PRT_TFLITE_NO_ACTIVATION)
        (void)prt_tf_refuse(&n->tf, "TFLite does not define an LSTM without an activation");
    if (n->tf.status != POPRT_OK)
        return false;
    l->coupled = l->w[I] == NULL;
    if (!l->coupled)
        return l->r[I] != NULL && l->bias[I] != NULL;
    l->w[I] = prt_build_unary(b, PRT_OP_neg, l->w[F]);
    l->r[I] = prt_build_unary(b, PRT_OP_neg, l->r[F]);
    l->bias[I] = prt_build_unary(b, PRT_OP_neg, l->bias[F]);
    if (l->peephole[F] != NULL)
        l->peephole[I] = prt_build_unary(b, PRT_OP_neg, l->peephole[F]);
    return true;
}

/* ---- the operator LSTM */

static const char *onnx_activation(int64_t activation)
{
    return activation == PRT_TFLITE_TANH ? "Tanh" : activation == PRT_TFLITE_RELU ? "Relu" : NULL;
}

static bool is_simple(const lstm *l)
{
    return l->norm[F] == NULL && l->cell_clip == 0 && onnx_activation(l->activation) != NULL &&
        (l->projection == NULL ||
            (l->projection_bias == NULL && l->projection_clip == 0 && l->h == NULL));
}

/* Joins parts of the gates, in the order of ONNX, to [1, 4n, …]. */
static prt_value *join(prt_build *b, prt_value *const of[GATES])
{
    static const int64_t first[] = { 0 };
    prt_value *parts[] = { of[I], of[O], of[F], of[C] };
    return prt_build_unsqueeze(b, concat(b, 0, GATES, parts), 1, first);
}

static prt_value *join_biases(prt_build *b, const lstm *l)
{
    static const int64_t first[] = { 0 };
    const int64_t count = GATES * l->n;
    prt_value *none =
        prt_build_expand(b, prt_build_scalar(b, PRT_DTYPE_f32, 0), prt_build_i64s(b, 1, &count));
    prt_value *parts[] = { l->bias[I], l->bias[O], l->bias[F], l->bias[C], none };
    return prt_build_unsqueeze(b, concat(b, 0, GATES + 1, parts), 1, first);
}

static prt_value *join_peepholes(prt_build *b, const lstm *l)
{
    static const int64_t first[] = { 0 };
    prt_value *parts[] = { l->peephole[I], l->peephole[O], l->peephole[F] };
    return prt_build_unsqueeze(b, concat(b, 0, 3, parts), 1, first);
}

/* A projection P without bias acts on the recurrent weights: R·(P·h) is (R·P)·h. */
static prt_value *build_lstm(prt_build *b, const lstm *l)
{
    static const int64_t first[] = { 0 }, second[] = { 1 };
    prt_str words[3] = { PRT_STR("Sigmoid"), prt_str_of(onnx_activation(l->activation)),
        prt_str_of(onnx_activation(l->activation)) };
    prt_value *r[GATES];
    prt_lstm_attrs attrs = PRT_ATTRS_OF(lstm);
    for (uint32_t k = 0; k < GATES; k++)
        r[k] = l->projection != NULL ? prt_build_binary(b, PRT_OP_matmul, l->r[k], l->projection)
                                     : l->r[k];
    PRT_ATTR_SET(attrs, lstm, hidden_size, l->n);
    if (l->activation != PRT_TFLITE_TANH)
        PRT_ATTR_SET(attrs, lstm, activations, ((prt_strs){ words, 3 }));
    prt_value *in[8] = { l->x, join(b, l->w), join(b, r), join_biases(b, l), NULL,
        prt_build_unsqueeze(b, l->h, 1, first), prt_build_unsqueeze(b, l->c, 1, first),
        l->peephole[O] != NULL ? join_peepholes(b, l) : NULL };
    if (in[1] == NULL || in[2] == NULL || in[3] == NULL)
        return NULL;
    prt_value *y = prt_build_op(b, PRT_OP_lstm, &attrs, in[7] != NULL ? 8 : 7, in);
    y = prt_build_squeeze(b, y, 1, second);
    return l->projection != NULL ? product(b, y, l->projection) : y;
}

/* ---- the Scan */

/* Adds the parts of a gate that depend on the cell, normalises, and applies the activation. */
static prt_value *gate(prt_build *b, const lstm *l, uint32_t k, prt_value *z, prt_value *c)
{
    if (l->peephole[k] != NULL)
        z = prt_build_binary(b, PRT_OP_add, z, prt_build_binary(b, PRT_OP_mul, c, l->peephole[k]));
    if (l->norm[k] != NULL && z != NULL) {
        prt_layer_normalization_attrs attrs = PRT_ATTRS_OF(layer_normalization);
        PRT_ATTR_SET(attrs, layer_normalization, epsilon, 1e-8f);
        prt_value *in[3] = { z, l->norm[k], l->bias[k] };
        z = prt_build_op(b, PRT_OP_layer_normalization, &attrs, 3, in);
    }
    return k == C ? z : prt_build_unary(b, PRT_OP_sigmoid, z);
}

/* Builds a step from its inputs: h, c, and the sums over x. Sets `out` to the new h and c. */
static void build_step(prt_tflite_call *n, prt_build *b, const lstm *l, prt_value *const in[3],
    prt_value *out[2])
{
    const int64_t sizes[GATES] = { l->n, l->n, l->n, l->n };
    prt_value *z =
        prt_build_binary(b, PRT_OP_add, in[2], product(b, in[0], concat(b, 0, GATES, l->r)));
    prt_op *split = prt_build_split(b, z, -1, GATES, sizes);
    prt_value *c = in[1], *h;
    const prt_build kept = n->tf.b;
    if (split == NULL)
        return;
    n->tf.b = *b; /* activations are built in the region */
    b = &n->tf.b;
    prt_value *fresh = prt_tflite_activate(n, gate(b, l, C, &split->out[C], c), l->activation);
    prt_value *forget = gate(b, l, F, &split->out[F], c);
    prt_value *in_gate = l->coupled && l->norm[F] != NULL
        ? prt_build_binary(b, PRT_OP_sub, prt_build_number(b, forget, 1), forget)
        : gate(b, l, I, &split->out[I], c);
    fresh = prt_build_binary(b, PRT_OP_mul, in_gate, fresh);
    c = prt_build_binary(b, PRT_OP_mul, forget, c);
    c = prt_build_binary(b, PRT_OP_add, c, fresh);
    if (l->cell_clip > 0)
        c = prt_build_clip(b, c, -(double)l->cell_clip, (double)l->cell_clip);
    h = prt_tflite_activate(n, c, l->activation);
    h = prt_build_binary(b, PRT_OP_mul, gate(b, l, O, &split->out[O], c), h);
    if (l->projection != NULL)
        h = product(b, h, l->projection);
    if (l->projection != NULL && l->projection_bias != NULL)
        h = prt_build_binary(b, PRT_OP_add, h, l->projection_bias);
    if (l->projection != NULL && l->projection_clip > 0)
        h = prt_build_clip(b, h, -(double)l->projection_clip, (double)l->projection_clip);
    out[0] = h;
    out[1] = c;
    const poprt_status status = n->tf.b.status;
    n->tf.b = kept;
    n->tf.b.status = status;
}

static poprt_status fill_step(prt_tflite_call *n, const lstm *l, prt_op *op)
{
    prt_graph *region = op->regions[0];
    prt_module *m = region->module;
    prt_build b = prt_build_at_end(region);
    prt_value *in[3], *out[3] = { NULL };
    const prt_str names[3] = { PRT_STR(""), PRT_STR(""), PRT_STR("") };
    b.origin = op->origin;
    for (uint32_t i = 0; i < 3; i++) {
        const prt_type *t = prt_op_input(op, i)->type;
        if (i == 2)
            t = prt_type_tensor(m->types, t->dtype, t->rank - 1, t->dims + 1);
        in[i] = t != NULL ? prt_graph_add_input(region, prt_module_fresh_name(m, "step"), t) : NULL;
        if (in[i] == NULL)
            return POPRT_E_NOMEM;
    }
    build_step(n, &b, l, in, out);
    b.status = n->tf.b.status;
    out[2] = prt_build_unary(&b, PRT_OP_identity, out[0]);
    PRT_TRY(prt_build_status(&b));
    return out[2] != NULL ? prt_graph_set_outputs(region, 3, out, names) : prt_tf_end(&n->tf);
}

static prt_value *build_scan(prt_tflite_call *n, const lstm *l)
{
    prt_build *b = &n->tf.b;
    const int64_t width = l->projection != NULL ? prt_tf_dim(l->projection, 0) : l->n;
    prt_value *sums = product(b, l->x, concat(b, 0, GATES, l->w));
    if (l->norm[F] == NULL)
        sums = prt_build_binary(b, PRT_OP_add, sums, concat(b, 0, GATES, l->bias));
    prt_value *in[3] = { l->h != NULL ? l->h : zeros(b, l->x, width),
        l->c != NULL ? l->c : zeros(b, l->x, l->n), sums };
    if (in[0] == NULL || in[1] == NULL || in[2] == NULL || prt_tf_rank(sums) != 3)
        return NULL;
    prt_op *op = prt_graph_add_op(b->graph, NULL, prt_op_of(PRT_OP_scan), 3, 3, 1);
    if (op == NULL) {
        b->status = POPRT_E_NOMEM;
        return NULL;
    }
    prt_scan_attrs *attrs = op->attrs;
    PRT_ATTR_SET(*attrs, scan, body, 0);
    PRT_ATTR_SET(*attrs, scan, num_scan_inputs, 1);
    op->origin = b->origin;
    for (uint32_t i = 0; i < 3; i++)
        prt_op_set_input(op, i, in[i]);
    b->status = fill_step(n, l, op);
    if (b->status == POPRT_OK)
        b->status = prt_ir_infer_new_op(op);
    return b->status == POPRT_OK ? &op->out[2] : NULL;
}

/* ---- layers */

/* Exchanges the axes of batch and steps. */
static prt_value *swap_steps(prt_build *b, prt_value *x, bool swap)
{
    static const int64_t perm[] = { 1, 0, 2 };
    return swap ? prt_build_transpose(b, x, 3, perm) : x;
}

static prt_value *reverse(prt_build *b, prt_value *x, bool backward)
{
    return backward ? prt_build_slice(b, x, 0, -1, INT64_MIN + 1, -1) : x;
}

/* Builds one direction over x [steps, batch, in]. */
static prt_value *build_direction(prt_tflite_call *n, lstm *l, bool backward)
{
    prt_build *b = &n->tf.b;
    l->x = reverse(b, l->x, backward);
    return reverse(b, is_simple(l) ? build_lstm(b, l) : build_scan(n, l), backward);
}

static poprt_status incomplete(prt_tflite_call *n)
{
    return n->tf.status != POPRT_OK || n->tf.b.status != POPRT_OK
        ? prt_tf_end(&n->tf)
        : prt_tf_refuse(&n->tf, "this combination of weights is not supported");
}

poprt_status prt_tflite_row_sequence_lstm(prt_tflite_call *n)
{
    prt_build *b = &n->tf.b;
    const bool by_batch = prt_tflite_option(n, "time_major", 0) == 0;
    lstm l = { .x = swap_steps(b, optional(n, 0), by_batch),
        .h = optional(n, 18),
        .c = optional(n, 19),
        .activation = prt_tflite_option(n, "activation", 0),
        .cell_clip = option_f32(n, PRT_TFLITE_UnidirectionalSequenceLSTMOptions_cell_clip),
        .projection_clip = option_f32(n, PRT_TFLITE_UnidirectionalSequenceLSTMOptions_proj_clip) };
    if (prt_tflite_option(n, "diagonal_recurrent", 0) != 0)
        return prt_tf_refuse(&n->tf, "its recurrent weights are diagonals");
    for (uint32_t k = 0; k < GATES; k++)
        l.norm[k] = optional(n, 20 + k);
    if (l.x == NULL || !read_lstm(n, 1, &l))
        return incomplete(n);
    return prt_tflite_done(n, swap_steps(b, build_direction(n, &l, false), by_batch));
}

/* Adds the auxiliary input of a bidirectional layer to x: features, and weights for them. */
static void add_auxiliary(prt_tflite_call *n, lstm *l, prt_value *auxiliary, uint32_t first)
{
    prt_build *b = &n->tf.b;
    for (uint32_t k = 0; k < GATES; k++) {
        prt_value *w[2] = { l->w[k], optional(n, first + k) };
        if (w[1] != NULL)
            l->w[k] = concat(b, 1, 2, w);
    }
    prt_value *x[2] = { l->x, auxiliary };
    l->x = concat(b, 2, 2, x);
}

poprt_status prt_tflite_row_bidirectional_lstm(prt_tflite_call *n)
{
    prt_build *b = &n->tf.b;
    const bool by_batch = prt_tflite_option(n, "time_major", 1) == 0;
    prt_value *x = swap_steps(b, optional(n, 0), by_batch), *y[2];
    prt_value *auxiliary = swap_steps(b, optional(n, 39), by_batch && prt_tf_has(&n->tf, 39));
    const bool weighted = prt_tf_has(&n->tf, 41); /* auxiliary weights of gate F */
    for (uint32_t d = 0; d < 2; d++) {
        lstm l = { .x = d == 1 && auxiliary != NULL && !weighted ? auxiliary : x,
            .h = optional(n, 35 + 2 * d),
            .c = optional(n, 36 + 2 * d),
            .activation = prt_tflite_option(n, "activation", 0),
            .cell_clip = option_f32(n, PRT_TFLITE_BidirectionalSequenceLSTMOptions_cell_clip),
            .projection_clip =
                option_f32(n, PRT_TFLITE_BidirectionalSequenceLSTMOptions_proj_clip) };
        if (weighted && !prt_tf_has(&n->tf, 40 + 4 * d) == prt_tf_has(&n->tf, 1 + 17 * d))
            return incomplete(n);
        if (l.x == NULL || !read_lstm(n, 1 + 17 * d, &l))
            return incomplete(n);
        if (weighted && auxiliary != NULL && prt_tf_has(&n->tf, 40))
            add_auxiliary(n, &l, auxiliary, 40 + 4 * d);
        else if (weighted)
            return incomplete(n);
        y[d] = swap_steps(b, build_direction(n, &l, d == 1), by_batch);
    }
    if (prt_tflite_option(n, "merge_outputs", 0) != 0)
        return prt_tflite_done(n, concat(b, 2, 2, y));
    prt_tf_set(&n->tf, 1, y[1]);
    return prt_tflite_done(n, y[0]);
}

/* A single step with separate weights for x and h, joined: [x, h]·Wᵀ in the order I, C, F, O. */
static poprt_status basic_lstm(prt_tflite_call *n)
{
    prt_build *b = &n->tf.b;
    prt_value *x = optional(n, 0), *w = optional(n, 2), *bias = optional(n, 3);
    const int64_t count = prt_tf_dim(w, 0) / 4, sizes[] = { count, count, count, count };
    static const int64_t first[] = { 0 };
    if (x == NULL || w == NULL || bias == NULL || count < 1)
        return incomplete(n);
    prt_value *like = prt_build_unsqueeze(b, x, 1, first);
    prt_value *h = optional(n, 1), *c = optional(n, 4);
    h = h != NULL ? h : zeros(b, like, count);
    c = c != NULL ? c : zeros(b, like, count);
    prt_value *joined[2] = { x, h };
    prt_value *both = concat(b, 1, 2, joined);
    prt_value *z = prt_build_binary(b, PRT_OP_add, product(b, both, w), bias);
    prt_op *split = prt_build_split(b, z, 1, 4, sizes);
    if (split == NULL)
        return prt_tf_end(&n->tf);
    prt_value *fresh =
        prt_build_binary(b, PRT_OP_mul, prt_build_unary(b, PRT_OP_sigmoid, &split->out[0]),
            prt_build_unary(b, PRT_OP_tanh, &split->out[1]));
    prt_value *kept =
        prt_build_binary(b, PRT_OP_mul, prt_build_unary(b, PRT_OP_sigmoid, &split->out[2]), c);
    c = prt_build_binary(b, PRT_OP_add, kept, fresh);
    h = prt_build_binary(b, PRT_OP_mul, prt_build_unary(b, PRT_OP_sigmoid, &split->out[3]),
        prt_build_unary(b, PRT_OP_tanh, c));
    prt_tf_set(&n->tf, 1, c);
    prt_tf_set(&n->tf, 2, both);
    prt_tf_set(&n->tf, 3, z);
    return prt_tflite_done(n, h);
}

/* A layer of one step. */
poprt_status prt_tflite_row_lstm(prt_tflite_call *n)
{
    static const int64_t first[] = { 0 };
    prt_build *b = &n->tf.b;
    if (prt_tflite_option(n, "kernel_type", 0) == 1)
        return basic_lstm(n);
    lstm l = { .x = prt_build_unsqueeze(b, optional(n, 0), 1, first),
        .h = optional(n, 18),
        .c = optional(n, 19),
        .activation = prt_tflite_option(n, "activation", 0),
        .cell_clip = option_f32(n, PRT_TFLITE_LSTMOptions_cell_clip),
        .projection_clip = option_f32(n, PRT_TFLITE_LSTMOptions_proj_clip) };
    for (uint32_t k = 0; k < GATES; k++)
        l.norm[k] = optional(n, 20 + k);
    if (l.x == NULL || !read_lstm(n, 1, &l))
        return incomplete(n);
    return prt_tflite_done(n, prt_build_squeeze(b, build_direction(n, &l, false), 1, first));
}

/* ---- RNN */

/* Builds one direction from x [steps, batch, in] and the weights from input `first` on: W, R, bias
 * and state. */
static prt_value *build_rnn(prt_tflite_call *n, prt_value *x, uint32_t first, bool backward)
{
    static const int64_t zero[] = { 0 }, one[] = { 1 };
    prt_build *b = &n->tf.b;
    prt_value *w = optional(n, first), *r = optional(n, first + 1);
    prt_value *bias = optional(n, first + 2), *h = optional(n, first + 3);
    const int64_t units = prt_tf_dim(w, 0);
    const char *word = onnx_activation(prt_tflite_option(n, "activation", 0));
    prt_rnn_attrs attrs = PRT_ATTRS_OF(rnn);
    const float alpha = 1;
    const prt_str name = word != NULL ? prt_str_of(word) : PRT_STR("Affine");
    if (word == NULL && prt_tflite_option(n, "activation", 0) != PRT_TFLITE_NO_ACTIVATION) {
        (void)prt_tf_refuse(&n->tf, "its activation is not supported");
        return NULL;
    }
    if (w == NULL || r == NULL || bias == NULL || x == NULL || !prt_dim_is_number(units))
        return NULL;
    PRT_ATTR_SET(attrs, rnn, hidden_size, units);
    PRT_ATTR_SET(attrs, rnn, activations, ((prt_strs){ &name, 1 }));
    if (word == NULL)
        PRT_ATTR_SET(attrs, rnn, activation_alpha, ((prt_f32s){ &alpha, 1 }));
    prt_value *none =
        prt_build_expand(b, prt_build_scalar(b, PRT_DTYPE_f32, 0), prt_build_i64s(b, 1, &units));
    prt_value *biases[2] = { bias, none };
    prt_value *in[6] = { reverse(b, x, backward), prt_build_unsqueeze(b, w, 1, zero),
        prt_build_unsqueeze(b, r, 1, zero),
        prt_build_unsqueeze(b, concat(b, 0, 2, biases), 1, zero), NULL,
        prt_build_unsqueeze(b, h, 1, zero) };
    if (in[0] == NULL || in[3] == NULL)
        return NULL;
    return reverse(b, prt_build_squeeze(b, prt_build_op(b, PRT_OP_rnn, &attrs, 6, in), 1, one),
        backward);
}

/* RNN is one step, UNIDIRECTIONAL_SEQUENCE_RNN many. */
poprt_status prt_tflite_row_rnn(prt_tflite_call *n)
{
    static const int64_t first[] = { 0 };
    prt_build *b = &n->tf.b;
    const bool one = n->op->code == PRT_TFLITE_OP_RNN;
    const bool by_batch = !one && prt_tflite_option(n, "time_major", 0) == 0;
    prt_value *x = one ? prt_build_unsqueeze(b, optional(n, 0), 1, first)
                       : swap_steps(b, optional(n, 0), by_batch);
    prt_value *y = build_rnn(n, x, 1, false);
    if (y == NULL)
        return incomplete(n);
    return prt_tflite_done(n, one ? prt_build_squeeze(b, y, 1, first) : swap_steps(b, y, by_batch));
}

poprt_status prt_tflite_row_bidirectional_rnn(prt_tflite_call *n)
{
    prt_build *b = &n->tf.b;
    const bool by_batch = prt_tflite_option(n, "time_major", 0) == 0;
    prt_value *x = swap_steps(b, optional(n, 0), by_batch), *y[2];
    if (prt_tf_has(&n->tf, 9))
        return prt_tf_refuse(&n->tf, "its auxiliary input is not supported");
    for (uint32_t d = 0; d < 2; d++)
        if ((y[d] = swap_steps(b, build_rnn(n, x, 1 + 4 * d, d == 1), by_batch)) == NULL)
            return incomplete(n);
    if (prt_tflite_option(n, "merge_outputs", 0) != 0)
        return prt_tflite_done(n, concat(b, 2, 2, y));
    prt_tf_set(&n->tf, 1, y[1]);
    return prt_tflite_done(n, y[0]);
}

/* ---- SVDF */

/* Features of x enter a memory of the last steps, which the time weights sum up. The memory starts
 * with zeros, so that the newest step counts. */
poprt_status prt_tflite_row_svdf(prt_tflite_call *n)
{
    prt_build *b = &n->tf.b;
    prt_value *x = optional(n, 0), *w = optional(n, 1), *time = optional(n, 2);
    const int64_t rank = prt_tflite_option(n, "rank", 1), units = prt_tf_dim(w, 0);
    if (x == NULL || w == NULL || time == NULL || rank < 1 || !prt_dim_is_number(units) ||
        units % rank != 0)
        return incomplete(n);
    if (prt_tf_has(&n->tf, 4))
        return prt_tf_refuse(&n->tf, "its state is not a variable");
    prt_tf_warn(&n->tf, "its memory is not kept between runs: it begins with zeros");
    prt_value *newest = prt_build_slice(b, time, 1, -1, INT64_MAX, 1);
    const int64_t row[] = { -1 }, groups[] = { -1, units / rank, rank };
    prt_value *y =
        prt_build_binary(b, PRT_OP_mul, product(b, x, w), prt_build_reshape(b, newest, 1, row));
    y = prt_build_reduce_axis(b, PRT_OP_reduce_sum, prt_build_reshape(b, y, 3, groups), 2, false);
    if (prt_tf_has(&n->tf, 3))
        y = prt_build_binary(b, PRT_OP_add, y, optional(n, 3));
    return prt_tflite_done(n, prt_tflite_activate(n, y, prt_tflite_option(n, "activation", 0)));
}
