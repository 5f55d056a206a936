/* SPDX-License-Identifier: MIT */
/*
 * test_session.c — running programs: buffers in place, symbols, bodies, weights, refusals.
 * Covers: denormals.c, finalize.c, frame.c, run.c, views.c.
 */
#include "cpu/cpu.h"
#include "kern/kern.h"
#include "par/pool.h"
#include "runtime/session.h"

#include "support/check_main.h"
#include "support/program_text.h"

static prt_session *session_of(prt_program *p)
{
    const prt_session_options options = { 0 };
    prt_session *s = NULL;
    const poprt_status status = prt_session_create(p, &options, &s);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    return s;
}

static prt_tensor f32s(float *data, uint32_t rank, int64_t a, int64_t b)
{
    prt_tensor t;
    const int64_t dims[2] = { a, b };
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_f32, rank, dims, data));
    return t;
}

START_TEST(caller_memory_is_used_in_place)
{
    prt_program *p = program_from_text("x = input f32[4]\na = neg x\ny = neg a\nreturn y\n");
    prt_session *s = session_of(p);
    float x[4] = { 1, 2, 3, 4 }, y[4] = { 0 };
    prt_tensor in = f32s(x, 1, 4, 0), out = f32s(y, 1, 4, 0);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    ck_assert_ptr_eq(out.data, y);
    ck_f32(y[3], 4.0f);
    out = (prt_tensor){ 0 };
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    ck_assert_ptr_ne(out.data, y);
    ck_f32(((const float *)out.data)[2], 3.0f);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

START_TEST(misaligned_input_is_copied)
{
    prt_program *p = program_from_text("x = input f32[2]\ny = neg x\nreturn y\n");
    prt_session *s = session_of(p);
    unsigned char bytes[16] = { 0 };
    const float v[2] = { 1, -2 };
    memcpy(bytes + 1, v, sizeof(v));
    prt_tensor in = f32s((float *)(void *)(bytes + 1), 1, 2, 0), out = { 0 };
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    ck_f32(((const float *)out.data)[1], 2.0f);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

START_TEST(symbols_follow_the_inputs)
{
    prt_program *p = program_from_text(
        "x = input f32[n,2]\nz = input f32[n,1]\na = add x z\ny = neg a\nreturn y\n");
    prt_session *s = session_of(p);
    float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, z[4] = { 10, 20, 30, 40 };
    for (int64_t n = 4; n >= 0; n--) {
        const prt_tensor in[2] = { f32s(x, 2, n, 2), f32s(z, 2, n, 1) };
        prt_tensor out = { 0 };
        ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
        ck_assert_int_eq(out.dims[0], n);
        if (n > 0)
            ck_f32(((const float *)out.data)[2 * n - 1], -(x[2 * n - 1] + z[n - 1]));
    }
    const prt_tensor bad[2] = { f32s(x, 2, 3, 2), f32s(z, 2, 2, 1) };
    prt_tensor out = { 0 };
    ck_assert_int_eq(prt_session_run(s, bad, &out), POPRT_E_SHAPE);
    ck_assert_str_eq(prt_error_last()->subject, "z");
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

START_TEST(wrong_inputs_are_refused)
{
    prt_program *p = program_from_text("x = input f32[2,3]\ny = neg x\nreturn y\n");
    prt_session *s = session_of(p);
    float x[6] = { 0 };
    prt_tensor out = { 0 }, in = f32s(x, 2, 3, 2);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_E_SHAPE);
    in = f32s(x, 1, 6, 0);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_E_SHAPE);
    in = f32s(x, 2, 2, 3);
    in.dtype = PRT_DTYPE_i32;
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_E_TYPE);
    in = f32s(x, 2, 2, 3);
    in.size = 20;
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_E_ARG);
    in = (prt_tensor){ 0 };
    ck_assert_int_ne(prt_session_run(s, &in, &out), POPRT_OK);
    in = f32s(x, 2, 2, 3);
    out = f32s(x, 2, 2, 3);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_E_ARG); /* overlaps the input */
    out = (prt_tensor){ 0 };
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

