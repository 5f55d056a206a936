/* SPDX-License-Identifier: MIT */
/*
 * test_updates.c — updates of several weights as one step.
 * Covers: train/update_groups.c, op/training/group.c, fast/train/update.c.
 */
#include "session_test.h"

#include "poprt/train.h"

enum { WEIGHTS = 12, LARGEST = 5000, ROWS = 4 };

/* Elements of weight i: around vectors and blocks of 4,096. */
static int64_t size_of(int i)
{
    static const int64_t sizes[] = { 1, 7, 64, LARGEST, 300, 16 };
    return sizes[i % 6];
}

static bool is_half(int i)
{
    return i % 4 == 3;
}

/* The loss is the sum of the squares of x * w for each weight w: float32 and float16 ones. */
static poprt_model *make_model(void)
{
    static float values[LARGEST];
    static uint16_t halves[LARGEST];
    poprt_builder *b = new_builder(17);
    const poprt_id x = FLOATS(b, 1);
    poprt_id sum = 0;
    for (int i = 0; i < LARGEST; i++) {
        values[i] = (float)(i % 11) * 0.125f - 0.5f;
        halves[i] = (uint16_t)(0x3800 + i % 512);
    }
    for (int i = 0; i < WEIGHTS; i++) {
        const int64_t dim = size_of(i);
        char name[16];
        (void)snprintf(name, sizeof(name), "w%d", i);
        const poprt_tensor t = is_half(i)
            ? tensor_of(POPRT_DTYPE_FLOAT16, halves, (size_t)dim * 2, &dim, 1)
            : tensor_of(POPRT_DTYPE_FLOAT32, values, (size_t)dim * 4, &dim, 1);
        poprt_id w = poprt_builder_weight(b, name, &t, 0);
        if (is_half(i)) {
            const poprt_cast_attrs to_float = { .to = poprt_int(POPRT_DTYPE_FLOAT32) };
            w = poprt_op_cast(b, w, &to_float);
        }
        const poprt_id y = poprt_op_mul(b, w, x, NULL);
        const poprt_reduce_sum_attrs keep = { .keepdims = poprt_int(0) };
        const poprt_id s = poprt_op_reduce_sum(b, poprt_op_mul(b, y, y, NULL), 0, &keep);
        sum = i == 0 ? s : poprt_op_add(b, sum, s, NULL);
    }
    const char *loss = "loss";
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = "Identity",
        .inputs = &sum,
        .n_inputs = 1,
        .output_names = &loss,
        .n_outputs = 1 };
    ck_assert_ok(poprt_builder_output(b, poprt_builder_op(b, &op, NULL)));
    return finish(b);
}

/* An optimizer, and the operator of its updates as descriptions of steps name it. */
typedef struct lesson {
    const char *kind, *key, *word;
    float momentum, clip; /* 0: none */
    const char *update;
} lesson;

static const lesson lessons[] = { { "sgd", NULL, NULL, 0, 0, "sgd_update" },
    { "sgd", NULL, NULL, 0.9f, 1.5f, "sgd_update" },
    { "sgd", "accumulatorAndMomentum", "Separate", 0.9f, 0, "sgd_update" },
    { "adam", NULL, NULL, 0, 0, "adam_update" },
    { "adam", "weightDecayMode", "L2Regularization", 0, 2.0f, "adam_update" },
    { "lamb", "scaledOptimizerState", "true", 0, 0, "adam_update" },
    { "rmsprop", NULL, NULL, 0.5f, 0, "adaptive_update" },
    { "adadelta", NULL, NULL, 0, 0, "adaptive_update" } };

static int count_of(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        n++;
    return n;
}

typedef struct outcome {
    int steps, groups; /* of the update: those of single weights, and those of several */
    float w[WEIGHTS][LARGEST];
} outcome;

