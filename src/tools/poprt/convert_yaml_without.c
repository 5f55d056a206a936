/* SPDX-License-Identifier: MIT */
/* convert_yaml_without.c — a tool built without libyaml refuses the options that name YAML
 * files. */
#include "tools/poprt/convert.h"

static poprt_status refuse(const char *path)
{
    return prt_fail(POPRT_E_UNSUPPORTED, path,
        "this tool was built without libyaml and cannot read YAML; build it with -Dyaml=enabled");
}

poprt_status prt_convert_merge_yaml(prt_tool *tool, const prt_opts *given, int argc, char **argv,
    prt_convert_lines *out)
{
    (void)tool;
    (void)argc;
    (void)argv;
    (void)out;
    return refuse(prt_opt_value(given, OPT_CONFIG_YAML, NULL));
}

poprt_status prt_convert_sharding(prt_tool *tool, const char *path, poprt_config *config)
{
    (void)tool;
    (void)config;
    return refuse(path);
}
