/* SPDX-License-Identifier: MIT */
/*
 * poprt/base.h — what every other header of libpoprt stands on: status codes, the error
 * detail of the calling thread, element types and the tensor descriptor.
 *
 * Rules that hold for the whole interface:
 *  - Every function that can fail returns `poprt_status`. Results go to `out` parameters, which
 *    come last and are left alone on failure.
 *  - What you pass in is borrowed for the call unless its description says otherwise; what a
 *    `*_create`, `*_load_*` or `*_clone` gives you is yours to `*_release`, which accepts NULL.
 *  - Strings are UTF-8 and end in a zero byte.
 *  - The library never ends the process, prints, or touches signals, locale, environment or
 *    working directory.
 */
#ifndef POPRT_BASE_H
#define POPRT_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define POPRT_API __attribute__((visibility("default")))
#else
#define POPRT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of these headers. The ABI of one major version only ever grows. */
#define POPRT_VERSION_MAJOR 1
#define POPRT_VERSION_MINOR 0
#define POPRT_VERSION_PATCH 0
#define POPRT_VERSION_STRING "1.0.0"
#define POPRT_ABI_VERSION 1

/* Outcome of a call: POPRT_OK or one of the POPRT_E_* values. */
typedef int32_t poprt_status;
enum {
    POPRT_OK = 0,
    POPRT_E_NOMEM = 1,       /* the allocator refused, or a memory cap was reached */
    POPRT_E_ARG = 2,         /* a parameter is NULL, out of range or inconsistent */
    POPRT_E_STATE = 3,       /* right call, wrong moment */
    POPRT_E_PARSE = 4,       /* bytes from outside are not what their format says */
    POPRT_E_UNSUPPORTED = 5, /* well formed, but nothing here can do it */
    POPRT_E_TYPE = 6,        /* element types do not fit an operator or a binding */
    POPRT_E_SHAPE = 7,       /* shapes do not fit an operator or a binding */
    POPRT_E_LIMIT = 8,       /* a stated bound (size, depth, count) is exceeded */
    POPRT_E_IO = 9,          /* the operating system refused a file operation */
    POPRT_E_VERSION = 10,    /* made by or for another version */
    POPRT_E_NOT_FOUND = 11,  /* no such name, file or entry */
    POPRT_E_DEVICE = 12,     /* a device failed */
    POPRT_E_PLUGIN = 13,     /* a plug-in failed or does not fit */
    POPRT_E_CANCELLED = 14,  /* stopped because the caller asked for it */
    POPRT_E_INTERNAL = 15    /* a broken invariant: please report it */
};

/*
 * What the last failing call of this thread had to say. The strings belong to the library, are
 * never NULL (empty where nothing is known) and stay valid until the thread's next failing call.
 */
typedef struct poprt_error {
    size_t struct_size;  /* sizeof(poprt_error) as the library knows it */
    poprt_status status; /* what the call returned */
    const char *stage;   /* "read", "infer", "compile", "run", … */
    const char *file;    /* the file concerned */
    const char *subject; /* the node, tensor, option or key concerned */
    const char *message; /* one sentence, with what would be accepted where that helps */
} poprt_error;

/*
 * Element types. The values are those of ONNX's TensorProto.DataType, and types of
 * 6, 4 and 2 bits are packed as ONNX packs them (first element in the low bits, neither rows nor
 * 6-bit elements aligned).
 */
enum {
    POPRT_DTYPE_UNDEFINED = 0,
    POPRT_DTYPE_FLOAT32 = 1,
    POPRT_DTYPE_UINT8 = 2,
    POPRT_DTYPE_INT8 = 3,
    POPRT_DTYPE_UINT16 = 4,
    POPRT_DTYPE_INT16 = 5,
    POPRT_DTYPE_INT32 = 6,
    POPRT_DTYPE_INT64 = 7,
    POPRT_DTYPE_STRING = 8, /* elements are poprt_string */
    POPRT_DTYPE_BOOL = 9,   /* one byte, 0 or 1 */
    POPRT_DTYPE_FLOAT16 = 10,
    POPRT_DTYPE_FLOAT64 = 11,
    POPRT_DTYPE_UINT32 = 12,
    POPRT_DTYPE_UINT64 = 13,
    POPRT_DTYPE_COMPLEX64 = 14,
    POPRT_DTYPE_COMPLEX128 = 15,
    POPRT_DTYPE_BFLOAT16 = 16,
    POPRT_DTYPE_FLOAT8E4M3FN = 17,
    POPRT_DTYPE_FLOAT8E4M3FNUZ = 18, /* PopRT's F143 */
    POPRT_DTYPE_FLOAT8E5M2 = 19,
    POPRT_DTYPE_FLOAT8E5M2FNUZ = 20, /* PopRT's F152 */
    POPRT_DTYPE_UINT4 = 21,
    POPRT_DTYPE_INT4 = 22,
    POPRT_DTYPE_FLOAT4E2M1 = 23,
    POPRT_DTYPE_FLOAT8E8M0 = 24,
    POPRT_DTYPE_UINT2 = 25,
    POPRT_DTYPE_INT2 = 26,
    POPRT_DTYPE_FLOAT6E2M3 = 27,
    POPRT_DTYPE_FLOAT6E3M2 = 28
};

/* Element of a string tensor: `size` bytes at `data`, not necessarily ended by a zero byte. */
typedef struct poprt_string {
    const char *data;
    size_t size;
} poprt_string;

/*
 * A dense tensor in row-major order, first dimension outermost. Frozen for the life of the
 * soname. A scalar has rank 0 and `dims` may then be NULL.
 */
typedef struct poprt_tensor {
    void *data;          /* first element */
    size_t size;         /* bytes at `data` */
    const int64_t *dims; /* `rank` dimensions, all >= 0 */
    uint32_t rank;
    int32_t dtype; /* POPRT_DTYPE_* */
} poprt_tensor;

/*
 * Takes bytes as they are produced, in order. Returns 0 to go on; any other value stops the
 * writer, whose call then fails with POPRT_E_IO.
 */
typedef int32_t (*poprt_write_fn)(void *user, const void *bytes, size_t size);

/* ABI version of the loaded library: POPRT_ABI_VERSION of its own headers. Any thread. */
POPRT_API uint32_t poprt_abi_version(void);

/* Version of the loaded library, "MAJOR.MINOR.PATCH". Static storage. Any thread. */
POPRT_API const char *poprt_version(void);

/* Name of a status code, as in "POPRT_E_SHAPE"; "POPRT_E_?" for an unknown one. Static storage. */
POPRT_API const char *poprt_status_name(poprt_status status);

/*
 * Detail of this thread's last failure. Never NULL; meaningful right after a call that failed,
 * success does not clear it.
 */
POPRT_API const poprt_error *poprt_last_error(void);

/* Name of an element type in numpy's spelling ("float32", "bfloat16"); "?" for an unknown one. */
POPRT_API const char *poprt_dtype_name(int32_t dtype);

/* Bits of one element: 128 for strings (poprt_string), 0 for an unknown type. */
POPRT_API uint32_t poprt_dtype_bits(int32_t dtype);

#ifdef __cplusplus
}
#endif
#endif
