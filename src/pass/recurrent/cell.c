/* SPDX-License-Identifier: MIT */
/*
 * cell.c — matches the cells
 *
 *     LSTM  c' = f * c + i * g,  h' = o * a(c')
 *     GRU   h' = z * h + (1 - z) * g, where g reads r * h, or r times a sum of products of h
 *     RNN   h' = a(x, h)
 *
 * with the operands of sums and products in any order.
 */
#include "pass/recurrent/cell.h"

#include <math.h>

#include "pass/fuse/formulas.h"

/* ---- activation functions */

/* Returns x if the Clip is one of alpha * x + beta to 0 and 1; otherwise NULL. */
static prt_value *clipped(const prt_op *clip, prt_cell_function *f)
{
    double low, high, alpha = 1, beta;
    if (!prt_op_is(clip, PRT_OP_clip) || !prt_match_number(clip, 1, &low) ||
        !prt_match_number(clip, 2, &high) || low != 0 || high != 1)
        return NULL;
    const prt_op *add = prt_match_producer(clip, 0, PRT_OP_add);
    for (uint32_t i = 0; add != NULL && i < 2; i++) {
        if (!prt_match_number(add, 1 - i, &beta))
            continue;
        prt_value *x = add->in[i].value;
        const prt_op *mul = prt_match_producer(add, i, PRT_OP_mul);
        for (uint32_t k = 0; mul != NULL && k < 2; k++)
            if (prt_match_number(mul, 1 - k, &alpha)) {
                x = mul->in[k].value;
                break;
            }
        *f = (prt_cell_function){ "HardSigmoid", true, true, (float)alpha, (float)beta };
        return x;
    }
    return NULL;
}

/* Returns the input of an activation function and describes the function; NULL: it is something
 * else. */
static prt_value *input_of(const prt_op *op, prt_cell_function *f)
{
    static const struct {
        uint32_t id;
        const char *name;
    } plain[] = { { PRT_OP_sigmoid, "Sigmoid" }, { PRT_OP_tanh, "Tanh" }, { PRT_OP_relu, "Relu" },
        { PRT_OP_softsign, "Softsign" }, { PRT_OP_softplus, "Softplus" } };
    bool swish;
    for (size_t i = 0; i < PRT_COUNT_OF(plain); i++)
        if (prt_op_is(op, plain[i].id)) {
            *f = (prt_cell_function){ .name = plain[i].name };
            return op->in[0].value;
        }
    if (prt_op_is(op, PRT_OP_hard_sigmoid)) {
        const prt_hard_sigmoid_attrs *a = op->attrs;
        *f = (prt_cell_function){ "HardSigmoid", true, true, a->alpha, a->beta };
        return op->in[0].value;
    }
    if (prt_op_is(op, PRT_OP_clip))
        return clipped(op, f);
    if (!prt_op_is(op, PRT_OP_mul) && !prt_op_is(op, PRT_OP_div))
        return NULL;
    prt_value *x = prt_formula_hard(op, &swish);
    *f = (prt_cell_function){ "HardSigmoid", true, true, 1.0f / 6.0f, 0.5f };
    return swish ? NULL : x;
}

/* Reads an activation function with `hidden` results, perhaps columns of a wider one. */
static bool activation(const prt_cell *cell, prt_value *v, prt_cell_function *f,
    prt_cell_columns *in)
{
    v = prt_loop_rows(v);
    if (prt_match_dim(v, -1) != cell->hidden)
        return false;
    in->column = 0;
    if (prt_op_is(v->def, PRT_OP_split) || prt_op_is(v->def, PRT_OP_slice)) {
        if (!prt_cell_first_column(v, &in->column))
            return false;
        v = prt_loop_rows(v->def->in[0].value);
    }
    in->of = input_of(v->def, f);
    return in->of != NULL;
}

static bool same_function(const prt_cell_function *a, const prt_cell_function *b)
{
    return strcmp(a->name, b->name) == 0 && a->alpha == b->alpha && a->beta == b->beta;
}

/* ---- states */

/* Returns the new value of state k before a mask keeps the old one; NULL: the mask is not one of
 * lengths, or differs from that of the other states. */
static prt_value *unmasked(prt_cell *cell, uint32_t k)
{
    const prt_loop *l = cell->loop;
    prt_value *v = prt_loop_rows(prt_loop_next(l, k));
    bool active;
    if (!prt_op_is(v->def, PRT_OP_where))
        return cell->lengths == NULL ? v : NULL;
    prt_value *lengths = prt_loop_lengths(l, v->def->in[0].value, &active);
    const prt_value *old = prt_loop_rows(v->def->in[active ? 2 : 1].value);
    if (lengths == NULL || prt_loop_state(l, old) != k)
        return NULL;
    if (k != cell->h && cell->lengths != lengths)
        return NULL;
    cell->lengths = lengths;
    return prt_loop_rows(v->def->in[active ? 1 : 2].value);
}

