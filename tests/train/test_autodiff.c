/* SPDX-License-Identifier: MIT */
/*
 * test_autodiff.c — every gradient rule against central differences: y is computed in double at x
 * + h and x - h, for each element of each floating-point input.
 * Covers: grad_binary.c, grad_conv.c, grad_move.c, grad_norm.c, grad_product.c, grad_reduce.c,
 * grad_unary.c, rule.c, rules.c.
 */
#include <stdio.h>

#include "support/check_main.h"
#include "support/gradient_check.h"
#include "train/autodiff.h"
#include "train/rules.h"

#define X "x = input f64[2,3]\n"
#define XZ "x = input f64[2,3]\nz = input f64[3]\n"
#define IMAGE "x = input f64[2,4,5,5]\n"

START_TEST(unary_gradients_match_differences)
{
    static const struct {
        const char *op;
        double low, high;
    } ops[] = {
        { "abs x", -2, 2 },
        { "acos x", -0.9, 0.8 },
        { "acosh x", 1.2, 3 },
        { "asin x", -0.9, 0.8 },
        { "asinh x", -2, 2 },
        { "atan x", -2, 2 },
        { "atanh x", -0.9, 0.8 },
        { "ceil x", -2, 2 },
        { "celu x {alpha=0.7}", -2, 2 },
        { "cos x", -2, 2 },
        { "cosh x", -2, 2 },
        { "elu x {alpha=0.5}", -2, 2 },
        { "erf x", -2, 2 },
        { "exp x", -2, 2 },
        { "floor x", -2, 2 },
        { "gelu x", -2, 2 },
        { "gelu x {approximate=\"tanh\"}", -2, 2 },
        { "hard_sigmoid x", -4, 4 },
        { "hard_swish x", -4, 4 },
        { "identity x", -2, 2 },
        { "leaky_relu x {alpha=0.1}", -2, 2 },
        { "log x", 0.2, 3 },
        { "mish x", -2, 2 },
        { "neg x", -2, 2 },
        { "reciprocal x", 0.3, 2 },
        { "relu x", -2, 2 },
        { "round x", -2, 2 },
        { "selu x", -2, 2 },
        { "shrink x {lambd=0.5,bias=0.1}", -2, 2 },
        { "sigmoid x", -2, 2 },
        { "sign x", -2, 2 },
        { "sin x", -2, 2 },
        { "sinh x", -2, 2 },
        { "softplus x", -2, 2 },
        { "softsign x", -2, 2 },
        { "sqrt x", 0.2, 3 },
        { "swish x {alpha=1.5}", -2, 2 },
        { "tan x", -1, 1 },
        { "tanh x", -2, 2 },
        { "thresholded_relu x {alpha=0.5}", -2, 2 },
        { "cast x {to=11}", -2, 2 },
        { "dropout x", -2, 2 },
    };
    for (size_t i = 0; i < PRT_COUNT_OF(ops); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), X "y = %s\nreturn y\n", ops[i].op);
        check_gradients(text, ops[i].low, ops[i].high);
    }
}
END_TEST

START_TEST(broadcast_gradients_match_differences)
{
    static const char *const ops[] = { "add x z", "sub x z", "mul x z", "div x z", "pow x z",
        "max x z", "min x z", "sum x z x", "mean x z x", "prelu x z", "sub z x", "div z x" };
    for (size_t i = 0; i < PRT_COUNT_OF(ops); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), XZ "y = %s\nreturn y\n", ops[i]);
        check_gradients(text, 0.3, 2);
    }
    check_gradients(XZ "y = prelu x z\nreturn y\n", -2, 2);
    check_gradients("x = input f64[2,1,3]\nz = input f64[4,1]\ny = mul x z\nreturn y\n", -2, 2);
    check_gradients("x = input f64[]\nz = input f64[2]\ny = div z x\nreturn y\n", 0.3, 2);
    check_gradients(XZ "c = const bool[2,1] {1,0}\ny = where c x z\nreturn y\n", -2, 2);
    check_gradients(X "lo = const f64[] {-1}\nhi = const f64[] {1}\ny = clip x lo hi\nreturn y\n",
        -2, 2);
    check_gradients(X "m = const f64[] {0.75}\ny = mod x m {fmod=1}\nreturn y\n", 0.1, 2);
}
END_TEST

