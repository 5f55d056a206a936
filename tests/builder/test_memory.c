/* SPDX-License-Identifier: MIT */
/*
 * test_memory.c — any refused allocation is an error without a leak; random calls never fail in
 * another way.
 */
#include "build.h"

typedef struct counter {
    size_t calls, live, refuse_at;
} counter;

static void *count_alloc(void *user, size_t size, size_t align)
{
    counter *c = user;
    void *ptr = NULL;
    if (++c->calls == c->refuse_at || posix_memalign(&ptr, align, size) != 0)
        return NULL;
    memset(ptr, 0xa5, size);
    c->live++;
    return ptr;
}

static void count_release(void *user, void *ptr)
{
    counter *c = user;
    c->live--;
    free(ptr);
}

static poprt_status make_env(counter *c, poprt_env **out)
{
    const poprt_allocator allocator = { .user = c, .alloc = count_alloc, .release = count_release };
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    options.allocator = &allocator;
    return poprt_env_create(&options, out);
}

/* Adds one of everything. Failures are sticky, except for that of the question, which is
 * returned. */
static poprt_status build_all(poprt_builder *b)
{
    static const poprt_string word = POPRT_TEXT("word");
    poprt_builder *body = NULL;
    poprt_attr got;
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 2, .dims = { -1, 4 } };
    const char *const names[] = { "n", NULL };
    const poprt_id x = poprt_builder_input(b, "x", &type, names),
                   w = add_weight(b, "w", DIMS(4, 4));
    const poprt_attr stage = poprt_attr_int(POPRT_MARK_PIPELINE_STAGE, 1);
    (void)poprt_builder_push_name(b, "scope");
    (void)poprt_builder_push(b, &stage);
    const poprt_id y = poprt_op_matmul(b, x, w, NULL);
    const poprt_transpose_attrs swap = { .perm = POPRT_INTS(1, 0) };
    const poprt_id z = poprt_op_transpose(b, y, &swap);
    const poprt_attr list = poprt_attr_strings(POPRT_MARK_OUTLINE, &word, 1);
    (void)poprt_builder_set(b, z, &list);
    const poprt_status answer = poprt_builder_get(b, z, "perm", 0, &got);
    (void)poprt_builder_remove(b, z, "perm");
    (void)poprt_builder_pop(b);
    if (poprt_builder_create_subgraph(b, "body", &body) == POPRT_OK) {
        const poprt_id in = poprt_builder_input(body, NULL, NULL, NULL);
        (void)poprt_builder_output(body, poprt_op_add(body, in, w, NULL));
        (void)poprt_builder_output(body, w);
        const poprt_gc_call_attrs call = { .callee = body };
        (void)poprt_builder_output(b, poprt_op_gc_call(b, 1, &y, &call, 2, NULL));
        poprt_builder_release(body);
    }
    (void)poprt_builder_output(b, z);
    (void)poprt_builder_property(b, "key", "value");
    return answer;
}

static poprt_status life(counter *c)
{
    poprt_env *env = NULL;
    poprt_builder *b = NULL, *copy = NULL;
    poprt_model *model = NULL, *again = NULL;
    poprt_status s = make_env(c, &env);
    if (s == POPRT_OK)
        s = poprt_builder_create(env, 11, &b);
    if (s == POPRT_OK) {
        s = build_all(b);
        const poprt_status made = poprt_builder_finish(b, &model);
        s = made != POPRT_OK ? made : s;
    }
    if (s == POPRT_OK)
        s = poprt_builder_create_from(model, &copy);
    if (s == POPRT_OK)
        s = poprt_builder_finish(copy, &again);
    poprt_model_release(again);
    poprt_builder_release(copy);
    poprt_builder_release(b);
    poprt_model_release(model);
    poprt_env_release(env);
    return s;
}

