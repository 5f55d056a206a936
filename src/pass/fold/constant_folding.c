/* SPDX-License-Identifier: MIT */
/*
 * constant_folding.c — constant_folding: runs operators with constant inputs by their reference
 * kernels and replaces them by constants; also replaces outputs whose integers follow from shapes.
 *
 * One walk in order is enough, because a folded op makes its readers foldable. Outputs of the graph
 * stay computed, so that they keep their producers. An operator that fails on its constants stays
 * too, since a run may never reach it. Bytes, steps and time are bounded; see pass.h and work.h.
 *
 * The option max_tensor_size bounds the growth of the file (-1: no bound). A larger tensor is made
 * only if it replaces constants of at least its size. A constant above KEPT bytes is not stored a
 * second time or in a wider type: the pass does not make a transposed copy of an embedding that
 * other operators read, nor a float32 copy of int8 weights.
 */
#define _POSIX_C_SOURCE 200809L

#include "base/clock.h"
#include "ir/evaluate.h"
#include "pass/fold/work.h"
#include "pass/engine/pass.h"

/* Bound on the steps of all operators folded in one run: a few seconds. */
static const uint64_t most_work = (uint64_t)1 << 33;

/* Constants above this size in bytes are not stored twice. */
enum { KEPT = 16 << 10 };

enum { MAX_DEPTH = 256, SCRATCH_FACTOR = 4, SCRATCH_MORE = 1 << 20 };

/* A new constant, and the name that it gets if it is still used after the walk. */
typedef struct made {
    prt_value *value;
    prt_str name;
} made;

typedef struct folder {
    prt_pass *p;
    prt_arena *scratch; /* for one op; created anew for each */
    uint64_t bytes_left, work_left;
    uint64_t start_ns;
    int64_t max_tensor; /* in bytes; -1: no limit */
    bool shapes_only;
    bool shared;    /* constants with other readers are folded too */
    bool quantized; /* DequantizeLinear is folded too */
    bool changed;
    PRT_VEC(made) made;
} folder;

static bool is_wanted(const prt_value *v)
{
    return v->uses != NULL;
}

static bool has_output_of_graph(const prt_op *op)
{
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_value_is_output(&op->out[i]))
            return true;
    return false;
}

/* Returns the bytes of the constants that become unused when the op is folded. Sets `large` if one
 * of its inputs exceeds KEPT. */
static uint64_t freed_by(const prt_op *op, bool *large)
{
    uint64_t freed = 0;
    *large = false;
    for (uint32_t i = 0; i < op->n_in; i++) {
        const prt_value *v = op->in[i].value;
        bool repeated = false;
        for (uint32_t k = 0; k < i; k++)
            repeated = repeated || op->in[k].value == v;
        if (v == NULL || v->constant == NULL || repeated)
            continue;
        *large = *large || v->constant->size > KEPT;
        freed += prt_value_is_read_by(v, op) ? v->constant->size : 0;
    }
    return freed;
}

/* Returns whether the op may be replaced by an output of `size` bytes. */
static bool fits(const folder *f, const prt_op *op, uint64_t size)
{
    bool large;
    if (size > f->bytes_left)
        return false;
    if (f->max_tensor < 0 || (size <= KEPT && size <= (uint64_t)f->max_tensor))
        return true;
    const uint64_t freed = freed_by(op, &large);
    if (size <= freed)
        return true;
    return size <= (uint64_t)f->max_tensor && (!large || size - freed <= KEPT);
}

/* Returns whether all inputs are constants, and no output is known to be too large. */
static bool is_foldable(const folder *f, const prt_op *op)
{
    if (!prt_op_is_evaluable(op) || has_output_of_graph(op) ||
        (!f->quantized && prt_op_is(op, PRT_OP_dequantize_linear)))
        return false;
    bool any_used = false;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL &&
            (!prt_value_is_fixed(op->in[i].value) ||
                (!f->shared && !prt_value_is_read_by(op->in[i].value, op))))
            return false;
    for (uint32_t i = 0; i < op->n_out; i++) {
        size_t size;
        if (!is_wanted(&op->out[i]))
            continue;
        any_used = true;
        if (prt_type_size(op->out[i].type, &size) && !fits(f, op, size))
            return false;
    }
    return any_used;
}

