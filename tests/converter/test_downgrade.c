/* SPDX-License-Identifier: MIT */
/*
 * test_downgrade.c — conversion of models to an older opset: resulting nodes, and messages where
 * the conversion is impossible. test_opsets compares values.
 * Covers: contradiction.c, downgrade_control.c, downgrade_tools.c.
 */
#include <stdio.h>

#include "support/onnx_check.h"

#include "converter/history.h"

static prt_module *parsed(const char *text)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(&prt_mem_libc, 0, &m), POPRT_OK);
    ck_assert_msg(prt_ir_parse(m, prt_str_of(text)) == POPRT_OK, "%s", last_error());
    ck_assert_msg(prt_ir_infer(m->main) == POPRT_OK, "%s", last_error());
    return m;
}

/* Downgrades `m` to an opset, writes it and reads it at that opset; releases `m`. */
static prt_module *back_from(prt_module *m, int64_t opset)
{
    prt_module *again = NULL;
    ck_assert_msg(prt_onnx_downgrade(m, opset) == POPRT_OK, "%s", last_error());
    const msg *out = onnx_written(m);
    prt_module_release(m);
    ck_assert_msg(onnx_load(out, NULL, &again) == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_module_opset(again, PRT_STR("")), opset);
    return again;
}

static prt_module *downgrade_and_reload(const char *text, int64_t opset)
{
    return back_from(parsed(text), opset);
}

static void ck_refused(const char *text, int64_t opset, const char *part)
{
    prt_module *m = parsed(text);
    ck_assert_int_eq(prt_onnx_downgrade(m, opset), POPRT_E_UNSUPPORTED);
    ck_assert_msg(strstr(last_error(), part) != NULL, "%s", last_error());
    prt_module_release(m);
}

static uint32_t count_ops(const prt_module *m, const char *name)
{
    uint32_t n = 0;
    prt_for_each_op (op, m->main)
        n += prt_str_is(op->name, name);
    return n;
}

START_TEST(the_format_follows_the_opset)
{
    prt_module *m = downgrade_and_reload("x = input f32[2]\ny = gelu x\nreturn y\n", 11);
    ck_assert_int_eq(m->ir_version, 6);
    ck_assert_uint_eq(count_ops(m, "Gelu"), 0);
    ck_assert_uint_eq(count_ops(m, "Erf"), 1);
    prt_module_release(m);
    m = downgrade_and_reload("x = input f32[2]\ny = gelu x\nreturn y\n", 20);
    ck_assert_int_eq(m->ir_version, 9);
    ck_assert_uint_eq(count_ops(m, "Gelu"), 1);
    prt_module_release(m);
}
END_TEST

START_TEST(all_obstacles_are_named)
{
    prt_module *m = parsed("x = input u8[2]\nz = input f32[2,2]\na = bitwise_not x @first\n"
                           "b = bitwise_and a x @second\nc = det z @third\nreturn b, c\n");
    ck_assert_int_eq(prt_onnx_downgrade(m, 10), POPRT_E_UNSUPPORTED);
    const char *said = last_error();
    ck_assert_str_eq(prt_error_last()->subject, "first");
    ck_assert_msg(strstr(said,
                      "BitwiseNot-18 cannot go to opset 10: it does not exist "
                      "before opset 18") != NULL,
        "%s", said);
    ck_assert_ptr_nonnull(strstr(said, "second: BitwiseAnd-18 cannot go to opset 10"));
    ck_assert_ptr_nonnull(strstr(said, "third: Det-22 cannot go to opset 10"));
    prt_module_release(m);
}
END_TEST

