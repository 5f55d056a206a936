/* SPDX-License-Identifier: MIT */
/*
 * poprt/plugin.h — what a plug-in is: operators, shape functions, passes and patterns in a shared
 * object (or in a program of its own, which hands them to poprt_env_add_plugin).
 *
 * A plug-in includes this header alone, links nothing of ours and exports one function:
 *
 *     POPRT_PLUGIN_EXPORT const poprt_plugin *poprt_plugin_entry(const poprt_host *host)
 *     {
 *         return host->abi >= POPRT_PLUGIN_ABI ? &my_plugin : NULL;
 *     }
 *
 *     cc -shared -fPIC -I<prefix>/include my_plugin.c -o my_plugin.so
 *
 * What the library can do for it is in `host`: a table of functions, the only way back. Handles
 * (graphs, nodes, values, contexts) are opaque pointers.
 *
 * Lifetime. The shared object stays loaded until its environment is gone, which is after the last
 * model, executable and session made from it. The records and all they point to must stay as they
 * are for that long; the library copies none of it. `host` is valid as long. A context
 * (poprt_infer, poprt_eval, poprt_lower, poprt_kernel, poprt_pass_run, poprt_match) and what is
 * asked of it is valid within the call that got it; nodes and values within the run of a pass.
 *
 * Ownership. What `allocate` gives is the plug-in's to `release`. Everything else that comes out of
 * the host belongs to the library: texts, dims, tensors, lists. What goes in is copied.
 *
 * Threads. `infer`, `eval`, `lower` and kernels may be called from several threads at once, each
 * with a context of its own: they keep no state that they write. Kernels are called by several
 * threads for one node, too, each for items of its own. Passes are called by the thread that runs
 * their pass manager; two managers may run on two threads. Host functions belong to the calling
 * thread's context; allocate, release, fail and log may be called anywhere.
 *
 * Errors. A hook that fails returns a POPRT_E_* value, after `fail` told why in one sentence; a
 * host function that failed has told already, and its status is passed up. The caller of the
 * library gets all that with the plug-in's name before it. A hook never ends the process, throws,
 * or longjmps out.
 *
 * Trust. What the library gives to hooks has been checked against the types that infer gave.
 * Elements of tensors are anybody's; and so are the contents of prepared constants and the number
 * of items, which may come from a PopEF file: a kernel looks at both before it relies on them.
 *
 * Versions. Structs that may grow begin with their size; members are only ever added at the end,
 * and what an older plug-in does not know is zero. Before using a member of poprt_host that is
 * younger than the plug-in's oldest host, look whether host->struct_size covers it.
 */
#ifndef POPRT_PLUGIN_H
#define POPRT_PLUGIN_H

#include "poprt/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface between host and plug-in: a plug-in is loaded by a library of the same
 * number, whatever else their versions are. */
#define POPRT_PLUGIN_ABI 1

#if defined(__GNUC__)
#define POPRT_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define POPRT_PLUGIN_EXPORT
#endif

enum { POPRT_PLUGIN_MAX_RANK = 8 };
#define POPRT_PLUGIN_ANY UINT32_MAX /* as a maximum: any number */

typedef struct poprt_host poprt_host;
typedef struct poprt_infer poprt_infer;       /* one call of an operator's infer */
typedef struct poprt_eval poprt_eval;         /* one call of an operator's eval */
typedef struct poprt_lower poprt_lower;       /* one call of an operator's lower */
typedef struct poprt_kernel poprt_kernel;     /* one call of a kernel */
typedef struct poprt_pass_run poprt_pass_run; /* one run of a pass */
typedef struct poprt_graph poprt_graph;       /* the main graph, or one that a node holds */
typedef struct poprt_node poprt_node;
typedef struct poprt_value poprt_value; /* what a node makes, a graph's input, or a constant */
typedef struct poprt_match poprt_match; /* a pattern and its last match */

/*
 * Type of a value. A dim below 0 is no number yet: -1 stands for "unknown", others are expressions
 * that mean the same wherever they stand in one model, may be compared and handed on, and nothing
 * else. `rank` is -1 where not even that is known; `dtype` may be POPRT_DTYPE_UNDEFINED. Frozen.
 */
