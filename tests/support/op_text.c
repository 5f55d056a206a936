/* SPDX-License-Identifier: MIT */
/* op_text.c — operators in tests. */
#include "support/op_text.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>

#include "ir/interp.h"

enum { TEXT_SIZE = 4096 };

static void must(poprt_status status, const char *text)
{
    if (status != POPRT_OK)
        ck_abort_msg("%s: %s: %s\n%s", prt_status_name(status), prt_error_last()->subject,
            prt_error_last()->message, text);
}

static poprt_status read_text(const char *text, prt_graph **out)
{
    prt_module *module = NULL;
    must(prt_module_create(&prt_mem_libc, 0, &module), text);
    PRT_TRY(prt_ir_parse(module, prt_str_of(text)));
    must(prt_ir_verify(module), text);
    *out = module->main;
    return POPRT_OK;
}

const char *op_type(const char *text)
{
    prt_graph *g = NULL;
    must(read_text(text, &g), text);
    char *to = prt_arena_alloc(g->module->arena, TEXT_SIZE);
    prt_type_print(g->module->dims, g->ret->in[0].value->type, to, TEXT_SIZE);
    return to;
}

const char *op_content(const char *text)
{
    prt_graph *g = NULL;
    must(read_text(text, &g), text);
    char *to = prt_arena_alloc(g->module->arena, TEXT_SIZE);
    const prt_content *known = g->ret->in[0].value->content;
    size_t at = 0;
    for (uint32_t i = 0; known != NULL && i < known->count; i++) {
        char dim[256];
        prt_dim_print(g->module->dims, known->values[i], dim, sizeof(dim));
        at += (size_t)snprintf(to + at, TEXT_SIZE - at, "%s%s", i != 0 ? " " : "", dim);
        ck_assert_uint_lt(at, TEXT_SIZE);
    }
    return to;
}

static void print_element(const prt_tensor *t, size_t i, char *to, size_t size)
{
    if (t->dtype == PRT_DTYPE_string) {
        const poprt_string *s = (const poprt_string *)t->data + i;
        (void)snprintf(to, size, "'%.*s'", (int)s->size, s->data);
    } else if (prt_dtype_of(t->dtype)->kind == PRT_KIND_uint) {
        (void)snprintf(to, size, "%" PRIu64, prt_load_u64(t->dtype, t->data, i));
    } else if (prt_dtype_is_integer(t->dtype)) {
        (void)snprintf(to, size, "%" PRId64, prt_load_i64(t->dtype, t->data, i));
    } else {
        (void)snprintf(to, size, "%.6g", prt_load_f64(t->dtype, t->data, i));
    }
}

const char *op_value_of(const char *text, unsigned i)
{
    prt_graph *g = NULL;
    must(read_text(text, &g), text);
    prt_arena *arena = g->module->arena;
    char *to = prt_arena_alloc(arena, TEXT_SIZE);
    prt_tensor *out = PRT_NEW_N(arena, prt_tensor, g->ret->n_in);
    must(prt_ir_run(g, 0, NULL, g->ret->n_in, out, arena), text);
    const prt_tensor *t = &out[i];
    ck_assert_int_eq(t->kind, PRT_VALUE_TENSOR);
    prt_type_print(NULL, prt_type_tensor(g->module->types, t->dtype, (int32_t)t->rank, t->dims), to,
        TEXT_SIZE);
    size_t at = strlen(to);
    to[at++] = ':';
    for (size_t k = 0; k < prt_tensor_count(t); k++) {
        char element[256];
        print_element(t, k, element, sizeof(element));
        at += (size_t)snprintf(to + at, TEXT_SIZE - at, " %s", element);
        ck_assert_uint_lt(at, TEXT_SIZE);
    }
    return to;
}

const char *op_value(const char *text)
{
    return op_value_of(text, 0);
}

const char *op_status(const char *text)
{
    prt_graph *g = NULL;
    poprt_status status = read_text(text, &g);
    if (status == POPRT_OK) {
        prt_tensor *out = PRT_NEW_N(g->module->arena, prt_tensor, g->ret->n_in);
        status = prt_ir_run(g, 0, NULL, g->ret->n_in, out, g->module->arena);
    }
    return prt_status_name(status);
}
