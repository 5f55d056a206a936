/* SPDX-License-Identifier: MIT */
/*
 * test_training_form.c — what training leaves as it is, and the warning that names it. Covers:
 * form.c, weights.c, training.c.
 */
#include "api_test.h"

#include "poprt/builder.h"
#include "poprt/train.h"

typedef struct fixture {
    poprt_env *env;
    poprt_builder *builder;
    char warning[4096];
    int warnings;
} fixture;

static void note(void *user, int32_t level, const char *text)
{
    fixture *f = user;
    if (level != POPRT_LOG_WARNING)
        return;
    f->warnings++;
    (void)snprintf(f->warning, sizeof(f->warning), "%s", text);
}

static void begin(fixture *f)
{
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    *f = (fixture){ .warnings = 0 };
    options.log = note;
    options.log_user = f;
    options.log_level = POPRT_LOG_WARNING;
    ck_assert_ok(poprt_env_create(&options, &f->env));
    ck_assert_ok(poprt_builder_create(f->env, 17, &f->builder));
}

static poprt_id vector(fixture *f, const char *name, bool is_constant)
{
    static const float values[2] = { 1.0f, 0.5f };
    static const int64_t two = 2;
    const poprt_tensor t = { (void *)(uintptr_t)values, sizeof(values), &two, 1,
        POPRT_DTYPE_FLOAT32 };
    return is_constant ? poprt_builder_constant(f->builder, name, &t, 0)
                       : poprt_builder_weight(f->builder, name, &t, 0);
}

static poprt_id add_op(fixture *f, const char *type, uint32_t n, const poprt_id *in,
    const char *name)
{
    const poprt_builder_op_info op = { .struct_size = sizeof(op),
        .op_type = type,
        .inputs = in,
        .output_names = &name,
        .n_inputs = n,
        .n_outputs = 1 };
    return poprt_builder_op(f->builder, &op, NULL);
}

/* Builds loss = sum(BatchNormalization(x * w)), with constants or weights as its parameters. */
static poprt_model *build(fixture *f, bool constant_scale, bool constant_mean)
{
    const poprt_type type = { .dtype = POPRT_DTYPE_FLOAT32, .rank = 2, .dims = { 4, 2 } };
    poprt_model *model = NULL;
    const poprt_id x = poprt_builder_input(f->builder, "x", &type, NULL);
    const poprt_id product[] = { x, vector(f, "w", false) };
    const poprt_id norm[] = { add_op(f, "Mul", 2, product, "xw"),
        vector(f, "scale", constant_scale), vector(f, "bias", false),
        vector(f, "mean", constant_mean), vector(f, "var", constant_mean) };
    const poprt_id y = add_op(f, "BatchNormalization", 5, norm, "y");
    const poprt_id squares[] = { y, y };
    const poprt_id q = add_op(f, "Mul", 2, squares, "q");
    ck_assert_ok(poprt_builder_output(f->builder, add_op(f, "ReduceSum", 1, &q, "loss")));
    ck_assert_ok(poprt_builder_finish(f->builder, &model));
    return model;
}

/* Trains one step and returns whether a tensor of two elements changed. */
static bool changes(poprt_session *session, const char *name)
{
    float now[2] = { 0, 0 };
    poprt_tensor t = { .data = now, .size = sizeof(now) };
    ck_assert_ok(poprt_session_read_weight(session, name, &t));
    return now[0] != 1.0f || now[1] != 0.5f;
}

static poprt_session *train(fixture *f, const poprt_model *model)
{
    static float x[8] = { 1, 2, -1, 3, 0.5f, -2, 4, 1 };
    static const int64_t dims[] = { 4, 2 };
    const poprt_tensor tensor = { x, sizeof(x), dims, 2, POPRT_DTYPE_FLOAT32 };
    poprt_optimizer *optimizer = NULL;
    poprt_executable *exec = NULL;
    poprt_session *session = NULL;
    poprt_stepio *io = NULL;
    ck_assert_ok(poprt_optimizer_create(f->env, "sgd", &optimizer));
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = "loss",
        .optimizer = optimizer };
    ck_assert_ok(poprt_compile_training(model, &training, NULL, &exec));
    ck_assert_ok(poprt_session_create(exec, NULL, &session));
    ck_assert_ok(poprt_stepio_create(session, &io));
    ck_assert_ok(poprt_stepio_bind(io, "x", &tensor));
    ck_assert_ok(poprt_session_run(session, io));
    poprt_stepio_release(io);
    poprt_executable_release(exec);
    poprt_optimizer_release(optimizer);
    return session;
}

static void end(fixture *f, poprt_model *model, poprt_session *session)
{
    poprt_session_release(session);
    poprt_model_release(model);
    poprt_builder_release(f->builder);
    poprt_env_release(f->env);
}

START_TEST(initializers_are_trained_without_a_warning)
{
    fixture f;
    begin(&f);
    poprt_model *model = build(&f, false, false);
    poprt_session *session = train(&f, model);
    ck_assert_int_eq(f.warnings, 0);
    ck_assert(changes(session, "scale") && changes(session, "bias") && changes(session, "mean") &&
        changes(session, "var"));
    end(&f, model, session);
}
END_TEST

START_TEST(constants_of_a_normalization_are_named)
{
    fixture f;
    begin(&f);
    poprt_model *model = build(&f, true, true);
    poprt_session *session = train(&f, model);
    ck_assert_int_eq(f.warnings, 1);
    ck_assert_str_eq(f.warning,
        "training does not change tensors of BatchNormalization that are not initializers of the "
        "main graph: scale, mean, var");
    ck_assert(changes(session, "bias"));
    end(&f, model, session);
}
END_TEST

START_TEST(weights_apart_from_the_loss_are_named)
{
    fixture f;
    begin(&f);
    const poprt_id other = vector(&f, "other", false);
    ck_assert_ok(poprt_builder_output(f.builder, add_op(&f, "Neg", 1, &other, "negative")));
    poprt_model *model = build(&f, true, false);
    poprt_session *session = train(&f, model);
    ck_assert_int_eq(f.warnings, 1);
    ck_assert_str_eq(f.warning,
        "training does not change weights on which the loss does not depend: other; and tensors of "
        "BatchNormalization that are not initializers of the main graph: scale");
    end(&f, model, session);
}
END_TEST

PRT_TEST_MAIN("api/training_form", initializers_are_trained_without_a_warning,
    constants_of_a_normalization_are_named, weights_apart_from_the_loss_are_named)
