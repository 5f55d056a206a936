/* SPDX-License-Identifier: MIT */
/*
 * program.h — the seam between compile and run: blocks of steps over buffers, constants, inputs
 * and outputs. Immutable once made; no pointer back into the graph it came from; stored as PopEF
 * and mapped back without touching the weights.
 *
 * A program is a list of blocks. Block 0 is the main program; the others are bodies of control
 * operators, each called by exactly one step of its parent. A block has its own buffers; a step
 * names them by index. Buffers of a body may stand for buffers of its parent (captures).
 *
 * Buffers share memory in two ways. A view is what its step finds in an input: part of the bytes
 * as they are (Reshape, Split …), so that there is nothing to run, or a result that is written over
 * an input which nobody reads any more. Where in the input it lies is for the step to say, when the
 * shapes are known. A part is the other way round: what a later step will put together (Concat),
 * or make a view of for the caller, is made where that step wants it. Columns are parts that lie
 * beside each other: of Concat along the last axis, where all who have to do with them take rows
 * that are further apart (op/alias.h). The buffer at the end of such a chain lives as long as all
 * that lies in it.
 */
#ifndef PRT_PROGRAM_PROGRAM_H
#define PRT_PROGRAM_PROGRAM_H

#include "base/blob.h"
#include "base/vec.h"
#include "op/lower.h"
#include "program/facts.h"
#include "tensor/type.h"

#define PRT_NO_BUFFER UINT32_MAX /* an absent argument */

typedef enum prt_space {
    PRT_SPACE_PLANNED,  /* in the block's one piece of memory, at `offset` */
    PRT_SPACE_CONSTANT, /* `ref` = index of a constant */
    PRT_SPACE_INPUT,    /* `ref` = index of a block input: the caller's memory where possible */
    PRT_SPACE_OUTPUT,   /* `ref` = index of a block output: likewise */
    PRT_SPACE_CAPTURE,  /* `ref` = buffer of the parent block */
    PRT_SPACE_DYNAMIC,  /* sized when it is computed: unknown dims, strings, sequences */
    PRT_SPACE_VIEW,     /* in the memory of buffer `ref`, an input of the step that makes it */
    PRT_SPACE_PART,     /* in the memory of buffer `ref`, planned or output, from `offset` on */
    PRT_SPACE_COLUMNS   /* some columns of buffer `ref`, planned or output: from byte `offset` on in
                         * each of its rows, which run along the last axis */
} prt_space;

typedef struct prt_buffer {
    const prt_type *type; /* dims: numbers, expressions over the program's symbols, or unknown */
    prt_str name;         /* the value's name in the model, for errors and inspection */
    uint32_t space;
    uint32_t ref;
    uint32_t first, last; /* steps of its block between which it, or what lies in it, holds
                           * something */
    size_t offset;        /* of planned buffers, parts and columns, when the block is static */
} prt_buffer;

/* What is known of a constant's CRC-32C, as PopEF stores it. */
typedef enum prt_sum_kind {
    PRT_SUM_OURS,   /* computed when it is written: the bytes were made here */
    PRT_SUM_STATED, /* `sum`, by the file it was read from; the bytes may not have been compared */
    PRT_SUM_ABSENT  /* the file says that there is none; `sum` is 0 or stated all the same */
} prt_sum_kind;

typedef struct prt_constant {
    prt_str name;
    const prt_type *type;
    prt_blob *blob;              /* bytes, at any address; poprt_string[] for strings */
    _Atomic(prt_blob *) aligned; /* copy at an address fit for kernels, made when first needed */
    prt_sum_kind sum_kind;
    uint32_t sum;
    bool is_prepared; /* for a plug-in's kernel, at the start of a cache line */
} prt_constant;

struct prt_op_def;

/* What a step does: a row of kernels.def. */
typedef enum prt_kernel_id {
#define KERNEL(id, doc) PRT_KERNEL_##id,
#include "program/kernels.def"
#undef KERNEL
    PRT_KERNEL_COUNT
} prt_kernel_id;

const char *prt_kernel_name(uint32_t kernel);

/* Parameters of a step. */
typedef struct prt_eval_params {
    const struct prt_op_def *def;
    const void *attrs;
    prt_str origin; /* node name in the model */
    prt_str merged; /* other nodes that became part of it, '+' between */
    uint32_t n_regions;
    const uint32_t *regions;    /* blocks, in the order of the operator's regions */
    const prt_lowered *lowered; /* of a `plugin` step; else NULL */
} prt_eval_params;

