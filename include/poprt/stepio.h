/* SPDX-License-Identifier: MIT */
/*
 * poprt/stepio.h — a StepIO: the inputs and outputs of a run, as buffers bound by the caller, or
 * through callbacks in the four steps of PopART. It can be used for many runs. One thread at a time
 * may use it.
 *
 * Slots: inputs first, in the order of the executable, then outputs.
 *
 * Fused models (poprt_model_fuse): a run needs the inputs of one graph only. Input `index` selects
 * the graph. If `index` is not bound, the bound inputs select it; before a run of another graph
 * with the same StepIO, unbind the inputs of the previous graph. A run fails with POPRT_E_ARG if
 * inputs of two graphs are bound, if inputs of another graph than `index` are bound, or if no graph
 * has this index. Callbacks are asked for `index` first, then for the inputs and outputs of its
 * graph. After the run, outputs of other graphs have no value (POPRT_E_STATE), and buffers bound to
 * them are unchanged.
 */
#ifndef POPRT_STEPIO_H
#define POPRT_STEPIO_H

#include "poprt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_session poprt_session;
typedef struct poprt_stepio poprt_stepio;

/*
 * Callbacks of PopART's StepIO. `in` returns the buffer of an input when the run needs it;
 * `in_complete` reports that the run no longer reads it. `out` returns a buffer for an output;
 * `out_complete` reports that it is filled. Tensors are borrowed until the matching completion. The
 * two completions may be NULL. `in` and `out` return POPRT_OK, or a status that stops the run.
 */
typedef struct poprt_stepio_callbacks {
    size_t struct_size; /* sizeof(poprt_stepio_callbacks) */
    void *user;
    poprt_status (*in)(void *user, const char *name, poprt_tensor *tensor);
    void (*in_complete)(void *user, const char *name);
    poprt_status (*out)(void *user, const char *name, poprt_tensor *tensor);
    void (*out_complete)(void *user, const char *name);
    /* Executables with data flow (poprt/data.h) only; may be NULL. Is called instead of `in`, for
     * one block at a time. With `prefetch` the block is for a later micro-batch, and data NULL
     * means "not yet": the block is asked for again. `broadcast`: all replicas read the block. */
    poprt_status (*prefetch)(void *user, const char *name, int32_t prefetch, int32_t broadcast,
        poprt_tensor *tensor);
} poprt_stepio_callbacks;

/* Creates a StepIO without bindings. It must not be used after its session is released, except by
 * poprt_stepio_release. */
POPRT_API poprt_status poprt_stepio_create(const poprt_session *session, poprt_stepio **out);
POPRT_API poprt_status poprt_stepio_create_callbacks(const poprt_session *session,
    const poprt_stepio_callbacks *callbacks, poprt_stepio **out);

/*
 * Binds a tensor to an input or output, by name or slot. The descriptor is copied. The data is
 * borrowed until the binding is replaced or the StepIO is released.
 *
 * The dtype and the known dims must match, with two exceptions. An input of which the model reads
 * nothing or only the element type (such as the second input of CastLike) accepts any shape. An
 * input that is a scalar, or has one element by its known dims, accepts a tensor of one element and
 * any rank.
 *
 * A NULL tensor (or, for an output, a tensor without data and size) removes the binding. The
 * session then provides the memory of the output, and poprt_stepio_output returns it.
 */
POPRT_API poprt_status poprt_stepio_bind(poprt_stepio *io, const char *name,
    const poprt_tensor *tensor);
POPRT_API poprt_status poprt_stepio_bind_at(poprt_stepio *io, size_t slot,
    const poprt_tensor *tensor);

/* Binds an input that is a sequence (any number of tensors) or an optional (0 or 1 tensor). For an
 * optional sequence, `tensors` are those of the sequence, and `present` tells an empty sequence
 * from an absent one. The descriptors are copied. */
POPRT_API poprt_status poprt_stepio_bind_sequence(poprt_stepio *io, size_t slot,
    const poprt_tensor *tensors, size_t count, int32_t present);

/*
 * Binds an input that is a map. `keys` (int64 or string) and `values` have rank 1 and the same
 * number of elements: values[i] is the value of keys[i]. If a key is repeated, its last value
 * counts. The element types must be those of the map. The descriptors are copied. The data is
 * borrowed as in poprt_stepio_bind, and must be aligned for its element type.
 */
