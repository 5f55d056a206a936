/* SPDX-License-Identifier: MIT */
/*
 * test_prepare.c — passes that prepare a model: its interface, constants, shapes, names.
 * Covers: checks.c, initializers.c, input_shape.c, nodes.c, outputs.c, overview.c.
 */
#include <stdio.h>
#include <string.h>

#include "ir/extra.h"
#include "ir/interface.h"
#include "support/check_main.h"
#include "support/graph_text.h"

START_TEST(checkpoints_become_outputs)
{
    static const char model[] = "x = input f32[2]\na = exp x\nb = neg a\ny = abs b\nreturn y\n";
    assert_pass_rewrites("add_checkpoints", "checkpoints=b,a,y", model,
        "x = input f32[2]\na = exp x\nb = neg a\ny = abs b\nreturn y, b, a\n");
    assert_pass_leaves("add_checkpoints", "checkpoints= y ,", model);
    assert_pass_leaves("add_checkpoints", NULL, model);
    assert_pass_fails("add_checkpoints", "checkpoints=q", model, POPRT_E_NOT_FOUND,
        "the model has no tensor of this name");
    assert_pass_fails("add_checkpoints", "checkpoints=t",
        "c = input bool[]\nx = input f32[2]\nr = if c {\n"
        "  then_branch { t = exp x; u = neg t; return u }\n"
        "  else_branch { v = neg x; return v }\n}\n"
        "return r\n",
        POPRT_E_ARG, "subgraph");
}
END_TEST

/* Once; a second time the outputs would not be there. */
static void assert_removes(const char *options, const char *before, const char *after)
{
    prt_graph *g = graph_from_text(before);
    ck_assert(run_pass(g, "remove_outputs", options));
    ck_assert_graph(g, after);
    module_free(g);
}

START_TEST(removed_outputs_take_their_producers_along)
{
    static const char model[] = "x = input f32[2]\nz = input f32[2]\na = exp x\nb = neg a\n"
                                "d = abs z\ne = add d b\ny = abs b\nreturn y as one, e, e as two\n";
    assert_removes("outputs=e,two", model,
        "x = input f32[2]\nz = input f32[2]\na = exp x\nb = neg a\ny = abs b\nreturn y as one\n");
    assert_removes("outputs=e", model,
        "x = input f32[2]\nz = input f32[2]\na = exp x\nb = neg a\nd = abs z\ne = add d b\n"
        "y = abs b\nreturn y as one, e as two\n");
    assert_pass_leaves("remove_outputs", NULL, model);
    assert_pass_fails("remove_outputs", "outputs=one,e,two", model, POPRT_E_ARG, "nothing");
    assert_pass_fails("remove_outputs", "outputs=three", model, POPRT_E_NOT_FOUND, "no output");
}
END_TEST

START_TEST(an_output_that_a_region_reads_keeps_its_maker)
{
    static const char after[] = "c = input bool[]\nx = input f32[2]\na = exp x\n"
                                "r = if c {\n  then_branch { t = neg a; return t }\n"
                                "  else_branch { v = neg x; return v }\n}\nreturn r\n";
    char before[400];
    ck_assert_int_gt(snprintf(before, sizeof(before), "%.*sreturn r, a\n",
                         (int)(sizeof(after) - sizeof("return r\n")), after),
        0);
    assert_removes("outputs=a", before, after);
}
END_TEST

START_TEST(inputs_with_defaults_become_constants)
{
    assert_pass_rewrites("remove_initializer_from_input", NULL,
        "w = input f32[2] {1, 2}\nx = input f32[2]\nu = input f32[1] {3}\n"
        "y = add x w\nreturn y\n",
        "x = input f32[2]\nw = const f32[2] {1, 2}\nu = const f32[1] {3}\ny = add x w\n"
        "return y\n");
    assert_pass_leaves("remove_initializer_from_input", NULL,
        "x = input f32[2]\nw = const f32[2] {1, 2}\ny = add x w\nreturn y\n");
    assert_pass_leaves("remove_initializer_from_input", NULL,
        "x = input f32[2]\nw = input f32[2]\ny = add x w\nreturn y\n");
}
END_TEST

/* GraphProto.input with a ValueInfoProto of that name alone. */
static prt_raw input_named(const char *bytes, prt_raw *next)
{
    return (prt_raw){ .field = 11, .bytes = bytes, .size = strlen(bytes), .next = next };
}

/* The model lists w and x as inputs; w is a constant. */
START_TEST(constants_are_listed_no_longer)
{
    prt_graph *g = graph_from_text("x = input f32[2]\nw = const f32[2] {1, 2}\ny = add x w\n"
                                   "return y\n");
    prt_raw x = input_named("\x5a\x03\x0a\x01x", NULL);
    prt_raw w = input_named("\x5a\x03\x0a\x01w", &x);
    g->extra = &w;
    ck_assert(run_pass(g, "remove_initializer_from_input", NULL));
    ck_assert_ptr_eq(g->extra, &x);
    ck_assert_ptr_null(x.next);
    ck_assert(!run_pass(g, "remove_initializer_from_input", NULL));
    module_free(g);
}
END_TEST

