/* SPDX-License-Identifier: MIT */
/*
 * poprt/base.h — status codes, the error detail of the calling thread, element types and the tensor
 * descriptor. Every other header of libpoprt includes this one.
 *
 * Rules of the whole interface
 *  - Every function that can fail returns `poprt_status`. `out` parameters come last. A call that
 *    fails leaves them alone.
 *  - An argument is borrowed for the duration of the call, unless its description says otherwise.
 *  - The caller owns each object that a `*_create`, `*_load_*` or `*_clone` function returns, and
 *    releases it with `*_release`, which accepts NULL.
 *  - Strings are UTF-8 and end in a zero byte.
 *  - The library never ends the process, or touches signals, locale, environment or working
 *    directory. It prints nothing, unless the caller sends log lines to standard output or standard
 *    error (poprt_env_set_log_destination).
 *
 * Threads
 *  - Any number of threads may use an environment or an executable at the same time (but see
 *    poprt_env_load_plugin).
 *  - One thread at a time may use a config, a model, a pass manager or a StepIO.
 *  - A session does one run at a time. poprt_session_submit and poprt_session_cancel may be called
 *    from any thread. A completion callback (poprt_done_fn) is called on a thread of the session.
 *  - Error details (poprt_last_error) belong to the calling thread.
 *  - The number of threads of the environment, or the host's own executor, does not change the
 *    bits of a result.
 *
 * Stack
 *  - A call uses at most 1 MiB of the calling thread's stack, and at most 128 KiB if the graphs and
 *    functions of the model are nested at most eight deep. The host's own functions that a call
 *    runs (allocator, executor, callbacks, plug-ins) come on top.
 *
 * Floating-point modes
 *  - Results are those of the default modes: rounding to nearest, with denormals. Calls do not
 *    change the modes of the calling thread, but they may set its exception flags.
 *  - Exceptions must not be trapped (feenableexcept). Infinities and NaN are ordinary results, so
 *    that a call with trapped exceptions may end in SIGFPE.
 *
 * fork
 *  - After fork() the parent and the child may both go on with their handles, if no call was in
 *    progress and no submitted run was pending at the time of the fork. Sessions run and accept
 *    submissions in both processes, and every handle can be released in both.
 *
 * dlclose
 *  - A program that opened the library with dlopen() may close it with dlclose() after it has
 *    released every handle, and may open it again.
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

/* Version of these headers. Within a major version the ABI only grows. */
#define POPRT_VERSION_MAJOR 1
#define POPRT_VERSION_MINOR 0
#define POPRT_VERSION_PATCH 0
#define POPRT_VERSION_STRING "1.0.0"
#define POPRT_ABI_VERSION 1