/* Returns the op of this kind that makes the rows of `v` in the body; otherwise NULL. */
static const prt_op *made_by(const prt_cell *cell, prt_value *v, uint32_t id)
{
    v = prt_loop_rows(v);
    return prt_op_is(v->def, id) && v->graph == cell->loop->body ? v->def : NULL;
}

/* Returns the operand of a binary op next to operand `i`. */
static prt_value *other(const prt_op *op, uint32_t i)
{
    return op->in[1 - i].value;
}

/* Returns whether the rows of `v` are the old value of state k. */
static bool is_state(const prt_cell *cell, prt_value *v, uint32_t k)
{
    return prt_loop_state(cell->loop, prt_loop_rows(v)) == k;
}

/* Reads the gate that an activation function reads: one with products of x and of state h. */
static bool read_gate(prt_cell *cell, prt_cell_columns in, prt_cell_gate *gate)
{
    return prt_cell_read_gate(cell, in, gate) && gate->x.matrix != NULL && gate->h.matrix != NULL &&
        prt_loop_state(cell->loop, gate->h_of) == cell->h && gate->scaled == NULL;
}

/* ---- LSTM: gates i, o, f, g */

/* Returns whether a peephole of the gate, if there is one, reads this value. */
static bool peeps(const prt_cell_gate *gate, const prt_value *of)
{
    return gate->peephole == NULL || gate->peephole_of == of;
}

/* Reads the gates of c' = f * c + i * g; the output gate is read already. */
static bool read_cell_state(prt_cell *cell, prt_value *forget, const prt_op *update)
{
    prt_cell_function *f = cell->functions, function;
    const prt_value *old = cell->loop->body->inputs.data[cell->c + PRT_LOOP_FIRST];
    prt_cell_columns x, i, g;
    if (!activation(cell, forget, &function, &x) || !same_function(&function, &f[0]) ||
        !read_gate(cell, x, &cell->gates[2]) || !peeps(&cell->gates[2], old))
        return false;
    for (uint32_t k = 0; k < 2; k++)
        if (activation(cell, update->in[k].value, &function, &i) &&
            activation(cell, other(update, k), &f[1], &g) && same_function(&function, &f[0]) &&
            read_gate(cell, i, &cell->gates[0]) && read_gate(cell, g, &cell->gates[3]) &&
            peeps(&cell->gates[0], old) && cell->gates[3].peephole == NULL)
            return true;
    return false;
}

/* Matches c' = sum for the carried value cell->c. */
static bool match_cell_state(prt_cell *cell, const prt_op *sum)
{
    for (uint32_t i = 0; i < 2; i++) {
        const prt_op *kept = made_by(cell, sum->in[i].value, PRT_OP_mul);
        const prt_op *update = made_by(cell, other(sum, i), PRT_OP_mul);
        for (uint32_t k = 0; kept != NULL && update != NULL && k < 2; k++)
            if (is_state(cell, kept->in[k].value, cell->c) &&
                read_cell_state(cell, other(kept, k), update))
                return true;
    }
    return false;
}

static bool match_lstm(prt_cell *cell)
{
    const prt_op *product = made_by(cell, cell->new_h, PRT_OP_mul);
    prt_cell_columns c, o;
    for (uint32_t i = 0; product != NULL && i < 2; i++) {
        if (!activation(cell, product->in[i].value, &cell->functions[2], &c) || c.column != 0 ||
            !activation(cell, other(product, i), &cell->functions[0], &o))
            continue;
        const prt_op *sum = made_by(cell, c.of, PRT_OP_add);
        cell->new_c = prt_loop_rows(c.of);
        for (uint32_t k = 0; sum != NULL && k < cell->loop->carried; k++) {
            cell->c = k;
            if (k != cell->h && unmasked(cell, k) == cell->new_c &&
                read_gate(cell, o, &cell->gates[1]) && peeps(&cell->gates[1], cell->new_c) &&
                match_cell_state(cell, sum))
                return true;
        }
    }
    return false;
}

/* ---- GRU: gates z, r, g */

/* Reads the reset gate r of a product of r and another value, which is returned. */
static prt_value *reset_of(prt_cell *cell, const prt_op *product)
{
    prt_cell_function f;
    prt_cell_columns r;
    for (uint32_t i = 0; i < 2; i++)
        if (activation(cell, product->in[i].value, &f, &r) &&
            same_function(&f, &cell->functions[0]) && read_gate(cell, r, &cell->gates[1]) &&
            cell->gates[1].peephole == NULL)
            return other(product, i);
    return NULL;
}

