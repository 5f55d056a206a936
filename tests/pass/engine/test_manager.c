/* SPDX-License-Identifier: MIT */
/*
 * test_manager.c — pass manager: registry, options, pipelines, order of passes, reports,
 * cancelling.
 * Covers: batch.c, pass.c, pipeline.c, registry.c, schedule.c.
 */
#include "pass/engine/manager.h"

#include "support/check_main.h"
#include "support/graph_text.h"
#include "support/onnx_check.h"

static const char *const model = "x = input f32[2]\n"
                                 "%0 = const f32[2] {1, 2}\n%1 = neg %0\n"
                                 "a = identity x\nb = add a %1\ny = exp b\nreturn y\n";

static prt_pass_manager *new_manager(void)
{
    prt_pass_manager *pm = NULL;
    ck_assert_int_eq(prt_pass_manager_create(NULL, &pm), POPRT_OK);
    return pm;
}

START_TEST(the_registry_is_in_order_and_complete)
{
    const char *before = "";
    uint32_t n = 0;
    for (const prt_pass_def *def; (def = prt_pass_of(n)) != NULL; n++) {
        ck_assert_int_lt(strcmp(before, def->name), 0);
        ck_assert_ptr_eq(prt_pass_find(def->name), def);
        ck_assert_uint_gt(strlen(def->doc), 10);
        ck_assert((def->hooks->run != NULL) != (def->hooks->rewrites != NULL));
        ck_assert((def->kind == PRT_PASS_pattern) == (def->hooks->rewrites != NULL));
        ck_assert_int_eq(prt_pass_check_args(def, 0, NULL), POPRT_OK);
        for (uint32_t i = 0; i < def->n_options; i++) {
            const prt_pass_arg arg = { def->options[i].name, def->options[i].initial };
            ck_assert_int_eq(prt_pass_check_args(def, 1, &arg), POPRT_OK);
        }
        before = def->name;
    }
    ck_assert_uint_eq(n, PRT_PASS_COUNT);
    ck_assert_ptr_null(prt_pass_find("nothing"));
}
END_TEST

START_TEST(pipelines_are_named)
{
    for (uint32_t i = 0; prt_pipeline_of(i) != NULL; i++) {
        prt_pass_manager *pm = new_manager();
        ck_assert_ptr_eq(prt_pipeline_find(prt_pipeline_of(i)->name), prt_pipeline_of(i));
        ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, prt_pipeline_of(i)->name, NULL),
            POPRT_OK);
        ck_assert_ptr_nonnull(prt_pass_manager_at(pm, 0));
        prt_pass_manager_release(pm);
    }
    ck_assert_ptr_nonnull(prt_pipeline_find("convert"));
}
END_TEST

START_TEST(unknown_names_give_the_nearest)
{
    prt_pass_manager *pm = new_manager();
    ck_assert_int_eq(prt_pass_manager_add(pm, "eliminate_identty", 0, NULL), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "eliminate_identity"));
    ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, "conver", NULL), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "convert"));
    ck_assert_int_eq(prt_pass_manager_skip(pm, "zzz"), POPRT_E_NOT_FOUND);
    ck_assert_int_eq(prt_pass_manager_register(pm, prt_pass_of(0)), POPRT_E_ARG);
    prt_pass_manager_release(pm);
}
END_TEST

START_TEST(options_are_checked)
{
    prt_pass_manager *pm = new_manager();
    const prt_pass_arg good = { "max_tensor_size", "-1" }, bad = { "max_tensor_size", "many" },
                       unknown = { "size", "1" };
    ck_assert_int_eq(prt_pass_manager_add(pm, "constant_folding", 1, &good), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(pm, "constant_folding", 1, &bad), POPRT_E_ARG);
    ck_assert_int_eq(prt_pass_manager_add(pm, "constant_folding", 1, &unknown), POPRT_E_ARG);
    ck_assert_ptr_null(prt_pass_manager_at(pm, 1));
    ck_assert_int_eq(prt_pass_manager_set(pm, "max_tensor_size", "x"), POPRT_E_ARG);
    ck_assert_int_eq(prt_pass_manager_set(pm, "max_tensor_size", "4"), POPRT_OK);
    prt_graph *g = graph_from_text("x = input f32[8]\n"
                                   "%0 = const f32[] {2}\n%1 = const i64[1] {8}\n"
                                   "a = expand %0 %1\ny = add x a\nreturn y\n");
    bool changed = true;
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, &changed), POPRT_OK);
    ck_assert(!changed);
    module_free(g);
    prt_pass_manager_release(pm);
}
END_TEST

