/* SPDX-License-Identifier: MIT */
/* main.c — `poprt`: a sub-command when the first word is one, else the main command line. */
#include <string.h>

#include "tools/commands.h"

static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "run", prt_command_run },
    { "test", prt_command_test },
    { "bench", prt_command_bench },
    { "inspect", prt_command_inspect },
    { "auto_sharding", prt_command_auto_sharding },
};

const char *prt_command_at(unsigned index)
{
    return index < sizeof(commands) / sizeof(commands[0]) ? commands[index].word : NULL;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(argv[1], commands[i].word) == 0)
            return commands[i].run(argc - 1, argv + 1);
    return prt_command_convert(argc, argv);
}
