/* SPDX-License-Identifier: MIT */
/*
 * test_graph.c — use lists, editing, erasing, names, and the sticky builder.
 * Covers: build.c.
 */
#include "ir/build.h"
#include "support/check_main.h"
#include "support/graph_text.h"

static prt_value *find_value(const prt_graph *g, const char *name)
{
    prt_value *v = prt_map_find(&g->module->names, prt_str_of(name));
    ck_assert_ptr_nonnull(v);
    return v;
}

static size_t count_uses(const prt_value *v)
{
    size_t n = 0;
    for (const prt_use *u = v->uses; u != NULL; u = u->next)
        n++;
    return n;
}

START_TEST(uses_follow_inputs)
{
    prt_graph *g = graph_from_text("x = input f32[2]\na = add x x\nb = neg a\nreturn b, a\n");
    prt_value *x = find_value(g, "x"), *a = find_value(g, "a");
    ck_assert_uint_eq(count_uses(x), 2);
    ck_assert_uint_eq(count_uses(a), 2);
    ck_assert(prt_value_is_output(a) && !prt_value_is_output(x));
    prt_op_set_input(a->def, 1, NULL);
    ck_assert_uint_eq(count_uses(x), 1);
    ck_assert(prt_value_used_once(x));
    prt_op_set_input(a->def, 1, x);
    prt_op_set_input(a->def, 1, x);
    ck_assert_uint_eq(count_uses(x), 2);
    ck_assert_int_eq(prt_ir_verify(g->module), POPRT_OK);
    module_free(g);
}
END_TEST

START_TEST(added_inputs_keep_the_order_of_the_others)
{
    prt_graph *g = graph_from_text("x = input f32[2]\ny = input f32[2]\na = max x y x\nreturn a\n");
    prt_op *op = find_value(g, "a")->def;
    ck_assert_int_eq(prt_op_add_input(op, find_value(g, "y")), POPRT_OK);
    ck_assert_graph(g, "x = input f32[2]\ny = input f32[2]\na = max x y x y\nreturn a\n");
    ck_assert_uint_eq(count_uses(find_value(g, "x")), 2);
    module_free(g);
}
END_TEST

START_TEST(replacing_moves_all_uses_and_touches_their_ops)
{
    prt_graph *g = graph_from_text("c = input bool[]\n"
                                   "x = input f32[2]\n"
                                   "a = neg x\n"
                                   "r = if c {\n  then_branch { t = add a a; return t }\n"
                                   "  else_branch { return a }\n}\n"
                                   "return r, a as out\n");
    static const char bytes[] = "source";
    prt_value *a = find_value(g, "a"), *x = find_value(g, "x");
    a->def->next->source = bytes;
    find_value(g, "t")->def->source = bytes;
    prt_value_replace(a, x);
    ck_assert(!prt_value_used(a));
    ck_assert_uint_eq(count_uses(x), 5);
    ck_assert_ptr_null(a->def->next->source);
    ck_assert_ptr_null(find_value(g, "t")->def->source);
    prt_op_erase(a->def);
    ck_assert_graph(g,
        "c = input bool[]\nx = input f32[2]\n"
        "r = if c {\n  then_branch { t = add x x; return t }\n"
        "  else_branch { return x }\n}\nreturn r, x as out\n");
    module_free(g);
}
END_TEST

START_TEST(erasing_an_op_releases_its_regions)
{
    prt_graph *g = graph_from_text("c = input bool[]\n"
                                   "x = input f32[2]\n"
                                   "r = if c {\n  then_branch { t = neg x; return t }\n"
                                   "  else_branch { return x }\n}\n"
                                   "return x as y\n");
    prt_value *x = find_value(g, "x");
    prt_op_erase(g->first);
    ck_assert(prt_value_used_once(x));
    ck_assert(find_value(g, "t")->def->dead);
    ck_assert_graph(g, "c = input bool[]\nx = input f32[2]\nreturn x as y\n");
    /* Names of erased values are free again, also names in regions. */
    prt_build b = prt_build_at_end(g);
    ck_assert_int_eq(prt_value_set_name(prt_build_unary(&b, PRT_OP_neg, x), PRT_STR("r")),
        POPRT_OK);
    ck_assert_int_eq(prt_value_set_name(prt_build_unary(&b, PRT_OP_neg, x), PRT_STR("t")),
        POPRT_OK);
    ck_assert_int_eq(prt_value_set_name(prt_build_unary(&b, PRT_OP_neg, x), PRT_STR("x")),
        POPRT_E_PARSE);
    module_free(g);
}
END_TEST

START_TEST(ops_move_to_their_new_place)
{
    prt_graph *g =
        graph_from_text("x = input f32[2]\na = neg x\nb = exp x\nc = abs x\nreturn a, b, c\n");
    prt_op_move_before(find_value(g, "c")->def, find_value(g, "a")->def);
    ck_assert_graph(g, "x = input f32[2]\nc = abs x\na = neg x\nb = exp x\nreturn a, b, c\n");
    prt_op_move_before(find_value(g, "c")->def, NULL);
    ck_assert_graph(g, "x = input f32[2]\na = neg x\nb = exp x\nc = abs x\nreturn a, b, c\n");
    module_free(g);
}
END_TEST

START_TEST(fresh_names_are_unused)
{
    prt_graph *g = graph_from_text("x = input f32[2]\nreturn x as y\n");
    ck_assert(prt_str_is(prt_module_fresh_name(g->module, "y"), "y"));
    ck_assert(!prt_str_is(prt_module_fresh_name(g->module, "x"), "x"));
    module_free(g);
}
END_TEST

