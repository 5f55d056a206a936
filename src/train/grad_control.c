/* SPDX-License-Identifier: MIT */
/*
 * grad_control.c — gradients of If, Loop, Scan and Call.
 *
 * The gradient of If is an If whose branches compute the branch again and differentiate it. Loop
 * runs with two more kinds of outputs, the carried values at the start of each iteration and the
 * iteration numbers; a second Loop goes backwards over them. So the trip count need not be known.
 * Scan is rebuilt as a Loop, and the ops of Call's graph are copied to its place.
 */
#include "ir/extra.h"
#include "train/region.h"
#include "train/rule.h"

/* What a gradient that is built in a region needs to know. */
typedef struct body {
    prt_grad *g;
    const prt_graph *region;
    prt_value_list captured; /* values that need a gradient; others are read as they are */
    /* Of a loop: values of which an iteration reads only the element of its number, and these
     * elements, which are values of the region. */
    prt_value_list scanned, elements;
} body;

static prt_arena *arena_of(const prt_grad *g)
{
    return g->b->graph->module->arena;
}

static poprt_status fail(prt_grad *g)
{
    g->b->status = g->b->status != POPRT_OK ? g->b->status : POPRT_E_NOMEM;
    return g->b->status;
}

/* Appends the captured values of a region that need a gradient and are not in the list yet. */
static poprt_status add_wanted(const prt_grad *g, const prt_graph *region, prt_value_list *out)
{
    prt_value_list all = { 0 };
    PRT_TRY(prt_region_captures(region, arena_of(g), &all));
    for (size_t i = 0; i < all.count; i++) {
        bool listed = !prt_grad_wants(g, all.data[i]);
        for (size_t k = 0; k < out->count && !listed; k++)
            listed = out->data[k] == all.data[i];
        if (!listed && !PRT_VEC_PUSH(arena_of(g), out, all.data[i]))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* Copies the body's ops at `b`, reading the captured values through Identity, so that they are
 * values of the region and can be differentiated. `xs` gets the `n_in` inputs, then the captured
 * values; the elements of scanned values are there already. ret[i] becomes the copy of output i. */
static poprt_status copy_body(const body *c, prt_build *b, uint32_t n_in, prt_value *const *inputs,
    prt_value **xs, prt_value **ret)
{
    const prt_region_copy copy = { .n_given = (uint32_t)c->elements.count,
        .results = c->elements.data,
        .given = xs + n_in + c->captured.count,
        .region = c->region,
        .inputs = inputs,
        .n_replaced = (uint32_t)c->captured.count,
        .from = c->captured.data,
        .to = xs + n_in };
    for (uint32_t i = 0; i < n_in; i++)
        xs[i] = inputs[i];
    for (size_t i = 0; i < c->captured.count; i++)
        xs[n_in + i] = prt_build_unary(b, PRT_OP_identity, c->captured.data[i]);
    return prt_region_copy_ops(b, &copy, ret);
}

static bool is_float(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && prt_dtype_is_float(v->type->dtype);
}

static prt_value *zeros_like(prt_build *b, prt_value *v)
{
    if (b->status != POPRT_OK)
        return NULL;
    prt_value *shape = prt_type_is_static(v->type)
        ? prt_build_i64s(b, (uint32_t)v->type->rank, v->type->dims)
        : prt_build_unary(b, PRT_OP_shape, v);
    return prt_build_binary(b, PRT_OP_expand, prt_build_scalar(b, v->type->dtype, 0.0), shape);
}

/* Differentiates the values `ys` that have a gradient in `dys`. */
static poprt_status differentiate(prt_build *b, uint32_t n_y, prt_value *const *ys,
    prt_value *const *dys, uint32_t n_x, prt_value *const *xs, prt_value **dxs)
{
    prt_value **y = PRT_NEW_N(b->graph->module->arena, prt_value *, 2 * (size_t)n_y);
    uint32_t n = 0;
    PRT_TRY(prt_build_status(b));
    if (y == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n_y; i++)
        if (dys[i] != NULL && is_float(ys[i]) && ys[i]->graph == b->graph) {
            y[n] = ys[i];
            y[n_y + n++] = dys[i];
        }
    const prt_derivative d = { .n_y = n,
        .ys = y,
        .dys = y + n_y,
        .n_x = n_x,
        .xs = xs,
        .dxs = dxs };
    return prt_derivative_build(b, &d, NULL);
}

/* ---- If */

/* Fills a branch with the gradients of the captured values. */
static poprt_status fill_branch(const body *c, prt_graph *to)
{
    const prt_grad *g = c->g;
    const uint32_t n = (uint32_t)c->captured.count, n_out = g->op->n_out;
    prt_build b = prt_build_at_end(to);
    prt_value **x = PRT_NEW_N(arena_of(g), prt_value *, n);
    prt_value **dx = PRT_NEW_N(arena_of(g), prt_value *, n);
    prt_value **ret = PRT_NEW_N(arena_of(g), prt_value *, n_out);
    if (x == NULL || dx == NULL || ret == NULL)
        return POPRT_E_NOMEM;
    b.origin = g->op->origin;
    PRT_TRY(copy_body(c, &b, 0, NULL, x, ret));
    PRT_TRY(differentiate(&b, n_out, ret, g->out, n, x, dx));
    for (uint32_t i = 0; i < n; i++)
        if (dx[i] == NULL)
            dx[i] = zeros_like(&b, x[i]);
    PRT_TRY(prt_build_status(&b));
    return prt_region_return(to, n, dx);
}

poprt_status prt_grad_if(prt_grad *g)
{
    const prt_if_attrs *a = g->op->attrs;
    const uint32_t branches[2] = { a->then_branch, a->else_branch };
    prt_if_attrs attrs = PRT_ATTRS_OF(if);
    body c = { .g = g };
    for (uint32_t i = 0; i < 2; i++)
        PRT_TRY(add_wanted(g, g->op->regions[branches[i]], &c.captured));
    const uint32_t n = (uint32_t)c.captured.count;
    prt_value *condition = prt_grad_x(g, 0);
    if (n == 0)
        return POPRT_OK;
    PRT_ATTR_SET(attrs, if, then_branch, 0);
    PRT_ATTR_SET(attrs, if, else_branch, 1);
    prt_op *op = prt_region_add_op(g->b, PRT_OP_if, 1, &condition, n, 2);
    if (op == NULL || (op->attrs = prt_attrs_clone(op->def, arena_of(g), &attrs)) == NULL)
        return fail(g);
    for (uint32_t i = 0; i < 2; i++) {
        c.region = g->op->regions[branches[i]];
        PRT_TRY(fill_branch(&c, op->regions[i]));
    }
    PRT_TRY(prt_ir_infer_new_op(op));
    for (uint32_t i = 0; i < n; i++)
        PRT_TRY(prt_grad_flow(g, c.captured.data[i], &op->out[i]));
    return POPRT_OK;
}

/* Elements along axis 0 in the opposite order. */
static prt_value *reversed(prt_grad *g, prt_value *v)
{
    return prt_grad_slice(g, v, 0, -1, INT64_MIN, -1);
}

/* ---- Loop */

/* Inputs of a body: iteration, condition, carried values. Outputs: condition, carried values,
 * collected values. */
typedef struct loop {
    body c;
    uint32_t carried, collected;
    prt_value **stack; /* carried values at the start of each iteration */
    prt_value *trips;  /* number of iterations */
} loop;

/* Replaces the op by an equal loop with the carried values and the iteration number of each
 * iteration as further outputs. */
static poprt_status keep_states(loop *l)
{
    prt_grad *g = l->c.g;
    prt_op *op = g->op;
    const prt_graph *region = l->c.region;
    const uint32_t n_in = (uint32_t)region->inputs.count, n_ret = region->ret->n_in;
    prt_build outside = prt_build_before(op);
    prt_value **in = PRT_NEW_N(arena_of(g), prt_value *, (size_t)op->n_in + n_in);
    prt_value **ret = PRT_NEW_N(arena_of(g), prt_value *, (size_t)n_ret + l->carried + 1);
    l->stack = PRT_NEW_N(arena_of(g), prt_value *, l->carried);
    if (in == NULL || ret == NULL || l->stack == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = prt_op_input(op, i);
    prt_op *kept = prt_region_add_loop(&outside, op->n_in, in, op->n_out + l->carried + 1);
    if (kept == NULL)
        return POPRT_E_NOMEM;
    prt_graph *to = kept->regions[0];
    in += op->n_in;
    for (uint32_t i = 0; i < n_in; i++)
        if ((in[i] = prt_graph_add_input(to, PRT_STR(""), region->inputs.data[i]->type)) == NULL)
            return POPRT_E_NOMEM;
    prt_build inside = prt_build_at_end(to);
    const prt_region_copy copy = { .region = region, .inputs = in };
    PRT_TRY(prt_region_copy_ops(&inside, &copy, ret));
    for (uint32_t i = 0; i < l->carried; i++)
        ret[n_ret + i] = in[2 + i];
    ret[n_ret + l->carried] = in[0];
    PRT_TRY(prt_region_return(to, n_ret + l->carried + 1, ret));
    PRT_TRY(prt_ir_infer_new_op(kept));
    for (uint32_t i = 0; i < l->carried; i++)
        l->stack[i] = &kept->out[op->n_out + i];
    for (uint32_t i = 0; i < op->n_out; i++)
        prt_build_replace_uses(&outside, &op->out[i], &kept->out[i]);
    l->trips = prt_build_unary(&outside, PRT_OP_size, &kept->out[op->n_out + l->carried]);
    return prt_build_status(&outside);
}

/* Element `at` along axis 0. */
static prt_value *element(prt_build *b, prt_value *stack, prt_value *at)
{
    return prt_build_binary(b, PRT_OP_gather, stack, at);
}

/* Returns the element that an iteration reads of a captured value, if that is all it reads. */
static prt_value *only_element(const prt_graph *region, const prt_value *v)
{
    prt_value *found = NULL;
    prt_for_each_use (use, v) {
        const prt_op *op = use->user;
        if (!prt_region_contains(region, op->graph))
            continue;
        if (found != NULL || op->graph != region || !prt_op_is(op, PRT_OP_gather) ||
            ((const prt_gather_attrs *)op->attrs)->axis != 0 || use != &op->in[0] ||
            prt_op_input(op, 1) != region->inputs.data[0])
            return NULL;
        found = &op->out[0];
    }
    return found;
}

/* Sets the captured and the scanned values of the body. */
static poprt_status find_captures(body *c)
{
    prt_arena *arena = arena_of(c->g);
    prt_value_list all = { 0 };
    PRT_TRY(add_wanted(c->g, c->region, &all));
    for (size_t i = 0; i < all.count; i++) {
        prt_value *element = only_element(c->region, all.data[i]);
        if (!PRT_VEC_PUSH(arena, element != NULL ? &c->scanned : &c->captured, all.data[i]) ||
            (element != NULL && !PRT_VEC_PUSH(arena, &c->elements, element)))
            return POPRT_E_NOMEM;
    }
    return POPRT_OK;
}

/* The float carried values come first among the carried values of the loop that goes backwards,
 * then the captured values. Returns the number of the former, and their numbers in the forward
 * loop. */
static uint32_t float_states(const loop *l, uint32_t *which)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->carried; i++)
        if (is_float(prt_op_input(l->c.g->op, 2 + i)))
            which[n++] = i;
    return n;
}

/* Sets the inputs of the copied body for iteration `at`: iteration, condition, kept states. */
static poprt_status body_inputs(const loop *l, prt_build *b, prt_value *at, prt_value **inputs)
{
    static const uint8_t yes = 1;
    inputs[0] = at;
    inputs[1] = prt_build_tensor(b, PRT_DTYPE_bool, 0, NULL, &yes);
    for (uint32_t i = 0; i < l->carried; i++) {
        inputs[2 + i] = element(b, l->stack[i], at);
        PRT_TRY(prt_build_status(b));
    }
    return POPRT_OK;
}

/* Fills the body of the loop that goes backwards. `which` are the n float states. */
static poprt_status fill_backward(const loop *l, prt_graph *to, uint32_t n, const uint32_t *which)
{
    const prt_grad *g = l->c.g;
    const uint32_t n_in = 2 + l->carried, captured = (uint32_t)l->c.captured.count;
    const uint32_t scanned = (uint32_t)l->c.scanned.count;
    const uint32_t n_ret = l->c.region->ret->n_in, n_x = n + captured + scanned;
    prt_build b = prt_build_at_end(to);
    prt_value **inputs = PRT_NEW_N(arena_of(g), prt_value *, n_in + (size_t)n_in + n_x);
    prt_value **ret = PRT_NEW_N(arena_of(g), prt_value *, 2 * (size_t)n_ret);
    prt_value **x = PRT_NEW_N(arena_of(g), prt_value *, 2 * (size_t)n_x);
    prt_value **next = PRT_NEW_N(arena_of(g), prt_value *, 1 + (size_t)n_x);
    if (inputs == NULL || ret == NULL || x == NULL || next == NULL)
        return POPRT_E_NOMEM;
    prt_value **dys = ret + n_ret, **dxs = x + n_x, **body_x = inputs + n_in;
    b.origin = g->op->origin;
    prt_value *last = prt_build_binary(&b, PRT_OP_sub, l->trips, prt_build_i64(&b, 1));
    prt_value *at = prt_build_binary(&b, PRT_OP_sub, last, to->inputs.data[0]);
    PRT_TRY(body_inputs(l, &b, at, inputs));
    for (uint32_t i = 0; i < scanned; i++)
        body_x[n_in + captured + i] = element(&b, l->c.scanned.data[i], at);
    PRT_TRY(copy_body(&l->c, &b, n_in, inputs, body_x, ret));
    for (uint32_t i = 0; i < n; i++) {
        x[i] = inputs[2 + which[i]];
        dys[1 + which[i]] = to->inputs.data[2 + i];
    }
    for (uint32_t i = 0; i < captured + scanned; i++)
        x[n + i] = body_x[n_in + i];
    for (uint32_t i = 0; i < l->collected; i++)
        if (g->out[l->carried + i] != NULL)
            dys[1 + l->carried + i] = element(&b, g->out[l->carried + i], at);
    PRT_TRY(differentiate(&b, n_ret, ret, dys, n_x, x, dxs));
    next[0] = to->inputs.data[1];
    for (uint32_t i = 0; i < n_x; i++) {
        if (i >= n && i < n + captured)
            next[1 + i] = dxs[i] != NULL
                ? prt_build_binary(&b, PRT_OP_add, to->inputs.data[2 + i], dxs[i])
                : to->inputs.data[2 + i];
        else
            next[1 + i] = dxs[i] != NULL ? dxs[i] : zeros_like(&b, x[i]);
    }
    PRT_TRY(prt_build_status(&b));
    return prt_region_return(to, 1 + n_x, next);
}

/* The gradient of a scanned value from those of its elements, which the loop has collected from the
 * last to the first. Elements that no iteration has read get zeros. */
static prt_value *collected_gradient(prt_grad *g, prt_value *of, prt_value *stack)
{
    int64_t zeros[2 * PRT_MAX_RANK] = { 0 };
    const int32_t rank = prt_grad_rank(of);
    prt_value *dx = reversed(g, stack);
    if (g->b->status != POPRT_OK || dx->type == of->type || rank < 1)
        return dx;
    prt_value *parts[3] = { prt_build_i64s(g->b, (uint32_t)rank, zeros),
        prt_grad_sub(g, prt_grad_dim(g, of, 0), prt_grad_dim(g, dx, 0)),
        prt_build_i64s(g->b, (uint32_t)rank - 1, zeros) };
    return prt_build_binary(g->b, PRT_OP_pad, dx,
        prt_grad_concat_values(g, 0, rank > 1 ? 3 : 2, parts));
}

static poprt_status go_back(const loop *l)
{
    prt_grad *g = l->c.g;
    const uint32_t captured = (uint32_t)l->c.captured.count;
    const uint32_t scanned = (uint32_t)l->c.scanned.count;
    uint32_t *which = PRT_NEW_N(arena_of(g), uint32_t, l->carried);
    if (which == NULL)
        return POPRT_E_NOMEM;
    const uint32_t n = float_states(l, which), n_x = n + captured;
    prt_value **in = PRT_NEW_N(arena_of(g), prt_value *, 2 + (size_t)n_x);
    if (in == NULL)
        return POPRT_E_NOMEM;
    in[0] = l->trips;
    for (uint32_t i = 0; i < n_x; i++) {
        prt_value *of = i < n ? &g->op->out[which[i]] : l->c.captured.data[i - n];
        in[2 + i] = i < n && g->out[which[i]] != NULL ? g->out[which[i]] : zeros_like(g->b, of);
    }
    prt_op *op = prt_region_add_loop(g->b, 2 + n_x, in, n_x + scanned);
    if (op == NULL)
        return fail(g);
    PRT_TRY(prt_region_add_loop_inputs(op));
    PRT_TRY(fill_backward(l, op->regions[0], n, which));
    PRT_TRY(prt_ir_infer_new_op(op));
    for (uint32_t i = 0; i < n; i++)
        if (g->wanted[2 + which[i]])
            g->in[2 + which[i]] = &op->out[i];
    for (uint32_t i = 0; i < captured; i++)
        PRT_TRY(prt_grad_flow(g, l->c.captured.data[i], &op->out[n + i]));
    for (uint32_t i = 0; i < scanned; i++)
        PRT_TRY(prt_grad_flow(g, l->c.scanned.data[i],
            collected_gradient(g, l->c.scanned.data[i], &op->out[n_x + i])));
    return POPRT_OK;
}

poprt_status prt_grad_loop(prt_grad *g)
{
    const prt_loop_attrs *a = g->op->attrs;
    loop l = { .c = { .g = g, .region = g->op->regions[a->body] },
        .carried = g->op->n_in > 2 ? g->op->n_in - 2 : 0 };
    l.collected = g->op->n_out - l.carried;
    for (uint32_t i = 0; i < l.carried; i++)
        if (prt_op_input(g->op, 2 + i) == NULL ||
            !prt_type_is_tensor(prt_op_input(g->op, 2 + i)->type))
            return prt_grad_refuse(g, "the loop carries a value that is not a tensor");
    PRT_TRY(find_captures(&l.c));
    PRT_TRY(keep_states(&l));
    return go_back(&l);
}

/* ---- Scan */

static int64_t at_list(prt_i64s list, uint32_t i, int64_t rank)
{
    const int64_t axis = i < list.count ? list.data[i] : 0;
    return axis < 0 ? axis + rank : axis;
}

/* Moves `axis` to the front, or back. */
static prt_value *move_axis(prt_grad *g, prt_value *v, int64_t axis, bool back)
{
    int64_t perm[PRT_MAX_RANK];
    const int32_t rank = prt_grad_rank(v);
    if (g->b->status != POPRT_OK || axis == 0)
        return v;
    for (int64_t i = 0; i < rank; i++)
        if (back)
            perm[i] = i < axis ? i + 1 : i == axis ? 0 : i;
        else
            perm[i] = i == 0 ? axis : i <= axis ? i - 1 : i;
    return prt_grad_permute(g, v, (uint32_t)rank, perm);
}

/* Fills the body of the loop that stands for a Scan: its inputs are iteration, condition and
 * states; it reads the scanned values, whose axis is in front, itself. */
static poprt_status fill_scan(const prt_grad *g, const prt_graph *region, prt_graph *to,
    uint32_t n_states, uint32_t n_scanned, prt_value *const *scanned)
{
    prt_build b = prt_build_at_end(to);
    prt_value **in = PRT_NEW_N(arena_of(g), prt_value *, (size_t)n_states + n_scanned);
    prt_value **ret = PRT_NEW_N(arena_of(g), prt_value *, 1 + (size_t)region->ret->n_in);
    if (in == NULL || ret == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < n_states; i++)
        in[i] = to->inputs.data[2 + i];
    for (uint32_t i = 0; i < n_scanned; i++)
        in[n_states + i] = element(&b, scanned[i], to->inputs.data[0]);
    const prt_region_copy copy = { .region = region, .inputs = in };
    PRT_TRY(prt_region_copy_ops(&b, &copy, ret + 1));
    ret[0] = to->inputs.data[1];
    return prt_region_return(to, 1 + region->ret->n_in, ret);
}

/* The scanned inputs with their axis in front, in the order of the iterations. */
static prt_value **scanned_inputs(prt_grad *g, uint32_t n_states, uint32_t n)
{
    const prt_scan_attrs *a = g->op->attrs;
    prt_value **scanned = PRT_NEW_N(arena_of(g), prt_value *, n);
    for (uint32_t i = 0; scanned != NULL && i < n; i++) {
        prt_value *x = prt_grad_x(g, n_states + i);
        const int32_t rank = prt_grad_rank(x);
        if (rank < 1) {
            (void)prt_grad_refuse(g, "needs scanned inputs of known rank");
            return NULL;
        }
        x = move_axis(g, x, at_list(a->scan_input_axes, i, rank), false);
        scanned[i] = at_list(a->scan_input_directions, i, 0) != 0 ? reversed(g, x) : x;
    }
    return scanned;
}

poprt_status prt_grad_scan(prt_grad *g)
{
    const prt_scan_attrs *a = g->op->attrs;
    const prt_graph *region = g->op->regions[a->body];
    const uint32_t n = (uint32_t)a->num_scan_inputs, n_states = g->op->n_in - n;
    prt_value **in = PRT_NEW_N(arena_of(g), prt_value *, 2 + (size_t)n_states);
    prt_value **ys = PRT_NEW_N(arena_of(g), prt_value *, g->op->n_out);
    prt_value **scanned = scanned_inputs(g, n_states, n);
    if (in == NULL || ys == NULL)
        return POPRT_E_NOMEM;
    if (scanned == NULL)
        return POPRT_E_UNSUPPORTED;
    prt_shape_attrs first = PRT_ATTRS_OF(shape);
    static const int64_t zero[1] = { 0 };
    PRT_ATTR_SET(first, shape, start, 0);
    PRT_ATTR_SET(first, shape, end, 1);
    in[0] = prt_build_binary(g->b, PRT_OP_squeeze,
        prt_build_op(g->b, PRT_OP_shape, &first, 1, &scanned[0]), prt_build_i64s(g->b, 1, zero));
    for (uint32_t i = 0; i < n_states; i++)
        in[2 + i] = prt_grad_x(g, i);
    prt_op *op = prt_region_add_loop(g->b, 2 + n_states, in, g->op->n_out);
    if (op == NULL)
        return fail(g);
    PRT_TRY(prt_region_add_loop_inputs(op));
    PRT_TRY(fill_scan(g, region, op->regions[0], n_states, n, scanned));
    PRT_TRY(prt_ir_infer_new_op(op));
    for (uint32_t i = 0; i < g->op->n_out; i++) {
        ys[i] = &op->out[i];
        if (i < n_states || g->out[i] == NULL)
            continue;
        if (at_list(a->scan_output_directions, i - n_states, 0) != 0)
            ys[i] = reversed(g, ys[i]);
        ys[i] = move_axis(g, ys[i],
            at_list(a->scan_output_axes, i - n_states, prt_grad_rank(ys[i])), true);
    }
    return prt_grad_by_outputs(g, ys);
}