typedef struct poprt_type {
    int32_t dtype; /* POPRT_DTYPE_* */
    int32_t rank;
    int64_t dims[POPRT_PLUGIN_MAX_RANK];
} poprt_type;

enum {
    POPRT_ATTR_INT = 1,
    POPRT_ATTR_FLOAT = 2,
    POPRT_ATTR_STRING = 3,
    POPRT_ATTR_INTS = 4,
    POPRT_ATTR_FLOATS = 5
};

/* An attribute: the member of its kind counts. Frozen. */
typedef struct poprt_attr {
    const char *name;
    int32_t kind;   /* POPRT_ATTR_* */
    uint32_t count; /* of `ints` or `floats`; bytes of `string` */
    int64_t integer;
    float real;
    const char *string; /* not necessarily ended by a zero byte */
    const int64_t *ints;
    const float *floats;
} poprt_attr;

/*
 * One way to compute an operator, faster than eval, for nodes whose `lower` chose it. It gives the
 * values that eval gives, or nearly so.
 */
typedef struct poprt_plugin_kernel {
    size_t struct_size; /* sizeof(poprt_plugin_kernel) */
    const char *name;   /* of letters, digits and '_'; PopEF files name it, so it stays */
    /* Computes items [first, first + count) of those that lower announced. Which items come in one
     * call, and which call comes first, is not known, but does not depend on the number of threads:
     * so neither do results, where a call writes only what belongs to its items. */
    poprt_status (
        *run)(const poprt_host *host, poprt_kernel *context, uint64_t first, uint64_t count);
} poprt_plugin_kernel;

/*
 * An operator, or a shape function: a record without `eval` gives an operator that nobody here can
 * run its types, so that a model with it can be converted.
 */
typedef struct poprt_plugin_op {
    size_t struct_size;                /* sizeof(poprt_plugin_op) */
    const char *domain;                /* NULL or "": ai.onnx */
    const char *name;                  /* with its domain, the name of no other operator here */
    uint32_t since;                    /* version of the operator's schema, from 1 */
    uint32_t flags;                    /* POPRT_OP_* */
    uint32_t min_inputs, max_inputs;   /* POPRT_PLUGIN_ANY: any number; at most 64 otherwise. Inputs
                                        * from min_inputs on may be absent */
    uint32_t min_outputs, max_outputs; /* likewise; an output may be unwanted */
    const poprt_attr *attrs; /* every attribute that hooks may ask for, with its default */
    size_t n_attrs;          /* at most 63 */
    /* Types of the outputs from those of the inputs, by infer_output. Called when a model is read
     * or changed, and at run time with plain numbers. An output without a type is told to eval. */
    poprt_status (*infer)(const poprt_host *host, poprt_infer *context);
    /* Values of the outputs from those of the inputs. */
    poprt_status (*eval)(const poprt_host *host, poprt_eval *context);
    /* How a node runs in a compiled model: called once for each when a model is compiled, with the
     * types and constants that are known then. It chooses a kernel by lower_kernel and says what
     * that needs; when it returns without having chosen, or is NULL, eval runs the node. With
     * kernels there is eval all the same: it folds constants, and runs where a kernel cannot. */
    poprt_status (*lower)(const poprt_host *host, poprt_lower *context);
    const poprt_plugin_kernel *const *kernels;
    size_t n_kernels; /* at most 64 */
} poprt_plugin_op;

enum {
    /* The same inputs give the same outputs, and nothing else happens: nodes may be evaluated
     * before the run, merged, and removed where nobody reads them. */
    POPRT_OP_PURE = 1,
    /* Inputs and outputs may be tensors of strings. Without it nobody has to expect any. */
    POPRT_OP_STRINGS = 2
};

/* How the text of an option is checked before a pass runs. */
enum {
    POPRT_PASS_OPTION_INT = 0,
    POPRT_PASS_OPTION_REAL = 1,
    POPRT_PASS_OPTION_BOOL = 2, /* true, false, 1, 0 */
    POPRT_PASS_OPTION_TEXT = 3
};

