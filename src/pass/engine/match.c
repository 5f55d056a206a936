/* SPDX-License-Identifier: MIT */
/* match.c — matchers and edits that several passes share. */
#include "pass/engine/match.h"

#include <math.h>

#include "ir/not_found.h"
#include "op/interp.h"
#include "op/share/shape_values.h"

enum {
    MAX_DEPTH = 256,       /* nested regions */
    EXTRA_BYTES = 64,      /* by which a computed constant may exceed the size of its inputs */
    SCRATCH_FACTOR = 4,    /* limit of the scratch arena: this times the largest result, */
    SCRATCH_MORE = 1 << 20 /* and so many bytes more */
};

/* ---- matchers */

int32_t prt_match_dtype(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) ? v->type->dtype : PRT_DTYPE_undefined;
}

const prt_type *prt_match_ranked(const prt_value *v)
{
    return v != NULL && prt_type_is_tensor(v->type) && v->type->rank >= 0 &&
            v->type->rank <= PRT_MAX_RANK
        ? v->type
        : NULL;
}

const prt_type *prt_match_static(const prt_value *v)
{
    const prt_type *type = prt_match_ranked(v);
    for (int32_t i = 0; type != NULL && i < type->rank; i++)
        if (!prt_dim_is_number(type->dims[i]))
            return NULL;
    return type;
}

bool prt_match_is_f32(const prt_value *v)
{
    const prt_type *type = prt_match_ranked(v);
    return type != NULL && type->dtype == PRT_DTYPE_f32;
}

bool prt_match_is_sized(const prt_value *v, int32_t rank)
{
    if (!prt_match_is_f32(v) || v->type->rank != rank)
        return false;
    for (int32_t i = 1; i < rank; i++) {
        const int64_t dim = v->type->dims[i];
        if (!prt_dim_is_number(dim) || dim < 1 || dim > INT32_MAX)
            return false;
    }
    return true;
}

int64_t prt_match_dim(const prt_value *v, int64_t axis)
{
    const prt_type *type = prt_match_ranked(v);
    if (type == NULL || axis < -type->rank || axis >= type->rank)
        return -1;
    const int64_t dim = type->dims[axis < 0 ? axis + type->rank : axis];
    return prt_dim_is_number(dim) ? dim : -1;
}

bool prt_match_allows(uint32_t id, int32_t dtype)
{
    const prt_op_def *def = prt_op_of(id);
    for (uint32_t i = 0; i < def->n_types; i++)
        if (strcmp(def->types[i].var, def->in[0].var) == 0)
            return dtype > 0 && dtype < PRT_DTYPE_COUNT && (def->types[i].set >> dtype & 1) != 0;
    return false;
}

bool prt_match_number(const prt_op *op, uint32_t slot, double *out)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || prt_tensor_count(&t) != 1 ||
        (!prt_dtype_is_float(t.dtype) && !prt_dtype_is_integer(t.dtype)))
        return false;
    *out = prt_load_f64(t.dtype, t.data, 0);
    return true;
}

bool prt_match_integer(const prt_op *op, uint32_t slot, int64_t *out)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || prt_tensor_count(&t) != 1 ||
        !prt_dtype_is_integer(t.dtype))
        return false;
    *out = prt_load_i64(t.dtype, t.data, 0);
    return true;
}

bool prt_match_reduce_axes(const prt_op *op, uint32_t *set)
{
    const prt_reduce_sum_attrs *a = op->attrs; /* all Reduce operators have the same attributes */
    const prt_type *x = prt_match_ranked(prt_op_input(op, 0));
    int64_t axes[PRT_MAX_RANK];
    prt_tensor t = { .dims = { 0 }, .rank = 1, .dtype = PRT_DTYPE_i64 };
    if (x == NULL || (prt_op_input(op, 1) != NULL && !prt_match_constant(op, 1, &t)))
        return false;
    const size_t n = prt_tensor_count(&t);
    if (n > PRT_MAX_RANK)
        return false;
    for (size_t i = 0; i < n; i++)
        axes[i] = prt_load_i64(t.dtype, t.data, i);
    *set = n == 0 && a->noop_with_empty_axes == 0 ? (1u << x->rank) - 1 : 0;
    return n == 0 || prt_shape_axes(axes, (uint32_t)n, (uint32_t)x->rank, set);
}