START_TEST(product_gradients_match_differences)
{
    check_gradients("a = input f64[2,3]\nb = input f64[3,4]\ny = matmul a b\nreturn y\n", -2, 2);
    check_gradients("a = input f64[5,2,3]\nb = input f64[3,4]\ny = matmul a b\nreturn y\n", -2, 2);
    check_gradients("a = input f64[2,1,2,3]\nb = input f64[4,3,2]\ny = matmul a b\nreturn y\n", -2,
        2);
    check_gradients("a = input f64[3]\nb = input f64[2,3,4]\ny = matmul a b\nreturn y\n", -2, 2);
    check_gradients("a = input f64[2,3]\nb = input f64[3]\ny = matmul a b\nreturn y\n", -2, 2);
    check_gradients("a = input f64[3]\nb = input f64[3]\ny = matmul a b\nreturn y\n", -2, 2);
    check_gradients("a = input f64[3,2]\nb = input f64[4,3]\nc = input f64[4]\n"
                    "y = gemm a b c {transA=1,transB=1,alpha=0.5,beta=2}\nreturn y\n",
        -2, 2);
    check_gradients("a = input f64[2,3]\nb = input f64[3,4]\ny = gemm a b\nreturn y\n", -2, 2);
}
END_TEST

START_TEST(reduction_gradients_match_differences)
{
    static const char *const ops[] = { "reduce_sum", "reduce_mean", "reduce_max", "reduce_min",
        "reduce_l1", "reduce_l2", "reduce_sum_square", "reduce_log_sum", "reduce_log_sum_exp" };
    for (size_t i = 0; i < PRT_COUNT_OF(ops); i++) {
        char text[256];
        (void)snprintf(text, sizeof(text), X "y = %s x {keepdims=0}\nreturn y\n", ops[i]);
        check_gradients(text, 0.3, 2);
        (void)snprintf(text, sizeof(text),
            X "a = const i64[1] {-2}\ny = %s x a {keepdims=0}\nreturn y\n", ops[i]);
        check_gradients(text, 0.3, 2);
        (void)snprintf(text, sizeof(text), X "a = const i64[1] {1}\ny = %s x a\nreturn y\n",
            ops[i]);
        check_gradients(text, 0.3, 2);
    }
    check_gradients(X "a = const i64[] {1}\ny = cumsum x a {exclusive=1}\nreturn y\n", -2, 2);
}
END_TEST

START_TEST(movement_gradients_match_differences)
{
    static const char *const graphs[] = {
        "s = const i64[2] {3,-1}\ny = reshape x s\n",
        "y = flatten x {axis=0}\n",
        "y = transpose x {perm=[1,0]}\n",
        "a = const i64[1] {1}\ny = unsqueeze x a\n",
        "y = concat x x x {axis=-1}\n",
        "p, y = split x {num_outputs=2,axis=1}\n",
        "i = const i64[4] {2,-1,0,2}\ny = gather x i {axis=1}\n",
        "i = const i64[2,2] {2,0,1,1}\ny = gather_elements x i {axis=1}\n",
        "i = const i64[2,2] {0,1,1,1}\ny = gather_nd x i\n",
        ("s = const i64[2] {3,-3}\ne = const i64[2] {-9,9}\na = const i64[2] {1,0}\n"
         "t = const i64[2] {-2,1}\ny = slice x s e a t\n"),
        "s = const i64[3] {2,1,3}\ny = expand x s\n",
        "s = const i64[2] {2,2}\ny = tile x s\n",
        "p = const i64[4] {1,0,0,2}\ny = pad x p\n",
        "p = const i64[4] {0,2,1,2}\ny = pad x p {mode=\"reflect\"}\n",
        "k = const i64[1] {2}\ny, i = topk x k\n",
        "y = trilu x\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(graphs); i++) {
        char text[512];
        (void)snprintf(text, sizeof(text), X "%sreturn y\n", graphs[i]);
        check_gradients(text, -2, 2);
    }
    check_gradients("x = input f64[1,4,2,2]\ny = depth_to_space x {blocksize=2}\nreturn y\n", -2,
        2);
    check_gradients("x = input f64[1,1,4,2]\ny = space_to_depth x {blocksize=2}\nreturn y\n", -2,
        2);
    check_gradients("x = input f64[1,3,1]\ny = squeeze x\nreturn y\n", -2, 2);
}
END_TEST

