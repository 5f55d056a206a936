/* SPDX-License-Identifier: MIT */
/* main.c — `poprt`: runs a sub-command if the first word is one, otherwise the main command line.
 * Under the name `poprt_exec` (a link to `poprt`) it runs a tool by its name. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/common/tool.h"

static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "run", prt_command_run },
    { "test", prt_command_test },
    { "bench", prt_command_bench },
    { "inspect", prt_command_inspect },
    { "options", prt_command_options },
    { "auto_sharding", prt_command_auto_sharding },
};

const char *prt_command_at(unsigned index)
{
    return index < sizeof(commands) / sizeof(commands[0]) ? commands[index].word : NULL;
}

static bool is_called(const char *path, const char *name)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return path != NULL && strcmp(slash != NULL ? slash + 1 : path, name) == 0;
}

static int run(int argc, char **argv)
{
    if (argc > 0 && is_called(argv[0], "poprt_exec"))
        return prt_command_exec(argc, argv);
    for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(argv[1], commands[i].word) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return prt_command_convert(argc, argv);
}

int main(int argc, char **argv)
{
    /* A write beyond `ulimit -f` then fails with EFBIG, which is reported, instead of ending the
     * process. */
    (void)signal(SIGXFSZ, SIG_IGN);
    return prt_tool_flush(run(argc, argv));
}
