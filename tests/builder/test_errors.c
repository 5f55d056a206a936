/* SPDX-License-Identifier: MIT */
/* test_errors.c — wrong arguments fail at their call, with the operator and what is accepted. */
#include "build.h"

START_TEST(the_first_failure_stays)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2, 3);
    ck_assert_ok(poprt_builder_push_name(b, "net"));
    ck_assert_uint_eq(poprt_op_matmul(b, x, x, &(poprt_matmul_attrs){ .name = "dot" }), 0);
    ck_assert_int_eq(poprt_last_error()->status, POPRT_E_SHAPE);
    ck_assert_str_eq(poprt_last_error()->stage, "build");
    ck_assert_str_eq(poprt_last_error()->subject, "net/dot");
    const size_t count = poprt_builder_count(b, POPRT_BUILDER_VALUES);
    ck_assert_uint_eq(poprt_op_relu(b, x, NULL), 0); /* does nothing */
    ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_VALUES), count);
    ck_assert_int_eq(poprt_builder_output(b, x), POPRT_E_SHAPE);
    ck_assert_int_eq(poprt_builder_status(b), POPRT_E_SHAPE);
    assert_failed(b, POPRT_E_SHAPE, "MatMul");
}
END_TEST

/* Each function makes one mistake in a new builder with the input x [2, 3]. */
static void two_types(poprt_builder *b, poprt_id x)
{
    poprt_op_add(b, x, INPUT(b, POPRT_DTYPE_INT32, 2, 3), NULL);
}
static void no_such_tensor(poprt_builder *b, poprt_id x)
{
    poprt_op_relu(b, x + 100, NULL);
}
static void missing_input(poprt_builder *b, poprt_id x)
{
    poprt_op_matmul(b, x, 0, NULL);
}
static void mistyped_operator(poprt_builder *b, poprt_id x)
{
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = "Softmx",
        .inputs = &x,
        .n_inputs = 1,
        .n_outputs = 1 };
    poprt_builder_op(b, &op, NULL);
}
static void newer_operator(poprt_builder *b, poprt_id x)
{
    poprt_op_gelu(b, x, NULL);
}
static void newer_attribute(poprt_builder *b, poprt_id x)
{
    const poprt_cast_attrs attrs = { .to = poprt_int(10), .saturate = poprt_int(1) };
    poprt_op_cast(b, x, &attrs);
}
static void newer_input(poprt_builder *b, poprt_id x)
{
    poprt_op_squeeze(b, x, INTEGERS(b, 0), NULL);
}
static void older_attribute(poprt_builder *b, poprt_id x)
{
    const poprt_clip_attrs attrs = { .max = poprt_float(1) };
    poprt_op_clip(b, x, 0, 0, &attrs);
}
static void unknown_attribute(poprt_builder *b, poprt_id x)
{
    const poprt_attr attr = poprt_attr_int("axs", 1);
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = "Softmax",
        .inputs = &x,
        .attrs = &attr,
        .n_inputs = 1,
        .n_attrs = 1,
        .n_outputs = 1 };
    poprt_builder_op(b, &op, NULL);
}
static void wrong_kind(poprt_builder *b, poprt_id x)
{
    const poprt_id y = poprt_op_softmax(b, x, NULL);
    const poprt_attr attr = poprt_attr_float("axis", 1);
    (void)poprt_builder_set(b, y, &attr);
}
static void axis_out_of_range(poprt_builder *b, poprt_id x)
{
    const poprt_softmax_attrs attrs = { .axis = poprt_int(5) };
    poprt_op_softmax(b, x, &attrs);
}
static void attribute_twice(poprt_builder *b, poprt_id x)
{
    const poprt_attr attrs[] = { poprt_attr_int("axis", 1), poprt_attr_int("axis", 0) };
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = "Softmax",
        .inputs = &x,
        .attrs = attrs,
        .n_inputs = 1,
        .n_attrs = 2,
        .n_outputs = 1 };
    poprt_builder_op(b, &op, NULL);
}
static void too_many_outputs(poprt_builder *b, poprt_id x)
{
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = "Relu",
        .inputs = &x,
        .n_inputs = 1,
        .n_outputs = 3 };
    poprt_builder_op(b, &op, NULL);
}
static void reserved_name(poprt_builder *b, poprt_id x)
{
    (void)x;
    add_weight(b, "Accl1___w", DIMS(2));
}
static void reserved_parameter(poprt_builder *b, poprt_id x)
{
    poprt_op_relu(b, x, &(poprt_relu_attrs){ .name = "learningRate___specific___w" });
}
static void pop_without_push(poprt_builder *b, poprt_id x)
{
    (void)x;
    (void)poprt_builder_pop(b);
}
static void push_of_an_ordinary_attribute(poprt_builder *b, poprt_id x)
{
    const poprt_attr attr = poprt_attr_int("axis", 1);
    (void)x;
    (void)poprt_builder_push(b, &attr);
}
static void output_twice(poprt_builder *b, poprt_id x)
{
    const poprt_id y = poprt_op_relu(b, x, NULL);
    (void)poprt_builder_output(b, y);
    (void)poprt_builder_output(b, y);
}
static void untyped_input(poprt_builder *b, poprt_id x)
{
    (void)x;
    poprt_builder_input(b, "y", NULL, NULL);
}
static void huge_rank(poprt_builder *b, poprt_id x)
{
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 9 };
    (void)x;
    poprt_builder_input(b, "y", &type, NULL);
}
static void negative_dim(poprt_builder *b, poprt_id x)
{
    (void)x;
    FLOATS(b, 2, -7);
}
static void unknown_dtype(poprt_builder *b, poprt_id x)
{
    (void)x;
    INPUT(b, 99, 2);
}
static void wrong_size(poprt_builder *b, poprt_id x)
{
    static float data[4];
    const poprt_tensor t = { data, sizeof(data), (const int64_t[]){ 5 }, 1, POPRT_DTYPE_FLOAT32 };
    (void)x;
    poprt_builder_weight(b, "w", &t, 0);
}
static void overflowing_size(poprt_builder *b, poprt_id x)
{
    const int64_t dims[] = { INT64_MAX, INT64_MAX };
    const poprt_tensor t = { NULL, 0, dims, 2, POPRT_DTYPE_FLOAT32 };
    (void)x;
    poprt_builder_weight(b, "w", &t, 0);
}
static void null_contents(poprt_builder *b, poprt_id x)
{
    (void)x;
    poprt_builder_weight(b, "w", NULL, 0);
}
static void unknown_flag(poprt_builder *b, poprt_id x)
{
    static float data[1];
    const poprt_tensor t = { data, sizeof(data), NULL, 0, POPRT_DTYPE_FLOAT32 };
    (void)x;
    poprt_builder_weight(b, "w", &t, 8);
}
static void null_list(poprt_builder *b, poprt_id x)
{
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = "Add",
        .n_inputs = 2,
        .n_outputs = 1 };
    (void)x;
    poprt_builder_op(b, &op, NULL);
}
static void null_attribute(poprt_builder *b, poprt_id x)
{
    const poprt_attr attr = { .name = "perm", .kind = POPRT_ATTR_INTS, .count = 3 };
    (void)poprt_builder_set(b, poprt_op_transpose(b, x, NULL), &attr);
}
static void unknown_kind(poprt_builder *b, poprt_id x)
{
    const poprt_attr attr = { .name = "perm", .kind = 77 };
    (void)poprt_builder_set(b, poprt_op_transpose(b, x, NULL), &attr);
}
static void attribute_of_an_input(poprt_builder *b, poprt_id x)
{
    const poprt_attr attr = poprt_attr_int(POPRT_MARK_IPU_NUMBER, 1);
    (void)poprt_builder_set(b, x, &attr);
}
static void opset_of_onnx(poprt_builder *b, poprt_id x)
{
    poprt_op_relu(b, x, NULL);
    (void)poprt_builder_set_opset(b, "", 12);
}
static void opset_of_a_used_domain(poprt_builder *b, poprt_id x)
{
    poprt_op_gc_gelu(b, x, NULL);
    (void)poprt_builder_set_opset(b, "ai.graphcore", 2);
}
static void sparse_constant(poprt_builder *b, poprt_id x)
{
    (void)x;
    poprt_op_constant(b, NULL);
}
static void constant_of_a_newer_opset(poprt_builder *b, poprt_id x)
{
    (void)x;
    poprt_op_constant(b, &(poprt_constant_attrs){ .value_int = poprt_int(1) });
}
static void empty_subgraph(poprt_builder *b, poprt_id x)
{
    poprt_builder *child = NULL;
    ck_assert_ok(poprt_builder_create_subgraph(b, "c", &child));
    poprt_op_gc_call(b, 1, &x, &(poprt_gc_call_attrs){ .callee = child }, 1, NULL);
    poprt_builder_release(child);
}
static void long_name(poprt_builder *b, poprt_id x)
{
    char name[5000];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    poprt_op_relu(b, x, &(poprt_relu_attrs){ .name = name });
}
static void many_inputs(poprt_builder *b, poprt_id x)
{
    poprt_op_concat(b, 1u << 30, &x, NULL);
}
static void replication_of_zero(poprt_builder *b, poprt_id x)
{
    (void)x;
    (void)poprt_builder_replication_factor(b, 0);
}