bool prt_match_outputs_unused(const prt_op *op, uint32_t first)
{
    for (uint32_t i = first; i < op->n_out; i++)
        if (prt_value_used(&op->out[i]))
            return false;
    return true;
}

bool prt_match_i64s(const prt_op *op, uint32_t slot, uint32_t most, int64_t *out, uint32_t *count)
{
    prt_tensor t;
    if (!prt_match_constant(op, slot, &t) || !prt_dtype_is_integer(t.dtype) ||
        prt_tensor_count(&t) > most)
        return false;
    *count = (uint32_t)prt_tensor_count(&t);
    for (uint32_t i = 0; i < *count; i++)
        out[i] = prt_load_i64(t.dtype, t.data, i);
    return true;
}

bool prt_match_axis(int64_t axis, int32_t rank, uint32_t *out)
{
    if (axis < 0 && rank >= 0)
        axis += rank;
    if (axis < 0 || axis > INT32_MAX || (rank >= 0 && axis >= rank))
        return false;
    *out = (uint32_t)axis;
    return true;
}

bool prt_match_broadcasts(const prt_type *small, const prt_type *big)
{
    if (!prt_type_is_tensor(small) || !prt_type_is_tensor(big) || small->rank < 0 ||
        small->rank > big->rank)
        return false;
    for (int32_t i = 0; i < small->rank; i++) {
        const int64_t dim = small->dims[i], other = big->dims[big->rank - small->rank + i];
        if (dim != 1 && (dim != other || (!prt_dim_is_number(dim) && !prt_dim_is_expr(dim))))
            return false;
    }
    return true;
}

prt_op *prt_match_reader(const prt_value *value, uint32_t id)
{
    if (!prt_value_used_once(value))
        return NULL;
    prt_op *user = value->uses->user;
    return prt_op_is(user, id) && user->graph == value->graph ? user : NULL;
}

bool prt_match_own_constant(const prt_op *op, uint32_t slot, prt_tensor *out)
{
    return prt_match_constant(op, slot, out) && prt_value_used_once(prt_op_input(op, slot));
}

uint32_t *prt_match_positions(prt_arena *arena, const prt_graph *graph)
{
    uint32_t *places = PRT_NEW_N(arena, uint32_t, (size_t)graph->n_ops + 1), at = 0;
    if (places != NULL)
        prt_for_each_op (op, graph)
            places[op->id] = ++at;
    return places;
}

poprt_status prt_match_group_add(prt_arena *arena, prt_match_groups *groups, const void *key,
    size_t key_size, prt_op *op)
{
    const prt_str name = { key, (uint32_t)key_size };
    if (groups->by_key.arena == NULL)
        groups->by_key = prt_map_in(arena);
    prt_match_group *group = prt_map_find(&groups->by_key, name);
    if (group == NULL) {
        const prt_str copy = { prt_arena_copy(arena, key, key_size), (uint32_t)key_size };
        group = PRT_NEW(arena, prt_match_group);
        if (group == NULL || copy.data == NULL || !PRT_VEC_PUSH(arena, &groups->list, group))
            return POPRT_E_NOMEM;
        PRT_TRY(prt_map_set(&groups->by_key, copy, group));
    }
    return PRT_VEC_PUSH(arena, &group->ops, op) ? POPRT_OK : POPRT_E_NOMEM;
}

static prt_op *find_node(prt_graph *graph, prt_str name, uint32_t depth)
{
    prt_op *found = NULL;
    for (prt_op *op = graph->first; op != NULL && depth < MAX_DEPTH && found == NULL;
         op = op->next) {
        if (op->origin.size != 0 && prt_str_equal(op->origin, name))
            return op;
        for (uint32_t i = 0; i < op->n_regions && found == NULL; i++)
            found = find_node(op->regions[i], name, depth + 1);
    }
    return found;
}

