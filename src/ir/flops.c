/* SPDX-License-Identifier: MIT */
/*
 * flops.c — a table with a row for each operator whose count differs from one operation an element:
 * its formula and its operands. Counts saturate at UINT64_MAX.
 */
#include "ir/flops.h"

#include "op/share/equation.h"

enum { NO = 0xff, MAX_DEPTH = 256 };

typedef enum formula {
    ELEMENTS, /* `each` for each element read or written */
    NOTHING,
    PRODUCT,        /* x: left operand; sums over its columns (over its rows with transA) */
    CONVOLUTION,    /* for each output element: one filter of w */
    TRANSPOSED,     /* for each input element: its slice of w */
    WINDOWS,        /* for each output element: the kernel */
    NEIGHBOURS,     /* for each output element: twice the attribute "size" */
    RECURRENT,      /* for each step: both matrices */
    QUERIES,        /* x: queries, w: keys, bias: past keys */
    SELF_ATTENTION, /* x: states, w: the three matrices side by side, bias: past */
    EINSUM
} formula;

typedef struct row {
    uint8_t formula, x, w;
    uint8_t bias; /* input slot; NO: absent */
    uint8_t each; /* additional operations for each element written */
} row;

/* Operations an element. SOFTMAX: compare, subtract, exp, add, divide. SCORE: a softmax and a
 * scale. */
enum { SOFTMAX = 5, SCORE = 6, BATCH_NORM = 2, RMS_NORM = 4, NORM = 7 };
/* GATE: two biases and the function of a gate. STATE: other operations of LSTM and GRU for each
 * element of a state. */
enum { GATE = 3, STATE = 5 };