/* Only the element type of CastLike's second input is used, and "u" is not used at all. */
START_TEST(examples_of_a_type_may_have_any_shape)
{
    prt_program *p = program_from_text("x = input i32[n]\nl = input f32[n,2]\nu = input f32[3]\n"
                                       "y = cast_like x l\nreturn y\n");
    const test_bytes file = popef_of(p);
    prt_program_release(p);
    ck_assert_int_eq(program_from_bytes(file.data, file.size, true, &p), POPRT_OK);
    prt_session *s = session_of(p);
    float f[8] = { 0 };
    int32_t x[4] = { 1, -2, 3, 4 };
    prt_tensor in[3], out = { 0 };
    const int64_t four = 4;
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_i32, 1, &four, x));
    in[1] = f32s(f, 1, 1, 0);
    in[2] = f32s(f, 2, 2, 2);
    ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
    ck_assert_int_eq(out.dims[0], 4);
    ck_f32(((const float *)out.data)[1], -2);
    in[1] = f32s(f, 2, 3, 2); /* the same rank, and an n that differs from that of x */
    ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
    ck_assert_int_eq(out.dims[0], 4);
    in[1].dtype = PRT_DTYPE_i32;
    ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_E_TYPE);
    prt_session_release(s);
    prt_program_release(p);
    free(file.data);
    /* An example that another operator reads too must have the right shape. */
    static const char *const strict[] = {
        "x = input f32[2]\nl = input f32[3]\ny = cast_like x l\nreturn y, l\n",
        "x = input f32[2]\nl = input f32[3]\ny = cast_like x l\nz = neg l\nreturn y, z\n",
        "x = input f32[2]\nl = input f32[3]\nz = shape l\nreturn x, z\n",
        "x = input f32[2]\nl = input f32[3]\nc = const bool[] {true}\nk = input bool[]\n"
        "y = if k {\n  then_branch { t = neg l; return t }\n  else_branch { return x }\n}\n"
        "return y\n",
    };
    for (size_t i = 0; i < PRT_COUNT_OF(strict); i++) {
        p = program_from_text(strict[i]);
        s = session_of(p);
        prt_tensor two[3] = { f32s(f, 1, 2, 0), f32s(f + 2, 1, 2, 0) }, some[2] = { 0 };
        ck_assert(prt_tensor_init(&two[2], PRT_DTYPE_bool, 0, NULL, &(unsigned char){ 1 }));
        ck_assert_int_eq(prt_session_run(s, two, some), POPRT_E_SHAPE);
        prt_session_release(s);
        prt_program_release(p);
    }
}
END_TEST