START_TEST(a_pipeline_does_all_and_then_nothing)
{
    prt_graph *g = graph_from_text(model);
    prt_pass_manager *pm = new_manager();
    bool changed = false;
    ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, "convert", NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, &changed), POPRT_OK);
    ck_assert(changed);
    ck_assert_graph(g,
        "x = input f32[2]\n%0 = const f32[2] {-1, -2}\nb = add x %0 @Add_2\n"
        "y = exp b @Exp_3\nreturn y\n");
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, &changed), POPRT_OK);
    ck_assert(!changed);
    prt_pass_manager_release(pm);
    module_free(g);
}
END_TEST

START_TEST(passes_can_be_skipped)
{
    prt_graph *g = graph_from_text(model);
    prt_pass_manager *pm = new_manager();
    ck_assert_int_eq(prt_pass_manager_skip(pm, "constant_folding"), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, "convert", NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), POPRT_OK);
    ck_assert_graph(g,
        "x = input f32[2]\n%0 = const f32[2] {1, 2}\n%1 = neg %0 @Neg_0\n"
        "b = add x %1 @Add_2\ny = exp b @Exp_3\nreturn y\n");
    prt_pass_manager_release(pm);
    module_free(g);
}
END_TEST

typedef struct record {
    char passes[512];
    uint32_t before, after, changed;
    bool text_seen, stop;
} record;

static void note(void *user, const prt_pass_event *event)
{
    record *r = user;
    strcat(r->passes, event->pass);
    strcat(r->passes, " ");
    ck_assert_double_ge(event->ms, 0);
    if (event->changed)
        r->changed++;
    if (strcmp(event->pass, "eliminate_identity") == 0 && r->changed == 1) {
        r->before = event->ops_before;
        r->after = event->ops_after;
        ck_assert_ptr_nonnull(strstr(event->before, "identity"));
        ck_assert_ptr_null(strstr(event->after, "identity"));
        r->text_seen = true;
    } else {
        ck_assert((event->before != NULL) == (strcmp(event->pass, "eliminate_identity") == 0));
    }
}

static bool wants(void *user, const char *pass)
{
    (void)user;
    return strcmp(pass, "eliminate_identity") == 0;
}

static bool stop(void *user)
{
    return ((record *)user)->stop;
}

START_TEST(an_observer_hears_of_each_pass)
{
    prt_graph *g = graph_from_text(model);
    prt_pass_manager *pm = new_manager();
    record r = { .stop = false };
    const prt_pass_observer observer = { .user = &r,
        .done = note,
        .wants_text = wants,
        .cancelled = stop };
    prt_pass_manager_set_observer(pm, &observer);
    ck_assert_int_eq(prt_pass_manager_add(pm, "eliminate_identity", 0, NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(pm, "constant_folding", 0, NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), POPRT_OK);
    ck_assert_str_eq(r.passes, "eliminate_identity constant_folding ");
    ck_assert_uint_eq(r.before, 4);
    ck_assert_uint_eq(r.after, 3);
    ck_assert_uint_eq(r.changed, 2);
    ck_assert(r.text_seen);
    r.stop = true;
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), POPRT_E_CANCELLED);
    ck_assert_str_eq(prt_error_last()->stage, "pass");
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    prt_pass_manager_release(pm);
    module_free(g);
}
END_TEST

static void note_name(void *user, const prt_pass_event *event)
{
    record *r = user;
    (void)strcat(strcat(r->passes, event->pass), " ");
    r->changed += event->changed;
}