START_TEST(conv_and_pool_gradients_match_differences)
{
    check_gradients(IMAGE "w = input f64[3,4,3,2]\nb = input f64[3]\n"
                          "y = conv x w b {strides=[2,1],pads=[1,0,0,1]}\nreturn y\n",
        -1, 1);
    check_gradients(IMAGE
        "w = input f64[4,2,2,2]\n"
        "y = conv x w {group=2,dilations=[2,1],auto_pad=\"SAME_LOWER\"}\nreturn y\n",
        -1, 1);
    check_gradients(
        "x = input f64[1,2,7]\nw = input f64[2,2,2]\ny = conv x w {strides=[3]}\nreturn y\n", -1,
        1);
    check_gradients(IMAGE
        "y = max_pool x {kernel_shape=[2,3],strides=[2,2],pads=[0,1,1,0]}\nreturn y\n",
        -9, 9);
    check_gradients(IMAGE "y = average_pool x {kernel_shape=[2,3],strides=[2,2],pads=[0,1,1,0]}\n"
                          "return y\n",
        -1, 1);
    check_gradients(IMAGE
        "y = average_pool x {kernel_shape=[3,3],strides=[2,2],count_include_pad=1,"
        "pads=[1,1,1,1]}\nreturn y\n",
        -1, 1);
    check_gradients(
        "x = input f64[1,1,6]\ny = average_pool x {kernel_shape=[3],strides=[2],ceil_mode=1}\n"
        "return y\n",
        -1, 1);
    check_gradients(IMAGE "y = global_average_pool x\nreturn y\n", -1, 1);
    check_gradients(IMAGE "y = global_max_pool x\nreturn y\n", -9, 9);
}
END_TEST

START_TEST(normalisation_gradients_match_differences)
{
    check_gradients(X "y = softmax x\nreturn y\n", -2, 2);
    check_gradients(X "y = log_softmax x {axis=0}\nreturn y\n", -2, 2);
    check_gradients("x = input f64[2,3,2]\ns = input f64[3,2]\nb = input f64[3,2]\n"
                    "y = layer_normalization x s b {axis=1}\nreturn y\n",
        -2, 2);
    check_gradients("x = input f64[2,4]\ns = input f64[4]\ny = rms_normalization x s\n"
                    "return y\n",
        -2, 2);
    check_gradients("x = input f64[2,2,3]\ns = input f64[2]\nb = input f64[2]\n"
                    "y = instance_normalization x s b\nreturn y\n",
        -2, 2);
    check_gradients("x = input f64[2,4,3]\ns = input f64[4]\nb = input f64[4]\n"
                    "y = group_normalization x s b {num_groups=2}\nreturn y\n",
        -2, 2);
    check_gradients(
        "x = input f64[2,3,2]\ns = input f64[3]\nb = input f64[3]\nm = const f64[3] {1,0,-1}\n"
        "v = const f64[3] {1,2,3}\ny = batch_normalization x s b m v\nreturn y\n",
        -2, 2);
    check_gradients(
        "x = input f64[2,3,2]\ns = input f64[3]\nb = input f64[3]\nm = const f64[3] {1,0,-1}\n"
        "v = const f64[3] {1,2,3}\n"
        "y, p, q = batch_normalization x s b m v {training_mode=1}\nreturn y\n",
        -2, 2);
}
END_TEST

START_TEST(gradients_of_several_users_add_up)
{
    check_gradients(X "a = exp x\nb = mul a x\nc = sin a\ny = add b c\nreturn y\n", -1, 1);
    check_gradients("x = input f64[2,3]\nu = input f64[2]\ny = tanh x\nreturn y\n", -1, 1);
}
END_TEST

