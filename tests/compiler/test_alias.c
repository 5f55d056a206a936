/* SPDX-License-Identifier: MIT */
/*
 * test_alias.c — buffers that alias others: which buffers share memory, which must not, and that
 * sharing does not change results.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/session.h"
#include "support/check_main.h"
#include "support/program_text.h"

static uint32_t index_of(const prt_block *b, const char *name)
{
    for (uint32_t i = 0; i < b->n_buffers; i++)
        if (prt_str_is(b->buffers[i].name, name))
            return i;
    ck_abort_msg("no buffer %s", name);
    return 0;
}

static const prt_buffer *named(const prt_program *p, const char *name)
{
    return &p->blocks[0].buffers[index_of(&p->blocks[0], name)];
}

/* Checks that `name` is in `space` and aliases buffer `in` (unless NULL) at `offset`. */
static void ck_lies(const prt_program *p, const char *name, uint32_t space, const char *in,
    size_t offset)
{
    const prt_buffer *b = named(p, name);
    ck_assert_msg(b->space == space, "%s is in space %u", name, b->space);
    if (in != NULL)
        ck_assert_msg(b->ref == index_of(&p->blocks[0], in), "%s is in buffer %u", name, b->ref);
    if (space == PRT_SPACE_PART)
        ck_assert_uint_eq(b->offset, offset);
}

START_TEST(views_have_no_memory)
{
    prt_program *p = program_from_text(
        "x = input f32[4,6]\nk = const i64[2] {8,3}\ns = const i64[1] {1}\ne = const i64[1] {3}\n"
        "a = softmax x\nb = reshape a k\nc = slice b s e\nf, g = split b {axis=0}\n"
        "u = identity f\nd = softmax c\nh = softmax g\ni = softmax u\nl = reshape x k\n"
        "m = softmax l\nreturn d, h, i, m\n");
    ck_lies(p, "a", PRT_SPACE_PLANNED, NULL, 0);
    ck_lies(p, "b", PRT_SPACE_VIEW, "a", 0);
    ck_lies(p, "c", PRT_SPACE_VIEW, "b", 0);
    ck_lies(p, "f", PRT_SPACE_VIEW, "b", 0);
    ck_lies(p, "g", PRT_SPACE_VIEW, "b", 0);
    ck_lies(p, "u", PRT_SPACE_VIEW, "f", 0);
    ck_lies(p, "l", PRT_SPACE_VIEW, "x", 0);
    ck_assert_uint_eq(p->blocks[0].plan_size, 96);
    ck_assert_uint_eq(named(p, "a")->last, named(p, "u")->last);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_program_release(p);
}
END_TEST

START_TEST(an_inner_slice_is_copied)
{
    prt_program *p = program_from_text(
        "x = input f32[4,6]\ns = const i64[1] {1}\ne = const i64[1] {3}\nt = const i64[1] {1}\n"
        "a = softmax x\nb = slice a s e t\ny = softmax b\nreturn y\n");
    ck_lies(p, "b", PRT_SPACE_PLANNED, NULL, 0);
    prt_program_release(p);
}
END_TEST

START_TEST(dead_buffers_are_overwritten)
{
    prt_program *p = program_from_text(
        "x = input f32[64]\na = softmax x\nb = neg a\nc = softmax b\nd = add c c\n"
        "e = softmax d\nf = neg e\ng = add e f\nh = softmax g\nreturn h\n");
    ck_lies(p, "b", PRT_SPACE_VIEW, "a", 0);
    ck_lies(p, "d", PRT_SPACE_VIEW, "c", 0);
    ck_lies(p, "f", PRT_SPACE_PLANNED, NULL, 0); /* `e` is read again */
    ck_lies(p, "g", PRT_SPACE_VIEW, "e", 0);
    ck_assert_uint_eq(p->blocks[0].plan_size, 512);
    prt_program_release(p);
}
END_TEST

/* A view keeps its source alive. */
START_TEST(sources_of_views_are_kept)
{
    prt_program *p = program_from_text(
        "x = input f32[64]\nk = const i64[2] {8,8}\na = softmax x\nv = reshape a k\nb = neg a\n"
        "c = softmax v\nd = softmax b\nreturn c, d\n");
    ck_lies(p, "v", PRT_SPACE_VIEW, "a", 0);
    ck_lies(p, "b", PRT_SPACE_PLANNED, NULL, 0);
    prt_program_release(p);
    p = program_from_text(/* both inputs of an addition, and a full buffer from a part */
        "x = input f32[64]\na = softmax x\nf, g = split a {axis=0}\nb = add f g\nc = neg f\n"
        "d = softmax c\ny = softmax b\nreturn d, y\n");
    ck_lies(p, "b", PRT_SPACE_PLANNED, NULL, 0);
    prt_program_release(p);
}
END_TEST

