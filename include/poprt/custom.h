/* SPDX-License-Identifier: MIT */
/*
 * poprt/custom.h — functions of the calling program that the library calls: shape functions of
 * operators that it does not know, and passes that get a whole model. A language binding needs
 * them; plug-ins (poprt/plugin.h) work on the graph itself and are faster.
 *
 * The functions run on the thread that called the library, in the middle of the call. They may use
 * other objects of the library. A function that fails returns a POPRT_E_* value, which the call
 * returns in turn.
 */
#ifndef POPRT_CUSTOM_H
#define POPRT_CUSTOM_H

#include "poprt/attr.h"
#include "poprt/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A node of an operator that neither the library nor a plug-in knows. Everything is valid during
 * the call. */
typedef struct poprt_unknown_node {
    size_t struct_size;
    const char *domain, *op_type, *name;
    /* The attributes: ONNX bytes of a NodeProto that has only these. */
    const void *attributes;
    size_t attributes_size;
    uint32_t n_inputs, n_outputs;
    /* Names of values, unique in the model. "": an absent input, or an output that is not used. */
    const char *const *input_names, *const *output_names;
    /* Types of the inputs. An unknown element type is POPRT_DTYPE_UNDEFINED, an unknown rank -1, an
     * open dim below 0. */
    const poprt_type *inputs;
    /* Elements of the inputs that are constants; `data` is NULL for the others. */
    const poprt_tensor *constants;
} poprt_unknown_node;

/* Sets the types of the outputs. On entry each has the type that the model declares; an output that
 * keeps an unknown element type is left without a type. Dims that are not known are -1. */
typedef poprt_status (
    *poprt_infer_fn)(void *user, const poprt_unknown_node *node, poprt_type *outputs);

/*
 * Sets the shape function of all operators that neither the library nor a plug-in knows. It is
 * called whenever types are inferred: for each such node of a model that is read, and again after
 * changes of the model. Fails with POPRT_E_STATE after a model, an executable or a pass manager was
 * made from the environment, or if there is a function already.
 */
POPRT_API poprt_status poprt_env_set_infer(poprt_env *env, poprt_infer_fn fn, void *user);

/* A pass of the calling program on a whole model. */
typedef struct poprt_model_pass {
    size_t struct_size; /* sizeof(poprt_model_pass) */
    const char *name;   /* letters, digits and '_'; must be unique */
    const char *help;   /* one sentence; may be NULL */
    /* Changes the model, for instance by poprt_model_replace, and sets *changed to 1 if it did. The
     * model must not be released. */
    poprt_status (*run)(void *user, poprt_model *model, int32_t *changed);
    void *user;
} poprt_model_pass;

/*
 * Adds a pass to the environment: pass managers and the option `passes` know its name then, and
 * poprt_env_pass_at lists it. The record and its texts must stay unchanged until the environment is
 * destroyed. Fails with POPRT_E_STATE after a model, an executable or a pass manager was made from
 * the environment, and with POPRT_E_PLUGIN if the name is taken or not allowed.
 */
POPRT_API poprt_status poprt_env_add_model_pass(poprt_env *env, const poprt_model_pass *pass);

/* Replaces a model by the one of ONNX bytes, which are read as by poprt_model_load_bytes. The model
 * does not change if this fails. */
POPRT_API poprt_status poprt_model_replace(poprt_model *model, const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