START_TEST(the_builder_replaces_and_sweeps)
{
    prt_graph *g = graph_from_text("x = input f32[2]\n"
                                   "u = exp x\nv = abs x\nw = add u v\ny = neg w\n"
                                   "z = mul y y\nreturn z\n");
    prt_value *y = find_value(g, "y"), *x = find_value(g, "x");
    prt_build b = prt_build_before(y->def);
    prt_value *two = prt_build_scalar(&b, PRT_DTYPE_f32, 2);
    prt_build_replace(&b, y, prt_build_binary(&b, PRT_OP_mul, x, two));
    ck_assert_int_eq(prt_build_status(&b), POPRT_OK);
    ck_assert_graph(g,
        "x = input f32[2]\n%0 = const f32[] {2}\ny = mul x %0\nz = mul y y\nreturn z\n");
    module_free(g);
}
END_TEST

START_TEST(the_sweep_stops_at_values_with_readers)
{
    prt_graph *g = graph_from_text("x = input f32[2]\nu = exp x\nv = neg u\nw = add v u\n"
                                   "return w, u\n");
    prt_build b = prt_build_before(find_value(g, "w")->def);
    prt_build_replace(&b, find_value(g, "w"), find_value(g, "x"));
    ck_assert_graph(g, "x = input f32[2]\nu = exp x\nreturn x as w, u\n");
    module_free(g);
}
END_TEST

START_TEST(the_builder_reports_its_first_failure)
{
    prt_graph *g = graph_from_text("x = input f32[2]\ny = input f32[3]\nreturn x, y\n");
    prt_build b = prt_build_at_end(g);
    prt_value *sum = prt_build_binary(&b, PRT_OP_add, find_value(g, "x"), find_value(g, "y"));
    ck_assert_ptr_null(sum);
    ck_assert_ptr_null(prt_build_unary(&b, PRT_OP_neg, sum));
    prt_build_replace(&b, find_value(g, "x"), sum);
    ck_assert_int_eq(prt_build_status(&b), POPRT_E_SHAPE);
    module_free(g);
}
END_TEST

START_TEST(outputs_beyond_the_first_get_types_before_they_are_read)
{
    prt_graph *g = graph_from_text("x = input f32[4,2]\nreturn x\n");
    prt_build b = prt_build_at_end(g);
    const prt_split_attrs attrs = { .num_outputs = 2 };
    prt_value *in[1] = { find_value(g, "x") };
    const prt_op *op = prt_build_op_n(&b, PRT_OP_split, &attrs, 1, in, 2);
    ck_assert_ptr_nonnull(op);
    ck_assert(prt_type_is_static(op->out[1].type));
    module_free(g);
}
END_TEST

START_TEST(unused_constants_can_be_dropped)
{
    prt_graph *g = graph_from_text("x = input f32[2]\n"
                                   "a = const f32[2] {1, 2}\n"
                                   "b = const f32[2] {3, 4}\n"
                                   "y = add x b\nreturn y\n");
    prt_build at = prt_build_at_end(g);
    ck_assert_ptr_nonnull(prt_build_i64(&at, 3));
    ck_assert_uint_eq(g->module->blobs.count, 3);
    ck_assert_uint_eq(prt_graph_drop_constants(g, true), 1);
    ck_assert_uint_eq(prt_graph_drop_constants(g, true), 0);
    ck_assert_uint_eq(prt_graph_drop_constants(g, false), 1);
    ck_assert_uint_eq(g->module->blobs.count, 1);
    ck_assert_graph(g, "x = input f32[2]\nb = const f32[2] {3, 4}\ny = add x b\nreturn y\n");
    prt_value *again = prt_build_i64(&at, 3);
    ck_assert_int_eq(prt_value_set_name(again, PRT_STR("a")), POPRT_OK);
    module_free(g);
}
END_TEST

START_TEST(constants_at_odd_addresses_are_aligned_for_kernels)
{
    prt_graph *g = graph_from_text("x = input f32[3]\nreturn x\n");
    prt_blob *whole = NULL, *view = NULL;
    const float values[3] = { 1, 2, 3 };
    const int64_t dim = 3;
    ck_assert_int_eq(prt_blob_create(NULL, 16, &whole), POPRT_OK);
    memcpy(prt_blob_bytes(whole) + 1, values, 12);
    ck_assert_int_eq(prt_blob_view(whole, 1, 12, &view), POPRT_OK);
    prt_blob_release(whole);
    prt_value *w = prt_graph_add_constant(g, PRT_STR("w"),
        prt_type_tensor(g->module->types, PRT_DTYPE_f32, 1, &dim), view);
    prt_tensor t;
    ck_assert(prt_value_tensor(w, &t));
    ck_assert_uint_ne((uintptr_t)t.data % 4, 0);
    ck_assert(prt_value_aligned(w, g->module->arena, &t));
    ck_assert_uint_eq((uintptr_t)t.data % 4, 0);
    ck_assert_mem_eq(t.data, values, 12);
    prt_build b = prt_build_at_end(g);
    prt_op_set_input(g->ret, 0, prt_build_binary(&b, PRT_OP_add, find_value(g, "x"), w));
    assert_same_results(g, g, 0, 3);
    module_free(g);
}
END_TEST

PRT_TEST_MAIN("ir/graph", uses_follow_inputs, added_inputs_keep_the_order_of_the_others,
    replacing_moves_all_uses_and_touches_their_ops, erasing_an_op_releases_its_regions,
    ops_move_to_their_new_place, fresh_names_are_unused, the_builder_replaces_and_sweeps,
    the_sweep_stops_at_values_with_readers, the_builder_reports_its_first_failure,
    outputs_beyond_the_first_get_types_before_they_are_read, unused_constants_can_be_dropped,
    constants_at_odd_addresses_are_aligned_for_kernels)
