/* SPDX-License-Identifier: MIT */
/*
 * test_graphcore_run.c — operators of ai.graphcore that act on the run or on the session: Call,
 * CopyVarUpdate, Abort, PrintTensor, Nop, Detach.
 * Covers: callees.c, equal.c.
 */
#include "typed.h"

static void bind_floats(const typed_run *r, const char *name, float *data, int64_t rows,
    int64_t columns)
{
    const int64_t dims[] = { rows, columns };
    const poprt_tensor t = { .data = data,
        .size = (size_t)(rows * columns) * sizeof(float),
        .dims = dims,
        .rank = 2,
        .dtype = POPRT_DTYPE_FLOAT32 };
    ck_assert_ok(poprt_stepio_bind(r->io, name, &t));
}

/* ---- Call */

enum { WIDTH = 32 };

/* A constant [WIDTH, WIDTH] whose row i has 1 in column i + 1. */
static poprt_id shift_matrix(poprt_builder *b)
{
    double values[WIDTH * WIDTH] = { 0 };
    const int64_t dims[] = { WIDTH, WIDTH };
    for (int i = 0; i < WIDTH; i++)
        values[i * WIDTH + (i + 1) % WIDTH] = 1;
    return add_numbers(b, NULL, false, POPRT_DTYPE_FLOAT32, values, WIDTH * WIDTH, dims, 2);
}

/* A callee that moves its input [1, WIDTH] one column on. */
static poprt_builder *shift(poprt_builder *b)
{
    poprt_builder *body = new_subgraph(b, "shift");
    const poprt_id x = add_floats_input(body, NULL, 1, WIDTH);
    ck_assert_ok(poprt_builder_output(body, poprt_op_matmul(body, x, shift_matrix(body), NULL)));
    return body;
}

static poprt_id call(poprt_builder *b, const poprt_builder *callee, poprt_id x)
{
    return poprt_op_gc_call(b, 1, &x, ATTRS(gc_call, .callee = callee), 1, NULL);
}

static size_t count_text(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        n++;
    return n;
}

/* Returns the bytes of the PopEF file, and in *products the steps of all blocks that multiply. */
static size_t stored_size(const poprt_executable *exec, size_t *products)
{
    buffer bytes = { NULL, 0 }, text = { NULL, 0 };
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    ck_assert_ok(poprt_executable_describe(exec, POPRT_FORMAT_STEPS, buffer_write, &text));
    *products = count_text((const char *)text.data, "fused_linear");
    free(bytes.data);
    free(text.data);
    return bytes.size;
}

/* Builds `calls` nodes that call one graph, after each other. */
static poprt_model *calls_in_a_row(int calls)
{
    poprt_builder *b = new_builder(), *body = shift(b);
    poprt_id x = add_floats_input(b, "x", 1, WIDTH);
    for (int i = 0; i < calls; i++)
        x = call(b, body, x);
    poprt_builder_release(body);
    return finish(b, x);
}