START_TEST(symbolic_shapes_stay_symbolic)
{
    prt_graph *g = graph_from_text("x = input f32[n,3]\nw = input f32[3,m]\nb = input f32[m]\n"
                                   "p = matmul x w\nq = add p b\nr = relu q\n"
                                   "y = reduce_mean r {keepdims=0}\nreturn y\n");
    static const char *const types[3] = { "f32[n,3]", "f32[3,m]", "f32[m]" };
    prt_build b = prt_build_at_end(g);
    prt_value *dx[3];
    ck_assert_int_eq(prt_autodiff(&b, g->ret->in[0].value, NULL, 3, g->inputs.data, 0, NULL, dx,
                         NULL),
        POPRT_OK);
    for (uint32_t i = 0; i < 3; i++) {
        char text[64];
        prt_type_print(g->module->dims, dx[i]->type, text, sizeof(text));
        ck_assert_str_eq(text, types[i]);
    }
    module_free(g);
}
END_TEST

START_TEST(operators_without_a_rule_are_named_together)
{
    const char *message =
        gradient_error("x = input f64[3]\ns = sequence_construct x @here\np = const i64[] {0}\n"
                       "t = sequence_at s p @there\nb = bit_cast x {to=7}\nc = cast b {to=11}\n"
                       "y = add t c\nreturn y\n");
    /* The path through integers ends. */
    assert_text_has(message, "SequenceConstruct: SequenceAt: !BitCast");
    ck_assert_str_eq(prt_error_last()->subject, "here");
}
END_TEST

/* Of the operators that are supported, a rule may refuse some attributes. */
START_TEST(refused_attributes_are_named_together)
{
    const char *message =
        gradient_error("x = input f64[2,2]\na = const i64[1] {0}\nk = identity a\n"
                       "r = input f64[8]\ns = const f32[2] {2,2}\nn = input f32[1]\n"
                       "p = reduce_prod x k\nq = reduce_prod p k\ny = exp q\nreturn y\n");
    const char *first = strstr(message, "gradient of ReduceProd");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first + 1, "gradient of ReduceProd"));
}
END_TEST

/* A decision for each operator: a rule, a derivative of zero, or the reason why there is none. */
START_TEST(each_operator_has_a_row)
{
    for (uint32_t id = 0; id < PRT_OP_COUNT; id++) {
        const prt_op_def *def = prt_op_of(id);
        const prt_grad_row row = prt_grad_row_of(def);
        ck_assert_msg(row.kind != PRT_GRAD_MISSING || row.why != NULL,
            "operator %s has no row in train/grads.def", def->key);
        ck_assert(row.kind != PRT_GRAD_RULE || row.rule != NULL);
    }
}
END_TEST

START_TEST(gradients_of_all_values_are_found_by_name)
{
    prt_graph *g = graph_from_text("x = input f32[2]\nw = const f32[2] {1,2}\na = mul x w\n"
                                   "b = exp a @node\nc = exp x\ny = reduce_sum b {keepdims=0}\n"
                                   "return y, c\n");
    prt_value *w = prt_map_find(&g->module->names, PRT_STR("w")), *dw;
    const prt_value *a = prt_map_find(&g->module->names, PRT_STR("a"));
    const prt_value *c = prt_map_find(&g->module->names, PRT_STR("c"));
    prt_gradients all = { .arena = g->module->arena };
    prt_build b = prt_build_at_end(g);
    ck_assert_int_eq(prt_autodiff(&b, g->ret->in[0].value, NULL, 1, &w, 0, NULL, &dw, &all),
        POPRT_OK);
    ck_assert_ptr_nonnull(dw);
    ck_assert_ptr_eq(prt_map_find(&g->module->names, PRT_STR("Gradient___w")), dw);
    ck_assert_ptr_eq(prt_map_find(&g->module->names, PRT_STR("Gradient___a")), all.of[a->id]);
    ck_assert_ptr_null(all.of[c->id]);
    ck_assert_ptr_null(all.of[g->inputs.data[0]->id]);
    /* The gradient of `a` is computed by ops with the name of the node that reads it. */
    ck_assert_str_eq(all.of[a->id]->def->origin.data, "node");
    module_free(g);
}
END_TEST