prt_op *prt_match_node(prt_graph *graph, prt_str name)
{
    return find_node(graph, name, 0);
}

poprt_status prt_match_nodes(const prt_pass *p, const char *option, uint32_t multiple,
    prt_graph *graph, prt_op ***out, uint32_t *count)
{
    PRT_VEC(prt_op *) nodes = { 0 };
    prt_str name;
    for (const char *cursor = NULL; prt_pass_next(p, option, &cursor, &name);) {
        const size_t i = nodes.count;
        prt_op *op = prt_match_node(graph, name);
        if (op == NULL)
            return prt_fail_no_node(graph, name);
        /* Only the two nodes of one pair may be the same. */
        for (size_t k = 0; k < nodes.count; k++)
            if (nodes.data[k] == op && (multiple == 1 || i % 2 == 0 || k + 1 != i))
                return prt_fail(POPRT_E_ARG, option, "%s lists '%.*s' twice", option,
                    PRT_STR_ARG(name));
        if (!PRT_VEC_PUSH(p->arena, &nodes, op))
            return POPRT_E_NOMEM;
    }
    if (nodes.count % multiple != 0)
        return prt_fail(POPRT_E_ARG, option,
            "%s lists %u nodes; the number must be a multiple of %u", option, (unsigned)nodes.count,
            multiple);
    *out = nodes.data;
    *count = (uint32_t)nodes.count;
    return POPRT_OK;
}

/* ---- edits */

prt_op *prt_match_new(prt_build *b, const prt_op *like, uint32_t id, const void *attrs,
    uint32_t n_in, prt_value *const *in, uint32_t n_out)
{
    const prt_build before = *b;
    b->origin = like->origin;
    b->like = like;
    prt_op *op = prt_build_op_n(b, id, attrs, n_in, in, n_out);
    b->origin = before.origin;
    b->like = before.like;
    return op;
}

bool prt_match_replace_named(prt_build *b, prt_op *root, uint32_t id, const void *attrs,
    uint32_t n_in, prt_value *const *in)
{
    prt_op *op = prt_match_new(b, root, id, attrs, n_in, in, 1);
    if (op != NULL)
        (void)prt_pass_replace(b, &root->out[0], &op->out[0]);
    return true;
}

prt_value *prt_match_reshape_constant(prt_build *b, prt_value *old, uint32_t rank,
    const int64_t *dims)
{
    if (b->status != POPRT_OK)
        return NULL;
    const prt_type *type =
        prt_type_tensor(b->graph->module->types, old->type->dtype, (int32_t)rank, dims);
    if (type == old->type)
        return old;
    prt_value *v = type != NULL
        ? prt_graph_add_constant(b->graph, PRT_STR(""), type, prt_blob_retain(old->constant))
        : NULL;
    if (v == NULL || prt_value_hold(v, old, 0, NULL) != POPRT_OK)
        b->status = POPRT_E_NOMEM;
    return v;
}

static bool is_finite(const prt_tensor *t)
{
    for (size_t i = 0; prt_dtype_is_float(t->dtype) && i < prt_tensor_count(t); i++)
        if (!isfinite(prt_load_f64(t->dtype, t->data, i)))
            return false;
    return true;
}

/* Evaluates the operator in `scratch`. Returns false if it fails or if its result is not a finite
 * tensor of at most `most` bytes. */
static bool run(prt_arena *scratch, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *values, size_t most, prt_tensor *out)
{
    const prt_op_def *def = prt_op_of(id);
    const prt_tensor **in = PRT_NEW_N(scratch, const prt_tensor *, n_in);
    prt_tensor *tensors = PRT_NEW_N(scratch, prt_tensor, n_in);
    if (in == NULL || tensors == NULL)
        return false;
    for (uint32_t i = 0; i < n_in; i++) {
        if (values[i] == NULL)
            continue;
        if (!prt_value_aligned(values[i], scratch, &tensors[i]))
            return false;
        in[i] = &tensors[i];
    }
    *out = (prt_tensor){ .kind = PRT_VALUE_UNKNOWN, .rank = UINT32_MAX };
    return prt_interp_run(def, attrs != NULL ? attrs : def->defaults, prt_str_of(def->name), n_in,
               in, 1, out, scratch, NULL, NULL) == POPRT_OK &&
        out->kind == PRT_VALUE_TENSOR && out->dtype != PRT_DTYPE_string && out->size <= most &&
        (prt_op_only_moves(def, attrs != NULL ? attrs : def->defaults) || is_finite(out));
}