START_TEST(concat_inputs_are_written_in_place)
{
    prt_program *p = program_from_text(
        "x = input f32[1,2,8]\na = softmax x\nb = neg a\nc = concat a b {axis=1}\n"
        "d = concat c x {axis=1}\ny = softmax d\nreturn y\n");
    ck_lies(p, "d", PRT_SPACE_PLANNED, NULL, 0);
    ck_lies(p, "c", PRT_SPACE_PART, "d", 0);
    ck_lies(p, "a", PRT_SPACE_PART, "d", 0);
    ck_lies(p, "b", PRT_SPACE_PART, "d", 64);
    ck_assert_uint_eq(p->blocks[0].plan_size, 192);
    ck_assert_int_eq(prt_program_check(p), POPRT_OK);
    prt_program_release(p);
    p = program_from_text("x = input f32[2,8]\na = softmax x\nb = softmax a\n"
                          "c = concat a b {axis=1}\ny = softmax c\nreturn y\n");
    ck_lies(p, "a", PRT_SPACE_PLANNED, NULL, 0);
    prt_program_release(p);
}
END_TEST

START_TEST(outputs_are_made_in_place)
{
    prt_program *p = program_from_text(
        "x = input f32[4,4]\nk = const i64[1] {16}\na = softmax x\nb = neg a\ny = reshape b k\n"
        "return y\n");
    ck_lies(p, "y", PRT_SPACE_OUTPUT, NULL, 0);
    ck_lies(p, "b", PRT_SPACE_PART, "y", 0);
    ck_lies(p, "a", PRT_SPACE_PART, "y", 0);
    ck_assert_uint_eq(p->blocks[0].plan_size, 0);
    prt_program_release(p);
}
END_TEST

START_TEST(caller_inputs_are_not_overwritten)
{
    prt_program *p = program_from_text(
        "x = input f32[16]\nk = const f32[16] {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}\n"
        "a = identity x\nb = neg a\nc = identity k\nd = add b c\ny = softmax d\nreturn y\n");
    ck_lies(p, "a", PRT_SPACE_VIEW, "x", 0);
    ck_lies(p, "b", PRT_SPACE_PLANNED, NULL, 0);
    ck_lies(p, "c", PRT_SPACE_VIEW, NULL, 0);
    ck_lies(p, "d", PRT_SPACE_VIEW, "b", 0);
    prt_program_release(p);
}
END_TEST

START_TEST(symbolic_buffers_share_memory)
{
    prt_program *p = program_from_text(
        "x = input f32[n,4]\na = softmax x\nb = neg a\nc = flatten b {axis=0}\nd = softmax c\n"
        "return d\n");
    ck_lies(p, "b", PRT_SPACE_VIEW, "a", 0);
    ck_lies(p, "c", PRT_SPACE_VIEW, "b", 0);
    prt_program_release(p);
}
END_TEST

/* ---- the same values ---- */

static void run(prt_program *p, const prt_kern *kern, float *x, size_t count, prt_session **s,
    prt_tensor *out)
{
    const prt_session_options options = { .kern = kern };
    prt_tensor in;
    const int64_t dims[2] = { (int64_t)count / 12, 12 };
    ck_assert(prt_tensor_init(&in, PRT_DTYPE_f32, 2, dims, x));
    poprt_status status = prt_session_create(p, &options, s);
    for (int k = 0; status == POPRT_OK && k < 2; k++) {
        memset(out, 0, p->n_outputs * sizeof(*out));
        status = prt_session_run(*s, &in, out);
    }
    ck_assert_msg(status == POPRT_OK, "%s", prt_error_last()->message);
}

static void ck_same(const char *text, size_t count)
{
    prt_program *unshared = program_without_sharing(text), *shared = program_from_text(text),
                *read = NULL;
    ck_assert_int_eq(prt_program_check(shared), POPRT_OK);
    const test_bytes file = popef_of(shared);
    ck_assert_int_eq(program_from_bytes(file.data, file.size, true, &read), POPRT_OK);
    prt_program *const programs[2] = { shared, read };
    float x[1200], copy[1200];
    for (size_t i = 0; i < count; i++)
        copy[i] = x[i] = (float)i / 7.0f - (float)(i * i % 11);
    for (int k = 0; k < 4; k++) {
        const prt_kern *kern = k % 2 != 0 ? prt_kern_of(0) : NULL;
        prt_session *s[2] = { NULL, NULL };
        prt_tensor out[2][4] = { 0 };
        run(unshared, kern, x, count, &s[0], out[0]);
        run(programs[k / 2], kern, x, count, &s[1], out[1]);
        ck_assert_mem_eq(x, copy, count * sizeof(float));
        for (uint32_t i = 0; i < unshared->n_outputs; i++) {
            ck_assert_uint_eq(out[0][i].size, out[1][i].size);
            if (out[0][i].size != 0 && memcmp(out[0][i].data, out[1][i].data, out[0][i].size) != 0)
                ck_abort_msg("output %u of\n%s", i, text);
        }
        prt_session_release(s[0]);
        prt_session_release(s[1]);
    }
    prt_program_release(unshared);
    prt_program_release(shared);
    prt_program_release(read);
    free(file.data);
}