/* An option of a pass, set by poprt_pass_manager_add_args, and by --pass_options PASS.NAME=TEXT of
 * the command line. Frozen. */
typedef struct poprt_plugin_option {
    const char *name;
    const char *default_value; /* as text, of the kind */
    const char *doc;           /* one sentence */
    int32_t kind;              /* POPRT_PASS_OPTION_* */
} poprt_plugin_option;

/* A pass. Its name is found by --passes, poprt_pass_manager_add and --list_all_passes. */
typedef struct poprt_plugin_pass {
    size_t struct_size; /* sizeof(poprt_plugin_pass) */
    const char *name;   /* of letters, digits and '_'; the name of no other pass here */
    const char *doc;    /* one sentence */
    uint32_t flags;     /* POPRT_PASS_EACH_GRAPH or 0 */
    uint32_t reserved;
    const poprt_plugin_option *options;
    size_t n_options; /* at most 64 */
    /* Sets *changed to 1 when the graph is another one afterwards. Then types are inferred anew;
     * a graph that is none any more (a node before what it reads, say) is the pass's failure. */
    poprt_status (
        *run)(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph, int32_t *changed);
} poprt_plugin_pass;

enum {
    /* `run` is called for the main graph and for each graph that a node holds, outer ones first;
     * without it, once with the main graph. */
    POPRT_PASS_EACH_GRAPH = 1
};

/*
 * A pass that rewrites what a pattern finds, on the main graph and those within. A pattern is one
 * or more chains "TOKEN->TOKEN->...", with tokens
 *
 *     OpType:label   a node of that operator; equal tokens in several chains are the same node
 *     s:label        what comes before: anything        e:label   what comes after: anything
 *
 * An arrow says that an output of the left node is an input of the right one, at any place.
 */
typedef struct poprt_plugin_pattern {
    size_t struct_size;     /* sizeof(poprt_plugin_pattern) */
    const char *name, *doc; /* as of a pass */
    const char *const *chains;
    size_t n_chains;
    /* Called for each match (nodes by match_node) until there is no new one. May leave it alone;
     * sets *changed to 1 otherwise. */
    poprt_status (*rewrite)(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
        poprt_match *match, int32_t *changed);
} poprt_plugin_pattern;

typedef struct poprt_plugin {
    size_t struct_size; /* sizeof(poprt_plugin) */
    uint32_t abi;       /* POPRT_PLUGIN_ABI */
    uint32_t reserved;
    const char *name;                  /* for errors, and in PopEF files that need it */
    const char *version;               /* text of the plug-in's own */
    const poprt_plugin_op *const *ops; /* lists of pointers, because records may grow */
    size_t n_ops;
    const poprt_plugin_pass *const *passes;
    size_t n_passes;
    const poprt_plugin_pattern *const *patterns;
    size_t n_patterns;
} poprt_plugin;

/* A node to be made. */
typedef struct poprt_node_form {
    size_t struct_size;           /* sizeof(poprt_node_form) */
    const char *domain, *op_type; /* `domain` NULL or "": ai.onnx, newest form of the operator */
    const char *name;             /* NULL: none */
    poprt_value *const *inputs;   /* NULL in the list: absent */
    const poprt_attr *attrs;      /* others have their defaults */
    uint32_t n_inputs, n_outputs, n_attrs, reserved;
} poprt_node_form;

/* What the library does for a plug-in. Handles must not be NULL where nothing else is said. */
struct poprt_host {
    size_t struct_size; /* of the library's table */
    uint32_t abi;       /* POPRT_PLUGIN_ABI of the library */
    uint32_t reserved;
    const char *library; /* its version, as poprt_version */

    /* ---- anywhere */

    /* Zeroed memory from the environment's allocator; NULL when refused. `release` takes NULL. */
    void *(*allocate)(const poprt_host *host, size_t size);
    void (*release)(const poprt_host *host, void *block);
    /* Says why a hook fails; returns `status`. `subject` (may be NULL): the node, value or option
     * concerned; NULL stands for the node at hand. */
    poprt_status (*fail)(poprt_status status, const char *subject, const char *message);
    /* A line for the environment's log, by the levels of poprt/env.h: 1 error, 2 warning, 3 info,
     * 4 debug. */
    void (*log)(const poprt_host *host, int32_t level, const char *text);