/* Records the weights that the result of an operator holds, if it only moves its inputs. */
static poprt_status hold_inputs(folder *f, const prt_op *op, prt_value *constant)
{
    prt_value **in = PRT_NEW_N(f->p->arena, prt_value *, op->n_in);
    if (in == NULL)
        return POPRT_E_NOMEM;
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = op->in[i].value;
    return prt_value_hold_moved(constant, op->def->id, op->attrs, op->n_in, in);
}

/* Replaces an output of `op` by a constant; NULL: by integers that follow from shapes. */
static poprt_status replace_by_constant(folder *f, const prt_op *op, prt_value *v,
    const prt_tensor *t)
{
    prt_value *constant = prt_graph_add_tensor(v->graph, t);
    if (constant == NULL)
        return POPRT_E_NOMEM;
    const size_t size = constant->constant->size;
    constant->content = v->content;
    if (op != NULL)
        PRT_TRY(hold_inputs(f, op, constant));
    prt_value_replace(v, constant);
    const made item = { constant, v->name };
    v->name = PRT_STR("");
    f->bytes_left -= size < f->bytes_left ? size : f->bytes_left;
    f->changed = true;
    return PRT_VEC_PUSH(f->p->arena, &f->made, item) ? POPRT_OK : POPRT_E_NOMEM;
}

