/* SPDX-License-Identifier: MIT */
/*
 * poprt/train.h — training: optimizers.
 *
 * An optimizer has a kind, values such as the learning rate, settings, and clipping groups. Kinds,
 * keys, defaults and formulas are those of PopART.
 *
 *     kind                       update
 *   SGD family
 *     sgd                        stochastic gradient descent: SGD0 without momentum, else SGD1
 *                                (accumulatorAndMomentum Combined) or SGD2 (Separate)
 *     const_sgd                  sgd with a learning rate, a weight decay and a loss scaling alone,
 *                                all constant
 *   Adam family
 *     adam, adamw                Adam; adamw always has weightDecayMode Decay
 *     adam_no_bias               Adam without bias correction
 *     adamax                     AdaMax; its second moment has no bias correction
 *     lamb, lamb_no_bias         Lamb with and without bias correction
 *   adaptive family
 *     adagrad, rmsprop, centered_rmsprop, adadelta
 *
 * Values. Each is constant, which lets a compiler use it, or can be replaced while a program runs
 * (poprt_optimizer_check_replacement). The defaults are constant. Keys are accepted in camel case
 * or snake case, with or without "default":
 *
 *     key                        default            families        accepted
 *     defaultLearningRate        0.1; adaptive:     all             above 0; from 0 if not constant
 *                                0.01
 *     defaultWeightDecay         0                  all             from 0
 *     defaultMomentum            0                  SGD, adaptive   from 0
 *     defaultDampening           0                  SGD             from 0; 0 with nesterov
 *     defaultVelocityScaling     1                  SGD             above 0
 *     nesterov                   0                  SGD             0: off, others: on
 *     defaultBeta1               0.9                Adam            from 0
 *     defaultBeta2               0.999              Adam            from 0
 *     defaultMaxWeightNorm       10                 Adam            from 0; Lamb alone uses it
 *     defaultAlpha               0.99               adaptive        from 0
 *     defaultEps                 1e-6               Adam, adaptive  above 0
 *     lossScaling                1                  all             any number but 0
 *
 * Settings, which exist where a family has such a state. Words are accepted in any case:
 *
 *     key                        words                              default
 *     accumulatorAndMomentum     Combined, Separate                 Combined
 *     weightDecayMode            Decay, L2Regularization            Decay
 *     accumType                  UNDEFINED, FLOAT, FLOAT16          UNDEFINED
 *     accl1Type                  UNDEFINED, FLOAT, FLOAT16          SGD: UNDEFINED, others: FLOAT
 *     accl2Type                  UNDEFINED, FLOAT, FLOAT16          FLOAT
 *     accl3Type                  UNDEFINED, FLOAT, FLOAT16          UNDEFINED
 *     scaledOptimizerState       false, true                        false
 *     useMaxWeightNorm           false, true (of Lamb)              true
 *     rmspropTfVariant           false, true (of both RMSProp)      false
 *
 * Types are those of the gradient accumulator and of the states; UNDEFINED is the type of the
 * weight. A float64 weight has float64 states.
 *
 * Updates of a weight w, with g the gradient of the loss (the loss scaling is divided out, and
 * changes results only by rounding), lr the learning rate, wd the weight decay, t the number of
 * the update, and v, m, a, b, c states. In each family, lines apply from top to bottom:
 *
 *   SGD family
 *     g = g + wd w
 *     v = momentum v + (1 - dampening) g
 *     u = v, or with nesterov g + momentum v
 *     w = w - lr u
 *     velocityScaling multiplies the stored v. SGD1 stores v with momentum and decay of the next
 *     update applied, so changes of these two values take effect one update later.
 *
 *   Adam family
 *     g = g + wd w                                    L2Regularization
 *     m = beta1 m + (1 - beta1) g
 *     v = beta2 v + (1 - beta2) g^2                   adamax: max(beta2 v, |g|)
 *     p = m / (1 - beta1^t)                           no_bias: m
 *     q = sqrt(v / (1 - beta2^t))                     no_bias: sqrt(v); adamax: v
 *     u = p / (q + eps)
 *     u = u + wd w                                    Decay
 *     w = w - lr ratio u
 *     ratio is 1; of Lamb, it is min(|w|, maxWeightNorm) / |u|, but 1 if one of the three is 0.
 *
 *   adaptive family
 *     g = g + wd w                                    L2Regularization
 *     a = alpha a + (1 - alpha) g^2                   adagrad: a + g^2
 *     b = alpha b + (1 - alpha) g, r = a - b^2        centered_rmsprop; others: r = a
 *     u = g / (sqrt(r) + eps)                         rmspropTfVariant: g / sqrt(r + eps)
 *     u = g sqrt(b + eps) / sqrt(r + eps)             adadelta, which then updates
 *     b = alpha b + (1 - alpha) u^2                   adadelta
 *     c = momentum c + u, u = c                       with momentum
 *     w = w - lr u - lr wd w                          L2Regularization: w - lr u
 *     rmspropTfVariant starts with a = 1; with momentum, c = momentum c + lr u and
 *     w = w - c - wd w.
 *
 * One thread at a time may use an optimizer. A function that takes one copies the parts that it
 * needs.
 */
