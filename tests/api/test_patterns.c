/* SPDX-License-Identifier: MIT */
/*
 * test_patterns.c — PopART's patterns: levels, lists, mandatory ones, the attribute
 * __exclude_patterns, and a graph for each pattern that passes stand for.
 * Covers: patterns.c, popart.c, graphcore_forms.c.
 */
#include "typed.h"

static poprt_config *config_of(const char *json)
{
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_create(NULL, &config));
    ck_assert_ok(poprt_config_merge_json(config, json, strlen(json)));
    return config;
}

/* Returns 1 or 0, or -1 with the error for the test to look at. */
static int32_t is_on(const char *json, const char *name)
{
    poprt_config *config = config_of(json);
    int32_t on = 7;
    if (poprt_pattern_is_enabled(config, name, &on) != POPRT_OK)
        on = -1;
    poprt_config_release(config);
    return on;
}

/* ---- choice */

START_TEST(levels_switch_patterns)
{
    static const struct {
        const char *level;
        int32_t mandatory, initial, optional, in_place;
    } levels[] = { { "no_patterns", 0, 0, 0, 0 }, { "minimal", 1, 0, 0, 0 },
        { "default", 1, 1, 0, 1 }, { "all", 1, 1, 1, 1 } };
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        char json[64];
        (void)snprintf(json, sizeof(json), "{\"patterns_level\": \"%s\"}", levels[i].level);
        ck_assert_int_eq(is_on(json, "CoshOp"), levels[i].mandatory);
        ck_assert_int_eq(is_on(json, "PostNRepl"), levels[i].initial);
        ck_assert_int_eq(is_on(json, "TiedGather"), levels[i].optional);
        ck_assert_int_eq(is_on(json, "InPlace"), levels[i].in_place);
    }
    int32_t on = 0;
    ck_assert_ok(poprt_pattern_is_enabled(NULL, "PostNRepl", &on));
    ck_assert_int_eq(on, 1);
    ck_assert_ok(poprt_pattern_is_enabled(NULL, "TiedGather", &on));
    ck_assert_int_eq(on, 0);
}
END_TEST

START_TEST(lists_switch_patterns)
{
    ck_assert_int_eq(is_on("{\"disable_patterns\": \"SplitOp, PostNRepl\"}", "PostNRepl"), 0);
    ck_assert_int_eq(is_on("{\"disable_patterns\": \"SplitOp,PostNRepl\"}", "PreUniRepl"), 1);
    ck_assert_int_eq(is_on("{\"enable_patterns\": \"TiedGather\"}", "TiedGather"), 1);
    const char *only = "{\"patterns\": \"PostNRepl\", \"pattern_asserts\": false}";
    ck_assert_int_eq(is_on(only, "PostNRepl"), 1);
    ck_assert_int_eq(is_on(only, "PreUniRepl"), 0);
    ck_assert_int_eq(is_on(only, "CoshOp"), 0);
}
END_TEST

START_TEST(mandatory_patterns_stay_on)
{
    ck_assert_int_eq(is_on("{\"disable_patterns\": \"CoshOp\"}", "SplitOp"), -1);
    ck_assert_int_eq(poprt_last_error()->status, POPRT_E_ARG);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->subject, "CoshOp"));
    ck_assert_int_eq(is_on("{\"patterns\": \"PostNRepl\"}", "SplitOp"), -1);
    ck_assert_int_eq(is_on("{\"disable_patterns\": \"CoshOp\", \"pattern_asserts\": false}",
                         "CoshOp"),
        0);
    /* Off at the level already: nothing is taken away. */
    ck_assert_int_eq(
        is_on("{\"patterns_level\": \"no_patterns\", \"disable_patterns\": \"CoshOp\"}", "CoshOp"),
        0);
}
END_TEST

START_TEST(unknown_names_are_refused)
{
    int32_t on;
    ck_assert_fails(poprt_pattern_is_enabled(NULL, "Inplace", &on), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "InPlace"));
    ck_assert_fails(poprt_pattern_is_enabled(NULL, NULL, &on), POPRT_E_ARG);
    ck_assert_int_eq(is_on("{\"enable_patterns\": \"PostNRpl\"}", "SplitOp"), -1);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "PostNRepl"));

    poprt_config *config = config_of("{\"disable_patterns\": \"Nothing\"}");
    poprt_builder *b = new_builder();
    poprt_executable *exec = NULL;
    poprt_pass_manager *manager = NULL;
    const poprt_id x = add_floats_input(b, "x", 2, 2);
    poprt_model *model = finish(b, poprt_op_exp(b, x, NULL));
    ck_assert_fails(poprt_compile(model, config, &exec), POPRT_E_NOT_FOUND);
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_fails(poprt_pass_manager_add_pipeline(manager, "convert", config), POPRT_E_NOT_FOUND);
    poprt_pass_manager_release(manager);
    poprt_model_release(model);
    poprt_config_release(config);
}
END_TEST

