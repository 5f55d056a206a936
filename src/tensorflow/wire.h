/* SPDX-License-Identifier: MIT */
/* wire.h — the messages of TensorFlow for the reader of converter/wire.h. */
#ifndef PRT_TENSORFLOW_WIRE_H
#define PRT_TENSORFLOW_WIRE_H

#include "converter/wire.h"

typedef enum prt_tf_message {
#define MESSAGE(message) PRT_TF_##message,
#include "tensorflow/tensorflow.def"
    PRT_TF_MESSAGES
} prt_tf_message;

/* PRT_TF_<message>_<field> is the number of the field. */
enum {
#define FIELD(message, number, kind, name) PRT_TF_##message##_##name = (number),
#include "tensorflow/tensorflow.def"
};

/* prt_wire_open for a message of tensorflow.def. */
prt_wire prt_tf_open(prt_bytes bytes, prt_tf_message message, uint32_t depth);

/* Reads an entry of a map whose values are texts or messages. An absent value is empty. */
poprt_status prt_tf_entry(prt_bytes bytes, uint32_t depth, prt_str *key, prt_bytes *value);

#endif