    /* ---- for infer. Operators of plug-ins have tensors; of strings with POPRT_OP_STRINGS. */

    uint32_t (*infer_inputs)(const poprt_infer *context);
    uint32_t (*infer_outputs)(const poprt_infer *context);
    /* Attributes of the record, defaults included; POPRT_E_NOT_FOUND for others. */
    poprt_status (*infer_attr)(const poprt_infer *context, const char *name, poprt_attr *out);
    /* 0 where an optional input is absent, or nobody wants the output. */
    int32_t (*infer_has_input)(const poprt_infer *context, uint32_t input);
    int32_t (*infer_has_output)(const poprt_infer *context, uint32_t output);
    /* Type of an input that is there. */
    poprt_status (*infer_input)(const poprt_infer *context, uint32_t input, poprt_type *out);
    /* The integers that an input of rank 0 or 1 holds, where they are known already: *count is
     * their number, or 0. At most `most` go to `to`; more are as if unknown. */
    poprt_status (*infer_integers)(const poprt_infer *context, uint32_t input, int64_t *to,
        uint32_t most, uint32_t *count);
    /* Type of an output; nothing happens where nobody wants it. */
    poprt_status (*infer_output)(poprt_infer *context, uint32_t output, const poprt_type *type);

    /* ---- for eval */

    uint32_t (*eval_inputs)(const poprt_eval *context);
    uint32_t (*eval_outputs)(const poprt_eval *context);
    poprt_status (*eval_attr)(const poprt_eval *context, const char *name, poprt_attr *out);
    int32_t (*eval_has_input)(const poprt_eval *context, uint32_t input);
    int32_t (*eval_has_output)(const poprt_eval *context, uint32_t output);
    /* An input that is there; its elements (of strings: poprt_string) are only read. */
    poprt_status (*eval_input)(const poprt_eval *context, uint32_t input, poprt_tensor *out);
    /* Memory of an output that is wanted, to be filled; strings by eval_set_string. The type is the
     * one that infer gave for these inputs where it gave one. */
    poprt_status (*eval_output)(poprt_eval *context, uint32_t output, int32_t dtype, uint32_t rank,
        const int64_t *dims, poprt_tensor *out);
    /* Zeroed memory until eval returns; NULL (told) when refused. */
    void *(*eval_scratch)(poprt_eval *context, size_t size);
    /* POPRT_E_CANCELLED when the caller wants to stop: to be asked now and then in long loops. */
    poprt_status (*eval_check)(poprt_eval *context);

    /* ---- for passes: graphs. Questions about a node that was removed answer NULL or 0. */

    /* Nodes in an order in which they can run; NULL after the last. What follows a node that was
     * removed is what followed it then, so that walking on is safe whatever is edited. */
    poprt_node *(*graph_first)(const poprt_graph *graph);
    poprt_node *(*node_next)(const poprt_node *node);
    uint32_t (*graph_inputs)(const poprt_graph *graph);
    poprt_value *(*graph_input)(const poprt_graph *graph, uint32_t index); /* NULL past the end */
    uint32_t (*graph_outputs)(const poprt_graph *graph);
    poprt_value *(*graph_output)(const poprt_graph *graph, uint32_t index);

