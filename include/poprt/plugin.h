/* SPDX-License-Identifier: MIT */
/*
 * poprt/plugin.h — the interface of plug-ins. A plug-in adds operators, shape functions, passes and
 * patterns. It is a shared object, or a record of a program that passes it to poprt_env_add_plugin.
 *
 * A plug-in includes this header alone, does not link the library, and exports one function:
 *
 *      POPRT_PLUGIN_EXPORT const poprt_plugin *poprt_plugin_entry(const poprt_host *host)
 *      {
 *          return host->abi >= POPRT_PLUGIN_ABI ? &my_plugin : NULL;
 *      }
 *
 *      cc -shared -fPIC -I<prefix>/include my_plugin.c -o my_plugin.so
 *
 * `host` is a table of the library's functions, the only way for a plug-in to call the library.
 * Handles (graphs, nodes, values, contexts) are opaque pointers.
 *
 * Lifetime. The shared object stays loaded until its environment is destroyed, which is after the
 * last model, executable and session made from it. The records of the plug-in, and everything they
 * point to, must stay unchanged for that long; the library does not copy them. `host` is valid for
 * the same time. A context (poprt_infer, poprt_eval, poprt_lower, poprt_kernel, poprt_pass_run,
 * poprt_match) and everything obtained from it is valid during the call that received it. Nodes and
 * values are valid during the run of a pass.
 *
 * Ownership. The plug-in releases memory of `allocate` by `release`. Everything else that a host
 * function returns belongs to the library: texts, dims, tensors, lists. Host functions copy their
 * arguments.
 *
 * Threads. `infer`, `eval`, `lower` and kernels may be called from several threads at the same
 * time, each with its own context. They must not write shared state. Several threads may call a
 * kernel for one node, each for its own items. The thread that runs a pass manager calls the
 * passes; two managers may run on two threads. Host functions belong to the context of the calling
 * thread; allocate, release, fail and log may be called anywhere.
 *
 * Errors. A hook that fails calls `fail` with one sentence and returns a POPRT_E_* value. If a host
 * function fails, it has called `fail` itself, and the hook returns its status. The caller of the
 * library receives the message with the name of the plug-in in front. A hook must not end the
 * process, throw, or leave by longjmp.
 *
 * Trust. The library checks the arguments of hooks against the types that infer returned. Elements
 * of tensors may have any value. The contents of prepared constants and the number of items may
 * come from a PopEF file: a kernel must check both before it relies on them.
 *
 * Versions. Structs that may grow begin with their size. New members are only added at the end, and
 * members that an older plug-in does not know are zero. A plug-in that supports older hosts must
 * compare host->struct_size before it uses a newer member of poprt_host.
 */
#ifndef POPRT_PLUGIN_H
#define POPRT_PLUGIN_H

#include "poprt/attr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface between host and plug-in. A library loads plug-ins with the same number,
 * whatever their other versions are. */
#define POPRT_PLUGIN_ABI 1

#if defined(__GNUC__)
#define POPRT_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define POPRT_PLUGIN_EXPORT
#endif

#define POPRT_PLUGIN_ANY UINT32_MAX /* as a maximum: no limit */

typedef struct poprt_host poprt_host;
typedef struct poprt_infer poprt_infer;       /* one call of an operator's infer */
typedef struct poprt_eval poprt_eval;         /* one call of an operator's eval */
typedef struct poprt_lower poprt_lower;       /* one call of an operator's lower */
typedef struct poprt_kernel poprt_kernel;     /* one call of a kernel */
typedef struct poprt_grad poprt_grad;         /* one call of an operator's grad */
typedef struct poprt_pass_run poprt_pass_run; /* one run of a pass */
typedef struct poprt_graph poprt_graph;       /* main graph, or a subgraph of a node */
typedef struct poprt_node poprt_node;
typedef struct poprt_value poprt_value; /* output of a node, input of a graph, or constant */
typedef struct poprt_match poprt_match; /* a pattern and its latest match */

/*
 * A kernel: a faster implementation of an operator, for the nodes whose `lower` chose it. It
 * computes the same values as eval, up to rounding.
 */
typedef struct poprt_plugin_kernel {
    size_t struct_size; /* sizeof(poprt_plugin_kernel) */
    /* Letters, digits and '_'. PopEF files store the name, so it must not change. */
    const char *name;
    /* Computes items [first, first + count) of the number that lower set. The division into calls
     * and their order are unspecified, but do not depend on the number of threads. Results do not
     * depend on it either if a call writes only the data of its own items. */
    poprt_status (
        *run)(const poprt_host *host, poprt_kernel *context, uint64_t first, uint64_t count);
} poprt_plugin_kernel;