static const row rows[PRT_OP_COUNT] = {
    [PRT_OP_matmul] = { PRODUCT, 0, 1, NO, 0 },
    [PRT_OP_gemm] = { PRODUCT, 0, 1, 2, 0 },
    [PRT_OP_matmul_integer] = { PRODUCT, 0, 1, NO, 0 },
    [PRT_OP_qlinear_matmul] = { PRODUCT, 0, 3, NO, 2 },
    [PRT_OP_fused_linear] = { PRODUCT, 0, 1, 2, 0 },
    [PRT_OP_quantized_linear] = { PRODUCT, 0, 2, 5, 1 },
    [PRT_OP_gc_fp8_matmul] = { PRODUCT, 0, 1, NO, 1 },
    [PRT_OP_ms_fused_matmul] = { PRODUCT, 0, 1, NO, 0 },
    [PRT_OP_ms_fused_matmul_activation] = { PRODUCT, 0, 1, NO, 1 },
    [PRT_OP_ms_fused_gemm] = { PRODUCT, 0, 1, 2, 1 },
    [PRT_OP_ms_gemm_fast_gelu] = { PRODUCT, 0, 1, 2, 1 },
    [PRT_OP_ms_qgemm] = { PRODUCT, 0, 3, 6, 2 },
    [PRT_OP_ms_matmul_integer_to_float] = { PRODUCT, 0, 1, 6, 1 },
    [PRT_OP_ms_dynamic_quantize_matmul] = { PRODUCT, 0, 1, 4, 1 },
    [PRT_OP_ms_matmul_integer16] = { PRODUCT, 0, 1, NO, 0 },
    [PRT_OP_ms_matmul_n_bits] = { PRODUCT, 0, 1, 5, 0 },
    [PRT_OP_ms_matmul_bnb4] = { PRODUCT, 0, 1, NO, 0 },

    [PRT_OP_conv] = { CONVOLUTION, 0, 1, 2, 0 },
    [PRT_OP_conv_integer] = { CONVOLUTION, 0, 1, NO, 0 },
    [PRT_OP_qlinear_conv] = { CONVOLUTION, 0, 3, 8, 2 },
    [PRT_OP_deform_conv] = { CONVOLUTION, 0, 1, 3, 0 },
    [PRT_OP_fused_conv] = { CONVOLUTION, 0, 1, 2, 0 },
    [PRT_OP_gc_fp8_conv] = { CONVOLUTION, 0, 1, NO, 1 },
    [PRT_OP_ms_fused_conv] = { CONVOLUTION, 0, 1, 2, 1 },
    [PRT_OP_ms_qlinear_conv] = { CONVOLUTION, 0, 3, 8, 2 },
    [PRT_OP_conv_transpose] = { TRANSPOSED, 0, 1, 2, 0 },
    [PRT_OP_ms_conv_transpose_with_dynamic_pads] = { TRANSPOSED, 0, 1, 3, 0 },

    [PRT_OP_max_pool] = { .formula = WINDOWS },
    [PRT_OP_average_pool] = { .formula = WINDOWS },
    [PRT_OP_lp_pool] = { .formula = WINDOWS },
    [PRT_OP_ms_qlinear_average_pool] = { .formula = WINDOWS },

    [PRT_OP_rnn] = { RECURRENT, 0, 1, NO, 0 },
    [PRT_OP_gru] = { RECURRENT, 0, 1, NO, STATE },
    [PRT_OP_lstm] = { RECURRENT, 0, 1, NO, STATE },

    [PRT_OP_attention] = { QUERIES, 0, 1, 4, 0 },
    [PRT_OP_flex_attention] = { QUERIES, 0, 1, NO, 0 },
    [PRT_OP_ms_multi_head_attention] = { QUERIES, 0, 1, 6, 0 },
    [PRT_OP_ms_group_query_attention] = { QUERIES, 0, 1, 3, 0 },
    [PRT_OP_ms_attention] = { SELF_ATTENTION, 0, 1, 4, 0 },
    [PRT_OP_einsum] = { .formula = EINSUM },

    [PRT_OP_softmax] = { .each = SOFTMAX },
    [PRT_OP_log_softmax] = { .each = SOFTMAX },
    [PRT_OP_gc_softmax_v2] = { .each = SOFTMAX },
    [PRT_OP_ms_bias_softmax] = { .each = SOFTMAX + 1 },
    [PRT_OP_batch_normalization] = { .each = BATCH_NORM },
    [PRT_OP_gc_batch_normalization] = { .each = BATCH_NORM },
    [PRT_OP_rms_normalization] = { .each = RMS_NORM },
    [PRT_OP_layer_normalization] = { .each = NORM },
    [PRT_OP_instance_normalization] = { .each = NORM },
    [PRT_OP_group_normalization] = { .each = NORM },
    [PRT_OP_mean_variance_normalization] = { .each = NORM - 2 },
    [PRT_OP_gc_group_normalization] = { .each = NORM },
    [PRT_OP_gc_fast_norm] = { .each = NORM },
    [PRT_OP_ms_group_norm] = { .each = NORM },
    [PRT_OP_ms_skip_layer_normalization] = { .each = NORM + 1 },
    [PRT_OP_ms_skip_simplified_layer_normalization] = { .each = RMS_NORM + 1 },
    [PRT_OP_lp_normalization] = { .each = 3 },
    [PRT_OP_lrn] = { .formula = NEIGHBOURS, .each = 4 },
    [PRT_OP_quantize_linear] = { .each = 2 },
    [PRT_OP_dequantize_linear] = { .each = 2 },
    [PRT_OP_dynamic_quantize_linear] = { .each = 4 },

    [PRT_OP_shape] = { .formula = NOTHING },
    [PRT_OP_size] = { .formula = NOTHING },
    [PRT_OP_constant_of_shape] = { .formula = NOTHING },
    [PRT_OP_range] = { .formula = NOTHING },
    [PRT_OP_eye_like] = { .formula = NOTHING },
    [PRT_OP_bit_cast] = { .formula = NOTHING },
    [PRT_OP_tensor_scatter] = { .formula = NOTHING },
    [PRT_OP_sequence_construct] = { .formula = NOTHING },
    [PRT_OP_sequence_empty] = { .formula = NOTHING },
    [PRT_OP_sequence_at] = { .formula = NOTHING },
    [PRT_OP_sequence_length] = { .formula = NOTHING },
    [PRT_OP_sequence_insert] = { .formula = NOTHING },
    [PRT_OP_sequence_erase] = { .formula = NOTHING },
    [PRT_OP_split_to_sequence] = { .formula = NOTHING },
    [PRT_OP_concat_from_sequence] = { .formula = NOTHING },
    [PRT_OP_optional] = { .formula = NOTHING },
    [PRT_OP_optional_has_element] = { .formula = NOTHING },
    [PRT_OP_optional_get_element] = { .formula = NOTHING },
    [PRT_OP_gc_copy_var_update] = { .formula = NOTHING },
    [PRT_OP_gc_depth_to_space] = { .formula = NOTHING },
    [PRT_OP_gc_dynamic_slice] = { .formula = NOTHING },
    [PRT_OP_gc_dynamic_update] = { .formula = NOTHING },
    [PRT_OP_gc_dynamic_zero] = { .formula = NOTHING },
    [PRT_OP_gc_grouped_gather] = { .formula = NOTHING },
    [PRT_OP_gc_init] = { .formula = NOTHING },
    [PRT_OP_gc_reverse] = { .formula = NOTHING },
    [PRT_OP_gc_sequence_slice] = { .formula = NOTHING },
    [PRT_OP_gc_slice] = { .formula = NOTHING },
    [PRT_OP_gc_subsample] = { .formula = NOTHING },
    [PRT_OP_gc_zeros] = { .formula = NOTHING },
    [PRT_OP_gc_zeros_like] = { .formula = NOTHING },
    [PRT_OP_ms_qlinear_concat] = { .formula = NOTHING },
    [PRT_OP_ms_remove_padding] = { .formula = NOTHING },
    [PRT_OP_ms_restore_padding] = { .formula = NOTHING },
};

