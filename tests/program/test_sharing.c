/* SPDX-License-Identifier: MIT */
/*
 * test_sharing.c — damaged programs whose memory is used at the wrong time, by the wrong step, or
 * by both sides of a step.
 */
#include "program/sharing.h"

#include <stdlib.h>

#include "kern/kern.h"
#include "runtime/session.h"
#include "support/check_main.h"
#include "support/program_text.h"

static uint32_t index_of(const prt_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->blocks[0].n_buffers; i++)
        if (prt_str_is(p->blocks[0].buffers[i].name, name))
            return i;
    ck_abort_msg("no buffer %s", name);
    return 0;
}

static prt_buffer *named(prt_program *p, const char *name)
{
    return &p->blocks[0].buffers[index_of(p, name)];
}

static void ck_bad(prt_program *p, const char *said)
{
    ck_assert_int_eq(prt_program_check(p), POPRT_E_PARSE);
    ck_assert_msg(strstr(prt_error_last()->message, said) != NULL, "%s", prt_error_last()->message);
    prt_program_release(p);
}

START_TEST(memory_outside_its_lifetime_is_refused)
{
    static const char text[] = "x = input f32[16]\na = softmax x\nb = softmax a\nc = softmax b\n"
                               "d = add a c\nreturn d\n";
    prt_program *p = program_from_text(text);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    named(p, "b")->last = 1;
    ck_bad(p, "outside its lifetime");
    p = program_from_text(text);
    named(p, "b")->first = 2;
    ck_bad(p, "outside its lifetime");
    p = program_from_text("x = input f32[16]\nt = input bool[]\na = softmax x\nb = softmax a\n"
                          "y = if t {\n  then_branch {\n    u = neg a\n    return u\n  }\n"
                          "  else_branch {\n    w = neg b\n    return w\n  }\n}\nreturn y\n");
    named(p, "a")->last = 1;
    ck_bad(p, "outside its lifetime");
}
END_TEST

START_TEST(views_of_other_buffers_are_refused)
{
    static const char text[] = "x = input f32[16]\nk = const i64[2] {4,4}\na = softmax x\n"
                               "c = softmax a\nb = reshape a k\ny = softmax b\nz = neg c\n"
                               "o = softmax z\nreturn y, o\n";
    prt_program *p = program_from_text(text);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    named(p, "b")->ref = index_of(p, "x");
    ck_bad(p, "does not refer to an input of its step");
    p = program_from_text(text);
    named(p, "b")->ref = index_of(p, "k"); /* an input, but not the data input of Reshape */
    ck_bad(p, "cannot make its output a view");
    p = program_from_text(text);
    named(p, "b")->ref = 1000;
    ck_bad(p, "shares memory with a missing buffer");
    p = program_from_text(text);
    named(p, "b")->ref = index_of(p, "b");
    ck_bad(p, "does not refer to an input of its step");
    p = program_from_text(text); /* Softmax reads its input more than once */
    named(p, "c")->space = PRT_SPACE_VIEW;
    named(p, "c")->ref = index_of(p, "a");
    ck_bad(p, "cannot make its output a view");
}
END_TEST

/* The caller's inputs and the file's weights are read only. */
START_TEST(overwritten_inputs_are_refused)
{
    static const char text[] = "x = input f32[4]\nk = const f32[4] {1,2,3,4}\na = identity x\n"
                               "b = neg a\nc = neg k\nd = add b c\ny = softmax d\nreturn y\n";
    prt_program *p = program_from_text(text);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    named(p, "b")->space = PRT_SPACE_VIEW;
    named(p, "b")->ref = index_of(p, "a");
    ck_bad(p, "cannot make its output a view");
    p = program_from_text(text);
    named(p, "c")->space = PRT_SPACE_VIEW;
    named(p, "c")->ref = index_of(p, "k");
    ck_bad(p, "cannot make its output a view");
}
END_TEST