POPRT_API poprt_status poprt_stepio_bind_map(poprt_stepio *io, size_t slot,
    const poprt_tensor *keys, const poprt_tensor *values);

/*
 * A stream of one input or output and replica. For an input the function is called when the run
 * needs a block: `tensor` has the type as far as it is known, and the function sets data and size,
 * and dims that are open; the data is read until the next call for this stream, or the end of the
 * run. For an output it is called with each value, which is valid during the call. It returns
 * POPRT_OK, or a status that stops the run. All calls come from the thread of the run.
 */
typedef poprt_status (
    *poprt_stream_fn)(void *user, const char *name, int32_t replica, poprt_tensor *tensor);

/*
 * Connects an input or output of one replica to a function, in place of a binding or of the
 * callbacks of the StepIO, which stay in use for other replicas. Replicas that share a block ask
 * once, as the first of them. Without data flow (poprt/data.h) the only replica is 0. `fn` NULL
 * ends the connection. Fails with POPRT_E_NOT_FOUND for an unknown name, POPRT_E_ARG for a replica
 * that the executable does not have, and POPRT_E_UNSUPPORTED if the input or output is not a
 * tensor.
 */
POPRT_API poprt_status poprt_stepio_connect(poprt_stepio *io, const char *name, int32_t replica,
    poprt_stream_fn fn, void *user);

/*
 * Binds an input and an output to one buffer, a cache. The output must be the input with more rows,
 * such as the past and present keys of an attention. `cache` describes the whole buffer, [...,
 * most rows, size]. The input is its first `rows` rows.
 *
 * A run writes the output into the cache, and its rows are the input of the next run. A loop that
 * generates tokens binds its caches once. An attention that alone reads the past (fused_attention
 * in `poprt inspect --steps`, Attention, GroupQueryAttention) writes only the new rows, in place.
 * Any other output is copied into the cache.
 *
 * A run fails with POPRT_E_ARG if the output has more rows than the buffer. After a run that
 * failed, the first `rows` rows are unchanged. To go back, bind again with fewer rows. Binding
 * another tensor to the input or the output removes the binding of both. poprt_stepio_output does
 * not return such an output: its rows are in the cache.
 */
POPRT_API poprt_status poprt_stepio_bind_cache(poprt_stepio *io, const char *input,
    const char *output, const poprt_tensor *cache, int64_t rows);

/* Returns the number of rows of the cache that the next run reads. `input` is the input that the
 * cache is bound to. */
POPRT_API poprt_status poprt_stepio_cache_rows(const poprt_stepio *io, const char *input,
    int64_t *rows);

/*
 * Returns the output in `slot` after a run, wherever it is stored. It is valid until the next run
 * of the session, or, for a bound buffer, as long as the buffer. For sequences, optionals and maps
 * use the functions below.
 */
POPRT_API poprt_status poprt_stepio_output(const poprt_stepio *io, size_t slot, poprt_tensor *out);

/* Returns the number of tensors of a sequence or optional output. For a map it is 1, for a sequence
 * of maps the number of maps. `present` (may be NULL) is 0 for an empty optional. */
POPRT_API poprt_status poprt_stepio_output_count(const poprt_stepio *io, size_t slot, size_t *count,
    int32_t *present);
POPRT_API poprt_status poprt_stepio_output_item(const poprt_stepio *io, size_t slot, size_t index,
    poprt_tensor *out);

/* Returns map `index` of an output that is a sequence of maps, or a map (index 0). Keys and values
 * have the layout of poprt_stepio_bind_map. Keys are ascending if an operator made the map. They
 * belong to the session, and are valid as long as the result of poprt_stepio_output. */
POPRT_API poprt_status poprt_stepio_output_map(const poprt_stepio *io, size_t slot, size_t index,
    poprt_tensor *keys, poprt_tensor *values);

/* Releases a StepIO, before or after its session, but not while a run uses it. `io` may be NULL. */
POPRT_API void poprt_stepio_release(poprt_stepio *io);

#ifdef __cplusplus
}
#endif
#endif
