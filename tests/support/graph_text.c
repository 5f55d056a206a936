/* SPDX-License-Identifier: MIT */
/* graph_text.c — graphs as text in tests. */
#include "support/graph_text.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/interp.h"
#include "pass/engine/manager.h"

static void require_ok(poprt_status status, const char *what)
{
    if (status != POPRT_OK)
        ck_abort_msg("%s: %s: %s: %s", what, prt_status_name(status), prt_error_last()->subject,
            prt_error_last()->message);
}

prt_graph *graph_from_text(const char *text)
{
    prt_module *module = NULL;
    require_ok(prt_module_create(NULL, 0, &module), "module");
    require_ok(prt_ir_parse(module, prt_str_of(text)), text);
    require_ok(prt_ir_verify(module), text);
    return module->main;
}

void module_free(prt_graph *graph)
{
    prt_module_release(graph->module);
}

const char *graph_error(const char *text)
{
    prt_module *module = NULL;
    require_ok(prt_module_create(NULL, 0, &module), "module");
    if (prt_ir_parse(module, prt_str_of(text)) == POPRT_OK)
        ck_abort_msg("parses: %s", text);
    prt_module_release(module);
    return prt_error_last()->message;
}

const char *graph_text(const prt_graph *graph)
{
    prt_str text;
    require_ok(prt_ir_print(graph, graph->module->arena, &text), "print");
    return text.data;
}

/* Splits "key=value, key=value" into records; the strings are allocated from `arena`. */
static uint32_t split_options(prt_arena *arena, const char *options, prt_pass_arg *args,
    uint32_t max)
{
    uint32_t n = 0;
    char *at = prt_arena_text(arena, options, strlen(options));
    while (at != NULL && *at != '\0') {
        char *value = strchr(at, '=');
        ck_assert_ptr_nonnull(value);
        ck_assert_uint_lt(n, max);
        *value++ = '\0';
        args[n++] = (prt_pass_arg){ at, value };
        char *comma = strstr(value, ", ");
        if (comma != NULL)
            *comma = '\0';
        at = comma != NULL ? comma + 2 : NULL;
    }
    return n;
}

static poprt_status run_with(prt_pass_manager *pm, prt_graph *graph, const char *name,
    const char *options, bool *changed)
{
    prt_pass_arg args[8] = { { NULL, NULL } };
    const uint32_t n = options != NULL ? split_options(graph->module->arena, options, args, 8) : 0;
    PRT_TRY(prt_pass_manager_add(pm, name, n, args));
    return prt_pass_manager_run(pm, graph->module, changed);
}

static poprt_status run_named(prt_graph *graph, const char *name, const char *options,
    bool *changed)
{
    prt_pass_manager *pm = NULL;
    require_ok(prt_pass_manager_create(NULL, &pm), "manager");
    const poprt_status status = run_with(pm, graph, name, options, changed);
    prt_pass_manager_release(pm);
    require_ok(prt_ir_verify(graph->module), name);
    (void)prt_graph_drop_constants(graph->module->main, true);
    return status;
}

bool run_pass(prt_graph *graph, const char *name, const char *options)
{
    bool changed = false;
    require_ok(run_named(graph, name, options, &changed), name);
    return changed;
}

poprt_status try_pass(prt_graph *graph, const char *name, const char *options)
{
    bool changed = false;
    return run_named(graph, name, options, &changed);
}

void run_pass_with(prt_graph *graph, const char *name, uint32_t n_args, const prt_pass_arg *args)
{
    prt_pass_manager *pm = NULL;
    require_ok(prt_pass_manager_create(NULL, &pm), "manager");
    require_ok(prt_pass_manager_add(pm, name, n_args, args), name);
    require_ok(prt_pass_manager_run(pm, graph->module, NULL), name);
    prt_pass_manager_release(pm);
    require_ok(prt_ir_verify(graph->module), name);
}

/* The warnings of a pass. */
typedef struct notes {
    char text[4096];
    size_t size;
} notes;