prt_value *prt_match_compute(prt_pass *p, prt_build *b, const prt_value *like, uint32_t id,
    const void *attrs, uint32_t n_in, prt_value *const *in)
{
    size_t most = EXTRA_BYTES, scratch_size;
    prt_arena *scratch = NULL;
    prt_value *v = NULL;
    prt_tensor t;
    if (b->status != POPRT_OK)
        return NULL;
    for (uint32_t i = 0; i < n_in; i++)
        if (in[i] != NULL &&
            (!prt_value_is_fixed(in[i]) || !prt_size_add(most, in[i]->constant->size, &most)))
            return NULL;
    if (!prt_size_mul(most, SCRATCH_FACTOR, &scratch_size) ||
        !prt_size_add(scratch_size, SCRATCH_MORE, &scratch_size) ||
        prt_arena_create(p->module->allocator, scratch_size, &scratch) != POPRT_OK)
        return NULL;
    if (run(scratch, id, attrs, n_in, in, most, &t) && prt_pass_reserve(p, t.size)) {
        prt_blob *blob = NULL;
        const prt_type *type = prt_type_tensor(p->module->types, t.dtype, (int32_t)t.rank, t.dims);
        if (type != NULL && prt_blob_create(p->module->allocator, t.size, &blob) == POPRT_OK) {
            if (t.size != 0)
                memcpy(prt_blob_bytes(blob), t.data, t.size);
            v = prt_pass_derive(b->graph, like, type, blob);
        }
        if (v == NULL || prt_value_hold_moved(v, id, attrs, n_in, in) != POPRT_OK)
            b->status = POPRT_E_NOMEM;
    }
    prt_arena_release(scratch);
    return v;
}

/* Returns the smallest positive normal number of a float type. */
static double least_normal(int32_t dtype)
{
    return dtype == PRT_DTYPE_f16 ? 0x1p-14 : dtype == PRT_DTYPE_f64 ? 0x1p-1022 : 0x1p-126;
}

prt_value *prt_match_map_constant(prt_pass *p, prt_build *b, const prt_op *op, uint32_t slot,
    double (*f)(double x, double with), double with)
{
    const prt_value *old = prt_op_input(op, slot);
    prt_tensor t;
    prt_blob *blob = NULL;
    if (b->status != POPRT_OK || !prt_match_constant(op, slot, &t) ||
        !prt_dtype_is_float(t.dtype) || !prt_pass_reserve(p, t.size))
        return NULL;
    b->status = prt_blob_create(b->graph->module->allocator, t.size, &blob);
    if (b->status != POPRT_OK)
        return NULL;
    for (size_t i = 0; i < prt_tensor_count(&t); i++) {
        const double y = f(prt_load_f64(t.dtype, t.data, i), with);
        prt_store_f64(t.dtype, prt_blob_bytes(blob), i, y);
        const double rounded = prt_load_f64(t.dtype, prt_blob_bytes(blob), i);
        if (!isfinite(rounded) || (y != 0 && fabs(rounded) < least_normal(t.dtype))) {
            prt_blob_release(blob);
            return NULL;
        }
    }
    prt_value *mapped = prt_pass_derive(b->graph, old, old->type, blob);
    if (mapped == NULL)
        b->status = POPRT_E_NOMEM;
    return mapped;
}

