/* SPDX-License-Identifier: MIT */
/*
 * test_upgrade_values.c — nodes of old opsets that take several ops today: read, run, and
 * compared with hand computation.
 * Covers: upgrade_control.c.
 */
#include "support/check_main.h"
#include "support/onnx_bytes.h"

#include <math.h>

#include "ir/interp.h"

enum { MOST = 6, MOST_VALUES = 32 };

/* An input or output. */
typedef struct slot {
    const char *name;
    int32_t dtype;
    uint32_t rank;
    int64_t dims[4];
    bool open; /* the model does not say the shape */
    double values[MOST_VALUES];
} slot;

static msg *info_of(const slot *s)
{
    if (!s->open)
        return onnx_info(s->name, s->dtype, s->rank, s->dims);
    msg *tensor = msg_int(msg_new(), PRT_ONNX_TensorType_elem_type, s->dtype);
    return msg_msg(msg_text(msg_new(), PRT_ONNX_ValueInfo_name, s->name), PRT_ONNX_ValueInfo_type,
        msg_msg(msg_new(), PRT_ONNX_Type_tensor_type, tensor));
}

static prt_tensor tensor_of(const slot *s, void *data)
{
    prt_tensor t;
    ck_assert(prt_tensor_init(&t, s->dtype, s->rank, s->dims, data));
    for (size_t i = 0; i < prt_tensor_count(&t); i++)
        if (prt_dtype_is_integer(s->dtype))
            prt_store_i64(s->dtype, data, i, (int64_t)s->values[i]);
        else
            prt_store_f64(s->dtype, data, i, s->values[i]);
    return t;
}

/* Reads a model of one node, runs it on the inputs and compares with the outputs. */
static void ck_node(msg *node, int64_t opset, uint32_t n_in, const slot *in, uint32_t n_out,
    const slot *out)
{
    msg *nodes[] = { node, NULL };
    msg *graph = onnx_graph("g", nodes);
    static double data[MOST][MOST_VALUES];
    prt_tensor tensors[MOST], got[MOST];
    const prt_tensor *refs[MOST];
    for (uint32_t i = 0; i < n_in; i++) {
        (void)msg_msg(graph, PRT_ONNX_Graph_input, info_of(&in[i]));
        tensors[i] = tensor_of(&in[i], data[i]);
        refs[i] = &tensors[i];
    }
    for (uint32_t i = 0; i < n_out; i++)
        (void)msg_msg(graph, PRT_ONNX_Graph_output, info_of(&out[i]));
    prt_module *m = NULL;
    prt_arena *arena = NULL;
    ck_assert_msg(onnx_load(onnx_model(graph, opset), NULL, &m) == POPRT_OK, "%s", last_error());
    ck_assert_int_eq(prt_ir_verify(m), POPRT_OK);
    ck_assert_int_eq(prt_arena_create(&prt_mem_libc, 0, &arena), POPRT_OK);
    const poprt_status status = prt_ir_run(m->main, n_in, refs, n_out, got, arena);
    ck_assert_msg(status == POPRT_OK, "%s", last_error());
    for (uint32_t i = 0; i < n_out; i++) {
        ck_assert_uint_eq(got[i].rank, out[i].rank);
        for (uint32_t k = 0; k < got[i].rank; k++)
            ck_assert_int_eq(got[i].dims[k], out[i].dims[k]);
        for (size_t k = 0; k < prt_tensor_count(&got[i]); k++)
            ck_assert_msg(fabs(prt_load_f64(got[i].dtype, got[i].data, k) - out[i].values[k]) <=
                    1e-5,
                "output %u [%zu] is %g, not %g", i, k, prt_load_f64(got[i].dtype, got[i].data, k),
                out[i].values[k]);
    }
    prt_arena_release(arena);
    prt_module_release(m);
}

/* b is aligned to axis 1 of a: 10 and 20 for its two rows. */
START_TEST(axes_of_unknown_ranks_broadcast)
{
    const slot in[] = { { "a", PRT_DTYPE_f32, 3, { 1, 2, 2 }, true, { 1, 2, 3, 4 } },
        { "b", PRT_DTYPE_f32, 1, { 2 }, true, { 10, 20 } } };
    const slot out = { "y", PRT_DTYPE_f32, 3, { 1, 2, 2 }, true, { 11, 12, 23, 24 } };
    msg *node = onnx_attr_int(onnx_node("Add", "a,b", "y"), "broadcast", 1);
    ck_node(onnx_attr_int(node, "axis", 1), 6, 2, in, 1, &out);
    node = onnx_attr_int(onnx_node("Add", "a,b", "y"), "broadcast", 1);
    ck_node(onnx_attr_int(node, "axis", -2), 6, 2, in, 1, &out);
}
END_TEST