#ifndef POPRT_TRAIN_H
#define POPRT_TRAIN_H

#include "poprt/data.h"
#include "poprt/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct poprt_optimizer poprt_optimizer;

/* A value of one weight. */
typedef struct poprt_optimizer_value {
    const char *key;
    float value;
    int32_t constant; /* 0: can be replaced while a program runs */
} poprt_optimizer_value;

/* Creates an optimizer with the defaults of its kind. Fails with POPRT_E_NOT_FOUND if the kind is
 * unknown (the error names similar kinds). */
POPRT_API poprt_status poprt_optimizer_create(poprt_env *env, const char *kind,
    poprt_optimizer **out);

/* Creates an equal optimizer. */
POPRT_API poprt_status poprt_optimizer_copy(const poprt_optimizer *optimizer,
    poprt_optimizer **out);

POPRT_API void poprt_optimizer_release(poprt_optimizer *optimizer);

/* Sets a value for all weights that have no values of their own. Fails with POPRT_E_NOT_FOUND if
 * the kind has no such value, and with POPRT_E_ARG if it is out of range; the error lists the
 * accepted values. On failure nothing changes. */
POPRT_API poprt_status poprt_optimizer_set(poprt_optimizer *optimizer, const char *key, float value,
    int32_t constant);

/* Sets a setting, in the same way. */
POPRT_API poprt_status poprt_optimizer_set_text(poprt_optimizer *optimizer, const char *key,
    const char *value);

/* Reads the value that applies to a weight; `weight` NULL: to weights without values of their
 * own. */
POPRT_API poprt_status poprt_optimizer_get(const poprt_optimizer *optimizer, const char *weight,
    const char *key, float *value, int32_t *constant);

/* Gives a weight values of its own: those in the list, whose keys have no "default", and for all
 * others the values that are set now. Fails with POPRT_E_ARG if the weight already has values of
 * its own. All weights share the loss scaling. */
POPRT_API poprt_status poprt_optimizer_insert_specific(poprt_optimizer *optimizer,
    const char *weight, size_t count, const poprt_optimizer_value *values);

/*
 * Adds a clipping group: gradients of its weights are multiplied by max_norm / max(max_norm, norm),
 * where norm is the root of the sum of squares over the whole group. `count` 0: the group has all
 * weights, and there is no other group. Fails with POPRT_E_UNSUPPORTED in the adaptive family.
 *
 * PopART clips these values: SGD without momentum: the gradient that the update receives,
 * still multiplied by the loss scaling (and not yet divided for a mean); SGD with momentum: the
 * velocity or the Nesterov gradient, multiplied by velocityScaling, of this update alone; Adam and
 * Lamb: the gradient after loss scaling and L2 regularization.
 */
POPRT_API poprt_status poprt_optimizer_clip(poprt_optimizer *optimizer, size_t count,
    const char *const *weights, float max_norm);

/* Sets the number of updates from which the step counters of adam, adamw, adamax and lamb start: of
 * one weight, or, if `weight` is NULL, of all others. */
POPRT_API poprt_status poprt_optimizer_set_step(poprt_optimizer *optimizer, const char *weight,
    int64_t step);

/* Fails with POPRT_E_ARG unless `now` may replace `before` in a running program: the same kind of
 * update, settings, clipping groups, weights with values of their own, and constant values. The
 * error names the difference. */
