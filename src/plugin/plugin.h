/* SPDX-License-Identifier: MIT */
/*
 * plugin.h — the plug-ins of an environment: loads and checks them, and makes rows of the operator
 * and pass tables. poprt/plugin.h is the interface of a plug-in.
 */
#ifndef PRT_PLUGIN_PLUGIN_H
#define PRT_PLUGIN_PLUGIN_H

#include "op/op.h"
#include "pass/engine/pass.h"

struct poprt_plugin;

typedef struct prt_plugins prt_plugins;

/* Receives the log lines of plug-ins. Levels are those of poprt/env.h. */
typedef void (*prt_plugin_log_fn)(void *user, int32_t level, const char *text);

poprt_status prt_plugins_create(const prt_allocator *allocator, prt_plugin_log_fn log, void *user,
    prt_plugins **out);

/* Unloads the plug-ins; accepts NULL. */
void prt_plugins_release(prt_plugins *plugins);

/* Opens a shared object and adds its contents: everything or nothing. Errors name the file. */
poprt_status prt_plugins_load(prt_plugins *plugins, const char *path);

/* Adds a record in the same way. The record belongs to the caller. */
poprt_status prt_plugins_add(prt_plugins *plugins, const struct poprt_plugin *record);

/* Returns the operators. The set grows when plug-ins are added, and never moves. */
const prt_op_set *prt_plugins_ops(const prt_plugins *plugins);

/* Returns a pass or pattern by index, in the order of registration; NULL past the end. */
const prt_pass_def *prt_plugins_pass(const prt_plugins *plugins, size_t index);

/* model_pass.c: adds a pass of the calling program. Its function may replace p->module. The texts
 * belong to the caller. */
typedef poprt_status (*prt_plugin_pass_fn)(void *user, prt_pass *p, bool *changed);
poprt_status prt_plugins_add_pass(prt_plugins *plugins, const char *name, const char *doc,
    prt_plugin_pass_fn run, void *user);

/* Sets the function that infers operators which are in no table, with a copy of `size` bytes of
 * `user`. Fails with POPRT_E_STATE if there is one. */
poprt_status prt_plugins_set_infer(prt_plugins *plugins, prt_op_infer_fn infer, const void *user,
    size_t size);

#endif
