/* SPDX-License-Identifier: MIT */
/* host.c — the host table, and the error reports of plug-ins. */
#include "plugin/internal.h"

#include <stdio.h>

#include "poprt/env.h"

/* Blocks have no header, because the allocator knows their size. */
static void *host_allocate(const poprt_host *host, size_t size)
{
    const prt_plugins *plugins = (const prt_plugins *)(const void *)host;
    return prt_mem_alloc(&plugins->allocator, size != 0 ? size : 1);
}

static void host_release(const poprt_host *host, void *block)
{
    const prt_plugins *plugins = (const prt_plugins *)(const void *)host;
    if (block != NULL)
        prt_mem_free(&plugins->allocator, block);
}

static poprt_status host_fail(poprt_status status, const char *subject, const char *message)
{
    return prt_fail(status, subject, "%s", message != NULL ? message : "");
}

static void host_log(const poprt_host *host, int32_t level, const char *text)
{
    const prt_plugins *plugins = (const prt_plugins *)(const void *)host;
    if (plugins->log != NULL && text != NULL && level != POPRT_LOG_OUTPUT &&
        level >= POPRT_LOG_CRITICAL && level <= POPRT_LOG_TRACE)
        plugins->log(plugins->log_user, level, text);
}

void prt_plugin_host_init(prt_plugins *plugins)
{
    plugins->host = (poprt_host){ .struct_size = sizeof(poprt_host),
        .abi = POPRT_PLUGIN_ABI,
        .library = POPRT_VERSION_STRING,
        .allocate = host_allocate,
        .release = host_release,
        .fail = host_fail,
        .log = host_log };
    prt_plugin_host_ops(&plugins->host);
    prt_plugin_host_lower(&plugins->host);
    prt_plugin_host_kernels(&plugins->host);
    prt_plugin_host_grads(&plugins->host);
    prt_plugin_host_graphs(&plugins->host);
    prt_plugin_host_edits(&plugins->host);
    prt_plugin_host_passes(&plugins->host);
    prt_plugin_host_regions(&plugins->host);
}

void prt_plugin_enter(void)
{
    (void)prt_fail(POPRT_OK, NULL, "%s", "");
}

poprt_status prt_plugin_leave(const prt_plugin *plugin, const char *what, const char *subject,
    poprt_status status)
{
    if (status == POPRT_OK || status == POPRT_E_CANCELLED)
        return status;
    prt_error_copy reported;
    prt_error_save(&reported);
    if (status < POPRT_OK || status > POPRT_E_INTERNAL)
        status = POPRT_E_PLUGIN;
    if (reported.status == POPRT_OK)
        (void)snprintf(reported.message, sizeof(reported.message), "the plug-in gave no reason");
    return prt_fail(status, reported.subject[0] != '\0' ? reported.subject : subject,
        "plug-in %.100s, %.200s: %s", plugin->name, what, reported.message);
}
