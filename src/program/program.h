/* SPDX-License-Identifier: MIT */
/*
 * program.h — the interface between compile and run: blocks of steps over buffers, constants,
 * inputs and outputs. A program is immutable once made, and has no pointers into its graph. It is
 * stored as PopEF and mapped back without reading the weights.
 *
 * A program is a list of blocks. Block 0 is the main program. Programs that train have further
 * entries (prt_entry), whose blocks have no inputs and outputs. The other blocks are bodies of
 * control operators, each called by exactly one step of its parent. Only a callee of operators with
 * PRT_CALLS may have several callers, and, without captures, callers in several blocks. A block has
 * its own buffers; a step refers to them by index. A buffer of a body may stand for a buffer of its
 * parent (a capture).
 *
 * Variables (op/variable.h) outlive a run. In a block a variable has at most one step that writes
 * it, in place: its new value is another buffer of the same variable, and every step that reads the
 * old one, views of it included, stands before.
 *
 * Buffers share memory in two ways. A view is an output that lies in an input of its step: either a
 * range of the input's bytes (Reshape, Split …), so that the step has nothing to do, or a result
 * that is written over an input at the end of its lifetime. The step determines the offset once the
 * shapes are known. A part is the reverse: an input of a later step is computed directly in that
 * step's output (Concat), or in an output of the caller's of which a later step makes a view.
 * Columns are parts in adjacent columns of the rows of a Concat along the last axis, where all
 * steps that use them accept a row stride (op/alias.h). The buffer at the end of such a chain lives
 * as long as all buffers that lie in it.
 */
#ifndef PRT_PROGRAM_PROGRAM_H
#define PRT_PROGRAM_PROGRAM_H

#include "base/blob.h"
#include "base/vec.h"
#include "op/lower.h"
#include "op/variable.h"
#include "op/weight_form.h"
#include "program/facts.h"
#include "program/flow.h"
#include "tensor/type.h"

#define PRT_NO_BUFFER UINT32_MAX /* an omitted argument */

enum { PRT_MAX_BLOCK_DEPTH = 256 }; /* deepest nesting of blocks, which bounds recursion */

typedef enum prt_space {
    PRT_SPACE_PLANNED,  /* in the planned memory of the block, at `offset` */
    PRT_SPACE_CONSTANT, /* `ref` = index of a constant */
    PRT_SPACE_INPUT,    /* `ref` = index of a block input: the caller's memory where possible */
    PRT_SPACE_OUTPUT,   /* `ref` = index of a block output: the caller's memory where possible */
    PRT_SPACE_CAPTURE,  /* `ref` = buffer of the parent block */
    PRT_SPACE_DYNAMIC,  /* allocated when it is computed: unknown dims, strings, sequences */
    PRT_SPACE_VIEW,     /* in the memory of buffer `ref`, an input of the step that computes it */
    PRT_SPACE_PART,     /* in the memory of buffer `ref`, planned or output, from `offset` on */
    PRT_SPACE_COLUMNS,  /* columns of buffer `ref`, planned or output: `offset` is a byte offset in
                         * each of its rows, which run along the last axis */
    PRT_SPACE_VARIABLE  /* `ref` = index of a variable */
} prt_space;

typedef struct prt_buffer {
    const prt_type *type; /* dims: numbers, expressions over the program's symbols, or unknown */
    prt_str name;         /* the value's name in the model, for errors and inspection */
    uint32_t space;
    uint32_t ref;
    uint32_t first, last; /* lifetime in steps of its block, that of buffers inside it included */
    size_t offset;        /* planned buffers, parts and columns, when the block is static */
} prt_buffer;

/* The state of a constant's CRC-32C, which PopEF stores. */
typedef enum prt_sum_kind {
    PRT_SUM_COMPUTED,  /* computed on writing: the bytes were made here */
    PRT_SUM_FROM_FILE, /* `sum`, stated by the file it was read from; it may not have been compared
                        * with the bytes */
    PRT_SUM_ABSENT     /* the file says that there is no checksum; `sum` is 0 or a stated number */
} prt_sum_kind;

typedef struct prt_constant {
    prt_str name;
    const prt_type *type;
    prt_blob *blob;              /* bytes, at any address; poprt_string[] for strings */
    _Atomic(prt_blob *) aligned; /* aligned copy for kernels, made when first needed */
    prt_sum_kind sum_kind;
    uint32_t sum;
    bool is_prepared; /* laid out for a plug-in's kernel, aligned to a cache line */
} prt_constant;