START_TEST(ir_passes_are_batched)
{
    static const prt_pass_arg small = { "max_tensor_size", "100" };
    static const char *const passes[] = { "eliminate_identity", "eliminate_nop_cast",
        "eliminate_deadend", "constant_folding", "eliminate_identity",
        "check_unsupported_attribute", "eliminate_nop_pad", "eliminate_duplicate_nodes" };
    prt_graph *g = graph_from_text(model), *plain = graph_from_text(model);
    prt_pass_manager *pm = new_manager(), *one = new_manager();
    record r = { .stop = false };
    const prt_pass_observer observer = { .user = &r, .done = note_name };
    for (size_t i = 0; i < PRT_COUNT_OF(passes); i++) {
        const bool folds = strcmp(passes[i], "constant_folding") == 0;
        ck_assert_int_eq(prt_pass_manager_add(pm, passes[i], folds, &small), POPRT_OK);
        ck_assert_int_eq(prt_pass_manager_add(one, passes[i], folds, &small), POPRT_OK);
    }
    prt_pass_manager_set_observer(pm, &observer);
    prt_pass_manager_set_batching(pm, true);
    bool changed = false;
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, &changed), POPRT_OK);
    ck_assert(changed);
    /* a single pass, a pass with arguments and a check are not batched */
    ck_assert_str_eq(r.passes,
        "apply_ir_pass constant_folding eliminate_identity "
        "check_unsupported_attribute apply_ir_pass ");
    ck_assert_uint_eq(r.changed, 2);
    ck_assert_int_eq(prt_pass_manager_run(one, plain->module, NULL), POPRT_OK);
    ck_assert_str_eq(graph_text(g), graph_text(plain));
    prt_pass_manager_release(pm);
    prt_pass_manager_release(one);
    module_free(g);
    module_free(plain);
}
END_TEST

START_TEST(lists_ignore_blanks)
{
    static const prt_pass_option option = { "names", PRT_OPTION_list, "", "", NULL };
    static const prt_pass_def def = { .name = "d", .n_options = 1, .options = &option };
    const prt_pass_arg arg = { "names", " a, b c ,,d" };
    const prt_pass p = { .def = &def, .n_args = 1, .args = &arg };
    ck_assert(prt_pass_lists(&p, "names", PRT_STR("a")));
    ck_assert(prt_pass_lists(&p, "names", PRT_STR("b c")));
    ck_assert(prt_pass_lists(&p, "names", PRT_STR("d")));
    ck_assert(!prt_pass_lists(&p, "names", PRT_STR("")));
    ck_assert(!prt_pass_lists(&p, "names", PRT_STR("b")));
}
END_TEST

/* ---- order */

static poprt_status run_nothing(prt_pass *p, prt_graph *graph, bool *changed)
{
    (void)graph;
    (void)changed;
    return prt_pass_check(p);
}

static const prt_pass_hooks nothing = { .run = run_nothing };