/* A required output has a name even if it is unread: without it the node is invalid. */
START_TEST(outputs_that_are_not_optional_have_names)
{
    prt_module *m = downgrade_and_reload(
        "x = input f32[4]\nk = const i64[1] {2}\n_, i = topk x k {largest=0}\nreturn i\n", 10);
    prt_for_each_op (op, m->main)
        for (uint32_t i = 0; i < op->n_out; i++)
            ck_assert_uint_gt(op->out[i].name.size, 0);
    prt_module_release(m);
    /* the mean and the deviation are optional */
    m = downgrade_and_reload(
        "x = input f32[2,4]\ns = input f32[4]\ny, _, _ = layer_normalization x s\n"
        "return y\n",
        17);
    ck_assert_uint_eq(m->main->first->n_out, 1);
    prt_module_release(m);
    /* the last state of a GRU is not, before opset 3 */
    static const char *const outputs[] = { "y", "y, _" };
    for (int64_t opset = 1; opset < 5; opset++)
        for (size_t i = 0; i < 2; i++) {
            char text[200];
            (void)snprintf(text, sizeof(text),
                "x = input f32[2,1,3]\nw = input f32[1,6,3]\nr = input f32[1,6,2]\n"
                "%s = gru x w r {hidden_size=2}\nreturn y\n",
                outputs[i]);
            m = downgrade_and_reload(text, opset);
            ck_assert_uint_eq(m->main->first->n_out, opset < 3 ? 2 : 1);
            ck_assert(opset >= 3 || m->main->first->out[1].name.size != 0);
            ck_assert_str_eq(m->main->first->out[0].name.data, "y");
            prt_module_release(m);
        }
}
END_TEST

#define IF_OF(first, second)                                                                       \
    "c = input bool[]\nx = input f32[2,3]\nn = input f32[n,3]\n"                                   \
    "k = const i64[1] {6}\ny = if c {\n  then_branch { a = " first "; return a }\n"                \
    "  else_branch { b = " second "; return b }\n}\nreturn y\n"

/* Other readers infer the shapes of both branches, and require equal shapes before opset 11. */
START_TEST(branches_get_one_shape)
{
    ck_refused(IF_OF("neg x", "reshape x k"), 10,
        "If-25 cannot go to opset 10 (If-1): the branches return different shapes for output 0, "
        "which is allowed from opset 11 on");
    ck_refused(IF_OF("neg x", "transpose x"), 7, "different shapes");
    prt_module_release(downgrade_and_reload(IF_OF("neg x", "reshape x k"), 11));
    prt_module_release(downgrade_and_reload(IF_OF("neg x", "abs x"), 7));
    prt_module_release(downgrade_and_reload(IF_OF("neg x", "neg n"), 7));
}
END_TEST

/* The branch for two columns has impossible shapes. Readers that infer shapes when they load the
 * file accept it: captured values have no shape there. */
START_TEST(shapes_of_broken_branches_are_hidden)
{
    static const char text[] =
        "x = input f32[1,n]\nc = input bool[]\nw = const f32[4,3] {1,2,3,4,5,6,7,8,9,1,2,3}\n"
        "v = const f32[2,3] {1,2,3,4,5,6}\nr = if c {\n"
        "  then_branch { s = matmul x w; return s }\n"
        "  else_branch {\n    u = matmul x v\n    t = if c {\n"
        "      then_branch { d = matmul x v; return d }\n"
        "      else_branch { e = neg x; return e }\n    }\n"
        "    k = add u t\n    return k\n  }\n}\nreturn r\n";
    const int64_t dims[2] = { 1, 4 };
    prt_module *m = parsed(text);
    m->main->inputs.data[0]->type = prt_type_tensor(m->types, PRT_DTYPE_f32, 2, dims);
    ck_assert_int_eq(prt_ir_infer(m->main), POPRT_OK);
    ck_assert(prt_onnx_has_contradiction(m->main));
    m = back_from(m, 11);
    ck_assert(!prt_onnx_has_contradiction(m->main));
    const prt_op *op = m->main->first;
    ck_assert(!prt_op_is(op->regions[0]->last, PRT_OP_reshape));
    ck_assert_str_eq(op->regions[0]->last->in[0].value->name.data, "x");
    uint32_t reshapes = 0;
    prt_for_each_op (in, op->regions[1]) {
        reshapes += prt_op_is(in, PRT_OP_reshape);
        if (prt_op_is(in, PRT_OP_matmul))
            ck_assert(prt_op_is(in->in[0].value->def, PRT_OP_reshape));
    }
    ck_assert_uint_eq(reshapes, 1); /* also for the inner branches */
    prt_module_release(m);
}
END_TEST