START_TEST(constants_leave_regions)
{
    static const char before[] =
        "c = input bool[]\nx = input f32[2]\nr = if c {\n"
        "  then_branch { w = const f32[2] {1, 2}; t = add x w; return t }\n"
        "  else_branch { u = const f32[2] {5, 6}; return u }\n}\nreturn r\n";
    assert_pass_rewrites("move_subgraph_initializer", NULL, before,
        "c = input bool[]\nx = input f32[2]\nw = const f32[2] {1, 2}\nr = if c {\n"
        "  then_branch { t = add x w; return t }\n"
        "  else_branch { u = const f32[2] {5, 6}; return u }\n}\nreturn r\n");
    assert_pass_keeps_results(before, "move_subgraph_initializer", 0);
    assert_pass_leaves("move_subgraph_initializer", NULL,
        "x = input f32[2]\nw = const f32[2] {1, 2}\ny = add x w\nreturn y\n");
}
END_TEST

START_TEST(batches_get_a_size)
{
    static const char model[] = "x = input f32[n,3]\nz = input f32[4,m]\ns = input f32[]\n"
                                "a = mul x s\ny = neg z\nreturn a, y\n";
    assert_pass_rewrites("const_batch_size", NULL, model,
        "x = input f32[1,3]\nz = input f32[4,m]\ns = input f32[]\na = mul x s\ny = neg z\n"
        "return a, y\n");
    prt_graph *g = graph_from_text(model);
    ck_assert(run_pass(g, "const_batch_size", "const_batch_size=8"));
    ck_assert_int_eq(g->ret->in[0].value->type->dims[0], 8);
    module_free(g);
    assert_pass_fails("const_batch_size", "const_batch_size=0", model, POPRT_E_ARG, "batch");
    assert_pass_leaves("const_batch_size", NULL, "x = input f32[2,n]\ny = neg x\nreturn y\n");
}
END_TEST

START_TEST(inputs_get_shapes)
{
    static const char model[] = "x = input f32[n,3]\nz = input f32[n,m]\na = neg x\ny = neg z\n"
                                "return a, y\n";
    assert_pass_rewrites("const_input_shape", "const_input_shape={\"x\": [2,3]}", model,
        "x = input f32[2,3]\nz = input f32[2,m]\na = neg x\ny = neg z\nreturn a, y\n");
    assert_pass_rewrites("const_input_shape", "const_input_shape={\"z\": [-1,7]}", model,
        "x = input f32[n,3]\nz = input f32[n,7]\na = neg x\ny = neg z\nreturn a, y\n");
    assert_pass_rewrites("const_input_shape", "batch_size=5, batch_axis=0", model,
        "x = input f32[5,3]\nz = input f32[5,m]\na = neg x\ny = neg z\nreturn a, y\n");
    assert_pass_leaves("const_input_shape", NULL, model);
    assert_pass_fails("const_input_shape", "batch_size=5", model, POPRT_E_ARG, "work together");
    assert_pass_fails("const_input_shape", "batch_size=5, batch_axis=2", model, POPRT_E_SHAPE,
        "axis 2");
    assert_pass_fails("const_input_shape", "const_input_shape={\"x\": [2,4]}", model, POPRT_E_SHAPE,
        "cannot become 4");
    assert_pass_fails("const_input_shape", "const_input_shape={\"x\": [2]}", model, POPRT_E_SHAPE,
        "has 2 dimensions");
    assert_pass_fails("const_input_shape", "const_input_shape={\"w\": [2]}", model,
        POPRT_E_NOT_FOUND, "no input");
    assert_pass_fails("const_input_shape", "const_input_shape={\"x\": 2}", model, POPRT_E_ARG,
        "array");
    assert_pass_fails("const_input_shape", "const_input_shape=[2", model, POPRT_E_PARSE, "JSON");
}
END_TEST

START_TEST(nodes_get_names_of_their_own)
{
    static const char before[] =
        "c = input bool[]\nx = input f32[2]\na = exp x @one\nb = exp a\nd = neg b @one\n"
        "r = if c {\n  then_branch { t = exp d @one; return t }\n"
        "  else_branch { v = neg d @two; return v }\n}\n"
        "return r\n";
    assert_pass_rewrites("unique_name_for_nodes", NULL, before,
        "c = input bool[]\nx = input f32[2]\na = exp x @one\nb = exp a @Exp_0\nd = neg b @one_1\n"
        "r = if c {\n  then_branch { t = exp d @one_3; return t }\n"
        "  else_branch { v = neg d @two; return v }\n} @If_2\nreturn r\n");
    assert_pass_leaves("unique_name_for_nodes", NULL,
        "x = input f32[2]\na = exp x @one\ny = exp a @two\nreturn y\n");
    assert_pass_leaves("sort_graph", NULL, before);
    assert_pass_leaves("extract_constant_to_initializer", NULL, before);
}
END_TEST