static poprt_status fold_outputs(folder *f, prt_op *op, const prt_tensor *out)
{
    for (uint32_t i = 0; i < op->n_out; i++) {
        size_t size;
        if (!is_wanted(&op->out[i]))
            continue;
        if (out[i].kind != PRT_VALUE_TENSOR ||
            !prt_dtype_size(out[i].dtype, prt_tensor_count(&out[i]), &size) || !fits(f, op, size))
            return POPRT_OK;
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        if (is_wanted(&op->out[i]))
            PRT_TRY(replace_by_constant(f, op, &op->out[i], &out[i]));
    prt_op_erase(op);
    return POPRT_OK;
}

/* Creates the scratch arena of an op. Its limit covers the outputs and copies of the inputs, so
 * that no kernel can exhaust the memory. */
static poprt_status make_scratch(folder *f, const prt_op *op)
{
    uint64_t limit = f->bytes_left < SIZE_MAX / 16 ? f->bytes_left : SIZE_MAX / 16;
    if (f->max_tensor >= 0 && (uint64_t)f->max_tensor < limit)
        limit = (uint64_t)f->max_tensor;
    limit = limit * SCRATCH_FACTOR + SCRATCH_MORE;
    for (uint32_t i = 0; i < op->n_in; i++)
        if (op->in[i].value != NULL)
            limit += op->in[i].value->constant->size;
    prt_arena_release(f->scratch);
    f->scratch = NULL;
    return prt_arena_create(f->p->module->allocator, (size_t)limit, &f->scratch);
}

static poprt_status fold_op(folder *f, prt_op *op)
{
    const uint64_t work = prt_fold_work(op);
    if (work > f->work_left) {
        prt_pass_note(f->p, prt_op_label(op), "not folded: it would take too long");
        return POPRT_OK;
    }
    f->work_left -= work;
    PRT_TRY(make_scratch(f, op));
    prt_tensor *out = PRT_NEW_N(f->scratch, prt_tensor, op->n_out);
    if (out == NULL)
        return POPRT_E_NOMEM;
    const poprt_status status = prt_op_evaluate(op, false, f->scratch, out);
    if (status == POPRT_OK)
        return fold_outputs(f, op, out);
    if (status == POPRT_E_CANCELLED || status == POPRT_E_INTERNAL)
        return status;
    prt_pass_warn(f->p, prt_op_label(op), "not folded: %s", prt_error_last()->message);
    return POPRT_OK;
}

/* ---- integers that follow from shapes */

static bool known_content(const prt_value *v)
{
    uint64_t count;
    if (v->content == NULL || !is_wanted(v) || !prt_type_count(v->type, &count) ||
        count != v->content->count ||
        (v->type->dtype != PRT_DTYPE_i64 && v->type->dtype != PRT_DTYPE_i32))
        return false;
    for (uint32_t i = 0; i < v->content->count; i++)
        if (!prt_dim_is_number(v->content->values[i]))
            return false;
    return true;
}

static poprt_status fold_contents(folder *f, prt_op *op)
{
    bool read = false;
    if (!prt_op_is_evaluable(op))
        return POPRT_OK;
    for (uint32_t i = 0; i < op->n_out; i++) {
        prt_value *v = &op->out[i];
        prt_tensor t;
        int64_t data[PRT_CONTENT_MAX];
        read = read || is_wanted(v);
        if (!known_content(v) || prt_value_is_output(v) ||
            !prt_tensor_init(&t, v->type->dtype, (uint32_t)v->type->rank, v->type->dims, data) ||
            t.size > f->bytes_left)
            continue;
        for (uint32_t k = 0; k < v->content->count; k++)
            prt_store_i64(t.dtype, data, k, v->content->values[k]);
        PRT_TRY(replace_by_constant(f, NULL, v, &t));
    }
    for (uint32_t i = 0; i < op->n_out; i++)
        if (is_wanted(&op->out[i]))
            return POPRT_OK;
    if (read)
        prt_op_erase(op);
    return POPRT_OK;
}

/* ---- the walk */

static poprt_status check_budget(const folder *f, bool *more)
{
    const uint64_t limit = f->p->limits.fold_ns;
    *more = f->bytes_left != 0 && (limit == 0 || prt_clock_ns() - f->start_ns < limit);
    return prt_pass_check(f->p);
}

/* Infers an op again, since new constants make more shapes known. An op whose inference fails stays
 * unchanged. */
static poprt_status refresh(folder *f, prt_op *op)
{
    if (!f->changed || op->def == NULL)
        return POPRT_OK;
    const poprt_status status = prt_ir_infer_op(op);
    if (status == POPRT_E_NOMEM || status == POPRT_E_CANCELLED)
        return status;
    if (status != POPRT_OK && status != POPRT_E_UNSUPPORTED)
        prt_pass_warn(f->p, prt_op_label(op), "%s", prt_error_last()->message);
    return POPRT_OK;
}

static poprt_status fold_graph(folder *f, prt_graph *graph, uint32_t depth)
{
    if (depth > MAX_DEPTH)
        return prt_fail(POPRT_E_LIMIT, graph->name.data, "regions are nested too deeply");
    if (graph->contradictory)
        return POPRT_OK;
    for (prt_op *op = graph->first, *next; op != NULL; op = next) {
        bool more;
        next = op->next;
        PRT_TRY(check_budget(f, &more));
        if (!more)
            return POPRT_OK;
        PRT_TRY(refresh(f, op));
        for (uint32_t i = 0; i < op->n_regions; i++)
            PRT_TRY(fold_graph(f, op->regions[i], depth + 1));
        if (!f->shapes_only && is_foldable(f, op))
            PRT_TRY(fold_op(f, op));
        else
            PRT_TRY(fold_contents(f, op));
    }
    return POPRT_OK;
}

static poprt_status run_folder(folder *f, prt_graph *graph, bool *changed)
{
    f->bytes_left = f->p->limits.fold_bytes != 0 ? f->p->limits.fold_bytes : UINT64_MAX;
    f->work_left = f->p->limits.fold_steps != 0 ? f->p->limits.fold_steps : most_work;
    f->start_ns = prt_clock_ns();
    poprt_status status = fold_graph(f, graph, 0);
    prt_arena_release(f->scratch);
    /* Intermediate constants are unused by now; the others get their names. */
    for (size_t i = 0; i < f->made.count && status == POPRT_OK; i++)
        if (prt_value_used(f->made.data[i].value))
            status = prt_value_set_name(f->made.data[i].value, f->made.data[i].name);
    if (f->changed)
        (void)prt_graph_drop_constants(graph, true);
    *changed = *changed || f->changed;
    return status;
}

static poprt_status run(prt_pass *p, prt_graph *graph, bool *changed)
{
    folder f = { .p = p,
        .max_tensor = prt_pass_i64(p, "max_tensor_size"),
        .shared = prt_pass_bool(p, "fold_shared"),
        .quantized = prt_pass_bool(p, "fold_quantized") };
    return run_folder(&f, graph, changed);
}

static poprt_status run_trace(prt_pass *p, prt_graph *graph, bool *changed)
{
    folder f = { .p = p, .max_tensor = -1, .shapes_only = true, .shared = true, .quantized = true };
    return run_folder(&f, graph, changed);
}

const prt_pass_hooks prt_pass_constant_folding = { .run = run };
const prt_pass_hooks prt_pass_trace_folding = { .run = run_trace };
