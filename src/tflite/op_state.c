/* SPDX-License-Identifier: MIT */
/*
 * op_state.c — variables and lookup tables. The subgraphs of CALL_ONCE set their first contents:
 * these subgraphs are converted before everything else.
 */
#include <stdio.h>

#include "tensorflow/state.h"
#include "tflite/rows.h"

/* Sets output 0 to the resource of a name, which is made when it occurs first. */
static poprt_status make_resource(prt_tflite_call *n, prt_tf_kind kind, const char *name)
{
    prt_tf_converter *c = n->tf.c;
    prt_tf_resource *r = prt_map_find(&c->resources, prt_str_of(name));
    if (r == NULL) {
        const char *kept = prt_arena_text(c->arena, name, strlen(name));
        r = PRT_NEW(c->arena, prt_tf_resource);
        if (r == NULL || kept == NULL)
            return POPRT_E_NOMEM;
        *r = (prt_tf_resource){ .node = n->tf.node, .name = kept };
        PRT_TRY(prt_map_set(&c->resources, prt_str_of(kept), r));
    }
    prt_tf_set_value(&n->tf, 0, (prt_tf_value){ .kind = kind, .handle = r });
    return prt_tf_end(&n->tf);
}

poprt_status prt_tflite_row_var_handle(prt_tflite_call *n)
{
    char name[300];
    const prt_str container = PRT_TFLITE_TEXT(&n->op->options, VarHandleOptions, container);
    const prt_str shared = PRT_TFLITE_TEXT(&n->op->options, VarHandleOptions, shared_name);
    const int size = snprintf(name, sizeof(name), "%.*s%s%.*s", PRT_STR_ARG(container),
        container.size != 0 ? "/" : "", PRT_STR_ARG(shared));
    if (size < 0 || (size_t)size >= sizeof(name))
        return prt_tf_refuse(&n->tf, "the name of its variable is longer than 299 bytes");
    return make_resource(n, PRT_TF_variable, name);
}

poprt_status prt_tflite_row_hashtable(prt_tflite_call *n)
{
    char name[40];
    (void)snprintf(name, sizeof(name), "table %lld",
        (long long)prt_tflite_option(n, "table_id", 0));
    return make_resource(n, PRT_TF_table, name);
}

/* Inputs: a table, keys, values. */
poprt_status prt_tflite_row_hashtable_import(prt_tflite_call *n)
{
    if (n->tf.in[0].kind != PRT_TF_table)
        return prt_tf_refuse(&n->tf, "input 0 is not a table");
    prt_tf_resource *r = (prt_tf_resource *)(uintptr_t)n->tf.in[0].handle;
    if (!prt_tf_constant(&n->tf, 1, &r->keys) || !prt_tf_constant(&n->tf, 2, &r->values) ||
        r->keys.rank != 1 || r->values.rank != 1 || r->keys.dims[0] != r->values.dims[0])
        return prt_tf_refuse(&n->tf, "its keys and values must be constant lists of one length");
    r->read = true;
    return prt_tf_end(&n->tf);
}

/* Converts the writes of a subgraph that CALL_ONCE runs. */
static poprt_status run_once(prt_tf_converter *c, const prt_tflite_body *body)
{
    prt_tf_scope *scope;
    prt_tf_value ignored;
    PRT_TRY(
        prt_tf_scope_create(c, NULL, &body->body, c->module->main, PRT_STR(""), 0, NULL, &scope));
    for (uint32_t i = 0; i < body->graph->n_operators; i++) {
        const int32_t code = body->graph->operators[i].code;
        if (code == PRT_TFLITE_OP_ASSIGN_VARIABLE || code == PRT_TFLITE_OP_HASHTABLE_IMPORT)
            PRT_TRY(prt_tf_demand(c, scope, (prt_tf_edge){ body->body.n_args + i, 0 }, &ignored));
    }
    return POPRT_OK;
}

poprt_status prt_tflite_initialise(prt_tf_converter *c, const prt_tflite_body *bodies,
    const prt_tflite_body *main)
{
    const size_t warnings = c->warnings.count;
    for (size_t i = 0; i < main->graph->n_operators; i++) {
        const prt_tflite_operator *op = &main->graph->operators[i];
        if (op->code == PRT_TFLITE_OP_CALL_ONCE)
            PRT_TRY(
                run_once(c, &bodies[PRT_TFLITE_INT(&op->options, CallOnceOptions, init_subgraph)]));
    }
    c->warnings.count = warnings; /* first contents are no contents that a run changes */
    return POPRT_OK;
}