/* ---- operands */

/* Counts the elements of a tensor; 0 for an absent value or a value that is not a tensor. Returns
 * false if the count is unknown. */
static bool count_of(const prt_value *v, uint64_t *count)
{
    *count = 0;
    if (v == NULL || (v->type->kind != PRT_VALUE_TENSOR && v->type->kind != PRT_VALUE_UNKNOWN))
        return true;
    return prt_type_count(v->type, count);
}

/* Counts the elements of output 0; 0 if it is unused and unnamed. */
static bool count_made(const prt_op *op, uint64_t *count)
{
    const prt_value *v = op->n_out != 0 ? &op->out[0] : NULL;
    return count_of(v != NULL && (v->name.size != 0 || v->uses != NULL) ? v : NULL, count);
}

/* Returns the type of an input that is a tensor of static shape with rank `rank` or more; else
 * NULL. */
static const prt_type *operand(const prt_op *op, uint32_t slot, int32_t rank)
{
    const prt_value *v = prt_op_input(op, slot);
    return v != NULL && v->type->rank >= rank && prt_type_is_static(v->type) ? v->type : NULL;
}

static const void *find_attr(const prt_op *op, const char *name, uint32_t kind)
{
    const uint32_t i = prt_op_attr(op->def, prt_str_of(name));
    if (i == UINT32_MAX || op->def->attrs[i].kind != kind)
        return NULL;
    return (const char *)op->attrs + op->def->attrs[i].offset;
}

static int64_t number(const prt_op *op, const char *name)
{
    const int64_t *value = find_attr(op, name, PRT_ATTR_i64);
    return value != NULL ? *value : 0;
}

static uint64_t dim(const prt_type *type, int32_t i)
{
    return (uint64_t)type->dims[i];
}

/* Returns the product of dims [first, rank). */
static uint64_t product_from(const prt_type *type, int32_t first)
{
    uint64_t product = 1;
    for (int32_t i = first; i < type->rank; i++)
        product = prt_saturating_mul(product, dim(type, i));
    return product;
}

/* ---- formulas: each returns false if it needs a shape that is not known */

static bool product(const prt_op *op, const row *r, uint64_t made, uint64_t *flops)
{
    const prt_type *a = operand(op, r->x, 1);
    if (a == NULL)
        return false;
    const bool transposed = number(op, "transA") != 0 && a->rank > 1;
    const int32_t at = !transposed ? a->rank - 1 : number(op, "transBatchA") != 0 ? 0 : a->rank - 2;
    *flops = prt_saturating_mul(made, prt_saturating_mul(2, dim(a, at)));
    return true;
}