static void collect_note(void *user, prt_pass_level level, const char *pass, const char *subject,
    const char *message)
{
    notes *n = user;
    (void)pass;
    (void)subject;
    if (level != PRT_PASS_WARNS)
        return;
    const int more = snprintf(n->text + n->size, sizeof(n->text) - n->size, "%s\n", message);
    n->size += more > 0 ? (size_t)more : 0;
    ck_assert_uint_lt(n->size, sizeof(n->text));
}

const char *pass_notes(prt_graph *graph, const char *pass, const char *options)
{
    prt_pass_manager *pm = NULL;
    bool changed;
    notes n = { .size = 0 };
    const prt_pass_observer observer = { .user = &n, .report = collect_note };
    require_ok(prt_pass_manager_create(NULL, &pm), "manager");
    prt_pass_manager_set_observer(pm, &observer);
    require_ok(run_with(pm, graph, pass, options, &changed), pass);
    prt_pass_manager_release(pm);
    require_ok(prt_ir_verify(graph->module), pass);
    return prt_arena_text(graph->module->arena, n.text, n.size);
}

void assert_pass_rewrites(const char *pass, const char *options, const char *before,
    const char *after)
{
    prt_graph *g = graph_from_text(before);
    ck_assert_msg(run_pass(g, pass, options), "nothing changed in\n%s", before);
    ck_assert_graph(g, after);
    ck_assert_msg(!run_pass(g, pass, options), "changed again:\n%s", graph_text(g));
    module_free(g);
}

void assert_pass_leaves(const char *pass, const char *options, const char *text)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_msg(!run_pass(g, pass, options), "changed:\n%s", graph_text(g));
    ck_assert_graph(g, text);
    module_free(g);
}

void assert_pass_fails(const char *pass, const char *options, const char *text, poprt_status status,
    const char *part)
{
    prt_graph *g = graph_from_text(text);
    ck_assert_int_eq(try_pass(g, pass, options), status);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s", prt_error_last()->message);
    module_free(g);
}

/* ---- results */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void random_tensor(prt_arena *arena, const prt_type *type, uint64_t *state, prt_tensor *out)
{
    int64_t dims[PRT_MAX_RANK];
    ck_assert(prt_type_is_tensor(type) && type->rank >= 0);
    for (int32_t i = 0; i < type->rank; i++)
        dims[i] = prt_dim_is_number(type->dims[i]) ? type->dims[i] : 3;
    ck_assert(prt_tensor_init(out, type->dtype, (uint32_t)type->rank, dims, NULL));
    out->data = prt_arena_alloc(arena, out->size);
    for (size_t i = 0; i < prt_tensor_count(out); i++) {
        const double unit = (double)(next_random(state) >> 11) * 0x1p-53;
        if (prt_dtype_is_float(out->dtype))
            prt_store_f64(out->dtype, out->data, i, unit * 4 - 2);
        else if (out->dtype == PRT_DTYPE_bool)
            ((unsigned char *)out->data)[i] = unit < 0.5;
        else
            prt_store_i64(out->dtype, out->data, i, (int64_t)(unit * 5));
    }
}

static void assert_same_tensor(const prt_tensor *a, const prt_tensor *b, double tolerance,
    uint32_t k)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_int_eq(a->dtype, b->dtype);
    ck_assert_uint_eq(a->rank, b->rank);
    for (uint32_t i = 0; i < a->rank; i++)
        ck_assert_int_eq(a->dims[i], b->dims[i]);
    if (a->dtype == PRT_DTYPE_string) {
        const poprt_string *x = a->data, *y = b->data;
        for (size_t i = 0; i < prt_tensor_count(a); i++)
            ck_assert_msg(x[i].size == y[i].size &&
                    (x[i].size == 0 || memcmp(x[i].data, y[i].data, x[i].size) == 0),
                "element %zu of output %u is \"%.*s\", not \"%.*s\"", i, k, (int)x[i].size,
                x[i].data, (int)y[i].size, y[i].data);
        return;
    }
    if (tolerance == 0 || !prt_dtype_is_float(a->dtype)) {
        ck_assert_msg(a->size == 0 || memcmp(a->data, b->data, a->size) == 0, "output %u differs",
            k);
        return;
    }
    double largest = 0, worst = 0;
    for (size_t i = 0; i < prt_tensor_count(a); i++) {
        const double x = prt_load_f64(a->dtype, a->data, i), y = prt_load_f64(b->dtype, b->data, i);
        largest = fmax(largest, fabs(x));
        worst = fmax(worst, fabs(x - y));
        ck_assert(isfinite(x) && isfinite(y));
    }
    ck_assert_msg(worst <= tolerance * largest, "output %u differs by %g, largest is %g", k, worst,
        largest);
}

