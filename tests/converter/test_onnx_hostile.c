/* SPDX-License-Identifier: MIT */
/*
 * test_onnx_hostile.c — inconsistent, truncated, damaged and oversized models give an error and
 * nothing worse.
 * Covers: onnx_attr.c, onnx_function.c, onnx_raw.c, onnx_sparse.c, onnx_type.c.
 */
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include <stdio.h>
#include <string.h>

#include "converter/onnx_raw.h"

/* Asserts that the model is refused with this status, and that the message contains `word`. */
static void assert_refused(const msg *model, poprt_status status, const char *word)
{
    prt_module *m = NULL;
    const poprt_status got = onnx_load(model, NULL, &m);
    ck_assert_msg(got == status, "%s instead of %s: %s", prt_status_name(got),
        prt_status_name(status), last_error());
    ck_assert_msg(strstr(last_error(), word) != NULL ||
            strstr(prt_error_last()->subject, word) != NULL,
        "'%s' is not in: %s: %s", word, prt_error_last()->subject, last_error());
    ck_assert_str_eq(prt_error_last()->stage, "read");
    ck_assert_str_eq(prt_error_last()->file, "test");
    ck_assert_ptr_null(m);
}

static msg *of_nodes(msg *const *nodes)
{
    return onnx_model(onnx_xy(onnx_graph("g", nodes)), 21);
}

static msg *of_tensor(const msg *tensor)
{
    msg *nodes[] = { onnx_node("Neg", "x", "y"), NULL };
    return onnx_model(msg_msg(onnx_xy(onnx_graph("g", nodes)), PRT_ONNX_Graph_initializer, tensor),
        21);
}

START_TEST(inconsistent_graphs_are_refused)
{
    msg *cycle[] = { onnx_node("Neg", "x", "a"), onnx_node("Add", "a,c", "b"),
        onnx_node("Abs", "b", "c"), onnx_node("Neg", "c", "y"), NULL };
    msg *self[] = { onnx_node("Add", "x,y", "y"), NULL };
    msg *dangling[] = { onnx_node("Add", "x,ghost", "y"), NULL };
    msg *missing[] = { onnx_node("Neg", "x", "z"), NULL };
    msg *twice[] = { onnx_node("Neg", "x", "y"), onnx_node("Abs", "x", "y"), NULL };
    msg *input[] = { onnx_node("Neg", "x", "x"), onnx_node("Neg", "x", "y"), NULL };
    msg *nameless[] = { onnx_node("", "x", "y"), NULL };
    assert_refused(of_nodes(cycle), POPRT_E_PARSE, "cycle");
    assert_refused(of_nodes(self), POPRT_E_PARSE, "cycle");
    assert_refused(of_nodes(dangling), POPRT_E_PARSE, "ghost");
    assert_refused(of_nodes(missing), POPRT_E_PARSE, "'y'");
    assert_refused(of_nodes(twice), POPRT_E_PARSE, "'y'");
    assert_refused(of_nodes(input), POPRT_E_PARSE, "x");
    assert_refused(of_nodes(nameless), POPRT_E_PARSE, "op_type");
    assert_refused(msg_new(), POPRT_E_PARSE, "not an ONNX model");
    assert_refused(msg_text(msg_new(), 99, "hello"), POPRT_E_PARSE, "not an ONNX model");
}
END_TEST

