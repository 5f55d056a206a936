/* SPDX-License-Identifier: MIT */
/*
 * op.h — the operator table: one row per operator in the .def files, typed attribute structs
 * generated from the rows, reflection (printing, storing, ONNX import and export), and the hooks.
 */
#ifndef PRT_OP_OP_H
#define PRT_OP_OP_H

#include "op/eval.h"
#include "op/infer.h"
#include "op/lower.h"

/* Traits of a row. */
enum {
    /* The outputs depend on the inputs only, without side effects: may be folded, merged,
     * dropped. */
    PRT_PURE = 1 << 0,
    /* Output element i depends only on the broadcast elements i of the inputs. */
    PRT_ELEMENTWISE = 1 << 1,
    PRT_COMMUTATIVE = 1 << 2,
    PRT_VIEW = 1 << 3, /* the output has the elements of input 0 in the same order */
    PRT_RANDOM = 1 << 4,
    PRT_STATEFUL = 1 << 5,   /* writes input 0 if that is a weight */
    PRT_COLLECTIVE = 1 << 6, /* exchanges data with other replicas, or with remote memory */
    PRT_CONTROL = 1 << 7,    /* has regions */
    /* Elements of inputs that share output 0's type variable are copied or replaced by zeros and
     * not changed otherwise, unless an attribute "reduction" has a value other than "none". */
    PRT_MOVES = 1 << 8,
    /* Time and memory are within a small multiple of the number of input and output elements.
     * This is implied by PRT_ELEMENTWISE, PRT_VIEW and PRT_MOVES. */
    PRT_LIGHT = 1 << 9,
    /* Like PRT_VIEW, for some attributes, shapes or contents; see the hook `view`. */
    PRT_MAY_VIEW = 1 << 10,
    /* Output 0 may be written over an input of its type and shape: element i of every input is
     * read for the last time before element i of the output is written. */
    PRT_IN_PLACE = 1 << 11,       /* over any input of a node with one or two inputs */
    PRT_IN_PLACE_FIRST = 1 << 12, /* over input 0 of a node with any number of inputs */
    PRT_IN_PLACE_ALL = 1 << 13,   /* over any input of a node with any number of inputs */
    /* The attribute `axis` is the axis along which the inputs are concatenated to output 0, or
     * along which input 0 is split into the outputs. */
    PRT_CONCAT = 1 << 14,
    PRT_SPLIT = 1 << 15,
    /* Output i, where it exists, is the new value of input i. If that is a variable
     * (op/variable.h), it is written in place: element j of the inputs is read for the last time
     * before element j of the outputs is written. */
    PRT_UPDATES = 1 << 16,
    /* The region may be that of other nodes too: the operator runs it once, with its own inputs,
     * and copies the results before another node runs it. */
    PRT_CALLS = 1 << 17
};

/* Flags of an input or output slot. */
enum {
    PRT_SLOT_OPTIONAL = 1 << 0,
    PRT_SLOT_VARIADIC = 1 << 1,      /* the last slot; takes any number of arguments */
    PRT_SLOT_HETEROGENEOUS = 1 << 2, /* the arguments of a variadic slot may differ in type */
    PRT_SLOT_TYPE_ONLY = 1 << 3,     /* an input of which only the element type is used */
    /* The fast implementation supports a row stride: the argument may be columns of a larger
     * tensor. See the hook `columns`. */
    PRT_SLOT_COLUMNS = 1 << 4
};

/* Sets of types for TYPE rows: bit n is a tensor of element type n, the high bits are other
 * kinds. */
#define PRT_T(dtype) ((uint64_t)1 << PRT_DTYPE_##dtype)
#define PRT_T_SEQ ((uint64_t)1 << 60) /* sequence of tensors */
#define PRT_T_OPT ((uint64_t)1 << 61) /* optional of tensor or sequence */
#define PRT_T_MAP ((uint64_t)1 << 62)
#define PRT_T_F (PRT_T(f16) | PRT_T(f32) | PRT_T(f64))
#define PRT_T_FB (PRT_T_F | PRT_T(bf16))
#define PRT_T_F8 (PRT_T(f8e4m3fn) | PRT_T(f8e4m3fnuz) | PRT_T(f8e5m2) | PRT_T(f8e5m2fnuz))
#define PRT_T_SINT (PRT_T(i8) | PRT_T(i16) | PRT_T(i32) | PRT_T(i64))
#define PRT_T_UINT (PRT_T(u8) | PRT_T(u16) | PRT_T(u32) | PRT_T(u64))
#define PRT_T_INT (PRT_T_SINT | PRT_T_UINT)
#define PRT_T_NUM (PRT_T_INT | PRT_T_FB) /* integers and floats of 8 to 64 bits */
#define PRT_T_INDEX (PRT_T(i32) | PRT_T(i64))
#define PRT_T_C (PRT_T(c64) | PRT_T(c128))
#define PRT_T_F6 (PRT_T(f6e2m3) | PRT_T(f6e3m2))
#define PRT_T_SMALL (PRT_T(u4) | PRT_T(i4) | PRT_T(u2) | PRT_T(i2) | PRT_T(f4e2m1) | PRT_T(f8e8m0))
#define PRT_T_ALL (PRT_T_NUM | PRT_T_C | PRT_T_F8 | PRT_T_SMALL | PRT_T(bool) | PRT_T(string))
#define PRT_T_ANY (PRT_T_ALL | PRT_T_SEQ | PRT_T_OPT | PRT_T_MAP)