struct prt_op_def;

/* The kind of a step: a row of kernels.def. */
typedef enum prt_kernel_id {
#define KERNEL(id, doc) PRT_KERNEL_##id,
#include "program/kernels.def"
    PRT_KERNEL_COUNT
} prt_kernel_id;

const char *prt_kernel_name(uint32_t kernel);

/* Parameters of a step. */
typedef struct prt_eval_params {
    const struct prt_op_def *def;
    const void *attrs;
    prt_str origin;   /* name of the node in the model */
    prt_str merged;   /* names of other nodes that were merged into it, separated by '+' */
    prt_str location; /* place of the node in the program that made the model; "": unknown */
    uint32_t n_regions;
    const uint32_t *regions;    /* blocks, in the order of the operator's regions */
    const prt_lowered *lowered; /* of a `plugin` step; NULL otherwise */
} prt_eval_params;

typedef struct prt_step {
    uint16_t kernel, flags; /* flags: always 0 */
    uint32_t args; /* first argument in the program's argument list: inputs, then outputs */
    uint32_t n_in, n_out;
    uint32_t params; /* index among the program's parameters */
} prt_step;

typedef struct prt_block {
    prt_str name;
    uint32_t parent; /* a block that calls this one; of the block of an entry: its own index */
    uint32_t n_inputs, n_outputs, n_buffers, n_steps;
    const uint32_t *inputs, *outputs; /* buffers */
    prt_buffer *buffers;
    const prt_step *steps;
    bool is_static;   /* every planned buffer has an offset */
    size_t plan_size; /* bytes of the planned memory, if static */
    size_t plan_peak; /* largest sum of bytes alive at once, a lower bound of plan_size */
} prt_block;

#define PRT_NO_CONSTANT UINT32_MAX

typedef struct prt_variable {
    prt_str name;
    const prt_type *type; /* a numeric tensor whose dims are numbers */
    uint32_t role;        /* prt_variable_role */
    uint32_t init;        /* constant with the first contents; PRT_NO_CONSTANT: all `fill` */
    float fill;
    uint32_t of;        /* of a state or accumulator: its weight; else the own index */
    int32_t loss_scale; /* of a scalar: see prt_ir_variable */
} prt_variable;

/* Automatic loss scaling. Variable `counts` (int64[2]) has the numbers of gradient elements below,
 * and at or above, an edge; every `period` updates the factor is halved if the share of the second
 * is above `threshold`, and doubled otherwise. */
typedef struct prt_loss_scaling {
    uint32_t counts, factor; /* variables; PRT_NO_VARIABLE: the loss scale is not automatic */
    float threshold;
    int64_t period;
} prt_loss_scaling;
#define PRT_NO_VARIABLE UINT32_MAX

/* A block that a training session runs beside the main block; at most one of each kind. */
typedef struct prt_entry {
    uint32_t kind; /* prt_entry_kind */
    uint32_t block;
} prt_entry;

typedef struct prt_io {
    prt_str name;
    const prt_type *type;
    bool any_shape; /* of an input: no step reads more than its element type */
} prt_io;

/* A node of the model that has no step. */
typedef struct prt_eliminated {
    prt_str node, op; /* its name, or that of its first output; its operator */
    prt_str pass;     /* the pass that eliminated it */
} prt_eliminated;

/* A weight of the model that is neither a constant nor a variable of its name. */
typedef struct prt_weight {
    prt_weight_form form; /* type: NULL if no constant holds it */
    uint32_t constant;    /* the constant that holds it; PRT_NO_CONSTANT: no constant does */
    prt_str pass;         /* then the pass that used it up; empty: no node reads it */
} prt_weight;