POPRT_API poprt_status poprt_optimizer_check_replacement(const poprt_optimizer *before,
    const poprt_optimizer *now);

/* ---- compiling */

/* A training task. Texts and arrays are read during the call alone. */
typedef struct poprt_training {
    size_t struct_size; /* set by the caller */
    const char *loss;   /* tensor of the main graph, of one floating-point element */
    const poprt_optimizer *optimizer;
    /* Data flow of a step; NULL: one batch. Without anchors a step returns the outputs of the model
     * and the loss, each of its last micro-batch. */
    const poprt_flow *flow;
    /* The weights to train. NULL: the floating-point initializers that are also inputs of the
     * model, as PopART and poprt/builder.h make them; in a model without such ones, all
     * floating-point initializers except scalars. */
    const char *const *weights;
    const char *const *frozen; /* weights that are not trained, if `weights` is NULL */
    size_t weight_count, frozen_count;
} poprt_training;

/*
 * Compiles a training program. A run of its sessions is one step: batches per step times
 * accumulation factor times replication factor micro-batches, with an update of the weights after
 * each batch. A step that fails or is cancelled leaves weights, states and statistics as after the
 * last whole update.
 *
 * The model gets its training form, unless the option `keep_model_form` is set: Dropout drops, and
 * BatchNormalization uses the statistics of micro-batches and updates the running ones. Some
 * tensors stay as they are: weights on which the loss does not depend, scales, biases and running
 * statistics of BatchNormalization that are Constant nodes (poprt_builder_constant), and statistics
 * that a subgraph uses. One warning of the environment's log names them, unless the executable
 * comes from the compile cache. The loss is not multiplied by the loss scaling. Initializers with
 * the names of optimizer states (Accl1___w, Step___w, …), as poprt_session_save_model writes them,
 * are the first contents of these states.
 *
 * Options: those of poprt_compile, `enable_gradient_accumulation` and `accumulation_factor`, the
 * reduction of gradients, replication (poprt/data.h), and automatic loss scaling. The executable
 * keeps no pointer to its arguments. PopEF files of it train with a library without compiler.
 *
 * Fails with POPRT_E_NOT_FOUND if the loss or a weight does not exist, POPRT_E_TYPE or
 * POPRT_E_SHAPE if the loss is not one floating-point number, POPRT_E_UNSUPPORTED with all nodes
 * between weights and loss whose operator has no gradient, and POPRT_E_ARG if the loss depends on
 * no weight and the flow has no anchors, or a tensor has a name that training reserves.
 */
POPRT_API poprt_status poprt_compile_training(const poprt_model *model,
    const poprt_training *training, const poprt_config *config, poprt_executable **out);

/* ---- sessions */

/*
 * Replaces the values of the optimizer that are not constant, from the next step on. The states
 * stay as they are. Fails with POPRT_E_ARG, and the difference, unless the optimizer may replace
 * the one of the executable (poprt_optimizer_check_replacement), and with POPRT_E_STATE if the
 * executable does not train, or a run is in progress.
 */
POPRT_API poprt_status poprt_session_update_optimizer(poprt_session *session,
    const poprt_optimizer *optimizer);

/* Counters of a session. Random numbers depend on the seed, the micro-batch and the replica alone:
 * a session with the same seed and the same number of micro-batches draws the same ones. */
typedef struct poprt_train_progress {
    size_t struct_size;     /* set by the caller */
    uint64_t updates;       /* whole updates since the first step, also across checkpoints */
    uint64_t micro_batches; /* micro-batches of a replica since the seed was set */
    uint64_t seed;
} poprt_train_progress;

POPRT_API poprt_status poprt_session_get_progress(poprt_session *session,
    poprt_train_progress *out);

/* Sets the seed of random operators; it begins as the option `seed`. The number of micro-batches
 * becomes 0. */
POPRT_API poprt_status poprt_session_set_random_seed(poprt_session *session, uint64_t seed);

/* Sets seed and number of micro-batches, as poprt_session_get_progress has returned them. */
POPRT_API poprt_status poprt_session_set_random_state(poprt_session *session, uint64_t seed,
    uint64_t micro_batches);