/* Attribute kinds and their C types. `graph` is the index of the op's region. */
typedef struct prt_i64s {
    const int64_t *data;
    uint32_t count;
} prt_i64s;
typedef struct prt_f32s {
    const float *data;
    uint32_t count;
} prt_f32s;
typedef struct prt_strs {
    const prt_str *data;
    uint32_t count;
} prt_strs;

typedef enum prt_attr_kind {
    PRT_ATTR_i64,
    PRT_ATTR_f32,
    PRT_ATTR_str,
    PRT_ATTR_i64s,
    PRT_ATTR_f32s,
    PRT_ATTR_strs,
    PRT_ATTR_tensor, /* const prt_tensor *, NULL when absent */
    PRT_ATTR_graph,  /* uint32_t: index of a region */
    PRT_ATTR_type,   /* const prt_type * */
    /* int32_t: a word of a list in words.h */
    PRT_ATTR_act,
    PRT_ATTR_form,
    PRT_ATTR_products
} prt_attr_kind;

#define PRT_ATTR_C_i64 int64_t
#define PRT_ATTR_C_f32 float
#define PRT_ATTR_C_str prt_str
#define PRT_ATTR_C_i64s prt_i64s
#define PRT_ATTR_C_f32s prt_f32s
#define PRT_ATTR_C_strs prt_strs
#define PRT_ATTR_C_tensor const prt_tensor *
#define PRT_ATTR_C_graph uint32_t
#define PRT_ATTR_C_type const prt_type *
#define PRT_ATTR_C_act int32_t
#define PRT_ATTR_C_form int32_t
#define PRT_ATTR_C_products int32_t

/* Default of an attribute without a default value: empty, zero or absent. */
#define PRT_NONE                                                                                   \
    {                                                                                              \
        0                                                                                          \
    }

typedef enum prt_op_id {
#define OP_BEGIN(id, domain, name, since, traits) PRT_OP_##id,
#include "op/ops.def"
    PRT_OP_COUNT,
    PRT_OP_NONE = 0xffff /* id of rows outside the table */
} prt_op_id;

/* Bit k of `present` is set if the model or a pass gave attribute k. */
#define OP_BEGIN(id, domain, name, since, traits)                                                  \
    typedef struct prt_##id##_attrs {                                                              \
        uint64_t present;
#define ATTR(id, kind, name, def) PRT_ATTR_C_##kind name;
#define OP_END(id)                                                                                 \
    }                                                                                              \
    prt_##id##_attrs;
#include "op/ops.def"

/* A pointer in a table of a shared library takes 32 bytes, of which 24 are a relocation. So the
 * name of a variable of types is part of the row, and the name of an attribute or slot is a text at
 * an offset in bytes from the row: such a row cannot be copied. */
typedef struct prt_attr_def {
    uint16_t name_at; /* see prt_attr_name */
    uint16_t offset;  /* in the struct of attributes */
    uint8_t kind;     /* prt_attr_kind */
} prt_attr_def;

typedef struct prt_type_def {
    char var[16];
    uint64_t set; /* PRT_T_* */
} prt_type_def;

typedef struct prt_slot_def {
    uint16_t name_at; /* see prt_slot_name */
    char var[15];     /* name of a TYPE of the row */
    uint8_t flags;    /* PRT_SLOT_* */
} prt_slot_def;

struct prt_view_query;

typedef struct prt_op_hooks {
    poprt_status (*infer)(prt_infer *c);
    poprt_status (*eval)(prt_eval *c);
    /* For rows with PRT_MAY_VIEW: returns whether the output of the query is contiguous elements
     * of input 0 in their order, and sets `*element` to the first. NULL: output 0 is, where its
     * size is that of the input. See op/alias.h. */
    bool (*view)(const struct prt_view_query *q, size_t *element);
    /* For slots with PRT_SLOT_COLUMNS: returns whether input or (`out`) output `i` may be columns
     * with these attributes. NULL: with any attributes. */
    bool (*columns)(const void *attrs, bool out, uint32_t i);
} prt_op_hooks;

typedef struct prt_op_def {
    /* name in IR text: the id of the row, or "domain.Name" for an operator of a plug-in */
    const char *key;
    const char *domain, *name;
    uint16_t id;
    uint32_t traits; /* PRT_PURE … */
    uint32_t since;  /* opset version of the newest schema, which the row describes */
    uint16_t n_types, n_in, n_out, n_attrs; /* numbers of rows */
    uint16_t min_in, min_out;               /* numbers of arguments */
    /* numbers of arguments; UINT32_MAX for variadic slots */
    uint32_t max_in, max_out;
    uint16_t attrs_size;
    const prt_type_def *types;
    const prt_slot_def *in, *out;
    const prt_attr_def *attrs;
    const void *defaults; /* a prt_<id>_attrs with `present` 0 */
    const prt_op_hooks *hooks;
} prt_op_def;

