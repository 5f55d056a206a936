/* SPDX-License-Identifier: MIT */
/*
 * op_recurrent.c — LSTM and GRU cells in one operator. They clip the state of the cell, which
 * ONNX's LSTM does not, and return it for each step: so they become their formulas, and a layer a
 * Loop.
 */
#include "tensorflow/formulas.h"
#include "tensorflow/list.h"
#include "tensorflow/number.h"
#include "tensorflow/region.h"

enum { GATES = 4, RESULTS = 7 };

/* The parameters of an LSTM cell. */
typedef struct lstm {
    prt_value *w, *b, *peephole[3]; /* wci, wcf, wco; NULL: none */
    int64_t order[GATES];           /* gates i, ci, f and o among the columns of w */
    int64_t width;                  /* of a gate */
    float forget_bias, clip;
} lstm;

/* Reads the width of a gate: a part of the columns of input i, which must be known. */
static bool read_width(prt_tf_call *n, uint32_t i, int64_t gates, int64_t *out)
{
    const int64_t columns = prt_tf_dim(prt_tf_in(n, i), 1);
    if (prt_dim_is_number(columns) && columns % gates == 0) {
        *out = columns / gates;
        return true;
    }
    if (n->status == POPRT_OK)
        (void)prt_tf_refuse(n, "the weights have no known number of columns that %lld divides",
            (long long)gates);
    return false;
}

static bool read_lstm(prt_tf_call *n, uint32_t first, lstm *c)
{
    static const int64_t icfo[] = { 0, 1, 2, 3 }, ifco[] = { 0, 2, 1, 3 };
    const bool v2 = prt_str_is(n->node->op, "BlockLSTMV2");
    *c = (lstm){ .w = prt_tf_in(n, first), .b = prt_tf_in(n, first + 4) };
    memcpy(c->order, v2 ? ifco : icfo, sizeof(c->order));
    for (uint32_t i = 0; i < 3 && prt_tf_attr_bool(n, "use_peephole", false); i++)
        c->peephole[i] = prt_tf_in(n, first + 1 + i);
    c->forget_bias = v2 ? 0.0F : prt_tf_attr_f32(n, "forget_bias", 1.0F);
    c->clip = prt_tf_attr_f32(n, "cell_clip", v2 ? 0.0F : 3.0F);
    return read_width(n, first, GATES, &c->width);
}

/* Returns x · w + b for the columns of x beside each other. */
static prt_value *product(prt_tf_call *n, prt_value *x, prt_value *h, prt_value *w, prt_value *b)
{
    prt_value *both = prt_build_concat(&n->b, 1, 2, (prt_value *[]){ x, h });
    return BINARY(add, BINARY(matmul, both, w), b);
}

static prt_value *with_peephole(prt_tf_call *n, const lstm *c, uint32_t i, prt_value *state,
    prt_value *gate)
{
    return UNARY(sigmoid,
        c->peephole[i] == NULL ? gate : BINARY(add, BINARY(mul, state, c->peephole[i]), gate));
}

/* Builds one step: `out` receives i, cs, f, o, ci, co and h. */
static void lstm_step(prt_tf_call *n, const lstm *c, prt_value *x, prt_value *state, prt_value *h,
    prt_value *out[RESULTS])
{
    const int64_t sizes[GATES] = { c->width, c->width, c->width, c->width };
    const prt_op *split = prt_build_split(&n->b, product(n, x, h, c->w, c->b), 1, GATES, sizes);
    if (split == NULL)
        return;
    prt_value *f = &split->out[c->order[2]];
    if (c->forget_bias != 0.0F)
        f = BINARY(add, f, prt_build_number(&n->b, f, (double)c->forget_bias));
    out[0] = with_peephole(n, c, 0, state, &split->out[c->order[0]]);
    out[2] = with_peephole(n, c, 1, state, f);
    out[4] = UNARY(tanh, &split->out[c->order[1]]);
    out[1] = BINARY(add, BINARY(mul, out[4], out[0]), BINARY(mul, state, out[2]));
    if (c->clip > 0.0F)
        out[1] = prt_build_clip(&n->b, out[1], -(double)c->clip, (double)c->clip);
    out[3] = with_peephole(n, c, 2, out[1], &split->out[c->order[3]]);
    out[5] = UNARY(tanh, out[1]);
    out[6] = BINARY(mul, out[5], out[3]);
}

/* x, cs_prev, h_prev, w, wci, wcf, wco, b. */
poprt_status prt_tf_row_lstm_block_cell(prt_tf_call *n)
{
    lstm c;
    prt_value *out[RESULTS] = { NULL };
    if (read_lstm(n, 3, &c))
        lstm_step(n, &c, prt_tf_in(n, 0), prt_tf_in(n, 1), prt_tf_in(n, 2), out);
    for (uint32_t k = 0; k < RESULTS; k++)
        prt_tf_set(n, k, out[k]);
    return prt_tf_end(n);
}