    const char *(*node_op_type)(const poprt_node *node);
    const char *(*node_domain)(const poprt_node *node); /* "" is ai.onnx */
    const char *(*node_name)(const poprt_node *node);   /* "" where it has none */
    poprt_graph *(*node_graph)(const poprt_node *node); /* that it stands in */
    uint32_t (*node_inputs)(const poprt_node *node);
    poprt_value *(*node_input)(const poprt_node *node, uint32_t index); /* NULL: absent */
    uint32_t (*node_outputs)(const poprt_node *node);
    poprt_value *(*node_output)(const poprt_node *node, uint32_t index);
    uint32_t (*node_subgraphs)(const poprt_node *node);
    poprt_graph *(*node_subgraph)(const poprt_node *node, uint32_t index);
    /* Attributes that were given, and defaults of operators known here. POPRT_E_NOT_FOUND: there is
     * none of this name; POPRT_E_UNSUPPORTED: it is of a kind that poprt_attr has not. */
    poprt_status (*node_attr)(const poprt_node *node, const char *name, poprt_attr *out);
    /* Sets one. Of operators that are not known here, and names that an operator does not know,
     * integers, floats and strings can be set; they are written as they are. */
    poprt_status (*node_set_attr)(poprt_node *node, const poprt_attr *attr);
    /* `value` (NULL: absent) must be there when the node runs. */
    poprt_status (*node_set_input)(poprt_node *node, uint32_t index, poprt_value *value);
    /* Removes a node whose outputs nobody reads. */
    poprt_status (*node_remove)(poprt_node *node);

    const char *(*value_name)(const poprt_value *value); /* "" where it has none */
    poprt_status (*value_type)(const poprt_value *value, poprt_type *out);
    /* Elements of a constant that nobody can override; POPRT_E_NOT_FOUND: it is none. */
    poprt_status (
        *value_constant)(poprt_pass_run *pass, const poprt_value *value, poprt_tensor *out);
    poprt_node *(*value_maker)(const poprt_value *value); /* NULL: an input or a constant */
    /* The index-th place that reads it; NULL past the end. `slot` (may be NULL) gets the input. A
     * graph that gives the value out is no reader: see value_is_output. */
    poprt_node *(*value_reader)(const poprt_value *value, uint32_t index, uint32_t *slot);
    int32_t (*value_is_output)(const poprt_value *value); /* of a graph */

    /* A node before `before`, or at the end of the graph where that is NULL; its outputs have
     * types. */
    poprt_status (*graph_add_node)(poprt_graph *graph, poprt_node *before,
        const poprt_node_form *form, poprt_node **out);
    /* A constant; elements are copied, no strings. `name` (may be NULL) is a wish. */
    poprt_status (*graph_add_constant)(poprt_graph *graph, const char *name,
        const poprt_tensor *tensor, poprt_value **out);
    /* Whoever reads `from` reads `to` from now on, and `to` takes over the name of an output of the
     * graph. Nodes that are read no more go away, unless an effect keeps them. POPRT_E_STATE: an
     * output of the graph cannot become an input, a constant or another output. */
    poprt_status (*value_replace)(poprt_value *from, poprt_value *to);

    /* ---- for passes: the rest */

    /* Text of an option, its default included; NULL: the record has none of this name. */
    const char *(*pass_option)(const poprt_pass_run *pass, const char *name);
    /* POPRT_E_CANCELLED when the caller wants to stop. */
    poprt_status (*pass_check)(const poprt_pass_run *pass);
    /* What was found that the graph does not show: a log line at level info or warning. */
    void (*pass_note)(const poprt_pass_run *pass, const char *subject, const char *message);
    void (*pass_warn)(const poprt_pass_run *pass, const char *subject, const char *message);
    /* A pattern to look for, valid until the pass returns. */
    poprt_status (*pattern_create)(poprt_pass_run *pass, const char *const *chains, size_t n_chains,
        poprt_match **out);
    /* The next match of nodes that were not found together before; the graph may have been edited.
     * *found is 0 when there is none left. */
    poprt_status (*pattern_next)(poprt_match *match, const poprt_graph *graph, int32_t *found);
    /* A node of the last match by its label; NULL where the pattern has no such label. */
    poprt_node *(*match_node)(const poprt_match *match, const char *label);

    /* ---- for eval, strings */

    /* Element `index` of an output of strings, which eval_output has made: `bytes` are copied, and
     * may be NULL where `size` is 0. Elements that are not set are empty. */
    poprt_status (*eval_set_string)(poprt_eval *context, uint32_t output, size_t index,
        const char *bytes, size_t size);

    /* ---- for lower. Dims may be below 0, as for infer: then they are numbers only when a kernel
     * runs. */