/* Result of a call: POPRT_OK or one of the POPRT_E_* values. */
typedef int32_t poprt_status;
enum {
    POPRT_OK = 0,
    POPRT_E_NOMEM = 1,       /* the allocator refused, or a memory cap was reached */
    POPRT_E_ARG = 2,         /* a parameter is NULL, out of range or inconsistent */
    POPRT_E_STATE = 3,       /* the call is valid, but not in the present state of the object */
    POPRT_E_PARSE = 4,       /* bytes from outside do not follow their format */
    POPRT_E_UNSUPPORTED = 5, /* well formed, but not supported by this library */
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

/* Categories of failures. */
enum {
    POPRT_ERROR_NONE = 0,
    POPRT_ERROR_APPLICATION = 1,   /* the call, its data or the model are wrong: correct them */
    POPRT_ERROR_RECOVERABLE = 2,   /* the call may succeed after the recovery action */
    POPRT_ERROR_UNRECOVERABLE = 3, /* release the objects concerned, and make new ones */
    POPRT_ERROR_OUT_OF_MEMORY = 4  /* free some memory, or raise the limit */
};

/*
 * What a program does before it repeats a call that failed in a recoverable way. Names and values
 * are those of PopTorch. Without devices each of them stands for poprt_session_recover, if the call
 * was one of a session, and for a repetition otherwise.
 */
enum {
    POPRT_RECOVERY_NONE = 0,
    POPRT_RECOVERY_IPU_RESET = 1,
    POPRT_RECOVERY_LINK_RESET = 2,
    POPRT_RECOVERY_PARTITION_RESET = 3,
    POPRT_RECOVERY_FULL_RESET = 4
};

/*
 * Detail of the last failure in the calling thread. The strings belong to the library, are never
 * NULL (empty if unknown) and stay valid until the next failing call of the thread.
 */
typedef struct poprt_error {
    size_t struct_size;  /* sizeof(poprt_error) in the loaded library */
    poprt_status status; /* status that the call returned */
    const char *stage;   /* "read", "infer", "compile", "run", … */
    const char *file;    /* the file concerned */
    const char *subject; /* the node, tensor, option or key concerned */
    const char *message; /* one sentence; names the accepted values if that helps */
    /* Place of the node in the program that made the model, such as "model.py:12, in forward":
     * from poprt_builder_set_location, or from the node's metadata in ONNX. At most 255 bytes. */
    const char *location;
    int32_t category; /* POPRT_ERROR_*, of the status */
    int32_t action;   /* POPRT_RECOVERY_*, of the status */
} poprt_error;

/*
 * Element types. The values are those of ONNX's TensorProto.DataType. Types of 6, 4 and 2 bits are
 * packed as in ONNX: the first element is in the low bits, and neither rows nor 6-bit elements are
 * aligned.
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
 * A dense tensor in row-major order: the first dimension is the outermost. The layout is frozen for
 * the life of the soname. A scalar has rank 0, and then `dims` may be NULL.
 */
typedef struct poprt_tensor {
    void *data;          /* first element */
    size_t size;         /* bytes at `data` */
    const int64_t *dims; /* `rank` dimensions, all >= 0 */
    uint32_t rank;
    int32_t dtype; /* POPRT_DTYPE_* */
} poprt_tensor;

/*
 * Receives bytes in the order in which the library produces them. Returns 0 to continue. Any other
 * value stops the writer, and its call fails with POPRT_E_IO.
 */
typedef int32_t (*poprt_write_fn)(void *user, const void *bytes, size_t size);

/* Returns the ABI version of the loaded library: the POPRT_ABI_VERSION of its own headers. Any
 * thread. */
POPRT_API uint32_t poprt_abi_version(void);

/* Returns the version of the loaded library as "MAJOR.MINOR.PATCH". Static storage. Any thread. */
POPRT_API const char *poprt_version(void);

/* Returns the name of a status code, such as "POPRT_E_SHAPE", or "POPRT_E_?" for an unknown code.
 * Static storage. */
POPRT_API const char *poprt_status_name(poprt_status status);

/*
 * Return the category (POPRT_ERROR_*) and the recovery action (POPRT_RECOVERY_*) of a status:
 *
 *     POPRT_E_NOMEM                        out of memory
 *     POPRT_E_IO, _PLUGIN, _CANCELLED      recoverable, IPU_RESET
 *     POPRT_E_DEVICE                       recoverable, PARTITION_RESET
 *     POPRT_E_INTERNAL, unknown codes      unrecoverable
 *     all others                           application
 */
POPRT_API int32_t poprt_status_category(poprt_status status);
POPRT_API int32_t poprt_status_recovery(poprt_status status);

/* Return the name of a category, such as "out of memory", and of an action, such as "IPU_RESET";
 * "?" for unknown values. Static storage. */
POPRT_API const char *poprt_error_category_name(int32_t category);
POPRT_API const char *poprt_recovery_name(int32_t action);

/*
 * Returns the detail of the calling thread's last failure. Never NULL. It is meaningful right after
 * a call that failed; a call that succeeds does not clear it.
 */
POPRT_API const poprt_error *poprt_last_error(void);

/* Returns numpy's name of an element type ("float32", "bfloat16"), or "?" for an unknown type. */
POPRT_API const char *poprt_dtype_name(int32_t dtype);

/* Returns the bits of one element: 128 for strings (poprt_string), 0 for an unknown type. */
POPRT_API uint32_t poprt_dtype_bits(int32_t dtype);

#ifdef __cplusplus
}
#endif
#endif