START_TEST(invalid_captures_are_refused)
{
    prt_program *p = program_from_text("x = input f32[16]\nt = input bool[]\na = softmax x\n"
                                       "y = if t {\n  then_branch { u = neg a; return u }\n"
                                       "  else_branch { return a }\n}\nreturn y\n");
    for (uint32_t i = 0; i < p->blocks[1].n_buffers; i++)
        if (p->blocks[1].buffers[i].space == PRT_SPACE_CAPTURE)
            p->blocks[1].buffers[i].ref = 1u << 30;
    ck_bad(p, "a missing buffer of the enclosing block");
}
END_TEST

/* A session refuses more inputs than the operator has when it infers shapes. */
START_TEST(surplus_inputs_are_refused)
{
    prt_program *p = program_from_text("x = input f32[4]\na = neg x\ny = add a x\nreturn y\n");
    const prt_block *b = &p->blocks[0];
    p->params[b->steps[1].params] = p->params[b->steps[0].params];
    const test_bytes file = popef_of(p);
    prt_program *read = NULL;
    prt_session *s = NULL;
    ck_assert_int_eq(program_from_bytes(file.data, file.size, true, &read), POPRT_OK);
    ck_assert_int_ne(prt_session_create(read, &(prt_session_options){ 0 }, &s), POPRT_OK);
    prt_program_release(p);
    prt_program_release(read);
    free(file.data);
}
END_TEST

#define JOIN                                                                                       \
    "x = input f32[2,8]\na = softmax x\nb = softmax a\nc = concat a b {axis=0}\ny = softmax c\n"   \
    "return y\n"

START_TEST(parts_outside_their_buffer_are_refused)
{
    prt_program *p = program_from_text(JOIN);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    named(p, "b")->offset = 68;
    ck_bad(p, "exceeds the buffer it lies in");
    p = program_from_text(JOIN);
    named(p, "b")->offset = 2;
    ck_bad(p, "exceeds the buffer it lies in");
    p = program_from_text(JOIN);
    named(p, "b")->offset = SIZE_MAX - 3;
    ck_bad(p, "exceeds the buffer it lies in");
    p = program_from_text(JOIN);
    named(p, "b")->ref = index_of(p, "a");
    ck_bad(p, "exceeds the buffer it lies in");
    p = program_from_text(JOIN); /* Softmax would overwrite its input */
    named(p, "b")->offset = 4;
    ck_bad(p, "writes memory that it reads");
}
END_TEST

#define COLUMNS                                                                                    \
    "x = input f32[2,2,2,4]\na = nhwc_max_pool x {kernel_shape=[1,1]}\n"                           \
    "b = nhwc_max_pool a {kernel_shape=[1,1]}\nc = concat a b {axis=3}\ny = softmax c\nreturn y\n"

static prt_program *concat_program(void)
{
    prt_program *p = program_from_text(COLUMNS);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    ck_assert_uint_eq(named(p, "a")->space, PRT_SPACE_COLUMNS);
    ck_assert_uint_eq(named(p, "b")->offset, 16);
    return p;
}

START_TEST(columns_outside_their_rows_are_refused)
{
    static const size_t offsets[] = { 20, 2, SIZE_MAX - 3, 32, 128 };
    for (size_t i = 0; i < PRT_COUNT_OF(offsets); i++) {
        prt_program *p = concat_program();
        named(p, "b")->offset = offsets[i];
        ck_bad(p, "do not fit the rows");
    }
    prt_program *p = concat_program();
    named(p, "b")->ref = index_of(p, "a");
    ck_bad(p, "do not fit the rows");
    p = concat_program();
    named(p, "b")->ref = index_of(p, "x");
    ck_bad(p, "do not fit the rows");
    p = concat_program();
    named(p, "b")->ref = UINT32_MAX;
    ck_bad(p, "shares memory with a missing buffer");
    p = concat_program(); /* the pool would overwrite its input */
    named(p, "b")->offset = 8;
    ck_bad(p, "writes memory that it reads");
    p = concat_program(); /* and Concat would overwrite its second input with the first */
    named(p, "a")->offset = 16;
    named(p, "b")->offset = 0;
    ck_bad(p, "writes memory that it reads");
    p = concat_program(); /* a part of the same memory overlaps the columns */
    named(p, "b")->space = PRT_SPACE_PART;
    ck_bad(p, "writes memory that it reads");
}
END_TEST

