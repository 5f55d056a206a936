/* SPDX-License-Identifier: MIT */
/* test_subgraphs.c — builders of subgraphs: If, Loop, Scan and Call. */
#include "build.h"

static poprt_builder *child_of(poprt_builder *b, const char *name)
{
    poprt_builder *child = NULL;
    ck_assert_ok(poprt_builder_create_subgraph(b, name, &child));
    return child;
}

static void is_eight(const poprt_tensor *out)
{
    for (size_t i = 0; i < out->size / sizeof(float); i++)
        ck_assert_float_eq(((const float *)out->data)[i], 8.0f);
}

/* Doubles x three times: 1 -> 8. */
static poprt_builder *doubling_loop(int64_t opset)
{
    poprt_builder *b = new_builder(opset);
    const int64_t trips = 3;
    const unsigned char yes = 1;
    const poprt_id x = FLOATS(b, 2);
    const poprt_id m = add_scalar(b, POPRT_DTYPE_INT64, &trips, sizeof(trips));
    const poprt_id go = add_scalar(b, POPRT_DTYPE_BOOL, &yes, 1);
    poprt_builder *body = child_of(b, "body");
    (void)poprt_builder_input(body, "i", NULL, NULL);
    const poprt_id cond = poprt_builder_input(body, "cond", NULL, NULL);
    const poprt_id v = poprt_builder_input(body, "v", NULL, NULL);
    ck_assert_ok(poprt_builder_output(body, cond));
    ck_assert_ok(poprt_builder_output(body, poprt_op_add(body, v, v, NULL)));
    const poprt_loop_attrs attrs = { .body = body };
    const poprt_id y = poprt_op_loop(b, m, go, 1, &x, &attrs, 1, NULL);
    assert_type(b, y, POPRT_DTYPE_FLOAT32, DIMS(2));
    ck_assert_ok(poprt_builder_output(b, y));
    poprt_builder_release(body);
    return b;
}

START_TEST(loops_run)
{
    run_model(finish(doubling_loop(11)), is_eight);
    run_model(finish(doubling_loop(0)), is_eight);
}
END_TEST

static void is_four(const poprt_tensor *out)
{
    for (size_t i = 0; i < out->size / sizeof(float); i++)
        ck_assert_float_eq(((const float *)out->data)[i], 4.0f);
}

START_TEST(branches_see_outer_tensors)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2),
                   cond = poprt_op_cast(b,
                       poprt_op_reduce_max(b, x, 0,
                           &(poprt_reduce_max_attrs){ .keepdims = poprt_int(0) }),
                       &(poprt_cast_attrs){ .to = poprt_int(POPRT_DTYPE_BOOL) });
    poprt_builder *yes = child_of(b, "yes"), *no = child_of(b, "no");
    const poprt_id w = add_weight(yes, "inner", DIMS(2)); /* belongs to the main graph */
    ck_assert_ok(poprt_builder_output(yes,
        poprt_op_add(yes, w, poprt_op_add(yes, x, poprt_op_add(yes, x, x, NULL), NULL), NULL)));
    ck_assert_ok(poprt_builder_output(no, x)); /* an Identity is added */
    const poprt_if_attrs attrs = { .then_branch = yes, .else_branch = no };
    ck_assert_ok(poprt_builder_output(b, poprt_op_if(b, cond, &attrs, 1, NULL)));
    ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_WEIGHTS), 1);
    poprt_builder_release(no);
    poprt_builder_release(yes);
    run_model(finish(b), is_four);
}
END_TEST

START_TEST(a_subgraph_is_used_twice)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2);
    poprt_builder *callee = child_of(b, "twice");
    const poprt_id a = poprt_builder_input(callee, NULL, NULL, NULL);
    ck_assert_ok(poprt_builder_output(callee, poprt_op_add(callee, a, a, NULL)));
    const poprt_gc_call_attrs attrs = { .callee = callee };
    const poprt_id y = poprt_op_gc_call(b, 1, &x, &attrs, 1, NULL);
    const poprt_id z = poprt_op_gc_call(b, 1, &y, &attrs, 1, NULL);
    ck_assert_ok(poprt_builder_status(b));
    ck_assert_ok(poprt_builder_output(b, z));
    poprt_builder_release(callee);
    run_model(finish(b), is_four);
}
END_TEST

