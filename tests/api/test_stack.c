/* SPDX-License-Identifier: MIT */
/*
 * test_stack.c — the stack that calls use on the calling thread (poprt/base.h). Each call is made
 * by a thread whose stack was filled with a pattern, and the bytes without it are counted. The
 * models are those of tests/fixtures, and models with nested graphs and functions.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <pthread.h>
#include <sys/mman.h>

#include "model_calls.h"

enum {
    STACK = 4 << 20, /* bytes of the thread's stack */
    PATTERN = 0xa5,
    MOST = 1 << 20,        /* bytes of stack that a call may use */
    MOST_FLAT = 128 << 10, /* the same if graphs are nested at most FLAT deep */
    FLAT = 8,
    FUNCTIONS = 5, /* the reader accepts this many nested functions */
    BRANCHES = 24  /* of this many nested If each, and not one more */
};

/* Runs `work` on a new thread, and returns the bytes of its stack that were written. */
static size_t stack_of(void *(*work)(void *), void *arg)
{
    pthread_attr_t attr;
    pthread_t thread;
    unsigned char *stack =
        mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(stack != MAP_FAILED);
    memset(stack, PATTERN, STACK);
    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstack(&attr, stack, STACK), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, work, arg), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&attr);
    size_t at = 0;
    while (at < STACK && stack[at] == PATTERN)
        at++;
    ck_assert_int_eq(munmap(stack, STACK), 0);
    return STACK - at;
}

static void *nothing(void *arg)
{
    return arg;
}

/* Makes every call on a model, and checks the stack of each. Returns whether the model ran: some
 * fixtures do not accept the inputs that model_bind makes. */
static bool check_calls(model_calls *m, const char *name, size_t most)
{
    const size_t before = stack_of(nothing, NULL);
    size_t largest = 0;
    ck_assert_ok(poprt_env_create(NULL, &m->env));
    for (m->step = STEP_LOAD; m->step < STEPS; m->step++) {
        model_prepare(m);
        const size_t used = stack_of(model_call, m) - before;
        ck_assert_msg(m->status == POPRT_OK || m->step == STEP_RUN, "%s: step %d: %s", name,
            m->step, poprt_status_name(m->status));
        ck_assert_msg(used <= most, "%s: step %d uses %zu bytes of stack", name, m->step, used);
        largest = used > largest ? used : largest;
    }
    ck_assert_uint_gt(largest, 1000); /* the pattern was overwritten */
    return m->status == POPRT_OK;
}

