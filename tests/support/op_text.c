/* SPDX-License-Identifier: MIT */
/* op_text.c — operators in tests. */
#include "support/op_text.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>

#include "ir/interp.h"

enum { TEXT_SIZE = 4096 };

static char to[TEXT_SIZE]; /* the result of the last call */

static void require_ok(poprt_status status, const char *text)
{
    if (status != POPRT_OK)
        ck_abort_msg("%s: %s: %s\n%s", prt_status_name(status), prt_error_last()->subject,
            prt_error_last()->message, text);
}

/* Returns the graph of a new module, which the caller releases, or NULL if the text has an
 * error. */
static prt_graph *read_text(const char *text, poprt_status *status)
{
    prt_module *module = NULL;
    require_ok(prt_module_create(&prt_mem_libc, 0, &module), text);
    *status = prt_ir_parse(module, prt_str_of(text));
    if (*status == POPRT_OK) {
        require_ok(prt_ir_verify(module), text);
        return module->main;
    }
    prt_module_release(module);
    return NULL;
}

static prt_graph *read_right_text(const char *text)
{
    poprt_status status;
    prt_graph *g = read_text(text, &status);
    require_ok(status, text);
    return g;
}

const char *op_type(const char *text)
{
    prt_graph *g = read_right_text(text);
    prt_type_print(g->module->dims, g->ret->in[0].value->type, to, TEXT_SIZE);
    prt_module_release(g->module);
    return to;
}

const char *op_content(const char *text)
{
    prt_graph *g = read_right_text(text);
    const prt_content *known = g->ret->in[0].value->content;
    size_t at = 0;
    to[0] = '\0';
    for (uint32_t i = 0; known != NULL && i < known->count; i++) {
        char dim[256];
        prt_dim_print(g->module->dims, known->values[i], dim, sizeof(dim));
        at += (size_t)snprintf(to + at, TEXT_SIZE - at, "%s%s", i != 0 ? " " : "", dim);
        ck_assert_uint_lt(at, TEXT_SIZE);
    }
    prt_module_release(g->module);
    return to;
}

static void print_element(const prt_tensor *t, size_t i, char *word, size_t size)
{
    if (t->dtype == PRT_DTYPE_string) {
        const poprt_string *s = (const poprt_string *)t->data + i;
        (void)snprintf(word, size, "'%.*s'", (int)s->size, s->data);
    } else if (prt_dtype_of(t->dtype)->kind == PRT_KIND_uint) {
        (void)snprintf(word, size, "%" PRIu64, prt_load_u64(t->dtype, t->data, i));
    } else if (prt_dtype_is_integer(t->dtype)) {
        (void)snprintf(word, size, "%" PRId64, prt_load_i64(t->dtype, t->data, i));
    } else {
        (void)snprintf(word, size, "%.6g", prt_load_f64(t->dtype, t->data, i));
    }
}

const char *op_value_of(const char *text, unsigned i)
{
    prt_graph *g = read_right_text(text);
    prt_arena *arena = g->module->arena;
    prt_tensor *out = PRT_NEW_N(arena, prt_tensor, g->ret->n_in);
    require_ok(prt_ir_run(g, 0, NULL, g->ret->n_in, out, arena), text);
    const prt_tensor *t = &out[i];
    ck_assert_int_eq(t->kind, PRT_VALUE_TENSOR);
    prt_type_print(NULL, prt_type_tensor(g->module->types, t->dtype, (int32_t)t->rank, t->dims), to,
        TEXT_SIZE);
    size_t at = strlen(to);
    to[at++] = ':';
    to[at] = '\0';
    for (size_t k = 0; k < prt_tensor_count(t); k++) {
        char element[256];
        print_element(t, k, element, sizeof(element));
        at += (size_t)snprintf(to + at, TEXT_SIZE - at, " %s", element);
        ck_assert_uint_lt(at, TEXT_SIZE);
    }
    prt_module_release(g->module);
    return to;
}

const char *op_value(const char *text)
{
    return op_value_of(text, 0);
}

const char *op_status(const char *text)
{
    poprt_status status;
    prt_graph *g = read_text(text, &status);
    if (g != NULL) {
        prt_tensor *out = PRT_NEW_N(g->module->arena, prt_tensor, g->ret->n_in);
        status = prt_ir_run(g, 0, NULL, g->ret->n_in, out, g->module->arena);
        prt_module_release(g->module);
    }
    return prt_status_name(status);
}