/*
 * An operator. A record without `eval` is a shape function: models with the operator can be
 * converted, but not run.
 */
typedef struct poprt_plugin_op {
    size_t struct_size; /* sizeof(poprt_plugin_op) */
    const char *domain; /* NULL or "": ai.onnx */
    const char *name;   /* must be unique within its domain */
    uint32_t since;     /* version of the operator's schema, from 1 */
    uint32_t flags;     /* POPRT_OP_* */
    /* Number of inputs; inputs from min_inputs on may be absent. At most 64, or POPRT_PLUGIN_ANY
     * for no maximum. */
    uint32_t min_inputs, max_inputs;
    /* Number of outputs, likewise; an output may be unused. */
    uint32_t min_outputs, max_outputs;
    /* Every attribute that hooks may ask for, with its default. Tensors, types and graphs may have
     * the default NULL: the attribute is absent. Types and graphs have no other default. */
    const poprt_attr *attrs;
    size_t n_attrs; /* at most 63 */
    /* Sets the types of the outputs from the types of the inputs, by infer_output. Called when a
     * model is read or changed, and at run time with dims that are numbers. If an output gets no
     * type here, eval sets its type. */
    poprt_status (*infer)(const poprt_host *host, poprt_infer *context);
    /* Computes the outputs from the inputs. */
    poprt_status (*eval)(const poprt_host *host, poprt_eval *context);
    /* Selects how a node runs in a compiled model. Called once for each node when a model is
     * compiled, with the types and constants known at that time. It chooses a kernel by
     * lower_kernel and describes what the kernel needs. If it returns without a choice, or is NULL,
     * eval runs the node. An operator with kernels needs eval too: eval folds constants, and runs
     * where a kernel cannot. */
    poprt_status (*lower)(const poprt_host *host, poprt_lower *context);
    const poprt_plugin_kernel *const *kernels;
    size_t n_kernels; /* at most 64 */
    /* Builds the gradients of a node's inputs from those of its outputs: adds nodes by
     * graph_add_node(grad_graph, grad_before, ...), and names the results by grad_set. NULL:
     * differentiating through the operator is an error. */
    poprt_status (*grad)(const poprt_host *host, poprt_grad *context);
} poprt_plugin_op;

enum {
    /* The same inputs give the same outputs, and there are no side effects. Nodes may be evaluated
     * before the run, merged, and removed if no node uses them. */
    POPRT_OP_PURE = 1,
    /* The operator accepts string tensors. Without this flag it is never given any. */
    POPRT_OP_STRINGS = 2
};

/* Kind of an option's text, checked before a pass runs. */
enum {
    POPRT_PASS_OPTION_INT = 0,
    POPRT_PASS_OPTION_REAL = 1,
    POPRT_PASS_OPTION_BOOL = 2, /* true, false, 1, 0 */
    POPRT_PASS_OPTION_TEXT = 3
};

/* An option of a pass. It is set by poprt_pass_manager_add_args, and on the command line by
 * --pass_options PASS.NAME=TEXT. The layout is frozen. */
typedef struct poprt_plugin_option {
    const char *name;
    const char *default_value; /* as text of this kind */
    const char *doc;           /* one sentence */
    int32_t kind;              /* POPRT_PASS_OPTION_* */
} poprt_plugin_option;

/* A pass. --passes, poprt_pass_manager_add and --list_all_passes find it by its name. */
typedef struct poprt_plugin_pass {
    size_t struct_size; /* sizeof(poprt_plugin_pass) */
    const char *name;   /* letters, digits and '_'; must be unique */
    const char *doc;    /* one sentence */
    uint32_t flags;     /* POPRT_PASS_EACH_GRAPH or 0 */
    uint32_t reserved;
    const poprt_plugin_option *options;
    size_t n_options; /* at most 64 */
    /* Runs the pass. Sets *changed to 1 if it changed the graph; the library then infers types
     * again. The pass fails if the graph is not valid afterwards, for instance if a node precedes a
     * node whose output it reads. */
    poprt_status (
        *run)(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph, int32_t *changed);
} poprt_plugin_pass;

enum {
    /* Calls `run` for the main graph and for each subgraph, outer graphs first. Without this flag
     * `run` is called once, for the main graph. */
    POPRT_PASS_EACH_GRAPH = 1
};