START_TEST(names_are_unique_in_the_tree)
{
    poprt_builder *b = new_builder(11), *child = child_of(b, "c");
    const poprt_id x = FLOATS(b, 2);
    ck_assert_str_eq(poprt_builder_name(child, poprt_op_relu(child, x, NULL)), "Relu:0");
    ck_assert_str_eq(poprt_builder_name(b, poprt_op_relu(b, x, NULL)), "Relu:0/1");
    ck_assert_uint_eq(poprt_builder_find(b, "Relu:0"), 0);
    ck_assert_uint_ne(poprt_builder_find(child, "Relu:0"), 0);
    ck_assert_uint_ne(poprt_builder_find(child, "input"), 0);
    poprt_builder_release(b);
    ck_assert_str_eq(poprt_builder_name(child, x), "input"); /* the tree lives */
    poprt_builder_release(child);
}
END_TEST

START_TEST(tensors_of_a_subgraph_are_not_seen_outside)
{
    poprt_builder *b = new_builder(11), *child = child_of(b, "c");
    const poprt_id inner = poprt_op_relu(child, FLOATS(b, 2), NULL);
    ck_assert_uint_eq(poprt_op_neg(b, inner, NULL), 0);
    poprt_builder_release(child);
    assert_failed(b, POPRT_E_ARG, "does not see");
}
END_TEST

START_TEST(a_used_subgraph_does_not_change)
{
    poprt_builder *b = new_builder(11), *child = child_of(b, "c");
    const poprt_id x = FLOATS(b, 2);
    ck_assert_ok(poprt_builder_output(child, poprt_op_relu(child, x, NULL)));
    const poprt_gc_call_attrs attrs = { .callee = child };
    ck_assert_uint_ne(poprt_op_gc_call(b, 0, NULL, &attrs, 1, NULL), 0);
    ck_assert_uint_eq(poprt_op_relu(child, x, NULL), 0);
    poprt_builder_release(child);
    assert_failed(b, POPRT_E_STATE, "attribute of an operator already");
}
END_TEST

START_TEST(a_graph_does_not_contain_itself)
{
    poprt_builder *b = new_builder(11), *child = child_of(b, "c");
    ck_assert_ok(poprt_builder_output(child, poprt_op_relu(child, FLOATS(b, 2), NULL)));
    const poprt_gc_call_attrs attrs = { .callee = child };
    ck_assert_uint_eq(poprt_op_gc_call(child, 0, NULL, &attrs, 1, NULL), 0);
    poprt_builder_release(child);
    assert_failed(b, POPRT_E_ARG, "contain itself");
}
END_TEST

START_TEST(subgraphs_of_another_tree_are_refused)
{
    poprt_builder *b = new_builder(11), *other = new_builder(11), *child = child_of(other, "c");
    ck_assert_ok(poprt_builder_output(child, poprt_op_relu(child, FLOATS(other, 2), NULL)));
    const poprt_gc_call_attrs attrs = { .callee = child };
    ck_assert_uint_eq(poprt_op_gc_call(b, 0, NULL, &attrs, 1, NULL), 0);
    poprt_builder_release(child);
    poprt_builder_release(other);
    assert_failed(b, POPRT_E_ARG, "not a subgraph of this builder");
}
END_TEST

START_TEST(edits_keep_subgraphs)
{
    poprt_builder *b = doubling_loop(11);
    const poprt_id loop = poprt_builder_at(b, POPRT_BUILDER_OUTPUTS, 0);
    const poprt_softmax_attrs attrs = { .axis = poprt_int(0) };
    const poprt_id y = poprt_op_softmax(b, loop, &attrs);
    const poprt_attr axis = poprt_attr_int("axis", -1);
    ck_assert_ok(poprt_builder_set(b, y, &axis)); /* checks everything again */
    ck_assert_int_eq(poprt_builder_has(b, loop, "body"), 1);
    poprt_attr got;
    ck_assert_ok(poprt_builder_get(b, loop, "body", POPRT_ATTR_GRAPH, &got));
    ck_assert_ptr_null(poprt_attr_object(&got));
    run_model(finish(b), is_eight);
}
END_TEST

PRT_TEST_MAIN("builder/subgraphs", loops_run, branches_see_outer_tensors, a_subgraph_is_used_twice,
    names_are_unique_in_the_tree, tensors_of_a_subgraph_are_not_seen_outside,
    a_used_subgraph_does_not_change, a_graph_does_not_contain_itself,
    subgraphs_of_another_tree_are_refused, edits_keep_subgraphs)
