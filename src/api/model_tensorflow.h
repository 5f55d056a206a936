/* SPDX-License-Identifier: MIT */
/* model_tensorflow.h — TensorFlow models as input of poprt_model_load_file. */
#ifndef PRT_API_MODEL_TENSORFLOW_H
#define PRT_API_MODEL_TENSORFLOW_H

#include "api/handles.h"
#include "ir/ir.h"

/* Reads a file or folder, or the bytes of a GraphDef if `bytes` is not NULL, and sets `*found`, if
 * it is a TensorFlow model by its contents. Otherwise does nothing. */
poprt_status prt_model_read_tensorflow(poprt_env *env, const prt_allocator *allocator,
    const char *path, prt_blob *bytes, const poprt_config *config, prt_module **out, bool *found);

#endif
