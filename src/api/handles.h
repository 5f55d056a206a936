/* SPDX-License-Identifier: MIT */
/*
 * handles.h — the structs of the public handles, and declarations shared by the sources of src/api.
 *
 * Every object holds a counted reference to its environment, which holds the allocator. So an
 * environment lives until the last object made from it is released.
 */
#ifndef PRT_API_HANDLES_H
#define PRT_API_HANDLES_H

#include <stdatomic.h>

#include "base/record.h"
#include "base/str.h"
#include "describe/io_table.h"
#include "par/pool.h"
#include "poprt/poprt.h"
#include "poprt/train.h"
#include "program/program.h"
#include "runtime/inspect.h"

/* Modules of log lines: rows of log.def. */
typedef enum prt_log_module {
#define LOG_MODULE(name) PRT_LOG_##name,
#include "api/log.def"
    PRT_LOG_MODULES
} prt_log_module;

struct prt_log;

struct poprt_env {
    _Atomic uint32_t refs;
    prt_allocator allocator;
    poprt_parallel host; /* executor of the host; run NULL: none */
    prt_pool *pool;      /* NULL: the host's executor, or the caller alone */
    prt_par par;
    struct prt_log *log;
    poprt_progress_fn progress;
    void *progress_user;
    size_t memory_limit;
    uint64_t features; /* PRT_CPU_* of the processor */
    /* Plug-ins. NULL until the first plug-in is loaded (plugin.c); always NULL without the
     * compiler. */
    struct prt_plugins *plugins;
    const struct prt_op_set *ops;
    void (*release_plugins)(struct prt_plugins *plugins);
    uint64_t plugin_hashes[2]; /* of the files of plug-ins, in the order of loading */
    bool has_plugin_record;    /* a plug-in has no file, so that nothing tells its versions apart */
    _Atomic bool frozen;       /* true: an object was made, so plug-ins are refused */
    _Atomic uint64_t versions; /* the last number that stands for contents of weights */
};

/* Forbids more plug-ins. Must be called before an object is made that uses their tables. */
static inline void prt_env_freeze(poprt_env *env)
{
    atomic_store_explicit(&env->frozen, true, memory_order_relaxed);
}

/* Returns `env` with one more reference, or a new environment with defaults if `env` is NULL. */
poprt_status prt_env_acquire(poprt_env *env, poprt_env **out);
/* plugin.c: makes the tables of plug-ins before the first one is added. Fails with POPRT_E_STATE if
 * an object was made from the environment. */
poprt_status prt_env_open_plugins(poprt_env *env);
/* log.c: creates and releases the receivers of log lines. */
poprt_status prt_log_create(const prt_allocator *allocator, const poprt_env_options *options,
    struct prt_log **out);
void prt_log_release(const prt_allocator *allocator, struct prt_log *log);
void prt_env_log(const poprt_env *env, prt_log_module module, int32_t level, const char *text);
/* Logs a text of at most 1 KiB; the rest is cut off. Nothing is formatted if no receiver wants the
 * line. */
void prt_env_logf(const poprt_env *env, prt_log_module module, int32_t level, const char *fmt, ...)
    PRT_PRINTF(4, 5);
/* Tells whether lines of this module and level have a receiver. If not, callers skip costly work
 * such as timing. */
bool prt_env_logs(const poprt_env *env, prt_log_module module, int32_t level);
/* Calls the progress callback. Fails with POPRT_E_CANCELLED if it requests a stop. */
poprt_status prt_env_progress(const poprt_env *env, const char *stage, uint64_t done,
    uint64_t total);

/* Ids of options.def. */
typedef enum prt_option_id {
#define OPTION(id, type, default_value, min, max, help) PRT_OPTION_##id,
#include "api/options.def"
    PRT_OPTION_COUNT
} prt_option_id;

/* A row of options.def. */
typedef struct prt_option_row {
    poprt_option_info info;
    const char *help;    /* info.help without `accepts` and `json` */
    const char *accepts; /* accepted values of a TEXT, see base/accepts.h; NULL: any */
    const char *json;    /* form of a JSON text; NULL: the option is not JSON */
} prt_option_row;

/* The rows, by prt_option_id, which is also the index of poprt_config_option_at. */
extern const prt_option_row prt_option_rows[PRT_OPTION_COUNT];

/* A symbolic dimension set by an option "dim.NAME". */
typedef struct prt_config_dim {
    char *key; /* "dim.NAME" */
    char *text;
    int64_t value;
} prt_config_dim;

enum { PRT_CONFIG_MAX_DIMS = 256 };

/* Number of rows in option_names.def. */
enum {
    PRT_OPTION_NAME_COUNT = 0
#ifndef PRT_NO_COMPILER
#define SAME(set, name, option, words) +1
#define ALWAYS(set, name, accepts, initial, text) +1
#define NONE(set, name, accepts, initial, text) +1
#define DEVICES(set, name, accepts, initial, harmless, text) +1
#include "api/option_names.def"
#else
        + 1
#endif
};

