/* SPDX-License-Identifier: MIT */
/*
 * test_slots.c — values whose size is known only at run time: their memory is reused by later
 * values, but not while the value is read.
 */
#include "runtime/session.h"

#include "support/check_main.h"
#include "support/program_text.h"

enum { MOST = 1 << 16 };

static prt_session *session_of(const char *text)
{
    const prt_session_options options = { 0 };
    prt_program *p = program_from_text(text);
    prt_session *s = NULL;
    const poprt_status status = prt_session_create(p, &options, &s);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    prt_program_release(p);
    return s;
}

/* Runs with x = {1, 2, 3, 4} tiled `times` times, and returns the elements of the output. */
static const float *run(prt_session *s, int64_t times, size_t count)
{
    static float x[4] = { 1, 2, 3, 4 };
    static const int64_t four = 4, one = 1;
    prt_tensor in[2], out = { 0 };
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 1, &four, x));
    ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_i64, 1, &one, &times));
    const poprt_status status = prt_session_run(s, in, &out);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    ck_assert_uint_eq(prt_tensor_count(&out), count);
    return out.data;
}

/* Returns the result of `sums` cumulative sums of the tiled x. */
static const float *expected_sums(int64_t times, int sums)
{
    static float y[MOST];
    for (int64_t i = 0; i < 4 * times; i++)
        y[i] = (float)(i % 4 + 1);
    for (; sums > 0; sums--)
        for (int64_t i = 1; i < 4 * times; i++)
            y[i] += y[i - 1];
    return y;
}

#define HEAD "x = input f32[4]\nn = input i64[1]\nz = const i64[] {0}\na = tile x n\n"
#define SUMS(a, b) b " = cumsum " a " z\n"

START_TEST(a_chain_holds_few_values)
{
    prt_session *s = session_of(HEAD SUMS("a", "b") SUMS("b", "c") SUMS("c", "d") SUMS("d", "e")
            SUMS("e", "f") SUMS("f", "g") SUMS("g", "h") SUMS("h", "i") SUMS("i", "j") SUMS("j",
                "k") SUMS("k", "l") SUMS("l", "m") "y = reduce_max m {keepdims=0}\nreturn y\n");
    (void)run(s, 1, 1);
    const size_t before = prt_session_memory(s), value = MOST * sizeof(float);
    ck_f32(run(s, MOST / 4, 1)[0], run(s, MOST / 4, 1)[0]);
    ck_assert_uint_le(prt_session_memory(s), before + 3 * value + value / 2);
    /* A smaller block is freed once a larger value needs the memory. */
    (void)run(s, MOST / 8, 1);
    ck_assert_uint_le(prt_session_memory(s), before + 3 * value + value / 2);
    prt_session_release(s);
}
END_TEST

static void check_runs(prt_session *s, float (*wanted)(int64_t times, int64_t i))
{
    static const int64_t sizes[] = { 1, 5, 300, 2, 700, 7 };
    for (size_t k = 0; k < PRT_COUNT_OF(sizes); k++) {
        const float *y = run(s, sizes[k], 4 * (size_t)sizes[k]);
        for (int64_t i = 0; i < 4 * sizes[k]; i++)
            ck_assert_msg(y[i] == wanted(sizes[k], i), "%lld times: %lld: %g", (long long)sizes[k],
                (long long)i, (double)y[i]);
    }
    prt_session_release(s);
}

static float once_and_twice(int64_t times, int64_t i)
{
    const float once = expected_sums(times, 1)[i];
    return once + expected_sums(times, 2)[i];
}

START_TEST(views_keep_their_memory)
{
    check_runs(session_of(HEAD "o = const i64[1] {1}\nl = const i64[1] {-1}\n" SUMS("a",
                   "b") "v = unsqueeze b o\n" SUMS("b", "c") SUMS("c", "d") SUMS("d", "e")
                       SUMS("e", "f") "w = reshape v l\ny = add w c\nreturn y\n"),
        once_and_twice);
}
END_TEST

START_TEST(sequences_keep_their_memory)
{
    check_runs(session_of(HEAD SUMS("a", "b") "q = sequence_construct b\n" SUMS("b", "c")
                       SUMS("c", "d") SUMS("d", "e")
                           SUMS("e", "f") "w = sequence_at q z\ny = add w c\nreturn y\n"),
        once_and_twice);
}
END_TEST

static float thrice_and_twice(int64_t times, int64_t i)
{
    const float once = expected_sums(times, 1)[i];
    return 3 * once + expected_sums(times, 2)[i];
}

START_TEST(captured_values_keep_their_memory)
{
    /*
     * Only the body reads `b`, in each of its three iterations; its carried value `c` becomes c +
     * b.
     */
    check_runs(
        session_of(HEAD "m = const i64[] {3}\n" SUMS("a", "b") SUMS("b",
            "c") "r = loop m _ c {\n  body {\n    i = input i64[]\n    k = input bool[]\n"
                 "    v = input f32[*]\n    p = sub v b\n    q = cumsum p z\n    s = sub q q\n"
                 "    t = add b b\n    o = add p s\n    u = add o t\n    return k, u\n  "
                 "}\n}\n" SUMS("a", "d") SUMS("d", "e")
                     SUMS("e", "f") "z1 = const f32[] {0}\ny = add r z1\nreturn y\n"),
        thrice_and_twice);
}
END_TEST

START_TEST(branches_may_return_captured_values)
{
    check_runs(session_of(HEAD SUMS("a", "b") SUMS("b", "c") SUMS("c",
                   "d") "l = cumsum x z\nm = reduce_max l {keepdims=0}\no = const f32[] {0}\n"
                        "k = greater m o\nr = if k {\n  then_branch {\n    e = cumsum d z\n"
                        "    g = sub d d\n    h = mul e g\n    j = add h b\n    return j\n  }\n"
                        "  else_branch {\n    return b\n  }\n}\n" SUMS("d", "n1")
                            SUMS("n1", "n2") "y = add r c\nreturn y\n"),
        once_and_twice);
}
END_TEST

PRT_TEST_MAIN("runtime/slots", a_chain_holds_few_values, views_keep_their_memory,
    sequences_keep_their_memory, captured_values_keep_their_memory,
    branches_may_return_captured_values)