START_TEST(refusals_name_their_reason)
{
    ck_refused("x = input f32[2,3]\na = input i64[1]\ny = reduce_sum x a\nreturn y\n", 11,
        "ReduceSum-13 cannot go to opset 11 (ReduceSum-11): the axes are an attribute at that "
        "opset");
    ck_refused("x = input f32[2,3]\np = input i64[4]\ny = pad x p {mode=wrap}\nreturn y\n", 18,
        "the mode 'wrap' does not exist at that opset");
    ck_refused("x = input f32[0,3]\ns = const i64[2] {3,0}\ny = reshape x s {allowzero=1}\n"
               "return y\n",
        13, "a 0 in the shape copies a dimension at that opset");
    ck_refused("x = input f32[2,3]\nt = const bool[] {true}\nr = const f32[] {0.5}\n"
               "y = dropout x r t\nreturn y\n",
        11, "training mode does not exist at that opset");
    ck_refused("x = input f32[1,1,2,2]\ns = const f32[4] {1,1,2,2}\n"
               "y = resize x _ s {mode=linear}\nreturn y\n",
        10, "at that opset output i is input i / scale");
    ck_refused("x = input f32[2]\nc = input bool[2]\ny = where c x x\nreturn y\n", 8,
        "it does not exist before opset 9");
}
END_TEST

START_TEST(unknown_opsets_are_refused)
{
    prt_module *m = parsed("x = input f32[2]\ny = neg x\nreturn y\n");
    ck_assert_int_eq(prt_onnx_downgrade(m, 0), POPRT_E_ARG);
    ck_assert_int_eq(prt_onnx_downgrade(m, prt_history_newest() + 1), POPRT_E_ARG);
    ck_assert_int_eq(prt_onnx_downgrade(m, prt_history_newest()), POPRT_OK);
    prt_module_release(m);
}
END_TEST

/* Ops without a row stay if their schema is the same; other domains are left alone. */
START_TEST(foreign_operators_are_left_alone)
{
    prt_module *m = NULL;
    msg *thing[] = { msg_text(onnx_node("Thing", "x", "y"), PRT_ONNX_Node_domain, "elsewhere"),
        NULL };
    ck_assert_int_eq(onnx_load(onnx_model(onnx_xy(onnx_graph("g", thing)), 13), NULL, &m),
        POPRT_OK);
    ck_assert_int_eq(prt_onnx_downgrade(m, 7), POPRT_OK);
    ck_assert_uint_eq(count_ops(m, "Thing"), 1);
    prt_module_release(m);
    msg *nodes[] = { onnx_node("NoSuchOperator", "x", "y"), NULL };
    ck_assert_int_eq(onnx_load(onnx_model(onnx_xy(onnx_graph("g", nodes)), 13), NULL, &m),
        POPRT_OK);
    ck_assert_int_eq(prt_onnx_downgrade(m, 12), POPRT_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(last_error(), "the schemas of this operator are not known"));
    prt_module_release(m);
}
END_TEST

/* An op that only computed a shape is removed when the shape becomes an attribute. */
START_TEST(unread_shape_operators_are_removed)
{
    prt_module *m = downgrade_and_reload("x = input f32[2,3]\ns = shape x\n"
                                         "z = const i64[1] {1}\nt = concat s z\n"
                                         "y = reshape x t {allowzero=0}\nreturn y\n",
        3);
    ck_assert_uint_eq(count_ops(m, "Shape"), 0);
    ck_assert_uint_eq(count_ops(m, "Concat"), 0);
    ck_assert_uint_eq(count_ops(m, "Reshape"), 1);
    prt_module_release(m);
}
END_TEST