static void run_random(const prt_graph *g, prt_arena *arena, uint64_t state, prt_tensor *out)
{
    const prt_tensor *in[16];
    prt_tensor tensors[16];
    ck_assert_uint_le(g->inputs.count, 16);
    for (size_t i = 0; i < g->inputs.count; i++) {
        random_tensor(arena, g->inputs.data[i]->type, &state, &tensors[i]);
        in[i] = &tensors[i];
    }
    require_ok(prt_ir_run(g, (uint32_t)g->inputs.count, in, g->ret->n_in, out, arena), "run");
}

void assert_same_results(const prt_graph *a, const prt_graph *b, double tolerance, uint64_t seed)
{
    prt_arena *arena = NULL;
    prt_tensor x[16], y[16];
    require_ok(prt_arena_create(NULL, 0, &arena), "arena");
    ck_assert_uint_eq(a->ret->n_in, b->ret->n_in);
    ck_assert_uint_le(a->ret->n_in, 16);
    run_random(a, arena, seed * 2 + 1, x);
    run_random(b, arena, seed * 2 + 1, y);
    for (uint32_t i = 0; i < a->ret->n_in; i++)
        assert_same_tensor(&x[i], &y[i], tolerance, i);
    prt_arena_release(arena);
}

static int compare_held(const prt_graph *before, const prt_value *v)
{
    int count = 0;
    for (const prt_held *h = v->held; h != NULL; h = h->next, count++) {
        const prt_value *old = prt_map_find(&before->module->names, h->form.name);
        ck_assert_msg(old != NULL && old->constant != NULL, "%s", h->form.name.data);
        ck_assert(prt_weight_form_check(&h->form, v->type));
        unsigned char *copy = malloc(old->constant->size + 1);
        ck_assert_int_eq(prt_weight_form_restore(&h->form, v->constant->data, &prt_mem_libc, copy),
            POPRT_OK);
        ck_assert_msg(memcmp(copy, old->constant->data, old->constant->size) == 0,
            "%s is restored "
            "with other bits",
            h->form.name.data);
        free(copy);
    }
    return count;
}

int held_after_pass(const char *text, const char *pass)
{
    prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
    int count = 0;
    for (size_t i = 0; i < after->constants.count; i++)
        if (after->constants.data[i]->name.size != 0)
            after->constants.data[i]->initializer = PRT_INITIALIZER_only;
    (void)run_pass(after, pass, NULL);
    for (size_t i = 0; i < after->constants.count; i++)
        if (prt_value_used(after->constants.data[i]))
            count += compare_held(before, after->constants.data[i]);
    module_free(before);
    module_free(after);
    return count;
}

void assert_pass_keeps_results(const char *text, const char *pass, double tolerance)
{
    prt_graph *before = graph_from_text(text), *after = graph_from_text(text);
    ck_assert(run_pass(after, pass, NULL));
    for (uint64_t seed = 1; seed <= 4; seed++)
        assert_same_results(before, after, tolerance, seed * 77);
    module_free(before);
    module_free(after);
    (void)held_after_pass(text, pass);
}

void assert_text_has(const char *text, const char *parts)
{
    char part[64];
    int used;
    for (; sscanf(parts, " %63s%n", part, &used) == 1; parts += used)
        ck_assert_msg(part[0] == '!' ? strstr(text, part + 1) == NULL : strstr(text, part) != NULL,
            "%s:\n%s", part, text);
}