START_TEST(outputs_may_be_inputs_constants_or_duplicates)
{
    prt_program *p = program_from_text("x = input f32[2]\nk = const f32[2] {5,6}\ny = neg "
                                       "x\nreturn x as a, k as b, y as c, y as d\n");
    prt_session *s = session_of(p);
    float x[2] = { 1, 2 }, a[2], b[2], c[2], d[2];
    const prt_tensor in = f32s(x, 1, 2, 0);
    prt_tensor out[4] = { f32s(a, 1, 2, 0), f32s(b, 1, 2, 0), f32s(c, 1, 2, 0), f32s(d, 1, 2, 0) };
    ck_assert_int_eq(prt_session_run(s, &in, out), POPRT_OK);
    ck_f32(a[1], 2);
    ck_f32(b[1], 6);
    ck_f32(c[1], -2);
    ck_f32(d[1], -2);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

START_TEST(branches_run_with_captures)
{
    prt_program *p = program_from_text("c = input bool[]\nx = input f32[2]\na = neg x\n"
                                       "y = if c {\n"
                                       "  then_branch {\n    t = add a a\n    return t\n  }\n"
                                       "  else_branch {\n    return a\n  }\n"
                                       "}\nreturn y\n");
    prt_session *s = session_of(p);
    float x[2] = { 1, 2 };
    unsigned char cond = 1;
    prt_tensor c, out = { 0 };
    ck_assert(prt_tensor_init(&c, PRT_DTYPE_bool, 0, NULL, &cond));
    for (int i = 0; i < 3; i++) {
        const prt_tensor in[2] = { c, f32s(x, 1, 2, 0) };
        cond = i != 1;
        out = (prt_tensor){ 0 };
        ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
        ck_f32(((const float *)out.data)[1], i != 1 ? -4.0f : -2.0f);
    }
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

/* A branch that cannot run with the current dims fails only when it is taken. */
START_TEST(only_the_branch_taken_must_fit)
{
    prt_program *p = program_from_text("c = input bool[]\nx = input f32[n,m]\n"
                                       "q = const i64[1] {1}\nt = const bool[] {true}\n"
                                       "y = if c {\n"
                                       "  then_branch { a = neg x; return a }\n"
                                       "  else_branch {\n    b = if t {\n"
                                       "      then_branch { d = squeeze x q; return d }\n"
                                       "      else_branch { return x }\n    }\n"
                                       "    return b\n  }\n"
                                       "}\nreturn y\n");
    prt_session *s = session_of(p);
    float x[2] = { 1, 2 };
    unsigned char cond;
    prt_tensor c, out;
    ck_assert(prt_tensor_init(&c, PRT_DTYPE_bool, 0, NULL, &cond));
    for (int i = 0; i < 8; i++) {
        const bool wide = i % 4 < 2;
        const prt_tensor in[2] = { c, f32s(x, 2, wide ? 1 : 2, wide ? 2 : 1) };
        cond = i % 2 != 0;
        out = (prt_tensor){ 0 };
        const poprt_status status = prt_session_run(s, in, &out);
        ck_assert_int_eq(status, wide && cond == 0 ? POPRT_E_SHAPE : POPRT_OK);
        if (status != POPRT_OK)
            continue;
        ck_assert_uint_eq(out.rank, cond != 0 ? 2 : 1);
        ck_f32(((const float *)out.data)[1], cond != 0 ? -2.0f : 2.0f);
    }
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

/* The shape of a body's result is known before the run, its address is not. */
START_TEST(views_of_branch_results_are_valid)
{
    prt_program *p =
        program_from_text("c = input bool[]\nx = input f32[4,4]\nt = if c {\n"
                          "  then_branch { a = neg x; return a }\n  else_branch { return x }\n}\n"
                          "y = cast t {to=1}\nz = reduce_sum y {keepdims=0}\nreturn z\n");
    prt_session *s = session_of(p);
    float x[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
    unsigned char cond;
    prt_tensor c, out = { 0 };
    ck_assert(prt_tensor_init(&c, PRT_DTYPE_bool, 0, NULL, &cond));
    for (int i = 0; i < 3; i++) {
        const prt_tensor in[2] = { c, f32s(x, 2, 4, 4) };
        cond = i != 1;
        out = (prt_tensor){ 0 };
        ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
        ck_f32(((const float *)out.data)[0], i != 1 ? -136.0f : 136.0f);
    }
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

START_TEST(loops_stack_their_scan_outputs)
{
    prt_program *p = program_from_text("n = input i64[]\nx = input f32[2]\n"
                                       "k = const bool[] {true}\n"
                                       "_, y, _ = loop n k x {\n"
                                       "  body {\n    i = input i64[]\n    c = input bool[]\n"
                                       "    v = input f32[2]\n    a = add v v\n    b = neg a\n"
                                       "    return c, a, a, b\n  }\n"
                                       "}\nreturn y\n");
    prt_session *s = session_of(p);
    float x[2] = { 1, 3 };
    for (int64_t n = 4; n >= 0; n--) {
        prt_tensor trips, out = { 0 };
        ck_assert(prt_tensor_init(&trips, PRT_DTYPE_i64, 0, NULL, &n));
        const prt_tensor in[2] = { trips, f32s(x, 1, 2, 0) };
        ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
        ck_assert_uint_eq(out.rank, 2);
        ck_assert_int_eq(out.dims[0], n);
        if (n > 0)
            ck_f32(((const float *)out.data)[2 * n - 1], 3.0f * (float)(1 << n));
    }
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

START_TEST(weights_belong_to_the_session)
{
    prt_program *p =
        program_from_text("x = input f32[2]\nw = const f32[2] {1,2}\ny = mul x w\nreturn y\n");
    prt_session *s = session_of(p), *other = session_of(p);
    float x[2] = { 1, 1 }, w[2] = { 7, 8 };
    const prt_tensor in = f32s(x, 1, 2, 0);
    prt_tensor weight = f32s(w, 1, 2, 0), out = { 0 };
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("w"), &weight), POPRT_OK);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    ck_f32(((const float *)out.data)[1], 8.0f);
    out = (prt_tensor){ 0 };
    ck_assert_int_eq(prt_session_run(other, &in, &out), POPRT_OK);
    ck_f32(((const float *)out.data)[1], 2.0f);
    weight = f32s(w, 1, 1, 0);
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("w"), &weight), POPRT_E_SHAPE);
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("v"), &weight), POPRT_E_NOT_FOUND);
    prt_session_release(s);
    prt_session_release(other);
    prt_program_release(p);
}
END_TEST