static void learn(const lesson *l, const char *options, const char *cpu, outcome *out)
{
    poprt_config *config = options_of(NULL, options), *session_config = options_of(NULL, cpu);
    poprt_model *model = make_model();
    poprt_optimizer *optimizer = NULL;
    poprt_executable *exec = NULL, *loaded = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    buffer bytes = { 0 }, text = { 0 };
    static const int64_t one = 1;
    ck_assert_ok(poprt_optimizer_create(NULL, l->kind, &optimizer));
    ck_assert_ok(poprt_optimizer_set(optimizer, "learning_rate", 0.01f, 0));
    if (l->momentum > 0)
        ck_assert_ok(poprt_optimizer_set(optimizer, "momentum", l->momentum, 1));
    if (l->clip > 0)
        ck_assert_ok(poprt_optimizer_clip(optimizer, 0, NULL, l->clip));
    if (l->key != NULL)
        ck_assert_ok(poprt_optimizer_set_text(optimizer, l->key, l->word));
    const poprt_training t = { .struct_size = sizeof(t), .loss = "loss", .optimizer = optimizer };
    ck_assert_ok(poprt_compile_training(model, &t, config, &exec));
    ck_assert_ok(poprt_executable_describe(exec, POPRT_FORMAT_STEPS, buffer_write, &text));
    char word[32];
    (void)snprintf(word, sizeof(word), " %s [", l->update);
    out->steps = count_of((const char *)text.data, word);
    (void)snprintf(word, sizeof(word), " %s_group [", l->update);
    out->groups = count_of((const char *)text.data, word);
    ck_assert_ok(poprt_executable_save(exec, buffer_write, &bytes));
    ck_assert_ok(poprt_executable_load_bytes(NULL, bytes.data, bytes.size, NULL, &loaded));
    ck_assert_ok(poprt_session_create(loaded, session_config, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    for (int i = 0; i < ROWS; i++) {
        const float x = 0.5f + 0.25f * (float)i;
        const poprt_tensor in = tensor_of(POPRT_DTYPE_FLOAT32, &x, sizeof(x), &one, 1);
        poprt_io_info info = { .struct_size = sizeof(info) };
        ck_assert_ok(poprt_executable_io_at(loaded, POPRT_INPUT, 0, &info));
        ck_assert_ok(poprt_stepio_bind(io, info.name, &in));
        ck_assert_ok(poprt_session_run(session, io));
    }
    memset(out->w, 0, sizeof(out->w));
    for (int i = 0; i < WEIGHTS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "w%d", i);
        poprt_tensor w = { .data = out->w[i], .size = (size_t)size_of(i) * (is_half(i) ? 2 : 4) };
        ck_assert_ok(poprt_session_read_weight(session, name, &w));
    }
    poprt_stepio_release(io);
    poprt_session_release(session);
    poprt_executable_release(loaded);
    poprt_executable_release(exec);
    poprt_optimizer_release(optimizer);
    poprt_model_release(model);
    poprt_config_release(session_config);
    poprt_config_release(config);
    free(bytes.data);
    free(text.data);
}

START_TEST(groups_train_the_same_bits_in_fewer_steps)
{
    static outcome single, all;
    for (size_t k = 0; k < sizeof(lessons) / sizeof(lessons[0]); k++)
        for (int reference = 0; reference < 2; reference++) {
            const char *cpu = reference ? "cpu = reference" : "";
            learn(&lessons[k], "", cpu, &single);
            ck_assert_int_eq(single.steps, WEIGHTS);
            ck_assert_int_eq(single.groups, 0);
            learn(&lessons[k], "mergeVarUpdate = All", cpu, &all);
            ck_assert_int_eq(all.steps, 0);
            ck_assert_int_eq(all.groups, 2); /* float32 and float16 */
            ck_assert_mem_eq(single.w, all.w, sizeof(all.w));
            ck_assert(all.w[0][0] < -0.5f || all.w[0][0] > -0.5f);
        }
}
END_TEST

/* The float32 weights have 4, 28, 256, 1,200, 64, 4, 256, 20,000 and 1,200 bytes, the float16 ones
 * 10,000, 14 and 32. With 300 bytes, 'auto_loose' joins 4, 28, 256 and the second 4, and 14 and 32;
 * 'auto_tight' joins 4, 28, 256 and 1,200, then 64, 4 and 256, and 14 and 32. */
START_TEST(bytes_limit_groups)
{
    static const struct {
        const char *options;
        int steps, groups;
    } rows[] = { { "mergeVarUpdate = AutoLoose", 0, 2 }, { "mergeVarUpdate = AutoTight", 0, 2 },
        { "mergeVarUpdate = AutoLoose\nmergeVarUpdateMemThreshold = 0", WEIGHTS, 0 },
        { "mergeVarUpdate = AutoTight\nmergeVarUpdateMemThreshold = 0", WEIGHTS, 0 },
        { "merge_var_update = none\nmerge_var_update_mem_threshold = 300", WEIGHTS, 0 },
        { "mergeVarUpdate = 2\nmergeVarUpdateMemThreshold = 300", 6, 2 },
        { "mergeVarUpdate = 3\nmergeVarUpdateMemThreshold = 300", 3, 3 } };
    static outcome single, merged;
    learn(&lessons[3], "", "", &single);
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        learn(&lessons[3], rows[k].options, "", &merged);
        ck_assert_msg(merged.steps == rows[k].steps && merged.groups == rows[k].groups,
            "%s: %d steps and %d groups", rows[k].options, merged.steps, merged.groups);
        ck_assert_mem_eq(single.w, merged.w, sizeof(merged.w));
    }
}
END_TEST

PRT_TEST_MAIN("session/updates", groups_train_the_same_bits_in_fewer_steps, bytes_limit_groups)