/* ---- a layer */

/* Fills the region of the loop over the steps of x [T, B, I]. */
static poprt_status fill(prt_tf_call *n, const lstm *c, prt_graph *region, prt_value *x)
{
    prt_module *m = n->c->module;
    prt_value *in[4], *results[3 + RESULTS] = { NULL };
    const prt_type *types[4] = { prt_type_tensor(m->types, PRT_DTYPE_i64, 0, NULL),
        prt_type_tensor(m->types, PRT_DTYPE_bool, 0, NULL), prt_tf_in(n, 2)->type,
        prt_tf_in(n, 3)->type };
    for (uint32_t i = 0; i < 4; i++)
        if (types[i] == NULL ||
            (in[i] = prt_graph_add_input(region, prt_module_fresh_name(m, "step"), types[i])) ==
                NULL)
            return POPRT_E_NOMEM;
    const prt_build outer = n->b;
    n->b = prt_build_at_end(region);
    n->b.origin = outer.origin;
    results[0] = prt_build_scalar(&n->b, PRT_DTYPE_bool, 1);
    lstm_step(n, c, prt_build_gather(&n->b, x, in[0], 0), in[2], in[3], results + 3);
    results[1] = results[3 + 1];
    results[2] = results[3 + 6];
    const poprt_status status = prt_tf_end(n);
    n->b = outer;
    return status == POPRT_OK ? prt_tf_region_end(n->c, region, 3 + RESULTS, results) : status;
}

/* seq_len_max, x, cs_prev, h_prev, w, wci, wcf, wco, b. The steps from seq_len_max on are zeros. */
poprt_status prt_tf_row_block_lstm(prt_tf_call *n)
{
    lstm c;
    prt_value *x = prt_tf_in(n, 1), *length = prt_tf_in(n, 0);
    if (!read_lstm(n, 4, &c) || prt_tf_in(n, 2) == NULL || prt_tf_in(n, 3) == NULL || x == NULL)
        return prt_tf_end(n);
    prt_value *steps = prt_build_reshape(&n->b, prt_build_size_of(&n->b, x, 0), 0, NULL);
    int64_t used, all = prt_tf_dim(x, 0);
    const bool whole = prt_tf_known_number(n, length, &used) && prt_dim_is_number(used) &&
        prt_dim_is_number(all) && used >= all;
    prt_value *trips =
        prt_build_reshape(&n->b, prt_build_cast(&n->b, length, PRT_DTYPE_i64), 0, NULL);
    trips = whole ? steps : BINARY(min, trips, steps);
    prt_graph *region = prt_graph_create(n->c->module, NULL);
    if (region == NULL)
        return POPRT_E_NOMEM;
    PRT_TRY(prt_tf_end(n));
    PRT_TRY(fill(n, &c, region, x));
    const prt_op *loop = prt_tf_region_op(n, PRT_OP_loop, 4,
        (prt_value *[]){ trips, NULL, prt_tf_in(n, 2), prt_tf_in(n, 3) }, 2 + RESULTS, 1, &region);
    for (uint32_t k = 0; k < RESULTS && loop != NULL; k++) {
        prt_value *v = &loop->out[2 + k];
        prt_tf_set(n, k, whole ? v : prt_tf_pad_rows(&n->b, v, steps));
    }
    return prt_tf_end(n);
}

/* ---- GRU */

/* x, h_prev, w_ru, w_c, b_ru, b_c. */
poprt_status prt_tf_row_gru_block_cell(prt_tf_call *n)
{
    int64_t width;
    prt_value *x = prt_tf_in(n, 0), *h = prt_tf_in(n, 1);
    if (!read_width(n, 2, 2, &width))
        return prt_tf_end(n);
    const int64_t sizes[2] = { width, width };
    const prt_op *split =
        prt_build_split(&n->b, product(n, x, h, prt_tf_in(n, 2), prt_tf_in(n, 4)), 1, 2, sizes);
    if (split == NULL)
        return prt_tf_end(n);
    prt_value *r = UNARY(sigmoid, &split->out[0]), *u = UNARY(sigmoid, &split->out[1]);
    prt_value *c = UNARY(tanh, product(n, x, BINARY(mul, h, r), prt_tf_in(n, 3), prt_tf_in(n, 5)));
    prt_value *rest = BINARY(sub, prt_build_number(&n->b, h, 1), u);
    prt_tf_set(n, 0, r);
    prt_tf_set(n, 1, u);
    prt_tf_set(n, 2, c);
    prt_tf_set(n, 3, BINARY(add, BINARY(mul, u, h), BINARY(mul, rest, c)));
    return prt_tf_end(n);
}
