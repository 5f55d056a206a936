/* SPDX-License-Identifier: MIT */
/*
 * test_update.c — weights that a model writes. The next run and the caller see the new value,
 * other sessions do not; a failed run writes nothing.
 */
#include "compiler/compile.h"
#include "ir/ir.h"
#include "runtime/session.h"
#include "support/check_main.h"
#include "support/program_text.h"

/* y is the weight before the run, and the run adds x to w. */
#define COUNTER                                                                                    \
    "x = input f32[2]\nc = input bool[]\nw = const f32[2] {1,2}\nn = add w x\n"                    \
    "a = gc_copy_var_update w n\n= gc_abort c\ny = identity w\nreturn y, a\n"

static prt_session *session_of(prt_program *p)
{
    const prt_session_options options = { 0 };
    prt_session *s = NULL;
    ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
    return s;
}

/* Runs with x = {1, 10}; `was` and `now` are the first elements of y and of the alias. */
static poprt_status count(prt_session *s, bool stop, float *was, float *now)
{
    float x[2] = { 1, 10 };
    const int64_t two = 2;
    prt_tensor in[2], out[2] = { { 0 }, { 0 } };
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 1, &two, x));
    ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_bool, 0, NULL, &stop));
    PRT_TRY(prt_session_run(s, in, out));
    *was = *(const float *)out[0].data;
    *now = *(const float *)out[1].data;
    return POPRT_OK;
}

static float second_of_weight(prt_session *s)
{
    prt_tensor w;
    ck_assert_int_eq(prt_session_weight(s, PRT_STR("w"), &w), POPRT_OK);
    return ((const float *)w.data)[1];
}

START_TEST(runs_see_written_weights)
{
    prt_program *p = program_from_text(COUNTER);
    prt_session *s = session_of(p), *other = session_of(p);
    float was, now;
    for (int run = 0; run < 3; run++) {
        ck_assert_int_eq(count(s, false, &was, &now), POPRT_OK);
        ck_f32(was, 1 + run);
        ck_f32(now, 2 + run);
        ck_f32(second_of_weight(s), 12 + 10 * run);
    }
    ck_f32(second_of_weight(other), 2);
    float w[2] = { 100, 200 };
    const int64_t two = 2;
    prt_tensor given;
    ck_assert(prt_tensor_init(&given, PRT_DTYPE_f32, 1, &two, w));
    ck_assert_int_eq(prt_session_set_weight(s, PRT_STR("w"), &given), POPRT_OK);
    ck_f32(second_of_weight(s), 200);
    ck_assert_int_eq(count(s, false, &was, &now), POPRT_OK);
    ck_f32(was, 100);
    ck_f32(now, 101);
    prt_session_release(s);
    prt_session_release(other);
    prt_program_release(p);
}
END_TEST

static void *alloc_until(void *user, size_t size, size_t align)
{
    long *left = user;
    if (*left == 0)
        return NULL;
    *left -= *left > 0;
    return prt_mem_libc.alloc(NULL, size, align);
}

static void free_any(void *user, void *ptr)
{
    (void)user;
    prt_mem_libc.release(NULL, ptr);
}

/* The second run finds no memory for its copies of the weights that the first one wrote. */
START_TEST(a_refused_allocation_loses_no_written_weight)
{
    prt_program *p = program_from_text("x = input f32[2]\nw = const f32[2] {1,2}\n"
                                       "v = const f32[2] {3,4}\nn = add w x\nm = add v x\n"
                                       "a = gc_copy_var_update w n\nb = gc_copy_var_update v m\n"
                                       "y = identity w\nz = identity v\nreturn y, z\n");
    int refusals = 0;
    for (long n = 0;; n++) {
        long left = -1;
        const prt_allocator allocator = { .user = &left,
            .alloc = alloc_until,
            .release = free_any };
        const prt_session_options options = { .allocator = &allocator };
        prt_session *s = NULL;
        float x[2] = { 1, 10 };
        const int64_t two = 2;
        prt_tensor in, out[2] = { { 0 }, { 0 } };
        ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
        ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 1, &two, x));
        ck_assert_int_eq(prt_session_run(s, &in, out), POPRT_OK);
        left = n;
        out[0] = out[1] = (prt_tensor){ 0 };
        const poprt_status status = prt_session_run(s, &in, out);
        left = -1;
        if (status != POPRT_OK) {
            refusals++;
            ck_assert_int_eq(status, POPRT_E_NOMEM);
            out[0] = out[1] = (prt_tensor){ 0 };
            ck_assert_int_eq(prt_session_run(s, &in, out), POPRT_OK);
        }
        ck_f32(((const float *)out[0].data)[1], 12);
        ck_f32(((const float *)out[1].data)[1], 14);
        prt_session_release(s);
        if (status == POPRT_OK)
            break;
    }
    ck_assert_int_ge(refusals, 2);
    prt_program_release(p);
}
END_TEST

START_TEST(a_failed_run_writes_nothing)
{
    prt_program *p = program_from_text(COUNTER);
    prt_session *s = session_of(p);
    float was, now;
    ck_assert_int_eq(count(s, true, &was, &now), POPRT_E_STATE);
    ck_f32(second_of_weight(s), 2);
    ck_assert_int_eq(count(s, false, &was, &now), POPRT_OK);
    ck_f32(was, 1);
    ck_assert_int_eq(count(s, true, &was, &now), POPRT_E_STATE);
    ck_f32(second_of_weight(s), 12);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

/* Shapes that depend on an integer weight follow its written value. */
START_TEST(shapes_follow_written_integers)
{
    prt_program *p =
        program_from_text("x = input i32[2]\nw = const i32[2] {2,3}\n"
                          "a = gc_copy_var_update w x\nv = cast w {to=7}\nz = const i64[] {1}\n"
                          "y = expand z v\nreturn y\n");
    prt_session *s = session_of(p);
    int32_t x[2] = { 2, 3 };
    const int64_t two = 2;
    prt_tensor in, out = { 0 };
    ck_assert(prt_tensor_init(&in, PRT_DTYPE_i32, 1, &two, x));
    for (int run = 0; run < 3; run++) {
        out = (prt_tensor){ 0 };
        ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
        ck_assert_int_eq(out.dims[1], 3);
    }
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

/* Values that are not weights of the main graph are passed on and not stored. */
START_TEST(other_values_are_not_stored)
{
    prt_program *p = program_from_text("x = input f32[2]\nw = neg x\n"
                                       "a = gc_copy_var_update w x\nreturn a\n");
    prt_session *s = session_of(p);
    float x[2] = { 1, 2 };
    const int64_t two = 2;
    prt_tensor in, out = { 0 };
    ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 1, &two, x));
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    ck_f32(((const float *)out.data)[1], 2);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

PRT_TEST_MAIN("runtime/update", runs_see_written_weights,
    a_refused_allocation_loses_no_written_weight, a_failed_run_writes_nothing,
    shapes_follow_written_integers, other_values_are_not_stored)