static const struct {
    void (*make)(poprt_builder *b, poprt_id x);
    poprt_status status;
    const char *words;
} mistakes[] = { { two_types, POPRT_E_TYPE, "Add" },
    { no_such_tensor, POPRT_E_ARG, "101 is not a tensor" },
    { missing_input, POPRT_E_UNSUPPORTED, "at least 2" },
    { mistyped_operator, POPRT_E_UNSUPPORTED, "nearest: Softmax" },
    { newer_operator, POPRT_E_UNSUPPORTED, "does not exist before opset 20" },
    { newer_attribute, POPRT_E_PARSE, "opsets 19 to" },
    { newer_input, POPRT_E_UNSUPPORTED, "at most 1" },
    { older_attribute, POPRT_E_PARSE, "opsets 1 to 10 have it" },
    { unknown_attribute, POPRT_E_PARSE, "accepted: axis" },
    { wrong_kind, POPRT_E_PARSE, "wrong type" }, { axis_out_of_range, POPRT_E_SHAPE, "Softmax" },
    { attribute_twice, POPRT_E_ARG, "given twice" },
    { too_many_outputs, POPRT_E_UNSUPPORTED, "at most 1" },
    { reserved_name, POPRT_E_ARG, "Accl1___" },
    { reserved_parameter, POPRT_E_ARG, "learningRate___" },
    { pop_without_push, POPRT_E_STATE, "no scope is open" },
    { push_of_an_ordinary_attribute, POPRT_E_ARG, "begin with \"__\"" },
    { output_twice, POPRT_E_ARG, "an output already" },
    { untyped_input, POPRT_E_ARG, "only inputs of subgraphs" },
    { huge_rank, POPRT_E_ARG, "from 0 to 8" }, { negative_dim, POPRT_E_ARG, "dim 1 is -7" },
    { unknown_dtype, POPRT_E_ARG, "99 is not an element type" },
    { wrong_size, POPRT_E_ARG, "its dims need 20" },
    { overflowing_size, POPRT_E_LIMIT, "too large" }, { null_contents, POPRT_E_ARG, "contents" },
    { unknown_flag, POPRT_E_ARG, "POPRT_BUILDER_BORROW" }, { null_list, POPRT_E_ARG, "is NULL" },
    { null_attribute, POPRT_E_ARG, "NULL" }, { unknown_kind, POPRT_E_ARG, "kind 77" },
    { attribute_of_an_input, POPRT_E_ARG, "no operator computes" },
    { opset_of_onnx, POPRT_E_STATE, "before the first operator" },
    { opset_of_a_used_domain, POPRT_E_STATE, "already" },
    { sparse_constant, POPRT_E_ARG, "one of the attributes" },
    { constant_of_a_newer_opset, POPRT_E_UNSUPPORTED, "accepted: value" },
    { empty_subgraph, POPRT_E_STATE, "no output" }, { long_name, POPRT_E_LIMIT, "at most 4096" },
    { many_inputs, POPRT_E_LIMIT, "at most" }, { replication_of_zero, POPRT_E_ARG, "from 1" } };

