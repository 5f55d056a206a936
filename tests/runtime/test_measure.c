/* SPDX-License-Identifier: MIT */
/*
 * test_measure.c — the memory of sessions is measured without a run: operators with bodies,
 * weights that operators write, and endless loops.
 */
#include "cpu/cpu.h"
#include "kern/kern.h"
#include "runtime/session.h"

#include "support/check_main.h"
#include "support/program_text.h"

enum { RUNS = 4 };

static prt_session_options options_of(bool fast)
{
    return (prt_session_options){ .kern = fast ? prt_kern_of(prt_cpu_features()) : NULL };
}

static prt_session_needs measure(prt_program *p, const prt_session_options *options)
{
    prt_session_needs needs = { 0 };
    const poprt_status status = prt_session_measure(p, options, &needs);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert(needs.is_planned);
    return needs;
}

/* Checks that a session of a program with one output, all of whose memory is its own, holds the
 * measured number of bytes. */
static void expect_exact_measure(const char *text, const prt_tensor *in)
{
    prt_program *p = program_from_text(text);
    for (int fast = 0; fast <= 1; fast++) {
        const prt_session_options options = options_of(fast != 0);
        const prt_session_needs needs = measure(p, &options);
        prt_session *s = NULL;
        ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
        ck_assert_uint_eq(prt_session_memory(s), needs.created);
        for (int run = 0; run < RUNS; run++) {
            prt_tensor out = { 0 };
            const poprt_status status = prt_session_run(s, in, &out);
            ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
        }
        ck_assert_uint_eq(prt_session_memory(s), needs.created + needs.scratch + needs.outputs);
        prt_session_release(s);
    }
    prt_program_release(p);
}

static prt_tensor f32s(float *data, int64_t count)
{
    prt_tensor t;
    ck_assert(prt_tensor_init(&t, PRT_DTYPE_f32, 1, &count, data));
    return t;
}

/* The trip count is a constant, so measuring uses the same number of iterations as a run. */
START_TEST(loops_are_measured_exactly)
{
    static float x[3000];
    const prt_tensor in = f32s(x, 3000);
    expect_exact_measure("x = input f32[3000]\nn = const i64[] {5}\nk = const bool[] {true}\n"
                         "z, y = loop n k x {\n"
                         "  body {\n    i = input i64[]\n    c = input bool[]\n"
                         "    v = input f32[3000]\n    a = softmax v\n    return c, a, a\n  }\n"
                         "}\nw = neg y\nreturn w\n",
        &in);
}
END_TEST

START_TEST(scans_are_measured_exactly)
{
    static float x[3000];
    const prt_tensor in = f32s(x, 3000);
    expect_exact_measure("x = input f32[3000]\nq = const i64[2] {3,1000}\nr = reshape x q\n"
                         "s = const f32[] {0}\n"
                         "e, y = scan s r {num_scan_inputs=1, body {\n"
                         "t = input f32[]\nv = input f32[1000]\na = softmax v\nreturn t, a }}\n"
                         "w = neg y\nreturn w\n",
        &in);
}
END_TEST

/* Both branches count: after runs through each branch, a session holds the scratch of both. */
START_TEST(branches_are_measured_exactly)
{
    static float x[3000];
    prt_program *p = program_from_text(
        "k = input bool[]\nx = input f32[3000]\n"
        "y = if k {\n  then_branch { t = softmax x; return t }\n"
        "  else_branch { e = log_softmax x; return e }\n}\nz = neg y\nreturn z\n");
    const prt_session_options options = options_of(false);
    const prt_session_needs needs = measure(p, &options);
    prt_session *s = NULL;
    ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
    for (int run = 0; run < RUNS; run++) {
        unsigned char k = run % 2 == 0;
        prt_tensor in[2] = { { 0 }, f32s(x, 3000) }, out = { 0 };
        ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_bool, 0, NULL, &k));
        ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
    }
    ck_assert_uint_eq(prt_session_memory(s), needs.created + needs.scratch + needs.outputs);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

/* A loop whose condition never ends it is measured too. */
START_TEST(endless_loops_are_measured)
{
    prt_program *p = program_from_text("x = input f32[4]\nn = const i64[] {9223372036854775807}\n"
                                       "k = const bool[] {true}\n"
                                       "y = loop n k x {\n"
                                       "  body {\n    i = input i64[]\n    c = input bool[]\n"
                                       "    v = input f32[4]\n    a = neg v\n"
                                       "    return c, a\n  }\n"
                                       "}\nreturn y\n");
    const prt_session_options options = options_of(true);
    (void)measure(p, &options);
    prt_program_release(p);
}
END_TEST

PRT_TEST_MAIN("runtime/measure", loops_are_measured_exactly, scans_are_measured_exactly,
    branches_are_measured_exactly, endless_loops_are_measured)
