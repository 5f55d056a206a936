/* SPDX-License-Identifier: MIT */
/*
 * test_option_names.c — names that PopART, PopRT and PopTorch have for options, and texts of many
 * options. Covers: option_names.c, config_read.c.
 */
#include <stdio.h>
#include <unistd.h>

#include "api_test.h"

typedef struct log_lines {
    char text[4096];
    uint32_t count;
} log_lines;

static void keep_line(void *user, int32_t level, const char *text)
{
    log_lines *log = user;
    (void)level;
    log->count++;
    (void)snprintf(log->text, sizeof(log->text), "%s", text);
}

static poprt_config *config_of(poprt_env *env)
{
    poprt_config *config = NULL;
    ck_assert_ok(poprt_config_create(env, &config));
    return config;
}

static void expect(const poprt_config *config, const char *key, const char *value)
{
    const char *found = NULL;
    ck_assert_ok(poprt_config_get(config, key, &found));
    ck_assert_msg(strcmp(found, value) == 0, "%s is '%s', not '%s'", key, found, value);
}

static poprt_status load(poprt_config *config, const char *text)
{
    return poprt_config_load_text(config, "job.conf", text, strlen(text));
}

/* Every name has a default that it accepts, and a sentence. */
START_TEST(names_accept_their_defaults)
{
    poprt_config *config = config_of(NULL);
    poprt_option_name name = { .struct_size = sizeof(name) };
    size_t effects[4] = { 0 };
    for (size_t i = 0; poprt_config_name_at(i, &name) == POPRT_OK; i++) {
        const char *value = NULL;
        ck_assert_str_ne(name.help, "");
        ck_assert_str_ne(name.system, "");
        effects[name.effect]++;
        ck_assert_int_eq(name.key != NULL, name.effect == POPRT_EFFECT_OPTION);
        ck_assert_msg(poprt_config_set(config, name.name, name.default_value) == POPRT_OK ||
                name.default_value[0] == '\0',
            "%s", name.name);
        ck_assert_ok(poprt_config_get(config, name.name, &value));
        ck_assert_str_eq(value, name.default_value);
    }
    for (size_t i = 0; i < 4; i++)
        ck_assert_uint_gt(effects[i], 0);
    poprt_config_release(config);
}
END_TEST

START_TEST(names_set_options_in_the_words_of_either)
{
    poprt_config *config = config_of(NULL);
    ck_assert_ok(poprt_config_set(config, "syntheticDataMode", "SyntheticDataMode.RandomNormal"));
    expect(config, "synthetic_data_mode", "random_normal");
    expect(config, "syntheticDataMode", "random_normal");
    ck_assert_ok(poprt_config_set(config, "enableSyntheticData", "1"));
    expect(config, "synthetic_data_mode", "zeros");
    ck_assert_ok(poprt_config_set(config, "enableSyntheticData", "True"));
    expect(config, "synthetic_data_mode", "random_normal");
    ck_assert_ok(poprt_config_set(config, "constant_weights", "False"));
    ck_assert_ok(
        poprt_config_set(config, "accumulationAndReplicationReductionType", "ReductionType::Mean"));
    expect(config, "accumulation_and_replication_reduction_type", "mean");
    ck_assert_fails(poprt_config_set(config, "accumulationAndReplicationReductionType",
                        "NoReduction"),
        POPRT_E_ARG);
    ck_assert_str_eq(poprt_last_error()->subject, "accumulationAndReplicationReductionType");
    ck_assert_ok(poprt_config_set(config, "replicationFactor", "4"));
    expect(config, "replicated_graph_count", "4");
    expect(config, "enable_replicated_graphs", "true");
    ck_assert_ok(poprt_config_set(config, "replicationFactor", "1"));
    expect(config, "enable_replicated_graphs", "false");
    ck_assert_fails(poprt_config_set(config, "syntheticDataMode", "4"), POPRT_E_ARG);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "Off, Zeros, RandomNormal"));
    ck_assert_fails(poprt_config_set(config, "enablePipeline", "true"), POPRT_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(poprt_last_error()->message, "enablePipelining"));
    poprt_config_release(config);
}
END_TEST