/* ---- a graph for each pattern that passes stand for */

static poprt_id transposed(poprt_builder *b, poprt_id x)
{
    return poprt_op_transpose(b, x, ATTRS(transpose, .perm = POPRT_INTS(1, 0)));
}

static poprt_id pad_nothing(poprt_builder *b, poprt_id x)
{
    const poprt_id pads =
        add_numbers(b, NULL, false, POPRT_DTYPE_INT64, NUMBERS(0, 0, 0, 0), SHAPE(4));
    return poprt_op_pad(b, x, pads, 0, 0, NULL);
}

static poprt_id identity(poprt_builder *b, poprt_id x)
{
    return poprt_op_identity(b, x, NULL);
}

static poprt_id cast_to_same(poprt_builder *b, poprt_id x)
{
    return poprt_op_cast(b, x, ATTRS(cast, .to = poprt_int(POPRT_DTYPE_FLOAT32)));
}

static poprt_id dropout(poprt_builder *b, poprt_id x)
{
    return poprt_op_dropout(b, x, 0, 0, NULL, 1, NULL);
}

static poprt_id whole_slice(poprt_builder *b, poprt_id x)
{
    const poprt_id first = add_numbers(b, NULL, false, POPRT_DTYPE_INT64, NUMBERS(0), SHAPE(1));
    const poprt_id last = add_numbers(b, NULL, false, POPRT_DTYPE_INT64, NUMBERS(99), SHAPE(1));
    return poprt_op_slice(b, x, first, last, 0, 0, NULL);
}

static poprt_id scale_by_one(poprt_builder *b, poprt_id x)
{
    return poprt_op_gc_scale(b, x, ATTRS(gc_scale, .scale = poprt_float(1)));
}

static poprt_id sample_all(poprt_builder *b, poprt_id x)
{
    return poprt_op_gc_subsample(b, x, ATTRS(gc_subsample, .strides = POPRT_INTS(1, 1)));
}

static poprt_id reverse_nothing(poprt_builder *b, poprt_id x)
{
    return poprt_op_gc_reverse(b, x, NULL);
}

static poprt_id same_shape(poprt_builder *b, poprt_id x)
{
    return poprt_op_gc_reshape(b, x, ATTRS(gc_reshape, .shape = POPRT_INTS(2, -1)));
}

static poprt_id negative_scale(poprt_builder *b, poprt_id x)
{
    return poprt_op_gc_scale(b, x, ATTRS(gc_scale, .scale = poprt_float(-1)));
}

static poprt_id two_transposes(poprt_builder *b, poprt_id x)
{
    return transposed(b, transposed(b, x));
}

static poprt_id sorted_transpose(poprt_builder *b, poprt_id x)
{
    return poprt_op_transpose(b, x, ATTRS(transpose, .perm = POPRT_INTS(0, 1)));
}

static poprt_id two_flips(poprt_builder *b, poprt_id x)
{
    const poprt_id w = poprt_op_gc_reshape(b, x, ATTRS(gc_reshape, .shape = POPRT_INTS(2, 1, 2)));
    const poprt_id y =
        poprt_op_gc_conv_flip_weights(b, poprt_op_gc_conv_flip_weights(b, w, NULL), NULL);
    return poprt_op_gc_reshape(b, y, ATTRS(gc_reshape, .shape = POPRT_INTS(2, 2)));
}

/* A view, and a kernel that has no result in place. */
static poprt_id flat_sums(poprt_builder *b, poprt_id x)
{
    const poprt_id flat = poprt_op_gc_reshape(b, x, ATTRS(gc_reshape, .shape = POPRT_INTS(4)));
    const poprt_id axis = add_numbers(b, NULL, false, POPRT_DTYPE_INT64, NUMBERS(0), SHAPE(1));
    return poprt_op_cumsum(b, flat, axis, NULL);
}

typedef struct mapping {
    const char *patterns; /* all that stand for the passes of the graph */
    const char *pipeline; /* NULL: compiling */
    poprt_id (*make)(poprt_builder *b, poprt_id x);
    const char *with, *without; /* a text that the description then has, and the other has not */
} mapping;