START_TEST(mistakes_name_the_call_and_the_remedy)
{
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
        poprt_builder *b = new_builder(11);
        mistakes[i].make(b, FLOATS(b, 2, 3));
        assert_failed(b, mistakes[i].status, mistakes[i].words);
    }
}
END_TEST

/* After a mistake and poprt_builder_undo the builder makes the same model as one without the
 * mistake, as far as the mistake did not add other things first. */
START_TEST(mistakes_can_be_undone)
{
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
        poprt_builder *b = new_builder(11);
        poprt_model *model = NULL;
        const poprt_id x = FLOATS(b, 2, 3);
        poprt_op_tanh(b, x, NULL);
        mistakes[i].make(b, x);
        ck_assert_int_eq(poprt_builder_status(b), mistakes[i].status);
        ck_assert_ok(poprt_builder_undo(b));
        ck_assert_ok(poprt_builder_status(b));
        const size_t count = poprt_builder_count(b, POPRT_BUILDER_VALUES);
        const poprt_id y = poprt_op_sigmoid(b, x, NULL);
        ck_assert_str_eq(poprt_builder_name(b, y), "Sigmoid:0");
        ck_assert_uint_eq(poprt_builder_count(b, POPRT_BUILDER_VALUES), count + 1);
        ck_assert_uint_eq(poprt_builder_at(b, POPRT_BUILDER_VALUES, count), y);
        ck_assert_ok(poprt_builder_output(b, y));
        ck_assert_ok(poprt_builder_finish(b, &model));
        poprt_model_release(model);
        poprt_builder_release(b);
    }
}
END_TEST

