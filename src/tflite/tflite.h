/* SPDX-License-Identifier: MIT */
/* tflite.h — reads TFLite models. */
#ifndef PRT_TFLITE_TFLITE_H
#define PRT_TFLITE_TFLITE_H

#include "tensorflow/tensorflow.h"

/* Returns whether bytes begin as a TFLite model does. */
bool prt_tflite_recognises(const prt_blob *bytes);

/* Read a model like prt_tf_read_bytes and prt_tf_read_file. The option `signature` chooses a
 * signature of the file, whose names the inputs and outputs then have; without it they have the
 * names of their tensors. */
poprt_status prt_tflite_read_bytes(const prt_allocator *allocator, prt_blob *bytes,
    const char *name, const prt_tf_options *options, prt_module **out);
poprt_status prt_tflite_read_file(const prt_allocator *allocator, const char *path,
    const prt_tf_options *options, prt_module **out);

#endif