#define ROW(row, ...)                                                                              \
    static const prt_pass_order orders_##row[] = { __VA_ARGS__ };                                  \
    static const prt_pass_def row = { .name = #row,                                                \
        .kind = PRT_PASS_graph,                                                                    \
        .since = PRT_NOT_IN_REFERENCE,                                                             \
        .doc = "",                                                                                 \
        .hooks = &nothing,                                                                         \
        .n_orders = PRT_COUNT_OF(orders_##row),                                                    \
        .orders = orders_##row }

ROW(first, { PRT_RELATION_before, "second" });
ROW(second, { PRT_RELATION_before, "third" });
ROW(third, { PRT_RELATION_before, "eliminate_identity" });
ROW(needy, { PRT_RELATION_depend, "constant_folding" });
ROW(lost, { PRT_RELATION_depend, "constant_foldin" });
ROW(lonely, { PRT_RELATION_against, "first" });
ROW(ring, { PRT_RELATION_before, "first" }, { PRT_RELATION_depend, "third" });

static poprt_status add_row(prt_pass_manager *pm, const prt_pass_def *row)
{
    ck_assert_int_eq(prt_pass_manager_register(pm, row), POPRT_OK);
    return prt_pass_manager_add(pm, row->name, 0, NULL);
}

static void assert_order(prt_pass_manager *pm, const char *expected)
{
    char names[512] = "";
    ck_assert_int_eq(prt_pass_manager_sort(pm), POPRT_OK);
    for (size_t i = 0; prt_pass_manager_at(pm, i) != NULL; i++) {
        strcat(names, i != 0 ? " " : "");
        strcat(names, prt_pass_manager_at(pm, i)->name);
    }
    ck_assert_str_eq(names, expected);
}

START_TEST(passes_are_put_in_order)
{
    prt_pass_manager *pm = new_manager();
    ck_assert_int_eq(prt_pass_manager_add(pm, "eliminate_deadend", 0, NULL), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add(pm, "eliminate_identity", 0, NULL), POPRT_OK);
    ck_assert_int_eq(add_row(pm, &third), POPRT_OK);
    ck_assert_int_eq(add_row(pm, &needy), POPRT_OK);
    ck_assert_int_eq(add_row(pm, &first), POPRT_OK);
    ck_assert_int_eq(add_row(pm, &second), POPRT_OK);
    static const char order[] = "eliminate_deadend constant_folding needy first second third "
                                "eliminate_identity";
    assert_order(pm, order);
    assert_order(pm, order);
    prt_pass_manager_release(pm);
}
END_TEST

START_TEST(passes_of_a_loop_move_together)
{
    prt_pass_manager *pm = new_manager();
    ck_assert_int_eq(prt_pass_manager_skip(pm, "fuse_quantized"), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, "convert", NULL), POPRT_OK);
    ck_assert_int_eq(add_row(pm, &third), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_sort(pm), POPRT_OK);
    size_t i = 0;
    while (prt_pass_manager_at(pm, i) != &third)
        i++;
    bool identity = false;
    for (size_t k = 0; prt_pass_manager_at(pm, k) != NULL; k++)
        if (strcmp(prt_pass_manager_at(pm, k)->name, "eliminate_identity") == 0) {
            ck_assert_uint_gt(k, i);
            identity = true;
        }
    ck_assert(identity);
    prt_pass_manager_release(pm);
}
END_TEST

static void assert_no_order(const prt_pass_def *row, poprt_status status, const char *part)
{
    prt_pass_manager *pm = new_manager();
    prt_graph *g = graph_from_text(model);
    ck_assert_int_eq(add_row(pm, &third), POPRT_OK);
    ck_assert_int_eq(add_row(pm, &second), POPRT_OK);
    ck_assert_int_eq(add_row(pm, &first), POPRT_OK);
    ck_assert_int_eq(add_row(pm, row), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), status);
    ck_assert_msg(strstr(prt_error_last()->message, part) != NULL, "%s", prt_error_last()->message);
    prt_pass_manager_release(pm);
    module_free(g);
}

static const char *get_setting(void *user, const char *key)
{
    const char *const *pairs = user;
    for (; pairs[0] != NULL; pairs += 2)
        if (strcmp(pairs[0], key) == 0)
            return pairs[1];
    return NULL;
}

static bool lists(const prt_pass_manager *pm, const char *name)
{
    size_t i = 0;
    while (
        prt_pass_manager_at(pm, i) != NULL && strcmp(prt_pass_manager_at(pm, i)->name, name) != 0)
        i++;
    return prt_pass_manager_at(pm, i) != NULL;
}