START_TEST(slopes_of_unknown_ranks_broadcast)
{
    const slot in[] = { { "x", PRT_DTYPE_f32, 3, { 1, 2, 2 }, true, { -1, 2, -3, -4 } },
        { "s", PRT_DTYPE_f32, 1, { 2 }, true, { 2, 3 } } };
    const slot out = { "y", PRT_DTYPE_f32, 3, { 1, 2, 2 }, true, { -2, 2, -9, -12 } };
    ck_node(onnx_node("PRelu", "x,s", "y"), 6, 2, in, 1, &out);
}
END_TEST

START_TEST(tiles_may_be_computed)
{
    const slot in[] = { { "x", PRT_DTYPE_f32, 2, { 2, 2 }, true, { 1, 2, 3, 4 } },
        { "t", PRT_DTYPE_f32, 0, { 0 }, false, { 2 } },
        { "a", PRT_DTYPE_f32, 0, { 0 }, false, { 1 } } };
    const slot out = { "y", PRT_DTYPE_f32, 2, { 2, 4 }, true, { 1, 2, 1, 2, 3, 4, 3, 4 } };
    ck_node(onnx_node("Tile", "x,t,a", "y"), 5, 3, in, 1, &out);
}
END_TEST

/* (1 + 8)^(2/3), (8 + 27)^(2/3): powers of 1.5 of 1, 4 and 9. */
START_TEST(norms_take_a_fractional_power)
{
    static const int64_t two[] = { 2 };
    const slot in = { "x", PRT_DTYPE_f32, 3, { 1, 1, 3 }, false, { 1, -4, 9 } };
    const slot pooled = { "y", PRT_DTYPE_f32, 3, { 1, 1, 2 }, false,
        { pow(9, 2.0 / 3), pow(35, 2.0 / 3) } };
    const slot whole = { "y", PRT_DTYPE_f32, 3, { 1, 1, 1 }, false, { pow(36, 2.0 / 3) } };
    msg *node = onnx_attr_f32(onnx_node("LpPool", "x", "y"), "p", 1.5f);
    ck_node(onnx_attr_ints(node, "kernel_shape", 1, two), 1, 1, &in, 1, &pooled);
    ck_node(onnx_attr_f32(onnx_node("GlobalLpPool", "x", "y"), "p", 1.5f), 1, 1, &in, 1, &whole);
}
END_TEST

/* Mean 2.5 and variance 1.25 of 1, 2, 3, 4. */
START_TEST(training_gives_the_old_statistics)
{
    const double r = sqrt(1.25);
    const slot in[] = { { "x", PRT_DTYPE_f32, 3, { 2, 1, 2 }, false, { 1, 2, 3, 4 } },
        { "s", PRT_DTYPE_f32, 1, { 1 }, false, { 2 } },
        { "b", PRT_DTYPE_f32, 1, { 1 }, false, { 1 } },
        { "m", PRT_DTYPE_f32, 1, { 1 }, false, { 1 } },
        { "v", PRT_DTYPE_f32, 1, { 1 }, false, { 3 } } };
    const slot out[] = { { "y", PRT_DTYPE_f32, 3, { 2, 1, 2 }, false,
                             { 1 - 3 / r, 1 - 1 / r, 1 + 1 / r, 1 + 3 / r } },
        { "p", PRT_DTYPE_f32, 1, { 1 }, false, { 0.5 * 1 + 0.5 * 2.5 } },
        { "q", PRT_DTYPE_f32, 1, { 1 }, false, { 0.5 * 3 + 0.5 * 1.25 } },
        { "t", PRT_DTYPE_f32, 1, { 1 }, false, { 2.5 } },
        { "u", PRT_DTYPE_f32, 1, { 1 }, false, { 1.25 } } };
    msg *node =
        onnx_attr_f32(onnx_node("BatchNormalization", "x,s,b,m,v", "y,p,q,t,u"), "momentum", 0.5f);
    ck_node(onnx_attr_f32(node, "epsilon", 0.0f), 9, 5, in, 5, out);
}
END_TEST