START_TEST(replaced_shape_inputs_are_checked)
{
    prt_program *p = program_from_text("x = input f32[2,3]\nk = const i64[2] {3,2}\n"
                                       "a = reshape x k\ny = neg a\nreturn y\n");
    prt_session *s = session_of(p);
    float x[6] = { 0 };
    int64_t k[2] = { 6, 1 };
    const int64_t two = 2;
    const prt_tensor in = f32s(x, 2, 2, 3);
    prt_tensor weight, out = { 0 };
    ck_assert(prt_tensor_init(&weight, PRT_DTYPE_i64, 1, &two, k));
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("k"), &weight), POPRT_OK);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_E_SHAPE);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

START_TEST(the_memory_limit_is_kept)
{
    prt_program *p =
        program_from_text("x = input f32[n]\na = neg x\nb = neg a\ny = neg b\nreturn y\n");
    const prt_session_options options = { .memory_limit = 1 << 20 };
    prt_session *s = NULL;
    ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
    float *x = calloc(1 << 20, sizeof(float));
    ck_assert_ptr_nonnull(x);
    prt_tensor in = f32s(x, 1, 1 << 20, 0), out = { 0 };
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_E_NOMEM);
    in = f32s(x, 1, 1 << 10, 0);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    ck_assert_uint_le(prt_session_memory(s), (1 << 20) + 4096);
    free(x);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

START_TEST(fixed_symbols_are_kept)
{
    prt_program *p = program_from_text("x = input f32[n]\ny = neg x\nreturn y\n");
    const prt_str name = PRT_STR("n"), wrong = PRT_STR("m");
    const int64_t value = 2;
    prt_session_options options = { .n_dims = 1, .dim_names = &wrong, .dim_values = &value };
    prt_session *s = NULL;
    ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_E_NOT_FOUND);
    options.dim_names = &name;
    ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
    float x[3] = { 1, 2, 3 };
    prt_tensor in = f32s(x, 1, 3, 0), out = { 0 };
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_E_SHAPE);
    in = f32s(x, 1, 2, 0);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

/* A convolution and a product large enough for many tiles, at widths 1 and 7. */
START_TEST(width_does_not_change_results)
{
    prt_program *p = program_from_text("x = input f32[2,3,40,40]\nw = input f32[16,3,3,3]\n"
                                       "m = input f32[1600,70]\n"
                                       "c = conv x w {pads=[1,1,1,1]}\n"
                                       "k = const i64[2] {32,1600}\nr = reshape c k\n"
                                       "y = matmul r m\nreturn y\n");
    static float x[2 * 3 * 1600], w[16 * 27], m[1600 * 70], y[2][32 * 70];
    for (size_t i = 0; i < PRT_COUNT_OF(x); i++)
        x[i] = (float)(i * 7 % 23) - 11.3f;
    for (size_t i = 0; i < PRT_COUNT_OF(w); i++)
        w[i] = (float)(i * 5 % 17) - 8.7f;
    for (size_t i = 0; i < PRT_COUNT_OF(m); i++)
        m[i] = (float)(i * 3 % 31) - 15.1f;
    const int64_t xd[4] = { 2, 3, 40, 40 }, wd[4] = { 16, 3, 3, 3 };
    prt_tensor in[3];
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 4, xd, x));
    ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_f32, 4, wd, w));
    in[2] = f32s(m, 2, 1600, 70);
    for (uint32_t k = 0; k < 2; k++) {
        prt_pool *pool = NULL;
        ck_assert_int_eq(prt_pool_create(NULL, k == 0 ? 1 : 7, 1000, &pool), POPRT_OK);
        const prt_par par = prt_pool_par(pool);
        const prt_session_options options = { .par = &par };
        prt_session *s = NULL;
        ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
        prt_tensor out = f32s(y[k], 2, 32, 70);
        ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
        prt_session_release(s);
        prt_pool_release(pool);
    }
    ck_assert_mem_eq(y[0], y[1], sizeof(y[0]));
    prt_program_release(p);
}
END_TEST

