/* SPDX-License-Identifier: MIT */
/* batch_pieces.c — a micro-batch as a Loop over its pieces. */
#include "train/batch_pieces.h"

#include "ir/build.h"
#include "train/region.h"

/* ---- dividing the batch */

static poprt_status find_samples(const prt_graph *g, prt_batch_pieces *p)
{
    for (size_t i = 0; i < g->inputs.count; i++) {
        const prt_value *x = g->inputs.data[i];
        if (!prt_type_is_tensor(x->type) || x->type->rank < 1)
            continue;
        p->samples = x->type->dims[0];
        if (!prt_dim_is_number(p->samples))
            return prt_fail(POPRT_E_SHAPE, x->name.data,
                "batch_serialization_factor needs a first dim that is a number; set it as "
                "dim.NAME");
        if (p->samples == 0 || p->samples % p->factor != 0)
            return prt_fail(POPRT_E_SHAPE, x->name.data,
                "the batch of %lld samples cannot be computed in %lld equal pieces",
                (long long)p->samples, (long long)p->factor);
        return POPRT_OK;
    }
    return prt_fail(POPRT_E_SHAPE, "batch_serialization_factor",
        "the model has no input with dims");
}

static prt_value *find_anchor(const prt_graph *g, prt_str name)
{
    for (uint32_t i = 0; i < g->output_names.count; i++)
        if (prt_str_equal(g->output_names.data[i], name))
            return g->ret->in[i].value;
    prt_value *v = prt_map_find(&g->module->names, name);
    return v != NULL && v->graph == g ? v : NULL;
}

static poprt_status check_anchor(prt_str name, const prt_value *v, prt_batch_state state)
{
    static const char prefix[] = "Gradient___";
    if (v == NULL && name.size > sizeof(prefix) - 1 &&
        memcmp(name.data, prefix, sizeof(prefix) - 1) == 0)
        return prt_fail(POPRT_E_UNSUPPORTED, name.data,
            "a gradient of one piece of the batch cannot be returned; set "
            "batch_serialization_factor to 0");
    if (v == NULL || prt_value_is_constant(v) || v->variable != NULL)
        return POPRT_OK;
    if (state.kind == PRT_BATCH_none || state.kind == PRT_BATCH_size)
        return prt_fail(POPRT_E_UNSUPPORTED, name.data,
            "does not depend on the samples of the batch, so that it cannot be returned with "
            "batch_serialization_factor");
    return prt_type_is_static(v->type)
        ? POPRT_OK
        : prt_fail(POPRT_E_SHAPE, name.data,
              "batch_serialization_factor needs the shapes of tensors that are returned");
}

static poprt_status note_anchors(const prt_graph *g, const prt_batch_state *states,
    prt_batch_pieces *p, prt_arena *arena)
{
    p->returned = PRT_NEW_N(arena, prt_batch_state, (size_t)p->n_anchors + 1);
    p->types = PRT_NEW_N(arena, const prt_type *, (size_t)p->n_anchors + 1);
    if (p->returned == NULL || p->types == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < p->n_anchors; i++) {
        const prt_value *v = find_anchor(g, p->anchors[i]);
        if (v != NULL)
            p->returned[i] = states[v->id];
        PRT_TRY(check_anchor(p->anchors[i], v, p->returned[i]));
        if (p->returned[i].kind != PRT_BATCH_none)
            p->types[i] = v->type;
    }
    return POPRT_OK;
}

/* Returns the type of a piece of a value with samples along `axis`. */
static const prt_type *piece_of(const prt_module *m, const prt_batch_pieces *p,
    const prt_type *type, int32_t axis)
{
    int64_t dims[PRT_MAX_RANK];
    memcpy(dims, type->dims, (size_t)type->rank * sizeof(int64_t));
    dims[axis] /= p->factor;
    return prt_type_tensor(m->types, type->dtype, type->rank, dims);
}

