/* SPDX-License-Identifier: MIT */
/* state.c — finds and reads the contents of variables and lookup tables. */
#include "tensorflow/state.h"

#include "ir/evaluate.h"
#include "tensorflow/saved_model.h"

static void record(prt_tf_call *n, poprt_status status)
{
    if (n->status == POPRT_OK)
        n->status = status;
}

poprt_status prt_tf_make_resource(prt_tf_call *n, prt_tf_kind kind)
{
    prt_tf_converter *c = n->c;
    const prt_str name = prt_saved_resource_name(c->arena, n->node);
    if (name.data == NULL)
        return POPRT_E_NOMEM;
    prt_tf_resource *r = prt_map_find(&c->resources, name);
    if (r == NULL) {
        r = PRT_NEW(c->arena, prt_tf_resource);
        if (r == NULL)
            return POPRT_E_NOMEM;
        /* A container and a name have a zero byte between them. */
        const prt_str shown = memchr(name.data, 0, name.size) == NULL ? name : n->node->name;
        *r = (prt_tf_resource){ .node = n->node,
            .name = prt_arena_text(c->arena, shown.data, shown.size) };
        if (r->name == NULL)
            return POPRT_E_NOMEM;
        PRT_TRY(prt_map_set(&c->resources, name, r));
    }
    prt_tf_set_value(n, 0, (prt_tf_value){ .kind = kind, .handle = r });
    return prt_tf_end(n);
}

static prt_tf_resource *resource_of(prt_tf_call *n, prt_tf_kind kind, const char *what)
{
    if (n->n_in != 0 && n->in[0].kind == kind)
        return (prt_tf_resource *)(uintptr_t)n->in[0].handle;
    (void)prt_tf_refuse(n, "input 0 is not %s", what);
    return NULL;
}

prt_tf_resource *prt_tf_variable(prt_tf_call *n)
{
    return resource_of(n, PRT_TF_variable, "a variable");
}

/* Finds the contents of a resource. */
static poprt_status find(prt_tf_call *n, const prt_tf_resource *r, bool table,
    const prt_saved_resource **out)
{
    prt_saved_model *saved = n->c->saved;
    if (saved == NULL)
        return prt_tf_refuse(n,
            "the contents of the %s '%.200s' are not in this file: convert the SavedModel or the "
            "checkpoint, or freeze the graph",
            table ? "table" : "variable", r->name);
    PRT_TRY(prt_saved_resource_find(saved, r->node, out));
    if (((*out)->table != NULL) != table)
        return prt_tf_refuse(n, "'%.200s' is %s", r->name, table ? "a variable" : "a table");
    return POPRT_OK;
}

/* ---- variables */

/* Fails unless the contents have the type and shape that the node states. */
static poprt_status check_contents(const prt_tf_resource *r, const prt_tensor *t)
{
    prt_tf_attr_value v;
    int32_t rank;
    int64_t dims[PRT_MAX_RANK];
    const prt_tf_node *node = r->node;
    const prt_tf_attr *attr = prt_tf_attr_find(node->attrs, node->n_attrs, PRT_STR("dtype"));
    bool equal = true;
    if (attr != NULL) {
        PRT_TRY(prt_tf_attr_read(attr, &v));
        equal = v.kind != PRT_TF_ATTR_type || prt_tf_dtype_of(v.i) == t->dtype;
    }
    attr = prt_tf_attr_find(node->attrs, node->n_attrs, PRT_STR("shape"));
    if (attr != NULL) {
        PRT_TRY(prt_tf_attr_read(attr, &v));
        if (v.kind != PRT_TF_ATTR_shape)
            v.bytes = (prt_bytes){ NULL, 0 };
        PRT_TRY(prt_tf_shape_read(v.bytes, attr->depth + 1, &rank, dims));
        /* Old graphs write a shape without dims for an unknown one. */
        equal = equal && (rank <= 0 || (uint32_t)rank == t->rank);
        for (int32_t i = 0; equal && i < rank; i++)
            equal = dims[i] < 0 || dims[i] == t->dims[i];
    }
    return equal ? POPRT_OK
                 : prt_fail(POPRT_E_PARSE, r->name,
                       "the checkpoint has another type or shape than the graph for this variable");
}

