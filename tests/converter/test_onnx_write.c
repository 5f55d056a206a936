/* SPDX-License-Identifier: MIT */
/*
 * test_onnx_write.c — modules written and read again: kept bytes, encoded nodes, errors.
 * Covers: onnx_write_graph.c, onnx_write_node.c, onnx_write_value.c, encode.c.
 */
#define _GNU_SOURCE
#include "support/onnx_check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "converter/onnx_raw.h"
#include "converter/onnx_write.h"
#include "ir/build.h"
#include "ir/extra.h"

static bool holds(const msg *m, const void *bytes, size_t size)
{
    return memmem(m->data, m->size, bytes, size) != NULL;
}

static const char *text_of(const prt_module *m)
{
    prt_str text;
    ck_assert_int_eq(prt_ir_print(m->main, m->arena, &text), POPRT_OK);
    return text.data;
}

static prt_value *value_of(const prt_module *m, const char *name)
{
    prt_value *v = prt_map_find(&m->names, prt_str_of(name));
    ck_assert_msg(v != NULL, "no value '%s'", name);
    return v;
}

START_TEST(untouched_nodes_keep_their_bytes)
{
    const int64_t zero = 0;
    /* Fields in an order and of a kind that the writer never produces. */
    msg *neg = msg_text(msg_text(msg_new(), PRT_ONNX_Node_op_type, "Neg"), 6, "a doc string");
    (void)msg_text(msg_text(neg, PRT_ONNX_Node_output, "a"), PRT_ONNX_Node_input, "x");
    msg *odd = msg_text(onnx_attr_ints(onnx_node("Odd", "a,,", "y"), "t", 1, &zero),
        PRT_ONNX_Node_domain, "elsewhere");
    msg *nodes[] = { neg, odd, NULL };
    prt_module *m = onnx_loaded(onnx_model(onnx_xy(onnx_graph("g", nodes)), 21));
    const msg *out = onnx_written(m);
    ck_assert(holds(out, neg->data, neg->size));
    ck_assert(holds(out, odd->data, odd->size));
    prt_module_release(m);
}
END_TEST

START_TEST(changed_nodes_are_encoded_again)
{
    const int64_t zero = 0;
    msg *t = onnx_attr_text(onnx_node("Transpose", "x", "y"), "__hint", "fast");
    msg *nodes[] = { msg_text(onnx_attr_ints(t, "perm", 1, &zero), 6, "a doc string"), NULL };
    prt_module *m = onnx_loaded(onnx_model(onnx_xy(onnx_graph("g", nodes)), 21));
    prt_op_touch(m->main->first);
    const msg *out = onnx_written(m);
    ck_assert(!holds(out, nodes[0]->data, nodes[0]->size));
    ck_assert(holds(out, "a doc string", 12) && holds(out, "__hint", 6));
    prt_module *again = onnx_loaded(out);
    const prt_transpose_attrs *a = again->main->first->attrs;
    ck_assert_uint_eq(a->perm.count, 1);
    ck_assert_ptr_nonnull(again->main->first->extra);
    prt_module_release(m);
    prt_module_release(again);
}
END_TEST

START_TEST(the_sample_comes_back)
{
    prt_module *m = onnx_loaded(onnx_sample());
    const msg *out = onnx_written(m);
    prt_module *again = onnx_loaded(out);
    ck_assert_str_eq(text_of(m), text_of(again));
    ck_assert(holds(out, "a producer", 10));
    ck_assert(!holds(out, "Turn", 4)); /* the function was inlined */
    ck_assert_int_eq(prt_module_opset(again, PRT_STR("elsewhere")), 3);
    prt_module_release(m);
    prt_module_release(again);
}
END_TEST

static uint32_t count_infos(const prt_module *m)
{
    uint32_t n = 0;
    for (const prt_raw *raw = m->main->extra; raw != NULL; raw = raw->next)
        n += raw->field == PRT_ONNX_Graph_value_info;
    return n;
}

/* A converted model states the types of its inner values; a model that is only saved states no
 * more than before. Inputs and outputs are stated once. */