struct prt_kern;
struct prt_grad;

/* A row outside the table: an operator of a plug-in. Its id is PRT_OP_NONE. */
typedef struct prt_op_row {
    prt_op_def def;
    const char *plugin;         /* name of the plug-in */
    const char *const *kernels; /* names of the kernels */
    uint32_t n_kernels;
    /* Compiles a node; NULL: the node is run by eval. */
    poprt_status (*lower)(prt_lower *c);
    /* Runs a node by `c->lowered`, with the contract of a fast implementation (fast/fast.h). */
    poprt_status (*run)(prt_eval *c, const struct prt_kern *kern, bool *done);
    /* Builds the gradients of a node, with the contract of train/rule.h; NULL: it has none. */
    poprt_status (*grad)(struct prt_grad *g);
} prt_op_row;

struct prt_op;

/* Sets the types of the outputs of an op whose operator is in no table. */
typedef poprt_status (*prt_op_infer_fn)(void *user, struct prt_op *op);

/* The operators of the plug-ins of one environment. The set grows until a model is created. */
typedef struct prt_op_set {
    const prt_op_row *const *rows;
    size_t count;
    prt_op_infer_fn infer; /* NULL: the outputs of such ops keep their declared types */
    void *infer_user;
} prt_op_set;

/* ONNX's own domain has two names, "" and "ai.onnx". */
static inline bool prt_domain_is_onnx(prt_str domain)
{
    return domain.size == 0 || prt_str_is(domain, "ai.onnx");
}

static inline bool prt_domain_equal(prt_str a, prt_str b)
{
    return prt_str_equal(a, b) || (prt_domain_is_onnx(a) && prt_domain_is_onnx(b));
}

/* Return the row by id (below PRT_OP_COUNT), by key, or by ONNX domain ("" is ai.onnx) and name;
 * NULL if the row does not exist. */
const prt_op_def *prt_op_of(uint32_t id);
const prt_op_def *prt_op_by_key(prt_str key);
const prt_op_def *prt_op_find(prt_str domain, prt_str name);
/* Like prt_op_find, but then searches the rows of `set`, which may be NULL. */
const prt_op_def *prt_op_find_in(const prt_op_set *set, prt_str domain, prt_str name);

/* Returns the row of a plug-in's operator; NULL for operators of the table. */
static inline const prt_op_row *prt_op_row_of(const prt_op_def *def)
{
    return def->id == PRT_OP_NONE ? (const prt_op_row *)(const void *)def : NULL;
}

/* Returns the name of the plug-in; NULL for operators of the table. */
const char *prt_op_plugin(const prt_op_def *def);

/* Return the slot definition of input or output i, repeating a variadic slot; NULL beyond the
 * end. */
const prt_slot_def *prt_op_in_slot(const prt_op_def *def, uint32_t i);
const prt_slot_def *prt_op_out_slot(const prt_op_def *def, uint32_t i);

/* Return the name of an attribute or slot. `row` is in the table or in the rows of a plug-in. */
const char *prt_attr_name(const prt_attr_def *row);
const char *prt_slot_name(const prt_slot_def *row);

/* Returns the index of an attribute in the row, or UINT32_MAX. */
uint32_t prt_op_attr(const prt_op_def *def, prt_str name);

static inline bool prt_attr_given(const void *attrs, uint32_t index)
{
    return (*(const uint64_t *)attrs >> index & 1) != 0;
}

/* Checks the row (numbers of arguments, required inputs, element types), presets the outputs'
 * element types, then runs the hook. Errors name the node, the operator, the slot and the
 * accepted values. */
poprt_status prt_op_infer(prt_infer *c);

/* Returns whether a node with PRT_CALLS says, in its attribute modifiedInputs, that its region
 * changes input `in`. */
bool prt_op_changes_input(const prt_op_def *def, const void *attrs, uint32_t in);

/* Returns whether a node moves elements of its inputs and computes none: its operator has PRT_MOVES
 * and no reduction. */
bool prt_op_only_moves(const prt_op_def *def, const void *attrs);

/* Runs the eval hook. Fails with POPRT_E_UNSUPPORTED if the operator has none. */
poprt_status prt_op_eval(prt_eval *c);

/* The defaults of a row's attributes; and the assignment of one attribute to an lvalue of that
 * struct. */
#define PRT_ATTRS_OF(id) (*(const prt_##id##_attrs *)prt_op_of(PRT_OP_##id)->defaults)
#define PRT_ATTR_SET(attrs, id, field, value)                                                      \
    do {                                                                                           \
        (attrs).field = (value);                                                                   \
        (attrs).present |= (uint64_t)1 << prt_op_attr(prt_op_of(PRT_OP_##id), PRT_STR(#field));    \
    } while (0)

/* Compares typed attributes: tensors by contents, regions by index. */
bool prt_attrs_equal(const prt_op_def *def, const void *a, const void *b);

/* Returns a deep copy of the attributes in `arena`, or NULL when out of memory. */
void *prt_attrs_clone(const prt_op_def *def, prt_arena *arena, const void *attrs);

#endif