static bool convolution(const prt_op *op, const row *r, uint64_t made, uint64_t *flops)
{
    const prt_type *w = operand(op, r->w, 3), *x = operand(op, r->x, 3);
    if (w == NULL || (r->formula == TRANSPOSED && x == NULL))
        return false;
    *flops = prt_saturating_mul(r->formula == TRANSPOSED ? product_from(x, 0) : made,
        prt_saturating_mul(2, product_from(w, 1)));
    return true;
}

static uint64_t windows(const prt_op *op, uint64_t made)
{
    const prt_i64s *kernel = find_attr(op, "kernel_shape", PRT_ATTR_i64s);
    uint64_t taps = 1;
    for (uint32_t i = 0; kernel != NULL && i < kernel->count; i++)
        taps = prt_saturating_mul(taps, kernel->data[i] > 0 ? (uint64_t)kernel->data[i] : 1);
    return prt_saturating_mul(made, taps);
}

static bool recurrent(const prt_op *op, const row *r, uint64_t *flops)
{
    const prt_type *x = operand(op, r->x, 3), *w = operand(op, r->w, 3),
                   *recurrence = operand(op, r->w + 1u, 3);
    if (x == NULL || w == NULL || recurrence == NULL)
        return false;
    const uint64_t gates = prt_saturating_mul(dim(w, 0), dim(w, 1));
    const uint64_t states = prt_saturating_mul(dim(recurrence, 0), dim(recurrence, 2));
    uint64_t step =
        prt_saturating_mul(2, prt_saturating_add(product_from(w, 0), product_from(recurrence, 0)));
    step = prt_saturating_add(step, prt_saturating_mul(GATE, gates));
    step = prt_saturating_add(step, prt_saturating_mul(r->each, states));
    *flops = prt_saturating_mul(prt_saturating_mul(dim(x, 0), dim(x, 1)), step);
    return true;
}

/* Both matrix products, and the operations on each score between them. */
static uint64_t attend(uint64_t queries, uint64_t made, uint64_t rows_of_scores, uint64_t keys)
{
    const uint64_t sums = prt_saturating_mul(2, prt_saturating_add(queries, made));
    return prt_saturating_mul(keys,
        prt_saturating_add(sums, prt_saturating_mul(SCORE, rows_of_scores)));
}

static bool queries(const prt_op *op, const row *r, uint64_t made, uint64_t *flops)
{
    const prt_type *q = operand(op, r->x, 3), *k = operand(op, r->w, 3);
    const prt_type *past = operand(op, r->bias, 4);
    if (q == NULL || k == NULL || q->rank > 4)
        return false;
    uint64_t keys = dim(k, k->rank == 4 ? 2 : 1);
    if (past != NULL && prt_op_is(op, PRT_OP_ms_group_query_attention))
        keys = dim(past, 2) > keys ? dim(past, 2) : keys; /* one buffer for all keys */
    else if (past != NULL)
        keys = prt_saturating_add(keys, dim(past, 2));
    const int64_t given = number(op, "q_num_heads") + number(op, "num_heads");
    const uint64_t heads = q->rank == 4 ? dim(q, 1) : given > 0 ? (uint64_t)given : 1;
    const uint64_t places = prt_saturating_mul(dim(q, 0), dim(q, q->rank == 4 ? 2 : 1));
    *flops = attend(product_from(q, 0), made, prt_saturating_mul(places, heads), keys);
    return true;
}

static bool self_attention(const prt_op *op, const row *r, uint64_t made, uint64_t *flops)
{
    const prt_type *x = operand(op, r->x, 3), *w = operand(op, r->w, 2);
    const prt_type *past = operand(op, r->bias, 5);
    if (x == NULL || w == NULL)
        return false;
    const int64_t heads = number(op, "num_heads");
    const uint64_t keys = prt_saturating_add(dim(x, 1), past != NULL ? dim(past, 3) : 0);
    const uint64_t places = prt_saturating_mul(dim(x, 0), dim(x, 1));
    const uint64_t scores = prt_saturating_mul(places, heads > 0 ? (uint64_t)heads : 1);
    *flops =
        prt_saturating_add(prt_saturating_mul(product_from(x, 0), prt_saturating_mul(2, dim(w, 1))),
            attend(made, made, scores, keys));
    return true;
}