/* Divides the dim of samples in the constant shape of a Reshape or an Expand. */
static poprt_status divide_shape(prt_op *op, const prt_batch_pieces *p, int32_t axis)
{
    int64_t dims[PRT_MAX_RANK];
    uint32_t n = 0;
    if (!prt_value_is_fixed(op->in[1].value) || !prt_batch_ints(op, 1, dims, PRT_MAX_RANK, &n) ||
        (int32_t)n != op->out[0].type->rank || dims[axis] <= 1 || dims[axis] % p->factor != 0)
        return POPRT_OK;
    dims[axis] /= p->factor;
    prt_build b = prt_build_before(op);
    prt_value *shape = prt_build_i64s(&b, n, dims);
    PRT_TRY(prt_build_status(&b));
    prt_op_set_input(op, 1, shape);
    prt_op_touch(op);
    return POPRT_OK;
}

/* Checks that every value has the type that the rules of batch_axis.c say. */
static poprt_status check_types(const prt_graph *g, const prt_batch_pieces *p,
    const prt_batch_state *states, const prt_type *const *types)
{
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_out; i++) {
            const prt_value *v = &op->out[i];
            const prt_batch_state s = states[v->id];
            const prt_type *expected = types[v->id];
            if (s.kind == PRT_BATCH_size || !prt_type_is_tensor(expected) || expected->rank < 0)
                continue;
            if (s.kind == PRT_BATCH_samples)
                expected = piece_of(g->module, p, expected, s.axis);
            if (expected == NULL)
                return POPRT_E_NOMEM;
            if (v->type != expected)
                return prt_fail(POPRT_E_UNSUPPORTED, prt_op_label(op),
                    "%.*s has another shape for a piece of the batch than expected; set "
                    "batch_serialization_factor to 0",
                    PRT_STR_ARG(op->name));
        }
    return POPRT_OK;
}

static poprt_status divide(prt_graph *g, prt_batch_pieces *p, const prt_batch_state *states,
    prt_arena *arena)
{
    const prt_type **types = PRT_NEW_N(arena, const prt_type *, (size_t)g->n_values + 1);
    p->divided = PRT_NEW_N(arena, bool, g->inputs.count + 1);
    if (types == NULL || p->divided == NULL)
        return POPRT_E_NOMEM;
    prt_for_each_op (op, g)
        for (uint32_t i = 0; i < op->n_out; i++)
            types[op->out[i].id] = op->out[i].type;
    for (size_t i = 0; i < g->inputs.count; i++) {
        prt_value *x = g->inputs.data[i];
        p->divided[i] = states[x->id].kind == PRT_BATCH_samples;
        if (p->divided[i] && (x->type = piece_of(g->module, p, x->type, 0)) == NULL)
            return POPRT_E_NOMEM;
    }
    prt_for_each_op (op, g)
        if ((prt_op_is(op, PRT_OP_reshape) || prt_op_is(op, PRT_OP_expand)) &&
            states[op->out[0].id].kind == PRT_BATCH_samples)
            PRT_TRY(divide_shape(op, p, states[op->out[0].id].axis));
    const poprt_status status = prt_ir_infer(g);
    if (status == POPRT_E_NOMEM || status == POPRT_E_CANCELLED)
        return status;
    if (status != POPRT_OK)
        return prt_fail(POPRT_E_UNSUPPORTED, "batch_serialization_factor",
            "the shapes of the model do not allow pieces of %lld samples",
            (long long)(p->samples / p->factor));
    return check_types(g, p, states, types);
}

poprt_status prt_batch_split(prt_module *module, const prt_value *loss, prt_batch_pieces *pieces,
    prt_arena *arena)
{
    prt_batch_state *states;
    prt_graph *g = module->main;
    PRT_TRY(find_samples(g, pieces));
    PRT_TRY(prt_batch_find(g, pieces->samples, arena, &states));
    pieces->loss = states[loss->id];
    if (pieces->loss.kind != PRT_BATCH_mean && pieces->loss.kind != PRT_BATCH_sum)
        return prt_fail(POPRT_E_UNSUPPORTED, loss->name.data,
            "batch_serialization_factor needs a loss that is a mean or a sum over the samples of "
            "the batch");
    PRT_TRY(note_anchors(g, states, pieces, arena));
    return divide(g, pieces, states, arena);
}