START_TEST(types_of_inner_values_are_added)
{
    msg *nodes[] = { onnx_node("Neg", "x", "a"), onnx_node("Abs", "a", "b"),
        onnx_node("Neg", "b", "y"), NULL };
    prt_module *m = onnx_loaded(onnx_model(onnx_xy(onnx_graph("g", nodes)), 13));
    ck_assert_int_eq(prt_ir_infer(m->main), POPRT_OK);
    prt_module *plain = onnx_loaded(onnx_written(m));
    ck_assert_uint_eq(count_infos(plain), 0);
    m->describes_values = true;
    prt_module *described = onnx_loaded(onnx_written(m));
    ck_assert_uint_eq(count_infos(described), 2);
    prt_module *twice = onnx_loaded(onnx_written(described));
    ck_assert_uint_eq(count_infos(twice), 2);
    prt_module_release(m);
    prt_module_release(plain);
    prt_module_release(described);
    prt_module_release(twice);
}
END_TEST

/* onnx.checker takes an STFT without `onesided` as two-sided, against its own specification. */
START_TEST(a_converted_stft_states_that_it_is_onesided)
{
    const int64_t shape[3] = { 1, 8, 1 }, out[4] = { 1, 1, 5, 2 };
    msg *nodes[] = { onnx_node("STFT", "x,step,window", "y"), NULL };
    msg *g = onnx_graph("g", nodes);
    (void)msg_msg(g, PRT_ONNX_Graph_input, onnx_info("x", PRT_DTYPE_f32, 3, shape));
    (void)msg_msg(g, PRT_ONNX_Graph_input, onnx_info("step", PRT_DTYPE_i64, 0, shape));
    (void)msg_msg(g, PRT_ONNX_Graph_input, onnx_info("window", PRT_DTYPE_f32, 1, shape + 1));
    (void)msg_msg(g, PRT_ONNX_Graph_output, onnx_info("y", PRT_DTYPE_f32, 4, out));
    prt_module *m = onnx_loaded(onnx_model(g, 17));
    ck_assert(!holds(onnx_written(m), "onesided", 8));
    m->describes_values = true;
    prt_module *again = onnx_loaded(onnx_written(m));
    const prt_stft_attrs *a = again->main->first->attrs;
    ck_assert(prt_attr_given(a, 0) && a->onesided == 1);
    prt_module_release(m);
    prt_module_release(again);
}
END_TEST

/* Old forms are read as canonical ops; the file imports the first opset that has them. */
START_TEST(the_opset_grows_as_needed)
{
    msg *nodes[] = { onnx_attr_f32(onnx_node("Clip", "x", "a"), "min", 1.5f),
        onnx_node("Neg", "a", "y"), NULL };
    msg *g = onnx_xy(onnx_graph("g", nodes));
    prt_module *m = onnx_loaded(onnx_model(g, 6));
    prt_module *again = onnx_loaded(onnx_written(m));
    const prt_op *clip = again->main->first;
    ck_assert_int_eq(prt_module_opset(again, PRT_STR("")), 11);
    ck_assert_uint_eq(clip->n_in, 2);
    ck_assert(holds(onnx_written(m), nodes[1]->data, nodes[1]->size));
    prt_module_release(m);
    prt_module_release(again);
}
END_TEST

/* The interface keeps its names when its values are replaced. */
START_TEST(outputs_keep_their_names)
{
    msg *nodes[] = { onnx_node("Neg", "x", "a"), onnx_node("Abs", "a", "y"), NULL };
    msg *g = onnx_xy(onnx_graph("g", nodes));
    (void)msg_msg(g, PRT_ONNX_Graph_output, msg_text(msg_new(), 1, "a"));
    prt_module *m = onnx_loaded(onnx_model(g, 21));
    prt_value_replace(value_of(m, "y"), value_of(m, "x")); /* y = x */
    prt_value_replace(value_of(m, "a"), value_of(m, "x")); /* a = x */
    prt_op_erase(m->main->last);
    prt_op_erase(m->main->last);
    prt_module *again = onnx_loaded(onnx_written(m));
    ck_assert_uint_eq(again->main->output_names.count, 2);
    ck_assert(prt_str_is(again->main->output_names.data[0], "y"));
    ck_assert(prt_str_is(again->main->output_names.data[1], "a"));
    ck_assert_str_eq(again->main->first->name.data, "Identity");
    prt_module_release(m);
    prt_module_release(again);
}
END_TEST

