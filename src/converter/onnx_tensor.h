/* SPDX-License-Identifier: MIT */
/* onnx_tensor.h — decodes TensorProto and SparseTensorProto to bytes, as views where possible. */
#ifndef PRT_CONVERTER_ONNX_TENSOR_H
#define PRT_CONVERTER_ONNX_TENSOR_H

#include "base/blob.h"
#include "base/map.h"
#include "converter/onnx_wire.h"
#include "tensor/tensor.h"

/* The files that tensors are read from, and the limits of reading them. */
typedef struct prt_onnx_source {
    const prt_allocator *allocator;
    prt_arena *arena;   /* scratch */
    prt_blob *file;     /* the file that all messages are views of */
    const char *folder; /* folder of external data; NULL refuses it */
    const char *owner;  /* path of the model, for links next to it (prt_file_map_below) */
    prt_map externals;  /* location → prt_blob *; released by prt_onnx_source_close */
    size_t owned;       /* bytes of constants that are not views, so far */
    size_t owned_limit, dense_limit, copy_below;
} prt_onnx_source;

void prt_onnx_source_close(prt_onnx_source *source);

/* The header of a TensorProto; no data is decoded. Its payload is known to lie inside the message,
 * but its size is not checked yet. */
typedef struct prt_raw_tensor {
    prt_str name;
    int32_t dtype;
    uint32_t rank;
    int64_t dims[PRT_MAX_RANK];
    size_t count, size; /* elements and bytes that the dims imply */
    bool has_raw, external, has_length;
    prt_bytes raw;
    prt_str location;
    uint64_t offset, length;
    prt_bytes bytes; /* the message */
    uint32_t depth;
} prt_raw_tensor;

poprt_status prt_raw_tensor_open(prt_bytes bytes, uint32_t depth, prt_raw_tensor *out);

/* Returns the alignment of elements in memory, in bytes. */
size_t prt_onnx_align(int32_t dtype);

/* Decodes raw or typed data (not external) into `to`, which has `size` bytes. Characters of strings
 * are copied to `chars`; if it is NULL, the strings are views into the message. */
poprt_status prt_raw_tensor_decode(const prt_raw_tensor *t, void *to, char *chars);

/* Returns the tensor's data as a blob of exactly `size` bytes: a view or a copy. */
poprt_status prt_onnx_tensor_blob(prt_onnx_source *s, const prt_raw_tensor *t, prt_blob **out);

/* Like prt_onnx_tensor_blob for a SparseTensorProto, made dense; `out_head` gets name, type and
 * dims. */
poprt_status prt_onnx_sparse_blob(prt_onnx_source *s, prt_bytes bytes, uint32_t depth,
    prt_raw_tensor *out_head, prt_blob **out);

#endif