/*
 * Writes weights, optimizer states, statistics, values of the optimizer and counters to a PopEF
 * file. The file is complete or absent, at any moment and after any crash: a new file replaces the
 * old one once it is on the disk. If `keep` is above 0, older files stay as `path`.1 (the newest)
 * to `path`.`keep`. Fails with POPRT_E_STATE if the executable has no variables.
 */
POPRT_API poprt_status poprt_session_save_checkpoint(poprt_session *session, const char *path,
    int32_t keep);

/*
 * Continues from a checkpoint: the next steps give the same bits as if training had not been
 * interrupted. The file is checked as a whole first; if it is damaged (POPRT_E_PARSE), or belongs
 * to another optimizer (POPRT_E_ARG) or model (POPRT_E_NOT_FOUND, POPRT_E_SHAPE), the session does
 * not change. Accumulation, batches per step and threads may differ from those of the session that
 * wrote it.
 */
POPRT_API poprt_status poprt_session_load_checkpoint(poprt_session *session, const char *path);

/*
 * Writes weights, statistics and optimizer states to a PopEF file of tensors alone, and takes them
 * from such a file. Of a folder, the file is variables.popef; a slash at the end of `path` makes
 * missing folders, with a warning. The file is complete or absent. Replicas have one value:
 * statistics are those of replica 0. A file need not have every tensor of a session, but each of
 * its tensors must be one, of its type (POPRT_E_NOT_FOUND, POPRT_E_SHAPE); damaged files are
 * POPRT_E_PARSE. On failure nothing changes. Both fail with POPRT_E_STATE if the executable has no
 * variables.
 */
POPRT_API poprt_status poprt_session_save_variables(poprt_session *session, const char *path);
POPRT_API poprt_status poprt_session_load_variables(poprt_session *session, const char *path);

/* Parts of an executable's file that poprt_session_save_executable writes on request. */
enum { POPRT_SAVE_METADATA = 1, POPRT_SAVE_VARIABLES = 2 };

/*
 * Writes the executable of a session as PopEF (PopART: saveExecutable). Of a folder, the file is
 * executable.popef; a slash at the end of `path` makes missing folders, with a warning. The file is
 * complete or absent. `parts` is a sum of POPRT_SAVE_*:
 *
 *  - POPRT_SAVE_METADATA: names and places of nodes, eliminated nodes, and the metadata of the
 *    model's file. Runs do not need them; without them errors and reports do not name nodes.
 *  - POPRT_SAVE_VARIABLES: the present contents of variables, with which sessions of the file
 * begin. Replicas have one value: statistics are those of replica 0. Counters and seed are those of
 * a new session; checkpoints have them.
 *
 * Without POPRT_SAVE_VARIABLES the file has no contents of weights, statistics and those states
 * that begin as constants. A session of it fails to run, to read and to save them with
 * POPRT_E_STATE until poprt_session_load_variables, poprt_session_reset_weights,
 * poprt_session_write_weight, poprt_session_weights_from_host or poprt_session_load_checkpoint has
 * set each of them. Constant weights (option constant_weights) are always in the file.
 *
 * A session that has changed no variable writes the bytes of poprt_executable_save_file with both
 * parts. Fails with POPRT_E_STATE during a run, and with POPRT_SAVE_VARIABLES while a variable has
 * no contents.
 */
POPRT_API poprt_status poprt_session_save_executable(poprt_session *session, const char *path,
    int32_t parts);

/*
 * Writes the executable of a session, with the present contents of its variables, to its entry of
 * the cache of executables (options enable_engine_caching and cache_path): a later compilation of
 * the same model with the same options gives an executable that begins with these contents. The
 * entry is the old one or the new one, at any moment and after any crash. Fails with POPRT_E_STATE
 * if the executable has no entry, or was compiled with enable_variables_caching=false, and during a
 * run. Absent from a library without compiler.
 */
POPRT_API poprt_status poprt_session_update_cache(poprt_session *session);

/*
 * Returns a copy of a model, which must have the weights of the session, with the session's weights
 * and statistics. With `with_state` 1 it also has the optimizer's states as initializers of their
 * names, so that poprt_compile_training continues from it. Weights of 16 bits that are trained as
 * float32 (`master_weights`) are rounded; the state Master___<weight> has all bits. Fails with
 * POPRT_E_NOT_FOUND or POPRT_E_SHAPE if the model is another one.
 */