static uint32_t count_copies(const prt_graph *g)
{
    uint32_t n = 0;
    prt_for_each_op (op, g) {
        n += prt_op_is(op, PRT_OP_identity);
        for (uint32_t i = 0; i < op->n_regions; i++)
            n += count_copies(op->regions[i]);
    }
    return n;
}

static prt_module *from_text(const char *text)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
    if (prt_ir_parse(m, prt_str_of(text)) != POPRT_OK)
        ck_abort_msg("%s: %s", text, last_error());
    return m;
}

/* An output is a copy of its value where it is called otherwise than that, and each name is made
 * once, however often it is listed. A region's outputs have names of their own: one that is given
 * again is a copy. */
START_TEST(each_name_of_an_output_is_made_once)
{
#define VALUES "x = input f32[2]\nd = input f32[2] {3, 4}\nc = const f32[2] {1, 2}\ny = neg x\n"
#define CHOICE(then, other)                                                                        \
    "q = input bool[]\nx = input f32[2]\nc = const f32[2] {1, 2}\ny, z = if q {\n"                 \
    "  then_branch { " then " }\n  else_branch { " other " }\n}\nreturn y, z\n"
    static const struct {
        const char *text;
        uint32_t copies;
    } cases[] = {
        { VALUES "return x, x, d, d, c, c, y, y\n", 0 },
        { VALUES "return c as o, c as o\n", 1 },
        { VALUES "return c, c as o, c as p, c as o, c\n", 2 },
        { VALUES "return y as o, y as o\n", 0 }, /* the node makes `o` */
        { VALUES "return y as o, y as p, y as o, y as p\n", 1 },
        { VALUES "return x, x as o, x as o\n", 1 },
        { VALUES "return d as o, d as o, d\n", 1 },
        { CHOICE("t = neg x; return t, t", "return x, x"), 3 },
        { CHOICE("return c, c", "t = const f32[2] {3, 4}; return t, t"), 3 },
        { CHOICE("t = neg x; return t, c", "u = abs x; return c, u"), 2 },
        { "n = input i64[]\nq = input bool[]\nx = input f32[2]\ny, z = loop n q x {\n  body {\n"
          "    i = input i64[]\n    p = input bool[]\n    s = input f32[2]\n    return p, s, s\n  "
          "}\n"
          "}\nreturn y, y as o, z, z as o2\n",
            3 },
        { "x = input f32[3,2]\ny, z = scan x {num_scan_inputs=1\n  body {\n    s = input f32[2]\n"
          "    return s, s\n  }\n}\nreturn y, z\n",
            1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        prt_module *m = from_text(cases[i].text);
        prt_module *again = onnx_loaded(onnx_written(m));
        const prt_graph *g = again->main;
        ck_assert_uint_eq(g->ret->n_in, m->main->ret->n_in);
        for (uint32_t k = 0; k < g->ret->n_in; k++) {
            ck_assert(prt_str_equal(g->output_names.data[k], m->main->output_names.data[k]));
            for (uint32_t j = 0; j < k; j++)
                ck_assert(g->ret->in[j].value == g->ret->in[k].value ||
                    !prt_str_equal(g->output_names.data[j], g->output_names.data[k]));
        }
        ck_assert_msg(count_copies(g) == cases[i].copies, "%s: %u", cases[i].text, count_copies(g));
        prt_module_release(m);
        prt_module_release(again);
    }
#undef VALUES
#undef CHOICE
}
END_TEST

START_TEST(a_name_of_two_values_is_refused)
{
    for (uint32_t i = 0; i < 2; i++) {
        prt_module *m = from_text("x = input f32[2]\ny = neg x\nreturn x, y, y\n");
        prt_op_set_input(m->main->ret, 2 * i, m->main->ret->in[2 - 2 * i].value);
        ck_assert_int_eq(prt_onnx_write(m, onnx_append, msg_new()), POPRT_E_INTERNAL);
        ck_assert_ptr_nonnull(strstr(last_error(), "belongs to two values"));
        prt_module_release(m);
    }
}
END_TEST

/* An Identity that the writer adds needs its domain, and a version with the value's type. */
START_TEST(copies_of_outputs_count_for_the_opset)
{
    static const struct {
        const char *text;
        int64_t opset;
    } cases[] = {
        { "x = input f32[2]\nreturn x\n", 0 },
        { "x = input f32[2]\nreturn x as o\n", 1 },
        { "x = input bf16[2]\nreturn x as o\n", 13 },
        { "x = input seq(f32[2])\nreturn x as o\n", 14 },
        { "x = input optional(f32[2])\nreturn x as o\n", 16 },
        { "x = input u4[2]\nreturn x as o\n", 21 },
        { "q = input bool[]\nx = input seq(f32[2])\ny = if q {\n  then_branch { return x }\n"
          "  else_branch { return x }\n}\nreturn y\n",
            14 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        prt_module *m = from_text(cases[i].text);
        prt_module *again = onnx_loaded(onnx_written(m));
        ck_assert_msg(prt_module_opset(again, PRT_STR("")) == cases[i].opset, "%s: %lld",
            cases[i].text, (long long)prt_module_opset(again, PRT_STR("")));
        prt_module_release(m);
        prt_module_release(again);
    }
    prt_module *m = from_text("x = input seq(f32[2])\nreturn x as o\n");
    ck_assert_int_eq(prt_onnx_downgrade(m, 13), POPRT_OK);
    ck_assert_int_eq(prt_onnx_write(m, onnx_append, msg_new()), POPRT_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(last_error(), "opset 13"));
    prt_module_release(m);
}
END_TEST

START_TEST(unnamed_values_get_names)
{
    msg *nodes[] = { onnx_node("Neg", "x", "y"), NULL };
    prt_module *m = onnx_loaded(onnx_model(onnx_xy(onnx_graph("g", nodes)), 21));
    prt_build b = prt_build_before(m->main->first);
    prt_value *sum =
        prt_build_binary(&b, PRT_OP_add, value_of(m, "x"), prt_build_scalar(&b, PRT_DTYPE_f32, 3));
    ck_assert_int_eq(prt_build_status(&b), POPRT_OK);
    prt_op_set_input(m->main->first->next, 0, sum);
    prt_module *again = onnx_loaded(onnx_written(m));
    ck_assert_str_eq(again->main->first->name.data, "Add");
    ck_assert_ptr_eq(again->main->last->in[0].value, &again->main->first->out[0]);
    ck_assert_uint_eq(again->main->constants.count, 1);
    prt_module_release(m);
    prt_module_release(again);
}
END_TEST

/* The second part is unread and unnamed; without it there would be one part. */
START_TEST(unread_parts_are_written)
{
    prt_module *m = NULL;
    ck_assert_int_eq(prt_module_create(NULL, 0, &m), POPRT_OK);
    ck_assert_int_eq(prt_ir_parse(m,
                         PRT_STR("x = input f32[4]\ny, _ = split x {num_outputs=2}\n"
                                 "return y\n")),
        POPRT_OK);
    prt_module *again = onnx_loaded(onnx_written(m));
    ck_assert_uint_eq(again->main->first->n_out, 2);
    prt_module_release(again);
    prt_module_release(m);
}
END_TEST

static const int64_t two = 2;

static msg *listed_info(int32_t dtype)
{
    return msg_text(onnx_info("w", dtype, 1, &two), PRT_ONNX_ValueInfo_doc_string, "doc");
}

/* y = x + w, where w is an initializer and an input; of format 3, in which every initializer has to
 * be an input. */
static prt_module *listed_model(void)
{
    const float w[2] = { 1, 2 };
    msg *nodes[] = { onnx_node("Add", "x,w", "y"), NULL };
    msg *g = msg_msg(onnx_graph("g", nodes), PRT_ONNX_Graph_input, listed_info(PRT_DTYPE_f32));
    (void)msg_msg(onnx_xy(g), PRT_ONNX_Graph_initializer,
        msg_bytes(onnx_tensor("w", PRT_DTYPE_f32, 1, &two), PRT_ONNX_Tensor_raw_data, w, 8));
    prt_module *m = onnx_loaded(onnx_model(g, 13));
    m->ir_version = 3;
    return m;
}

/* A constant that was listed as an input is listed again, at its place. */
START_TEST(initialized_inputs_are_listed_again)
{
    const msg *info = listed_info(PRT_DTYPE_f32);
    prt_module *m = listed_model();
    const msg *out = onnx_written(m);
    const unsigned char *at = memmem(out->data, out->size, info->data, info->size);
    ck_assert_ptr_nonnull(at);
    const msg *x = onnx_info("x", PRT_DTYPE_f32, 1, &two);
    const size_t behind = (size_t)(at - out->data) + info->size;
    ck_assert_ptr_nonnull(memmem(at + info->size, out->size - behind, x->data, x->size));
    prt_module *again = onnx_loaded(out);
    ck_assert_int_eq(again->ir_version, 3);
    prt_module_release(again);
    prt_module_release(m);
}
END_TEST

/* Both the initializer and the input have the type that the constant has now. */
START_TEST(narrowed_constants_get_their_new_type)
{
    prt_module *m = listed_model();
    const msg *was = listed_info(PRT_DTYPE_f32), *is = listed_info(PRT_DTYPE_f16);
    prt_value *w = value_of(m, "w");
    w->type = prt_type_tensor(m->types, PRT_DTYPE_f16, 1, &two);
    const msg *out = onnx_written(m);
    ck_assert(holds(out, is->data, is->size));
    ck_assert(!holds(out, was->data, was->size));
    prt_module_release(m);
}
END_TEST

/* Without the input, the format is one in which an initializer need not be an input. */
START_TEST(unlisted_constants_are_not_inputs)
{
    prt_module *m = listed_model();
    const msg *info = listed_info(PRT_DTYPE_f32);
    ck_assert(prt_graph_unlist_constants(m->main));
    ck_assert(!prt_graph_unlist_constants(m->main));
    const msg *out = onnx_written(m);
    ck_assert(!holds(out, "doc", 3) && !holds(out, info->data, info->size));
    prt_module *again = onnx_loaded(out);
    ck_assert_int_eq(again->ir_version, 4);
    ck_assert_ptr_nonnull(value_of(again, "w")->constant);
    ck_assert_uint_eq(again->main->inputs.count, 1);
    prt_module_release(again);
    prt_module_release(m);
}
END_TEST

static msg *sequence_info(const char *name, int32_t dtype)
{
    const msg *tensor = msg_int(msg_new(), PRT_ONNX_TensorType_elem_type, dtype);
    const msg *elem = msg_msg(msg_new(), PRT_ONNX_Type_tensor_type, tensor);
    const msg *sequence = msg_msg(msg_new(), PRT_ONNX_WrapType_elem_type, elem);
    return msg_msg(msg_text(msg_new(), PRT_ONNX_ValueInfo_name, name), PRT_ONNX_ValueInfo_type,
        msg_msg(msg_new(), PRT_ONNX_Type_sequence_type, sequence));
}

/* The description from the original file is not written any more. */
START_TEST(sequences_of_another_type_get_their_new_type)
{
    msg *nodes[] = { onnx_node("SequenceInsert", "s,x", "t"), NULL };
    msg *g =
        msg_msg(onnx_graph("g", nodes), PRT_ONNX_Graph_input, sequence_info("s", PRT_DTYPE_f32));
    (void)msg_msg(g, PRT_ONNX_Graph_input, onnx_info("x", PRT_DTYPE_f32, 1, &two));
    (void)msg_msg(g, PRT_ONNX_Graph_output, sequence_info("t", PRT_DTYPE_f32));
    prt_module *m = onnx_loaded(onnx_model(g, 17));
    const char *const names[] = { "s", "x", "t" };
    for (size_t i = 0; i < 3; i++) {
        prt_value *v = value_of(m, names[i]);
        const prt_type *half = prt_type_tensor(m->types, PRT_DTYPE_f16, i == 1 ? 1 : -1, &two);
        v->type = i == 1 ? half : prt_type_wrap(m->types, PRT_VALUE_SEQUENCE, 0, half);
    }
    prt_module *again = onnx_loaded(onnx_written(m));
    ck_assert_int_eq(value_of(again, "s")->type->elem->dtype, PRT_DTYPE_f16);
    ck_assert_int_eq(value_of(again, "t")->type->elem->dtype, PRT_DTYPE_f16);
    prt_module_release(again);
    prt_module_release(m);
}
END_TEST

START_TEST(large_constants_go_to_a_file)
{
    static float w[1000];
    const int64_t dim = 1000;
    char path[] = "/tmp/prt_write_XXXXXX", data[64];
    const int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    (void)snprintf(data, sizeof(data), "%s.data", path);
    for (size_t i = 0; i < 1000; i++)
        w[i] = (float)i;
    msg *nodes[] = { onnx_node("Add", "w,v", "y"), NULL };
    msg *g = onnx_graph("g", nodes);
    for (const char *name = "w"; name != NULL; name = *name == 'w' ? "v" : NULL)
        (void)msg_msg(g, PRT_ONNX_Graph_initializer,
            msg_bytes(onnx_tensor(name, PRT_DTYPE_f32, 1, &dim), PRT_ONNX_Tensor_raw_data, w,
                sizeof(w)));
    (void)msg_msg(g, PRT_ONNX_Graph_output, onnx_info("y", PRT_DTYPE_f32, 1, &dim));
    prt_module *m = onnx_loaded(onnx_model(g, 21)), *again = NULL;
    ck_assert_int_eq(prt_onnx_write_file(m, path, 100), POPRT_OK);
    ck_assert_int_eq(prt_onnx_read_file(&prt_mem_libc, path, NULL, &again), POPRT_OK);
    prt_tensor t;
    ck_assert(prt_value_tensor(value_of(again, "v"), &t));
    ck_assert_mem_eq(t.data, w, sizeof(w));
    ck_assert_uint_eq((uintptr_t)t.data % PRT_ONNX_EXTERNAL_ALIGN, 0);
    prt_module_release(again);
    ck_assert_int_eq(unlink(data), 0);
    ck_assert_int_eq(prt_onnx_write_file(m, path, 0), POPRT_OK);
    ck_assert_int_ne(access(data, F_OK), 0);
    ck_assert_int_eq(prt_onnx_read_file(&prt_mem_libc, path, NULL, &again), POPRT_OK);
    prt_module_release(again);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_ne(prt_onnx_write_file(m, "/nonexistent/folder/m.onnx", 0), POPRT_OK);
    prt_module_release(m);
}
END_TEST

static int32_t refuse(void *user, const void *bytes, size_t size)
{
    size_t *left = user;
    (void)bytes;
    if (*left < size)
        return 1;
    *left -= size;
    return 0;
}

START_TEST(a_refusing_sink_is_an_io_error)
{
    prt_module *m = onnx_loaded(onnx_sample());
    const size_t whole = onnx_written(m)->size;
    for (size_t n = 0; n <= whole; n++) {
        size_t left = n;
        ck_assert_int_eq(prt_onnx_write(m, refuse, &left), n < whole ? POPRT_E_IO : POPRT_OK);
    }
    prt_module_release(m);
}
END_TEST

START_TEST(every_failed_allocation_is_survived)
{
    failing f = { SIZE_MAX, 0 };
    const prt_allocator allocator = failing_allocator(&f);
    const msg *sample = onnx_sample();
    prt_blob *blob = NULL;
    prt_module *m = NULL;
    ck_assert_int_eq(prt_blob_borrow(&prt_mem_libc, sample->data, sample->size, NULL, NULL, &blob),
        0);
    ck_assert_int_eq(prt_onnx_read_bytes(&allocator, blob, "test", NULL, NULL, &m), POPRT_OK);
    const size_t live = f.live;
    poprt_status status = POPRT_E_NOMEM;
    for (size_t n = 0; status != POPRT_OK; n++) {
        ck_assert_uint_lt(n, 1000);
        f.left = n;
        status = prt_onnx_write(m, onnx_append, msg_new());
        ck_assert(status == POPRT_OK || status == POPRT_E_NOMEM);
        ck_assert_uint_eq(f.live, live);
    }
    prt_module_release(m);
    prt_blob_release(blob);
    ck_assert_uint_eq(f.live, 0);
}
END_TEST

PRT_TEST_MAIN("converter/onnx_write", untouched_nodes_keep_their_bytes,
    changed_nodes_are_encoded_again, the_sample_comes_back, types_of_inner_values_are_added,
    a_converted_stft_states_that_it_is_onesided, the_opset_grows_as_needed,
    outputs_keep_their_names, each_name_of_an_output_is_made_once, a_name_of_two_values_is_refused,
    copies_of_outputs_count_for_the_opset, unnamed_values_get_names, unread_parts_are_written,
    initialized_inputs_are_listed_again, narrowed_constants_get_their_new_type,
    unlisted_constants_are_not_inputs, sequences_of_another_type_get_their_new_type,
    large_constants_go_to_a_file, a_refusing_sink_is_an_io_error,
    every_failed_allocation_is_survived)