static void ck_moved(typed_run *r, int columns)
{
    float x[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        x[i] = (float)i;
    bind_floats(r, "x", x, 1, WIDTH);
    for (int round = 0; round < 2; round++) {
        ck_assert_ok(poprt_session_run(r->session, r->io));
        const poprt_tensor y = output_of(r, 0);
        ck_assert_uint_eq(y.size, sizeof(x));
        for (int i = 0; i < WIDTH; i++)
            ck_assert_float_eq(((const float *)y.data)[(i + columns) % WIDTH], x[i]);
    }
}

START_TEST(a_callee_is_stored_once)
{
    typed_run one, many;
    size_t one_product, many_products;
    start_run(&one, calls_in_a_row(1), NULL);
    start_run(&many, calls_in_a_row(9), NULL);
    ck_moved(&one, 1);
    ck_moved(&many, 9);
    const size_t small = stored_size(one.exec, &one_product);
    const size_t large = stored_size(many.exec, &many_products);
    ck_assert_uint_eq(one_product, 1);
    ck_assert_uint_eq(many_products, 1);
    /* Eight more steps and buffers, and no more weights: one of them has 4 KiB. */
    ck_assert_msg(large < small + 3072, "%zu bytes for 9 calls, %zu for 1", large, small);
    end_run(&many);
    end_run(&one);
}
END_TEST

/* main calls twice(twice(shift(x))), and shift is also called by twice. */
START_TEST(a_callee_of_several_graphs_is_stored_once)
{
    for (int shift_first = 0; shift_first < 2; shift_first++) {
        typed_run r;
        size_t products;
        poprt_executable *loaded = NULL;
        buffer bytes = { NULL, 0 };
        poprt_builder *b = new_builder(), *body = shift(b), *twice = new_subgraph(b, "twice");
        const poprt_id v = add_floats_input(twice, NULL, 1, WIDTH);
        ck_assert_ok(poprt_builder_output(twice, call(twice, body, call(twice, body, v))));
        poprt_id x = add_floats_input(b, "x", 1, WIDTH);
        if (shift_first != 0)
            x = call(b, body, x);
        x = call(b, twice, call(b, twice, x));
        if (shift_first == 0)
            x = call(b, body, x);
        poprt_builder_release(twice);
        poprt_builder_release(body);
        start_run(&r, finish(b, x), NULL);
        (void)stored_size(r.exec, &products);
        ck_assert_uint_eq(products, 1);
        ck_moved(&r, 5);
        ck_assert_ok(poprt_executable_save(r.exec, buffer_write, &bytes));
        end_run(&r);

        ck_assert_ok(poprt_executable_load_bytes(NULL, bytes.data, bytes.size, NULL, &loaded));
        r.exec = loaded;
        ck_assert_ok(poprt_session_create(loaded, NULL, &r.session));
        ck_assert_ok(poprt_stepio_create(r.session, &r.io));
        ck_moved(&r, 5);
        end_run(&r);
        free(bytes.data);
    }
}
END_TEST

/* Callees that differ in a constant, in an attribute or in an outer value stay apart. */
START_TEST(different_callees_of_one_name_stay_apart)
{
    typed_run r;
    float x[4] = { 1, 2, 3, 4 };
    poprt_builder *b = new_builder();
    const poprt_id in = add_floats_input(b, "x", 2, 2);
    const poprt_id outer[] = { poprt_op_neg(b, in, NULL), poprt_op_abs(b, in, NULL) };
    poprt_id y = in;
    for (int i = 0; i < 6; i++) {
        poprt_builder *body = new_subgraph(b, "same");
        const poprt_id v = add_floats_input(body, NULL, 2, 2);
        poprt_id z = 0;
        if (i < 2)
            z = poprt_op_add(body, v,
                add_numbers(body, NULL, false, POPRT_DTYPE_FLOAT32, NUMBERS(i + 10), SHAPE(1)),
                NULL);
        else if (i < 4)
            z = poprt_op_gc_scale(body, v, ATTRS(gc_scale, .scale = poprt_float((float)i)));
        else
            z = poprt_op_add(body, v, outer[i - 4], NULL);
        ck_assert_ok(poprt_builder_output(body, z));
        y = call(b, body, y);
        poprt_builder_release(body);
    }
    start_run(&r, finish(b, y), NULL);
    bind_floats(&r, "x", x, 2, 2);
    ck_assert_ok(poprt_session_run(r.session, r.io));
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(((const float *)output_of(&r, 0).data)[i], (x[i] + 21) * 6);
    end_run(&r);
}
END_TEST

/* A callee that reads an outer value is shared by the calls of one graph. */
START_TEST(callees_see_outer_tensors)
{
    typed_run r;
    float x[4] = { 1, 2, 3, 4 };
    poprt_builder *b = new_builder(), *body = new_subgraph(b, "add_x");
    const poprt_id in = add_floats_input(b, "x", 2, 2);
    const poprt_id v = add_floats_input(body, NULL, 2, 2);
    ck_assert_ok(poprt_builder_output(body, poprt_op_add(body, v, in, NULL)));
    const poprt_id y = call(b, body, call(b, body, call(b, body, in)));
    poprt_builder_release(body);
    start_run(&r, finish(b, y), NULL);
    bind_floats(&r, "x", x, 2, 2);
    ck_assert_ok(poprt_session_run(r.session, r.io));
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq(((const float *)output_of(&r, 0).data)[i], 4 * x[i]);
    end_run(&r);
}
END_TEST

/* ---- CopyVarUpdate */

/* Adds a weight of type `dtype` with the elements 1 and 2. */
static poprt_id add_counter(poprt_builder *b, int32_t dtype)
{
    return add_numbers(b, "v", true, dtype, NUMBERS(1, 2), SHAPE(2));
}

static void ck_weight(const typed_run *r, int32_t dtype, double first, double second)
{
    unsigned char bytes[16];
    poprt_tensor t = { .data = bytes, .size = sizeof(bytes) };
    ck_assert_ok(poprt_session_read_weight(r->session, "v", &t));
    ck_assert_int_eq(t.dtype, dtype);
    ck_assert_double_eq(load(dtype, bytes, 0), first);
    ck_assert_double_eq(load(dtype, bytes, 1), second);
}

/* The update is a node of the main graph, of a callee that lists the weight in modifiedInputs, or
 * of one that does not. */
START_TEST(updates_outlive_the_run)
{
    const int32_t types[] = { POPRT_DTYPE_FLOAT16, POPRT_DTYPE_FLOAT32, POPRT_DTYPE_INT32,
        POPRT_DTYPE_UINT32 };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        for (int in_callee = 0; in_callee < 3; in_callee++) {
            typed_run r;
            const poprt_type type = { .dtype = types[i], .rank = 1, .dims = { 2 } };
            poprt_builder *b = new_builder(), *body = new_subgraph(b, "count");
            const poprt_id v = add_counter(b, types[i]);
            const poprt_id p = poprt_builder_input(body, NULL, &type, NULL);
            poprt_builder *in = in_callee != 0 ? body : b;
            const poprt_id from = in_callee != 0 ? p : v;
            const poprt_id next =
                poprt_op_gc_copy_var_update(in, from, poprt_op_add(in, from, from, NULL), NULL);
            poprt_id y = next;
            if (in_callee != 0) {
                ck_assert_ok(poprt_builder_output(body, next));
                y = poprt_op_gc_call(b, 1, &v,
                    in_callee == 1 ? ATTRS(gc_call, .callee = body, .modifiedInputs = POPRT_INTS(0))
                                   : ATTRS(gc_call, .callee = body),
                    1, NULL);
            }
            poprt_builder_release(body);
            start_run(&r, finish(b, y), NULL);
            for (int k = 1; k < 4; k++) {
                const double factor = in_callee == 2 ? 2 : (double)(1 << k);
                ck_assert_ok(poprt_session_run(r.session, r.io));
                const poprt_tensor out = output_of(&r, 0);
                ck_assert_msg(load(types[i], out.data, 1) == 2 * factor, "type %d, form %d: %g",
                    types[i], in_callee, load(types[i], out.data, 1));
                if (in_callee != 2) /* else no node writes the weight */
                    ck_weight(&r, types[i], factor, 2 * factor);
            }
            end_run(&r);
        }
}
END_TEST

/* ---- Abort */

/* y = x + 1, and the run stops if `stop` is not 0; the weight counts runs that succeed. */
START_TEST(abort_is_a_status)
{
    typed_run r;
    float x[1] = { 1 }, stop[1] = { 0 };
    poprt_builder *b = new_builder();
    const poprt_id in = add_floats_input(b, "x", 1, 1), cond = add_floats_input(b, "stop", 1, 1);
    const poprt_id v = add_counter(b, POPRT_DTYPE_FLOAT32);
    (void)poprt_op_gc_copy_var_update(b, v, poprt_op_add(b, v, v, NULL), NULL);
    (void)poprt_op_gc_abort(b, cond, NULL);
    start_run(&r, finish(b, poprt_op_add(b, in, in, NULL)), NULL);
    bind_floats(&r, "x", x, 1, 1);
    bind_floats(&r, "stop", stop, 1, 1);
    ck_assert_ok(poprt_session_run(r.session, r.io));
    ck_weight(&r, POPRT_DTYPE_FLOAT32, 2, 4);
    stop[0] = -0.5f;
    ck_assert_fails(poprt_session_run(r.session, r.io), POPRT_E_STATE);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "stops the run"));
    ck_weight(&r, POPRT_DTYPE_FLOAT32, 2, 4);
    stop[0] = 0;
    ck_assert_ok(poprt_session_run(r.session, r.io)); /* the session goes on */
    ck_weight(&r, POPRT_DTYPE_FLOAT32, 4, 8);
    end_run(&r);

    b = new_builder();
    const poprt_id only = add_floats_input(b, "x", 1, 1);
    (void)poprt_op_gc_abort(b, 0, NULL);
    start_run(&r, finish(b, poprt_op_neg(b, only, NULL)), NULL);
    bind_floats(&r, "x", x, 1, 1);
    ck_assert_fails(poprt_session_run(r.session, r.io), POPRT_E_STATE);
    end_run(&r);
}
END_TEST