/* The time must not be quadratic: neither in the number of ops nor in the users of one value. */
START_TEST(large_graphs)
{
    enum { OPS = 20000 };
    prt_graph *g = graph_from_text("x = input f32[2]\ny = exp x\nreturn y\n");
    prt_build b = prt_build_at_end(g);
    prt_value *y = g->ret->in[0].value, *dx;
    for (size_t i = 0; i < OPS / 2; i++)
        y = prt_build_binary(&b, PRT_OP_add, y, prt_build_unary(&b, PRT_OP_sin, g->inputs.data[0]));
    ck_assert_int_eq(prt_build_status(&b), POPRT_OK);
    ck_assert_int_eq(prt_autodiff(&b, y, NULL, 1, g->inputs.data, 0, NULL, &dx, NULL), POPRT_OK);
    ck_assert_uint_gt(g->n_ops, 2 * OPS);
    module_free(g);
}
END_TEST

/* Of static shapes, no operator that only computes sizes is left for the compiler. */
START_TEST(no_small_change_is_left)
{
    static const char *const passes[] = { "constant_folding", "eliminate_nop_arithmetic",
        "eliminate_nop_expand", "eliminate_nop_reshape", "eliminate_deadend" };
    prt_graph *g = graph_from_text(
        "x = input f32[4,6]\nt = input i64[4]\nw = input f32[6,8]\nb = input f32[8]\n"
        "s = input f32[8]\nv = input f32[8,3]\nc = input f32[3]\np = matmul x w\nq = add p b\n"
        "n = layer_normalization q s\nr = relu n\nd = gemm r v c\n"
        "y = softmax_cross_entropy_loss d t\nm = reduce_mean d {keepdims=0}\nz = add y m\n"
        "return z\n");
    prt_value *xs[6], *outs[7];
    prt_str names[7];
    char texts[7][8];
    for (size_t i = 0; i < 6; i++)
        xs[i] = g->inputs.data[i == 0 ? 0 : i + 1];
    prt_build b = prt_build_at_end(g);
    outs[0] = g->ret->in[0].value;
    ck_assert_int_eq(prt_autodiff(&b, outs[0], NULL, 6, xs, 0, NULL, outs + 1, NULL), POPRT_OK);
    for (size_t i = 0; i < 7; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "o%zu", i);
        names[i] = prt_module_str(g->module, prt_str_of(texts[i]));
    }
    ck_assert_int_eq(prt_graph_set_outputs(g, 7, outs, names), POPRT_OK);
    for (size_t i = 0; i < PRT_COUNT_OF(passes); i++)
        (void)run_pass(g, passes[i], NULL);
    prt_for_each_op (op, g) {
        ck_assert_msg(!prt_op_is(op, PRT_OP_shape) && !prt_op_is(op, PRT_OP_size) &&
                !prt_op_is(op, PRT_OP_cast_like),
            "%s is left", op->def->name);
        for (uint32_t i = 0; i < op->n_in; i++) {
            prt_tensor one;
            if (prt_op_is(op, PRT_OP_mul) && prt_value_tensor(op->in[i].value, &one) &&
                one.rank == 0)
                ck_assert(prt_load_f64(one.dtype, one.data, 0) != 1.0);
        }
        if (prt_op_is(op, PRT_OP_expand))
            ck_assert_ptr_ne(op->in[0].value->type, op->out[0].type);
    }
    module_free(g);
}
END_TEST

