/* SPDX-License-Identifier: MIT */
/* group.c — SgdUpdateGroup and its relatives: the updates of several weights as one node. */
#include "op/training/update.h"

/* The attributes of a group are those of its update and `inputs`, which comes last. */
#define CHECK_PREFIX(update, last)                                                                 \
    _Static_assert(offsetof(prt_##update##_attrs, last) ==                                         \
                offsetof(prt_##update##_group_attrs, last) &&                                      \
            sizeof(prt_##update##_attrs) == offsetof(prt_##update##_group_attrs, inputs),          \
        "attributes of " #update)
CHECK_PREFIX(sgd_update, replicas);
CHECK_PREFIX(adam_update, weight_decay_mode);
CHECK_PREFIX(adaptive_update, tf_variant);

static const struct {
    uint32_t update, group;
} pairs[] = { { PRT_OP_sgd_update, PRT_OP_sgd_update_group },
    { PRT_OP_adam_update, PRT_OP_adam_update_group },
    { PRT_OP_adaptive_update, PRT_OP_adaptive_update_group } };

uint32_t prt_update_of_group(uint32_t op)
{
    for (size_t i = 0; i < PRT_COUNT_OF(pairs); i++)
        if (pairs[i].group == op)
            return pairs[i].update;
    return PRT_OP_NONE;
}

uint32_t prt_group_of_update(uint32_t op)
{
    for (size_t i = 0; i < PRT_COUNT_OF(pairs); i++)
        if (pairs[i].update == op)
            return pairs[i].group;
    return PRT_OP_NONE;
}

int64_t prt_update_group_mask(const void *attrs, uint32_t op)
{
    const prt_op_def *def = prt_op_of(op);
    const prt_attr_def *row = &def->attrs[prt_op_attr(def, PRT_STR("inputs"))];
    return *(const int64_t *)(const void *)((const char *)attrs + row->offset);
}

bool prt_update_group_layout(uint32_t op, int64_t mask, uint32_t members, prt_update_group *out)
{
    const prt_op_def *def = prt_op_of(op);
    prt_update_group g = { .op = op, .members = members };
    if (mask <= 0 || (uint64_t)mask >> def->n_in != 0)
        return false;
    for (uint32_t i = 0; i < def->n_in; i++) {
        if ((mask >> i & 1) == 0)
            continue;
        g.slots[g.inputs++] = i;
        g.outputs += i < def->n_out;
    }
    *out = g;
    return g.outputs != 0 && members != 0;
}

bool prt_update_group_read(const prt_op_def *def, const void *attrs, uint32_t n_in, uint32_t n_out,
    prt_update_group *out)
{
    const uint32_t op = prt_update_of_group(def->id);
    const int64_t mask = prt_update_group_mask(attrs, def->id);
    if (!prt_update_group_layout(op, mask, 1, out))
        return false;
    out->members = n_in / out->inputs;
    return out->members != 0 && n_in == out->members * out->inputs &&
        n_out == out->members * out->outputs;
}

/* ---- types */

/* Infers the outputs of one member, and writes them to those of the group. */
static poprt_status infer_member(prt_infer *c, const prt_update_group *g, uint32_t member)
{
    const prt_op_def *def = prt_op_of(g->op);
    prt_shape *in = PRT_NEW_N(c->scratch, prt_shape, (size_t)def->n_in + def->n_out);
    const prt_tensor *value[PRT_UPDATE_INPUTS] = { NULL };
    prt_content content[2 * PRT_UPDATE_INPUTS] = { { 0, NULL } };
    if (in == NULL)
        return POPRT_E_NOMEM;
    prt_shape *out = in + def->n_in;
    prt_infer sub = *c;
    sub.def = def;
    sub.n_in = def->n_in;
    sub.n_out = def->n_out;
    sub.in = in;
    sub.out = out;
    sub.value = value;
    sub.content = content;
    sub.out_content = content + PRT_UPDATE_INPUTS;
    for (uint32_t i = 0; i < def->n_in; i++)
        in[i] = (prt_shape){ .kind = PRT_VALUE_ABSENT };
    for (uint32_t i = 0; i < def->n_out; i++)
        out[i] = (prt_shape){ .kind = PRT_VALUE_ABSENT };
    for (uint32_t i = 0; i < g->inputs; i++) {
        const uint32_t from = prt_update_group_argument(g, member, i);
        in[g->slots[i]] = c->in[from];
        value[g->slots[i]] = c->value[from];
        if (i < g->outputs && prt_infer_wants(c, from))
            out[g->slots[i]].kind = PRT_VALUE_UNKNOWN;
    }
    PRT_TRY(prt_op_infer(&sub));
    for (uint32_t i = 0; i < g->outputs; i++)
        c->out[prt_update_group_argument(g, member, i)] = out[g->slots[i]];
    return POPRT_OK;
}

static poprt_status infer(prt_infer *c)
{
    prt_update_group g;
    if (!prt_update_group_read(c->def, c->attrs, c->n_in, c->n_out, &g))
        return prt_infer_fail(c, POPRT_E_ARG,
            "has %u inputs and %u outputs, and inputs is %lld; these do not make whole members",
            c->n_in, c->n_out, (long long)prt_update_group_mask(c->attrs, c->def->id));
    for (uint32_t m = 0; m < g.members; m++)
        PRT_TRY(infer_member(c, &g, m));
    return POPRT_OK;
}

/* ---- values */

void prt_update_member_of(const prt_eval *c, const prt_update_group *g, uint32_t member,
    prt_update_member *out)
{
    *out = (prt_update_member){ .eval = *c };
    out->eval.def = prt_op_of(g->op);
    out->eval.n_in = out->eval.def->n_in;
    out->eval.n_out = out->eval.def->n_out;
    out->eval.in = out->in;
    out->eval.out = out->out;
    for (uint32_t i = 0; i < g->inputs; i++) {
        out->in[g->slots[i]] = c->in[prt_update_group_argument(g, member, i)];
        if (i < g->outputs)
            out->out[g->slots[i]] = c->out[prt_update_group_argument(g, member, i)];
    }
}

static poprt_status eval(prt_eval *c)
{
    prt_update_group g;
    if (!prt_update_group_read(c->def, c->attrs, c->n_in, c->n_out, &g))
        return prt_eval_fail(c, POPRT_E_INTERNAL, "the members are not whole");
    for (uint32_t m = 0; m < g.members; m++) {
        prt_update_member member;
        prt_update_member_of(c, &g, m, &member);
        PRT_TRY(prt_op_eval(&member.eval));
    }
    return POPRT_OK;
}

const prt_op_hooks prt_op_sgd_update_group = { .infer = infer, .eval = eval };
const prt_op_hooks prt_op_adam_update_group = { .infer = infer, .eval = eval };
const prt_op_hooks prt_op_adaptive_update_group = { .infer = infer, .eval = eval };
