/* SPDX-License-Identifier: MIT */
/* load.c — opens shared objects and calls their entry function. They stay open until the
 * environment is destroyed. */
#include <dlfcn.h>
#include <stdio.h>

#include "plugin/internal.h"

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Opens a shared object. A path without a slash gets "./", because dlopen would search the library
 * path. */
static poprt_status open_library(const char *path, void **out)
{
    char here[4096];
    const bool bare = strchr(path, '/') == NULL;
    const int n = snprintf(here, sizeof(here), "%s%s", bare ? "./" : "", path);
    if (n < 0 || (size_t)n >= sizeof(here))
        return prt_fail(POPRT_E_LIMIT, "plug-in", "the path is too long");
    *out = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (*out != NULL)
        return POPRT_OK;
    const char *why = dlerror();
    return prt_fail(POPRT_E_PLUGIN, "plug-in", "is not a shared object that can be opened: %s",
        why != NULL ? why : "unknown reason");
}

static poprt_status ask(prt_plugins *plugins, void *library)
{
    void *symbol = dlsym(library, "poprt_plugin_entry");
    poprt_plugin_entry_fn entry;
    if (symbol == NULL)
        return prt_fail(POPRT_E_PLUGIN, "plug-in",
            "has no function poprt_plugin_entry, which every plug-in exports: see poprt/plugin.h");
    memcpy(&entry, &symbol, sizeof(entry));
    const poprt_plugin *record = entry(&plugins->host);
    if (record == NULL)
        return prt_fail(POPRT_E_VERSION, "plug-in",
            "reports that libpoprt %s (plug-in interface %d) is too old for it: build it against "
            "this version's poprt/plugin.h",
            POPRT_VERSION_STRING, POPRT_PLUGIN_ABI);
    return prt_plugins_add(plugins, record);
}

poprt_status prt_plugins_load(prt_plugins *plugins, const char *path)
{
    void *library = NULL;
    if (ends_with(path, ".py"))
        return prt_fail_in_file(
            prt_fail(POPRT_E_PLUGIN, "plug-in",
                "Python files cannot be loaded: give passes and shape functions to the tool of the "
                "Python package (python3 -m poprt.cli); or write them, and operators, in C, by "
                "poprt/plugin.h, build a shared object (cc -shared -fPIC mine.c -o mine.so) and "
                "give that; tests/plugin/replace_add.c is an example; see docs/guide/plugins.md"),
            path);
    PRT_TRY(prt_fail_in_file(open_library(path, &library), path));
    if (!PRT_VEC_PUSH(plugins->arena, &plugins->libraries, library)) {
        (void)dlclose(library);
        return POPRT_E_NOMEM;
    }
    const poprt_status status = ask(plugins, library);
    if (status != POPRT_OK) {
        plugins->libraries.count--;
        (void)dlclose(library);
    }
    return prt_fail_in_file(status, path);
}

void prt_plugins_release(prt_plugins *plugins)
{
    if (plugins == NULL)
        return;
    for (size_t i = plugins->libraries.count; i-- > 0;)
        (void)dlclose(plugins->libraries.data[i]);
    prt_arena_release(plugins->arena);
}