struct poprt_config {
    poprt_env *env;
    bool frozen;
    char *named[PRT_OPTION_NAME_COUNT]; /* values of names without an option; NULL: the default */
    char *text[PRT_OPTION_COUNT];       /* NULL: the default */
    int64_t number[PRT_OPTION_COUNT];
    uint32_t n_dims;
    prt_config_dim dims[PRT_CONFIG_MAX_DIMS];
};

/* Sets an option by its key or a name of it. Does not look at `frozen`. */
poprt_status prt_config_set(poprt_config *config, const char *key, const char *text);
/* Returns the row of the option that a key or a name sets; NULL: there is none. */
const prt_option_row *prt_config_row(const char *key);
/* Fails with POPRT_E_STATE if the config is frozen. */
poprt_status prt_config_check_changeable(const poprt_config *config);

/* Return the value of an option: a number for INT and BOOL, a text for TEXT. A NULL config has the
 * defaults. */
int64_t prt_config_number(const poprt_config *config, prt_option_id id);
const char *prt_config_text(const poprt_config *config, prt_option_id id);
/* Returns the name of symbolic dimension `i` of a config. */
prt_str prt_config_dim_name(const poprt_config *config, uint32_t i);
/* Returns the smaller of the option "memory_limit" and the limit of the environment; 0: no
 * limit. */
size_t prt_config_memory_limit(const poprt_config *config, const poprt_env *env);
/* Returns the kernels of the level in option "cpu"; NULL: the reference kernels. */
const prt_kern *prt_config_kernels(const poprt_config *config, const poprt_env *env);

struct prt_module;

struct poprt_model {
    poprt_env *env;
    struct prt_module *module;
    prt_io_table io;
    size_t memory_limit;
};

/* Makes a model of a module. Takes ownership of `module`, also if it fails. */
poprt_status prt_model_wrap(poprt_env *env, struct prt_module *module, size_t memory_limit,
    poprt_model **out);

/* Calls `use` with the module that is written for the model's opset: its own, or a converted copy,
 * which is released afterwards. `use` is called again for a later opset if it fails with
 * POPRT_E_UNSUPPORTED. */
typedef poprt_status (*prt_model_use_fn)(void *user, const struct prt_module *module);
poprt_status prt_model_use_written(const poprt_model *model, prt_model_use_fn use, void *user);

/* export.c: returns the initializer of this name in the main graph; NULL if there is none. */
struct prt_value *prt_module_initializer(const struct prt_module *module, prt_str name);

struct poprt_pass_manager;

/* pass.c: returns the model on which a manager runs now. */
poprt_model *prt_pass_manager_model(const struct poprt_pass_manager *manager);

/* Rebuilds the table of inputs and outputs after a change of the model. */
poprt_status prt_model_refresh(poprt_model *model);

struct poprt_executable {
    _Atomic uint32_t refs;
    poprt_env *env;
    prt_program *program;
    prt_io_table io;
    /* File that it was read from, for error messages; "" if there is none. */
    char *file;
    bool is_opened;        /* the caller opened it: a config may contradict its options */
    char *cache_file;      /* its entry of the cache of executables; NULL: there is none */
    bool caches_variables; /* that entry has the contents of variables */
};

/* Makes an executable of a program. Takes ownership of `program`, also if it fails. */
poprt_status prt_executable_wrap(poprt_env *env, prt_program *program, const char *file,
    poprt_executable **out);

/* Writes PopEF to a file whose folder exists. */
poprt_status prt_program_save_as(const poprt_env *env, const prt_program *program,
    const char *file);
/* checkpoint.c: writes the executable of a locked session; `parts`: POPRT_SAVE_*. */
poprt_status prt_session_save_as(poprt_session *session, const char *file, int32_t parts);

/* Like poprt_executable_load_file, but fails unless every blob has a checksum that matches. */
poprt_status prt_executable_load_sealed(poprt_env *env, const char *path,
    const poprt_config *config, poprt_executable **out);

struct prt_compile_flow;

/* A change of a copy of the model before it is compiled. */
typedef struct prt_compile_edit {
    /* Edits the module, whose dims "dim.NAME" are set. `arena` lives as long as the compilation. */
    poprt_status (*apply)(void *user, struct prt_module *module, prt_arena *arena);
    void *user;
    const struct prt_compile_flow *flow; /* read after `apply`; NULL: no data flow */
    prt_str identity;                    /* part of the key of stored executables */
} prt_compile_edit;

/* Compiles a module that need not belong to a poprt_model. `edit` may be NULL. */
poprt_status prt_compile_module(poprt_env *env, const struct prt_module *module,
    const poprt_config *config, const prt_compile_edit *edit, poprt_executable **out);

struct prt_optimizer;

struct poprt_optimizer {
    poprt_env *env;
    struct prt_optimizer *inner;
};