typedef struct prt_step {
    uint16_t kernel, flags; /* flags: 0 */
    uint32_t args; /* first argument in the program's argument list: inputs, then outputs */
    uint32_t n_in, n_out;
    uint32_t params; /* index among the program's parameters */
} prt_step;

typedef struct prt_block {
    prt_str name;
    uint32_t parent; /* block that calls this one; its own index for the main block */
    uint32_t n_inputs, n_outputs, n_buffers, n_steps;
    const uint32_t *inputs, *outputs; /* buffers */
    prt_buffer *buffers;
    const prt_step *steps;
    bool is_static;   /* every planned buffer has an offset already */
    size_t plan_size; /* bytes of the planned memory, when static */
    size_t plan_peak; /* most bytes alive at once: no plan can be smaller */
} prt_block;

typedef struct prt_io {
    prt_str name;
    const prt_type *type;
    bool any_shape; /* an input: no step reads more than its element type */
} prt_io;

/* A node of the model that no step stands for. */
typedef struct prt_eliminated {
    prt_str node, op; /* its name, or that of its first output; its operator */
    prt_str pass;     /* after which it was not there any more */
} prt_eliminated;

typedef struct prt_program {
    _Atomic uint32_t refs;
    prt_arena *arena;
    const prt_allocator *allocator;
    const struct prt_op_set *ops; /* operators beside the table; NULL: none. It outlives this */
    prt_dims *dims;               /* expressions that buffer types use */
    prt_types *types;
    prt_blob *file; /* the mapping it was read from, or NULL */
    prt_str name;   /* hash of the contents in decimal: the PopEF executable's name */
    prt_str source; /* version of the library that made it */
    uint32_t n_blocks, n_constants, n_args, n_params, n_inputs, n_outputs;
    prt_block *blocks;
    prt_constant *constants;
    const uint32_t *args;
    prt_eval_params *params;
    prt_io *inputs;
    const prt_io *outputs; /* of the main block, by name */
    uint32_t n_eliminated;
    const prt_eliminated *eliminated; /* for inspection */
    uint32_t n_graphs;                /* fused models: see below; 0: not fused */
    prt_facts facts;                  /* of the model it was made from */
} prt_program;

/*
 * A program of fused models: input 0 is the index, uint32[1], which says what graph runs; the names
 * of all other inputs and outputs say what graph they belong to. Nobody has to give inputs of the
 * graphs that do not run.
 */
#define PRT_FUSED_INDEX "index"
#define PRT_FUSED_GRAPH "graph" /* "graph<i>/<name>" */
enum { PRT_FUSED_MOST = 64 };
#define PRT_NO_GRAPH UINT32_MAX

/* The graph that a name begins with; PRT_NO_GRAPH for any other name. */
uint32_t prt_fused_graph_of(prt_str name);
/* Whether inputs and outputs are those of so many fused models. */
bool prt_program_may_be_fused(const prt_program *program, uint32_t n_graphs);

/* An empty program with pools. */
poprt_status prt_program_create(const prt_allocator *allocator, size_t limit, prt_program **out);
prt_program *prt_program_retain(prt_program *program);
void prt_program_release(prt_program *program);

/* Which form of its operator a step is: its attribute of that name; empty where it has none. */
prt_str prt_program_form(const prt_eval_params *params);

/* Bytes of a constant where kernels can read them as elements: its blob, or a copy that all
 * sessions of the program share. Any thread. NULL without memory. */
prt_blob *prt_program_weight(const prt_program *program, uint32_t constant);

/* What that copy takes from the allocator; 0 where there is none. */
size_t prt_program_weight_copy(const prt_program *program, uint32_t constant);

/* Alignment of planned buffers and PopEF payloads, in bytes. */
enum { PRT_BUFFER_ALIGN = 64 };

/*
 * Plans a block's memory for given buffer sizes (SIZE_MAX: takes no part). Fills `offsets`; the
 * compiler calls it for static blocks and the runtime when symbolic dims get their values.
 */
poprt_status prt_block_plan(const prt_block *block, const size_t *sizes, size_t *offsets,
    size_t *total, size_t *peak, prt_arena *scratch);

/* Bytes of all constants. */
size_t prt_program_weight_bytes(const prt_program *program);

/* Finds the inputs whose shape matters to no step: nobody reads them, or only for their element
 * type. Of a program that is whole. */
void prt_program_mark_inputs(prt_program *program);

/* Checks every index and relation, so that nothing after it needs to: for programs from files. */
poprt_status prt_program_check(const prt_program *program);

#endif