/* Regions are downgraded together with their op. */
START_TEST(regions_are_downgraded)
{
    prt_module *m = downgrade_and_reload("c = input bool[]\nx = input f32[2]\n"
                                         "y = if c { then_branch { a = gelu x; return a }\n"
                                         "else_branch { b = mish x; return b } }\nreturn y\n",
        11);
    const prt_op *op = m->main->first;
    ck_assert_uint_eq(op->n_regions, 2);
    prt_for_each_op (inner, op->regions[0])
        ck_assert(!prt_op_is(inner, PRT_OP_gelu));
    prt_module_release(m);
    ck_refused("c = input bool[]\nx = input f32[2]\ny = if c { then_branch { a = round x @deep\n"
               "return a }\nelse_branch { return x } }\nreturn y\n",
        10, "Round-22 cannot go to opset 10");
}
END_TEST

/* Node names stay unique, although several ops may replace one. */
START_TEST(nodes_get_unique_names)
{
    prt_module *m = downgrade_and_reload("x = input f32[2]\ny = gelu x @node\nreturn y\n", 11);
    for (const prt_op *a = m->main->first; a != NULL; a = a->next)
        for (const prt_op *b = a->next; b != NULL; b = b->next)
            ck_assert(!prt_str_equal(a->origin, b->origin));
    prt_module_release(m);
}
END_TEST

/* Each failed allocation gives an error and leaks nothing. */
START_TEST(failed_allocations_are_reported)
{
    const char *text = "x = input f32[2,3,4]\ns = const f32[4] {1,2,3,4}\n"
                       "a = layer_normalization x s\nb = softmax a {axis=1}\n"
                       "k = const i64[1] {2}\ny, i = topk b k {largest=0}\nreturn y, i\n";
    size_t n = 0;
    for (bool done = false; !done; n++) {
        failing f = { .left = n };
        const prt_allocator allocator = failing_allocator(&f);
        prt_module *m = NULL;
        poprt_status status = prt_module_create(&allocator, 0, &m);
        if (status == POPRT_OK)
            status = prt_ir_parse(m, prt_str_of(text));
        if (status == POPRT_OK)
            status = prt_ir_infer(m->main);
        if (status == POPRT_OK)
            status = prt_onnx_downgrade(m, 10);
        done = status == POPRT_OK;
        ck_assert_msg(done || status == POPRT_E_NOMEM, "%s", last_error());
        prt_module_release(m);
        ck_assert_uint_eq(f.live, 0);
    }
    ck_assert_uint_gt(n, 5);
}
END_TEST

/* Before opset 7 a sum has the shape of its first operand. */
START_TEST(broadcasting_keeps_the_rank_of_the_first)
{
    prt_module *m = downgrade_and_reload("x = input f32[4,4]\nz = input f32[1,4,4]\ny = add x z\n"
                                         "return y\n",
        6);
    ck_assert_int_eq(m->main->ret->in[0].value->type->rank, 3);
    prt_module_release(m);
    ck_refused("x = input f32[4,4]\nz = input f32[1,4,4]\ny = sub x z\nreturn y\n", 6,
        "do not fit the broadcasting");
}
END_TEST

PRT_TEST_MAIN("converter/downgrade", the_format_follows_the_opset, all_obstacles_are_named,
    outputs_that_are_not_optional_have_names, branches_get_one_shape,
    shapes_of_broken_branches_are_hidden, refusals_name_their_reason, unknown_opsets_are_refused,
    foreign_operators_are_left_alone, unread_shape_operators_are_removed, regions_are_downgraded,
    nodes_get_unique_names, broadcasting_keeps_the_rank_of_the_first,
    failed_allocations_are_reported)
