/* SPDX-License-Identifier: MIT */
/*
 * plugin.h — the plug-ins of an environment: loaded, checked, and turned into rows of the tables
 * that the rooms below look into. What a plug-in sees is poprt/plugin.h.
 */
#ifndef PRT_PLUGIN_PLUGIN_H
#define PRT_PLUGIN_PLUGIN_H

#include "op/op.h"
#include "pass/engine/pass.h"

struct poprt_plugin;

typedef struct prt_plugins prt_plugins;

/* Where lines of plug-ins go; levels are those of poprt/env.h. */
typedef void (*prt_plugin_log_fn)(void *user, int32_t level, const char *text);

poprt_status prt_plugins_create(const prt_allocator *allocator, prt_plugin_log_fn log, void *user,
    prt_plugins **out);

/* Unloads them; takes NULL. */
void prt_plugins_release(prt_plugins *plugins);

/* Opens a shared object and adds what it brings: all of it, or nothing. Errors name the file. */
poprt_status prt_plugins_load(prt_plugins *plugins, const char *path);

/* The same for a record, which stays the caller's. */
poprt_status prt_plugins_add(prt_plugins *plugins, const struct poprt_plugin *record);

/* The operators; grows when plug-ins are added, and never moves. */
const prt_op_set *prt_plugins_ops(const prt_plugins *plugins);

/* Passes and patterns in the order they came; NULL past the end. */
const prt_pass_def *prt_plugins_pass(const prt_plugins *plugins, size_t index);

#endif