static uint32_t state;

static uint32_t random_below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

typedef struct graph {
    char text[8192];
    size_t size;
    uint32_t count;
    uint32_t rows[64]; /* values are v0, v1 …: [rows, 12], v0 the input */
    bool symbolic;
} graph;

static void write_line(graph *g, const char *format, uint32_t a, uint32_t b, uint32_t c)
{
    const size_t buffer = sizeof(g->text) - g->size;
    const int n = snprintf(g->text + g->size, buffer, format, a, b, c);
    ck_assert_int_gt(n, 0);
    g->size += (size_t)n;
    ck_assert_uint_lt(g->size, sizeof(g->text));
}

static void add_value(graph *g, uint32_t rows)
{
    g->rows[g->count++] = rows;
}

/* Adds one operator on existing values; some choices add nothing. */
static void add_operator(graph *g)
{
    static const char *const unary[] = { "neg", "relu", "identity", "softmax", "abs" };
    static const char *const binary[] = { "add", "mul", "sub", "max" };
    const uint32_t x = random_below(g->count), y = random_below(g->count), rows = g->rows[x],
                   n = g->count;
    switch (random_below(6)) {
    case 0:
    case 1: {
        char line[64];
        (void)snprintf(line, sizeof(line), "v%%u = %s v%%u\n", unary[random_below(5)]);
        write_line(g, line, n, x, 0);
        add_value(g, rows);
        break;
    }
    case 2: {
        char line[64];
        if (g->rows[y] != rows)
            return;
        (void)snprintf(line, sizeof(line), "v%%u = %s v%%u v%%u\n", binary[random_below(4)]);
        write_line(g, line, n, x, y);
        add_value(g, rows);
        break;
    }
    case 3: /* a transpose and its inverse, with a step between */
        write_line(g, "k%u = const i64[2] {12,-1}\nr%u = reshape v%u k", n, n, x);
        write_line(g, "%u\np%u = neg r%u\n", n, n, n);
        write_line(g, "l%u = const i64[2] {-1,12}\nv%u = reshape p%u l", n, n, n);
        write_line(g, "%u\n", n, 0, 0);
        add_value(g, rows);
        break;
    case 4:
        if (rows + g->rows[y] > 64 || g->symbolic)
            return;
        write_line(g, "v%u = concat v%u v%u {axis=0}\n", n, x, y);
        add_value(g, rows + g->rows[y]);
        break;
    default:
        if (rows < 2 || rows % 2 != 0 || g->symbolic)
            return;
        write_line(g, "v%u, v%u = split v%u {axis=0}\n", n, n + 1, x);
        add_value(g, rows / 2);
        add_value(g, rows / 2);
        break;
    }
}

START_TEST(values_do_not_depend_on_sharing)
{
    for (uint32_t seed = 0; seed < 1000; seed++) {
        graph g = { .symbolic = seed % 4 == 3 };
        state = seed;
        write_line(&g, g.symbolic ? "v0 = input f32[n,12]\n" : "v0 = input f32[8,12]\n", 0, 0, 0);
        add_value(&g, 8);
        for (uint32_t tries = 4 + random_below(seed < 200 ? 8 : 40); tries > 0 && g.count < 40;
             tries--)
            add_operator(&g);
        if (g.count < 4)
            continue;
        write_line(&g, "return v%u", g.count - 1, 0, 0);
        for (uint32_t i = random_below(3); i > 0; i--)
            write_line(&g, ", v%u", random_below(g.count - 1), 0, 0);
        write_line(&g, "\n", 0, 0, 0);
        ck_same(g.text, 96);
    }
}
END_TEST

START_TEST(buffers_of_bodies_share_memory)
{
    ck_same("x = input f32[4,12]\nt = const bool[] {true}\nm = const i64[] {3}\n"
            "k = const i64[2] {12,4}\nl = const i64[2] {4,12}\na = softmax x\n"
            "y, z = loop m t a {\n  body {\n    i = input i64[]\n    c = input bool[]\n"
            "    s = input f32[4,12]\n    b = reshape s k\n    d = neg b\n    e = reshape d l\n"
            "    f = add e a\n    g = identity s\n    return c, f, g\n  }\n}\nreturn y, z, a\n",
        48);
}
END_TEST

PRT_TEST_MAIN("compiler/alias", views_have_no_memory, an_inner_slice_is_copied,
    dead_buffers_are_overwritten, sources_of_views_are_kept, concat_inputs_are_written_in_place,
    outputs_are_made_in_place, caller_inputs_are_not_overwritten, symbolic_buffers_share_memory,
    values_do_not_depend_on_sharing, buffers_of_bodies_share_memory)