/* A name without effect says so once for each config; a value that needs devices is refused. */
START_TEST(names_without_an_option_say_so)
{
    log_lines log = { 0 };
    poprt_env_options options = POPRT_ENV_OPTIONS_INIT;
    poprt_env *env = NULL;
    options.log = keep_line;
    options.log_user = &log;
    options.log_level = POPRT_LOG_INFO;
    ck_assert_ok(poprt_env_create(&options, &env));
    poprt_config *config = config_of(env);
    ck_assert_ok(poprt_config_set(config, "enableOutlining", "false"));
    ck_assert_ok(poprt_config_set(config, "enableOutlining", "true"));
    ck_assert_uint_eq(log.count, 1);
    ck_assert_ptr_nonnull(strstr(log.text, "enableOutlining has no effect: "));
    expect(config, "enableOutlining", "true");
    ck_assert_ok(poprt_config_set(config, "virtualGraphMode", "VirtualGraphMode.Manual"));
    expect(config, "virtualGraphMode", "Manual");
    ck_assert_ok(poprt_config_set(config, "engineOptions.debug.x", "1"));
    ck_assert_ok(poprt_config_set(config, "globalReplicationFactor", "1"));
    ck_assert_fails(poprt_config_set(config, "globalReplicationFactor", "2"), POPRT_E_UNSUPPORTED);
    ck_assert_fails(poprt_config_set(config, "enableDistributedReplicatedGraphs", "True"),
        POPRT_E_UNSUPPORTED);
    ck_assert_fails(poprt_config_set(config, "enableOutlining", "perhaps"), POPRT_E_ARG);
    ck_assert_fails(poprt_config_set(config, "timeLimitScheduler", "long"), POPRT_E_ARG);
    poprt_config_release(config);
    poprt_env_release(env);
}
END_TEST

START_TEST(lines_are_values_or_calls)
{
    poprt_config *config = config_of(NULL);
    ck_assert_ok(load(config,
        "# a job\n"
        "\n"
        "  seed = 7   # of random operators\n"
        "verify: full\r\n"
        "winograd: 'large'\n"
        "Training.gradientAccumulation(4)\n"
        "options.replicationFactor(2)  # replicas\n"
        "inputReplicaGrouping(2, poptorch.CommGroupType.Orthogonal)\n"
        "Precision.setPartialsType(half)\n"
        "setExecutionStrategy(poptorch.ShardedExecution(poptorch.Stage(\"a\").ipu(0)))\n"
        "disableModuleNamescope()\n"
        "_Popart.set(\"syntheticDataMode\", 2)\n"
        "engineOptions = {\"debug.a\": true, 'b': 3,}\n"
        "passes = [a, 'b']\n"
        "deviceIterations(8)\n"
        "_Popart.setPatterns({\"InPlace\": False, \"OpToIdentity\": True}, level=1)\n"
        "skip_passes = a,b # both\n"
        "tune_cache: /a b/c#d\n"
        "enableSyntheticData(synthetic_data=1)"));
    expect(config, "seed", "7");
    expect(config, "verify", "full");
    expect(config, "winograd", "large");
    expect(config, "accumulation_factor", "4");
    expect(config, "enable_gradient_accumulation", "true");
    expect(config, "replicated_graph_count", "2");
    expect(config, "input_group_size", "2");
    expect(config, "input_grouping", "orthogonal");
    expect(config, "setExecutionStrategy",
        "poptorch.ShardedExecution(poptorch.Stage(\"a\").ipu(0))");
    expect(config, "disableModuleNamescope", "true");
    expect(config, "passes", "a,b");
    expect(config, "batches_per_step", "8");
    expect(config, "patterns_level", "minimal");
    expect(config, "disable_patterns", "InPlace");
    expect(config, "enable_patterns", "OpToIdentity");
    expect(config, "skip_passes", "a,b");
    expect(config, "tune_cache", "/a b/c#d");
    expect(config, "synthetic_data_mode", "zeros");
    poprt_config_release(config);
}
END_TEST

static void refuse(poprt_config *config, const char *text, const char *message)
{
    ck_assert_msg(load(config, text) != POPRT_OK, "accepted: %s", text);
    ck_assert_str_eq(poprt_last_error()->file, "job.conf");
    ck_assert_msg(strstr(poprt_last_error()->message, message) != NULL, "%s: %s", text,
        poprt_last_error()->message);
}