    uint32_t (*lower_inputs)(const poprt_lower *context);
    uint32_t (*lower_outputs)(const poprt_lower *context);
    poprt_status (*lower_attr)(const poprt_lower *context, const char *name, poprt_attr *out);
    int32_t (*lower_has_input)(const poprt_lower *context, uint32_t input);
    int32_t (*lower_has_output)(const poprt_lower *context, uint32_t output);
    poprt_status (*lower_input)(const poprt_lower *context, uint32_t input, poprt_type *out);
    poprt_status (*lower_output)(const poprt_lower *context, uint32_t output, poprt_type *out);
    /* Elements of an input that is a constant which no operator writes; POPRT_E_NOT_FOUND: it is
     * none. Where poprt_session_write_weight replaces it, eval runs from then on. */
    poprt_status (*lower_constant)(poprt_lower *context, uint32_t input, poprt_tensor *out);
    /* Chooses one of the record's kernels by its name; the last choice counts. Inputs and outputs
     * must be tensors of numbers or bool. */
    poprt_status (*lower_kernel)(poprt_lower *context, const char *name);
    /* A constant for the kernel: *memory is zeroed and aligned to 64, to be filled before lower
     * returns. It is stored in the PopEF file and mapped from there. The first has index 0, then 1
     * and so on, 16 at most; `size` is from 1 byte to 1 TiB. */
    poprt_status (*lower_prepare)(poprt_lower *context, size_t size, void **memory);
    /* The kernel does without the elements of an input that lower_constant gives, because it was
     * prepared from them: where this node alone reads it, it is not stored, and absent for the
     * kernel. Then there is no weight of its name any more, and no eval to go back to. */
    poprt_status (*lower_drop)(poprt_lower *context, uint32_t input);
    /* Memory of any contents for each call of the kernel: at most 1 GiB. A session has it for every
     * thread. */
    poprt_status (*lower_scratch)(poprt_lower *context, size_t size);
    /* This output may be made in the memory of this input, when both have one type and nobody reads
     * the input afterwards: element i is read for the last time before element i is written, by the
     * kernel and by eval. A permission; only output 0 makes use of it today. */
    poprt_status (*lower_in_place)(poprt_lower *context, uint32_t output, uint32_t input);
    /* Independent items of work, from 1, which is the default, to 2^30. Where dims are no numbers
     * yet, take a fixed number of items, and let the kernel cut what it finds into as many. */
    poprt_status (*lower_items)(poprt_lower *context, uint64_t count);

    /* ---- for kernels. All but kernel_scratch are the same for every call for a node. */

    uint32_t (*kernel_inputs)(const poprt_kernel *context);
    uint32_t (*kernel_outputs)(const poprt_kernel *context);
    poprt_status (*kernel_attr)(const poprt_kernel *context, const char *name, poprt_attr *out);
    int32_t (*kernel_has_input)(const poprt_kernel *context, uint32_t input);
    int32_t (*kernel_has_output)(const poprt_kernel *context, uint32_t output);
    poprt_status (*kernel_input)(const poprt_kernel *context, uint32_t input, poprt_tensor *out);
    /* An output that is wanted, in the type that infer gave, to be filled. */
    poprt_status (*kernel_output)(const poprt_kernel *context, uint32_t output, poprt_tensor *out);
    /* What lower prepared, if it has exactly this size; aligned to 64. */
    poprt_status (*kernel_constant)(const poprt_kernel *context, uint32_t index, size_t size,
        const void **out);
    /* The scratch that lower asked for, if it has at least this size; aligned to 64. NULL (told):
     * it has not. */
    void *(*kernel_scratch)(const poprt_kernel *context, size_t size);
    uint64_t (*kernel_items)(const poprt_kernel *context); /* in all */
    /* POPRT_E_CANCELLED when the caller wants to stop; it is asked between calls in any case. */
    poprt_status (*kernel_check)(const poprt_kernel *context);
};

/* The one function that a plug-in exports. NULL: the host is too old for it. */
typedef const poprt_plugin *(*poprt_plugin_entry_fn)(const poprt_host *host);
POPRT_PLUGIN_EXPORT const poprt_plugin *poprt_plugin_entry(const poprt_host *host);

#ifdef __cplusplus
}
#endif
#endif
