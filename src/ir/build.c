/* SPDX-License-Identifier: MIT */
/* build.c — implementation of the sticky builder. */
#include "ir/build.h"

#include "ir/extra.h"
#include "ir/place.h"

prt_build prt_build_before(prt_op *op)
{
    return (prt_build){ .graph = op->graph,
        .before = op,
        .origin = op->origin,
        .like = op,
        .first = op->graph->n_ops,
        .status = POPRT_OK };
}

prt_build prt_build_at_end(prt_graph *graph)
{
    return (prt_build){ .graph = graph,
        .origin = PRT_STR(""),
        .first = graph->n_ops,
        .status = POPRT_OK };
}

poprt_status prt_build_status(const prt_build *b)
{
    return b->status;
}

prt_op *prt_build_op_n(prt_build *b, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in, uint32_t n_out)
{
    if (b->status != POPRT_OK)
        return NULL;
    const prt_op_def *def = prt_op_of(id);
    b->status = POPRT_E_NOMEM;
    prt_op *op = prt_graph_add_op(b->graph, b->before, def, n_in, n_out, 0);
    if (op == NULL)
        return NULL;
    op->origin = b->origin;
    if (attrs != NULL && (op->attrs = prt_attrs_clone(def, b->graph->module->arena, attrs)) == NULL)
        return NULL;
    for (uint32_t i = 0; i < n_in; i++)
        prt_op_set_input(op, i, in[i]);
    if (b->like != NULL && (b->status = prt_op_copy_marks(op, b->like)) != POPRT_OK)
        return NULL;
    b->status = prt_ir_infer_new_op(op);
    return b->status == POPRT_OK ? op : NULL;
}

prt_value *prt_build_op(prt_build *b, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in)
{
    prt_op *op = prt_build_op_n(b, id, attrs, n_in, in, 1);
    return op != NULL ? &op->out[0] : NULL;
}

prt_value *prt_build_unary(prt_build *b, uint32_t id, prt_value *x)
{
    prt_value *in[1] = { x };
    return prt_build_op(b, id, NULL, 1, in);
}

prt_value *prt_build_binary(prt_build *b, uint32_t id, prt_value *x, prt_value *y)
{
    prt_value *in[2] = { x, y };
    return prt_build_op(b, id, NULL, 2, in);
}

prt_value *prt_build_tensor(prt_build *b, int32_t dtype, uint32_t rank, const int64_t *dims,
    const void *data)
{
    if (b->status != POPRT_OK)
        return NULL;
    b->status = POPRT_E_NOMEM;
    prt_module *m = b->graph->module;
    const prt_type *type = prt_type_tensor(m->types, dtype, (int32_t)rank, dims);
    size_t size;
    prt_blob *blob = NULL;
    if (type == NULL || !prt_type_size(type, &size) ||
        prt_blob_create(m->allocator, size, &blob) != POPRT_OK)
        return NULL;
    if (size != 0)
        memcpy(prt_blob_bytes(blob), data, size);
    prt_value *v = prt_graph_add_constant(b->graph, PRT_STR(""), type, blob);
    if (v != NULL)
        b->status = POPRT_OK;
    return v;
}

prt_value *prt_build_i64s(prt_build *b, uint32_t count, const int64_t *values)
{
    const int64_t dim = count;
    return prt_build_tensor(b, PRT_DTYPE_i64, 1, &dim, values);
}

prt_value *prt_build_i64(prt_build *b, int64_t value)
{
    return prt_build_tensor(b, PRT_DTYPE_i64, 0, NULL, &value);
}

prt_value *prt_build_scalar(prt_build *b, int32_t dtype, double value)
{
    unsigned char bytes[16] = { 0 };
    if (prt_dtype_is_integer(dtype))
        prt_store_i64(dtype, bytes, 0, (int64_t)value);
    else
        prt_store_f64(dtype, bytes, 0, value);
    return prt_build_tensor(b, dtype, 0, NULL, bytes);
}

static bool is_unread(const prt_op *op)
{
    if (op->dead || op->def == NULL || (op->def->traits & PRT_PURE) == 0)
        return false;
    for (uint32_t i = 0; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]))
            return false;
    return true;
}

enum { MOST_MERGED = 240 }; /* bound of prt_op.merged in characters */

/* Appends a node's name to the merged names of `into` (NULL: does nothing). Beyond MOST_MERGED
 * characters it appends "..." once. */
static poprt_status merge_name(prt_op *into, prt_str name)
{
    static const char dots[] = "...";
    if (into == NULL || name.size == 0 || prt_str_equal(name, into->origin))
        return POPRT_OK;
    const prt_str old = into->merged;
    if (old.size >= sizeof(dots) - 1 &&
        memcmp(old.data + old.size - (sizeof(dots) - 1), dots, sizeof(dots) - 1) == 0)
        return POPRT_OK;
    if (old.size + name.size > MOST_MERGED)
        name = PRT_STR("...");
    const uint32_t between = old.size != 0;
    char *text = prt_arena_alloc(into->graph->module->arena, (size_t)old.size + name.size + 2);
    if (text == NULL)
        return POPRT_E_NOMEM;
    if (old.size != 0)
        memcpy(text, old.data, old.size);
    text[old.size] = '+';
    memcpy(text + old.size + between, name.data, name.size);
    into->merged = (prt_str){ text, old.size + between + name.size };
    return POPRT_OK;
}

static poprt_status join_place(prt_op *into, const prt_op *member)
{
    return into != NULL ? prt_op_join_place(into, member) : POPRT_OK;
}

/* Erases `op` if it is unread, then all ops that become unread by it. `more` is a work list for ops
 * with several inputs; along a chain it stays empty. */
static poprt_status sweep(prt_op *op, prt_op *into)
{
    prt_arena *arena = op->graph->module->arena;
    PRT_VEC(prt_op *) more = { 0 };
    for (;;) {
        prt_op *next = NULL;
        if (is_unread(op)) {
            for (uint32_t i = 0; i < op->n_in; i++) {
                prt_op *def = op->in[i].value != NULL ? op->in[i].value->def : NULL;
                if (def == NULL || def == next)
                    continue;
                if (next != NULL && !PRT_VEC_PUSH(arena, &more, def))
                    return POPRT_E_NOMEM;
                if (next == NULL)
                    next = def;
            }
            if (op->origin.size != 0)
                PRT_TRY(merge_name(into, op->origin));
            PRT_TRY(merge_name(into, op->merged));
            PRT_TRY(join_place(into, op));
            prt_op_erase(op);
        }
        if (next == NULL && more.count == 0)
            return POPRT_OK;
        op = next != NULL ? next : more.data[--more.count];
    }
}

void prt_build_replace_uses(prt_build *b, prt_value *from, prt_value *to)
{
    if (b->status != POPRT_OK || from == to)
        return;
    prt_value_replace(from, to);
    if (to->name.size == 0 && from->name.size != 0) {
        const prt_str name = from->name;
        from->name = PRT_STR("");
        b->status = prt_value_set_name(to, name);
    }
}

void prt_build_replace(prt_build *b, prt_value *from, prt_value *to)
{
    prt_op *into =
        b->status == POPRT_OK && to->def != NULL && to->graph == b->graph && to->def->id >= b->first
        ? to->def
        : NULL;
    prt_build_replace_uses(b, from, to);
    if (b->status == POPRT_OK && into != NULL && from != to && from->def != NULL)
        b->status = prt_op_copy_notes(into, from->def);
    if (b->status == POPRT_OK && from != to && from->def != NULL)
        b->status = sweep(from->def, into);
}