START_TEST(settings_choose_the_passes_of_a_pipeline)
{
    static const char *const pairs[] = { "checkpoints", "b", "eightbitsio", "false", "passes",
        " third, sort_graph ,", NULL };
    const prt_pass_settings settings = { (void *)(uintptr_t)pairs, get_setting };
    prt_pass_manager *pm = new_manager();
    prt_graph *g = graph_from_text(model);
    ck_assert_int_eq(prt_pass_manager_register(pm, &third), POPRT_OK);
    ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, "convert", &settings), POPRT_OK);
    ck_assert(lists(pm, "add_checkpoints") && lists(pm, "third") && lists(pm, "sort_graph"));
    ck_assert(!lists(pm, "eight_bits_io") && !lists(pm, "remove_outputs"));
    ck_assert_int_eq(prt_pass_manager_run(pm, g->module, NULL), POPRT_OK);
    ck_assert_uint_eq(g->ret->n_in, 2);
    prt_pass_manager_release(pm);
    module_free(g);
    static const char *const wrong[] = { "passes", "eliminate_identty", NULL };
    const prt_pass_settings bad = { (void *)(uintptr_t)wrong, get_setting };
    pm = new_manager();
    ck_assert_int_eq(prt_pass_manager_add_pipeline(pm, "convert", &bad), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "eliminate_identity"));
    prt_pass_manager_release(pm);
}
END_TEST

START_TEST(impossible_orders_are_refused)
{
    assert_no_order(&lonely, POPRT_E_ARG, "lonely and first exclude each other");
    assert_no_order(&ring, POPRT_E_ARG, "cycle");
    assert_no_order(&lost, POPRT_E_NOT_FOUND, "constant_folding");
}
END_TEST

/* Runs one pass with its default options; a pass that refuses those or the model is left out. */
static void check_interface(const prt_pass_def *def, const char *text)
{
    prt_graph *g = graph_from_text(text);
    prt_pass_manager *pm = new_manager();
    poprt_status status = prt_pass_manager_add(pm, def->name, 0, NULL);
    if (status == POPRT_OK)
        status = prt_pass_manager_run(pm, g->module, NULL);
    ck_assert_int_ne(status, POPRT_E_INTERNAL);
    status = prt_ir_verify(g->module);
    ck_assert_msg(status == POPRT_OK, "%s: %s\n%s", def->name, prt_error_last()->message, text);
    prt_module *again = onnx_loaded(onnx_written(g->module));
    ck_assert_uint_eq(again->main->ret->n_in, g->ret->n_in);
    for (uint32_t i = 0; i < g->ret->n_in; i++)
        ck_assert(prt_str_equal(again->main->output_names.data[i], g->output_names.data[i]));
    prt_module_release(again);
    prt_pass_manager_release(pm);
    module_free(g);
}

