/* SPDX-License-Identifier: MIT */
/*
 * onnx_bytes.h — builds valid and invalid protobuf messages for tests of the ONNX reader. All
 * memory is kept until the test's process ends.
 */
#ifndef PRT_TESTS_SUPPORT_ONNX_BYTES_H
#define PRT_TESTS_SUPPORT_ONNX_BYTES_H

#include "converter/onnx.h"
#include "converter/onnx_wire.h"

typedef struct msg {
    unsigned char *data;
    size_t size, capacity;
} msg;

/* All of these append to `m` and return it. */
msg *msg_new(void);
msg *msg_raw(msg *m, const void *data, size_t size);
msg *msg_varint(msg *m, uint64_t value);
msg *msg_int(msg *m, uint32_t field, int64_t value);
msg *msg_f32(msg *m, uint32_t field, float value);
msg *msg_bytes(msg *m, uint32_t field, const void *data, size_t size);
msg *msg_text(msg *m, uint32_t field, const char *text);
msg *msg_msg(msg *m, uint32_t field, const msg *inner);

/* Names are separated by commas; an empty name is an absent input. */
msg *onnx_node(const char *op, const char *inputs, const char *outputs);
msg *onnx_attr_int(msg *node, const char *name, int64_t value);
msg *onnx_attr_ints(msg *node, const char *name, uint32_t count, const int64_t *values);
msg *onnx_attr_f32(msg *node, const char *name, float value);
msg *onnx_attr_f32s(msg *node, const char *name, uint32_t count, const float *values);
msg *onnx_attr_text(msg *node, const char *name, const char *value);
msg *onnx_attr_msg(msg *node, const char *name, uint32_t field, int32_t kind, const msg *value);
msg *onnx_attr_ref(msg *node, const char *name, int32_t kind, const char *ref);

/* A ValueInfoProto of a tensor; a negative dim is left without a value. */
msg *onnx_info(const char *name, int32_t dtype, uint32_t rank, const int64_t *dims);

/* A TensorProto without data. */
msg *onnx_tensor(const char *name, int32_t dtype, uint32_t rank, const int64_t *dims);

/* A GraphProto of the nodes, a list that NULL ends. The caller may append more fields. */
msg *onnx_graph(const char *name, msg *const *nodes);

/* "x" and "y" of f32[2] as the graph's only input and output. */
msg *onnx_xy(msg *graph);

/* A ModelProto of format 8 that imports `opset` of ai.onnx. */
msg *onnx_model(const msg *graph, int64_t opset);

/* A model with every kind of field, to be truncated and corrupted. */
msg *onnx_sample(void);

/* Reads from memory with the given limits, or the default limits; `last_error` returns the error
 * message. */
poprt_status onnx_load(const msg *model, const prt_onnx_limits *limits, prt_module **out);
const char *last_error(void);

/* An allocator that refuses the n-th request (counted from 0) and all later ones, and counts
 * live allocations. */
typedef struct failing {
    size_t left, live;
} failing;
prt_allocator failing_allocator(failing *f);

#endif