/*
 * A pass that rewrites each match of a pattern, on the main graph and its subgraphs. A pattern is
 * one or more chains "TOKEN->TOKEN->...". The tokens are
 *
 *      OpType:label   a node of this operator; equal tokens in several chains are the same node
 *      s:label        start: any producer                e:label   end: any consumer
 *
 * An arrow means that any output of the left node is any input of the right node.
 */
typedef struct poprt_plugin_pattern {
    size_t struct_size;     /* sizeof(poprt_plugin_pattern) */
    const char *name, *doc; /* as in poprt_plugin_pass */
    const char *const *chains;
    size_t n_chains;
    /* Called for each match until there is no new one; match_node returns its nodes. Sets *changed
     * to 1 if it changed the graph, and may leave a match unchanged. */
    poprt_status (*rewrite)(const poprt_host *host, poprt_pass_run *pass, poprt_graph *graph,
        poprt_match *match, int32_t *changed);
} poprt_plugin_pattern;

typedef struct poprt_plugin {
    size_t struct_size; /* sizeof(poprt_plugin) */
    uint32_t abi;       /* POPRT_PLUGIN_ABI */
    uint32_t reserved;
    const char *name;                  /* for errors, and for PopEF files that need the plug-in */
    const char *version;               /* version of the plug-in, any text */
    const poprt_plugin_op *const *ops; /* list of pointers, because records may grow */
    size_t n_ops;
    const poprt_plugin_pass *const *passes;
    size_t n_passes;
    const poprt_plugin_pattern *const *patterns;
    size_t n_patterns;
} poprt_plugin;

/* Description of a new node. */
typedef struct poprt_node_form {
    size_t struct_size; /* sizeof(poprt_node_form) */
    /* `domain` NULL or "": ai.onnx, newest version of the operator. */
    const char *domain, *op_type;
    const char *name;           /* NULL: no name */
    poprt_value *const *inputs; /* a NULL entry: absent input */
    const poprt_attr *attrs;    /* attributes not listed have their defaults */
    uint32_t n_inputs, n_outputs, n_attrs, reserved;
} poprt_node_form;

/* Functions of the library for plug-ins. Handles must not be NULL unless stated otherwise. */
struct poprt_host {
    size_t struct_size; /* sizeof(poprt_host) in the library */
    uint32_t abi;       /* POPRT_PLUGIN_ABI of the library */
    uint32_t reserved;
    const char *library; /* version of the library, as poprt_version */

    /* ---- for all hooks */

    /* Returns zeroed memory from the environment's allocator, or NULL if it was refused. `release`
     * accepts NULL. */
    void *(*allocate)(const poprt_host *host, size_t size);
    void (*release)(const poprt_host *host, void *block);
    /* Sets the message of a failure and returns `status`. `subject` is the node, value or option
     * concerned; NULL stands for the current node. */
    poprt_status (*fail)(poprt_status status, const char *subject, const char *message);
    /* Writes a line to the environment's log. Levels are those of poprt/env.h: 1 error, 2 warning,
     * 3 info, 4 debug. */
    void (*log)(const poprt_host *host, int32_t level, const char *text);

    /* ---- for infer. Inputs and outputs of plug-in operators are tensors; string tensors need
     * POPRT_OP_STRINGS. */

    uint32_t (*infer_inputs)(const poprt_infer *context);
    uint32_t (*infer_outputs)(const poprt_infer *context);
    /* Returns an attribute of the record, or its default. POPRT_E_NOT_FOUND: no such attribute. The
     * contents of an attribute belong to the library; a graph is NULL, see infer_graph. */
    poprt_status (*infer_attr)(const poprt_infer *context, const char *name, poprt_attr *out);
    /* Return 0 if an optional input is absent, or an output is not used. */
    int32_t (*infer_has_input)(const poprt_infer *context, uint32_t input);
    int32_t (*infer_has_output)(const poprt_infer *context, uint32_t output);
    /* Returns the type of a present input. */
    poprt_status (*infer_input)(const poprt_infer *context, uint32_t input, poprt_type *out);
    /* Returns the integers of an input of rank 0 or 1 if they are known: up to `most` of them in
     * `to`, their number in *count. *count is 0 if they are unknown or more than `most`. */
    poprt_status (*infer_integers)(const poprt_infer *context, uint32_t input, int64_t *to,
        uint32_t most, uint32_t *count);
    /* Sets the type of an output. No effect if the output is not used. */
    poprt_status (*infer_output)(poprt_infer *context, uint32_t output, const poprt_type *type);

