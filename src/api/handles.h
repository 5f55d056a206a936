/* SPDX-License-Identifier: MIT */
/*
 * handles.h — the bodies of the public handles, and what the files of this room share.
 *
 * Everything holds a counted reference to its environment, which holds the allocator: so an
 * environment goes away after the last thing made from it.
 */
#ifndef PRT_API_HANDLES_H
#define PRT_API_HANDLES_H

#include <stdatomic.h>

#include "base/record.h"
#include "base/str.h"
#include "describe/io_table.h"
#include "par/pool.h"
#include "poprt/poprt.h"
#include "program/program.h"
#include "runtime/session.h"

struct poprt_env {
    _Atomic uint32_t refs;
    prt_allocator allocator;
    poprt_parallel host; /* run NULL: none */
    prt_pool *pool;      /* NULL: the host's executor, or the caller alone */
    prt_par par;
    poprt_log_fn log;
    void *log_user;
    int32_t log_level;
    poprt_progress_fn progress;
    void *progress_user;
    size_t memory_limit;
    uint64_t features; /* PRT_CPU_* of this processor */
    /* Plug-ins; all NULL until the first is loaded (plugin.c), which a library that only runs
     * cannot do. */
    struct prt_plugins *plugins;
    const struct prt_op_set *ops;
    void (*release_plugins)(struct prt_plugins *plugins);
    _Atomic bool frozen; /* something was made: no plug-in may come any more */
};

/* To be called before anything is made that looks into the tables of plug-ins. */
static inline void prt_env_freeze(poprt_env *env)
{
    atomic_store_explicit(&env->frozen, true, memory_order_relaxed);
}

/* `env` with one more owner, or a new environment of defaults for NULL. */
poprt_status prt_env_take(poprt_env *env, poprt_env **out);
void prt_env_log(const poprt_env *env, int32_t level, const char *text);
/* Are lines of level DEBUG wanted? Then what costs something, such as times, is worth taking. */
static inline bool prt_env_debugs(const poprt_env *env)
{
    return env->log != NULL && env->log_level >= POPRT_LOG_DEBUG;
}
void prt_env_debug(const poprt_env *env, const char *fmt, ...) PRT_PRINTF(2, 3);
/* Says how far `stage` is; POPRT_E_CANCELLED when the host wants to stop. */
poprt_status prt_env_progress(const poprt_env *env, const char *stage, uint64_t done,
    uint64_t total);

/* Ids of options.def. */
typedef enum prt_option_id {
#define OPTION(id, type, default_value, min, max, help) PRT_OPTION_##id,
#include "api/options.def"
#undef OPTION
    PRT_OPTION_COUNT
} prt_option_id;

/* One "dim.NAME" of a config. */
typedef struct prt_config_dim {
    char *key; /* "dim.NAME" */
    char *text;
    int64_t value;
} prt_config_dim;

enum { PRT_CONFIG_MAX_DIMS = 256 };

struct poprt_config {
    poprt_env *env;
    char *text[PRT_OPTION_COUNT]; /* NULL: the default */
    int64_t number[PRT_OPTION_COUNT];
    uint32_t n_dims;
    prt_config_dim dims[PRT_CONFIG_MAX_DIMS];
};

/* Value of an option; the default for a NULL config. Numbers for INT and BOOL, text for TEXT. */
int64_t prt_config_number(const poprt_config *config, prt_option_id id);
const char *prt_config_text(const poprt_config *config, prt_option_id id);
/* The name of symbolic dimension `i` of a config. */
prt_str prt_config_dim_name(const poprt_config *config, uint32_t i);
/* The smaller of the option "memory_limit" and the environment's; 0 is none. */
size_t prt_config_memory_limit(const poprt_config *config, const poprt_env *env);
/* Those of option "cpu"; NULL: the reference ones. */
const prt_kern *prt_config_kernels(const poprt_config *config, const poprt_env *env);

struct prt_module;

struct poprt_model {
    poprt_env *env;
    struct prt_module *module;
    prt_io_table io;
    size_t memory_limit;
};

/* Makes the table of inputs and outputs anew, after the model changed. */
poprt_status prt_model_refresh(poprt_model *model);

struct poprt_executable {
    _Atomic uint32_t refs;
    poprt_env *env;
    prt_program *program;
    prt_io_table io;
    char *file; /* where it was read from, for errors; "" otherwise */
};

/* An executable around a program, which it takes over, also when this fails. */
poprt_status prt_executable_wrap(poprt_env *env, prt_program *program, const char *file,
    poprt_executable **out);

/* As poprt_executable_load_file, but every blob has to have a checksum, and to fit it. */
poprt_status prt_executable_load_sealed(poprt_env *env, const char *path,
    const poprt_config *config, poprt_executable **out);

/* Compiles a module that is no model of a caller. */
poprt_status prt_compile_module(poprt_env *env, const struct prt_module *module,
    const poprt_config *config, poprt_executable **out);

struct poprt_session {
    poprt_env *env;
    poprt_executable *exec;
    prt_session *session;
    poprt_step_fn watch;
    void *watch_user;
    _Atomic uint32_t busy;             /* 1 while a run is in progress */
    _Atomic(struct prt_queue *) queue; /* made by the first submit */
};

/* One input or output of a StepIO. */
typedef struct prt_slot {
    prt_str name;
    const prt_type *type;
    bool any_shape; /* an input of which no step reads more than the element type */
    bool bound;
    uint32_t graph;   /* of fused models: the one it belongs to, else PRT_NO_GRAPH */
    prt_tensor value; /* what was bound; outputs: where the result shall go */
    uint32_t partner; /* of a cache (`value.room` is not 0): the slot that has the same memory */
} prt_slot;

struct poprt_stepio {
    const poprt_session *session;
    prt_allocator allocator; /* a copy: a StepIO may be released after all else */
    size_t n_in, n_out;
    prt_slot *slots; /* inputs, then outputs */
    prt_tensor *in;  /* what a run is given */
    prt_tensor *out; /* what it answered */
    bool with_callbacks;
    bool ran; /* `out` holds results */
    poprt_stepio_callbacks callbacks;
    uint32_t graph; /* of fused models: the one that runs, else PRT_NO_GRAPH */
    void *zeros;    /* what inputs of the others are; NULL: no input needs any */
};

/* Gets the inputs of a run ready (through the callbacks, where there are any), and gives them back
 * after it; `status` is the run's. */
poprt_status prt_stepio_begin(poprt_stepio *io, const poprt_session *session);
void prt_stepio_end(poprt_stepio *io, poprt_status status);

/* The failure of a NULL parameter. */
poprt_status prt_fail_null(const char *parameter);

/* Checks a parameter of an interface function. */
#define PRT_REQUIRE(parameter)                                                                     \
    do {                                                                                           \
        if ((parameter) == NULL)                                                                   \
            return prt_fail_null(#parameter);                                                      \
    } while (0)

#endif
