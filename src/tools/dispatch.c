/* SPDX-License-Identifier: MIT */
/* dispatch.c — runs a sub-command if the first word is one, otherwise the main command line. Under
 * the name `poprt_exec` (a link to `poprt`), or with this first word, runs a tool by its name. */
#include "tools/dispatch.h"

#include <string.h>

#include "tools/commands.h"
#include "tools/common/log.h"

const prt_opt_command *const prt_commands[] = { &prt_run_command, &prt_test_command,
    &prt_train_command, &prt_bench_command, &prt_inspect_command, &prt_popef_command,
    &prt_report_command, &prt_options_command, &prt_auto_sharding_command, &prt_tf2onnx_command,
    NULL };

static bool is_called(const char *path, const char *name)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return path != NULL && strcmp(slash != NULL ? slash + 1 : path, name) == 0;
}

static int run(int argc, char **argv)
{
    const prt_opt_command *command = &prt_convert_command;
    if (argc > 0 && is_called(argv[0], "poprt_exec")) {
        command = &prt_exec_command;
    } else if (argc > 1 && strcmp(argv[1], "poprt_exec") == 0) {
        command = &prt_exec_command;
        argc--;
        argv++;
    }
    if (argc <= 1 || argv[1][0] == '-')
        return command->run(argc, argv);
    const prt_opt_command *named = prt_opt_find_command(command, argv[1]);
    return named != NULL ? named->run(argc - 1, argv + 1)
                         : prt_opt_unknown_command(command, argv[1]);
}

int prt_dispatch(int argc, char **argv, const prt_tool_host *host)
{
    prt_tool_begin(host);
    const int code = prt_tool_flush(run(argc, argv));
    prt_tool_close_log();
    prt_tool_begin(NULL);
    return code;
}