/* ---- joining the pieces */

/* A variable that the Loop carries, and the op of the body that writes it. */
typedef struct carried {
    prt_ir_variable *variable;
    prt_op *op;
} carried;

typedef struct joiner {
    prt_module *m;
    prt_arena *arena;
    const prt_batch_pieces *p;
    prt_graph *body, *outer;
    uint32_t counts; /* the variable of automatic loss scaling */
    PRT_VEC(carried) carried;
    prt_value **collected; /* by anchor: values of the body; NULL: none */
    uint32_t n_collected;
    size_t n_inputs;             /* of the micro-batch */
    prt_value **pieces;          /* inputs of the body before it was one */
    prt_value **whole, **parted; /* those of the new main graph, and as [factor, samples, ...] */
} joiner;

static poprt_status find_carried(joiner *j)
{
    prt_for_each_op (op, j->body) {
        if (op->def == NULL || (op->def->traits & PRT_UPDATES) == 0 ||
            prt_op_input(op, 0) == NULL || op->in[0].value->variable == NULL)
            continue;
        const carried c = { j->m->variables.data[op->in[0].value->variable->index], op };
        if (!PRT_VEC_PUSH(j->arena, &j->carried, c))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

static poprt_status find_collected(joiner *j)
{
    j->collected = PRT_NEW_N(j->arena, prt_value *, (size_t)j->p->n_anchors + 1);
    if (j->collected == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < j->p->n_anchors; i++) {
        if (j->p->types[i] == NULL)
            continue;
        j->collected[i] = find_anchor(j->body, j->p->anchors[i]);
        PRT_ASSERT(j->collected[i] != NULL);
        j->n_collected++;
    }
    return POPRT_OK;
}

/* Adds the inputs of the micro-batch, with the names of those of the body, and their pieces. */
static poprt_status add_inputs(joiner *j, prt_build *b)
{
    const size_t n = j->n_inputs = j->body->inputs.count;
    int64_t dims[PRT_MAX_RANK + 1];
    j->pieces = j->body->inputs.data;
    j->whole = PRT_NEW_N(j->arena, prt_value *, n + 1);
    j->parted = PRT_NEW_N(j->arena, prt_value *, n + 1);
    if (j->whole == NULL || j->parted == NULL)
        return POPRT_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        prt_value *x = j->pieces[i];
        const prt_type *type = x->type;
        const prt_str name = x->name;
        if (j->p->divided[i]) {
            memcpy(dims, type->dims, (size_t)type->rank * sizeof(int64_t));
            dims[0] *= j->p->factor;
            type = prt_type_tensor(j->m->types, type->dtype, type->rank, dims);
        }
        x->name = PRT_STR("");
        j->whole[i] = type != NULL ? prt_graph_add_input(j->outer, name, type) : NULL;
        if (j->whole[i] == NULL)
            return POPRT_E_NOMEM;
        if (!j->p->divided[i])
            continue;
        if (type->rank == PRT_MAX_RANK || !prt_type_is_static(type))
            return prt_fail(POPRT_E_SHAPE, name.data,
                "batch_serialization_factor needs inputs with known dims, at most %d",
                PRT_MAX_RANK - 1);
        dims[0] = j->p->factor;
        memcpy(dims + 1, x->type->dims, (size_t)type->rank * sizeof(int64_t));
        j->parted[i] = prt_build_binary(b, PRT_OP_reshape, j->whole[i],
            prt_build_i64s(b, (uint32_t)type->rank + 1, dims));
        PRT_TRY(prt_build_status(b));
    }
    return POPRT_OK;
}

/* Lets the body read the variables of the new main graph. */
static poprt_status move_variables(joiner *j)
{
    prt_graph *body = j->body;
    for (size_t i = 0; i < body->variables.count; i++) {
        prt_value *old = body->variables.data[i];
        const prt_str name = old->name;
        old->name = PRT_STR("");
        prt_value *now = prt_graph_variable(j->outer, old->variable);
        if (now == NULL)
            return POPRT_E_NOMEM;
        if (name.size != 0)
            PRT_TRY(prt_value_set_name(now, name));
        prt_value_replace(old, now);
    }
    body->variables.count = 0;
    body->variable_values = prt_map_in(j->m->arena);
    return POPRT_OK;
}

/* Adds the Loop to the new main graph, with the old one as its body. */
static prt_op *add_loop(joiner *j, prt_build *b)
{
    const uint32_t n = (uint32_t)j->carried.count;
    prt_value **in = PRT_NEW_N(j->arena, prt_value *, (size_t)n + 2);
    if (in == NULL)
        return NULL;
    in[0] = prt_build_i64(b, j->p->factor);
    for (uint32_t i = 0; i < n; i++)
        in[2 + i] = prt_graph_variable(j->outer, j->carried.data[i].variable);
    prt_op *loop = prt_region_add_loop(b, n + 2, in, n + j->n_collected);
    if (loop == NULL)
        return NULL;
    loop->regions[0] = j->body;
    j->body->owner = loop;
    memset(&j->body->inputs, 0, sizeof(j->body->inputs));
    return prt_region_add_loop_inputs(loop) == POPRT_OK ? loop : NULL;
}

/* Lets the body read the piece of an input whose number is that of the iteration. */
static poprt_status read_pieces(const joiner *j, prt_op *first)
{
    prt_build b = prt_build_before(first);
    b.like = NULL;
    b.origin = PRT_STR("");
    for (size_t i = 0; i < j->n_inputs; i++) {
        prt_value *piece = j->p->divided[i]
            ? prt_build_binary(&b, PRT_OP_gather, j->parted[i], j->body->inputs.data[0])
            : j->whole[i];
        PRT_TRY(prt_build_status(&b));
        prt_value_replace(j->pieces[i], piece);
    }
    return POPRT_OK;
}

/* Makes the op of the body that writes a variable add to the carried value `sum`. Returns the sum
 * after the piece. */
static prt_value *carry(const joiner *j, const carried *c, prt_value *sum, poprt_status *status)
{
    prt_op *op = c->op;
    if (prt_op_is(op, PRT_OP_accumulate)) {
        prt_op_set_input(op, 0, sum);
        return &op->out[0];
    }
    PRT_ASSERT(prt_op_is(op, PRT_OP_assign));
    prt_value *next = op->in[1].value;
    if (c->variable->index == j->counts) { /* the sum of the variable and the counts of a piece */
        prt_op_set_input(next->def, 0, sum);
    } else {
        prt_build b = prt_build_before(op);
        c->variable->role = PRT_VARIABLE_accumulator;
        next = prt_build_binary(&b, PRT_OP_accumulate, sum, next);
        *status = prt_build_status(&b);
    }
    prt_op_erase(op);
    return next;
}

static poprt_status return_pieces(const joiner *j)
{
    prt_build b = prt_build_at_end(j->body);
    poprt_status status = POPRT_OK;
    uint32_t n = 1;
    prt_value **ret = PRT_NEW_N(j->arena, prt_value *, j->carried.count + j->n_collected + 1);
    if (ret == NULL)
        return POPRT_E_NOMEM;
    ret[0] = prt_build_scalar(&b, PRT_DTYPE_bool, 1.0);
    PRT_TRY(prt_build_status(&b));
    for (size_t i = 0; i < j->carried.count; i++) {
        ret[n++] = carry(j, &j->carried.data[i], j->body->inputs.data[2 + i], &status);
        PRT_TRY(status);
    }
    for (uint32_t i = 0; i < j->p->n_anchors; i++)
        if (j->collected[i] != NULL) {
            ret[n++] = j->collected[i];
            j->collected[i]->name = PRT_STR("");
        }
    return prt_region_return(j->body, n, ret);
}

/* Returns the whole tensor of collected pieces [factor, ...]. */
static prt_value *join_pieces(const joiner *j, prt_build *b, uint32_t anchor, prt_value *pieces)
{
    const prt_batch_state s = j->p->returned[anchor];
    const prt_type *type = j->p->types[anchor];
    const int64_t first = 0;
    if (s.kind == PRT_BATCH_mean) {
        prt_value *in[2] = { pieces, prt_build_i64s(b, 1, &first) };
        prt_reduce_mean_attrs a = PRT_ATTRS_OF(reduce_mean);
        PRT_ATTR_SET(a, reduce_mean, keepdims, 0);
        return prt_build_op(b, PRT_OP_reduce_mean, &a, 2, in);
    }
    if (s.kind == PRT_BATCH_sum) {
        prt_value *in[2] = { pieces, prt_build_i64s(b, 1, &first) };
        prt_reduce_sum_attrs a = PRT_ATTRS_OF(reduce_sum);
        PRT_ATTR_SET(a, reduce_sum, keepdims, 0);
        return prt_build_op(b, PRT_OP_reduce_sum, &a, 2, in);
    }
    if (s.axis != 0) {
        int64_t perm[PRT_MAX_RANK + 1];
        prt_transpose_attrs a = PRT_ATTRS_OF(transpose);
        for (int32_t i = 0; i <= type->rank; i++)
            perm[i] = i < s.axis ? i + 1 : i == s.axis ? 0 : i;
        PRT_ATTR_SET(a, transpose, perm, ((prt_i64s){ perm, (uint32_t)type->rank + 1 }));
        pieces = prt_build_op(b, PRT_OP_transpose, &a, 1, &pieces);
    }
    return prt_build_binary(b, PRT_OP_reshape, pieces,
        prt_build_i64s(b, (uint32_t)type->rank, type->dims));
}

static poprt_status finish(const joiner *j, prt_build *b, prt_op *loop)
{
    uint32_t n = 0, slot = (uint32_t)j->carried.count;
    prt_value **values = PRT_NEW_N(j->arena, prt_value *, (size_t)j->n_collected + 1);
    prt_str *names = PRT_NEW_N(j->m->arena, prt_str, (size_t)j->n_collected + 1);
    if (values == NULL || names == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < j->p->n_anchors; i++) {
        if (j->collected[i] == NULL)
            continue;
        values[n] = join_pieces(j, b, i, &loop->out[slot++]);
        names[n] = prt_module_str(j->m, j->p->anchors[i]);
        PRT_TRY(prt_build_status(b));
        PRT_TRY(prt_value_set_name(values[n], names[n]));
        n++;
    }
    for (uint32_t i = 0; i < j->carried.count; i++)
        (void)prt_build_binary(b, PRT_OP_assign, loop->in[2 + i].value, &loop->out[i]);
    PRT_TRY(prt_build_status(b));
    return prt_graph_set_outputs(j->outer, n, values, names);
}

poprt_status prt_batch_join(prt_module *module, const prt_batch_pieces *pieces, uint32_t counts,
    prt_arena *arena)
{
    joiner j = { .m = module,
        .arena = arena,
        .p = pieces,
        .body = module->main,
        .outer = prt_graph_create(module, NULL),
        .counts = counts };
    if (j.outer == NULL)
        return POPRT_E_NOMEM;
    j.outer->name = j.body->name;
    module->main = j.outer;
    prt_build b = prt_build_at_end(j.outer);
    prt_op *const first = j.body->first;
    PRT_TRY(find_carried(&j));
    PRT_TRY(find_collected(&j));
    PRT_TRY(add_inputs(&j, &b));
    PRT_TRY(move_variables(&j));
    prt_op *loop = add_loop(&j, &b);
    if (loop == NULL)
        return b.status != POPRT_OK ? b.status : POPRT_E_NOMEM;
    PRT_TRY(read_pieces(&j, first));
    PRT_TRY(return_pieces(&j));
    PRT_TRY(prt_ir_infer_new_op(loop));
    return finish(&j, &b, loop);
}