prt_value *prt_match_shared_constant(prt_pass *p, prt_build *b, const char *name,
    const prt_type *type, prt_blob *blob)
{
    prt_module *m = b->graph->module;
    prt_value *old = prt_map_find(&m->names, prt_str_of(name)), *made = NULL;
    if (old != NULL && old->graph == m->main && prt_value_is_fixed(old) && old->type == type &&
        old->constant->size == blob->size &&
        (blob->size == 0 || memcmp(old->constant->data, blob->data, blob->size) == 0)) {
        prt_blob_release(blob);
        return old;
    }
    if (!prt_pass_reserve(p, blob->size)) {
        prt_blob_release(blob);
        return NULL;
    }
    const prt_str fresh = prt_module_fresh_name(m, name);
    if (fresh.data != NULL)
        made = prt_graph_add_constant(m->main, fresh, type, blob);
    else
        prt_blob_release(blob);
    if (made == NULL)
        b->status = POPRT_E_NOMEM;
    return made;
}

prt_value *prt_match_add_reshape(prt_build *b, prt_value *x, uint32_t rank, const int64_t *dims)
{
    return prt_build_binary(b, PRT_OP_reshape, x, prt_build_i64s(b, rank, dims));
}

prt_value *prt_match_add_transpose(prt_build *b, prt_value *x, uint32_t rank, const int64_t *perm)
{
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    const prt_i64s order = { perm, rank };
    PRT_ATTR_SET(attrs, transpose, perm, order);
    return prt_build_op(b, PRT_OP_transpose, &attrs, 1, &x);
}

prt_value *prt_match_add_cast(prt_build *b, prt_value *x, int32_t dtype)
{
    prt_cast_attrs attrs = PRT_ATTRS_OF(cast);
    if (b->status != POPRT_OK || prt_match_dtype(x) == dtype)
        return x;
    PRT_ATTR_SET(attrs, cast, to, dtype);
    return prt_build_op(b, PRT_OP_cast, &attrs, 1, &x);
}

bool prt_match_transpose_chain(prt_pass *p, prt_build *b, prt_op *root)
{
    (void)p;
    const prt_op *transpose = prt_match_interior(root, 0, PRT_OP_transpose);
    const prt_op *first =
        transpose != NULL ? prt_match_interior(transpose, 0, PRT_OP_reshape) : NULL;
    prt_value *x = first != NULL ? prt_op_input(first, 0) : NULL;
    const prt_type *from = prt_match_static(x), *to = prt_match_static(&root->out[0]);
    const prt_type *mid = first != NULL ? prt_match_static(&first->out[0]) : NULL;
    int64_t order[PRT_MAX_RANK];
    if (from == NULL || to == NULL || mid == NULL || mid->rank != 3 || from->rank < 3 ||
        to->rank < 3)
        return false;
    const prt_i64s perm = ((const prt_transpose_attrs *)transpose->attrs)->perm;
    if (perm.count != 3 || perm.data[0] != 0 || perm.data[1] != 2)
        return false;
    const int32_t r = to->rank;
    if (from->dims[from->rank - 2] != mid->dims[1] || from->dims[from->rank - 1] != mid->dims[2] ||
        to->dims[r - 2] != mid->dims[2] || to->dims[r - 1] != mid->dims[1])
        return false;
    int64_t dims[PRT_MAX_RANK];
    bool same = from->rank == r;
    for (int32_t i = 0; i < r; i++) {
        order[i] = i + 2 < r ? i : 2 * r - 3 - i;
        dims[i] = to->dims[order[i]];
        same = same && from->dims[i] == dims[i];
        if (dims[i] < 1)
            return false;
    }
    if (!same)
        x = prt_match_add_reshape(b, x, (uint32_t)r, dims);
    prt_transpose_attrs attrs = PRT_ATTRS_OF(transpose);
    PRT_ATTR_SET(attrs, transpose, perm, ((prt_i64s){ order, (uint32_t)r }));
    return prt_match_replace_named(b, root, PRT_OP_transpose, &attrs, 1, &x);
}

bool prt_match_replace(prt_build *b, prt_op *root, prt_value *to)
{
    if (b->status == POPRT_OK)
        (void)prt_pass_replace(b, &root->out[0], to);
    return true;
}

bool prt_match_replace_op(prt_build *b, prt_op *root, uint32_t id, const void *attrs, uint32_t n_in,
    prt_value *const *in)
{
    return prt_match_replace(b, root, prt_build_op(b, id, attrs, n_in, in));
}