/* An error names the file and the line, and nothing of the text is set. */
START_TEST(refused_lines_change_nothing)
{
    char deep[256] = "x = ";
    poprt_config *config = config_of(NULL);
    refuse(config, "seed = 9\n\nseed 7\n", "line 3: expected '(', '=' or ':'");
    refuse(config, "seed = 9\nverify = half\n", "line 2: ");
    refuse(config, "seed = 9\nno_such = 1\n", "line 2: no such option");
    refuse(config, "seed = \n", "line 1: a value is missing");
    refuse(config, "seed = 'a\n", "line 1: a text has no closing '");
    refuse(config, "passes = [a b]\n", "line 1: expected ',' or ']'");
    refuse(config, "engineOptions = {1 2}\n", "line 1: expected KEY: VALUE");
    refuse(config, "replicationFactor(1, 2)\n", "line 1: takes fewer than 2 arguments");
    refuse(config, "_Popart.set(\"seed\")\n", "line 1: takes a name and a value");
    refuse(config, "seed = 1 2\n", "line 1: '1 2' is not a number");
    refuse(config, "seed = '1' 2\n", "line 1: expected the end of the line");
    refuse(config, "__import__('os')\n", "line 1: no such option");
    refuse(config, "{\"seed\": 9, \"verify\": \"half\"}", "half");
    memset(deep + 4, '[', 100);
    refuse(config, deep, "line 1: values are nested more than 16 deep");
    expect(config, "seed", "0");
    poprt_config_release(config);
}
END_TEST

START_TEST(json_has_objects_and_lists)
{
    static const char text[] = "{\"automaticLossScalingSettings\": {\"enabled\": true,"
                               " \"binEdgeLocation\": 0.25, \"updatePeriod\": 3},"
                               " \"engineOptions\": {\"a.b\": 1}, \"passes\": [\"a\", \"b\"],"
                               " \"input_shape\": {\"x\": [1, 2]}}";
    poprt_config *config = config_of(NULL);
    ck_assert_ok(load(config, text));
    expect(config, "automatic_loss_scaling", "true");
    expect(config, "automatic_loss_scaling_bin_edge_location", "0.25");
    expect(config, "automatic_loss_scaling_update_period", "3");
    expect(config, "passes", "a,b");
    expect(config, "input_shape", "{\"x\":[1,2]}");
    poprt_config_release(config);
}
END_TEST

/* Later files override earlier ones; a file that is not there is an error with its name. */
START_TEST(files_override_in_order)
{
    static const char *const texts[2] = { "seed = 1\nstrassen = false\n", "{\"seed\": 2}" };
    poprt_config *config = config_of(NULL);
    char path[64];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "options_%ld_%d.conf", (long)getpid(), i);
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(texts[i], file), 0);
        ck_assert_int_eq(fclose(file), 0);
        ck_assert_ok(poprt_config_load_file(config, path));
        (void)remove(path);
    }
    expect(config, "seed", "2");
    expect(config, "strassen", "false");
    ck_assert_int_ne(poprt_config_load_file(config, "no_such.conf"), POPRT_OK);
    ck_assert_str_eq(poprt_last_error()->file, "no_such.conf");
    poprt_config_release(config);
}
END_TEST

START_TEST(frozen_configs_refuse_changes)
{
    poprt_config *config = config_of(NULL), *copy = NULL;
    ck_assert_ok(poprt_config_set(config, "seed", "5"));
    ck_assert_ok(poprt_config_set(config, "enableOutlining", "false"));
    ck_assert_ok(poprt_config_set(config, "dim.n", "3"));
    poprt_config_freeze(config);
    ck_assert_fails(poprt_config_set(config, "seed", "6"), POPRT_E_STATE);
    ck_assert_fails(load(config, "seed = 6"), POPRT_E_STATE);
    ck_assert_fails(poprt_config_merge_json(config, "{}", 2), POPRT_E_STATE);
    ck_assert_ok(poprt_config_clone(config, &copy));
    poprt_config_release(config);
    expect(copy, "seed", "5");
    expect(copy, "enableOutlining", "false");
    expect(copy, "dim.n", "3");
    ck_assert_ok(poprt_config_set(copy, "seed", "6"));
    poprt_config_release(copy);
}
END_TEST

PRT_TEST_MAIN("api/option_names", names_accept_their_defaults,
    names_set_options_in_the_words_of_either, names_without_an_option_say_so,
    lines_are_values_or_calls, refused_lines_change_nothing, json_has_objects_and_lists,
    files_override_in_order, frozen_configs_refuse_changes)
