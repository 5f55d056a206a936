/* SPDX-License-Identifier: MIT */
/* sniff.c — recognises files that are given as ONNX models by mistake, by their first bytes. */
#include "converter/sniff.h"

#include <stdbool.h>
#include <string.h>

typedef struct magic {
    size_t at, size;
    const char *bytes, *says;
} magic;

static const magic magics[] = {
    { 0, 7, "POPEF-C",
        "this is a PopEF file, not an ONNX model: it is compiled already, so open "
        "it with poprt run or poprt_executable_load_file" },
    { 0, 38, "version https://git-lfs.github.com/spec",
        "this is a Git LFS pointer, not an ONNX model: fetch the file with git lfs pull" },
    { 0, 2, "\x1f\x8b", "this is a gzip archive, not an ONNX model: unpack it first" },
    { 0, 4, "PK\x03\x04",
        "this is a zip archive (a checkpoint of PyTorch, .keras, .npz), not an "
        "ONNX model: export the model to ONNX" },
    { 0, 4, "\x89HDF",
        "this is an HDF5 file (Keras), not an ONNX model: export the model to ONNX" },
    { 0, 6, "\x93NUMPY", "this is a NumPy array, not an ONNX model" },
    { 4, 4, "TFL3", "this is a TensorFlow Lite model, not an ONNX model" },
    { 4, 4, "ORTM",
        "this is a model in ONNX Runtime's own format, not an ONNX model: give the "
        ".onnx file that it was made from" },
    { 0, 2, "\x80\x02",
        "this is a pickle (a checkpoint of PyTorch), not an ONNX model: export the "
        "model to ONNX" },
};

/* Returns whether the file begins with ASCII characters and white space only. */
static bool is_text(const unsigned char *bytes, size_t size)
{
    enum { ENOUGH = 64 };
    const size_t n = size < ENOUGH ? size : ENOUGH;
    for (size_t i = 0; i < n; i++)
        if ((bytes[i] < 0x20 && bytes[i] != '\n' && bytes[i] != '\r' && bytes[i] != '\t') ||
            bytes[i] >= 0x7f)
            return false;
    return true;
}

const char *prt_onnx_sniff(const void *bytes, size_t size)
{
    if (size == 0)
        return "this is an empty file, not an ONNX model";
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (size >= magics[i].at + magics[i].size &&
            memcmp((const char *)bytes + magics[i].at, magics[i].bytes, magics[i].size) == 0)
            return magics[i].says;
    return is_text(bytes, size)
        ? "this is a text file, not an ONNX model, which is a protobuf message"
        : NULL;
}