static const mapping mappings[] = {
    { "PostNRepl", NULL, identity, "eliminate_identity", "identity [" },
    { "PreUniRepl,PostNRepl", NULL, pad_nothing, "eliminate_nop_pad", "pad [" },
    { "OpToIdentity", NULL, cast_to_same, "eliminate_nop_cast", "cast [" },
    { "OpToIdentity", NULL, dropout, "eliminate_nop_dropout", "dropout [" },
    { "OpToIdentity", NULL, whole_slice, "eliminate_nop_slice", "slice [" },
    { "OpToIdentity", NULL, scale_by_one, "eliminate_nop_graphcore", "gc_scale [" },
    { "OpToIdentity", NULL, sample_all, "eliminate_nop_graphcore", "gc_subsample [" },
    { "OpToIdentity", NULL, reverse_nothing, "eliminate_nop_graphcore", "gc_reverse [" },
    { "OpToIdentity", NULL, same_shape, "eliminate_nop_graphcore", "gc_reshape [" },
    { "OpToIdentity", "convert", sorted_transpose, "= exp x", " = transpose " },
    { "NegativeOneScale", NULL, negative_scale, "elementwise [", "gc_scale [" },
    { "TransposeToIdentityOrReshapePattern,OpToIdentity", "convert", two_transposes, "= exp x",
        " = transpose " },
    { "ConvFlipWeightsDoubleFlip", NULL, two_flips, "cancel_flips", "gc_conv_flip_weights [" },
    { "InPlace", NULL, flat_sums, "gc_reshape [nothing to run]", "gc_reshape [reference]" },
};

/* Builds exp(f(x)), whose node f has the attribute __exclude_patterns if `excluded` is not NULL. */
static poprt_model *build(const mapping *m, const char *excluded)
{
    poprt_builder *b = new_builder();
    poprt_string names[4];
    uint32_t count = 0;
    for (const char *at = excluded; at != NULL && *at != '\0'; at += *at == ',') {
        names[count++] = (poprt_string){ at, strcspn(at, ",") };
        at += strcspn(at, ",");
    }
    const poprt_id x = add_floats_input(b, "x", 2, 2);
    const poprt_attr attr = poprt_attr_strings(POPRT_MARK_EXCLUDE_PATTERNS, names, count);
    if (excluded != NULL)
        ck_assert_ok(poprt_builder_push(b, &attr));
    const poprt_id y = m->make(b, x);
    if (excluded != NULL)
        ck_assert_ok(poprt_builder_pop(b));
    return finish(b, poprt_op_exp(b, y, NULL));
}

static char *compiled_text(poprt_model *model, const poprt_config *config)
{
    buffer text = { NULL, 0 };
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_compile(model, config, &exec));
    ck_assert_ok(poprt_executable_describe(exec, POPRT_FORMAT_STEPS, buffer_write, &text));
    poprt_executable_release(exec);
    return (char *)text.data;
}

static char *converted_text(poprt_model *model, const char *pipeline, const poprt_config *config)
{
    buffer text = { NULL, 0 };
    poprt_pass_manager *manager = NULL;
    ck_assert_ok(poprt_pass_manager_create(NULL, &manager));
    ck_assert_ok(poprt_pass_manager_add_pipeline(manager, pipeline, config));
    ck_assert_ok(poprt_pass_manager_run(manager, model));
    ck_assert_ok(poprt_model_describe(model, POPRT_FORMAT_TEXT, buffer_write, &text));
    poprt_pass_manager_release(manager);
    return (char *)text.data;
}

static void ck_applies(const mapping *m, const char *json, const char *excluded, bool applies)
{
    poprt_config *config = config_of(json);
    poprt_model *model = build(m, excluded);
    char *text = m->pipeline != NULL ? converted_text(model, m->pipeline, config)
                                     : compiled_text(model, config);
    const char *want = applies ? m->with : m->without, *other = applies ? m->without : m->with;
    ck_assert_msg(strstr(text, want) != NULL, "%s, %s: no '%s' in:\n%s", m->patterns, json, want,
        text);
    ck_assert_msg(strstr(text, other) == NULL, "%s, %s: '%s' in:\n%s", m->patterns, json, other,
        text);
    free(text);
    poprt_model_release(model);
    poprt_config_release(config);
}

START_TEST(passes_follow_their_patterns)
{
    for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
        const mapping *m = &mappings[i];
        char json[256];
        ck_applies(m, "{}", NULL, true);
        (void)snprintf(json, sizeof(json), "{\"disable_patterns\": \"%s\"}", m->patterns);
        ck_applies(m, json, NULL, false);
        ck_applies(m, "{\"patterns_level\": \"no_patterns\"}", NULL, false);
        ck_applies(m, "{\"patterns_level\": \"minimal\"}", NULL, false);
        (void)snprintf(json, sizeof(json),
            "{\"patterns_level\": \"minimal\", \"enable_patterns\": \"%s\"}", m->patterns);
        ck_applies(m, json, NULL, true);
        ck_applies(m, "{}", m->patterns, false);
        ck_applies(m, "{}", "SplitOp", true);
    }
}
END_TEST