/* Reads the candidate: a sum with a product of r * h, or with r times a sum. */
static bool read_candidate(prt_cell *cell, prt_value *v)
{
    prt_cell_gate *gate = &cell->gates[2], *reset = &cell->reset;
    prt_cell_columns x;
    if (!activation(cell, v, &cell->functions[1], &x) || !prt_cell_read_gate(cell, x, gate) ||
        gate->x.matrix == NULL || gate->peephole != NULL ||
        (gate->scaled != NULL) == (gate->h.matrix != NULL))
        return false;
    if (gate->scaled == NULL) {
        prt_value *h =
            prt_op_is(gate->h_of->def, PRT_OP_mul) ? reset_of(cell, gate->h_of->def) : NULL;
        return h != NULL && is_state(cell, h, cell->h);
    }
    cell->linear_before_reset = true;
    prt_value *sum = reset_of(cell, gate->scaled);
    return sum != NULL && prt_match_dim(sum, -1) == cell->hidden &&
        prt_cell_read_gate(cell, (prt_cell_columns){ sum, 0 }, reset) && reset->x.matrix == NULL &&
        reset->h.matrix != NULL && prt_loop_state(cell->loop, reset->h_of) == cell->h &&
        reset->peephole == NULL && reset->scaled == NULL;
}

/* Reads the gates of z and g. */
static bool read_update(prt_cell *cell, prt_value *z, prt_value *g)
{
    prt_cell_columns x;
    cell->linear_before_reset = false;
    return activation(cell, z, &cell->functions[0], &x) && read_gate(cell, x, &cell->gates[0]) &&
        cell->gates[0].peephole == NULL && read_candidate(cell, g);
}

/* Returns whether v is 1 - z. */
static bool is_complement(const prt_cell *cell, prt_value *v, prt_value *z)
{
    double one;
    const prt_op *sub = made_by(cell, v, PRT_OP_sub);
    return sub != NULL && prt_match_number(sub, 0, &one) && one == 1 &&
        prt_loop_rows(sub->in[1].value) == prt_loop_rows(z);
}

/* Matches z * h + (1 - z) * g, or g + z * (h - g). */
static bool match_gru(prt_cell *cell)
{
    const prt_op *sum = made_by(cell, cell->new_h, PRT_OP_add);
    for (uint32_t i = 0; sum != NULL && i < 2; i++) {
        const prt_op *kept = made_by(cell, sum->in[i].value, PRT_OP_mul);
        const prt_op *update = made_by(cell, other(sum, i), PRT_OP_mul);
        for (uint32_t k = 0; kept != NULL && k < 2; k++) {
            prt_value *z = kept->in[k].value;
            const prt_op *sub = made_by(cell, other(kept, k), PRT_OP_sub);
            if (sub != NULL && is_state(cell, sub->in[0].value, cell->h) &&
                prt_loop_rows(sub->in[1].value) == prt_loop_rows(other(sum, i)) &&
                read_update(cell, z, other(sum, i)))
                return true;
            if (update == NULL || !is_state(cell, other(kept, k), cell->h))
                continue;
            for (uint32_t j = 0; j < 2; j++)
                if (is_complement(cell, update->in[j].value, z) &&
                    read_update(cell, z, other(update, j)))
                    return true;
        }
    }
    return false;
}

/* ---- RNN */

static bool match_rnn(prt_cell *cell)
{
    prt_cell_columns x;
    return activation(cell, cell->new_h, &cell->functions[0], &x) &&
        read_gate(cell, x, &cell->gates[0]) && cell->gates[0].peephole == NULL;
}

bool prt_cell_match(const prt_loop *loop, uint32_t h, prt_cell *out)
{
    static const struct {
        uint32_t op, gates, functions;
        bool (*match)(prt_cell *cell);
    } kinds[] = { { PRT_OP_lstm, 4, 3, match_lstm }, { PRT_OP_gru, 3, 2, match_gru },
        { PRT_OP_rnn, 1, 1, match_rnn } };
    const prt_value *state = loop->body->inputs.data[h + PRT_LOOP_FIRST];
    const prt_type *type = prt_match_ranked(state);
    const int64_t hidden = prt_match_dim(state, -1);
    if (type == NULL || type->rank != 2 || hidden <= 0)
        return false;
    for (size_t i = 0; i < PRT_COUNT_OF(kinds); i++) {
        *out = (prt_cell){ .loop = loop,
            .op = kinds[i].op,
            .h = h,
            .c = UINT32_MAX,
            .hidden = hidden,
            .n_gates = kinds[i].gates,
            .n_functions = kinds[i].functions };
        out->new_h = unmasked(out, h);
        if (out->new_h != NULL && prt_match_allows(kinds[i].op, type->dtype) && kinds[i].match(out))
            return true;
    }
    return false;
}
