/* SPDX-License-Identifier: MIT */
/*
 * poprt/stepio.h — the inputs and outputs of one run: buffers bound by the caller, or callbacks in
 * PopART's four steps. Reused from run to run. One thread at a time.
 *
 * Slots: inputs first, in the executable's order, then outputs.
 *
 * Fused models (poprt_model_fuse): a run needs the inputs of one graph only. Which graph that is
 * says input `index`, or, where that is not bound, the inputs that are; to run another graph with
 * the same StepIO unbind those of the one before. Inputs of two graphs, inputs of another graph
 * than the index's, and an index that no graph has are POPRT_E_ARG. Callbacks are asked for `index`
 * first, then for what belongs to its graph. Outputs of other graphs have no value after the run
 * (POPRT_E_STATE), and buffers bound to them are left alone.
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
 * Callbacks of PopART's StepIO. `in` gives the buffer of an input when it is needed, `in_complete`
 * tells that it is no longer read; `out` gives a buffer for an output, `out_complete` tells that it
 * is filled. Tensors are borrowed until the matching completion. The two completions may be NULL.
 * Return POPRT_OK, or a status that stops the run.
 */
typedef struct poprt_stepio_callbacks {
    size_t struct_size; /* sizeof(poprt_stepio_callbacks) */
    void *user;
    poprt_status (*in)(void *user, const char *name, poprt_tensor *tensor);
    void (*in_complete)(void *user, const char *name);
    poprt_status (*out)(void *user, const char *name, poprt_tensor *tensor);
    void (*out_complete)(void *user, const char *name);
} poprt_stepio_callbacks;

/* A StepIO with nothing bound. It must not outlive its session. */
POPRT_API poprt_status poprt_stepio_create(const poprt_session *session, poprt_stepio **out);
POPRT_API poprt_status poprt_stepio_create_callbacks(const poprt_session *session,
    const poprt_stepio_callbacks *callbacks, poprt_stepio **out);

/*
 * Binds a tensor to an input or output by name or slot. The descriptor is copied, its data is
 * borrowed until the binding is replaced or the StepIO released. dtype and known dims must fit,
 * but for an input of which the model reads nothing or only the element type (what CastLike takes
 * for an example): it may have any shape. Where an input is a scalar, or has one element by its
 * known dims, a tensor of one element and any rank fits.
 * A NULL tensor (or one without data and size, for an output) unbinds: the session then provides
 * memory for the output, to be read by poprt_stepio_output.
 */
POPRT_API poprt_status poprt_stepio_bind(poprt_stepio *io, const char *name,
    const poprt_tensor *tensor);
POPRT_API poprt_status poprt_stepio_bind_at(poprt_stepio *io, size_t slot,
    const poprt_tensor *tensor);

/* Binds an input that is a sequence (any count) or an optional (0 or 1 tensors; of a sequence: its
 * tensors, with `present` telling an empty sequence from nothing). Descriptors are copied. */
POPRT_API poprt_status poprt_stepio_bind_sequence(poprt_stepio *io, size_t slot,
    const poprt_tensor *tensors, size_t count, int32_t present);

/*
 * Binds an input that is a map: `keys` (int64 or string) and `values` have rank 1 and as many
 * elements, values[i] being the value under keys[i]; of equal keys the last counts. Their element
 * types must be the map's. Descriptors are copied, data is borrowed as by poprt_stepio_bind; it
 * must be aligned for its element type.
 */
POPRT_API poprt_status poprt_stepio_bind_map(poprt_stepio *io, size_t slot,
    const poprt_tensor *keys, const poprt_tensor *values);

/*
 * Binds an input and an output that is this input with more rows (the past keys of an attention and
 * the present ones) to one piece of memory, a cache: `room` describes all of it, [..., most rows,
 * size], of which the first `rows` rows are the input. A run puts the output there and from then on
 * its rows are the input of the next run, so that a loop that writes token after token binds its
 * caches once. Attentions whose past is read by them alone (fused_attention in `poprt inspect
 * --steps`, Attention, GroupQueryAttention) write the new rows only, at their places; any other
 * output is copied into the cache.
 *
 * An output with more rows than there is room for fails the run with POPRT_E_ARG. After a run that
 * failed the first `rows` rows are as they were. To go back bind again, with fewer rows; binding
 * anything else to one of the two unbinds both. poprt_stepio_output has no answer for such an
 * output: its rows are in the cache.
 */
POPRT_API poprt_status poprt_stepio_bind_cache(poprt_stepio *io, const char *input,
    const char *output, const poprt_tensor *room, int64_t rows);

/* How many rows of the cache that is bound to an input the next run reads. */
POPRT_API poprt_status poprt_stepio_cache_rows(const poprt_stepio *io, const char *input,
    int64_t *rows);

/*
 * After a run: the output in `slot`, wherever it lies. Valid until the next run of the session or,
 * for bound buffers, as long as those. For sequences, optionals and maps use the calls below.
 */
POPRT_API poprt_status poprt_stepio_output(const poprt_stepio *io, size_t slot, poprt_tensor *out);

/* Number of tensors in a sequence or optional output, or of maps: 1, or those of a sequence of
 * maps; `present` (may be NULL) is 0 for an empty optional. */
POPRT_API poprt_status poprt_stepio_output_count(const poprt_stepio *io, size_t slot, size_t *count,
    int32_t *present);
POPRT_API poprt_status poprt_stepio_output_item(const poprt_stepio *io, size_t slot, size_t index,
    poprt_tensor *out);

/* Map `index` of an output that is a map (index 0) or a sequence of maps: keys and values as
 * poprt_stepio_bind_map takes them, keys ascending where an operator made the map. They belong to
 * the session and are valid as long as what poprt_stepio_output gives. */
POPRT_API poprt_status poprt_stepio_output_map(const poprt_stepio *io, size_t slot, size_t index,
    poprt_tensor *keys, poprt_tensor *values);

/* Before or after its session is released, but not while a run uses it. NULL is allowed. */
POPRT_API void poprt_stepio_release(poprt_stepio *io);

#ifdef __cplusplus
}
#endif
#endif
