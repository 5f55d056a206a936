/* SPDX-License-Identifier: MIT */
/* test_dots.c — graphs that compiling draws. Covers: api/dot_checks.c. */
#include "session_test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lesson.h"

static char folder[64];

static void make_folder(void)
{
    (void)snprintf(folder, sizeof(folder), "dots_%ld", (long)getpid());
    ck_assert_int_eq(mkdir(folder, 0700), 0);
}

/* Returns the contents of a file and removes it; NULL: there is none. */
static const char *take(const char *name)
{
    static char data[1 << 16];
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/%s.dot", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    const size_t n = fread(data, 1, sizeof(data) - 1, file);
    (void)fclose(file);
    (void)remove(path);
    data[n] = '\0';
    ck_assert_ptr_nonnull(strstr(data, "digraph"));
    return data;
}

static bool has(const char *name, const char *word)
{
    const char *text = take(name);
    ck_assert_msg(text != NULL, "no %s.dot", name);
    return strstr(text, word) != NULL;
}

static poprt_config *options_in_folder(poprt_env *env, const char *text)
{
    poprt_config *config = options_of(env, text);
    ck_assert_ok(poprt_config_set(config, "logDir", folder));
    return config;
}

static void compile(const poprt_model *model, const char *options)
{
    poprt_config *config = options_in_folder(NULL, options);
    poprt_executable *exec = NULL;
    ck_assert_ok(poprt_compile(model, config, &exec));
    poprt_executable_release(exec);
    poprt_config_release(config);
}

/* first: Exp, second: Neg, third: Abs. */
static poprt_model *chain(void)
{
    poprt_builder *b = new_builder(13);
    poprt_id x = FLOATS(b, 4);
    x = poprt_op_exp(b, x, &(poprt_exp_attrs){ .name = "first" });
    x = poprt_op_neg(b, x, &(poprt_neg_attrs){ .name = "second" });
    x = poprt_op_abs(b, x, &(poprt_abs_attrs){ .name = "third" });
    ck_assert_ok(poprt_builder_output(b, x));
    return finish(b);
}

START_TEST(checks_write_their_files)
{
    make_folder();
    poprt_model *model = chain();
    compile(model, "dotChecks = [\"FWD0\", \"FINAL\"]");
    ck_assert(has("fwd0", "Neg"));
    ck_assert_ptr_nonnull(take("final"));
    ck_assert_ptr_null(take("fwd1"));
    compile(model, "dot_checks = All");
    ck_assert(!has("fwd0", "second"));
    ck_assert_ptr_nonnull(take("fwd1"));
    ck_assert_ptr_null(take("bwd0"));
    ck_assert_ptr_nonnull(take("prealias"));
    ck_assert_ptr_nonnull(take("final"));
    compile(model, "");
    ck_assert_ptr_null(take("fwd0"));
    poprt_model_release(model);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(drawings_have_names_and_a_range)
{
    make_folder();
    poprt_model *model = chain();
    compile(model, "dotChecks = Fwd0\ndotOpNames = True");
    ck_assert(has("fwd0", "second"));
    compile(model, "dotChecks = Fwd0\ndotOpNames = True\nfirstDotOp = 1\nfinalDotOp = 2");
    const char *text = take("fwd0");
    ck_assert_ptr_null(strstr(text, "Exp"));
    ck_assert_ptr_nonnull(strstr(text, "Neg"));
    ck_assert_ptr_null(strstr(text, "Abs"));
    poprt_model_release(model);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(subgraphs_have_files_of_their_own)
{
    make_folder();
    poprt_builder *b = new_builder(13);
    const poprt_id x = FLOATS(b, 2), yes = add_scalar(b, POPRT_DTYPE_BOOL, "\1", 1);
    poprt_builder *branch[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++) {
        ck_assert_ok(poprt_builder_create_subgraph(b, i == 0 ? "then" : "else", &branch[i]));
        ck_assert_ok(poprt_builder_output(branch[i],
            i == 0 ? poprt_op_sin(branch[i], x, NULL) : poprt_op_cos(branch[i], x, NULL)));
    }
    const poprt_if_attrs attrs = { .then_branch = branch[0], .else_branch = branch[1] };
    ck_assert_ok(poprt_builder_output(b, poprt_op_if(b, yes, &attrs, 1, NULL)));
    poprt_builder_release(branch[0]);
    poprt_builder_release(branch[1]);
    poprt_model *model = finish(b);
    compile(model, "dotChecks = Fwd0");
    ck_assert(!has("fwd0", "Sin"));
    const char *one = take("fwd0_1");
    const bool sine = strstr(one, "Sin") != NULL;
    ck_assert_int_ne(sine, strstr(one, "Cos") != NULL);
    ck_assert(has("fwd0_2", sine ? "Cos" : "Sin"));
    compile(model, "dotChecks = Fwd0\nseparateCallOpPdfs = False");
    const char *all = take("fwd0");
    ck_assert(strstr(all, "Sin") != NULL && strstr(all, "Cos") != NULL);
    ck_assert_ptr_null(take("fwd0_1"));
    poprt_model_release(model);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(training_draws_its_gradients)
{
    make_folder();
    lesson *l = lesson_begin("sgd", 1);
    poprt_executable *exec = NULL;
    poprt_config_release(l->config);
    l->config = options_in_folder(l->env, "dotChecks = Fwd1,Bwd0");
    ck_assert_ok(lesson_compile(l, l->model, &exec));
    poprt_executable_release(exec);
    ck_assert(!has("fwd1", "SgdUpdate"));
    ck_assert_ptr_nonnull(take("bwd0"));
    lesson_end(l);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(wrong_checks_and_folders_are_refused)
{
    poprt_model *model = chain();
    poprt_config *config = options_of(NULL, "dotChecks = Fwd2");
    poprt_executable *exec = NULL;
    ck_assert_fails(poprt_compile(model, config, &exec), POPRT_E_ARG);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "Fwd0, Fwd1"));
    ck_assert_ok(poprt_config_set(config, "dotChecks", "Fwd0"));
    ck_assert_ok(poprt_config_set(config, "log_dir", "no/such"));
    ck_assert_int_ne(poprt_compile(model, config, &exec), POPRT_OK);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->file, "no/such/fwd0.dot"));
    poprt_config_release(config);
    poprt_model_release(model);
}
END_TEST