/* Scratch of a step is in planned memory that is idle during the step, while `b` and `c` are
 * alive. */
START_TEST(scratch_takes_no_memory_of_its_own)
{
    prt_program *p = program_from_text(
        "x = input f32[640,160]\nw = input f32[160,160]\na = neg x\nd = softmax a\n"
        "k = input i64[32]\nb = gather a k\nc = gather d k\n"
        "m = matmul b w\ny = sum m b c\nreturn y\n");
    static float x[640 * 160], w[160 * 160], y[2][32 * 160];
    for (size_t i = 0; i < PRT_COUNT_OF(x); i++)
        x[i] = (float)(i * 7 % 23) - 11;
    for (size_t i = 0; i < PRT_COUNT_OF(w); i++)
        w[i] = (float)(i * 5 % 17) - 8;
    int64_t rows[32] = { 5, 320, 639 };
    prt_tensor in[3] = { f32s(x, 2, 640, 160), f32s(w, 2, 160, 160) };
    ck_assert(prt_tensor_init(&in[2], PRT_DTYPE_i64, 1, (const int64_t[]){ 32 }, rows));
    for (int k = 0; k < 2; k++) {
        const prt_session_options options = { .kern =
                                                  k != 0 ? prt_kern_of(prt_cpu_features()) : NULL };
        prt_session *s = NULL;
        prt_tensor out = f32s(y[k], 2, 32, 160);
        ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
        const size_t before = prt_session_memory(s);
        ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
        ck_assert_uint_lt(prt_session_memory(s), before + 160 * 160);
        prt_session_release(s);
    }
    for (size_t i = 0; i < PRT_COUNT_OF(y[0]); i++)
        ck_assert_double_eq_tol((double)y[0][i], (double)y[1][i], 1e-3);
    prt_program_release(p);
}
END_TEST

/* Both operators have enough elements for two threads. The flushed sum of two denormals is 0. */
START_TEST(denormals_are_flushed_on_every_thread_if_asked)
{
    enum { N = 1 << 16 };
    static float x[N], y[2][N];
    prt_program *p = program_from_text(
        "x = input f32[65536]\na = add x x\nb = mul a x\ny = sub a b\nreturn y\n");
    prt_pool *pool = NULL;
    ck_assert_int_eq(prt_pool_create(NULL, 2, 0, &pool), POPRT_OK);
    const prt_par par = prt_pool_par(pool);
    for (size_t i = 0; i < N; i++)
        x[i] = (i & 1) != 0 ? 1e-40f : 0.5f;
    for (int flush = 0; flush < 2; flush++)
        for (int threads = 0; threads < 2; threads++)
            for (int fast = 0; fast < 2; fast++) {
                const prt_session_options options = { .par = threads != 0 ? &par : NULL,
                    .kern = fast != 0 ? prt_kern_of(prt_cpu_features()) : NULL,
                    .flush_denormals = flush != 0 };
                prt_session *s = NULL;
                ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
                prt_tensor in = f32s(x, 1, N, 0), out = f32s(y[flush], 1, N, 0);
                ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
                for (size_t i = 0; i < N; i++)
                    ck_f32(y[flush][i], (i & 1) == 0 ? 0.5f : flush != 0 ? 0.0f : x[i] + x[i]);
                prt_session_release(s);
            }
    volatile float small = 1e-40f;
    ck_assert(small + small > 0.0f); /* the mode of this thread is as before */
    prt_pool_release(pool);
    prt_program_release(p);
}
END_TEST

PRT_TEST_MAIN("runtime/session", denormals_are_flushed_on_every_thread_if_asked,
    width_does_not_change_results, caller_memory_is_used_in_place, misaligned_input_is_copied,
    symbols_follow_the_inputs, wrong_inputs_are_refused, examples_of_a_type_may_have_any_shape,
    outputs_may_be_inputs_constants_or_duplicates, branches_run_with_captures,
    only_the_branch_taken_must_fit, views_of_branch_results_are_valid,
    loops_stack_their_scan_outputs, weights_belong_to_the_session,
    replaced_shape_inputs_are_checked, the_memory_limit_is_kept, fixed_symbols_are_kept,
    scratch_takes_no_memory_of_its_own)