    /* ---- for eval */

    uint32_t (*eval_inputs)(const poprt_eval *context);
    uint32_t (*eval_outputs)(const poprt_eval *context);
    poprt_status (*eval_attr)(const poprt_eval *context, const char *name, poprt_attr *out);
    int32_t (*eval_has_input)(const poprt_eval *context, uint32_t input);
    int32_t (*eval_has_output)(const poprt_eval *context, uint32_t output);
    /* Returns a present input. Its elements (of string tensors: poprt_string) are read-only. */
    poprt_status (*eval_input)(const poprt_eval *context, uint32_t input, poprt_tensor *out);
    /* Returns the memory of a used output, to be filled by eval; strings are set by
     * eval_set_string. The type must be the one that infer set for these inputs, if it set one. */
    poprt_status (*eval_output)(poprt_eval *context, uint32_t output, int32_t dtype, uint32_t rank,
        const int64_t *dims, poprt_tensor *out);
    /* Returns zeroed memory that is valid until eval returns. NULL: refused, and `fail` has been
     * called. */
    void *(*eval_scratch)(poprt_eval *context, size_t size);
    /* Returns POPRT_E_CANCELLED if the caller requested a stop. Long loops should call it from time
     * to time. */
    poprt_status (*eval_check)(poprt_eval *context);

    /* ---- for passes: graphs. Queries about a removed node return NULL or 0. */

    /* Return the nodes in an executable order, and NULL after the last. The successor of a removed
     * node is its successor at the time of the removal, so a walk may continue after any edit. */
    poprt_node *(*graph_first)(const poprt_graph *graph);
    poprt_node *(*node_next)(const poprt_node *node);
    uint32_t (*graph_inputs)(const poprt_graph *graph);
    poprt_value *(*graph_input)(const poprt_graph *graph, uint32_t index); /* NULL past the end */
    uint32_t (*graph_outputs)(const poprt_graph *graph);
    poprt_value *(*graph_output)(const poprt_graph *graph, uint32_t index);

    const char *(*node_op_type)(const poprt_node *node);
    const char *(*node_domain)(const poprt_node *node); /* "" is ai.onnx */
    const char *(*node_name)(const poprt_node *node);   /* "": no name */
    poprt_graph *(*node_graph)(const poprt_node *node); /* graph that contains the node */
    uint32_t (*node_inputs)(const poprt_node *node);
    poprt_value *(*node_input)(const poprt_node *node, uint32_t index); /* NULL: absent */
    uint32_t (*node_outputs)(const poprt_node *node);
    poprt_value *(*node_output)(const poprt_node *node, uint32_t index);
    uint32_t (*node_subgraphs)(const poprt_node *node);
    poprt_graph *(*node_subgraph)(const poprt_node *node, uint32_t index);
    /* Returns an attribute of the node, or its default if the operator is known. POPRT_E_NOT_FOUND:
     * no such attribute. POPRT_E_UNSUPPORTED: a tensor, type or graph that the operator does not
     * define. The object of a graph is a poprt_graph, as of node_subgraph. */
    poprt_status (*node_attr)(const poprt_node *node, const char *name, poprt_attr *out);
    /* Sets an attribute other than a graph. For an unknown operator, or an attribute that the
     * operator does not define, tensors and types cannot be set either; other attributes are
     * written unchanged. */
    poprt_status (*node_set_attr)(poprt_node *node, const poprt_attr *attr);
    /* Sets an input. `value` (NULL: absent) must be available when the node runs. */
    poprt_status (*node_set_input)(poprt_node *node, uint32_t index, poprt_value *value);
    /* Removes a node whose outputs are not used. */
    poprt_status (*node_remove)(poprt_node *node);

    const char *(*value_name)(const poprt_value *value); /* "": no name */
    poprt_status (*value_type)(const poprt_value *value, poprt_type *out);
    /* Returns the elements of a constant that the caller of a run cannot override.
     * POPRT_E_NOT_FOUND: the value is not such a constant. */
    poprt_status (
        *value_constant)(poprt_pass_run *pass, const poprt_value *value, poprt_tensor *out);
    poprt_node *(*value_maker)(const poprt_value *value); /* NULL: an input or a constant */
    /* Returns the index-th node that reads the value, and NULL past the end. `slot` (may be NULL)
     * receives the number of its input. A graph that returns the value is not a reader: see
     * value_is_output. */
    poprt_node *(*value_reader)(const poprt_value *value, uint32_t index, uint32_t *slot);
    int32_t (*value_is_output)(const poprt_value *value); /* 1: output of a graph */