/* A pass of two patterns runs while one of them is on, and a node must exclude the one that is. */
START_TEST(one_of_two_patterns_is_enough)
{
    const mapping *m = &mappings[1];
    ck_applies(m, "{\"disable_patterns\": \"PreUniRepl\"}", NULL, true);
    ck_applies(m, "{}", "PreUniRepl", true);
    ck_applies(m, "{\"disable_patterns\": \"PreUniRepl\"}", "PostNRepl", false);
}
END_TEST

START_TEST(every_mapping_has_a_graph)
{
    poprt_pattern_info info = { .struct_size = sizeof(info) };
    size_t n = 0, mapped = 0;
    for (; poprt_pattern_at(n, &info) == POPRT_OK; n++) {
        bool found = false;
        ck_assert_str_ne(info.name, "");
        ck_assert_str_ne(info.help, "");
        ck_assert(!info.mandatory || info.initial);
        for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++)
            found = found || strstr(mappings[i].patterns, info.name) != NULL;
        ck_assert_msg(found == (info.passes[0] != '\0'), "%s: passes '%s'", info.name, info.passes);
        mapped += found;
        ck_assert_int_eq(is_on("{\"patterns_level\": \"all\"}", info.name), 1);
    }
    ck_assert_uint_eq(n, 64);
    ck_assert_uint_eq(mapped, 7);
    ck_assert_fails(poprt_pattern_at(n, &info), POPRT_E_NOT_FOUND);
}
END_TEST

/* Results are the same without the patterns. */
START_TEST(patterns_change_no_result)
{
    const char *const configs[] = { "{}", "{\"patterns_level\": \"no_patterns\"}" };
    for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
        float x[4] = { 0.5f, -2, 1, 3 }, first[4] = { 0 };
        for (int k = 0; k < 2; k++) {
            typed_run r;
            const int64_t dims[] = { 2, 2 };
            poprt_config *config = config_of(configs[k]);
            const poprt_tensor t = { .data = x,
                .size = sizeof(x),
                .dims = dims,
                .rank = 2,
                .dtype = POPRT_DTYPE_FLOAT32 };
            start_run(&r, build(&mappings[i], NULL), config);
            ck_assert_ok(poprt_stepio_bind(r.io, "x", &t));
            ck_assert_ok(poprt_session_run(r.session, r.io));
            const poprt_tensor y = output_of(&r, 0);
            ck_assert_uint_eq(y.size, sizeof(first));
            for (int e = 0; e < 4 && k == 1; e++)
                ck_assert_float_eq_tol(((const float *)y.data)[e], first[e], 1e-6f * first[e]);
            memcpy(first, y.data, sizeof(first));
            end_run(&r);
            poprt_config_release(config);
        }
    }
}
END_TEST

/* ---- names without a counterpart */

static void collect(void *user, int32_t level, const char *text)
{
    buffer *b = user;
    (void)level;
    (void)buffer_write(b, text, strlen(text));
}

START_TEST(names_without_counterpart_are_logged)
{
    buffer lines = { NULL, 0 };
    const poprt_env_options options = { .struct_size = sizeof(options),
        .log = collect,
        .log_user = &lines,
        .log_level = POPRT_LOG_INFO };
    poprt_env *env = NULL;
    poprt_builder *b = NULL;
    poprt_config *config = config_of("{\"disable_patterns\": \"SplitOp,PostNRepl\"}");
    typed_run r;
    ck_assert_ok(poprt_env_create(&options, &env));
    ck_assert_ok(poprt_builder_create(env, 11, &b));
    start_run(&r, finish(b, poprt_op_exp(b, add_floats_input(b, "x", 2, 2), NULL)), config);
    ck_assert_ptr_nonnull(strstr((const char *)lines.data, "pattern SplitOp changes nothing: "));
    ck_assert_ptr_null(strstr((const char *)lines.data, "PostNRepl"));
    end_run(&r);
    free(lines.data);
    poprt_config_release(config);
    poprt_env_release(env);
}
END_TEST

PRT_TEST_MAIN("api/patterns", levels_switch_patterns, lists_switch_patterns,
    mandatory_patterns_stay_on, unknown_names_are_refused, passes_follow_their_patterns,
    one_of_two_patterns_is_enough, every_mapping_has_a_graph, patterns_change_no_result,
    names_without_counterpart_are_logged)
