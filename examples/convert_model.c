/* SPDX-License-Identifier: MIT */
/*
 * convert_model.c — converts an ONNX model to float16 by the passes that `poprt` uses, and writes
 * it for opset 13. A function observes the passes that changed the graph.
 *
 *     convert_model model.onnx converted.onnx
 */
#include <poprt/poprt.h>

#include <stdio.h>

static void show_pass(void *user, const poprt_pass_event *event)
{
    (void)user;
    if (event->changed)
        printf("%-32s %u nodes, %u before\n", event->pass, event->nodes_after, event->nodes_before);
}

static poprt_status convert(poprt_model *model, const poprt_config *config)
{
    poprt_pass_manager *manager = NULL;
    poprt_status status = poprt_pass_manager_create(NULL, &manager);
    if (status == POPRT_OK)
        status = poprt_pass_manager_add_pipeline(manager, "convert", config);
    if (status == POPRT_OK) {
        poprt_pass_manager_observe(manager, show_pass, NULL);
        status = poprt_pass_manager_run(manager, model);
    }
    poprt_pass_manager_release(manager);
    return status;
}

int main(int argc, char **argv)
{
    poprt_model *model = NULL;
    poprt_config *config = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: convert_model model.onnx converted.onnx\n");
        return 2;
    }
    poprt_status status = poprt_model_load_file(NULL, argv[1], NULL, &model);
    if (status == POPRT_OK)
        status = poprt_config_create(NULL, &config);
    if (status == POPRT_OK)
        status = poprt_config_set(config, "precision", "fp16");
    if (status == POPRT_OK)
        status = poprt_config_set(config, "convert_version", "13");
    if (status == POPRT_OK)
        status = convert(model, config);
    if (status == POPRT_OK)
        status = poprt_model_save_file_as(model, argv[2], config);
    if (status != POPRT_OK)
        fprintf(stderr, "%s: %s\n", poprt_status_name(status), poprt_last_error()->message);
    poprt_config_release(config);
    poprt_model_release(model);
    return status != POPRT_OK;
}
