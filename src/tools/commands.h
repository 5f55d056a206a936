/* SPDX-License-Identifier: MIT */
/* commands.h — the commands of `poprt`. Each parses its own argv and returns the exit code. */
#ifndef PRT_TOOLS_COMMANDS_H
#define PRT_TOOLS_COMMANDS_H

int prt_command_convert(int argc, char **argv); /* the main command line, without a sub-command */
int prt_command_run(int argc, char **argv);
int prt_command_test(int argc, char **argv);
int prt_command_bench(int argc, char **argv);
int prt_command_inspect(int argc, char **argv);
int prt_command_options(int argc, char **argv);
int prt_command_auto_sharding(int argc, char **argv);

int prt_command_tf2onnx(int argc, char **argv);

/* `poprt_exec TOOL`, and a list of its tools. */
int prt_command_exec(int argc, char **argv);
int prt_command_run_popef(int argc, char **argv);

/* Returns the name of a sub-command by index; NULL past the end. */
const char *prt_command_at(unsigned index);

#endif