/* ---- PrintTensor */

static void collect(void *user, int32_t level, const char *text)
{
    buffer *b = user;
    if (level == POPRT_LOG_INFO) {
        buffer_write(b, text, strlen(text));
        buffer_write(b, "\n", 1);
    }
}

/* Runs PrintTensor on [0.5, 100, -3] as [1, 3], and returns the printed lines. */
static char *printed(const poprt_gc_print_tensor_attrs *attrs)
{
    buffer lines = { NULL, 0 };
    float x[3] = { 0.5f, 100, -3 };
    const poprt_env_options options = { .struct_size = sizeof(options),
        .log = collect,
        .log_user = &lines,
        .log_level = POPRT_LOG_INFO };
    poprt_env *env = NULL;
    poprt_builder *b = NULL;
    typed_run r;
    ck_assert_ok(poprt_env_create(&options, &env));
    ck_assert_ok(poprt_builder_create(env, 11, &b));
    const poprt_id in = add_floats_input(b, "x", 1, 3);
    start_run(&r, finish(b, poprt_op_neg(b, poprt_op_gc_print_tensor(b, in, attrs), NULL)), NULL);
    bind_floats(&r, "x", x, 1, 3);
    ck_assert_ok(poprt_session_run(r.session, r.io));
    ck_assert_float_eq(((const float *)output_of(&r, 0).data)[1], -100);
    end_run(&r);
    poprt_env_release(env);
    buffer_write(&lines, "", 1);
    return (char *)lines.data;
}

