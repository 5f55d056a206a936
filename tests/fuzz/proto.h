/* SPDX-License-Identifier: MIT */
/* proto.h — mutations of TensorFlow's protobuf messages that keep their structure. */
#ifndef PRT_TESTS_FUZZ_PROTO_H
#define PRT_TESTS_FUZZ_PROTO_H

#include "tensorflow/wire.h"

/*
 * Changes one field of a message, or of one within it, in place, and returns the new size. A field
 * is removed, repeated, moved, taken from `other`, or gets another value: the name of another
 * operator or node, an unusual number. A message that cannot be parsed, and one that would exceed
 * `capacity`, stays as it is.
 */
size_t fuzz_mutate_message(prt_tf_message root, uint8_t *data, size_t size, size_t capacity,
    prt_bytes other, unsigned seed);

#endif