START_TEST(models_of_any_size_need_128_kib)
{
    glob_t found;
    size_t ran = 0;
    ck_assert_int_eq(glob(PRT_TEST_DATA "/*/model.onnx", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        model_calls m = { .path = found.gl_pathv[i] };
        ran += check_calls(&m, m.path, MOST_FLAT);
        model_release(&m);
    }
    ck_assert_uint_gt(ran, 15);
    globfree(&found);
}
END_TEST

/* ---- nested graphs, as bytes of protobuf */

static void put_varint(buffer *to, size_t value)
{
    for (; value >= 0x80; value >>= 7)
        (void)buffer_write(to, (unsigned char[]){ (unsigned char)(value | 0x80) }, 1);
    (void)buffer_write(to, (unsigned char[]){ (unsigned char)value }, 1);
}

static void put_int(buffer *to, unsigned field, size_t value)
{
    put_varint(to, field << 3);
    put_varint(to, value);
}

static void put_bytes(buffer *to, unsigned field, const void *data, size_t size)
{
    put_varint(to, field << 3 | 2);
    put_varint(to, size);
    (void)buffer_write(to, data, size);
}

static void put_text(buffer *to, unsigned field, const char *text)
{
    put_bytes(to, field, text, strlen(text));
}

/* Appends `inner` as a message, and frees it. */
static void put_message(buffer *to, unsigned field, buffer inner)
{
    put_bytes(to, field, inner.data, inner.size);
    free(inner.data);
}

/* A NodeProto: field 1 inputs, 2 outputs, 4 operator, 7 domain. */
static buffer node_of(const char *op, const char *domain, const char *a, const char *b,
    const char *out)
{
    buffer n = { 0 };
    put_text(&n, 1, a);
    if (b != NULL)
        put_text(&n, 1, b);
    put_text(&n, 2, out);
    put_text(&n, 4, op);
    put_text(&n, 7, domain);
    return n;
}

/* A ValueInfoProto of a tensor: field 1 name, 2 type. `length` 0 makes a scalar. */
static buffer value_of(const char *name, size_t dtype, size_t length)
{
    buffer dim = { 0 }, shape = { 0 }, tensor = { 0 }, type = { 0 }, value = { 0 };
    if (length != 0) {
        put_int(&dim, 1, length);
        put_message(&shape, 1, dim);
    }
    put_int(&tensor, 1, dtype);
    put_message(&tensor, 2, shape);
    put_message(&type, 1, tensor);
    put_text(&value, 1, name);
    put_message(&value, 2, type);
    return value;
}

/* Adds a GraphProto as an attribute of an If: field 1 node, 2 name, 12 output. Frees `node`. */
static void put_branch(buffer *to, const char *branch, buffer node, const char *output)
{
    buffer graph = { 0 }, attribute = { 0 };
    put_message(&graph, 1, node);
    put_text(&graph, 2, branch);
    put_message(&graph, 12, value_of(output, 1, 2));
    put_text(&attribute, 1, branch);
    put_message(&attribute, 6, graph);
    put_int(&attribute, 20, 5);
    put_message(to, 5, attribute);
}

/* Returns `node`, whose output is r0, inside `depth` nested If. The output of all is r<depth>. */
static buffer nested(buffer node, int depth)
{
    for (int i = 1; i <= depth; i++) {
        char in[16], out[16], other[16];
        (void)snprintf(in, sizeof(in), "r%d", i - 1);
        (void)snprintf(out, sizeof(out), "r%d", i);
        (void)snprintf(other, sizeof(other), "e%d", i);
        buffer n = node_of("If", "", "c", NULL, out);
        put_branch(&n, "then_branch", node, in);
        put_branch(&n, "else_branch", node_of("Neg", "", "x", NULL, other), other);
        node = n;
    }
    return node;
}

static void put_opset(buffer *to, unsigned field, const char *domain, size_t version)
{
    buffer opset = { 0 };
    put_text(&opset, 1, domain);
    put_int(&opset, 2, version);
    put_message(to, field, opset);
}

/* Function i of `functions` has `depth` nested If around a call of the next one. */
static buffer nested_model(int functions, int depth)
{
    char last[16], name[16], next[16];
    buffer graph = { 0 }, model = { 0 };
    (void)snprintf(last, sizeof(last), "r%d", depth);
    put_message(&graph, 1, node_of("f0", "l", "c", "x", "y"));
    put_text(&graph, 2, "g");
    put_message(&graph, 11, value_of("c", 9, 0));
    put_message(&graph, 11, value_of("x", 1, 2));
    put_message(&graph, 12, value_of("y", 1, 2));
    put_int(&model, 1, 8);
    put_message(&model, 7, graph);
    put_opset(&model, 8, "", 17);
    put_opset(&model, 8, "l", 1);
    for (int i = 0; i < functions; i++) {
        buffer f = { 0 };
        (void)snprintf(name, sizeof(name), "f%d", i);
        (void)snprintf(next, sizeof(next), "f%d", i + 1);
        put_text(&f, 1, name);
        put_text(&f, 4, "c");
        put_text(&f, 4, "x");
        put_text(&f, 5, last);
        put_message(&f, 7,
            nested(i + 1 < functions ? node_of(next, "l", "c", "x", "r0")
                                     : node_of("Exp", "", "x", NULL, "r0"),
                depth));
        put_opset(&f, 9, "", 17);
        put_opset(&f, 9, "l", 1);
        put_text(&f, 10, "l");
        put_message(&model, 25, f);
    }
    return model;
}

/* Returns whether a model of this nesting is accepted; then it must run within the stack. */
static bool check_nested(int functions, int depth, size_t most)
{
    model_calls m = { .bytes = nested_model(functions, depth) };
    poprt_model *model = NULL;
    const poprt_status status =
        poprt_model_load_bytes(NULL, m.bytes.data, m.bytes.size, NULL, &model);
    poprt_model_release(model);
    ck_assert_msg(status == POPRT_OK || status == POPRT_E_LIMIT, "%s", poprt_last_error()->message);
    if (status == POPRT_OK)
        ck_assert(check_calls(&m, "nested If", most));
    model_release(&m);
    free(m.bytes.data);
    return status == POPRT_OK;
}

START_TEST(nested_graphs_need_1_mib_at_most)
{
    ck_assert(check_nested(1, FLAT - 1, MOST_FLAT));
    ck_assert(check_nested(2, FLAT / 2 - 1, MOST_FLAT));
    ck_assert(check_nested(FUNCTIONS, BRANCHES, MOST));
    ck_assert(!check_nested(FUNCTIONS, BRANCHES + 1, MOST));
    ck_assert(check_nested(1, 31, MOST));
    ck_assert(!check_nested(1, 32, MOST));
}
END_TEST

PRT_TEST_MAIN("api/stack", models_of_any_size_need_128_kib, nested_graphs_need_1_mib_at_most)