START_TEST(tensors_of_the_wrong_size_are_refused)
{
    const int64_t two = 2, negative = -1, most = INT64_MAX, wide[2] = { 1ll << 32, 1ll << 32 };
    const int64_t nine[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    const char bytes[12] = { 0 };
    msg *t = onnx_tensor("w", PRT_DTYPE_f32, 1, &two);
    assert_refused(of_tensor(t), POPRT_E_PARSE, "w");
    assert_refused(of_tensor(msg_bytes(t, PRT_ONNX_Tensor_raw_data, bytes, 7)), POPRT_E_PARSE, "8");
    assert_refused(of_tensor(msg_bytes(t, PRT_ONNX_Tensor_raw_data, bytes, 12)), POPRT_E_PARSE,
        "8");
    t = onnx_tensor("w", PRT_DTYPE_i64, 1, &two);
    assert_refused(of_tensor(msg_int(t, PRT_ONNX_Tensor_int64_data, 1)), POPRT_E_PARSE, "w");
    for (int i = 0; i < 2; i++)
        (void)msg_int(t, PRT_ONNX_Tensor_int64_data, 1);
    assert_refused(of_tensor(t), POPRT_E_PARSE, "w");
    t = msg_text(onnx_tensor("w", PRT_DTYPE_string, 1, &two), PRT_ONNX_Tensor_string_data, "one");
    assert_refused(of_tensor(t), POPRT_E_PARSE, "w");
    assert_refused(of_tensor(onnx_tensor("w", PRT_DTYPE_f32, 1, &negative)), POPRT_E_PARSE,
        "negative");
    assert_refused(of_tensor(onnx_tensor("w", PRT_DTYPE_f32, 1, &most)), POPRT_E_LIMIT, "too many");
    assert_refused(of_tensor(onnx_tensor("w", PRT_DTYPE_f32, 2, wide)), POPRT_E_LIMIT, "too many");
    assert_refused(of_tensor(onnx_tensor("w", PRT_DTYPE_f32, 9, nine)), POPRT_E_LIMIT,
        "8 dimensions");
    assert_refused(of_tensor(onnx_tensor("w", 99, 1, &two)), POPRT_E_UNSUPPORTED, "99");
    assert_refused(of_tensor(onnx_tensor("w", -1, 1, &two)), POPRT_E_UNSUPPORTED, "-1");
    /* Large dims, no data: nothing may be allocated for them. */
    const int64_t gib = 1ll << 30;
    assert_refused(of_tensor(onnx_tensor("w", PRT_DTYPE_f32, 1, &gib)), POPRT_E_PARSE, "w");
    assert_refused(of_tensor(onnx_tensor("w", PRT_DTYPE_string, 1, &gib)), POPRT_E_PARSE, "w");
}
END_TEST

START_TEST(inconsistent_sparse_tensors_are_refused)
{
    const float value = 1;
    const int64_t one = 1, outside = 4, huge = 1ll << 40;
    for (int i = 0; i < 3; i++) {
        msg *s = msg_msg(msg_new(), PRT_ONNX_SparseTensor_values,
            msg_bytes(onnx_tensor("w", PRT_DTYPE_f32, 1, &one), PRT_ONNX_Tensor_raw_data, &value,
                4));
        (void)msg_msg(s, PRT_ONNX_SparseTensor_indices,
            msg_bytes(onnx_tensor("", PRT_DTYPE_i64, 1, &one), PRT_ONNX_Tensor_raw_data,
                i == 0 ? &outside : &(int64_t){ i == 1 ? -1 : 0 }, 8));
        (void)msg_int(s, PRT_ONNX_SparseTensor_dims, i == 2 ? huge : 4);
        msg *nodes[] = { onnx_node("Neg", "x", "y"), NULL };
        assert_refused(onnx_model(msg_msg(onnx_xy(onnx_graph("g", nodes)),
                                      PRT_ONNX_Graph_sparse_initializer, s),
                           21),
            i == 2 ? POPRT_E_LIMIT : POPRT_E_PARSE, i == 2 ? "dense" : "outside");
    }
}
END_TEST

START_TEST(unsuitable_attributes_are_refused)
{
    msg *wrong[] = { onnx_attr_text(onnx_node("Transpose", "x", "y"), "perm", "up"), NULL };
    msg *twice[] = { onnx_attr_int(onnx_attr_int(onnx_node("Neg", "x", "y"), "a", 1), "a", 2),
        NULL };
    msg *stray[] = { onnx_attr_ref(onnx_node("Neg", "x", "y"), "a", PRT_ONNX_INT, "b"), NULL };
    msg *empty[] = { onnx_node("Constant", "", "y"), NULL };
    assert_refused(of_nodes(wrong), POPRT_E_PARSE, "perm");
    assert_refused(of_nodes(twice), POPRT_E_PARSE, "'a'");
    assert_refused(of_nodes(stray), POPRT_E_PARSE, "'a'");
    assert_refused(of_nodes(empty), POPRT_E_PARSE, "no value");
}
END_TEST

/* f0 calls f1 twice, f1 calls f2 twice, and so on; the last one calls `last`. */
static msg *of_functions(uint32_t count, const char *last)
{
    msg *call[] = { msg_text(onnx_node("f0", "x", "y"), PRT_ONNX_Node_domain, "l"), NULL };
    msg *m = of_nodes(call);
    for (uint32_t i = 0; i < count; i++) {
        char name[16], next[16];
        (void)snprintf(name, sizeof(name), "f%u", i);
        (void)snprintf(next, sizeof(next), "f%u", i + 1);
        const char *callee = i + 1 < count ? next : last;
        msg *fn = msg_text(msg_text(msg_new(), PRT_ONNX_Function_name, name),
            PRT_ONNX_Function_domain, "l");
        (void)msg_text(msg_text(fn, PRT_ONNX_Function_input, "a"), PRT_ONNX_Function_output, "c");
        (void)msg_msg(fn, PRT_ONNX_Function_node,
            msg_text(onnx_node(callee, "a", "b"), PRT_ONNX_Node_domain, "l"));
        (void)msg_msg(fn, PRT_ONNX_Function_node,
            msg_text(onnx_node(callee, "b", "c"), PRT_ONNX_Node_domain, "l"));
        (void)msg_msg(m, PRT_ONNX_Model_functions, fn);
    }
    return m;
}

START_TEST(recursive_and_exploding_functions_are_refused)
{
    assert_refused(of_functions(1, "f0"), POPRT_E_PARSE, "calls itself");
    assert_refused(of_functions(5, "f2"), POPRT_E_PARSE, "calls itself");
    assert_refused(of_functions(30, "Neg"), POPRT_E_LIMIT, "nodes");
    assert_refused(of_functions(1000, "Neg"), POPRT_E_LIMIT, "nested");
}
END_TEST

START_TEST(deeply_nested_graphs_are_refused)
{
    msg *inner = onnx_graph("g", (msg *[]){ onnx_node("Neg", "x", "r"), NULL });
    (void)msg_msg(inner, PRT_ONNX_Graph_output, msg_text(msg_new(), 1, "r"));
    for (uint32_t depth = 1; depth < 80; depth++) {
        msg *node = onnx_attr_msg(onnx_node("Wrap", "x", "r"), "body", PRT_ONNX_Attribute_g,
            PRT_ONNX_GRAPH, inner);
        msg *nodes[] = { onnx_node("Identity", "r", "y"), node, NULL };
        const msg *model = of_nodes(nodes);
        prt_module *m = NULL;
        const poprt_status status = onnx_load(model, NULL, &m);
        ck_assert(depth > 20 || status == POPRT_OK);
        ck_assert(depth < 64 || status == POPRT_E_LIMIT);
        prt_module_release(status == POPRT_OK ? m : NULL);
        inner = onnx_graph("g", (msg *[]){ node, NULL });
        (void)msg_msg(inner, PRT_ONNX_Graph_output, msg_text(msg_new(), 1, "r"));
    }
}
END_TEST

START_TEST(deeply_nested_types_are_refused)
{
    msg *type = msg_msg(msg_new(), PRT_ONNX_Type_tensor_type, msg_new());
    for (int i = 0; i < 40; i++)
        type = msg_msg(msg_new(), PRT_ONNX_Type_sequence_type,
            msg_msg(msg_new(), PRT_ONNX_WrapType_elem_type, type));
    msg *nodes[] = { onnx_node("Neg", "x", "y"), NULL };
    msg *g = onnx_xy(onnx_graph("g", nodes));
    (void)msg_msg(g, PRT_ONNX_Graph_input,
        msg_msg(msg_text(msg_new(), PRT_ONNX_ValueInfo_name, "deep"), PRT_ONNX_ValueInfo_type,
            type));
    assert_refused(onnx_model(g, 21), POPRT_E_LIMIT, "nested");
}
END_TEST

/* Every prefix is refused, or read if it ends with a whole field. */
START_TEST(every_truncation_is_survived)
{
    const msg *whole = onnx_sample();
    size_t fine = 0;
    for (size_t size = 0; size <= whole->size; size++) {
        unsigned char *copy = malloc(size + 1); /* so that reads past the end are detected */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, whole->data, size);
        prt_module *m = NULL;
        if (onnx_load(&(msg){ copy, size, size }, NULL, &m) == POPRT_OK) {
            fine++;
            prt_module_release(m);
        }
        free(copy);
    }
    ck_assert_uint_ge(fine, 1);
}
END_TEST