START_TEST(the_opset_is_open_until_the_first_operator)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2, 3);
    ck_assert_ok(poprt_builder_set_opset(b, "", 20));
    ck_assert_uint_ne(poprt_op_gelu(b, x, NULL), 0); /* from opset 20 on */
    ck_assert_int_eq(poprt_builder_set_opset(b, "ai.onnx", 12), POPRT_E_STATE);
    ck_assert_ok(poprt_builder_undo(b));
    poprt_builder_release(b);
    b = new_builder(11);
    ck_assert_int_eq(poprt_builder_set_opset(b, "", 5), POPRT_E_ARG);
    poprt_builder_release(b);
}
END_TEST

START_TEST(an_undone_change_leaves_the_attribute)
{
    poprt_builder *b = new_builder(11);
    const poprt_id x = FLOATS(b, 2, 3);
    const poprt_softmax_attrs attrs = { .axis = poprt_int(1) };
    const poprt_id y = poprt_op_softmax(b, x, &attrs);
    const poprt_attr wrong = poprt_attr_int("axis", 7), other = poprt_attr_int("axs", 1);
    poprt_attr axis;
    ck_assert_int_eq(poprt_builder_set(b, y, &wrong), POPRT_E_SHAPE);
    ck_assert_ok(poprt_builder_undo(b));
    ck_assert_ok(poprt_builder_get(b, y, "axis", POPRT_ATTR_INT, &axis));
    ck_assert_int_eq(axis.integer, 1);
    ck_assert_int_eq(poprt_builder_set(b, y, &other), POPRT_E_PARSE);
    ck_assert_ok(poprt_builder_undo(b));
    ck_assert_uint_eq(poprt_builder_attr_count(b, y), 1);
    ck_assert_ok(poprt_builder_undo(b)); /* nothing to undo */
    poprt_builder_release(b);
}
END_TEST

