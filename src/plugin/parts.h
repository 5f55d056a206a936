/* SPDX-License-Identifier: MIT */
/* parts.h — what the files of this room share. */
#ifndef PRT_PLUGIN_PARTS_H
#define PRT_PLUGIN_PARTS_H

#include "plugin/plugin.h"
#include "poprt/plugin.h"

/* A plug-in that is there. */
typedef struct prt_plugin {
    prt_plugins *all;
    const char *name;
    poprt_plugin record; /* as far as it is known here */
} prt_plugin;

/* An operator: the row first, so that hooks find the rest. */
typedef struct prt_plugin_op {
    prt_op_row row;
    prt_op_hooks hooks;
    prt_type_def type;
    prt_plugin *plugin;
    poprt_plugin_op record;
    const poprt_plugin_kernel *kernels; /* as many as the record's, and as far as they are known */
} prt_plugin_op;

/* A pass or a pattern, likewise. */
typedef struct prt_plugin_pass {
    prt_pass_def def;
    prt_pass_hooks hooks;
    prt_plugin *plugin;
    poprt_plugin_pass pass;       /* `run` NULL for a pattern */
    poprt_plugin_pattern pattern; /* `rewrite` NULL for a pass */
} prt_plugin_pass;

/* What a pass is given as its context. */
struct poprt_pass_run {
    prt_pass *p;
    const prt_plugin_pass *pass;
};

struct prt_plugins {
    poprt_host host; /* first: functions that get the host find the rest */
    prt_allocator allocator;
    prt_arena *arena;
    prt_plugin_log_fn log;
    void *log_user;
    PRT_VEC(void *) libraries; /* of dlopen */
    PRT_VEC(prt_plugin *) list;
    PRT_VEC(const prt_op_row *) ops;
    PRT_VEC(const prt_plugin_pass *) passes;
    prt_op_set op_set;
};

/* host.c: the table. */
void prt_plugin_host_init(prt_plugins *plugins);

/* To be called around a hook. A failure that comes out names the plug-in, `what` of it that failed
 * ("pass x"), and the subject where none was told; a status that is none becomes POPRT_E_PLUGIN. */
void prt_plugin_enter(void);
poprt_status prt_plugin_leave(const prt_plugin *plugin, const char *what, const char *subject,
    poprt_status status);

/* Our copy of a record of another version: what the plug-in does not know is zero. `least` is the
 * size of the first version. */
poprt_status prt_plugin_import(void *ours, size_t our_size, size_t least, const void *theirs,
    const char *what);

/* A name of letters, digits and '_'; of other characters, too, where it is more than a word. */
bool prt_plugin_is_name(const char *text, bool word);

/* The operator of a context. */
static inline const prt_plugin_op *prt_plugin_op_of(const prt_op_def *def)
{
    return (const prt_plugin_op *)(const void *)def;
}

/* op.c: an attribute of a context, by name; a tensor as hooks see it; a slot that is not there. */
poprt_status prt_plugin_get_attr(const prt_op_def *def, const void *attrs, const char *name,
    poprt_attr *out);
void prt_plugin_show_tensor(const prt_tensor *t, poprt_tensor *out);
poprt_status prt_plugin_no_slot(const char *what, uint32_t index);

/* kernel.c: the kernels of an operator's record, checked, and what runs them. */
poprt_status prt_plugin_take_kernels(prt_plugin_op *op);
/* lower.c: the hook that asks the record's. */
poprt_status prt_plugin_run_lower(prt_lower *c);

/* op.c, pass.c: a row from a record, checked. */
poprt_status prt_plugin_make_op(prt_plugin *plugin, const poprt_plugin_op *record,
    prt_plugin_op **out);
poprt_status prt_plugin_make_pass(prt_plugin *plugin, const poprt_plugin_pass *record,
    prt_plugin_pass **out);
poprt_status prt_plugin_make_pattern(prt_plugin *plugin, const poprt_plugin_pattern *record,
    prt_plugin_pass **out);

/* An attribute as plug-ins see it; POPRT_E_UNSUPPORTED for kinds that they do not. */
poprt_status prt_plugin_show_attr(const prt_attr_def *row, const void *attrs, poprt_attr *out);
/* A type, likewise. */
poprt_type prt_plugin_show_type(const prt_type *type);
/* An attribute the other way, copied into an arena, and marked as given. */
poprt_status prt_plugin_take_attr(prt_arena *arena, const prt_attr_def *row, uint32_t index,
    const poprt_attr *attr, void *attrs);
/* Whether an attribute has a name, a kind and what goes with it. */
poprt_status prt_plugin_check_attr(const poprt_attr *attr);

/* The host's functions by what they are for. */
void prt_plugin_host_ops(poprt_host *host);
void prt_plugin_host_lower(poprt_host *host);
void prt_plugin_host_kernels(poprt_host *host);
void prt_plugin_host_graphs(poprt_host *host);
void prt_plugin_host_edits(poprt_host *host);
void prt_plugin_host_passes(poprt_host *host);

#endif