typedef struct prt_program {
    _Atomic uint32_t refs;
    prt_arena *arena;
    const prt_allocator *allocator;
    const struct prt_op_set *ops; /* operators outside the table, or NULL; outlives the program */
    prt_dims *dims;               /* expressions in the types of buffers */
    prt_types *types;
    prt_blob *file;           /* the mapped file it was read from, or NULL */
    struct prt_program *base; /* the program that it was derived from (derive.h), or NULL */
    prt_str name;    /* hash of the contents in decimal, the name of the PopEF executable */
    prt_str source;  /* version of the library that compiled it */
    prt_str options; /* JSON: what it was compiled with; empty: the file does not state it */
    uint32_t n_blocks, n_constants, n_args, n_params, n_inputs, n_outputs;
    prt_block *blocks;
    prt_constant *constants;
    const uint32_t *args;
    prt_eval_params *params;
    prt_io *inputs;
    const prt_io *outputs; /* of the main block, by name */
    uint32_t n_variables, n_entries;
    const prt_variable *variables;
    const prt_entry *entries; /* without the main block */
    bool has_flow;            /* a run is one of `flow`; else it is one micro-batch */
    prt_flow flow;
    const bool *broadcast;     /* by input: all replicas read the same blocks */
    const prt_anchor *anchors; /* by output */
    prt_loss_scaling scaling;
    prt_str optimizer; /* of training: prt_optimizer_identity; else empty */
    bool accumulates;  /* gradient accumulation is on */
    uint32_t n_eliminated;
    const prt_eliminated *eliminated; /* for inspection */
    uint32_t n_weights;
    const prt_weight *weights;
    uint32_t n_graphs; /* number of fused models, see below; 0: not fused */
    prt_facts facts;   /* of the model it was compiled from */
} prt_program;

/*
 * A program of fused models. Input 0 is the index, uint32[1], which selects the graph to run. The
 * name of every other input and output contains its graph. Inputs of graphs that do not run may be
 * left unbound.
 */
#define PRT_FUSED_INDEX "index"
#define PRT_FUSED_GRAPH "graph"    /* "graph<i>/<name>" */
#define PRT_PROGRAM_KEY "program." /* metadata "program.<i>": the name of graph i */
enum { PRT_FUSED_MOST = 64 };
#define PRT_NO_GRAPH UINT32_MAX

/* Returns the graph that a name begins with; PRT_NO_GRAPH for any other name. */
uint32_t prt_fused_graph_of(prt_str name);
/* Returns whether inputs and outputs can be those of `n_graphs` fused models. */
bool prt_program_may_be_fused(const prt_program *program, uint32_t n_graphs);

/* Returns whether a block is that of an entry; the main block is. */
bool prt_program_is_entry(const prt_program *program, uint32_t block);
/* Returns the block of an entry; 0: the program has no such entry. */
uint32_t prt_program_entry(const prt_program *program, uint32_t kind);

/* Creates an empty program with its pools. */
poprt_status prt_program_create(const prt_allocator *allocator, size_t limit, prt_program **out);
prt_program *prt_program_retain(prt_program *program);
void prt_program_release(prt_program *program);

/* Returns whether the file of a program was written without the first contents of a variable. A
 * constant without elements, u8[0], then stands in their place. */
static inline bool prt_variable_is_empty(const prt_program *program, const prt_variable *v)
{
    return v->init != PRT_NO_CONSTANT && program->constants[v->init].type != v->type;
}

/* Sets `initial` of the constants that are only the first contents of variables; the others keep
 * their value. */
void prt_program_find_initial(const prt_program *program, bool *initial);

/* Returns the variant of a step's operator: its attribute `form`; empty if it has no such
 * attribute. */
prt_str prt_program_op_variant(const prt_eval_params *params);

/* Returns the bytes of a constant, aligned for kernels: its blob, or a copy that all sessions of
 * the program share. Any thread may call it. NULL without memory. */
prt_blob *prt_program_weight(const prt_program *program, uint32_t constant);

/* Returns the bytes that this copy allocates; 0 if no copy is needed. */
size_t prt_program_weight_copy(const prt_program *program, uint32_t constant);

/* Alignment of planned buffers and PopEF payloads, in bytes. */
enum { PRT_BUFFER_ALIGN = 64 };

/*
 * Plans a block's memory for given buffer sizes (SIZE_MAX: not planned) and fills `offsets`. The
 * compiler calls it for static blocks, and the runtime when symbolic dims get their values.
 */
poprt_status prt_block_plan(const prt_block *block, const size_t *sizes, size_t *offsets,
    size_t *total, size_t *peak, prt_arena *scratch);

/* Returns the bytes of all constants. */
size_t prt_program_weight_bytes(const prt_program *program);

/* Marks the inputs whose shape matters to no step: they are not read, or only for their element
 * type. The program must be complete. */
void prt_program_mark_inputs(prt_program *program);

/* Checks every index and relation of a program from a file, so that later code need not. */
poprt_status prt_program_check(const prt_program *program);

#endif