POPRT_API poprt_status poprt_session_export_model(poprt_session *session, const poprt_model *model,
    int32_t with_state, poprt_model **out);

/* Writes that model, states included, as ONNX: poprt_model_save_file. */
POPRT_API poprt_status poprt_session_save_model(poprt_session *session, const poprt_model *model,
    const char *path);

/* ---- weights of the host */

/*
 * A copy of a session's weights, statistics and optimizer states, which the caller reads, changes
 * and hands to sessions of the same executable. One thread at a time may use it.
 */
typedef struct poprt_weights poprt_weights;

enum { POPRT_WEIGHTS_IGNORE_MISSING = 1, POPRT_WEIGHTS_IGNORE_UNKNOWN = 2 };

/* Creates a copy of the present contents. */
POPRT_API poprt_status poprt_weights_create(poprt_session *session, poprt_weights **out);
POPRT_API void poprt_weights_release(poprt_weights *weights);

/* Number of tensors, and one of them: its name, and the tensor, whose data belongs to the copy and
 * may be changed. Fails with POPRT_E_NOT_FOUND past the end or for an unknown name. */
POPRT_API size_t poprt_weights_count(const poprt_weights *weights);
POPRT_API poprt_status poprt_weights_at(const poprt_weights *weights, size_t index,
    const char **name, poprt_tensor *out);
POPRT_API poprt_status poprt_weights_find(const poprt_weights *weights, const char *name,
    poprt_tensor *out);

/* Copies the initializers of a model (PopART: resetHostWeights). Every initializer whose name is
 * that of a tensor must have its type and shape. Tensors that the model does not have are
 * POPRT_E_NOT_FOUND, unless `flags` has POPRT_WEIGHTS_IGNORE_MISSING; optimizer states may always
 * be missing, and then stay. On failure nothing changes. */
POPRT_API poprt_status poprt_weights_load_model(poprt_weights *weights, const poprt_model *model,
    int32_t flags);

/*
 * Replaces the weights of a session by the initializers of a model (PopART: resetHostWeights),
 * without a copy on the host. Initializers with the names of statistics and optimizer states
 * replace these too; tensors that the model does not have stay. The types and shapes must be those
 * of the session. An initializer that is not a variable of the session, but is read by a node, must
 * have the bits of the executable's constant: other bits are POPRT_E_STATE, and an initializer
 * whose value the executable does not have is POPRT_E_NOT_FOUND. `flags`
 * POPRT_WEIGHTS_IGNORE_UNKNOWN ignores these initializers. On failure nothing changes.
 */
POPRT_API poprt_status poprt_session_reset_weights(poprt_session *session, const poprt_model *model,
    int32_t flags);

/* Copy from and to a session. The session's executable must have the tensors of the copy; on
 * failure nothing changes. */
POPRT_API poprt_status poprt_session_weights_to_host(poprt_session *session,
    poprt_weights *weights);
POPRT_API poprt_status poprt_session_weights_from_host(poprt_session *session,
    const poprt_weights *weights);

/*
 * Returns 1 if a copy and a session have the same contents because one was copied from the other
 * and neither has changed since, 0 otherwise. A step of training, poprt_session_write_weight,
 * poprt_session_load_checkpoint and poprt_session_reset_weights change a session.
 * poprt_weights_load_model and poprt_weights_changed change a copy.
 */
POPRT_API poprt_status poprt_weights_in_sync(const poprt_weights *weights, poprt_session *session,
    int32_t *out);

/* Tells that the caller has changed data of a copy. */
POPRT_API poprt_status poprt_weights_changed(poprt_weights *weights);

/*
 * Lets a session follow a copy: a run begins with the contents of the copy if the copy has changed
 * since the last run, so that all sessions that share it see new values without further calls. A
 * session that trains goes on from its own weights while the copy does not change. The session
 * holds a reference to the copy until it is released, or shares another one; NULL ends the sharing.
 * No thread may change the copy while a session that shares it begins a run. Fails like
 * poprt_session_weights_from_host.
 */
POPRT_API poprt_status poprt_session_share_weights(poprt_session *session, poprt_weights *weights);

#ifdef __cplusplus
}
#endif
#endif
