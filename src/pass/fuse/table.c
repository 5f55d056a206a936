/* SPDX-License-Identifier: MIT */
/*
 * table.c — chains of element-wise operators on one quantised value, through any number of
 * DequantizeLinear and QuantizeLinear, as a table of 256 bytes. The chain is rebuilt on a constant
 * of all byte values, and constant folding evaluates it.
 */
#include "pass/fuse/quantized.h"
#include "pass/layout/to_nhwc.h"

enum { MAX_VALUES = 64, MAX_OPERANDS = 8, ALL_BYTES = 256 };

typedef struct chain {
    prt_build *b;
    prt_value *source; /* the 8-bit input of the chain */
    uint32_t count;
    prt_value *of[MAX_VALUES];      /* values of the chain */
    prt_value *rebuilt[MAX_VALUES]; /* the same values for all 256 bytes */
} chain;

/* Returns whether the value is a constant of one element. */
static bool is_one(const prt_value *v)
{
    bool one = v->constant != NULL && prt_type_is_tensor(v->type);
    for (int32_t i = 0; one && i < v->type->rank; i++)
        one = v->type->dims[i] == 1;
    return one;
}

/* Returns whether each element of the result depends only on the same element of each input. */
static bool is_link(const prt_op *op)
{
    const uint32_t needed = PRT_PURE | PRT_ELEMENTWISE;
    if (op == NULL || op->def == NULL || op->def->id == PRT_OP_NONE || op->n_out != 1 ||
        op->n_in > MAX_OPERANDS)
        return false;
    switch (op->def->id) {
    case PRT_OP_dequantize_linear:
        return ((const prt_dequantize_linear_attrs *)op->attrs)->block_size == 0;
    case PRT_OP_quantize_linear:
        return ((const prt_quantize_linear_attrs *)op->attrs)->block_size == 0;
    case PRT_OP_byte_table:
        return true;
    default:
        return (op->def->traits & needed) == needed && op->n_regions == 0;
    }
}

/* Returns whether `v` depends only on the source of the chain, through element-wise operators. The
 * number of values limits the depth. */
static bool walk(chain *c, prt_value *v);

static bool walk_inputs(chain *c, prt_value *v)
{
    const prt_op *op = v->def;
    bool any = false;
    if (!is_link(op) || op->graph != c->b->graph || c->count == MAX_VALUES)
        return false;
    const uint32_t n = op->def->id == PRT_OP_byte_table ? 1 : op->n_in;
    c->of[c->count++] = NULL; /* also limits the depth of the recursion */
    for (uint32_t i = 0; i < n; i++) {
        prt_value *x = prt_op_input(op, i);
        if (x == NULL || is_one(x))
            continue;
        if (!walk(c, x))
            return false;
        any = true;
    }
    if (!any || c->count == MAX_VALUES)
        return false;
    c->of[c->count++] = v; /* after its inputs */
    return true;
}

static bool walk(chain *c, prt_value *v)
{
    const uint32_t count = c->count;
    prt_value *source = c->source;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->of[i] == v)
            return true;
    if (v == c->source || walk_inputs(c, v))
        return true;
    if (!prt_quantized_byte(v) || v->constant != NULL)
        return false;
    c->count = count;
    c->source = source != NULL ? source : v;
    return c->source == v;
}

static prt_value *rebuilt_of(const chain *c, prt_value *v, prt_value *all)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->of[i] == v)
            return c->rebuilt[i];
    return v == c->source ? all : v;
}

static prt_value *rebuild(chain *c, prt_value *root)
{
    uint8_t bytes[ALL_BYTES];
    static const int64_t dims[1] = { ALL_BYTES };
    for (uint32_t i = 0; i < ALL_BYTES; i++)
        bytes[i] = (uint8_t)i;
    prt_value *all = prt_build_tensor(c->b, c->source->type->dtype, 1, dims, bytes);
    for (uint32_t k = 0; all != NULL && k < c->count; k++) {
        prt_value *in[MAX_OPERANDS];
        if (c->of[k] == NULL)
            continue;
        const prt_op *op = c->of[k]->def;
        for (uint32_t i = 0; i < op->n_in; i++)
            in[i] = prt_op_input(op, i) != NULL ? rebuilt_of(c, prt_op_input(op, i), all) : NULL;
        c->rebuilt[k] = prt_build_op(c->b, op->def->id, op->attrs, op->n_in, in);
        if (c->rebuilt[k] == NULL)
            return NULL;
    }
    prt_value *table = all != NULL ? rebuilt_of(c, root, all) : NULL;
    return table == NULL || table->type->rank == 1 ? table
                                                   : prt_to_nhwc_reshape(c->b, table, 1, dims);
}

bool prt_quantized_table(prt_build *b, prt_op *root)
{
    chain c = { .b = b };
    prt_value *y = &root->out[0];
    if (!prt_quantized_byte(y) || !walk_inputs(&c, y) || c.source == NULL)
        return false;
    const prt_type *from = c.source->type, *to = y->type;
    if (from->rank < 0 || from->rank != to->rank ||
        !prt_dims_equal(from->dims, to->dims, (uint32_t)from->rank))
        return false;
    prt_value *in[2] = { c.source, rebuild(&c, y) };
    prt_value *v = in[1] != NULL ? prt_build_op(b, PRT_OP_byte_table, NULL, 2, in) : NULL;
    if (v != NULL)
        (void)prt_pass_replace(b, y, v);
    return v != NULL;
}