START_TEST(every_bit_flip_is_survived)
{
    const msg *whole = onnx_sample();
    size_t fine = 0;
    for (size_t bit = 0; bit < whole->size * 8; bit++) {
        whole->data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        prt_module *m = NULL;
        if (onnx_load(whole, NULL, &m) == POPRT_OK) {
            fine += prt_ir_verify(m) == POPRT_OK;
            prt_module_release(m);
        }
        whole->data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    ck_assert_uint_ge(fine, 1);
}
END_TEST

START_TEST(every_failed_allocation_is_survived)
{
    const msg *whole = onnx_sample();
    poprt_status status = POPRT_E_NOMEM;
    for (size_t n = 0; status != POPRT_OK; n++) {
        failing f = { n, 0 };
        const prt_allocator allocator = failing_allocator(&f);
        prt_blob *blob = NULL;
        prt_module *m = NULL;
        ck_assert_uint_lt(n, 10000);
        ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, whole->data, whole->size, NULL, NULL,
                             &blob),
            0);
        status = prt_onnx_read_bytes(&allocator, blob, "test", NULL, NULL, &m);
        ck_assert(status == POPRT_OK || status == POPRT_E_NOMEM);
        prt_module_release(m);
        prt_blob_release(blob);
        ck_assert_uint_eq(f.live, 0);
    }
}
END_TEST

START_TEST(limits_are_kept)
{
    const msg *model = onnx_sample();
    const prt_onnx_limits nodes = { .nodes = 3 }, arena = { .arena = 8192 },
                          graphs = { .subgraphs = 1 };
    prt_module *m = NULL;
    ck_assert_int_eq(onnx_load(model, &nodes, &m), POPRT_E_LIMIT);
    ck_assert_int_eq(onnx_load(model, &arena, &m), POPRT_E_NOMEM);
    ck_assert_int_eq(onnx_load(model, &graphs, &m), POPRT_E_LIMIT);
}
END_TEST

PRT_TEST_MAIN("converter/onnx_hostile", inconsistent_graphs_are_refused,
    tensors_of_the_wrong_size_are_refused, inconsistent_sparse_tensors_are_refused,
    unsuitable_attributes_are_refused, recursive_and_exploding_functions_are_refused,
    deeply_nested_graphs_are_refused, deeply_nested_types_are_refused, every_truncation_is_survived,
    every_bit_flip_is_survived, every_failed_allocation_is_survived, limits_are_kept)