static int warnings;

static void count_warning(void *user, int32_t level, const char *text)
{
    (void)user;
    warnings += level == POPRT_LOG_WARNING && strstr(text, "prealias.dot is not written") != NULL;
}

/* An executable from the cache has the drawings of a compilation, except that of the passes. */
START_TEST(executables_from_the_cache_are_drawn)
{
    static const char *const names[] = { "fwd0", "fwd1", "bwd0", "final" };
    char command[128], *compiled[4];
    make_folder();
    lesson *l = lesson_begin("sgd", 1);
    poprt_env_options options = { .struct_size = sizeof(options),
        .log = count_warning,
        .log_level = POPRT_LOG_WARNING };
    poprt_config_release(l->config);
    poprt_model_release(l->model);
    poprt_env_release(l->env);
    ck_assert_ok(poprt_env_create(&options, &l->env));
    ck_assert_ok(
        poprt_model_load_bytes(l->env, linear_model, sizeof(linear_model), NULL, &l->model));
    l->config = options_in_folder(l->env, "dot_checks = Fwd0,Fwd1,Bwd0,Final");
    poprt_session_release(lesson_session(l));
    for (int i = 0; i < 4; i++)
        compiled[i] = strdup(take(names[i]));
    ck_assert_ok(poprt_config_set(l->config, "enable_engine_caching", "true"));
    ck_assert_ok(poprt_config_set(l->config, "cache_path", folder));
    ck_assert_ok(poprt_config_set(l->config, "dot_checks", ""));
    poprt_session_release(lesson_session(l));
    ck_assert_ptr_null(take("fwd0"));
    ck_assert_ok(poprt_config_set(l->config, "dot_checks", "Fwd0,Fwd1,Bwd0,Final"));
    poprt_session_release(lesson_session(l));
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(compiled[i], take(names[i]));
        free(compiled[i]);
    }
    ck_assert_int_eq(warnings, 0);
    ck_assert_ok(poprt_config_set(l->config, "dot_checks", "All"));
    poprt_session_release(lesson_session(l));
    ck_assert_ptr_null(take("prealias"));
    ck_assert_ptr_nonnull(take("final"));
    ck_assert_int_eq(warnings, 1);
    lesson_end(l);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

PRT_TEST_MAIN("session/dots", executables_from_the_cache_are_drawn, checks_write_their_files,
    drawings_have_names_and_a_range, subgraphs_have_files_of_their_own,
    training_draws_its_gradients, wrong_checks_and_folders_are_refused)