START_TEST(null_arguments_are_refused)
{
    poprt_builder *b = NULL;
    poprt_attr attr;
    poprt_type type;
    ck_assert_fails(poprt_builder_create(NULL, 11, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_builder_create(NULL, 5, &b), POPRT_E_ARG);
    ck_assert_fails(poprt_builder_create(NULL, 1000, &b), POPRT_E_ARG);
    ck_assert_fails(poprt_builder_create_from(NULL, &b), POPRT_E_ARG);
    ck_assert_fails(poprt_builder_create_subgraph(NULL, "x", &b), POPRT_E_ARG);
    ck_assert_ptr_null(b);
    ck_assert_uint_eq(poprt_builder_input(NULL, "x", NULL, NULL), 0);
    ck_assert_uint_eq(poprt_builder_weight(NULL, "x", NULL, 0), 0);
    ck_assert_uint_eq(poprt_builder_op(NULL, NULL, NULL), 0);
    ck_assert_uint_eq(poprt_op_relu(NULL, 1, NULL), 0);
    ck_assert_fails(poprt_builder_output(NULL, 1), POPRT_E_ARG);
    ck_assert_fails(poprt_builder_status(NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_builder_push(NULL, NULL), POPRT_E_ARG);
    ck_assert_fails(poprt_builder_get(NULL, 1, "x", 0, &attr), POPRT_E_ARG);
    ck_assert_fails(poprt_builder_type(NULL, 1, &type), POPRT_E_ARG);
    ck_assert_uint_eq(poprt_builder_count(NULL, 0), 0);
    ck_assert_ptr_null(poprt_builder_name(NULL, 1));
    poprt_builder_release(NULL);
    b = new_builder(11);
    ck_assert_fails(poprt_builder_type(b, 1, &type), POPRT_E_ARG);
    ck_assert_ptr_null(poprt_builder_name(b, 1));
    ck_assert_uint_eq(poprt_builder_op(b, NULL, NULL), 0);
    assert_failed(b, POPRT_E_ARG, "op");
}
END_TEST

START_TEST(deep_subgraphs_are_refused)
{
    poprt_builder *chain[100] = { new_builder(11) };
    const poprt_id x = FLOATS(chain[0], 2);
    int n = 1;
    for (; n < 100; n++)
        ck_assert_ok(poprt_builder_create_subgraph(chain[n - 1], "c", &chain[n]));
    ck_assert_ok(poprt_builder_output(chain[99], poprt_op_relu(chain[99], x, NULL)));
    for (int i = 98; i >= 0; i--) {
        const poprt_gc_call_attrs attrs = { .callee = chain[i + 1] };
        const poprt_id y = poprt_op_gc_call(chain[i], 0, NULL, &attrs, 1, NULL);
        if (poprt_builder_status(chain[i]) != POPRT_OK)
            break;
        ck_assert_ok(poprt_builder_output(chain[i], y));
    }
    for (int i = 99; i > 0; i--)
        poprt_builder_release(chain[i]);
    assert_failed(chain[0], POPRT_E_LIMIT, "deep");
}
END_TEST

PRT_TEST_MAIN("builder/errors", the_first_failure_stays, mistakes_name_the_call_and_the_remedy,
    mistakes_can_be_undone, an_undone_change_leaves_the_attribute,
    the_opset_is_open_until_the_first_operator, null_arguments_are_refused,
    deep_subgraphs_are_refused)
