/* SPDX-License-Identifier: MIT */
/* internal.h — declarations shared by the sources of src/plugin. */
#ifndef PRT_PLUGIN_INTERNAL_H
#define PRT_PLUGIN_INTERNAL_H

#include "plugin/plugin.h"
#include "poprt/plugin.h"

enum { PRT_PLUGIN_ATTR_NAME = 128 }; /* largest size of the name of an attribute */

/* A loaded plug-in. */
typedef struct prt_plugin {
    prt_plugins *all;
    const char *name;
    poprt_plugin record; /* members unknown to the plug-in are zero */
} prt_plugin;

/* An operator. The row comes first, so that a hook can cast it to this struct. */
typedef struct prt_plugin_op {
    prt_op_row row;
    prt_op_hooks hooks;
    prt_type_def type;
    prt_plugin *plugin;
    poprt_plugin_op record;
    /* Copies of the record's kernels; members unknown to the plug-in are zero. */
    const poprt_plugin_kernel *kernels;
} prt_plugin_op;

/* A pass or a pattern. The definition comes first, so that a hook can cast it to this struct. */
typedef struct prt_plugin_pass {
    prt_pass_def def;
    prt_pass_hooks hooks;
    prt_plugin *plugin;           /* NULL: a pass of the calling program */
    poprt_plugin_pass pass;       /* `run` NULL for a pattern */
    poprt_plugin_pattern pattern; /* `rewrite` NULL for a pass */
} prt_plugin_pass;

/* Memory for the parts of an exported attribute, which live as long as the context of the hook. */
typedef struct prt_plugin_memory {
    void *(*alloc)(void *context, size_t size); /* NULL: refused, and the failure is recorded */
    void *context;
} prt_plugin_memory;

/* Memory of an arena. */
prt_plugin_memory prt_plugin_arena_memory(prt_arena *arena);

/* Context of a pass. */
struct poprt_pass_run {
    prt_pass *p;
    const prt_plugin_pass *pass;
};

struct prt_plugins {
    poprt_host host; /* first member, so that host functions can cast it to this struct */
    prt_allocator allocator;
    prt_arena *arena;
    prt_plugin_log_fn log;
    void *log_user;
    PRT_VEC(void *) libraries; /* handles of dlopen */
    PRT_VEC(prt_plugin *) list;
    PRT_VEC(const prt_op_row *) ops;
    PRT_VEC(const prt_plugin_pass *) passes;
    prt_op_set op_set;
};

/* host.c: fills the host table. */
void prt_plugin_host_init(prt_plugins *plugins);

/* Enclose the call of a hook. prt_plugin_leave adds the name of the plug-in, `what` failed ("pass
 * x") and, if it is missing, the subject to a failure. It returns POPRT_E_PLUGIN in place of an
 * invalid status. */
void prt_plugin_enter(void);
poprt_status prt_plugin_leave(const prt_plugin *plugin, const char *what, const char *subject,
    poprt_status status);

/* Copies a record of another version; members that the plug-in does not know become zero. `least`
 * is the size of the first version. */
poprt_status prt_plugin_import(void *ours, size_t our_size, size_t least, const void *theirs,
    const char *what);

/* Tells whether a name has only letters, digits and '_', or, if `word` is false, also other
 * characters of plug-in names. */
bool prt_plugin_is_name(const char *text, bool word);

/* Returns the plug-in operator of a definition. */
static inline const prt_plugin_op *prt_plugin_op_of(const prt_op_def *def)
{
    return (const prt_plugin_op *)(const void *)def;
}

/* op.c: returns an attribute by name; converts a tensor; fails because a slot does not exist. */
poprt_status prt_plugin_get_attr(const prt_op_def *def, const void *attrs, const char *name,
    prt_plugin_memory memory, poprt_attr *out);
void prt_plugin_export_tensor(const prt_tensor *t, poprt_tensor *out);
poprt_status prt_plugin_no_slot(const char *what, uint32_t index);

/* kernel.c: checks the kernels of an operator's record and sets the hook that runs them. */
poprt_status prt_plugin_copy_kernels(prt_plugin_op *op);
/* lower.c: the hook that calls the record's lower. */
poprt_status prt_plugin_run_lower(prt_lower *c);

/* grad.c: the hook that calls the record's grad. */
struct prt_grad;
poprt_status prt_plugin_run_grad(struct prt_grad *g);

/* plugins.c: adds a pass, unless its name is taken or not allowed. */
poprt_status prt_plugins_register(prt_plugins *all, const prt_plugin_pass *pass);

/* op.c, pass.c: check a record and make a row of it. */
poprt_status prt_plugin_make_op(prt_plugin *plugin, const poprt_plugin_op *record,
    prt_plugin_op **out);
poprt_status prt_plugin_make_pass(prt_plugin *plugin, const poprt_plugin_pass *record,
    prt_plugin_pass **out);
poprt_status prt_plugin_make_pattern(prt_plugin *plugin, const poprt_plugin_pattern *record,
    prt_plugin_pass **out);

/* Converts an attribute to poprt_attr, with memory for what `string` points to. A graph is NULL. */
poprt_status prt_plugin_export_attr(const prt_attr_def *row, const void *attrs,
    prt_plugin_memory memory, poprt_attr *out);
/* Tells whether attributes of a kind need memory to be converted. */
bool prt_plugin_attr_needs_memory(uint32_t kind);
/* Returns the POPRT_ATTR_ value of a PRT_ATTR_ kind. */
int32_t prt_plugin_attr_kind(uint32_t kind);
/* Converts a type to poprt_type. */
poprt_type prt_plugin_export_type(const prt_type *type);
/* Copies a poprt_attr into an arena, and marks the attribute as present. `module` has the types and
 * dims; it may be NULL for an attribute that is not a type. */
poprt_status prt_plugin_copy_attr(prt_arena *arena, prt_module *module, const prt_attr_def *row,
    uint32_t index, const poprt_attr *attr, void *attrs);
/* Converts a dim; returns false for a negative one that is not an expression of `dims`. */
bool prt_plugin_import_dim(const prt_dims *dims, int64_t dim, int64_t *out);
/* Makes a tensor of the caller's memory. Fails, naming `name`, unless its size is that of its
 * dims. */
poprt_status prt_plugin_import_tensor(const char *name, const poprt_tensor *t, prt_tensor *out);
/* Convert a list of strings; the second function copies it into an arena. `out->name` is set. */
poprt_status prt_plugin_export_strings(prt_strs from, prt_plugin_memory memory, poprt_attr *out);
poprt_status prt_plugin_copy_strings(prt_arena *arena, const poprt_attr *attr, prt_strs *out);
/* Checks the name, kind and value of an attribute. */
poprt_status prt_plugin_check_attr(const poprt_attr *attr);

/* Fill the host table, by the purpose of the functions. */
void prt_plugin_host_ops(poprt_host *host);
void prt_plugin_host_regions(poprt_host *host);
void prt_plugin_host_lower(poprt_host *host);
void prt_plugin_host_kernels(poprt_host *host);
void prt_plugin_host_grads(poprt_host *host);
void prt_plugin_host_graphs(poprt_host *host);
void prt_plugin_host_edits(poprt_host *host);
void prt_plugin_host_passes(poprt_host *host);

#endif