/* Each element by its own mean over the batch: 2 and 3, and variance 1. */
START_TEST(statistics_by_element_are_right)
{
    const slot in[] = { { "x", PRT_DTYPE_f32, 3, { 2, 1, 2 }, false, { 1, 2, 3, 4 } },
        { "s", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 2, 1 } },
        { "b", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 1, 0 } },
        { "m", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 0, 1 } },
        { "v", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 1, 3 } } };
    const slot out[] = { { "y", PRT_DTYPE_f32, 3, { 2, 1, 2 }, false, { -1, -1, 3, 1 } },
        { "p", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 1, 2 } },
        { "q", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 1, 2 } },
        { "t", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 2, 3 } },
        { "u", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 1, 1 } } };
    msg *node =
        onnx_attr_f32(onnx_node("BatchNormalization", "x,s,b,m,v", "y,p,q,t,u"), "momentum", 0.5f);
    node = onnx_attr_int(onnx_attr_f32(node, "epsilon", 0.0f), "spatial", 0);
    ck_node(node, 7, 5, in, 5, out);
}
END_TEST

/* Running sums of two sequences of three, of which the second has two steps. */
START_TEST(scans_of_several_lengths_are_right)
{
    static const int64_t one[] = { 1 };
    msg *adds[] = { onnx_node("Add", "t,v", "u"), onnx_node("Identity", "u", "w"), NULL };
    msg *body = onnx_graph("body", adds);
    (void)msg_msg(body, PRT_ONNX_Graph_input, onnx_info("t", PRT_DTYPE_f32, 1, one));
    (void)msg_msg(body, PRT_ONNX_Graph_input, onnx_info("v", PRT_DTYPE_f32, 1, one));
    (void)msg_msg(body, PRT_ONNX_Graph_output, onnx_info("u", PRT_DTYPE_f32, 1, one));
    (void)msg_msg(body, PRT_ONNX_Graph_output, onnx_info("w", PRT_DTYPE_f32, 1, one));
    msg *node = onnx_attr_int(onnx_node("Scan", "n,s,x", "e,y"), "num_scan_inputs", 1);
    node = onnx_attr_msg(node, "body", PRT_ONNX_Attribute_g, 5, body);
    const slot in[] = { { "n", PRT_DTYPE_i64, 1, { 2 }, false, { 3, 2 } },
        { "s", PRT_DTYPE_f32, 2, { 2, 1 }, false, { 0, 10 } },
        { "x", PRT_DTYPE_f32, 3, { 2, 3, 1 }, false, { 1, 2, 3, 4, 5, 6 } } };
    const slot out[] = { { "e", PRT_DTYPE_f32, 2, { 2, 1 }, true, { 6, 19 } },
        { "y", PRT_DTYPE_f32, 3, { 2, 3, 1 }, true, { 1, 3, 6, 14, 19, 0 } } };
    ck_node(node, 8, 3, in, 2, out);
}
END_TEST

/* The name that ONNX Runtime's optimiser gives to RMSNormalization. The mean square is 12.5. */
START_TEST(simplified_layer_norm_becomes_rms_norm)
{
    const double r = sqrt(12.5);
    const slot in[] = { { "x", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 3, 4 } },
        { "s", PRT_DTYPE_f32, 1, { 2 }, false, { 1, 2 } } };
    const slot out = { "y", PRT_DTYPE_f32, 2, { 1, 2 }, false, { 3 / r, 8 / r } };
    msg *node = onnx_node("SimplifiedLayerNormalization", "x,s", "y");
    ck_node(onnx_attr_f32(node, "epsilon", 0.0f), 17, 2, in, 1, &out);
}
END_TEST

PRT_TEST_MAIN("converter/upgrade_values", axes_of_unknown_ranks_broadcast,
    slopes_of_unknown_ranks_broadcast, tiles_may_be_computed, norms_take_a_fractional_power,
    training_gives_the_old_statistics, statistics_by_element_are_right,
    scans_of_several_lengths_are_right, simplified_layer_norm_becomes_rms_norm)
