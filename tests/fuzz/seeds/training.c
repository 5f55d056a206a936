/* SPDX-License-Identifier: MIT */
/* training.c — writes small training programs as PopEF: SGD.popef NESTEROV LAMB ADADELTA RUNNING.
 */
#include <stdio.h>
#include <stdlib.h>

#include "poprt/poprt.h"
#include "poprt/train.h"
#include "training_model.h"

static void check(poprt_status status)
{
    if (status == POPRT_OK)
        return;
    (void)fprintf(stderr, "%s: %s\n", poprt_last_error()->subject, poprt_last_error()->message);
    exit(1);
}

static void write_program(poprt_env *env, const poprt_model *model, int which, const char *path)
{
    static const char *const kinds[] = { "sgd", "sgd", "lamb", "adadelta", "adam" };
    poprt_optimizer *o = NULL;
    poprt_flow *flow = NULL;
    poprt_config *config = NULL;
    poprt_executable *exec = NULL;
    check(poprt_optimizer_create(env, kinds[which], &o));
    check(poprt_flow_create(env, 2, &flow));
    check(poprt_flow_anchor(flow, "loss", which == 0 ? POPRT_ANCHOR_SUM : POPRT_ANCHOR_ALL, 0));
    check(poprt_config_create(env, &config));
    check(poprt_optimizer_set(o, "learning_rate", 0.1f, which % 2));
    if (which == 1) {
        check(poprt_optimizer_set(o, "momentum", 0.9f, 1));
        check(poprt_optimizer_set(o, "nesterov", 1.0f, 1));
    }
    if (which == 1 || which == 2)
        check(poprt_optimizer_clip(o, 0, NULL, 1.0f));
    if (which == 4) {
        check(poprt_config_set(config, "enable_gradient_accumulation", "true"));
        check(poprt_config_set(config, "accumulation_factor", "2"));
        check(poprt_config_set(config, "enable_replicated_graphs", "true"));
        check(poprt_config_set(config, "replicated_graph_count", "2"));
        check(poprt_config_set(config, "accumulation_and_replication_reduction_type", "mean"));
        check(poprt_config_set(config, "mean_accumulation_and_replication_reduction_strategy",
            "running"));
    }
    const poprt_training training = { .struct_size = sizeof(training),
        .loss = "loss",
        .optimizer = o,
        .flow = flow };
    check(poprt_compile_training(model, &training, config, &exec));
    check(poprt_executable_save_file(exec, path));
    poprt_executable_release(exec);
    poprt_config_release(config);
    poprt_flow_release(flow);
    poprt_optimizer_release(o);
}

int main(int argc, char **argv)
{
    poprt_env *env = NULL;
    poprt_model *model = NULL;
    check(poprt_env_create(NULL, &env));
    check(poprt_model_load_bytes(env, linear_model, sizeof(linear_model), NULL, &model));
    for (int i = 1; i < argc && i <= 5; i++)
        write_program(env, model, i - 1, argv[i]);
    poprt_model_release(model);
    poprt_env_release(env);
    return 0;
}