/* Multiplications and additions over all combinations of the labels: a multiplication for each
 * operand after the first, and an addition if there are more combinations than results. */
static bool einsum(const prt_op *op, uint64_t made, uint64_t *flops)
{
    prt_equation e;
    uint32_t ranks[PRT_EQUATION_TERMS];
    const int64_t *dims[PRT_EQUATION_TERMS];
    uint64_t all = 1;
    if (prt_equation_parse(((const prt_einsum_attrs *)op->attrs)->equation, op->n_in, &e) != NULL)
        return false;
    for (uint32_t i = 0; i < e.n_in; i++) {
        const prt_type *type = operand(op, i, 0);
        if (type == NULL)
            return false;
        ranks[i] = (uint32_t)type->rank;
        dims[i] = type->dims;
    }
    if (prt_equation_resolve(&e, ranks, dims) != NULL)
        return false;
    for (uint32_t label = 0; label < PRT_EQUATION_LABELS; label++)
        if (e.seen[label] != 0)
            all = prt_saturating_mul(all, (uint64_t)e.size[label]);
    *flops = made == 0 ? 0 : prt_saturating_mul(all, op->n_in - 1u + (all > made));
    return true;
}

static bool elements(const prt_op *op, const row *r, uint64_t made, uint64_t *flops)
{
    uint64_t read = 0;
    if ((op->def->traits & PRT_ELEMENTWISE) == 0 && !count_of(prt_op_input(op, 0), &read))
        return false;
    *flops = prt_saturating_mul(read > made ? read : made, r->each != 0 ? r->each : 1);
    return true;
}

static bool is_nothing(const prt_op_def *def)
{
    const uint32_t still = PRT_VIEW | PRT_MOVES | PRT_RANDOM | PRT_COLLECTIVE;
    return def->id < PRT_OP_COUNT &&
        ((def->traits & still) != 0 || rows[def->id].formula == NOTHING ||
            ((def->traits & PRT_CONTROL) != 0 && rows[def->id].formula == ELEMENTS));
}

bool prt_op_flops(const prt_op *op, uint64_t *flops)
{
    uint64_t made;
    *flops = 0;
    if (op->def != NULL && is_nothing(op->def))
        return true;
    if (op->def == NULL || op->def->id >= PRT_OP_COUNT)
        return false;
    const row *r = &rows[op->def->id];
    if (r->formula == RECURRENT)
        return recurrent(op, r, flops);
    if (!count_made(op, &made))
        return false;
    uint64_t more = r->each;
    bool known = true;
    switch (r->formula) {
    case PRODUCT:
        known = product(op, r, made, flops);
        break;
    case CONVOLUTION:
    case TRANSPOSED:
        known = convolution(op, r, made, flops);
        break;
    case WINDOWS:
        *flops = windows(op, made);
        break;
    case NEIGHBOURS:
        more += 2 * (uint64_t)(number(op, "size") > 0 ? number(op, "size") : 0);
        break;
    case QUERIES:
        return queries(op, r, made, flops);
    case SELF_ATTENTION:
        return self_attention(op, r, made, flops);
    case EINSUM:
        return einsum(op, made, flops);
    default:
        return elements(op, r, made, flops);
    }
    more += (r->formula == PRODUCT || r->formula == CONVOLUTION || r->formula == TRANSPOSED) &&
        prt_op_input(op, r->bias) != NULL;
    *flops = prt_saturating_add(*flops, prt_saturating_mul(made, more));
    return known;
}

static uint64_t within(const prt_op *op, uint32_t depth, uint64_t *unknown)
{
    uint64_t sum;
    *unknown += !prt_op_flops(op, &sum);
    for (uint32_t i = 0; i < op->n_regions && depth < MAX_DEPTH; i++)
        prt_for_each_op (inner, op->regions[i])
            sum = prt_saturating_add(sum, within(inner, depth + 1, unknown));
    return sum;
}

uint64_t prt_op_flops_within(const prt_op *op, uint64_t *unknown)
{
    return within(op, 0, unknown);
}