START_TEST(images_are_fed_as_bytes)
{
    prt_graph *g = graph_from_text("x = input f32[n,3,2,2]\ny = relu x\nz = neg x\nreturn y, z\n");
    ck_assert(run_pass(g, "eight_bits_io", NULL));
    ck_assert_int_eq(g->inputs.data[0]->type->dtype, PRT_DTYPE_u8);
    ck_assert(prt_op_is(g->first, PRT_OP_cast));
    ck_assert(prt_value_used_once(g->inputs.data[0]));
    ck_assert(prt_op_is(g->first->next->next->next, PRT_OP_relu));
    /* 255 in the first channel: (1 - 0.485) / 0.229 */
    prt_tensor t;
    ck_assert(prt_value_tensor(g->first->next->in[1].value, &t));
    ck_assert_double_eq_tol(prt_load_f64(t.dtype, t.data, 0) * 255 * 0.229, 1, 1e-6);
    ck_assert(prt_value_tensor(g->first->next->next->in[1].value, &t));
    ck_assert_double_eq_tol(prt_load_f64(t.dtype, t.data, 2), 0.406 / 0.225, 1e-6);
    ck_assert(!run_pass(g, "eight_bits_io", NULL));
    module_free(g);
    assert_pass_leaves("eight_bits_io", NULL, "x = input f32[1,4,2,2]\ny = neg x\nreturn y\n");
    assert_pass_leaves("eight_bits_io", NULL, "x = input u8[1,3,2,2]\ny = identity x\nreturn y\n");
    assert_pass_leaves("eight_bits_io", NULL, "x = input f32[3,2,2]\ny = neg x\nreturn y\n");
}
END_TEST

#define THREE "a = input f32[2,1]\nb = input f32[2,1]\nc = input f32[2,1]\nd = input f32[2]\n"
#define SUM "e = add a b\nf = sub e c\ny = mul f d\nreturn y\n"

START_TEST(inputs_become_rows_of_one)
{
    prt_str config;
    prt_graph *g = graph_from_text(THREE SUM);
    ck_assert(run_pass(g, "apply_host_concat_split", "merged_inputs=[[\"fp32\",[2,1]]]"));
    ck_assert_graph(g,
        "d = input f32[2]\nhost_concat_0 = input f32[3,2]\n"
        "%0 = const i64[3] {1, 1, 1}\n%1 = const i64[2] {2, 1}\n"
        "%2, %3, %4 = split host_concat_0 %0\na = reshape %2 %1\n"
        "b = reshape %3 %1\nc = reshape %4 %1\n" SUM);
    ck_assert(prt_module_metadata(g->module, "HostConcatRunnerConfig", &config));
    ck_assert_str_eq(prt_arena_text(g->module->arena, config.data, config.size),
        "{\"host_concat_0\":{\"tensor_name\":\"host_concat_0\",\"input_tensor_names\":"
        "[\"a\",\"b\",\"c\"],\"shape\":[3,2],\"data_size_bytes\":24,\"dtype\":\"float32\"}}");
    module_free(g);
    g = graph_from_text(THREE SUM);
    ck_assert(run_pass(g, "apply_host_concat_split", "merged_inputs=[[\"float32\",[2,1],2]]"));
    ck_assert_uint_eq(g->inputs.count, 3); /* two in a group; the third is alone */
    module_free(g);
    assert_pass_leaves("apply_host_concat_split", "merged_inputs=[[\"fp16\",[2,1]]]", THREE SUM);
    assert_pass_leaves("apply_host_concat_split", "merged_inputs=[[\"fp32\",[2]]]", THREE SUM);
    assert_pass_fails("apply_host_concat_split", "merged_inputs=[[\"fp33\",[2]]]", THREE SUM,
        POPRT_E_ARG, "not an element type");
    assert_pass_fails("apply_host_concat_split", "merged_inputs=[[\"fp32\",2]]", THREE SUM,
        POPRT_E_ARG, "an item is");
}
END_TEST

START_TEST(the_last_pass_merges_constants_and_names_nodes)
{
    assert_pass_rewrites("final_check", NULL,
        "x = input f32[2]\nu = const f32[2] {1, 2}\nw = const f32[2] {1, 2}\na = add x u\n"
        "y = mul a w @same\nz = neg a @same\nreturn y, z\n",
        "x = input f32[2]\nu = const f32[2] {1, 2}\na = add x u @Add_0\n"
        "y = mul a u @same\nz = neg a @same_1\nreturn y, z\n");
}
END_TEST

START_TEST(checks_and_overviews_change_nothing)
{
    static const char model[] = "x = input f32[n]\ny = exp x\nreturn y\n";
    assert_pass_leaves("check_unsupported_attribute", NULL, model);
    assert_pass_leaves("model_overview", NULL, model);
    assert_pass_leaves("model_io_info_stat", NULL, model);
}
END_TEST

PRT_TEST_MAIN("pass/prepare", checkpoints_become_outputs,
    removed_outputs_take_their_producers_along, an_output_that_a_region_reads_keeps_its_maker,
    inputs_with_defaults_become_constants, constants_are_listed_no_longer, constants_leave_regions,
    batches_get_a_size, inputs_get_shapes, nodes_get_names_of_their_own, images_are_fed_as_bytes,
    inputs_become_rows_of_one, the_last_pass_merges_constants_and_names_nodes,
    checks_and_overviews_change_nothing)