static poprt_status read_contents(prt_tf_call *n, const prt_tf_resource *r, prt_value **out)
{
    prt_tf_converter *c = n->c;
    prt_module *m = c->module;
    const prt_saved_resource *saved;
    prt_tensor t;
    prt_blob *blob = NULL;
    PRT_TRY(find(n, r, false, &saved));
    PRT_TRY(prt_saved_variable_read(c->saved, saved, c->verify, &t, &blob));
    const poprt_status status = check_contents(r, &t);
    if (status != POPRT_OK || t.dtype == PRT_DTYPE_string) {
        *out = status == POPRT_OK ? prt_graph_add_tensor(m->main, &t) : NULL;
        prt_blob_release(blob);
        return *out != NULL || status != POPRT_OK ? status : POPRT_E_NOMEM;
    }
    const prt_type *type = prt_type_tensor(m->types, t.dtype, (int32_t)t.rank, t.dims);
    if (type == NULL) {
        prt_blob_release(blob);
        return POPRT_E_NOMEM;
    }
    *out = prt_graph_add_constant(m->main, PRT_STR(""), type, blob);
    if (*out != NULL && prt_map_find(&m->names, prt_str_of(r->name)) == NULL)
        return prt_value_set_name(*out, prt_str_of(r->name));
    return *out != NULL ? POPRT_OK : POPRT_E_NOMEM;
}

prt_value *prt_tf_variable_read(prt_tf_call *n, prt_tf_resource *r)
{
    if (r == NULL)
        return NULL;
    if (r->now == NULL) {
        prt_tf_value *contents = PRT_NEW(n->c->arena, prt_tf_value);
        prt_value *value = NULL;
        record(n, contents != NULL ? read_contents(n, r, &value) : POPRT_E_NOMEM);
        if (value == NULL)
            return NULL;
        *contents = (prt_tf_value){ .kind = PRT_TF_tensor, .value = value };
        r->now = contents;
    }
    return r->now->value;
}

poprt_status prt_tf_variable_write(prt_tf_call *n, prt_tf_resource *r, prt_value *value)
{
    if (r == NULL || value == NULL)
        return prt_tf_end(n);
    if (n->scope->graph != n->c->module->main)
        return prt_tf_refuse(n, "variable '%.200s' is written inside a loop or branch", r->name);
    if (!r->written)
        prt_tf_warn(n, "the new contents of variable '%.200s' are not kept for the next run",
            r->name);
    r->written = true;
    prt_tf_set(n, 0, value);
    /* The results of the call, because folding may replace the value there. */
    r->now = &n->out[0];
    return prt_tf_end(n);
}

/* ---- tables */

static poprt_status read_constant(prt_tf_call *n, prt_bytes proto, uint32_t depth, prt_tensor *out)
{
    prt_value *constant;
    PRT_TRY(
        prt_tf_tensor_constant(n->c, n->c->module->main, proto, depth, n->node->name, &constant));
    return prt_value_aligned(constant, n->c->arena, out)
        ? POPRT_OK
        : prt_fail(POPRT_E_PARSE, n->b.origin.data, "the keys or values of a table are malformed");
}

static poprt_status read_table(prt_tf_call *n, prt_tf_resource *r)
{
    prt_tf_call maker = *n; /* for the types that the node of the handle states */
    const prt_saved_resource *saved;
    PRT_TRY(find(n, r, true, &saved));
    const prt_saved_table *table = saved->table;
    maker.node = r->node;
    const int32_t key_type = prt_tf_attr_dtype(&maker, "key_dtype", PRT_DTYPE_undefined);
    const int32_t value_type = prt_tf_attr_dtype(&maker, "value_dtype", PRT_DTYPE_undefined);
    if (table->keys.data != NULL && table->values.data != NULL) {
        PRT_TRY(read_constant(n, table->keys, table->key_depth, &r->keys));
        PRT_TRY(read_constant(n, table->values, table->value_depth, &r->values));
    } else {
        PRT_TRY(
            prt_saved_table_read(n->c->saved, table, key_type, value_type, &r->keys, &r->values));
    }
    if (r->keys.rank != 1 || r->values.rank == 0 || r->keys.dims[0] != r->values.dims[0])
        return prt_tf_refuse(n,
            "table '%.200s' has keys that are not a list, or another number of "
            "values than of keys",
            r->name);
    if (r->keys.dtype != key_type || r->values.dtype != value_type)
        return prt_fail(POPRT_E_PARSE, r->name, "the table has other types than its node states");
    r->read = true;
    return POPRT_OK;
}

prt_tf_resource *prt_tf_table(prt_tf_call *n)
{
    prt_tf_resource *r = resource_of(n, PRT_TF_table, "a lookup table");
    if (r == NULL || r->read)
        return r;
    record(n, read_table(n, r));
    return r->read ? r : NULL;
}