/* Formulas are built of operators that have rules, so that second derivatives exist. */
START_TEST(formulas_are_differentiated_again)
{
    static const char *const texts[] = {
        "x = input f64[2,3]\nw = input f64[3,2]\np = matmul x w\ny = tanh p\nreturn y\n",
        "x = input f64[1,2,4]\nw = input f64[2,2,2]\ny = conv x w\nreturn y\n",
        "x = input f64[2,3]\ny = layer_normalization x x\nreturn y\n",
        "x = input f64[2,3]\ny = log_softmax x\nreturn y\n",
        "x = input f64[2,3]\ni = const i64[2] {1,0}\ny = gather x i {axis=1}\nz = exp y\n"
        "return z\n",
        "x = input f64[2,3]\nt = const i64[2] {1,0}\n"
        "y = softmax_cross_entropy_loss x t\nreturn y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        check_second_gradients(texts[i], -1, 1);
}
END_TEST

START_TEST(symbolic_batches)
{
    static const char *const texts[] = {
        "x = input f64[n,2,4,4]\nw = input f64[2,2,3,3]\nb = input f64[2]\n"
        "c = conv x w b {pads=[1,1,1,1]}\np = max_pool c {kernel_shape=[2,2],strides=[2,2]}\n"
        "y = average_pool p {kernel_shape=[2,1]}\nreturn y\n",
        "x = input f64[n,4,3]\nw = input f64[4,1,2]\ny = conv x w {group=4}\nreturn y\n",
        "x = input f64[n,2,3]\nw = input f64[2,2,2]\ny = conv_transpose x w\nreturn y\n",
        "x = input f64[n,3]\ns = input f64[3]\nb = input f64[3]\n"
        "y = layer_normalization x s b\nreturn y\n",
        "x = input f64[n,2,3]\ns = input f64[2]\nb = input f64[2]\nm = const f64[2] {0,0}\n"
        "v = const f64[2] {1,1}\ny, p, q = batch_normalization x s b m v {training_mode=1}\n"
        "return y\n",
        "x = input f64[n,4]\nt = const i64[2] {1,3}\n"
        "y = softmax_cross_entropy_loss x t\nreturn y\n",
        "x = input f64[n,3,4]\ny = attention x x x {q_num_heads=2,kv_num_heads=2,is_causal=1}\n"
        "return y\n",
        "x = input f64[n,3]\ni = const i64[2] {2,0}\ny = gather x i {axis=1}\nreturn y\n",
        "x = input f64[n,n]\nz = input f64[n,1]\ny = mul x z\nreturn y\n",
        "x = input f64[n,3]\ns = const i64[1] {1}\ne = const i64[1] {3}\na = const i64[1] {1}\n"
        "y = slice x s e a\nreturn y\n",
        "x = input f64[n,3]\nk = const i64[1] {2}\ny, i = topk x k\nreturn y\n",
        "x = input f64[n,3]\na = const i64[1] {1}\ny = reduce_prod x a\nreturn y\n",
        "x = input f64[3,n,2]\nw = input f64[1,8,2]\nr = input f64[1,8,2]\n"
        "y = lstm x w r\nreturn y\n",
        "x = input f64[n,3]\nw = input f64[3]\nm = const i64[] {3}\n"
        "y = loop m _ x {body {\ni = input i64[]\nk = input bool[]\nv = input f64[n,3]\n"
        "a = mul v w\nb = sin a\nreturn k, b\n}}\nreturn y\n",
        "x = input f64[n,3]\np = const i64[4] {0,1,0,1}\ny = pad x p {mode=\"reflect\"}\n"
        "return y\n",
        "a = input f64[n,2,3]\nb = input f64[3,2]\ny = einsum a b {equation=\"bij,jk->bik\"}\n"
        "return y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(texts); i++)
        check_symbolic_gradients(texts[i]);
    /* A run finds the axes along which `b` was broadcast. */
    check_symbolic_gradients("a = input f64[n,3]\nb = input f64[n,3]\nf = const i64[1] {0}\n"
                             "g = const i64[1] {1}\nh = const i64[1] {0}\nc = slice b f g h\n"
                             "y = mul a c\nreturn y\n");
}
END_TEST

PRT_TEST_MAIN("train/autodiff", unary_gradients_match_differences,
    broadcast_gradients_match_differences, product_gradients_match_differences,
    reduction_gradients_match_differences, movement_gradients_match_differences,
    conv_and_pool_gradients_match_differences, normalisation_gradients_match_differences,
    gradients_of_several_users_add_up, symbolic_shapes_stay_symbolic,
    operators_without_a_rule_are_named_together, refused_attributes_are_named_together,
    each_operator_has_a_row, gradients_of_all_values_are_found_by_name, large_graphs,
    no_small_change_is_left, formulas_are_differentiated_again, symbolic_batches)
