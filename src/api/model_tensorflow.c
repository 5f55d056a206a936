/* SPDX-License-Identifier: MIT */
/* model_tensorflow.c — reads TensorFlow models by the options of a config. */
#include "api/model_tensorflow.h"

#include <string.h>

#include "base/file.h"
#include "tensorflow/tensorflow.h"
#include "tflite/tflite.h"

static void send_warning(void *user, const char *text)
{
    prt_env_log(user, PRT_LOG_model, POPRT_LOG_WARNING, text);
}

/* Returns the tags of an option: an empty text is the default, and '' the empty set. */
static const char *tags_of(const char *text)
{
    if (text[0] == '\0')
        return NULL;
    return strcmp(text, "''") == 0 ? "" : text;
}

/* Recognises a model by bytes, or by a path, whose file is mapped once and not read, because it may
 * be large. */
static void recognise(const char *path, prt_blob *bytes, bool *found, bool *lite)
{
    prt_error_copy before;
    prt_error_save(&before);
    prt_blob *file = bytes != NULL ? prt_blob_retain(bytes) : NULL;
    if (bytes == NULL)
        (void)prt_file_map(NULL, path, &file);
    *lite = file != NULL && prt_tflite_recognises(file);
    *found =
        *lite || (bytes != NULL ? prt_tf_recognises(bytes) : prt_tf_recognises_file(path, file));
    prt_blob_release(file);
    prt_error_restore(&before);
}

poprt_status prt_model_read_tensorflow(poprt_env *env, const prt_allocator *allocator,
    const char *path, prt_blob *bytes, const poprt_config *config, prt_module **out, bool *found)
{
    const char *format = prt_config_text(config, PRT_OPTION_model_format);
    const bool any = strcmp(format, "auto") == 0;
    const prt_tf_options options = { .inputs = prt_config_text(config, PRT_OPTION_graph_inputs),
        .outputs = prt_config_text(config, PRT_OPTION_graph_outputs),
        .signature = prt_config_text(config, PRT_OPTION_signature_def),
        .tags = tags_of(prt_config_text(config, PRT_OPTION_tag)),
        .inputs_as_nchw = prt_config_text(config, PRT_OPTION_inputs_as_nchw),
        .outputs_as_nchw = prt_config_text(config, PRT_OPTION_outputs_as_nchw),
        .verify = strcmp(prt_config_text(config, PRT_OPTION_verify), "full") == 0,
        .saved_model = strcmp(format, "saved_model") == 0,
        .opset = prt_config_number(config, PRT_OPTION_graph_opset),
        .arena = prt_config_memory_limit(config, env),
        .ops = env->ops,
        .warn = send_warning,
        .user = env };
    const bool tried = strcmp(format, "onnx") != 0;
    bool lite = false;
    *found = false;
    if (tried)
        recognise(path, bytes, found, &lite);
    if (lite)
        return bytes != NULL ? prt_tflite_read_bytes(allocator, bytes, "", &options, out)
                             : prt_tflite_read_file(allocator, path, &options, out);
    if (!*found && !any && tried)
        return prt_fail_at_stage(prt_fail(POPRT_E_PARSE, path != NULL ? path : "model",
                                     "is not a TensorFlow model: a GraphDef, the folder of a "
                                     "SavedModel, a checkpoint with its meta graph, or a TFLite "
                                     "file is accepted"),
            "read");
    if (!*found)
        return POPRT_OK;
    return bytes != NULL ? prt_tf_read_bytes(allocator, bytes, "", &options, out)
                         : prt_tf_read_file(allocator, path, &options, out);
}