START_TEST(columns_read_by_views_or_outputs_are_refused)
{
    static const char text[] =
        "x = input f32[2,2,2,4]\nk = const i64[2] {8,8}\n"
        "a = nhwc_max_pool x {kernel_shape=[1,1]}\nb = nhwc_max_pool a {kernel_shape=[1,1]}\n"
        "c = concat a b {axis=3}\nd = softmax c\ne = reshape d k\ny = softmax e\nreturn y\n";
    prt_program *p = program_from_text(text);
    named(p, "e")->ref = index_of(p, "a");
    ck_bad(p, "a view is of columns");
    p = program_from_text(COLUMNS);
    prt_buffer *y = named(p, "y");
    y->space = PRT_SPACE_COLUMNS;
    y->ref = index_of(p, "c");
    y->offset = 0;
    ck_bad(p, "a missing buffer or to columns");
    p = program_from_text(
        "x = input f32[2,2,2,4]\nt = input bool[]\n"
        "a = nhwc_max_pool x {kernel_shape=[1,1]}\nb = nhwc_max_pool x {kernel_shape=[1,1]}\n"
        "c = concat a b {axis=3}\nd = softmax c\ny = if t {\n  then_branch {\n    u = neg d\n"
        "    return u\n  }\n  else_branch {\n    w = abs d\n    return w\n  }\n}\nreturn y\n");
    for (uint32_t i = 0; i < p->blocks[1].n_buffers; i++)
        if (p->blocks[1].buffers[i].space == PRT_SPACE_CAPTURE)
            p->blocks[1].buffers[i].ref = index_of(p, "a");
    ck_bad(p, "columns of the enclosing block");
    p = program_from_text(
        "x = input f32[2,2,2,4]\nw = concat x x {axis=3}\nv = softmax w\n"
        "a = softmax x\nq = softmax a\nb = add q a\nd = softmax b\ne = softmax a\n"
        "f = softmax v\nreturn d, e, f\n");
    ck_assert_uint_eq(named(p, "b")->ref, index_of(p, "q"));
    prt_buffer *a = named(p, "a");
    a->space = PRT_SPACE_COLUMNS;
    a->ref = index_of(p, "v");
    a->offset = 0;
    ck_bad(p, "a step with columns makes a view");
}
END_TEST

/* Operators without support for columns get copies, whatever a file says. */
START_TEST(operators_get_copies_of_columns)
{
    prt_program *p = program_from_text("x = input f32[2,2,2,4]\na = neg x\nb = softmax a\n"
                                       "c = concat a b {axis=3}\ny = softmax c\nreturn y\n");
    float values[32], want[64];
    for (int i = 0; i < 32; i++)
        values[i] = (float)(i * i % 13) - 6.0f;
    prt_tensor in, out;
    for (int k = 0; k < 3; k++) {
        prt_session *s = NULL;
        ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 4, (const int64_t[]){ 2, 2, 2, 4 }, values));
        out = (prt_tensor){ 0 };
        const prt_session_options options = { .kern = k == 2 ? prt_kern_of(0) : NULL };
        ck_assert_int_eq(prt_session_create(p, &options, &s), POPRT_OK);
        ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
        ck_assert_uint_eq(out.size, sizeof(want));
        if (k == 0)
            memcpy(want, out.data, sizeof(want));
        for (int i = 0; i < 64; i++)
            ck_assert_double_eq_tol((double)((const float *)out.data)[i], (double)want[i], 1e-6);
        prt_session_release(s);
        if (k != 0)
            continue;
        prt_buffer *a = named(p, "a"), *b = named(p, "b"), *c = named(p, "c");
        a->space = b->space = PRT_SPACE_COLUMNS;
        a->ref = b->ref = index_of(p, "c");
        a->offset = 0;
        b->offset = 16;
        c->first = 0;
        const poprt_status status = prt_program_check(p);
        ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    }
    prt_program_release(p);
}
END_TEST