START_TEST(print_follows_its_format)
{
    const struct {
        poprt_gc_print_tensor_attrs attrs;
        const char *want;
    } cases[] = { { { .name = NULL }, "x: [[0.5 100.0 -3.0]]\n" },
        { { .title = "values" }, "values: [[0.5 100.0 -3.0]]\n" },
        { { .floatFormat = poprt_int(1), .digits = poprt_int(2) }, "x: [[0.50 100.00 -3.00]]\n" },
        { { .floatFormat = poprt_int(2), .digits = poprt_int(1) },
            "x: [[5.0e-01 1.0e+02 -3.0e+00]]\n" },
        { { .floatFormat = poprt_int(3) }, "x: [[0.5 100.0 -3.0]]\n" },
        { { .digits = poprt_int(1) }, "x: [[0.5 100.0 -3.0]]\n" },
        { { .separator = ", ", .openBracket = "{", .closeBracket = "}" },
            "x: {{0.5, 100.0, -3.0}}\n" },
        { { .summariseThreshold = poprt_int(2), .edgeItems = poprt_int(1) },
            "x: [[0.5 ... -3.0]]\n" },
        { { .maxLineWidth = poprt_int(10) }, "x: [[0.5 \n  100.0 \n  -3.0]]\n" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = printed(&cases[i].attrs);
        ck_assert_str_eq(text, cases[i].want);
        free(text);
    }
}
END_TEST

/* ---- strings and sequences pass through */

START_TEST(strings_pass_through)
{
    static poprt_string words[] = { { "ab", 2 }, { "", 0 }, { "c\0d", 3 } };
    const int64_t dim = 3;
    const poprt_type type = { .dtype = POPRT_DTYPE_STRING, .rank = 1, .dims = { 3 } };
    typed_run r;
    poprt_builder *b = new_builder(), *body = new_subgraph(b, "same");
    const poprt_id v = poprt_builder_input(body, NULL, &type, NULL);
    ck_assert_ok(poprt_builder_output(body, poprt_op_gc_nop(body, v, NULL)));
    const poprt_id x = poprt_builder_input(b, "x", &type, NULL);
    const poprt_id y = call(b, body, poprt_op_gc_detach(b, poprt_op_gc_nop(b, x, NULL), NULL));
    poprt_builder_release(body);
    start_run(&r, finish(b, y), NULL);
    const poprt_tensor in = { .data = words,
        .size = sizeof(words),
        .dims = &dim,
        .rank = 1,
        .dtype = POPRT_DTYPE_STRING };
    ck_assert_ok(poprt_stepio_bind(r.io, "x", &in));
    ck_assert_ok(poprt_session_run(r.session, r.io));
    const poprt_tensor out = output_of(&r, 0);
    ck_assert_uint_eq(((const poprt_string *)out.data)[2].size, 3);
    ck_assert_mem_eq(((const poprt_string *)out.data)[2].data, "c\0d", 3);
    end_run(&r);
}
END_TEST

PRT_TEST_MAIN("api/graphcore_run", a_callee_is_stored_once,
    a_callee_of_several_graphs_is_stored_once, different_callees_of_one_name_stay_apart,
    callees_see_outer_tensors, updates_outlive_the_run, abort_is_a_status, print_follows_its_format,
    strings_pass_through)