/* Inputs, constants and results are returned once and again, under their own name and others. */
START_TEST(no_pass_gives_a_name_to_two_values)
{
    static const char *const texts[] = {
        "x = input f32[1,3,2,2]\nd = input f32[2] {3, 4}\nc = const f32[2] {1, 2}\n"
        "n = neg x\ny = tanh n\nz = identity y\nm = mul n d\n"
        "return x, x as o, x, d, d as p, d, c, c as q, c, y, z, y, y as r, z, z as r2, m, m\n",
        "i = input i64[2,4]\nk = const i64[1] {-1}\ns = shape i\nt = sub s k\nr = neg i\n"
        "e = reshape i k\nreturn i, k, i as j, k as l, i, k, s, t, s, t as u, r, r, e, e, r as v\n",
        "q = input bool[]\nx = input f32[2]\nc = const f32[2] {1, 2}\ny, z, w = if q {\n"
        "  then_branch { t = neg x; return t, t, c }\n  else_branch { return x, c, x }\n}\n"
        "h = const i64[] {2}\nb = const bool[] {true}\nl, m = loop h b y {\n  body {\n"
        "    i = input i64[]\n    p = input bool[]\n    s = input f32[2]\n    return b, s, s\n"
        "  }\n}\nreturn y, z, y, w, l, m, l as o, m as n, l, x, c, x\n",
        "x = input f16[2,2]\nd = input f64[2]\nc = const f64[2] {1, 2}\ny = matmul x x\n"
        "z = add d c\nw = dropout y\nreturn y, y, w, w as v, z, z as u, z, c, d, c, d, x, x\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        for (uint32_t k = 0; prt_pass_of(k) != NULL; k++)
            if (strcmp(prt_pass_of(k)->name, "layer_precision_compare") != 0)
                check_interface(prt_pass_of(k), texts[i]);
}
END_TEST

/* Counts live allocations and refuses request number `fail_at`. */
typedef struct stingy {
    size_t requests, fail_at, alive;
} stingy;

static void *stingy_alloc(void *user, size_t size, size_t align)
{
    stingy *s = user;
    if (s->requests++ == s->fail_at)
        return NULL;
    s->alive++;
    return prt_mem_libc.alloc(prt_mem_libc.user, size, align);
}

static void stingy_release(void *user, void *ptr)
{
    ((stingy *)user)->alive--;
    prt_mem_libc.release(prt_mem_libc.user, ptr);
}

static poprt_status convert(const prt_allocator *allocator, const char *pipeline, const char *text)
{
    prt_module *module = NULL, *copy = NULL;
    prt_pass_manager *pm = NULL;
    poprt_status status = prt_module_create(allocator, 0, &module);
    if (status == POPRT_OK)
        status = prt_ir_parse(module, prt_str_of(text));
    if (status == POPRT_OK)
        status = prt_ir_clone(module, &copy);
    prt_module_release(module);
    if (status == POPRT_OK)
        status = prt_pass_manager_create(allocator, &pm);
    if (status == POPRT_OK)
        status = prt_pass_manager_add_pipeline(pm, pipeline, NULL);
    if (status == POPRT_OK) {
        status = prt_pass_manager_run(pm, copy, NULL);
        /* Whatever happened, the module is sound. */
        ck_assert_int_ne(prt_ir_verify(copy), POPRT_E_INTERNAL);
    }
    prt_pass_manager_release(pm);
    prt_module_release(copy);
    return status;
}

static void refuse_memory(const char *pipeline, const char *text)
{
    size_t k = 0;
    for (;; k++) {
        stingy s = { .fail_at = k };
        const prt_allocator allocator = { .user = &s,
            .alloc = stingy_alloc,
            .release = stingy_release };
        const poprt_status status = convert(&allocator, pipeline, text);
        ck_assert_uint_eq(s.alive, 0);
        if (s.requests <= k) {
            ck_assert_int_eq(status, POPRT_OK);
            break;
        }
        /* Folding skips an op if memory for it is missing; every other pass reports the failure. */
        ck_assert(status == POPRT_OK || status == POPRT_E_NOMEM);
    }
    ck_assert_uint_gt(k, 30);
}

START_TEST(every_refusal_of_memory_is_survived)
{
    static const char text[] =
        "c = input bool[]\nx = input f32[1,2,n]\n"
        "w = const f32[2,2,1] {1, 2, 3, 4}\n%9 = const f32[2] {1, 2}\n"
        "s = const string[2] {\"a\", \"bc\"}\n"
        "a = identity x\nk = conv a w\nb = batch_normalization k %9 %9 %9 %9\n"
        "d = shape b {start=0, end=2}\n%6 = const i64[2] {1, 1}\nq = mul %6 %6\ne = min d q\n"
        "r = if c { then_branch { t = exp b; u = identity t; v = neg u; return v }\n"
        "          else_branch { %5 = neg %9; z = reduce_sum %5; y = add b z; return y } }\n"
        "f = expand r e\ng = transpose f {perm=[0,2,1]}\nh = add g %9\n"
        "i = transpose h {perm=[0,2,1]}\nreturn i, s\n";
    refuse_memory("convert", text);
    refuse_memory("tensorflow", text);
}
END_TEST

PRT_TEST_MAIN("pass/manager", the_registry_is_in_order_and_complete, pipelines_are_named,
    unknown_names_give_the_nearest, options_are_checked, a_pipeline_does_all_and_then_nothing,
    passes_can_be_skipped, an_observer_hears_of_each_pass, ir_passes_are_batched,
    lists_ignore_blanks, passes_are_put_in_order, passes_of_a_loop_move_together,
    settings_choose_the_passes_of_a_pipeline, impossible_orders_are_refused,
    no_pass_gives_a_name_to_two_values, every_refusal_of_memory_is_survived)