    /* Inserts a node before `before`, or at the end of the graph if that is NULL, and infers the
     * types of its outputs. */
    poprt_status (*graph_add_node)(poprt_graph *graph, poprt_node *before,
        const poprt_node_form *form, poprt_node **out);
    /* Adds a constant and copies the elements, which cannot be strings. `name` (may be NULL) is a
     * suggestion. */
    poprt_status (*graph_add_constant)(poprt_graph *graph, const char *name,
        const poprt_tensor *tensor, poprt_value **out);
    /* Makes all readers of `from` read `to`. If `from` is an output of the graph, `to` takes over
     * its name. Nodes that are not used any more are removed, unless they have side effects.
     * POPRT_E_STATE: an output of the graph cannot become an input, a constant or another
     * output. */
    poprt_status (*value_replace)(poprt_value *from, poprt_value *to);

    /* ---- for passes: options, messages, patterns */

    /* Returns the text of an option, or its default. NULL: the record has no such option. */
    const char *(*pass_option)(const poprt_pass_run *pass, const char *name);
    /* Returns POPRT_E_CANCELLED if the caller requested a stop. */
    poprt_status (*pass_check)(const poprt_pass_run *pass);
    /* Write a finding that the graph does not show to the log, at level info or warning. */
    void (*pass_note)(const poprt_pass_run *pass, const char *subject, const char *message);
    void (*pass_warn)(const poprt_pass_run *pass, const char *subject, const char *message);
    /* Creates a pattern, valid until the pass returns. */
    poprt_status (*pattern_create)(poprt_pass_run *pass, const char *const *chains, size_t n_chains,
        poprt_match **out);
    /* Finds the next match: a combination of nodes that was not returned before. The graph may have
     * been edited in between. *found is 0 if no match is left. */
    poprt_status (*pattern_next)(poprt_match *match, const poprt_graph *graph, int32_t *found);
    /* Returns a node of the latest match by its label. NULL: the pattern has no such label. */
    poprt_node *(*match_node)(const poprt_match *match, const char *label);

    /* ---- for eval: strings */

    /* Sets element `index` of a string output that eval_output returned. `bytes` are copied, and
     * may be NULL if `size` is 0. Elements that are not set are empty. */
    poprt_status (*eval_set_string)(poprt_eval *context, uint32_t output, size_t index,
        const char *bytes, size_t size);

    /* ---- for lower. As for infer, a dim may be below 0: then it is a number only when a kernel
     * runs. */

    uint32_t (*lower_inputs)(const poprt_lower *context);
    uint32_t (*lower_outputs)(const poprt_lower *context);
    poprt_status (*lower_attr)(const poprt_lower *context, const char *name, poprt_attr *out);
    int32_t (*lower_has_input)(const poprt_lower *context, uint32_t input);
    int32_t (*lower_has_output)(const poprt_lower *context, uint32_t output);
    poprt_status (*lower_input)(const poprt_lower *context, uint32_t input, poprt_type *out);
    poprt_status (*lower_output)(const poprt_lower *context, uint32_t output, poprt_type *out);
    /* Returns the elements of an input that is a constant and is not written by an operator.
     * POPRT_E_NOT_FOUND: it is not such a constant. If poprt_session_write_weight replaces it, eval
     * runs the node from then on. */
    poprt_status (*lower_constant)(poprt_lower *context, uint32_t input, poprt_tensor *out);
    /* Chooses a kernel of the record by its name; the last call counts. Inputs and outputs must be
     * tensors of numbers or bool. */
    poprt_status (*lower_kernel)(poprt_lower *context, const char *name);
    /* Adds a prepared constant for the kernel, which lower fills before it returns. *memory is
     * zeroed and aligned to 64 bytes. The PopEF file stores the constant, and maps it. Constants
     * have indices 0, 1 and so on, at most 16; `size` is from 1 byte to 1 TiB. */
    poprt_status (*lower_prepare)(poprt_lower *context, size_t size, void **memory);
    /* The kernel does not need the elements of an input that lower_constant returned, because it
     * uses a prepared constant. If no other node reads the input, it is not stored and is absent
     * for the kernel. Then the weight has no name any more, and eval cannot replace the kernel. */
    poprt_status (*lower_drop)(poprt_lower *context, uint32_t input);
    /* Requests uninitialised scratch for each call of the kernel, at most 1 GiB. A session
     * allocates it for every thread. */
    poprt_status (*lower_scratch)(poprt_lower *context, size_t size);
    /* Allows the output to use the memory of the input, if both have one type and no other node
     * reads the input later. The kernel and eval must read element i for the last time before they
     * write element i. At present the library uses this only for output 0. */
    poprt_status (*lower_in_place)(poprt_lower *context, uint32_t output, uint32_t input);
    /* Sets the number of independent items of work, 1 (the default) to 2^30. If dims are not
     * numbers yet, set a fixed number, and let the kernel divide its work into as many items. */
    poprt_status (*lower_items)(poprt_lower *context, uint64_t count);