/* A wrong place in a concatenation changes only the results of that model. */
START_TEST(a_misplaced_concat_input_is_accepted)
{
    prt_program *p = program_from_text("x = input f32[2,8]\na = neg x\nb = abs x\n"
                                       "c = concat a b {axis=0}\ny = softmax c\nreturn y\n");
    named(p, "a")->offset = 64;
    named(p, "b")->offset = 0;
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_session *s = NULL;
    float x[16] = { 1, 2, 3 };
    prt_tensor in, out = { 0 };
    ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 2, (const int64_t[]){ 2, 8 }, x));
    ck_assert_int_eq(prt_session_create(p, &(prt_session_options){ 0 }, &s), POPRT_OK);
    ck_assert_int_eq(prt_session_run(s, &in, &out), POPRT_OK);
    ck_assert_uint_eq(out.size, 128);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

/* The session refuses errors that only the shapes show. */
START_TEST(a_strided_concat_is_refused)
{
    prt_program *p = program_from_text("x = input f32[2,8]\na = softmax x\nb = softmax a\n"
                                       "c = concat a b {axis=1}\ny = softmax c\nreturn y\n");
    prt_buffer *a = named(p, "a"), *c = named(p, "c");
    a->space = PRT_SPACE_PART;
    a->ref = index_of(p, "c");
    a->offset = 0;
    c->first = 0;
    c->offset = 256;
    p->blocks[0].plan_size = 512;
    const poprt_status status = prt_program_check(p);
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
    prt_session *s = NULL;
    ck_assert_int_eq(prt_session_create(p, &(prt_session_options){ 0 }, &s), POPRT_E_PARSE);
    ck_assert_ptr_nonnull(strstr(prt_error_last()->message, "in the memory of an input"));
    prt_program_release(p);
}
END_TEST

/* Only an input with the shape of the result is overwritten; the sum has its own memory. */
START_TEST(a_smaller_input_is_not_overwritten)
{
    prt_program *p = program_from_text("x = input f32[2,8]\nz = input f32[8]\na = softmax z\n"
                                       "b = add x a\ny = softmax b\nreturn y\n");
    prt_buffer *b = named(p, "b");
    b->space = PRT_SPACE_VIEW;
    b->ref = index_of(p, "a");
    named(p, "a")->last = b->last;
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_session *s = NULL;
    float x[16] = { 1, 2, 3 };
    prt_tensor in[2], out = { 0 };
    ck_assert(prt_tensor_init(&in[0], PRT_DTYPE_f32, 2, (const int64_t[]){ 2, 8 }, x));
    ck_assert(prt_tensor_init(&in[1], PRT_DTYPE_f32, 1, (const int64_t[]){ 8 }, x));
    ck_assert_int_eq(prt_session_create(p, &(prt_session_options){ 0 }, &s), POPRT_OK);
    ck_assert_int_eq(prt_session_run(s, in, &out), POPRT_OK);
    ck_assert_uint_eq(out.size, 64);
    prt_session_release(s);
    prt_program_release(p);
}
END_TEST

PRT_TEST_MAIN("program/sharing", memory_outside_its_lifetime_is_refused,
    views_of_other_buffers_are_refused, overwritten_inputs_are_refused,
    invalid_captures_are_refused, surplus_inputs_are_refused,
    parts_outside_their_buffer_are_refused, columns_outside_their_rows_are_refused,
    columns_read_by_views_or_outputs_are_refused, operators_get_copies_of_columns,
    a_misplaced_concat_input_is_accepted, a_strided_concat_is_refused,
    a_smaller_input_is_not_overwritten)