START_TEST(any_refused_allocation_is_an_error_without_a_leak)
{
    counter whole = { 0 };
    ck_assert_ok(life(&whole));
    ck_assert_uint_eq(whole.live, 0);
    ck_assert_uint_gt(whole.calls, 50);
    size_t wrong = 0;
    for (size_t at = 1; at <= whole.calls; at++) {
        counter c = { .refuse_at = at };
        const poprt_status status = life(&c);
        wrong += status != POPRT_E_NOMEM || c.live != 0;
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(the_memory_limit_of_the_environment_holds)
{
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    poprt_builder *b = NULL;
    options.memory_limit = 1 << 20;
    ck_assert_ok(poprt_env_create(&options, &env));
    ck_assert_ok(poprt_builder_create(env, 11, &b));
    poprt_id x = FLOATS(b, 4);
    for (int i = 0; i < 100000 && x != 0; i++)
        x = poprt_op_relu(b, x, NULL);
    ck_assert_uint_eq(x, 0);
    assert_failed(b, POPRT_E_NOMEM, "limit");
    poprt_env_release(env);
}
END_TEST

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Calls one function with arguments that are often wrong. */
static void call_any(poprt_builder *b, poprt_builder *child)
{
    static const char *const types[] = { "Relu", "Add", "MatMul", "Concat", "Reshape", "Loop", "If",
        "Split", "Constant", "Call", "TopK", "Nothing", "Conv" };
    static const char *const domains[] = { "", "ai.onnx", "ai.graphcore", "x.y", NULL };
    const int64_t ints[] = { (int64_t)draw(5) - 1, (int64_t)draw(9), INT64_MAX };
    const poprt_id ids[] = { draw(12), draw(12), draw(40), draw(4) };
    poprt_id out[4];
    const poprt_attr attrs[] = { poprt_attr_int(draw(2) != 0 ? "axis" : "__ipu_number", ints[0]),
        poprt_attr_ints("shape", ints, draw(4)), poprt_attr_graph("body", child),
        poprt_attr_string("__partials_type", draw(2) != 0 ? "HALF" : "X") };
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .domain = domains[draw(5)],
        .op_type = types[draw(13)],
        .name = draw(3) == 0 ? "n" : NULL,
        .inputs = ids,
        .attrs = &attrs[draw(4)],
        .n_inputs = draw(5),
        .n_attrs = draw(8) == 0,
        .n_outputs = 1 + (draw(6) == 0) };
    poprt_attr got;
    poprt_type type;
    switch (draw(10)) {
    case 0:
        INPUT(b, (int32_t)draw(4) + 1, 2, 2);
        break;
    case 1:
        add_weight(b, draw(2) != 0 ? "w" : NULL, DIMS(2, 2));
        break;
    case 2:
        (void)poprt_builder_output(b, draw(20));
        break;
    case 3:
        (void)poprt_builder_get(b, draw(20), "axis", (int32_t)draw(9), &got);
        break;
    case 4:
        if (draw(10) == 0)
            (void)poprt_builder_set(b, draw(20), &attrs[0]);
        break;
    case 5:
        (void)poprt_builder_type(b, draw(40), &type);
        break;
    default:
        (void)poprt_builder_op(b, &op, out);
    }
}

START_TEST(random_calls_build_or_fail_cleanly)
{
    size_t finished = 0;
    for (uint64_t seed = 1; seed <= 10000; seed++) {
        counter c = { 0 };
        poprt_env *env = NULL;
        poprt_builder *b = NULL, *child = NULL;
        poprt_model *model = NULL;
        state = seed * 977;
        ck_assert_int_eq(make_env(&c, &env), POPRT_OK);
        if (poprt_builder_create(env, 6 + draw(20), &b) != POPRT_OK ||
            poprt_builder_create_subgraph(b, "c", &child) != POPRT_OK)
            abort();
        add_input(b, POPRT_DTYPE_FLOAT32, DIMS(2, 2));
        (void)poprt_builder_output(child, poprt_op_neg(child, 1, NULL));
        const uint32_t calls = draw(8);
        for (uint32_t i = 0; i < calls; i++)
            call_any(draw(6) == 0 ? child : b, child);
        finished += poprt_builder_finish(b, &model) == POPRT_OK;
        poprt_model_release(model);
        const bool child_first = draw(2) != 0;
        poprt_builder_release(child_first ? child : b);
        poprt_builder_release(child_first ? b : child);
        poprt_env_release(env);
        if (c.live != 0)
            ck_abort_msg("seed %llu leaks", (unsigned long long)seed);
    }
    ck_assert_uint_gt(finished, 10);
}
END_TEST

PRT_TEST_MAIN("builder/memory", any_refused_allocation_is_an_error_without_a_leak,
    the_memory_limit_of_the_environment_holds, random_calls_build_or_fail_cleanly)