    /* ---- for kernels. All functions but kernel_scratch return the same for every call for a
     * node. */

    uint32_t (*kernel_inputs)(const poprt_kernel *context);
    uint32_t (*kernel_outputs)(const poprt_kernel *context);
    poprt_status (*kernel_attr)(const poprt_kernel *context, const char *name, poprt_attr *out);
    int32_t (*kernel_has_input)(const poprt_kernel *context, uint32_t input);
    int32_t (*kernel_has_output)(const poprt_kernel *context, uint32_t output);
    poprt_status (*kernel_input)(const poprt_kernel *context, uint32_t input, poprt_tensor *out);
    /* Returns a used output, in the type that infer set, to be filled. */
    poprt_status (*kernel_output)(const poprt_kernel *context, uint32_t output, poprt_tensor *out);
    /* Returns a prepared constant if it has exactly this size; aligned to 64 bytes. */
    poprt_status (*kernel_constant)(const poprt_kernel *context, uint32_t index, size_t size,
        const void **out);
    /* Returns the scratch that lower requested if it has at least this size; aligned to 64 bytes.
     * NULL: it is smaller, and `fail` has been called. */
    void *(*kernel_scratch)(const poprt_kernel *context, size_t size);
    uint64_t (*kernel_items)(const poprt_kernel *context); /* number of items that lower set */
    /* Returns POPRT_E_CANCELLED if the caller requested a stop. The library also checks between
     * calls. */
    poprt_status (*kernel_check)(const poprt_kernel *context);

    /* ---- for grad. The functions for passes that take a graph, a node or a value may be called
     * too, except for value_constant, which needs a pass. */

    /* Return the graph of the node, and the node before which new nodes are added (NULL: at the
     * end). */
    poprt_graph *(*grad_graph)(const poprt_grad *context);
    poprt_node *(*grad_before)(const poprt_grad *context);
    /* Returns the node that is differentiated. Its inputs, outputs and attributes are those of
     * node_input, node_output and node_attr. */
    poprt_node *(*grad_node)(const poprt_grad *context);
    /* Returns the gradient of an output. NULL: the result does not depend on the output. */
    poprt_value *(*grad_of_output)(const poprt_grad *context, uint32_t output);
    /* Returns 0 if the gradient of an input is not needed. */
    int32_t (*grad_wants)(const poprt_grad *context, uint32_t input);
    /* Sets the gradient of an input. It is summed over the axes along which the input was
     * broadcast. An input that is not set gets zeros. */
    poprt_status (*grad_set)(poprt_grad *context, uint32_t input, poprt_value *gradient);

    /* ---- for infer and eval: attributes that are graphs */

    /* Infers the types of the graph's `n_out` outputs from those of its `n_in` inputs. A run does
     * not infer them again: then, and for outputs that are not tensors, types are undefined, and
     * eval states the type of its output. POPRT_E_NOT_FOUND: the node has no such graph. */
    poprt_status (*infer_graph)(poprt_infer *context, const char *name, uint32_t n_in,
        const poprt_type *in, uint32_t n_out, poprt_type *out);
    /* Runs the graph. The results are valid until the graph runs again, or eval returns. Fails for
     * results that are not tensors. */
    poprt_status (*eval_graph)(poprt_eval *context, const char *name, uint32_t n_in,
        const poprt_tensor *in, uint32_t n_out, poprt_tensor *out);
};

/* The function that a plug-in exports. NULL: the host is too old for the plug-in. */
typedef const poprt_plugin *(*poprt_plugin_entry_fn)(const poprt_host *host);
POPRT_PLUGIN_EXPORT const poprt_plugin *poprt_plugin_entry(const poprt_host *host);

#ifdef __cplusplus
}
#endif
#endif