struct poprt_session {
    poprt_env *env;
    poprt_executable *exec;
    prt_session *session;
    poprt_step_fn watch;
    void *watch_user;
    prt_tensor_place tensor_place;     /* behind the tensor that was asked for last */
    size_t next_tensor;                /* index of that place */
    struct prt_step_profile *profile;  /* NULL: the session was never profiled */
    poprt_trace *trace;                /* NULL: runs are not traced */
    prt_tensor *synthetic;             /* by input: data in place of the caller's; NULL: off */
    bool is_unusable;                  /* a run failed in a way that is POPRT_ERROR_UNRECOVERABLE */
    bool counts, has_count;            /* runs are measured; `count` is that of the last one */
    uint64_t count;                    /* nanoseconds */
    bool states_stay;                  /* optimizer states are not part of poprt_weights */
    bool keeps_random_state;           /* only the caller sets the seed */
    struct poprt_weights *shared;      /* the copy that the session follows, or NULL */
    uint64_t shared_version;           /* of its contents that the session took last */
    uint64_t version;                  /* of the contents of the variables */
    _Atomic uint32_t busy;             /* 1 while a run is in progress */
    _Atomic(struct prt_queue *) queue; /* created by the first submit */
};

/* synthetic.c: makes the inputs of the option synthetic_data_mode; and releases them. */
poprt_status prt_synthetic_create(poprt_session *session, const poprt_config *config);
void prt_synthetic_release(poprt_session *session);

/* Says that the variables of a session have new contents. */
static inline void prt_session_changed(poprt_session *session)
{
    session->version = atomic_fetch_add(&session->env->versions, 1) + 1;
}

/* Lock a session for a call between runs. The first fails with POPRT_E_STATE while it runs. */
poprt_status prt_lock_session(poprt_session *session);
void prt_unlock_session(poprt_session *session);

/* A function that an input or output of one replica is connected to. */
typedef struct prt_connection {
    poprt_stream_fn fn; /* NULL: not connected */
    void *user;
} prt_connection;

/* An input or output of a StepIO. */
typedef struct prt_slot {
    prt_str name;
    const prt_type *type;
    bool any_shape; /* true: an input of which the steps read at most the element type */
    bool bound;
    uint32_t graph;   /* graph of a fused model that it belongs to; else PRT_NO_GRAPH */
    prt_tensor value; /* bound tensor; of an output: destination of the result */
    /* Slot that shares the memory of a cache, if `value.capacity` is not 0. */
    uint32_t partner;
    /* With data flow: number of blocks, and the dims that a buffer has before those of a block;
     * otherwise 0. Of an output that is not bound: memory of its blocks. */
    int64_t blocks, prefix[3];
    uint32_t n_prefix;
    void *own;
    size_t own_size;
    prt_connection *connected; /* by replica; NULL: no replica is connected */
} prt_slot;

struct poprt_stepio {
    const poprt_session *session;
    prt_allocator allocator; /* a copy, because a StepIO may be released last */
    size_t n_in, n_out;
    prt_slot *slots; /* inputs, then outputs */
    prt_tensor *in;  /* inputs of a run */
    prt_tensor *out; /* outputs of a run */
    bool with_callbacks;
    bool ran; /* true: `out` holds results */
    poprt_stepio_callbacks callbacks;
    uint32_t graph;   /* graph of a fused model that runs; else PRT_NO_GRAPH */
    uint32_t program; /* graph that poprt_session_run_program selects; else PRT_NO_GRAPH */
    /* Value of the inputs of other graphs. NULL: no input needs it. */
    void *zeros;
};

/* Begins a run: collects its inputs, if necessary through callbacks. prt_stepio_end returns them
 * and passes outputs to their streams; `status` is the status of the run, and what it returns that
 * of the whole call. */
poprt_status prt_stepio_begin(poprt_stepio *io, const poprt_session *session);
poprt_status prt_stepio_end(poprt_stepio *io, poprt_status status);

/* session.c: poprt_session_run for a graph of a fused model; PRT_NO_GRAPH: the bound inputs select
 * it. */
poprt_status prt_session_run_graph(poprt_session *session, poprt_stepio *io, uint32_t graph);
/* programs.c: finds the graph of a named program. Returns PRT_NO_GRAPH if there is none. */
uint32_t prt_executable_program(const poprt_executable *exec, prt_str name);

/* Does a whole run of an executable with data flow. */
poprt_status prt_stepio_run_flow(poprt_stepio *io, const poprt_session *session);

/* Fails with POPRT_E_ARG because a parameter is NULL. */
poprt_status prt_fail_null(const char *parameter);

/* Returns from an interface function with an error if a parameter is NULL. */
#define PRT_REQUIRE(parameter)                                                                     \
    do {                                                                                           \
        if ((parameter) == NULL)                                                                   \
            return prt_fail_null(#parameter);                                                      \
    } while (0)

#endif
